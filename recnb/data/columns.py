"""Any kind of table in, a Polars frame with the columns of the roles out: user, item, rank, score, relevance."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.parallel import in_shares
from recnb.errors import COLUMN, Argument, Code, ColumnError, FrameError, FrameName, listed

#: Tables that callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and all with Arrow's stream protocol (pyarrow, DuckDB).
Frame = Any

#: The column names that are taken for a role, in lower case and without _, - and blanks.
NAMES: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "customer", "customerid", "member", "memberid", "query", "queryid", "qid",
             "session", "sessionid", "topic", "topicid", "visitor", "visitorid", "client", "clientid", "account", "accountid",
             "buyer", "buyerid", "reviewer", "reviewerid", "person", "personid", "profileid", "srchid", "searchid", "group", "groupid"),
    "item": ("item", "itemid", "iid", "movie", "movieid", "doc", "docid", "docno", "document", "documentid",
             "product", "productid", "article", "articleid", "track", "trackid", "book", "bookid", "sku", "asin", "isbn",
             "stockcode", "productcode", "song", "songid", "video", "videoid", "news", "newsid", "content", "contentid",
             "listing", "listingid", "business", "businessid", "game", "gameid", "passage", "passageid", "pid", "corpusid"),
    "rank": ("rank", "position", "pos", "ranking"),
    "score": ("score", "prediction", "predictedscore", "predictedrating", "pred", "preds", "predictions", "predicted", "scores",
              "ypred", "yscore", "yhat", "predscore", "predictionscore", "modelscore", "est", "probability", "proba", "prob", "logit", "logits", "similarity"),
    "relevance": ("relevance", "rel", "rating", "label", "grade", "gain", "ytrue", "labels", "target", "relevancelabel", "rui", "y"),
    "model": ("model", "modelname", "algorithm", "system"),
    "recommended": ("recommended", "recommendations", "recs", "recommendeditems"),
    "relevant": ("relevant", "relevantitems", "truth", "groundtruth", "liked"),
}  # fmt: skip

#: Names that are taken for a role only if no other column is: they name other things as well, such as segments.
LAST = ("group", "groupid", "similarity", "y")

#: Names of features of learning to rank, which are no ids, such as f1, query_len or n_clicks.
FEATURES = re.compile(r"^(f|x|v|feat|feature|col|column)?\d+$|len$|length|(?<!ac)count|cnt|size$|^n_|^num")

#: Names of what is read by people, and names of ids.
TITLES = re.compile(r"name$|title|descr|text|url|comment|label|date|time")
IDENTIFIERS = re.compile(r"[_\W\d](id|ids|uuid|guid|key|code|no|nr)$|uuid")

#: The roles that are numbers; the others are ids.
NUMBERS = ("rank", "score", "relevance")


class Roles(dict[str, str]):
    """The column of each role in a frame, and the library of the frame, in whose code errors say what to do."""

    def __init__(self, columns: Mapping[str, str], library: str = "") -> None:
        super().__init__(columns)
        self.library = library

    def code(self, pandas: str = "", polars: str = "", before: str = ": ") -> Code:
        """Code in the caller's library, or in both if `polars` is empty; nothing for frames of others."""
        text = {"pandas": pandas, "polars": polars or pandas}.get(self.library, "")
        return Code(f"{before}{text}" if text else "")

    def to_type(self, role: str, pandas: str, polars: str, frame: str = "frame") -> str:
        """Code that gives the column of a role another type."""
        types = {"pandas": f"astype({{{self[role]!r}: {pandas}}})", "polars": f"cast({{{self[role]!r}: {polars}}})"}
        return f"{frame}.{types[self.library]}" if self.library in types else ""

    def as_type(self, role: str, pandas: str, polars: str) -> Code:
        """The same as a part of a message."""
        return Code(f": {self.to_type(role, pandas, polars)}" if self.library else "")


def library_of(frame: Frame) -> str:
    """The library of a frame, in whose code its caller writes."""
    return (
        type(frame).__module__.split(".", 1)[0] if isinstance(frame, (pd.DataFrame, pl.DataFrame, pl.LazyFrame)) else ""
    )


def roles_of(labels: Mapping[str, str], *more: str) -> Roles:
    """The roles of a frame of which the library may not be known; `more`: roles that may be missing, and have their own name."""
    return Roles(dict(zip(more, more, strict=True)) | dict(labels), getattr(labels, "library", ""))


#: The errors of pyarrow and Polars for a column of mixed or foreign values; pyarrow's own classes derive from these.
UNREADABLE = (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError)

#: Packages whose frames stay where they are, and where their evaluation is.
ENGINES = {"dask": ("Dask", "recnb.dask"), "pyspark": ("Spark", "recnb.spark")}


