"""Forms of input beside frames: each is a function that makes a table of what it knows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import pandas as pd
import polars as pl

from recnb.data import files
from recnb.data.columns import as_column
from recnb.data.lists import ListCells
from recnb.data.names import IDS, RECS, Named, role_of
from recnb.data.role_table import no_rows
from recnb.data.roles import HOLD_LISTS
from recnb.data.tables import FORMS, InputTable, ListTable, MadeTable, is_path
from recnb.errors import FrameError, is_several, listed


def records(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list of dictionaries, of which each is a row."""
    if not isinstance(thing, (list, tuple)):
        return None
    if not thing:
        raise no_rows(name)
    if not all(isinstance(row, Mapping) for row in thing):
        return None
    return MadeTable.of(pd.DataFrame([*thing]), name)


def by_pair(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a number for each pair of user and item: a mapping, or a Series."""
    if name not in HOLD_LISTS or not _is_by_pair(thing):
        return None
    are_pairs = True
    if isinstance(thing, Mapping):
        are_pairs = all(isinstance(key, tuple) and len(key) == 2 for key in thing)
        # As objects, large whole numbers stay apart.
        thing = pd.Series(dict(thing), dtype=object)
    if not are_pairs or any(map(is_several, thing)):
        raise FrameError(
            f"{name} has pairs for keys, and others beside them or lists for values. Give "
            "each pair of user and item its number, {('ann', 'a'): 3.0}."
        )
    if role_of(thing.name) == "rank":
        raise FrameError(
            f"{name} is a Series of ranks by user and item, where scores are needed. "
            "Make columns of it, .reset_index()."
        )
    number = "score" if name == RECS else "relevance"
    return ListTable.of(_rows_of_pairs(thing, name, number), name)


def _is_by_pair(thing: Any) -> bool:
    """Return whether the keys are pairs."""
    if isinstance(thing, pd.Series):
        return thing.index.nlevels == 2
    return isinstance(thing, Mapping) and isinstance(next(iter(thing), None), tuple)


def _rows_of_pairs(series: pd.Series[Any], name: str, number: str) -> pd.DataFrame:
    """Return a Series by user and item, or by item and user, with columns of both."""
    levels = series.index.names
    roles = [role_of(level) or role for level, role in zip(levels, IDS, strict=True)]
    if {*roles} != {*IDS}:
        raise FrameError(
            f"{name} is a Series by {levels[0]!r} and {levels[1]!r}, where user and item "
            "are needed. Make columns of them, .reset_index(), and name those that are "
            "meant, user='...', item='...'."
        )
    return series.rename_axis(roles).rename(number).reset_index()


def by_user(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list for each user: a mapping, a Series, a Run or Qrels of ranx."""
    if type(thing).__module__.startswith("ranx."):
        thing = thing.to_dict()
    if name not in HOLD_LISTS or _is_by_pair(thing):
        return None
    if isinstance(thing, Mapping):
        _refuse_columns(thing, name)
        cells = [*thing.values()]
    elif isinstance(thing, pd.Series) and not pd.api.types.is_numeric_dtype(thing):
        cells = thing.to_list()
    else:
        return None
    users = as_column([*thing.keys()], f"{name}: column 'user'", "user")
    return ListCells(name, users, cells).in_rows()


def _refuse_columns(thing: Mapping[Any, Any], name: str) -> None:
    """Refuse columns by their names, which are no users."""
    if {*IDS} <= {*map(role_of, islice(thing, 20))}:  # a table has few columns
        raise FrameError(
            f"{name} is a dictionary of columns, {listed(thing)}, and a mapping is read "
            "by user. Make a frame of it, pandas.DataFrame(columns)."
        )


def path(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a file, or those of Parquet in a folder or a pattern."""
    if not is_path(thing):
        return None
    return files.read(thing, name, named)


def data_set(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read what makes a frame of pandas, as a data set of Hugging Face or of ragas."""
    if isinstance(thing, pl.Series) or not hasattr(type(thing), "to_pandas"):
        return None
    frame = thing.to_pandas()
    return MadeTable.of(frame, name) if isinstance(frame, pd.DataFrame) else None


FORMS += [records, by_pair, by_user, path, data_set]
