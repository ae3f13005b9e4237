"""Positions of many strings among few, by a table of hashes, on all cores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.parallel import in_shares
from recnb.metrics.hits import Ints

#: Values that are looked up together.
BLOCK = 2**16

#: Odd: gives each level of the table another place for the same hash.
_MIX = np.uint64(0x9E3779B97F4A7C15)

Hashes = NDArray[np.uint64]


class HashIndex:
    """A table from hash to position; collisions go to the next, smaller level."""

    def __init__(self, known: pl.Series) -> None:
        self.known = known
        self.hashes: Hashes = known.hash().to_numpy()
        self.levels: list[tuple[np.uint64, NDArray[np.int32]]] = []
        left = np.arange(len(known), dtype=np.int32)
        while len(left):
            shift = np.uint64(64 - max(4, (4 * len(left)).bit_length()))
            table = np.full(2 ** (64 - int(shift)), -1, dtype=np.int32)
            slots = self._slots(self.hashes[left], len(self.levels), shift)
            table[slots] = left
            self.levels.append((shift, table))
            left = left[table[slots] != left]

    @staticmethod
    def _slots(hashes: Hashes, level: int, shift: np.uint64) -> NDArray[np.uint64]:
        return np.asarray((hashes * (_MIX + np.uint64(2 * level))) >> shift)

    def positions(self, values: pl.Series) -> Ints | None:
        """Return the position of each value, -1 if it is not in the table; None if two values share a hash."""
        out = np.empty(len(values), dtype=np.int64)

        def look(spans: Sequence[tuple[int, int]]) -> bool:
            return all(self._look(values.slice(start, stop - start), out[start:stop]) for start, stop in spans)

        spans = [(at, min(at + BLOCK, len(values))) for at in range(0, len(values), BLOCK)]
        return out if all(in_shares(spans, look)) else None

    def _look(self, values: pl.Series, out: Ints) -> bool:
        hashes = values.hash().to_numpy()
        out[:] = -1
        left = np.arange(len(values))
        for level, (shift, table) in enumerate(self.levels):
            wanted = hashes if level == 0 else hashes[left]
            at = table[self._slots(wanted, level, shift)]
            there = self.hashes[at] == wanted  # at -1 stands the last one, whose hash is another or who is meant
            out[left[there]] = at[there] % len(self.hashes)
            left = left[~there]
            if len(left) == 0:
                break
        found = np.flatnonzero(out >= 0)
        whole = len(found) == len(out)
        names = values if whole else values.gather(found)
        return bool((self.known.gather(out if whole else out[found]) == names).all())
