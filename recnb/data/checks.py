"""What values of columns are: kinds of types, what is missing, what is no number."""

from __future__ import annotations

import polars as pl

#: Types of columns of text.
TEXT = (pl.String, pl.Categorical, pl.Enum)


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


def is_no_number(values: pl.Series) -> pl.Series:
    """Return which floats are null, NaN or infinite."""
    return values.is_null() | ~values.is_finite()


def surely_within(values: pl.Series, low: float, high: float) -> bool:
    """Return True only if all numbers are between two; it is quick to see of most."""
    if values.is_empty():
        return True
    dtype = values.dtype
    if values.null_count():
        return False
    if dtype in (pl.Int128, pl.UInt128):
        return False  # NumPy has no such type
    if not (dtype.is_integer() or dtype in (pl.Float32, pl.Float64)):
        return False
    array = values.to_numpy()
    # A NaN among the values makes both NaN, and NaN is neither above nor below.
    return float(array.min()) >= low and float(array.max()) <= high
