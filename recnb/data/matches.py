"""What the join takes and makes, and how the judged rows of lists are found.

Arrays are described as `[what they are indexed by] -> what they hold`.

- A *frame row* is a row of a table as it came.
- A *user* is a position among the users of both tables, sorted by id.
- A *truth row* is a row of the truth by user, the most relevant first.
- A *match* is a row of a list that the truth judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.ids import FEW_IDS, each_once, positions
from recnb.data.names import IDS
from recnb.data.sheet import repeated
from recnb.metrics.hits import (
    Bools,
    Floats,
    Ints,
    cached_property,
    order_from_highest,
    stands_from_highest,
)


class RepeatError(Exception):
    """Rows are repeated: they are refused, or the caller merges them and joins again."""


class RepeatedRankError(RepeatError):
    """A list gives two rows the same rank."""


class RepeatedPairError(RepeatError):
    """A list repeats an item."""


class RepeatedTruthError(RepeatError):
    """The truth repeats a pair of user and item."""


@dataclass(frozen=True, eq=False)
class TruthRows:
    """The rows of the truth by user, the most relevant of each first."""

    #: [truth row] -> frame row.
    frame_row: Ints
    #: [truth row] -> user.
    user: Ints
    #: [truth row] -> relevance.
    relevance: Floats

    @classmethod
    def of(cls, truth: pl.DataFrame, users: pl.Series) -> TruthRows:
        """Put the rows in order; rows of equal relevance keep theirs."""
        user = positions(users, truth["user"])
        relevance = truth["relevance"].to_numpy()
        if stands_from_highest(user, relevance):
            return cls(np.arange(len(user)), user, relevance)
        frame_row = order_from_highest(user, relevance)
        return cls(frame_row, user[frame_row], relevance[frame_row])

    def of_frame_rows(self, frame_row: Ints) -> Ints:
        """Return the truth rows of some frame rows."""
        truth_row = np.empty_like(self.frame_row)
        truth_row[self.frame_row] = np.arange(len(truth_row))
        return truth_row[frame_row]


@dataclass(frozen=True, eq=False)
class Truth:
    """The truth, with what follows from it alone: of use to all lists beside it."""

    rows: pl.DataFrame  #: user, item, relevance

    @cached_property
    def users(self) -> pl.Series:
        """The users, sorted."""
        return each_once(self.rows["user"])

    @cached_property
    def by_user(self) -> TruthRows:
        """The rows in order; a user is a position among those of the truth."""
        return TruthRows.of(self.rows, self.users)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """[frame row] -> the hash of its pair."""
        return hashes_of(self.rows)

    @cached_property
    def row_of_pair(self) -> dict[tuple[object, object], int]:
        """Pair -> frame row, of a small table."""
        return {pair: row for row, pair in enumerate(_pairs_of(self.rows))}

    def among(self, users: pl.Series) -> TruthRows:
        """Return the rows in order; a user is a position among `users`, sorted.

        `users` contain all of the truth's: as many are the same.
        """
        if len(users) == len(self.users):
            return self.by_user
        return TruthRows.of(self.rows, users)


@dataclass(frozen=True, eq=False)
class Matches:
    """The rows of lists that the truth judges, and the size of each list."""

    users: pl.Series  #: the users of both tables, sorted by id
    truth: TruthRows
    #: [match] -> truth row.
    truth_row: Ints
    #: [match] -> rank, from 1.
    rank: Ints
    #: [match] -> score; under order="rank" or "row" minus the rank or the frame row.
    score: Floats | Ints
    #: [user] -> number of rows of recommendations.
    n_rows: Ints
    #: [user] -> last rank of the list; 0: without a list.
    last_rank: Ints
    #: Whether some list leaves a rank empty.
    has_gaps: bool
    #: [match] -> how many ranks are above those of its score, empty ones included. None:
    #: equal scores do not share ranks. What `with_catalogue` adds counts as alone.
    above: Ints | None = None
    #: [match] -> how many rows of the list have its score, itself among them.
    n_tied: Ints | None = None

    def ties_of(self, match: Ints) -> tuple[Ints, Ints]:
        """Return `above` and `n_tied` of some matches."""
        if self.above is None or self.n_tied is None:
            # Each row is alone on its rank.
            return self.rank[match] - 1, np.ones_like(match)
        return self.above[match], self.n_tied[match]


class JudgedRows(NamedTuple):
    """The rows of lists whose pair of user and item is in the truth."""

    #: Frame rows of recommendations.
    listed: Ints
    #: The frame row of the truth that judges each of these.
    judging: Ints


# ---- pairs of user and item

#: The hash of a pair; `repeated` says why columns have seeds.
PAIR_HASH = pl.col("user").hash(1) + pl.col("item").hash(2)


def hashes_of(table: pl.DataFrame) -> NDArray[np.uint64]:
    """Return the hash of the pair of each row."""
    return table.select(PAIR_HASH).to_series().to_numpy()


#: Up to as many rows of both tables, a sort is tried before the join. With more, hashes
#: lose so many bits (`_rows_by_key`) that different pairs often look equal, and it fails.
MOST_SORTED = 2**20


def judged_rows(recs: pl.DataFrame, truth: Truth, convention: Convention) -> JudgedRows:
    """Find the judged rows, and refuse repeats as the convention says."""
    n_rows = recs.height + truth.rows.height
    if n_rows <= FEW_IDS:
        return _judged_by_dictionary(recs, truth, convention)
    if n_rows <= MOST_SORTED:
        judged = _judged_by_sort(recs, truth)
        if judged is not None:
            return judged
    return judged_by_join(recs, truth, convention)


def _judged_by_dictionary(
    recs: pl.DataFrame, truth: Truth, convention: Convention
) -> JudgedRows:
    """Find the judged rows of small tables, and refuse repeats."""
    if len(truth.row_of_pair) < truth.rows.height:
        raise RepeatedTruthError
    rows = [truth.row_of_pair.get(pair, -1) for pair in _pairs_of(recs)]
    judging = np.array(rows, dtype=np.int64)
    listed = np.flatnonzero(judging >= 0)
    _refuse_repeated_pairs(recs, listed, convention)
    return JudgedRows(listed, judging[listed])


def _refuse_repeated_pairs(
    recs: pl.DataFrame, listed: Ints, convention: Convention
) -> None:
    """Refuse an item that a list repeats; `listed` are the judged rows.

    By given ranks an item that nobody judged may be repeated: no rank but its own follows
    from it. Otherwise a repeat moves what is below it.
    """
    if convention.duplicates != "error":
        return
    rows = recs[listed] if convention.order == "rank" else recs
    if rows.height > FEW_IDS:
        is_repeated = repeated(rows, [*IDS]).height > 0
    else:
        pairs = _pairs_of(rows)
        is_repeated = len({*pairs}) < len(pairs)
    if is_repeated:
        raise RepeatedPairError


def _pairs_of(table: pl.DataFrame) -> list[tuple[object, object]]:
    """Return user and item of each row."""
    return list(zip(table["user"].to_list(), table["item"].to_list(), strict=True))


def _judged_by_sort(recs: pl.DataFrame, truth: Truth) -> JudgedRows | None:
    """Find the judged rows in one sort of the hashes of all pairs.

    None if pairs repeat, or different pairs have one hash.

    Rows of the truth are counted on from those of lists. Let lists have rows 0 to 3 and
    the truth rows 4 and 5, with these hashes:

        row     0   1   2   3   4   5
        hash    70  20  70  50  50  70

        sorted  20  50  50  70  70  70
        row     1   3   4   0   2   5

    Of two rows with one hash the first is of lists and the second of the truth, as rows 3
    and 4, unless pairs repeat, as rows 0 and 2 do.
    """
    n_listed = recs.height
    row, equals_next = _rows_by_key(np.concatenate([hashes_of(recs), truth.hashes]))
    place = np.flatnonzero(equals_next)  # of each row that has the hash of the next
    upper, lower = row[place], row[place + 1]
    if (upper >= n_listed).any() or (lower < n_listed).any():
        return None  # pairs repeat, or it looks so
    # Different pairs may have one hash, or hashes that differ in high bits alone, which
    # `_rows_by_key` does not compare.
    judging = lower - n_listed
    for role in IDS:
        if not recs[role][upper].equals(truth.rows[role][judging]):
            return None
    return JudgedRows(upper, judging)


def _rows_by_key(key: NDArray[np.uint64]) -> tuple[Ints, Bools]:
    """Sort rows by a key; return the rows, and whether the key of each equals the next.

    A row is sorted as one number: the key, moved up, and below it the row. High bits of
    the key for which there is no room are lost. Of the keys 5, 3 and 5:

        binary           101, 011, 101
        with the row     101 00, 011 01, 101 10
        sorted           011 01, 101 00, 101 10

    The key is overwritten.
    """
    row_bits = len(key).bit_length()
    row_mask = np.uint64(2**row_bits - 1)
    key <<= np.uint64(row_bits)
    key |= np.arange(len(key), dtype=np.uint64)
    key = pl.Series(key).sort().to_numpy()  # sooner than numpy sorts
    # Equal keys differ in the bits of the row alone.
    equals_next = (key[1:] ^ key[:-1]) <= row_mask
    return (key & row_mask).view(np.int64), equals_next


def judged_by_join(
    recs: pl.DataFrame, truth: Truth, convention: Convention
) -> JudgedRows:
    """Find the judged rows by a join, and refuse repeats.

    A join by the hash of a pair takes less than half the time of one by user and item.
    Pairs that meet are compared afterwards.
    """
    if repeated(truth.rows, [*IDS]).height:
        raise RepeatedTruthError
    left = recs.lazy().select(pair=PAIR_HASH).with_row_index("listed")
    right = truth.rows.lazy().select(pair=PAIR_HASH).with_row_index("judging")
    met = left.join(right, on="pair").select(pl.col("listed", "judging").cast(int))
    rows = met.collect(engine="streaming")
    listed_ids = recs.select(IDS)[rows["listed"]]
    judging_ids = truth.rows.select(IDS)[rows["judging"]]
    is_same = (listed_ids["user"] == judging_ids["user"]) & (
        listed_ids["item"] == judging_ids["item"]
    )
    same = rows.filter(is_same)
    judged = JudgedRows(same["listed"].to_numpy(), same["judging"].to_numpy())
    _refuse_repeated_pairs(recs, judged.listed, convention)
    return judged
