"""Hits in few bytes: those that a part sends, and those of millions of users.

`Hits` takes eight bytes for each number, and that is 1.4 GB for ten million users.
`NarrowHits` takes as many as hold the number, which is one for most; metrics are computed
from the `Hits` of a block of its users at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recnb.data.numbered import offsets, ranges
from recnb.metrics.hits import Floats, Hits, Ints, TieSpread, cached_property

#: Users whose hits are widened together.
BLOCK = 2**17

Narrow = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class NarrowHits:
    """The hits of users, in as few bytes as hold their numbers."""

    #: list_length, n_relevant, n_hits
    by_user: Narrow
    #: Of each relevant row of the truth (an entry), by user: relevance, and weight if
    #: there are weights.
    by_entry: Narrow
    #: By user: rank, relevance, and entry, counted from the first entry of the user. If
    #: hits are spread over ties, the columns of `TieSpread` too: weight, nth, first, top.
    by_hit: Narrow
    max_relevance: float  #: of all users

    @classmethod
    def of(cls, hits: Hits) -> NarrowHits:
        """Return hits in few bytes."""
        by_user = {
            "list_length": hits.list_length,
            "n_relevant": hits.n_relevant,
            "n_hits": np.bincount(hits.user, minlength=hits.n_users),
        }
        by_entry: dict[str, NDArray[Any]] = {"relevance": hits.truth_relevance}
        if hits.truth_weight is not None:
            by_entry["weight"] = hits.truth_weight
        first_entry = offsets(hits.n_relevant)[:-1]  # [user]
        by_hit: dict[str, NDArray[Any]] = {
            "rank": hits.rank,
            "relevance": hits.relevance,
            "entry": hits.entry - first_entry[hits.user],
        }
        if hits.tied is not None:
            by_hit |= vars(hits.tied)  # weight, nth, first, top
        return cls(
            by_user=_narrowed(by_user),
            by_entry=_narrowed(by_entry),
            by_hit=_narrowed(by_hit),
            max_relevance=hits.max_relevance,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[NarrowHits]) -> NarrowHits:
        """Return the hits of the users of all parts, in the order of the parts."""
        return cls(
            by_user=_concatenated([part.by_user for part in parts]),
            by_entry=_concatenated([part.by_entry for part in parts]),
            by_hit=_concatenated([part.by_hit for part in parts]),
            max_relevance=max(part.max_relevance for part in parts),
        )

    def in_order(self, positions: Ints) -> NarrowHits:
        """Return the hits with the users in another order, given by their positions.

        The rows of users are looked up block by block: an array of eight bytes for each
        row of all users is what this class avoids.
        """
        edges = _edges(len(positions))
        blocks = [self._taken(positions[first:end]) for first, end in edges]
        return NarrowHits.concatenate(blocks)

    def _taken(self, users: Ints) -> NarrowHits:
        """Return the hits of some users, in their order."""
        entries = ranges(self._entry_starts[users], self.by_user["n_relevant"][users])
        hits = ranges(self._hit_starts[users], self.by_user["n_hits"][users])
        return NarrowHits(
            by_user={name: column[users] for name, column in self.by_user.items()},
            by_entry={name: column[entries] for name, column in self.by_entry.items()},
            by_hit={name: column[hits] for name, column in self.by_hit.items()},
            max_relevance=self.max_relevance,
        )

    # What Joined asks of Hits as well

    @cached_property
    def list_length(self) -> Ints:
        """Per user, the last rank of the list; 0 without a list."""
        return self.by_user["list_length"].astype(np.int64)

    @cached_property
    def n_relevant(self) -> Ints:
        """The number of items relevant to each user."""
        return self.by_user["n_relevant"].astype(np.int64)

    @property
    def rank(self) -> NDArray[Any]:
        """The rank of each hit."""
        return self.by_hit["rank"]

    @property
    def truth_weight(self) -> NDArray[Any] | None:
        """What each entry counts; None: each counts 1."""
        return self.by_entry.get("weight")

    # The hits in eight bytes a number

    @cached_property
    def widened(self) -> Hits:
        """The hits of all users."""
        return self._widened_block(0, self._n_users)

    def blocks(self) -> Iterator[Hits]:
        """Yield the hits of each block of users, who are numbered from 0 in it."""
        for first, end in _edges(self._n_users):
            yield self._widened_block(first, end)

    def _widened_block(self, first: int, end: int) -> Hits:
        """Return the hits of the users from the first on, and before the end."""
        of_users = slice(first, end)
        n_relevant = self.by_user["n_relevant"][of_users].astype(np.int64)
        n_hits = self.by_user["n_hits"][of_users].astype(np.int64)
        of_entries = slice(self._entry_starts[first], self._entry_starts[end])
        of_hits = slice(self._hit_starts[first], self._hit_starts[end])
        # Entries are counted from the first of their user here, in `Hits` from the first
        # of all users, which are those of the block.
        first_entry = offsets(n_relevant)[:-1]  # [user of the block]
        entry = self.by_hit["entry"][of_hits] + np.repeat(first_entry, n_hits)
        users = np.arange(len(n_relevant))
        weight = self.by_entry.get("weight")
        return Hits(
            user=np.repeat(users, n_hits),
            rank=self.by_hit["rank"][of_hits].astype(np.int64),
            relevance=_floats(self.by_hit["relevance"][of_hits]),
            entry=entry,
            list_length=self.by_user["list_length"][of_users].astype(np.int64),
            truth_user=np.repeat(users, n_relevant),
            truth_relevance=_floats(self.by_entry["relevance"][of_entries]),
            truth_weight=None if weight is None else _floats(weight[of_entries]),
            max_relevance=self.max_relevance,
            tied=self._ties_of(of_hits),
        )

    def _ties_of(self, hits: slice) -> TieSpread | None:
        """Return how hits are spread over ties, if they are."""
        if "top" not in self.by_hit:
            return None
        return TieSpread(
            weight=_floats(self.by_hit["weight"][hits]),
            nth=_floats(self.by_hit["nth"][hits]),
            first=_floats(self.by_hit["first"][hits]),
            top=self.by_hit["top"][hits],
        )

    @property
    def _n_users(self) -> int:
        return len(self.by_user["n_relevant"])

    @cached_property
    def _entry_starts(self) -> Ints:
        """The first entry of each user; after the last user, their number."""
        return offsets(self.by_user["n_relevant"])

    @cached_property
    def _hit_starts(self) -> Ints:
        """The first hit of each user; after the last user, their number."""
        return offsets(self.by_user["n_hits"])


def _narrowed(columns: Narrow) -> dict[str, NDArray[Any]]:
    return {name: _narrow(column) for name, column in columns.items()}


def _narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in as few bytes as hold them exactly, and booleans as they are."""
    if column.dtype == np.bool_:
        return column
    for kind in (np.int8, np.int16, np.int32, np.float32):
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = column.astype(kind)
        if (narrow == column).all():
            return narrow
    return column


def _floats(column: NDArray[Any]) -> Floats:
    return column.astype(np.float64)


def _concatenated(parts: Sequence[Narrow]) -> dict[str, NDArray[Any]]:
    """Return each column of all parts, in the type that holds those of each part."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _edges(n_users: int) -> list[tuple[int, int]]:
    """Return where blocks of users begin and end.

    Without users there is one block, from 0 to 0.
    """
    starts = range(0, max(n_users, 1), BLOCK)
    return list(pairwise([*starts, n_users]))
