"""Frames given with recommendations and truth: training data, items, users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.call import Call
from recnb.data.columns import Frame, arrow_of, columns_of, find, table_of
from recnb.data.forms import RECS, ROWS_ARE_ITEMS
from recnb.data.source import Source
from recnb.errors import ColumnError, FrameError

#: The most values of a column that may be one of models.
MOST_MODELS = 50


@dataclass(frozen=True, eq=False)
class SideData:
    """Frames for metrics beyond accuracy, segments and the lint; None if not given."""

    train: pl.DataFrame | None = None  #: user, item: what users had before
    items: pl.DataFrame | None = None  #: a row an item: item, and what is known of it
    users: pl.DataFrame | None = None  #: a row a user: user, and what is known of them
    truth: Frame | None = None  #: what else the truth (or the one frame with both sides) holds, and its users and items
    truth_user: str = "user"  #: the column of users in it
    truth_item: str = "item"
    call: Call = field(default_factory=Call)  #: how all of it was given
    recs: Frame | None = None  #: the same of the recommendations; None if there is nothing else, or if it is not here

    def model_column(self, source: Source) -> str | None:
        """Return a column of few values of the recommendations without which a pair of user and item, or a rank, is repeated."""
        others = [] if self.recs is None else columns_of(self.recs, RECS)
        rows = [source.recs.select("user", role) for role in ("item", "rank") if others and role in source.labels]
        if any(table.is_duplicated().any() for table in rows):
            for name in (name for name in others if name not in source.labels.values()):
                values = table_of(self.recs, RECS, {name: name})[name].alias("model")
                parts = (table.with_columns(values) for table in rows)
                if values.n_unique() <= MOST_MODELS and not any(table.is_duplicated().any() for table in parts):
                    return name
        return None


def read_side_data(
    source: Source, given_truth: Frame, columns: Mapping[str, str | None], *, train: Frame | None = None,
    items: Frame | None = None, users: Frame | None = None, recs: Frame | None = None,
) -> SideData:  # fmt: skip
    """Read each frame and check that its ids are of the type of those of the recommendations.

    `recs` are the recommendations, if the truth is a frame of its own.
    """
    if ROWS_ARE_ITEMS in source.notes and (train is not None or items is not None):
        by_items = f"{'items' if train is None else 'train'}= is joined by item, and the frame has no item column that recnb knows."
        raise ColumnError(by_items, fix="Name it, item='...'.")
    labels, here = source.truth_labels, recs is not None and source.in_memory
    return SideData(
        train=None if train is None else _read(train, "train", validation.IDS, source, columns),
        items=None if items is None else _read(items, "items", ["item"], source, columns),
        users=None if users is None else _read(users, "users", ["user"], source, columns),
        truth=None if given_truth is None else _others(given_truth, "truth", labels, source.truth_roles),
        truth_user=labels["user"],
        truth_item=labels["item"],
        recs=_others(recs, RECS, source.labels, source.roles) if here else None,
    )


def _others(frame: Frame, name: str, labels: Mapping[str, str], roles: Sequence[str]) -> Frame:
    """Copy the users and items of a frame and its columns that have no role."""
    columns, used = columns_of(frame, name), {labels[role] for role in roles}
    others = [column for column in columns if column not in used]
    # Where each row is an item of its own there is no column of items.
    ids = [column for column in dict.fromkeys([labels["user"], labels["item"]]) if column in columns]
    read = [*ids, *others] if others else []
    # Columns are converted when one is asked for: others may hold values of several kinds, or of a kind that nobody reads.
    if isinstance(frame, pd.DataFrame):
        return frame[read].copy()
    is_polars = isinstance(frame, (pl.DataFrame, pl.LazyFrame))
    return table_of(frame, name, {one: one for one in read}) if is_polars or not read else arrow_of(frame, read)


def _read(
    frame: Frame, name: str, roles: Sequence[str], source: Source, columns: Mapping[str, str | None]
) -> pl.DataFrame:
    """Read a frame of pairs; or of one row for each item or user, under the name of its role, with all its other columns."""
    labels = find(frame, name, roles, columns)
    others = (
        [column for column in columns_of(frame, name) if column not in (labels[roles[0]], roles[0])]
        if len(roles) == 1
        else []
    )
    table = table_of(frame, name, {**labels, **{column: column for column in others}})
    table = validation.ids(table, name, labels, roles)
    ids = pl.DataFrame({role: source.sample(role) for role in roles})
    validation.same_kind(ids, table.select(roles), source.labels, labels, name)
    if len(roles) == 1 and (twice := table.filter(table[roles[0]].is_duplicated())[roles[0]].head(1).to_list()):
        raise FrameError(f"{name}: {roles[0]} {twice[0]!r} has more than one row: give each {roles[0]} one.")
    return table
