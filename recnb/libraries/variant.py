"""A number as a library or an evaluation defines it, computed on frames, and what two definitions decide differently."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention, option_in_words
from recnb.conventions.convention import ALONE, PHRASES
from recnb.conventions.presets import Preset
from recnb.data import Prepared, Source
from recnb.data.encoding import positions
from recnb.display.language import N_, _, current, use_language
from recnb.display.progress import steps
from recnb.display.templates import render
from recnb.errors import NoUsersError, OptionError, RecnbError, Suggesting
from recnb.libraries.facts import facts_of
from recnb.libraries.refusals import refuse
from recnb.metrics.hits import Floats
from recnb.metrics.metric import Metric, metric_named
from recnb.results.evaluation_data import EvaluationData, average, cutoffs_under, hits_for, position_of

if TYPE_CHECKING:
    from recnb.results import Explanation

T = TypeVar("T")

#: Columns that libraries read and frames lack.
LACKING: dict[str, str] = {
    "rank": N_("No rank in these frames: libraries that read it are given the order that there is."),
    "score": N_("No score in these frames: libraries that read it are given the order that there is."),
}

#: Decisions about the data by stage, in the order in which a number is computed; those of the metric follow.
STAGES: dict[str, tuple[str, ...]] = {
    N_("data"): ("frames",),
    N_("ranking"): ("order", "score_dtype", "ties", "duplicates", "nonpositive_scores", "candidates", "cutoff"),
    N_("relevance"): ("relevant", "negative_relevance", "judged"),
    N_("users"): ("averaged_users", "no_relevant"),
}
#: The fields of a Convention that each of its axes sets.
FIELDS: dict[str, tuple[str, ...]] = {
    axis: ("relevant", "relevant_from") if axis == "relevant" else (axis,)
    for stage in ("ranking", "relevance", "users")
    for axis in STAGES[stage]
}
#: Axes that many metrics have; those of single metrics come after them.
METRIC_AXES = ("metric", "out_of", "gain", "discount", "log_base", "ideal")

#: Numbers nearer than this agree.
AGREE = 1e-9

#: The value of an option that a metric does not have.
ABSENT = object()


@dataclass(frozen=True, eq=False)
class VariantValues:
    """A variant's number, and the values of the users behind it."""

    value: float
    users: pl.Series
    values: Floats  #: per user; NaN for a user who is left out
    prepared: Prepared | None = None

    @property
    def n_users(self) -> int:
        """The number of users who count."""
        return int((~np.isnan(self.values)).sum())

    def values_of(self, users: pl.Series) -> Floats:
        """Return the values of these users, NaN for one who is not among those evaluated."""
        return np.append(self.values, np.nan)[positions(self.users, users)]  # the position of a stranger is -1


