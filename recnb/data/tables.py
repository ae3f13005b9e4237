"""Tables of any library, and how their columns become those of Polars.

Rows that are not in memory are a lazy frame of Polars, or a relation of DuckDB.
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.data.names import IDS, NAMES, Labels, Named, role_of
from recnb.data.role_table import TEXT, RoleTable
from recnb.display.language import N_
from recnb.display.text import one_line
from recnb.errors import ColumnError, FrameError, quoted

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
#: Chunks of fewer rows cost a query more than putting them together does.
SMALL_CHUNK = 5_000
#: What to do about a table whose rows an error keeps from being read.
MEND = (
    "It cannot be collected either: mend what it reads. Of several files, all need the "
    "same columns, of the same types."
)


@dataclass(eq=False)
class InputTable:
    """A table as it was given.

    `select` returns columns, `role_table` those of roles with checked ids, and `query` a
    lazy frame. Each takes a mapping: what a column is to be called -> its name here.
    """

    name: str  #: what errors call it
    frame: Frame  #: of pandas, Polars or pyarrow, or a relation of DuckDB
    columns: list[str]
    #: Users whose list is empty, and who have no row therefore: lists alone can say so.
    without_items: Sequence[Any] = ()
    kept_in: Origin = LAZY  #: what holds the rows of a lazy frame
    #: Whether the caller may write into the frame, so that its columns are copied.
    is_shared: ClassVar[bool] = True
    #: What `role_table` returned, by the columns asked for.
    _read: dict[Any, RoleTable] = field(default_factory=dict, init=False)

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
                elif not isinstance(frame, pl.LazyFrame):
                    frame = _whole_stream(frame, name)
                columns = _column_names(frame)
        if len({*columns}) < len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            raise ColumnError(
                f"{name}: more than one column is called {twice!r}; rename all but one."
            )
        return cls(name, frame, columns, kept_in=kept_in)

    # Which columns it has

    @cached_property
    def by_role(self) -> dict[str | None, list[str]]:
        """The columns whose names suggest each role."""
        columns: dict[str | None, list[str]] = {}
        for column in self.columns:
            columns.setdefault(role_of(column), []).append(column)
        return columns

    def named_for(self, role: str, named: Named) -> list[str]:
        """Return the columns that keywords name for a role."""
        if role not in named:
            return []
        return [column for column in named[role] if column in self.columns]

    def has_role(self, role: str, named: Named) -> bool:
        """Return whether one of the columns plays a role, by its name or as named."""
        return role in self.by_role or bool(self.named_for(role, named))

    # What they hold

    @property
    def origin(self) -> Origin | None:
        """What holds the rows; None if they are in memory."""
        is_elsewhere = isinstance(self.frame, pl.LazyFrame) or is_relation(self.frame)
        return self.kept_in if is_elsewhere else None

    def select(self, labels: Labels) -> pl.DataFrame:
        """Return columns in memory that the caller does not write into."""
        frame = self.frame
        if isinstance(frame, pd.DataFrame):
            columns = self._of_pandas(labels)
        elif isinstance(frame, pl.DataFrame):
            columns = [frame[label].alias(role) for role, label in labels.items()]
        else:
            with errors_name_frame(self.name):
                columns = self.query(labels).collect().get_columns()
        return owned(columns) if self.is_shared else pl.DataFrame(columns)

    def _of_pandas(self, labels: Labels) -> list[pl.Series]:
        """Return columns of a frame of pandas."""
        columns = []
        for role, label in labels.items():
            column = from_pandas(self.frame[label], self.name, label, role)
            columns.append(column.alias(role))
        return columns

    def role_table(
        self, labels: Labels, beside: Labels = MappingProxyType({})
    ) -> RoleTable:
        """Return the columns of roles, with checked ids, and others beside them.

        They are read once: the models of a comparison share a truth.
        """
        columns = {**labels, **beside}
        key = tuple(columns.items())
        if key not in self._read:
            table = RoleTable(self.name, self.select(columns), labels)
            ids = [role for role in IDS if role in labels]
            self._read[key] = table.with_ids(ids)
        return self._read[key]

    def query(self, labels: Labels) -> pl.LazyFrame:
        """Return columns as a lazy frame of Polars."""
        frame, names = self.frame, [*dict.fromkeys(labels.values())]
        if isinstance(frame, pd.DataFrame):
            return pl.LazyFrame(self._of_pandas(labels))
        if is_relation(frame):
            with errors_name_frame(self.name):
                frame = _picked(frame, names).pl(lazy=True)
        elif not isinstance(frame, (pl.LazyFrame, pl.DataFrame)):
            table = frame.select(names)
            refuse_unread(table.schema, self.name)
            frame = pl.DataFrame(pl.from_arrow(table))
        columns = [pl.col(label).alias(role) for role, label in labels.items()]
        query: pl.LazyFrame = frame.lazy().select(columns)
        return query

    def distinct(self, column: str) -> pl.Series:
        """Return the values of a column, each once, in the order in which they come."""
        with errors_name_frame(self.name):
            rows = self.query({column: column}).unique(maintain_order=True)
            values = rows.collect(engine="streaming")[column]
        return values.cast(pl.String) if values.dtype in TEXT else values

    def fetched(self, columns: Iterable[str]) -> Self:
        """Return these columns in memory, or the table as it is if it is there."""
        if self.origin is None:
            return self
        names = [*dict.fromkeys(columns)]
        with errors_name_frame(self.name):
            if is_relation(self.frame):
                # As Arrow, since Polars may not read one of the columns.
                frame = _picked(self.frame, names).to_arrow_table()
            else:
                frame = self.frame.select(names).collect(engine="streaming")
        return replace(self, frame=frame, columns=names)

    def fetched_if_few(self, columns: Iterable[str]) -> Self:
        """Return these columns in memory, or the table as it is if it has too many rows."""
        if self.origin is None:
            return self
        first_rows = replace(self, frame=self.frame.limit(HELD + 1))
        fetched = first_rows.fetched(columns)
        return self if len(fetched.frame) > HELD else fetched


@dataclass(eq=False)
class MadeTable(InputTable):
    """A table that recnb made: its caller has no frame to change by code, or to write into."""

    is_shared = False


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
        return thing if thing.name == name else replace(thing, name=name)
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
    """Return a table of Arrow, or a stream of one, which is read once, as a table."""
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(stream).read_all()
    except (TypeError, pa.ArrowInvalid):  # it is none, or has no columns
        raise not_read(stream, name) from None


def _column_names(frame: Frame) -> list[str]:
    """Return the names of columns, of which two may be equal."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect_schema().names()
    # The `columns` of pyarrow are arrays.
    return [*(frame.columns if is_relation(frame) else frame.column_names)]


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


