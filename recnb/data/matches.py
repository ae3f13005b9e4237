"""The truth under a convention, and the rows of lists that it judges.

Arrays are described as `[what they are indexed by] -> what they hold`.

- A *frame row* is a row of a table as it came, or as repeats in the truth were merged.
- A *user* is a position among the users of both tables, sorted by id.
- A *truth row* is a row of the truth by user, the most relevant first.
- A *match* is a row of a list that the truth judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.ids import RowLookup, each_once, positions
from recnb.data.names import IDS
from recnb.data.role_table import RoleTable, repeated, with_series
from recnb.metrics.hits import (
    Bools,
    Floats,
    Ints,
    order_from_highest,
    stands_from_highest,
)


class RepeatError(Exception):
    """A list repeats a rank or an item.

    It holds no words: only `join` has all lists, of which the caller is told.
    """


# ---- the truth


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
    def of(cls, user: Ints, relevance: Floats) -> TruthRows:
        """Put frame rows in order; rows of equal relevance keep theirs."""
        if stands_from_highest(user, relevance):
            return cls(np.arange(len(user)), user, relevance)
        frame_row = order_from_highest(user, relevance)
        return cls(frame_row, user[frame_row], relevance[frame_row])

    def of_frame_rows(self, frame_row: Ints) -> Ints:
        """Return the truth rows of some frame rows; -1 is none, and stays."""
        truth_row = np.full(len(self.frame_row) + 1, -1)  # the last cell is that of -1
        truth_row[self.frame_row] = np.arange(len(self.frame_row))
        return truth_row[frame_row]


@dataclass(frozen=True, eq=False)
class GradedTruth:
    """The truth, with what follows from it alone: of use to all lists beside it."""

    rows: pl.DataFrame  #: user, item, relevance, and propensity where there is one
    is_graded: bool = True  #: whether it says how relevant an item is

    @classmethod
    def of(cls, truth: RoleTable, convention: Convention) -> GradedTruth:
        """Return the truth with a relevance for each row, 1 without a relevance column.

        A relevance below 0 is refused, made 0 or kept, as the convention says. Where
        lists hold judged items alone it marks one that was pooled and not judged, and is
        made 0 once that has left the lists (`ranking.unjudged_as_zero`).
        """
        if "relevance" not in truth:
            ones = pl.Series("relevance", np.ones(truth.rows.height))
            return cls(with_series(truth.rows, ones), is_graded=False)
        negative = convention.negative_relevance
        if convention.below_0_leaves_lists:
            negative = "keep"
        given = truth.grades(negative)
        grades = given.cast(pl.Float64)
        if negative == "zero":
            grades = grades.clip(lower_bound=0.0)
        if convention.relevant_from is not None:
            grades = _with_exact_threshold(
                grades, given.dtype, convention.relevant_from
            )
        return cls(with_series(truth.rows, grades))

    def without_repeats(self) -> GradedTruth:
        """Return the truth with one row of each pair, the most relevant one."""
        pairs = self.rows.group_by(*IDS, maintain_order=True)
        most_relevant = pl.col("relevance").arg_max()
        numbers = pl.col("relevance", "^propensity$").get(most_relevant)
        return GradedTruth(pairs.agg(numbers), self.is_graded)

    @property
    def highest(self) -> float:
        """The highest relevance; 0 without rows, or where all are below."""
        return float(self.rows["relevance"].to_numpy().max(initial=0.0))

    @cached_property
    def users(self) -> pl.Series:
        """The users, sorted."""
        return each_once(self.rows["user"])

    @cached_property
    def user_lookup(self) -> RowLookup:
        """The users, to look others up among them."""
        return RowLookup(self.users.to_frame())

    @cached_property
    def pair_lookup(self) -> RowLookup:
        """The pairs of user and item, to look others up among them.

        No pair is repeated (`InMemory._truth_under`).
        """
        return RowLookup(self.rows[:, [*IDS]])

    @cached_property
    def by_user(self) -> TruthRows:
        """The rows in order; a user is a position among those of the truth."""
        user = self.user_lookup.positions_of(self.rows["user"])
        return TruthRows.of(user, self.rows["relevance"].to_numpy())

    @cached_property
    def repeats_a_pair(self) -> bool:
        """Whether a pair of user and item is repeated."""
        return repeated(self.rows, [*IDS]).height > 0

    def numbered_by(self, users: pl.Series) -> TruthRows:
        """Return the rows in order; a user is a position among `users`, sorted.

        `users` contain all of the truth's: if they are as many, they are the same.
        """
        if len(users) == len(self.users):
            return self.by_user
        user = positions(users, self.rows["user"])
        return TruthRows.of(user, self.rows["relevance"].to_numpy())


def _with_exact_threshold(
    grades: pl.Series, dtype: pl.DataType, threshold: float
) -> pl.Series:
    """Return grades in which those that stand for the threshold are equal to it.

    A Float32 column holds the threshold 0.7 as 0.69999999, and `>= 0.7` would leave it
    out: such values become 0.7.
    """
    if dtype not in (pl.Float32, pl.Float16):
        return grades  # whole numbers and Float64 hold the threshold as it is
    in_precision = pl.Series([float(threshold)]).cast(dtype)[0]
    return grades.set(grades == in_precision, threshold)


def is_relevant(grades: Floats, convention: Convention) -> Bools:
    """Return which grades of the truth count as relevant."""
    if convention.relevant_from is not None:
        return grades >= convention.relevant_from
    if convention.relevant == "any":
        return np.ones(len(grades), dtype=bool)
    if convention.relevant == "!=0":
        return np.not_equal(grades, 0)
    return grades > 0


def relevant_only(rows: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """Return the rows of the truth that count as relevant."""
    return rows.filter(is_relevant(rows["relevance"].to_numpy(), convention))


# ---- lists beside it


class RowTies(NamedTuple):
    """The tie that each row is in: the rows of its list with its score.

    It is on ranks above + 1 to above + n_tied.
    """

    #: [row] -> how many ranks are above its tie, empty ones included.
    above: Ints
    #: [row] -> how many rows its tie has, itself among them.
    n_tied: Ints

    @classmethod
    def alone(cls, rank: Ints) -> RowTies:
        """Return the ties of rows that are alone on their ranks."""
        return cls(rank - 1, np.ones_like(rank))

    def of(self, row: Ints) -> RowTies:
        """Return the ties of some rows."""
        return RowTies(self.above[row], self.n_tied[row])

    def followed_by(self, others: RowTies) -> RowTies:
        """Return these ties, and then others."""
        above = np.concatenate([self.above, others.above])
        n_tied = np.concatenate([self.n_tied, others.n_tied])
        return RowTies(above, n_tied)


@dataclass(frozen=True, eq=False)
class Matches:
    """The rows of lists that the truth judges, and the size of each list."""

    users: pl.Series  #: the users of both tables, sorted by id
    truth_by_user: TruthRows
    #: [match] -> truth row.
    truth_row: Ints
    #: [match] -> rank, from 1.
    rank: Ints
    #: [match] -> score; under order="rank" or "row" minus the rank or the frame row.
    score: Floats | Ints
    #: [user] -> whether anything was recommended.
    has_list: Bools
    #: [user] -> last rank of the list; 0: it has none.
    last_rank: Ints
    has_gaps: bool  #: whether some list leaves a rank empty
    #: By match. None: equal scores do not share ranks.
    ties: RowTies | None = None

    def ties_of(self, match: Ints) -> RowTies:
        """Return the ties that some matches are in."""
        if self.ties is None:
            return RowTies.alone(self.rank[match])
        return self.ties.of(match)


def only_judged_lists_count(convention: Convention) -> bool:
    """Return whether only the lists of users whom the truth has can change a number.

    Hits, ranks, ties and repeats are within a list. With the whole catalogue below each,
    the items of a list stand below the lists of others.
    """
    only_judged_users = convention.averaged_users in ("truth", "both")
    return only_judged_users and convention.candidates != "catalogue"


def raise_for_repeats(lists: RoleTable, columns: list[str]) -> None:
    """Raise a RepeatError if two rows have equal values in some columns."""
    if repeated(lists.rows, columns).height:
        raise RepeatError


def judging_rows(lists: RoleTable, truth: GradedTruth, convention: Convention) -> Ints:
    """Return the frame row of the truth that judges each row of lists, -1 without one.

    Raises a RepeatError for repeats that the convention refuses.
    """
    pairs = lists.rows[:, [*IDS]]
    judging = truth.pair_lookup.positions_of_rows(pairs)
    if convention.duplicates != "error":
        return judging
    if convention.order == "rank" and not lists.ranks_are_places:
        # An item that nobody judged may be repeated: it is no hit and moves no other.
        times_listed = np.bincount(judging[judging >= 0])
        if times_listed.max(initial=0) > 1:
            raise RepeatError
    else:
        # A repeat moves what is below it.
        raise_for_repeats(lists, [*IDS])
    return judging
