"""The bounds of a metric over all orders of equal scores: its values in the best and in the worst order.

Every metric computed from hits grows if a more relevant item changes places with a less relevant one above it. So it is
highest with each run of equal scores in order of falling relevance, and lowest in order of rising relevance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions.convention import ROW_ORDERS
from recnb.data.encoding import positions
from recnb.data.validation import in_floats
from recnb.lint.data import LintData, Mask
from recnb.metrics.hits import Floats, Hits, Ints
from recnb.metrics.sorting import count_within, in_order


class Ties(NamedTuple):
    """What equal scores leave open."""

    first: pl.DataFrame  #: a row for each user for whom they decide: user, and rank and score at which they begin
    constant: bool  #: whether all scores of each list are equal
    lower: float  #: the mean of the metric with all equal scores in their worst order; NaN if no order is known to be
    upper: float  #: and in their best order


class ListRows(NamedTuple):
    """The lists of the users evaluated, by user, then rank; every array has a value for each row."""

    user: Ints  #: position among the users evaluated
    rank: Ints
    score: Floats
    row: Ints  #: position in the prepared recommendations
    same_user: Mask  #: whether a row and the one before are of one user; one shorter than the rows


def rows_of(data: LintData) -> ListRows | None:
    """Return the lists of the users evaluated, in order; None if they have no scores that are numbers."""
    if "score" not in data.source.roles:
        return None
    recs = data.prepared.recs
    if not (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
        return None
    user, rank = positions(data.prepared.users, recs["user"]), recs["rank"].to_numpy()
    row = np.flatnonzero(user >= 0)
    key = user[row] * (int(rank.max(initial=0)) + 1) + rank[row]
    row = row if (key[1:] > key[:-1]).all() else row[in_order(key)]
    return ListRows(user[row], rank[row], in_floats(recs["score"])[row], row, np.diff(user[row]) == 0)


def ties_of(data: LintData) -> Ties | None:
    """Find what equal scores leave open; None if there are none, or if no order of them is chosen."""
    convention, hits = data.convention, data.hits
    chosen = convention.order in ("score", "rank") and convention.ties in (*ROW_ORDERS, "worst")
    rows = rows_of(data) if chosen else None
    if rows is None or len(rows.row) == 0:
        return None
    same = rows.same_user & (rows.score[1:] == rows.score[:-1])
    rising = rows.same_user & ((rows.score[1:] > rows.score[:-1]) | (rows.rank[1:] == rows.rank[:-1]))
    if not same.any() or rising.any():
        return None
    start = np.flatnonzero(np.r_[True, ~same])  # the first row of each run of equal scores
    size = np.diff(np.r_[start, len(rows.row)])
    place = _rows_of(hits, rows)
    on = np.flatnonzero(place >= 0)
    # The hits of each run, the most relevant first, have its first places in the best order and its last in the worst.
    run = np.repeat(np.arange(len(start)), size)[place[on]]
    order = np.lexsort((~hits.preferred[on], -hits.relevance[on], run))
    on, run = on[order], run[order]
    best, worst, above = hits.rank.copy(), hits.rank.copy(), count_within(run) - 1
    best[on], worst[on] = rows.rank[start[run] + above], rows.rank[start[run] + size[run] - 1 - above]
    (low, lower), (high, upper) = (data.values_of(_with_ranks(hits, rank)) for rank in (worst, best))
    # The order by relevance need not be the best if the denominator depends on the order, or a hit has a negative gain.
    if data.scoring.options.get("out_of") == "hits" or (hits.relevance < 0).any():
        lower, upper, high = np.nan, np.nan, np.full(len(low), np.inf)
    begins = start[np.unique(run[size[run] > 1])]
    first = data.prepared.recs[rows.row[begins[(high > low + 1e-12)[rows.user[begins]]]]]
    first = first.unique("user", keep="first", maintain_order=True).select("user", "rank", "score")
    return Ties(first, bool(same[rows.same_user].all()), lower, upper)


def _rows_of(hits: Hits, rows: ListRows) -> Ints:
    """Find the row of each hit; -1 for a hit below the lists."""
    stride = int(rows.rank.max(initial=0)) + 1
    key, wanted = np.r_[rows.user * stride + rows.rank, -1], hits.user * stride + hits.rank
    at = np.minimum(np.searchsorted(key[:-1], wanted), len(key) - 1)
    return np.where((key[at] == wanted) & (hits.rank < stride), at, -1)


def _with_ranks(hits: Hits, rank: Ints) -> Hits:
    """Return the hits on other ranks, sorted by them."""
    order = in_order(hits.user * (int(rank.max(initial=0)) + 1) + rank)
    columns = {name: getattr(hits, name)[order] for name in ("user", "relevance", "truth_row")}
    return replace(hits, rank=rank[order], **columns)
