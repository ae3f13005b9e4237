"""The way in: each form becomes a table with a row an item, whose ids are checked.

Forms are files, mappings and Series by user, frames with lists in their cells, and one
frame with both sides.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data.buckets import batches_of, origin_of
from recnb.data.columns import (
    Columns,
    Frame,
    Made,
    by_name,
    columns_of,
    find,
    from_pandas,
    named,
    read_stream,
    require,
    table_of,
)
from recnb.data.file_parts import read_batches
from recnb.data.files import Wanted, is_file, read_together
from recnb.data.in_memory import ranked, source_in_splits
from recnb.data.layout import Layout, one_model, refuse_split_in_role
from recnb.data.retrieval import (
    DOCUMENT,
    is_list_of_documents,
    with_columns_named,
    with_lists_as_frames,
)
from recnb.data.sheet import IDS, RECS, TRUTH, Sheet, is_missing
from recnb.data.source import Source
from recnb.data.splits import split_role
from recnb.display.language import N_, Plural, Sentence
from recnb.errors import (
    FrameError,
    LeftMergeWarning,
    RecnbError,
    is_several,
    quoted,
)

#: Any table; a mapping or Series by user; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | str | os.PathLike[str]

#: The keyword that names a column of lists.
COLUMN_OF_LISTS = {RECS: "recommended", TRUTH: "relevant"}
#: The ids of the frames beside them.
SIDE_FRAMES: dict[str, tuple[str, ...]] = {
    "train": IDS,
    "items": ("item",),
    "users": ("user",),
}

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
    """Return the process that evaluated first.

    One that is forked of it later inherits the answer.
    """
    return os.getpid()


def refuse_fork() -> None:
    """Refuse to evaluate in a process that was forked after an evaluation.

    It would wait for threads of Polars that it does not have.
    """
    if first_process() != os.getpid():
        problem = (
            "this process was forked after an evaluation, and would wait for ever for "
            "threads that a fork does not copy: "
        )
        fix = (
            "start it with multiprocessing.get_context('spawn'), or fork before the "
            "first evaluation."
        )
        raise RecnbError(f"{problem}{fix}")


def tables_of(
    given: Mapping[str, Input | None], columns: Columns
) -> tuple[dict[str, Any], dict[str, str | Sequence[str] | None]]:
    """Make tables with a row an item of what was given, by name.

    Return the columns left to be found in them as well.
    """
    refuse_fork()
    frames: dict[str, Any] = {}
    for name, frame in given.items():
        if frame is not None or name == RECS:
            frames[name] = _without_ranx(read_stream(frame))
    frames = with_lists_as_frames(frames, columns)
    if any(is_file(frame) for frame in frames.values()):
        frames = _with_files_read(frames, columns)
    frames, left = with_columns_named(frames, columns)
    if TRUTH not in frames and _has_lists_of_both_sides(frames[RECS], left):
        frames = {RECS: frames[RECS], TRUTH: frames[RECS], **frames}
    for name, frame in frames.items():
        if SIDE_FRAMES.get(name, IDS) != IDS or (name == RECS and TRUTH not in frames):
            continue  # these hold no lists
        if _is_by_user(frame):
            frames[name] = _of_mapping(frame, name)
            continue
        label = _column_of_lists(frame, name, left)
        if label is not None:
            frames[name] = _of_cells(frame, name, label, left)
            left.pop(COLUMN_OF_LISTS.get(name, ""), None)
    return frames, left


def _without_ranx(frame: Any) -> Any:
    """Return a Run or Qrels of ranx as the mapping that it is, anything else as it is.

    ranx is not imported for it.
    """
    if type(frame).__module__.startswith("ranx."):
        return frame.to_dict()
    return frame


def _with_files_read(frames: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """Return frames with a table for each path of a file."""
    trec: dict[str, Any] = {}
    if TRUTH in frames:
        trec = {RECS: "run", TRUTH: "qrels"}
    wanted: list[Wanted] = [
        (frame, trec.get(name), SIDE_FRAMES.get(name, IDS))
        for name, frame in frames.items()
    ]
    tables = read_together(wanted, columns)
    return dict(zip(frames, tables, strict=True))


def read(
    recs: Frame, truth: Frame | None, columns: Columns, side_frames: Mapping[str, Frame]
) -> Source:
    """Find the columns of two tables, or of one with both sides, and check the ids.

    `side_frames`: frames that a column may be named of as well.
    """
    if truth is None:
        return _both_sides(recs, columns, side_frames)
    layout = Layout.of(recs, truth, columns, side_frames)
    _refuse_models(recs, layout.model)
    if (origin := origin_of(recs)) is not None:
        return read_batches(recs, truth, layout, origin)
    lists = Sheet(RECS, table_of(recs, RECS, layout.recs_read), layout.recs)
    if lists.rows.height > 0:
        lists = lists.with_ids()
    judged = table_of(truth, TRUTH, layout.truth_read)
    judgements = Sheet(TRUTH, judged, layout.truth).with_ids()
    if lists.rows.height == 0:
        lists = _empty_lists(lists, recs, judgements)
    return source_in_splits(
        lists,
        judgements,
        layout.split,
        users_without_items=layout.users_without_items,
    )


def read_beside(
    recs: Frame,
    judgements: Sheet,
    columns: Columns,
    frames: Mapping[str, Frame],
) -> Sheet:
    """Read other lists beside a truth that was read.

    `frames`: the columns of the truth and of what was given beside it; no rows.
    """
    others = {name: frame for name, frame in frames.items() if name != TRUTH}
    layout = Layout.of(recs, frames[TRUTH], columns, others)
    _refuse_models(recs, layout.model)
    lists = Sheet(RECS, table_of(recs, RECS, layout.recs), layout.recs)
    if lists.rows.height == 0:
        return _empty_lists(lists, recs, judgements)
    lists = lists.with_ids()
    lists.refuse_other_kinds(judgements)
    return lists


def _empty_lists(lists: Sheet, recs: Frame, judgements: Sheet) -> Sheet:
    """Return lists without a row, with ids as the truth has them.

    Refuse them unless one at least is the empty list of a user of the truth.
    """
    users = recs.without_items if isinstance(recs, Made) else []
    if {*users}.isdisjoint(judgements["user"]):
        return lists.with_ids()
    ids = [lists[role].cast(judgements[role].dtype).alias(role) for role in IDS]
    return lists.with_columns(*ids)


def read_lists(recs: Frame, columns: Columns) -> pl.DataFrame:
    """Return recommendations alone, as user, item, rank.

    They are ordered by rank if there is one, else by score.
    """
    labels = find(recs, RECS, IDS, columns, ["rank", "score"])
    lists = Sheet.read(recs, RECS, labels)
    order: Order = "rank" if "rank" in labels else "score"
    convention = Convention(order=order, duplicates="keep")
    return ranked(lists, convention).select("user", "item", "rank")


def _refuse_models(
    recs: Frame, column: str | None, *, both_sides: bool = False
) -> None:
    """Refuse a frame of several models: it holds several lists for each user."""
    if column is None:
        return
    models = [
        batch["model"].unique() for batch in batches_of(recs, RECS, {"model": column})
    ]
    if models:
        one_model(pl.concat(models).unique().sort(), column, both_sides=both_sides)


# ---- lists by user


def _is_table(given: Any) -> bool:
    return hasattr(type(given), "columns") or hasattr(type(given), "__arrow_c_stream__")


def _is_by_user(given: Any) -> bool:
    """Return whether lists are given as a mapping or a Series by user."""
    if isinstance(given, Mapping):
        return True
    if not isinstance(given, pd.Series) or given.index.nlevels > 1:
        return False
    return not pd.api.types.is_numeric_dtype(given)


def _has_lists_of_both_sides(frame: Any, columns: Columns) -> bool:
    """Return whether one frame has columns of lists of recommended and relevant items."""
    if not _is_table(frame):
        return False
    names = columns_of(frame, "the frame")
    return all(
        named(columns, role) or by_name(names, role)
        for role in COLUMN_OF_LISTS.values()
    )


def _column_of_lists(frame: Any, name: str, columns: Columns) -> str | None:
    """Return the column of a list for each user.

    It is named by keyword or, of a frame without items, by its name.
    """
    if not _is_table(frame):
        return None
    names, keyword = columns_of(frame, name), COLUMN_OF_LISTS.get(name, "")
    require({keyword: columns.get(keyword)}, names, name)
    for column in named(columns, keyword):
        return column
    if _has_column(names, "item", columns):
        return None
    usual = by_name(names, keyword or "relevant")
    return usual[0] if len(usual) == 1 else None


def _has_column(names: Sequence[Any], role: str, columns: Columns) -> bool:
    """Return whether one of a table's columns plays a role."""
    is_named = any(column in names for column in named(columns, role))
    return is_named or bool(by_name(names, role))


