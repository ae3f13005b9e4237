"""Every form as a table with a row an item: mappings and Series by user, lists in cells, and one frame with both sides.

A frame of both sides has a row for each item that was recommended or is relevant: a missing rank means relevant but not
recommended, a missing relevance means recommended but not judged; if it has no items, as in learning to rank, each row is one.
Or it has a row for each user, with a list of recommended items and the relevant ones beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, Made, by_name, columns_of, find, role_of, table_of
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


# ---- one side


def by_item(given: Any, name: str, columns: Mapping[str, str | None]) -> tuple[Frame, set[str]]:
    """Return a table with a row an item of what callers hold by user, and the keywords whose columns are used up by it."""
    if isinstance(given, Mapping) and len(given) <= 20 and {*validation.IDS} <= {*map(role_of, given)}:
        held = f"a mapping of columns ({', '.join(map(repr, given))}) is given, where one of users is needed"
        raise FrameError(f"{name}: {held}; make it a frame, pandas.DataFrame(...).")
    by_user = isinstance(given, pd.Series) and given.index.nlevels == 1 and not pd.api.types.is_numeric_dtype(given)
    if isinstance(given, Mapping) or by_user:
        where = f"{name}: what is given holds "
        lists = [*(given.values() if isinstance(given, Mapping) else given)]
        return _of_lists(_ids(given.keys(), where, "users"), lists, where, ordered=name == RECS), set()
    if not hasattr(type(given), "columns") and not hasattr(type(given), "__arrow_c_stream__"):
        return given, set()
    label = _column_of_lists(given, name, columns)
    if label is None:
        return given, set()
    user = find(given, name, ["user"], columns)["user"]
    table = _of_cells(given, name, user, label, ordered=name == RECS).rename({"user": user})
    return Made(table), {role for role in (COLUMN_OF_LISTS.get(name, ""), "item") if columns.get(role) == label}


def _column_of_lists(frame: Frame, name: str, columns: Mapping[str, str | None]) -> str | None:
    """Return the one column that holds a list for each user, if there is one."""
    names, keyword = columns_of(frame, name), COLUMN_OF_LISTS.get(name)
    named = [column for column in names if keyword and column == columns.get(keyword)]
    lists = named or [column for column in names if role_of(column) == keyword or _holds_lists(frame, column)]
    items = [column for column in names if column == columns.get("item")] or by_name(names, "item")
    numbers = {column for role in validation.CHECKS for column in (columns.get(role), *by_name(names, role))}
    if items and (items[0] not in lists or numbers & {*names}):
        return None  # a number of each row belongs to one item
    return lists[0] if len(lists) == 1 else None


def _holds_lists(frame: Frame, column: Any) -> bool:
    """Return whether a column of a frame in memory has lists in its cells."""
    if isinstance(frame, pl.DataFrame):
        return isinstance(frame.schema[column], (pl.List, pl.Array))
    if not isinstance(frame, pd.DataFrame) or not isinstance(
        frame[column].dtype, (np.dtypes.ObjectDType, pd.ArrowDtype)
    ):
        return False
    return is_several(next((cell for cell in frame[column] if is_several(cell) or not pd.isna(cell)), None))


def _of_cells(frame: Frame, name: str, user: str, label: str, *, ordered: bool) -> pl.DataFrame:
    """Return the items of the lists in a column of a frame."""
    users = table_of(frame, name, {"user": user})["user"]
    if len(users) == 0:
        raise FrameError(f"{name}: there are no rows to evaluate, it is empty.")
    cells = frame if isinstance(frame, pd.DataFrame) else table_of(frame, name, {label: label})
    return _of_lists(users, cells[label].to_list(), f"{name}: column {label!r} holds ", ordered=ordered)


def _of_lists(users: pl.Series, lists: list[Any], where: str, *, ordered: bool) -> Made:
    """Return user and item; rank or score of recommendations, which are `ordered`, and relevance of a truth that has it.

    An empty or missing list is no list: its user has no row.
    """
    for user in users.filter(users.is_duplicated()).head(1):
        raise FrameError(f"{where}more than one list of user {user!r}: lists of items have one row a user.")
    if not set(map(type, lists)) <= {list, tuple, dict}:
        lists = [_as_list(one, users[row], where, ordered=ordered) for row, one in enumerate(lists)]
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    long = {
        "user": users.gather(np.repeat(np.arange(len(users)), lengths)),
        "item": _ids(chain(*lists), where, "items"),
    }
    scored = any(isinstance(one, Mapping) for one in lists)
    if not scored:
        rank = np.arange(1, lengths.sum() + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Made(long | ({"rank": rank} if ordered else {}))
    if ordered and any(len(one) and not isinstance(one, Mapping) for one in lists):
        fix = "Give all users lists in rank order, or all of them mappings of item to score."
        raise FrameError(f"{where}lists for some users and mappings for others.", fix=fix)
    role = "score" if ordered else "relevance"
    numbers = chain(*[one.values() if isinstance(one, Mapping) else [1.0] * len(one) for one in lists])
    try:
        floats = pl.Series([None if number is None else float(number) for number in numbers], dtype=pl.Float64)
    except (TypeError, ValueError) as problem:
        raise FrameError(f"{where}a {role} that is no number: {problem}.") from problem
    return Made(long | {role: floats})


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
    held = f"{type(one).__name__} {quoted(one)} for user {user!r}"
    raise FrameError(
        f"{where}{held}, where a list of items {forms}, is needed. Models are compared by recnb.compare(models, truth)."
    )


def _ids(values: Iterable[Any], where: str, what: str) -> pl.Series:
    """Return ids as they are, of one kind; None is missing."""
    import pyarrow as pa

    values = list(values)
    try:
        return pl.Series(pl.from_arrow(pa.array(values) if values else pa.array([], pa.string())))
    except (pa.ArrowException, OverflowError) as problem:
        kinds = ", ".join(sorted({type(one).__name__ for one in values}))
        fix = "Make them one kind, such as str(item); items with their scores or relevance are a mapping of each user, dict(pairs)."
        raise FrameError(f"{where}{what} of more than one kind: {kinds}, such as {values[0]!r}.", fix=fix) from problem


# ---- one frame with both sides


class BothSides(NamedTuple):
    """What one frame holds: both tables with their columns by role, and what is to be said of them."""

    recs: pl.DataFrame
    truth: pl.DataFrame
    labels: Mapping[str, str]
    truth_labels: Mapping[str, str]
    notes: tuple[str | Sentence, ...] = ()


def both_sides(frame: Frame, columns: Mapping[str, str | None]) -> BothSides:
    """Split one frame into recommendations and truth."""
    name = "the frame"
    names = columns_of(frame, name)
    for role, column in columns.items():
        if column is not None and column not in names:
            problem = f"{name} has no column {column!r}, which {role}={column!r} names. Columns: {listed(names)}."
            raise ColumnError(problem)
    if all(columns.get(role) or by_name(names, role) for role in COLUMN_OF_LISTS.values()):
        return _both_lists(frame, columns, name)
    index: list[Any] = [*frame.index.names] if isinstance(frame, pd.DataFrame) else []
    has_items = bool(columns.get("item") or by_name([*names, *index], "item"))
    ids = validation.IDS if has_items else ("user",)
    labels = find(frame, name, ids, columns, ["rank", "score", "relevance"], both_sides=True)
    table = table_of(frame, name, labels)
    if not has_items:
        labels["item"] = "item"
        table = table.with_row_index("item")
    table = validation.ids(table, name, labels)
    numbers = [role for role in ("rank", "score") if role in labels]
    placed, judged = ~validation.is_missing(table[numbers[0]]), ~validation.is_missing(table["relevance"])
    for row in (~(placed | judged if has_items else placed & judged)).arg_true().head(1):
        pair = f"user {table['user'][row]!r}, item {table['item'][row]!r}"
        lacks = "no score or no relevance, and rows without items need both"
        lacks = "neither a rank or score nor a relevance" if has_items else lacks
        raise FrameError(f"{name}: row {row} ({pair}) has {lacks}: drop such rows.")
    for there, verb, role in ((placed, "recommends", numbers[0]), (judged, "judges", "relevance")):
        if not there.any():
            raise FrameError(f"{name} {verb} nothing: every value of {labels[role]!r} is missing.")
    notes: list[str | Sentence] = [] if (judged & ~placed).any() else [ONLY_LISTED]
    if not has_items:
        notes.append(ROWS_ARE_ITEMS)
    if numbers == ["score"] and not placed.all():
        notes.append(Sentence(NOT_SCORED, {"n": int((~placed).sum())}))
    recs, truth = table.filter(placed)[["user", "item", *numbers]], table.filter(judged)[["user", "item", "relevance"]]
    return BothSides(recs, truth, labels, {role: labels[role] for role in truth.columns}, tuple(notes))


def _both_lists(frame: Frame, columns: Mapping[str, str | None], name: str) -> BothSides:
    """Read a frame with a row for each user."""
    labels = find(frame, name, ["user", *COLUMN_OF_LISTS.values()], columns)
    tables, roles = [], []
    for side, verb in (("recommended", "recommends"), ("relevant", "judges")):
        table = _of_cells(frame, name, labels["user"], labels[side], ordered=side == "recommended")
        if table.height == 0:
            raise FrameError(f"{name} {verb} nothing: every list of {labels[side]!r} is empty.")
        roles.append({"user": labels["user"], **dict.fromkeys(["item", *table.columns[2:]], labels[side])})
        tables.append(validation.ids(table, name, roles[-1]))
    return BothSides(tables[0], tables[1], roles[0], roles[1])
