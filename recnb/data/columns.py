"""Columns of Polars: what their values are, and how those of other libraries become some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.names import NAMES
from recnb.display.text import one_line
from recnb.errors import FrameError, quoted

#: Types of columns of text.
TEXT = (pl.String, pl.Categorical, pl.Enum)

# ---- what values are


def kind(dtype: pl.DataType) -> str:
    """Describe the values of a type, ids or numbers."""
    if dtype.is_integer():
        return "whole numbers"
    if dtype in TEXT:
        return "text"
    return str(dtype)


def held_in(values: pl.Series) -> str:
    """Describe the values of a column, objects of Python by their types."""
    if values.dtype != pl.Object:
        return kind(values.dtype)
    types = {type(value).__name__ for value in values if value is not None}
    return f"objects of Python ({', '.join(sorted(types))})"


def is_missing(values: pl.Series) -> pl.Series:
    """Return which values are null or NaN."""
    if values.dtype.is_float():
        return values.is_null() | values.is_nan()
    return values.is_null()


def as_numbers(values: pl.Series, name: str) -> pl.Series:
    """Return a column as numbers; True and False are 1 and 0.

    A column of any other type is refused, unless it is empty; errors call it `name`.
    """
    if values.dtype.is_numeric():
        return values
    if values.dtype == pl.Boolean or values.null_count() == len(values):
        return values.cast(pl.Float64)
    known = values.drop_nulls()
    problem = f"{name} holds {held_in(values)} where numbers are needed"
    if values.dtype in TEXT:
        text = known.cast(pl.String)
        not_numbers = text.filter(text.cast(pl.Float64, strict=False).is_null())
        if len(not_numbers):
            raise FrameError(
                f"{problem}, and {not_numbers[0]!r} is no number: correct it, or drop "
                "the row."
            )
    example = known.head(1).to_list()[0]
    raise FrameError(f"{problem}, such as {quoted(example)}: make them numbers.")


# ---- columns of other libraries


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
    for field in fields:
        if field.type.id in unread:
            raise FrameError(
                f"{name}: column {field.name!r} holds {one_line(str(field.type), 80)} of "
                "Arrow, which is not read. Make it plain numbers or text, as to_list() of "
                "pandas and to_pylist() of pyarrow do."
            )


def owned(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Copy columns, since the caller may write into theirs; text of Polars is never shared."""
    return pl.DataFrame(
        [column if column.dtype == pl.String else _copied(column) for column in columns]
    )


def _copied(column: pl.Series) -> pl.Series:
    """Copy a column, in the same chunks: where columns differ in them, queries copy all."""
    # Polars copies what it puts together, and leaves a single piece where it is: hence
    # one row more.
    copies = [
        pl.concat([chunk, chunk.head(1)]).rechunk().head(len(chunk))
        for chunk in column.get_chunks()
    ]
    return pl.concat(copies)


def as_column(values: Sequence[Any], name: str, label: str, role: str) -> pl.Series:
    """Return values of one kind as a column; None is missing."""
    # True would be the id 1, and Polars panics at some decimals.
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
    value_dtype, is_ordered = dtype, False
    if isinstance(dtype, pd.CategoricalDtype):
        value_dtype = dtype.categories.dtype
        # Groups of users or items keep an order of their own.
        if dtype.ordered and role not in NAMES:
            is_ordered = dtype.categories.map(str).is_unique
    if is_ordered or isinstance(value_dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        column = column.map(str, na_action="ignore")
    values = _as_arrow_reads(column, name, label, role)
    if is_ordered:  # its categories are text by now
        return values.cast(pl.Enum(column.cat.categories))
    if values.dtype == pl.Categorical:
        return values.cast(pl.String)
    return values


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
    # Views are how Polars has text, and Arrow makes them in a third of Polars' time;
    # they cannot point beyond 2 GB. Before pyarrow 25 the cast ends the process for text
    # of up to 12 bytes.
    elif int(pa.__version__.split(".")[0]) >= 25 and array.nbytes < 2**31:
        array = array.cast(pa.string_view())
    return pl.Series(array)
