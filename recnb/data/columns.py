"""Any kind of table in, a Polars frame with the columns of the roles out: user, item, rank, score, relevance."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.parallel import in_shares
from recnb.errors import ColumnError, FrameError, is_number, listed

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

#: The role of each of these names.
ROLE_OF = {name: role for role, names in NAMES.items() for name in names}

#: Names of features of learning to rank, of what is read by people, and of ids, none of which is the name of a role.
FEATURES = re.compile(r"^(f|x|v|feat|feature|col|column)?\d+$|len$|length|(?<!ac)count|cnt|size$|^n_|^num")
TITLES = re.compile(r"name$|title|descr|text|url|comment|label|date|time")
IDENTIFIERS = re.compile(r"[_\W\d](id|ids|uuid|guid|key|code|no|nr)$|uuid")

#: The roles that are numbers; the others are ids.
NUMBERS = ("rank", "score", "relevance")

#: The errors of pyarrow and Polars for a column of mixed or foreign values; pyarrow's own classes derive from these.
UNREADABLE = (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError)

#: Packages whose frames stay where they are, and where their evaluation is.
ENGINES = {"dask": ("Dask", "recnb.dask"), "pyspark": ("Spark", "recnb.spark")}


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
        types = {"pandas": f"astype({{{self[role]!r}: {pandas}}})", "polars": f"cast({{{self[role]!r}: {polars}}})"}
        return f"{frame}.{types[self.library]}" if self.library in types else ""

    def as_type(self, role: str, pandas: str, polars: str) -> str:
        """Return the same as a part of a message."""
        return f": {self.to_type(role, pandas, polars)}" if self.library else ""


def library_of(frame: Frame) -> str:
    """Return the library of a frame, in whose code its caller writes."""
    tables = (pd.DataFrame, pl.DataFrame, pl.LazyFrame)
    if isinstance(frame, Made) or not isinstance(frame, tables):
        return ""
    return "pandas" if isinstance(frame, pd.DataFrame) else "polars"


def roles_of(labels: Mapping[str, str], *more: str) -> Roles:
    """Return the roles of a frame whose library may not be known; `more`: roles that may be missing, and have their own name."""
    return Roles({role: role for role in more} | dict(labels), getattr(labels, "library", ""))


def columns_of(frame: Frame, name: str) -> list[str]:
    """Return the column names of any kind of table."""
    package = type(frame).__module__.split(".", 1)[0]
    if package in ENGINES:
        engine, module = ENGINES[package]
        raise FrameError(f"{name} is a {engine} DataFrame: type import {module}, then {module}.evaluate(recs, truth).")
    with collected(name):
        if isinstance(frame, pd.DataFrame):
            columns = list(frame.columns)
        elif isinstance(frame, pl.LazyFrame):
            columns = frame.collect_schema().names()
        elif is_dataset(frame):
            columns = list(frame.schema.names)
        elif hasattr(frame, "__arrow_c_stream__") and hasattr(type(frame), "columns"):
            names = getattr(frame, "column_names", None)  # of Arrow, whose columns are the values
            columns = list(frame.columns if names is None else names)
        else:
            raise no_table(frame, name)
    if twice := [column for column in columns if columns.count(column) > 1]:
        raise ColumnError(f"{name}: more than one column is called {twice[0]!r}; rename all but one.")
    return columns


def no_table(given: Any, name: str) -> FrameError:
    """Return the error for what is nothing that recnb reads."""
    forms = "a mapping of user to items, or the path of a file."
    if name in ("items", "users"):
        forms = f"or the path of a file, with a row for each {name[:-1]} and a column of their ids."
    elif isinstance(given, Mapping) and name == "the frame":
        forms += " Recommendations need a truth: recnb.evaluate(recs, truth)."
    elif _are_numbers(given):
        forms += " For one list, type recnb.ndcg(ranking, relevant)."
        forms += " For labels and scores of several queries, recnb.evaluate_groups(y_true, y_score, group=sizes)."
    elif hasattr(given, "tolist") or (
        isinstance(given, (list, tuple)) and any(isinstance(row, (list, tuple)) for row in given)
    ):
        rows = "matrix.tolist()" if hasattr(given, "tolist") else "matrix"
        forms += f" A matrix with a row of items for each user is a mapping: dict(zip(users, {rows}))."
    elif isinstance(given, (list, tuple)):
        forms += " For one list, type recnb.ndcg(ranking, relevant)."
    return FrameError(
        f"{name} is a {type(given).__name__}, which is nothing that recnb reads: give a pandas or Polars frame, "
        f"a pyarrow table or dataset, a DuckDB relation, {forms}"
    )


def _are_numbers(values: Any) -> bool:
    """Return whether values are numbers in a list, an array or a Series."""
    plain = isinstance(values, (list, tuple, np.ndarray, pd.Series, pl.Series)) and getattr(values, "ndim", 1) == 1
    return plain and len(values) > 0 and all(map(is_number, values))


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
    of_duckdb: tuple[type[Exception], ...] = () if duckdb is None else (duckdb.Error,)
    try:
        yield
    except of_duckdb as problem:
        raise FrameError(
            f"{name}: the DuckDB relation cannot be read ({_short(problem)}). Fetch it while its connection is open: "
            "relation.to_arrow_table()."
        ) from problem
    except pl.exceptions.PolarsError as problem:
        raise FrameError(
            f"{name}: the lazy frame cannot be collected, try frame.collect(): {_short(problem)}"
        ) from problem


def _short(problem: Exception) -> str:
    return str(problem).strip().split("\n")[0][:200]


def role_of(column: object) -> str | None:
    """Return the role that a column's name suggests."""
    return ROLE_OF.get(plain_name(column))


