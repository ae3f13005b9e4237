"""Checks of rows: ids, numbers, the order of lists, and repeats. An error says what is bad, where, and what to type about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.columns import with_series
from recnb.data.encoding import hashes_of, in_order_of_size, repeats_follow
from recnb.errors import ColumnError, FrameError, quoted
from recnb.metrics.hits import HIGHEST, Floats

IDS = ("user", "item")


# ---- ids


def ids(table: pl.DataFrame, name: str, labels: Mapping[str, str], roles: Sequence[str] = IDS) -> pl.DataFrame:
    """Return users and items as whole numbers or text, none missing."""
    if table.height == 0:
        raise FrameError(f"{name}: there are no rows to evaluate, it is empty.")
    return with_series(table, *[_id(table[role], role, name, labels).alias(role) for role in roles])


def _id(column: pl.Series, role: str, name: str, labels: Mapping[str, str]) -> pl.Series:
    dtype, label = column.dtype, labels.get(role, role)
    where = f"{name}: column {label!r} holds"
    if (column.null_count() or dtype.is_float()) and (missing := is_missing(column)).any():
        raise ids_missing(int(missing.sum()), int(missing.to_numpy().argmax()), role, name, labels)
    if dtype.is_float():
        # A column of whole numbers that once had a gap is float in pandas; nothing is lost by going back.
        if len(odd := column.filter((column != column.floor()) | column.is_infinite())):
            raise FrameError(f"{where} {odd[0]}, which is no id: use whole numbers or text.")
        digits = {"Float16": 11, "Float32": 24}.get(str(dtype), 53)
        if len(large := column.filter(column.abs() >= 2**digits)):
            held = (
                f"the float {large[0]:.0f}, and {dtype} from 2**{digits} on is not exact, so ids may have run together"
            )
            raise FrameError(f"{where} {held}: read it as whole numbers or as text, where it comes from.")
        return column.cast(pl.Int64)
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if dtype.is_integer() or dtype.is_decimal():
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(dtype, strict=False) == column).all() and not whole.null_count():
            return whole
    text = "Make them text, in the other frame as well."
    if dtype.is_integer():
        raise FrameError(f"{where} ids above 2**63 - 1, such as {column.max()!r}.", fix=text)
    if dtype in (pl.List, pl.Array):
        text = f"Explode {label!r} into a row of each."
    held = f"{str(dtype)[:80]}, which is no {role} id: one id a row is needed, whole numbers or text."
    raise FrameError(f"{where} {held}", fix=text)


def is_missing(ids: pl.Series) -> pl.Series:
    """Return which ids are null or NaN."""
    return ids.is_null() | ids.is_nan() if ids.dtype.is_float() else ids.is_null()


def ids_missing(n: int, row: int, role: str, name: str, labels: Mapping[str, str]) -> FrameError:
    """Return the error for missing ids."""
    held = f"has {n:,} missing {role} id{'s' * (n > 1)}, the first in row {row}."
    fix = "Drop those rows." if n > 1 else "Drop that row."
    return FrameError(f"{name}: column {labels.get(role, role)!r} {held}", fix=fix)


def same_kind(
    recs: pl.DataFrame, other: pl.DataFrame, labels: Mapping[str, str], other_labels: Mapping[str, str], name: str = "truth",
) -> None:  # fmt: skip
    """Raise an error for ids of different types: 1 and "1" never match, and every score would be 0."""
    for role in IDS:
        if role not in other.columns or not recs.height or not other.height:
            continue
        if kind(recs[role].dtype) == kind(other[role].dtype):
            continue
        sides = (("recommendations", recs[role], labels), (name, other[role], other_labels))
        held = ", ".join(
            f"{frame} in column {own.get(role, role)!r} {kind(column.dtype)} (such as {column[0]!r})"
            for frame, column, own in sides
        )
        raise FrameError(
            f"the {role} ids are of different kinds: {held}. They would never match.", fix="Make both text."
        )


def kind(dtype: pl.DataType) -> str:
    """Describe ids of a type."""
    return "whole numbers" if dtype.is_integer() else "text" if dtype == pl.String else str(dtype)


# ---- numbers


class RowCheck(NamedTuple):
    """A check of the numbers of a column: what is bad, the words, and what to do."""

    bad: pl.Expr
    says: str
    fix: str


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
        RowCheck(_value == 0, "holds rank 0 for {pair}: ranks start at 1.", "If yours start at 0, add 1."),
    ),
    "relevance": (
        RowCheck(
            _missing, "has {n:,} value{s} that {are} missing, NaN or infinite, the first {value} for {pair}.",
            "Say what they mean: 0 for not relevant; or drop the rows.",
        ),
        RowCheck(
            _value > HIGHEST, "holds {value:g} for {pair}: sums of such numbers overflow.",
            "Make the scale smaller.",
        ),
        RowCheck(
            _value < 0, "holds a negative relevance, {value:g} for {pair}: a gain below 0 breaks the bounds of nDCG.",
            "If it marks what was pooled and not judged, count it as 0 by negative_relevance='zero', as convention='trec' does; "
            "if it means not relevant, set it to 0; Bpref counts it as judged.",
        ),
    ),
}  # fmt: skip


def scores(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.Series:
    """Return scores as numbers, all there and finite; digits of a decimal that a float does not hold are kept."""
    return _checked(table, name, "score", labels, CHECKS["score"])


def ranks(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> pl.Series:
    """Return ranks as whole numbers from 1."""
    return _checked(table, name, "rank", labels, CHECKS["rank"]).cast(pl.Int64)


def relevance(table: pl.DataFrame, name: str, labels: Mapping[str, str], *, negative: str = "error") -> pl.Series:
    """Return relevance as numbers, all finite, none below 0 unless the convention has a place for it."""
    checks = CHECKS["relevance"] if negative == "error" else CHECKS["relevance"][:-1]
    grades = _checked(table, name, "relevance", labels, checks).cast(pl.Float64)
    return grades.clip(lower_bound=0.0) if negative == "zero" else grades


def _checked(
    table: pl.DataFrame, name: str, role: str, labels: Mapping[str, str], checks: Sequence[RowCheck]
) -> pl.Series:
    """Return the numbers of a role if all checks hold, or raise the error of the first that does not."""
    label = labels.get(role, role)
    column = _numbers(table[role], name, label)
    if column.dtype.is_integer() and not column.null_count():
        numbers = column.to_numpy()
        if numbers.min(initial=1) >= 1 and numbers.max(initial=1) <= 2**31:
            return column  # which every check allows
    exact = column.dtype.is_decimal() or column.dtype.is_integer()
    value = pl.DataFrame({"value": column.cast(pl.Float64) if exact else column})
    found = value.select([check.bad.any().alias(str(at)) for at, check in enumerate(checks)]).row(0)
    for check in (check for check, bad in zip(checks, found, strict=True) if bad):
        rows = value.select(check.bad.fill_null(value=True).arg_true()).to_series()
        row, n = int(rows[0]), len(rows)
        pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
        says = check.says.format(n=n, s="s" * (n > 1), are="are" if n > 1 else "is", value=column[row], pair=pair)
        raise FrameError(f"{name}: column {label!r} {says}", fix=check.fix.format(column=label))
    return column


def _numbers(column: pl.Series, name: str, label: str) -> pl.Series:
    """Return a column as numbers, or raise an error that says how to make it so."""
    if column.dtype.is_numeric():
        return column
    if column.null_count() == len(column) or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    known, where = column.drop_nulls(), f"{name}: column {label!r} holds"
    if column.dtype == pl.String and len(odd := known.filter(known.cast(pl.Float64, strict=False).is_null())):
        need = "text where numbers are needed"
        raise FrameError(f"{where} {need}, and {odd[0]!r} is no number: correct it, or drop the row.")
    held = f"{kind(column.dtype)}, such as {known[0]!r}, where numbers are needed"
    raise FrameError(f"{where} {held}: make them numbers.")


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


# ---- the order of lists


def check_lists(
    table: pl.DataFrame, convention: Convention, labels: Mapping[str, str]
) -> tuple[pl.DataFrame, Convention]:
    """Return the lists with ranks and scores as numbers, and the convention with the order that they are in."""
    order = _order_of(table, convention)
    if order == "score":
        table = with_series(table, scores(table, "recommendations", labels).alias("score"))
    elif order == "rank":
        table = with_series(table, ranks(table, "recommendations", labels).alias("rank"))
        if "score" in table.columns and convention.order == "auto":
            _refuse_disagreement(table, labels)
    return table, convention.ordered_by(order)


def _order_of(table: pl.DataFrame, convention: Convention) -> str:
    """Return which column puts lists in order: rank, score, or none but the rows themselves."""
    order = convention.order
    if order == "auto":
        order = "rank" if "rank" in table.columns else "score"
        if order not in table.columns:
            row = "; or, if rows stand in rank order already, order='row'"
            fix = f"Say which one puts a list in order, rank='...' or score='...'{row}."
            raise ColumnError("recommendations have no rank or score column that recnb knows.", fix=fix)
    elif order != "row" and order not in table.columns:
        raise ColumnError(f"order={quoted(order)}, but recommendations have no {order} column: say {order}='...'.")
    return order


def _refuse_disagreement(table: pl.DataFrame, labels: Mapping[str, str]) -> None:
    """Raise an error if an item is ranked above one with a higher score."""
    ordered = table.with_columns(score=scores(table, "recommendations", labels))
    same_user = pl.col("user").shift() == pl.col("user")
    falls = (~same_user | (pl.col("rank") > pl.col("rank").shift())).all()
    if not (repeats_follow(table["user"]) and table.select(falls).item()):
        ordered = ordered.sort("user", "rank")
    higher = same_user & (pl.col("score") > pl.col("score").shift())
    rows = ordered.select(higher.fill_null(value=False).arg_true()).to_series()
    for row in rows.head(1):
        lower, upper = ordered.row(row, named=True), ordered.row(row - 1, named=True)
        places = f"{len(rows):,} place{'s' * (len(rows) > 1)}"
        raise FrameError(
            f"recommendations: {labels['rank']!r} and {labels['score']!r} disagree in {places}. User {lower['user']!r} has item "
            f"{upper['item']!r} at rank {upper['rank']} with score {upper['score']:g}, above item {lower['item']!r} at rank "
            f"{lower['rank']} with score {lower['score']:g}.",
            fix="Say which one is the order: order='rank' or order='score'.",
        )


# ---- repeats


def repeated(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count.

    Rows whose hashes are the same are compared by value, so a chance collision of hashes is no error.
    """
    hashes = np.zeros(table.height, dtype=np.uint64)
    for seed, key in enumerate(keys, 1):
        hashes += hashes_of(table[key], seed)
    ordered = in_order_of_size(hashes)
    same = ordered[1:][ordered[1:] == ordered[:-1]]
    suspects = table.select(keys).filter(pl.Series(np.isin(hashes, same), dtype=pl.Boolean))
    return suspects.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)


