"""How the caller wrote an evaluation: the library, columns and types of each frame, and the options, for code that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import polars as pl

from recnb.data.columns import Made


@dataclass(frozen=True)
class GivenFrame:
    """One of the caller's frames."""

    library: str = ""  #: "pandas", "polars" or "lazy", which is Polars as well; "" for anything else
    labels: Mapping[str, str] = field(default_factory=dict)  #: role -> column
    types: Mapping[str, str] = field(default_factory=dict)  #: role -> type, as the library names it

    @classmethod
    def of(cls, frame: Any, labels: Mapping[str, str]) -> GivenFrame:
        """Note the library and the types of a frame."""
        libraries = {Made: "", pd.DataFrame: "pandas", pl.DataFrame: "polars", pl.LazyFrame: "lazy"}
        library = next((word for kind, word in libraries.items() if isinstance(frame, kind)), "")
        schema = frame.dtypes if library == "pandas" else frame.collect_schema() if library else {}
        types = {role: str(schema[label]).partition("(")[0] for role, label in labels.items() if label in schema}
        return cls(library, labels, types)


@dataclass(frozen=True)
class Call:
    """The call that made an evaluation."""

    frames: Mapping[str, GivenFrame] = field(default_factory=dict)  #: by argument: recs, truth, train, items, users
    columns: Mapping[str, str] = field(default_factory=dict)  #: role -> column, as named by keyword
    options: Mapping[str, Any] = field(default_factory=dict)  #: conventions
    library: str | None = None  #: whose conventions were asked for
