"""Variants of a metric, and the axes along which two variants differ.

Most axes change nothing on most data: if no scores are equal, all rules for ties are the same. `MetricVariant.on` writes a
variant in its plainest form for given frames; variants that are equal in this form give the same number, which is computed
once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
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
from recnb.libraries.data_properties import DataProperties, properties_of
from recnb.libraries.library_errors import refuse
from recnb.metrics.hits import Floats
from recnb.metrics.metric import Metric, metric_named
from recnb.results.aggregation import averaged, cutoffs_under, hits_for
from recnb.results.arguments import position_of

if TYPE_CHECKING:
    from recnb.results import Explanation
    from recnb.results.evaluation_data import EvaluationData

T = TypeVar("T")

#: Columns that libraries read and frames lack.
LACKING: dict[str, str] = {
    "rank": N_("No rank in these frames: libraries that read it are given the order that there is."),
    "score": N_("No score in these frames: libraries that read it are given the order that there is."),
}

#: Axes of the data by stage, in the order in which a number is computed.
STAGES: dict[str, tuple[str, ...]] = {
    N_("data"): ("frames",),
    N_("ranking"): ("order", "score_dtype", "ties", "duplicates", "nonpositive_scores", "candidates", "cutoff"),
    N_("relevance"): ("relevant", "negative_relevance", "judged"),
    N_("users"): ("users", "no_relevant"),
}
#: The fields of a Convention for each of its axes.
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
    """A variant's number for frames, and the users behind it."""

    value: float
    users: pl.Series
    values: Floats  #: per user; NaN for a user who is left out
    prepared: Prepared | None = None

    @property
    def n_users(self) -> int:
        """The number of users who count."""
        return int((~np.isnan(self.values)).sum())

    def of(self, users: pl.Series) -> Floats:
        """The values of some users, NaN for those who are not among these."""
        at = positions(self.users, users)
        return np.append(self.values, np.nan)[at]  # the place of one who is not among them is -1


