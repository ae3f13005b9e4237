"""One value for each user, by which users are put into segments.

It is that of a column of users= or of the truth, worked out of train, or given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import from_pandas, kind
from recnb.data.ids import each_once
from recnb.data.names import IDS, TRUTH
from recnb.data.sheet import Sheet
from recnb.data.splits import BY_USER, Keys
from recnb.display.language import pgettext
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, RecnbError, near, quoted
from recnb.results.evaluation_data import EvaluationData

#: Numbers of more values are put into bins.
FEW = 8

#: What to type for users, and for train.
GIVE_USERS = "recs.rec.against(truth, users=frame)"
GIVE_TRAIN = "recs.rec.against(truth, train=frame)"
#: What the command line has in place of these calls.
TYPED = {GIVE_USERS: "--users FILE", GIVE_TRAIN: "--train FILE"}

#: How a column each value of which is a truth of its own is asked for.
ALONE = (
    "stands alone, in a table or a report, without tests: these take the truth's rows "
    "of one value after the other."
)


def everyone_in(data: EvaluationData) -> pl.Series:
    """Return the users evaluated and those with a list, each once.

    Metrics beyond accuracy have values of all who have a list.
    """
    joined = data.joined
    users = joined.users.alias("user")
    if not joined.source.in_memory:
        return users  # elsewhere there are no metrics beyond accuracy
    return each_once(users, joined.rows.lists["user"])


def binned(values: pl.Series) -> pl.Series:
    """Put numbers that are many into quarters, between their quartiles.

    A quarter is named by the lowest and the highest value in it. Other groups are made
    with `pd.cut` or `pd.qcut`, and given as a column or a Series.
    """
    if not values.dtype.is_numeric() or values.drop_nulls().n_unique() <= FEW:
        return values
    numbers = values.cast(pl.Float64)
    edges = np.unique(np.quantile(numbers.drop_nulls(), [0.25, 0.5, 0.75]))
    code = pl.Series(np.searchsorted(edges, numbers.fill_null(0)))
    known = pl.DataFrame({"code": code, "value": numbers}).drop_nulls()
    lowest, highest = pl.min("value").alias("low"), pl.max("value").alias("high")
    ends = known.group_by("code").agg(lowest, highest).sort("code")
    names = _ranges(ends.select("low", "high").rows())
    name_of_code = pl.Series(names, dtype=pl.Enum(names))
    named = code.replace_strict(ends["code"], name_of_code, default=None)
    return pl.select(pl.when(numbers.is_not_null()).then(named)).to_series()


def _ranges(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name bins with as many digits as tell their ends apart."""
    values = {end for of_bin in ends for end in of_bin}
    form = _form_that_tells_apart(values)
    names = []
    for low, high in ends:
        lowest, highest = f"{low:{form}}", f"{high:{form}}"
        name = lowest
        if lowest != highest:
            name = pgettext("segment", "{low} to {high}", low=lowest, high=highest)
        names.append(name)
    return names


def _form_that_tells_apart(values: Collection[float]) -> str:
    """Return the format of numbers: whole, or with as many digits as are needed."""
    if all(value.is_integer() for value in values):
        return ".0f"
    for digits in range(3, 17):
        if len({f"{value:.{digits}g}" for value in values}) == len(values):
            return f".{digits}g"
    return ".17g"  # these tell any two numbers apart


# One column: user and value


