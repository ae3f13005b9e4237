"""The lists in order, and the bounds of a metric over all orders of equal scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions.convention import ROW_ORDERS, TRUTH_ORDERS
from recnb.data.ids import positions
from recnb.data.matches import in_floats
from recnb.lint.data import LintData, Mask
from recnb.metrics.gain import gain_of
from recnb.metrics.hits import (
    Floats,
    Hits,
    Ints,
    count_within,
    order_by_user_and_rank,
    stands_from_highest,
)


class ListRows(NamedTuple):
    """The lists of the users evaluated, by user, then rank.

    Every array has a value for each row.
    """

    user: Ints  #: position among the users evaluated
    rank: Ints
    score: Floats
    row: Ints  #: position in the joined recommendations
    same_user: Mask  #: whether a row and the one before are of one user; one shorter

    @property
    def rises(self) -> Mask:
        """Whether a row has a higher score than the one before it; one shorter."""
        return np.asarray(self.same_user & (self.score[1:] > self.score[:-1]))

    @property
    def is_tied(self) -> Mask:
        """Whether a row has the score of the one before it; one shorter."""
        return np.asarray(self.same_user & (self.score[1:] == self.score[:-1]))


def list_rows(data: LintData) -> ListRows | None:
    """Return the lists of the users evaluated, in order.

    None if they have no scores that are numbers.
    """
    if "score" not in data.source.recs.labels:
        return None
    recs = data.joined.rows.lists
    if not (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
        return None
    user = positions(data.joined.users, recs["user"])
    rank = recs["rank"].to_numpy()
    row = np.flatnonzero(user >= 0)
    if not stands_from_highest(user[row], -rank[row]):
        row = row[order_by_user_and_rank(user[row], rank[row])]
    return ListRows(
        user=user[row],
        rank=rank[row],
        score=in_floats(recs["score"])[row],
        row=row,
        same_user=np.diff(user[row]) == 0,
    )


class Ties(NamedTuple):
    """What equal scores leave open."""

    #: a row for each user for whom they decide: user, and rank and score at which they
    #: begin
    first: pl.DataFrame
    constant: bool  #: whether all scores of each list are equal
    #: the mean of the metric with all equal scores in their worst order; NaN if no
    #: order is known to be
    lower: float
    upper: float  #: and in their best order


def find_ties(data: LintData) -> Ties | None:
    """Find what equal scores leave open.

    None if no scores are equal, or if the convention puts them into no order.

    Most metrics of hits grow, or stay, if a more relevant item changes places with a
    less relevant one above it. Such a metric is highest with each run of equal scores in
    order of falling relevance, and lowest in order of rising relevance. Of any other
    (`_has_bounds`) neither order is known: it has no bounds, and equal scores may
    decide for every user who has a hit among them.
    """
    if not _is_order_chosen(data):
        return None
    rows = list_rows(data)
    if rows is None or not rows.is_tied.any() or _is_out_of_order(rows):
        return None
    best, worst, begins = _extreme_ranks(data, rows)
    low, lower = data.values_of(_with_ranks(data.hits, worst))
    high, upper = data.values_of(_with_ranks(data.hits, best))
    differs = high > low + 1e-12
    if not _has_bounds(data):
        lower = upper = np.nan
        differs[:] = True
    begins = begins[differs[rows.user[begins]]]  # of users whose value may change
    first = data.joined.rows.lists[rows.row[begins]].select("user", "rank", "score")
    return Ties(
        first=first.unique("user", keep="first", maintain_order=True),
        constant=bool(rows.is_tied[rows.same_user].all()),
        lower=lower,
        upper=upper,
    )


def _extreme_ranks(data: LintData, rows: ListRows) -> tuple[Ints, Ints, Ints]:
    """Return the ranks of the hits in the best order of equal scores, and in the worst.

    The most relevant hits of a run of equal scores have its first places in the best
    order, and its last in the worst. The first rows are returned as well of the runs
    with a hit.
    """
    hits = data.hits
    # The runs, by number from 0; a row whose score no other has is a run of one.
    is_first = np.r_[True, ~rows.is_tied]
    first_of_run = np.flatnonzero(is_first)
    size_of_run = np.diff(np.r_[first_of_run, len(is_first)])
    run_of_row = np.cumsum(is_first) - 1
    # The hits, by run, then by falling worth. Of the same worth, the item that
    # target="preferred" looks for comes first.
    row_of_hit = _locate_hits(hits, rows)
    hit = np.flatnonzero(row_of_hit >= 0)
    run = run_of_row[row_of_hit[hit]]
    order = np.lexsort((~hits.preferred[hit], -_worth(data)[hit], run))
    hit, run = hit[order], run[order]
    first, size = first_of_run[run], size_of_run[run]
    above = count_within(run) - 1  # hits of the run before each
    best, worst = hits.rank.copy(), hits.rank.copy()
    best[hit] = rows.rank[first + above]
    worst[hit] = rows.rank[first + size - 1 - above]
    return best, worst, np.unique(first[size > 1])


def _is_order_chosen(data: LintData) -> bool:
    """Return whether the convention puts equal scores into an order."""
    if data.convention.order not in ("score", "rank"):
        return False
    return data.convention.ties in (*ROW_ORDERS, *TRUTH_ORDERS)


def _is_out_of_order(rows: ListRows) -> bool:
    """Return whether scores rise within a list, or rows share a rank."""
    shares_rank = rows.same_user & (rows.rank[1:] == rows.rank[:-1])
    return bool((rows.rises | shares_rank).any())


def _has_bounds(data: LintData) -> bool:
    """Return whether the order by falling relevance is known to be the best.

    It need not be if the metric is the caller's or a cost, which a hit further up makes
    smaller, if the denominator depends on the order, or if a hit has a negative
    relevance.
    """
    if data.metric.own or data.metric.better == "low":
        return False
    if data.scoring.measure.options.get("out_of") == "hits":
        return False
    return not (data.hits.relevance < 0).any()


def _worth(data: LintData) -> Floats:
    """Return what a hit adds before its discount, up to a monotone function.

    It is the relevance; with propensities the gain times the weight of the pair.
    """
    hits = data.hits
    if hits.truth_weight is None:
        return hits.relevance
    return gain_of(hits.relevance, data.gain) * hits.weight


def _locate_hits(hits: Hits, rows: ListRows) -> Ints:
    """Find the row of each hit; -1 for a hit below the lists."""
    stride = int(rows.rank.max(initial=0)) + 1
    key = rows.user * stride + rows.rank
    wanted = hits.user * stride + hits.rank
    row = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    is_listed = (key[row] == wanted) & (hits.rank < stride)
    return np.where(is_listed, row, -1)


def _with_ranks(hits: Hits, rank: Ints) -> Hits:
    """Return the hits on other ranks, sorted by them."""
    order = order_by_user_and_rank(hits.user, rank)
    return hits.with_rows(order, rank=rank[order])