@dataclass(frozen=True)
class MetricVariant:
    """A complete definition of a number: how the data are read, the metric, its options."""

    convention: Convention  #: of the data
    metric: str
    options: tuple[tuple[str, Any], ...]  #: all options of the metric, defaults included
    refuses: tuple[str, ...] = ()  #: frames on which a library has no number

    @classmethod
    def of(cls, convention: Convention, metric: Metric[...], options: Mapping[str, Any]) -> MetricVariant:
        """A variant from its parts; options are checked."""
        metric.check(options)
        return cls(replace(convention, metric=()), metric.name, tuple({**metric.defaults, **options}.items()))

    @classmethod
    def of_preset(cls, preset: Preset) -> MetricVariant:
        """The variant that a library computes."""
        variant = cls.of(preset.convention, metric_named(preset.metric), dict(preset.options))
        return replace(variant, refuses=preset.refuses)

    @property
    def definition(self) -> Metric[...]:
        """The metric of this name."""
        return metric_named(self.metric)

    @property
    def in_force(self) -> Convention:
        """The convention with the options of the metric."""
        return self.convention.with_metric(dict(self.options))

    def at(self, axis: str) -> Any:
        """The value on an axis; ABSENT if the axis is of another metric."""
        if axis in FIELDS:
            return tuple(getattr(self.convention, name) for name in FIELDS[axis])
        if axis == "metric":
            return self.metric
        return dict(self.options).get(axis, ABSENT)

    def taking(self, axis: str, other: MetricVariant) -> MetricVariant:
        """The same with the value of another variant on one axis."""
        if axis in FIELDS:
            return self.having(**{name: getattr(other.convention, name) for name in FIELDS[axis]})
        if axis == "metric":
            words = other.definition.words
            kept = {name: value for name, value in self.options if value in words.get(name, (value,))}
            options = tuple((name, kept.get(name, value)) for name, value in other.options)
            return replace(self, metric=other.metric, options=options)
        return self.choosing(axis, dict(other.options)[axis])

    def having(self, **changes: Any) -> MetricVariant:
        """The same metric under a changed convention."""
        return replace(self, convention=replace(self.convention, **changes))

    def choosing(self, option: str, value: Any) -> MetricVariant:
        """The same with another value of one of the metric's options."""
        return replace(self, options=tuple({**dict(self.options), option: value}.items()))

    def words(self, axis: str) -> str:
        """The value on an axis, in words."""
        value = self.at(axis)
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

    def on(self, source: Source, k: int | None = None) -> MetricVariant:
        """The plainest form for these frames; variants with the same one give the same number."""
        return _plainest(self, properties_of(source), k is None)

    def data(self, source: Source) -> Convention:
        """The convention that the frames are prepared under."""
        facts = properties_of(source)
        plain = self.plain(facts)
        if plain.no_relevant == "one":
            # Whether such users count 0 or 1 is decided when averaging; the rows are the same.
            plain = replace(plain, no_relevant="zero")
        if facts.all_users_have_relevant(plain):
            plain = replace(plain, no_relevant="skip")
        return replace(plain, cutoff="k")

    def plain(self, facts: DataProperties) -> Convention:
        """The plainest convention of the data with the same result for frames with these properties."""
        # ERR without max_relevance= takes it from all rows.
        scaled = ("max_relevance", None) in self.options
        return facts.with_available_order(self.convention) if scaled else facts.plain(self.convention)

    @property
    def whole_list(self) -> bool:
        """Whether hits of any depth are needed."""
        return self.convention.cutoff == "none" or self.definition.needs_whole_list(dict(self.options))

    def values(self, prepared: Prepared, k: int | None) -> VariantValues:
        """The number and the users behind it, from prepared data."""
        options = dict(self.options)
        with np.errstate(invalid="ignore", divide="ignore"):
            cutoffs = cutoffs_under(self.convention, k)
            credit = self.definition.at(hits_for(prepared, [(self.definition, options)], cutoffs), cutoffs, options)
            average = averaged(credit, self.convention, self.definition)
        values, kept, value = average.values, average.kept, float(average.means[0])
        if kept is not None:
            values = np.where(kept, values, np.nan)
        return VariantValues(value, prepared.users, np.asarray(values[:, 0]), prepared)

    def measured(self, source: Source, k: int | None, preset: Preset | None = None) -> VariantValues:
        """The number for these frames and the users behind it; as a `preset` has it, which errors then name."""
        convention = source.as_given(preset.convention) if preset else self.data(source)
        try:
            prepared = source.under(convention)
        except NoUsersError:
            refuse(self.refuses, source, convention, k, preset)
            nobody = pl.Series("user", [], dtype=source.recs["user"].dtype)
            return VariantValues(math.nan, nobody, np.zeros(0))
        refuse(self.refuses, source, prepared, k, preset)
        return self.values(prepared, k)

    def explanation(self, measured: VariantValues, user: Any, k: int | None) -> Explanation | None:
        """The explanation of a user's value; None if it does not follow from a single list."""
        from recnb.results.evaluation_data import EvaluationData
        from recnb.results.explanation import explanation_of

        prepared = measured.prepared
        if prepared is None or self.convention.cutoff == "none":
            return None
        try:
            explanation = explanation_of(EvaluationData(prepared), self.metric, user, k, dict(self.options))
            value = measured.values[position_of(user, prepared.users)]
        except (ValueError, LookupError):
            return None
        ends = float(explanation.rows["credit"].sum() / (explanation.out_of or 1.0))
        if not (abs(explanation.value - value) <= 1e-9 and abs(ends - value) <= 1e-9):
            return None
        return replace(explanation, basis="; ".join(self.in_force.phrases(graded=prepared.graded)))


@dataclass(frozen=True, eq=False)
class Found(Suggesting, ABC):
    """What is found about a metric at a cut-off: shown in the language in which it was made, as text and by a template."""

    label: str  #: the metric's symbol at its cut-off
    notes: tuple[str, ...]
    template: ClassVar[str]
    lang: str = field(default_factory=current, init=False)

    @abstractmethod
    def lines(self) -> list[str]:
        """The result as text."""

    def __repr__(self) -> str:
        with use_language(self.lang):
            return "\n".join([*self.lines(), *self.notes])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(render(self.template, found=self))


@dataclass(frozen=True, eq=False)
class Side:
    """A number: a variant of a metric on frames, by name."""

    name: str
    source: Source
    variant: MetricVariant
    preset: Preset | None = None  #: of a library

    @classmethod
    def of_evaluation(cls, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any]) -> Side:
        """The number of an evaluation, by the name of its library."""
        source = evaluation.prepared.source
        if source is None:
            raise OptionError(
                "this evaluation was not made of frames, so it cannot be looked at under another convention."
            )
        name = _("as {library}", library=evaluation.library) if evaluation.library else "recnb"
        scoring = evaluation.scoring(metric, options)
        return cls(name, source, MetricVariant.of(scoring.convention, metric, scoring.options))

    @classmethod
    def of_preset(cls, source: Source, preset: Preset) -> Side:
        """The number of a library."""
        return cls(preset.label, source, MetricVariant.of_preset(preset), preset)


