"""Rows of a table in buckets of users: in memory if they are few, else in temporary files.

Every user has a slot, by a hash of the id. Rows are kept in blocks that are sorted by slot, so that a range of slots, a
bucket, is one piece of each block. How many buckets there are is decided when all rows are there and counted.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import hashes_of
from recnb.data.memory import available_memory
from recnb.data.validation import of_one_unit
from recnb.metrics.hits import Ints

#: A table of no more rows than this stays in memory.
WHOLE = 2**22
#: Rows of a block in a file, about.
BLOCK = 2**20
#: The finest buckets there can be, a power of two.
SLOTS = 2**9
#: Bytes of a bucket's rows, about, of both tables together; joining takes some ten times as much.
BUCKET = 2**24


def hashable(ids: pl.Series) -> pl.Series:
    """Ids as whole numbers, text or bytes, the same for equal ids of different types, such as 1, 1.0 and the decimal 1.00.

    Ids that are not the same may become so, which puts them together.
    """
    ids = of_one_unit(ids)
    if ids.dtype in (pl.Datetime, pl.Duration):
        ids = ids.dt.cast_time_unit("us").to_physical()
    elif ids.dtype.is_temporal():
        ids = ids.to_physical()
    elif ids.dtype.is_decimal() or ids.dtype.is_float():
        ids = ids.fill_nan(None).floor() if ids.dtype.is_float() else ids.floor()
    elif ids.dtype in (pl.Categorical, pl.Enum):
        ids = ids.cast(pl.String)
    return ids if ids.dtype in (pl.String, pl.Binary) else ids.cast(pl.Int64, strict=False).fill_null(0)


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
        self._files: list[Path] = []
        self._folder: Path | None = None

    @property
    def in_files(self) -> bool:
        """Whether there are too many rows to keep them in memory."""
        return self._folder is not None

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

    def all(self) -> pl.DataFrame:
        """Every row, in the order in which they came while they are in memory."""
        return self.bucket(0, SLOTS) if self.in_files else _together(self._held)

    def bucket(self, low: int, high: int) -> pl.DataFrame:
        """The rows of the users in a range of slots."""
        if self.in_files:
            self._write()
            return _together([_read(file, low, high) for file in self._files])
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
        import pyarrow as pa

        if not self._held:
            return
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="recnb-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        rows, starts = _by_slot(_together(self._held))
        self._held, self._n_held = [], 0
        (batch,) = rows.to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks().to_batches()
        file = self._folder / f"{len(self._files)}.arrow"
        with pa.OSFile(str(file), "wb") as opened, pa.ipc.new_file(opened, batch.schema) as writer:
            for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                writer.write_batch(batch.slice(start, stop - start))
        self._files.append(file)


def ranges_of(*tables: UserBuckets) -> list[tuple[int, int]]:
    """The slots of each bucket of some tables, as many buckets as their size and the memory there is ask for."""
    if not any(table.in_files for table in tables):
        return [(0, SLOTS)]
    size = max(min(BUCKET, available_memory() // 20), 1)
    n = min(max(-(-sum(table.n_bytes for table in tables) // size), 1), SLOTS)
    return [(SLOTS * at // n, SLOTS * (at + 1) // n) for at in range(n)]


def _by_slot(rows: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """Rows sorted by slot, and where each slot starts."""
    slots = slots_of(rows["user"])
    counts = np.bincount(slots, minlength=SLOTS)
    return rows[np.argsort(slots, kind="stable")], np.r_[0, np.cumsum(counts)]


def _read(file: Path, low: int, high: int) -> pl.DataFrame:
    import pyarrow as pa

    with pa.OSFile(str(file), "rb") as opened, pa.ipc.open_file(opened) as reader:
        pieces = [reader.get_batch(slot) for slot in range(low, high)]
        return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(pieces, reader.schema)))


def _together(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows of several tables; ids of different digits or units become those of one type."""
    return pl.concat(tables, how="vertical_relaxed", rechunk=True)


__all__ = ["UserBuckets", "hashable", "ranges_of", "slots_of"]
