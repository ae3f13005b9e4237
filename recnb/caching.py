"""A value of an object that is worked out once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """`functools.cached_property` without the lock of Python 3.11.

    With the lock a thread waits for whoever waits for it. Without it two threads may each
    work the value out, which is the same.
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