def by_name(columns: Iterable[str], role: str) -> list[str]:
    """Return the columns whose names suggest a role."""
    return [column for column in columns if role_of(column) == role]


def plain_name(column: object) -> str:
    """Return a column's name in lower case and without _, - and blanks."""
    return str(column).lower().replace("_", "").replace("-", "").replace(" ", "")


def find(
    frame: Frame, name: str, roles: Iterable[str], given: Mapping[str, str | None], optional: Iterable[str] = (),
    *, both_sides: bool = False,
) -> Roles:  # fmt: skip
    """Find which column of a frame plays which role: as given, or by its name.

    A role in `given` may name a column that only the other frame has: that frame's own common name then serves here.
    A frame with both sides needs relevance, and rank or score, of what is optional.
    """
    columns, roles, optional = columns_of(frame, name), list(roles), list(optional)
    named = {
        role: column for role in (*roles, *optional) if (column := given.get(role)) is not None and column in columns
    }
    suggested = {column: role_of(column) for column in columns if column not in named.values()}
    found: dict[str, str] = {}
    for role in (*roles, *optional):
        candidates = (
            [named[role]] if role in named else [one for one, suggests in suggested.items() if suggests == role]
        )
        if len(candidates) > 1:
            could_be = " and ".join(map(repr, candidates))
            raise ColumnError(
                f"{name}: {could_be} could each be the {role} column.", fix=f"Say which: {role}={candidates[0]!r}."
            )
        if candidates:
            found[role] = candidates[0]
    for role, column in named.items():
        same = [other for other in found if found[other] == column and other != role]
        lost = [other for other in roles if other not in found and role_of(column) == other]
        if other := next(iter(same + lost), None):
            both = f"{name}: column {column!r} cannot be both {role} and {other}"
            raise ColumnError(f"{both}: name another column for one, {other if same else role}='...'.")
    missing = [role for role in roles if role not in found]
    if {"rank", "score"} <= {*optional} and not {"rank", "score"} & {*found} and (missing or both_sides):
        missing.append("score")
    if both_sides and "relevance" not in found:
        missing.append("relevance")
    level = next((level for level in index_levels(frame) if role_of(level) in {*roles, *optional} - {*found}), None)
    if level is not None and (missing or not {*found} & {*optional}):
        problem = f"{name} has no {role_of(level)} column, and its index holds {level!r}"
        raise ColumnError(f"{problem}: type .reset_index() to make columns of it.")
    if missing:
        raise _missing(
            frame,
            name,
            missing,
            given,
            [column for column in columns if column not in found.values()],
            both_sides=both_sides,
        )
    return Roles(found, library_of(frame))


