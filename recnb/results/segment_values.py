"""One value for each user, by which users are put into segments: of a column of the
users, of the truth, of train, or of what is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import columns_of, from_pandas, table_of
from recnb.data.encoding import distinct
from recnb.data.sheet import TRUTH, Sheet, kind
from recnb.data.source import rows_of
from recnb.display.language import pgettext
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, RecnbError, near, quoted
from recnb.results.evaluation_data import EvaluationData

#: Numbers of more values are put into bins.
FEW = 8

#: How a column each value of which is a truth of its own is asked for.
ALONE = (
    "stands alone, in a table or a report, without tests: these take the truth's rows "
    "of one value after the other."
)


def everyone_in(data: EvaluationData) -> pl.Series:
    """Return the users evaluated, and those with a list: metrics beyond accuracy are of
    all lists.
    """
    joined = data.joined
    users = joined.users.alias("user")
    # Metrics of all lists are not to be had of rows that are away.
    return (
        distinct(pl.concat([users, joined.recs["user"]]))
        if joined.source.in_memory
        else users
    )


def binned(values: pl.Series, bins: int) -> pl.Series:
    """Put numbers that are many into quantile bins, named by their lowest and highest
    value.
    """
    if not (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2):
        fix = (
            "For bins of your own give a column of them, "
            "users.assign(bin=pd.cut(users['age'], [0, 18, 30, 100]))."
        )
        raise OptionError(
            f"bins={bins!r}: give the number of quantile bins, a whole number from 2 up.",
            fix=fix,
        )
    if not values.dtype.is_numeric() or values.drop_nulls().n_unique() <= FEW:
        return values
    numbers = values.cast(pl.Float64)
    edges = np.unique(np.quantile(numbers.drop_nulls(), np.arange(1, bins) / bins))
    code = pl.Series(np.searchsorted(edges, numbers.fill_null(0)))
    known = pl.DataFrame({"code": code, "value": numbers}).drop_nulls()
    ends = (
        known.group_by("code")
        .agg(low=pl.min("value"), high=pl.max("value"))
        .sort("code")
    )
    names = _ranges(ends.select("low", "high").rows())
    named = code.replace_strict(
        ends["code"], pl.Series(names, dtype=pl.Enum(names)), default=None
    )
    return pl.select(pl.when(numbers.is_not_null()).then(named)).to_series()


def _ranges(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name bins with as many digits as tell their ends apart."""
    values = {end for of_bin in ends for end in of_bin}
    digits = next(
        n
        for n in range(3, 18)
        if len({f"{value:.{n}g}" for value in values}) == len(values)
    )
    form = ".0f" if all(value.is_integer() for value in values) else f".{digits}g"
    shown = [(f"{low:{form}}", f"{high:{form}}") for low, high in ends]
    return [
        low
        if low == high
        else pgettext("segment", "{low} to {high}", low=low, high=high)
        for low, high in shown
    ]


# One column: user and value


