"""Metrics that only single libraries compute, and the metric behind each preset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from recnb.errors import FrameError
from recnb.metrics.accuracy import reach
from recnb.metrics.gain import OUT_OF, column, out_of_count
from recnb.metrics.hits import Cutoff, Cutoffs, Hits
from recnb.metrics.metric import METRICS, Credit, Metric, metric_named

#: Options of a preset that are values for empty data: if no user is left, and if no user has a hit.
EMPTY = ("all_skipped", "all_miss")


def hit_count(hits: Hits, k: Cutoff = None) -> Credit:
    """Number of relevant items in the first k places."""
    return Credit(hits, Cutoffs.of(k), hits.weight)


def f1_list(hits: Hits, k: Cutoff = None) -> Credit:
    """F1 whose precision is divided by the length of the list."""
    return Credit(hits, Cutoffs.of(k), 2.0 * hits.weight, out_of_count(hits, k, "list") + column(hits.n_relevant))


def rbp_graded(hits: Hits, k: Cutoff = None, *, p: float = 0.8) -> Credit:
    """Rank-biased precision that counts each hit by its relevance."""
    return Credit(hits, Cutoffs.of(k), hits.weigh((1 - p) * np.power(p, hits.rank - 1) * hits.relevance))


def rbp_normalized(hits: Hits, k: Cutoff = None, *, p: float = 0.8) -> Credit:
    """Rank-biased precision out of what a list with nothing but hits would have, as long as list and truth allow."""
    best = out_of_count(hits, k, "min(list, relevant)")
    return Credit(hits, Cutoffs.of(k), hits.weigh((1 - p) * np.power(p, hits.rank - 1)), 1 - np.power(p, best))


def err_label(hits: Hits, k: Cutoff = None) -> Credit:
    """Expected reciprocal rank that takes the relevance itself for the chance of stopping."""
    return Credit(hits, Cutoffs.of(k), np.asarray(reach(hits, hits.relevance) * hits.relevance / hits.rank))


def reciprocal_rank_of_all(hits: Hits, k: Cutoff = None) -> Credit:
    """Mean of one over the rank of every relevant item; an error if one is missing."""
    once = np.zeros(len(hits.user))
    once[np.unique(hits.truth_row, return_index=True)[1]] = 1.0
    if (hits.total(once, k) < column(hits.n_relevant)).any():
        raise FrameError("a relevant item is not in its user's list, and this convention refuses that.")
    return Credit(hits, Cutoffs.of(k), once / hits.rank, column(hits.n_relevant).astype(np.float64))


def _special(function: Callable[..., Credit], symbol: str, credit: str, out_of: str, like: str) -> Metric[...]:
    return replace(
        METRICS[like], function=function, symbol=symbol, called="", credit=credit, out_of=out_of,
        meanings={"out_of": OUT_OF}, aliases=(),
    )  # fmt: skip


SPECIAL: dict[str, Metric[...]] = {
    metric.name: metric
    for metric in (
        _special(hit_count, "Hits", "1", "1", "cg"),
        _special(f1_list, "F1", "2", "min(k, list_length) + n_relevant", "f1"),
        _special(rbp_graded, "RBP", "(1 - p) * p^(rank - 1) * relevance", "1", "rbp"),
        _special(rbp_normalized, "RBP", "(1 - p) * p^(rank - 1)", "1 - p^min(k, list_length, n_relevant)", "rbp"),
        _special(err_label, "ERR", "reach * relevance / rank", "1", "err"),
        _special(reciprocal_rank_of_all, "RR", "first / rank", "n_relevant", "reciprocal_rank"),
    )
}


def metric_of(name: str) -> Metric[...]:
    """The metric of a preset, by its name."""
    return SPECIAL[name] if name in SPECIAL else metric_named(name)