def no_pair_twice(table: pl.DataFrame, name: str, labels: Mapping[str, str], *, merge: bool = True) -> None:
    """Raise an error for repeated pairs of user and item, which would count twice; `merge`: whether a convention could merge them."""
    twice = repeated(table, ["user", "item"])
    for user, item, n in twice.head(1).rows():
        pairs = "1 pair of user and item is" if twice.height == 1 else f"{twice.height:,} pairs of user and item are"
        kept = "the highest relevance" if name == "truth" else "the one ranked highest"
        keys = [labels.get(role, role) for role in IDS]
        fix = "Drop the repeats" + (f"; or say duplicates='dedupe' to keep {kept}." if merge else ".")
        if name != "truth":
            fix += " If they are the lists of several models, compare them."
        raise FrameError(
            f"{name}: {pairs} repeated in {keys}, such as user {user!r}, item {item!r} ({n} times).", fix=fix
        )


def no_rank_twice(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> None:
    """Raise an error for two items of a user that share a rank."""
    twice = repeated(table, ["user", "rank"])
    for user, rank, _ in twice.head(1).rows():
        both = table.filter(pl.col("user") == user, pl.col("rank") == rank)["item"].to_list()[:2]
        fix = "Give each item of a user its own rank" + (
            ", or give the score column alone." if "score" in labels else "."
        )
        held = f"user {user!r} has {both[0]!r} and {both[1]!r} at rank {rank}"
        more = f", and {twice.height:,} ranks are given twice in all" if twice.height > 1 else ""
        raise FrameError(f"{name}: column {labels['rank']!r} gives a rank twice: {held}{more}.", fix=fix)
