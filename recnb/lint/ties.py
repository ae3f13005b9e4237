"""The bounds of a metric over all orders of equal scores: its values in the best and in the worst order.

Every metric computed from hits grows if a more relevant item changes places with a less relevant one above it. So it is
highest with each run of equal scores in order of falling relevance, and lowest in order of rising relevance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recnb.conventions.convention import ROW_ORDERS
from recnb.lint.data import LintData, ListRows, Mask
from recnb.metrics.hits import Floats, Hits, Ints, count_within, in_order

#: Rules for ties under which each hit has a place of its own.
STRICT = (*ROW_ORDERS, "worst")


@dataclass(frozen=True, eq=False)
class TieRuns:
    """The runs of equal scores in lists that have some."""

    start: Ints  #: the first row of each run
    size: Ints
    run: Ints  #: per row, its run

    @property
    def tied(self) -> Mask:
        """Whether each run holds more than one row."""
        return np.asarray(self.size > 1)


@dataclass(frozen=True, eq=False)
class Ties:
    """Equal scores in the lists, and the bounds of the metric over their orders; NaN if no order is known to be the best."""

    rows: ListRows
    runs: TieRuns
    straddling: Ints  #: runs that begin at or above the cut-off and end below it
    deciding: Ints  #: runs of items of different relevance: their order matters
    bounded: bool
    low: Floats  #: the metric of each user with equal scores in their worst order
    high: Floats  #: and in their best order
    lower: float  #: the means of both
    upper: float


def ties_of(data: LintData) -> Ties | None:
    """The ties of an evaluation; None if there are none."""
    if data.convention.order not in ("score", "rank") or "score" not in data.prepared.recs.columns:
        return None
    if data.convention.ties not in STRICT:
        scoring = replace(data.scoring, prepared=data.source.under(replace(data.convention, ties="first")))
        data = LintData(scoring, data.side_data, data.cutoffs.values[0], data.library)
    rows, hits = data.rows, data.hits
    runs = runs_of(rows) if (rows.key[1:] > rows.key[:-1]).all() else None
    if runs is None:
        return None
    at = rows.places(hits)
    first, last = rows.rank[runs.start], rows.rank[runs.start + runs.size - 1]
    depth = data.depth[rows.user[runs.start]]
    in_reach = runs.tied & (first <= depth)
    mixed = _mixed(runs, hits, at, preferred=data.options.get("target") == "preferred")
    straddling, deciding = np.flatnonzero(in_reach & (last > depth)), np.flatnonzero(in_reach & mixed)
    if not is_bounded(data):
        unknown = np.full(data.n_users, np.nan)
        return Ties(rows, runs, straddling, deciding, False, unknown, unknown, np.nan, np.nan)
    (low, lower), (high, upper) = (data.measured(order) for order in reordered(rows, runs, hits, at))
    return Ties(rows, runs, straddling, deciding, True, low, high, lower, upper)


def runs_of(rows: ListRows) -> TieRuns | None:
    """The runs of equal scores; None if all scores of each list differ, or some rise along the ranks."""
    if rows.score is None or len(rows.user) == 0:
        return None
    same = rows.same_user & (rows.score[1:] == rows.score[:-1])
    if not same.any() or (rows.same_user & (rows.score[1:] > rows.score[:-1])).any():
        return None
    start = np.flatnonzero(np.r_[True, ~same])
    size = np.diff(np.r_[start, len(rows.user)])
    return TieRuns(start, size, np.repeat(np.arange(len(start)), size))


def is_bounded(data: LintData) -> bool:
    """Whether the order by relevance is known to be the best: not if the denominator depends on the order."""
    convention = data.convention
    negative = convention.negative_relevance == "keep" and bool((data.hits.relevance < 0).any())
    return data.options.get("out_of") != "hits" and not negative


def _mixed(runs: TieRuns, hits: Hits, at: Ints, *, preferred: bool) -> Mask:
    """Whether a run has items of different relevance, a miss being below any hit; `preferred`: only a user's preferred item counts."""
    n = len(runs.start)
    on = (at >= 0) & (hits.preferred if preferred else True)
    run, relevance = runs.run[at[on]], hits.relevance[on]
    count = np.bincount(run, minlength=n)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, run, relevance)
    np.maximum.at(high, run, relevance)
    return np.asarray((count > 0) & ((count < runs.size) | (low < high)))


def reordered(rows: ListRows, runs: TieRuns, hits: Hits, at: Ints) -> tuple[Hits, Hits]:
    """The hits with equal scores in their worst and in their best order; those below the lists stay."""
    on = np.flatnonzero(at >= 0)
    run = runs.run[at[on]]
    order = np.lexsort((~hits.preferred[on], -hits.relevance[on], run))
    on, run = on[order], run[order]
    nth = count_within(run) - 1
    first, last = runs.start[run], runs.start[run] + runs.size[run] - 1
    best, worst = hits.rank.copy(), hits.rank.copy()
    best[on], worst[on] = rows.rank[first + nth], rows.rank[last - nth]
    return with_ranks(hits, worst), with_ranks(hits, best)


def with_ranks(hits: Hits, rank: Ints) -> Hits:
    """The hits on other ranks, sorted by them."""
    order = in_order(hits.user * (int(rank.max(initial=0)) + 1) + rank)
    return replace(
        hits, user=hits.user[order], rank=rank[order], relevance=hits.relevance[order], truth_row=hits.truth_row[order]
    )
