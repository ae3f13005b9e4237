"""Orders of rows, and numbers of rows within users, without a loop over users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def count_within(user: NDArray[Any]) -> Ints:
    """Count the rows of each run of equal values from 1.

    >>> count_within(np.array([0, 0, 3, 3, 3])).tolist()
    [1, 2, 1, 2, 3]
    """
    number = np.arange(len(user))
    start = number.copy()
    start[1:] *= user[1:] != user[:-1]
    number -= np.maximum.accumulate(start, out=start)
    number += 1
    return number


def stands_from_highest(user: Ints, value: Floats) -> bool:
    """Say whether rows are sorted by user, then from the highest value."""
    falls = value[1:] <= value[:-1]
    falls &= user[1:] == user[:-1]
    falls |= user[1:] > user[:-1]
    return bool(falls.all())


def order_from_highest(user: Ints, value: Floats | Ints, within: Ints | Floats | None = None) -> Ints:
    """Return the order by user, then from the highest value, then from the lowest `within`; equal rows keep their order.

    User, value and row are packed into one whole number that is sorted, of the value as many bits as there is room for.
    """
    value = value.astype(np.float64, copy=False)
    if within is not None:
        first = np.argsort(within, kind="stable")
        return np.asarray(first[order_from_highest(user[first], value[first])])
    row_bits, top = len(user).bit_length(), value.max(initial=-np.inf)
    value_bits = min(48, 62 - row_bits - int(user.max(initial=0)).bit_length())
    with np.errstate(all="ignore"):
        apart = top - value.min(initial=np.inf)
        scale = (2.0**value_bits - 2) / apart if apart else 0.0
    if value_bits < 8 or not (np.isfinite(apart) and np.isfinite(scale)):  # no room, or values that are infinite
        return np.lexsort((-value, user))
    key = ((top - value) * scale).astype(np.int64)
    key |= user << value_bits
    key <<= row_bits
    key |= np.arange(len(user))
    key.sort()
    order: Ints = key & ((1 << row_bits) - 1)
    key >>= value_bits + row_bits
    wrong = np.flatnonzero(np.diff(value[order]) > 0)
    wrong = wrong[key[wrong] == key[wrong + 1]]
    if len(wrong):  # values of a user that differ in the bits there was no room for
        again = np.zeros(key[-1] + 1, dtype=bool)
        again[key[wrong]] = True
        rows = np.sort(order[again[key]])
        order[again[key]] = rows[np.lexsort((-value[rows], user[rows]))]
    return order


def in_order(key: Ints) -> Ints:
    """Return the stable order that sorts whole numbers from 0 up: ten times as fast as argsort where key and row fit into one number."""
    bits = len(key).bit_length()
    if int(key.max(initial=0)) >> (62 - bits):
        return np.argsort(key, kind="stable")
    packed = key << bits
    packed |= np.arange(len(key))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed
