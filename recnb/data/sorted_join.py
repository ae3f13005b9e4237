"""The fast join, for frames whose lists are adjacent, sorted and without repeated items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.encoding import CodedUsers, people_of
from recnb.data.population import is_averaged
from recnb.data.ranking import in_lists, order_by
from recnb.data.relevance import LazyRows, relevance_mask
from recnb.data.runs import Runs
from recnb.data.sorted_pairs import SortedRows, hits_in, in_order
from recnb.metrics.hits import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """Positions of users' rows in both frames, from which hits are found down to any rank."""

    sides: SortedRows
    new_row: (
        Ints | None
    )  #: the relevant row that each row of the truth by user became, -1 for none; None: they are the same

    def met(self, depth: int | None) -> tuple[Ints, Ints] | None:
        """Return rows of lists and relevant rows that match down to a rank; None if hashes collide."""
        found = hits_in(self.sides, depth)
        if found is None or self.new_row is None:
            return found
        row, relevant = found[0], self.new_row[found[1]]
        kept = relevant >= 0
        return row[kept], relevant[kept]


@dataclass(frozen=True, eq=False)
class Joined:
    """The join of two frames whose rows are sorted."""

    recs: pl.DataFrame  #: user, item, rank, and score where lists have one
    truth_rows: LazyRows  #: the relevant rows of the users evaluated, by user
    users: pl.Series  #: the users evaluated, sorted
    truth_user: Ints  #: whose each relevant row is
    list_length: Ints  #: per user, the last rank
    pairs: Pairs
    has_gaps: bool
    n_strangers: int
    by: str  #: what put lists in order


def joined(
    recs: pl.DataFrame, judged: pl.DataFrame, convention: Convention, labels: Mapping[str, str], runs: Runs | None
) -> Joined | None:
    """Join two frames; None if rows are not sorted or no user is left."""
    if (
        runs is None
        or judged.height == 0
        or convention.duplicates not in ("error", "dedupe")
        or convention.judged != "truth"
    ):
        return None
    by = order_by(recs, convention, labels)
    listed = in_lists(recs, by, convention, labels, runs)
    if listed is None:
        return None
    people = people_of(runs.users, judged["user"], judged["relevance"].to_numpy())
    length = np.zeros(len(people.users), dtype=np.int64)
    length[people.lists] = runs.lengths
    rises = bool((people.lists[1:] > people.lists[:-1]).all())
    # Users in the order in which lists stand; those without a list between them, or last.
    stand = slice(None) if rises else np.r_[people.lists, np.flatnonzero(length == 0)]
    last = listed["rank"].to_numpy()[runs.starts + runs.lengths - 1]
    has_gaps = bool((last != runs.lengths).any())
    sides = SortedRows(
        item=listed["item"],
        lengths=length[stand],
        order=None if by == "row" else recs[by],
        falls=by == "score",
        strict=convention.ties != "first",
        has_gaps=has_gaps,
        truth_item=judged["item"],
        truth_row=people.rows,
        truth_start=(np.cumsum(people.counts) - people.counts)[stand],
        truth_count=people.counts[stand],
    )
    if not in_order(sides) or (has_gaps and convention.duplicates == "dedupe"):
        return None
    deepest = length.copy()
    deepest[people.lists] = last
    return _of_population(listed, judged, people, deepest, sides, by, convention)


def _of_population(
    listed: pl.DataFrame,
    judged: pl.DataFrame,
    people: CodedUsers,
    length: Ints,
    sides: SortedRows,
    by: str,
    convention: Convention,
) -> Joined | None:
    """Keep the relevant rows and the users who are averaged, and renumber them."""
    users, rows, truth_user, n_judged = people.users, people.rows, people.truth, people.counts
    relevance = people.relevance
    relevant = _relevant(relevance, convention)
    n_relevant = n_judged if relevant is None else np.bincount(truth_user[relevant], minlength=len(users))
    has_list, has_truth = length > 0, n_judged > 0
    averaged = is_averaged(users, has_list, has_truth, n_relevant > 0, convention)
    if not (averaged & has_list & (n_relevant > 0)).any():
        return None
    n_strangers = int((has_list & ~averaged).sum())
    new_row = None
    if relevant is not None or not averaged.all():
        kept = averaged[truth_user] if relevant is None else averaged[truth_user] & relevant
        new_row = np.where(kept, np.cumsum(kept) - 1, -1)
        rows = np.flatnonzero(kept) if rows is None else rows[kept]
        truth_user, relevance = (np.cumsum(averaged) - 1)[truth_user[kept]], relevance[kept]
        users, length = users.filter(pl.Series(averaged)), length[averaged]
    pairs = Pairs(sides, new_row)
    return Joined(
        listed, LazyRows(judged, rows, relevance), users, truth_user, length, pairs, sides.has_gaps, n_strangers, by
    )  # fmt: skip


def _relevant(relevance: Floats, convention: Convention) -> NDArray[np.bool_] | None:
    """Which rows are relevant; None if all are."""
    usual = convention.relevant == ">0" and convention.relevant_from is None
    if usual and relevance.min(initial=1.0) > 0:
        return None
    mask = relevance_mask(relevance, convention)
    return None if mask.all() else mask