def _missing(
    frame: Frame, name: str, roles: list[str], given: Mapping[str, str | None], free: list[Any], *, both_sides: bool
) -> ColumnError:
    """Return the error for all roles without a column, each with one that is left for it."""
    has = f"Its columns: {listed(columns_of(frame, name)) or 'none'}"
    could = {role: _candidates(frame, [column for column in free if isinstance(column, str)], role) for role in roles}
    proposed = dict.fromkeys(roles, "")
    # One column for a role; or as many as there are roles that could have them: each has one, in order.
    while sure := [role for role, names in could.items() if 0 < len(names) <= list(could.values()).count(names)]:
        proposed[sure[0]] = taken = could.pop(sure[0])[0]
        could = {role: [column for column in names if column != taken] for role, names in could.items()}
    wanted, similar = given.get(roles[0]), [column for column in free if role_of(column) == roles[0]]
    if wanted is not None and (other := next(iter(similar), proposed[roles[0]])):
        code = Roles({}, library_of(frame)).code(
            f"frame.rename(columns={{{other!r}: {wanted!r}}})", f"frame.rename({{{other!r}: {wanted!r}}})"
        )
        problem = f"{name}: there is no column {wanted!r}, which {roles[0]}= names for both frames. {has}."
        return ColumnError(problem, fix=f"Rename the column that it is, such as {other!r}{code}.")
    words = [{"score": "rank or score"}.get(role, role) for role in roles]
    alone = ", and alone it must hold both what was recommended and what is relevant" if both_sides else ""
    problem = f"{name}: no column is known to be the {' or the '.join(words)}{alone}."
    if not all(isinstance(column, str) for column in free):
        by_user = "For a table with a row for each user, dict(zip(frame.index, frame.to_numpy().tolist())) if its cells are items in rank order"
        as_text = "A column is named as text: frame.columns = frame.columns.map(str)."
        return ColumnError(
            problem, fix=f"{has}. {as_text} {by_user}, and frame.T.to_dict() if they are the scores of items."
        )
    say = "Say which they are" if words[1:] else "Say which one it is"
    arguments = ", ".join(f"{role}={proposed[role] or '...'!r}" for role in roles)
    other_frame = " Or give the other frame as well, recs.rec.against(truth)." if both_sides else ""
    return ColumnError(problem, fix=f"{has}. {say}: {arguments}.{other_frame}")


def _types(frame: Frame) -> dict[str, str]:
    """Return the type of each column, in words of the frame's library."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        types: Any = frame.collect_schema().items()
    elif isinstance(frame, pd.DataFrame):
        types = frame.dtypes.items()
    else:
        of_frame = (frame.columns, frame.types) if is_relation(frame) else (frame.schema.names, frame.schema.types)
        types = zip(*of_frame, strict=True)
    return {column: str(dtype).lower() for column, dtype in types}


def fractional(frame: Frame) -> list[str]:
    """Return the columns of numbers that need not be whole."""
    return [column for column, dtype in _types(frame).items() if re.search("float|double|decimal", dtype)]


def _candidates(frame: Frame, columns: list[str], role: str) -> list[str]:
    """Return the columns that could play a role, by their names or else by their types."""
    types, floats = _types(frame), fractional(frame)
    if role in NUMBERS:
        fit = [column for column in columns if column in floats or "int" in types[column]]
    else:
        ids = [column for column in columns if column not in floats and "bool" not in types[column]]
        fit = [column for column in ids if not FEATURES.search(column.lower())]
    plain = [column for column in fit if role in NUMBERS or not TITLES.search(column.lower())]
    alike = [column for column in fit if any(word in plain_name(column) for word in NAMES[role] if len(word) > 3)]
    surer = [column for column in fit if (column in floats if role == "score" else IDENTIFIERS.search(column.lower()))]
    tried = ([column for column in alike if column in plain], surer, alike, plain, fit)
    return next((some for some in tried if some), [])


def table_of(frame: Frame, name: str, roles: Mapping[str, str]) -> pl.DataFrame:
    """Return the columns of the roles as a Polars frame in memory of its own, under the names of the roles; the frame is left as it is."""
    if isinstance(frame, pd.DataFrame):
        return owned([from_pandas(frame[column], name, column, role).alias(role) for role, column in roles.items()])
    if isinstance(frame, pl.DataFrame):
        return owned([frame[column].alias(role) for role, column in roles.items()])
    picked = [pl.col(column).alias(role) for role, column in roles.items()]
    if isinstance(frame, pl.LazyFrame):
        with collected(name):
            return owned(frame.select(picked).collect().get_columns())
    return from_arrow(_arrow(frame, name, [*roles.values()]), name).select(picked)


def owned(columns: Sequence[pl.Series]) -> pl.DataFrame:
    """Copy columns into memory that is not shared with the caller, each in one chunk.

    Polars, pandas and Arrow share memory with the numpy arrays that a frame is made over, and pandas writes into it in place.
    """
    n_rows = len(columns[0]) if columns else 0
    shares = in_shares(columns, lambda some: [_copied(column) for column in some], reads=n_rows)
    return pl.DataFrame([column for share in shares for column in share])


def _copied(column: pl.Series) -> pl.Series:
    # Text and bytes of Polars are never numpy's.
    if column.dtype in (pl.String, pl.Binary):
        return column.rechunk()
    # Polars copies what it puts together, and leaves a single piece where it is: hence one row more.
    return pl.concat([column, column.head(1)]).rechunk().head(len(column))


def with_series(table: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """Replace or add columns, without the query that `DataFrame.with_columns` runs."""
    return pl.DataFrame(
        [*({column.name: column for column in table} | {column.name: column for column in columns}).values()]
    )


def snapshot(frame: Frame, name: str, columns: list[str]) -> Frame:
    """Copy some columns as they are; their content is not checked here."""
    if isinstance(frame, pd.DataFrame):
        return frame[columns].copy() if columns else pd.DataFrame(index=frame.index)
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return table_of(frame, name, {column: column for column in columns})
    return _arrow(frame, name, columns)


def _arrow(frame: Frame, name: str, columns: list[str]) -> Any:
    """Return some columns of what speaks Arrow, in memory of their own."""
    import pyarrow as pa

    columns = list(dict.fromkeys(columns))
    if not columns:
        return pa.table({})
    with collected(name):
        if is_relation(frame):
            import duckdb

            return pa.table(frame.select(*map(duckdb.ColumnExpression, columns)))  # a result is nobody else's
        table = frame.to_table(columns=columns) if is_dataset(frame) else pa.table(frame).select(columns)
        # As in `owned`: what is put together is copied, text as well.
        return pa.concat_tables([table, table.slice(0, 1)]).combine_chunks().slice(0, table.num_rows)


def from_arrow(table: Any, name: str, labels: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return a Polars frame of an Arrow table or batch; `labels`: what the caller calls its columns."""
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_interval(field.type):
            label = (labels or {}).get(field.name, field.name)
            text = f"""relation.project('* REPLACE ("{label}"::VARCHAR AS "{label}")')"""
            held = "holds values of type INTERVAL, which are no id or number: make it text"
            raise FrameError(f"{name}: column {label!r} {held}, {text}.")
    return pl.DataFrame(pl.from_arrow(table))


