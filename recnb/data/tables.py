"""Tables as they were given, of any library, and how things are opened as tables.

Rows that are not in memory are a lazy frame of Polars, or a relation of DuckDB.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import pandas as pd
import polars as pl
import pyarrow as pa

from recnb.caching import cached_property
from recnb.data.columns import POLARS_ERRORS, from_pandas, owned
from recnb.data.names import IDS, Labels, Named, role_of
from recnb.data.role_table import TEXT, RoleTable
from recnb.display.language import N_
from recnb.display.text import one_line
from recnb.errors import ColumnError, FrameError, is_several

#: Tables that callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and
#: all with Arrow's stream protocol (pyarrow, DuckDB).
Frame: TypeAlias = Any

#: What holds rows that are not in memory, in words, and what to type to have them there.
Origin: TypeAlias = tuple[str, str]

#: Where the rows of a lazy frame are, by what it was made of; "": by its caller.
ORIGINS: dict[str, Origin] = {
    "": (N_("a lazy frame"), "collect the frame first, frame.collect()"),
    "pyarrow": (
        N_("the files of a pyarrow dataset"),
        "read the dataset first, dataset.to_table()",
    ),
    "duckdb": (
        N_("a DuckDB relation"),
        "fetch the relation first, relation.to_arrow_table()",
    ),
    "files": (
        N_("files"),
        "read the files into a frame first, polars.read_parquet(...)",
    ),
}

#: Up to as many rows of a table are fetched into memory.
ROWS_IN_MEMORY = 2**23
#: Packages whose frames stay where they are, and what errors call them.
ENGINE_NAMES = {"dask": "Dask", "pyspark": "Spark"}
#: What to do about a table whose rows an error keeps from being read.
MEND = (
    "It cannot be collected either: mend what it reads. Of several files, all need the "
    "same columns, of the same types."
)

#: What to do about columns that Polars does not read.
LEAVE_OUT = "Leave such columns out, or make them plain numbers or text."


@dataclass(eq=False)
class InputTable:
    """A table as it was given.

    `select` returns columns, `role_table` those of roles with checked ids, and `query` a
    lazy frame. Each takes a mapping: what a column is to be called -> its name here.
    """

    name: str  #: what errors call it
    frame: Frame  #: of pandas or Polars
    columns: list[str]
    #: Users whose list is empty, and who therefore have no row: only a `ListTable` has
    #: such users.
    without_items: Sequence[Any] = ()
    #: The package of what the frame was made of; "" if it was given as it is.
    made_of: str = ""
    #: Whether the caller may write into the frame, so that its columns are copied.
    is_shared: ClassVar[bool] = True
    #: What `role_table` returned, by the columns asked for.
    _read: dict[Any, RoleTable] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, frame: Frame, name: str) -> Self:
        """Make a table of a frame, or of a stream of one, which is read once."""
        made_of = ""
        if not isinstance(frame, (pd.DataFrame, pl.DataFrame, pl.LazyFrame)):
            made_of = package_of(frame)
            frame = _in_polars(frame, name)
        if isinstance(frame, pl.LazyFrame):
            with errors_name_frame(name):
                columns = frame.collect_schema().names()
        else:
            columns = [*frame.columns]
        refuse_equal_names(columns, name)
        return cls(name, frame, columns, made_of=made_of)

    # Which columns it has

    @cached_property
    def by_role(self) -> dict[str | None, list[str]]:
        """The columns whose names suggest each role."""
        columns: dict[str | None, list[str]] = {}
        for column in self.columns:
            columns.setdefault(role_of(column), []).append(column)
        return columns

    @cached_property
    def levels(self) -> dict[str | None, Any]:
        """The levels of an index of pandas by the roles that their names suggest."""
        if not isinstance(self.frame, pd.DataFrame):
            return {}
        return {role_of(level): level for level in self.frame.index.names}

    @cached_property
    def list_columns(self) -> list[str]:
        """The columns whose cells are lists or mappings."""
        if not isinstance(self.frame, pd.DataFrame):
            with errors_name_frame(self.name):
                types = self.frame.collect_schema()
            return [column for column in types if types[column].is_nested()]
        columns = []
        for column, dtype in self.frame.dtypes.items():
            if dtype.kind != "O":
                continue
            known = self.frame[column].dropna()
            if len(known) and is_several(known.iloc[0]):
                columns.append(str(column))
        return columns

    # What they hold

    @property
    def origin(self) -> Origin | None:
        """What holds the rows; None if they are in memory."""
        return ORIGINS[self.made_of] if isinstance(self.frame, pl.LazyFrame) else None

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
            in_words = f"{self.name}: column {label!r}"
            column = from_pandas(self.frame[label], in_words, role)
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
        if isinstance(self.frame, pd.DataFrame):
            return pl.LazyFrame(self._of_pandas(labels))
        columns = [pl.col(label).alias(role) for role, label in labels.items()]
        query: pl.LazyFrame = self.frame.lazy().select(columns)
        return query

    def distinct(self, column: str) -> pl.Series:
        """Return the values of a column, each once, in the order in which they come."""
        with errors_name_frame(self.name):
            rows = self.query({column: column}).unique(maintain_order=True)
            values = rows.collect(engine="streaming")[column]
        return values.cast(pl.String) if values.dtype in TEXT else values

    def fetched(self, columns: Iterable[str]) -> Self:
        """Return these columns in memory, or the table as it is if it is there."""
        if not isinstance(self.frame, pl.LazyFrame):
            return self
        names = [*dict.fromkeys(columns)]
        with errors_name_frame(self.name):
            frame = self.frame.select(names).collect(engine="streaming")
        return replace(self, frame=frame, columns=names)

    def fetched_if_few(self, columns: Iterable[str]) -> Self:
        """Return these columns in memory, or the table as it is if it has too many rows."""
        if not isinstance(self.frame, pl.LazyFrame):
            return self
        first_rows = replace(self, frame=self.frame.limit(ROWS_IN_MEMORY + 1)).fetched(
            columns
        )
        return self if len(first_rows.frame) > ROWS_IN_MEMORY else first_rows


@dataclass(eq=False)
class MadeTable(InputTable):
    """A table that recnb made: its caller has no frame to change by code, or to write into."""

    is_shared = False


@dataclass(eq=False)
class FileTable(MadeTable):
    """The rows of files, which of Parquet are read when they are asked for."""


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


def is_path(given: object) -> bool:
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
    """Return the package that the type of a thing is from: of `_duckdb`, "duckdb"."""
    return type(thing).__module__.split(".", 1)[0].strip("_")


def _in_polars(frame: Any, name: str) -> pl.DataFrame | pl.LazyFrame:
    """Return a table of another library, or a stream of one, as a frame of Polars."""
    engine = engine_name(frame)
    if engine is not None:
        raise FrameError(
            f"{name} is a {engine} DataFrame: type "
            f"recnb.{engine.lower()}.evaluate(recs, truth)."
        )
    with errors_name_frame(name, LEAVE_OUT):
        if is_dataset(frame):
            return pl.scan_pyarrow_dataset(frame)
        if package_of(frame) == "duckdb":
            refuse_equal_names(frame.columns, name)  # Polars would rename the second
            in_polars: pl.LazyFrame = frame.pl(lazy=True)
            return in_polars
        try:
            return pl.DataFrame(frame)
        except pl.exceptions.SchemaError:  # a stream of one column
            raise not_read(frame, name) from None


def refuse_equal_names(columns: Sequence[str], name: str, hint: str = "") -> None:
    """Raise an error for columns of one name, with a hint at what they may be."""
    if len({*columns}) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ColumnError(
            f"{name}: more than one column is called {twice!r}; rename all but one.{hint}"
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


def is_dataset(frame: object) -> bool:
    """Return whether a table is a pyarrow dataset, without importing that module."""
    return "pyarrow.dataset" in sys.modules and isinstance(
        frame, sys.modules["pyarrow.dataset"].Dataset
    )


@contextmanager
def errors_name_frame(name: str, fix: str = MEND) -> Iterator[None]:
    """Raise errors of reading a frame or a file as a `FrameError` that names it."""
    of_duckdb = (sys.modules["duckdb"].Error,) if "duckdb" in sys.modules else ()
    try:
        yield
    except (*POLARS_ERRORS, pa.ArrowException, OSError, *of_duckdb) as problem:
        first_line = str(problem).strip().split("\n")[0]
        # Polars hints at arguments of its own.
        without_hint = re.sub(r", (hint:|consider) .*?(?=\. |$)", "", first_line)
        reason = one_line(without_hint, 1000).rstrip(".")
        raise FrameError(f"{name} cannot be read: {reason}. {fix}") from problem
