"""Ids as whole numbers: the position of each among known ones."""

from __future__ import annotations

import numpy as np
import polars as pl

from recnb.metrics.hits import Ints

#: Up to as many ids, a dictionary of Python finds them sooner than a join of Polars.
FEW_IDS = 1000


def positions(known: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among known ones, -1 if it is not among them.

    Known values are distinct, and values are of their type.

    >>> positions(pl.Series(["b", "a"]), pl.Series(["a", "c", "b"])).tolist()
    [1, -1, 0]
    """
    if known.is_empty():
        return np.full(len(values), -1)
    if known.dtype == pl.Int64:
        low, high = known.min(), known.max()
        assert isinstance(low, int)
        assert isinstance(high, int)
        # An array with a cell for each number from the lowest to the highest pays if it
        # has about four cells for each value.
        if high - low < 4 * (len(known) + len(values)) + 1024:
            return _positions_in_array(known, values, low, high)
    runs = _runs(values)
    if runs is None:
        return _looked_up(known, values)
    first_of_runs, lengths = runs
    return np.repeat(_looked_up(known, first_of_runs), lengths)


def each_once(*columns: pl.Series) -> pl.Series:
    """Return each value of some columns once, sorted; none is missing."""
    without_runs = []
    for values in columns:
        runs = _runs(values)
        without_runs.append(values if runs is None else runs[0])
    values = pl.concat(without_runs)
    if len(values) <= FEW_IDS:
        # Python sorts text by code points, and Polars by UTF-8, which sorts as they do.
        return pl.Series(values.name, sorted(set(values.to_list())), values.dtype)
    return values.unique().sort()


def _runs(values: pl.Series) -> tuple[pl.Series, Ints] | None:
    """Return the first value of each run of equal ones, and how long the runs are.

    None if less than half of the values repeat the one before, or some are missing.
    """
    if len(values) < 2 or values.null_count():
        return None
    is_first = np.ones(len(values), dtype=bool)
    is_first[1:] = (values.slice(1) != values.head(len(values) - 1)).to_numpy()
    if 2 * np.count_nonzero(is_first) > len(values):
        return None
    lengths = np.diff(np.flatnonzero(is_first), append=len(values))
    return values.filter(pl.Series(is_first)), lengths


def _positions_in_array(
    known: pl.Series, values: pl.Series, low: int, high: int
) -> Ints:
    """Look integers up in an array with a cell for each from the lowest to the highest.

    One more cell at either end takes what lies outside. Of the known values 7 and 5:

        value       below 5   5   6   7   above 7
        position      -1      1  -1   0     -1
    """
    position = np.full(high - low + 3, -1)
    position[known.to_numpy() - low + 1] = np.arange(len(known))
    # Differences too large for 64 bits wrap around, and they too end in an outer cell.
    return np.take(position, values.to_numpy() - low + 1, mode="clip")


def _looked_up(known: pl.Series, values: pl.Series) -> Ints:
    """Look values up in a dictionary, or by a join if they are many."""
    if len(known) + len(values) <= FEW_IDS:
        number_of = {value: number for number, value in enumerate(known.to_list())}
        numbers = [number_of.get(value, -1) for value in values.to_list()]
        return np.array(numbers, dtype=np.int64)
    numbered = known.to_frame("id").lazy().with_row_index("position")
    rows = values.to_frame("id").lazy().with_row_index("row")
    found = rows.join(numbered, on="id").select("row", "position")
    found_rows = found.collect(engine="streaming")
    position = np.full(len(values), -1)
    position[found_rows["row"].to_numpy()] = found_rows["position"].to_numpy()
    return position
