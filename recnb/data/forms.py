"""Forms of input beside frames: each is a function that makes a table of what it knows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import files
from recnb.data.lists import ListCells
from recnb.data.names import IDS, OF_LISTS, RECS, Named, role_of
from recnb.data.role_table import no_rows
from recnb.data.roles import WITH_LISTS
from recnb.data.tables import (
    FORMS,
    InputTable,
    ListTable,
    MadeTable,
    as_column,
    is_file,
)
from recnb.errors import FrameError, is_number, is_several, listed, quoted


def records(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list of dictionaries, of which each is a row."""
    if not isinstance(thing, (list, tuple)):
        return None
    if not thing:
        raise no_rows(name)
    if not all(isinstance(row, Mapping) for row in thing):
        return None
    _refuse_numbers_of_items(thing, name, named)
    return MadeTable.of(pd.DataFrame([*thing]), name)


def _refuse_numbers_of_items(thing: Any, name: str, named: Named) -> None:
    """Refuse dictionaries of numbers, none of whose keys is known to name a column."""
    if name not in OF_LISTS:
        return
    named_columns = {*chain.from_iterable(named.values())}
    if not named_columns.isdisjoint(thing[0]) or any(map(role_of, thing[0])):
        return
    if thing[0] and all(map(is_number, thing[0].values())):
        raise FrameError(
            f"{name} is a list of dictionaries such as {quoted(thing[0])[:120]}, each a "
            "row of columns, or the numbers of the items of a query. Columns are named, "
            "user='...', item='...'; numbers of items are given by query, "
            "dict(enumerate(lists))."
        )


def by_pair(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a number for each pair of user and item: a mapping, or a Series."""
    if name not in WITH_LISTS or not _is_by_pair(thing):
        return None
    pairs = [*thing.keys()]
    wrong = [pair for pair in pairs if not isinstance(pair, tuple) or len(pair) != 2]
    numbers = thing.to_list() if isinstance(thing, pd.Series) else thing.values()
    wrong += filter(is_several, numbers)
    if wrong:
        raise FrameError(
            f"{name} holds {quoted(wrong[0])} among numbers of pairs of user and item: "
            "give each pair its number, {('ann', 'a'): 3.0}."
        )
    if isinstance(thing, Mapping):
        # As objects, large whole numbers stay apart.
        thing = pd.Series(dict(thing), dtype=object)
    number = "score" if name == RECS else "relevance"
    rows = rows_of_pairs(thing, name, number)
    if role_of(thing.name) == "rank":
        raise FrameError(
            f"{name} is a Series of ranks by user and item, where scores are needed. "
            "Make columns of it, .reset_index()."
        )
    return ListTable.of(rows, name)


def _is_by_pair(thing: Any) -> bool:
    """Return whether the keys are pairs."""
    if isinstance(thing, pd.Series):
        return thing.index.nlevels == 2
    return isinstance(thing, Mapping) and isinstance(next(iter(thing), None), tuple)


def rows_of_pairs(series: pd.Series[Any], name: str, number: str) -> pd.DataFrame:
    """Return a Series by user and item, or by item and user, with columns of both."""
    levels = series.index.names
    roles = [*IDS]
    if [*map(role_of, levels)] == ["item", "user"]:
        roles.reverse()
    for level, role in zip(levels, roles, strict=True):
        if role_of(level) not in (None, role):
            raise FrameError(
                f"{name} is a Series by {levels[0]!r} and {levels[1]!r}, where user and "
                "item are needed. Make columns of them, .reset_index(), and name those "
                "that are meant, user='...', item='...'."
            )
    return series.rename_axis(roles).rename(number).reset_index()


def by_user(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list for each user: a mapping, a Series, a Run or Qrels of ranx."""
    if type(thing).__module__.startswith("ranx."):
        thing = thing.to_dict()
    if name not in WITH_LISTS or _is_by_pair(thing):
        return None
    if isinstance(thing, Mapping):
        _refuse_columns(thing, name)
        cells = [*thing.values()]
    elif isinstance(thing, pd.Series) and not pd.api.types.is_numeric_dtype(thing):
        cells = thing.to_list()
    else:
        return None
    users = as_column([*thing.keys()], name, "user", "user")
    return ListCells(name, users, cells).in_rows()


def _refuse_columns(thing: Mapping[Any, Any], name: str) -> None:
    """Refuse columns by their names, which are no users."""
    roles = {*map(role_of, islice(thing, 20))}  # a table has few columns
    if not {*IDS} <= roles:
        return
    kinds = (list, tuple, np.ndarray, pd.Series, pl.Series)
    cells = thing.values()
    are_columns = all(isinstance(cell, kinds) for cell in cells)
    if are_columns and len({*map(len, cells)}) == 1:
        raise FrameError(
            f"{name} is a dictionary of columns, {listed(thing)}, and a mapping is read "
            "by user. Make a frame of it, pandas.DataFrame(columns)."
        )


def path(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a file, or those of Parquet in a folder or a pattern."""
    if not is_file(thing):
        return None
    return files.read(thing, name, named)


def data_set(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read what makes a frame of pandas, as a data set of Hugging Face or of ragas."""
    if isinstance(thing, pl.Series) or not hasattr(type(thing), "to_pandas"):
        return None
    frame = thing.to_pandas()
    return MadeTable.of(frame, name) if isinstance(frame, pd.DataFrame) else None


FORMS += [records, by_pair, by_user, path, data_set]
