"""Checks of rows: ids, numbers, the order of lists, and repeats; and what of the truth
is relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.columns import Labels, with_series
from recnb.data.encoding import hashes_of
from recnb.errors import ColumnError, FrameError, NoRowsError, is_number, quoted
from recnb.metrics.hits import HIGHEST, Floats

#: The roles that are ids.
IDS = ("user", "item")

# ---- ids


def ids(
    table: pl.DataFrame, name: str, labels: Labels, roles: Sequence[str] = IDS
) -> pl.DataFrame:
    """Return users and items as whole numbers or text, none missing."""
    if table.height == 0:
        raise NoRowsError(f"{name}: there are no rows to evaluate, it is empty.")
    return with_series(
        table, *[_id(table[role], role, name, labels).alias(role) for role in roles]
    )


def _id(column: pl.Series, role: str, name: str, labels: Labels) -> pl.Series:
    dtype, label = column.dtype, labels.get(role, role)
    where = f"{name}: column {label!r} holds"
    if (column.null_count() or dtype.is_float()) and (
        missing := is_missing(column)
    ).any():
        n, row = int(missing.sum()), int(missing.to_numpy().argmax())
        held = f"has {n:,} missing {role} id{'s' * (n > 1)}, the first in row {row}"
        raise FrameError(f"{name}: column {label!r} {held}. Drop such rows.")
    if dtype.is_float():
        # A column of whole numbers that once had a gap is float in pandas; nothing is
        # lost by going back.
        exact = 2 ** {"Float16": 11, "Float32": 24}.get(str(dtype), 53)
        for odd in column.filter(
            (column != column.floor()) | (column.abs() >= exact)
        ).head(1):
            raise FrameError(
                f"{where} the {dtype} {odd!r}, not exact as an id: read ids as "
                f"whole numbers or as text."
            )
        return column.cast(pl.Int64)
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if dtype.is_integer() or dtype.is_decimal():
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(dtype, strict=False) == column).all() and not whole.null_count():
            return whole
    text = "Make them text, in the other frame as well."
    if dtype in (pl.List, pl.Array):
        text = (
            f"Explode {label!r} into a row of each; a column of lists is named by "
            f"recommended= or relevant=."
        )
    example = column.max() if dtype.is_integer() else column[:1].to_list()[0]
    described = str(dtype)[:80]
    if isinstance(example, bytes) and len(example) == 16:  # as Arrow has a UUID
        described = "16 bytes"
        example = UUID(bytes=example)
    held = f"{described} such as {quoted(example)}, which is no {role} id"
    raise FrameError(
        f"{where} {held}: one id a row is needed, whole numbers below 2**63 or text.",
        fix=text,
    )


def is_missing(ids: pl.Series) -> pl.Series:
    """Return which ids are null or NaN."""
    return ids.is_null() | ids.is_nan() if ids.dtype.is_float() else ids.is_null()


def same_kind(
    recs: pl.DataFrame,
    other: pl.DataFrame,
    labels: Labels,
    other_labels: Labels,
    name: str = "truth",
) -> None:
    """Raise an error for ids of different types: 1 and "1" never match, and every score
    would be 0.
    """
    for role in IDS if recs.height and other.height else ():
        if role not in other.columns or kind(recs[role].dtype) == kind(
            other[role].dtype
        ):
            continue
        held = ", ".join(
            f"{frame} in column {own.get(role, role)!r} {kind(ids.dtype)} (such as {ids[0]!r})"
            for frame, ids, own in (
                ("recommendations", recs[role], labels),
                (name, other[role], other_labels),
            )
        )
        problem = (
            f"the {role} ids are of different kinds: {held}. They would never match."
        )
        raise FrameError(problem, fix="Make both text.")


def kind(dtype: pl.DataType) -> str:
    """Describe ids of a type."""
    return (
        "whole numbers"
        if dtype.is_integer()
        else "text"
        if dtype == pl.String
        else str(dtype)
    )


# ---- numbers


_value = pl.col("value")
_infinite = _value.is_null() | ~_value.is_finite()
_no_rank = _infinite | (_value != _value.floor()) | (_value < 1) | (_value > 2**31)
_FOUND = "has {n:,} value{s} that {are} missing, NaN or infinite, the first {value} for {pair}."
_OF_RANKS = "If yours start at 0, add 1. If it is a score, say so: score={column!r}."
_BELOW = (
    "If it marks what is not judged, say negative_relevance='zero', as "
    "convention='trec' does; else set it to 0."
)

#: Of each role what is bad, in order; what is said of it; and what to do.
CHECKS: dict[str, tuple[tuple[pl.Expr, str, str], ...]] = {
    "score": (
        (
            _infinite,
            _FOUND,
            "A score must place its item in the list: fill it in or drop the row.",
        ),
    ),
    "rank": (
        (
            _no_rank,
            "holds {value} for {pair}: a rank is a whole number, 1 for the top.",
            _OF_RANKS,
        ),
    ),
    "relevance": (
        (
            _infinite,
            _FOUND,
            "Say what they mean: 0 for not relevant; or drop the rows.",
        ),
        (
            _value > HIGHEST,
            "holds {value:g} for {pair}: sums of such numbers overflow.",
            "Make the scale smaller.",
        ),
        (
            _value < 0,
            "holds {value:g} for {pair}: a negative relevance breaks the bounds of nDCG.",
            _BELOW,
        ),
    ),
}


def numbers_of(
    table: pl.DataFrame, role: str, labels: Labels, *, negative: bool = False
) -> pl.Series:
    """Return ranks, scores or relevance as numbers, with all their digits, or raise an
    error; `negative`: they may be below 0.
    """
    name, label = (
        "truth" if role == "relevance" else "recommendations",
        labels.get(role, role),
    )
    checks = CHECKS[role][: -1 if negative else None]
    column = _numbers(table[role], name, label)
    is_wide = column.dtype in (pl.Int128, pl.UInt128)  # which numpy does not have
    if (
        (column.dtype.is_integer() and not is_wide)
        or (column.dtype == pl.Float64 and role == "relevance")
    ) and not column.null_count():
        numbers = column.to_numpy()
        if (
            numbers.min(initial=1) >= (role == "rank")
            and numbers.max(initial=1) <= 2**31
        ):
            return column  # which every check allows
    values = pl.DataFrame({"value": column.cast(pl.Float64)})
    for bad, says, fix in checks:
        for row in (
            rows := values.select(bad.fill_null(value=True).arg_true()).to_series()
        ).head(1):
            pair, n = (
                f"user {table['user'][row]!r}, item {table['item'][row]!r}",
                len(rows),
            )
            said = says.format(
                n=n,
                s="s" * (n > 1),
                are="are" if n > 1 else "is",
                value=column[row],
                pair=pair,
            )
            raise FrameError(
                f"{name}: column {label!r} {said}", fix=fix.format(column=label)
            )
    return column


def _numbers(column: pl.Series, name: str, label: str) -> pl.Series:
    """Return a column as numbers, or raise an error that says how to make it so."""
    if column.dtype.is_numeric():
        return column
    if column.null_count() == len(column) or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    known, where = (
        column.drop_nulls(),
        f"{name}: column {label!r} holds {kind(column.dtype)} where numbers are needed",
    )
    for odd in (
        known.filter(known.cast(pl.Float64, strict=False).is_null())
        if column.dtype == pl.String
        else known
    ):
        if is_number(odd):  # of a type that holds anything
            break
        raise FrameError(
            f"{where}, and {odd!r} is no number: correct it, or drop the row."
        )
    raise FrameError(f"{where}, such as {known[0]!r}: make them numbers.")


def in_floats(scores: pl.Series) -> Floats:
    """Return scores as floats in the same order, the same of them above 0: their places
    where floats run them together.
    """
    floats = scores.cast(pl.Float64).to_numpy()
    small = scores.dtype.is_integer() and np.abs(floats).max(initial=0.0) < 2**53
    if scores.dtype.is_float() or small or len(np.unique(floats)) == scores.n_unique():
        return floats
    places = scores.rank("dense").to_numpy().astype(np.float64)
    return np.asarray(places - places[floats <= 0].max(initial=0.0))


# ---- the order of lists


def check_lists(
    table: pl.DataFrame, convention: Convention, labels: Labels
) -> tuple[pl.DataFrame, Convention]:
    """Return the lists with ranks and scores as numbers, and the convention with the
    order that they are in.
    """
    order = convention.order
    if order == "auto":
        order = "rank" if "rank" in table.columns else "score"
        if order not in table.columns:
            fix = (
                "Say which one puts a list in order, rank='...' or score='...'; or, "
                "if rows stand in rank order already, order='row'."
            )
            raise ColumnError(
                "recommendations have no rank or score column that recnb knows.",
                fix=fix,
            )
    elif order != "row" and order not in table.columns:
        raise ColumnError(
            f"order={quoted(order)}, but recommendations have no {order} column: say {order}='...'."
        )
    if order == "score":
        table = with_series(table, numbers_of(table, "score", labels).alias("score"))
    elif order == "rank":
        table = with_series(
            table, numbers_of(table, "rank", labels).cast(pl.Int64).alias("rank")
        )
        if "score" in table.columns and convention.order == "auto":
            _refuse_disagreement(table, labels)
    return table, convention.ordered_by(order)


def _refuse_disagreement(table: pl.DataFrame, labels: Labels) -> None:
    """Raise an error if an item is ranked above one with a higher score."""
    ordered = table.with_columns(score=numbers_of(table, "score", labels))
    user, rank, score = (pl.col(name) for name in ("user", "rank", "score"))
    same_user = user == user.shift()
    if not (
        table["user"].is_sorted()
        and table.select((~same_user | (rank > rank.shift())).all()).item()
    ):
        ordered = ordered.sort("user", "rank")
    rows = ordered.with_columns(above=pl.col("item").shift()).filter(
        same_user & (score > score.shift())
    )
    for row in rows.head(1).rows(named=True):
        held = (
            f"user {row['user']!r} has item {row['item']!r} at rank {row['rank']}, "
            f"below item {row['above']!r}"
        )
        both = (
            f"{labels['rank']!r} and {labels['score']!r} disagree in {rows.height:,} "
            f"place{'s' * (rows.height > 1)}"
        )
        fix = "Say which one is the order: order='rank' or order='score'."
        raise FrameError(
            f"recommendations: {both}: {held}, with a higher score, {row['score']:g}.",
            fix=fix,
        )


# ---- repeats


def repeated(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count; rows of
    one hash are compared by value.
    """
    hashes = np.asarray(
        sum(hashes_of(table[key], seed) for seed, key in enumerate(keys, 1))
    )
    ordered = np.sort(hashes)
    suspects = table.filter(
        pl.Series(
            np.isin(hashes, ordered[1:][ordered[1:] == ordered[:-1]]), dtype=pl.Boolean
        )
    )
    return suspects.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)


