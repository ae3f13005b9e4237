"""Frames larger than memory: put into files by parts of users, joined part by part."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from recnb.data.columns import owned
from recnb.data.in_memory import source_of
from recnb.data.joined import Source
from recnb.data.names import RECS, TRUTH, Labels
from recnb.data.parts import Parts, columns_alone, in_one_part
from recnb.data.role_table import RoleTable
from recnb.data.roles import Layout
from recnb.data.rows import StoredRows
from recnb.data.tables import ROWS, Batches, InputTable, Origin
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
        # Rows are in memory twice while they are written: a large batch in slices.
        blocks = (rows.iter_slices(ROWS) for rows in batches)
        for rows in chain.from_iterable(blocks):
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
            part = part_numbers(rows["user"])
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

    def first(self) -> pl.DataFrame:
        """Return one of the rows."""
        if self._rows:
            return self._rows[0].head(1)
        return self.scan().head(1).collect()


def part_numbers(users: pl.Series) -> pl.Series:
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
        # An OSError of Python names the folder; an error of Polars appends its query.
        folder = tempfile.tempdir or "the folder for temporary files"
        message = getattr(problem, "strerror", None) or str(problem)
        reason = message.split("\n")[0].rpartition(" error: ")[2]
        raise WriteError(
            f"temporary files cannot be written to {folder}: {reason}. Free some "
            "space there, or name a folder of a larger disk, TMPDIR."
        ) from problem


class StoredFiles(StoredRows):
    """The rows of both tables in temporary files."""

    def __init__(
        self, lists: SpooledTable, judged: SpooledTable, origin: Origin
    ) -> None:
        self.where, self.remedy = origin
        self.keeps_truth = not judged.in_files
        for table in (lists, judged):
            table.write()
        self._tables: dict[str, SpooledTable] = {RECS: lists, TRUTH: judged}

    def _table(self, name: str) -> SpooledTable:
        """Return the lists or the truth; an error without them."""
        if not self._tables:  # this was pickled
            raise ElsewhereError(
                f"this asks for rows of the lists, which stayed in {self.where} when the "
                "evaluation was pickled. Evaluate the frames again; if they fit into "
                f"memory: {self.remedy}."
            )
        return self._tables[name]

    def each(self, work: Callable[[pl.DataFrame, pl.DataFrame], T]) -> Iterator[T]:
        """Apply a function to the rows of every part."""
        words = _("parts of {users} joined")
        for part in steps(range(N_PARTS), words, N_PARTS):
            recs, truth = (
                self._table(name).scan(part).collect() for name in (RECS, TRUTH)
            )
            yield work(recs, truth)

    def of_users(self, users: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of some users."""
        # Of no users, a part of which no row is wanted.
        parts = part_numbers(users).unique().to_list() or [0]
        is_wanted = pl.col("user").is_in(users.implode())
        recs, truth = (
            pl.concat(map(self._table(name).scan, parts)).filter(is_wanted).collect()
            for name in (RECS, TRUTH)
        )
        return recs, truth

    def distinct(self, name: str, roles: Sequence[str]) -> pl.DataFrame:
        """Return the values that some columns of a table have together."""
        rows = self._table(name).scan().select(roles)
        return rows.unique().collect(engine="streaming")

    def first(self) -> pl.DataFrame:
        """Return a row of the lists."""
        return self._table(RECS).first()

    # What pickles an evaluation may be on its way to another machine, which has not these
    # files.

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_tables": {}}

    # By default a copy is made as by pickling, without the rows of lists. Nothing writes
    # into the files, so copies can share them.

    def __deepcopy__(self, memo: object) -> StoredFiles:
        return self


def read_batches(
    recs: InputTable, truth: InputTable, layout: Layout, origin: Origin
) -> Source:
    """Read both tables in batches, and check their ids.

    These columns are read once: a query may take long, or give other rows the next time.
    Columns of models were read before, by themselves (`refuse_models`).
    """
    recs_columns = columns_alone(RECS, layout.recs)
    truth_columns = columns_alone(TRUTH, layout.truth)
    with closing(_checked(truth, layout.truth_read, truth_columns)) as batches:
        judged = SpooledTable(batches)
    example = truth_columns.with_rows(judged.first())  # for the types of its ids
    with (
        closing(_checked(recs, layout.recs_read, recs_columns)) as batches,
        closing(_alike(batches, recs_columns, example)) as of_one_kind,
    ):
        listed = SpooledTable(of_one_kind)
    if listed.in_files or judged.in_files:
        stored = StoredFiles(listed, judged, origin)
        return Parts.of(stored, layout, truth.without_items)
    return source_of(
        recs_columns.with_rows(listed.held()),
        truth_columns.with_rows(judged.held()),
        layout.split,
        users_without_items=truth.without_items,
    )


def _alike(batches: Batches, lists: RoleTable, example: RoleTable) -> Batches:
    """Yield the rows of lists; refuse ids of another kind than an example of the truth."""
    with steps(None, _("rows read")) as bar:
        for rows in batches:
            lists.with_rows(rows).refuse_other_kinds(example)
            bar.update(rows.height)
            yield rows


def _checked(table: InputTable, labels: Labels, columns: RoleTable) -> Batches:
    """Yield the rows of a table in batches, with ids of one kind, none missing.

    `columns` has the labels that errors name.
    """
    n_rows = 0
    with closing(table.batches(labels)) as batches:
        for batch in batches:
            try:
                rows = columns.with_rows(batch).with_ids().rows
            except FrameError as problem:
                if n_rows == 0 and next(batches, None) is None:
                    raise  # this batch is all there is
                raise in_one_part(problem) from None
            n_rows += rows.height
            yield rows
    if n_rows == 0:
        columns.with_ids()  # which refuses a table without rows
