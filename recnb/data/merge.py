"""Hits and counts of some users, and of many such parts as one: all that is kept of lists that are not held in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.join import Prepared, RemoteRanking, RemoteRows, RowCounts
from recnb.data.relevance import LazyRows
from recnb.metrics.hits import Hits, Ints, Tied, in_order

#: The columns of hits and of relevant rows.
COLUMNS = ("user", "rank", "list_length", "relevance", "truth_row", "truth_user", "truth_relevance")


@dataclass(frozen=True, eq=False)
class JoinedPart:
    """Some users joined, without the rows of their lists: what is kept is as large as hits, truth and users."""

    users: pl.Series  #: the users evaluated, sorted
    judged: pl.DataFrame  #: all rows of the truth
    truth_rows: LazyRows  #: the relevant rows of the users evaluated
    hits: Hits  #: of whole lists
    convention: Convention  #: the order that the columns made is in it
    row_counts: RowCounts
    n_without_relevant: int
    graded: bool

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.truth_rows.frame

    @property
    def n_relevant(self) -> int:
        """Number of relevant rows."""
        return len(self.hits.truth_user)

    @classmethod
    def of(cls, prepared: Prepared) -> JoinedPart:
        """Return the kept data of users whose rows are in memory."""
        return cls(
            prepared.users,
            prepared.judged,
            prepared.truth_rows,
            prepared.all_hits,
            prepared.convention,
            RowCounts.of(prepared.counts, prepared.recs),
            prepared.n_without_relevant,
            prepared.graded,
        )


def merged(parts: Iterable[JoinedPart], away: RemoteRows, judged: pl.DataFrame | None = None) -> Prepared:
    """Merge parts with different users. `judged` is the truth of all users, if it is at hand.

    An iterator may let go of each part as it gives it: hits are copied once.
    """
    pieces = _Merge()
    nothing: JoinedPart | None = None
    for part in parts:
        if judged is None and not part.judged.height and not part.row_counts.n_recommended:
            # A part without rows on either side knows nothing of the types of ids.
            nothing = part
            continue
        pieces.add(part)
    if pieces.first is None:
        assert nothing is not None
        pieces.add(nothing)
    return pieces.joined(away, judged)


class _Merge:
    """Columns of all parts to be concatenated, and counts."""

    def __init__(self) -> None:
        self.first: JoinedPart | None = None
        self.frames: dict[str, list[Any]] = {"users": [], "judged": []}
        self.truth_rows: list[LazyRows] = []
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self.tied: list[Tied] = []
        self.row_counts: list[RowCounts] = []
        self.n_without_relevant = 0
        self.max_relevance = 0.0

    def add(self, part: JoinedPart) -> None:
        """Take up a part."""
        if self.first is None:
            self.first = part
        for name, frames in self.frames.items():
            frames.append(getattr(part, name))
        for name, columns in self.columns.items():
            columns.append(getattr(part.hits, name))
        if part.hits.tied is not None:
            self.tied.append(part.hits.tied)
        self.truth_rows.append(part.truth_rows)
        self.row_counts.append(part.row_counts)
        self.n_without_relevant += part.n_without_relevant
        self.max_relevance = max(self.max_relevance, part.hits.max_relevance)

    def joined(self, away: RemoteRows, judged: pl.DataFrame | None) -> Prepared:
        """All parts as one."""
        first = self.first
        assert first is not None
        convention = first.convention
        hits, truth_order = self._hits(first.hits)
        row_counts = RowCounts.total(self.row_counts)
        return Prepared(
            RemoteRanking(away, convention),
            pl.concat(self.frames["judged"]) if judged is None else judged,
            self._truth(truth_order),
            pl.concat(self.frames["users"]).sort(),
            hits,
            self.n_without_relevant,
            convention,
            row_counts.n_gaps > 0,
            first.graded,
            row_counts=row_counts,
        )

    def _hits(self, like: Hits) -> tuple[Hits, Ints | None]:
        """Return the hits of all parts by user and rank, and the order of relevant rows by user (None: unchanged)."""
        users = self.frames["users"]
        n_users = np.cumsum([0, *map(len, users)])
        n_truth = np.cumsum([0, *map(len, self.columns["truth_user"])])
        by_user = pl.concat(users).arg_sort().to_numpy()
        position: Ints | None = None
        if (by_user[1:] < by_user[:-1]).any():  # else parts come in the order of their users, and nothing has to move
            position = np.empty(len(by_user), dtype=np.int64)
            position[by_user] = np.arange(len(by_user))

        truth_user, truth_order = self._coded("truth_user", n_users, position), None
        truth_row = self._column("truth_row", n_truth)
        relevance = self._column("truth_relevance")
        if position is not None:
            truth_order = in_order(truth_user)
            new_row = np.empty(len(truth_order), dtype=np.int64)
            new_row[truth_order] = np.arange(len(truth_order))
            truth_row, truth_user, relevance = new_row[truth_row], truth_user[truth_order], relevance[truth_order]
        hits = replace(
            like,
            user=self._coded("user", n_users, position),
            rank=self._column("rank"),
            list_length=self._column("list_length")[by_user],
            relevance=self._column("relevance"),
            truth_row=truth_row,
            truth_user=truth_user,
            truth_relevance=relevance,
            max_relevance=self.max_relevance,
            depth=None,
            tied=self._tied() if like.tied is not None else None,
        )
        if position is None:
            return hits, truth_order
        order = in_order(hits.user * (int(hits.rank.max(initial=0)) + 1) + hits.rank)
        moved = {name: getattr(hits, name)[order] for name in ("user", "rank", "relevance", "truth_row")}
        return replace(hits, **moved, tied=None if hits.tied is None else hits.tied.of(order)), truth_order

    def _truth(self, order: Ints | None) -> LazyRows:
        """Return the relevant rows of all parts in order, gathered on first use."""
        table = pl.concat([part.table for part in self.truth_rows])
        if order is None and all(part.rows is None for part in self.truth_rows):
            return LazyRows(table, None)
        starts = np.cumsum([0, *(part.table.height for part in self.truth_rows)])
        own = (
            np.arange(truth_row.table.height) if truth_row.rows is None else truth_row.rows
            for truth_row in self.truth_rows
        )
        rows: Ints = np.concatenate([part + start for part, start in zip(own, starts, strict=False)])
        return LazyRows(table, rows if order is None else rows[order])

    def _column(self, name: str, shift: Ints | None = None) -> Any:
        """Concatenate a column of all parts, adding an offset to each part, and free the parts."""
        own = self.columns.pop(name)
        column = np.concatenate(own)
        if shift is not None:
            at = 0
            for piece, by in zip(own, shift, strict=False):
                column[at : at + len(piece)] += by
                at += len(piece)
        return column

    def _coded(self, name: str, n_users: Ints, position: Ints | None) -> Ints:
        """A column of users by their position among all."""
        column: Ints = self._column(name, n_users)
        return column if position is None else position[column]

    def _tied(self) -> Tied:
        return Tied(
            *(np.concatenate([getattr(tied, name) for tied in self.tied]) for name in Tied.__dataclass_fields__)
        )
