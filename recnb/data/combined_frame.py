"""One frame that holds both sides, taken apart into recommendations and truth.

A *complete* frame has a row for each item that was recommended or is relevant: a missing rank means relevant but not
recommended, a missing relevance means recommended but not judged. A *list* frame has a row for each user, with a list
of recommended items and the relevant ones beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, columns_of, find, role_of, table_of
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
    if len(_column(frame, labels["user"])) == 0:
        raise FrameError("the frame is empty: it has no rows to evaluate.")
    users = table_of(frame, "the frame", {"user": labels["user"]})["user"]
    if users.is_duplicated().any():
        twice = users.filter(users.is_duplicated())[0]
        raise FrameError(f"the frame: user {twice!r} has more than one row; a frame of lists holds one row a user.")
    recommended = _cells(_column(frame, labels["recommended"]), labels["recommended"], users, ordered=True)
    relevant = _cells(_column(frame, labels["relevant"]), labels["relevant"], users, ordered=False)
    ranks = chain.from_iterable(range(1, len(cell) + 1) for cell in recommended)
    recs = _exploded(users, recommended, labels["recommended"]).with_columns(
        rank=pl.Series(list(ranks), dtype=pl.Int64)
    )
    truth = _exploded(users, relevant, labels["relevant"])
    if any(isinstance(cell, Mapping) for cell in relevant):
        grades = [cell.values() if isinstance(cell, Mapping) else [1.0] * len(cell) for cell in relevant]
        truth = truth.with_columns(relevance=_grades(list(chain.from_iterable(grades)), labels["relevant"]))
    by = {"user": labels["user"], "rank": labels["recommended"], "relevance": labels["relevant"]}
    if recs.height == 0:
        raise FrameError(f"the frame recommends nothing: every list of {labels['recommended']!r} is empty.")
    if truth.height == 0:
        raise FrameError(f"the frame judges nothing: every list of {labels['relevant']!r} is empty.")
    of_recs, of_truth = {**by, "item": labels["recommended"]}, {**by, "item": labels["relevant"]}
    return (
        validation.ids(recs, "the frame", of_recs),
        validation.ids(truth, "the frame", of_truth),
        of_recs,
        of_truth,
        (),
    )


def _column(frame: Frame, label: str) -> list[Any]:
    if isinstance(frame, pl.LazyFrame):
        frame = frame.select(label).collect()
    elif not isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        frame = pl.DataFrame(frame)
    values: list[Any] = frame[label].to_list()
    return values


def _cells(cells: list[Any], label: str, users: pl.Series, *, ordered: bool) -> list[Any]:
    """Each cell as a list (or a mapping of relevance); a missing one is an empty list."""
    kinds = (list, tuple, np.ndarray, pd.Series, pl.Series)
    allowed = kinds if ordered else (*kinds, set, frozenset, Mapping)
    out: list[Any] = []
    for position, cell in enumerate(cells):
        if cell is None or (isinstance(cell, float) and np.isnan(cell)):
            out.append([])
        elif isinstance(cell, allowed):
            out.append(cell if isinstance(cell, Mapping) else _listed(cell))
        else:
            needed = "of items in rank order" if ordered else "or set of items, or a mapping of item to relevance"
            held = f"holds {type(cell).__name__} {cell!r} for user {users[position]!r}"
            raise FrameError.of_column("the frame", label, f"{held}, where a list {needed} is needed.")
    return out


def _listed(cell: Iterable[Any]) -> list[Any]:
    # Sets have no order of their own: sorted by text, so that the same frame gives the same rows each time.
    return sorted(cell, key=str) if isinstance(cell, (set, frozenset)) else list(cell)


def _exploded(users: pl.Series, cells: list[Any], label: str) -> pl.DataFrame:
    items = list(chain.from_iterable(cells))
    types = {type(item) for item in items}
    try:
        if len(types) > 1 and types & {bool, np.bool_}:  # True would become 1
            raise TypeError
        if types in ({pd.Timestamp}, {pd.Timedelta}):
            column = pl.from_pandas(pd.Series(items, name="item"))  # Polars would cut them to microseconds
        else:
            column = pl.Series("item", items, strict=True) if items else pl.Series("item", items, dtype=pl.String)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        held = f"holds items of more than one kind: {', '.join(sorted({type(item).__name__ for item in items}))}."
        fix = f"Make them one kind, frame[{label!r}] = frame[{label!r}].map(lambda cell: [str(item) for item in cell])."
        raise FrameError.of_column("the frame", label, held, fix=fix) from problem
    lengths = np.fromiter((len(cell) for cell in cells), dtype=np.int64, count=len(cells))
    return pl.DataFrame({"user": users.gather(np.repeat(np.arange(len(cells)), lengths)), "item": column})


def _grades(grades: list[Any], label: str) -> pl.Series:
    try:
        return pl.Series([None if grade is None else float(grade) for grade in grades], dtype=pl.Float64)
    except (TypeError, ValueError) as problem:
        raise FrameError.of_column("the frame", label, f"holds a relevance that is no number: {problem}.") from problem
