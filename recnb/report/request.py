"""What is asked of a report, checked: metrics with their cut-offs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from recnb.errors import OptionError, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, metric_named
from recnb.metrics.metric import Given, Metric
from recnb.results.arguments import Asked, Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData

#: The cut-offs of a report if none are given, and about how many points a curve has.
USUAL_K, CURVE_POINTS = (5, 10, 20), 30

#: A metric with its own options.
MetricOptions = tuple[Metric[...], Mapping[str, Any]]


@dataclass(frozen=True)
class ReportRequest:
    """The metrics of a report with their cut-offs, each checked."""

    metrics: tuple[MetricOptions, ...]  #: of accuracy; the first is the lead metric
    beyond: tuple[MetricOptions, ...]  #: metrics beyond accuracy that are named
    cutoffs: Mapping[str, tuple[int | None, ...]]  #: of each metric that is named
    asked: tuple[Asked, ...]  #: as given, the lead metric first
    #: All that are given; None: each metric has its own.
    k: tuple[int | None, ...] | None
    by: Any = None  #: segments of users
    bins: int = 4

    @property
    def columns(self) -> tuple[int | None, ...]:
        """All cut-offs, the whole list last."""
        return in_order(k for ks in self.cutoffs.values() for k in ks)

    def k_of(self, metric: str) -> tuple[int | None, ...]:
        """Return the cut-offs of a metric."""
        return self.cutoffs.get(metric, tuple(k for k in self.columns if k is not None))

    @property
    def deepest(self) -> int | None:
        """The rank down to which hits are needed."""
        whole = None in self.columns or any(
            Measure(metric, options).needs_whole_list
            for metric, options in self.metrics
        )
        return None if whole else max(k for k in self.columns if k is not None)

    @property
    def lead_ks(self) -> tuple[int, ...]:
        """The cut-offs of the lead metric that are ranks."""
        return tuple(k for k in self.k_of(self.metrics[0][0].name) if k is not None)

    @property
    def lead_k(self) -> int:
        """The cut-off at which users are looked at: the middle one."""
        return self.lead_ks[len(self.lead_ks) // 2]

    @property
    def points(self) -> tuple[int, ...]:
        """The cut-offs of the curve."""
        return curve_points(self.lead_ks)


def request_of(
    model: EvaluationData,
    k: Any,
    metrics: Metrics,
    options: Given,
    *,
    by: Any,
    bins: int,
) -> ReportRequest:
    """Check what is asked of a report of this model, or of this and others."""
    asked = asked_of(model, metrics, options)
    if None in Cutoffs.of(k).values:
        problem = (
            "a report needs whole numbers for k, such as k=[5, 10, 20]: its curve "
            "runs from 1 to the largest."
        )
        raise OptionError(problem, fix="For whole lists ask .table(k=None).")
    cutoffs = _cutoffs_of(asked, k)
    asked = _lead_first(asked, cutoffs)
    for each in asked:
        if each.metric.data:
            problem = (
                f"a report has the same relevant items and lists throughout, and "
                f"{each.metric.name} has others: ask for it by "
            )
            raise OptionError(problem, f".table([{each.metric.name!r}]).")
    given = {each.metric.name: each.options for each in asked}
    accuracy = [each.metric.name for each in asked if each.metric.is_accuracy]
    beyond = [each for each in asked if not each.metric.is_accuracy]
    return ReportRequest(
        metrics=tuple(
            (metric_named(name), given[name]) for name in dict.fromkeys(accuracy)
        ),
        beyond=tuple((each.metric, each.options) for each in beyond),
        cutoffs=cutoffs,
        asked=tuple(asked),
        k=None if _has_own_cutoffs(asked, k) else Cutoffs.of(k).values,
        by=by,
        bins=bins,
    )


def _lead_first(
    asked: Sequence[Asked], cutoffs: Mapping[str, tuple[int | None, ...]]
) -> list[Asked]:
    """Return metrics with the lead first, and the others as they are asked for.

    The lead has a cut-off and a curve.
    """
    ranked = [
        each for each in asked if each.metric.is_accuracy and not each.metric.retrieval
    ]
    lead = next((each for each in ranked if cutoffs[each.metric.name] != (None,)), None)
    ordered = sorted(asked, key=lambda each: each is not lead)
    accuracy = [each for each in ordered if each.metric.is_accuracy]
    if not accuracy or metric_named(accuracy[0].metric.name).retrieval:
        names = dict.fromkeys(["ndcg", *(each.metric.name for each in ordered)])
        problem = (
            f"a report needs a metric of accuracy, such as metrics={quoted([*names])}: "
        )
        raise OptionError(problem, "its curve and its users are shown by it.")
    return ordered


def _cutoffs_of(asked: Sequence[Asked], k: object) -> dict[str, tuple[int | None, ...]]:
    """Return the cut-offs of each metric: of its name, else k.

    Beside names with a cut-off, the whole list unless k is given.
    """
    given = Cutoffs.of(k).values
    named = [each.metric for each in asked if each.metric.cutoff is not None]
    own = {metric.cutoff for metric in named if metric.cutoff is not None}
    if len(named) == len(asked) and given != USUAL_K and {*given} != own:
        problem = f"the metrics name the cut-offs {sorted(own)}, and k={quoted(k)} names others: "
        raise OptionError(f"{problem}leave one of them out.")
    rest = (None,) if _has_own_cutoffs(asked, k) else given
    cutoffs: dict[str, list[int | None]] = {}
    for each in asked:
        cutoffs.setdefault(each.metric.name, []).extend(
            rest if each.metric.cutoff is None else [each.metric.cutoff]
        )
    return {name: in_order(ks) for name, ks in cutoffs.items()}


def _has_own_cutoffs(asked: Sequence[Asked], k: object) -> bool:
    """Return whether names of metrics have the cut-offs, and none is given."""
    return Cutoffs.of(k).values == USUAL_K and any(
        each.metric.is_accuracy and each.metric.cutoff is not None for each in asked
    )


def in_order(cutoffs: Iterable[int | None]) -> tuple[int | None, ...]:
    """Return cut-offs once each, the whole list last."""
    return tuple(sorted({*cutoffs}, key=lambda k: inf if k is None else k))


def curve_points(cutoffs: Sequence[int]) -> tuple[int, ...]:
    """Return the cut-offs of a curve: from 1 to the deepest, evenly.

    Those of the table are among them if they are few.
    """
    deepest = max(cutoffs)
    even = np.unique(
        np.linspace(1, deepest, min(CURVE_POINTS, deepest)).round().astype(int)
    ).tolist()
    return (
        tuple(sorted({*even, *cutoffs}))
        if len(cutoffs) <= CURVE_POINTS // 3
        else tuple(even)
    )
