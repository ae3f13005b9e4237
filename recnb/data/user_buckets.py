"""Rows of a table in buckets of users: in memory if they are few, else in temporary files.

Every user has a slot, by a hash of the id. Rows are kept in blocks that are sorted by slot, and a bucket is a range of
slots: how many buckets there are is decided when all rows are there and counted.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.columns import owned
from recnb.data.encoding import hashes_of
from recnb.data.memory import available_memory
from recnb.data.parallel import n_cores
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Ints

#: A table of no more rows than this stays in memory.
WHOLE = 2**22
#: Rows of a block, which is sorted by slot and written.
BLOCK = 2**22
#: The finest buckets there can be, a power of two.
SLOTS = 2**9
#: Bytes of a bucket's rows, about, of both tables together; joining takes some ten times as much, on each core.
BUCKET = 2**23


def hashable(ids: pl.Series) -> pl.Series:
    """Ids as whole numbers, text or bytes, the same for equal ids of different types, such as 1, 1.0 and the decimal 1.00.

    Ids that are not the same may become so, which puts them together.
    """
    if ids.dtype in (pl.Datetime, pl.Duration):
        ids = ids.dt.cast_time_unit("us").to_physical()
    elif ids.dtype.is_temporal():
        ids = ids.to_physical()
    elif ids.dtype.is_decimal() or ids.dtype.is_float():
        ids = ids.fill_nan(None).floor() if ids.dtype.is_float() else ids.floor()
    elif ids.dtype in (pl.Categorical, pl.Enum):
        ids = ids.cast(pl.String)
    if ids.dtype not in (pl.String, pl.Binary):
        ids = ids.cast(pl.Int64, strict=False)
        return ids.fill_null(0) if ids.null_count() else ids
    return ids


def slots_of(users: pl.Series) -> NDArray[np.uint16]:
    """The slot of each user."""
    bits = np.uint64(65 - SLOTS.bit_length())
    return (hashes_of(hashable(users)) >> bits).astype(np.uint16)


class UserBuckets:
    """The rows of a table by user; those of each user keep their order."""

    def __init__(self) -> None:
        self.n_rows = self.n_bytes = 0
        self.first = pl.DataFrame()  #: the first row
        self._held: list[pl.DataFrame] = []  #: rows that no file holds
        self._n_held = 0
        self._files: list[SlotFile] = []  #: one, or more if the types of ids change on the way

    @property
    def in_files(self) -> bool:
        """Whether there are too many rows to keep them in memory."""
        return bool(self._files)

    def add(self, rows: pl.DataFrame) -> None:
        """Put more rows, without missing ids, into their buckets."""
        if not self.n_rows:
            self.first = rows.head(1)
        self._held.append(rows)
        self._n_held += rows.height
        self.n_rows += rows.height
        self.n_bytes += int(rows.estimated_size())
        if self._n_held > (BLOCK if self.in_files else WHOLE):
            self._write()

    def keep(self) -> None:
        """Copy rows in memory after the last was added, since others may write to theirs; those in files are copies."""
        if not self.in_files:
            self._held = [owned(pl.concat(self._held, how="vertical_relaxed").get_columns())]

    def all(self) -> pl.DataFrame:
        """Every row, in the order in which they came while they are in memory."""
        return self.bucket(0, SLOTS) if self.in_files else _together(self._held)

    def bucket(self, low: int, high: int) -> pl.DataFrame:
        """The rows of the users in a range of slots."""
        if self.in_files:
            self._write()
            return _together([file.read(low, high) for file in self._files])
        rows, starts = self._sorted
        return rows[int(starts[low]) : int(starts[high])]

    def rows_of(self, users: pl.Series) -> pl.DataFrame:
        """The rows of some users."""
        slots = np.unique(slots_of(users)).tolist()
        return _together([self.bucket(slot, slot + 1).filter(pl.col("user").is_in(users.implode())) for slot in slots])

    @cached_property
    def _sorted(self) -> tuple[pl.DataFrame, Ints]:
        return _by_slot(_together(self._held))

    def _write(self) -> None:
        """Write what is in memory into a file."""
        if not self._held:
            return
        (rows, starts), self._held, self._n_held = _by_slot(_together(self._held)), [], 0
        if not self._files or self._files[-1].schema != rows.schema:
            self._files.append(SlotFile(rows.schema))
        self._files[-1].write(rows, starts)


class SlotFile:
    """A temporary file of Arrow, with a record batch for each slot of each block; it is removed with this object."""

    def __init__(self, schema: pl.Schema) -> None:
        import pyarrow as pa

        self.schema = schema
        self._n_blocks = 0
        handle, self._path = tempfile.mkstemp(prefix="recnb-", suffix=".arrow")
        os.close(handle)
        # A file of Python would be called for each buffer of each column of each batch.
        self._opened = pa.output_stream(self._path, buffer_size=2**20)
        self._writer: Any = None
        self._reader: Any = None
        weakref.finalize(self, _remove, self._opened, self._path)

    def write(self, rows: pl.DataFrame, starts: Ints) -> None:
        """Add a block, of which the rows of each slot start at these rows."""
        import pyarrow as pa

        (batch,) = rows.to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks().to_batches()
        if self._writer is None:
            self._writer = pa.ipc.new_file(self._opened, batch.schema)
        for start, stop in pairwise(starts.tolist()):
            self._writer.write_batch(batch.slice(start, stop - start))
        self._n_blocks += 1

    def read(self, low: int, high: int) -> pl.DataFrame:
        """The rows of a range of slots, after the last block was written."""
        import pyarrow as pa

        if self._reader is None:
            self._writer.close()
            self._opened.close()
            self._reader = pa.ipc.open_file(pa.OSFile(self._path))
        reader = self._reader
        slots = [reader.get_batch(block * SLOTS + slot) for block in range(self._n_blocks) for slot in range(low, high)]
        return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(slots, reader.schema)))


def _remove(opened: Any, path: str) -> None:
    opened.close()
    with suppress(OSError):
        os.unlink(path)


def ranges_of(*tables: UserBuckets) -> list[tuple[int, int]]:
    """The slots of each bucket of some tables, as many buckets as their size and the memory there is ask for."""
    if not any(table.in_files for table in tables):
        return [(0, SLOTS)]
    size = max(min(BUCKET, available_memory() // (20 * n_cores())), 1)
    n = min(max(-(-sum(table.n_bytes for table in tables) // size), 1), SLOTS)
    return [(SLOTS * at // n, SLOTS * (at + 1) // n) for at in range(n)]


def _by_slot(rows: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """Rows sorted by slot, and where each slot starts."""
    slots = slots_of(rows["user"])
    counts = np.bincount(slots, minlength=SLOTS)
    return rows[np.argsort(slots, kind="stable")], np.r_[0, np.cumsum(counts)]


def _together(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows of several tables; ids of different digits or units become those of one type."""
    return pl.concat(tables, how="vertical_relaxed", rechunk=True)


__all__ = ["UserBuckets", "hashable", "ranges_of", "slots_of"]
