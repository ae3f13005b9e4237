"""The rows of both frames as numbers: what the steps of the join hand to each other.

Arrays are described as `[what they are indexed by] -> what they hold`.

- A *frame row* is a row of a table as it came.
- A *recommended row* is a row of recommendations once those of each user stand together.
- A *listed row* is a recommended row, or one that `quirks.padded` adds after them, which
  is in no frame.
- A *truth row* is a row of the truth by user, the most relevant first.
- An *entry* is a relevant truth row of a user evaluated, counted over these users in the
  order of their ids: what `Hits.entry` holds.
- A *user* is a number from 0 up, as in `Ids`; a *position* is a user's number among those
  evaluated, in the order of their ids: what `Hits.user` holds.

Within a `Block` of users, users, listed rows and truth rows are counted from the block's
first; `Matches.counted_over_all` adds what stands before the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
    cached_property,
    order_from_highest,
    stands_from_highest,
)

#: Numbers of items: ids that are whole numbers, hashes of text, or positions among all
#: items.
ItemNumbers = NDArray[np.uint64]


def offsets(counts: Ints) -> Ints:
    """Return where the rows of each user start, and after them where the last end."""
    return np.concatenate([[0], np.cumsum(counts)])


def ranges(starts: Ints, counts: NDArray[Any]) -> Ints:
    """Concatenate the whole numbers from each start on, as many as it counts.

    The difference of a number and its place is the same along a range:

        starts, counts      5, 2    0, 3
        returned            5 6     0  1  2
        place in it         0 1     2  3  4
        difference          5 5    -2 -2 -2
    """
    ends = np.cumsum(counts, dtype=np.int64)
    place_of_start = ends - counts
    numbers = np.arange(ends[-1] if len(ends) else 0)
    numbers += np.repeat(starts - place_of_start, counts)
    return numbers


# ---- ids


@dataclass(frozen=True, eq=False)
class Ids:
    """The users and items of both frames as numbers."""

    #: [user] -> id; users with a list in the order of `rows_by_user`, then the others.
    users: pl.Series
    #: Users in the order of their ids; None: `users` is sorted already.
    by_id: Ints | None
    #: [user] -> number of rows of recommendations.
    n_listed: Ints
    #: [recommended row] -> frame row of recommendations; None: they are the same.
    rows_by_user: Ints | None
    #: [frame row of the truth] -> user.
    truth_user: Ints
    #: The item columns of recommendations and of the truth.
    items: tuple[pl.Series, pl.Series]
    #: [frame row of recommendations] -> item.
    recs_item: ItemNumbers
    #: [frame row of the truth] -> item.
    truth_item: ItemNumbers
    #: Number of items, if an item's number is its position among them; else 0.
    n_items: int
    #: Whether different items may have the same number.
    are_hashes: bool

    def frame_rows(self, recommended_rows: slice) -> Ints | slice:
        """Return the frame rows of some recommended rows."""
        if self.rows_by_user is None:
            return recommended_rows
        return self.rows_by_user[recommended_rows]

    def with_exact_items(self) -> Ids:
        """Return the ids with items numbered so that no two have the same number.

        An item's number is then its position among all items.
        """
        all_items = distinct(pl.concat(self.items))
        recs_items, truth_items = self.items
        return replace(
            self,
            recs_item=_numbers_of(recs_items, all_items),
            truth_item=_numbers_of(truth_items, all_items),
            n_items=len(all_items),
            are_hashes=False,
        )


def number_ids(
    recs: pl.DataFrame, truth: pl.DataFrame, all_items: pl.Series | None = None
) -> Ids:
    """Give the users and items of both frames numbers.

    If `all_items` is given, an item's number is its position in it.
    """
    rows_by_user, starts = _rows_by_user(recs["user"])
    first_rows = starts if rows_by_user is None else rows_by_user[starts]
    users_with_list = recs["user"].gather(first_rows)

    users, truth_user = _number_users(users_with_list, truth["user"])
    n_listed = np.zeros(len(users), dtype=np.int64)
    n_listed[: len(starts)] = np.diff(starts, append=recs.height)
    by_id = None
    if not users.is_sorted():
        by_id = users.arg_sort().to_numpy()

    recs_items, truth_items = recs["item"], truth["item"]
    return Ids(
        users=users,
        by_id=by_id,
        n_listed=n_listed,
        rows_by_user=rows_by_user,
        truth_user=truth_user,
        items=(recs_items, truth_items),
        recs_item=_numbers_of(recs_items, all_items),
        truth_item=_numbers_of(truth_items, all_items),
        n_items=0 if all_items is None else len(all_items),
        are_hashes=all_items is None and recs_items.dtype != pl.Int64,
    )


def _number_users(
    users_with_list: pl.Series, truth_users: pl.Series
) -> tuple[pl.Series, Ints]:
    """Return the users by number, and the user of each frame row of the truth.

    Users with a list come first, after them those of the truth alone.
    """
    truth_user = positions(users_with_list, truth_users)
    has_no_list = truth_user < 0  # -1: not among them
    if not has_no_list.any():
        return users_with_list, truth_user
    without_list = truth_users.filter(pl.Series(has_no_list))
    others = distinct(without_list)
    truth_user[has_no_list] = len(users_with_list) + positions(others, without_list)
    return pl.concat([users_with_list, others]), truth_user


def _rows_by_user(users: pl.Series) -> tuple[Ints | None, Ints]:
    """Put the rows of each user together.

    Returns the rows in this order, None if they stand so already; and where each user
    starts in it.
    """
    # Rows of each user may be together already. To see that takes little time for few rows
    # (BLOCK). Of many it is likely, and worth the time, only if most of the first rows
    # repeat the user above.
    if len(users) <= BLOCK or repeats_follow(users):
        starts = run_starts(users)
        if _are_distinct(users.gather(starts)):  # no user starts a second run
            return None, starts
    return grouped(users)


def _are_distinct(users: pl.Series) -> bool:
    """Return whether no user occurs twice."""
    hashes = np.sort(hashes_of(users))
    has_equal_hashes = (hashes[1:] == hashes[:-1]).any()
    if not has_equal_hashes:
        return True  # equal users would have equal hashes
    # A user occurs twice, or, which is rare, two users have one hash: count them.
    return users.n_unique() == len(users)


def _numbers_of(items: pl.Series, all_items: pl.Series | None) -> ItemNumbers:
    """Return a number for each item; equal items have equal numbers."""
    if all_items is not None:
        return positions(all_items, items).view(np.uint64)
    if items.dtype == pl.Int64:
        # Below 0 numbers wrap around, and stay distinct.
        return items.to_numpy().view(np.uint64)
    return hashes_of(items)


# ---- rows


class Block(NamedTuple):
    """Users who follow each other, and their rows: what is matched together."""

    #: Its users, of all users.
    users: slice
    #: Their recommended rows, of all recommended rows.
    recommended_rows: slice
    #: Their truth rows, of all truth rows.
    truth_rows: slice

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.users.stop - self.users.start)


@dataclass(frozen=True, eq=False)
class ListedRows:
    """The rows of the lists of some users, who are numbered from 0.

    Recommended rows come first, after them those that `quirks.padded` added.
    """

    #: [recommended row] -> frame row.
    frame_row: Ints | slice
    #: [listed row] -> user.
    user: Ints
    #: [listed row] -> item.
    item: ItemNumbers
    #: [listed row] -> score, higher is better; under order="rank" or "row" it is minus
    #: the rank or the frame row.
    score: Floats | Ints
    #: [listed row] -> rank that the frame gives, 0 for a row that was added; None: ranks
    #: are not data, or rows leave their lists.
    given_rank: Ints | None
    n_users: int
    #: Number of recommended rows; those after them were added.
    n_recommended: int

    @property
    def n_added(self) -> int:
        """Number of rows that padding added."""
        return len(self.user) - self.n_recommended

    def frame_rows_of(self, recommended_row: Ints) -> Ints:
        """Return the frame rows of some recommended rows."""
        if isinstance(self.frame_row, slice):
            return np.asarray(self.frame_row.start + recommended_row)
        return self.frame_row[recommended_row]


@dataclass(frozen=True, eq=False)
class TruthRows:
    """The rows of the truth by user, the most relevant of each first."""

    #: [truth row] -> frame row.
    frame_row: Ints
    #: [truth row] -> user.
    user: Ints
    #: [frame row] -> item.
    frame_item: ItemNumbers
    #: [truth row] -> relevance.
    relevance: Floats
    #: [user] -> number of truth rows.
    n_rows: Ints

    @classmethod
    def of(cls, truth: pl.DataFrame, ids: Ids) -> TruthRows:
        """Put the rows in order; rows of equal relevance keep theirs."""
        user, relevance = ids.truth_user, truth["relevance"].to_numpy()
        n_rows = np.bincount(user, minlength=len(ids.users))
        if stands_from_highest(user, relevance):
            frame_row = np.arange(len(user))
        else:
            frame_row = order_from_highest(user, relevance)
            user = np.repeat(np.arange(len(n_rows)), n_rows)
            relevance = relevance[frame_row]
        return cls(
            frame_row=frame_row,
            user=user,
            frame_item=ids.truth_item,
            relevance=relevance,
            n_rows=n_rows,
        )

    @cached_property
    def item(self) -> ItemNumbers:
        """[truth row] -> item; of a block, looked up by the core that matches it."""
        return self.frame_item[self.frame_row]

    @cached_property
    def starts(self) -> Ints:
        """[user] -> its first truth row; after the last user, the number of rows."""
        return offsets(self.n_rows)

    def rows_of(self, users: Ints | slice) -> Ints:
        """Return the truth rows of users, those of the first user first."""
        first_rows = self.starts[:-1]  # [user]
        return ranges(first_rows[users], self.n_rows[users])

    def of_block(self, block: Block) -> TruthRows:
        """Return the rows of the users of a block, who are numbered from 0."""
        n_rows = self.n_rows[block.users]
        return TruthRows(
            frame_row=self.frame_row[block.truth_rows],
            user=np.repeat(np.arange(block.n_users), n_rows),
            frame_item=self.frame_item,
            relevance=self.relevance[block.truth_rows],
            n_rows=n_rows,
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows that share user and item with another row."""

    #: Judged rows: the listed rows whose pair is in the truth, rising.
    judged_row: Ints
    #: The truth row that judges each of these.
    judging_row: Ints
    #: Repeated rows: all listed rows that share their item with another of the same
    #: list, rising.
    repeated_row: Ints
    #: The number of the pair of each of these.
    repeated_pair: Ints
    #: Whether the truth repeats a pair.
    truth_repeats: bool

    @property
    def lists_repeat(self) -> bool:
        """Whether a list repeats an item."""
        return len(self.repeated_row) > 0


