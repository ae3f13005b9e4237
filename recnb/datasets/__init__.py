"""Data sets to try things on: `load_sample()`, synthetic and bundled; `load_movielens()`, downloaded or a local copy."""

from __future__ import annotations

from typing import Never

from recnb.datasets.movielens import MovieLens, load_movielens
from recnb.datasets.sample import Sample, load_sample

__all__ = ["MovieLens", "Sample", "load_movielens", "load_sample"]


def __getattr__(name: str) -> Never:
    last_fifth = "ratings.groupby('user')['timestamp'].rank(method='first', pct=True) > 0.8"
    words = f": the last fifth of each user's ratings are ratings[{last_fifth}]." if name == "split_by_time" else ""
    raise AttributeError(f"recnb.datasets has no {name!r}{words}")
