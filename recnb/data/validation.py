"""Checks of the input; each error names the frame, the column, an example and the fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from recnb.data.columns import with_series
from recnb.data.encoding import hashes_of
from recnb.data.parallel import sort
from recnb.errors import Argument, Code, FrameError, FrameName
from recnb.metrics.hits import HIGHEST, Floats

IDS = ("user", "item")

#: What to do, in an error.
Fix: TypeAlias = str | tuple[object, ...]

#: Ids that are decimals, whatever digits their own column has.
DECIMAL = pl.Decimal(38, 18)


def ids(table: pl.DataFrame, name: str, labels: Mapping[str, str], roles: Sequence[str] = IDS) -> pl.DataFrame:
    """Users and items as ids of one kind each: whole numbers, text, or what the frame has; none missing."""
    if table.height == 0:
        raise FrameError(FrameName(name), " is empty: it has no rows to evaluate.")
    return with_series(table, *(_id(table[role], role, name, labels.get(role, role)).alias(role) for role in roles))


def _id(column: pl.Series, role: str, name: str, label: str) -> pl.Series:
    dtype = column.dtype
    if (column.null_count() or dtype.is_float()) and (missing := is_missing(column)).any():
        raise ids_missing(int(missing.sum()), _first(missing), role, name, label)
    if dtype.is_float():
        # A column of whole numbers that once had a gap is float in pandas; nothing is lost by going back.
        if len(odd := column.filter((column != column.floor()) | column.is_infinite())):
            raise FrameError.of_column(name, label, f"holds {odd[0]}, which is no id: use whole numbers or text.")
        digits = {"Float16": 11, "Float32": 24}.get(str(dtype), 53)
        if len(large := column.filter(column.abs() >= 2**digits)):
            held = f"holds the float {large[0]:.0f}, and {dtype} from 2**{digits} on is not exact, so ids may have run together"
            kinds = Code(", dtype='Int64' or dtype=str")
            raise FrameError.of_column(name, label, f"{held}: read the column as whole numbers or as text", kinds, ".")
        return column.cast(pl.Int64)
    if dtype.is_integer():
        try:
            return column.cast(pl.Int64)
        except pl.exceptions.InvalidOperationError as problem:
            held = f"holds ids above 2**63 - 1, such as {column.max()!r}: use text"
            raise FrameError.of_column(name, label, held, Code(", .astype(str)"), ".") from problem
    if dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if dtype.is_temporal() or dtype.is_decimal():
        return of_one_unit(column)
    if dtype in (pl.String, pl.Boolean, pl.Binary):
        return column
    held = f"holds {str(dtype)[:80]}, which is no {role} id: one id a row is needed"
    if dtype in (pl.List, pl.Array):
        raise FrameError.of_column(name, label, held, Code(f": frame.explode({label!r})"), ".")
    raise FrameError.of_column(name, label, held, ": whole numbers or text", Code(", .astype(str)"), ".")


def float_ids(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> list[str]:
    """Columns whose ids come as floats, as code that names them."""
    return [f"{name}[{labels[role]!r}]" for role in IDS if table[role].dtype.is_float()]


def is_missing(ids: pl.Series) -> pl.Series:
    """Which ids are null or NaN."""
    return ids.is_null() | ids.is_nan() if ids.dtype.is_float() else ids.is_null()


def ids_missing(n: int, row: int, role: str, name: str, label: str) -> FrameError:
    """Return the error for missing ids."""
    drop = Code(f": frame.dropna(subset=[{label!r}])")
    held = f"has {n:,} missing {role} ids, the first in row {row}."
    return FrameError.of_column(name, label, held, fix=("Drop those rows", drop, "."))


def of_one_unit(ids: pl.Series) -> pl.Series:
    """Times and decimals in the form in which equal ones are equal: one unit, one time zone, so many digits after the point."""
    dtype = ids.dtype
    if isinstance(dtype, (pl.Datetime, pl.Duration)):
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            ids = ids.dt.convert_time_zone("UTC")
        # Nanoseconds reach from 1677 to 2262.
        milliseconds = ids.dt.cast_time_unit("ms").to_physical().abs().max()
        near = not isinstance(milliseconds, int) or milliseconds < 2**63 // 10**6
        return ids.dt.cast_time_unit("ns" if near else "us")
    if isinstance(dtype, pl.Decimal):
        converted = ids.cast(pl.Int64 if dtype.scale == 0 else DECIMAL, strict=False)
        exact = converted.null_count() == ids.null_count() and dtype.scale <= DECIMAL.scale
        return converted if exact else ids
    return ids


def of_one_kind(ids: pl.Series, others: pl.Series) -> pl.Series:
    """Convert integers to decimals if the ids they are joined with are decimals."""
    return ids.cast(DECIMAL) if ids.dtype == pl.Int64 and others.dtype == DECIMAL else ids


def aligned(
    recs: pl.DataFrame, truth: pl.DataFrame, labels: Mapping[str, str], truth_labels: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return both frames with ids of one type, or raise an error."""
    recs = with_series(recs, *(of_one_kind(recs[role], truth[role]) for role in IDS))
    truth = with_series(truth, *(of_one_kind(truth[role], recs[role]) for role in IDS))
    same_kind(recs, truth, labels, truth_labels)
    return recs, truth


