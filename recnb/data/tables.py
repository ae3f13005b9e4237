"""A table of any library: its columns, and some of them as Polars under other names.

Rows that are not in memory are fetched, or read in batches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.data.columns import from_pandas, owned, refuse_unread
from recnb.data.names import Labels, Named, role_of
from recnb.display.language import N_
from recnb.display.text import one_line
from recnb.errors import ColumnError, FrameError

#: Tables that callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and
#: all with Arrow's stream protocol (pyarrow, DuckDB).
Frame: TypeAlias = Any

Batches: TypeAlias = Generator[pl.DataFrame, None, None]
#: What holds rows that are not in memory, in words, and what to type to have them there.
Origin: TypeAlias = tuple[str, str]

#: Rows of a batch, about.
ROWS = 2**20
#: Packages whose frames stay where they are.
ENGINES = {"dask": "Dask", "pyspark": "Spark"}
#: What to do about a table whose rows an error keeps from being read.
MEND = "It cannot be collected either: mend what it reads."
FETCH = "Fetch it while its connection is open, relation.to_arrow_table()."


@dataclass(eq=False)
class InputTable:
    """A table as it was given."""

    name: str  #: what errors call it
    frame: Frame
    columns: list[str]
    #: Users whose list is empty, and who have no row therefore: lists alone can say so.
    without_items: Sequence[Any] = ()

    @classmethod
    def of(cls, frame: Frame, name: str) -> Self:
        """Make a table of a frame, or of a stream of one, which is read once."""
        if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
            columns = [*frame.columns]
        else:
            _refuse_engine(frame, name)
            with errors_name_frame(name):
                has_columns = hasattr(type(frame), "columns") or is_dataset(frame)
                if not has_columns:
                    frame = _whole_stream(frame, name)
                columns = _column_names(frame)
        if len({*columns}) < len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            raise ColumnError(
                f"{name}: more than one column is called {twice!r}; rename all but one."
            )
        return cls(name, frame, columns)

    @cached_property
    def by_role(self) -> dict[str | None, list[str]]:
        """The columns whose names suggest each role."""
        columns: dict[str | None, list[str]] = {}
        for column in self.columns:
            columns.setdefault(role_of(column), []).append(column)
        return columns

    def has_role(self, role: str, named: Named) -> bool:
        """Return whether one of the columns plays a role, by its name or as named."""
        if role in self.by_role:
            return True
        return not {*named.get(role, ())}.isdisjoint(self.columns)

    @property
    def levels(self) -> Sequence[Any]:
        """The names of the index of a pandas frame."""
        return self.frame.index.names if isinstance(self.frame, pd.DataFrame) else ()

    def select(self, labels: Labels) -> pl.DataFrame:
        """Return columns under the names of their roles, in memory of their own."""
        rows = self.frame
        if isinstance(rows, pd.DataFrame):
            columns = []
            for role, label in labels.items():
                column = from_pandas(rows[label], self.name, label, role)
                columns.append(column.alias(role))
            return owned(columns)
        if not isinstance(rows, pl.DataFrame):
            rows = self.collected([*dict.fromkeys(labels.values())])
        return self._own([rows[label].alias(role) for role, label in labels.items()])

    def _own(self, columns: Iterable[pl.Series]) -> pl.DataFrame:
        """Return columns in memory into which the caller does not write."""
        return owned(columns)

    def collected(self, columns: list[str], n: int | None = None) -> pl.DataFrame:
        """Return columns, or their first n rows, as Polars."""
        with errors_name_frame(self.name):
            if isinstance(self.frame, (pl.LazyFrame, pl.DataFrame)):
                query = self.frame.lazy().select(columns)
                return (query if n is None else query.head(n)).collect()
            table = arrow_of(self.frame, columns, n)
            refuse_unread(table.schema, self.name)
            return pl.DataFrame(pl.from_arrow(table))

    def fetched(self, names: Iterable[str]) -> Self:
        """Return a table with rows in memory: this one, or these columns fetched."""
        frame, columns = self.frame, [*dict.fromkeys(names)]
        if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
            return self
        if isinstance(frame, pl.LazyFrame):
            frame = self.collected(columns)
        else:
            with errors_name_frame(self.name):
                frame = arrow_of(frame, columns)
        return replace(self, frame=frame, columns=columns)

    def each_column(self, columns: Iterable[str]) -> dict[str, pl.Series | str]:
        """Copy some columns by their names as text.

        In the place of one that is not read, as one of values of several kinds, stands why.
        """
        copies: dict[str, pl.Series | str] = {}
        for column in columns:
            try:
                copies[str(column)] = self.select({"value": column})["value"]
            except FrameError as problem:
                copies[str(column)] = str(problem)
        return copies

    @property
    def origin(self) -> Origin | None:
        """What holds the rows; None if they are in memory."""
        frame = self.frame
        if isinstance(frame, pl.LazyFrame):
            return N_("a lazy frame"), "collect the frame first, frame.collect()"
        if is_dataset(frame):
            remedy = "read the dataset first, dataset.to_table()"
            return N_("the files of a pyarrow dataset"), remedy
        if is_relation(frame):
            remedy = "fetch the relation first, relation.to_arrow_table()"
            return N_("a DuckDB relation"), remedy
        return None

    def batches(self, labels: Labels) -> Batches:
        """Yield columns under the names of their roles, in batches and in order.

        A table in memory is one batch, which shares the memory of one of Polars. If
        batches are left, close the generator, which closes the files.
        """
        frame = self.frame
        if isinstance(frame, pl.DataFrame):
            yield frame.select(_by_role(labels))
            return
        if self.origin is None:
            yield self.select(labels)
            return
        with errors_name_frame(self.name), _reader(frame, labels) as reader:
            for batch in reader:
                if not isinstance(batch, pl.DataFrame):
                    refuse_unread(batch.schema, self.name)
                    batch = pl.DataFrame(pl.from_arrow(batch))
                if batch.height:
                    # Each batch may have a dictionary of its own: as text they are alike.
                    yield batch.with_columns(
                        pl.col(pl.Categorical).cast(pl.String),
                        pl.selectors.enum().cast(pl.String),
                    )

    def distinct(self, column: str) -> pl.Series:
        """Return the values of a column, each once, in the order in which they come."""
        found = [
            batch["value"].unique(maintain_order=True)
            for batch in self.batches({"value": column})
        ]
        if not found:
            return pl.Series(column, [])
        return pl.concat(found).unique(maintain_order=True).alias(column)


@dataclass(eq=False)
class MadeTable(InputTable):
    """A table that recnb made: its caller has no frame to change by code, or to write into."""

    def _own(self, columns: Iterable[pl.Series]) -> pl.DataFrame:
        """Return columns, which are recnb's own."""
        return pl.DataFrame(columns).rechunk()


