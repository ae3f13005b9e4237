"""Frames larger than memory: put into files by parts of users, joined part by part."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from recnb.data.batches import Batches, Origin, batches_of
from recnb.data.convert import owned
from recnb.data.in_memory import Sheets, source_in_splits
from recnb.data.layout import Layout
from recnb.data.names import RECS, TRUTH, Labels
from recnb.data.parts import Parts, of_one_part, part_of
from recnb.data.sheet import Sheet
from recnb.data.source import Source
from recnb.data.tables import Frame
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import ElsewhereError, FrameError, WriteError

T = TypeVar("T")

#: Bytes of a table that stays in memory, and of the rows that are written at a time.
HELD = 2**28
#: Users are put into parts by a hash of their ids.
N_PARTS = 2**7


class SpooledTable:
    """The rows of a table: in memory, or in files by parts of users if they are many.

    Rows of each user keep their order. The files are removed with this object, or when
    the process ends.
    """

    def __init__(self, batches: Iterable[pl.DataFrame]) -> None:
        self._rows: list[pl.DataFrame] = []  # in memory
        self._folder: Path | None = None  # with a folder of each block that was written
        self._n_blocks = 0
        n_bytes = 0.0
        for rows in batches:
            self._rows.append(rows)
            n_bytes += rows.estimated_size()
            if n_bytes > HELD:
                self.write()
                n_bytes = 0.0

    @property
    def in_files(self) -> bool:
        """Whether rows were written."""
        return self._folder is not None

    def held(self) -> pl.DataFrame:
        """Return all rows, which are in memory, in their order.

        They are a copy: batches may share memory with the caller's frame.
        """
        return owned(pl.concat(self._rows).get_columns())

    def write(self) -> None:
        """Write the rows in memory, to a file for each part."""
        if not self._rows:
            return
        rows = pl.concat(self._rows)
        self._rows.clear()
        with written_to_disk():
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="recnb-"))
                weakref.finalize(self, _remove, self._folder)
            block = self._folder / f"{self._n_blocks:08}"
            into = pl.PartitionBy(block, key="part", include_key=False)
            part = parts_of(rows["user"])
            rows.lazy().with_columns(part).sink_parquet(
                into, mkdir=True, compression="uncompressed", statistics=False
            )
        self._n_blocks += 1

    def scan(self, part: object = "*") -> pl.LazyFrame:
        """Return the written rows of a part, or of all; of no row, their columns."""
        assert self._folder is not None
        files = sorted(self._folder.glob(f"*/part={part}/*"))
        if not files:
            return self.first().clear().lazy()
        return pl.scan_parquet(files, hive_partitioning=False)

    def distinct(self, columns: list[str]) -> pl.DataFrame:
        """Return the values that some columns have together in the written rows."""
        return self.scan().select(columns).unique().collect(engine="streaming")

    def first(self) -> pl.DataFrame:
        """Return one of the rows."""
        if self._rows:
            return self._rows[0].head(1)
        return self.scan().head(1).collect()


def parts_of(users: pl.Series) -> pl.Series:
    """Return the part of each user, the same in all tables."""
    return (users.hash() % N_PARTS).cast(pl.Int32).alias("part")


def _remove(folder: Path) -> None:
    """Remove a folder; after an error of writing, threads of Polars may write on."""
    for _attempt in range(10):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


@contextmanager
def written_to_disk() -> Iterator[None]:
    """Raise errors of writing to a temporary folder as one that names it."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as problem:
        # Python names the folder, where there is none; Polars adds its query.
        folder = tempfile.tempdir or "the folder for temporary files"
        message = getattr(problem, "strerror", None) or str(problem)
        reason = message.split("\n")[0].rpartition(" error: ")[2]
        raise WriteError(
            f"temporary files cannot be written to {folder}: {reason}. Free some "
            "space there, or name a folder of a larger disk, TMPDIR."
        ) from problem


