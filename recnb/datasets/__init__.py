"""Data sets to try things on.

`load_sample()` is synthetic and bundled, and so is `load_questions()`, for retrieval;
`load_movielens()` is downloaded or a local copy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recnb.datasets.movielens import MovieLens, load_movielens
from recnb.datasets.sample import Sample, load_sample
from recnb.errors import no_attribute

if TYPE_CHECKING:
    from recnb.datasets.questions import Questions, load_questions

__all__ = [
    "MovieLens",
    "Questions",
    "Sample",
    "load_movielens",
    "load_questions",
    "load_sample",
]


def __dir__() -> list[str]:
    """Return the public names, which Tab completes."""
    return __all__


if not TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        """Import the questions, which can be taken out, when they are used."""
        if name not in ("Questions", "load_questions"):
            raise no_attribute("recnb.datasets", name, __all__)
        return getattr(import_module("recnb.datasets.questions"), name)
