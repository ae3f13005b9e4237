"""Lists in cells, one for each user, as a table with a row an item.

    user  recommended          user  item  rank
    ann   ["a", "b"]     ->    ann   "a"   1
    bob   ["c"]                ann   "b"   2
                               bob   "c"   1

Items may have numbers, {"a": 0.9} or [("a", 0.9)]: the scores of recommendations, and the
relevance in other tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Number
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import as_column
from recnb.data.names import RECS, Named, role_of
from recnb.data.roles import columns_named, labels_of
from recnb.data.tables import InputTable, ListTable, refuse_equal_names
from recnb.errors import FrameError, is_several, quoted
from recnb.metrics.hits import Ints

#: How the error for a cell that is no list ends; the command line leaves it out.
COMPARED = " Models are compared by recnb.compare(models, truth)."


def with_a_row_an_item(table: InputTable, named: Named, label: str) -> ListTable:
    """Return the items of lists in cells in a row each.

    Columns of users and of a split keep their names. That of items has the name that a
    keyword gives such columns.
    """
    item = next(iter(named.get("item", ())), "item")
    user = labels_of(table, named, {"user": True})["user"]
    by_list = [user, *columns_named(table, "split", named)]
    if isinstance(table.frame, pd.DataFrame):
        cells: Any = table.frame[label].to_list()  # which may be of several kinds
        rows = table.select({column: column for column in by_list})
    else:
        rows = table.select({column: column for column in (*by_list, label)})
        cells = rows[label]
    users, *of_split = rows.select(by_list).get_columns()
    if isinstance(cells, pl.Series) and cells.dtype == pl.Struct:
        cells = [_mapping_of(struct) for struct in cells]
    return ListCells(table.name, users, cells, of_split, label, item).in_rows()


def _mapping_of(struct: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a struct as a mapping: each has the fields of all, null where it had none."""
    if struct is None:
        return None
    return {item: number for item, number in struct.items() if number is not None}


class Flat(NamedTuple):
    """Lists taken apart."""

    lengths: Ints
    items: pl.Series
    #: [item] -> its number; None: lists have no numbers.
    numbers: pl.Series | None = None


@dataclass(frozen=True, eq=False)
class ListCells:
    """The list of each user, in a cell."""

    name: str  #: what errors call the table
    users: pl.Series
    cells: Sequence[Any] | pl.Series
    split: Sequence[pl.Series] = ()  #: the columns that tell the lists of a user apart
    label: str = ""  #: what the caller calls the column of lists
    item: str = "item"  #: what the column of items is called

    @property
    def where(self) -> str:
        """How errors begin."""
        column = f": column {self.label!r}" if self.label else ""
        return f"{self.name}{column} holds"

    @property
    def are_ranked(self) -> bool:
        """Whether the order of a list says something."""
        return self.name == RECS

    @property
    def number(self) -> str:
        """The role of numbers of items."""
        return "score" if self.are_ranked else "relevance"

    def in_rows(self) -> ListTable:
        """Return a row for each item, with its user and values of a split.

        Recommendations have its rank or score, other tables its relevance if it is given.
        """
        keys = pl.DataFrame([self.users, *self.split])
        repeated = self.users.filter(keys.is_duplicated())
        if len(repeated):
            raise FrameError(
                f"{self.where} more than one list of user {repeated[0]!r}: lists of items "
                "have one row a user."
            )
        flat = self._flat()
        row = np.repeat(np.arange(len(self.users)), flat.lengths)
        columns = [*keys[row], flat.items.alias(self.item)]
        if flat.numbers is not None:
            columns.append(flat.numbers.alias(self.number))
        elif self.are_ranked:
            starts = np.cumsum(flat.lengths) - flat.lengths
            columns.append(pl.Series("rank", np.arange(1, len(row) + 1) - starts[row]))
        refuse_equal_names([column.name for column in columns], self.name)
        without_items: Sequence[Any] = ()
        if not flat.lengths.all():
            without_items = self.users.filter(pl.Series(flat.lengths == 0)).to_list()
        rows = pl.DataFrame(columns)
        return ListTable(self.name, rows, rows.columns, without_items)

    def _flat(self) -> Flat:
        """Take the lists apart."""
        cells = self.cells
        if isinstance(cells, pl.Series) and cells.dtype in (pl.List, pl.Array):
            return _flat_of_polars(cells, self.where)
        lists = self._lists_of_python()
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        has_mappings = any(isinstance(cell, Mapping) for cell in lists)
        if has_mappings:
            lists = [*map(self._with_numbers, lists)]
        entries = [*chain.from_iterable(lists)]
        if not has_mappings:
            if not _are_pairs(entries, self.where):
                return Flat(lengths, self._column(entries, "item"))
            entries = [_pair(entry, self.where) for entry in entries]
        items = [item for item, _ in entries]
        numbers = [number for _, number in entries]
        return Flat(
            lengths,
            items=self._column(items, "item"),
            numbers=self._column(numbers, self.number),
        )

    def _column(self, values: Sequence[Any], role: str) -> pl.Series:
        """Return the values that play a role, as one column."""
        in_words = f"{self.name}: column {self.label or role!r}"
        return as_column(values, in_words, role)

    def _lists_of_python(self) -> list[Any]:
        """Return each cell as a list, or a mapping of item to number."""
        cells = [*self.cells]
        if {*map(type, cells)} <= {list, tuple, dict}:
            return cells
        users = self.users.to_list()
        return [self._as_list(*pair) for pair in zip(cells, users, strict=True)]

    def _as_list(self, cell: Any, user: Any) -> Any:
        """Return a cell as a list, or a mapping of item to number.

        A Series or a frame is refused, since its values may be items, or numbers by item,
        and as a ranked list a set, which has no order.
        """
        is_nan = isinstance(cell, float) and np.isnan(cell)
        if cell is None or cell is pd.NA or is_nan:
            return []
        if isinstance(cell, Mapping):
            return cell
        is_table = isinstance(cell, pd.Series) or hasattr(type(cell), "columns")
        if isinstance(cell, (set, frozenset)):
            if not self.are_ranked:
                return sorted(cell, key=str)  # the same rows each time
        elif is_several(cell) and not is_table:
            return cell.tolist() if hasattr(cell, "tolist") else [*cell]
        raise FrameError(
            f"{self.where} {type(cell).__name__} {quoted(cell)} for user {user!r}, where a "
            "list of items is needed, of recommendations in rank order, or a mapping of "
            "item to score or relevance: of a Series .tolist(), or .to_dict() if its index "
            f"has the items.{COMPARED}",
            {COMPARED: ""},
        )

    def _with_numbers(self, cell: Any) -> Iterable[tuple[Any, Any]]:
        """Return the items of a mapping with their numbers; in a list each has 1.

        Where recommendations of others have scores, a list is refused.
        """
        if isinstance(cell, Mapping):
            return cell.items()
        if self.are_ranked and len(cell):
            raise FrameError(
                f"{self.where} lists for some users and mappings for others. Give all "
                "users lists in rank order, or all of them mappings of item to score."
            )
        return [(item, 1.0) for item in cell]


