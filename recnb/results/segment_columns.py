"""Columns that `by=` names, and one value of each for every user.

They are columns of users= or of the truth, worked out of train, or given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.ids import each_once
from recnb.data.names import IDS, TRUTH
from recnb.data.role_table import RoleTable, rows_of_users
from recnb.data.side_data import OtherColumns, SideData
from recnb.data.splits import BY_USER, Keys
from recnb.data.tables import from_pandas
from recnb.data.weights import look_up
from recnb.display.language import pgettext
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, near, quoted
from recnb.results.evaluation_data import EvaluationData

#: Numbers of more values are put into bins.
FEW = 8

#: What to type for users, and for train.
GIVE_USERS = "recs.rec.against(truth, users=frame)"
GIVE_TRAIN = "recs.rec.against(truth, train=frame)"
#: What the command line has in place of these calls.
TYPED = {GIVE_USERS: "--users FILE", GIVE_TRAIN: "--train FILE"}

#: Where a column is; "given": in a Series by user.
FrameName = Literal["users", "truth", "train", "given"]


class Column(NamedTuple):
    """A column that `by=` names, and where it is found."""

    label: str
    frame: FrameName
    rows: pl.DataFrame  #: user, of the truth item as well, and value

    @property
    def is_of_lists(self) -> bool:
        """Whether it has a value for each list: `user` holds ids of lists."""
        return self.frame in ("truth", "train")

    def differs_within_users(self) -> bool:
        """Return whether some user has rows of several values."""
        users = self.rows.select("user", "value").unique()["user"]
        return users.is_duplicated().any()


# What is named


def column_named(data: EvaluationData, by: Any) -> Column:
    """Return the column that `by` names, or is; refuse what is none."""
    if isinstance(by, pd.Series):
        return _column_given(data, by)
    if not isinstance(by, str):
        fix = (
            f"Name a column of {GIVE_USERS}, or give a Series by user, such as "
            "pd.Series({user: segment})."
        )
        raise OptionError(f"by={one_line(repr(by))} names no segments. {fix}", TYPED)
    side_data = data.side_data
    users, truth = side_data.users, side_data.truth_columns
    if users is not None and by in users.drop("user").columns:
        return Column(by, "users", users.select("user", value=by))
    if truth is not None and by in truth.columns:
        return Column(by, "truth", _rows_of_truth(data, truth, by))
    if by != "activity":
        raise _no_such_column(by, side_data)
    if side_data.train is None:
        raise RecnbError(
            f"by='activity' needs what users had before: type {GIVE_TRAIN}.", TYPED
        )
    return Column(by, "train", _n_in_train(data, side_data.train))


def _column_given(data: EvaluationData, by: pd.Series[Any]) -> Column:
    """Return the column of a Series of user to segment."""
    label, index = str(by.name or "segment"), by.index
    evaluated = data.keys.users_of(everyone_in(data))
    is_numbered = isinstance(index, pd.RangeIndex) and index.start == 0
    if is_numbered and index.name is None and {*evaluated} != {*index}:
        problem = (
            f"by={quoted(label)} has no users on its index, only the numbers of its "
            f"rows, which are not those of the users."
        )
        raise OptionError(
            f"{problem} Put the users on its index, users.set_index('user')[{label!r}]."
        )
    users = from_pandas(index.to_series(), "by", "user", "user")
    values = from_pandas(by, "by", label, "value")
    table = pl.DataFrame({"user": users, "value": values})
    return Column(label, "given", RoleTable("by", table, {}).with_ids(["user"]).rows)


def _rows_of_truth(
    data: EvaluationData, truth: OtherColumns, name: str
) -> pl.DataFrame:
    """Return the values of a column of the truth beside user and item."""
    table = truth.ids.with_columns(value=truth[name])
    if "item" not in table.columns:  # each row is an item, known by its number
        table = table.with_row_index("item").cast({"item": pl.Int64})
    labels = {role: data.source.truth.label(role) for role in IDS}
    with_ids = RoleTable(TRUTH, table, labels).with_ids()
    return data.keys.numbered(with_ids).rows


def _n_in_train(data: EvaluationData, train: pl.DataFrame) -> pl.DataFrame:
    """Return how many rows of train each list has."""
    had = data.keys.numbered(RoleTable("train", train, {})).rows
    n_rows = had.group_by("user").agg(value=pl.len().cast(pl.Int64))
    lists = everyone_in(data).to_frame().join(n_rows, on="user", how="left")
    return lists.with_columns(pl.col("value").fill_null(0))


def _no_such_column(by: str, side_data: SideData) -> OptionError:
    """Return the error for a name that no column has."""
    columns = list[str]()
    if side_data.users is not None:
        columns += side_data.users.drop("user").columns
    if side_data.truth_columns is not None:
        columns += side_data.truth_columns.columns
    if side_data.train is not None:
        columns.append("activity")
    return OptionError(
        f"by={quoted(by)} is no column of users= or of the truth, where segments come "
        f"from. Give what is known of them: {GIVE_USERS}. {near(by, columns)}",
        TYPED,
    )


# Its values


def values_of_everyone(data: EvaluationData, column: Column) -> pl.Series:
    """Return the one value of each of `everyone_in`, null where it has none."""
    users, keys = everyone_in(data), data.keys
    if not column.is_of_lists:
        users, keys = keys.users_of(users), BY_USER
    values = look_up(_one_value_each(column, keys), users.to_frame(), "by")
    if values.drop_nulls().is_empty():
        raise OptionError(
            f"by={quoted(column.label)} says nothing of the users evaluated, such as "
            f"{keys.names(users.head(1))[0]!r}."
        )
    return values


def _one_value_each(column: Column, keys: Keys) -> pl.DataFrame:
    """Return a row for each user with their value; errors name a user by `keys`."""
    label, values = column.label, column.rows["value"]
    if values.dtype.is_nested() or values.dtype == pl.Object:
        example = one_line(repr(values.drop_nulls().to_list()[0]))
        raise OptionError(
            f"by={quoted(label)} holds {example}, which names no segment: give text or "
            "numbers."
        )
    rows = column.rows.select("user", "value").with_columns(as_shown(values))
    rows = rows.unique(maintain_order=True)
    several = rows.filter(pl.col("user").is_duplicated())
    if several.height:
        problem = (
            f"by={quoted(label)} has more than one value for user "
            f"{keys.names(several['user'].head(1))[0]!r}: give each user one."
        )
        alone = (
            "A column of the truth that differs within users stands alone, in a table or "
            "a report, without tests: these take the truth's rows of one value after the "
            "other."
        )
        raise OptionError(f"{problem} {alone}")
    return rows


def rows_of_evaluated(data: EvaluationData, column: Column) -> pl.DataFrame:
    """Return the rows of a column that are of users evaluated."""
    users = data.joined.users
    if not column.is_of_lists:
        users = data.keys.users_of(users)
    return rows_of_users(column.rows, users)


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
    quarter = pl.Series(np.searchsorted(edges, numbers.fill_null(0)))
    known = pl.DataFrame({"quarter": quarter, "value": numbers}).drop_nulls()
    lowest, highest = pl.min("value").alias("low"), pl.max("value").alias("high")
    ends = known.group_by("quarter").agg(lowest, highest).sort("quarter")
    names = _ranges(ends.select("low", "high").rows())
    names_in_order = pl.Series(names, dtype=pl.Enum(names))
    name = quarter.replace_strict(ends["quarter"], names_in_order, default=None)
    return pl.select(pl.when(numbers.is_not_null()).then(name)).to_series()


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
