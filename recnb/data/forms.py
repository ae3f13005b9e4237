"""Forms of input: each is a function that makes a table of what it knows.

They are asked from left to right, as each may know a thing better than those after it:

    log, numbered, folder  ->  records  ->  by_pair  ->  by_user  ->  frame  ->  path
        (of `inputs/`)

`@form` puts a function first: the lowest here is asked before those above it, and one of
`inputs/`, whose modules are imported later, before all of these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import files
from recnb.data.convert import as_column
from recnb.data.names import IDS, OF_LISTS, RECS, TRUTH, Named, RolesWanted, role_of
from recnb.data.roles import settle
from recnb.data.tables import InputTable, not_read, table_of
from recnb.errors import FrameError, NoRowsError, is_several, quoted
from recnb.metrics.hits import Ints

#: What was given, what errors call it, columns named by keyword -> a table, or None if it
#: is of another form.
Form: TypeAlias = Callable[[Any, str, Named], InputTable | None]
Tables: TypeAlias = Mapping[str, InputTable]
#: Tables by name, columns named by keyword -> the same with more columns named.
Hint: TypeAlias = Callable[[Tables, Named], tuple[Tables, Named]]
#: The lengths of lists, all their items, and the number of each item if it has one.
Flat: TypeAlias = tuple[Ints, pl.Series, pl.Series | None]

FORMS: list[Form] = []
HINTS: list[Hint] = []
#: The tables that hold lists of users.
WITH_LISTS = (*OF_LISTS, "train")
#: What files of no other form are.
TREC: dict[str, files.Trec] = {RECS: "run", TRUTH: "qrels"}


def form(function: Form) -> Form:
    """Register a form of input, which is asked before those known."""
    FORMS.insert(0, function)
    return function


def hint(function: Hint) -> Hint:
    """Register what names columns that a form knows, once all tables are open."""
    HINTS.append(function)
    return function


def opened(thing: Any, name: str, named: Named) -> InputTable:
    """Return what was given as a table, in whatever form it is."""
    if isinstance(thing, InputTable):
        return replace(thing, name=name)
    for read in FORMS:
        table = read(thing, name, named)
        if table is not None:
            return table
    raise not_read(thing, name)


@form
def path(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a file, or the files of a folder or a pattern."""
    if not isinstance(thing, (str, os.PathLike)):
        return None
    rows = files.read(thing, TREC.get(name), named)
    columns = rows.collect_schema().names()
    return InputTable(
        name, rows, columns, made_by_recnb=True, from_text=files.is_csv(thing)
    )


