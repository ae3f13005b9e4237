"""The rows of a frame by user, and the users of both frames as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from recnb.data.encoding import changes, differ, grouped, repeats_follow
from recnb.data.parallel import BLOCK
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Ints


@dataclass(frozen=True, eq=False)
class UserRows:
    """The rows of each user, one user after the other; each user's rows keep their order."""

    users: pl.Series  #: each user once
    starts: Ints  #: per user, the place of the first row
    rows: Ints | None  #: per place, the row of the frame; None: places are rows
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
        """Count the rows of each user."""
        return np.asarray(np.diff(np.r_[self.starts, self.n_rows]))


def ranges(starts: Ints, counts: Ints) -> Ints:
    """Concatenate the whole numbers from each start on, as many as it counts.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)


def blocks_of(lengths: Ints) -> list[tuple[int, int]]:
    """Cut users into blocks of about as many rows each: the first user of each, and the one after its last."""
    ends = np.cumsum(lengths)
    n = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(BLOCK, n, BLOCK)) + 1
    return list(pairwise(np.unique(np.r_[0, cuts, len(ends)]).tolist())) or [(0, 0)]


__all__ = ["UserRows", "blocks_of", "ranges"]
