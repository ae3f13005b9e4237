"""What scores, ranks and grades must be: checks, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Sequence
from sys import float_info
from typing import NamedTuple

import polars as pl

from recnb.metrics.hits import ENDLESS, HIGHEST

#: Types of columns of text.
TEXT = (pl.String, pl.Categorical, pl.Enum)


class NumberCheck(NamedTuple):
    """What is wrong with a number, and what its error says."""

    bad: pl.Expr
    #: `{n}`, `{s}`, `{are}`, `{value}` and `{pair}` are filled in.
    problem: str
    #: `{column}` is filled in.
    fix: str


class Range(NamedTuple):
    """Numbers from low to high, and whole if `whole`, pass all checks.

    That is quick to see of a column. One that has others is put through the checks; the
    first that a number fails is the error.
    """

    low: float
    high: float
    checks: Sequence[NumberCheck]
    whole: bool = False


_value = pl.col("value")
_is_no_number = _value.is_null() | ~_value.is_finite()
_NO_NUMBER = (
    "has {n:,} value{s} that {are} missing, NaN or infinite, the first {value} for "
    "{pair}."
)
_OVERFLOW = "holds {value:g} for {pair}: sums of such numbers overflow."
_SMALLER_SCALE = "Make the scale smaller."
#: What a relevance is, but for what is below 0.
_GRADE = [
    NumberCheck(
        bad=_is_no_number,
        problem=_NO_NUMBER,
        fix="Say what they mean: 0 for not relevant; or drop the rows.",
    ),
    NumberCheck(bad=_value > HIGHEST, problem=_OVERFLOW, fix=_SMALLER_SCALE),
]
_BELOW_0 = NumberCheck(
    bad=_value < 0,
    problem="holds {value:g} for {pair}: a negative relevance breaks the bounds of nDCG.",
    fix="If it marks what is not judged, say negative_relevance='zero', as "
    "convention='trec' does; else set it to 0.",
)
_FAR_BELOW_0 = NumberCheck(bad=_value < -HIGHEST, problem=_OVERFLOW, fix=_SMALLER_SCALE)
SCORES = Range(
    low=-float_info.max,
    high=float_info.max,
    checks=[
        NumberCheck(
            bad=_is_no_number,
            problem=_NO_NUMBER,
            fix="A score must place its item in the list: fill it in or drop the row.",
        )
    ],
)
RANKS = Range(
    low=1,
    high=ENDLESS,  # up to here, user and rank fit into one whole number
    whole=True,
    checks=[
        NumberCheck(
            bad=_is_no_number | (_value != _value.floor()) | (_value < 1),
            problem="holds {value} for {pair}: a rank is a whole number, 1 for the top.",
            fix="If yours start at 0, add 1. If it is a score, say so: score={column!r}.",
        ),
        NumberCheck(
            bad=_value > ENDLESS,
            problem=f"holds {{value}} for {{pair}}: a rank is at most {ENDLESS:,}.",
            fix="Number each list anew, from 1. If it is a score, say so: "
            "score={column!r}.",
        ),
    ],
)
#: What a relevance must be, by the convention's `negative_relevance`.
GRADES = {
    "error": Range(low=0, high=HIGHEST, checks=[*_GRADE, _BELOW_0]),
    "zero": Range(low=0, high=HIGHEST, checks=_GRADE),
    "keep": Range(low=0, high=HIGHEST, checks=[*_GRADE, _FAR_BELOW_0]),
}


def first_failed(
    values: pl.Series, allowed: Range
) -> tuple[NumberCheck, pl.Series] | None:
    """Return the first check that numbers fail, and the rows that fail it."""
    if _are_within(values, allowed):
        return None  # the usual case
    table = pl.DataFrame({"value": values.cast(pl.Float64)})
    for check in allowed.checks:
        bad = table.select(check.bad.arg_true()).to_series()
        if len(bad):
            return check, bad
    return None


def _are_within(values: pl.Series, allowed: Range) -> bool:
    """Return whether all numbers are surely within the bounds, and whole if need be."""
    if values.is_empty():
        return True
    if values.null_count() or values.dtype in (pl.Int128, pl.UInt128):
        return False  # NumPy has no such type
    # Of floats that must be whole, those in between matter too: 1.5 between 1 and 2.
    may_be_float = values.dtype in (pl.Float32, pl.Float64) and not allowed.whole
    if not (values.dtype.is_integer() or may_be_float):
        return False
    array = values.to_numpy()
    # A NaN among the values makes both NaN, and NaN is neither above nor below.
    lowest, highest = float(array.min()), float(array.max())
    return lowest >= allowed.low and highest <= allowed.high


def is_missing(values: pl.Series) -> pl.Series:
    """Return which values are null or NaN."""
    if values.dtype.is_float():
        return values.is_null() | values.is_nan()
    return values.is_null()


def kind(dtype: pl.DataType) -> str:
    """Describe the values of a type, ids or numbers."""
    if dtype.is_integer():
        return "whole numbers"
    if dtype in TEXT:
        return "text"
    return str(dtype)
