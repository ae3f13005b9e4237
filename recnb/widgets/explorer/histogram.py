"""Bars of the explorer's histogram: users by their value, those of exactly 0 apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from recnb.display.text import short
from recnb.metrics.hits import Floats, Ints
from recnb.report.data import SAME

#: Bars of the histogram, without the one at 0 and that of users without a value.
BARS = 10


@dataclass(frozen=True)
class Bar:
    """Some of the users, by their value or their segment."""

    label: str
    count: int
    share: float  #: of the users shown; of a segment, its mean
    picked: bool = False


def bar_edges(numbers: Floats, *, signed: bool, bounded: bool) -> tuple[float, ...]:
    """Return the edges of the bars: around 0 if `signed` or some number is negative; up to 1 if `bounded` by it.

    >>> bar_edges(np.array([0.2, 0.725]), signed=True, bounded=False)[5:]
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    >>> bar_edges(np.array([7.3]), signed=False, bounded=False)[-1], bar_edges(np.zeros(2), signed=False, bounded=False)[-1]
    (10.0, 1.0)
    """
    largest = float(np.nanmax(np.abs(numbers), initial=0.0))
    signed = signed or bool(np.nanmin(numbers, initial=0.0) < -SAME)
    steps = BARS // 2 if signed else BARS
    if largest <= 0 or (bounded and largest <= 1 + SAME):
        top = 1.0
    else:
        scale = 10.0 ** np.floor(np.log10(largest / steps))
        step = next(size * scale for size in (1, 2, 2.5, 5, 10) if size * scale * steps >= largest * (1 - SAME))
        top = float(f"{step * steps:.12g}")
    return tuple(np.linspace(-top if signed else 0.0, top, BARS + 1).round(12).tolist())


def bar_of(numbers: Floats, edges: tuple[float, ...]) -> Ints:
    """Return the bar of each number: 0 has its own, NaN the last; a number on an edge is in the outer bar.

    >>> bar_of(np.array([0.0, 0.05, 0.1, 1.0, np.nan]), (0.0, 1.0)).tolist()
    [0, 1, 2, 10, 11]
    >>> bar_of(np.array([-1.0, -0.1, 0.0, 0.1, 1.0]), (-1.0, 1.0)).tolist()
    [0, 4, 5, 6, 10]
    """
    is_value, signed = ~np.isnan(numbers), edges[0] < 0
    steps, zero = (BARS // 2, BARS // 2) if signed else (BARS, 0)
    sizes = np.abs(np.where(is_value, numbers, 0.0))
    step = np.minimum((sizes / edges[-1] * steps + 1e-9).astype(np.int64), steps - 1)
    bars = np.where(numbers < 0, zero - 1 - step, zero + 1 + step)
    return np.where(is_value, np.where(sizes <= SAME, zero, bars), BARS + 1)


def bar_labels(edges: tuple[float, ...]) -> list[str]:
    """Return the label of each bar.

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
