"""How the caller wrote an evaluation: the library, columns and types of each frame, and the options, for code that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.data.columns import Made, find

#: The roles that are looked for in each frame beside recommendations and truth.
ROLES = {"train": ("user", "item"), "items": ("item",), "users": ("user",)}


@dataclass(frozen=True)
class GivenFrame:
    """One of the caller's frames."""

    library: str = ""  #: "pandas", "polars" or "lazy", which is Polars as well; "" for anything else
    labels: Mapping[str, str] = field(default_factory=dict)  #: role -> column
    types: Mapping[str, str] = field(default_factory=dict)  #: role -> type, as the library names it


@dataclass(frozen=True)
class Call:
    """The call that made an evaluation."""

    frames: Mapping[str, GivenFrame] = field(default_factory=dict)  #: by argument: recs, truth, train, items, users
    columns: Mapping[str, str] = field(default_factory=dict)  #: role -> column, as named by keyword
    options: Mapping[str, Any] = field(default_factory=dict)  #: conventions
    library: str | None = None  #: whose conventions were asked for


def call_of(
    given: Mapping[str, Any], labels: Mapping[str, Mapping[str, str]], columns: Mapping[str, str | None],
    options: Mapping[str, Any], *, library: str | None,
) -> Call:  # fmt: skip
    """Note what was given: `labels` are the columns of recs and truth."""
    libraries = {Made: "", pd.DataFrame: "pandas", pl.DataFrame: "polars", pl.LazyFrame: "lazy"}
    frames = {}
    for name, frame in given.items():
        kind = next((word for of_library, word in libraries.items() if isinstance(frame, of_library)), "")
        roles = labels.get(name) or (find(frame, name, ROLES[name], columns) if kind else {})
        schema = frame.dtypes if kind == "pandas" else frame.collect_schema() if kind else {}
        types = {role: str(schema[label]).partition("(")[0] for role, label in roles.items() if label in schema}
        frames[name] = GivenFrame(kind, roles, types)
    plain, convention = dict(options), options.get("convention", library)
    if isinstance(convention, Convention):
        del plain["convention"]
        stated = {axis.name: getattr(convention, axis.name) for axis in fields(Convention) if axis.name != "metric"}
        plain = {name: value for name, value in stated.items() if value != getattr(Convention, name)} | plain
    elif convention is not None:
        plain = {"convention": convention} | plain
    return Call(frames, {role: column for role, column in columns.items() if column is not None}, plain, library)
