"""Ids as whole numbers: by indexing an array for integers that are close together, by
sorted hashes otherwise.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.parallel import BLOCK
from recnb.metrics.hits import Ints


def distinct(values: pl.Series) -> pl.Series:
    """Return each value once, sorted."""
    if (span := _span(values)) is None:
        return values.unique().sort()
    low, size = span
    found = np.zeros(size, dtype=bool)
    found[values.to_numpy() - low] = True
    return pl.Series(values.name, np.flatnonzero(found) + low)


def each_once(values: pl.Series) -> pl.Series:
    """Return each value once, in no order; of many rows of text in a third of the time
    of `unique`.
    """
    hashes = pl.Series(hashes_of(values))
    first = values.gather(hashes.arg_unique())
    # Values that share the hash of another.
    others = values.filter(~values.is_in(first.implode()))
    if len(others):
        return pl.concat([first, others.unique()])
    return first


def positions(known: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among known ones, which are distinct; -1 for
    values that are not among them.
    """
    if (span := _span(known, len(values))) is not None:
        low, size = span
        lookup = np.full(
            size + 2, -1
        )  # one more cell at either end takes what lies outside
        lookup[known.to_numpy() - low + 1] = np.arange(len(known))
        return np.take(lookup, values.to_numpy() - low + 1, mode="clip")
    if repeats_follow(values):
        starts = run_starts(values)
        return np.repeat(
            positions(known, values.gather(starts)), np.diff(np.r_[starts, len(values)])
        )
    rows, starts = grouped(pl.concat([known, values]).rechunk())
    # Rows of one value keep their order: a known value is the first of its group.
    place = np.empty_like(rows)
    place[rows] = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    place = place[len(known) :]
    return np.where(place < len(known), place, -1)


def grouped(values: pl.Series) -> tuple[Ints, Ints]:
    """Put rows of equal values together: the rows, each group's in their order, and the
    place of each group's first.
    """
    # Value and row go into the number that is sorted: the row into the low bits, the
    # value or a hash of it above.
    bits, span = np.uint64(len(values).bit_length()), _span(values)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    key = (
        hashes_of(values) & ~mask
        if span is None
        else (values.to_numpy() - span[0]).view(np.uint64) << bits
    )
    key |= np.arange(len(values), dtype=np.uint64)
    key.sort()
    starts = np.flatnonzero(np.r_[True, (key[1:] ^ key[:-1]) > mask][: len(key)])
    key &= mask
    rows = key.view(np.int64)
    if span is None and len(run_starts(values.gather(rows))) > len(
        starts
    ):  # different values have one hash
        return grouped(values.rank("dense").cast(pl.Int64))
    return rows, starts


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
    changed = (
        (values.slice(1) != values.head(max(len(values) - 1, 0))).arg_true().to_numpy()
    )
    starts: Ints = np.r_[0, changed + 1]
    return starts[: len(values)]


def repeats_follow(values: pl.Series) -> bool:
    """Return whether most of the first rows have the value of the row before: if not,
    rows are in any order, or few are equal.
    """
    first = values.head(BLOCK)
    return 2 * len(run_starts(first)) <= len(first) > 0


def _span(values: pl.Series, more: int = 0) -> tuple[int, int] | None:
    """Return the lowest value and how many there could be, if they are whole numbers so
    close together that an array holds them all.
    """
    low, high = (
        (values.min(), values.max()) if values.dtype == pl.Int64 else (None, None)
    )
    if (
        not isinstance(low, int)
        or not isinstance(high, int)
        or high - low > 4 * (len(values) + more) + 1024
    ):
        return None
    return low, high - low + 1
