"""What is given beside the pairs: train, items, users, and how the caller wrote it."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Mapping, Sequence
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
from recnb.data.load import ROWS_ARE_ITEMS, SIDE_FRAMES
from recnb.data.sheet import IDS, RECS, TRUTH, Sheet
from recnb.data.source import Source
from recnb.data.splits import SplitKeys, split_role, values_of
from recnb.errors import ColumnError, FrameError, listed

#: Names of columns that say when something happened.
TIMES = re.compile(
    "(?!release|birth)((?i:when|(.*[_ "
    "])?((date)?time(stamp)?|date|ts|at))|.*[a-z](Time|Timestamp|Date|At))"
)


@dataclass(frozen=True)
class GivenFrame:
    """One of the caller's frames."""

    #: "pandas", "polars" or "lazy", which is Polars as well; "" for anything else.
    library: str = ""
    #: Role -> column.
    labels: Labels = field(default_factory=dict)
    #: Role -> type, as the library names it.
    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: Any, labels: Labels) -> GivenFrame:
        """Note the library and the types of a frame."""
        library = _library_of(frame)
        schema: Mapping[str, Any] = {}
        if library == "pandas":
            schema = frame.dtypes
        elif library:
            schema = frame.collect_schema()
        types = {
            role: str(schema[label]).partition("(")[0]
            for role, label in labels.items()
            if label in schema
        }
        return cls(library, labels, types)


def _library_of(frame: Any) -> str:
    """Return the word for the library of a frame; "" if the caller has no code for it."""
    if isinstance(frame, (Made, Scanned)):
        return ""
    if isinstance(frame, pd.DataFrame):
        return "pandas"
    if isinstance(frame, pl.DataFrame):
        return "polars"
    if isinstance(frame, pl.LazyFrame):
        return "lazy"
    return ""


@dataclass(frozen=True)
class Call:
    """The call that made an evaluation."""

    #: By argument: recs, truth, train, items, users.
    frames: Mapping[str, GivenFrame] = field(default_factory=dict)
    #: As named by keyword.
    columns: Columns = field(default_factory=dict)
    #: Conventions.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Whose conventions were asked for.
    library: str | None = None
    #: Propensity and user_weight, as code.
    weights: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SideData:
    """Frames for metrics beyond accuracy, segments and the lint; None if not given."""

    #: user, item: what users had before.
    train: pl.DataFrame | None = None
    #: A row an item: item, and what is known of it.
    items: pl.DataFrame | None = None
    #: A row a user: user, and what is known of them.
    users: pl.DataFrame | None = None
    #: When, of each row of train and of the truth, if both say so.
    times: tuple[pl.Series, ...] = ()
    #: The columns of train and of the truth that say when; none of a frame not given.
    time_columns: tuple[Sequence[str], Sequence[str]] = ((), ())
    #: Users and items of the truth, or of the one frame, and its columns without a role.
    truth: Frame | None = None
    #: The columns of users and of items in it.
    truth_user: str = "user"
    truth_item: str = "item"
    #: The column of users whose values are the sample; None: users are.
    cluster: str | None = None
    #: Columns of recommendations that the truth has too and that differ within users.
    differing: tuple[str, ...] = ()
    #: Those of them that may tell lists apart: with values that both frames have.
    apart: tuple[str, ...] = ()
    #: How all of it was given.
    call: Call = field(default_factory=Call)
    #: Of train, items and users: role -> column.
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def of_split(self, part: pl.DataFrame) -> SideData:
        """Return the same with the rows of train that have these values, or any."""
        if self.train is None:
            return self
        roles = [role for role in part.columns if role in self.train.columns]
        if not roles:
            return self
        return replace(self, train=self.train.join(part, on=roles, how="semi"))