def columns_of(frame: Frame, name: str) -> list[str]:
    """The column names of any kind of table."""
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
            one_list = " For one list, type recnb.ndcg(ranking, relevant)." if isinstance(frame, (list, tuple)) else ""
            if name == "the frame" and isinstance(frame, Mapping):
                one_list = " Recommendations need a truth: recnb.evaluate(recs, truth)."
            if hasattr(frame, "numpy") or hasattr(frame, "tolist"):
                one_list = " A matrix with a row for each user is a mapping: dict(zip(users, matrix.tolist()))."
            forms = f"a mapping of user to items, or the path of a file.{one_list}"
            if name in ("items", "users"):
                forms = f"or the path of a file, with a row for each {name[:-1]} and a column of their ids."
            raise FrameError(
                f"{name} is a {type(frame).__name__}, which is nothing that recnb reads: give a pandas or Polars frame, "
                f"a pyarrow table or dataset, a DuckDB relation, {forms}"
            )
    if twice := [column for column in columns if columns.count(column) > 1]:
        raise ColumnError(FrameName(name), f": more than one column is called {twice[0]!r}; rename all but one.")
    return columns


def is_dataset(frame: Frame) -> bool:
    """Whether a table is a pyarrow dataset, without importing pyarrow."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(frame, module.Dataset)


def is_relation(frame: Frame) -> bool:
    """Whether a table is a DuckDB relation, without importing duckdb."""
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


def role_of(column: object) -> str | None:
    """The role that a column's name suggests."""
    plain = plain_name(column)
    return next((role for role, names in NAMES.items() if plain in names), None)


def by_name(columns: Iterable[str], role: str) -> list[str]:
    """The columns whose names suggest a role; those of `LAST` only if there is no other."""
    named = [column for column in columns if role_of(column) == role]
    return [column for column in named if plain_name(column) not in LAST] or named


def plain_name(column: object) -> str:
    """A column's name in lower case and without _, - and blanks."""
    return str(column).lower().replace("_", "").replace("-", "").replace(" ", "")


def find(
    frame: Frame,
    name: str,
    roles: Iterable[str],
    given: Mapping[str, str | None],
    optional: Iterable[str] = (),
    *,
    both_sides: bool = False,
) -> Roles:
    """Which column of a frame plays which role: as given, or by its name.

    A role in `given` may name a column that only the other frame has: that frame's own common name then serves here.
    A frame with both sides needs relevance, and rank or score, of what is optional.
    """
    columns = columns_of(frame, name)
    expected = [*roles, *optional]
    named = {role: column for role in expected if (column := given.get(role)) is not None and column in columns}
    free = [column for column in columns if column not in named.values()]
    found: dict[str, str] = {}
    for role in expected:
        candidates = [named[role]] if role in named else by_name(free, role)
        if len(candidates) > 1:
            could_be = f": {' and '.join(map(repr, candidates))} could each be the {role} column."
            raise ColumnError(FrameName(name), could_be, fix=("Say which: ", Argument(role, candidates[0]), "."))
        if candidates:
            found[role] = candidates[0]
        elif role in roles and (others := [other for other, column in named.items() if role_of(column) == role]):
            raise _twice(name, named[others[0]], role, others[0])
    missing = [role for role in roles if role not in found]
    if {"rank", "score"} <= {*optional} and not {"rank", "score"} & {*found} and (missing or both_sides):
        missing.append("score")
    if both_sides and "relevance" not in found:
        missing.append("relevance")
    if missing:
        rest = [column for column in columns if column not in found.values()]
        raise _missing(frame, name, missing, given, rest, both_sides=both_sides)
    level = next((level for level in _levels(frame) if role_of(level) in {*optional}), None)
    if level is not None and not set(found) & {*optional}:
        raise ColumnError(
            f"{name} has no {role_of(level)} column, and its index holds {level!r}: type .reset_index() to make columns of it."
        )
    by_column: dict[str, str] = {}
    for role, column in found.items():
        if (other := by_column.setdefault(column, role)) != role:
            raise _twice(name, column, other, role)
    return Roles(found, library_of(frame))


def _twice(name: str, column: object, role: str, other: str) -> ColumnError:
    problem = f": column {column!r} cannot be both {role} and {other}: name another column for one, "
    return ColumnError(FrameName(name), problem, Argument(other, COLUMN), ".")


