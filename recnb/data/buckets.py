"""Rows of a table in memory if they fit, else in temporary files, each of which holds the rows of whole users."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from recnb.data.columns import owned
from recnb.data.encoding import hashes_of
from recnb.data.memory import available_memory
from recnb.metrics.hits import Ints

#: A table of no more rows than this stays in memory, and any that takes no more than this share of what is free:
#: to join rows takes some eight times as much as they do.
WHOLE, SHARE = 2**22, 1 / 32
#: Rows that are written at a time.
BLOCK = 2**22
#: The finest buckets there can be, a power of two: users by a hash of the id.
SLOTS = 2**8
#: Bytes of a bucket's rows, about, of both tables together; joining takes some ten times as much, on each core.
BUCKET = 2**23


class Buckets:
    """The rows of a table by user; those of each user keep their order. Files are removed with this object."""

    def __init__(self, batches: Iterable[pl.DataFrame]) -> None:
        self.first = pl.DataFrame()  #: the first row
        self.n_bytes = self.n_rows = 0
        self._held: list[pl.DataFrame] = []
        self._folder: Path | None = None
        self._slots: dict[int, list[Path]] = {slot: [] for slot in range(SLOTS)}
        most, waiting = SHARE * available_memory(), 0
        for rows in batches:
            self.first = self.first if self.n_rows else rows.head(1)
            self.n_rows, self.n_bytes = self.n_rows + rows.height, self.n_bytes + int(rows.estimated_size())
            self._held.append(rows)
            waiting += rows.height
            fits = self._folder is None and (self.n_rows <= WHOLE or self.n_bytes <= most)
            if not fits and (self._folder is None or waiting >= BLOCK):
                self._write()
                waiting = 0
        if self._folder is not None:
            self._write()
        elif self._held:
            # Others may write to their rows later; those in files are copies.
            self._held = [owned(pl.concat(self._held, how="vertical_relaxed").get_columns())]

    @property
    def in_files(self) -> bool:
        """Whether there are too many rows to keep them in memory."""
        return self._folder is not None

    def all(self) -> pl.DataFrame:
        """Return every row; in their order while they are in memory."""
        return self._read(range(SLOTS)) if self.in_files else self._held[0]

    def bucket(self, low: int, high: int) -> pl.DataFrame:
        """Return the rows of the users in some slots."""
        if self.in_files:
            return self._read(range(low, high))
        slots = slots_of(self._held[0]["user"])
        return self._held[0].filter(pl.Series((slots >= low) & (slots < high)))

    def rows_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users."""
        slots = np.unique(slots_of(users)).tolist() if self.in_files else range(SLOTS)
        rows = self._read(slots) if self.in_files else self._held[0]
        return rows.filter(pl.col("user").is_in(users.implode()))

    def _write(self) -> None:
        """Write what is held, a file for each slot."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="recnb-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        held, self._held = pl.concat(self._held or [self.first.clear()], how="vertical_relaxed"), []
        folder = self._folder / str(sum(map(len, self._slots.values())))
        for start in range(0, held.height, BLOCK):
            block = held.slice(start, BLOCK)
            block = block.with_columns(slot=pl.Series(slots_of(block["user"]), dtype=pl.Int32))
            into = pl.PartitionBy(folder / str(start), key="slot", include_key=False)
            block.lazy().sink_parquet(into, mkdir=True, compression="uncompressed", statistics=False)
            for of_slot in (folder / str(start)).iterdir():
                self._slots[int(of_slot.name.removeprefix("slot="))] += sorted(of_slot.iterdir())

    def _read(self, slots: Iterable[int]) -> pl.DataFrame:
        files = [file for slot in slots for file in self._slots[slot]]
        if not files:
            return self.first.clear()
        rows = [pl.read_parquet(file, hive_partitioning=False, memory_map=False) for file in files]
        return pl.concat(rows, how="vertical_relaxed", rechunk=True)


def slots_of(users: pl.Series) -> Ints:
    """Return the slot of each user, the same in all tables."""
    return (hashes_of(users) & np.uint64(SLOTS - 1)).astype(np.int64)


def ranges_of(*tables: Buckets) -> list[tuple[int, int]]:
    """Return the slots of each bucket of some tables, as many buckets as their size and the memory there is ask for."""
    size = max(min(BUCKET, available_memory() // 40), 1)
    n = min(max(-(-sum(table.n_bytes for table in tables) // size), 1), SLOTS)
    return (
        list(pairwise(SLOTS * at // n for at in range(n + 1)))
        if any(table.in_files for table in tables)
        else [(0, SLOTS)]
    )


__all__ = ["Buckets", "ranges_of", "slots_of"]