@dataclass(frozen=True, eq=False)
class Ranks:
    """The rank of each row in its list."""

    #: [listed row] -> rank from 1; 0: the row left its list.
    rank: Ints
    #: [user] -> last rank of the list; 0: without a list.
    last_rank: Ints
    #: [listed row] -> how many ranks are above those of its score, ranks that are empty
    #: included. None: equal scores do not share ranks, or all ranks are given.
    above: Ints | None = None
    #: [listed row] -> how many rows of the list have its score, itself among them.
    tied: Ints | None = None

    def ties_of(self, listed_row: Ints) -> tuple[Ints, Ints]:
        """Return `above` and `tied` of some rows."""
        if self.above is None or self.tied is None:
            # Each row is alone on its rank.
            return self.rank[listed_row] - 1, np.ones_like(listed_row)
        return self.above[listed_row], self.tied[listed_row]


class Matches(NamedTuple):
    """The rows of lists that are judged and have a rank, and the length of all lists."""

    #: [match] -> user.
    user: Ints
    #: [match] -> truth row.
    truth_row: Ints
    #: [match] -> rank.
    rank: Ints
    #: [match] -> score, as in `ListedRows`.
    score: Floats | Ints
    #: [match] -> as in `Ranks`; where it has none, `rank` - 1.
    above: Ints
    #: [match] -> as in `Ranks`; where it has none, 1.
    tied: Ints
    #: [user] -> last rank of the list; 0: without a list.
    last_rank: Ints

    def counted_over_all(self, block: Block) -> Matches:
        """Return the matches of a block, with users and truth rows counted over all."""
        return self._replace(
            user=block.users.start + self.user,
            truth_row=block.truth_rows.start + self.truth_row,
        )

    @classmethod
    def concatenate(cls, blocks: Sequence[Matches]) -> Matches:
        """Put the matches of blocks of users together, and the lengths of their lists."""
        columns = zip(*blocks, strict=True)
        return cls(*[np.concatenate(column) for column in columns])


class Evaluated(NamedTuple):
    """The users who count in a mean."""

    #: [position] -> user, in the order of their ids; a slice: see `are_all_by_number`.
    users: Ints | slice
    #: [user] -> position; -1: not evaluated.
    position: Ints

    @property
    def are_all_by_number(self) -> bool:
        """Whether all users are evaluated, and each one's position is its number."""
        return isinstance(self.users, slice)


class Wanted(NamedTuple):
    """What there is to find: the relevant truth rows of the users evaluated."""

    #: [truth row] -> whether it is wanted.
    is_wanted: Bools
    #: [truth row] -> position of its user; -1: not evaluated.
    position: Ints
    #: [entry] -> truth row.
    rows: Ints | slice
    #: [truth row] -> entry, the first if it has several; 0 if it is not wanted.
    entry: Ints


def marked(rows: Ints, n: int) -> Bools:
    """Return for each of n rows whether it is among these."""
    is_among = np.zeros(n, dtype=bool)
    is_among[rows] = True
    return is_among
