"""Bins of the values of users, as a report draws them and the explorer lists them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np

from recnb.display.text import bin_in_words, short
from recnb.metrics.hits import Floats, Ints
from recnb.stats import ROUNDING

#: Bars of a distribution, beside that of the lowest value.
BINS = 10


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
    def names(self) -> list[str]:
        """The ends of every bin in words: each holds its lower end, the last one both."""
        start, end = self.edges[0], self.edges[-1]
        names = [short(start)]
        for low, high in pairwise(self.edges):
            name = bin_in_words(low, high, has_low=low > start, has_high=high == end)
            names.append(name)
        return names
