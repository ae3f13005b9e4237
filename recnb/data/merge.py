"""Hits and counts of some users, and of many such parts as one: all that is kept of lists that are not held in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.memory import release_memory
from recnb.data.parallel import in_blocks
from recnb.data.relevance import LazyRows
from recnb.data.source import Counts, Prepared, RemoteRanking, RemoteRows, RowCounts
from recnb.data.user_rows import ranges
from recnb.metrics.hits import Hits, Ints, TieSpread

TIED = tuple(field.name for field in fields(TieSpread))
#: Of the columns that are no floats.
KINDS: dict[str, type[np.generic]] = {"top": np.bool_, "rank": np.int64, "truth_row": np.int64}


@dataclass(frozen=True, eq=False)
class JoinedPart:
    """Some users joined, without the rows of their lists: what is kept is as large as hits, truth and users.

    Columns are as narrow as their numbers allow.
    """

    users: pl.Series  #: the users evaluated, sorted
    judged: LazyRows  #: all rows of the truth
    truth: LazyRows  #: the relevant rows of the users evaluated, by user
    list_length: Any  #: per user
    n_relevant: Any  #: per user
    n_hits: Any  #: per user
    truth_relevance: Any  #: per relevant row, by user
    rows: dict[
        str, Any
    ]  #: per hit: its user, rank, relevance, the number of its item in the user's truth, and how it is tied
    max_relevance: float
    convention: Convention  #: the order that the columns made is in it
    row_counts: RowCounts
    n_without_relevant: int
    graded: bool
    is_empty: bool  #: whether neither frame has a row

    @classmethod
    def of(cls, prepared: Prepared) -> JoinedPart:
        """Return the kept data of users whose rows are in memory."""
        hits, n_relevant = prepared.all_hits, prepared.all_hits.n_relevant
        rows = {
            "rank": hits.rank,
            "relevance": hits.relevance,
            "truth_row": hits.truth_row - _starts(n_relevant)[hits.user],
            **({} if hits.tied is None else {name: getattr(hits.tied, name) for name in TIED}),
        }
        return cls(
            prepared.users,
            prepared.judged_rows,
            prepared.truth_rows,
            _narrow(hits.list_length),
            _narrow(n_relevant),
            _narrow(np.bincount(hits.user, minlength=hits.n_users)),
            _narrow(hits.truth_relevance),
            {name: _narrow(column) for name, column in rows.items()},
            hits.max_relevance,
            prepared.convention,
            RowCounts.of(Counts(prepared), prepared.recs),
            prepared.n_without_relevant,
            prepared.graded,
            not (prepared.recs.height or prepared.judged.height),
        )


def merged(
    parts: list[JoinedPart],
    away: RemoteRows,
    judged: LazyRows | None = None,
    truth: Callable[[], Sequence[pl.DataFrame]] | None = None,
) -> Prepared:
    """Merge parts with different users.

    Parameters
    ----------
    parts
        At least one; the list is emptied, so that each part can go once it is copied.
    away
        Where the lists are.
    judged, truth
        All rows of the truth, and what returns the relevant rows of each part, where parts do not hold them.
    """
    # Parts of no rows on either side know no types of ids.
    parts[:] = [part for part in parts if not part.is_empty] or parts[:1]
    n_without_relevant = sum(part.n_without_relevant for part in parts)
    convention, is_graded = parts[0].convention, parts[0].graded
    row_counts, top = RowCounts.total([part.row_counts for part in parts]), max(part.max_relevance for part in parts)
    if judged is None:
        own = [part.judged for part in parts]
        judged = LazyRows(lambda: pl.concat([rows.frame for rows in own]))
    relevant = [part.truth for part in parts] if truth is None else []
    users, hits = _hits(parts, top)
    return Prepared(
        RemoteRanking(away, convention),
        judged,
        # Rows of each part are by user, and users are sorted.
        LazyRows(
            lambda: pl.concat(truth() if truth else [rows.frame for rows in relevant]).sort("user", maintain_order=True)
        ),
        users,
        hits,
        n_without_relevant,
        convention,
        row_counts.n_gaps > 0,
        is_graded,
        row_counts=row_counts,
    )


def _hits(parts: list[JoinedPart], top: float) -> tuple[pl.Series, Hits]:
    """Return all users, sorted, and their hits; the parts are let go once they are in one piece."""
    users = pl.concat([part.users for part in parts])
    order = users.arg_sort().to_numpy()
    users = users.gather(order)
    list_length, n_relevant, n_hits = (
        np.concatenate([getattr(part, name) for part in parts]).astype(np.int64)
        for name in ("list_length", "n_relevant", "n_hits")
    )
    truth = {"relevance": np.concatenate([part.truth_relevance for part in parts])}
    rows: dict[str, Any] = {name: np.concatenate([part.rows[name] for part in parts]) for name in parts[0].rows}
    parts.clear()
    release_memory()
    truth, rows = _by_user(truth, n_relevant, order), _by_user(rows, n_hits, order)
    list_length, n_relevant, n_hits = list_length[order], n_relevant[order], n_hits[order]
    rows["truth_row"] += np.repeat(_starts(n_relevant), n_hits)
    tied = TieSpread(**{name: rows.pop(name) for name in TIED}) if "weight" in rows else None
    everyone = np.arange(len(users))
    user = np.repeat(everyone, n_hits)
    del order, n_hits
    release_memory()
    return users, Hits(
        **rows,
        user=user,
        list_length=list_length,
        truth_user=np.repeat(everyone, n_relevant),
        truth_relevance=truth["relevance"],
        max_relevance=top,
        tied=tied,
    )


def _by_user(columns: dict[str, Any], counts: Ints, order: Ints) -> dict[str, Any]:
    """Columns of so many rows a user, with the users in another order."""
    start, counts = _starts(counts)[order], counts[order]
    ends = np.r_[0, np.cumsum(counts)]
    moved = {name: np.empty(len(column), KINDS.get(name, np.float64)) for name, column in columns.items()}

    def move(first: int, stop: int) -> None:
        rows, to = ranges(start[first:stop], counts[first:stop]), slice(ends[first], ends[stop])
        for name, column in columns.items():
            moved[name][to] = column[rows]

    in_blocks(len(order), move)
    return moved


def _starts(counts: Ints) -> Ints:
    return np.cumsum(counts) - counts


def _narrow(column: Any) -> Any:
    """The same numbers in as few bytes as hold them exactly; truth values as they are."""
    for kind in (np.int8, np.int16, np.int32, np.float32) if column.dtype != np.bool_ else ():
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = column.astype(kind)
        if (narrow == column).all():
            return narrow
    return column


__all__ = ["JoinedPart", "merged"]
