"""The rows of lists and truth: where they are stored, and those behind the hits.

Those behind the hits are made when they are asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.ids import each_once
from recnb.data.names import IDS
from recnb.data.role_table import rows_of_users
from recnb.data.truth import relevant_only

T = TypeVar("T")


class StoredRows(ABC):
    """The rows of both tables, by role and in parts of whole users, wherever they are."""

    where: str  #: what holds them, in words
    remedy: str  #: what to type to have them in memory
    #: Whether rows of the truth are kept of each part, and not made again where they are
    #: asked for.
    keeps_truth = False

    @abstractmethod
    def each(
        self, work: Callable[[pl.DataFrame, pl.DataFrame], T | None]
    ) -> Iterable[T | None]:
        """Apply a function to the lists and the truth of every part, where they are."""

    @abstractmethod
    def of_users(self, users: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the lists and the truth of some users."""

    @abstractmethod
    def distinct(self, name: str, roles: Sequence[str]) -> pl.DataFrame:
        """Return the values that some columns of a table have together."""

    @abstractmethod
    def first(self) -> pl.DataFrame:
        """Return a row of the lists."""


# ---- behind the hits


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

    #: User, item, relevance, and weight where there is one, of all rows of the truth.
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
