"""A number as a library or an evaluation defines it, and the users behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from recnb.conventions import Convention, in_words, options_in_words
from recnb.conventions.convention import DECISIONS
from recnb.conventions.presets import Preset
from recnb.data import Source
from recnb.data.ids import positions
from recnb.display.language import N_, _
from recnb.errors import NoUsersError, OptionError
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import Given, Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import scoring_of, values_of_hits
from recnb.stats import mean_of

LACKING = N_(
    "No {column} in these frames: libraries that read it are given the order that there is."
)


class Measurement(NamedTuple):
    """A number, and the values of the users behind it."""

    value: float
    users: pl.Series
    values: Floats  #: per user; NaN for a user who is left out

    @property
    def n_counted(self) -> int:
        """The number of users whose value counts."""
        return int(np.count_nonzero(~np.isnan(self.values)))

    def values_of(self, users: pl.Series) -> Floats:
        """Return the values of these users, NaN for those who are not evaluated."""
        return np.append(self.values, np.nan)[positions(self.users, users)]


@dataclass(frozen=True)
class Variant:
    """One definition of a number: how the data are read, the metric and its options."""

    name: str  #: whose number it is
    metric: Metric[...]
    convention: Convention  #: of the data, with all options of the metric
    preset: Preset | None = None  #: of a library

    @classmethod
    def made(
        cls, name: str, convention: Convention, metric: Metric[...], options: Given
    ) -> Self:
        """Make a variant of its parts and check the options."""
        metric.check(options)
        chosen = {**metric.defaults, **options}
        return cls(name, metric, convention.with_metric(chosen))

    @classmethod
    def of_preset(cls, preset: Preset) -> Self:
        """Make the variant that a library computes."""
        metric = measure_named(preset.metric).metric
        options = dict(preset.options)
        made = cls.made(preset.label, preset.convention, metric, options)
        return replace(made, preset=preset)

    @classmethod
    def of_evaluation(cls, data: EvaluationData, measure: Measure) -> Self:
        """Make the variant that an evaluation computes, under its library's name."""
        scoring = scoring_of(data, measure, measure.cutoffs())
        name = _("as {library}", library=data.library) if data.library else "recnb"
        convention = scoring.joined.convention
        return cls.made(name, convention, measure.metric, scoring.measure.options)

    @property
    def options(self) -> dict[str, Any]:
        """All options of the metric."""
        return dict(self.convention.metric)

    @property
    def decisions(self) -> dict[str, Any]:
        """Every decision, by axis, in the order in which a number is computed."""
        decisions = {name: getattr(self.convention, name) for name in DECISIONS}
        threshold = decisions.pop("relevant_from")
        decisions["relevant"] = (decisions["relevant"], threshold)
        return {**decisions, **self.options}

    def differing_axes(self, other: Variant) -> list[str]:
        """Return the axes on which another variant of the metric decides otherwise."""
        ours = self.decisions
        return [axis for axis, value in other.decisions.items() if ours[axis] != value]

    def taking(self, axis: str, other: Variant) -> Self:
        """Return the same variant with another's decision on one axis."""
        convention = self.convention
        if axis in self.options:
            options = {**self.options, axis: other.options[axis]}
            return replace(self, convention=convention.with_metric(options))
        names = ("relevant", "relevant_from") if axis == "relevant" else (axis,)
        decided = {name: getattr(other.convention, name) for name in names}
        return replace(self, convention=replace(convention, **decided))

    def words(self, axis: str) -> str:
        """Return the decision on an axis in words."""
        if axis == "relevant":
            return self.convention.decision_in_words(axis)
        if axis == "discount":  # whose phrase names the base of the logarithm
            chosen = {name: self.options[name] for name in (axis, "log_base")}
            return options_in_words(chosen)[0]
        words = in_words(axis, self.decisions[axis])
        return words or _("{axis} by default", axis=axis)

    def measure(self, source: Source, k: int | None) -> Measurement:
        """Compute the number on these frames; NaN if no user is left."""
        convention = source.with_order_of_lists(self.convention)
        try:
            joined = source.under(convention)
        except NoUsersError:
            return Measurement(math.nan, source.recs_rows["user"].clear(), np.zeros(0))
        measure = Measure(self.metric, self.options)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = values_of_hits(joined, measure, Cutoffs.of(k))[:, 0]
        return Measurement(mean_of(values, joined.user_weight), joined.users, values)


def refuse_weights(evaluation: EvaluationData) -> None:
    """Refuse weights, which no library has."""
    if evaluation.source.has_propensities or evaluation.source.user_weights is not None:
        raise OptionError(
            "no library has weights: leave out propensity= and user_weight= for its numbers."
        )


def caveats_of(variants: Iterable[Variant]) -> list[str]:
    """Say where the libraries of these variants have no such number, each once."""
    followed = [one.preset for one in variants if one.preset is not None]
    caveats = dict.fromkeys(preset.caveat_in_words for preset in followed)
    return list(filter(None, caveats))


def lacking_in(source: Source, variants: Iterable[Variant]) -> list[str]:
    """Say which columns these variants read and the frames lack."""
    read = {variant.convention.order for variant in variants}
    lacking = read - {"auto", "row", *source.recs.labels}
    return [_(LACKING, column=order) for order in sorted(lacking)]