def column_of_users(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the name of a column of users, and its one value for each user."""
    by = as_column(data, by)
    if isinstance(by, str):
        label, table = by, _column_named(data, by)
    elif isinstance(by, (Mapping, pd.Series)):
        label, table = _column_given(data, by)
    else:
        fix = (
            f"Name a column of {GIVE_USERS}, or give a Series or mapping of user to "
            "segment."
        )
        raise OptionError(f"by={one_line(repr(by))} names no segments. {fix}", TYPED)
    if table.height == 0:
        raise OptionError(
            f"by={quoted(label)} is empty, and names no segments. Give the segment "
            "of each user."
        )
    judged = data.joined.rows.judged["user"]
    if _is_of_lists(data, by):
        return label, _one_value_each(table, label, judged, data.keys)
    of_users = _one_value_each(table, label, data.keys.users_of(judged))
    return label, _by_list(data, of_users)


def as_column(data: EvaluationData, by: Any) -> Any:
    """Return the name of a column as text, if it is a number that a frame has so."""
    side_data = data.side_data
    columns = columns_of_truth(data)
    for frame in (side_data.users, side_data.items):
        columns += [] if frame is None else frame.columns
    return str(by) if isinstance(by, Integral) and str(by) in columns else by


def _is_of_lists(data: EvaluationData, by: Any) -> bool:
    """Return whether a column has a value for each list, as those of the truth have."""
    return isinstance(by, str) and not is_column_of_users(data, by)


def is_column_of_users(data: EvaluationData, by: str) -> bool:
    """Return whether users= has the column."""
    users = data.side_data.users
    return users is not None and by in users.columns and by != "user"


def _by_list(data: EvaluationData, of_users: pl.DataFrame) -> pl.DataFrame:
    """Give each list in a split the value of its user."""
    lists = everyone_in(data)
    users = data.keys.users_of(lists).to_frame()
    values = users.join(of_users, on="user", how="left", maintain_order="left")
    return values.with_columns(lists)


def _one_value_each(
    table: pl.DataFrame, label: str, evaluated: pl.Series, keys: Keys = BY_USER
) -> pl.DataFrame:
    """Return a row for each user, whose id is of the kind of those evaluated."""
    users, values = table["user"], table["value"]
    if values.dtype.is_nested() or values.dtype == pl.Object:
        raise no_segment_error(values, label)
    if kind(users.dtype) != kind(evaluated.dtype):
        raise OptionError(
            f"by={quoted(label)} has users such as {users[0]!r}; those evaluated "
            f"are such as {evaluated[0]!r}."
        )
    of_users = pl.DataFrame([users.cast(evaluated.dtype), as_shown(values)])
    of_users = of_users.unique(maintain_order=True)
    several = of_users.filter(pl.col("user").is_duplicated())
    if several.height:
        problem = (
            f"by={quoted(label)} has more than one value for user "
            f"{keys.names(several['user'].head(1))[0]!r}: give each user one."
        )
        raise OptionError(
            f"{problem} A column of the truth that differs within users {ALONE}"
        )
    return of_users


def no_segment_error(values: pl.Series, label: str) -> OptionError:
    """Return the error for a column whose values name no segments."""
    example = one_line(repr(values.drop_nulls().to_list()[0]))
    return OptionError(
        f"by={quoted(label)} holds {example}, which names no segment: give text or numbers."
    )


def _column_given(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the column of a Series or mapping of user to segment."""
    label = str(getattr(by, "name", None) or "segment")
    given = by if isinstance(by, pd.Series) else pd.Series(dict(by), dtype=object)
    users = given.index.to_list()
    has_row_numbers = isinstance(by, pd.Series) and _is_numbered(given.index)
    evaluated = data.keys.users_of(everyone_in(data))
    if has_row_numbers and {*evaluated.to_list()} != {*users}:
        problem = (
            f"by={quoted(label)} has no users on its index, only the numbers of its "
            f"rows, which are not those of the users."
        )
        raise OptionError(
            f"{problem} Put the users on its index, users.set_index('user')[{label!r}]."
        )
    try:
        values = from_pandas(given, "by", label, "value")
    except FrameError:
        # Values of several kinds become text; a missing one stays missing.
        known = given.astype(object).where(given.notna(), None)
        values = pl.Series(known.to_list(), strict=False)
    return label, pl.DataFrame({"user": users, "value": values})


def _is_numbered(index: pd.Index) -> bool:
    """Return whether an index is that which pandas makes: row numbers from 0."""
    if not isinstance(index, pd.RangeIndex):
        return False
    return index.name is None and index.start == 0


def _column_named(data: EvaluationData, by: str) -> pl.DataFrame:
    """Return the column of this name: of the users, else of the truth, else of train."""
    users, train = data.side_data.users, data.side_data.train
    if users is not None and is_column_of_users(data, by):
        return users.select("user", value=by)
    of_truth = column_of_truth(data, by)
    if of_truth is not None:
        return of_truth.select("user", "value")
    if by != "activity":
        raise _no_such_column(data, by)
    if train is None:
        raise RecnbError(
            f"by='activity' needs what users had before: type {GIVE_TRAIN}.", TYPED
        )
    everyone = everyone_in(data)
    had = data.keys.numbered(Sheet("train", train, {})).rows
    n_rows = had.group_by("user").agg(value=pl.len().cast(pl.Int64))
    of_lists = everyone.to_frame().join(
        n_rows, on="user", how="left", maintain_order="left"
    )
    return of_lists.with_columns(pl.col("value").fill_null(0))


def _no_such_column(data: EvaluationData, by: str) -> OptionError:
    """Return the error for a name that segments cannot come from."""
    side_data = data.side_data
    of_items = list[str]()
    if side_data.items is not None:
        of_items = [name for name in side_data.items.columns if name != "item"]
    if by in of_items:
        problem = (
            f"by={quoted(by)} is a column of items=: each value is a truth of its "
            f"own, and groups no users."
        )
        return OptionError(f"{problem} It {ALONE}")
    columns = list[str]()
    if side_data.users is not None:
        columns += side_data.users.columns
    columns += columns_of_truth(data)
    if side_data.train is not None:
        columns.append("activity")
    label = data.source.judgements.label
    ids = ("user", label("user"), label("item"))
    known = near(by, [*(name for name in columns if name not in ids), *of_items])
    return OptionError(
        f"by={quoted(by)} is no column of users=, items= or of the truth, where "
        f"segments come from. Give what is known of them: {GIVE_USERS}. {known}",
        TYPED,
    )


def rows_naming_segments(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return the rows of the column that segments come from; None where there is none.

    It is one of `users=`, else of the truth, of `items=` or of train. Rows of users are
    those of the users evaluated.
    """
    side_data = data.side_data
    users, items, train = side_data.users, side_data.items, side_data.train
    evaluated = data.keys.users_of(data.joined.users)
    if users is not None and is_column_of_users(data, by):
        table = users.select("user", value=by)
    elif (of_truth := column_of_truth(data, by)) is not None:
        table, evaluated = of_truth, data.joined.users
    elif items is not None and by in items.columns and by != "item":
        return items.select("item", value=by)
    elif by == "activity" and train is not None:
        table = train.select("user", "item")
    else:
        return None
    if kind(table["user"].dtype) != kind(evaluated.dtype):
        return None  # which is refused where the segments are made
    table = table.cast({"user": evaluated.dtype})
    return table.filter(pl.col("user").is_in(evaluated.implode()))


def columns_of_truth(data: EvaluationData) -> list[str]:
    """Return the names of the columns of the truth."""
    truth = data.side_data.truth_columns
    if truth is None:
        return []
    ids = [data.source.judgements.labels[role] for role in IDS if role in truth.ids]
    return [*ids, *truth.columns]


def column_of_truth(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return a column of the truth as user, item and value; None if there is none."""
    truth = data.side_data.truth_columns
    if truth is None or by not in truth.columns:
        return None
    table = truth.ids.with_columns(value=truth[by])
    if "item" not in table.columns:  # rows are items
        table = table.with_row_index("item").cast({"item": pl.Int64})
    labels = {role: data.source.judgements.label(role) for role in IDS}
    sheet = Sheet(TRUTH, table, labels).with_ids()
    return data.keys.numbered(sheet).rows


def as_shown(values: pl.Series) -> pl.Series:
    """Return values that differ only where they are shown to differ.

    NaN is missing, and times are in microseconds, as Python has no nanoseconds.
    """
    dtype = values.dtype
    if isinstance(dtype, (pl.Datetime, pl.Duration)) and dtype.time_unit == "ns":
        return values.dt.cast_time_unit("us")
    if dtype.is_float():
        return values.fill_nan(None)
    return values