@lru_cache(maxsize=4096)
def _plainest(variant: MetricVariant, facts: DataProperties, whole: bool) -> MetricVariant:
    """The plainest form of a variant for frames with these properties; `whole`: lists are not cut."""
    given, options, plain = variant.convention, dict(variant.options), variant.plain(facts)
    # A user with an ideal of 0 has nothing to find either: the ideal of the list, or that of an empty list.
    ideal = options.get("ideal")
    of_length = ideal == "min(k, list)" or (whole and ideal is not None)
    by_ideal = ideal == "list" or (of_length and facts.users_without_list)
    if by_ideal:
        plain = replace(plain, relevant=given.relevant, relevant_from=given.relevant_from)
    elif facts.all_users_have_relevant(plain):
        plain = replace(plain, no_relevant="skip")
    return replace(variant, convention=plain)


def grouped(items: Iterable[T], value: Callable[[T], float]) -> list[list[T]]:
    """Items in groups whose values agree with that of the first; infinite values and NaN agree with none."""
    groups: list[list[T]] = []
    for item in items:
        group = next((group for group in groups if abs(value(group[0]) - value(item)) <= AGREE), None)
        if group is None:
            groups.append([item])
        else:
            group.append(item)
    return groups


def axes_of(one: MetricVariant, other: MetricVariant) -> list[str]:
    """All axes of two variants, in the order in which a number is computed."""
    rest = sorted({*dict(one.options), *dict(other.options)} - {*METRIC_AXES})
    return [*FIELDS, *METRIC_AXES, *rest]


def stage_of(axis: str) -> str:
    """The stage of the computation that an axis belongs to."""
    return next((stage for stage, axes in STAGES.items() if axis in axes), N_("metric"))


def differences(one: MetricVariant, other: MetricVariant, source: Source, k: int | None) -> list[str]:
    """In words, how another variant differs, as far as it can matter on these frames."""
    a, b = one.on(source, k), other.on(source, k)
    differ = [axis for axis in axes_of(a, b) if a.at(axis) != b.at(axis) and b.at(axis) is not ABSENT]
    return [(other if other.at(axis) != one.at(axis) else b).words(axis) for axis in differ]


def missing_columns(source: Source, presets: list[Preset]) -> tuple[str, ...]:
    """In words, the columns that libraries read and the frames lack."""
    orders = properties_of(source).orders
    lacking = {preset.convention.order for preset in presets} - {*orders, "auto"}
    return tuple(_(LACKING[order]) for order in sorted(lacking))


def each_measured(
    source: Source, variants: Iterable[MetricVariant], k: int | None
) -> Iterator[tuple[MetricVariant, VariantValues | RecnbError]]:
    """Each variant in its plainest form, once, with its values or its error.

    Variants that need the same data follow each other, so that the data are prepared once and then dropped.
    """
    copy = scratch(source)
    by_data: dict[Convention, list[MetricVariant]] = {}
    for plain in dict.fromkeys(variant.on(copy, k) for variant in variants):
        by_data.setdefault(plain.data(copy), []).append(plain)
    for same in steps(list(by_data.values()), _("conventions tried")):
        # The deepest hits first: those of a shallower cut are among them.
        for plain in sorted(same, key=lambda variant: not variant.whole_list):
            try:
                yield plain, plain.measured(copy, k)
            except RecnbError as error:
                yield plain, error
        for convention in copy._known.keys() - source._known.keys():
            del copy._known[convention]


def numbers_of(source: Source, variants: list[MetricVariant], k: int | None) -> dict[MetricVariant, tuple[float, str]]:
    """The number of each variant, or NaN and why there is none."""
    numbers: dict[MetricVariant, tuple[float, str]] = {}
    for plain, result in each_measured(source, variants, k):
        if isinstance(result, RecnbError):
            numbers[plain] = (math.nan, str(result))
        else:
            value = result.value
            numbers[plain] = (value, "" if math.isfinite(value) else "NaN" if math.isnan(value) else _("infinite"))
    return {variant: numbers[variant.on(source, k)] for variant in variants}


def scratch(source: Source) -> Source:
    """A copy of the frames with their own cache, which is dropped with the copy."""
    copy = replace(source, _known=dict(source._known))
    properties_of(copy, like=source)
    return copy
