"""What is given beside the pairs: train, items and users, columns without a role.

It also keeps what shown code needs of the caller's frames and keywords, without rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.conventions.convention import Order
from recnb.data.in_memory import InMemory
from recnb.data.names import IDS, RECS, ROLES, TRUTH, Labels, Named, says_when
from recnb.data.read import SIDE_FRAMES, Input, read_tables, tables_of
from recnb.data.roles import labels_of
from recnb.data.source import Source
from recnb.data.tables import (
    InputTable,
    MadeTable,
    Tables,
    is_frame,
    is_path,
    refuse_equal_names,
)
from recnb.errors import ColumnError, FrameError, OptionError, listed

#: The argument of `evaluate` that a table is, where it has another name in errors.
ARGUMENTS = {RECS: "recs"}


@dataclass(frozen=True)
class GivenFrame:
    """One of the caller's frames, without its rows."""

    #: "pandas", "polars" or "lazy", which is Polars as well; "" for anything else.
    library: str
    #: Role -> column.
    labels: Labels
    #: The names of all columns.
    columns: Sequence[Any]
    #: Role -> type, of a frame of Polars.
    types: Mapping[str, Any]

    @classmethod
    def of(cls, table: InputTable, labels: Labels) -> GivenFrame:
        """Note the library and the types of a table that its caller has."""
        library = _library_of(table)
        types: Mapping[str, Any] = {}
        if library in ("polars", "lazy"):
            schema = table.frame.collect_schema()
            types = {
                role: schema[label].base_type()
                for role, label in labels.items()
                if label in schema
            }
        return cls(library, labels, table.columns, types)

    @cached_property
    def without_rows(self) -> pd.DataFrame:
        """A table with these columns and no rows."""
        return pd.DataFrame(columns=[*self.columns])


def _library_of(table: InputTable) -> str:
    """Return the word for the library of the frame that a caller has."""
    if isinstance(table, MadeTable) or table.made_of:
        return ""
    if isinstance(table.frame, pd.DataFrame):
        return "pandas"
    return "polars" if isinstance(table.frame, pl.DataFrame) else "lazy"


@dataclass(frozen=True)
class Call:
    """Keywords of the call that made an evaluation."""

    #: As named by keyword.
    columns: Mapping[str, Any] = field(default_factory=dict)
    #: By what lists are ordered.
    order: Order = "auto"
    #: Propensity and user_weight, each a column, or its own name where values are given.
    weights: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class OtherColumns:
    """Copies of the columns of a table that play no role, and of its ids."""

    ids: pl.DataFrame  #: by role
    #: By name, each a column, or why it is not read: some hold values of several kinds.
    columns: Mapping[str, pl.Series | str]

    def __getitem__(self, name: str) -> pl.Series:
        column = self.columns[name]
        if isinstance(column, str):
            raise FrameError(column)
        return column

    @classmethod
    def of(
        cls, table: InputTable, labels: Labels, columns: Sequence[str]
    ) -> OtherColumns | None:
        """Copy columns of a table, and of its ids those that it has; None: no columns."""
        if not columns:
            return None
        # Where each row is an item of its own there is no column of items, and a truth may
        # have none of the split.
        ids = {role: label for role, label in labels.items() if label in table.columns}
        fetched = table.fetched([*ids.values(), *columns])
        copies: dict[str, pl.Series | str] = {}
        for column in columns:
            try:
                copies[str(column)] = fetched.select({"value": column})["value"]
            except FrameError as problem:
                copies[str(column)] = str(problem)
        return cls(fetched.select(ids), copies)

    def differs_within(self, roles: Sequence[str], name: str) -> bool:
        """Return whether rows of equal ids have two values of a column."""
        # Columns of kinds that are not read, or cannot be grouped, are passed over.
        with suppress(FrameError, pl.exceptions.PolarsError):
            rows = self.ids.select(key=pl.struct(roles)).with_columns(value=self[name])
            return bool(rows.unique()["key"].is_duplicated().any())
        return False


