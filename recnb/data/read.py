"""From what was given to checked rows: open, name, find columns, select, check."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import polars as pl

from recnb.data.both_sides import read_both_sides
from recnb.data.columns import TEXT
from recnb.data.file_parts import StoredFiles
from recnb.data.in_memory import source_of
from recnb.data.joined import Source
from recnb.data.lists import with_a_row_an_item
from recnb.data.names import IDS, OF_LISTS, RECS, ROLES, TRUTH, Named
from recnb.data.parts import Parts
from recnb.data.role_table import RoleTable
from recnb.data.roles import (
    WITH_LISTS,
    Layout,
    as_named,
    labels_of,
    list_column_of,
    refuse_models,
)
from recnb.data.tables import (
    HINTS,
    FileTable,
    Frame,
    InputTable,
    ListTable,
    Tables,
    opened,
)
from recnb.errors import ColumnError, FrameError, RecnbError

#: Any table; a mapping or Series by user; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | str | os.PathLike[str]

#: The frames beside recommendations and truth.
SIDE_FRAMES = ("train", "items", "users")


# ---- open and name


def tables_of(
    given: Mapping[str, Input | None], columns: Mapping[str, Any]
) -> tuple[Tables, Named]:
    """Make tables with a row an item; return the keywords that still name columns."""
    refuse_fork()
    named: Named = as_named(columns)
    tables: Tables = opened_together(given, named)
    present: set[Any] = set()
    for table in tables.values():
        present.update(table.columns)
    for of_hint, hint in HINTS:
        if not present.isdisjoint(of_hint):
            tables, named = hint(tables, named)
    return with_lists_as_rows(tables, named)


def opened_together(
    given: Mapping[str, Input | None], named: Named
) -> dict[str, InputTable]:
    """Open what was given, by name.

    A table that is None was not given; recommendations that are None are refused.
    """
    tables = {
        name: opened(thing, name, named)
        for name, thing in given.items()
        if thing is not None or name == RECS
    }
    match_kinds(tables, named)
    return tables


def with_lists_as_rows(tables: Tables, named: Named) -> tuple[Tables, Named]:
    """Make a row an item of lists in cells; return the keywords that still name columns."""
    in_rows, still_named = dict(tables), dict(named)
    if TRUTH not in in_rows:
        truth = _truth_of_lists(in_rows[RECS], named)
        if truth is None:
            return tables, named
        in_rows[TRUTH] = truth
    for name in WITH_LISTS:
        label = list_column_of(in_rows[name], named) if name in in_rows else None
        if label is not None:
            in_rows[name] = with_a_row_an_item(in_rows[name], named, label)
            still_named.pop(OF_LISTS.get(name, ""), None)
    return in_rows, still_named


def _truth_of_lists(recs: InputTable, named: Named) -> InputTable | None:
    """Return one frame with lists of both sides as the truth.

    None if it has both sides in a row an item; refuse lists of one side.
    """
    if isinstance(recs, ListTable):
        raise FrameError(
            "only recommendations were given, as lists: give what is relevant as well, "
            "recnb.evaluate(recs, truth)."
        )
    truth = replace(recs, name=TRUTH)
    if list_column_of(recs, named) is None or list_column_of(truth, named) is None:
        return None
    return truth


# ---- ids of text files, of the kind that other tables have


def match_kinds(tables: dict[Any, InputTable], named: Named) -> None:
    """Make ids of text files text, in place, where another table has some of them as text.

    Others stay numbers, and are refused as another kind.
    """
    from_text = [
        key
        for key, table in tables.items()
        if isinstance(table, FileTable) and table.origin is None
    ]
    if not from_text:
        return
    for role in IDS:
        ids = _ids_in_each(tables, role, named)
        texts = [
            column.cast(pl.String) for column in ids.values() if column.dtype in TEXT
        ]
        if not texts:
            continue
        known = pl.concat(texts).implode()
        for key in from_text:
            numbers = ids.get(key)
            if numbers is None or numbers.dtype != pl.Int64:
                continue
            if numbers.cast(pl.String).is_in(known).any():
                as_text = pl.col(numbers.name).cast(pl.String)
                rows = tables[key].frame.with_columns(as_text)
                tables[key] = replace(tables[key], frame=rows)


def _ids_in_each(
    tables: Mapping[Any, InputTable], role: str, named: Named
) -> dict[Any, pl.Series]:
    """Return the ids of a role, each once, of the tables that have a column of them."""
    ids: dict[Any, pl.Series] = {}
    for key, table in tables.items():
        if role not in ROLES[table.name]:
            continue
        in_others = [column.name for column in ids.values()]
        with suppress(ColumnError):  # raised once lists in cells are rows
            column = labels_of(table, named, {role: True}, in_others)[role]
            ids[key] = table.distinct(column)
    return ids


# ---- two tables


def read_tables(tables: Tables, named: Named) -> Source:
    """Find the columns of two tables, or of one with both sides, and check the ids."""
    if TRUTH not in tables:
        return read_both_sides(tables, named)
    recs_table, truth_table = tables[RECS], tables[TRUTH]
    layout = Layout.of(tables, named)
    refuse_models(recs_table, layout.recs)
    origin = recs_table.origin
    if origin is not None:
        recs_held = recs_table.fetched_if_few(layout.recs_read)
        truth_held = truth_table.fetched_if_few(layout.truth_read)
        if recs_held is None or truth_held is None:
            stored = StoredFiles(
                recs_held or recs_table, truth_held or truth_table, layout, origin
            )
            return Parts.of(stored, layout, truth_table.without_items)
        recs_table, truth_table = recs_held, truth_held
    truth_rows = truth_table.select(layout.truth_read)
    truth = RoleTable(TRUTH, truth_rows, layout.truth).with_ids()
    return source_of(
        _recs_of(recs_table, layout, truth),
        truth,
        layout.split,
        users_without_items=truth_table.without_items,
    )


def read_beside(tables: Tables, named: Named, truth: RoleTable) -> RoleTable:
    """Read other lists beside a truth that was read: its table has columns alone here."""
    recs_table = tables[RECS]
    layout = Layout.of(tables, named)
    refuse_models(recs_table, layout.recs)
    recs = _recs_of(recs_table, layout, truth)
    recs.refuse_other_kinds(truth)
    return recs


def _recs_of(table: InputTable, layout: Layout, truth: RoleTable) -> RoleTable:
    """Read recommendations, with rows or with an empty list of a user of the truth.

    Without rows, their ids are of the truth's kinds.
    """
    rows = table.select(layout.recs_read)
    are_places = isinstance(table, ListTable) and "rank" in layout.recs
    recs = RoleTable(RECS, rows, layout.recs, ranks_are_places=are_places)
    if rows.height or {*table.without_items}.isdisjoint(truth["user"]):
        return recs.with_ids()  # an error if there are no rows
    return recs.typed_as(truth)


# ---- a process that was forked after an evaluation lacks the threads of Polars


@cache
def first_process() -> int:
    """Return the process that evaluated first, also in a later fork of it."""
    return os.getpid()


def refuse_fork() -> None:
    """Refuse to evaluate in a process that was forked after an evaluation."""
    if first_process() != os.getpid():
        raise RecnbError(
            "this process was forked after an evaluation, and would wait for ever for "
            "threads that a fork does not copy: start it with "
            "multiprocessing.get_context('spawn'), or fork before the first evaluation."
        )
