"""The way in: each form becomes a table with a row an item, its columns are found, and
its ids checked.

Forms are files, mappings and Series by user, frames with lists in their cells, and one
frame with both sides.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from os import PathLike
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
from recnb.data.files import Wanted, read_together
from recnb.data.in_memory import ranked, source_of
from recnb.data.layout import Layout, one_model
from recnb.data.lists_that_count import without_others
from recnb.data.sheet import IDS, RECS, TRUTH, Sheet, is_missing
from recnb.data.source import Source
from recnb.display.language import N_, Plural, Sentence
from recnb.errors import FrameError, RecnbError, is_several, quoted

#: Any table; a mapping or Series by user; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | str | os.PathLike[str]

#: The keyword that names a column of lists.
COLUMN_OF_LISTS = {RECS: "recommended", TRUTH: "relevant"}
#: The ids of the frames beside them.
SIDES: dict[str, tuple[str, ...]] = {
    "train": IDS,
    "items": ("item",),
    "users": ("user",),
}

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
    """Return the process that evaluated first; one that is forked of it later inherits
    the answer.
    """
    return os.getpid()


def refuse_fork() -> None:
    """Refuse to evaluate in a process that was forked after an evaluation: it would
    wait for threads of Polars that it does not have.
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
        raise RecnbError(problem, fix)


def tables_of(
    given: Mapping[str, Input | None], columns: Columns
) -> tuple[dict[str, Any], dict[str, str | Sequence[str] | None]]:
    """Make tables with a row an item of what was given, by name, and return the columns
    left to be found in them.
    """
    refuse_fork()
    frames: dict[str, Any] = {
        name: read_stream(frame)
        for name, frame in given.items()
        if frame is not None or name == RECS
    }
    # A Run and Qrels of ranx, which is not imported, are mappings by another name.
    frames |= {
        name: one.to_dict()
        for name, one in frames.items()
        if type(one).__module__.startswith("ranx.")
    }
    if any(isinstance(frame, (str, PathLike)) for frame in frames.values()):
        trec: dict[str, Any] = {RECS: "run", TRUTH: "qrels"} if TRUTH in frames else {}
        wanted: list[Wanted] = [
            (frame, trec.get(name), SIDES.get(name, IDS))
            for name, frame in frames.items()
        ]
        frames = dict(zip(frames, read_together(wanted, columns), strict=True))
    if TRUTH not in frames and _is_table(frames[RECS]):
        names = columns_of(frames[RECS], "the frame")
        lists = named(columns, "recommended") or by_name(names, "recommended")
        if lists and (named(columns, "relevant") or by_name(names, "relevant")):
            frames = {
                RECS: frames[RECS],
                TRUTH: frames[RECS],
                **frames,
            }  # a list of either side for each user
    left = dict(columns)
    for name, frame in frames.items():
        if SIDES.get(name, IDS) != IDS or (name == RECS and TRUTH not in frames):
            continue
        ordered, is_series = (
            name == RECS,
            isinstance(frame, pd.Series) and frame.index.nlevels == 1,
        )
        if isinstance(frame, Mapping) or (
            is_series and not pd.api.types.is_numeric_dtype(frame)
        ):
            lists = [*(frame.values() if isinstance(frame, Mapping) else frame)]
            frames[name] = _of_lists(
                _column(frame.keys(), name, "user"), lists, name, ordered=ordered
            )
        elif (label := _column_of_lists(frame, name, columns)) is not None:
            user = find(frame, name, ["user"], columns)["user"]
            users = table_of(frame, name, {"user": user})["user"]
            cells = (
                frame
                if isinstance(frame, pd.DataFrame)
                else table_of(frame, name, {label: label})
            )
            made = _of_lists(
                users, cells[label].to_list(), name, label, ordered=ordered
            )
            frames[name] = Made(made.rename({"user": user}))
            left.pop(COLUMN_OF_LISTS.get(name, ""), None)
    return frames, left


