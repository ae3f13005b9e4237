"""A table of any library: its columns, and some of them as Polars under other names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.names import IDS, NAMES, Labels, role_of
from recnb.display.text import one_line
from recnb.errors import ColumnError, FrameError, is_several, quoted
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
    #: Whether recnb made it of a file or another form: its caller has no code for it.
    made: bool = False
    #: Whether it comes from text, where whole numbers may be text as well.
    loose: bool = False
    #: Whether it is of lists, or of numbers by pair, and so holds one side alone.
    is_one_side: bool = False
    #: How many lists it has, if these are numbered.
    n_numbered: int | None = None
    #: Users whose list is empty, and who have no row therefore.
    without_items: Sequence[Any] = ()

    @classmethod
    def of(cls, frame: Frame, name: str) -> InputTable:
        """Return a frame as a table, or raise an error for what is none."""
        table = table_of(frame, name)
        if table is None:
            raise not_read(frame, name)
        return table

    @classmethod
    def of_rows(cls, name: str, rows: pl.DataFrame, **known: Any) -> InputTable:
        """Return rows in memory that recnb made."""
        return cls(name, rows, rows.columns, made=True, **known)

    @cached_property
    def by_role(self) -> dict[str | None, list[str]]:
        """The columns whose names suggest each role."""
        columns: dict[str | None, list[str]] = {}
        for column in self.columns:
            columns.setdefault(role_of(column), []).append(column)
        return columns

    def has_role(self, role: str, named: Mapping[str, Sequence[str]]) -> bool:
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
            head = self.select({column: column for column in self.columns}, n=0)
            return [column.name for column in head if column.dtype.is_nested()]
        columns = []
        for column, dtype in self.frame.dtypes.items():
            if dtype.kind != "O":
                continue
            known = self.frame[column].dropna()
            if len(known) and is_several(known.iloc[0]):
                columns.append(str(column))
        return columns

    def select(self, roles: Labels, n: int | None = None) -> pl.DataFrame:
        """Return columns under other names, in memory of their own; the first n rows."""
        frame, columns = self.frame, [*dict.fromkeys(roles.values())]
        if isinstance(frame, pd.DataFrame):
            rows = frame if n is None else frame[:n]
            return owned(
                from_pandas(rows[column], self.name, column, role).alias(role)
                for role, column in roles.items()
            )
        with collected(self.name):
            if isinstance(frame, pl.LazyFrame):
                query = frame.select(columns)
                frame = (query if n is None else query.head(n)).collect()
            elif not isinstance(frame, pl.DataFrame):
                frame = _from_arrow(frame, columns, self.name, n)
        renamed = [frame[column].alias(role) for role, column in roles.items()]
        if self.made and frame is self.frame:  # its caller cannot write into it
            return pl.DataFrame([column.rechunk() for column in renamed])
        return owned(renamed)

    def distinct(self, column: str) -> pl.Series:
        """Return the values of a column, each once where rows are not in memory."""
        frame = self.frame
        if isinstance(frame, pl.LazyFrame):
            with collected(self.name):
                values = frame.select(pl.col(column).unique())
                return values.collect(engine="streaming")[column]
        return self.select({column: column})[column]


def table_of(frame: Frame, name: str) -> InputTable | None:
    """Return a frame of pandas, Polars, Arrow or DuckDB as a table; None: it is none."""
    kind = type(frame)
    engine = ENGINES.get(kind.__module__.split(".", 1)[0])
    if engine is not None:
        raise FrameError(
            f"{name} is a {engine} DataFrame: type "
            f"recnb.{engine.lower()}.evaluate(recs, truth)."
        )
    if isinstance(frame, (Mapping, Sequence, pd.Series, pl.Series)):
        return None
    with collected(name):
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
    """Return the error for what is no form of a table."""
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
    """Return a stream of Arrow, which is read once, as a table; None: it has no columns."""
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(stream).read_all()
    except pa.ArrowInvalid:
        return None


def _column_names(frame: Frame) -> list[str] | None:
    """Return the column names of a frame, of which two may be equal; None: it is none."""
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
def collected(name: str) -> Iterator[None]:
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


def _from_arrow(
    frame: Frame, columns: list[str], name: str, n: int | None
) -> pl.DataFrame:
    """Return columns of what speaks Arrow, or their first n rows."""
    table = arrow_of(frame, columns, n)
    refuse_unread(table.schema, name)
    return pl.DataFrame(pl.from_arrow(table))


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


def refuse_unread(fields: Iterable[Any], name: str) -> None:
    """Refuse columns of the types of Arrow that Polars does not read.

    Some of them end in a panic there.
    """
    import pyarrow as pa

    kinds = pa.lib
    unread = {
        kinds.Type_DECIMAL256,
        kinds.Type_RUN_END_ENCODED,
        kinds.Type_LIST_VIEW,
        kinds.Type_LARGE_LIST_VIEW,
        kinds.Type_INTERVAL_MONTH_DAY_NANO,
        kinds.Type_SPARSE_UNION,
        kinds.Type_DENSE_UNION,
    }
    for field in fields:
        if field.type.id in unread:
            label = field.name
            raise FrameError(
                f"{name}: column {label!r} holds {one_line(str(field.type), 80)} of "
                "Arrow, which is not read. Make it plain numbers or text: in pandas "
                f"frame[{label!r}] = frame[{label!r}].to_list(), in pyarrow "
                f"pyarrow.array(table[{label!r}].to_pylist())."
            )


def owned(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Copy columns into memory that is not shared with the caller, in one chunk each.

    The caller may write into theirs.
    """
    copies = []
    for column in columns:
        if column.dtype != pl.String:  # text of Polars is never shared
            # Polars copies what it puts together, and leaves a single piece where it
            # is: hence one row more.
            column = pl.concat([column, column[:1]]).rechunk()[: len(column)]
        copies.append(column.rechunk())
    return pl.DataFrame(copies)