class FileParts(Parts):
    """Parts of users in temporary files."""

    def __init__(
        self,
        lists: SpooledTable,
        judged: SpooledTable,
        layout: Layout,
        origin: Origin,
    ) -> None:
        self.keeps_truth = not judged.in_files
        tables = (lists, judged)
        for table in tables:
            table.write()
        super().__init__(layout.with_keys(tables, SpooledTable.distinct))
        self._tables: tuple[SpooledTable, SpooledTable] | None = tables
        self.where, self.remedy = origin

    def _sides(self) -> tuple[SpooledTable, SpooledTable]:
        """Return the tables of the lists and of the truth; an error without them."""
        if self._tables is None:  # this was pickled
            raise ElsewhereError(
                f"this asks for rows of the lists, which stayed in {self.where} when the "
                "evaluation was pickled. Evaluate the frames again; if they fit into "
                f"memory: {self.remedy}."
            )
        return self._tables

    def each(self, work: Callable[[Sheets], T]) -> Iterator[T]:
        """Apply a function to every part."""
        words = _("parts of users joined")
        for part in steps(range(N_PARTS), words, N_PARTS):
            recs, truth = (table.scan(part).collect() for table in self._sides())
            if recs.height or truth.height:
                with of_one_part():
                    result = work(part_of(recs, truth, self.layout))
                yield result

    def fetched(self, users: pl.Series) -> Sheets:
        """Return the rows of some users."""
        is_wanted = pl.col("user").is_in(users.implode())
        recs, truth = (
            pl.concat(map(table.scan, parts_of(users).unique()))
            .filter(is_wanted)
            .collect()
            for table in self._sides()
        )
        return part_of(recs, truth, self.layout)

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        lists, _judged = self._sides()
        return self.lists.with_rows(lists.first())

    # What pickles an evaluation may be on its way to another machine, which has not these
    # files.

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_tables": None}

    # By default a copy is made as by pickling, without the rows of lists. Nothing writes
    # into the files, so copies can share them.

    def __deepcopy__(self, memo: object) -> FileParts:
        return self


def read_batches(recs: Frame, truth: Frame, layout: Layout, origin: Origin) -> Source:
    """Read both frames in batches, and check their ids.

    Each frame is read once: a query may take long, or give other rows the next time.
    """
    with closing(_batches_checked(truth, TRUTH, layout.truth_read)) as batches:
        judged = SpooledTable(batches)
    example = Sheet(TRUTH, judged.first(), layout.truth)  # for the types of its ids
    with (
        steps(None, _("rows read")) as bar,
        closing(_batches_checked(recs, RECS, layout.recs_read)) as batches,
    ):

        def checked(batch: pl.DataFrame) -> pl.DataFrame:
            """Return a batch whose ids are of the truth's kind, and move the bar."""
            Sheet(RECS, batch, layout.recs).refuse_other_kinds(example)
            bar.update(batch.height)
            return batch

        lists = SpooledTable(map(checked, batches))
    if not lists.in_files and not judged.in_files:
        return source_in_splits(
            Sheet(RECS, lists.held(), layout.recs),
            Sheet(TRUTH, judged.held(), layout.truth),
            layout.split,
            users_without_items=layout.users_without_items,
        )
    return FileParts(lists, judged, layout, origin)


def _batches_checked(frame: Frame, name: str, labels: Labels) -> Batches:
    """Yield the rows of a frame in batches, with ids of one kind, none missing."""
    sheet = Sheet(name, pl.DataFrame(), labels)
    with closing(batches_of(frame, name, labels)) as batches:
        for batch in batches:
            is_first = sheet.rows.is_empty()
            try:
                sheet = sheet.with_rows(batch).with_ids()
            except FrameError:
                if is_first and next(batches, None) is None:
                    raise  # this batch is all there is
                with of_one_part():
                    raise
            yield sheet.rows
    if not sheet.rows.height:
        sheet.with_ids()  # which refuses a frame without rows
