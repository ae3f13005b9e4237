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

    >>> positions(pl.Series(["b", "a"]), pl.Series(["a", "c", "b"])).tolist()
    [1, -1, 0]
    """
    span = _span(known, len(values))
    if span is not None:
        low, size = span
        return _positions_in_array(known, values, low, size)
    if not repeats_follow(values):
        return _positions_by_group(known, values)
    # The first value of each run is looked up for all of the run.
    starts = run_starts(values)
    lengths = np.diff(starts, append=len(values))
    return np.repeat(_positions_by_group(known, values.gather(starts)), lengths)


def _positions_in_array(
    known: pl.Series, values: pl.Series, low: int, size: int
) -> Ints:
    """Look integers up in an array with a cell for each from the lowest to the highest.

    One more cell at either end takes what lies outside. Of the known values 7 and 5:

        value       below 5   5   6   7   above 7
        position      -1      1  -1   0     -1
    """
    position = np.full(size + 2, -1)
    position[known.to_numpy() - low + 1] = np.arange(len(known))
    # Differences too large for 64 bits wrap around, and they too end in an outer cell.
    return np.take(position, values.to_numpy() - low + 1, mode="clip")


def _positions_by_group(known: pl.Series, values: pl.Series) -> Ints:
    """Look values up by putting equal ones together with the known one.

    Rows of a group keep their order, so that a known value is the first of its group:

                                    known     values
        row                         0  1      2  3  4
        value                       b  a      a  c  b
        first row of its group      0  1      1  3  0
        position                              1 -1  0

    A first row that is not a known one has -1.
    """
    rows, starts = grouped(pl.concat([known, values]).rechunk())
    sizes = np.diff(starts, append=len(rows))
    first_row = np.empty_like(rows)  # [row]
    first_row[rows] = np.repeat(rows[starts], sizes)
    first_row = first_row[len(known) :]
    return np.where(first_row < len(known), first_row, -1)


def grouped(values: pl.Series) -> tuple[Ints, Ints]:
    """Put rows of equal values together.

    Returns the rows, those of a group in their order, and the place of each group's first.
    """
    span = _span(values)
    if span is None:
        key = hashes_of(values).copy()  # `rows_by_key` overwrites it
    else:
        low, _size = span
        key = (values.to_numpy() - low).view(np.uint64)
    rows, equals_next = rows_by_key(key)
    is_start = np.ones(len(rows), dtype=bool)
    np.logical_not(equals_next, out=is_start[1:])
    starts = np.flatnonzero(is_start)
    if span is None and _n_runs(values, rows) > len(starts):
        # Different values have one hash, or hashes that differ in high bits alone, which
        # `rows_by_key` does not compare. The ranks of values, 1, 2, 3, ..., lie close
        # together: they have a span, and are grouped without hashes.
        return grouped(values.rank("dense").cast(pl.Int64))
    return rows, starts


def _n_runs(values: pl.Series, rows: Ints) -> int:
    """Count the runs of equal values in rows in some order, on all cores."""
    if len(rows) == 0:
        return 0

    def n_changes(block_start: int) -> int:
        """Count the rows of a block after which the value changes."""
        # The row that follows the block shows whether it changes after the last.
        block_and_next_row = rows[block_start : block_start + BLOCK + 1]
        return len(run_starts(values.gather(block_and_next_row))) - 1

    block_starts = range(0, len(rows), BLOCK)
    return sum(in_turn(block_starts, n_changes)) + 1


def rows_by_key(key: NDArray[np.uint64]) -> tuple[Ints, Bools]:
    """Sort rows by a key; return the rows, and whether the key of each equals the next.

    A row is sorted as one number: the key, moved up, and below it the row. High bits of
    the key for which there is no room are lost. Of the keys 5, 3 and 5:

        binary           101, 011, 101
        with the row     101 00, 011 01, 101 10
        sorted           011 01, 101 00, 101 10

    The key is overwritten.

    >>> rows, equals_next = rows_by_key(np.array([5, 3, 5], dtype=np.uint64))
    >>> rows.tolist(), equals_next.tolist()
    ([1, 0, 2], [False, True])
    """
    row_bits = len(key).bit_length()
    row_mask = np.uint64(2**row_bits - 1)
    key <<= np.uint64(row_bits)
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    # Equal keys differ in the bits of the row alone.
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
    """Return whether at least half of the first rows have the value of the row before.

    If not, rows are in any order, or few are equal.
    """
    first_rows = values.head(BLOCK)
    if first_rows.is_empty():
        return False
    n_repeats = len(first_rows) - len(run_starts(first_rows))
    return 2 * n_repeats >= len(first_rows)


def _span(values: pl.Series, n_looked_up: int = 0) -> tuple[int, int] | None:
    """Return the lowest value and how many whole numbers lie from it to the highest.

    Values have a span if they are Int64 and lie so close together that an array with a
    cell for each of these numbers pays: it may have about four cells for each of these
    values and of those looked up among them. Otherwise, or without values, it is None.
    """
    if values.dtype != pl.Int64:
        return None
    low, high = values.min(), values.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return None  # both are None: there are no values
    size = high - low + 1
    most_cells = 4 * (len(values) + n_looked_up) + 1024
    if size > most_cells:
        return None
    return low, size
