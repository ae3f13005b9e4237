"""Checks of rows: each is a line of a table with what is bad, the words, and the fix in the library of the frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from recnb.data.columns import Roles, roles_of, with_series
from recnb.data.encoding import hashes_of, in_order_of_size
from recnb.errors import FrameError
from recnb.metrics.hits import HIGHEST, Floats

IDS = ("user", "item")

#: Types of Polars that are made text by another expression than a cast.
NO_CAST: dict[Any, str] = {pl.Duration: "dt.to_string()", pl.Struct: "struct.json_encode()"}


class RowCheck(NamedTuple):
    """A check of the numbers of a column. The fix has `{code}` where code of pandas or Polars stands, if the frame is theirs."""

    bad: pl.Expr
    says: str
    fix: str
    pandas: str = ""
    polars: str = ""


_value = pl.col("value")
_missing = _value.is_null() | ~_value.is_finite()
_IF_SCORE = "If it is a score, say so: score={column!r}."

CHECKS: dict[str, tuple[RowCheck, ...]] = {
    "score": (
        RowCheck(
            _missing, "has {n:,} score{s} that {are} missing, NaN or infinite, the first {value} for {pair}.",
            "A score must place its item in the list: fill it in or drop the row.",
        ),
    ),
    "rank": (
        RowCheck(_value.is_null(), "is missing for {pair}: every recommended item has a rank.", "Fill it in or drop the row."),
        RowCheck(
            ~_value.is_finite() | (_value != _value.floor()),
            "holds {value} for {pair}: a rank is a whole number, 1 for the top.", _IF_SCORE,
        ),
        RowCheck(_value > 2**31, "holds {value:g} for {pair}, which is no place in a list.", _IF_SCORE),
        RowCheck(
            _value < 0, "holds rank {value:.0f} for {pair}: ranks start at 1.",
            "If the highest number is the top, it is a score: score={column!r}.",
        ),
        RowCheck(
            _value == 0, "holds rank 0 for {pair}: ranks start at 1.", "If yours start at 0, add 1{code}.",
            "frame.assign(**{{{column!r}: frame[{column!r}] + 1}})", "frame.with_columns(pl.col({column!r}) + 1)",
        ),
    ),
    "relevance": (
        RowCheck(
            _missing, "has {n:,} value{s} that {are} missing, NaN or infinite, the first {value} for {pair}.",
            "Say what they mean: 0 for not relevant{code}; or drop the rows.",
            "frame.fillna({{{column!r}: 0}})", "frame.with_columns(pl.col({column!r}).fill_null(0).fill_nan(0))",
        ),
        RowCheck(
            _value > HIGHEST, "holds {value:g} for {pair}: sums of such numbers overflow.", "Make the scale smaller{code}.",
            "frame.assign(**{{{column!r}: frame[{column!r}] / frame[{column!r}].max()}})",
            "frame.with_columns(pl.col({column!r}) / pl.col({column!r}).max())",
        ),
        RowCheck(
            _value < 0, "holds a negative relevance, {value:g} for {pair}: a gain below 0 breaks the bounds of nDCG.",
            "If it marks what was pooled and not judged, count it as 0 by negative_relevance='zero', as convention='trec' does; "
            "if it means not relevant, set it to 0{code}; Bpref counts it as judged.",
            "frame.assign(**{{{column!r}: frame[{column!r}].clip(lower=0)}})",
            "frame.with_columns(pl.col({column!r}).clip(0))",
        ),
    ),
}  # fmt: skip


def scores(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.Series:
    """Return scores as numbers, all there and finite; digits of a decimal that a float does not hold are kept."""
    return _checked(table, name, "score", labels)


def ranks(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.Series:
    """Return ranks as whole numbers from 1."""
    return _checked(table, name, "rank", labels).cast(pl.Int64)


def relevance(table: pl.DataFrame, name: str, labels: Mapping[str, str], *, negative: str = "error") -> pl.Series:
    """Return relevance as numbers, all finite, none below 0 unless the convention has a place for it."""
    grades = _checked(table, name, "relevance", labels, len(CHECKS["relevance"]) - (negative != "error")).cast(
        pl.Float64
    )
    return grades.clip(lower_bound=0.0) if negative == "zero" else grades


def _checked(
    table: pl.DataFrame, name: str, role: str, labels: Mapping[str, str], n_checks: int | None = None
) -> pl.Series:
    """Return the numbers of a role if all checks hold, or raise the error of the first that does not."""
    column = _numbers(table[role], name, role, roles_of(labels))
    checks = CHECKS[role][:n_checks]
    if (
        not column.null_count()
        and column.dtype.is_integer()
        and _number(column.min()) >= 1
        and _number(column.max()) <= 2**31
    ):
        return column  # every check allows whole numbers from 1, and one look at each end is all it takes
    decimals = column.dtype.is_decimal() or column.dtype.is_integer()
    value = pl.DataFrame({"value": column.cast(pl.Float64) if decimals else column})
    for check, bad in zip(
        checks, value.select(check.bad.any().alias(str(at)) for at, check in enumerate(checks)).row(0), strict=True
    ):
        if bad:
            rows = value.select(check.bad.fill_null(value=True).arg_true()).to_series()
            row, n, label = int(rows[0]), len(rows), labels[role]
            pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
            says = check.says.format(n=n, s="s" * (n > 1), are="are" if n > 1 else "is", value=column[row], pair=pair)
            code = roles_of(labels).code(check.pandas.format(column=label), check.polars.format(column=label))
            raise FrameError(f"{name}: column {label!r} {says}", fix=check.fix.format(code=code, column=label))
    return column


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _numbers(column: pl.Series, name: str, role: str, labels: Roles) -> pl.Series:
    """Return a column as numbers, or raise an error that says how to make it so."""
    if column.null_count() == len(column) or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    if column.dtype.is_numeric():
        return column if role == "score" or not column.dtype.is_decimal() else column.cast(pl.Float64)
    known = column.drop_nulls()
    if column.dtype == pl.String and len(odd := known.filter(known.cast(pl.Float64, strict=False).is_null())):
        held = f"holds text where numbers are needed, and {odd[0]!r} is no number: correct it, or drop the row."
        raise FrameError(f"{name}: column {labels[role]!r} {held}")
    types = ("int", "pl.Int64") if column.dtype.is_temporal() else ("float", "pl.Float64")
    held = f"holds {kind(column.dtype)}, such as {known[0]!r}, where numbers are needed{labels.as_type(role, *types)}."
    raise FrameError(f"{name}: column {labels[role]!r} {held}")


def ids(table: pl.DataFrame, name: str, labels: Mapping[str, str], roles: Sequence[str] = IDS) -> pl.DataFrame:
    """Return users and items as whole numbers or text, none missing."""
    if table.height == 0:
        raise FrameError(f"{name}: there are no rows to evaluate, it is empty.")
    return with_series(table, *(_id(table[role], role, name, roles_of(labels, role)).alias(role) for role in roles))


def _id(column: pl.Series, role: str, name: str, labels: Roles) -> pl.Series:
    dtype, where = column.dtype, f"{name}: column {labels[role]!r} "
    if (column.null_count() or dtype.is_float()) and (missing := is_missing(column)).any():
        raise ids_missing(int(missing.sum()), int(missing.to_numpy().argmax()), role, name, labels)
    if dtype.is_float():
        # A column of whole numbers that once had a gap is float in pandas; nothing is lost by going back.
        if len(odd := column.filter((column != column.floor()) | column.is_infinite())):
            raise FrameError(f"{where}holds {odd[0]}, which is no id: use whole numbers or text.")
        digits = {"Float16": 11, "Float32": 24}.get(str(dtype), 53)
        if len(large := column.filter(column.abs() >= 2**digits)):
            held = f"holds the float {large[0]:.0f}, and {dtype} from 2**{digits} on is not exact, so ids may have run together."
            raise FrameError(f"{where}{held}", fix="Read the column as whole numbers or as text, where it comes from.")
        return column.cast(pl.Int64)
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if dtype.is_integer() or dtype.is_decimal():
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(dtype, strict=False) == column).all() and not whole.null_count():
            return whole
    text = labels.as_type(role, "str", "pl.String")
    if dtype.is_integer():
        held = f"holds ids above 2**63 - 1, such as {column.max()!r}."
        raise FrameError(f"{where}{held}", fix=f"Make them text on both sides{text}.")
    held = f"holds {str(dtype)[:80]}, which is no {role} id: one id a row is needed, whole numbers or text"
    if dtype in (pl.List, pl.Array):
        raise FrameError(f"{where}{held}{labels.code(f'frame.explode({labels[role]!r})')}.")
    if labels.library == "polars" and type(dtype) in NO_CAST:
        text = labels.code(f"frame.with_columns(pl.col({labels[role]!r}).{NO_CAST[type(dtype)]})")
    raise FrameError(f"{where}{held}{text}.", fix="The other frame needs the same.")


def is_missing(ids: pl.Series) -> pl.Series:
    """Return which ids are null or NaN."""
    return ids.is_null() | ids.is_nan() if ids.dtype.is_float() else ids.is_null()


def ids_missing(n: int, row: int, role: str, name: str, labels: Mapping[str, str]) -> FrameError:
    """Return the error for missing ids."""
    label = labels.get(role, role)
    drop = roles_of(labels).code(f"frame.dropna(subset=[{label!r}])", f"frame.filter(pl.col({label!r}).is_not_null())")
    rows = "those rows" if n > 1 else "that row"
    held = f"has {n:,} missing {role} id{'s' * (n > 1)}, the first in row {row}."
    return FrameError(f"{name}: column {label!r} {held}", fix=f"Drop {rows}{drop}.")


def same_kind(
    recs: pl.DataFrame, other: pl.DataFrame, labels: Mapping[str, str], other_labels: Mapping[str, str], name: str = "truth",
) -> None:  # fmt: skip
    """Raise an error for ids of different types: 1 and "1" never match, and every score would be 0."""
    for role in (role for role in IDS if role in other.columns and recs.height and other.height):
        sides = [
            (recs[role], roles_of(labels, role), "recommendations", "recs"),
            (other[role], roles_of(other_labels, role), name, name),
        ]
        (left, *_), (right, *_) = sides
        if kind(left.dtype) == kind(right.dtype):
            continue
        text = left if left.dtype == pl.String else right
        # Polars reads "2.0" as a float alone.
        points = text.str.contains(r"^-?\d+\.0+$").any() and text.cast(pl.Float64, strict=False).is_not_null().all()
        wanted, types = ("whole numbers", ("float", "pl.Float64")) if points else ("text", ("str", "pl.String"))
        changed = " and ".join(
            f"{frame} = {code}" for column, own, _name, frame in sides
            if kind(column.dtype) != wanted and (code := own.to_type(role, *types, frame))
        )  # fmt: skip
        held = ", ".join(
            f"{said} in column {own[role]!r} {kind(column.dtype)} (such as {column[0]!r})"
            for column, own, said, _ in sides
        )
        raise FrameError(
            f"the {role} ids are of different kinds: {held}. They would never match.",
            fix=f"Make both {wanted}{': ' * bool(changed)}{changed}.",
        )


def kind(dtype: pl.DataType) -> str:
    """Describe ids of a type."""
    return "whole numbers" if dtype.is_integer() else "text" if dtype == pl.String else str(dtype)


def in_floats(scores: pl.Series) -> Floats:
    """Return scores as floats in the same order, with the same ties and signs: their places among each other where floats run them together."""
    floats = scores.cast(pl.Float64).to_numpy()
    small = scores.dtype.is_integer() and np.abs(floats).max(initial=0.0) < 2**53
    if scores.dtype.is_float() or small or len(np.unique(floats)) == scores.n_unique():
        return floats
    places = scores.rank("dense").to_numpy().astype(np.float64)
    # The highest place of a score that is not above 0: places above it are above 0, those below it below, as the scores are.
    at, zero = places[floats <= 0].max(initial=0.0), bool((floats == 0).any())
    return np.asarray(np.where((floats > 0) | zero, places - at, places - at - 1))


def repeated(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count.

    Rows whose hashes are the same are compared by value, so a chance collision of hashes is no error.
    """
    hashes = np.zeros(table.height, dtype=np.uint64)
    for seed, key in enumerate(keys, 1):
        hashes += hashes_of(table[key], seed)
    ordered = in_order_of_size(hashes)
    same = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(same) == 0:
        return table.select(keys).clear().with_columns(pl.lit(0, dtype=pl.UInt32).alias("len"))
    suspects = table.select(keys).filter(pl.Series(np.isin(hashes, same)))
    return suspects.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)


