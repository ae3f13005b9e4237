"""Frames of Spark: columns by role, row numbers, buckets of users, types of ids."""

# Spark need not be installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import DataType, StringType

from recnb.data import Frame, table_of, validation
from recnb.distributed.kernel import BUCKET, ROW
from recnb.errors import FrameError

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
OTHERS = ("boolean", "binary", "date", "timestamp", "timestamp_ntz", "time", "decimal")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress Spark's warning about newer versions of pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def unwrapped(frame: Frame) -> Frame:
    """A Spark DataFrame for a pandas-on-Spark one, which has an order, and keeps it; anything else as it is."""
    if type(frame).__module__.startswith("pyspark.pandas."):
        with quiet():
            return frame.to_spark()
    return frame


def names_of(frame: Frame) -> Frame:
    """A frame without rows that has the columns of a Spark one; any other as it is."""
    frame = unwrapped(frame)
    return pd.DataFrame(columns=pd.Index(frame.columns, dtype=object)) if isinstance(frame, DataFrame) else frame


def by_role(frame: Frame, name: str, roles: Mapping[str, str], session: Any) -> DataFrame:
    """The columns that are read, named by role, as a Spark DataFrame."""
    if not isinstance(frame, DataFrame):
        return _sent(frame, name, roles, session)
    # By position: names may hold dots, or differ in case alone, which Spark would read otherwise.
    places = {column: str(place) for place, column in enumerate(frame.columns)}
    return frame.toDF(*places.values()).select(*(fn.col(places[column]).alias(role) for role, column in roles.items()))


def _sent(frame: Frame, name: str, roles: Mapping[str, str], session: Any) -> DataFrame:
    """Send a local frame to Spark."""
    table = validation.ids(table_of(frame, name, roles), name, roles)
    plain = [
        pl.col(role).cast(pl.String if dtype in (pl.Categorical, pl.Enum) else pl.Float64)
        for role, dtype in table.schema.items()
        if dtype in (pl.Categorical, pl.Enum, pl.Null) or dtype.is_unsigned_integer()
    ]
    with quiet():
        made: DataFrame = session.createDataFrame(table.with_columns(plain).to_arrow())
    return made


def by_model(frame: Frame, column: str) -> dict[Any, Any]:
    """The rows of each model, in the order in which models come."""
    frame = unwrapped(frame)
    model = fn.col(f"`{column.replace('`', '``')}`")
    firsts = (
        frame.select(model.alias("model"), fn.monotonically_increasing_id().alias(ROW))
        .groupBy("model")
        .agg(fn.min(ROW))
    )
    with quiet():
        names = [name for name, _ in sorted(firsts.collect(), key=lambda row: row[1])]
    return {name: frame.filter(model.eqNullSafe(fn.lit(name))).drop(column) for name in names}


def numbered(rows: DataFrame, n: int) -> DataFrame:
    """With the place of each row, and the bucket of its user."""
    return rows.select(
        *(fn.col(role) for role in rows.columns),
        fn.monotonically_increasing_id().alias(ROW),
        fn.pmod(fn.hash(_hashed(rows)), fn.lit(n)).alias(BUCKET),
    )


def _hashed(rows: DataFrame) -> Any:
    """Users as one type on both sides, so that equal ids have equal hashes: 1 as an int, a bigint and a double."""
    kind, user = kind_of(rows.schema["user"].dataType), fn.col("user")
    if kind == "whole numbers":
        # As doubles, since a NaN is refused where it is read, and not by a cast; 0 is added to make 0 of -0.
        return user.cast("double") + fn.lit(0.0)
    return user.cast("string") if kind == "text" else user


def kind_of(dtype: DataType) -> str | None:
    """Describe ids of a type; None if the type cannot hold ids."""
    name = dtype.simpleString()
    if name in NUMBERS:
        return "whole numbers"
    if isinstance(dtype, StringType) or name.startswith(("char", "varchar")):
        return "text"
    return name if name.split("(")[0] in OTHERS else None


def same_kinds(recs: DataFrame, truth: DataFrame, labels: tuple[Mapping[str, str], Mapping[str, str]]) -> None:
    """Raise an error for ids of different types and for invalid column types, by the schemas alone."""
    names = ("recommendations", "truth")
    for rows, name, own in zip((recs, truth), names, labels, strict=True):
        for role, column in own.items():
            dtype = rows.schema[role].dataType
            if kind_of(dtype) is None and (role in validation.IDS or dtype.simpleString() != "void"):
                _refuse(name, role, column, dtype.simpleString())
    for role in validation.IDS:
        left, right = (rows.schema[role].dataType for rows in (recs, truth))
        if kind_of(left) == kind_of(right):
            continue
        label, other = labels[0][role], labels[1][role]
        changed, column = ("recs", label) if kind_of(right) == "text" else ("truth", other)
        raise FrameError(
            f"the {role} ids are of different kinds: recommendations hold {_said(left)} in column {label!r}, truth holds "
            f"{_said(right)} in column {other!r}. They would never match. Make both text, "
            f"{changed} = {changed}.withColumn({column!r}, {changed}[{column!r}].cast('string')), or both whole numbers, .cast('bigint')."
        )


def _said(dtype: DataType) -> str:
    kind, name = kind_of(dtype), dtype.simpleString()
    return name if kind == name else f"{kind} ({name})"


def _refuse(name: str, role: str, column: str, held: str) -> None:
    wanted = f"which is no {role} id: one id a row is needed" if role in validation.IDS else f"which is no {role}"
    remedy = "text or whole numbers" if role in validation.IDS else "numbers"
    how = f"F.explode({column!r}) makes a row of each element" if held.startswith("array") else f"make it {remedy}"
    raise FrameError(f"{name}: column {column!r} holds {held[:80]}, {wanted}: {how}.")


def floats(rows: DataFrame, name: str, labels: Mapping[str, str]) -> list[str]:
    """Columns with ids that are floats, for the lint."""
    return [
        f"{name}[{labels[role]!r}]"
        for role in validation.IDS
        if rows.schema[role].dataType.simpleString() in ("float", "double")
    ]


def fits(value: object, rows: DataFrame) -> bool:
    """Whether a user id of this type can occur in a frame; Spark fails on comparing text with numbers."""
    kind = kind_of(rows.schema["user"].dataType)
    if kind == "whole numbers":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, str) == (kind == "text")
