"""Any kind of table in, a Polars frame with the columns of the roles out: user, item, rank, score, relevance."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.errors import ColumnError, FrameError, listed

#: Tables that callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and all with Arrow's stream protocol (pyarrow, DuckDB).
Frame = Any

#: The column names that are taken for a role, in lower case and without _, - and blanks.
NAMES: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "customer", "customerid", "member", "memberid", "query", "queryid", "qid", "session",
             "sessionid", "visitor", "visitorid"),
    "item": ("item", "itemid", "iid", "movie", "movieid", "doc", "docid", "docno", "document", "documentid", "product",
             "productid", "article", "articleid", "track", "trackid", "sku", "asin"),
    "rank": ("rank", "position"),
    "score": ("score", "prediction", "predictedscore", "pred", "predictions", "ypred", "yscore", "yhat"),
    "relevance": ("relevance", "rel", "rating", "label", "grade", "ytrue", "labels", "target"),
    "model": ("model", "modelname", "algorithm"),
    "recommended": ("recommended", "recommendations"),
    "relevant": ("relevant", "groundtruth"),
}  # fmt: skip
ROLE_OF = {name: role for role, names in NAMES.items() for name in names}

#: Packages whose frames stay where they are.
ENGINES = {"dask": "Dask", "pyspark": "Spark"}


# ---- which column plays which role


class Made(pl.DataFrame):
    """A table that recnb made of a file, a mapping or lists: its caller has no code for it."""


class Roles(dict[str, str]):
    """The column of each role in a frame, and the library of the frame, in whose code errors say what to do."""

    def __init__(self, columns: Mapping[str, str], library: str = "") -> None:
        super().__init__(columns)
        self.library = library

    def code(self, pandas: str = "", polars: str = "", before: str = ": ") -> str:
        """Return code in the caller's library, that of pandas for both if `polars` is empty; nothing for frames of others."""
        text = {"pandas": pandas, "polars": polars or pandas}.get(self.library, "")
        return f"{before}{text}" if text else ""

    def to_type(self, role: str, pandas: str, polars: str, frame: str = "frame") -> str:
        """Return code that gives the column of a role another type."""
        label = repr(self[role])
        return self.code(f"{frame}.astype({{{label}: {pandas}}})", f"{frame}.cast({{{label}: {polars}}})", "")

    def as_type(self, role: str, pandas: str, polars: str) -> str:
        """Return the same as a part of a message."""
        return f": {self.to_type(role, pandas, polars)}" if self.library else ""


def library_of(frame: Frame) -> str:
    """Return the library of a frame, in whose code its caller writes."""
    if isinstance(frame, pd.DataFrame):
        return "pandas"
    return "polars" if isinstance(frame, (pl.DataFrame, pl.LazyFrame)) and not isinstance(frame, Made) else ""


def roles_of(labels: Mapping[str, str], *more: str) -> Roles:
    """Return the roles of a frame whose library may not be known; `more`: roles that may be missing, and have their own name."""
    return Roles({role: role for role in more} | dict(labels), getattr(labels, "library", ""))


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


def find(
    frame: Frame, name: str, roles: Sequence[str], given: Mapping[str, str | None], optional: Sequence[str] = (),
    *, both_sides: bool = False,
) -> Roles:  # fmt: skip
    """Find which column of a frame plays which role: as given, or by its name.

    A role in `given` may name a column that only the other frame has: that frame's own common name then serves here.
    A frame with both sides needs relevance, and rank or score, of what is optional.
    """
    columns, wanted = columns_of(frame, name), [*roles, *optional]
    found = {
        role: column for role, column in given.items() if role in wanted and column is not None and column in columns
    }
    free = [column for column in columns if column not in found.values()]
    for role in wanted:
        # A column that two keywords name, or that another keyword takes from the role of its name.
        same = [
            one
            for one, column in found.items()
            if column == found.get(role) or (role not in found and role_of(column) == role)
        ]
        same += [] if role in found or role not in roles else [role] * len(same)
        candidates = [] if role in found else [column for column in free if role_of(column) == role]
        if len(same) > 1:
            both = f"column {found[same[0]]!r} cannot be both {same[0]} and {same[1]}: name another column for one"
            raise ColumnError(f"{name}: {both}, {same[1] if same[1] in found else same[0]}='...'.")
        if len(candidates) > 1:
            could_be = f"{' and '.join(map(repr, candidates))} could each be the {role} column."
            raise ColumnError(f"{name}: {could_be}", fix=f"Say which: {role}={candidates[0]!r}.")
        if candidates:
            found[role] = candidates[0]
    missing = [role for role in roles if role not in found]
    if "rank" in optional and not {"rank", "score"} & {*found} and (missing or both_sides):
        missing.append("score")
    if both_sides and "relevance" not in found:
        missing.append("relevance")
    if missing or not {*found} & {*optional}:
        for level in frame.index.names if isinstance(frame, pd.DataFrame) else []:
            if (lost := role_of(level)) is not None and lost in wanted and lost not in found:
                problem = f"{name} has no {lost} column, and its index holds {level!r}"
                raise ColumnError(f"{problem}: type .reset_index() to make columns of it.")
    if missing:
        raise _missing(frame, name, missing, given, [one for one in columns if one not in found.values()], both_sides)
    return Roles({role: found[role] for role in wanted if role in found}, library_of(frame))