def _of_mapping(given: Any, name: str) -> Made:
    """Return a row an item of a mapping or Series by user."""
    users = _column(given.keys(), name, "user")
    cells = given.values() if isinstance(given, Mapping) else given
    keys = users.alias("user").to_frame()
    return _of_lists(keys, [*cells], f"{name} holds", name)


def _of_cells(frame: Any, name: str, label: str, columns: Columns) -> Made:
    """Return a row an item of a frame with a list in each cell of a column.

    Its columns of users, and of a split, keep their names.
    """
    user = find(frame, name, ["user"], columns)["user"]
    present = columns_of(frame, name)
    split = [column for column in named(columns, "split") if column in present]
    refuse_split_in_role(split, {"user": user, "item": label})
    keys = table_of(frame, name, {"user": user} | {column: column for column in split})
    if isinstance(frame, pd.DataFrame):
        lists = frame[label].to_list()  # which may be of several kinds
    else:
        lists = table_of(frame, name, {label: label})[label].to_list()
    where = f"{name}: column {label!r} holds"
    rows = _of_lists(keys, lists, where, name, label)
    item = DOCUMENT if is_list_of_documents(label) else "item"
    table = Made(rows.rename({"user": user, "item": item}))
    table.without_items = rows.without_items
    return table


def _of_lists(
    keys: pl.DataFrame,
    lists: list[Any],
    where: str,
    name: str,
    label: str = "",
) -> Made:
    """Return a row for each item, with the key of its list: user, and values of a split.

    Recommendations have its rank or score, any other frame its relevance if it is given.
    An empty list has no row.
    """
    users = keys["user"]
    repeated = users.filter(keys.is_duplicated())
    if len(repeated):
        raise FrameError(
            f"{where} more than one list of user {repeated[0]!r}: lists of items have one "
            "row a user."
        )
    are_ranked = name == RECS
    if not set(map(type, lists)) <= {list, tuple, dict}:
        lists = [
            _as_list(items, user, where, are_ranked=are_ranked)
            for user, items in zip(users, lists, strict=True)
        ]
    _refuse_pairs(lists, where)
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    columns: dict[str, Any] = {
        **keys[np.repeat(np.arange(len(users)), lengths)].to_dict(),
        "item": _column(chain.from_iterable(lists), name, label or "item"),
    }
    if any(isinstance(items, Mapping) for items in lists):
        if are_ranked:
            _refuse_lists_beside_mappings(lists, where)
        role = "score" if are_ranked else "relevance"
        numbers = chain.from_iterable(map(_numbers_of, lists))
        columns[role] = _column(numbers, name, label or role, role)
    elif are_ranked:
        starts = np.cumsum(lengths) - lengths
        columns["rank"] = np.arange(1, lengths.sum() + 1) - np.repeat(starts, lengths)
    table = Made(columns)
    table.without_items = users.filter(pl.Series(lengths == 0)).to_list()
    return table