def read_side_data(
    source: Source,
    given_truth: Frame,
    columns: Columns,
    cluster: str | None = None,
    **frames: Frame,
) -> SideData:
    """Read train, items and users, whose ids are of the recommendations' type."""
    given = {name: frame for name, frame in frames.items() if frame is not None}
    if ROWS_ARE_ITEMS in source.notes:
        _refuse_joined_by_item(given)
    labels = {
        name: find(frame, name, SIDE_FRAMES[name], columns)
        for name, frame in given.items()
    }
    tables: dict[str, Any] = {
        name: _read(frame, name, labels[name], source) for name, frame in given.items()
    }
    if cluster is not None and cluster not in tables["users"].columns[1:]:
        raise ColumnError(
            f"cluster={cluster!r} is no column of users=. Columns: "
            f"{listed(tables['users'].columns[1:])}."
        )
    truth = None
    if given_truth is not None:
        truth = _others(given_truth, source.truth_labels)
    side_data = SideData(
        **tables,
        truth=truth,
        truth_user=source.truth_labels["user"],
        truth_item=source.truth_labels["item"],
        cluster=cluster,
        labels=labels,
    )
    if "train" not in given:
        return side_data
    _refuse_split_without_train(side_data, source)
    dated = (given["train"], given_truth)
    time_columns = (_time_columns(dated[0]), _time_columns(dated[1]))
    times = _times(dated, time_columns)
    return replace(side_data, times=times, time_columns=time_columns)


def _refuse_split_without_train(side_data: SideData, source: Source) -> None:
    """Raise an error if train has the columns of a split and lacks one of its values."""
    keys = source.keys
    if not isinstance(keys, SplitKeys):
        return
    for combination in keys.combinations.iter_slices(1):
        train = side_data.of_split(combination).train
        if train is not None and train.is_empty():
            (values,) = values_of(combination)
            pairs = zip(keys.columns, values, strict=True)
            value = ", ".join(f"{name}={given!r}" for name, given in pairs)
            raise FrameError(
                f"train has no row of {value}, of which there are lists. Add its rows; "
                "or drop the column of the split from train, whose rows are then those "
                "of every value."
            )


def _refuse_joined_by_item(names: Iterable[str]) -> None:
    """Raise an error for a frame that is joined by item, where there are no items."""
    for name in names:
        if name != "users":
            raise ColumnError(
                f"{name}= is joined by item, and the frame has no item column that recnb "
                "knows. Name it, item='...'."
            )


def _others(frame: Frame, labels: Labels) -> Frame | None:
    """Copy ids and columns without a role of the truth; None without such columns."""
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
        return table_of(frame, "truth", dict(zip(read, read, strict=True)))
    # To pickle copies the memory of Arrow too, which other copies share with the
    # caller.
    table = frame[read] if isinstance(frame, pd.DataFrame) else arrow_of(frame, read)
    return pickle.loads(pickle.dumps(table))


def differing_columns(recs: Frame, truth: Frame, source: Source) -> tuple[str, ...]:
    """Return the columns of both frames that differ within lists, as a day may.

    Columns with a role, and those of a split, are none of them.
    """
    split = source.keys.columns
    ignored = {*source.labels.values(), *source.truth_labels.values()}
    ignored |= {*columns_of(recs, RECS)} - {*columns_of(truth, TRUTH)}
    ignored |= {*split}
    shared = [column for column in columns_of(recs, RECS) if column not in ignored]
    if not shared or not source.in_memory:
        return ()
    keys = [source.labels["user"], *split]
    return tuple(
        column for column in shared if _differs_within(recs, RECS, keys, column)
    )


