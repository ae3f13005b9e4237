"""A bar for work that takes more than a second or two; what is quicker shows nothing, and imports nothing.

The environment variable `RECNB_NO_PROGRESS=1` turns bars off, in notebooks too, where tqdm itself does not look at it.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds before a bar appears.
DELAY = 1.5


class ProgressBar:
    """Steps done so far; drawn by tqdm (a widget in a notebook, text elsewhere) once the work has taken a while."""

    def __init__(self, total: int | None, label: str) -> None:
        self.total, self.label, self.done = total, label, 0
        self._started = time.monotonic()
        self._drawn: Any = None

    def update(self, n: int = 1) -> None:
        """So many steps more are done."""
        self.done += n
        if self._drawn is not None:
            self._drawn.update(n)
        elif time.monotonic() - self._started > DELAY and not os.environ.get("RECNB_NO_PROGRESS"):
            with warnings.catch_warnings():
                # Without ipywidgets tqdm warns, and draws in text.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

                self._drawn = tqdm(total=self.total, initial=self.done, desc=self.label, leave=False)

    def close(self) -> None:
        """Take the bar away."""
        if self._drawn is not None:
            self._drawn.close()


@contextmanager
def counted(total: int | None, label: str) -> Iterator[ProgressBar]:
    """A bar that is moved by hand, `bar.update(n)`."""
    bar = ProgressBar(total, label)
    try:
        yield bar
    finally:
        bar.close()


def steps(work: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
    """The steps of some work, with a bar if they take long.

    >>> list(steps([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    with counted(len(work) if total is None and isinstance(work, Sized) else total, label) as bar:
        for one in work:
            yield one
            bar.update()
