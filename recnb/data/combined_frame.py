"""One frame that holds both sides, taken apart into recommendations and truth.

A *complete* frame has a row for each item that was recommended or is relevant: a missing rank means relevant but not
recommended, a missing relevance means recommended but not judged; if it has no items, as in learning to rank, each row is one. A *list* frame has a row for each user, with a list
of recommended items and the relevant ones beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, Roles, columns_of, find, role_of, table_of
from recnb.data.item_lists import holds_lists, in_cells
from recnb.display.language import N_, Plural, Sentence
from recnb.errors import Argument, ColumnError, FrameError, FrameName, listed

Parts = tuple[pl.DataFrame, pl.DataFrame, dict[str, str], dict[str, str], tuple[str | Sentence, ...]]

ROWS_ARE_ITEMS = Sentence(N_("each row is an item of its own, as there is no column of items"))
NOT_SCORED = Plural(
    "{n:,} row without a score: judged, not recommended", "{n:,} rows without a score: judged, not recommended"
)
ONLY_LISTED = Sentence(N_("relevant items: those in this frame, which holds no relevant item that was not recommended"))


def split(frame: Frame, columns: Mapping[str, str | None]) -> Parts:
    """Split one frame into recommendations and truth, with the columns of each and notes for the reader."""
    names = columns_of(frame, "the frame")
    for role, column in columns.items():
        if column is not None and column not in names:
            raise ColumnError(
                f"the frame has no column {column!r}, which {role}={column!r} names. Columns: {listed(names)}."
            )
    by_list = {"recommended", "relevant"} <= {role_of(name) for name in names} | {
        role for role, column in columns.items() if column
    }
    if by_list:
        return _list_frame(frame, columns)
    try:
        return _complete_frame(frame, columns, names)
    except FrameError as problem:
        lists = [] if _has_items(frame, names, columns) else [name for name in names if holds_lists(frame, name)]
        if len(lists) < 2:
            raise
        say = ("Say which are which: ", Argument("recommended", lists[0]), ", ", Argument("relevant", lists[1]), ".")
        raise ColumnError(
            FrameName("the frame"), f": there are lists in the columns {listed(lists)}.", fix=say
        ) from problem


def _has_items(frame: Frame, names: list[str], columns: Mapping[str, str | None]) -> bool:
    """Whether a frame has a column of items; the rows of a frame for learning to rank are items themselves."""
    levels = frame.index.names if isinstance(frame, pd.DataFrame) else []
    return columns.get("item") is not None or any(role_of(name) == "item" for name in (*names, *levels))


def _complete_frame(frame: Frame, columns: Mapping[str, str | None], names: list[str]) -> Parts:
    required = ["user", "item"] if _has_items(frame, names, columns) else ["user"]
    labels = find(frame, "the frame", required, columns, ["rank", "score", "relevance"], both_sides=True)
    table = table_of(frame, "the frame", labels)
    if "item" not in labels:
        labels["item"] = "item"
        table = table.with_row_index("item")
    table = validation.ids(table, "the frame", labels)
    placed = _present(table["rank" if "rank" in labels else "score"])
    judged = _present(table["relevance"])
    for row in (~(placed | judged)).arg_true().head(1).to_list():
        pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
        raise FrameError(f"the frame: row {row} ({pair}) has neither a rank or score nor a relevance: drop such rows.")
    for row in (~(placed & judged)).arg_true().head(1).to_list() if len(required) == 1 else []:
        at = labels["relevance"] if placed[row] else labels.get("rank", labels.get("score"))
        held = f"is missing in row {row}: each row is an item of its own where there is no column of items, and needs both sides."
        raise FrameError.of_column("the frame", at, held, fix="Fill it in, or drop the row.")
    if not placed.any():
        raise FrameError("the frame recommends nothing: every rank or score is missing.")
    if not judged.any():
        raise FrameError(f"the frame judges nothing: every value of {labels['relevance']!r} is missing.")
    order = [role for role in ("rank", "score") if role in labels]
    notes = () if (judged & ~placed).any() else (ONLY_LISTED,)
    if len(required) == 1:
        notes = (*notes, ROWS_ARE_ITEMS)
    if "rank" not in labels and (n := int((~placed).sum())):
        notes = (*notes, Sentence(NOT_SCORED, {"n": n}))
    recs = table.filter(placed).select("user", "item", *order)
    return recs, table.filter(judged).select("user", "item", "relevance"), labels, labels, notes


def _present(column: pl.Series) -> pl.Series:
    here = column.is_not_null()
    return here & column.is_not_nan().fill_null(value=False) if column.dtype.is_float() else here


def _list_frame(frame: Frame, columns: Mapping[str, str | None]) -> Parts:
    labels = find(frame, "the frame", ["user", "recommended", "relevant"], columns)
    recs, truth = (
        in_cells(frame, "the frame", labels["user"], labels[role], ordered=role == "recommended")
        for role in ("recommended", "relevant")
    )
    if recs.height == 0:
        raise FrameError(f"the frame recommends nothing: every list of {labels['recommended']!r} is empty.")
    if truth.height == 0:
        raise FrameError(f"the frame judges nothing: every list of {labels['relevant']!r} is empty.")
    order = "score" if "score" in recs.columns else "rank"
    by = {"user": labels["user"], order: labels["recommended"], "relevance": labels["relevant"]}
    of_recs, of_truth = (Roles({**by, "item": labels[role]}) for role in ("recommended", "relevant"))
    return (
        validation.ids(recs, "the frame", of_recs),
        validation.ids(truth, "the frame", of_truth),
        of_recs,
        of_truth,
        (),
    )
