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

from recnb.data.batches import origin_of
from recnb.data.files import is_file
from recnb.data.in_memory import Sheets
from recnb.data.names import IDS, RECS, TRUTH, WANTED, Labels, Named
from recnb.data.read import ROWS_ARE_ITEMS, SIDE_FRAMES, Input, read_beside, tables_of
from recnb.data.roles import settle
from recnb.data.sheet import Sheet
from recnb.data.source import Source
from recnb.data.splits import SplitKeys, split_role
from recnb.data.tables import InputTable, arrow_of
from recnb.errors import ColumnError, FrameError, OptionError, listed
from recnb.metrics.hits import cached_property

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
    #: The names of all columns.
    columns: Sequence[str] = ()

    @cached_property
    def without_rows(self) -> pl.DataFrame:
        """A table with these columns and no rows."""
        return pl.DataFrame(schema=[*self.columns])

    @classmethod
    def of(cls, table: InputTable, labels: Labels) -> GivenFrame:
        """Note the library and the types of a table that its caller has."""
        library = "" if table.made_by_recnb else _library_of(table.frame)
        schema: Mapping[str, Any] = {}
        if library == "pandas":
            frame = table.frame
            present = [label for label in labels.values() if label in frame]
            schema = {label: frame[label].dtype for label in present}
        elif library:
            schema = table.frame.collect_schema()
        types = {
            role: str(schema[label]).partition("(")[0]
            for role, label in labels.items()
            if label in schema
        }
        return cls(library, labels, types, table.columns)


