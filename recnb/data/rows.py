"""The rows of lists and truth behind the hits, made when they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data import ranking
from recnb.data.ids import each_once, n_distinct
from recnb.data.matches import single_precision
from recnb.data.names import IDS
from recnb.data.role_table import RoleTable, rows_of_users, with_series
from recnb.data.truth import GradedTruth, relevant_only
from recnb.metrics.hits import Floats, Ints, run_starts


@dataclass(frozen=True)
class RowCounts:
    """Counts of all rows, which add up over parts of users."""

    n_users: int  #: of either table
    n_recommended: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once

    @classmethod
    def of(cls, rows: JoinedRows, convention: Convention) -> RowCounts:
        """Count rows that are in memory."""
        lists, relevant = rows.lists, relevant_only(rows.truth, convention)
        if convention.judged == "list" and convention.candidates == "list":
            # With other candidates, what the lists missed is put below them, as
            # recommended.
            relevant = relevant.join(lists, on=[*IDS], how="semi")
        sizes = lists.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
        return cls(
            n_users=rows.n_users,
            n_recommended=lists.height,
            n_not_relevant=rows.truth.height - relevant.height,
            n_gaps=int((sizes["length"] > sizes["n"]).sum()),
            items=each_once(lists["item"]),
        )

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the counts of the rows of both."""
        return RowCounts(
            n_users=self.n_users + other.n_users,
            n_recommended=self.n_recommended + other.n_recommended,
            n_not_relevant=self.n_not_relevant + other.n_not_relevant,
            n_gaps=self.n_gaps + other.n_gaps,
            items=each_once(self.items, other.items),
        )


class JoinedRows(ABC):
    """The rows behind the hits, made when they are first asked for."""

    #: User, item, relevance, and propensity and weight where there are some, of all rows of
    #: the truth.
    truth: pl.DataFrame
    #: The same of the relevant rows of users evaluated, in the order of `Hits.truth_user`.
    relevant: pl.DataFrame

    @property
    @abstractmethod
    def lists(self) -> pl.DataFrame:
        """User, item, rank, and score where there is one, of all lists.

        It is an error if these are not in memory.
        """

    @property
    @abstractmethod
    def n_users(self) -> int:
        """Number of users of either table."""

    @property
    def n_recommended(self) -> int:
        """Number of rows of lists; an error if they were not counted."""
        return self.lists.height

    def counts(self, convention: Convention) -> RowCounts:
        """Return the counts of all rows; an error if they were not counted."""
        return RowCounts.of(self, convention)

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, fetched where they are not in memory."""
        return rows_of_users(self.lists, users)

    def relevant_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, fetched if they have to be."""
        return rows_of_users(self.relevant, users)


@dataclass(frozen=True, eq=False)
class RowsInMemory(JoinedRows):
    """The rows behind the hits of tables in memory."""

    recs: RoleTable
    graded_truth: GradedTruth
    convention: Convention  #: whose order is settled
    frame_row_of_entry: Ints  #: [entry] -> frame row of the truth
    weight: Floats | None  #: [frame row of the truth] -> its weight

    @cached_property
    def truth(self) -> pl.DataFrame:
        """The frame rows of the truth."""
        rows = self.graded_truth.without_marks
        if self.weight is None:
            return rows
        return with_series(rows, pl.Series("weight", self.weight))

    @cached_property
    def n_users(self) -> int:
        """Number of users of either table."""
        users = pl.concat([self.recs["user"], self.graded_truth.users])
        hashes = users.hash().to_numpy()
        # Rows in order by user have one hash to sort for each list.
        return n_distinct(hashes[run_starts(hashes)])

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.truth[self.frame_row_of_entry]

    @cached_property
    def lists(self) -> pl.DataFrame:
        """User, item, rank, and score where there is one, without rows left out.

        Rows are in the order in which they came. Items and ranks may repeat in lists that
        do not count.
        """
        recs, convention = self.recs, self.convention
        rank = ranking.rank_of_rows(recs, self.graded_truth, convention)
        table = recs.with_columns(pl.Series("rank", rank))
        if convention.score_dtype == "float32" and convention.order == "score":
            scores = single_precision(recs["score"])
            table = table.with_columns(pl.Series("score", scores))
        rows = table.rows.select(*IDS, "rank", "^score$")
        if rank.all():
            return rows
        return rows.filter(pl.col("rank") > 0)


@dataclass(eq=False)
class RowsOfUsers(JoinedRows):
    """The rows of some of the users evaluated."""

    of_all: JoinedRows
    users: pl.Series

    @property
    def n_users(self) -> int:
        """Number of these users."""
        return len(self.users)

    @cached_property
    def lists(self) -> pl.DataFrame:
        """The rows of these users' lists; an error if lists are not in memory."""
        return rows_of_users(self.of_all.lists, self.users)

    @cached_property
    def truth(self) -> pl.DataFrame:
        """The rows of the truth of these users."""
        return rows_of_users(self.of_all.truth, self.users)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of these users."""
        return self.of_all.relevant_of(self.users)

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, fetched where they are not in memory."""
        return self.of_all.lists_of(users)

    def relevant_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, fetched if they have to be."""
        return self.of_all.relevant_of(users)
