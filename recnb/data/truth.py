"""The truth under a convention: graded once, for all lists beside it.

Arrays are described as `[what they are indexed by] -> what they hold`.

- A *frame row* is a row of a table as it came, or as repeats in the truth were merged.
- A *user* is a position among the users of both tables, sorted by id.
- A *truth row* is a row of the truth by user, the most relevant first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.ids import RowLookup, each_once, positions
from recnb.data.names import IDS
from recnb.data.role_table import RoleTable, repeated, with_series
from recnb.metrics.hits import (
    HIGHEST,
    Bools,
    Floats,
    Ints,
    order_from_highest,
    stands_from_highest,
)


@dataclass(frozen=True, eq=False)
class TruthRows:
    """The rows of the truth by user, the most relevant of each first."""

    #: [truth row] -> frame row.
    frame_row: Ints
    #: [truth row] -> user.
    user: Ints
    #: [truth row] -> relevance.
    relevance: Floats
    #: The truth rows of items that were pooled and not judged.
    unjudged: Ints

    def truth_rows_of(self, frame_row: Ints) -> Ints:
        """Return the truth rows that judge items, of which the frame rows are given.

        `frame_row` is -1 for an item that the truth lacks, whose truth row is -1 as well.
        So is that of an item that was pooled and not judged.
        """
        truth_row = np.full(len(self.frame_row) + 1, -1)  # the last cell is that of -1
        truth_row[self.frame_row] = np.arange(len(self.frame_row))
        truth_row[self.frame_row[self.unjudged]] = -1
        return truth_row[frame_row]


@dataclass(frozen=True, eq=False)
class GradedTruth:
    """The truth with a relevance for each row, and what follows from it alone."""

    #: User, item, relevance, and propensity where there is one, by frame row.
    rows: pl.DataFrame
    #: Whether a relevance below 0 marks an item that was pooled and not judged: it leaves
    #: the lists, and counts 0.
    has_marks: bool = False

    @classmethod
    def of(cls, truth: RoleTable, convention: Convention) -> GradedTruth:
        """Grade each row, by 1 without a relevance column.

        A relevance below 0 is refused, made 0, kept, or a mark, as the convention says.
        """
        if "relevance" not in truth:
            ones = pl.Series("relevance", np.ones(truth.rows.height))
            return cls(with_series(truth.rows, ones))
        negative = convention.negative_relevance
        has_marks = convention.below_0_leaves_lists
        if has_marks:
            negative = "keep"
        given = _checked_grades(truth, negative)
        grades = given.cast(pl.Float64)
        if negative == "zero":
            grades = grades.clip(lower_bound=0.0)
        threshold = convention.relevant_from
        if threshold is not None:
            grades = _with_exact_threshold(grades, given.dtype, threshold)
        return cls(with_series(truth.rows, grades), has_marks=has_marks)

    def without_repeats(self) -> GradedTruth:
        """Return the truth with one row of each pair, the most relevant one."""
        pairs = self.rows.group_by(*IDS, maintain_order=True)
        most_relevant = pl.col("relevance").arg_max()
        numbers = pl.col("relevance", "^propensity$").get(most_relevant)
        return replace(self, rows=pairs.agg(numbers))

    @property
    def without_marks(self) -> pl.DataFrame:
        """The rows, with 0 in place of marks."""
        if not self.has_marks:
            return self.rows
        return with_series(self.rows, self.rows["relevance"].clip(0.0))

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
    def repeats_a_pair(self) -> bool:
        """Whether a pair of user and item is repeated."""
        return repeated(self.rows, [*IDS]).height > 0

    @cached_property
    def by_user(self) -> TruthRows:
        """The rows in order; a user is a position among those of the truth."""
        return self._in_order(self.user_lookup.positions_of(self.rows["user"]))

    def numbered_by(self, users: pl.Series) -> TruthRows:
        """Return the rows in order; a user is a position among `users`, sorted.

        `users` contain all of the truth's: if they are as many, they are the same.
        """
        if len(users) == len(self.users):
            return self.by_user
        return self._in_order(positions(users, self.rows["user"]))

    def _in_order(self, user: Ints) -> TruthRows:
        """Put frame rows in order, by the user of each; equal ones keep theirs."""
        frame_row = np.arange(len(user))
        relevance = self.rows["relevance"].to_numpy()
        if not stands_from_highest(user, relevance):
            frame_row = order_from_highest(user, relevance)
            user, relevance = user[frame_row], relevance[frame_row]
        unjudged = np.empty(0, dtype=np.int64)
        if self.has_marks:
            unjudged = np.flatnonzero(relevance < 0)
            relevance = relevance.clip(min=0.0)
        return TruthRows(frame_row, user, relevance, unjudged)


def graded(truth: RoleTable, convention: Convention) -> GradedTruth:
    """Return the truth as it was given, graded once for conventions that agree."""
    grading = (
        convention.negative_relevance,
        convention.judged_only,
        convention.relevant_from,
    )
    known: dict[Any, GradedTruth] = truth.graded_truths
    if grading not in known:
        known[grading] = GradedTruth.of(truth, convention)
    return known[grading]


def _checked_grades(truth: RoleTable, negative: str) -> pl.Series:
    """Return each relevance as a number; refuse what is none.

    One below 0 is refused if `negative` says so. Numbers keep their type.
    """
    grades = truth.finite_numbers(
        "relevance",
        "say what a relevance that is missing, NaN or infinite means, 0 for not "
        "relevant; or drop the row.",
    )
    floats = grades.cast(pl.Float64).to_numpy()
    is_too_large = floats > HIGHEST
    if negative == "keep":
        is_too_large |= floats < -HIGHEST
    truth.refuse_values(
        "relevance",
        pl.Series(is_too_large),
        "sums of such numbers overflow. Make the scale smaller.",
    )
    if negative == "error":
        truth.refuse_values(
            "relevance",
            pl.Series(floats < 0),
            "a negative relevance breaks the bounds of nDCG. If it marks what is not "
            "judged, say negative_relevance='zero', as convention='trec' does; else "
            "set it to 0.",
        )
    return grades


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
