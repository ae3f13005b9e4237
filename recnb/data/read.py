"""From what was given to checked rows: open, name, settle, select, check."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data.batches import batches_of, origin_of
from recnb.data.checks import is_missing
from recnb.data.file_parts import read_batches
from recnb.data.files import is_file
from recnb.data.forms import (
    HINTS,
    WITH_LISTS,
    Tables,
    list_column_of,
    opened,
    with_a_row_an_item,
)
from recnb.data.in_memory import ranked, source_in_splits
from recnb.data.layout import Layout, refuse_split_in_role
from recnb.data.names import (
    BOTH,
    IDS,
    OF_LISTS,
    RECS,
    TRUTH,
    WANTED,
    Labels,
    Named,
    as_named,
    role_of,
)
from recnb.data.roles import refuse_absent, settle
from recnb.data.sheet import Sheet
from recnb.data.source import Source
from recnb.data.splits import split_role
from recnb.data.tables import Frame, InputTable
from recnb.display.language import N_, Plural, Sentence
from recnb.display.progress import steps
from recnb.errors import FrameError, LeftMergeWarning, RecnbError

#: Any table; a mapping or Series by user; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | str | os.PathLike[str]

#: The frames beside recommendations and truth.
SIDE_FRAMES = ("train", "items", "users")
#: Packages whose lines stand between a line of the caller's and this module.
INSIDE = ("recnb", "contextlib")

ROWS_ARE_ITEMS = Sentence(
    N_("each row is an item of its own, as there is no column of items")
)
NOT_SCORED = Plural(
    "{n:,} row without a score: judged, not recommended",
    "{n:,} rows without a score: judged, not recommended",
)
ONLY_LISTED = Sentence(
    N_(
        "relevant items: those in this frame, which holds no relevant item that was not recommended"
    )
)


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


# ---- open and name


def tables_of(
    given: Mapping[str, Input | None], columns: Mapping[str, Any]
) -> tuple[dict[str, InputTable], Named]:
    """Make tables with a row an item; return the columns left to be found as well."""
    refuse_fork()
    named: Named = as_named(columns)
    tables: Tables = opened_together(given, named)
    for hint in HINTS:
        tables, named = hint(tables, named)
    return with_lists_as_rows(tables, named)


def opened_together(
    given: Mapping[str, Input | None], named: Named
) -> dict[str, InputTable]:
    """Open what was given, by name.

    None was not given; as recommendations it is refused.
    """
    things = [
        (name, thing)
        for name, thing in given.items()
        if thing is not None or name == RECS
    ]
    are_files = any(is_file(thing) for _name, thing in things)
    tables = {}
    for name, thing in steps(things, "files read") if are_files else things:
        tables[name] = opened(thing, name, named)
    match_kinds(tables, named)
    return tables


def match_kinds(tables: dict[Any, InputTable], named: Named) -> None:
    """Make text of whole numbers of text files, where another table has some as text.

    Others stay numbers, and are refused as another kind.
    """
    if not any(table.from_text for table in tables.values()):
        return
    for role in IDS:
        ids = _ids_of(role, tables, named)
        texts = [known.unique() for known in ids.values() if known.dtype == pl.String]
        for (key, _label), numbers in ids.items():
            table = tables[key]
            if not table.from_text or numbers.dtype != pl.Int64:
                continue
            as_text = numbers.cast(pl.String)
            if any(as_text.is_in(text.implode()).any() for text in texts):
                tables[key] = replace(table, frame=table.frame.with_columns(as_text))


def _ids_of(
    role: str, tables: Mapping[Any, InputTable], named: Named
) -> dict[tuple[Any, str], pl.Series]:
    """Return the columns that may be ids of a role, by table and name."""
    ids = {}
    for key, table in tables.items():
        if role in WANTED[table.name].needed:
            labels = [name for name in named.get(role, ()) if name in table.columns]
            for label in {*labels, *table.by_role.get(role, ())}:
                ids[key, label] = table.distinct(label)
    return ids


def with_lists_as_rows(
    tables: Tables, named: Named
) -> tuple[dict[str, InputTable], dict[str, Sequence[str]]]:
    """Make a row an item of lists in cells; return the columns left to be found as well."""
    rows, left = dict(tables), dict(named)
    recs = rows[RECS]
    if TRUTH not in rows:
        if all(recs.has_role(role, named) for role in OF_LISTS.values()):
            rows[TRUTH] = replace(recs, name=TRUTH)
        elif not recs.is_one_side:
            return rows, left
        else:
            raise FrameError(
                "only recommendations were given, as lists: give what is relevant as "
                "well, recnb.evaluate(recs, truth)."
            )
    for name in WITH_LISTS:
        label = list_column_of(rows[name], named) if name in rows else None
        if label is not None:
            rows[name] = with_a_row_an_item(rows[name], named, label, "item")
            left.pop(OF_LISTS.get(name, ""), None)
    return rows, left


# ---- two tables


def read(tables: Tables, named: Named) -> Source:
    """Settle the columns of two tables, or of one with both sides, and check the ids."""
    if TRUTH not in tables:
        return _both_sides(tables, named)
    recs, truth = tables[RECS], tables[TRUTH]
    layout = _layout_of(tables, named)
    origin = origin_of(recs.frame)
    if origin is not None:
        return read_batches(recs.frame, truth.frame, layout, origin)
    lists = _lists_of(recs, layout)
    judgements = Sheet(TRUTH, truth.select(layout.truth_read), layout.truth).with_ids()
    return source_in_splits(
        _beside(judgements, lists, recs),
        judgements,
        layout.split,
        users_without_items=layout.users_without_items,
    )


def read_beside(tables: Tables, named: Named, judgements: Sheet) -> Sheet:
    """Read other lists beside a truth that was read, whose table has no rows here."""
    recs = tables[RECS]
    lists = _lists_of(recs, _layout_of(tables, named))
    lists = _beside(judgements, lists, recs)
    lists.refuse_other_kinds(judgements)
    return lists


def _layout_of(tables: Tables, named: Named) -> Layout:
    """Settle the columns of both tables; refuse the lists of several models."""
    layout = Layout.of(tables, named)
    if layout.model is not None:
        refuse_models(tables[RECS], layout.model)
    return layout


def _lists_of(recs: InputTable, layout: Layout) -> Sheet:
    """Read lists; without a row, ids are checked beside the truth."""
    lists = Sheet(RECS, recs.select(layout.recs_read), layout.recs)
    return lists.with_ids() if lists.rows.height else lists


def _beside(judgements: Sheet, lists: Sheet, recs: InputTable) -> Sheet:
    """Return lists, which may have no row if a user of the truth has an empty list."""
    if lists.rows.height:
        return lists
    if {*recs.without_items}.isdisjoint(judgements["user"]):
        return lists.with_ids()  # an error, as there are no rows
    ids = [lists[role].cast(judgements[role].dtype).alias(role) for role in IDS]
    return lists.with_columns(*ids)


def read_lists(recs: InputTable, named: Named) -> pl.DataFrame:
    """Return recommendations alone, as user, item, rank.

    They are ordered by rank if there is one, else by score.
    """
    labels = settle(recs, named, WANTED[RECS])
    lists = Sheet(RECS, recs.select(labels), labels).with_ids()
    order: Order = "rank" if "rank" in labels else "score"
    convention = Convention(order=order, duplicates="keep")
    return ranked(lists, convention).select("user", "item", "rank")


def refuse_models(table: InputTable, column: str) -> None:
    """Refuse the rows of several models, which hold several lists for each user."""
    found = [
        batch["model"].unique()
        for batch in batches_of(table.frame, table.name, {"model": column})
    ]
    if not found:
        return
    models = pl.concat(found).unique().sort()
    if len(models) <= 1:
        return
    holder, frames = "recommendations hold", "recs, truth"
    if table.name == BOTH:
        holder, frames = "the frame holds", "frame"
    raise FrameError(
        f"{holder} the lists of {len(models)} models in column {column!r}, such as "
        f"{models[0]!r}: compare them, recnb.compare({frames}), or evaluate one alone."
    )


# ---- one frame with both sides


def _both_sides(tables: Tables, named: Named) -> Source:
    """Split one frame into recommendations and truth.

    What has no rank, or no score in a frame without ranks, was not recommended. What has
    no relevance was not judged.
    """
    frame = replace(tables[RECS], name=BOTH)
    side = {name: table for name, table in tables.items() if name != RECS}
    refuse_absent(named, {BOTH: frame, **side})
    split = [*named.get("split", ())]
    sheet, has_items = _sheet_of_both_sides(frame, named, split)
    order = "rank" if "rank" in sheet else "score"
    is_listed = ~is_missing(sheet[order])
    is_judged = ~is_missing(sheet["relevance"])
    if has_items:
        _refuse_others(sheet, is_listed | is_judged, f"no {order} and no relevance")
    else:
        _refuse_others(sheet, is_listed & is_judged, f"no {order} or no relevance")
    notes: list[str | Sentence] = []
    if not (is_judged & ~is_listed).any():
        notes.append(ONLY_LISTED)
    if not has_items:
        notes.append(ROWS_ARE_ITEMS)
    if order == "score" and not is_listed.all():
        notes.append(Sentence(NOT_SCORED, {"n": int((~is_listed).sum())}))
    source = source_in_splits(
        _listed(sheet.with_rows(sheet.rows.filter(is_listed)), order, split),
        _judged(sheet.with_rows(sheet.rows.filter(is_judged))),
        split,
        notes=tuple(notes),
    )
    if is_left_merge(source):
        _warn_of_left_merge(sheet.label("relevance"))
    return source


def _listed(both: Sheet, order: str, split: Sequence[str]) -> Sheet:
    """Return the lists in rows that are listed.

    Their labels are of all roles, to be named in a call with the one frame.
    """
    _refuse_none(both, "recommends", order)
    orders = [role for role in ("rank", "score") if role in both]
    rows = both.rows.select(*IDS, *orders, *map(split_role, split))
    return Sheet(RECS, rows, both.labels)


def _judged(both: Sheet) -> Sheet:
    """Return the judgements in rows that are judged."""
    _refuse_none(both, "judges", "relevance")
    rows = both.rows.drop("rank", "score", strict=False)
    labels = {role: both.labels[role] for role in rows.columns if role in both.labels}
    return Sheet(TRUTH, rows, labels)


def _sheet_of_both_sides(
    frame: InputTable, named: Named, split: Sequence[str]
) -> tuple[Sheet, bool]:
    """Read a frame with both sides; return as well whether it has a column of items."""
    levels = [role_of(level) for level in frame.levels]
    has_items = frame.has_role("item", named) or "item" in levels
    wanted = WANTED[BOTH]
    if not has_items:
        wanted = wanted._replace(needed=("user", "relevance"))
    labels = settle(frame, named, wanted)
    if split:
        refuse_split_in_role(split, labels)
    roles_of_split = {split_role(column): column for column in split}
    rows = frame.select({**labels, **roles_of_split})
    if not has_items:
        labels["item"] = "item"
        rows = rows.with_row_index("item")
        for column in frame.by_role.get("model", ()):
            if column not in labels.values():
                refuse_models(frame, column)
    return Sheet(BOTH, rows, _in_order(labels)).with_ids(), has_items


def _in_order(labels: Labels) -> Labels:
    """Return labels with the roles in the order in which results name them."""
    roles = (*IDS, "rank", "score", "relevance", "propensity")
    return {role: labels[role] for role in roles if role in labels}


def is_left_merge(source: Source) -> bool:
    """Return whether one frame lacks relevance in some rows, and no row was missed."""
    return ONLY_LISTED in source.notes and source.truth.height < source.recs.height


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
        "recs.rec.against(test), or recnb.compare(recs, test).",
        LeftMergeWarning,
        stacklevel=level,
    )


def _refuse_others(sheet: Sheet, is_kept: pl.Series, lacks: str) -> None:
    """Raise an error for the first row that is not kept, if there is one."""
    others = (~is_kept).arg_true()
    if len(others):
        pair = sheet.pair_in_words(others[0])
        raise FrameError(
            f"{sheet.name}: row {others[0]} ({pair}) has {lacks}: drop such rows."
        )


def _refuse_none(side: Sheet, verb: str, role: str) -> None:
    """Raise an error if one frame has no rows of one of its two sides."""
    if side.rows.height == 0:
        raise FrameError(
            f"{side.name} {verb} nothing: every value of {side.label(role)!r} is missing."
        )
