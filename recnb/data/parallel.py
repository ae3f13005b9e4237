"""Work on all cores with threads, since numpy releases the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: More threads than this only wait for each other: between two blocks each needs Python.
MOST = 8


def in_shares(work: Sequence[T], do: Callable[[Sequence[T]], R]) -> list[R]:
    """Apply a function to consecutive shares of some work, one for each core, and return the results in order.

    >>> in_shares([1, 2, 3, 4], sum) in ([10], [3, 7], [1, 5, 4], [1, 2, 3, 4]) or "other cores"
    True
    """
    n = max(1, min(os.cpu_count() or 1, MOST, len(work)))
    if n == 1:
        return [do(work)]
    shares = [work[len(work) * at // n : len(work) * (at + 1) // n] for at in range(n)]
    with ThreadPoolExecutor(n - 1) as pool:
        others = [pool.submit(do, share) for share in shares[1:]]
        first = do(shares[0])
        return [first, *(other.result() for other in others)]