def column_of_users(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the name of a column that is given or known of the users, and the one
    value of each user.
    """
    if isinstance(by, str):
        label, table = by, _column_named(data, by)
    elif isinstance(by, (Mapping, pd.Series)):
        label, table = _column_given(data, by)
    else:
        fix = (
            "Name a column of recs.rec.against(truth, users=frame), or give a Series "
            "or mapping of user to segment."
        )
        raise OptionError(f"by={one_line(repr(by))} names no segments.", fix=fix)
    if table.height == 0:
        raise OptionError(
            f"by={quoted(label)} is empty, and names no segments.",
            fix="Give the segment of each user.",
        )
    ids, value, users = table["user"], table["value"], data.joined.judged["user"]
    if value.dtype.is_nested() or value.dtype == pl.Object:
        raise no_segment(value, label)
    if kind(ids.dtype) != kind(users.dtype):
        raise OptionError(
            f"by={quoted(label)} has users such as {ids[0]!r}; those evaluated "
            f"are such as {users[0]!r}."
        )
    table = pl.DataFrame([ids.cast(users.dtype), as_shown(value)]).unique(
        maintain_order=True
    )
    for user in table.filter(pl.col("user").is_duplicated())["user"].head(1):
        problem = (
            f"by={quoted(label)} has more than one value for user {user!r}: give each "
            f"user one."
        )
        raise OptionError(
            problem, fix=f"A column of the truth that differs within users {ALONE}"
        )
    return label, table


def no_segment(values: pl.Series, label: str) -> OptionError:
    """Return the error for a column whose values name no segments."""
    example = one_line(repr(values.drop_nulls().to_list()[0]))
    return OptionError(
        f"by={quoted(label)} holds {example}, which names no segment: give text or numbers."
    )


def _column_given(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the column of a Series or mapping of user to segment."""
    label = str(getattr(by, "name", None) or "segment")
    given = by if isinstance(by, pd.Series) else pd.Series(dict(by), dtype=object)
    numbered = (
        isinstance(by, pd.Series)
        and isinstance(given.index, pd.RangeIndex)
        and given.index.name is None
        and given.index.start == 0
    )
    if numbered and {*everyone_in(data).to_list()} != {*given.index.to_list()}:
        problem = (
            f"by={quoted(label)} has no users on its index, only the numbers of its "
            f"rows, which are not those of the users."
        )
        raise OptionError(
            problem,
            fix=f"Put the users on its index, users.set_index('user')[{label!r}].",
        )
    try:
        values = from_pandas(given, "by", label, "value")
    except (
        FrameError
    ):  # values of several kinds are text, and what is missing none of it
        values = pl.Series(
            given.astype(object).where(given.notna(), None).to_list(), strict=False
        )
    return label, pl.DataFrame({"user": given.index.to_list(), "value": values})


def _column_named(data: EvaluationData, by: str) -> pl.DataFrame:
    """Return the column of this name: of the users, else of the truth, else worked out
    of train.
    """
    users, train = data.side_data.users, data.side_data.train
    if users is not None and by in users.columns and by != "user":
        return users.select("user", value=by)
    of_truth = column_of_truth(data, by)
    if of_truth is not None:
        return of_truth.select("user", "value")
    if by == "activity" and train is not None:
        counts = train.group_by("user").agg(value=pl.len().cast(pl.Int64))
        return (
            everyone_in(data)
            .to_frame()
            .join(counts, on="user", how="left")
            .with_columns(pl.col("value").fill_null(0))
        )
    if by == "activity":
        raise RecnbError(
            "by='activity' needs what users had before: type recs.rec.against(truth, train=frame)."
        )
    of_items = (
        []
        if data.side_data.items is None
        else [name for name in data.side_data.items.columns if name != "item"]
    )
    if by in of_items:
        problem = (
            f"by={quoted(by)} is a column of items=: each value is a truth of its "
            f"own, and groups no users."
        )
        raise OptionError(problem, fix=f"It {ALONE}")
    problem = (
        f"by={quoted(by)} is no column of users=, items= or of the truth, where "
        f"segments come from."
    )
    columns = [
        *(() if users is None else users.columns),
        *columns_of_truth(data),
        *["activity"] * (train is not None),
    ]
    ids = ("user", data.side_data.truth_user, data.side_data.truth_item)
    known = near(by, [*(name for name in columns if name not in ids), *of_items])
    raise OptionError(
        problem,
        fix=f"Give what is known of them: recs.rec.against(truth, users=frame). {known}",
    )


def rows_naming_segments(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return the rows of the column that segments of the users evaluated come from: of
    `users=`, else of the truth, of `items=` or of train; None where there is none.
    """
    users, items, train = (
        data.side_data.users,
        data.side_data.items,
        data.side_data.train,
    )
    if users is not None and by in users.columns and by != "user":
        table = users.select("user", value=by)
    elif (of_truth := column_of_truth(data, by)) is not None:
        table = of_truth
    elif items is not None and by in items.columns and by != "item":
        return items.select("item", value=by)
    elif by == "activity" and train is not None:
        table = train.select("user", "item")
    else:
        return None
    evaluated = data.joined.users
    if kind(table["user"].dtype) != kind(evaluated.dtype):
        return None  # which is refused where the segments are made
    return rows_of(table.cast({"user": evaluated.dtype}), evaluated)


def columns_of_truth(data: EvaluationData) -> list[str]:
    """Return the names of the columns of the truth."""
    if data.side_data.truth is None:
        return []
    return columns_of(data.side_data.truth, "truth")


def column_of_truth(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return a column of the truth as user, item and value; None if there is none."""
    side_data, columns = data.side_data, columns_of_truth(data)
    roles = {"user": side_data.truth_user, "item": side_data.truth_item}
    if by not in columns or by in roles.values():
        return None
    held = {role: label for role, label in roles.items() if label in columns}
    table = table_of(side_data.truth, "truth", {**held, "value": by})
    if "item" not in held:  # rows are items
        table = table.with_row_index("item").cast({"item": pl.Int64})
    return Sheet(TRUTH, table, roles).with_ids().rows


def as_shown(values: pl.Series) -> pl.Series:
    """Return values that differ where they are shown to: NaN is missing, and times are
    in microseconds, which is what Python has of nanoseconds.
    """
    dtype = values.dtype
    if isinstance(dtype, (pl.Datetime, pl.Duration)) and dtype.time_unit == "ns":
        return values.dt.cast_time_unit("us")
    return values.fill_nan(None) if dtype.is_float() else values
