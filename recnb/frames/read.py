"""Any kind of table in, a Polars frame with the columns of the roles out: user, item, rank, score, relevance."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl

from recnb.errors import ColumnError, FrameError

#: What callers may pass: pandas, Polars (eager or lazy), pyarrow datasets, and whatever speaks Arrow's stream protocol (pyarrow, DuckDB).
Frame = Any

#: The column names that are taken for a role, in lower case and without _, - and blanks.
NAMES: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "customer", "customerid", "member", "memberid", "query", "queryid", "qid",
             "session", "sessionid", "topic", "topicid"),
    "item": ("item", "itemid", "iid", "movie", "movieid", "doc", "docid", "docno", "document", "documentid",
             "product", "productid", "article", "articleid", "track", "trackid", "book", "bookid"),
    "rank": ("rank", "position", "pos"),
    "score": ("score", "prediction", "predictedscore", "predictedrating"),
    "relevance": ("relevance", "rel", "rating", "label", "grade", "gain"),
    "model": ("model", "modelname", "algorithm", "system"),
    "recommended": ("recommended", "recommendations", "recs", "recommendeditems"),
    "relevant": ("relevant", "relevantitems", "truth", "groundtruth", "liked"),
}  # fmt: skip

#: Packages whose frames stay where they are, and where their evaluation is.
ENGINES = {"dask": ("Dask", "recnb.dask"), "pyspark": ("Spark", "recnb.spark")}


def columns_of(frame: Frame, name: str) -> list[str]:
    """The column names of any kind of table."""
    package = type(frame).__module__.split(".", 1)[0]
    if package in ENGINES:
        engine, module = ENGINES[package]
        raise FrameError(f"{name} is a {engine} DataFrame: type import {module}, then {module}.evaluate(recs, truth).")
    if isinstance(frame, pd.DataFrame):
        columns = list(frame.columns)
    elif isinstance(frame, pl.LazyFrame):
        with collected(name):
            columns = frame.collect_schema().names()
    elif is_dataset(frame):
        columns = list(frame.schema.names)
    elif hasattr(frame, "__arrow_c_stream__") and hasattr(frame, "columns"):
        listed = getattr(frame, "column_names", None)
        columns = list(listed if listed is not None else frame.columns)
    else:
        raise FrameError(
            f"{name} is a {type(frame).__name__}, which is no table that recnb reads: give a pandas or Polars frame, "
            "a pyarrow table or dataset, or a DuckDB relation. For one list, type recnb.ndcg(ranking, relevant)."
        )
    twice = [column for column in dict.fromkeys(columns) if columns.count(column) > 1]
    if twice:
        raise ColumnError(f"{name} has more than one column called {twice[0]!r}: rename all but one.")
    return columns


def is_dataset(frame: Frame) -> bool:
    """Whether a table is a dataset of pyarrow; nothing is imported to tell."""
    known = sys.modules.get("pyarrow.dataset")
    return known is not None and isinstance(frame, known.Dataset)


@contextmanager
def collected(name: str) -> Iterator[None]:
    """What goes wrong in reading a lazy frame, as an error that names the frame."""
    try:
        yield
    except pl.exceptions.PolarsError as problem:
        raise FrameError(
            f"{name}: the lazy frame cannot be collected, try frame.collect(): {_short(problem)}"
        ) from problem


def role_of(column: object) -> str | None:
    """The role that a column's name suggests."""
    plain = str(column).lower().replace("_", "").replace("-", "").replace(" ", "")
    return next((role for role, names in NAMES.items() if plain in names), None)


