"""A table of any library: its columns, and some of them as Polars under other names.

Rows that are not in memory are a lazy frame of Polars.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
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

#: What holds rows that are not in memory, in words, and what to type to have them there.
Origin: TypeAlias = tuple[str, str]

LAZY: Origin = (N_("a lazy frame"), "collect the frame first, frame.collect()")
DATASET: Origin = (
    N_("the files of a pyarrow dataset"),
    "read the dataset first, dataset.to_table()",
)
RELATION: Origin = (
    N_("a DuckDB relation"),
    "fetch the relation first, relation.to_arrow_table()",
)
FILES: Origin = (
    N_("files"),
    "read the files into a frame first, polars.read_parquet(...)",
)

#: Rows of a table that is fetched into memory, at most.
HELD = 2**23
#: Packages whose frames stay where they are, and what errors call them.
ENGINE_NAMES = {"dask": "Dask", "pyspark": "Spark"}
#: The errors of Polars, and those of what it does not read.
OF_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
#: What to do about a table whose rows an error keeps from being read.
MEND = (
    "It cannot be collected either: mend what it reads. Of several files, all need the "
    "same columns, of the same types."
)


@dataclass(eq=False)
class InputTable:
    """A table as it was given."""

    name: str  #: what errors call it
    frame: Frame
    columns: list[str]
    #: Users whose list is empty, and who have no row therefore: lists alone can say so.
    without_items: Sequence[Any] = ()
    kept_in: Origin = LAZY  #: what holds the rows of a lazy frame

    @classmethod
    def of(cls, frame: Frame, name: str) -> Self:
        """Make a table of a frame, or of a stream of one, which is read once."""
        kept_in = cls.kept_in
        if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
            columns = [*frame.columns]
        else:
            _refuse_engine(frame, name)
            with errors_name_frame(name):
                if is_dataset(frame):
                    frame, kept_in = pl.scan_pyarrow_dataset(frame), DATASET
                elif is_relation(frame):
                    kept_in = RELATION
                elif not hasattr(type(frame), "columns"):
                    frame = _whole_stream(frame, name)
                columns = _column_names(frame)
        if len({*columns}) < len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            raise ColumnError(
                f"{name}: more than one column is called {twice!r}; rename all but one."
            )
        return cls(name, frame, columns, kept_in=kept_in)

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
            rows = self.collected(labels.values())
        return self._own([rows[label].alias(role) for role, label in labels.items()])

    def _own(self, columns: Iterable[pl.Series]) -> pl.DataFrame:
        """Return columns in memory into which the caller does not write."""
        return owned(columns)

    def query(self, columns: Iterable[str], n: int | None = None) -> pl.LazyFrame:
        """Return columns of a table that is not of pandas, or of its first n rows."""
        frame, labels = self.frame, [*dict.fromkeys(columns)]
        if isinstance(frame, (pl.LazyFrame, pl.DataFrame)):
            query = frame.lazy().select(labels)
        elif is_relation(frame):
            with errors_name_frame(self.name):
                query = _picked(frame, labels).pl(lazy=True)
        else:
            import pyarrow as pa

            table = pa.table(frame).select(labels)[:n]
            refuse_unread(table.schema, self.name)
            query = pl.DataFrame(pl.from_arrow(table)).lazy()
        return query if n is None else query.head(n)

    def collected(self, columns: Iterable[str]) -> pl.DataFrame:
        """Return columns as Polars."""
        with errors_name_frame(self.name):
            return self.query(columns).collect()

    def fetched(self, columns: Iterable[str]) -> Self:
        """Return a table with rows in memory: this one, or these columns fetched."""
        frame, labels = self.frame, [*dict.fromkeys(columns)]
        if isinstance(frame, pl.LazyFrame):
            frame = self.collected(labels)
        elif is_relation(frame):
            with errors_name_frame(self.name):
                frame = _picked(frame, labels).to_arrow_table()
        else:
            return self
        return replace(self, frame=frame, columns=labels)

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
        is_elsewhere = isinstance(self.frame, pl.LazyFrame) or is_relation(self.frame)
        return self.kept_in if is_elsewhere else None

    def lazy(self, labels: Labels) -> pl.LazyFrame:
        """Return columns under the names of their roles, with categories as text."""
        if self.origin is None:
            query = self.select(labels).lazy()
        else:
            columns = [pl.col(label).alias(role) for role, label in labels.items()]
            query = self.query(labels.values()).select(columns)
        categories = pl.selectors.categorical() | pl.selectors.enum()
        return query.with_columns(categories.cast(pl.String))

    def fetched_if_few(self, labels: Labels) -> Self | None:
        """Return these columns in memory; None: they have too many rows."""
        if self.origin is None:
            return self
        with errors_name_frame(self.name):
            query = self.query(labels.values()).head(HELD + 1)
            rows = query.collect(engine="streaming")
        if rows.height > HELD:
            return None
        return replace(self, frame=rows, columns=rows.columns)

    def distinct(self, column: str) -> pl.Series:
        """Return the values of a column, each once, in the order in which they come."""
        with errors_name_frame(self.name):
            values = self.lazy({column: column}).unique(maintain_order=True)
            return values.collect(engine="streaming")[column]


@dataclass(eq=False)
class MadeTable(InputTable):
    """A table that recnb made: its caller has no frame to change by code, or to write into."""

    def _own(self, columns: Iterable[pl.Series]) -> pl.DataFrame:
        """Return columns, which are recnb's own."""
        return pl.DataFrame(columns)