def _missing(
    frame: Frame, name: str, roles: list[str], given: Mapping[str, str | None], free: list[Any], both_sides: bool
) -> ColumnError:
    """Return the error for all roles without a column."""
    columns, alone = columns_of(frame, name), ", and alone it must hold both what was recommended and what is relevant"
    words = " or the ".join({"score": "rank or score"}.get(role, role) for role in roles)
    problem = f"{name}: no column is known to be the {words}{alone * both_sides}."
    wanted, other = given.get(roles[0]), next(iter([*by_name(free, roles[0]), *free]), "...")
    if wanted is not None:
        code = Roles({}, library_of(frame)).code(
            f"frame.rename(columns={{{other!r}: {wanted!r}}})", f"frame.rename({{{other!r}: {wanted!r}}})"
        )
        problem = f"{name}: there is no column {wanted!r}, which {roles[0]}= names for both frames."
        return ColumnError(
            problem, fix=f"Its columns: {listed(columns)}. Rename the column that it is, such as {other!r}{code}."
        )
    examples = zip(roles, [*free, *["..."] * len(roles)], strict=False)
    fix = f"Say which: {', '.join(f'{role}={column!r}' for role, column in examples)}."
    if not all(isinstance(column, str) for column in columns):
        by_user = "dict(zip(frame.index, frame.to_numpy().tolist())) if its cells are items in rank order"
        fix = (
            "A column is named as text: frame.columns = frame.columns.map(str). For a table with a row for each user, "
            f"{by_user}, and frame.T.to_dict() if they are the scores of items."
        )
    elif both_sides:
        fix += " Or give the other frame as well, recs.rec.against(truth)."
    return ColumnError(problem, fix=f"Its columns: {listed(columns) or 'none'}. {fix}")


# ---- tables


def columns_of(frame: Frame, name: str) -> list[str]:
    """Return the column names of any kind of table."""
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        columns = list(frame.columns)
    elif engine := ENGINES.get(type(frame).__module__.split(".", 1)[0]):
        raise FrameError(f"{name} is a {engine} DataFrame: type recnb.{engine.lower()}.evaluate(recs, truth).")
    elif isinstance(frame, pl.LazyFrame):
        with collected(name):
            columns = frame.collect_schema().names()
    elif is_dataset(frame):
        columns = list(frame.schema.names)
    elif hasattr(frame, "__arrow_c_stream__") and hasattr(type(frame), "columns"):
        with collected(name):  # the columns of Arrow are the values
            columns = list(getattr(frame, "column_names", None) or frame.columns)
    else:
        of_users = "a mapping of user to items, " * (name not in ("items", "users"))
        raise FrameError(
            f"{name} is a {type(frame).__name__}, which is nothing that recnb reads: give a pandas or Polars frame, a pyarrow table or "
            f"dataset, a DuckDB relation, {of_users}or the path of a file, and a truth, recnb.evaluate(recs, truth). A matrix of items by "
            "user is dict(zip(users, matrix)). For one list: recnb.ndcg(ranking, relevant); for labels and scores: "
            "recnb.evaluate_groups(y_true, y_score, group=sizes)."
        )
    if len({*columns}) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ColumnError(f"{name}: more than one column is called {twice!r}; rename all but one.")
    return columns


