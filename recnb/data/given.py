"""What the caller gave, for code that is shown: frames and keywords, without rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.conventions.convention import Order
from recnb.data.names import Labels
from recnb.data.tables import InputTable, MadeTable


@dataclass(frozen=True)
class GivenFrame:
    """One of the caller's frames, without its rows."""

    #: "pandas", "polars" or "lazy", which is Polars as well; "" for anything else.
    library: str
    #: Role -> column.
    labels: Labels
    #: The names of all columns.
    columns: Sequence[Any]
    #: Role -> type, of a frame of Polars.
    types: Mapping[str, Any]

    @classmethod
    def of(cls, table: InputTable, labels: Labels) -> GivenFrame:
        """Note the library and the types of a table that its caller has."""
        library = _library_of(table)
        types: Mapping[str, Any] = {}
        if library in ("polars", "lazy"):
            schema = table.frame.collect_schema()
            types = {
                role: schema[label].base_type()
                for role, label in labels.items()
                if label in schema
            }
        return cls(library, labels, table.columns, types)

    @cached_property
    def without_rows(self) -> pd.DataFrame:
        """A table with these columns and no rows."""
        return pd.DataFrame(columns=[*self.columns])


def _library_of(table: InputTable) -> str:
    """Return the word for the library of the frame that a caller has."""
    if isinstance(table, MadeTable) or table.made_of:
        return ""
    if isinstance(table.frame, pd.DataFrame):
        return "pandas"
    return "polars" if isinstance(table.frame, pl.DataFrame) else "lazy"


@dataclass(frozen=True)
class Call:
    """Keywords of the call that made an evaluation."""

    #: As named by keyword.
    columns: Mapping[str, Any] = field(default_factory=dict)
    #: By what lists are ordered.
    order: Order = "auto"
    #: Propensity and user_weight, each a column, or its own name where values are given.
    weights: Mapping[str, str] = field(default_factory=dict)