def _missing(
    frame: Frame, name: str, roles: list[str], given: Mapping[str, str | None], columns: list[Any], *, both_sides: bool
) -> ColumnError:
    """The error for all roles without a column, each with one that is left for it."""
    all_columns = columns_of(frame, name)
    wanted = given.get(roles[0]) if len(roles) == 1 else None
    words = [{"score": "rank or score"}.get(role, role) for role in roles]
    what = " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])
    renamed = next((column for column in all_columns if wanted is not None and role_of(column) == roles[0]), None)
    renamed = next(
        (
            column
            for column in _candidates(frame, [one for one in columns if isinstance(one, str)], roles).get(roles[0], ())
            if renamed is None
        ),
        renamed,
    )
    if renamed is not None and wanted is not None and isinstance(renamed, str):
        code = f"frame.rename(columns={{{renamed!r}: {wanted!r}}})", f"frame.rename({{{renamed!r}: {wanted!r}}})"
        both = f": there is no column {wanted!r}, which {roles[0]}= names for both frames. Its columns: {listed(all_columns)}."
        fix = (f"Rename the column that it is, such as {renamed!r}", Roles({}, library_of(frame)).code(*code), ".")
        return ColumnError(FrameName(name), both, fix=fix)
    kind = f"column {wanted!r}" if wanted is not None else f"{what} column{'s' if words[1:] else ''} that recnb knows"
    alone = ", and alone it must hold both what was recommended and what is relevant" if both_sides else ""
    problem = (FrameName(name), f": there {'are' if words[1:] else 'is'} no {kind}{alone}.")
    has = f"Its columns: {listed(all_columns) or 'none'}"
    other = Code(" Or give the other frame as well, recs.rec.against(truth).") if both_sides else ""
    if levels := _levels(frame):
        index = f"its index holds {listed(levels)}: type .reset_index() to make columns of it."
        return ColumnError(*problem, fix=f"{has}; {index}")
    free = [column for column in columns if role_of(column) is None]
    if free and not isinstance(free[0], str):
        text = ", and a column is named as text: frame.columns = frame.columns.map(str), and say which one it is: "
        return ColumnError(*problem, fix=(has, text, Argument(roles[0], str(free[0])), "."))
    candidates = _candidates(frame, free, roles)
    proposed = {role: names[0] if len(names) == 1 else COLUMN for role, names in candidates.items()}
    arguments = [part for role in roles for part in (", ", Argument(role, proposed.get(role, COLUMN)))][1:]
    say = "Say which they are" if words[1:] else "Say which one it is"
    several = [f"{role} {listed(names, ' or ')}" for role, names in candidates.items() if len(names) > 1]
    choice = f" By type and name: {'; '.join(several)}." if several else ""
    return ColumnError(*problem, fix=(f"{has}. {say}: ", *arguments, ".", choice, other))


