"""A list of items for each user, as a row an item: lists and mappings by user or in cells, and a column for each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import Frame, table_of
from recnb.errors import FrameError, FrameName

LISTS = (list, tuple, np.ndarray, pd.Series, pl.Series)
SETS = (set, frozenset)


@dataclass(frozen=True, eq=False)
class ItemLists:
    """The items of each user: those recommended in rank order or with scores, those relevant in any order or with relevance.

    An empty or missing list is no list: its user has no row.
    """

    name: str  #: of the frame, in messages
    label: str | None  #: the column of the lists, if they are in the cells of a frame
    users: pl.Series
    lists: Sequence[Any]
    ordered: bool  #: whether they are recommendations

    @classmethod
    def in_cells(cls, frame: Frame, name: str, user: str, label: str, *, ordered: bool) -> ItemLists:
        """The lists in a column of a frame."""
        users = table_of(frame, name, {"user": user})["user"]
        if isinstance(frame, pl.LazyFrame):
            frame = frame.select(label).collect()
        cells = frame if isinstance(frame, (pd.DataFrame, pl.DataFrame)) else pl.DataFrame(frame)
        return cls(name, label, users, cells[label].to_list(), ordered)

    def table(self) -> pl.DataFrame:
        """User and item; rank or score if they are recommendations, and relevance if the others have it."""
        each_once(self.users, self.name)
        lists = self._checked()
        kinds = set(map(type, lists))
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        together = kinds == {np.ndarray} and {one.dtype.kind for one in lists} <= {"i"}
        items = np.concatenate(lists) if together else list(chain.from_iterable(lists))
        users = self.users.gather(np.repeat(np.arange(len(lists)), lengths))
        table = pl.DataFrame({"user": users, "item": ids_of(items, self.name, self.label, "items")})
        if not any(issubclass(one, Mapping) for one in kinds):
            places = np.arange(1, table.height + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            return table.with_columns(rank=pl.Series(places)) if self.ordered else table
        if not self.ordered:
            numbers = [one.values() if isinstance(one, Mapping) else [1.0] * len(one) for one in lists]
            return table.with_columns(relevance=self._floats(numbers, "relevance"))
        if any(len(one) and not isinstance(one, Mapping) for one in lists):
            one_form = "Give all users lists in rank order, or all of them mappings of item to score."
            raise self._error("holds lists for some users and mappings for others", one_form)
        return table.with_columns(score=self._floats([one.values() for one in lists if len(one)], "score"))

    def _checked(self) -> Sequence[Any]:
        """Each list as a list, an array or a mapping."""
        if set(map(type, self.lists)) <= {list, tuple, dict}:
            return self.lists
        return [self._one(one, at) for at, one in enumerate(self.lists)]

    def _one(self, one: Any, at: int) -> Any:
        if one is None or (isinstance(one, float) and np.isnan(one)):
            return []
        if isinstance(one, (Mapping, np.ndarray)):
            return one
        if isinstance(one, SETS) and not self.ordered:
            return sorted(one, key=str)  # sets have no order of their own: the same rows each time
        if isinstance(one, LISTS):
            return list(one)
        number = (
            "in rank order, or a mapping of item to score,"
            if self.ordered
            else "or a set, or a mapping of item to relevance,"
        )
        raise self._error(
            f"holds {type(one).__name__} {one!r} for user {self.users[at]!r}, where a list of items {number} is needed"
        )

    def _floats(self, numbers: Sequence[Any], what: str) -> pl.Series:
        flat = list(chain.from_iterable(numbers))
        try:
            if set(map(type, flat)) <= {float, int, type(None)}:
                return pl.Series(flat, dtype=pl.Float64, strict=False)
            return pl.Series([None if number is None else float(number) for number in flat], dtype=pl.Float64)
        except (TypeError, ValueError) as problem:
            raise self._error(f"holds a {what} that is no number: {problem}") from problem

    def _error(self, held: str, fix: str = "") -> FrameError:
        return held_error(self.name, self.label, f"{held}.", fix)


def held_error(name: str, label: str | None, held: str, fix: str) -> FrameError:
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
        held = f"holds {what} of more than one kind: {', '.join(sorted(one.__name__ for one in types))}."
        code = f", frame[{label!r}] = frame[{label!r}].map(lambda cell: [str(item) for item in cell])"
        raise held_error(name, label, held, f"Make them one kind{'' if label is None else code}.") from problem


def by_rank(users: pl.Series, items: pl.Series, name: str) -> pl.DataFrame:
    """User, item and rank of as many items for each user, one list after the other; a list may end early, with missing items."""
    width = len(items) // max(len(users), 1)
    missing = items.is_null() | items.is_nan() if items.dtype.is_float() else items.is_null()
    table = pl.DataFrame(
        {
            "user": users.gather(np.repeat(np.arange(len(users)), width)),
            "item": items,
            "rank": np.tile(np.arange(1, width + 1), len(users)),
        }
    )
    if not missing.any():
        return table
    empty = missing.to_numpy().reshape(len(users), width)
    if (gaps := empty[:, :-1] & ~empty[:, 1:]).any():
        row, place = map(int, np.argwhere(gaps)[0])
        held = f" has no item at rank {place + 1} of user {users[row]!r}, and one below it: a list may end early, with None, NaN or -1, and has no gaps."
        raise FrameError(FrameName(name), held)
    return table.filter(~missing)


def each_once(users: pl.Series, name: str) -> None:
    """Refuse a user with several lists."""
    if users.is_duplicated().any():
        twice = users.filter(users.is_duplicated())[0]
        raise FrameError(
            FrameName(name), f": user {twice!r} has more than one row; lists of items have one row a user."
        )
