"""The rows of a frame by user: as they stand where each user's rows are adjacent, put together where they are not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import changes, differ, grouped, repeats_follow
from recnb.data.parallel import BLOCK, in_blocks
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Ints

Column = TypeVar("Column", bound=np.generic)


@dataclass(frozen=True, eq=False)
class UserRows:
    """The rows of each user, one user after the other; each user's rows keep their order."""

    users: pl.Series  #: each user once
    starts: Ints  #: per user, the place of the first row
    rows: Ints | None  #: the row of the frame at each place; None: places are rows
    n_rows: int

    @classmethod
    def of(cls, users: pl.Series) -> UserRows:
        """Put the rows of each user together."""
        n = len(users)
        if n <= BLOCK or repeats_follow(users):
            starts = np.r_[0, changes(users)][:n]
            first = users.gather(starts)
            if differ(first):
                return cls(first, starts, None, n)
        rows, starts = grouped(users)
        return cls(users.gather(rows[starts]), starts, rows, n)

    @cached_property
    def lengths(self) -> Ints:
        """Number of rows of each user."""
        return np.asarray(np.diff(np.r_[self.starts, self.n_rows]))

    def within(self) -> Ints:
        """The number of each row among those of its user, from 1, by place."""
        steps = np.ones(self.n_rows, dtype=np.int64)
        steps[self.starts[1:]] -= self.lengths[:-1]
        return np.cumsum(steps, out=steps)

    def by_place(self, column: NDArray[Column]) -> NDArray[Column]:
        """The values of a column by place."""
        if self.rows is None:
            return column
        rows, values = self.rows, np.empty_like(column)

        def gather(start: int, stop: int) -> None:
            values[start:stop] = column[rows[start:stop]]

        in_blocks(self.n_rows, gather, jumps=True)
        return values


def blocks_of(lengths: Ints) -> list[tuple[int, int]]:
    """Cut users into blocks of about as many rows each: the first user of each, and the one after its last."""
    ends = np.cumsum(lengths)
    n = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(BLOCK, n, BLOCK)) + 1
    return list(pairwise(np.unique(np.r_[0, cuts, len(ends)]).tolist()))


__all__ = ["UserRows", "blocks_of"]