def _refuse_pairs(lists: Sequence[Any], where: str) -> None:
    """Raise an error for pairs of item and number in the place of items."""
    first: Any = next(filter(None, lists), [])
    if not first or isinstance(first, Mapping) or not isinstance(first[0], tuple):
        return
    raise FrameError(
        f"{where} tuples such as {quoted(first[0])} in lists, where items are "
        "ids. Of pairs of item and number, give a mapping, dict(pairs)."
    )


def _refuse_lists_beside_mappings(lists: Sequence[Any], where: str) -> None:
    """Raise an error for a list without scores, where others have them."""
    for items in lists:
        if len(items) and not isinstance(items, Mapping):
            raise FrameError(
                f"{where} lists for some users and mappings for others. Give all users "
                "lists in rank order, or all of them mappings of item to score."
            )


def _numbers_of(items: Any) -> Iterable[Any]:
    """Return the number of each item of a user: that of a mapping, else 1."""
    return items.values() if isinstance(items, Mapping) else [1.0] * len(items)


def _as_list(items: Any, user: Any, where: str, *, are_ranked: bool) -> Any:
    """Return the items of one user as a list or a mapping."""
    if items is None or (isinstance(items, float) and np.isnan(items)):
        return []
    if isinstance(items, Mapping):
        return items
    if isinstance(items, (set, frozenset)):
        if not are_ranked:
            return sorted(items, key=str)  # the same rows each time
    elif is_several(items) and not hasattr(type(items), "columns"):
        return items.tolist() if hasattr(items, "tolist") else list(items)
    if are_ranked:
        forms = "in rank order, or a mapping of item to score"
    else:
        forms = "or a set, or a mapping of item to relevance"
    raise FrameError(
        f"{where} {type(items).__name__} {quoted(items)} for user {user!r}, where a list "
        f"of items {forms}, is needed. Models are compared by recnb.compare(models, truth)."
    )