# ---- columns of other libraries as those of Polars


def refuse_unread(fields: Iterable[Any], name: str) -> None:
    """Refuse columns of types of Arrow that Polars does not read, some with a panic."""
    import pyarrow as pa

    unread = {
        pa.lib.Type_DECIMAL256,
        pa.lib.Type_RUN_END_ENCODED,
        pa.lib.Type_LIST_VIEW,
        pa.lib.Type_LARGE_LIST_VIEW,
        pa.lib.Type_INTERVAL_MONTH_DAY_NANO,
        pa.lib.Type_SPARSE_UNION,
        pa.lib.Type_DENSE_UNION,
    }
    for column in fields:
        if column.type.id in unread:
            raise FrameError(
                f"{name}: column {column.name!r} holds {one_line(str(column.type), 80)} of "
                "Arrow, which is not read. Make it plain numbers or text, as to_list() of "
                "pandas and to_pylist() of pyarrow do."
            )


def owned(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Copy columns, since the caller may write into theirs; text of Polars is never shared."""
    return pl.DataFrame([*map(_copied, columns)])


def _copied(column: pl.Series) -> pl.Series:
    """Copy a column, in the same chunks: where columns differ in them, queries copy all.

    Small chunks, as of a frame put together from those of users, become one.
    """
    chunks = column.get_chunks()
    if len(chunks) > 1 and len(column) < len(chunks) * SMALL_CHUNK:
        return column.rechunk()
    if column.dtype == pl.String:
        return column
    copies = []
    for chunk in chunks:
        # Polars copies what it puts together, and leaves a single piece where it is:
        # hence one row more.
        longer = pl.concat([chunk, chunk.head(1)]).rechunk()
        copies.append(longer.head(len(chunk)))
    return pl.concat(copies)


def as_column(values: Sequence[Any], name: str, label: str, role: str) -> pl.Series:
    """Return values of one kind as a column; None is missing.

    Plain numbers and text are read by Polars, sooner than by pandas, which reads all
    others. Polars would make True the number 1, and panics at some decimals.
    """
    if {bool, Decimal}.isdisjoint(map(type, values)):
        with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            column = pl.Series(role, values)
            if column.dtype in (pl.Int64, pl.String, pl.Float64):
                return column
    in_pandas = pd.Series(values, dtype=object)
    return from_pandas(in_pandas, name, label, role).alias(role)


def from_pandas(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """Return a column of pandas as one of Polars, in which all values are of one kind."""
    dtype: Any = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        # Polars before 1.38 takes no array of another byte order.
        native = column.to_numpy().astype(dtype.newbyteorder("="), copy=False)
        return pl.Series(native)
    if isinstance(dtype, pd.SparseDtype):
        column = pd.Series(np.asarray(column))
    if isinstance(dtype, pd.CategoricalDtype):
        categories = dtype.categories
        # Groups of users or items keep an order of their own.
        if dtype.ordered and role not in NAMES and categories.map(str).is_unique:
            column = column.map(str, na_action="ignore")
            values = _as_arrow_reads(column, name, label, role)
            return values.cast(pl.Enum(column.cat.categories))
        dtype = categories.dtype
    if isinstance(dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        column = column.map(str, na_action="ignore")
    values = _as_arrow_reads(column, name, label, role)
    return values.cast(pl.String) if values.dtype == pl.Categorical else values


def _as_arrow_reads(
    column: pd.Series[Any], name: str, label: str, role: str
) -> pl.Series:
    """Return a column of pandas as Arrow reads it; refuse values of several kinds."""
    import pyarrow as pa

    # pyarrow looks long at a Series before it asks its array, which has text as Arrow.
    is_text = isinstance(column.dtype, pd.StringDtype)
    try:
        array = pa.array(column.array if is_text else column, from_pandas=True)
    except UnicodeEncodeError as problem:
        raise FrameError(
            f"{name}: column {label!r} holds text that is not Unicode, such as "
            f"{problem.object!r}: {problem.reason}. Replace it, "
            "text.encode('utf-8', 'replace').decode()."
        ) from problem
    except (pa.ArrowException, OverflowError) as problem:
        known = column.dropna()
        if role in ("rank", "score", "relevance"):
            # As text, which Arrow reads: the check of numbers says what is no number.
            return from_pandas(column.map(str, na_action="ignore"), name, label, role)
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
    if not pa.types.is_large_string(array.type):
        refuse_unread([pa.field(str(label), array.type)], name)
        return pl.Series(array)
    # Views are how Polars has text, and Arrow makes them in a third of Polars' time;
    # they cannot point beyond 2 GB. Before pyarrow 25 the cast ends the process for text
    # of up to 12 bytes.
    makes_views = int(pa.__version__.split(".")[0]) >= 25
    if makes_views and array.nbytes < 2**31:
        array = array.cast(pa.string_view())
    return pl.Series(array)
