"""What is asked of a report, checked: metrics with their cut-offs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from recnb.caching import cached_property
from recnb.errors import OptionError, quoted
from recnb.metrics.hits import WHOLE_LISTS, Cutoffs
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Given
from recnb.results.arguments import Metrics, asked_of, refuse_twice
from recnb.results.evaluation_data import EvaluationData

#: The cut-offs of a report if none are given, and about how many points a curve has.
USUAL_K, CURVE_POINTS = (5, 10, 20), 30

#: The cut-offs of each metric; None is the whole list.
CutoffsOfMetrics = Mapping[str, tuple[int | None, ...]]


@dataclass(frozen=True)
class ReportRequest:
    """The metrics of a report with their cut-offs, each checked."""

    #: Of accuracy, without cut-offs; the first is the lead metric.
    metrics: tuple[Measure, ...]
    beyond: tuple[Measure, ...]  #: those beyond accuracy that are named
    cutoffs: CutoffsOfMetrics  #: of each metric that is named
    by: Any  #: segments of users

    @property
    def lead(self) -> Measure:
        """The metric of the headline, the curve and the users: the first."""
        return self.metrics[0]

    @cached_property
    def k(self) -> tuple[int | None, ...]:
        """All cut-offs, the whole list last."""
        return in_order(k for ks in self.cutoffs.values() for k in ks)

    def k_of(self, metric: str) -> tuple[int | None, ...]:
        """Return the cut-offs of a metric."""
        return self.cutoffs.get(metric, tuple(k for k in self.k if k is not None))

    @property
    def lead_ks(self) -> tuple[int, ...]:
        """The cut-offs of the lead metric that are ranks."""
        return tuple(k for k in self.k_of(self.lead.name) if k is not None)

    @property
    def lead_k(self) -> int:
        """The cut-off at which users are looked at: the middle one."""
        return self.lead_ks[len(self.lead_ks) // 2]


def request_of(
    model: EvaluationData, k: Any, metrics: Metrics, options: Given, *, by: Any
) -> ReportRequest:
    """Check what is asked of a report of this model, or of this and others."""
    asked = asked_of(model, metrics, WHOLE_LISTS, options)
    if None in Cutoffs.of(k).values:
        problem = (
            "a report needs whole numbers for k, such as k=[5, 10, 20]: its curve "
            "runs from 1 to the largest."
        )
        raise OptionError(f"{problem} For whole lists ask .table(k=None).")
    cutoffs = _cutoffs_of(asked, k)
    asked = _lead_first(asked, cutoffs)
    for each in asked:
        if each.decisions:
            problem = (
                f"a report has the same relevant items and lists throughout, and "
                f"{each.name} has others: ask for it by "
            )
            raise OptionError(f"{problem}.table([{each.name!r}]).")
    # Cut-offs are by the name, which a measure may be asked for at several by.
    measures = [replace(each, k=None, typed="") for each in asked]
    accuracy = {each.name: each for each in measures if each.metric.is_accuracy}
    return ReportRequest(
        metrics=tuple(accuracy.values()),
        beyond=tuple(each for each in measures if not each.metric.is_accuracy),
        cutoffs=cutoffs,
        by=by,
    )


def _cutoffs_of(asked: Sequence[Measure], k: object) -> CutoffsOfMetrics:
    """Return the cut-offs of each metric: of its name, else k.

    Beside names with a cut-off, the whole list unless k is given.
    """
    given = Cutoffs.of(k).values
    is_given = given != USUAL_K
    named = [each.k for each in asked if each.k is not None]
    if is_given and len(named) == len(asked) and {*given} != {*named}:
        raise OptionError(
            f"the metrics name the cut-offs {sorted({*named})}, and k={quoted(k)} names "
            "others: leave one of them out."
        )
    names_accuracy = any(
        each.metric.is_accuracy and each.k is not None for each in asked
    )
    rest: tuple[int | None, ...] = given
    if names_accuracy and not is_given:
        rest = (None,)
    refuse_twice(asked, Cutoffs(rest))
    cutoffs: dict[str, list[int | None]] = {}
    for each in asked:
        own_or_rest = rest if each.k is None else [each.k]
        cutoffs.setdefault(each.name, []).extend(own_or_rest)
    return {name: in_order(ks) for name, ks in cutoffs.items()}


def in_order(cutoffs: Iterable[int | None]) -> tuple[int | None, ...]:
    """Return cut-offs once each, the whole list last."""
    return tuple(sorted({*cutoffs}, key=lambda k: inf if k is None else k))


def _lead_first(asked: Sequence[Measure], cutoffs: CutoffsOfMetrics) -> list[Measure]:
    """Return metrics with the lead first, and the others as they are asked for.

    The lead has a cut-off and a curve.
    """
    for lead in asked:
        is_ranked = lead.metric.is_accuracy and not lead.metric.retrieval
        if is_ranked and cutoffs[lead.name] != (None,):
            return [lead, *(each for each in asked if each is not lead)]
    names = dict.fromkeys(["ndcg", *(each.name for each in asked)])
    raise OptionError(
        f"a report needs a metric of accuracy with a cut-off, such as "
        f"metrics={quoted([*names])}: its curve and its users are shown by it."
    )


def curve_points(cutoffs: Sequence[int]) -> tuple[int, ...]:
    """Return the cut-offs of a curve: evenly from 1 to the deepest, and these."""
    deepest = max(cutoffs)
    n_points = min(CURVE_POINTS, deepest)
    even = np.unique(np.linspace(1, deepest, n_points).round().astype(int)).tolist()
    return tuple(sorted({*even, *cutoffs}))
