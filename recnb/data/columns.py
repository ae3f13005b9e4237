"""Any kind of table: which column plays which role, and these as a Polars frame.

Roles are user, item, rank, score, relevance and others.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
import polars as pl

from recnb.display.text import one_line
from recnb.errors import ColumnError, FrameError, listed, quoted

#: Tables that callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and
#: all with Arrow's stream protocol (pyarrow, DuckDB).
Frame = Any

#: The column names that are taken for a role, in lower case and without _, - and
#: blanks.
NAMES: dict[str, tuple[str, ...]] = {
    "user": (
        "user",
        "userid",
        "uid",
        "customer",
        "customerid",
        "member",
        "memberid",
        "query",
        "queryid",
        "qid",
        "session",
        "sessionid",
        "visitor",
        "visitorid",
    ),
    "item": (
        "item",
        "itemid",
        "iid",
        "movie",
        "movieid",
        "doc",
        "docid",
        "docno",
        "document",
        "documentid",
        "corpusid",
        "product",
        "productid",
        "article",
        "articleid",
        "track",
        "trackid",
        "sku",
        "asin",
    ),
    "rank": ("rank", "position"),
    "score": (
        "score",
        "prediction",
        "predictedscore",
        "pred",
        "predictions",
        "ypred",
        "yscore",
        "yhat",
    ),
    "relevance": (
        "relevance",
        "rel",
        "rating",
        "label",
        "grade",
        "ytrue",
        "labels",
        "target",
    ),
    "model": ("model", "modelname", "algorithm"),
    "recommended": ("recommended", "recommendations"),
    "relevant": ("relevant", "groundtruth"),
}
ROLE_OF = {name: role for role, names in NAMES.items() for name in names}

#: Columns by role, as named by keyword: one, or those of which each frame has one.
Columns: TypeAlias = Mapping[str, str | Sequence[str] | None]
#: The column that plays each role, by role.
Labels: TypeAlias = Mapping[str, str]
#: What the columns of items are called that hold their titles; also with a name of
#: items before it, `product_name`.
TITLES = ("title", "name", "label")

#: Packages whose frames stay where they are.
ENGINES = {"dask": "Dask", "pyspark": "Spark"}


class Made(pl.DataFrame):
    """A table that recnb made of a file, a mapping or lists.

    Its caller has no code for it.
    """

    #: Users whose list is empty, and who have no row therefore.
    without_items: Sequence[Any] = ()


class Scanned(pl.LazyFrame):
    """The rows of files, which are read when they are asked for.

    Their caller has no code for them.
    """

    @classmethod
    def of(cls, frame: pl.LazyFrame) -> Scanned:
        """Make one of a lazy frame."""
        return cast("Scanned", cls._from_pyldf(frame._ldf))


# ---- which column plays which role


def plain_name(column: object) -> str:
    """Return a column's name in lower case and without _, - and blanks."""
    return str(column).lower().replace("_", "").replace("-", "").replace(" ", "")


@cache
def role_of(column: object) -> str | None:
    """Return the role that a column's name suggests."""
    return ROLE_OF.get(plain_name(column))


def by_name(columns: Iterable[str], role: str) -> list[str]:
    """Return the columns whose names suggest a role."""
    return [column for column in columns if role_of(column) == role]


def title_column(columns: Iterable[str]) -> str | None:
    """Return the column of titles among those of items, if there is one.

    The plainest name wins.
    """
    plain = {plain_name(column): column for column in reversed([*columns])}
    usual = (f"{item}{title}" for item in ("", *NAMES["item"]) for title in TITLES)
    return next((plain[name] for name in usual if name in plain), None)


def named(given: Columns, role: str) -> list[str]:
    """Return the columns that a keyword names for a role, of which each frame has one."""
    names = given.get(role)
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    return [*names]


def each_named(given: Columns) -> list[tuple[str, str]]:
    """Return the roles that keywords name columns for, with each column."""
    return [(role, column) for role in given for column in named(given, role)]


