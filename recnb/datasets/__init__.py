"""Data sets to try things on.

`load_sample()` is synthetic and bundled, `load_movielens()` downloaded or a local copy.
"""

from recnb.datasets.movielens import MovieLens, load_movielens
from recnb.datasets.sample import Sample, load_sample

__all__ = ["MovieLens", "Sample", "load_movielens", "load_sample"]