def find(
    frame: Frame, name: str, roles: Iterable[str], given: Mapping[str, str | None], optional: Iterable[str] = ()
) -> dict[str, str]:
    """Which column of a frame plays which role: as given, or by its name.

    A role in `given` may name a column that only the other frame has: that frame's own common name then serves here.
    """
    columns = columns_of(frame, name)
    found: dict[str, str] = {}
    wanted_here = [*roles, *optional]
    for role in wanted_here:
        wanted = given.get(role)
        if wanted is not None and wanted in columns:
            found[role] = wanted
            continue
        taken = [given[other] for other in wanted_here if other != role and given.get(other) in columns]
        candidates = [column for column in columns if role_of(column) == role and column not in taken]
        if len(candidates) == 1:
            found[role] = candidates[0]
        elif len(candidates) > 1:
            raise ColumnError(
                f"{name}: {' and '.join(map(repr, candidates))} could each be the {role} column. "
                f"Say which: {role}={candidates[0]!r}."
            )
        elif role in roles:
            raise ColumnError(_missing(frame, name, role, wanted, columns))
    level = next((level for level in _levels(frame) if role_of(level) in {*optional}), None)
    if level is not None and not set(found) & {*optional}:
        raise ColumnError(
            f"{name} has no {role_of(level)} column, and its index holds {level!r}: type .reset_index() to make columns of it."
        )
    for role, column in found.items():
        other = next((other for other, same in found.items() if other != role and same == column), None)
        if other is not None:
            raise ColumnError(
                f"{name}: column {column!r} cannot be both {role} and {other}: name another column for one, {other}='...'."
            )
    return found


def _missing(frame: Frame, name: str, role: str, wanted: str | None, columns: list[str]) -> str:
    levels = _levels(frame)
    said = f"{name} has no column {wanted!r}" if wanted is not None else f"{name} has no {role} column that recnb knows"
    listed = ", ".join(map(repr, columns)) or "none"
    if levels:
        index = ", ".join(map(repr, levels))
        return f"{said}. Its columns: {listed}; its index holds {index}: type .reset_index() to make columns of it."
    lists = next((column for column in columns if role_of(column) in ("recommended", "relevant")), None)
    if role == "item" and lists is not None:
        order = ", order='row'" if name == "recommendations" else ""
        return (
            f"{said}. Column {lists!r} looks like lists of items, and two frames hold one item a row: give "
            f"frame.explode({lists!r}) and say item={lists!r}{order}. A frame that holds both lists goes alone: frame.rec.ndcg(k=10)."
        )
    example = next((column for column in columns if role_of(column) is None), "name_of_the_column")
    return f"{said}. Its columns: {listed}. Say which one it is: {role}={example!r}."


def table_of(frame: Frame, name: str, roles: Mapping[str, str]) -> pl.DataFrame:
    """The columns of the roles as a Polars frame, under the names of the roles; the frame itself is left as it is."""
    if isinstance(frame, pd.DataFrame):
        return pl.DataFrame({role: _from_pandas(frame[column], name, column) for role, column in roles.items()})
    picked = [pl.col(column).alias(role) for role, column in roles.items()]
    if isinstance(frame, pl.LazyFrame):
        with collected(name):
            return frame.select(picked).collect().rechunk()
    if is_dataset(frame):
        frame = frame.to_table(columns=list(dict.fromkeys(roles.values())))
    eager = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
    # In one piece each: columns in several would be put together whenever somebody looks at them.
    return eager.select(picked).rechunk()


def _from_pandas(column: pd.Series[Any], name: str, label: str) -> pl.Series:
    if len(column) and isinstance(column.iloc[0], UUID):
        column = column.astype(str)
    try:
        if isinstance(column.dtype, pd.CategoricalDtype):
            # Whole numbers have no way to be missing: as objects they keep both.
            column = column.astype(object if column.hasnans else column.cat.categories.dtype)
        if column.dtype.kind in "iufb" and not isinstance(column.dtype, pd.api.extensions.ExtensionDtype):
            return pl.Series(column.to_numpy())
        return pl.from_pandas(column)
    except Exception as problem:  # pyarrow and polars raise half a dozen kinds here
        kinds = sorted({type(value).__name__ for value in column.dropna()})
        raise FrameError(
            f"{name}: column {label!r} holds values of more than one kind, or of one that is no id or number: "
            f"{', '.join(kinds)}. Make it one kind, for example with .astype(str)."
        ) from problem


def _levels(frame: Frame) -> list[Any]:
    """The names of a pandas index."""
    return [level for level in frame.index.names if level is not None] if isinstance(frame, pd.DataFrame) else []


def _short(problem: Exception) -> str:
    return str(problem).strip().split("\n")[0][:200]
