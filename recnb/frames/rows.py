"""Where the rows of the lists are: here in memory, or in files or with the workers of an engine, where they stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from recnb.errors import ElsewhereError
from recnb.hits import Floats, Ints

if TYPE_CHECKING:
    from recnb.conventions import Convention
    from recnb.frames.prepare import Prepared


@dataclass(frozen=True, eq=False)
class Held:
    """Rows in memory."""

    frame: pl.DataFrame

    @property
    def columns(self) -> list[str]:
        """The roles that have a column."""
        return self.frame.columns

    def all(self) -> pl.DataFrame:
        """Every row."""
        return self.frame

    def of(self, users: pl.Series) -> pl.DataFrame:
        """The rows of some users."""
        return self.frame.filter(pl.col("user").is_in(users.implode()))


@dataclass(eq=False)
class Taken:
    """Rows of a table that are put together when somebody looks at them."""

    table: pl.DataFrame
    rows: Ints | None  #: None: all
    known: Floats | None = None  #: how relevant each row is, if that is at hand

    @cached_property
    def relevance(self) -> Floats:
        """How relevant each row is, without the other columns."""
        if self.known is not None:
            return self.known
        relevance = self.table["relevance"].to_numpy()
        return relevance if self.rows is None else relevance[self.rows]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows, in their order."""
        return self.table if self.rows is None else self.table.select(pl.all().gather(self.rows))


@dataclass(frozen=True, eq=False)
class Away:
    """Rows that stay where they are: hits and counts are gathered from them, and a few users' rows fetched."""

    columns: list[str]  #: the roles that have a column
    where: str  #: what holds the rows, in words: "the files of a lazy frame"
    remedy: str  #: what to type to have them here
    gather: Callable[[Convention], Prepared]  #: hits and counts of all users under a convention
    fetch: Callable[[pl.Series, Convention], pl.DataFrame]  #: the ranked rows of some users

    def all(self) -> pl.DataFrame:
        """No: who needs every row is told where the rows are."""
        raise ElsewhereError(
            f"this looks at every row of the lists, and they stay in {self.where}: only hits and counts were fetched. "
            f"If they fit into memory: {self.remedy}."
        )


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranked rows that are away, under one convention."""

    away: Away
    convention: Convention

    @property
    def columns(self) -> list[str]:
        """The roles that have a column."""
        return ["user", "item", "rank", *(["score"] if "score" in self.away.columns else [])]

    def all(self) -> pl.DataFrame:
        """No: who needs every row is told where the rows are."""
        return self.away.all()

    def of(self, users: pl.Series) -> pl.DataFrame:
        """The rows of some users."""
        return self.away.fetch(users, self.convention)
