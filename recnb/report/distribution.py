"""How the values of users are spread."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from recnb.metrics.hits import Floats
from recnb.results.bins import BINS, Bins
from recnb.stats import ROUNDING, mean_of


@dataclass(frozen=True)
class Distribution:
    """How the values of users are spread.

    A bin holds its lower edge, the last one both; without a bound the outer edge is the
    highest value, or the lowest below 0.
    """

    n_users: int  #: with a value
    n_without_value: int
    edges: tuple[float, ...]  #: of ten bins
    counts: tuple[int, ...]  #: users, by bin
    n_bottom: int  #: users at the lowest edge
    n_top: int  #: users at the highest edge
    mean: float
    quartiles: tuple[float, ...]  #: NaN without a user

    @classmethod
    def of(
        cls, values: Floats, bounds: tuple[float, float], weights: Floats | None = None
    ) -> Distribution:
        """Return the distribution of the values of users, between the metric's bounds."""
        known = values[~np.isnan(values)]
        n_users = len(known)
        bins = Bins.over(known, bounds)
        n_bottom, n_in_first, *others = np.bincount(
            bins.of(known), minlength=BINS + 1
        ).tolist()
        counts = (n_bottom + n_in_first, *others)
        quartiles = (nan, nan, nan)
        if n_users:
            quartiles = tuple(np.quantile(known, [0.25, 0.5, 0.75]).tolist())
        return cls(
            n_users=n_users,
            n_without_value=len(values) - n_users,
            edges=bins.edges,
            counts=counts,
            n_bottom=n_bottom,
            n_top=int((known >= bins.edges[-1] - ROUNDING).sum()),
            mean=mean_of(values, weights),
            quartiles=quartiles,
        )

    def share_of(self, n: int) -> float:
        """Return a number of users as a share of those with a value."""
        return n / max(self.n_users, 1)