def read(
    recs: Frame, truth: Frame | None, columns: Columns, side_frames: Mapping[str, Frame]
) -> Source:
    """Find the columns of two tables, or of one with both sides, and check that their
    ids are of one type.

    `side_frames`: frames that a column may be named of as well.
    """
    if truth is None:
        return _both_sides(recs, columns, side_frames)
    layout = Layout.of(recs, truth, columns, side_frames)
    _refuse_models(recs, layout.model)
    if (origin := origin_of(recs)) is not None:
        return read_batches(recs, truth, layout, origin)
    lists = Sheet(RECS, table_of(recs, RECS, layout.recs), layout.recs)
    judgements = Sheet(TRUTH, table_of(truth, TRUTH, layout.truth), layout.truth)
    return without_others(source_of(lists.with_ids(), judgements.with_ids()))


def read_lists(recs: Frame, columns: Columns) -> pl.DataFrame:
    """Return recommendations alone, as user, item, rank: by rank if there is one, else
    by score.
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
    if column is not None:
        found = [
            batch["model"].unique()
            for batch in batches_of(recs, RECS, {"model": column})
        ]
        if found:
            one_model(pl.concat(found).unique().sort(), column, both_sides=both_sides)


# ---- lists by user


def _is_table(given: Any) -> bool:
    return hasattr(type(given), "columns") or hasattr(type(given), "__arrow_c_stream__")


def _column_of_lists(frame: Any, name: str, columns: Columns) -> str | None:
    """Return the column of a list for each user: the one named by keyword or, of a
    frame without items, by its name.
    """
    if not _is_table(frame):
        return None
    names, keyword = columns_of(frame, name), COLUMN_OF_LISTS.get(name, "")
    require({keyword: columns.get(keyword)}, names, name)
    for column in named(columns, keyword):
        return column
    has_items = {*named(columns, "item")} & {*names} or by_name(names, "item")
    usual = [] if has_items else by_name(names, keyword or "relevant")
    return usual[0] if len(usual) == 1 else None


def _of_lists(
    users: pl.Series, lists: list[Any], name: str, label: str = "", *, ordered: bool
) -> Made:
    """Return user and item, rank or score of lists that are `ordered`, else relevance
    if it is given; an empty list has no row.
    """
    where = f"{name}: column {label!r} holds" if label else f"{name} holds"
    for user in users.filter(users.is_duplicated()).head(1):
        raise FrameError(
            f"{where} more than one list of user {user!r}: lists of items have one row a user."
        )
    if not set(map(type, lists)) <= {list, tuple, dict}:
        lists = [
            _as_list(one, users[row], where, ordered=ordered)
            for row, one in enumerate(lists)
        ]
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    long: dict[str, Any] = {
        "user": users.gather(np.repeat(np.arange(len(users)), lengths)),
        "item": _column(chain(*lists), name, label or "item"),
    }
    if any(isinstance(one, Mapping) for one in lists):
        if ordered and any(len(one) and not isinstance(one, Mapping) for one in lists):
            fix = "Give all users lists in rank order, or all of them mappings of item to score."
            raise FrameError(
                f"{where} lists for some users and mappings for others.", fix=fix
            )
        numbers = chain(
            *[
                one.values() if isinstance(one, Mapping) else [1.0] * len(one)
                for one in lists
            ]
        )
        role = "score" if ordered else "relevance"
        long[role] = _column(numbers, name, label or role, role)
    elif ordered:
        long["rank"] = np.arange(1, lengths.sum() + 1) - np.repeat(
            np.cumsum(lengths) - lengths, lengths
        )
    return Made(long)


def _as_list(one: Any, user: Any, where: str, *, ordered: bool) -> Any:
    """Return the items of one user as a list or a mapping."""
    if one is None or (isinstance(one, float) and np.isnan(one)):
        return []
    is_set = isinstance(one, (set, frozenset))
    if isinstance(one, Mapping) or (is_set and not ordered):
        return (
            sorted(one, key=str) if is_set else one
        )  # sets have no order of their own: the same rows each time
    if is_several(one) and not is_set and not hasattr(type(one), "columns"):
        return one.tolist() if hasattr(one, "tolist") else list(one)
    forms = (
        "in rank order, or a mapping of item to score"
        if ordered
        else "or a set, or a mapping of item to relevance"
    )
    held = (
        f"{type(one).__name__} {quoted(one)} for user {user!r}, where a list of items "
        f"{forms}, is needed."
    )
    raise FrameError(
        f"{where} {held} Models are compared by recnb.compare(models, truth)."
    )


def _column(values: Iterable[Any], name: str, label: str, role: str = "") -> pl.Series:
    """Return values of one kind as a column; None is missing."""
    return from_pandas(pd.Series([*values], dtype=object), name, label, role)


# ---- one frame with both sides


def _both_sides(
    frame: Frame, columns: Columns, side_frames: Mapping[str, Frame]
) -> Source:
    """Split one frame into recommendations and truth: what has no rank or score was not
    recommended, without relevance not judged.
    """
    name = "the frame"
    names = columns_of(frame, name)
    require(columns, names, name, side_frames)
    index: list[Any] = [*frame.index.names] if isinstance(frame, pd.DataFrame) else []
    has_items = bool(
        {*named(columns, "item")} & {*names} or by_name([*names, *index], "item")
    )
    ids = IDS if has_items else IDS[:1]
    labels = find(
        frame,
        name,
        ids,
        columns,
        ["rank", "score", "relevance", "propensity"],
        both_sides=True,
    )
    table = table_of(frame, name, labels)
    notes: list[str | Sentence] = []
    if not has_items:
        labels["item"], table = "item", table.with_row_index("item")
        notes.append(ROWS_ARE_ITEMS)
        _refuse_models(
            frame,
            next(iter({*by_name(names, "model")} - {*labels.values()}), None),
            both_sides=True,
        )
    sheet = Sheet(name, table, labels).with_ids()
    numbers = sorted({"rank", "score"} & {*labels})
    placed = ~is_missing(sheet[numbers[0]])
    judged = ~is_missing(sheet["relevance"])
    _refuse_rows_of_neither(sheet, placed, judged, has_items=has_items)
    recs = sheet.rows.filter(placed)[[*IDS, *numbers]]
    truth = sheet.rows.filter(judged).drop("rank", "score", strict=False)
    _refuse_one_side(sheet, recs, "recommends", numbers[0])
    _refuse_one_side(sheet, truth, "judges", "relevance")
    if not (judged & ~placed).any():
        notes.insert(0, ONLY_LISTED)
    if numbers == ["score"] and not placed.all():
        notes.append(Sentence(NOT_SCORED, {"n": int((~placed).sum())}))
    of_truth = {role: labels[role] for role in truth.columns}
    return source_of(
        Sheet(RECS, recs, labels),
        Sheet(TRUTH, truth, of_truth),
        notes=tuple(notes),
    )


def _refuse_rows_of_neither(
    sheet: Sheet,
    placed: pl.Series,
    judged: pl.Series,
    *,
    has_items: bool,
) -> None:
    """Raise an error for a row that is on neither side; where rows are items, on one
    alone.
    """
    lacking, lacks = ~(placed | judged), "no rank, no score and no relevance"
    if not has_items:
        lacking, lacks = ~(placed & judged), "no score or no relevance"
    rows = lacking.arg_true()
    if len(rows):
        row = rows[0]
        raise FrameError(
            f"{sheet.name}: row {row} ({sheet.pair_in_words(row)}) has {lacks}: drop such rows."
        )


def _refuse_one_side(sheet: Sheet, side: pl.DataFrame, verb: str, role: str) -> None:
    """Raise an error if one frame has no rows of one of its two sides."""
    if side.height == 0:
        raise FrameError(
            f"{sheet.name} {verb} nothing: every value of {sheet.label(role)!r} is "
            "missing."
        )