def same_kind(
    recs: pl.DataFrame,
    other: pl.DataFrame,
    labels: Mapping[str, str],
    other_labels: Mapping[str, str],
    name: str = "truth",
) -> None:
    """Raise an error for ids of different types: 1 and "1" never match, and every score would be 0."""
    for role in (role for role in IDS if role in other.columns and recs.height and other.height):
        left, right, label, other_label = recs[role], other[role], labels.get(role, role), other_labels.get(role, role)
        if kind(left.dtype) != kind(right.dtype):
            raise FrameError(
                f"the {role} ids are of different kinds: ",
                FrameName("recommendations"),
                f" hold {kind(left.dtype)} (such as {left[0]!r}) in column {label!r}, ",
                FrameName(name),
                f" holds {kind(right.dtype)} (such as {right[0]!r}) in column {other_label!r}. They would never match.",
                fix=_one_kind(left, right, f"recs[{label!r}]", f"{name}[{other_label!r}]"),
            )


def _one_kind(left: pl.Series, right: pl.Series, ours: str, theirs: str) -> tuple[object, ...]:
    """The sentence on how to give ids of two types one type."""
    types = (left.dtype, right.dtype)
    if any(dtype in (pl.Date, pl.Datetime) for dtype in types):
        both = " and ".join(f"{column} = pd.to_datetime({column}, utc=True)" for column in (ours, theirs))
        return "Make both times, those without a time zone read as UTC", Code(f": {both}"), "."
    if any(dtype.is_decimal() for dtype in types):
        both = " and ".join(f"{column} = {column}.map(plain)" for column in (ours, theirs))
        code = f", with plain = lambda id: f'{{Decimal(id).normalize():f}}': {both}"
        return "Make both text of one form", Code(code), "."
    if pl.Binary in types and pl.String in types:
        column = ours if left.dtype == pl.Binary else theirs
        return "Make both text", Code(f": {column} = {column}.str.decode('utf-8')"), "."
    text, column = (left, ours) if left.dtype == pl.String else (right, theirs)
    if text.dtype != pl.String:
        code = f": {ours} = {ours}.astype(int) and {theirs} = {theirs}.astype(int)"
        return "Make both whole numbers", Code(code), "."
    if text.str.contains(r"^-?\d+\.0*$").any():
        return "Make both whole numbers", Code(f": {column} = {column}.astype(float)"), "."
    column = theirs if left.dtype == pl.String else ours
    as_text, as_numbers = Code(f", {column} = {column}.astype(str)"), Code(", .astype(int)")
    return "Make both text", as_text, ", or both whole numbers", as_numbers, "."


def kind(dtype: pl.DataType) -> str:
    """Describe ids of a type."""
    if dtype.is_integer():
        return "whole numbers"
    return "text" if dtype == pl.String else str(dtype)


