"""Ids as whole numbers: the position of each among known ones."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.metrics.hits import Ints, run_starts

#: Up to as many values, runs of them save nothing, and Python sorts those that differ
#: sooner than Polars.
FEW_IDS = 1000

#: Up to as many rows, a search takes less time than a join of Polars.
FEW_WANTED = 2**14


def positions(known: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among known ones, -1 if it is not among them.

    Known values are distinct, and values are of their type.

    >>> positions(pl.Series(["b", "a"]), pl.Series(["a", "c", "b"])).tolist()
    [1, -1, 0]
    """
    return RowLookup(known.to_frame()).positions_of(values)


class RowLookup:
    """Distinct rows, among which others of the same types are looked up.

    Rows meet by hash, which takes half the time of a join by value, and are then
    compared by value.
    """

    def __init__(self, rows: pl.DataFrame, seed: int = 0) -> None:
        self.rows = rows
        self.seed = seed  #: of the hashes

    def positions_of(self, values: pl.Series) -> Ints:
        """Return the position of each value in the one column of known rows, else -1."""
        known = self.rows.to_series()
        if known.dtype == pl.Int64 and len(known):
            low, high = known.min(), known.max()
            assert isinstance(low, int)
            assert isinstance(high, int)
            # An array with a cell for each number from the lowest to the highest pays if
            # it has about four cells for each value.
            if high - low < 4 * (len(known) + len(values)) + 1024:
                return _positions_in_array(known, values, low, high)
        runs = _runs(values)
        if runs is None:
            return self.positions_of_rows(values.to_frame())
        first_of_runs, lengths = runs
        return np.repeat(self.positions_of_rows(first_of_runs.to_frame()), lengths)

    def positions_of_rows(self, wanted: pl.DataFrame) -> Ints:
        """Return the position of each wanted row among known ones, -1 if there is none."""
        if self.rows.is_empty():
            return np.full(wanted.height, -1)
        wanted_hash = wanted.hash_rows(self.seed)
        if wanted.height <= FEW_WANTED:
            row, hashes = self._by_hash
            sought = wanted_hash.to_numpy()
            place = np.searchsorted(hashes, sought)
            place[place == len(row)] = 0  # above every hash: none is equal
            position = np.where(hashes[place] == sought, row[place], -1)
        else:
            position = _met_in_join(self.rows.hash_rows(self.seed), wanted_hash)
        if self._are_met(wanted, position):
            return position
        # Different rows have one hash.
        return RowLookup(self.rows, self.seed + 1).positions_of_rows(wanted)

    @cached_property
    def _by_hash(self) -> tuple[Ints, NDArray[np.uint64]]:
        """The known rows by hash, and the hashes."""
        hashes = self.rows.hash_rows(self.seed).to_numpy()
        row = np.argsort(hashes)
        return row, hashes[row]

    def _are_met(self, wanted: pl.DataFrame, position: Ints) -> bool:
        """Return whether each wanted row that has a position equals the row there."""
        is_met = pl.Series(position >= 0)
        # Rows by numbers of Polars' own type, and columns one by one, take half the time.
        known_rows = pl.Series(position).filter(is_met).cast(pl.UInt32)
        for column, values in zip(self.rows, wanted, strict=True):
            if not column[known_rows].equals(values.filter(is_met)):
                return False
        return True


def each_once(*columns: pl.Series) -> pl.Series:
    """Return each value of some columns once, sorted; none is missing."""
    values = pl.concat(columns)
    runs = _runs(values)
    if runs is not None:
        values, _lengths = runs
    if len(values) <= FEW_IDS:
        # Python sorts text by code points, and Polars by UTF-8, which sorts as they do.
        return pl.Series(values.name, sorted(set(values.to_list())), values.dtype)
    if values.dtype == pl.Int64:  # numpy sorts numbers in a third of the time
        numbers = np.sort(values.to_numpy())
        return pl.Series(values.name, numbers[run_starts(numbers)])
    # The streaming engine takes a third of the time of `values.unique()`.
    distinct = values.to_frame().lazy().unique().collect(engine="streaming")
    return distinct.to_series().sort()


def n_distinct(hashes: Ints) -> int:
    """Return how many values there are, told apart by hashes of 64 bits."""
    # numpy sorts and counts them in a third of the time of `Series.n_unique`.
    ordered = np.sort(hashes)
    n_changes = int(np.count_nonzero(ordered[1:] != ordered[:-1]))
    return n_changes + min(len(ordered), 1)


def _runs(values: pl.Series) -> tuple[pl.Series, Ints] | None:
    """Return the first value of each run of equal ones, and how long the runs are.

    Return None for few values, if some are missing, or if less than half of the first
    ones, or of all, repeat the one before. With 10 million rows in order of users, of
    100 each, looking up the first of each run takes a tenth.
    """
    if len(values) <= FEW_IDS or values.null_count():
        return None
    for n_first in (FEW_IDS, len(values)):
        # In one chunk, as others take several times as long.
        some = values.head(n_first).rechunk()
        differs = some.slice(1) != some.head(len(some) - 1)
        starts = np.append(0, np.flatnonzero(differs.to_numpy()) + 1)
        if 2 * len(starts) > len(some):
            return None
    return some[starts], np.diff(starts, append=len(some))


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
    # A difference beyond 64 bits wraps around, and ends in an outer cell too.
    return np.take(position, values.to_numpy() - low + 1, mode="clip")


def _met_in_join(known: pl.Series, wanted: pl.Series) -> Ints:
    """Return the known row of each hash, by a join."""
    wanted_rows = wanted.to_frame("hash").lazy().with_row_index("row")
    known_rows = known.to_frame("hash").lazy().with_row_index("position")
    pairs = wanted_rows.join(known_rows, on="hash").select("row", "position")
    met = pairs.collect(engine="streaming")
    position = np.full(len(wanted), -1)
    position[met["row"].to_numpy()] = met["position"].to_numpy()
    return position