def _library_of(frame: Any) -> str:
    """Return the word for the library of a frame."""
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
    columns: Mapping[str, Any] = field(default_factory=dict)
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
    truth: InputTable | None = None
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
    tables: Mapping[str, InputTable],
    named: Named,
    cluster: str | None = None,
) -> SideData:
    """Read train, items and users, whose ids are of the recommendations' type.

    Where two columns could be that of users, the one that the lists or the truth have
    wins; of items likewise.
    """
    given = {name: tables[name] for name in SIDE_FRAMES if name in tables}
    given_truth = tables.get(TRUTH, tables.get(RECS))
    known = [*source.labels.values(), *source.truth_labels.values()]
    if ROWS_ARE_ITEMS in source.notes:
        _refuse_joined_by_item(given)
    labels = {
        name: settle(table, named, WANTED[name], known) for name, table in given.items()
    }
    rows: dict[str, Any] = {
        name: _read(table, labels[name], source) for name, table in given.items()
    }
    if cluster is not None and cluster not in rows["users"].columns[1:]:
        raise ColumnError(
            f"cluster={cluster!r} is no column of users=. Columns: "
            f"{listed(rows['users'].columns[1:])}."
        )
    truth = None
    if given_truth is not None:
        truth = _others(given_truth, source.truth_labels)
    side_data = SideData(
        **rows,
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


def with_other_lists(
    source: Source, side_data: SideData, recs: Input
) -> tuple[Sheets, SideData]:
    """Read other lists, to be evaluated as these were: beside the same truth."""
    call = side_data.call
    if (
        not isinstance(source, Sheets)
        or not source.is_whole
        or "truth" not in call.frames
    ):
        raise OptionError(
            "with_lists is for an evaluation of two frames in memory, of all their users "
            "and without split=: type recnb.evaluate(recs, truth) for other lists."
        )
    if isinstance(recs, (list, tuple)) or is_file(recs) or origin_of(recs) is not None:
        raise FrameError(
            "with_lists takes a frame in memory or a mapping by user: type "
            "recnb.evaluate(recs, truth) for other forms of lists."
        )
    without_rows: dict[str, Any] = {
        name: given.without_rows
        for name, given in call.frames.items()
        if name != "recs"
    }
    columns = {**call.columns, "relevant": None}  # of lists that are rows by now
    tables, named = tables_of({RECS: recs, **without_rows}, columns)
    sheet = read_beside(tables, named, source.judgements)
    lists = tables[RECS]
    other = source.with_lists(sheet)
    differing: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    if (truth := side_data.truth) is not None:
        differing = differing_columns(lists, truth, other)
        apart = columns_of_lists(lists, truth, other, differing)
    given = {**call.frames, "recs": GivenFrame.of(lists, sheet.labels)}
    return other, replace(
        side_data, differing=differing, apart=apart, call=replace(call, frames=given)
    )


def _refuse_split_without_train(side_data: SideData, source: Source) -> None:
    """Raise an error if train has the columns of a split and lacks one of its values."""
    keys = source.keys
    if not isinstance(keys, SplitKeys):
        return
    combinations = keys.combinations.iter_slices(1)
    for combination, label in zip(combinations, keys.labels, strict=True):
        train = side_data.of_split(combination).train
        if train is not None and train.is_empty():
            raise FrameError(
                f"train has no row of {label}, of which there are lists. Add its rows; "
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


def _others(truth: InputTable, labels: Labels) -> InputTable | None:
    """Copy ids and columns without a role of the truth; None without such columns."""
    others = [column for column in truth.columns if column not in labels.values()]
    if not others:
        return None
    # Where each row is an item of its own there is no column of items.
    ids = [labels[role] for role in IDS if labels[role] in truth.columns]
    read = [*dict.fromkeys([*ids, *others])]
    # Columns are converted when one is asked for: others may hold values of several
    # kinds, or of a kind that nobody reads.
    frame = truth.frame
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return InputTable.of_rows(
            TRUTH, truth.select(dict(zip(read, read, strict=True)))
        )
    # To pickle copies the memory of Arrow too, which other copies share with the
    # caller.
    table = frame[read] if isinstance(frame, pd.DataFrame) else arrow_of(frame, read)
    copy = pickle.loads(pickle.dumps(table))
    if isinstance(copy, pd.DataFrame) and len({*map(str, read)}) == len(read):
        copy.columns = read = [*map(str, read)]  # as those of users= and items=
    return InputTable(TRUTH, copy, read)


def differing_columns(
    recs: InputTable, truth: InputTable, source: Source
) -> tuple[str, ...]:
    """Return the columns of both frames that differ within lists, as a day may.

    Columns with a role, and those of a split, are none of them.
    """
    split = source.keys.columns
    ignored = {*source.labels.values(), *source.truth_labels.values()}
    ignored |= {*recs.columns} - {*truth.columns}
    ignored |= {*split}
    shared = [column for column in recs.columns if column not in ignored]
    if not shared or not source.in_memory:
        return ()
    keys = [source.labels["user"], *split]
    return tuple(column for column in shared if _differs_within(recs, keys, column))


def columns_of_lists(
    recs: InputTable, truth: InputTable, source: Source, differing: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that may tell the lists of a user apart, as a day does.

    Of those that differ within users, both frames have values in common, and so has an
    item of the recommendations several: others describe items.
    """
    item, user = source.labels["item"], source.truth_labels["user"]
    if item not in recs.columns:
        return ()  # each row is an item of its own
    columns = []
    for column in differing:
        differs_within_items = _differs_within(recs, [item], column)
        if differs_within_items and _differs_within(truth, [user], column):
            listed_values = recs.distinct(column).unique()
            judged_values = truth.distinct(column).unique()
            is_one_kind = listed_values.dtype == judged_values.dtype
            if is_one_kind and listed_values.is_in(judged_values.implode()).any():
                columns.append(column)
    return tuple(columns)


def _differs_within(table: InputTable, keys: Sequence[str], column: str) -> bool:
    """Return whether rows of equal keys have two values of a column."""
    roles = {f"key {key}": key for key in keys}
    key = pl.col(*roles) if len(roles) == 1 else pl.struct(*roles)
    # Columns of kinds that cannot be grouped are passed over.
    with suppress(FrameError, pl.exceptions.PolarsError):
        rows = table.select({**roles, "value": column})
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


def _time_columns(table: InputTable | None) -> list[str]:
    """Return the columns of a table that say when; of none, none."""
    if table is None:
        return []
    return [name for name in table.columns if TIMES.fullmatch(str(name))]


def _times(
    tables: tuple[InputTable | None, ...], columns: tuple[Sequence[str], Sequence[str]]
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
        pairs = zip(tables, chosen, strict=True)
        return tuple(table.select({name: name})[name] for table, name in pairs if table)
    return ()


def _read(table: InputTable, labels: Labels, source: Source) -> pl.DataFrame:
    """Read a frame of pairs, or of one row for each item or user.

    Ids have the names of their roles. A frame of items or users keeps all its other
    columns, and one of pairs those of the split.
    """
    roles = [*labels]
    others: dict[str, Any] = {}
    if len(roles) == 1:
        others = _columns_without_role(table, labels)
    else:
        split = [name for name in source.keys.columns if name in table.columns]
        others = {split_role(column): column for column in split}
    sheet = Sheet(table.name, table.select({**labels, **others}), labels)
    sheet = sheet.with_ids(roles)
    ids = sheet.with_rows(sheet.rows.select(roles))
    source.example().refuse_other_kinds(ids)
    if len(roles) == 1:
        _refuse_repeated(table.name, sheet[roles[0]])
        return sheet.rows
    return source.keys.with_values(sheet).rows


def _columns_without_role(table: InputTable, labels: Labels) -> dict[str, Any]:
    """Return the other columns of a frame by their names as text.

    Those of embeddings are often numbers.
    """
    others: dict[str, Any] = {}
    for column in table.columns:
        if column in (*labels, *labels.values()):
            continue
        if str(column) in others:
            raise ColumnError(
                f"{table.name}: columns {others[str(column)]!r} and {column!r} have one name "
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
