"""The bounds of a metric over all orders of equal scores: its values in the best and in the worst order.

Every metric computed from hits grows if a more relevant item changes places with a less relevant one above it. So it is
highest with each run of equal scores in order of falling relevance, and lowest in order of rising relevance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
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
    """What equal scores leave open; the bounds are NaN if no order is known to be the best."""

    first: pl.DataFrame  #: a row for each user for whom they decide: user, and rank and score at which they begin
    constant: bool  #: whether all scores of each list are equal
    low: Floats  #: the metric of each user with equal scores in their worst order
    high: Floats  #: and in their best order
    lower: float  #: the means of both
    upper: float


@dataclass(frozen=True, eq=False)
class ListRows:
    """The lists of the users evaluated, by user, then rank; every array has a value for each row."""

    user: Ints  #: position among the users evaluated
    rank: Ints
    score: Floats
    row: Ints  #: position in the prepared recommendations

    @cached_property
    def same_user(self) -> Mask:
        """Whether a row and the one before are of one user; one shorter than the rows."""
        return np.asarray(self.user[1:] == self.user[:-1])


def rows_of(data: LintData) -> ListRows | None:
    """Return the lists of the users evaluated, in order; None if they have no scores that are numbers."""
    if "score" not in data.prepared.rows.columns:
        return None
    recs = data.prepared.recs
    if not (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
        return None
    user, rank = positions(data.prepared.users, recs["user"]), recs["rank"].to_numpy()
    row = np.flatnonzero(user >= 0)
    key = user[row] * (int(rank.max(initial=0)) + 1) + rank[row]
    row = row if (key[1:] > key[:-1]).all() else row[in_order(key)]
    return ListRows(user[row], rank[row], in_floats(recs["score"])[row], row)


def ties_of(data: LintData) -> Ties | None:
    """Find what equal scores leave open; None if there are none, or if no order of them is chosen."""
    if data.convention.order not in ("score", "rank") or data.convention.ties not in (*ROW_ORDERS, "worst"):
        return None
    rows, hits = rows_of(data), data.hits
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
    counted = hits.preferred[on] if data.scoring.options.get("target") == "preferred" else np.full(len(on), True)
    depth = data.prepared.list_length if data.k is None else np.full(len(data.listed), data.k)
    within = rows.rank[start] <= depth[rows.user[start]]
    deciding = start[within & _mixed(run[counted], hits.relevance[on][counted], size)]
    if _best_is_known(data):
        deciding = deciding[(high > low + 1e-12)[rows.user[deciding]]]
    else:
        low, high = np.full((2, len(low)), np.nan)
        lower = upper = np.nan
    deciding = deciding[np.unique(rows.user[deciding], return_index=True)[1]]  # the first run of each user
    first = data.prepared.recs[rows.row[deciding]].select("user", "rank", "score")
    return Ties(first, bool(same[rows.same_user].all()), low, high, lower, upper)


def _rows_of(hits: Hits, rows: ListRows) -> Ints:
    """Find the row of each hit; -1 for a hit below the lists."""
    stride = int(rows.rank.max(initial=0)) + 1
    key, wanted = np.r_[rows.user * stride + rows.rank, -1], hits.user * stride + hits.rank
    at = np.minimum(np.searchsorted(key[:-1], wanted), len(key) - 1)
    return np.where((key[at] == wanted) & (hits.rank < stride), at, -1)


def _best_is_known(data: LintData) -> bool:
    """Return whether the order by relevance is known to be the best: not if the denominator depends on the order."""
    negative = data.convention.negative_relevance == "keep" and bool((data.hits.relevance < 0).any())
    return data.scoring.options.get("out_of") != "hits" and not negative


def _mixed(run: Ints, relevance: Floats, size: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
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
