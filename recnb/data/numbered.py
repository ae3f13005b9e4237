"""The rows of both frames as numbers: what the steps of the join hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import (
    distinct,
    grouped,
    hashes_of,
    positions,
    repeats_follow,
    run_starts,
)
from recnb.data.parallel import BLOCK
from recnb.metrics.hits import (
    Bools,
    Floats,
    Ints,
    order_from_highest,
    stands_from_highest,
)

#: Numbers of items: ids that are whole numbers, hashes of text, or positions among all
#: items.
Numbers = NDArray[np.uint64]


# ---- ids


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of both frames as numbers, and the rows of each list together."""

    # : of either frame: those with a list in the order of their lists, then the others
    users: pl.Series
    by_id: Ints | None  #: users, in the order of their ids; None: they stand so
    n_listed: Ints  #: per user, the rows of recommendations
    list_rows: Ints | None  #: rows of recommendations by user; None: they stand so
    truth_user: Ints  #: per row of the truth
    items: tuple[pl.Series, pl.Series]  #: of both frames
    list_item: Numbers  #: per row of recommendations
    truth_item: Numbers  #: per row of the truth
    n_items: int  #: how many there are, where numbers are positions among all
    are_hashes: bool  #: whether items that differ may have one number

    def exact(self) -> Ids:
        """Return the same with the positions of items among all as their numbers."""
        everything = distinct(pl.concat(self.items))
        listed, judged = self.items
        return replace(
            self,
            list_item=_numbers_of(listed, everything),
            truth_item=_numbers_of(judged, everything),
            n_items=len(everything),
            are_hashes=False,
        )


def number_ids(
    recs: pl.DataFrame, truth: pl.DataFrame, items: pl.Series | None = None
) -> Ids:
    """Give the users and items of both frames numbers; with `items`, all there are, an
    item's number is its position there.
    """
    list_rows, starts = _rows_by_user(recs["user"])
    first_rows = starts if list_rows is None else list_rows[starts]
    users = recs["user"].gather(first_rows)
    truth_user = positions(users, truth["user"])
    is_new = truth_user < 0
    if is_new.any():
        without_list = truth["user"].filter(pl.Series(is_new))
        others = distinct(without_list)
        truth_user[is_new] = len(users) + positions(others, without_list)
        users = pl.concat([users, others])
    n_listed = np.zeros(len(users), dtype=np.int64)
    n_listed[: len(starts)] = np.diff(starts, append=recs.height)
    by_id = None
    if not users.is_sorted():
        by_id = users.arg_sort().to_numpy()
    sides = (recs["item"], truth["item"])
    return Ids(
        users=users,
        by_id=by_id,
        n_listed=n_listed,
        list_rows=list_rows,
        truth_user=truth_user,
        items=sides,
        list_item=_numbers_of(sides[0], items),
        truth_item=_numbers_of(sides[1], items),
        n_items=0 if items is None else len(items),
        are_hashes=items is None and sides[0].dtype != pl.Int64,
    )


def _rows_by_user(users: pl.Series) -> tuple[Ints | None, Ints]:
    """Return the rows with those of each user together, None if they stand so; and the
    place of each user's first.
    """
    if len(users) <= BLOCK or repeats_follow(users):
        starts = run_starts(users)
        first = users.gather(starts)
        hashes = np.sort(hashes_of(first))
        if (hashes[1:] != hashes[:-1]).all() or first.n_unique() == len(first):
            return None, starts
    return grouped(users)


def _numbers_of(items: pl.Series, everything: pl.Series | None) -> Numbers:
    if everything is not None:
        return positions(everything, items).view(np.uint64)
    if items.dtype == pl.Int64:
        return items.to_numpy().view(np.uint64)
    return hashes_of(items)


# ---- rows


@dataclass(frozen=True, eq=False)
class ListedRows:
    """The rows of the lists of some users, who are numbered from 0; rows of a user
    stand together.
    """

    row: Ints | slice  #: of the frame
    user: Ints
    item: Numbers
    score: Floats | Ints  #: higher for better: a rank or a row's number is below 0
    given_rank: Ints | None  #: where ranks are data; None: rows are ranked
    n_users: int
    n_recommended: int  #: rows after these were added by a convention


@dataclass(frozen=True, eq=False)
class TruthRows:
    """The rows of the truth by user, the most relevant of each first."""

    row: Ints  #: of the frame
    user: Ints
    item: Numbers
    grade: Floats
    n_judged: Ints  #: per user, the rows

    @classmethod
    def of(cls, truth: pl.DataFrame, ids: Ids) -> TruthRows:
        """Put the rows in order; equal ones stay as they are."""
        user, grade = ids.truth_user, truth["relevance"].to_numpy()
        n_judged = np.bincount(user, minlength=len(ids.users))
        if stands_from_highest(user, grade):
            row = np.arange(len(user))
            return cls(row, user, ids.truth_item, grade, n_judged)
        row = order_from_highest(user, grade)
        return cls(
            row=row,
            user=np.repeat(np.arange(len(n_judged)), n_judged),
            item=ids.truth_item[row],
            grade=grade[row],
            n_judged=n_judged,
        )

    def of_users(self, first: int, last: int, places: slice) -> TruthRows:
        """Return the rows at some places, those of the users from the first to before
        the last, who are numbered from 0.
        """
        n_judged = self.n_judged[first:last]
        return TruthRows(
            row=self.row[places],
            user=np.repeat(np.arange(last - first), n_judged),
            item=self.item[places],
            grade=self.grade[places],
            n_judged=n_judged,
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows of lists that are judged, and the rows that repeat a pair of user and
    item.
    """

    row: Ints  #: rows of lists, rising
    truth_row: Ints  #: the row of the truth of each
    copy: Ints  #: rows of lists whose item their list repeats
    copy_of: Ints  #: a number for the pair of each of these
    truth_repeats: bool  #: whether the truth repeats a pair


@dataclass(frozen=True, eq=False)
class Ranks:
    """Where each row stands in its list."""

    rank: Ints  #: per row, from 1; 0: left out
    length: Ints  #: per user, the last rank
    #: Per row, how many rows score higher; None: no two rows share a rank.
    above: Ints | None = None
    tied: Ints | None = None  #: per row, how many score the same, itself among them

    def ties_of(self, row: Ints) -> tuple[Ints, Ints]:
        """Return how many rows score higher than each of these, and how many the same."""
        if self.above is None or self.tied is None:
            return self.rank[row] - 1, np.ones_like(row)
        return self.above[row], self.tied[row]


class Matches(NamedTuple):
    """The rows of lists that are judged and stay in their list, and the lists."""

    user: Ints  #: per row, as all but the last
    truth_row: Ints
    rank: Ints
    score: Floats | Ints
    above: Ints  #: how many rows score higher, where equal scores share ranks
    tied: Ints  #: how many score the same
    length: Ints  #: per user, the last rank


class Wanted(NamedTuple):
    """The rows of the truth that are relevant to a user evaluated: what there is to
    find.
    """

    counts: Bools  #: per row of the truth, as all but `rows`
    user: Ints  #: among those evaluated; -1: not one of them
    rows: Ints | slice  #: those that count, by user
    entry: Ints  #: the place among these
