"""Divisions, of which numbers are made: all users, segments of them, or parts of the truth.

Segments come from a column, a Series or what users had before; parts of the truth are,
for example, its weeks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions.convention import in_words
from recnb.data.ids import RowLookup, positions
from recnb.data.in_memory import InMemory
from recnb.data.parts import Parts
from recnb.data.role_table import rows_of_users
from recnb.data.splits import split_labels
from recnb.display.language import N_, _
from recnb.display.text import dates_alone, one_line
from recnb.errors import (
    FrameError,
    OptionError,
    RecnbError,
    is_several,
    is_word,
    quoted,
)
from recnb.metrics.hits import Ints
from recnb.results.evaluation_data import EvaluationData, Models, same_rows
from recnb.results.segment_columns import (
    Column,
    column_named,
    everyone_in,
    in_quarters,
    values_of_everyone,
)

#: More segments are refused.
MOST_SEGMENTS = 200
#: A segment of fewer users is marked as small.
SMALL = 30
#: What gives several values, and is no list of columns.
NOT_LISTS = (pd.Series, pd.DataFrame, Mapping)

#: A column each value of which is a truth of its own.
PART = N_(
    "each {by} is a truth of its own: its rows of the truth, and the {users} with one"
)
#: Words in place of `PART` where other users are averaged than those of the truth.
PART_OF_OTHERS = N_(
    "each {by} is a truth of its own: its rows of the truth, and {users}"
)

#: Words in place of `PART` for a column of `split=`.
LISTS_OF_PART = N_("each {by} is evaluated alone: its lists, and their truth")

#: The values that a part is defined by, one for each column.
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Division:
    """All users as one part; its subclasses divide the users, or the data."""

    labels: Sequence[str] = ()  #: what each column of the keys is called
    keys: Sequence[Key] = ((),)  #: of each part, in the order shown
    is_tested: bool = True  #: whether models are tested within a part
    of_split: bool = False  #: whether parts are by columns of `split=`

    def __post_init__(self) -> None:
        """Refuse a column that is named twice, and more parts than a table has."""
        if len(set(self.labels)) < len(self.labels):
            raise _no_columns(self.labels)
        n = len(self.keys)
        if n > MOST_SEGMENTS:
            by = quoted(", ".join(self.labels))
            problem = f"by={by} makes {n:,} segments, and a table has at most"
            raise OptionError(
                f"{problem} {MOST_SEGMENTS}. Put dates into periods, frame['week'] = "
                "frame['date'].dt.to_period('W'), and other values into groups."
            )

    @property
    def names(self) -> list[str]:
        """The name of each part: its values as they are shown."""
        if not self.labels:
            return [""]
        columns = [dates_alone(values) for values in zip(*self.keys, strict=True)]
        return [", ".join(map(str, key)) for key in zip(*columns, strict=True)]


#: All users.
EVERYONE = Division()


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments(Division):
    """Groups of users; the last holds users of whom nothing is known."""

    users: pl.Series  #: each once
    code: Ints  #: by user: the position in `keys`

    def of(self, users: pl.Series) -> Ints:
        """Return the segments of some users as positions in `keys`."""
        row = positions(self.users, users)  # -1: it is none of them
        return np.where(row >= 0, self.code[row], len(self.keys) - 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class DataParts(Division):
    """Parts of the data: truths, or lists of a split with their truth."""

    values: pl.DataFrame  #: of each part a row
    #: (name of a model, its data, the row of a part) -> the data of that part alone.
    data_of: Callable[[str, EvaluationData, pl.DataFrame], EvaluationData]
    is_tested: bool = False

    def evaluations_of(self, models: Models) -> Iterator[tuple[int, Models]]:
        """Evaluate in one part after the other."""
        for part in range(self.values.height):
            values = self.values.slice(part, 1)
            part_models = {
                name: self.data_of(name, model, values)
                for name, model in models.items()
            }
            # Where a model has no list nothing is relevant.
            if all(model.n_lists for model in part_models.values()):
                yield part, part_models


def division_by(models: Models, by: Any, *, is_tested: bool = False) -> Division:
    """Return the division that `by` names, the first of these that it fits.

    All users (None), parts of `split=` (its columns), parts of the truth (a column that
    differs within users), segments of users. Where models are tested within each part
    (`is_tested`), parts of the truth are refused.
    """
    if by is None:
        return EVERYONE
    names = [*by] if is_several(by) and not isinstance(by, NOT_LISTS) else [by]
    if not names:
        raise _no_columns(names)
    first_model = next(iter(models.values()))
    split = first_model.keys.columns
    if all(is_word(name, split) for name in names):
        return _parts_of_split(first_model, names, is_tested=is_tested)
    columns = [_column_of_all(models, name) for name in names]
    if len(columns) == 1 and not is_tested and columns[0].differs_within_lists:
        return _truth_parts(models, columns[0].label)
    return segments_of(first_model, columns)


def _column_of_all(models: Models, by: Any) -> Column:
    """Return a column of the first model; refuse it if it is another one in others.

    Their segments would be others too.
    """
    (first, ours), *others = models.items()
    column = column_named(ours, by)
    if not isinstance(by, str):
        return column
    rows = rows_of_users(column.rows, ours.joined.users)
    for name, theirs in others:
        try:
            other = column_named(theirs, by)
        except RecnbError as problem:
            raise type(problem)(f"{name!r}: {problem}") from problem
        other_rows = rows_of_users(other.rows, ours.joined.users)
        if not same_rows(rows, other_rows):
            raise FrameError(
                f"by={quoted(by)} is not the same column in {first!r} and {name!r}, so "
                "their segments are not the same. Give compare() frames of "
                "recommendations, and one truth, users= and items= for all."
            )
    return column


def _no_columns(named: Sequence[str]) -> OptionError:
    """Return the error for no columns, or one named twice."""
    return OptionError(f"by={quoted(named)}: name at least one column, each once.")


# Segments of users


def segments_of(data: EvaluationData, columns: Sequence[Column]) -> Segments:
    """Return segments by one column or by several together."""
    # Of country (DE, FR, not known) and age (old, young, not known):
    #     user        a      b    c      d
    #     values      DE     FR   DE     null
    #                 young  old  young  null
    #     segments    (DE, young), (FR, old), (null, null)
    #     code        0      1    0      2
    values = pl.DataFrame(
        {
            str(place): in_quarters(values_of_everyone(data, column))
            for place, column in enumerate(columns)
        }
    )
    segments = values.unique().sort(pl.all(), nulls_last=True)
    keys, unknown = _keys_of(segments)
    # A user of whom nothing is known is in the last segment, which there always is.
    if unknown not in keys:
        keys.append(unknown)
    return Segments(
        labels=[column.label for column in columns],
        keys=keys,
        users=everyone_in(data),
        code=RowLookup(segments).positions_of_rows(values),
    )


def _keys_of(values: pl.DataFrame) -> tuple[list[Key], Key]:
    """Return the key of each row of values, and that of one of which nothing is known."""
    unknown = tuple(_unknown_among(column.drop_nulls().to_list()) for column in values)
    keys = []
    for row in values.iter_rows():
        named = zip(row, unknown, strict=True)
        keys.append(tuple(name if value is None else value for value, name in named))
    return keys, unknown


def _unknown_among(names: Collection[Any]) -> str:
    """Name the segment of missing values, unlike every value there is."""
    name = _("not known")
    while name in names:
        name = f"({name})"
    return name


# Parts of the data


def _parts_of_split(
    data: EvaluationData, columns: Sequence[str], *, is_tested: bool
) -> DataParts:
    """Return the parts by columns of `split=`."""
    values = data.keys.combinations_of(data.joined.users)
    values = values.select([*split_labels(columns)]).unique().sort(pl.all())
    return DataParts(
        labels=columns,
        keys=values.rows(),
        values=values,
        data_of=lambda _name, model, values_of_part: model.of_split(values_of_part),
        is_tested=is_tested,
        of_split=True,
    )


def _truth_parts(models: Models, by: str) -> DataParts:
    """Return a part for each value that a column of the truth has of users evaluated.

    Models that are compared have the same users and the same column, and so the same
    values.
    """
    rows = {name: _truth_with_values(model, by) for name, model in models.items()}
    first, first_rows = next(iter(models.values())), next(iter(rows.values()))
    evaluated_rows = rows_of_users(first_rows, first.joined.users)
    values = evaluated_rows.select("value").unique().sort("value", nulls_last=True)
    keys, _unknown = _keys_of(values)
    return DataParts(
        labels=(by,),
        keys=keys,
        values=values,
        data_of=lambda name, model, value: _against(model, rows[name], value),
    )


def _truth_with_values(data: EvaluationData, by: str) -> pl.DataFrame:
    """Return the rows of the truth with their values of one of its columns.

    The column has a value for each row of the truth as it was given; the rows may lack
    some, as those of users without a list, and keep the others in their order.
    """
    if by in data.side_data.differing:
        raise _several_lists_error(data, by)
    if isinstance(data.source, Parts):
        raise data.source.elsewhere()
    rows = data.source.truth_rows
    pair = ["user", "item"]
    given_rows = column_named(data, by).rows
    given_rows = given_rows.cast({name: rows[name].dtype for name in pair})
    # So these are the rows of the truth, one for one.
    kept = given_rows.join(rows, on=pair, how="semi", maintain_order="left")
    if kept.height > rows.height:
        # One frame has both sides, and a pair has a row that is not judged as well.
        problem = f"by={quoted(by)} is of rows that are not judged as well: "
        raise OptionError(f"{problem}give recommendations and truth as a frame each.")
    return rows.with_columns(kept["value"])


def _several_lists_error(data: EvaluationData, by: str) -> OptionError:
    """Return the error for a column of both frames that differs within users.

    Users have a list of each value, and these were joined as one.
    """
    split = [*data.keys.columns, by]
    return OptionError(
        f"by={quoted(by)} is a column of both frames and differs within users in "
        "both: a user's lists of all its values are taken as one. If each value "
        f"has a list of its own, evaluate with split={split!r}. If it is a "
        "column of items, leave it out of the recommendations."
    )


def _against(
    model: EvaluationData, rows: pl.DataFrame, value: pl.DataFrame
) -> EvaluationData:
    """Evaluate a model against the rows of the truth with one value, which may be null."""
    source = model.source
    assert isinstance(source, InMemory)  # or `_truth_with_values` would have refused it
    has_value = rows["value"].eq_missing(value["value"])
    truth = source.truth.with_rows(source.truth_rows.filter(has_value))
    part_source = replace(source, truth=truth, needs_users=False)
    return replace(model, joined=part_source.under(model.convention))


def part_in_words(data: EvaluationData, division: Division) -> str:
    """Say that each value is a truth of its own, and which users are averaged there."""
    by = one_line(", ".join(division.labels))
    if division.of_split:
        return _(LISTS_OF_PART, by=by)
    convention = data.convention
    users, nothing = convention.averaged_users, convention.no_relevant
    if users == "truth":
        words = _(PART, by=by)
    else:
        words = _(PART_OF_OTHERS, by=by, users=in_words("averaged_users", users))
    # Where the metrics of a library have several rules, each says its own.
    if nothing == "skip" or not data.metrics_share_no_relevant:
        return words
    return f"{words}; {in_words('no_relevant', nothing)}"
