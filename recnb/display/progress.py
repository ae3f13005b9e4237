"""Progress bars of tqdm for work that takes longer than `DELAY` seconds; a bar is removed when the work is done.

The environment variable `RECNB_NO_PROGRESS=1` turns them off.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds before a bar appears.
DELAY = 1.5


def counted(total: int | None, label: str, work: Iterable[Any] | None = None) -> Any:
    """Return a bar for `with`, which `bar.update(n)` moves on."""
    options = {"total": total, "desc": label, "delay": DELAY, "leave": False, "miniters": 1}
    file = io.StringIO() if _kernel() else None
    return _bar()(work, **options, file=file, disable=bool(os.environ.get("RECNB_NO_PROGRESS")))


def steps(work: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
    """Return the steps of some work, counted by a bar.

    >>> list(steps([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    bar: Iterable[T] = counted(total, label, work)
    return bar


def _kernel() -> bool:
    """Whether this is a notebook."""
    return "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel")


@cache
def _bar() -> Any:
    # tqdm takes 10 ms to import, which a number does not need.
    from tqdm.std import tqdm

    class Bar(tqdm):  # type: ignore[misc]  # tqdm has no types
        """A bar of tqdm; in a notebook a line of text that becomes empty, since tqdm's own widget stays in the stored notebook."""

        monitor_interval = 0  # no thread: each step looks at the clock
        line: Any = None

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            if not _kernel():
                super().display(msg, pos)
                return
            from IPython.display import display

            text = {"text/plain": str(self) if msg is None else msg}
            if self.line is None:
                self.line = display(text, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            else:
                self.line.update(text, raw=True)

    return Bar
