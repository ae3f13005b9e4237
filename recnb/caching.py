"""A value of an object that is worked out once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """`functools.cached_property` without the lock of Python 3.11.

    With the lock a thread waits for whoever waits for it.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return the value, worked out at first use."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