@dataclass(frozen=True, eq=False)
class SideData:
    """Frames for metrics beyond accuracy, segments and the lint; None if not given."""

    #: user, item: what users had before.
    train: pl.DataFrame | None = None
    #: A row an item: item, and what is known of it.
    items: pl.DataFrame | None = None
    #: A row a user: user, and what is known of them.
    users: pl.DataFrame | None = None
    #: The column of users whose values are the sample; None: users are.
    cluster: str | None = None
    #: The columns of recommendations without a role that the truth has too.
    recs_columns: OtherColumns | None = None
    #: The columns of the truth, or of the one frame, without a role.
    truth_columns: OtherColumns | None = None
    #: The columns of train that say when.
    train_times: OtherColumns | None = None
    #: By argument: recs, truth, train, items, users.
    frames: Mapping[str, GivenFrame] = field(default_factory=dict)
    #: The keywords beside them.
    call: Call = field(default_factory=Call)

    @cached_property
    def differing(self) -> list[str]:
        """The columns without a role of both frames that differ within a list."""
        recs = self.recs_columns
        if recs is None:
            return []
        of_list = [role for role in recs.ids.columns if role != "item"]
        return [name for name in recs.columns if recs.differs_within(of_list, name)]

    def of_split(self, values: pl.DataFrame) -> SideData:
        """Return the same with the rows of train that have these values, or any."""
        if self.train is None:
            return self
        roles = [role for role in values.columns if role in self.train.columns]
        if not roles:
            return self
        return replace(self, train=self.train.join(values, on=roles, how="semi"))


def read_side_data(
    source: Source, tables: Tables, named: Named, cluster: str | None = None
) -> SideData:
    """Read train, items and users, whose ids are of the recommendations' type."""
    side_tables = {name: tables[name] for name in SIDE_FRAMES if name in tables}
    of_recs, of_truth = source.recs.labels, source.truth.labels
    labels: dict[str, Labels] = {RECS: of_recs, TRUTH: of_truth}
    # Of two columns that could be that of users, or of items, one of these wins.
    of_pairs = [*of_recs.values(), *of_truth.values()]
    rows: dict[str, pl.DataFrame] = {}
    train_times = None
    for name, table in side_tables.items():
        if source.one_frame.rows_are_items and name != "users":
            raise ColumnError(
                f"{name}= is joined by item, and the frame has no item column that recnb "
                "knows. Name it, item='...'."
            )
        labels[name] = labels_of(table, named, ROLES[name], of_pairs)
        rows[name] = _read_rows(table, labels[name], source)
        if name == "train":
            times = [column for column in table.columns if says_when(column)]
            train_times = OtherColumns.of(table, labels[name], times)
    if cluster is not None:
        _refuse_unknown_cluster(cluster, rows["users"])
    frames = {
        ARGUMENTS.get(name, name): GivenFrame.of(table, labels[name])
        for name, table in tables.items()
    }
    return SideData(
        train=rows.get("train"),
        items=rows.get("items"),
        users=rows.get("users"),
        cluster=cluster,
        recs_columns=columns_shared(tables, source),
        truth_columns=columns_of_truth(tables, source),
        train_times=train_times,
        frames=frames,
    )


def _refuse_unknown_cluster(cluster: str, users: pl.DataFrame) -> None:
    """Raise an error for a cluster that is no column of users beside their ids."""
    _user, *columns = users.columns
    if cluster not in columns:
        raise ColumnError(
            f"cluster={cluster!r} is no column of users=. Columns: {listed(columns)}."
        )