def no_pair_twice(table: pl.DataFrame, name: str, remedy: Any) -> None:
    """Raise an error for repeated pairs of user and item, which would count twice."""
    twice = repeated(table, ["user", "item"])
    if twice.height:
        user, item, n = twice.row(0)
        pairs = "1 pair of user and item is" if twice.height == 1 else f"{twice.height:,} pairs of user and item are"
        raise FrameError(f"{name}: {pairs} repeated, such as user {user!r}, item {item!r} ({n} times).", fix=remedy)


def no_rank_twice(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> None:
    """Raise an error for two items of a user that share a rank."""
    twice = repeated(table, ["user", "rank"])
    if not twice.height:
        return
    user, rank, _ = twice.row(0)
    both = table.filter((pl.col("user") == user) & (pl.col("rank") == rank))["item"].to_list()[:2]
    fix, (by, score, label) = (
        "Give each item of a user its own rank.",
        (labels["user"], labels.get("score"), labels["rank"]),
    )
    if score is not None:
        ordered = f"frame.groupby({by!r})[{score!r}].rank(method='first', ascending=False)"
        ranks = roles_of(labels).code(
            f"frame.assign(**{{{label!r}: {ordered}}})",
            f"frame.with_columns(pl.col({score!r}).rank('ordinal', descending=True).over({by!r}).alias({label!r}))",
        )
        fix = f"Make ranks of your scores{ranks}, or give the score column alone."
    held = f"user {user!r} has {both[0]!r} and {both[1]!r} at rank {rank}"
    more = f", and {twice.height:,} ranks are given twice in all" if twice.height > 1 else ""
    raise FrameError(f"{name}: column {label!r} gives a rank twice: {held}{more}.", fix=fix)
