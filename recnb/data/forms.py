"""Every form as a table with a row an item: mappings and Series by user, lists in cells, and one frame with both sides.

A *complete* frame has a row for each item that was recommended or is relevant: a missing rank means relevant but not
recommended, a missing relevance means recommended but not judged; if it has no items, as in learning to rank, each row is one.
A *list* frame has a row for each user, with a list of recommended items and the relevant ones beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, Made, Roles, by_name, columns_of, find, index_levels, role_of, table_of
from recnb.display.language import N_, Plural, Sentence
from recnb.errors import ColumnError, FrameError, is_several, listed, quoted

#: Any table; a mapping or Series by user; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | str | os.PathLike[str]

RECS, TRUTH = "recommendations", "truth"
#: The keyword that names a column of lists.
COLUMN_OF_LISTS = {RECS: "recommended", TRUTH: "relevant"}
SETS = (set, frozenset)

ROWS_ARE_ITEMS = Sentence(N_("each row is an item of its own, as there is no column of items"))
NOT_SCORED = Plural(
    "{n:,} row without a score: judged, not recommended", "{n:,} rows without a score: judged, not recommended"
)
ONLY_LISTED = Sentence(N_("relevant items: those in this frame, which holds no relevant item that was not recommended"))


class Sides(NamedTuple):
    """Recommendations and truth, each with the columns of its roles, and notes for the reader."""

    recs: pl.DataFrame
    truth: pl.DataFrame
    labels: Roles
    truth_labels: Roles
    notes: tuple[str | Sentence, ...] = ()


# ---- one side


def by_item(given: Any, name: str, columns: Mapping[str, str | None]) -> tuple[Frame, set[str]]:
    """Return a table with a row an item of what callers hold by user, and the keywords whose columns are used up by it."""
    if isinstance(given, Mapping) and len(given) <= 20 and {*validation.IDS} <= {role_of(key) for key in given}:
        held = f"a mapping of columns ({', '.join(map(repr, given))}) is given, where one of users is needed"
        raise FrameError(f"{name}: {held}; make it a frame, pandas.DataFrame(...).")
    by_user = isinstance(given, pd.Series) and given.index.nlevels == 1 and not pd.api.types.is_numeric_dtype(given)
    if isinstance(given, Mapping) or by_user:
        lists = list(given.values() if isinstance(given, Mapping) else given)
        return _of_lists(_ids(given.keys(), name, None, "users"), lists, name, None, ordered=name == RECS), set()
    if not (hasattr(type(given), "columns") or hasattr(type(given), "__arrow_c_stream__")):
        return given, set()
    names = columns_of(given, name)
    keyword = COLUMN_OF_LISTS.get(name, "")
    items = [column for column in names if column == columns.get("item")] or by_name(names, "item")
    if items and not _holds_lists(given, items[0]):
        return given, set()
    lists = [column for column in names if column is not None and column == columns.get(keyword)]
    lists = lists or [column for column in names if role_of(column) == keyword or _holds_lists(given, column)]
    numbers = {columns.get(role) for role in ("rank", "score", "relevance")} & {*names}
    if len(lists) != 1 or (items and (numbers or any(by_name(names, role) for role in ("rank", "score", "relevance")))):
        return given, set()  # a number of each row belongs to one item
    user = find(given, name, ["user"], columns)["user"]
    if items and table_of(given, name, {"user": user})["user"].is_duplicated().any():
        return given, set()
    spent = {role for role in (keyword, "item") if columns.get(role) == lists[0]}
    return Made(_in_cells(given, name, user, lists[0], ordered=name == RECS).rename({"user": user})), spent


def _in_cells(frame: Frame, name: str, user: str, label: str, *, ordered: bool) -> pl.DataFrame:
    """Return the items of the lists in a column of a frame."""
    users = table_of(frame, name, {"user": user})["user"]
    if len(users) == 0:
        raise FrameError(f"{name}: there are no rows to evaluate, it is empty.")
    if isinstance(frame, pl.LazyFrame):
        frame = frame.select(label).collect()
    cells = frame if isinstance(frame, (pd.DataFrame, pl.DataFrame)) else pl.DataFrame(frame)
    return _of_lists(users, cells[label].to_list(), name, label, ordered=ordered)


def _of_lists(users: pl.Series, lists: Sequence[Any], name: str, label: str | None, *, ordered: bool) -> Made:
    """Return user and item; rank or score of recommendations, which are `ordered`, and relevance of a truth that has it.

    An empty or missing list is no list: its user has no row. `label` is the column of the lists, if they are in cells.
    """
    where = f"{name}: what is given " if label is None else f"{name}: column {label!r} "
    if users.is_duplicated().any():
        twice = users.filter(users.is_duplicated())[0]
        raise FrameError(f"{name}: user {twice!r} has more than one row; lists of items have one row a user.")
    if not set(map(type, lists)) <= {list, tuple, dict}:
        lists = [_as_list(one, users[at], where, ordered=ordered) for at, one in enumerate(lists)]
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    items = _ids(chain.from_iterable(lists), name, label, "items")
    ids = {"user": users.gather(np.repeat(np.arange(len(users)), lengths)), "item": items}
    with_numbers = any(isinstance(one, Mapping) for one in lists)
    if not with_numbers:
        rank = np.arange(1, len(items) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Made(ids | ({"rank": rank} if ordered else {}))
    if ordered and any(len(one) and not isinstance(one, Mapping) for one in lists):
        fix = "Give all users lists in rank order, or all of them mappings of item to score."
        raise FrameError(f"{where}holds lists for some users and mappings for others.", fix=fix)
    role = "score" if ordered else "relevance"
    numbers = [*chain.from_iterable(one.values() if isinstance(one, Mapping) else [1.0] * len(one) for one in lists)]
    try:
        if not set(map(type, numbers)) <= {float, int, type(None)}:
            numbers = [None if number is None else float(number) for number in numbers]
        return Made(ids | {role: pl.Series(numbers, dtype=pl.Float64, strict=False)})
    except (TypeError, ValueError) as problem:
        raise FrameError(f"{where}holds a {role} that is no number: {problem}.") from problem


def _as_list(one: Any, user: Any, where: str, *, ordered: bool) -> Any:
    """Return the items of one user as a list or a mapping."""
    if one is None or (isinstance(one, float) and np.isnan(one)):
        return []
    if isinstance(one, Mapping):
        return one
    if isinstance(one, SETS) and not ordered:
        return sorted(one, key=str)  # sets have no order of their own: the same rows each time
    if is_several(one) and not isinstance(one, SETS) and not hasattr(type(one), "columns"):
        return one.tolist() if hasattr(one, "tolist") else list(one)
    forms = "in rank order, or a mapping of item to score" if ordered else "or a set, or a mapping of item to relevance"
    if hasattr(type(one), "columns"):
        one_frame = "one frame has all users. Models are compared by recnb.compare(models, truth)."
        raise FrameError(f"{where}holds a frame, {quoted(one)}, for user {user!r}: {one_frame}")
    raise FrameError(
        f"{where}holds {type(one).__name__} {quoted(one)} for user {user!r}, where a list of items {forms}, is needed."
    )


def _holds_lists(frame: Frame, column: Any) -> bool:
    """Return whether a column of a frame in memory has lists in its cells."""
    if isinstance(frame, pd.DataFrame):
        cells = frame[column]
        if cells.dtype != object and not isinstance(cells.dtype, pd.ArrowDtype):
            return False
        known = next((cell for cell in cells if not (pd.api.types.is_scalar(cell) and pd.isna(cell))), None)
        return isinstance(known, (list, tuple, np.ndarray, pd.Series, pl.Series, *SETS, Mapping))
    return isinstance(frame, pl.DataFrame) and isinstance(frame.schema[column], (pl.List, pl.Array))


def _ids(values: Iterable[Any], name: str, label: str | None, what: str) -> pl.Series:
    """Return ids as they are, of one kind; None is missing."""
    values = list(values)
    types = set(map(type, values))
    try:
        if len(types) > 1 and types & {bool, np.bool_}:  # True would become 1
            raise TypeError
        return pl.Series(values, strict=True) if values else pl.Series(values, dtype=pl.String)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as problem:
        where = f"{name}: what is given " if label is None else f"{name}: column {label!r} "
        if any(issubclass(one, tuple) for one in types):
            pair = next(one for one in values if isinstance(one, tuple))
            fix = (
                "For items with their scores or relevance give a mapping of item to number for each user, dict(pairs)."
            )
            raise FrameError(f"{where}holds {what} that are tuples, such as {pair!r}.", fix=fix) from problem
        kinds = ", ".join(sorted(one.__name__ for one in types))
        raise FrameError(
            f"{where}holds {what} of more than one kind: {kinds}.", fix="Make them one kind, such as str(item)."
        ) from problem


# ---- one frame with both sides


def both_sides(frame: Frame, columns: Mapping[str, str | None]) -> Sides:
    """Split one frame into recommendations and truth."""
    name = "the frame"
    names = columns_of(frame, name)
    for role, column in columns.items():
        if column is not None and column not in names:
            problem = f"{name} has no column {column!r}, which {role}={column!r} names. Columns: {listed(names)}."
            raise ColumnError(problem)
    if {"recommended", "relevant"} <= {*map(role_of, names)} | {role for role, column in columns.items() if column}:
        return _list_frame(frame, columns, name)
    has_items = columns.get("item") is not None or bool(by_name([*names, *index_levels(frame)], "item"))
    try:
        return _complete_frame(frame, columns, name, has_items=has_items)
    except FrameError as problem:
        lists = [] if has_items else [column for column in names if _holds_lists(frame, column)]
        if len(lists) < 2:
            raise
        if role_of(lists[1]) == "recommended" or role_of(lists[0]) == "relevant":
            lists = [lists[1], lists[0]]
        which = f"Say which are which: recommended={lists[0]!r}, relevant={lists[1]!r}."
        raise ColumnError(f"{name}: there are lists in the columns {listed(lists)}.", fix=which) from problem


def _complete_frame(frame: Frame, columns: Mapping[str, str | None], name: str, *, has_items: bool) -> Sides:
    required = ["user", "item"] if has_items else ["user"]
    labels = find(frame, name, required, columns, ["rank", "score", "relevance"], both_sides=True)
    table = table_of(frame, name, labels)
    if not has_items:
        labels["item"] = "item"
        table = table.with_row_index("item")
    table = validation.ids(table, name, labels)
    order = [role for role in ("rank", "score") if role in labels]
    placed, judged = _present(table[order[0]]), _present(table["relevance"])
    for row in (~(placed | judged)).arg_true().head(1).to_list():
        pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
        raise FrameError(f"{name}: row {row} ({pair}) has neither a rank or score nor a relevance: drop such rows.")
    for row in (~(placed & judged)).arg_true().head(0 if has_items else 1).to_list():
        label = labels["relevance"] if placed[row] else labels[order[0]]
        held = f"is missing in row {row}: each row is an item of its own where there is no column of items, and needs both sides."
        raise FrameError(f"{name}: column {label!r} {held}", fix="Fill it in, or drop the row.")
    if not placed.any():
        raise FrameError(f"{name} recommends nothing: every rank or score is missing.")
    if not judged.any():
        raise FrameError(f"{name} judges nothing: every value of {labels['relevance']!r} is missing.")
    notes: list[str | Sentence] = [] if (judged & ~placed).any() else [ONLY_LISTED]
    if not has_items:
        notes.append(ROWS_ARE_ITEMS)
    if order == ["score"] and (n := int((~placed).sum())):
        notes.append(Sentence(NOT_SCORED, {"n": n}))
    recs, truth = table.filter(placed).select("user", "item", *order), table.filter(judged)
    return Sides(recs, truth.select("user", "item", "relevance"), labels, labels, tuple(notes))


def _present(column: pl.Series) -> pl.Series:
    here = column.is_not_null()
    return here & column.is_not_nan().fill_null(value=False) if column.dtype.is_float() else here


def _list_frame(frame: Frame, columns: Mapping[str, str | None], name: str) -> Sides:
    labels = find(frame, name, ["user", "recommended", "relevant"], columns)
    recs, truth = (
        _in_cells(frame, name, labels["user"], labels[role], ordered=role == "recommended")
        for role in ("recommended", "relevant")
    )
    for table, verb, role in ((recs, "recommends", "recommended"), (truth, "judges", "relevant")):
        if table.height == 0:
            raise FrameError(f"{name} {verb} nothing: every list of {labels[role]!r} is empty.")
    numbers = {"score" if "score" in recs.columns else "rank": labels["recommended"], "relevance": labels["relevant"]}
    of_recs, of_truth = (
        Roles({"user": labels["user"], **numbers, "item": labels[role]}) for role in ("recommended", "relevant")
    )
    return Sides(validation.ids(recs, name, of_recs), validation.ids(truth, name, of_truth), of_recs, of_truth)
