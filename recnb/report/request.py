"""The request for a report: cut-offs, and metrics with their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recnb.errors import Argument, Code, OptionError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric
from recnb.results.arguments import Metrics, chosen_metrics, metrics_under, options_of, parted, without_cutoffs
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import OWN

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
    own_k: Mapping[str, tuple[int | None, ...]] = field(
        default_factory=dict
    )  #: of each metric, where names have cut-offs

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

    def lead_cutoffs(self, points: Sequence[int]) -> Cutoffs:
        """The cut-offs of the lead metric: those of its curve, and those of the tables."""
        whole = [None] * (None in self.k_of(self.metrics[0][0].name))
        return Cutoffs.of([*sorted({*points, *self.lead_ks}), *whole])


def request_of(
    model: EvaluationData, k: object, metrics: Metrics, options: Mapping[str, Any], confidence: float, instead: str
) -> ReportRequest:
    """Check what is asked of a report of this model, or of this and others; `instead` is what to call for whole lists."""
    if isinstance(k, str) or (is_several(k) and any(isinstance(cutoff, str) for cutoff in k)):
        no_cutoffs = " are no cut-offs, which come first in a report: name measures by "
        raise OptionError(Argument("k", k), no_cutoffs, Argument("metrics", k), ".")
    if "title" in options:
        call = f"report(...).to_html('report.html', title={options['title']!r})"
        raise OptionError(f"title= is given where the report is written: {call}.")
    metrics, k, own_k = without_cutoffs(metrics, k, USUAL_K)
    at = Cutoffs.of(k)
    finite = tuple(cutoff for cutoff in at if cutoff is not None)
    if len(finite) < len(at):
        example, why = Argument("k", [5, 10, 20]), ": its curve runs from 1 to the largest."
        raise OptionError(
            "a report needs whole numbers for k, such as ", example, why, fix=f"For whole lists ask {instead}."
        )
    accuracy, beyond = parted(metrics, options)
    # Named metrics come with their options; the standard ones share the options given.
    shared = options if accuracy is None else {}
    chosen = chosen_metrics(metrics_under(model.library, accuracy))
    other = next((metric for metric in chosen if metric.data), None)
    if other is not None:
        problem = f"a report is of the same users and lists throughout, and {other.name} has others: evaluate with "
        options_of_data = [part for name, value in other.data.items() for part in (Argument(name, value), ", ")]
        table = Code(f"type .measures([{other.name!r}])", Argument("format", "trec"))
        raise OptionError(problem, *options_of_data, "or ", table, ".")
    if chosen[0].retrieval:
        raise OptionError(
            f"the first metric of a report has its curve and the lint, which {chosen[0].symbol} has not: ",
            Argument("metrics", ["ndcg", *(metric.name for metric in chosen if metric.name != "ndcg")]),
            ".",
        )
    marked = []
    for metric in chosen:
        is_own = model.is_own(metric, whole=own_k.get(metric.name) == (None,))
        named = replace(metric, symbol=f"{metric.symbol}{OWN}") if is_own else metric
        marked.append((named, options_of(metric, accuracy, shared, chosen)))
    return ReportRequest(finite, tuple(marked), beyond, float(confidence), own_k)


def curve_points(at: Sequence[int], most: int = CURVE_POINTS) -> tuple[int, ...]:
    """The cut-offs of a curve: from 1 to the deepest, evenly, and those of the table if they are few.

    >>> curve_points([5]), len(curve_points([5, 10, 1000])) <= 33
    ((1, 2, 3, 4, 5), True)
    """
    even = np.unique(np.linspace(1, max(at), min(most, max(at))).round().astype(int)).tolist()
    return tuple(sorted({*even, *at})) if len(at) <= most // 3 else tuple(even)