@form
def frame(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a frame of any library, or a data set that makes one."""
    table = table_of(thing, name)
    is_series = isinstance(thing, pl.Series)
    if table is None and hasattr(type(thing), "to_pandas") and not is_series:
        return table_of(thing.to_pandas(), name)  # of Hugging Face, or of ragas
    return table


@form
def by_user(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list for each user: a mapping, a Series, a Run or Qrels of ranx."""
    if type(thing).__module__.startswith("ranx."):
        thing = thing.to_dict()
    if name not in WITH_LISTS or _is_by_pair(thing):
        return None
    if isinstance(thing, Mapping):
        cells = [*thing.values()]
    elif isinstance(thing, pd.Series) and not pd.api.types.is_numeric_dtype(thing):
        cells = thing.to_list()
    else:
        return None
    keys = pl.DataFrame([as_column([*thing.keys()], name, "user", "user")])
    return rows_of_lists(keys, cells, f"{name} holds", name)


@form
def by_pair(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a number for each pair of user and item: a mapping, or a Series."""
    if name not in WITH_LISTS or not _is_by_pair(thing):
        return None
    roles = [*IDS]
    if isinstance(thing, pd.Series):
        roles = _roles_of_levels(thing, name)
        if role_of(thing.name) == "rank":
            raise FrameError(
                f"{name} is a Series of ranks by user and item, where scores are needed. "
                "Make columns of it, .reset_index()."
            )
    pairs = [*thing.keys()]
    numbers = thing.to_list() if isinstance(thing, pd.Series) else [*thing.values()]
    odd = [pair for pair in pairs if not isinstance(pair, tuple) or len(pair) != 2]
    odd += [number for number in numbers if is_several(number)]
    if odd:
        raise FrameError(
            f"{name} holds {quoted(odd[0])} among numbers of pairs of user and item: "
            "give each pair its number, {('ann', 'a'): 3.0}."
        )
    number = "score" if name == RECS else "relevance"
    columns = [
        as_column([pair[at] for pair in pairs], name, role, role)
        for at, role in enumerate(roles)
    ]
    columns.append(as_column(numbers, name, number, number))
    return InputTable.of_rows(name, pl.DataFrame(columns), is_one_side=True)


def _is_by_pair(thing: Any) -> bool:
    """Return whether the keys are pairs."""
    if isinstance(thing, pd.Series):
        return thing.index.nlevels == 2
    return isinstance(thing, Mapping) and isinstance(next(iter(thing), None), tuple)


def _roles_of_levels(series: pd.Series[Any], name: str) -> list[str]:
    """Return which level of an index holds users, and which items."""
    levels = [*series.index.names]
    roles = [role_of(level) for level in levels]
    if roles == ["item", "user"]:
        return ["item", "user"]
    wrong = [
        role
        for role, usual in zip(roles, IDS, strict=True)
        if role not in (None, usual)
    ]
    if wrong:
        raise FrameError(
            f"{name} is a Series by {levels[0]!r} and {levels[1]!r}, where user and item "
            "are needed. Make columns of them, .reset_index(), and name those that are "
            "meant, user='...', item='...'."
        )
    return [*IDS]


@form
def records(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list of dictionaries, of which each is a row."""
    if not isinstance(thing, (list, tuple)):
        return None
    if not thing:
        raise NoRowsError(f"{name}: there are no rows to evaluate, it is empty.")
    if not all(isinstance(row, Mapping) for row in thing):
        return None
    table = InputTable.of(pd.DataFrame([*thing]), name)
    return replace(table, made_by_recnb=True)


# ---- lists in cells


def list_column_of(table: InputTable, named: Named) -> str | None:
    """Return the column of a list for each user.

    It is named by keyword or, of a table without items, by its name.
    """
    if table.name not in WITH_LISTS or table.is_one_side:
        return None
    asked = named.get(OF_LISTS.get(table.name, ""))
    if asked:
        return asked[0] if asked[0] in table.columns else None
    if table.has_role("item", named):
        return None
    # Lists of train are of what was relevant before.
    usual = table.by_role.get(OF_LISTS.get(table.name, "relevant"), [])
    return usual[0] if len(usual) == 1 else None


def with_a_row_an_item(
    table: InputTable, named: Named, label: str, item: str
) -> InputTable:
    """Return the items of lists in cells in a row each, in a column `item`.

    Columns of users and of a split keep their names.
    """
    user = settle(table, named, RolesWanted(("user",)))["user"]
    split = [column for column in named.get("split", ()) if column in table.columns]
    keys = table.select({column: column for column in (user, *split)})
    if isinstance(table.frame, pd.DataFrame):
        cells: Any = table.frame[label].to_list()  # which may be of several kinds
    else:
        cells = table.select({label: label})[label]
    where = f"{table.name}: column {label!r} holds"
    rows = rows_of_lists(keys, cells, where, table.name, label)
    renamed = rows.frame.rename({"item": item})
    return replace(rows, frame=renamed, columns=renamed.columns)


def rows_of_lists(
    keys: pl.DataFrame, cells: Any, where: str, name: str, label: str = ""
) -> InputTable:
    """Return a row for each item, with its user and values of a split.

    Recommendations have its rank or score, other tables its relevance if it is given.
    """
    users = keys.to_series(0)
    repeated = users.filter(keys.is_duplicated())
    if len(repeated):
        raise FrameError(
            f"{where} more than one list of user {repeated[0]!r}: lists of items have one "
            "row a user."
        )
    if isinstance(cells, pl.Series) and cells.dtype in (pl.List, pl.Array):
        lengths, items, numbers = _flat_of_polars(cells, where)
    else:
        lengths, items, numbers = _flat_of_python([*cells], users, where, name, label)
    row = np.repeat(np.arange(len(users)), lengths)
    columns = {**keys[row].to_dict(), "item": items.alias("item")}
    if numbers is not None:
        role = "score" if name == RECS else "relevance"
        columns[role] = numbers.alias(role)
    elif name == RECS:
        starts = np.cumsum(lengths) - lengths
        columns["rank"] = pl.Series(np.arange(1, len(row) + 1) - starts[row])
    without_items = []
    if not lengths.all():
        without_items = users.filter(pl.Series(lengths == 0)).to_list()
    rows = pl.DataFrame(columns)
    return InputTable.of_rows(name, rows, is_one_side=True, without_items=without_items)


def _flat_of_polars(cells: pl.Series, where: str) -> Flat:
    """Take lists of Polars apart; of structs, one field is the item and one its number."""
    if isinstance(cells.dtype, pl.Array):
        cells = cells.arr.to_list()
    lengths = cells.list.len().fill_null(0).to_numpy().astype(np.int64)
    items = cells.filter(pl.Series(lengths > 0)).explode()
    known = items.drop_nulls()
    if not isinstance(items.dtype, pl.Struct) or not len(known):
        return lengths, items, None
    at = _place_of_item(known[0], where)
    fields = items.struct.unnest().get_columns()
    return lengths, fields[at], fields[1 - at]


def _flat_of_python(
    cells: list[Any], users: pl.Series, where: str, name: str, label: str
) -> Flat:
    """Take lists and mappings of Python apart."""
    are_ranked = name == RECS
    plain = cells
    if not {*map(type, cells)} <= {list, tuple, dict}:
        plain = [
            _as_list(cell, user, where, are_ranked=are_ranked)
            for user, cell in zip(users, cells, strict=True)
        ]
    several = _with_pairs_as_mappings(plain, where)
    lengths = np.fromiter(map(len, several), dtype=np.int64, count=len(several))
    items = as_column([*chain.from_iterable(several)], name, label or "item", "item")
    if not any(isinstance(one, Mapping) for one in several):
        return lengths, items, None
    numbers: list[Any] = []
    for one in several:
        if isinstance(one, Mapping):
            numbers += one.values()
        elif are_ranked and len(one):
            raise FrameError(
                f"{where} lists for some users and mappings for others. Give all users "
                "lists in rank order, or all of them mappings of item to score."
            )
        else:
            numbers += [1.0] * len(one)
    role = "score" if are_ranked else "relevance"
    return lengths, items, as_column(numbers, name, label or role, role)


def _as_list(cell: Any, user: Any, where: str, *, are_ranked: bool) -> Any:
    """Return the items of one user as a list or a mapping."""
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return []
    if isinstance(cell, Mapping):
        return cell
    if isinstance(cell, (set, frozenset)):
        if not are_ranked:
            return sorted(cell, key=str)  # the same rows each time
    elif is_several(cell) and not hasattr(type(cell), "columns"):
        return cell.tolist() if hasattr(cell, "tolist") else [*cell]
    if are_ranked:
        forms = "in rank order, or a mapping of item to score"
    else:
        forms = "or a set, or a mapping of item to relevance"
    raise FrameError(
        f"{where} {type(cell).__name__} {quoted(cell)} for user {user!r}, where a list "
        f"of items {forms}, is needed. Models are compared by recnb.compare(models, truth)."
    )


# ---- pairs of item and number in lists: [("a", 3.0)] for {"a": 3.0}


def _with_pairs_as_mappings(cells: list[Any], where: str) -> list[Any]:
    """Return mappings of item to number in the place of lists of such pairs."""
    first: Any = next(filter(len, cells), None)
    if isinstance(first, Mapping) or first is None:
        return cells
    if not isinstance(first[0], (tuple, Mapping)):
        return cells
    at = _place_of_item(first[0], where)
    return [
        cell if isinstance(cell, Mapping) else _as_mapping(cell, at, where)
        for cell in cells
    ]


def _as_mapping(entries: Any, at: int, where: str) -> dict[Any, Any]:
    """Return pairs as a mapping of item to number."""
    pairs = [_pair(entry, where) for entry in entries]
    mapping = {pair[at]: pair[1 - at] for pair in pairs}
    if len(mapping) < len(pairs):
        raise FrameError(
            f"{where} an item twice in {quoted(entries)[:120]}: give each item of a list "
            "once."
        )
    return mapping


def _place_of_item(entry: Any, where: str) -> int:
    """Return which of two values is the item, where the other one is its number.

    Names of fields tell, else the item is first; of two whole numbers either may be it.
    """
    values = _pair(entry, where)
    roles = [role_of(field) for field in _fields_of(entry)]
    by_name = "item" in roles
    at = roles.index("item") if by_name else 0
    if "rank" in roles:
        raise FrameError(
            f"{where} items with ranks such as {quoted(entry)[:120]} in lists, which are "
            "in rank order: give the items alone, or a frame with a row an item."
        )
    item, number = values[at], values[1 - at]
    is_id = isinstance(item, (str, Integral))
    is_told = by_name or isinstance(item, str) or not isinstance(number, Integral)
    if not is_id or not is_told or not isinstance(number, (Real, type(None))):
        raise _no_items(entry, where)
    return at


def _pair(entry: Any, where: str) -> list[Any]:
    """Return the two values of an entry of a list."""
    if not isinstance(entry, (tuple, Mapping)):
        raise FrameError(
            f"{where} {quoted(entry)} beside pairs of item and number: give all entries "
            "of lists alike."
        )
    values = [*(entry.values() if isinstance(entry, Mapping) else entry)]
    if len(values) != 2:
        raise _no_items(entry, where)
    return values


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
        return FrameError(
            f"{where} values such as {quoted(entry)[:120]} in lists, where items are "
            f"ids. Take one field of each, [one[{(ids or fields)[0]!r}] for one in "
            "items]; with a number of each, give a mapping of item to number."
        )
    return FrameError(
        f"{where} tuples such as {quoted(entry)} in lists, where items are ids. Of pairs "
        "of item and number, give the item first, or a mapping of item to number."
    )
