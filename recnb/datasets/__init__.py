"""Data sets to try things on: `load_sample()`, synthetic and bundled; `load_movielens()`, downloaded or a local copy."""

from __future__ import annotations

from typing import Any

from recnb.datasets.movielens import MovieLens, load_movielens
from recnb.datasets.sample import Sample, load_sample
from recnb.errors import UnknownNameError, no_attribute

__all__ = ["MovieLens", "Sample", "load_movielens", "load_sample"]


def __getattr__(name: str) -> Any:
    last_fifth = "ratings.groupby('user')['timestamp'].rank(method='first', pct=True) > 0.8"
    if name == "split_by_time":
        raise UnknownNameError(
            f"recnb.datasets has no {name!r}: the last fifth of each user's ratings are ratings[{last_fifth}]."
        )
    raise no_attribute("recnb.datasets", name, __all__)
