"""One frame that holds both sides, taken apart into recommendations and truth.

A *complete* frame has a row for each item that was recommended or is relevant: a missing rank means relevant but not
recommended, a missing relevance means recommended but not judged. A *list* frame has a row for each user, with a list
of recommended items and the relevant ones beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, columns_of, find, role_of, table_of
from recnb.data.item_lists import ItemLists
from recnb.display.language import N_, Sentence
from recnb.errors import ColumnError, FrameError

Parts = tuple[pl.DataFrame, pl.DataFrame, dict[str, str], dict[str, str], tuple[str | Sentence, ...]]

ONLY_LISTED = Sentence(N_("relevant items: those in this frame, which holds no relevant item that was not recommended"))


def split(frame: Frame, columns: Mapping[str, str | None]) -> Parts:
    """Split one frame into recommendations and truth, with the columns of each and notes for the reader."""
    names = columns_of(frame, "the frame")
    for role, column in columns.items():
        if column is not None and column not in names:
            raise ColumnError(
                f"the frame has no column {column!r}, which {role}={column!r} names. Columns: {', '.join(map(repr, names))}."
            )
    by_list = {"recommended", "relevant"} <= {role_of(name) for name in names} | {
        role for role, column in columns.items() if column
    }
    return _list_frame(frame, columns) if by_list else _complete_frame(frame, columns, names)


def _complete_frame(frame: Frame, columns: Mapping[str, str | None], names: list[str]) -> Parts:
    labels = find(frame, "the frame", ["user", "item"], columns, ["rank", "score", "relevance"])
    if "relevance" not in labels or not {"rank", "score"} & set(labels):
        lacks = "rank or score" if "relevance" in labels else "relevance"
        raise ColumnError(
            f"the frame alone does not say both what was recommended and what is relevant: it has no {lacks} column that "
            f"recnb knows. Columns: {', '.join(map(repr, names))}. Type recs.rec.against(truth) with the other frame, or "
            f"name the column: {'relevance' if lacks == 'relevance' else 'rank'}='...'."
        )
    table = validation.ids(table_of(frame, "the frame", labels), "the frame", labels)
    placed = _present(table["rank" if "rank" in labels else "score"])
    judged = _present(table["relevance"])
    if not (placed | judged).all():
        row = int((~(placed | judged)).to_numpy().argmax())
        raise FrameError(
            f"the frame: row {row} (user {table['user'][row]!r}, item {table['item'][row]!r}) has neither a rank or score nor a "
            "relevance, so it says nothing: drop such rows."
        )
    if not placed.any():
        raise FrameError("the frame recommends nothing: every rank or score is missing.")
    if not judged.any():
        raise FrameError(f"the frame judges nothing: every value of {labels['relevance']!r} is missing.")
    order = [role for role in ("rank", "score") if role in labels]
    notes = () if (judged & ~placed).any() else (ONLY_LISTED,)
    recs = table.filter(placed).select("user", "item", *order)
    return recs, table.filter(judged).select("user", "item", "relevance"), labels, labels, notes


def _present(column: pl.Series) -> pl.Series:
    here = column.is_not_null()
    return here & column.is_not_nan().fill_null(value=False) if column.dtype.is_float() else here


def _list_frame(frame: Frame, columns: Mapping[str, str | None]) -> Parts:
    labels = find(frame, "the frame", ["user", "recommended", "relevant"], columns)
    lists, relevant = (
        ItemLists.in_cells(frame, "the frame", labels["user"], labels[role], ordered=role == "recommended")
        for role in ("recommended", "relevant")
    )
    if len(lists.users) == 0:
        raise FrameError("the frame is empty: it has no rows to evaluate.")
    recs, truth = lists.table(), relevant.table()
    if recs.height == 0:
        raise FrameError(f"the frame recommends nothing: every list of {labels['recommended']!r} is empty.")
    if truth.height == 0:
        raise FrameError(f"the frame judges nothing: every list of {labels['relevant']!r} is empty.")
    order = "score" if "score" in recs.columns else "rank"
    by = {"user": labels["user"], order: labels["recommended"], "relevance": labels["relevant"]}
    of_recs, of_truth = {**by, "item": labels["recommended"]}, {**by, "item": labels["relevant"]}
    return (
        validation.ids(recs, "the frame", of_recs),
        validation.ids(truth, "the frame", of_truth),
        of_recs,
        of_truth,
        (),
    )
