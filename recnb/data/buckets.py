"""Tables that are read in batches, held in memory if they fit, else in files.

The files are temporary, and each holds whole users.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recnb.data.tables import (
    Frame,
    InputTable,
    Scanned,
    collected,
    is_dataset,
    is_relation,
    owned,
    refuse_unread,
)
from recnb.data.temporary import temporary_folder, written_to_disk
from recnb.display.language import N_
from recnb.metrics.hits import Ints

#: Rows of a batch that is read, about.
ROWS = 2**20
#: Rows that are written at a time.
BLOCK = 2**22
#: A table of no more rows than this stays in memory, however little is free.
WHOLE = 2**22
#: A table of more rows stays there if it takes no more than this share of the memory that
#: is free. To join rows takes eight to ten times their memory: about a quarter of it.
SHARE = 1 / 32
#: Users are put into slots by a hash of their ids. A bucket is one slot or several that
#: follow each other, so there are at most as many buckets. A power of two.
SLOTS = 2**8
#: Bytes of a bucket's rows, about, of both tables together. Buckets are larger if there
#: would be more than SLOTS of them.
BUCKET = 2**23
#: A bucket takes no more than this share of the memory that is free, if there are slots
#: enough: as many buckets as cores are joined at a time.
BUCKET_SHARE = 1 / 40
#: Bytes that are taken to be free where psutil is not there to say: a quarter of what
#: WebAssembly can address.
UNKNOWN_MEMORY = 2**30
#: Where Linux says how much memory a container may use, and how much it does: versions
#: 2 and 1 of its controllers.
LIMITS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)

Batches = Generator[pl.DataFrame, None, None]


def origin_of(frame: Frame) -> tuple[str, str] | None:
    """Return what holds the rows of a table that is read in batches.

    What to type to have them in memory comes with it. None: they are there.
    """
    if isinstance(frame, Scanned):
        remedy = "read the files into a frame first, polars.read_parquet(...)"
        return N_("files"), remedy
    if isinstance(frame, pl.LazyFrame):
        return N_("a lazy frame"), "collect the frame first, frame.collect()"
    if is_dataset(frame):
        remedy = "read the dataset first, dataset.to_table()"
        return N_("the files of a pyarrow dataset"), remedy
    if is_relation(frame):
        remedy = "fetch the relation first, relation.to_arrow_table()"
        return N_("a DuckDB relation"), remedy
    return None


def batches_of(frame: Frame, name: str, roles: Mapping[str, str]) -> Batches:
    """Yield the columns of the roles in batches and in order.

    A table in memory is yielded as one batch. Close the generator if not all batches are
    taken from it: that closes the files.
    """
    if origin_of(frame) is None:
        yield InputTable.of(frame, name).select(roles)
        return
    with collected(name), _reader(frame, roles) as reader:
        for batch in reader:
            if not isinstance(batch, pl.DataFrame):
                refuse_unread(batch.schema, name)
                batch = pl.DataFrame(pl.from_arrow(batch))
            if batch.height:
                # Each batch may have a dictionary of its own: as text they are alike.
                yield batch.with_columns(
                    pl.col(pl.Categorical).cast(pl.String),
                    pl.selectors.enum().cast(pl.String),
                )


def _reader(frame: Frame, roles: Mapping[str, str]) -> Any:
    """Return columns of a table that is not in memory as batches, to be closed."""
    if isinstance(frame, pl.LazyFrame):
        picked = frame.select(
            pl.col(column).alias(role) for role, column in roles.items()
        )
        return nullcontext(picked.collect_batches(chunk_size=ROWS, engine="streaming"))
    if is_dataset(frame):
        import pyarrow.dataset as ds

        # One batch and one file ahead: what is read further ahead is held, and is as
        # large as the files.
        columns = {role: ds.field(column) for role, column in roles.items()}
        return frame.scanner(
            columns=columns, batch_size=ROWS, batch_readahead=1, fragment_readahead=1
        ).to_reader()
    import duckdb

    expressions = [
        duckdb.ColumnExpression(column).alias(role) for role, column in roles.items()
    ]
    picked = frame.select(*expressions)
    if hasattr(picked, "to_arrow_reader"):
        return picked.to_arrow_reader(ROWS)
    return picked.fetch_record_batch(ROWS)  # of older versions


def available_memory() -> int:
    """Return the bytes that this process may still use.

    They are limited by the machine, its container, and `ulimit -v` and `-d`.
    """
    left = _memory_of_the_system()
    for limit_file, used_file in LIMITS:
        # There may be no such file, or its limit is "max".
        with suppress(OSError, ValueError):
            limit = int(Path("/sys/fs/cgroup", limit_file).read_text())
            used = int(Path("/sys/fs/cgroup", used_file).read_text())
            left = min(left, limit - used)
    return max(left, 0)


def _memory_of_the_system() -> int:
    """Return the bytes that the operating system says are left to this process."""
    try:
        import psutil
    except ImportError:  # in a browser, for which it is not built
        return UNKNOWN_MEMORY
    left: int = psutil.virtual_memory().available
    process = psutil.Process()
    if hasattr(process, "rlimit"):  # on Linux
        memory = process.memory_info()
        for resource, used in (
            (psutil.RLIMIT_AS, memory.vms),
            (psutil.RLIMIT_DATA, memory.data),
        ):
            limit, _hard = process.rlimit(resource)
            if limit != psutil.RLIM_INFINITY:
                left = min(left, limit - used)
    return left


class Buckets:
    """The rows of a table, to be had by buckets of users.

    Rows of each user keep their order. Files are removed with this object.
    """

    def __init__(self, batches: Iterable[pl.DataFrame]) -> None:
        self.first = pl.DataFrame()  #: the first row
        self.n_bytes = 0
        self._rows = pl.DataFrame()  # all, if they are in memory
        # It has a folder for each block of rows that was written. Polars' PartitionBy
        # makes one for each slot in it: 00000003/slot=17/00000000.parquet.
        self._folder: Path | None = None
        self._n_blocks = 0
        self._read_all(batches)

    def _read_all(self, batches: Iterable[pl.DataFrame]) -> None:
        """Read all rows; write them if they do not fit into memory.

        All rows wait in memory until they are too many for it. Then they are written,
        and from then on those that wait are written whenever they are a block.
        """
        most_bytes = SHARE * available_memory()
        waiting: list[pl.DataFrame] = []
        n_waiting = 0
        for rows in batches:
            if self.first.is_empty():
                self.first = rows.head(1)
            self.n_bytes += int(rows.estimated_size())
            waiting.append(rows)
            n_waiting += rows.height
            if self._is_due(n_waiting, most_bytes):
                self._write(waiting)
                n_waiting = 0
        if self.in_files:
            self._write(waiting)
        elif waiting:
            # They may share memory with the caller's frame, which may be written to later:
            # keep a copy. Rows in files are copies.
            self._rows = owned(pl.concat(waiting, how="vertical_relaxed").get_columns())

    def _is_due(self, n_waiting: int, most_bytes: float) -> bool:
        """Return whether the rows that are waiting are to be written."""
        if self.in_files:
            return n_waiting >= BLOCK
        # Nothing was written: all rows are waiting.
        return n_waiting > WHOLE and self.n_bytes > most_bytes

    @property
    def in_files(self) -> bool:
        """Whether there are too many rows to keep them in memory."""
        return self._folder is not None

    def all(self) -> pl.DataFrame:
        """Return every row; in their order while they are in memory."""
        return self.rows_in_slots(0, SLOTS)

    def rows_in_slots(self, low: int, high: int) -> pl.DataFrame:
        """Return the rows of the users in the slots from low up to high, which is excluded."""
        if self.in_files:
            return self._read(range(low, high))
        if (low, high) == (0, SLOTS):
            return self._rows
        slots = slots_of(self._rows["user"])
        return self._rows.filter(pl.Series((slots >= low) & (slots < high)))

    def rows_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users."""
        rows = self._rows
        if self.in_files:
            rows = self._read(np.unique(slots_of(users)).tolist())
        return rows.filter(pl.col("user").is_in(users.implode()))

    def _write(self, waiting: list[pl.DataFrame]) -> None:
        """Write the rows that are waiting, a file for each slot, and empty the list."""
        if self._folder is None:
            with written_to_disk():
                self._folder = temporary_folder(self)
        rows = self._stacked(waiting)
        waiting.clear()
        for block in rows.iter_slices(BLOCK):
            into = pl.PartitionBy(
                self._folder / f"{self._n_blocks:08}", key="slot", include_key=False
            )
            block = block.with_columns(
                slot=pl.Series(slots_of(block["user"]), dtype=pl.Int32)
            )
            with written_to_disk():
                block.lazy().sink_parquet(
                    into, mkdir=True, compression="uncompressed", statistics=False
                )
            self._n_blocks += 1

    def _read(self, slots: Iterable[int]) -> pl.DataFrame:
        """Return the rows of some slots, block after block of each."""
        assert self._folder is not None
        files: list[Path] = []
        for slot in slots:
            files += sorted(self._folder.glob(f"*/slot={slot}/*"))
        rows = [
            pl.read_parquet(file, hive_partitioning=False, memory_map=False)
            for file in files
        ]
        return self._stacked(rows).rechunk()

    def _stacked(self, tables: list[pl.DataFrame]) -> pl.DataFrame:
        """Return the rows of some tables; of no table, the columns without rows."""
        return pl.concat([self.first.clear(), *tables], how="vertical_relaxed")


def slots_of(users: pl.Series) -> Ints:
    """Return the slot of each user, the same in all tables."""
    return (users.hash().to_numpy() & np.uint64(SLOTS - 1)).astype(np.int64)


def ranges_of(*tables: Buckets) -> list[tuple[int, int]]:
    """Return the slots of each bucket of some tables, from low up to high, excluded.

    The larger the tables and the less memory is free, the more buckets there are. Of
    three they are (0, 85), (85, 170) and (170, 256).
    """
    n_bytes = sum(table.n_bytes for table in tables)
    bucket_size = max(min(BUCKET, BUCKET_SHARE * available_memory()), 1)
    n_buckets = min(max(math.ceil(n_bytes / bucket_size), 1), SLOTS)
    edges = [SLOTS * bucket // n_buckets for bucket in range(n_buckets + 1)]
    return list(pairwise(edges))
