"""A list of items for each user, as a row an item: lists and mappings by user or in cells, and a column for each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import Frame, table_of
from recnb.data.validation import is_missing
from recnb.errors import FrameError, FrameName, is_several, quoted
from recnb.metrics.hits import Ints

LISTS = (list, tuple, np.ndarray, pd.Series, pl.Series)
SETS = (set, frozenset)


def in_cells(frame: Frame, name: str, user: str, label: str, *, ordered: bool) -> pl.DataFrame:
    """The items of the lists in a column of a frame, as in `by_user`."""
    users = table_of(frame, name, {"user": user})["user"]
    if len(users) == 0:
        raise FrameError(FrameName(name), ": there are no rows to evaluate.")
    if isinstance(frame, pl.LazyFrame):
        frame = frame.select(label).collect()
    cells = frame if isinstance(frame, (pd.DataFrame, pl.DataFrame)) else pl.DataFrame(frame)
    return by_user(users, cells[label].to_list(), name, label, ordered=ordered)


def of_mapping(given: Mapping[Any, Any] | pd.Series[Any], name: str) -> pl.DataFrame:
    """The items of lists by user, as in `by_user`."""
    lists = list(given.values() if isinstance(given, Mapping) else given)
    return by_user(ids_of(given.keys(), name, None, "users"), lists, name, ordered=name == "recommendations")


def by_user(
    users: pl.Series, lists: Sequence[Any], name: str, label: str | None = None, *, ordered: bool
) -> pl.DataFrame:
    """User and item; rank or score if they are recommendations, which are `ordered`, and relevance if the others have it.

    An empty or missing list is no list: its user has no row. `label` is the column of the lists, if they are in cells.
    """
    if not set(map(type, lists)) <= {list, tuple, dict}:
        lists = [_checked(one, users, at, name, label, ordered) for at, one in enumerate(lists)]
    kinds = set(map(type, lists))
    together = kinds == {np.ndarray} and {one.dtype.kind for one in lists} <= {"i"}
    items = ids_of(np.concatenate(lists) if together else list(chain.from_iterable(lists)), name, label, "items")
    table = _rows(users, items, np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)), name)
    if not any(issubclass(one, Mapping) for one in kinds):
        return table if ordered else table.drop("rank")
    if ordered and any(len(one) and not isinstance(one, Mapping) for one in lists):
        one_form = "Give all users lists in rank order, or all of them mappings of item to score."
        raise held_error(name, label, "holds lists for some users and mappings for others.", one_form)
    role = "score" if ordered else "relevance"
    values = (one.values() if isinstance(one, Mapping) else [1.0] * len(one) for one in lists)
    numbers = list(chain.from_iterable(values))
    try:
        if not set(map(type, numbers)) <= {float, int, type(None)}:
            numbers = [None if number is None else float(number) for number in numbers]
        return table.drop("rank").with_columns(pl.Series(role, numbers, dtype=pl.Float64, strict=False))
    except (TypeError, ValueError) as problem:
        raise held_error(name, label, f"holds a {role} that is no number: {problem}.") from problem


def _checked(one: Any, users: pl.Series, at: int, name: str, label: str | None, ordered: bool) -> Any:
    """A list as a list, an array or a mapping."""
    if one is None or (isinstance(one, float) and np.isnan(one)):
        return []
    if isinstance(one, (Mapping, np.ndarray)):
        return one
    if isinstance(one, SETS) and not ordered:
        return sorted(one, key=str)  # sets have no order of their own: the same rows each time
    if isinstance(one, LISTS) or (is_several(one) and not isinstance(one, SETS) and not hasattr(type(one), "columns")):
        return list(one.tolist() if hasattr(one, "tolist") and not isinstance(one, LISTS) else one)
    forms = "in rank order, or a mapping of item to score" if ordered else "or a set, or a mapping of item to relevance"
    if hasattr(type(one), "columns"):
        held = f"holds a frame, {quoted(one)}, for user {users[at]!r}: one frame has all users. Models are compared by recnb.compare(models, truth)."
        raise held_error(name, label, held)
    held = f"holds {type(one).__name__} {quoted(one)} for user {users[at]!r}, where a list of items {forms}, is needed."
    raise held_error(name, label, held)


def holds_lists(frame: Frame, column: Any, kinds: tuple[type, ...] = (*LISTS, *SETS, Mapping)) -> bool:
    """Whether a column of a frame in memory has lists in its cells."""
    if isinstance(frame, pd.DataFrame):
        cells = frame[column]
        if cells.dtype != object and not isinstance(cells.dtype, pd.ArrowDtype):
            return False
        known = (cell for cell in cells if not (pd.api.types.is_scalar(cell) and pd.isna(cell)))
        return isinstance(next(known, None), kinds)
    return isinstance(frame, pl.DataFrame) and isinstance(frame.schema[column], (pl.List, pl.Array))


def held_error(name: str, label: str | None, held: str, fix: str = "") -> FrameError:
    """An error about what a frame holds in a column, or about what holds no columns."""
    if label is not None:
        return FrameError.of_column(name, label, held, fix=fix)
    return FrameError(FrameName(name), f": what is given {held}", fix=fix)


def ids_of(values: Any, name: str, label: str | None, what: str) -> pl.Series:
    """Ids as they are, of one kind; None is missing."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return pl.Series(values)
    values = list(values)
    types = set(map(type, values))
    try:
        if len(types) > 1 and types & {bool, np.bool_}:  # True would become 1
            raise TypeError
        if types in ({pd.Timestamp}, {pd.Timedelta}):
            return pl.from_pandas(pd.Series(values))  # Polars would cut them to microseconds
        return pl.Series(values, strict=True) if values else pl.Series(values, dtype=pl.String)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as problem:
        if any(issubclass(one, tuple) for one in types):
            pair = next(one for one in values if isinstance(one, tuple))
            fix = (
                "For items with their scores or relevance give a mapping of item to number for each user, dict(pairs)."
            )
            raise held_error(name, label, f"holds {what} that are tuples, such as {pair!r}.", fix) from problem
        held = f"holds {what} of more than one kind: {', '.join(sorted(one.__name__ for one in types))}."
        code = f", frame[{label!r}] = frame[{label!r}].map(lambda cell: [str(item) for item in cell])"
        raise held_error(name, label, held, f"Make them one kind{'' if label is None else code}.") from problem


def by_rank(users: pl.Series, items: pl.Series, name: str) -> pl.DataFrame:
    """User, item and rank of as many items for each user, one list after the other; a list may end early, with missing items."""
    table = _rows(users, items, np.full(len(users), len(items) // max(len(users), 1)), name)
    missing = is_missing(items)
    if not missing.any():
        return table
    table = table.filter(~missing)
    place = table.select(pl.int_range(1, pl.len() + 1).over("user")).to_series()
    for row in (table["rank"] != place).arg_true().head(1).to_list():
        held = f": there is no item at rank {place[row]} of user {table['user'][row]!r}, and one below it: a list may end early, with None, NaN or -1, and has no gaps."
        raise FrameError(FrameName(name), held)
    return table


def _rows(users: pl.Series, items: pl.Series, lengths: Ints, name: str) -> pl.DataFrame:
    """User, item and rank of lists of these lengths, one after the other; each user has one."""
    if users.is_duplicated().any():
        twice = users.filter(users.is_duplicated())[0]
        raise FrameError(
            FrameName(name), f": user {twice!r} has more than one row; lists of items have one row a user."
        )
    user = np.repeat(np.arange(len(users)), lengths)
    rank = np.arange(1, len(items) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return pl.DataFrame({"user": users.gather(user), "item": items, "rank": rank})