def _read_rows(table: InputTable, labels: Labels, source: Source) -> pl.DataFrame:
    """Return users and items of train, or a row for each item or user with its columns."""
    is_train = table.name == "train"
    if is_train:
        split = source.keys.labels
        others = {role: split[role] for role in split if split[role] in table.columns}
    else:
        others = _columns_without_role(table, labels)
    read = table.role_table(labels, others)
    source.example().refuse_other_kinds(read, [*labels])
    if is_train:
        return source.keys.rows_of_train(read)
    (role,) = labels
    read.refuse_repeated_ids(role)
    return read.rows


def _columns_without_role(table: InputTable, labels: Labels) -> dict[str, Any]:
    """Return the columns of items or users beside ids, by their names as text.

    The names of embeddings are often numbers.
    """
    refuse_equal_names([*map(str, table.columns)], table.name)
    others: dict[str, Any] = {}
    for column in table.columns:
        if column in labels.values():
            continue
        if column in labels:
            raise ColumnError(
                f"{table.name}: column {column!r} is beside the ids, which are in "
                f"{labels[column]!r} and are called so in results: rename or drop it."
            )
        others[str(column)] = column
    return others


# ---- columns that play no role


def columns_of_truth(tables: Tables, source: Source) -> OtherColumns | None:
    """Copy ids and columns without a role of the truth, or of the one frame."""
    if RECS not in tables:
        return None  # its rows stay with an engine
    # In one frame, columns of the lists have a role as well.
    table, labels = tables[RECS], source.recs.labels
    if TRUTH in tables:
        table, labels = tables[TRUTH], source.truth.labels
    others = [column for column in table.columns if column not in labels.values()]
    table = replace(table, name=TRUTH)
    return OtherColumns.of(table, _ids_of_lists(labels, source), others)


def columns_shared(tables: Tables, source: Source) -> OtherColumns | None:
    """Copy the columns of recommendations that the truth has too, without a role."""
    if TRUTH not in tables or not source.in_memory:
        return None
    recs, labels = tables[RECS], source.recs.labels
    in_truth = {*tables[TRUTH].columns}.difference(
        labels.values(), source.truth.labels.values(), source.keys.columns
    )
    shared = [column for column in recs.columns if column in in_truth]
    return OtherColumns.of(recs, _ids_of_lists(labels, source), shared)


def _ids_of_lists(labels: Labels, source: Source) -> Labels:
    """Return the columns of users and items, and those of the split."""
    return {**{role: labels[role] for role in IDS}, **source.keys.labels}


# ---- other lists beside the same truth


def with_other_lists(
    source: Source, side_data: SideData, recs: Input
) -> tuple[InMemory, SideData]:
    """Read other lists, to be evaluated as these were: beside the same truth."""
    frames = side_data.frames
    if (
        not isinstance(source, InMemory)
        or not source.takes_other_lists
        or "truth" not in frames
    ):
        raise OptionError(
            "with_lists is for an evaluation of two frames in memory, of all their users "
            "and without split=: type recnb.evaluate(recs, truth) for other lists."
        )
    if is_frame(recs):
        recs = InputTable.of(recs, RECS)
    is_lazy = isinstance(recs, InputTable) and recs.origin is not None
    if is_lazy or isinstance(recs, (list, tuple)) or is_path(recs):
        raise FrameError(
            "with_lists takes a frame in memory or a mapping by user: type "
            "recnb.evaluate(recs, truth) for other forms of lists."
        )
    others = {name: frames[name].without_rows for name in frames if name != "recs"}
    # Lists in cells of the truth were made rows, so relevant= names nothing.
    columns = {**side_data.call.columns, "relevant": None}
    if isinstance(recs, (Mapping, pd.Series)):
        columns["recommended"] = None
    tables, named = tables_of({RECS: recs, **others}, columns)
    recs_read = read_tables(tables, named, source.truth).recs
    other = replace(source, recs=recs_read)
    return other, replace(
        side_data,
        recs_columns=columns_shared(tables, other),
        frames={**frames, "recs": GivenFrame.of(tables[RECS], recs_read.labels)},
    )