def _types(frame: Frame) -> dict[str, str]:
    """The type of each column, in words of the frame's library."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        types: Any = frame.collect_schema().items()
    elif isinstance(frame, pd.DataFrame):
        types = frame.dtypes.items()
    else:
        of_frame = (frame.columns, frame.types) if is_relation(frame) else (frame.schema.names, frame.schema.types)
        types = zip(*of_frame, strict=True)
    return {column: str(dtype).lower() for column, dtype in types}


def fractional(frame: Frame) -> list[str]:
    """The columns of numbers that need not be whole."""
    return [column for column, dtype in _types(frame).items() if re.search("float|double|decimal", dtype)]


def _candidates(frame: Frame, columns: list[str], roles: list[str]) -> dict[str, list[str]]:
    """The columns that could play each role: those with a name like its own, else those of a likely type; each for one role."""
    types, floats = _types(frame), fractional(frame)
    ids = [column for column in columns if "bool" not in types[column] and not FEATURES.search(column.lower())]
    ids = [column for column in ids if column not in floats]
    titles = [column for column in ids if TITLES.search(column.lower())]
    named_ids = [column for column in ids if IDENTIFIERS.search(column.lower())]
    one_id = len(named_ids) == 1 and len({*roles} - {*NUMBERS}) == 1
    numbers = [column for column in columns if column in floats or "int" in types[column]]
    candidates: dict[str, list[str]] = {}
    for role in roles:
        of_type = numbers if role in NUMBERS else ids
        words = [word for word in NAMES[role] if len(word) > 3 and word not in LAST]
        alike = [column for column in of_type if any(word in plain_name(column) for word in words)]
        alike = [column for column in alike if column not in titles] or (named_ids if one_id else []) or alike
        floats_first = [column for column in of_type if column in floats] if role == "score" else []
        plain = [column for column in of_type if column not in titles] if role not in NUMBERS else of_type
        candidates[role] = alike or floats_first or plain or of_type
    found: dict[str, list[str]] = {}
    while candidates:
        # As many columns as roles that could have them: each has one, in order.
        lists = [*candidates.values()]
        sure = [role for role, names in candidates.items() if 0 < len(names) <= lists.count(names)]
        if not sure:
            break
        found[sure[0]] = taken = candidates.pop(sure[0])[:1]
        candidates = {role: [name for name in names if name not in taken] for role, names in candidates.items()}
    return found | {role: names for role, names in candidates.items() if names}


def table_of(frame: Frame, name: str, roles: Mapping[str, str]) -> pl.DataFrame:
    """The columns of the roles as a Polars frame in memory of its own, under the names of the roles; the frame is left as it is."""
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
    kept = {column.name: column for column in table} | {column.name: column for column in columns}
    return pl.DataFrame([*kept.values()])


def snapshot(frame: Frame, name: str, columns: list[str]) -> Frame:
    """Copy some columns as they are; their content is not checked here."""
    if isinstance(frame, pd.DataFrame):
        return frame[columns].copy() if columns else pd.DataFrame(index=frame.index)
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return table_of(frame, name, {column: column for column in columns})
    return _arrow(frame, name, columns)


def _arrow(frame: Frame, name: str, columns: list[str]) -> Any:
    """Some columns of what speaks Arrow, in memory of their own."""
    import pyarrow as pa

    columns = list(dict.fromkeys(columns))
    if not columns:
        return pa.table({})
    with collected(name):
        if is_dataset(frame):
            table = frame.to_table(columns=columns)
        elif is_relation(frame):
            import duckdb

            return pa.table(frame.select(*map(duckdb.ColumnExpression, columns)))  # a result is nobody else's
        else:
            table = pa.table(frame).select(columns)
        # As in `owned`: what is put together is copied, text as well.
        return pa.concat_tables([table, table.slice(0, 1)]).combine_chunks().slice(0, table.num_rows)


def from_arrow(table: Any, name: str, labels: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A Polars frame of an Arrow table or batch; `labels`: what the caller calls its columns."""
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_interval(field.type):
            label = (labels or {}).get(field.name, field.name)
            text = f"""relation.project('* REPLACE ("{label}"::VARCHAR AS "{label}")')"""
            raise FrameError.of_column(
                name, label, f"holds values of type INTERVAL, which are no id or number: make it text, {text}."
            )
    return pl.DataFrame(pl.from_arrow(table))


def from_pandas(column: pd.Series[Any], name: str, label: str, role: str) -> pl.Series:
    """A column of pandas as one of Polars, in which all values are of one kind."""
    if len(column) and isinstance(column.iloc[0], UUID):
        column = column.astype(str)
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
            held, fix = "that are not all numbers of one kind", _to_numbers(column, label)
        else:
            # Text of what is missing would be an id of its own, "nan" or "None".
            first = f"frame = frame.dropna(subset=[{label!r}]), then " if column.isna().any() else ""
            held, fix = (
                "of more than one kind, or of one that is no id or number",
                f"Make it one kind, for example {first}.astype(str).",
            )
        raise FrameError.of_column(name, label, f"holds values {held}: {kinds}.", fix=fix) from problem


def _text(column: pd.Series[Any]) -> pl.Series:
    """A column of text that pandas holds in Arrow; Arrow makes views of it, as Polars has them, in a third of Polars' time."""
    import pyarrow as pa

    try:
        return pl.Series(pl.from_arrow(pa.array(column).cast(pa.string_view())))
    except pa.ArrowInvalid:  # more than 2 GB of text, which views cannot point into
        return pl.from_pandas(column)


def _is_ordered(column: pd.Series[Any]) -> bool:
    """Whether words or intervals have an order of their own, which groups keep."""
    dtype = column.dtype
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered) and dtype.categories.dtype.kind == "O"


def _to_numbers(column: pd.Series[Any], label: str) -> str:
    """Return the code that converts a column to numbers, if there is any."""
    if not column.map(lambda value: isinstance(value, complex)).any():
        numbers = pd.to_numeric(column, errors="coerce")
        if not (odd := column[numbers.isna() & column.notna()]).empty:
            return f"{odd.iloc[0]!r} is no number: correct it, or drop the row."
        return f"Make them numbers: frame[{label!r}] = pandas.to_numeric(frame[{label!r}])."
    return f"Complex numbers have no order: give one real number for each, such as frame[{label!r}] = frame[{label!r}].map(abs)."


def _levels(frame: Frame) -> list[Any]:
    """The names of a pandas index."""
    return [level for level in frame.index.names if level is not None] if isinstance(frame, pd.DataFrame) else []


def _short(problem: Exception) -> str:
    return str(problem).strip().split("\n")[0][:200]
