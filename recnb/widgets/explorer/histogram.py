"""Bars of the explorer: users by their value, those of exactly 0 apart, and users by their part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from recnb.display.svg import short
from recnb.metrics.hits import Floats, Ints
from recnb.report.data import SAME

#: Bars of the distribution, the one at 0 and the one of users without a value left aside.
BARS = 10


@dataclass(frozen=True)
class Bar:
    """Some of the users, by their value or by their part."""

    label: str
    count: int
    share: float  #: of the users looked at; of a part, its mean
    picked: bool = False


def top_above(largest: float, steps: int) -> float:
    """Where bars end that reach so far in so many steps that read well.

    >>> top_above(0.725, 5), top_above(0.0, 5), top_above(7.3, 10)
    (1.0, 1.0, 10.0)
    """
    if largest <= 0:
        return 1.0
    scale = 10.0 ** np.floor(np.log10(largest / steps))
    step = next(one * scale for one in (1, 2, 2.5, 5, 10) if one * scale * steps >= largest * (1 - SAME))
    return float(f"{step * steps:.12g}")


def edges_of(numbers: Floats, *, signed: bool, bounded: bool) -> tuple[float, ...]:
    """Where bars end: on either side of 0 if they are signed or some number is negative; at 1 if that is the most."""
    largest = float(np.nanmax(np.abs(numbers), initial=0.0))
    signed = signed or bool(np.nanmin(numbers, initial=0.0) < -SAME)
    bounded = bounded and largest <= 1 + SAME
    top = 1.0 if bounded else top_above(largest, BARS // 2 if signed else BARS)
    return tuple(np.linspace(-top if signed else 0.0, top, BARS + 1).round(12).tolist())


def bar_of(numbers: Floats, edges: tuple[float, ...]) -> Ints:
    """The bar of each number: at 0 its own, the last for none; one on an edge belongs further out.

    >>> bar_of(np.array([0.0, 0.05, 0.1, 1.0, np.nan]), (0.0, 1.0)).tolist()
    [0, 1, 2, 10, 11]
    >>> bar_of(np.array([-1.0, -0.1, 0.0, 0.1, 1.0]), (-1.0, 1.0)).tolist()
    [0, 4, 5, 6, 10]
    """
    there, top = ~np.isnan(numbers), edges[-1]
    on_a_side = BARS // 2 if edges[0] < 0 else BARS
    sizes = np.abs(np.where(there, numbers, 0.0))
    steps = np.minimum((sizes / top * on_a_side + 1e-9).astype(np.int64), on_a_side - 1)
    zero = on_a_side if edges[0] < 0 else 0
    bars = np.where(numbers < 0, zero - 1 - steps, zero + 1 + steps)
    bars = np.where(sizes <= SAME, zero, bars)
    return np.where(there, bars, BARS + 1)


def bar_labels(edges: tuple[float, ...]) -> list[str]:
    """The bars in words.

    >>> bar_labels((0.0, 0.5, 1.0))
    ['0', '>0 – 0.5', '0.5 – 1']
    >>> bar_labels((-1.0, 0.0, 1.0))
    ['-1 – <0', '0', '>0 – 1']
    """
    labels = [
        f"{'>0' if low == 0 else short(low)} – {'<0' if high == 0 else short(high)}" for low, high in pairwise(edges)
    ]
    labels.insert(sum(high <= 0 for high in edges[1:]), "0")
    return labels