def _column(values: Iterable[Any], name: str, label: str, role: str = "") -> pl.Series:
    """Return values of one kind as a column; None is missing."""
    return from_pandas(pd.Series([*values], dtype=object), name, label, role)


# ---- one frame with both sides


def _both_sides(
    frame: Frame, columns: Columns, side_frames: Mapping[str, Frame]
) -> Source:
    """Split one frame into recommendations and truth.

    What has no rank or score was not recommended, and without relevance not judged.
    """
    split = named(columns, "split")
    sheet, has_items = _sheet_of_both_sides(frame, columns, split, side_frames)
    labels = sheet.labels
    notes: list[str | Sentence] = [] if has_items else [ROWS_ARE_ITEMS]
    orders = [role for role in ("rank", "score") if role in labels]
    is_listed = ~is_missing(sheet[orders[0]])
    is_judged = ~is_missing(sheet["relevance"])
    _refuse_rows_of_neither(sheet, is_listed, is_judged, has_items=has_items)
    roles_of_split = [split_role(column) for column in split]
    recs = sheet.rows.filter(is_listed).select(*IDS, *orders, *roles_of_split)
    truth = sheet.rows.filter(is_judged).drop("rank", "score", strict=False)
    _refuse_one_side(sheet, recs, "recommends", orders[0])
    _refuse_one_side(sheet, truth, "judges", "relevance")
    if not (is_judged & ~is_listed).any():
        notes.insert(0, ONLY_LISTED)
    if orders == ["score"] and not is_listed.all():
        notes.append(Sentence(NOT_SCORED, {"n": int((~is_listed).sum())}))
    labels_of_truth = {role: labels[role] for role in truth.columns if role in labels}
    source = source_in_splits(
        Sheet(RECS, recs, labels),
        Sheet(TRUTH, truth, labels_of_truth),
        split,
        notes=tuple(notes),
    )
    if is_left_merge(source):
        _warn_of_left_merge(labels["relevance"])
    return source


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


def _sheet_of_both_sides(
    frame: Frame,
    columns: Columns,
    split: Sequence[str],
    side_frames: Mapping[str, Frame],
) -> tuple[Sheet, bool]:
    """Read a frame with both sides; return as well whether it has a column of items."""
    name = "the frame"
    names = columns_of(frame, name)
    require(columns, names, name, side_frames)
    labels = find(
        frame,
        name,
        IDS if _has_items(frame, names, columns) else ("user",),
        columns,
        ["rank", "score", "relevance", "propensity"],
        both_sides=True,
    )
    refuse_split_in_role(split, labels)
    roles_of_split = {split_role(column): column for column in split}
    table = table_of(frame, name, {**labels, **roles_of_split})
    has_items = "item" in labels
    if not has_items:
        labels["item"] = "item"
        table = table.with_row_index("item")
        models = [
            column
            for column in by_name(names, "model")
            if column not in labels.values()
        ]
        if models:
            _refuse_models(frame, models[0], both_sides=True)
    return Sheet(name, table, labels).with_ids(), has_items


def _has_items(frame: Frame, names: Sequence[Any], columns: Columns) -> bool:
    """Return whether a frame has a column of items.

    So it has if it is a level of its index, which `find` refuses.
    """
    levels: list[Any] = []
    if isinstance(frame, pd.DataFrame):
        levels = [*frame.index.names]
    return _has_column(names, "item", columns) or bool(by_name(levels, "item"))


def _refuse_rows_of_neither(
    sheet: Sheet,
    is_listed: pl.Series,
    is_judged: pl.Series,
    *,
    has_items: bool,
) -> None:
    """Raise an error for a row that is on neither side.

    Where rows are items, it may not be on one alone.
    """
    if has_items:
        lacks = "no rank, no score and no relevance"
        rows = (~(is_listed | is_judged)).arg_true()
    else:
        lacks = "no score or no relevance"
        rows = (~(is_listed & is_judged)).arg_true()
    if len(rows):
        row = rows[0]
        raise FrameError(
            f"{sheet.name}: row {row} ({sheet.pair_in_words(row)}) has {lacks}: drop such "
            "rows."
        )


def _refuse_one_side(sheet: Sheet, side: pl.DataFrame, verb: str, role: str) -> None:
    """Raise an error if one frame has no rows of one of its two sides."""
    if side.height == 0:
        raise FrameError(
            f"{sheet.name} {verb} nothing: every value of {sheet.label(role)!r} is "
            "missing."
        )