def require(
    given: Columns,
    columns: Sequence[str],
    name: str,
    side_frames: Mapping[str, Frame] = MappingProxyType({}),
) -> None:
    """Refuse a column that a keyword names and a table has not.

    One of users or items may be in frames beside it alone.
    """
    for role, column in each_named(given):
        if column in columns:
            continue
        if role in ("user", "item") and in_side_frame(column, side_frames):
            continue
        raise ColumnError(
            f"{name} has no column for {role}={column!r}. Columns: {listed(columns)}."
        )


def in_side_frame(column: str, frames: Mapping[str, Frame]) -> bool:
    """Return whether one of the frames beside recommendations and truth has a column."""
    return any(
        column in columns_of(frame, name)
        for name, frame in frames.items()
        if frame is not None
    )


def find(
    frame: Frame,
    name: str,
    roles: Sequence[str],
    given: Columns,
    optional: Sequence[str] = (),
    *,
    both_sides: bool = False,
) -> dict[str, str]:
    """Find which column of a frame plays which role, as given or by its name.

    A column that is given may be one of other frames alone.

    A frame with both sides needs relevance, and rank or score, of what is optional.
    """
    columns = columns_of(frame, name)
    with_keyword = {*roles, *optional, "split"}
    taken = {column for role, column in each_named(given) if role in with_keyword}
    free = [column for column in columns if column not in taken]
    labels: dict[str, str] = {}
    for role in (*roles, *optional):
        candidates = _named_here(columns, name, role, named(given, role))
        if not candidates:
            candidates = by_name(free, role)
        is_needed = role in roles
        if not candidates and is_needed:
            candidates = by_name(columns, role)  # one that a keyword names for another
        if len(candidates) > 1:
            could_be = " and ".join(map(repr, candidates))
            raise ColumnError(
                f"{name}: {could_be} could each be the {role} column. Say which: "
                f"{role}={candidates[0]!r}."
            )
        if candidates:
            labels[role] = _in_one_role(candidates[0], name, role, labels)
    _refuse_levels(frame, name, {*roles, *optional} - {*labels})
    missing = _missing(roles, optional, labels, both_sides=both_sides)
    if missing:
        raise _no_column(columns, name, missing, labels, given, both_sides=both_sides)
    return labels


def _named_here(
    columns: Sequence[str], name: str, role: str, named_columns: Sequence[str]
) -> list[str]:
    """Return those of the columns that a keyword names that a table has, one at most."""
    named_here = [column for column in named_columns if column in columns]
    if len(named_here) > 1:
        first, second = named_here[:2]
        raise ColumnError(
            f"{name}: {first!r} and {second!r} are both columns of it, and "
            f"{role}= names one for each table. Drop or rename the one that is no "
            f"{role} here."
        )
    return named_here


def _in_one_role(
    column: object, name: str, role: str, labels: Mapping[str, str]
) -> str:
    """Return the name of a column, which may play no other role."""
    for other, label in labels.items():
        if label == column:
            raise ColumnError(
                f"{name}: column {column!r} cannot be both {other} and {role}: name "
                f"another column for one, {role}='...'."
            )
    return str(column)


def _refuse_levels(frame: Frame, name: str, roles: Container[str | None]) -> None:
    """Raise an error if a level of the index of a pandas frame could play a role."""
    if not isinstance(frame, pd.DataFrame):
        return
    for level in frame.index.names:
        if role_of(level) in roles:
            raise ColumnError(
                f"{name} has no {role_of(level)} column, and its index holds {level!r}: "
                "type .reset_index() to make columns of it."
            )


def _missing(
    roles: Sequence[str],
    optional: Sequence[str],
    labels: Mapping[str, str],
    *,
    both_sides: bool,
) -> list[str]:
    """Return the roles for which a column is needed and none was found."""
    missing = [role for role in roles if role not in labels]
    has_order = "rank" in labels or "score" in labels
    if "rank" in optional and not has_order and (missing or both_sides):
        missing.append("score")
    if both_sides and "relevance" not in labels:
        missing.append("relevance")
    return missing