@dataclass(eq=False)
class FileTable(MadeTable):
    """The rows of files, which of Parquet are read when they are asked for."""

    #: Whether whole numbers in it may be text as well.
    from_text: bool = False

    @property
    def origin(self) -> Origin | None:
        """The files, unless they were read."""
        if not isinstance(self.frame, pl.LazyFrame):
            return None
        remedy = "read the files into a frame first, polars.read_parquet(...)"
        return N_("files"), remedy


@dataclass(eq=False)
class ListTable(MadeTable):
    """One side, of lists or of numbers by pair, with a row an item."""


#: Tables by name.
Tables: TypeAlias = Mapping[str, InputTable]


def is_file(given: object) -> bool:
    """Return whether a path was given."""
    return isinstance(given, (str, os.PathLike))


def is_frame(thing: object) -> bool:
    """Return whether a thing is a table of another library, or a stream of one."""
    if isinstance(thing, (pd.DataFrame, pl.DataFrame, pl.LazyFrame)):
        return True
    if isinstance(thing, (pd.Series, pl.Series)):
        return False  # a stream of Arrow as well, of one column
    is_stream = hasattr(type(thing), "__arrow_c_stream__")
    return is_stream or is_dataset(thing) or engine_name(thing) is not None


def engine_name(thing: object) -> str | None:
    """Return the name of the engine that holds a frame; None of other things."""
    return ENGINES.get(package_of(thing))


def package_of(thing: object) -> str:
    """Return the package that the type of a thing is from."""
    return type(thing).__module__.split(".", 1)[0]


def _refuse_engine(frame: Frame, name: str) -> None:
    """Raise an error for a frame that an engine holds."""
    engine = engine_name(frame)
    if engine is not None:
        raise FrameError(
            f"{name} is a {engine} DataFrame: type "
            f"recnb.{engine.lower()}.evaluate(recs, truth)."
        )