def no_pair_twice(
    table: pl.DataFrame, name: str, labels: Labels, *, merged: bool = False
) -> None:
    """Raise an error for repeated pairs of user and item, which would count twice;
    `merged`: repeats that cannot be merged, as the convention says, since they share a
    rank.
    """
    twice = repeated(table, ["user", "item"])
    for user, item, n in twice.head(1).rows():
        pairs = (
            "1 pair of user and item is"
            if twice.height == 1
            else f"{twice.height:,} pairs of user and item are"
        )
        columns = [labels.get(role, role) for role in IDS]
        held = (
            f"repeated in {columns}, such as user {user!r}, item {item!r} ({n} times)."
        )
        alone = ", if no rank is given twice" if "rank" in labels else ""
        kept = (
            "the highest relevance."
            if name == "truth"
            else f"the one ranked highest{alone}."
        )
        models = (
            ""
            if name == "truth"
            else " If they are the lists of several models, compare them."
        )
        fix = f"Drop the repeats; or say duplicates='dedupe' to keep {kept}{models}"
        if merged:
            fix = (
                f"Drop the repeats: both have one rank, so none is the higher.{models}"
            )
        raise FrameError(f"{name}: {pairs} {held}", fix=fix)


def no_rank_twice(table: pl.DataFrame, name: str, labels: Labels) -> None:
    """Raise an error for two items of a user that share a rank."""
    twice = repeated(table, ["user", "rank"])
    for user, rank, _ in twice.head(1).rows():
        both = table.filter(pl.col("user") == user, pl.col("rank") == rank)[
            "item"
        ].to_list()[:2]
        held = (
            f"user {user!r} has {both[0]!r} and {both[1]!r} at rank {rank} "
            f"({twice.height:,} such in all)"
        )
        fix = "Give each item of a user its own rank, or give scores alone."
        raise FrameError(
            f"{name}: column {labels['rank']!r} gives a rank twice: {held}.", fix=fix
        )


