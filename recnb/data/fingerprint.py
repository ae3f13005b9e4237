"""Fingerprints of tables: one number of all rows, to tell later whether they are the same.

A fingerprint is the sum of a hash of 128 bits of each row. So it depends neither on the
order of rows nor on the library or the file that held them, every repeat of a row counts,
and those of parts add up. It is made with SipHash (`pandas.util.hash_array`) and with
arithmetic of 64 bits, which are the same in every version of the libraries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

from recnb.data.sheet import IDS, Sheet

Hashes = NDArray[np.uint64]

#: A key of SipHash for each half of a hash.
KEYS = ("recnb fingerpr/0", "recnb fingerpr/1")
#: Bits of half a hash.
HALF = 64


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
        total = 0
        for half, rows in enumerate(_hashes_of_rows(table)):
            total += _sum(rows) << (HALF * half)
        return cls(table.height, total % 2 ** (2 * HALF))

    def __add__(self, other: Fingerprint) -> Fingerprint:
        total = (self.total + other.total) % 2 ** (2 * HALF)
        return Fingerprint(self.n_rows + other.n_rows, total)

    def __str__(self) -> str:
        return f"{self.total:032x}"


@dataclass(frozen=True)
class TableFacts:
    """What a record says of the rows of a table, or of a part of it with whole users."""

    n_users: int
    items: pl.Series  #: each once
    fingerprint: Fingerprint

    @classmethod
    def of(cls, sheet: Sheet, *, in_order: bool = False) -> TableFacts:
        """Return the facts of the columns that have a role."""
        rows = sheet.rows
        rows = rows.select([role for role in rows.columns if role in sheet.labels])
        return cls(
            n_users=rows["user"].n_unique(),
            items=rows["item"].unique(),
            fingerprint=Fingerprint.of(rows, in_order=in_order),
        )


def merged_facts(parts: Sequence[TableFacts]) -> TableFacts:
    """Return the facts of a table, of those of its parts."""
    items = [part.items for part in parts if len(part.items)]
    return TableFacts(
        n_users=sum(part.n_users for part in parts),
        items=pl.concat(items).unique(),
        fingerprint=added(part.fingerprint for part in parts),
    )


def added(fingerprints: Iterable[Fingerprint]) -> Fingerprint:
    """Return the fingerprint of all parts of a table."""
    return sum(fingerprints, Fingerprint())


def _hashes_of_rows(table: pl.DataFrame) -> list[Hashes]:
    """Return both halves of a hash of each row: of those of its cells, each multiplied by
    an odd factor that its column's name gives.
    """
    halves = [np.zeros(table.height, dtype=np.uint64) for _key in KEYS]
    for column in table:
        factors = _factors(column.name)
        cells = _hashes_of_cells(column)
        for half, hashes, factor in zip(halves, cells, factors, strict=True):
            half += hashes * factor
    # Without it two rows could swap a cell, and the sum of all would be the same.
    return [_mixed(half) for half in halves]


@cache
def _factors(name: str) -> list[np.uint64]:
    """Return an odd number for the name of a column, for each half."""
    return [hashes[0] | np.uint64(1) for hashes in _siphash([name])]


def _hashes_of_cells(column: pl.Series) -> list[Hashes]:
    """Return both halves of a hash of each cell."""
    is_number = column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)
    if column.name in IDS or not is_number:
        return _hashes_of_text(column)
    bits = _bits_of_numbers(column)
    return [_mixed(bits ^ factor) for factor in _factors("")]


def _hashes_of_text(column: pl.Series) -> list[Hashes]:
    """Return the hashes of cells as text: of each value once, then looked up."""
    values = column.unique()
    texts = values.cast(pl.String).fill_null("\0").to_list()
    known = pl.DataFrame([values.alias("value"), *_series(_siphash(texts))])
    cells = pl.DataFrame({"value": column}).join(
        known, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return [hashes.to_numpy() for hashes in cells.drop("value")]


def _series(halves: list[Hashes]) -> list[pl.Series]:
    return [pl.Series(key, hashes) for key, hashes in zip(KEYS, halves, strict=True)]


def _siphash(texts: Sequence[str]) -> list[Hashes]:
    """Return both halves of a hash of each text."""
    values = np.array(texts, dtype=object)
    return [pd.util.hash_array(values, hash_key=key, categorize=False) for key in KEYS]


def _bits_of_numbers(column: pl.Series) -> Hashes:
    """Return the bits of numbers as floats, the same for -0.0 and 0.0, and for all that
    is missing; of whole numbers beyond 2**53 with what a float leaves out.
    """
    floats = column.cast(pl.Float64).fill_null(np.nan).to_numpy() + 0.0
    floats = np.where(np.isnan(floats), np.nan, floats)
    bits = floats.view(np.uint64)
    if column.dtype in (pl.Int64, pl.UInt64):
        low_bits = column.fill_null(0).to_numpy().view(np.uint64)
        is_large = np.abs(floats) >= 2**53
        bits = bits ^ np.where(is_large, _mixed(low_bits), np.uint64(0))
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
