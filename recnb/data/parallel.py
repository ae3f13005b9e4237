"""Work on all cores with threads, since numpy releases the GIL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

#: More threads than this only wait for each other: between two blocks each needs Python.
MOST = 8

#: Rows that are worked on together: few enough for the processor's cache.
BLOCK = 2**18

#: Rows that pay for one more core, as a thread takes time to begin: rows that are sorted, and rows that are only read.
SORTED, READ = 2**18, 2**21


#: Whether what runs is a share of some work, so that all other cores have theirs.
_is_share: ContextVar[bool] = ContextVar("recnb_is_share", default=False)


def n_cores() -> int:
    """The number of cores that this process may use, eight at most; one within a share of some work."""
    if _is_share.get():
        return 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, MOST)


def in_shares(work: Sequence[T], do: Callable[[Sequence[T]], R], *, sorts: int = 0, reads: int = 0) -> list[R]:
    """Apply a function to consecutive shares of some work, one for each core, and return the results in order.

    Parameters
    ----------
    work
        What there is to do.
    do
        Called with each share.
    sorts, reads
        The number of rows that are sorted, or only read, in all. A few rows are left to one core.

    >>> in_shares([1, 2, 3, 4], sum, reads=4)
    [10]
    """
    n = max(1, min(n_cores(), len(work), sorts // SORTED + reads // READ))
    if n == 1:
        return [do(work)]
    shares = [work[len(work) * at // n : len(work) * (at + 1) // n] for at in range(n)]
    with ThreadPoolExecutor(n - 1) as pool:
        others = [_submit(pool, do, share) for share in shares[1:]]
        first = copy_context().run(_share, do, shares[0])
        return [first, *(other.result() for other in others)]


def in_turn(work: Iterable[T], do: Callable[[T], R]) -> Iterator[R]:
    """Apply a function to each piece of some work, and yield the results in order; as many pieces as cores are there at a time.

    >>> list(in_turn("recnb", str.upper))
    ['R', 'E', 'C', 'N', 'B']
    """
    n = n_cores()
    if n == 1:
        yield from map(do, work)
        return
    begun: deque[Future[R]] = deque()
    with ThreadPoolExecutor(n) as pool:
        try:
            for piece in work:
                begun.append(_submit(pool, do, piece))
                if len(begun) == n:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for other in begun:
                other.cancel()


def _submit(pool: ThreadPoolExecutor, do: Callable[[T], R], piece: T) -> Future[R]:
    return pool.submit(copy_context().run, _share, do, piece)


def _share(do: Callable[[T], R], piece: T) -> R:
    _is_share.set(True)
    return do(piece)


def in_blocks(n: int, do: Callable[[int, int], R], *, jumps: bool = False) -> list[R]:
    """Apply a function to the first and last row (exclusive) of each block of n rows, and return the results in order.

    `jumps`: rows are read or written in any order, which takes about as long as sorting them.
    """
    starts, costs = range(0, n, BLOCK), "sorts" if jumps else "reads"
    shares = in_shares(starts, lambda some: [do(start, min(start + BLOCK, n)) for start in some], **{costs: n})
    return [result for results in shares for result in results]


def sort(numbers: NDArray[np.uint64]) -> None:
    """Sort numbers in place: they are cut at the median until there is a part for each core.

    >>> numbers = np.array([3, 1, 2], dtype=np.uint64)
    >>> sort(numbers)
    >>> numbers.tolist()
    [1, 2, 3]
    """

    def cut(some: Sequence[NDArray[np.uint64]]) -> None:
        for part in some:
            part.partition(len(part) // 2)

    def put_in_order(some: Sequence[NDArray[np.uint64]]) -> None:
        for part in some:
            part.sort()

    parts, n = [numbers], len(numbers)
    while 2 * len(parts) <= min(n_cores(), n // SORTED):
        in_shares(parts, cut, sorts=n)
        parts = [half for part in parts for half in (part[: len(part) // 2], part[len(part) // 2 :])]
    in_shares(parts, put_in_order, sorts=n)