def scores(table: pl.DataFrame, name: str, label: str) -> pl.Series:
    """Scores as numbers, all there and finite."""
    column = table["score"]
    # Digits of a decimal that a float does not hold decide on the order as well.
    column = column if column.dtype.is_decimal() else _number(column, name, label)
    if (bad := _not_finite(column)) is not None:
        held = "has {n:,} scores that are missing, NaN or infinite, the first {value} for {pair}."
        raise _held(
            column,
            bad,
            table,
            name,
            label,
            held,
            "A score must place its item in the list: fill it in or drop the row.",
        )
    return column


def ranks(table: pl.DataFrame, name: str, label: str) -> pl.Series:
    """Ranks as whole numbers from 1."""
    column = _number(table["rank"], name, label)
    if_score = ("If it is a score, say so: ", Argument("score", label), ".")
    if column.dtype.is_float():
        if (odd := column.is_null() | ~column.is_finite() | (column != column.floor())).any():
            held = "holds {value} for {pair}: a rank is a whole number, 1 for the top."
            raise _held(column, odd, table, name, label, held, if_score)
    elif column.null_count():
        held = "is missing for {pair}: every recommended item has a rank."
        raise _held(column, column.is_null(), table, name, label, held)
    lowest, highest = column.min(), column.max()
    if isinstance(highest, (int, float)) and highest > 2**31:
        held = "holds {value:g} for {pair}, which is no place in a list."
        raise _held(column, column == highest, table, name, label, held, if_score)
    if isinstance(lowest, (int, float)) and lowest < 1:
        fix: tuple[object, ...] = ("If the highest number is the top, it is a score: ", *if_score[1:])
        if lowest == 0:
            fix = ("If yours start at 0, add 1", Code(f": frame[{label!r}] += 1"), ".")
        held = "holds rank {value:.0f} for {pair}: ranks start at 1."
        raise _held(column, column == lowest, table, name, label, held, fix)
    return column.cast(pl.Int64)


def relevance(table: pl.DataFrame, name: str, label: str, *, negative: str = "error") -> pl.Series:
    """Relevance as numbers: all there, finite, none below 0 unless the convention has a place for it."""
    column = _number(table["relevance"], name, label).cast(pl.Float64)
    if (bad := _not_finite(column)) is not None:
        held = "has {n:,} values that are missing, NaN or infinite, the first {value} for {pair}."
        meaning = ("Say what they mean: 0 for not relevant", Code(", .fillna(0)"), "; or drop the rows.")
        raise _held(column, bad, table, name, label, held, meaning)
    lowest, highest = column.min(), column.max()
    if isinstance(highest, float) and highest > HIGHEST:
        smaller = ("Make the scale smaller", Code(f": frame[{label!r}] /= frame[{label!r}].max()"), ".")
        held = "holds {value:g} for {pair}: sums of such numbers overflow."
        raise _held(column, column == highest, table, name, label, held, smaller)
    if not isinstance(lowest, float) or lowest >= 0 or negative == "keep":
        return column
    if negative == "zero":
        return column.clip(lower_bound=0.0)
    trec = (Argument("negative_relevance", "zero"), ", as ", Argument("convention", "trec"), " does")
    pooled = ("If it marks what was pooled and not judged, count it as 0 by ", *trec)
    clip = ("; if it means not relevant, set it to 0", Code(f", frame[{label!r}].clip(lower=0)"))
    held = "holds a negative relevance, {value:g} for {pair}: a gain below 0 breaks the bounds of nDCG."
    fix = (*pooled, *clip, ", which Bpref and infAP count as judged.")
    raise _held(column, column == lowest, table, name, label, held, fix)


