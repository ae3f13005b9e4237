"""A table of any library: its columns, and some of them as Polars under other names."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import pandas as pd
import polars as pl

from recnb.data.convert import from_pandas, owned, refuse_unread
from recnb.data.names import Labels, Named, role_of
from recnb.display.text import one_line
from recnb.errors import ColumnError, FrameError, is_several
from recnb.metrics.hits import cached_property

#: Tables that callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and
#: all with Arrow's stream protocol (pyarrow, DuckDB).
Frame: TypeAlias = Any

#: Packages whose frames stay where they are.
ENGINES = {"dask": "Dask", "pyspark": "Spark"}


class Scanned(pl.LazyFrame):
    """The rows of files, which are read when they are asked for."""

    @classmethod
    def of(cls, frame: pl.LazyFrame) -> Scanned:
        """Make one of a lazy frame."""
        return cast("Scanned", cls._from_pyldf(frame._ldf))


@dataclass(eq=False)
class InputTable:
    """A table as it was given, or as it was made of another form."""

    name: str  #: what errors call it
    frame: Frame
    columns: list[str]
    #: Of a file or another form: its caller has no code for it, and cannot write into it.
    made_by_recnb: bool = False
    #: Whether whole numbers in it may be text as well.
    from_text: bool = False
    #: Whether it is of lists, or of numbers by pair, and so holds one side alone.
    is_one_side: bool = False
    #: How many lists it has, if these are numbered.
    n_numbered: int | None = None
    #: Users whose list is empty, and who have no row therefore.
    without_items: Sequence[Any] = ()

    @classmethod
    def of(cls, frame: Frame, name: str) -> InputTable:
        """Return a frame as a table, or raise an error for any other thing."""
        table = table_of(frame, name)
        if table is None:
            raise not_read(frame, name)
        return table

    @classmethod
    def of_rows(cls, name: str, rows: pl.DataFrame, **known: Any) -> InputTable:
        """Return rows in memory that recnb made."""
        return cls(name, rows, rows.columns, made_by_recnb=True, **known)

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
        return any(column in self.columns for column in named.get(role, ()))

    @property
    def levels(self) -> list[Any]:
        """The names of the index of a pandas frame."""
        return [*self.frame.index.names] if isinstance(self.frame, pd.DataFrame) else []

    def columns_of_lists(self) -> list[str]:
        """Return the columns whose cells are lists or mappings."""
        if not isinstance(self.frame, pd.DataFrame):
            head = self._collected(self.columns, n=0)
            return [column.name for column in head if column.dtype.is_nested()]
        columns = []
        for column, dtype in self.frame.dtypes.items():
            if dtype.kind != "O":
                continue
            known = self.frame[column].dropna()
            if len(known) and is_several(known.iloc[0]):
                columns.append(str(column))
        return columns

    def select(self, labels: Labels) -> pl.DataFrame:
        """Return columns under the names of their roles, in memory of their own."""
        frame = self.frame
        if isinstance(frame, pd.DataFrame):
            return owned(
                from_pandas(frame[column], self.name, column, role).alias(role)
                for role, column in labels.items()
            )
        if not isinstance(frame, pl.DataFrame):
            rows = self._collected([*dict.fromkeys(labels.values())])
            return owned(_by_role(rows, labels))
        if self.made_by_recnb:
            return pl.DataFrame(_by_role(frame, labels)).rechunk()
        return owned(_by_role(frame, labels))

    def _collected(self, columns: list[str], n: int | None = None) -> pl.DataFrame:
        """Return columns, or their first n rows, as Polars."""
        with errors_name_frame(self.name):
            if isinstance(self.frame, (pl.LazyFrame, pl.DataFrame)):
                query = self.frame.lazy().select(columns)
                return (query if n is None else query.head(n)).collect()
            table = arrow_of(self.frame, columns, n)
            refuse_unread(table.schema, self.name)
            return pl.DataFrame(pl.from_arrow(table))

    def distinct(self, column: str) -> pl.Series:
        """Return the values of a column, each once where rows are not in memory."""
        frame = self.frame
        if isinstance(frame, pl.LazyFrame):
            with errors_name_frame(self.name):
                values = frame.select(pl.col(column).unique())
                return values.collect(engine="streaming")[column]
        return self.select({column: column})[column]


def _by_role(rows: pl.DataFrame, labels: Labels) -> list[pl.Series]:
    """Return columns under the names of their roles."""
    return [rows[column].alias(role) for role, column in labels.items()]


def table_of(frame: Frame, name: str) -> InputTable | None:
    """Return a frame of pandas, Polars, Arrow or DuckDB as a table; None if it is none."""
    kind = type(frame)
    engine = ENGINES.get(kind.__module__.split(".", 1)[0])
    if engine is not None:
        raise FrameError(
            f"{name} is a {engine} DataFrame: type "
            f"recnb.{engine.lower()}.evaluate(recs, truth)."
        )
    if isinstance(frame, (Mapping, Sequence, pd.Series, pl.Series, type)):
        return None
    with errors_name_frame(name):
        if hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "columns"):
            frame = _whole_stream(frame)
        columns = _column_names(frame)
    if columns is None:
        return None
    if len({*columns}) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ColumnError(
            f"{name}: more than one column is called {twice!r}; rename all but one."
        )
    return InputTable(name, frame, columns)


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


def _whole_stream(stream: Any) -> Any:
    """Return a stream of Arrow, which is read once, as a table; None without columns."""
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(stream).read_all()
    except pa.ArrowInvalid:
        return None


def _column_names(frame: Frame) -> list[str] | None:
    """Return the column names, of which two may be equal; None if it is no frame."""
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        return [*frame.columns]
    if isinstance(frame, pl.LazyFrame):
        return frame.collect_schema().names()
    if is_dataset(frame):
        return [*frame.schema.names]
    if hasattr(frame, "__arrow_c_stream__"):
        # The `columns` of Arrow are the values.
        return [*(getattr(frame, "column_names", None) or frame.columns)]
    return None


def is_dataset(frame: Frame) -> bool:
    """Return whether a table is a pyarrow dataset, without importing pyarrow."""
    return "pyarrow.dataset" in sys.modules and isinstance(
        frame, sys.modules["pyarrow.dataset"].Dataset
    )


def is_relation(frame: Frame) -> bool:
    """Return whether a table is a DuckDB relation, without importing duckdb."""
    return "duckdb" in sys.modules and isinstance(
        frame, sys.modules["duckdb"].DuckDBPyRelation
    )


@contextmanager
def errors_name_frame(name: str) -> Iterator[None]:
    """Raise errors of reading a frame that is not in memory as errors that name it."""
    duckdb_errors = (sys.modules["duckdb"].Error,) if "duckdb" in sys.modules else ()
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, *duckdb_errors) as problem:
        reason = one_line(str(problem).strip().split("\n")[0], 1000)
        fix = "It cannot be collected either: mend what it reads."
        if isinstance(problem, duckdb_errors):
            fix = "Fetch it while its connection is open, relation.to_arrow_table()."
        raise FrameError(
            f"{name} cannot be read: {reason.rstrip('.')}. {fix}"
        ) from problem


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
