"""Work on all cores with threads, since numpy and Polars release the GIL.

Where Python cannot start a thread, as in a browser, one piece is done after the other.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: More threads than this only wait for each other: between two blocks each needs
#: Python.
MOST_THREADS = 8

#: Rows that are worked on together: few enough for the processor's cache.
BLOCK = 2**18


def n_cores() -> int:
    """Return the number of cores that this process may use, eight at most."""
    allowed = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    return min(allowed, MOST_THREADS)


def can_start_threads() -> bool:
    """Return whether this Python can start threads, by starting one that does nothing."""
    thread = threading.Thread(target=int)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


def in_turn(work: Iterable[T], do: Callable[[T], R]) -> Iterator[R]:
    """Apply a function to each piece of some work, and yield the results in order.

    As many pieces as cores are there at a time.

    >>> list(in_turn("recnb", str.upper))
    ['R', 'E', 'C', 'N', 'B']
    """
    n = n_cores()
    is_one_piece = isinstance(work, Sized) and len(work) == 1
    if n == 1 or is_one_piece or not can_start_threads():
        yield from map(do, work)
        return
    begun: deque[Future[R]] = deque()
    with ThreadPoolExecutor(n) as pool:
        for piece in work:
            begun.append(pool.submit(copy_context().run, do, piece))
            if len(begun) == n:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
