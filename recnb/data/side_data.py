"""What is given beside the pairs: training data, items, users, and how the caller wrote
it, for code that is shown.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import polars as pl

from recnb.data.columns import (
    Columns,
    Frame,
    Labels,
    Made,
    Scanned,
    arrow_of,
    columns_of,
    find,
    table_of,
)
from recnb.data.load import ROWS_ARE_ITEMS, SIDES
from recnb.data.sheet import IDS, RECS, TRUTH, Sheet
from recnb.data.source import Source
from recnb.errors import ColumnError, FrameError

#: Names of columns that say when something happened.
TIMES = re.compile(
    "(?!release|birth)((?i:when|(.*[_ "
    "])?((date)?time(stamp)?|date|ts|at))|.*[a-z](Time|Timestamp|Date|At))"
)


@dataclass(frozen=True)
class GivenFrame:
    """One of the caller's frames."""

    # : "pandas", "polars" or "lazy", which is Polars as well; "" for anything else
    library: str = ""
    labels: Labels = field(default_factory=dict)  #: role -> column
    types: Mapping[str, str] = field(
        default_factory=dict
    )  #: role -> type, as the library names it

    @classmethod
    def of(cls, frame: Any, labels: Labels) -> GivenFrame:
        """Note the library and the types of a frame."""
        library = ""
        schema: Any = {}
        if isinstance(frame, (Made, Scanned)):
            return cls(library, labels)
        if isinstance(frame, pd.DataFrame):
            library, schema = "pandas", frame.dtypes
        elif isinstance(frame, pl.DataFrame):
            library, schema = "polars", frame.schema
        elif isinstance(frame, pl.LazyFrame):
            library, schema = "lazy", frame.collect_schema()
        types = {
            role: str(schema[label]).partition("(")[0]
            for role, label in labels.items()
            if label in schema
        }
        return cls(library, labels, types)


@dataclass(frozen=True)
class Call:
    """The call that made an evaluation."""

    frames: Mapping[str, GivenFrame] = field(
        default_factory=dict
    )  #: by argument: recs, truth, train, items, users
    columns: Columns = field(default_factory=dict)  #: as named by keyword
    options: Mapping[str, Any] = field(default_factory=dict)  #: conventions
    library: str | None = None  #: whose conventions were asked for
    weights: Mapping[str, str] = field(
        default_factory=dict
    )  #: propensity and user_weight, as code


@dataclass(frozen=True, eq=False)
class SideData:
    """Frames for metrics beyond accuracy, segments and the lint; None if not given."""

    train: pl.DataFrame | None = None  #: user, item: what users had before
    items: pl.DataFrame | None = None  #: a row an item: item, and what is known of it
    users: pl.DataFrame | None = None  #: a row a user: user, and what is known of them
    times: tuple[
        pl.Series, ...
    ] = ()  #: when, of each row of train and of the truth, if both say so
    #: the columns of train and of the truth that say when; none of a frame not given
    time_columns: tuple[Sequence[str], Sequence[str]] = ((), ())
    truth: Frame | None = (
        None  #: users and items of the truth, or of the one frame, and its columns without a role
    )
    truth_user: str = "user"  #: the column of users in it
    truth_item: str = "item"
    # : columns that the truth has too and that differ within users, of recommendations
    differing: tuple[str, ...] = ()
    call: Call = field(default_factory=Call)  #: how all of it was given
    labels: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  #: of train, items and users: role -> column


def read_side_data(
    source: Source, given_truth: Frame, columns: Columns, **frames: Frame
) -> SideData:
    """Read train, items and users, and check that their ids are of the type of those of
    the recommendations.
    """
    given = {name: frame for name, frame in frames.items() if frame is not None}
    by_item = [name for name in given if name != "users"]
    if by_item and ROWS_ARE_ITEMS in source.notes:
        raise ColumnError(
            f"{by_item[0]}= is joined by item, and the frame has no item column that "
            f"recnb knows.",
            fix="Name it, item='...'.",
        )
    labels = {
        name: find(frame, name, SIDES[name], columns) for name, frame in given.items()
    }
    tables: dict[str, Any] = {
        name: _read(frame, name, labels[name], source) for name, frame in given.items()
    }
    side_data = SideData(
        **tables,
        truth_user=source.truth_labels["user"],
        truth_item=source.truth_labels["item"],
        labels=labels,
    )
    if given_truth is not None:
        others = _others(given_truth, source.truth_labels)
        side_data = replace(side_data, truth=others)
    if "train" in given:
        dated = (given["train"], given_truth)
        columns_of_each = (_time_columns(dated[0]), _time_columns(dated[1]))
        times = _times(dated, columns_of_each)
        side_data = replace(side_data, times=times, time_columns=columns_of_each)
    return side_data


