"""Ids as positions: by indexing an array for integers in a small range, by sorted hashes otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.parallel import BLOCK, in_blocks, sort
from recnb.metrics.hits import Ints


def distinct(values: pl.Series) -> pl.Series:
    """Each value once, sorted."""
    span = span_of(values)
    if span is None:
        return values.unique().sort()
    low, size = span
    found = np.zeros(size, dtype=bool)
    found[values.to_numpy() - low] = True
    return pl.Series(values.name, np.flatnonzero(found) + low)


def positions(known: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among known ones, which are distinct; -1 for values that are not among them."""
    span = span_of(known, len(values))
    if span is not None:
        low, size = span
        # One more cell at either end takes what lies outside.
        lookup = np.full(size + 2, -1)
        lookup[known.to_numpy() - low + 1] = np.arange(len(known))
        numbers, found = values.to_numpy(), np.empty(len(values), dtype=np.int64)

        def look(start: int, stop: int) -> None:
            place = numbers[start:stop] - low
            place += 1
            np.take(lookup, place, mode="clip", out=found[start:stop])

        in_blocks(len(values), look, jumps=True)
        return found
    if repeats_follow(values):
        starts = np.r_[0, changes(values)]
        lengths = np.diff(np.r_[starts, len(values)])
        return np.repeat(positions(known, values.gather(starts)), lengths)
    rows, starts = grouped(pl.concat([known, values.alias(known.name)]).rechunk())
    # Rows of equal values follow each other in their order, so a known value is the first of its group.
    lengths = np.diff(np.r_[starts, len(rows)])
    found, first = np.empty(len(rows), dtype=np.int64), np.repeat(rows[starts], lengths)

    def put(start: int, stop: int) -> None:
        found[rows[start:stop]] = first[start:stop]

    in_blocks(len(rows), put, jumps=True)
    found = found[len(known) :]
    return np.where(found < len(known), found, -1)


def grouped(values: pl.Series) -> tuple[Ints, Ints]:
    """Put rows of equal values together: the rows, each group's in their order, and the place of each group's first."""
    n, span = len(values), span_of(values)
    # Value and row go into the number that is sorted: the row into the low bits, the value or a hash of it above.
    bits = n.bit_length()
    mask = np.uint64(2**bits - 1)
    small = span is not None and span[1].bit_length() + bits < 64
    numbers, key = values.to_numpy().view(np.uint64) if small else hashes_of(values), np.empty(n, dtype=np.uint64)

    def pack(start: int, stop: int) -> None:
        part = key[start:stop]
        if small:
            np.left_shift(numbers[start:stop], np.uint64(bits), out=part)
        else:
            np.bitwise_and(numbers[start:stop], ~mask, out=part)
        part |= np.arange(start, stop, dtype=np.uint64)

    def unpack(start: int, stop: int) -> Ints:
        new = (key[start + 1 : stop + 1] ^ key[start : min(stop, n - 1)]) > mask
        return np.flatnonzero(new) + start + 1

    in_blocks(n, pack)
    sort(key)
    starts = np.concatenate([np.zeros(min(n, 1), dtype=np.int64), *in_blocks(n, unpack)])
    key &= mask
    rows = key.view(np.int64)
    if small:
        return rows, starts
    # Different values may have one hash: they are sorted by value as well.
    changed = np.r_[0, changes(values, rows)][:n]
    if len(changed) > len(starts):
        mixed = np.setdiff1d(changed, starts, assume_unique=True)
        group = np.searchsorted(starts, np.arange(n), side="right")
        several = np.isin(group, group[mixed])
        some = rows[several]
        rows[several] = some[np.lexsort((some, values.gather(some).rank("dense").to_numpy(), group[several]))]
        changed = np.r_[0, changes(values, rows)]
    return rows, changed


def differ(values: pl.Series) -> bool:
    """Whether no value is repeated."""
    hashes = hashes_of(values).copy()
    sort(hashes)
    return bool((hashes[1:] != hashes[:-1]).all()) or values.n_unique() == len(values)


def hashes_of(values: pl.Series, seed: int = 0) -> NDArray[np.uint64]:
    """A number for each value, the same for equal ones."""
    return values.hash(seed).to_numpy()


def changes(values: pl.Series, rows: Ints | None = None) -> Ints:
    """Places whose value differs from that of the place before; `rows` are the rows at each place, if they are others."""
    numbers = values.to_numpy() if values.dtype == pl.Int64 and not values.null_count() else None

    def look(start: int, stop: int) -> Ints:
        first = max(start - 1, 0)
        if numbers is not None:
            part = numbers[first:stop] if rows is None else numbers[rows[first:stop]]
            return np.flatnonzero(part[1:] != part[:-1]) + first + 1
        some = values.slice(first, stop - first) if rows is None else values.gather(rows[first:stop])
        return (some.slice(1) != some.slice(0, len(some) - 1)).arg_true().to_numpy() + first + 1

    return np.concatenate([np.zeros(0, dtype=np.int64), *in_blocks(len(values), look, jumps=rows is not None)])


def repeats_follow(values: pl.Series) -> bool:
    """Whether most of the first rows have the value of the row before: if not, rows are in any order, or few are equal."""
    first = values.head(BLOCK)
    return 2 * (len(changes(first)) + 1) <= len(first)


def place_of(user: Any, users: pl.Series) -> int | None:
    """Return the position of one id, as typed by a user, among the users; None if it is not among them."""
    try:
        return users.index_of(user)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return None


def coded_together(known: pl.Series, values: pl.Series) -> tuple[pl.Series, Ints, Ints]:
    """Return the sorted ids of both sides and the positions of each; those of `known` are distinct."""
    at = positions(known, values)
    everyone, missing = known, at < 0
    if missing.any():
        others = values.filter(pl.Series(missing))
        extra = others.unique()
        at = at.copy()
        at[missing] = positions(extra, others) + len(known)
        everyone = pl.concat([known, extra.alias(known.name)])
    if everyone.is_sorted():
        return everyone, np.arange(len(known)), at
    order = everyone.arg_sort().to_numpy()
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return everyone.gather(order), number[: len(known)], number[at]


def span_of(values: pl.Series, more: int = 0) -> tuple[int, int] | None:
    """Lowest value and how many there could be, if they are whole numbers so close together that an array can hold them all."""
    low, high = (values.min(), values.max()) if values.dtype == pl.Int64 else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or high - low > 4 * (len(values) + more) + 1024:
        return None
    return low, high - low + 1
