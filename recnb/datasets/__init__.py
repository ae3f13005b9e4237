"""Data sets to try things on.

`load_sample()` is synthetic and bundled, and so is `load_questions()`, for retrieval;
`load_movielens()` is downloaded or a local copy.
"""

from recnb.datasets.movielens import MovieLens, load_movielens
from recnb.datasets.questions import Questions, load_questions
from recnb.datasets.sample import Sample, load_sample

__all__ = [
    "MovieLens",
    "Questions",
    "Sample",
    "load_movielens",
    "load_questions",
    "load_sample",
]
