"""How an evaluation was called, for code that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import polars as pl

from recnb.caching import cached_property
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
        library = "" if isinstance(table, MadeTable) else _library_of(table.frame)
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


def _library_of(frame: Any) -> str:
    """Return the word for the library of a frame."""
    if isinstance(frame, pd.DataFrame):
        return "pandas"
    if isinstance(frame, pl.DataFrame):
        return "polars"
    if isinstance(frame, pl.LazyFrame):
        return "lazy"
    return ""


@dataclass(frozen=True)
class Call:
    """The keywords of the call that made an evaluation."""

    #: As named by keyword.
    columns: Mapping[str, Any] = field(default_factory=dict)
    #: Conventions.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Whose conventions were asked for.
    library: str | None = None
    #: Propensity and user_weight, as code.
    weights: Mapping[str, str] = field(default_factory=dict)
    #: The keywords of `recnb.compare`, if that was called.
    compared: Mapping[str, Any] | None = None
    #: The name of the model there; "" where all are in one frame.
    model: str = ""
