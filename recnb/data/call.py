"""How the caller wrote an evaluation: the library, columns and types of each frame, and the options, for code that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.data.columns import find, library_of

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
    given: Mapping[str, Any],
    labels: Mapping[str, Mapping[str, str]],
    columns: Mapping[str, str | None],
    options: Mapping[str, Any],
    *,
    library: str | None,
) -> Call:
    """Note what was given: `labels` are the columns of recs and truth."""
    frames = {}
    for name, frame in given.items():
        kind = library_of(frame)
        kind = "lazy" if kind and isinstance(frame, pl.LazyFrame) else kind
        of_frame = labels.get(name) or (find(frame, name, ROLES[name], columns) if kind else {})
        frames[name] = GivenFrame(kind, of_frame, _types(frame, of_frame) if kind else {})
    plain = dict(options)
    if isinstance(convention := plain.pop("convention", library), Convention):
        axes = [axis for axis in fields(Convention) if axis.name != "metric"]
        stated = {axis.name: getattr(convention, axis.name) for axis in axes}
        plain = {axis.name: stated[axis.name] for axis in axes if stated[axis.name] != axis.default} | plain
    elif convention is not None:
        plain = {"convention": convention} | plain
    return Call(frames, {role: column for role, column in columns.items() if column is not None}, plain, library)


def _types(frame: Any, labels: Mapping[str, str]) -> dict[str, str]:
    types = frame.dtypes if isinstance(frame, pd.DataFrame) else frame.collect_schema()
    return {role: str(types[label]).partition("(")[0] for role, label in labels.items() if label in types}
