"""The bounds of a metric over all orders of equal scores: its values in the best and in the worst order.

Every metric computed from hits grows if a more relevant item changes places with a less relevant one above it. So it is
highest with each run of equal scores in order of falling relevance, and lowest in order of rising relevance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recnb.conventions.convention import ROW_ORDERS
from recnb.lint.data import LintData, Mask
from recnb.metrics.hits import Floats, Hits, Ints, count_within, in_order

#: Rules for ties under which each hit has a place of its own.
STRICT = (*ROW_ORDERS, "worst")


@dataclass(frozen=True, eq=False)
class Ties:
    """What equal scores leave open; bounds are NaN if no order is known to be the best."""

    first: pl.DataFrame  #: a row for each user for whom they decide: user, and rank and score at which they begin
    constant: bool  #: whether all scores of each list are equal
    low: Floats  #: the metric of each user with equal scores in their worst order
    high: Floats  #: and in their best order
    lower: float  #: the means of both
    upper: float


def ties_of(data: LintData) -> Ties | None:
    """Find what equal scores leave open; None if there are none, if the scores do not order the lists, or if all orders are averaged."""
    scored = data.convention.order in ("score", "rank") and "score" in data.prepared.rows.columns
    if not scored or data.convention.ties == "expected":
        return None
    if data.convention.ties not in STRICT:
        data = _with_strict_ties(data)
    rows, hits, n_users = data.rows, data.hits, len(data.prepared.users)
    if rows is None or len(rows.row) == 0:
        return None
    same = rows.same_user & (rows.score[1:] == rows.score[:-1])
    rising = rows.same_user & ((rows.score[1:] > rows.score[:-1]) | (rows.rank[1:] == rows.rank[:-1]))
    if not same.any() or rising.any():
        return None
    start = np.flatnonzero(np.r_[True, ~same])  # the first row of each run
    size = np.diff(np.r_[start, len(rows.row)])
    at = rows.places(hits)
    on = np.flatnonzero(at >= 0)
    run_of_hit = np.repeat(np.arange(len(start)), size)[at[on]]
    depth = data.prepared.list_length if data.k is None else np.full(n_users, data.k)
    of_run = rows.user[start]
    in_reach = (size > 1) & (rows.rank[start] <= depth[of_run])
    counted = hits.preferred[on] if data.scoring.options.get("target") == "preferred" else np.full(len(on), True)
    mixed = _mixed(run_of_hit[counted], hits.relevance[on][counted], size)
    deciding = start[in_reach & mixed]
    constant = bool(same[rows.same_user].all())
    if not _is_bounded(data):
        unknown = np.full(n_users, np.nan)
        return Ties(_first(data, deciding), constant, unknown, unknown, np.nan, np.nan)
    # The hits of each run, the most relevant first, have its first places in the best order and its last in the worst.
    order = np.lexsort((~hits.preferred[on], -hits.relevance[on], run_of_hit))
    on, run = on[order], run_of_hit[order]
    nth = count_within(run) - 1
    best, worst = hits.rank.copy(), hits.rank.copy()
    best[on], worst[on] = rows.rank[start[run] + nth], rows.rank[start[run] + size[run] - 1 - nth]
    (low, lower), (high, upper) = (data.of_hits(_with_ranks(hits, rank)) for rank in (worst, best))
    return Ties(_first(data, deciding[(high > low + 1e-12)[rows.user[deciding]]]), constant, low, high, lower, upper)


def _first(data: LintData, deciding: Ints) -> pl.DataFrame:
    """Return the first of these rows of each user."""
    assert data.rows is not None
    chosen = deciding[np.unique(data.rows.user[deciding], return_index=True)[1]]
    return data.prepared.recs[data.rows.row[chosen]].select("user", "rank", "score")


def _with_strict_ties(data: LintData) -> LintData:
    other = LintData(data.evaluation, data.metric, data.options, data.asked_k)
    other.prepared = data.source.under(replace(data.convention, ties="first"))
    other.convention = other.prepared.convention
    return other


def _is_bounded(data: LintData) -> bool:
    """Return whether the order by relevance is known to be the best: not if the denominator depends on the order."""
    negative = data.convention.negative_relevance == "keep" and bool((data.hits.relevance < 0).any())
    return data.scoring.options.get("out_of") != "hits" and not negative


def _mixed(run: Ints, relevance: Floats, size: Ints) -> Mask:
    """Return whether each run has items of different relevance, a miss being below any hit."""
    count = np.bincount(run, minlength=len(size))
    low, high = np.full(len(size), np.inf), np.full(len(size), -np.inf)
    np.minimum.at(low, run, relevance)
    np.maximum.at(high, run, relevance)
    return np.asarray((count > 0) & ((count < size) | (low < high)))


def _with_ranks(hits: Hits, rank: Ints) -> Hits:
    """Return the hits on other ranks, sorted by them."""
    order = in_order(hits.user * (int(rank.max(initial=0)) + 1) + rank)
    columns = {name: getattr(hits, name)[order] for name in ("user", "relevance", "truth_row")}
    return replace(hits, rank=rank[order], **columns)
