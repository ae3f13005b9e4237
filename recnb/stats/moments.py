"""Sums over users that intervals of a mean are made of; they add up over parts of the users, so that no values need be kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recnb.errors import OptionError, is_number, quoted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The lowest and the highest possible value of a metric: of all columns, or an entry for each.
Bounds = tuple[float | Floats, float | Floats]

UNBOUNDED: Bounds = (-math.inf, math.inf)

#: The number of users with a hit (or who differ, between two models) that is enough to estimate a variance.
#: Below it the bounds of the metric take the place of the lowest and highest value seen, and nothing is tested.
ENOUGH = 10

#: The methods that need sums alone.
SumsMethod = Literal["beta", "t"]

#: Columns of `Moments`, all of which add up over parts of the users.
COLUMNS = ("mean", "squares", "low", "high", "above", "below")

#: Values that differ by less are one value, summed in another order.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """The number of users, and for each column what an interval needs; those of parts of the users are added with `+`.

    >>> whole = Moments.of(np.array([[0.0], [1.0]])) + Moments.of(np.array([[0.5], [0.5]]))
    >>> low, high = whole.interval(method="t")
    >>> whole.n, round(float(low[0]), 3), round(float(high[0]), 3)
    (4, -0.15, 1.15)
    """

    n: int
    mean: Floats
    squares: Floats  #: sums of squared deviations from the mean
    low: Floats  #: the lowest value
    high: Floats
    above: Floats  #: users above the lower bound: those with a hit
    below: Floats  #: users below the upper bound
    bounds: Bounds

    @classmethod
    def of(cls, values: Floats, bounds: Bounds = UNBOUNDED) -> Moments:
        """Sum up users × columns whose values lie between the bounds."""
        mean = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
        left = values - mean
        return cls(
            n=len(values),
            mean=mean,
            squares=np.einsum("ij,ij->j", left, left),
            low=values.min(axis=0, initial=np.inf),
            high=values.max(axis=0, initial=-np.inf),
            above=np.count_nonzero(values > bounds[0], axis=0) * 1.0,
            below=np.count_nonzero(values < bounds[1], axis=0) * 1.0,
            bounds=bounds,
        )

    def at(self, columns: slice) -> Moments:
        """Take some columns."""
        return replace(self, **{name: getattr(self, name)[columns] for name in COLUMNS})

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        if n == 0:
            return self
        apart, share = other.mean - self.mean, other.n / n
        return Moments(  # no digits are lost: Chan, Golub and LeVeque 1979
            n=n,
            mean=self.mean + apart * share,
            squares=self.squares + other.squares + apart**2 * self.n * share,
            low=np.fmin(self.low, other.low),
            high=np.fmax(self.high, other.high),
            above=self.above + other.above,
            below=self.below + other.below,
            bounds=self.bounds,
        )

    def interval(self, confidence: float = 0.95, method: SumsMethod = "beta") -> tuple[Floats, Floats]:
        """Return lower and upper ends for the mean of each column; NaN where users are too few or too alike (see `intervals`)."""
        from scipy.special import stdtrit

        checked_confidence(confidence)
        if self.n < 2:
            return np.full_like(self.mean, np.nan), np.full_like(self.mean, np.nan)
        tail = (1 - confidence) / 2
        if method == "beta":
            return self._beta(tail)
        variance = np.where(self.high - self.low > ROUNDING, self.squares / self.n, np.nan)
        half = stdtrit(self.n - 1, 1 - tail) * np.sqrt(variance / (self.n - 1))
        return self.mean - half, self.mean + half

    def _beta(self, tail: float) -> tuple[Floats, Floats]:
        """Take quantiles of the beta distribution with the mean and the variance of the users' mean, one more user put in.

        Under weights drawn from a flat Dirichlet distribution the mean of N users has their mean and the variance of their
        values / (N + 1). Where values are 0 or 1 that is a beta distribution, and its quantiles are Clopper and Pearson's.
        """
        from scipy.special import betaincinv

        varied = self.high - self.low > ROUNDING
        # Rounding, and repeats that a convention counts again, may pass the metric's bounds.
        bottom, top = np.minimum(self.bounds[0], self.low), np.maximum(self.bounds[1], self.high)
        lowest = np.where(varied & (self.below >= ENOUGH), self.low, bottom)
        highest = np.where(varied & (self.above >= ENOUGH), self.high, top)
        known = np.isfinite(lowest) & np.isfinite(highest)
        bottom, top = np.where(np.isfinite(bottom), bottom, self.low), np.where(np.isfinite(top), top, self.high)
        n, size, ends = self.n + 1, top - bottom, []
        for extreme, share in ((lowest, tail), (highest, 1 - tail)):
            with np.errstate(invalid="ignore", divide="ignore"):
                at = (self.mean + (extreme - self.mean) / n - bottom) / size
                variance = (self.squares + (extreme - self.mean) ** 2 * self.n / n) / size**2 / (n * (n + 1))
                users = at * (1 - at) / variance - 1
                end = bottom + size * betaincinv(at * users, (1 - at) * users, share)
            end = np.where((extreme == self.mean) & ~varied, self.mean, end)
            ends.append(np.where(known, end, np.nan))
        return ends[0], ends[1]


def checked_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        given = f"confidence={quoted(confidence)}"
        raise OptionError(given, " is no share: give a number between 0 and 1, such as 0.95.")
