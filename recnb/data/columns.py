"""Columns of other libraries as those of Polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from recnb.data.names import NAMES, NUMBERS
from recnb.errors import FrameError, quoted

#: The errors of Polars, and those of what it does not read.
POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def owned(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Copy columns, since the caller may write into theirs."""
    return pl.DataFrame([*map(_copied, columns)])


def _copied(column: pl.Series) -> pl.Series:
    """Copy a column into one chunk, but for text of Polars: nobody can write into it."""
    if column.dtype == pl.String:
        return column
    # Polars copies what it puts together, and leaves a single piece where it is: hence
    # one row more.
    longer = pl.concat([column, column.head(1)]).rechunk()
    return longer.head(len(column))


def as_column(values: Sequence[Any], in_words: str, role: str) -> pl.Series:
    """Return values of one kind as the column of a role; None is missing.

    Errors call it `in_words`.

    Plain numbers and text are read by Polars, sooner than by pandas, which reads all
    others. Polars would make True the number 1, and panics at some decimals.
    """
    if {bool, Decimal}.isdisjoint(map(type, values)):
        with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            column = pl.Series(role, values)
            if column.dtype in (pl.Int64, pl.String, pl.Float64):
                return column
    in_pandas = pd.Series(values, dtype=object)
    return from_pandas(in_pandas, in_words, role).alias(role)


def from_pandas(column: pd.Series[Any], in_words: str, role: str) -> pl.Series:
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
            values = _as_arrow_reads(column, in_words, role)
            return values.cast(pl.Enum(column.cat.categories))
        dtype = categories.dtype
    if isinstance(dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        column = column.map(str, na_action="ignore")
    values = _as_arrow_reads(column, in_words, role)
    return values.cast(pl.String) if values.dtype == pl.Categorical else values


def _as_arrow_reads(column: pd.Series[Any], in_words: str, role: str) -> pl.Series:
    """Return a column of pandas as Arrow reads it; refuse values of several kinds."""
    # pyarrow looks long at a Series before it asks its array, which has text as Arrow.
    is_text = isinstance(column.dtype, pd.StringDtype)
    values = column.array if is_text else column
    try:
        return pl.Series(_in_views(pa.array(values, from_pandas=True)))
    except (
        pa.ArrowException,
        OverflowError,
        UnicodeEncodeError,
        *POLARS_ERRORS,
    ) as problem:
        is_encodable = not isinstance(problem, UnicodeEncodeError)
        # Few types of Arrow can be mapped or dropped by every pandas.
        column = pd.Series([*column], dtype=object)
        if is_encodable and role in NUMBERS:
            # As text, which Arrow reads: the check of numbers says what is no number.
            return from_pandas(column.map(str, na_action="ignore"), in_words, role)
        known = column.dropna()
        kinds = ", ".join(sorted({type(value).__name__ for value in known}))
        # The text of what is missing would be an id, "nan" or "None".
        raise FrameError(
            f"{in_words} holds values of more than one kind, or of one that "
            f"is not read: {kinds}, such as {quoted(known.iloc[0])}. Make them one "
            "kind, such as text or whole numbers below 2**63, and drop what is missing "
            "first."
        ) from problem


def _in_views(array: Any) -> Any:
    """Return text of Arrow as views, which is how Polars has it.

    Arrow makes them in a third of Polars' time; they cannot point beyond 2 GB. Before
    pyarrow 25 the cast ends the process for text of up to 12 bytes.
    """
    makes_views = int(pa.__version__.split(".")[0]) >= 25
    is_text = pa.types.is_large_string(array.type)
    if makes_views and is_text and array.nbytes < 2**31:
        return array.cast(pa.string_view())
    return array
