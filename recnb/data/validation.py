"""Checks of the input; each error names the frame, the column, an example and the fix."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from recnb.data.encoding import hashes_of
from recnb.data.parallel import sorted_in_shares
from recnb.errors import FrameError
from recnb.metrics.hits import HIGHEST, Floats

IDS = ("user", "item")

#: Ids that are decimals, whatever digits their own column has.
DECIMAL = pl.Decimal(38, 18)


def ids(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.DataFrame:
    """Users and items as ids of one kind each: whole numbers, text, or what the frame has; none missing."""
    if table.height == 0:
        raise FrameError(f"{name} is empty: it has no rows to evaluate.")
    return table.with_columns(_id(table, role, name, labels.get(role, role)) for role in IDS)


def _id(table: pl.DataFrame, role: str, name: str, label: str) -> pl.Series:
    column = table[role]
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan()
    if missing.any():
        row = _first(missing)
        raise FrameError(
            f"{name}: column {label!r} has {missing.sum():,} missing {role} ids, the first in row {row}. "
            f"Drop those rows: frame.dropna(subset=[{label!r}])."
        )
    if column.dtype.is_float():
        # A column of whole numbers that once had a gap is float in pandas; nothing is lost by going back.
        if (column != column.floor()).any() or column.is_infinite().any():
            example = column.filter((column != column.floor()) | column.is_infinite())[0]
            raise FrameError(f"{name}: column {label!r} holds {example}, which is no id: use whole numbers or text.")
        digits = {"Float16": 11, "Float32": 24}.get(str(column.dtype), 53)
        if (column.abs() >= 2**digits).any():
            example = column.filter(column.abs() >= 2**digits)[0]
            raise FrameError(
                f"{name}: column {label!r} holds the float {example:.0f}, and {column.dtype} from 2**{digits} on is not exact, so ids may have run "
                "together: read the column as whole numbers or as text, dtype='Int64' or dtype=str."
            )
        return column.cast(pl.Int64)
    if column.dtype.is_integer():
        try:
            return column.cast(pl.Int64)
        except pl.exceptions.InvalidOperationError as problem:
            raise FrameError(
                f"{name}: column {label!r} holds ids above 2**63 - 1, such as {column.max()!r}: use text, .astype(str)."
            ) from problem
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype.is_temporal() or column.dtype.is_decimal():
        return of_one_unit(column)
    if column.dtype in (pl.String, pl.Boolean, pl.Binary):
        return column
    remedy = (
        f"frame.explode({label!r})" if column.dtype in (pl.List, pl.Array) else "whole numbers or text, .astype(str)"
    )
    raise FrameError(
        f"{name}: column {label!r} holds {str(column.dtype)[:80]}, which is no {role} id: one id a row is needed: {remedy}."
    )


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
    recs = recs.with_columns(of_one_kind(recs[role], truth[role]) for role in IDS)
    truth = truth.with_columns(of_one_kind(truth[role], recs[role]) for role in IDS)
    same_kind(recs, truth, labels, truth_labels)
    return recs, truth


def same_kind(
    recs: pl.DataFrame, truth: pl.DataFrame, labels: Mapping[str, str], truth_labels: Mapping[str, str]
) -> None:
    """Raise an error for ids of different types: 1 and "1" never match, and every score would be 0."""
    for role in IDS:
        left, right = recs[role], truth[role]
        if kind(left.dtype) == kind(right.dtype):
            continue
        label, other = labels.get(role, role), truth_labels.get(role, role)
        raise FrameError(
            f"the {role} ids are of different kinds: recommendations hold {kind(left.dtype)} ({_example(left)}) in column {label!r}, "
            f"truth holds {kind(right.dtype)} ({_example(right)}) in column {other!r}. They would never match. "
            + one_kind(left, right, f"recs[{label!r}]", f"truth[{other!r}]")
        )


def one_kind(left: pl.Series, right: pl.Series, ours: str, theirs: str) -> str:
    """Return the code that gives ids of two types one type."""
    types = (left.dtype, right.dtype)
    if any(dtype in (pl.Date, pl.Datetime) for dtype in types):
        both = " and ".join(f"{one} = pd.to_datetime({one}, utc=True)" for one in (ours, theirs))
        return f"Make both times, those without a time zone read as UTC: {both}."
    if any(dtype.is_decimal() for dtype in types):
        both = " and ".join(f"{one} = {one}.map(plain)" for one in (ours, theirs))
        return f"Make both text of one form, with plain = lambda id: f'{{Decimal(id).normalize():f}}': {both}."
    if pl.Binary in types and pl.String in types:
        column = ours if left.dtype == pl.Binary else theirs
        return f"Make both text: {column} = {column}.str.decode('utf-8')."
    text, column = (left, ours) if left.dtype == pl.String else (right, theirs)
    if text.dtype != pl.String:
        return f"Make both whole numbers: {ours} = {ours}.astype(int) and {theirs} = {theirs}.astype(int)."
    if text.str.contains(r"^-?\d+\.0*$").any():
        return f"Make both whole numbers: {column} = {column}.astype(float)."
    column = theirs if left.dtype == pl.String else ours
    return f"Make both text, {column} = {column}.astype(str), or both whole numbers, .astype(int)."


def kind(dtype: pl.DataType) -> str:
    """Describe ids of a type."""
    if dtype.is_integer():
        return "whole numbers"
    return "text" if dtype == pl.String else str(dtype)


def _example(column: pl.Series) -> str:
    return f"such as {column[0]!r}"


def scores(table: pl.DataFrame, name: str, label: str) -> pl.Series:
    """Scores as numbers, all there and finite."""
    column = table["score"]
    # Digits of a decimal that a float does not hold decide on the order as well.
    column = column if column.dtype.is_decimal() else _number(column, name, label)
    bad = _not_finite(column)
    if bad is not None:
        row = _first(bad)
        raise FrameError(
            f"{name}: column {label!r} has {bad.sum():,} scores that are missing, NaN or infinite, the first "
            f"{column[row]} for {_pair(table, row)}. A score must place its item in the list: "
            "fill it in or drop the row."
        )
    return column


def ranks(table: pl.DataFrame, name: str, label: str) -> pl.Series:
    """Ranks as whole numbers from 1."""
    column = _number(table["rank"], name, label)
    if column.dtype.is_float():
        odd = column.is_null() | ~column.is_finite() | (column != column.floor())
        if odd.any():
            row = _first(odd)
            raise FrameError(
                f"{name}: column {label!r} holds {column[row]} for {_pair(table, row)}: "
                "a rank is a whole number, 1 for the top. If it is a score, say so: score=" + repr(label) + "."
            )
    elif column.null_count():
        row = _first(column.is_null())
        raise FrameError(
            f"{name}: column {label!r} is missing for {_pair(table, row)}: every recommended item has a rank."
        )
    highest = column.max()
    if isinstance(highest, (int, float)) and highest > 2**31:
        row = _first(column == highest)
        raise FrameError(
            f"{name}: column {label!r} holds {highest:g} for {_pair(table, row)}, which is no place in a list. "
            f"If it is a score, say so: score={label!r}."
        )
    column = column.cast(pl.Int64)
    lowest = column.min()
    if isinstance(lowest, int) and lowest < 1:
        row = _first(column == lowest)
        raise FrameError(
            f"{name}: column {label!r} holds rank {lowest} for {_pair(table, row)}: "
            + (
                f"ranks start at 1. If yours start at 0: frame[{label!r}] += 1."
                if lowest == 0
                else f"ranks start at 1. If the highest number is the top, it is a score: score={label!r}."
            )
        )
    return column


def relevance(table: pl.DataFrame, name: str, label: str, *, negative: str = "error") -> pl.Series:
    """Relevance as numbers: all there, finite, none below 0 unless the convention has a place for it."""
    column = _number(table["relevance"], name, label).cast(pl.Float64)
    bad = _not_finite(column)
    if bad is not None:
        row = _first(bad)
        raise FrameError(
            f"{name}: column {label!r} has {bad.sum():,} values that are missing, NaN or infinite, the first {column[row]} for "
            f"{_pair(table, row)}. Say what they mean: .fillna(0) for not relevant, or drop the rows."
        )
    lowest, highest = column.min(), column.max()
    if isinstance(highest, float) and highest > HIGHEST:
        raise FrameError(
            f"{name}: column {label!r} holds {highest:g} for {_pair(table, _first(column == highest))}: sums of such numbers overflow. "
            f"Make the scale smaller: frame[{label!r}] /= frame[{label!r}].max()."
        )
    if isinstance(lowest, float) and lowest < 0 and negative == "zero":
        return column.clip(lower_bound=0.0)
    if isinstance(lowest, float) and lowest < 0 and negative == "error":
        row = _first(column == lowest)
        raise FrameError(
            f"{name}: column {label!r} holds a negative relevance, {lowest:g} for {_pair(table, row)}. A gain below 0 breaks the bounds of NDCG: set it to 0, "
            f"frame[{label!r}].clip(lower=0), or choose another scale."
        )
    return column


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


def _pair(table: pl.DataFrame, row: int) -> str:
    return f"user {table['user'][row]!r}, item {table['item'][row]!r}"


def _number(column: pl.Series, name: str, label: str) -> pl.Series:
    if column.dtype.is_decimal():
        return column.cast(pl.Float64)
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    if column.dtype.is_numeric():
        return column
    if column.null_count() == len(column):
        return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)
    if (
        column.dtype == pl.String
        and (odd := column.filter(column.cast(pl.Float64, strict=False).is_null() & column.is_not_null())).len()
    ):
        raise FrameError(
            f"{name}: column {label!r} holds text where numbers are needed, and {odd[0]!r} is no number: correct it, or drop the row."
        )
    raise FrameError(
        f"{name}: column {label!r} holds {kind(column.dtype)}, such as {column.drop_nulls()[0]!r}, where numbers are needed: "
        f"frame[{label!r}].astype({'int' if column.dtype.is_temporal() else 'float'})."
    )


def repeated(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count.

    Rows whose hashes are the same are compared by value, so a chance collision of hashes is no error.
    """
    hashes = np.zeros(table.height, dtype=np.uint64)
    for seed, key in enumerate(keys, 1):
        hashes += hashes_of(table[key], seed)
    ordered = sorted_in_shares(hashes.copy())
    same = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(same) == 0:
        return table.select(keys).clear().with_columns(pl.lit(0, dtype=pl.UInt32).alias("len"))
    suspects = table.select(keys).filter(pl.Series(np.isin(hashes, same)))
    return suspects.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)


def no_pair_twice(table: pl.DataFrame, name: str, remedy: str) -> None:
    """Raise an error for repeated pairs of user and item, which would count twice."""
    twice = repeated(table, ["user", "item"])
    if twice.height:
        user, item, n = twice.row(0)
        raise FrameError(
            f"{name}: {twice.height:,} pairs of user and item stand more than once, such as user {user!r}, item {item!r} "
            f"({n} times). {remedy}"
        )


def no_rank_twice(table: pl.DataFrame, name: str, label: str) -> None:
    """Two items of one user cannot share a rank."""
    twice = repeated(table, ["user", "rank"])
    if twice.height:
        user, rank, _ = twice.row(0)
        both = table.filter((pl.col("user") == user) & (pl.col("rank") == rank))["item"].to_list()[:2]
        raise FrameError(
            f"{name}: column {label!r} gives rank {rank} to {' and '.join(map(repr, both))} of user {user!r}, and repeats a "
            f"rank in {twice.height:,} places. Make ranks of your scores: frame.groupby('user')['score']"
            ".rank(method='first', ascending=False), or give the score column alone."
        )
