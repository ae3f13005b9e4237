"""Rows by user: the truth of some users at a time, and the users read so far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from recnb.data.user_rows import UserRows
from recnb.metrics.hits import Ints, count_within

#: Rows of users without a list that are looked at together.
ROWS = 2**20


class ByUser:
    """A table by user, from which the rows of some of them are taken at a time."""

    def __init__(self, table: pl.DataFrame) -> None:
        by_user = UserRows.of(table["user"])
        order = by_user.users.arg_sort().to_numpy()
        self.table = table if by_user.rows is None else table.select(pl.all().gather(by_user.rows))
        self.users = by_user.users.gather(order)
        self.starts, self.lengths = by_user.starts[order], by_user.lengths[order]

    def places(self, users: pl.Series) -> Ints:
        """Return positions of users, -1 for users who are not in the table."""
        return places(self.users, users)

    def rows(self, at: Ints) -> pl.DataFrame:
        """Return the rows of these users, each user's in the order of the table."""
        starts, lengths = self.starts[at], self.lengths[at]
        if len(at) and (starts[1:] == starts[:-1] + lengths[:-1]).all():
            return self.table.slice(int(starts[0]), int(lengths.sum()))
        user = np.repeat(np.arange(len(at)), lengths)
        rows: Ints = starts[user] + count_within(user) - 1
        return self.table[rows]


class UserVisits:
    """Users read so far: rows of the truth of each, and users that occur again."""

    def __init__(self, truth: ByUser) -> None:
        self._truth = truth
        self._came = np.zeros(len(truth.users), dtype=bool)
        self._strangers = SortedRuns()

    @property
    def met(self) -> bool:
        """Whether a user of the truth was read."""
        return bool(self._came.any())

    def come(self, users: pl.Series) -> tuple[pl.DataFrame, Any]:
        """The truth of users given once each, in order; and the first of them who came before, or None."""
        found = self._truth.places(users)
        positions = found[found >= 0]
        again = positions[self._came[positions]]
        self._came[positions] = True
        before = self._truth.users[int(again[0])] if len(again) else None
        if len(positions) < len(found):
            stranger = self._strangers.add(users.filter(pl.Series(found < 0)))
            before = stranger if before is None else before
        return self._truth.rows(positions), before

    def left(self) -> Iterator[pl.DataFrame]:
        """The rows of users who did not come, some at a time."""
        at = np.flatnonzero(~self._came)
        size = np.cumsum(self._truth.lengths[at])
        for some in np.split(at, np.searchsorted(size, np.arange(ROWS, size[-1] if len(size) else 0, ROWS))):
            if len(some):
                yield self._truth.rows(some)


class SortedRuns:
    """Values added so far, in sorted runs of doubling size, so that each value is merged few times."""

    def __init__(self) -> None:
        self.runs: list[pl.Series] = []

    def add(self, values: pl.Series) -> Any:
        """Add sorted values; return the first that was added before, or None."""
        for run in self.runs:
            found = places(run, values)
            if (found >= 0).any():
                return values[int((found >= 0).argmax())]
        if len(values):
            self.runs.append(values)
        while len(self.runs) > 1 and len(self.runs[-1]) * 2 > len(self.runs[-2]):
            self.runs[-2:] = [pl.concat(self.runs[-2:]).sort()]
        return None


def places(known: pl.Series, wanted: pl.Series) -> Ints:
    """Return the position of each value among sorted ones, -1 if it is not among them."""
    if len(known) == 0 or len(wanted) == 0:
        return np.full(len(wanted), -1)
    at = np.minimum(known.search_sorted(wanted).to_numpy().astype(np.int64), len(known) - 1)
    return np.where((known.gather(at) == wanted).to_numpy(), at, -1)


__all__ = ["ByUser", "SortedRuns", "UserVisits"]
