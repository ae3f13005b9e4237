"""Columns that `by=` names, and one value of each for every list.

They are columns of users= or of the truth, counted in train, or given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import from_pandas
from recnb.data.ids import each_once
from recnb.data.names import IDS, TRUTH
from recnb.data.role_table import RoleTable
from recnb.data.side_data import OtherColumns
from recnb.display.language import pgettext
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, near, quoted
from recnb.metrics.hits import Floats
from recnb.results.evaluation_data import EvaluationData

#: Numbers of more values are put into quarters, between these quantiles.
MOST_VALUES = 8
QUARTILES = (0.25, 0.5, 0.75)

#: What to type for users, and for train.
GIVE_USERS = "recs.rec.against(truth, users=frame)"
GIVE_TRAIN = "recs.rec.against(truth, train=frame)"
#: What the command line has in place of these calls.
TYPED = {GIVE_USERS: "--users FILE", GIVE_TRAIN: "--train FILE"}


class Column(NamedTuple):
    """A column that `by=` names."""

    label: str
    #: The id of a list as `user`, and its `value`; a column of the truth has a row for
    #: each `item`, which is a column too.
    rows: pl.DataFrame

    @property
    def values(self) -> pl.DataFrame:
        """Each value that a list has, once."""
        return self.rows.select("user", "value").unique(maintain_order=True)

    @property
    def differs_within_lists(self) -> bool:
        """Whether some list has several values, each of some rows of its truth."""
        return "item" in self.rows and self.values["user"].is_duplicated().any()


# What is named


def column_named(data: EvaluationData, by: Any) -> Column:
    """Return the column that `by` names, or is; refuse what is none."""
    if isinstance(by, pd.Series):
        label = str(by.name or "segment")
        rows = _rows_given(data, by, label)
    elif isinstance(by, str):
        label, rows = by, _rows_named(data, by)
    else:
        fix = (
            f"Name a column of {GIVE_USERS}, or give a Series by user, such as "
            "pd.Series({user: segment})."
        )
        raise OptionError(f"by={one_line(repr(by))} names no segments. {fix}", TYPED)
    values = rows["value"]
    if values.dtype.is_nested() or values.dtype == pl.Object:
        example = one_line(repr(values.drop_nulls().to_list()[0]))
        raise OptionError(
            f"by={quoted(label)} holds {example}, which names no segment: give text or "
            "numbers."
        )
    return Column(label, rows.with_columns(_as_shown(values)))


def _rows_given(data: EvaluationData, by: pd.Series[Any], label: str) -> pl.DataFrame:
    """Return the rows of a Series of user to segment."""
    index = by.index
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
    users = from_pandas(index.to_series(), "by: column 'user'", "user")
    values = from_pandas(by, f"by: column {label!r}", "value")
    table = pl.DataFrame({"user": users, "value": values})
    given = RoleTable("by=", table, {}).with_ids(["user"])
    data.source.example().refuse_other_kinds(given)
    return data.keys.numbered(given).rows


def _rows_named(data: EvaluationData, name: str) -> pl.DataFrame:
    """Return the rows of a column of users= or of the truth, or those counted in train."""
    users, truth = data.side_data.users, data.side_data.truth_columns
    known = list[str]()
    if users is not None:
        known += users.drop("user").columns
        if name in known:
            table = users.select("user", value=name)
            return data.keys.numbered(RoleTable("users", table, {})).rows
    if truth is not None:
        known += truth.columns
        if name in truth.columns:
            return _rows_of_truth(data, truth, name)
    if name == "activity":
        return _n_in_train(data)
    raise OptionError(
        f"by={quoted(name)} is no column of users= or of the truth, where segments come "
        f"from. Give what is known of them: {GIVE_USERS}. "
        f"{near(name, [*known, 'activity'])}",
        TYPED,
    )


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


def _n_in_train(data: EvaluationData) -> pl.DataFrame:
    """Return how many rows of train each list has."""
    train = data.side_data.train
    if train is None:
        raise RecnbError(
            f"by='activity' needs what users had before: type {GIVE_TRAIN}.", TYPED
        )
    had = data.keys.numbered(RoleTable("train", train, {})).rows
    n_rows = had.group_by("user").agg(value=pl.len().cast(pl.Int64))
    lists = everyone_in(data).to_frame().join(n_rows, on="user", how="left")
    return lists.with_columns(pl.col("value").fill_null(0))


def _as_shown(values: pl.Series) -> pl.Series:
    """Return values that differ only where they are shown to differ.

    NaN is missing, and times are in microseconds, as Python has no nanoseconds.
    """
    dtype = values.dtype
    if isinstance(dtype, (pl.Datetime, pl.Duration)) and dtype.time_unit == "ns":
        return values.dt.cast_time_unit("us")
    if dtype.is_float():
        return values.fill_nan(None)
    return values


# Its values


def everyone_in(data: EvaluationData) -> pl.Series:
    """Return the lists evaluated and all others, each once.

    Metrics beyond accuracy have values of all who have a list.
    """
    joined = data.joined
    users = joined.users.alias("user")
    if not joined.source.in_memory:
        return users  # elsewhere there are no metrics beyond accuracy
    return each_once(users, joined.rows.lists["user"])


def values_of_everyone(data: EvaluationData, column: Column) -> pl.Series:
    """Return the one value of each of `everyone_in`, null where it has none."""
    values = column.values
    several = values["user"].filter(values["user"].is_duplicated())
    if len(several):
        raise OptionError(
            f"by={quoted(column.label)} has more than one value for user "
            f"{data.keys.names(several.head(1))[0]!r}: give each user one. A column of "
            "the truth that differs within users stands alone, in a table or a report, "
            "without tests: these take the truth's rows of one value after the other."
        )
    everyone = everyone_in(data).to_frame()
    with_value = everyone.join(values, on="user", how="left", maintain_order="left")
    if with_value["value"].null_count() == everyone.height:
        raise OptionError(
            f"by={quoted(column.label)} says nothing of the users evaluated, such as "
            f"{data.keys.names(everyone['user'].head(1))[0]!r}."
        )
    return with_value["value"]


def in_quarters(values: pl.Series) -> pl.Series:
    """Put numbers that are many into quarters, between their quartiles.

    A quarter is named by the lowest and the highest value in it. Other groups are made
    with `pd.cut` or `pd.qcut`, and given as a column or a Series.
    """
    if not values.dtype.is_numeric() or values.drop_nulls().n_unique() <= MOST_VALUES:
        return values
    numbers = values.cast(pl.Float64)
    known = numbers.drop_nulls()
    distinct = known.unique().sort().to_numpy()
    quarter = np.searchsorted(np.quantile(known, QUARTILES), distinct)
    quarters = np.split(distinct, np.flatnonzero(np.diff(quarter)) + 1)
    names = _names_of(quarters)
    name = np.repeat(names, [len(each) for each in quarters])
    return numbers.replace_strict(
        distinct, pl.Series(name, dtype=pl.Enum(names)), default=None
    )


def _names_of(quarters: Sequence[Floats]) -> list[str]:
    """Name sorted numbers by their ends, with as many digits as tell all ends apart."""
    form = _form_that_tells_apart({end for each in quarters for end in each[[0, -1]]})
    names = []
    for each in quarters:
        low, high = f"{each[0]:{form}}", f"{each[-1]:{form}}"
        name = low
        if low != high:
            name = pgettext("segment", "{low} to {high}", low=low, high=high)
        names.append(name)
    return names


def _form_that_tells_apart(numbers: Collection[float]) -> str:
    """Return the format of numbers: whole, or with as many digits as are needed."""
    if all(number.is_integer() for number in numbers):
        return ".0f"
    for digits in range(3, 17):
        if len({f"{number:.{digits}g}" for number in numbers}) == len(numbers):
            return f".{digits}g"
    return ".17g"  # these tell any two numbers apart
