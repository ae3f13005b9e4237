"""Bins of the values of users, as a report draws them and the explorer lists them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np

from recnb.display.text import bin_in_words, short
from recnb.metrics.hits import Floats, Ints
from recnb.stats import ROUNDING

#: Bars of a distribution, beside that of the lowest value.
BINS = 10


class Bin(NamedTuple):
    """The values between two ends, each of which it holds or not."""

    low: float
    high: float
    has_low: bool
    has_high: bool

    @property
    def words(self) -> str:
        """Its ends, in the language in force."""
        return short(self.low) if self.low == self.high else bin_in_words(*self)


@dataclass(frozen=True)
class Bins:
    """Bins of equal width, before them one of the values at the lowest end."""

    edges: tuple[float, ...]

    @classmethod
    def over(cls, values: Floats, bounds: tuple[float, float]) -> Bins:
        """Return bins between the bounds of values.

        Where there is no bound, they go to the value furthest from 0.
        """
        low, high = bounds
        start, end = min(0.0, values.min(initial=0)), max(0.0, values.max(initial=0))
        if isfinite(low):
            start = low
        if isfinite(high):
            end = high
        if end <= start:
            end = start + 1.0
        edges = start + np.arange(BINS + 1) * (end - start) / BINS
        return cls(tuple(edges.tolist()))

    def of(self, values: Floats) -> Ints:
        """Return the position of the bin of each value; 0 is that of the lowest.

        A value on the lower end of a bin is in it, also where the last digit of a
        division says otherwise. Values beyond an end are in the bin at it.
        """
        start, *inner, _end = self.edges
        rounding = 1e-9 * (self.edges[1] - start)
        bins = np.digitize(values + rounding, inner) + 1
        bins[values <= start + ROUNDING] = 0
        return bins

    @property
    def each(self) -> list[Bin]:
        """Every bin in its order: each holds its lower end, the last one both."""
        start = self.edges[0]
        bins = [Bin(start, start, has_low=True, has_high=True)]
        for low, high in pairwise(self.edges):
            is_last = high == self.edges[-1]
            bins.append(Bin(low, high, has_low=low > start, has_high=is_last))
        return bins