def in_floats(scores: pl.Series) -> Floats:
    """Scores as floats in the same order, with the same ties and signs: their places among each other where floats run them together."""
    floats = scores.cast(pl.Float64).to_numpy()
    small = scores.dtype.is_integer() and np.abs(floats).max(initial=0.0) < 2**53
    if scores.dtype.is_float() or small or len(np.unique(floats)) == scores.n_unique():
        return floats
    places = scores.rank("dense").to_numpy().astype(np.float64)
    # The highest place of a score that is not above 0: places above it are above 0, those below it below, as the scores are.
    at, zero = places[floats <= 0].max(initial=0.0), bool((floats == 0).any())
    return np.asarray(np.where((floats > 0) | zero, places - at, places - at - 1))


def _not_finite(column: pl.Series) -> pl.Series | None:
    """Which values are missing, NaN or infinite; None if none is. One such value makes the sum so."""
    if not column.null_count() and (not column.dtype.is_float() or np.isfinite(float(column.sum()))):
        return None
    bad = column.is_null() if column.dtype.is_decimal() else column.is_null() | ~column.is_finite()
    return bad if bad.any() else None


def _first(true: pl.Series) -> int:
    return int(true.to_numpy().argmax())


def _held(
    column: pl.Series, bad: pl.Series, table: pl.DataFrame, name: str, label: str, held: str, fix: Fix = ()
) -> FrameError:
    """The error for numbers that are bad: `held` says what the first is, `{value}`, for which `{pair}`, and how many, `{n}`."""
    row = _first(bad)
    pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
    return FrameError.of_column(name, label, held.format(n=bad.sum(), value=column[row], pair=pair), fix=fix)


def _number(column: pl.Series, name: str, label: str) -> pl.Series:
    if column.dtype.is_decimal() or column.null_count() == len(column):
        return column.cast(pl.Float64)
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    if column.dtype.is_numeric():
        return column
    known = column.drop_nulls()
    if column.dtype == pl.String and len(odd := known.filter(known.cast(pl.Float64, strict=False).is_null())):
        held = f"holds text where numbers are needed, and {odd[0]!r} is no number: correct it, or drop the row."
        raise FrameError.of_column(name, label, held)
    held = f"holds {kind(column.dtype)}, such as {known[0]!r}, where numbers are needed"
    to_numbers = f": frame[{label!r}].astype({'int' if column.dtype.is_temporal() else 'float'})"
    raise FrameError.of_column(name, label, held, Code(to_numbers), ".")


def repeated(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count.

    Rows whose hashes are the same are compared by value, so a chance collision of hashes is no error.
    """
    hashes = np.zeros(table.height, dtype=np.uint64)
    for seed, key in enumerate(keys, 1):
        hashes += hashes_of(table[key], seed)
    ordered = hashes.copy()
    sort(ordered)
    same = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(same) == 0:
        return table.select(keys).clear().with_columns(pl.lit(0, dtype=pl.UInt32).alias("len"))
    suspects = table.select(keys).filter(pl.Series(np.isin(hashes, same)))
    return suspects.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)


def no_pair_twice(table: pl.DataFrame, name: str, remedy: Fix) -> None:
    """Raise an error for repeated pairs of user and item, which would count twice."""
    twice = repeated(table, ["user", "item"])
    if twice.height:
        user, item, n = twice.row(0)
        pairs = f"{twice.height:,} pairs of user and item stand more than once, such as user {user!r}, item {item!r}"
        raise FrameError(FrameName(name), f": {pairs} ({n} times).", fix=remedy)


def no_rank_twice(table: pl.DataFrame, name: str, label: str) -> None:
    """Two items of one user cannot share a rank."""
    twice = repeated(table, ["user", "rank"])
    if twice.height:
        user, rank, _ = twice.row(0)
        both = table.filter((pl.col("user") == user) & (pl.col("rank") == rank))["item"].to_list()[:2]
        held = f"gives rank {rank} to {' and '.join(map(repr, both))} of user {user!r}, and repeats a rank in {twice.height:,} places."
        ranks = Code(": frame.groupby('user')['score'].rank(method='first', ascending=False)")
        fix = ("Make ranks of your scores", ranks, ", or give the score column alone.")
        raise FrameError.of_column(name, label, held, fix=fix)
