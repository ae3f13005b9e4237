"""Columns of the caller's tables that play no role, for segments and the lint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import polars as pl

from recnb.data.names import IDS, RECS, TRUTH, Labels
from recnb.data.source import Source
from recnb.data.tables import InputTable, Tables
from recnb.errors import FrameError


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
        rows = table.fetched([*ids.values(), *columns])
        copies: dict[str, pl.Series | str] = {}
        for column in columns:
            try:
                copies[str(column)] = rows.select({"value": column})["value"]
            except FrameError as problem:
                copies[str(column)] = str(problem)
        return cls(rows.select(ids), copies)

    def differs_within(self, roles: Sequence[str], name: str) -> bool:
        """Return whether rows of equal ids have two values of a column."""
        # Columns of kinds that are not read, or cannot be grouped, are passed over.
        with suppress(FrameError, pl.exceptions.PolarsError):
            rows = self.ids.select(key=pl.struct(roles)).with_columns(value=self[name])
            return bool(rows.unique()["key"].is_duplicated().any())
        return False


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
