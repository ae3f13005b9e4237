"""Rows larger than memory: in files by parts of users, which are joined one by one."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from recnb.data.names import RECS, TRUTH
from recnb.data.parts import StoredRows
from recnb.data.roles import Layout
from recnb.data.tables import InputTable, Origin, errors_name_frame
from recnb.errors import ElsewhereError, WriteError

T = TypeVar("T")

#: Users are put into parts by a hash of their ids.
N_PARTS = 2**7
#: Rows of a part that are in memory until they are written.
ROWS_OF_PART = 2**15


class StoredFiles(StoredRows):
    """The rows of both tables in temporary files.

    Rows of each user keep their order. The files are removed with this object, or when
    the process ends.
    """

    def __init__(
        self, recs: InputTable, truth: InputTable, layout: Layout, origin: Origin
    ) -> None:
        self.where, self.remedy = origin
        self.keeps_truth = truth.origin is None
        self._folder: Path | None = _new_folder()
        weakref.finalize(self, _remove, self._folder)
        self._schemas = {
            name: _write_parts(table.name, table.query(labels), self._folder / name)
            for name, table, labels in (
                (RECS, recs, layout.recs_read),
                (TRUTH, truth, layout.truth_read),
            )
        }

    def _scan(self, name: str, parts: Iterable[object] = ("*",)) -> pl.LazyFrame:
        """Return the rows of the lists or of the truth in some parts, by default all."""
        if self._folder is None:  # this was pickled
            raise ElsewhereError(
                f"this asks for rows of the lists, which stayed in {self.where} when the "
                "evaluation was pickled. Evaluate the frames again; if they fit into "
                f"memory: {self.remedy}."
            )
        files = [
            file
            for part in parts
            for file in sorted(self._folder.glob(f"{name}/part={part}/*"))
        ]
        if not files:
            return pl.LazyFrame(schema=self._schemas[name])
        return pl.scan_parquet(files, hive_partitioning=False)

    def each(self, work: Callable[[pl.DataFrame, pl.DataFrame], T]) -> Iterator[T]:
        """Apply a function to the rows of every part."""
        for part in range(N_PARTS):
            recs, truth = (self._scan(name, [part]).collect() for name in (RECS, TRUTH))
            yield work(recs, truth)

    def of_users(self, users: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of some users."""
        number = _part_number(users.dtype)
        parts = users.to_frame("user").select(number.unique())["part"]
        # In the files ids have the caller's types still.
        user = pl.col("user").cast(users.dtype, strict=False)
        is_wanted = user.is_in(users.implode())
        recs, truth = (
            self._scan(name, parts).filter(is_wanted).collect()
            for name in (RECS, TRUTH)
        )
        return recs, truth

    def distinct(self, name: str, roles: Sequence[str]) -> pl.DataFrame:
        """Return the values that some columns of a table have together."""
        rows = self._scan(name).select(roles)
        return rows.unique().collect(engine="streaming")

    def first(self) -> pl.DataFrame:
        """Return a row of the lists."""
        return self._scan(RECS).head(1).collect()

    # A pickled evaluation may go to another machine, which does not have these files.

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_folder": None}

    # By default a copy is made as by pickling, without the rows of lists. Nothing writes
    # into the files, so copies can share them.

    def __deepcopy__(self, memo: object) -> StoredFiles:
        return self


def _part_number(dtype: pl.DataType) -> pl.Expr:
    """Return the part of each user, the same whatever type a table has for the id."""
    user = pl.col("user")
    if dtype.is_numeric():
        user = user.cast(pl.Int64, strict=False)
    return (user.hash() % N_PARTS).cast(pl.Int32).alias("part")


def _write_parts(name: str, rows: pl.LazyFrame, folder: Path) -> pl.Schema:
    """Write rows into a folder, to files for each part; return their columns."""
    with errors_name_frame(name), errors_name_folder():
        categories = pl.selectors.categorical() | pl.selectors.enum()
        rows = rows.with_columns(categories.cast(pl.String))
        schema = rows.collect_schema()
        into = pl.PartitionBy(folder, key="part", include_key=False)
        rows.with_columns(_part_number(schema["user"])).sink_parquet(
            into,
            mkdir=True,
            compression="uncompressed",
            statistics=False,
            row_group_size=ROWS_OF_PART,
        )
    return schema


def _new_folder() -> Path:
    """Return a new folder for temporary files."""
    with errors_name_folder():
        return Path(tempfile.mkdtemp(prefix="recnb-"))


def _remove(folder: Path) -> None:
    """Remove a folder; after an error of writing, threads of Polars may write on."""
    for _attempt in range(10):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


@contextmanager
def errors_name_folder() -> Iterator[None]:
    """Raise errors of writing to a temporary folder as one that names it."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as problem:
        message = getattr(problem, "strerror", None) or str(problem)
        if (
            isinstance(problem, pl.exceptions.ComputeError)
            and "os error" not in message
        ):
            raise  # of reading the rows
        # An OSError of Python names the folder; an error of Polars appends its query.
        folder = tempfile.tempdir or "the folder for temporary files"
        reason = message.split("\n")[0].rpartition(" error: ")[2]
        raise WriteError(
            f"temporary files cannot be written to {folder}: {reason}. Free some "
            "space there, or name a folder of a larger disk, TMPDIR."
        ) from problem