def _no_column(
    columns: Sequence[Any],
    name: str,
    missing: Sequence[str],
    labels: Mapping[str, str],
    given: Columns,
    *,
    both_sides: bool,
) -> ColumnError:
    """Return the error for roles without a column, with what to type.

    Beside the name that another frame has, that of this one is to be typed.
    """
    words = [{"score": "rank or score"}.get(role, role) for role in missing]
    problem = f"{name}: no column is known to be the {' or the '.join(words)}."
    held = f"Its columns: {listed(columns) or 'none'}."
    used = {*labels.values()}
    free = [
        column
        for column in columns
        if column not in used and role_of(column) in (None, *missing)
    ]
    if not all(isinstance(column, str) for column in free):
        fix = (
            "A column is named as text; a table with a row for each user is given as "
            "a mapping of user to items or scores."
        )
        return ColumnError(f"{problem} {held} {fix}")
    title = title_column(free)
    free.sort(key=lambda column: column == title)  # which is an id at the very last
    examples, words_to_type = [], "Say which"
    for role, column in zip_longest(missing, free[: len(missing)], fillvalue="..."):
        others = named(given, role)
        if others:
            words_to_type = "Name each"
            examples.append(f"{role}={[*others, column]}")
        else:
            examples.append(f"{role}={column!r}")
    fix = f"{words_to_type}: {', '.join(examples)}."
    if both_sides:
        fix += " Or give the other frame as well, recs.rec.against(truth)."
    return ColumnError(f"{problem} {held} {fix}")


# ---- tables


def columns_of(frame: Frame, name: str) -> list[str]:
    """Return the column names of any kind of table."""
    columns = _column_names(frame, name)
    if len({*columns}) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ColumnError(
            f"{name}: more than one column is called {twice!r}; rename all but one."
        )
    return columns


def _column_names(frame: Frame, name: str) -> list[str]:
    """Return the column names as they are, of which two may be equal."""
    kind = type(frame)
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        return list(frame.columns)
    engine = ENGINES.get(kind.__module__.split(".", 1)[0])
    if engine is not None:
        raise FrameError(
            f"{name} is a {engine} DataFrame: type recnb.{engine.lower()}.evaluate(recs, truth)."
        )
    with collected(name):
        if isinstance(frame, pl.LazyFrame):
            return frame.collect_schema().names()
        if is_dataset(frame):
            return list(frame.schema.names)
        if hasattr(frame, "__arrow_c_stream__") and hasattr(kind, "columns"):
            # The `columns` of Arrow are the values.
            return list(getattr(frame, "column_names", None) or frame.columns)
    raise FrameError(
        f"{name} is a {kind.__name__}, which is nothing that recnb "
        f"reads: give a pandas or Polars frame, a pyarrow table or "
        "dataset, a DuckDB relation, the path of a file or, of lists, a "
        "mapping by user; and a truth, recnb.evaluate(recs, truth). "
        "A list of records is pandas.DataFrame(records). "
        "A matrix of items by user is dict(zip(users, matrix)). For one list: "
        "recnb.ndcg(ranking, relevant); for labels and "
        "scores: recnb.evaluate_groups(y_true, y_score, group=sizes)."
    )


def read_stream(frame: Any) -> Any:
    """Return a stream of Arrow as a table in memory, as it may be read once.

    It speaks Arrow's stream protocol and does not name its columns. Anything else is
    returned as it is.
    """
    kind = type(frame)
    if (
        not hasattr(kind, "__arrow_c_stream__")
        or hasattr(kind, "columns")
        or isinstance(frame, (pd.Series, pl.Series))
    ):
        return frame
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(frame).read_all()
    except pa.ArrowInvalid:  # of values, which have no columns
        return frame


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


def table_of(frame: Frame, name: str, roles: Mapping[str, str]) -> pl.DataFrame:
    """Return the columns of the roles as a Polars frame in memory of its own.

    They have the names of the roles; the frame is left as it is.
    """
    if isinstance(frame, pd.DataFrame):
        return owned(
            [
                from_pandas(frame[column], name, column, role).alias(role)
                for role, column in roles.items()
            ]
        )
    columns = [*dict.fromkeys(roles.values())]
    if isinstance(frame, pl.LazyFrame):
        with collected(name):
            frame = frame.select(columns).collect()
    elif not isinstance(frame, pl.DataFrame):
        with collected(name):
            table = arrow_of(frame, columns)
            refuse_unread(table.schema, name)
            frame = pl.DataFrame(pl.from_arrow(table))
    return owned([frame[column].alias(role) for role, column in roles.items()])