def with_series(table: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """Replace or add columns, without the query that `DataFrame.with_columns` runs."""
    other = table.clone()
    for column in columns:
        if column.name in other.columns:
            other.replace_column(other.get_column_index(column.name), column)
        else:
            other.insert_column(other.width, column)
    return other


def column_of(values: Sequence[Any], name: str, label: str, role: str) -> pl.Series:
    """Return values of one kind as a column; None is missing."""
    try:
        column = pl.Series(role, values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        column = pl.Series(role, [None])
    if column.dtype in (pl.Int64, pl.String, pl.Float64):
        return column
    given = pd.Series(values, dtype=object)
    return from_pandas(given, name, label, role).alias(role)


def from_pandas(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """Return a column of pandas as one of Polars, in which all values are of one kind."""
    dtype: Any = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        # Polars before 1.38 takes no array of another byte order.
        native = column.to_numpy().astype(dtype.newbyteorder("="), copy=False)
        return pl.Series(native)
    if isinstance(dtype, pd.SparseDtype):
        column = pd.Series(np.asarray(column))
    value_dtype, is_ordered = dtype, False
    if isinstance(dtype, pd.CategoricalDtype):
        value_dtype = dtype.categories.dtype
        # Groups of users or items keep an order of their own.
        is_ordered = bool(dtype.ordered) and role not in NAMES
    if isinstance(value_dtype, pd.PeriodDtype) and role in IDS:
        column = column.dt.to_timestamp()  # refused as a date is
    elif is_ordered or isinstance(value_dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        column = column.map(str, na_action="ignore")
    values = _as_arrow_reads(column, name, label, role)
    if is_ordered:
        return values.cast(pl.Enum(column.cat.categories))
    if values.dtype == pl.Categorical:
        return values.cast(pl.String)
    return values


def _as_arrow_reads(
    column: pd.Series[Any], name: str, label: str, role: str
) -> pl.Series:
    """Return a column of pandas as Arrow reads it; refuse values of several kinds."""
    import pyarrow as pa

    try:
        array = pa.array(column, from_pandas=True)
    except UnicodeEncodeError as problem:
        raise FrameError(
            f"{name}: column {label!r} holds text that is not Unicode, such as "
            f"{problem.object!r}: {problem.reason}. Replace it, "
            "text.encode('utf-8', 'replace').decode()."
        ) from problem
    except (pa.ArrowException, OverflowError) as problem:
        if role in ("rank", "score", "relevance"):
            # As text, of which the check of numbers says what is no number.
            return from_pandas(column.map(str, na_action="ignore"), name, label, role)
        known = column.dropna()
        kinds = ", ".join(sorted({type(value).__name__ for value in known}))
        if kinds == "int":
            raise FrameError(
                f"{name}: column {label!r} holds {max(known, key=abs)}, and only whole "
                "numbers below 2**63 are read. Make them text in every frame."
            ) from problem
        # The text of what is missing would be an id, "nan" or "None".
        raise FrameError(
            f"{name}: column {label!r} holds values of more than one kind, or of one that "
            f"is no id or number: {kinds}, such as {quoted(known.iloc[0])}. "
            "Make them one kind, such as text, and drop what is missing first."
        ) from problem
    refuse_unread([pa.field(str(label), array.type)], name)
    # Views are how Polars has text, and Arrow makes them in a third of Polars' time;
    # they cannot point beyond 2 GB. Before pyarrow 25 the cast ends the process for text
    # of up to 12 bytes.
    is_text = pa.types.is_large_string(array.type)
    casts_safely = int(pa.__version__.split(".")[0]) >= 25
    if is_text and casts_safely and array.nbytes < 2**31:
        array = array.cast(pa.string_view())
    return pl.Series(pl.from_arrow(array))
