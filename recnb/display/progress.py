"""Progress bars of tqdm for work that takes longer than `DELAY` seconds.

A bar is removed when the work is done.

They are shown in a terminal and in a notebook; tqdm's own environment variable
`TQDM_DISABLE=1` turns them off.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

#: Seconds before a bar appears.
DELAY = 1.5

_is_quiet: ContextVar[bool] = ContextVar("recnb_quiet", default=False)


@contextmanager
def without_progress(is_quiet: bool) -> Iterator[None]:
    """Show no bars within a block, if it is to be quiet."""
    token = _is_quiet.set(is_quiet)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def steps(work: Iterable[Any] | None, label: str, total: int | None = None) -> Any:
    """Return the steps of some work, counted by a bar.

    Without work, a bar for `with`, which `bar.update(n)` moves on.
    """
    is_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    is_seen = sys.stderr is not None and (is_notebook or sys.stderr.isatty())
    # tqdm reads the environment for what it is not given.
    disable = {} if is_seen and not _is_quiet.get() else {"disable": True}
    return _bar()(
        iterable=work,
        desc=label,
        total=total,
        leave=False,
        miniters=1,
        delay=DELAY,
        **disable,
    )


@cache
def _bar() -> Any:
    """Return the class of bars."""
    # tqdm takes 10 ms to import, which a number does not need. Without a monitor there
    # is no thread: each step looks at the clock.
    return type("Bar", (import_module("tqdm.std").tqdm,), {"monitor_interval": 0})
