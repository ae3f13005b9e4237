"""Properties that are worked out once, in several threads at a time."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class CachedProperty(functools.cached_property[T]):
    """`functools.cached_property` without the lock of Python 3.11, for which threads with different objects wait."""

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return the value, worked out at first use."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


cached_property = CachedProperty