def is_dataset(frame: Frame) -> bool:
    """Return whether a table is a pyarrow dataset, without importing pyarrow."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(frame, module.Dataset)


def is_relation(frame: Frame) -> bool:
    """Return whether a table is a DuckDB relation, without importing duckdb."""
    module = sys.modules.get("duckdb")
    return module is not None and isinstance(frame, module.DuckDBPyRelation)


@contextmanager
def collected(name: str) -> Iterator[None]:
    """Raise errors of reading a lazy frame or a relation as errors that name the frame."""
    duckdb = sys.modules.get("duckdb")
    errors = (pl.exceptions.PolarsError, *(() if duckdb is None else (duckdb.Error,)))
    try:
        yield
    except errors as problem:
        reason = str(problem).strip().split("\n")[0][:200]
        remedy = (
            "read it into memory first, try frame.collect(), or relation.to_arrow_table() while its connection is open."
        )
        raise FrameError(f"{name} cannot be read ({reason}); {remedy}") from problem


def table_of(frame: Frame, name: str, roles: Mapping[str, str]) -> pl.DataFrame:
    """Return the columns of the roles as a Polars frame in memory of its own, under the names of the roles; the frame is left as it is."""
    if isinstance(frame, pd.DataFrame):
        return owned([from_pandas(frame[column], name, column, role).alias(role) for role, column in roles.items()])
    if isinstance(frame, pl.DataFrame):
        return owned([frame[column].alias(role) for role, column in roles.items()])
    picked = [pl.col(column).alias(role) for role, column in roles.items()]
    with collected(name):
        if isinstance(frame, pl.LazyFrame):
            return owned(frame.select(picked).collect().get_columns())
        return (
            from_arrow(arrow_of(frame, [*dict.fromkeys(roles.values())]), name).select(picked)
            if roles
            else pl.DataFrame()
        )


def arrow_of(frame: Frame, columns: list[str]) -> Any:
    """Return columns of what speaks Arrow, in memory of their own."""
    import pyarrow as pa

    if is_relation(frame):
        frame = frame.select(*map(sys.modules["duckdb"].ColumnExpression, columns))
    table = (frame.to_table(columns=columns) if is_dataset(frame) else pa.table(frame)).select(columns)
    # As in `owned`: what is put together is copied, text as well.
    return pa.concat_tables([table, table.slice(0, 1)]).combine_chunks().slice(0, table.num_rows)


def from_arrow(table: Any, name: str) -> pl.DataFrame:
    """Return a Polars frame of an Arrow table, which may hold no intervals of time."""
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_interval(field.type):
            text = f"""relation.project('* REPLACE ("{field.name}"::VARCHAR AS "{field.name}")')"""
            held = "holds values of type INTERVAL, which are no id or number: make it text"
            raise FrameError(f"{name}: column {field.name!r} {held}, {text}.")
    return pl.DataFrame(pl.from_arrow(table))


def owned(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Copy columns into memory that is not shared with the caller, each in one chunk.

    Polars, pandas and Arrow share memory with the numpy arrays that a frame is made over, and pandas writes into it in place.
    Polars copies what it puts together, and leaves a single piece where it is: hence one row more. Its text is never numpy's.
    """
    text = (pl.String, pl.Binary)
    return pl.DataFrame(
        [
            column.rechunk() if column.dtype in text else pl.concat([column, column[:1]]).rechunk()[: len(column)]
            for column in columns
        ]
    )


def with_series(table: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """Replace or add columns, without the query that `DataFrame.with_columns` runs."""
    return pl.DataFrame(table.to_dict() | {column.name: column for column in columns})


def from_pandas(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """Return a column of pandas as one of Polars, in which all values are of one kind."""
    dtype = column.dtype
    try:
        if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
            return pl.Series(column.to_numpy())
        if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
            return _text(column)
        if isinstance(dtype, pd.CategoricalDtype):
            ordered = bool(dtype.ordered) and role not in NAMES  # groups keep an order of their own
            words = pd.Series([*map(str, dtype.categories)] if ordered else dtype.categories)
            values = from_pandas(words, name, label, role)
            values = values.gather(pl.Series(column.cat.codes.to_numpy()).replace({-1: None}))
            return values.cast(pl.Enum(words)) if ordered else values
        if isinstance(dtype, pd.SparseDtype):
            column = pd.Series(np.asarray(column))
        elif isinstance(dtype, (pd.IntervalDtype, pd.PeriodDtype)):
            column = column.astype(object).map(str, na_action="ignore")
        return pl.from_pandas(column)
    except (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError) as problem:
        kinds = ", ".join(sorted({type(value).__name__ for value in column.dropna()}))
        held = f"holds values of more than one kind, or of one that is no id or number: {kinds}."
        # Text of what is missing would be an id of its own, "nan" or "None".
        first = f"frame = frame.dropna(subset=[{label!r}]), then " if column.isna().any() else ""
        fix = f"Make it one kind, for example {first}.astype(str)."
        if role in ("rank", "score", "relevance"):
            odd = column[pd.to_numeric(column, errors="coerce").isna() & column.notna()]
            fix = f"Make them numbers: frame[{label!r}] = pandas.to_numeric(frame[{label!r}])."
            fix = fix if odd.empty else f"{odd.iloc[0]!r} is no number: correct it, or drop the row."
        raise FrameError(f"{name}: column {label!r} {held}", fix=fix) from problem


def _text(column: pd.Series[Any]) -> pl.Series:
    """Return a column of text that pandas holds in Arrow; Arrow makes views of it, as Polars has them, in a third of Polars' time."""
    import pyarrow as pa

    try:
        return pl.Series(pl.from_arrow(pa.array(column).cast(pa.string_view())))
    except pa.ArrowInvalid:  # more than 2 GB of text, which views cannot point into
        return pl.from_pandas(column)
