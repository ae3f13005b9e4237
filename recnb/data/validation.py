"""Checks of the input; each error names the frame, the column, an example and the fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from recnb.data.columns import Roles, roles_of, with_series
from recnb.data.encoding import hashes_of
from recnb.data.parallel import sort
from recnb.errors import Argument, Code, FrameError, FrameName
from recnb.metrics.hits import HIGHEST, Floats

IDS = ("user", "item")

#: Types of Polars that are made text by another expression than a cast.
NO_CAST: dict[Any, str] = {pl.Duration: "dt.to_string()", pl.Struct: "struct.json_encode()"}

#: What to do, in an error.
Fix: TypeAlias = str | tuple[object, ...]


def ids(table: pl.DataFrame, name: str, labels: Mapping[str, str], roles: Sequence[str] = IDS) -> pl.DataFrame:
    """Users and items as ids of one kind each: whole numbers, text, or what the frame has; none missing."""
    if table.height == 0:
        raise FrameError(FrameName(name), ": there are no rows to evaluate.")
    return with_series(table, *(_id(table[role], role, name, roles_of(labels, role)).alias(role) for role in roles))


def _id(column: pl.Series, role: str, name: str, labels: Roles) -> pl.Series:
    dtype, label = column.dtype, labels[role]
    if (column.null_count() or dtype.is_float()) and (missing := is_missing(column)).any():
        raise ids_missing(int(missing.sum()), _first(missing), role, name, labels)
    if dtype.is_float():
        # A column of whole numbers that once had a gap is float in pandas; nothing is lost by going back.
        if len(odd := column.filter((column != column.floor()) | column.is_infinite())):
            raise FrameError.of_column(name, label, f"holds {odd[0]}, which is no id: use whole numbers or text.")
        digits = {"Float16": 11, "Float32": 24}.get(str(dtype), 53)
        if len(large := column.filter(column.abs() >= 2**digits)):
            held = f"holds the float {large[0]:.0f}, and {dtype} from 2**{digits} on is not exact, so ids may have run together"
            raise FrameError.of_column(
                name, label, f"{held}.", fix="Read the column as whole numbers or as text, where it comes from."
            )
        return column.cast(pl.Int64)
    if dtype.is_integer():
        try:
            return column.cast(pl.Int64)
        except pl.exceptions.InvalidOperationError as problem:
            held = f"holds ids above 2**63 - 1, such as {column.max()!r}."
            fix = ("Make them text on both sides", labels.as_type(role, "str", "pl.String"), ".")
            raise FrameError.of_column(name, label, held, fix=fix) from problem
    if dtype in (pl.Categorical, pl.Enum, pl.String):
        return column.cast(pl.String)
    if dtype.is_decimal():
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(dtype, strict=False) == column).all():
            return whole
    words = f"holds {str(dtype)[:80]}, which is no {role} id: one id a row is needed, whole numbers or text"
    if dtype in (pl.List, pl.Array):
        raise FrameError.of_column(name, label, words, labels.code(f"frame.explode({label!r})"), ".")
    to_text = labels.as_type(role, "str", "pl.String")
    if labels.library == "polars" and type(dtype) in NO_CAST:
        to_text = labels.code(f"frame.with_columns(pl.col({label!r}).{NO_CAST[type(dtype)]})")
    raise FrameError.of_column(name, label, words, to_text, ".", fix="The other frame needs the same.")


def float_ids(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> list[str]:
    """Columns whose ids come as floats, as code that names them."""
    return [f"{name}[{labels[role]!r}]" for role in IDS if table[role].dtype.is_float()]


def is_missing(ids: pl.Series) -> pl.Series:
    """Which ids are null or NaN."""
    return ids.is_null() | ids.is_nan() if ids.dtype.is_float() else ids.is_null()


def ids_missing(n: int, row: int, role: str, name: str, labels: Mapping[str, str]) -> FrameError:
    """Return the error for missing ids."""
    label = labels.get(role, role)
    known = f"frame.filter(pl.col({label!r}).is_not_null())"
    drop = roles_of(labels).code(f"frame.dropna(subset=[{label!r}])", known)
    held = f"has {n:,} missing {role} id{'s' * (n > 1)}, the first in row {row}."
    return FrameError.of_column(name, label, held, fix=(f"Drop th{'ose rows' if n > 1 else 'at row'}", drop, "."))


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
                fix=_one_kind(left, right, role, roles_of(labels, role), roles_of(other_labels, role), name),
            )


def _one_kind(
    left: pl.Series, right: pl.Series, role: str, ours: Roles, theirs: Roles, name: str
) -> tuple[object, ...]:
    """The sentence on how to give ids of two types one type."""
    sides = ((left, ours, "recs"), (right, theirs, name))

    def convert(kind: str, pandas: str, polars: str) -> tuple[object, ...]:
        codes = [
            f"{frame} = {code}"
            for column, labels, frame in sides
            if not _is(column, kind) and (code := labels.to_type(role, pandas, polars, frame))
        ]
        return f"Make both {kind}", Code(f": {' and '.join(codes)}" if codes else ""), "."

    texts = [column for column, _labels, _name in sides if column.dtype == pl.String]
    if (
        len(texts) == 1
        and texts[0].str.contains(r"^-?\d+\.0+$").any()
        and texts[0].cast(pl.Float64, strict=False).is_not_null().all()
    ):
        # Polars reads "2.0" as a float alone.
        return convert("whole numbers", "float", "pl.Float64")
    if texts or not all(_is(column, "whole numbers") or column.dtype == pl.Boolean for column, _labels, _name in sides):
        return convert("text", "str", "pl.String")
    return convert("whole numbers", "int", "pl.Int64")


def _is(ids: pl.Series, words: str) -> bool:
    return kind(ids.dtype) == words


def kind(dtype: pl.DataType) -> str:
    """Describe ids of a type."""
    if dtype.is_integer():
        return "whole numbers"
    return "text" if dtype == pl.String else str(dtype)


def scores(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.Series:
    """Scores as numbers, all there and finite."""
    label = labels["score"]
    column = table["score"]
    # Digits of a decimal that a float does not hold decide on the order as well.
    column = column if column.dtype.is_decimal() else _number(column, name, "score", labels)
    if (bad := _not_finite(column)) is not None:
        held = "has {n:,} score{s} that {are} missing, NaN or infinite, the first {value} for {pair}."
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


def ranks(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.Series:
    """Ranks as whole numbers from 1."""
    label = labels["rank"]
    column = _number(table["rank"], name, "rank", labels)
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
            plus = roles_of(labels).code(
                f"frame.assign(**{{{label!r}: frame[{label!r}] + 1}})", f"frame.with_columns(pl.col({label!r}) + 1)"
            )
            fix = ("If yours start at 0, add 1", plus, ".")
        held = "holds rank {value:.0f} for {pair}: ranks start at 1."
        raise _held(column, column == lowest, table, name, label, held, fix)
    return column.cast(pl.Int64)


def relevance(table: pl.DataFrame, name: str, labels: Mapping[str, str], *, negative: str = "error") -> pl.Series:
    """Relevance as numbers: all there, finite, none below 0 unless the convention has a place for it."""
    label, change = labels["relevance"], roles_of(labels).code
    column = _number(table["relevance"], name, "relevance", labels).cast(pl.Float64)
    if (bad := _not_finite(column)) is not None:
        held = "has {n:,} value{s} that {are} missing, NaN or infinite, the first {value} for {pair}."
        meaning = (
            "Say what they mean: 0 for not relevant",
            change(
                f"frame.fillna({{{label!r}: 0}})", f"frame.with_columns(pl.col({label!r}).fill_null(0).fill_nan(0))"
            ),
            "; or drop the rows.",
        )
        raise _held(column, bad, table, name, label, held, meaning)
    lowest, highest = column.min(), column.max()
    if isinstance(highest, float) and highest > HIGHEST:
        by_top = change(
            f"frame.assign(**{{{label!r}: frame[{label!r}] / frame[{label!r}].max()}})",
            f"frame.with_columns(pl.col({label!r}) / pl.col({label!r}).max())",
        )
        smaller = ("Make the scale smaller", by_top, ".")
        held = "holds {value:g} for {pair}: sums of such numbers overflow."
        raise _held(column, column == highest, table, name, label, held, smaller)
    if not isinstance(lowest, float) or lowest >= 0 or negative == "keep":
        return column
    if negative == "zero":
        return column.clip(lower_bound=0.0)
    trec = (Argument("negative_relevance", "zero"), ", as ", Argument("convention", "trec"), " does")
    pooled = ("If it marks what was pooled and not judged, count it as 0 by ", *trec)
    at_0 = change(
        f"frame.assign(**{{{label!r}: frame[{label!r}].clip(lower=0)}})",
        f"frame.with_columns(pl.col({label!r}).clip(0))",
        ", ",
    )
    clip = ("; if it means not relevant, set it to 0", at_0)
    held = "holds a negative relevance, {value:g} for {pair}: a gain below 0 breaks the bounds of nDCG."
    fix = (*pooled, *clip, ", which Bpref counts as judged.")
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
    row, n = _first(bad), int(bad.sum())
    pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
    return FrameError.of_column(
        name,
        label,
        held.format(n=n, s="s" * (n > 1), are="are" if n > 1 else "is", value=column[row], pair=pair),
        fix=fix,
    )


def _number(column: pl.Series, name: str, role: str, labels: Mapping[str, str]) -> pl.Series:
    label = labels[role]
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
    whole = column.dtype.is_temporal()
    raise FrameError.of_column(
        name,
        label,
        held,
        roles_of(labels).as_type(role, "int" if whole else "float", "pl.Int64" if whole else "pl.Float64"),
        ".",
    )


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
        pairs = f"{twice.height:,} pair{'s' * (twice.height > 1)} of user and item {'is' if twice.height == 1 else 'are'} repeated"
        raise FrameError(FrameName(name), f": {pairs}, such as user {user!r}, item {item!r} ({n} times).", fix=remedy)


def no_rank_twice(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> None:
    """Two items of one user cannot share a rank."""
    label = labels["rank"]
    twice = repeated(table, ["user", "rank"])
    if twice.height:
        user, rank, _ = twice.row(0)
        both = table.filter((pl.col("user") == user) & (pl.col("rank") == rank))["item"].to_list()[:2]
        held = f"gives rank {rank} to {' and '.join(map(repr, both))} of user {user!r}, and repeats a rank in {twice.height:,} places."
        columns = [labels["user"], labels.get("score", "score"), label]
        in_pandas = "frame.assign(**{{{2!r}: frame.groupby({0!r})[{1!r}].rank(method='first', ascending=False)}})"
        in_polars = "frame.with_columns(pl.col({1!r}).rank('ordinal', descending=True).over({0!r}).alias({2!r}))"
        ranks = roles_of(labels).code(in_pandas.format(*columns), in_polars.format(*columns))
        fix: tuple[object, ...] = ("Make ranks of your scores", ranks, ", or give the score column alone.")
        if "score" not in labels:
            fix = ("Give each item of a user its own rank.",)
        raise FrameError.of_column(name, label, held, fix=fix)