@dataclass(eq=False)
class FileTable(MadeTable):
    """The rows of files, which of Parquet are read when they are asked for."""

    kept_in: Origin = FILES


@dataclass(eq=False)
class ListTable(MadeTable):
    """One side, of lists or of numbers by pair, with a row an item."""


#: Tables by name.
Tables: TypeAlias = Mapping[str, InputTable]


# ---- what is opened as a table

#: What was given, what errors call it, columns named by keyword -> a table, or None if it
#: is of another form.
Form: TypeAlias = Callable[[Any, str, Named], InputTable | None]
#: Tables by name, columns named by keyword -> the same with more columns named.
Hint: TypeAlias = Callable[[Tables, Named], tuple[Tables, Named]]
#: The forms of input beside frames, in the order in which they are asked. `forms.py` has
#: the usual ones; those of `inputs/` come first, since they know some mappings, lists and
#: paths better.
FORMS: list[Form] = []
#: Each hint, with the columns of which one must be present. It names more columns, as
#: keywords do, once all tables are open.
HINTS: list[tuple[Collection[str], Hint]] = []


def opened(thing: Any, name: str, named: Named) -> InputTable:
    """Return what was given as a table, in whatever form it is."""
    if isinstance(thing, InputTable):
        return replace(thing, name=name)
    if is_frame(thing):
        return InputTable.of(thing, name)
    for form in FORMS:
        table = form(thing, name, named)
        if table is not None:
            return table
    raise not_read(thing, name)


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
    return ENGINE_NAMES.get(package_of(thing))


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


def _picked(relation: Any, columns: Iterable[str]) -> Any:
    """Return a relation with these columns."""
    return relation.select(*map(sys.modules["duckdb"].ColumnExpression, columns))


@contextmanager
def errors_name_frame(name: str, fix: str = MEND) -> Iterator[None]:
    """Raise errors of reading what is not in memory as errors that name it."""
    of_duckdb = (sys.modules["duckdb"].Error,) if "duckdb" in sys.modules else ()
    try:
        yield
    except (*OF_POLARS, OSError, *of_duckdb) as problem:
        first_line = str(problem).strip().split("\n")[0]
        # Polars hints at arguments of its own.
        without_hint = re.sub(r", (hint:|consider) .*?(?=\. |$)", "", first_line)
        reason = one_line(without_hint, 1000).rstrip(".")
        raise FrameError(f"{name} cannot be read: {reason}. {fix}") from problem
