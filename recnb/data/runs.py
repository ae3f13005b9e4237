"""First rows of lists in frames in which the rows of each user are adjacent.

Most frames that a program wrote do. Then a list's length is the distance to the next one, a pair can be repeated only
within its list, and lists that stand in order need no sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import distinct
from recnb.data.parallel import in_shares
from recnb.metrics.hits import Ints

#: Rows that are looked at together: few enough for the processor's cache.
BLOCK = 2**15

#: Rows by which to tell whether users' rows stand together.
LOOK = 2**16


@dataclass(frozen=True, eq=False)
class Runs:
    """The lists of a frame that holds them one after the other."""

    users: pl.Series  #: whose each list is, in the order of the frame
    starts: Ints  #: its first row
    n_rows: int

    @cached_property
    def lengths(self) -> Ints:
        """Number of rows of each list."""
        return np.asarray(np.diff(np.r_[self.starts, self.n_rows]))

    @cached_property
    def distinct(self) -> pl.Series:
        """The users, sorted."""
        return distinct(self.users)

    def within(self) -> Ints:
        """The place of each row in its list, from 1."""
        return np.arange(1, self.n_rows + 1) - np.repeat(self.starts, self.lengths)

    def only_at_starts(self, rows: pl.Series) -> bool:
        """Whether all of these rows, in ascending order, are first rows of lists."""
        at = rows.to_numpy()
        if len(at) > len(self.starts):
            return False
        found = np.searchsorted(self.starts, at)
        return bool((self.starts[np.minimum(found, len(self.starts) - 1)] == at).all())

    def blocks(self) -> Iterator[tuple[int, int]]:
        """First and last row (exclusive) of some whole lists at a time."""
        ends = np.r_[self.starts[1:], self.n_rows]
        cuts = np.searchsorted(ends, np.arange(BLOCK, self.n_rows, BLOCK))
        bounds = np.unique(np.r_[0, ends[cuts], self.n_rows])
        yield from zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)


def runs_of(users: pl.Series) -> Runs | None:
    """Return the first row of each user; None if rows of a user are not adjacent."""
    if len(users) == 0:
        return None
    if len(users) > 2 * LOOK and 2 * len(_changes(users.head(LOOK))) > LOOK:
        return None  # as the first rows are, so will the others be
    starts = np.r_[0, _changes(users)]
    first = users.gather(starts)
    if 2 * len(starts) > len(users) and len(starts) > 1024:
        # Hardly any row stands beside another of its user: not worth finding out, unless each list is of one item.
        return None
    if first.n_unique() < len(starts):
        return None
    return Runs(first, starts, len(users))


def _changes(users: pl.Series) -> Ints:
    """Rows whose user differs from that of the row before."""
    ids = users.to_numpy() if users.dtype == pl.Int64 else None

    def look(blocks: Sequence[tuple[int, int]]) -> Ints:
        found = []
        for start, stop in blocks:
            if ids is not None:
                changed = np.flatnonzero(ids[start:stop] != ids[start - 1 : stop - 1])
            else:
                before = users.slice(start - 1, stop - start)
                changed = (users.slice(start, stop - start) != before).arg_true().to_numpy().astype(np.int64)
            found.append(changed + start)
        return np.concatenate(found)

    n, size = len(users), 8 * BLOCK
    return np.concatenate(in_shares([(at, min(at + size, n)) for at in range(1, n, size)] or [(1, 1)], look))


def keys_met(keys: Callable[[int, int], NDArray[np.uint64]], runs: Runs) -> NDArray[np.uint64]:
    """Return keys that are repeated within a list, possibly with some repeated only within a block of lists.

    `keys` gives those of the rows from one up to another.
    """

    def look(bounds: tuple[int, int]) -> NDArray[np.uint64]:
        part = np.sort(keys(*bounds))
        return np.asarray(part[1:][part[1:] == part[:-1]])

    found = in_shares(list(runs.blocks()), lambda blocks: [look(bounds) for bounds in blocks])
    return np.asarray(np.unique(np.concatenate([keys for share in found for keys in share])))