def _flat_of_polars(cells: pl.Series, where: str) -> Flat:
    """Take lists of Polars apart; of structs, one field is the item and one its number."""
    if isinstance(cells.dtype, pl.Array):
        cells = cells.arr.to_list()
    lengths = cells.list.len().fill_null(0).to_numpy().astype(np.int64)
    items = cells.filter(pl.Series(lengths > 0)).explode()
    known = items.drop_nulls()
    if not isinstance(items.dtype, pl.Struct) or not len(known):
        return Flat(lengths, items)
    _refuse_other_pairs(known[0], where)
    return Flat(lengths, *items.struct.unnest())


# ---- pairs of item and number in lists: [("a", 3.0)] for {"a": 3.0}


def _are_pairs(entries: Sequence[Any], where: str) -> bool:
    """Return whether the entries of lists are pairs, as the first is."""
    first = next(iter(entries), None)
    if not isinstance(first, (tuple, Mapping)):
        return False
    _refuse_other_pairs(first, where)
    return True


def _refuse_other_pairs(entry: Any, where: str) -> None:
    """Refuse what may be something else than an item and then its number."""
    item, number = _pair(entry, where)
    first, *others = [role_of(field) for field in _fields_of(entry)] or [None]
    both_whole = isinstance(item, Integral) and isinstance(number, Integral)
    is_clear = first == "item" or (first is None and not both_whole)
    # What is missing is refused later, by its row.
    is_pair = isinstance(item, (str, Integral, NoneType)) and isinstance(
        number, (Number, NoneType)
    )
    if not is_clear or not is_pair or not {"item", "rank"}.isdisjoint(others):
        raise _no_items(entry, where)


def _pair(entry: Any, where: str) -> tuple[Any, Any]:
    """Return the two values of an entry of a list."""
    if not isinstance(entry, (tuple, Mapping)):
        raise FrameError(
            f"{where} {quoted(entry)} beside pairs of item and number: give all entries "
            "of lists alike."
        )
    values = [*(entry.values() if isinstance(entry, Mapping) else entry)]
    if len(values) != 2:
        raise _no_items(entry, where)
    return values[0], values[1]


def _fields_of(entry: Any) -> list[str]:
    """Return the names of the fields of a mapping, a named tuple or a row of Spark."""
    if isinstance(entry, Mapping):
        return [*entry]
    return [*getattr(entry, "_fields", getattr(entry, "__fields__", ()))]


def _no_items(entry: Any, where: str) -> FrameError:
    """Return the error for a list of other things than items."""
    fields = _fields_of(entry)
    if fields:
        ids = [one for one in fields if one in ("id", "_id") or role_of(one) == "item"]
        field = repr((ids or fields)[0])
        taken = f"[one[{field}] for one in items]"
        return FrameError(
            f"{where} values such as {quoted(entry)[:120]} in lists, where items are "
            f"ids. Take one field of each, {taken}; with a number of each, give a "
            "mapping of item to number.",
            {taken: field},
        )
    return FrameError(
        f"{where} tuples such as {quoted(entry)} in lists, where items are ids. Of pairs "
        "of item and number, give the item first, or a mapping of item to number."
    )