def _others(frame: Frame, labels: Labels) -> Frame | None:
    """Copy the users and items of the truth with its columns that have no role; None if
    there are none.
    """
    names = columns_of(frame, "truth")
    others = [column for column in names if column not in labels.values()]
    if not others:
        return None
    # Where each row is an item of its own there is no column of items.
    ids = [labels[role] for role in IDS if labels[role] in names]
    read = [*dict.fromkeys([*ids, *others])]
    # Columns are converted when one is asked for: others may hold values of several
    # kinds, or of a kind that nobody reads.
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return table_of(frame, "truth", {one: one for one in read})
    # To pickle copies the memory of Arrow too, which other copies share with the
    # caller.
    return pickle.loads(
        pickle.dumps(
            frame[read] if isinstance(frame, pd.DataFrame) else arrow_of(frame, read)
        )
    )


def differing_columns(recs: Frame, truth: Frame, source: Source) -> tuple[str, ...]:
    """Return the columns without a role that both frames have, and that differ within
    users in the recommendations, such as the day of a list.
    """
    ignored = {*source.labels.values(), *source.truth_labels.values()}
    ignored |= {*columns_of(recs, RECS)} - {*columns_of(truth, TRUTH)}
    shared = [column for column in columns_of(recs, RECS) if column not in ignored]
    if not shared or not source.in_memory:
        return ()
    differing = []
    for column in shared:
        roles = {"user": source.labels["user"], "value": column}
        with suppress(
            FrameError, pl.exceptions.PolarsError
        ):  # of kinds that group none
            if _differs_within_users(table_of(recs, RECS, roles)):
                differing.append(column)
    return tuple(differing)


def _differs_within_users(rows: pl.DataFrame) -> bool:
    """Return whether a user has two values; of most columns that do, two rows that
    follow each other show it.
    """
    user, value = pl.col("user"), pl.col("value")
    follows = (user == user.shift()) & value.ne_missing(value.shift())
    if rows.select(follows.any()).item():
        return True
    return bool(rows.unique()["user"].is_duplicated().any())


def _time_columns(frame: Frame | None) -> list[str]:
    """Return the columns of a frame that say when; of none, none."""
    if frame is None:
        return []
    return [name for name in columns_of(frame, "") if TIMES.fullmatch(str(name))]


def _times(
    frames: tuple[Frame | None, ...], columns: tuple[Sequence[str], Sequence[str]]
) -> tuple[pl.Series, ...]:
    """Return the columns of train and of the truth that say when, if each has one: of
    several, one that both have.
    """
    shared = [name for name in columns[0] if name in columns[1]]
    chosen = shared[:1] * 2 or [names[0] for names in columns if len(names) == 1]
    if len(chosen) < 2:
        return ()
    with suppress(FrameError):  # a column of several kinds, which is no time
        pairs = zip(frames, chosen, strict=True)
        return tuple(table_of(frame, "", {name: name})[name] for frame, name in pairs)
    return ()


def _read(frame: Frame, name: str, labels: Labels, source: Source) -> pl.DataFrame:
    """Read a frame of pairs; or of one row for each item or user, under the name of its
    role, with all its other columns.
    """
    roles, names = [*labels], columns_of(frame, name) if len(labels) == 1 else []
    others: dict[str, Any] = {}  # names that are numbers, as of embeddings, are text
    for column in names:
        if column in (*labels, *labels.values()):
            continue
        if str(column) in others:
            raise ColumnError(
                f"{name}: columns {others[str(column)]!r} and {column!r} have one name "
                "as text; rename one."
            )
        others[str(column)] = column
    sheet = Sheet(name, table_of(frame, name, {**labels, **others}), labels)
    sheet = sheet.with_ids(roles)
    ids = sheet.with_rows(sheet.rows.select(roles))
    source.example().refuse_other_kinds(ids)
    if len(roles) == 1:
        _refuse_repeated(name, sheet[roles[0]])
    return sheet.rows


def _refuse_repeated(name: str, ids: pl.Series) -> None:
    """Raise an error for two rows of one item or user."""
    repeats = ids.filter(ids.is_duplicated())
    if len(repeats):
        raise FrameError(
            f"{name}: {ids.name} {repeats[0]!r} has more than one row: give each "
            f"{ids.name} one."
        )