@dataclass(frozen=True)
class Variant:
    """One definition of a number: how the data are read, the metric and all its options."""

    name: str  #: whose number it is
    convention: Convention  #: of the data
    metric: str
    options: tuple[tuple[str, Any], ...]  #: of the metric, defaults included
    preset: Preset | None = None  #: of a library, which names the library in errors

    @classmethod
    def of(cls, name: str, convention: Convention, metric: Metric[...], options: Mapping[str, Any]) -> Variant:
        """Make a variant of its parts and check the options."""
        metric.check(options)
        return cls(name, replace(convention, metric=()), metric.name, tuple({**metric.defaults, **options}.items()))

    @classmethod
    def of_preset(cls, preset: Preset) -> Variant:
        """Make the variant that a library computes."""
        made = cls.of(preset.label, preset.convention, metric_named(preset.metric), dict(preset.options))
        return replace(made, preset=preset)

    @classmethod
    def of_evaluation(cls, data: EvaluationData, metric: Metric[...], options: Mapping[str, Any]) -> Variant:
        """Make the variant that an evaluation computes, under the name of its library."""
        scoring = data.scoring(metric, options)
        name = _("as {library}", library=data.library) if data.library else "recnb"
        return cls.of(name, scoring.convention, metric, scoring.options)

    @property
    def definition(self) -> Metric[...]:
        """The metric of this name."""
        return metric_named(self.metric)

    def decision(self, axis: str) -> Any:
        """Return the value on an axis; ABSENT if the axis is of another metric."""
        if axis in FIELDS:
            return tuple(getattr(self.convention, name) for name in FIELDS[axis])
        return self.metric if axis == "metric" else dict(self.options).get(axis, ABSENT)

    def taking(self, axis: str, other: Variant) -> Variant:
        """Return the same variant with another's decision on one axis."""
        if axis in FIELDS:
            changes = {name: getattr(other.convention, name) for name in FIELDS[axis]}
            return replace(self, convention=replace(self.convention, **changes))
        mine = dict(self.options)
        if axis == "metric":
            words = other.definition.words
            kept = {name: value for name, value in mine.items() if value in words.get(name, (value,))}
            return replace(self, metric=other.metric, options=tuple((n, kept.get(n, v)) for n, v in other.options))
        return replace(self, options=tuple({**mine, axis: dict(other.options)[axis]}.items()))

    def differing_axes(self, other: Variant) -> list[str]:
        """Return the axes on which another variant decides otherwise, in the order in which a number is computed."""
        rest = sorted({*dict(self.options), *dict(other.options)} - {*METRIC_AXES})
        return [
            axis
            for axis in (*FIELDS, *METRIC_AXES, *rest)
            if other.decision(axis) is not ABSENT and self.decision(axis) != other.decision(axis)
        ]

    def words(self, axis: str) -> str:
        """Return the decision on an axis in words."""
        value = self.decision(axis)
        if axis == "relevant":
            return self.convention.relevant_in_words
        if axis in FIELDS:
            # Some words differ if an axis is named without the others.
            return _(ALONE.get((axis, value[0])) or PHRASES[axis, value[0]])
        if axis == "metric":
            title = self.definition.title.rstrip(".")
            return _("{metric}: {title}", metric=self.metric, title=title.lower() if current() == "en" else title)
        if axis == "discount" and (base := dict(self.options).get("log_base", 2)) != 2:
            return _("{discount}, base {base:.4g}", discount=option_in_words(axis, value), base=base)
        if axis == "log_base":
            return _("logarithm of base {base}", base=f"{value:.4g}")
        return option_in_words(axis, value) or _("{axis} by default", axis=axis)

    def measure(self, source: Source, k: int | None) -> VariantValues:
        """Compute the number on these frames; an error where the library of the preset raises one."""
        convention = source.as_given(self.convention)
        try:
            prepared = source.under(convention)
        except NoUsersError:
            refuse(self.preset, source, convention, k)
            return VariantValues(math.nan, pl.Series("user", [], dtype=source.recs["user"].dtype), np.zeros(0))
        refuse(self.preset, source, prepared, k)
        options = dict(self.options)
        with np.errstate(invalid="ignore", divide="ignore"):
            cutoffs = cutoffs_under(self.convention, k)
            credit = self.definition.at(hits_for(prepared, [(self.definition, options)], cutoffs), cutoffs, options)
            matrix, mean = average(credit, self.convention)
        return VariantValues(float(mean[0]), prepared.users, matrix[:, 0], prepared)

    def explanation(self, measured: VariantValues, user: Any, k: int | None) -> Explanation | None:
        """Return the explanation of a user's value; None if it does not follow from a single list."""
        from recnb.results.explanation import explanation_of

        prepared = measured.prepared
        if prepared is None or self.convention.cutoff == "none":
            return None
        try:
            explanation = explanation_of(EvaluationData(prepared), self.metric, user, k, dict(self.options))
            value = measured.values[position_of(user, prepared.users)]
        except (ValueError, LookupError):
            return None
        last = float(explanation.rows["credit"].sum() / (explanation.out_of or 1.0))
        if not (abs(explanation.value - value) <= AGREE and abs(last - value) <= AGREE):
            return None
        convention = self.convention.with_metric(dict(self.options))
        return replace(explanation, basis="; ".join(convention.phrases(graded=prepared.graded)))


@dataclass(frozen=True, eq=False)
class Found(Suggesting, ABC):
    """What is found about a metric at a cut-off, shown in the language in which it was made."""

    label: str  #: the metric's symbol at its cut-off
    notes: tuple[str, ...]
    template: ClassVar[str]
    lang: str = field(default_factory=current, init=False)

    @abstractmethod
    def lines(self) -> list[str]:
        """Return the result as text."""

    def __repr__(self) -> str:
        with use_language(self.lang):
            return "\n".join([*self.lines(), *self.notes])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(render(self.template, found=self))


def source_of(data: EvaluationData) -> Source:
    """Return the frames of an evaluation, with a memory of their own for what is tried on them."""
    if data.prepared.source is None:
        raise OptionError("this evaluation was not made of frames, so it cannot be looked at under another convention.")
    return replace(data.prepared.source, _known={})


def measure_each(
    source: Source, variants: Iterable[Variant], k: int | None
) -> Iterator[tuple[Variant, VariantValues | RecnbError]]:
    """Compute the number of each variant; those that read the data alike follow each other and share the join."""
    listed = sorted(variants, key=lambda variant: variant.convention.spec())
    groups = [list(group) for _spec, group in groupby(listed, key=lambda variant: variant.convention.spec())]
    for group in steps(groups, _("conventions tried")):
        for variant in group:
            try:
                yield variant, variant.measure(source, k)
            except RecnbError as error:
                yield variant, error
        source._known.clear()


def grouped(items: Iterable[T], value: Callable[[T], float]) -> list[list[T]]:
    """Return items in groups whose values agree with that of the first; infinite values and NaN agree with none."""
    groups: list[list[T]] = []
    for item in items:
        group = next((group for group in groups if abs(value(group[0]) - value(item)) <= AGREE), None)
        if group is None:
            groups.append([item])
        else:
            group.append(item)
    return groups


def differences(ours: Variant, other: Variant, source: Source) -> list[str]:
    """Return in words how another variant differs, without what can change nothing on these frames."""
    idle = facts_of(source).idle_axes(ours.convention, other.convention)
    return [other.words(axis) for axis in ours.differing_axes(other) if axis not in idle]


def missing_columns(source: Source, presets: list[Preset]) -> tuple[str, ...]:
    """Return in words the columns that libraries read and the frames lack."""
    lacking = {preset.convention.order for preset in presets} - {*source.rows.columns, "row", "auto"}
    return tuple(_(LACKING[order]) for order in sorted(lacking))
