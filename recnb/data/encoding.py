"""Ids as whole numbers.

Integers that are close together index an array; other ids are found by sorted hashes.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.parallel import BLOCK, in_turn
from recnb.metrics.hits import Bools, Ints


def distinct(values: pl.Series) -> pl.Series:
    """Return each value once, sorted."""
    span = _span(values)
    if span is None:
        return values.unique().sort()
    low, size = span
    occurs = np.zeros(size, dtype=bool)
    occurs[values.to_numpy() - low] = True
    return pl.Series(values.name, np.flatnonzero(occurs) + low)


def each_once(values: pl.Series) -> pl.Series:
    """Return each value once, in no order, told apart on all cores."""
    once = values.to_frame().lazy().unique().collect(engine="streaming")
    return once.to_series()


def positions(known: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among known ones, -1 if it is not among them.

    Known values are distinct.
    """
    span = _span(known, len(values))
    if span is not None:
        low, size = span
        # One more cell at either end takes what lies outside.
        position = np.full(size + 2, -1)
        position[known.to_numpy() - low + 1] = np.arange(len(known))
        return np.take(position, values.to_numpy() - low + 1, mode="clip")
    if repeats_follow(values):
        starts = run_starts(values)
        lengths = np.diff(starts, append=len(values))
        return np.repeat(positions(known, values.gather(starts)), lengths)
    rows, starts = grouped(pl.concat([known, values]).rechunk())
    # Rows of one value keep their order: a known value is the first of its group.
    first_row = np.empty_like(rows)
    first_row[rows] = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    first_row = first_row[len(known) :]
    return np.where(first_row < len(known), first_row, -1)


def grouped(values: pl.Series) -> tuple[Ints, Ints]:
    """Put rows of equal values together.

    Returns the rows, those of a group in their order, and the place of each group's first.
    """
    span = _span(values)
    if span is None:
        key = hashes_of(values).copy()
    else:
        low, _size = span
        key = (values.to_numpy() - low).view(np.uint64)
    rows, equals_next = rows_by_key(key)
    is_start = np.append(True, ~equals_next)[: len(rows)]
    starts = np.flatnonzero(is_start)
    if span is None and _n_runs(values, rows) > len(starts):
        # Different values have one hash.
        return grouped(values.rank("dense").cast(pl.Int64))
    return rows, starts


def _n_runs(values: pl.Series, rows: Ints) -> int:
    """Count the runs of equal values in rows in some order, on all cores."""

    def n_changes(first: int) -> int:
        """Count the rows of a block after which the value changes."""
        with_next_block = rows[first : first + BLOCK + 1]
        return len(run_starts(values.gather(with_next_block))) - 1

    firsts = range(0, len(rows), BLOCK)
    return sum(in_turn(firsts, n_changes)) + min(len(rows), 1)


def rows_by_key(key: NDArray[np.uint64]) -> tuple[Ints, Bools]:
    """Sort rows by a key; return the rows, and whether the key of each equals the next.

    One number is sorted, with the row in the low bits and the key above: of the key as
    many low bits count as there is room for. The key is overwritten.
    """
    row_bits = len(key).bit_length()
    row_mask = np.uint64(2**row_bits - 1)
    key <<= np.uint64(row_bits)
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    equals_next = (key[1:] ^ key[:-1]) <= row_mask
    key &= row_mask
    return key.view(np.int64), equals_next


def hashes_of(values: pl.Series, seed: int = 0) -> NDArray[np.uint64]:
    """Return a number for each value, the same for equal ones."""
    return values.hash(seed).to_numpy()


def starts_of(*columns: NDArray[np.generic]) -> Ints:
    """Return the first row of each run of equal values, of several columns together."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def run_starts(values: pl.Series) -> Ints:
    """Return the first row of each run of equal ids."""
    if values.dtype == pl.Int64 and not values.null_count():
        return starts_of(values.to_numpy())
    if values.is_empty():
        return np.zeros(0, dtype=np.int64)
    differs_from_next = values.slice(1) != values.head(len(values) - 1)
    return np.append(0, differs_from_next.arg_true().to_numpy().astype(np.int64) + 1)


def repeats_follow(values: pl.Series) -> bool:
    """Return whether most of the first rows have the value of the row before.

    If not, rows are in any order, or few are equal.
    """
    first = values.head(BLOCK)
    return 2 * len(run_starts(first)) <= len(first) > 0


def _span(values: pl.Series, more: int = 0) -> tuple[int, int] | None:
    """Return the lowest value and how many whole numbers lie from it to the highest.

    None: ids are text, or these are too many for an array, given how many values there
    are and `more`.
    """
    if values.dtype != pl.Int64:
        return None
    low, high = values.min(), values.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return None  # there are no values
    size = high - low + 1
    if size > 4 * (len(values) + more) + 1024:
        return None
    return low, size
