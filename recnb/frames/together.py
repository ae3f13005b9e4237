"""One pass over lists that stand one after the other, in order: is any pair repeated, and which rows hit?

Each user's rows of both frames are put side by side, a number made of user and item for each, and sorted: equal
neighbours are a repeated pair or a hit. Some users at a time, so that sorting stays in the processor's cache, and on
every core. That answers for all ranks at once what takes a hash table of all pairs elsewhere.

Whatever is not in order is left to the other way, which says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.hits import Ints

#: Rows of both frames that are looked at together: few enough for the processor's cache.
BLOCK = 2**15

Keys = NDArray[np.uint64]

#: Odd numbers without pattern, that spread whole numbers over 64 bits.
_USER, _ITEM = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, eq=False)
class Sides:
    """The rows of both frames, user by user: those of the lists as they stand, those of the truth where `truth_start` says."""

    item: pl.Series  #: of the lists
    truth_item: pl.Series  #: by user
    lengths: Ints  #: per user, in the order in which lists stand: rows of the list; 0 for users without one, who come last or between
    truth_start: Ints  #: per user, the first row of the truth
    truth_count: Ints  #: and how many
    order: pl.Series | None  #: what puts lists in order: a rank that rises or a score that falls
    falls: bool  #: whether it is a score
    strict: bool  #: whether equal ones are out of order


def hits_in(sides: Sides) -> tuple[Ints, Ints] | None:
    """Rows of the lists and of the truth that meet, in the order of the lists; None if something is not in order."""
    keys, truth_keys = _keys_of(sides.item), _keys_of(sides.truth_item)
    if keys is None or truth_keys is None:
        return None
    rows = np.cumsum(np.r_[0, sides.lengths])
    contiguous = bool((sides.truth_start[1:] == (sides.truth_start + sides.truth_count)[:-1]).all())
    look = _Look(sides, rows, keys, truth_keys, contiguous)
    blocks = list(_blocks(rows + np.cumsum(np.r_[0, sides.truth_count])))
    n = min(os.cpu_count() or 1, 8, len(blocks))
    shares = [blocks[len(blocks) * at // n : len(blocks) * (at + 1) // n] for at in range(n)]
    if n == 1:
        made = [look.at(shares[0])]
    else:
        with ThreadPoolExecutor(n) as pool:
            made = list(pool.map(look.at, shares))
    if any(one is None for one in made):
        return None
    row, truth_row = (np.concatenate([one[side] for one in made if one is not None]) for side in (0, 1))
    same = sides.item.gather(row) == sides.truth_item.gather(truth_row)
    # Numbers that are equal by chance are left to the other way as well.
    return (row, truth_row) if same.all() else None


def _keys_of(items: pl.Series) -> Callable[[int, int], Keys] | None:
    """A number for each item from one row up to another, the same for the same items."""
    if items.dtype == pl.Int64:
        numbers = items.to_numpy().view(np.uint64)
        return lambda start, stop: numbers[start:stop] * _ITEM
    if items.dtype == pl.String:
        return lambda start, stop: items.slice(start, stop - start).hash().to_numpy()
    return None


def _blocks(size: Ints) -> Iterator[tuple[int, int]]:
    """First and last user (exclusive) of some users at a time; `size` counts the rows before each."""
    cuts = np.searchsorted(size, np.arange(BLOCK, size[-1], BLOCK))
    bounds = np.unique(np.r_[0, cuts, len(size) - 1])
    yield from zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)


class _Look:
    """Looks at blocks of users."""

    def __init__(
        self,
        sides: Sides,
        rows: Ints,
        keys: Callable[[int, int], Keys],
        truth_keys: Callable[[int, int], Keys],
        contiguous: bool,
    ) -> None:
        self.sides, self.rows = sides, rows
        self.keys, self.truth_keys = keys, truth_keys
        self.all_truth_keys = None if contiguous else truth_keys(0, len(sides.truth_item))
        self.order = None if sides.order is None else sides.order.to_numpy()

    def at(self, blocks: list[tuple[int, int]]) -> tuple[Ints, Ints] | None:
        """The rows that meet in some blocks; None if something is not in order."""
        found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
        for start, stop in blocks:
            if self.order is not None and not self._in_order(start, stop):
                return None
            met = self._met(start, stop)
            if met is None:
                return None
            found.append(met)
        return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])

    def _in_order(self, start: int, stop: int) -> bool:
        assert self.order is not None
        first, last = self.rows[start], self.rows[stop]
        if first == last:
            return True
        values = self.order[first:last]
        before, after = values[:-1], values[1:]
        in_order = (np.less if self.sides.strict else np.less_equal) if self.sides.falls else np.greater
        rises = in_order(after, before)
        begins = self.rows[start + 1 : stop] - first - 1
        rises[begins[(begins >= 0) & (begins < len(rises))]] = True
        return bool(rises.all())

    def _met(self, start: int, stop: int) -> tuple[Ints, Ints] | None:
        sides, first, last = self.sides, self.rows[start], self.rows[stop]
        n_rows, counts = int(last - first), sides.truth_count[start:stop]
        n_truth = int(counts.sum())
        user = np.arange(stop - start, dtype=np.uint64) * _USER
        key = np.empty(n_rows + n_truth, dtype=np.uint64)
        np.add(self.keys(first, last), np.repeat(user, sides.lengths[start:stop]), out=key[:n_rows])
        begin, truth_row = int(sides.truth_start[start]), None
        if self.all_truth_keys is None:
            theirs = self.truth_keys(begin, begin + n_truth)
        else:
            ends = np.cumsum(counts)
            truth_row = np.repeat(sides.truth_start[start:stop] - (ends - counts), counts) + np.arange(n_truth)
            theirs = self.all_truth_keys[truth_row]
        np.add(theirs, np.repeat(user, counts), out=key[n_rows:])
        bits = np.uint64(len(key).bit_length())
        key >>= bits
        key <<= bits
        key |= np.arange(len(key), dtype=np.uint64)
        key.sort()
        at = np.flatnonzero((key[1:] ^ key[:-1]) >> bits == 0)
        mask = (np.uint64(1) << bits) - np.uint64(1)
        one, other = (key[at] & mask).astype(np.int64), (key[at + 1] & mask).astype(np.int64)
        if ((other < n_rows) | (one >= n_rows)).any():
            return None  # a pair stands twice on one side
        order = np.argsort(one)
        one, other = one[order] + first, other[order] - n_rows
        return one, (other + begin if truth_row is None else truth_row[other])
