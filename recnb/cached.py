"""A property that is worked out once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """`functools.cached_property` without the lock of Python 3.11, for which threads with different objects wait."""

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return the value, worked out at first use."""
            return self if instance is None else instance.__dict__.setdefault(self.attrname, self.func(instance))