def from_pandas(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """Return a column of pandas as one of Polars, in which all values are of one kind."""
    if isinstance(column.dtype, pd.SparseDtype):
        column = pd.Series(np.asarray(column), name=column.name)
    if isinstance(column.dtype, pd.IntervalDtype):
        column = column.astype(pd.CategoricalDtype(sorted(column.dropna().unique()), ordered=True))
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.astype(object).map(str, na_action="ignore")
    try:
        if _is_ordered(column) and role not in NAMES:
            words = column.cat.rename_categories(list(map(str, column.cat.categories)))
            known = words.astype(object).where(words.notna(), None)
            return pl.Series(known.to_list(), dtype=pl.Enum(list(words.cat.categories)))
        if isinstance(column.dtype, pd.CategoricalDtype):
            # Whole numbers have no way to be missing: as objects they keep both.
            column = column.astype(object if column.hasnans else column.cat.categories.dtype)
        if column.dtype.kind in "iufb" and not isinstance(column.dtype, pd.api.extensions.ExtensionDtype):
            return pl.Series(column.to_numpy())
        if isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow":
            return _text(column)
        return pl.from_pandas(column)
    except UNREADABLE as problem:
        kinds = ", ".join(sorted({type(value).__name__ for value in column.dropna()}))
        if role in NUMBERS:
            raise FrameError(
                f"{name}: column {label!r} holds values that are not all numbers of one kind: {kinds}.",
                fix=_to_numbers(column, label),
            ) from problem
        # Text of what is missing would be an id of its own, "nan" or "None".
        first = f"frame = frame.dropna(subset=[{label!r}]), then " if column.isna().any() else ""
        held = f"holds values of more than one kind, or of one that is no id or number: {kinds}."
        raise FrameError(
            f"{name}: column {label!r} {held}", fix=f"Make it one kind, for example {first}.astype(str)."
        ) from problem


def _text(column: pd.Series[Any]) -> pl.Series:
    """Return a column of text that pandas holds in Arrow; Arrow makes views of it, as Polars has them, in a third of Polars' time."""
    import pyarrow as pa

    try:
        return pl.Series(pl.from_arrow(pa.array(column).cast(pa.string_view())))
    except pa.ArrowInvalid:  # more than 2 GB of text, which views cannot point into
        return pl.from_pandas(column)


def _is_ordered(column: pd.Series[Any]) -> bool:
    """Return whether words or intervals have an order of their own, which groups keep."""
    dtype = column.dtype
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered) and dtype.categories.dtype.kind == "O"


def _to_numbers(column: pd.Series[Any], label: str) -> str:
    """Return the code that converts a column to numbers, if there is any."""
    if column.map(lambda value: isinstance(value, complex)).any():
        return f"Complex numbers have no order: give one real number for each, such as frame[{label!r}] = frame[{label!r}].map(abs)."
    numbers = pd.to_numeric(column, errors="coerce")
    if not (odd := column[numbers.isna() & column.notna()]).empty:
        return f"{odd.iloc[0]!r} is no number: correct it, or drop the row."
    return f"Make them numbers: frame[{label!r}] = pandas.to_numeric(frame[{label!r}])."


def index_levels(frame: Frame) -> list[Any]:
    """Return the names of a pandas index."""
    return [level for level in frame.index.names if level is not None] if isinstance(frame, pd.DataFrame) else []
