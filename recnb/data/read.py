"""Turn what was given into checked rows: open, name, find columns, select, check."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import polars as pl

from recnb.data.file_parts import StoredFiles
from recnb.data.in_memory import InMemory
from recnb.data.lists import with_a_row_an_item
from recnb.data.names import BOTH, IDS, LIST_ROLES, RECS, ROLES, TRUTH, Named
from recnb.data.parts import Parts
from recnb.data.role_table import RoleTable, is_missing
from recnb.data.roles import (
    Layout,
    as_named,
    has_role,
    labels_of,
    list_column_of,
    refuse_absent,
    refuse_models,
    with_split,
)
from recnb.data.source import OneFrame, Source
from recnb.data.tables import (
    HINTS,
    FileTable,
    Frame,
    InputTable,
    ListTable,
    Tables,
    opened,
)
from recnb.display.language import N_, Plural, Sentence
from recnb.errors import ColumnError, FrameError, LeftMergeWarning, RecnbError

#: Any table; a mapping or Series by user; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | str | os.PathLike[str]

#: The frames beside recommendations and truth.
SIDE_FRAMES = ("train", "items", "users")
#: Packages whose stack frames stand between a line of the caller's and this module.
INSIDE = ("recnb", "contextlib")

ROWS_ARE_ITEMS = Sentence(
    N_("each row is its own {item}, as there is no column of {items}")
)
NOT_SCORED = Plural(
    "{n:,} row without a score: judged, not recommended",
    "{n:,} rows without a score: judged, not recommended",
)
ONLY_LISTED = Sentence(
    N_(
        "relevant {items}: those in this frame, which holds no relevant {item} that "
        "was not recommended"
    )
)


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
    for hinting_columns, hint in HINTS:
        if not present.isdisjoint(hinting_columns):
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
    if TRUTH not in tables:
        truth = _truth_of_lists(tables[RECS], named)
        if truth is not None:
            tables = {**tables, TRUTH: truth}
    in_rows, still_named = dict(tables), dict(named)
    for name, table in tables.items():
        if name == RECS and TRUTH not in tables:
            continue  # one frame with both sides in a row an item
        label = list_column_of(table, named)
        if label is not None:
            in_rows[name] = with_a_row_an_item(table, named, label)
            still_named.pop(LIST_ROLES.get(name, ""), None)
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
    # Parquet, whose columns have types, is not in memory yet, and has an origin.
    from_text = {
        key
        for key, table in tables.items()
        if isinstance(table, FileTable) and table.origin is None
    }
    if not from_text:
        return
    for role in IDS:
        ids = _ids_in_each(tables, role, named)
        texts = [column for column in ids.values() if column.dtype == pl.String]
        if not texts:
            continue
        known = pl.concat(texts).implode()
        for key in from_text & ids.keys():
            numbers = ids[key]
            if numbers.dtype != pl.Int64:
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
        # Lists in cells have no column of items yet; other tables are refused once all
        # are read.
        with suppress(ColumnError):
            column = labels_of(table, named, {role: True}, in_others)[role]
            ids[key] = table.distinct(column)
    return ids


# ---- two tables


def read_tables(tables: Tables, named: Named, truth: RoleTable | None = None) -> Source:
    """Find the columns of two tables, or of one with both sides, and check the ids.

    Of a truth that was read before, the table needs no rows.
    """
    if TRUTH not in tables:
        return _read_both_sides(tables, named)
    recs_table, truth_table = tables[RECS], tables[TRUTH]
    layout = Layout.of(tables, named)
    refuse_models(recs_table, layout.recs)
    origin = recs_table.origin  # before the table is fetched: errors name it
    if origin is not None:
        # Lists are not in memory: where one table has many rows, both go into files by parts
        # of users.
        recs_table = recs_table.fetched_if_few(layout.recs_read.values())
        truth_table = truth_table.fetched_if_few(layout.truth_read.values())
        if recs_table.origin or truth_table.origin:
            stored = StoredFiles(recs_table, truth_table, layout, origin)
            return Parts.of(stored, layout, truth_table.without_items)
    if truth is None:
        truth = truth_table.role_table(layout.truth, layout.truth_read)
    recs = _recs_of(recs_table, layout, truth)
    recs.refuse_other_kinds(truth)
    source = InMemory(recs, truth, users_without_items=truth_table.without_items)
    return source.split_by(layout.split)


def _recs_of(table: InputTable, layout: Layout, truth: RoleTable) -> RoleTable:
    """Read recommendations, with rows or with an empty list of a user of the truth.

    Without rows, their ids are of the truth's kinds.
    """
    rows = table.select(layout.recs_read)
    are_places = isinstance(table, ListTable) and "rank" in layout.recs
    recs = RoleTable(RECS, rows, layout.recs, ranks_are_places=are_places)
    if rows.is_empty():
        with_empty_list = {*table.without_items}
        if not with_empty_list.isdisjoint(truth["user"]):
            return recs.typed_as(truth)
    return recs.with_ids()  # an error if there are no rows


# ---- one table with both sides


def _read_both_sides(tables: Tables, named: Named) -> Source:
    """Read one frame as recommendations and truth.

    What has no rank, or no score in a frame without ranks, was not recommended. What has
    no relevance was not judged. Without a column of items each row is its own.

        user  item  rank  relevance
        ann   a     1     3            recommended, and judged
        ann   b     2                  recommended, and not judged
        ann   c           1            judged, and missed by the list
    """
    frame = replace(tables[RECS], name=BOTH)
    side_tables = {name: table for name, table in tables.items() if name != RECS}
    refuse_absent(named, {BOTH: frame, **side_tables})
    split = named.get("split", ())
    has_items = has_role(frame, "item", named)
    labels = labels_of(frame, named, {**ROLES[BOTH], "item": has_items})
    rows = frame.select(with_split(labels, split))
    if not has_items:
        labels = {"user": labels["user"], "item": "item", **labels}
        rows = rows.with_row_index("item")
    refuse_models(frame, labels)
    both = RoleTable(BOTH, rows, labels).with_ids()
    order = "rank" if "rank" in labels else "score"
    is_listed, is_judged = ~is_missing(both[order]), ~is_missing(both["relevance"])
    _refuse_rows_of_neither(both, order, is_listed, is_judged, has_items=has_items)
    of_truth = {role: labels[role] for role in labels if role in ROLES[TRUTH]}
    source = InMemory(
        # The labels of lists are of all roles, to be named in a call with the one frame.
        RoleTable(RECS, _rows_of_side(RECS, both, is_listed, order), labels),
        RoleTable(TRUTH, _rows_of_side(TRUTH, both, is_judged, "relevance"), of_truth),
        one_frame=_one_frame_of(order, is_listed, is_judged, has_items=has_items),
    ).split_by(split)
    if source.one_frame.is_left_merge:
        _warn_of_left_merge(both.label("relevance"))
    return source


def _refuse_rows_of_neither(
    both: RoleTable,
    order: str,
    is_listed: pl.Series,
    is_judged: pl.Series,
    *,
    has_items: bool,
) -> None:
    """Raise an error for the first row that is of neither side.

    A row that is an item of its own is of both.
    """
    is_kept, lacks = is_listed | is_judged, "and no"
    if not has_items:
        is_kept, lacks = is_listed & is_judged, "or no"
    others = (~is_kept).arg_true()
    if len(others):
        pair = both.ids_in_words(others[0])
        raise FrameError(
            f"{BOTH}: row {others[0]} ({pair}) has no {order} {lacks} relevance: "
            "drop such rows."
        )


def _rows_of_side(
    name: str, both: RoleTable, is_kept: pl.Series, role: str
) -> pl.DataFrame:
    """Return the rows of a side, which have a value of a role; refuse to have none."""
    rows = both.rows.filter(is_kept)
    if rows.height == 0:
        verb = {RECS: "recommends", TRUTH: "judges"}[name]
        raise FrameError(
            f"{BOTH} {verb} nothing: every value of {both.label(role)!r} is missing."
        )
    of_other_side = ROLES[BOTH].keys() - ROLES[name].keys()
    return rows.drop(of_other_side, strict=False)


def _one_frame_of(
    order: str, is_listed: pl.Series, is_judged: pl.Series, *, has_items: bool
) -> OneFrame:
    """Return what is said of one frame, also beside every number."""
    only_listed = not (is_judged & ~is_listed).any()
    notes = []
    if only_listed:
        notes.append(ONLY_LISTED)
    if not has_items:
        notes.append(ROWS_ARE_ITEMS)
    n_not_scored = int((~is_listed).sum())
    if order == "score" and n_not_scored:
        notes.append(Sentence(NOT_SCORED, {"n": n_not_scored}))
    return OneFrame(
        # A left merge of recommendations with a truth loses what the lists missed.
        is_left_merge=only_listed and not is_judged.all(),
        only_listed=only_listed,
        rows_are_items=not has_items,
        notes=tuple(notes),
    )


def _warn_of_left_merge(relevance: str) -> None:
    """Warn, at the line that called recnb, of a frame that lost what lists missed."""
    level, caller = 1, inspect.currentframe()
    while caller and caller.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        level, caller = level + 1, caller.f_back
    warnings.warn(
        f"the frame: column {relevance!r} is missing in some rows, and no row is an item "
        "that was relevant and not recommended. So it is after a left merge of "
        "recommendations with a truth, which loses what the lists missed, and users "
        "without a hit. Give the two frames as they were before: "
        "recs.rec.against(truth), or recnb.compare(recs, truth).",
        LeftMergeWarning,
        stacklevel=level,
    )


# ---- a process that was forked after an evaluation lacks the threads of Polars


@cache
def first_process_id() -> int:
    """Return the id of the process that evaluated first, also in a later fork of it."""
    return os.getpid()


def refuse_fork() -> None:
    """Refuse to evaluate in a process that was forked after an evaluation."""
    if first_process_id() != os.getpid():
        raise RecnbError(
            "this process was forked after an evaluation, and would wait for ever for "
            "threads that a fork does not copy: start it with "
            "multiprocessing.get_context('spawn'), or fork before the first evaluation."
        )