def columns_of_lists(
    recs: Frame, truth: Frame, source: Source, differing: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that may tell the lists of a user apart, as a day does.

    Of those that differ within users, both frames have values in common, and so has an
    item of the recommendations several: others describe items.
    """
    item, user = source.labels["item"], source.truth_labels["user"]
    if item not in columns_of(recs, RECS):
        return ()  # each row is an item of its own
    columns = []
    for column in differing:
        differs_within_items = _differs_within(recs, RECS, [item], column)
        if differs_within_items and _differs_within(truth, TRUTH, [user], column):
            listed_values = table_of(recs, RECS, {"value": column})["value"].unique()
            judged_values = table_of(truth, TRUTH, {"value": column})["value"].unique()
            is_one_kind = listed_values.dtype == judged_values.dtype
            if is_one_kind and listed_values.is_in(judged_values.implode()).any():
                columns.append(column)
    return tuple(columns)


def _differs_within(frame: Frame, name: str, keys: Sequence[str], column: str) -> bool:
    """Return whether rows of equal keys have two values of a column."""
    roles = {f"key {key}": key for key in keys}
    key = pl.col(*roles) if len(roles) == 1 else pl.struct(*roles)
    # Columns of kinds that cannot be grouped are passed over.
    with suppress(FrameError, pl.exceptions.PolarsError):
        rows = table_of(frame, name, {**roles, "value": column})
        return _have_two_values(rows.select(key.alias("key"), "value"))
    return False


def _have_two_values(rows: pl.DataFrame) -> bool:
    """Return whether a key has two values."""
    # Of most columns that do, two rows that follow each other show it.
    key, value = pl.col("key"), pl.col("value")
    follows = (key == key.shift()) & value.ne_missing(value.shift())
    if rows.select(follows.any()).item():
        return True
    return bool(rows.unique()["key"].is_duplicated().any())


def _time_columns(frame: Frame | None) -> list[str]:
    """Return the columns of a frame that say when; of none, none."""
    if frame is None:
        return []
    return [name for name in columns_of(frame, "") if TIMES.fullmatch(str(name))]


def _times(
    frames: tuple[Frame | None, ...], columns: tuple[Sequence[str], Sequence[str]]
) -> tuple[pl.Series, ...]:
    """Return when each row of train and of the truth was, if both say so.

    Of several columns that do, one that both have is read.
    """
    of_train, of_truth = columns
    shared = [name for name in of_train if name in of_truth]
    if shared:
        chosen = (shared[0], shared[0])
    elif len(of_train) == len(of_truth) == 1:
        chosen = (of_train[0], of_truth[0])
    else:
        return ()
    with suppress(FrameError):  # a column of several kinds, which is no time
        pairs = zip(frames, chosen, strict=True)
        return tuple(table_of(frame, "", {name: name})[name] for frame, name in pairs)
    return ()


def _read(frame: Frame, name: str, labels: Labels, source: Source) -> pl.DataFrame:
    """Read a frame of pairs, or of one row for each item or user.

    Ids have the names of their roles. A frame of items or users keeps all its other
    columns, and one of pairs those of the split.
    """
    roles = [*labels]
    others: dict[str, Any] = {}
    if len(roles) == 1:
        others = _columns_without_role(frame, name, labels)
    else:
        present = columns_of(frame, name)
        split = [column for column in source.keys.columns if column in present]
        others = {split_role(column): column for column in split}
    sheet = Sheet(name, table_of(frame, name, {**labels, **others}), labels)
    sheet = sheet.with_ids(roles)
    ids = sheet.with_rows(sheet.rows.select(roles))
    source.example().refuse_other_kinds(ids)
    if len(roles) == 1:
        _refuse_repeated(name, sheet[roles[0]])
        return sheet.rows
    return source.keys.with_values(sheet).rows


def _columns_without_role(frame: Frame, name: str, labels: Labels) -> dict[str, Any]:
    """Return the other columns of a frame by their names as text.

    Those of embeddings are often numbers.
    """
    others: dict[str, Any] = {}
    for column in columns_of(frame, name):
        if column in (*labels, *labels.values()):
            continue
        if str(column) in others:
            raise ColumnError(
                f"{name}: columns {others[str(column)]!r} and {column!r} have one name "
                "as text; rename one."
            )
        others[str(column)] = column
    return others


def _refuse_repeated(name: str, ids: pl.Series) -> None:
    """Raise an error for two rows of one item or user."""
    repeats = ids.filter(ids.is_duplicated())
    if len(repeats):
        raise FrameError(
            f"{name}: {ids.name} {repeats[0]!r} has more than one row: give each "
            f"{ids.name} one."
        )
