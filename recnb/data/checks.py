"""What ids and numbers must be: a table of checks, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Sequence
from sys import float_info
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import polars as pl

from recnb.errors import FrameError, quoted
from recnb.metrics.hits import ENDLESS, HIGHEST

if TYPE_CHECKING:
    from recnb.data.sheet import Sheet

#: Types of columns of text.
TEXT = (pl.String, pl.Categorical, pl.Enum)


class Check(NamedTuple):
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
    checks: Sequence[Check]
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
    Check(
        bad=_is_no_number,
        problem=_NO_NUMBER,
        fix="Say what they mean: 0 for not relevant; or drop the rows.",
    ),
    Check(bad=_value > HIGHEST, problem=_OVERFLOW, fix=_SMALLER_SCALE),
]
_BELOW_0 = Check(
    bad=_value < 0,
    problem="holds {value:g} for {pair}: a negative relevance breaks the bounds of nDCG.",
    fix="If it marks what is not judged, say negative_relevance='zero', as "
    "convention='trec' does; else set it to 0.",
)
_FAR_BELOW_0 = Check(bad=_value < -HIGHEST, problem=_OVERFLOW, fix=_SMALLER_SCALE)
RANGES = {
    "score": Range(
        low=-float_info.max,
        high=float_info.max,
        checks=[
            Check(
                bad=_is_no_number,
                problem=_NO_NUMBER,
                fix="A score must place its item in the list: fill it in or drop the row.",
            )
        ],
    ),
    "rank": Range(
        low=1,
        high=ENDLESS,  # up to here, user and rank fit into one whole number
        whole=True,
        checks=[
            Check(
                bad=_is_no_number | (_value != _value.floor()) | (_value < 1),
                problem="holds {value} for {pair}: a rank is a whole number, 1 for the "
                "top.",
                fix="If yours start at 0, add 1. If it is a score, say so: "
                "score={column!r}.",
            ),
            Check(
                bad=_value > ENDLESS,
                problem=f"holds {{value}} for {{pair}}: a rank is at most {ENDLESS:,}.",
                fix="Number each list anew, from 1. If it is a score, say so: "
                "score={column!r}.",
            ),
        ],
    ),
    # By the convention's `negative_relevance`.
    "relevance, error": Range(low=0, high=HIGHEST, checks=[*_GRADE, _BELOW_0]),
    "relevance, zero": Range(low=0, high=HIGHEST, checks=_GRADE),
    "relevance, keep": Range(low=0, high=HIGHEST, checks=[*_GRADE, _FAR_BELOW_0]),
}


# ---- numbers


def checked_numbers(sheet: Sheet, role: str, rule: str = "") -> pl.Series:
    """Return the column of a role as numbers that pass the checks of a rule.

    They are of the type they have: as floats, large whole numbers would become equal.
    """
    values = _as_numbers(sheet, role)
    allowed = RANGES[rule or role]
    if _are_within(values, allowed):
        return values  # the usual case
    table = pl.DataFrame({"value": values.cast(pl.Float64)})
    for check in allowed.checks:
        bad = table.select(check.bad.arg_true()).to_series()
        if not len(bad):
            continue
        n, row = len(bad), bad[0]
        problem = check.problem.format(
            n=n,
            s="s" * (n > 1),
            are="are" if n > 1 else "is",
            value=values[row],
            pair=sheet.pair_in_words(row),
        )
        fix = check.fix.format(column=sheet.label(role))
        raise FrameError(f"{sheet.column_in_words(role)} {problem} {fix}")
    return values


def _are_within(values: pl.Series, allowed: Range) -> bool:
    """Return whether all numbers are surely within the bounds, and whole if need be."""
    if values.is_empty():
        return True
    if values.null_count() or values.dtype in (pl.Int128, pl.UInt128):
        return False  # NumPy has no such type
    # Of floats that must be whole, those in between matter too: 1.5 between 1 and 2.
    is_float = values.dtype in (pl.Float32, pl.Float64)
    if not values.dtype.is_integer() and (allowed.whole or not is_float):
        return False
    array = values.to_numpy()
    # A NaN among the values makes both NaN, and NaN is neither above nor below.
    lowest, highest = float(array.min()), float(array.max())
    return lowest >= allowed.low and highest <= allowed.high


def _as_numbers(sheet: Sheet, role: str) -> pl.Series:
    """Return the column of a role as numbers; True and False are 1 and 0.

    Raises an error for a column of any other type, unless it is empty.
    """
    column = sheet[role]
    if column.dtype.is_numeric():
        return column
    if column.dtype == pl.Boolean or column.null_count() == len(column):
        return column.cast(pl.Float64)
    given = column.drop_nulls()
    problem = (
        f"{sheet.column_in_words(role)} holds {kind(column.dtype)} where numbers are "
        "needed"
    )
    if column.dtype in TEXT:
        text = given.cast(pl.String)
        not_numbers = text.filter(text.cast(pl.Float64, strict=False).is_null())
        if len(not_numbers):
            raise FrameError(
                f"{problem}, and {not_numbers[0]!r} is no number: correct it, or drop "
                "the row."
            )
    example = given.head(1).to_list()[0]
    raise FrameError(f"{problem}, such as {quoted(example)}: make them numbers.")


# ---- ids


def checked_ids(sheet: Sheet, role: str) -> pl.Series:
    """Return the ids of a role as whole numbers or text; refuse missing ones."""
    values = sheet[role]
    _refuse_missing(sheet, role)
    if values.dtype in (pl.Int64, pl.String):
        return values
    if values.dtype in TEXT:
        return values.cast(pl.String)
    if values.dtype.is_float():
        return _whole_numbers(sheet, role)
    if not values.dtype.is_integer() and not values.dtype.is_decimal():
        raise _no_id(sheet, role, wrong=values)
    whole = values.cast(pl.Int64, strict=False)
    # A UInt64 beyond 2**63 becomes null, and the Decimal 1.5 becomes 1.
    is_same = (whole.cast(values.dtype, strict=False) == values).fill_null(value=False)
    if not is_same.all():
        raise _no_id(sheet, role, wrong=values.filter(~is_same))
    return whole


def _refuse_missing(sheet: Sheet, role: str) -> None:
    """Raise an error for missing ids."""
    values = sheet[role]
    if not values.null_count() and not values.dtype.is_float():
        return
    missing = is_missing(values).arg_true()
    if len(missing):
        n, plural = len(missing), "s" * (len(missing) > 1)
        raise FrameError(
            f"{sheet.column_in_words(role)} has {n:,} missing {role} id{plural}, the "
            f"first in row {missing[0]}. Drop such rows."
        )


def _whole_numbers(sheet: Sheet, role: str) -> pl.Series:
    """Return ids that came as floats, as whole numbers.

    pandas makes floats of a column of whole numbers as soon as one is missing, and
    they stay floats when that row is dropped.
    """
    values = sheet[role]
    mantissa_bits = {"Float16": 11, "Float32": 24}.get(str(values.dtype), 53)
    exact_below = 2**mantissa_bits  # from there on, floats skip whole numbers
    inexact = values.filter((values != values.floor()) | (values.abs() >= exact_below))
    if len(inexact):
        raise FrameError(
            f"{sheet.column_in_words(role)} holds the {values.dtype} {inexact[0]!r}, not "
            "exact as an id: read ids as whole numbers or as text."
        )
    return values.cast(pl.Int64)


def _no_id(sheet: Sheet, role: str, wrong: pl.Series) -> FrameError:
    """Return the error for a column with `wrong` values, which cannot be ids."""
    example, type_in_words = wrong.head(1).to_list()[0], str(wrong.dtype)[:80]
    if isinstance(example, bytes) and len(example) == 16:
        example, type_in_words = UUID(bytes=example), "16 bytes"  # as Arrow stores it
    fix = "Make them text, in the other frame as well."
    if wrong.dtype in (pl.List, pl.Array):
        fix = (
            f"Explode {sheet.label(role)!r} into a row of each; "
            "a column of lists is named by recommended= or relevant=."
        )
    return FrameError(
        f"{sheet.column_in_words(role)} holds {type_in_words} such as "
        f"{quoted(example)}, which is not a valid {role} id: each row needs one "
        f"id, a whole number below 2**63 or text. {fix}"
    )


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