def ids_in(frame: Frame, label: str) -> pl.Series:
    """Return the ids in a column of a table.

    Where it is not in memory each is returned once, as there may be many more rows.
    """
    if isinstance(frame, pl.LazyFrame):
        with collected("the file"):
            frame = frame.select(pl.col(label).unique()).collect(engine="streaming")
    return table_of(frame, "the file", {label: label})[label]


def arrow_of(frame: Frame, columns: list[str]) -> Any:
    """Return columns of what speaks Arrow."""
    import pyarrow as pa

    if is_relation(frame):
        frame = frame.select(*map(sys.modules["duckdb"].ColumnExpression, columns))
    if is_dataset(frame):
        return frame.to_table(columns=columns)
    return pa.table(frame).select(columns)


def refuse_unread(fields: Iterable[Any], name: str) -> None:
    """Refuse columns of the types of Arrow that Polars does not read.

    Some of them end in a panic there.
    """
    import pyarrow as pa

    kinds = pa.types
    unread = (
        kinds.is_decimal256,
        kinds.is_run_end_encoded,
        kinds.is_list_view,
        kinds.is_large_list_view,
        kinds.is_interval,
        kinds.is_union,
    )
    for field in fields:
        if any(is_kind(field.type) for is_kind in unread):
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
    return pl.DataFrame([_owned_column(column) for column in columns])


def _owned_column(column: pl.Series) -> pl.Series:
    """Copy a column into memory that is not shared, in one chunk."""
    if column.dtype == pl.String:
        return column.rechunk()  # text of Polars is never shared
    # Polars copies what it puts together, and leaves a single piece where it is: hence
    # one row more.
    return pl.concat([column, column[:1]]).rechunk()[: len(column)]


def with_series(table: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """Replace or add columns, without the query that `DataFrame.with_columns` runs."""
    other = table.clone()
    for column in columns:
        if column.name in other.columns:
            other.replace_column(other.get_column_index(column.name), column)
        else:
            other.insert_column(other.width, column)
    return other


def from_pandas(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """Return a column of pandas as one of Polars, in which all values are of one kind."""
    dtype: Any = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        # Polars before 1.38 takes no array of another byte order.
        native = column.to_numpy().astype(dtype.newbyteorder("="), copy=False)
        return pl.Series(native)
    if isinstance(dtype, pd.SparseDtype):
        return _from_arrow(pd.Series(np.asarray(column)), name, label, role)
    value_dtype = dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.ordered and role not in NAMES:
            # Groups of users or items keep an order of their own.
            text = column.map(str, na_action="ignore")
            values = _from_arrow(text, name, label, role)
            return values.cast(pl.Enum(text.cat.categories))
        value_dtype = dtype.categories.dtype
    if isinstance(value_dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        column = column.map(str, na_action="ignore")
    values = _from_arrow(column, name, label, role)
    if values.dtype == pl.Categorical:
        return values.cast(pl.String)
    return values


def _from_arrow(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """Return a column of pandas as Arrow reads it; refuse values of several kinds."""
    import pyarrow as pa

    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError) as problem:
        if role in ("rank", "score", "relevance"):
            # As text, of which the check of numbers says what is no number.
            return from_pandas(column.map(str, na_action="ignore"), name, label, role)
        known = column.dropna()
        kinds = ", ".join(sorted({type(value).__name__ for value in known}))
        # The text of what is missing would be an id, "nan" or "None".
        fix = "Make them one kind, such as text, and drop what is missing first."
        raise FrameError(
            f"{name}: column {label!r} holds values of more than one kind, or of one that "
            f"is no id or number: {kinds}, such as {quoted(known.iloc[0])}. {fix}"
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