def not_read(thing: object, name: str) -> FrameError:
    """Return the error for a thing that no form reads."""
    return FrameError(
        f"{name} is a {type(thing).__name__}, which is nothing that recnb "
        "reads: give a pandas or Polars frame, a pyarrow table or "
        "dataset, a DuckDB relation, the path of a file or, of lists, a "
        "mapping by user; and a truth, recnb.evaluate(recs, truth). "
        "A matrix of items by user is dict(zip(users, matrix)). For one list: "
        "recnb.ndcg(ranking, relevant); for labels and "
        "scores: recnb.evaluate_groups(y_true, y_score, group=sizes)."
    )


def _whole_stream(stream: Any, name: str) -> Any:
    """Return a stream of Arrow, which is read once, as a table."""
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(stream).read_all()
    except (TypeError, pa.ArrowInvalid):  # it is none, or has no columns
        raise not_read(stream, name) from None


def _column_names(frame: Frame) -> list[str]:
    """Return the names of columns, of which two may be equal."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect_schema().names()
    if is_dataset(frame):
        return [*frame.schema.names]
    # The `columns` of pyarrow are arrays, not names.
    return [*(getattr(frame, "column_names", None) or frame.columns)]


def is_dataset(frame: object) -> bool:
    """Return whether a table is a pyarrow dataset, without importing pyarrow."""
    return "pyarrow.dataset" in sys.modules and isinstance(
        frame, sys.modules["pyarrow.dataset"].Dataset
    )


def is_relation(frame: object) -> bool:
    """Return whether a table is a DuckDB relation, without importing duckdb."""
    return "duckdb" in sys.modules and isinstance(
        frame, sys.modules["duckdb"].DuckDBPyRelation
    )


@contextmanager
def errors_name_frame(name: str, fix: str = MEND) -> Iterator[None]:
    """Raise errors of reading what is not in memory as errors that name it."""
    duckdb_errors = (sys.modules["duckdb"].Error,) if "duckdb" in sys.modules else ()
    try:
        yield
    except duckdb_errors as problem:
        raise _unreadable(name, problem, FETCH) from problem
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise _unreadable(name, problem, fix) from problem


def _unreadable(name: str, problem: Exception, fix: str) -> FrameError:
    """Return the error for a table whose rows cannot be read."""
    reason = one_line(str(problem).strip().split("\n")[0], 1000)
    return FrameError(f"{name} cannot be read: {reason.rstrip('.')}. {fix}")


def arrow_of(frame: Frame, columns: list[str], n: int | None = None) -> Any:
    """Return columns of what speaks Arrow as a table of it, or their first n rows."""
    import pyarrow as pa

    if is_relation(frame):
        frame = frame.select(*map(sys.modules["duckdb"].ColumnExpression, columns))
        if n is not None:
            frame = frame.limit(n)
    if not is_dataset(frame):
        return pa.table(frame).select(columns)[:n]
    if n is None:
        return frame.to_table(columns=columns)
    return frame.head(n, columns=columns)


def _by_role(labels: Labels) -> list[pl.Expr]:
    """Return columns of a frame of Polars, under the names of their roles."""
    return [pl.col(column).alias(role) for role, column in labels.items()]


def _reader(frame: Frame, labels: Labels) -> Any:
    """Return columns of a table that is not in memory as batches, to be closed."""
    if isinstance(frame, pl.LazyFrame):
        picked = frame.select(_by_role(labels))
        return nullcontext(picked.collect_batches(chunk_size=ROWS, engine="streaming"))
    if is_dataset(frame):
        import pyarrow.dataset as ds

        # One batch and one file ahead: what is read further ahead is held, and is as
        # large as the files.
        columns = {role: ds.field(column) for role, column in labels.items()}
        return frame.scanner(
            columns=columns, batch_size=ROWS, batch_readahead=1, fragment_readahead=1
        ).to_reader()
    import duckdb

    expressions = [
        duckdb.ColumnExpression(column).alias(role) for role, column in labels.items()
    ]
    picked = frame.select(*expressions)
    if hasattr(picked, "to_arrow_reader"):
        return picked.to_arrow_reader(ROWS)
    return picked.fetch_record_batch(ROWS)  # of older versions
