"""Ids of text files, of the kind that other tables have."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import polars as pl

from recnb.data.checks import TEXT
from recnb.data.names import IDS, WANTED, Named
from recnb.data.roles import settle
from recnb.data.tables import FileTable, InputTable
from recnb.errors import ColumnError


def match_kinds(tables: dict[Any, InputTable], named: Named) -> None:
    """Make text of whole numbers of text files, where another table has some as text.

    Others stay numbers, and are refused as another kind.
    """
    of_text = {
        key: table
        for key, table in tables.items()
        if isinstance(table, FileTable) and table.from_text
    }
    if not of_text:
        return
    for role in IDS:
        ids = _ids_of(role, tables, named)
        texts = [
            column.cast(pl.String) for column in ids.values() if column.dtype in TEXT
        ]
        for key, numbers in ids.items():
            if key not in of_text or numbers.dtype != pl.Int64:
                continue
            as_text = numbers.cast(pl.String)
            if any(as_text.is_in(text.implode()).any() for text in texts):
                column = pl.col(numbers.name).cast(pl.String)
                rows = tables[key].frame.with_columns(column)
                tables[key] = replace(tables[key], frame=rows)


def _ids_of(
    role: str, tables: Mapping[Any, InputTable], named: Named
) -> dict[Any, pl.Series]:
    """Return the ids of a role, each once, in each table that has a column of them."""
    ids: dict[Any, pl.Series] = {}
    for key, table in tables.items():
        if role not in WANTED[table.name]:
            continue
        in_others = [column.name for column in ids.values()]
        wanted = {one: one == role for one in IDS if one in WANTED[table.name]}
        with suppress(ColumnError):  # raised once all forms are tables of rows
            labels = settle(table, named, wanted, in_others)
            ids[key] = table.distinct(labels[role])
    return ids
