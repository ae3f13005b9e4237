"""The request for a report: cut-offs, and metrics with their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.errors import OptionError, is_several, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric
from recnb.results.arguments import Asked, Metrics, asked_of, chosen_metrics
from recnb.results.evaluation_data import EvaluationData

#: The curve of one model has about as many points; that of several, which are drawn together, fewer.
CURVE_POINTS = 30

#: The cut-offs of a report if none are given.
USUAL_K = (5, 10, 20)

#: A metric with its own options.
MetricOptions = tuple[Metric[...], Mapping[str, Any]]


@dataclass(frozen=True)
class ReportRequest:
    """The cut-offs and metrics of a report, each checked."""

    k: tuple[int, ...]  #: ranks
    metrics: tuple[MetricOptions, ...]  #: of accuracy; the first is the lead metric
    beyond: Mapping[str, Mapping[str, Any]] | None  #: metrics beyond accuracy with their options; None: not named
    confidence: float
    own_k: Mapping[str, tuple[int | None, ...]]  #: of each metric, where names have cut-offs
    by: Any = None  #: segments of users
    bins: int = 4

    @property
    def columns(self) -> tuple[int | None, ...]:
        """All cut-offs, the whole list last."""
        return (*self.k, *[None] * any(None in own for own in self.own_k.values()))

    def k_of(self, metric: str) -> tuple[int | None, ...]:
        """The cut-offs of a metric."""
        return self.own_k.get(metric, self.k)

    @property
    def at_cutoffs(self) -> list[tuple[Metric[...], Cutoffs]]:
        """The metrics of accuracy, each with its cut-offs."""
        return [(metric, Cutoffs.of(self.k_of(metric.name))) for metric, _options in self.metrics]

    @property
    def lead_ks(self) -> tuple[int, ...]:
        """The cut-offs of the lead metric that are ranks."""
        return tuple(k for k in self.k_of(self.metrics[0][0].name) if k is not None)

    @property
    def lead_k(self) -> int:
        """The cut-off at which users are looked at: the middle one."""
        return sorted(self.lead_ks)[len(self.lead_ks) // 2]

    def cutoffs_of(self, metric: str) -> tuple[int | None, ...]:
        """The cut-offs that a metric of accuracy is computed at: those of the lead metric with those of its curve."""
        own = self.k_of(metric)
        if metric != self.metrics[0][0].name:
            return own
        return (*sorted({*curve_points(self.lead_ks), *self.lead_ks}), *[None] * (None in own))


def request_of(
    model: EvaluationData,
    k: object,
    metrics: Metrics,
    options: Mapping[str, Any],
    confidence: float,
    *,
    by: Any,
    bins: int,
    instead: str,
) -> ReportRequest:
    """Check what is asked of a report of this model, or of this and others; `instead` is what to call for whole lists."""
    if isinstance(k, str) or (is_several(k) and any(isinstance(cutoff, str) for cutoff in k)):
        no_cutoffs = " are no cut-offs, which come first in a report: name measures by "
        raise OptionError(f"k={quoted(k)}", no_cutoffs, f"metrics={quoted(k)}.")
    if "title" in options:
        raise OptionError(f"title= is given where the report is written: .to_html(title={options['title']!r}).")
    asked = asked_of(model.library, metrics, options)
    k, own_k = _own_cutoffs(asked, k)
    at = Cutoffs.of(k)
    finite = tuple(cutoff for cutoff in at if cutoff is not None)
    if len(finite) < len(at):
        example, why = "k=[5, 10, 20]", ": its curve runs from 1 to the largest."
        raise OptionError(
            "a report needs whole numbers for k, such as ", example, why, fix=f"For whole lists ask {instead}."
        )
    # What has a cut-off comes first, as the first has a curve.
    asked = sorted(asked, key=lambda each: own_k.get(each.metric.name) == (None,))
    own_options = {each.metric.name: each.options for each in asked}
    beyond = {each.metric.name: each.options for each in asked if not each.metric.is_accuracy}
    if len(beyond) == len(own_options):
        name = next(iter(beyond))
        raise OptionError(
            "a report needs a metric of accuracy, such as "
            f"metrics={quoted(['ndcg', name])}"
            ": its curve and its users are shown by it.",
            fix=(f"For {name} alone type .{name}(k=10)."),
        )
    chosen = chosen_metrics([name for name in own_options if name not in beyond])
    other = next((each for each in asked if each.metric.data), None)
    if other is not None:
        same = f"a report has the same relevant items and lists throughout, and {other.metric.name} has others: ask for it by "
        raise OptionError(same, f".table([{other.name!r}]).")
    if chosen[0].retrieval:
        raise OptionError(
            f"the first metric of a report has its curve and the lint, which {chosen[0].symbol} has not: "
            f"metrics={quoted(['ndcg', *(metric.name for metric in chosen if metric.name != 'ndcg')])}"
            ".",
        )
    with_options = tuple((metric, own_options[metric.name]) for metric in chosen)
    return ReportRequest(finite, with_options, beyond or None, float(confidence), own_k, by, bins)


def _own_cutoffs(asked: Sequence[Asked], k: Any) -> tuple[Any, dict[str, tuple[int | None, ...]]]:
    """All cut-offs that are ranks, and those of each metric; k and none, if no name has a cut-off.

    Beside names with a cut-off, one without means the whole list unless k is given.
    """
    own = {each.metric.cutoff for each in asked if each.metric.cutoff is not None}
    if not own:
        return k, {}
    given = list(k) if is_several(k) else [k]
    usual = given == list(USUAL_K)
    if all(each.metric.cutoff is not None for each in asked) and not usual and set(given) != own:
        problem = f"the metrics name the cut-offs {sorted(own)}, and "
        raise OptionError(problem, f"k={quoted(k)} names others: leave one of them out.")
    of_accuracy = any(each.metric.cutoff is not None and each.metric.is_accuracy for each in asked)
    rest = [None] if usual and of_accuracy else given
    cutoffs: dict[str, set[Any]] = {}
    for each in asked:
        cutoffs.setdefault(each.metric.name, set()).update(rest if each.metric.cutoff is None else [each.metric.cutoff])
    in_order = {name: (*sorted(ks - {None}), *[None] * (None in ks)) for name, ks in cutoffs.items()}
    return sorted(k for k in set().union(*cutoffs.values()) if k is not None), in_order


def curve_points(at: Sequence[int], most: int = CURVE_POINTS) -> tuple[int, ...]:
    """The cut-offs of a curve: from 1 to the deepest, evenly, and those of the table if they are few.

    >>> curve_points([5]), len(curve_points([5, 10, 1000])) <= 33
    ((1, 2, 3, 4, 5), True)
    """
    even = np.unique(np.linspace(1, max(at), min(most, max(at))).round().astype(int)).tolist()
    return tuple(sorted({*even, *at})) if len(at) <= most // 3 else tuple(even)