# ---- what is relevant


def grades_of(truth: pl.DataFrame) -> pl.Series:
    """Return the relevance of each row as it was given, but True and False as 1 and 0;
    without a column of it, a single 1.
    """
    grades = truth["relevance"] if "relevance" in truth.columns else pl.Series([1.0])
    return grades.cast(pl.Int64) if grades.dtype == pl.Boolean else grades


def graded(truth: pl.DataFrame, labels: Labels, convention: Convention) -> pl.DataFrame:
    """Return the truth with a relevance for each row, 1 without a relevance column."""
    if "relevance" not in truth.columns:
        return with_series(truth, pl.Series("relevance", np.ones(truth.height)))
    negative, threshold = convention.negative_relevance, convention.relevant_from
    grades = numbers_of(truth, "relevance", labels, negative=negative != "error").cast(
        pl.Float64
    )
    if negative == "zero":
        grades = grades.clip(lower_bound=0.0)
    if threshold is not None and truth["relevance"].dtype in (pl.Float32, pl.Float16):
        # 0.7 in single precision is a little below 0.7, and meant to reach it.
        grades = grades.set(
            grades == pl.Series([float(threshold)]).cast(truth["relevance"].dtype)[0],
            threshold,
        )
    return with_series(truth, grades.alias("relevance"))


def is_relevant(relevance: Floats, convention: Convention) -> NDArray[np.bool_]:
    """Return whether judged items of these relevances count as relevant, shape (n,)."""
    if convention.relevant_from is not None:
        return relevance >= convention.relevant_from
    if convention.relevant == "any":
        return np.ones(len(relevance), dtype=bool)
    return relevance != 0 if convention.relevant == "!=0" else relevance > 0


def relevant_only(judged: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """Return the judged rows whose item counts as relevant."""
    return judged.filter(is_relevant(judged["relevance"].to_numpy(), convention))
