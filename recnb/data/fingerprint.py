"""Fingerprints of tables: one number of all rows, to tell later whether they are the same.

A fingerprint is the sum of a hash of 128 bits of each row. So it depends neither on the
order of rows nor on the library or the file that held them, every repeat of a row counts,
and those of parts add up. It is made with SipHash (`pandas.util.hash_array`) and with
arithmetic of 64 bits, which are the same in every version of the libraries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.compute as pc
from numpy.typing import NDArray

from recnb.data.encoding import distinct, each_once
from recnb.data.sheet import IDS, Sheet

Hashes = NDArray[np.uint64]

#: Of each half of a hash: a key of SipHash, of 16 bytes, for the names of columns.
KEYS = ("recnb, 1st half.", "recnb, 2nd half.")
#: The key for the cells.
CELLS = "recnb, the cells"
#: Bits of half a hash, and rows that are hashed at a time, in the processor's cache.
HALF, BLOCK = 64, 2**14


@dataclass(frozen=True)
class Fingerprint:
    """The number of rows of a table, or of a part of it, and the sum of their hashes."""

    n_rows: int = 0
    total: int = 0

    @classmethod
    def of(cls, table: pl.DataFrame, *, in_order: bool = False) -> Fingerprint:
        """Return the fingerprint of all columns of a table, which are named by role.

        Ids of text and ids that are whole numbers have one hash if they are written
        alike, as a file of text does not tell them apart; so have 1, 1.0 and True.
        With `in_order` the place of each row among those of its user is part of the row.
        """
        if in_order:
            table = table.with_columns(place=pl.int_range(pl.len()).over("user"))
        cells = {column.name: _bits_of(column) for column in table}
        total = 0
        for start in range(0, table.height, BLOCK):
            for half, key in enumerate(KEYS):
                block = slice(start, start + BLOCK)
                total += _sum(_hashes_of_rows(cells, block, key)) << (HALF * half)
        return cls(table.height, total % 2 ** (2 * HALF))

    def __add__(self, other: Fingerprint) -> Fingerprint:
        total = (self.total + other.total) % 2 ** (2 * HALF)
        return Fingerprint(self.n_rows + other.n_rows, total)

    def __str__(self) -> str:
        return f"{self.total:032x}"


@dataclass(frozen=True)
class TableFacts:
    """What a record says of the rows of a table, or of a part of it with whole users."""

    users: pl.Series  #: each once; in a split the lists
    items: pl.Series  #: each once
    fingerprint: Fingerprint

    @classmethod
    def of(cls, sheet: Sheet, *, in_order: bool = False) -> TableFacts:
        """Return the facts of the columns that have a role."""
        rows = sheet.rows
        rows = rows.select([role for role in rows.columns if role in sheet.labels])
        return cls(
            users=_each_once(rows["user"]),
            items=_each_once(rows["item"]),
            fingerprint=Fingerprint.of(rows, in_order=in_order),
        )


def merged_facts(parts: Sequence[TableFacts]) -> TableFacts:
    """Return the facts of a table, of those of its parts."""
    # A part without rows knows no type of ids.
    parts = [part for part in parts if part.fingerprint.n_rows]
    return TableFacts(
        users=pl.concat([part.users for part in parts]),
        items=_each_once(pl.concat([part.items for part in parts])),
        fingerprint=sum([part.fingerprint for part in parts], Fingerprint()),
    )


def _each_once(ids: pl.Series) -> pl.Series:
    return distinct(ids) if ids.dtype == pl.Int64 else each_once(ids)


def _hashes_of_rows(cells: Mapping[str, Hashes], rows: slice, key: str) -> Hashes:
    """Return half of a hash of some rows.

    It is of the hashes of their cells, each multiplied by an odd factor that its column's
    name gives.
    """
    total: Hashes = np.zeros(1, dtype=np.uint64)
    for name, bits in cells.items():
        factor = _factor(name, key)
        total = total + _mixed(bits[rows] ^ factor) * factor
    # Without it two rows could swap a cell, and the sum of all would be the same.
    return _mixed(total)


@cache
def _factor(name: str, key: str) -> np.uint64:
    """Return an odd number for the name of a column."""
    (value,) = _siphash([name], key)
    return np.uint64(value | np.uint64(1))


def _bits_of(column: pl.Series) -> Hashes:
    """Return 64 bits for each cell, the same for equal ones."""
    is_number = column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)
    if not is_number:
        return _bits_of_text(column.cast(pl.String))
    if column.name in IDS:
        return _bits_of_whole(column.cast(pl.Int64))
    return _bits_of_numbers(column)


def _bits_of_text(column: pl.Series) -> Hashes:
    """Return a hash of each text; of the text of a whole number, the bits of this."""
    # Of views, which newer versions would give, older ones of pyarrow make no dictionary.
    texts = column.fill_null("\0").to_arrow(compat_level=pl.CompatLevel.oldest())
    encoded = pc.dictionary_encode(texts)
    values = pl.Series(encoded.dictionary, dtype=pl.String)
    bits = _siphash(values.to_list(), CELLS)
    whole = values.cast(pl.Int64, strict=False)
    is_whole = (whole.cast(pl.String) == values).fill_null(value=False).to_numpy()
    bits = np.where(is_whole, _bits_of_whole(whole.fill_null(0)), bits)
    cells: Hashes = np.take(bits, encoded.indices.to_numpy())
    return cells


def _bits_of_whole(column: pl.Series) -> Hashes:
    return column.to_numpy().view(np.uint64)


def _siphash(texts: Sequence[str], key: str) -> Hashes:
    values = np.array(texts, dtype=object)
    return pd.util.hash_array(values, hash_key=key, categorize=False)


def _bits_of_numbers(column: pl.Series) -> Hashes:
    """Return the bits of numbers as floats.

    They are the same for -0.0 and 0.0, and for all that is missing. Whole numbers beyond
    2**53, which a float may round, have bits of their own.
    """
    floats = column.cast(pl.Float64).fill_null(np.nan).to_numpy() + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.uint64)
    if column.dtype in (pl.Int64, pl.UInt64):
        is_large = np.abs(floats) >= 2**53
        if is_large.any():
            low_bits = column.fill_null(0).to_numpy().view(np.uint64)
            bits = np.where(is_large, _mixed(low_bits), bits)
    return bits


def _mixed(values: Hashes) -> Hashes:
    """Return each number with its bits mixed: the finalizer of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _sum(hashes: Hashes) -> int:
    """Return the exact sum, of halves that do not overflow below 2**32 rows."""
    low = int((hashes & np.uint64(2**32 - 1)).sum())
    high = int((hashes >> np.uint64(32)).sum())
    return low + (high << 32)
