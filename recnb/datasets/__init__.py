"""Data sets to try things on.

* ``load_sample()``: a small synthetic data set with three recommenders, which needs no network
* ``load_movielens()``: MovieLens 100K, from the official address or a local copy
* ``split_by_time()``: train and test out of ratings with timestamps
"""

from __future__ import annotations

from recnb.datasets.movielens import MovieLens, load_movielens, split_by_time
from recnb.datasets.sample import Sample, load_sample

__all__ = ["MovieLens", "Sample", "load_movielens", "load_sample", "split_by_time"]
