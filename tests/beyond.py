"""Vectors of items as a frame, for metrics beyond accuracy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl


def as_frame(features: Mapping[Any, Collection[float]]) -> pl.DataFrame:
    """Vectors as a frame of items with a column for each number."""
    width = len(next(iter(features.values())))
    columns = {f"x{at}": [float(vector[at]) for vector in map(list, features.values())] for at in range(width)}
    return pl.DataFrame({"item": list(features), **columns})
