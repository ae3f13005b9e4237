"""Intervals from moments of each column, which can be added over parts of the users, so that no values need be kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recnb.errors import Argument, OptionError, is_number, is_word, near

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MomentsMethod = Literal["auto", "beta", "moments", "bca_moments", "t"]
MOMENTS_METHODS = ("auto", "beta", "moments", "bca_moments", "t")

#: The lowest and the highest possible value of a metric: of all columns, or an entry for each.
Bounds = tuple[float | Floats, float | Floats]

#: The number of users with a hit (or who differ, between two models) that is enough to estimate a variance.
#: Below it the bounds of the metric take the place of the lowest and highest value seen.
ENOUGH = 10

#: Users whose moments are computed together: their values stay in the processor's cache.
BLOCK = 2**14

UNBOUNDED: Bounds = (-math.inf, math.inf)

#: Columns of `Moments`, all of which add up over parts of the users.
COLUMNS = ("mean", "squares", "cubes", "low", "high", "above", "below")


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of users; mean, sums of squared and cubed deviations, lowest and highest value of each column; and how many
    users are off the bounds of the metric.

    Those of parts of the users are added with `+`, without losing digits (Chan, Golub and LeVeque 1979; Pébay 2008).

    >>> whole = Moments.of(np.array([[0.0], [1.0]])) + Moments.of(np.array([[0.5], [0.5]]))
    >>> low, high = whole.interval(method="t")
    >>> whole.n, round(float(low[0]), 3), round(float(high[0]), 3)
    (4, -0.15, 1.15)
    """

    n: int
    mean: Floats
    squares: Floats
    cubes: Floats
    low: Floats
    high: Floats
    above: Floats  #: users above the lower bound: those with a hit
    below: Floats  #: users below the upper bound
    bounds: Bounds

    @classmethod
    def of(cls, values: Floats, bounds: Bounds = UNBOUNDED) -> Moments:
        """The moments of users × columns whose values lie between the bounds."""
        n = len(values)
        if n > BLOCK:
            return reduce(add, (cls.of(values[start : start + BLOCK], bounds) for start in range(0, n, BLOCK)))
        mean = values.mean(axis=0) if n else np.zeros(values.shape[1])
        left = values - mean
        squared = left * left
        return cls(
            n, mean, squared.sum(axis=0), np.einsum("ij,ij->j", squared, left),
            values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf),
            np.count_nonzero(values > bounds[0], axis=0) * 1.0, np.count_nonzero(values < bounds[1], axis=0) * 1.0,
            bounds,
        )  # fmt: skip

    @classmethod
    def of_clusters(cls, values: Floats, user: Ints, bounds: Bounds = UNBOUNDED) -> Moments:
        """The moments of rows × columns of which several belong to one user: those of the users, about the mean of the rows.

        The mean is a ratio, the sum of all rows over their number; its variance is that of the users' sums of deviations from it
        (Cochran 1977, Sampling Techniques, section 9A.1). With one row a user these are the moments of the rows.

        >>> rows, user = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
        >>> twice, once = Moments.of_clusters(rows, user), Moments.of(rows[::2])
        >>> twice.n, float(twice.variance[0]), float(once.variance[0])
        (2, 0.25, 0.25)
        """
        users, at = np.unique(user, return_inverse=True)
        mean = values.mean(axis=0)
        of_users = cls.of(mean + sums_by(values - mean, at) * (len(users) / len(values)))
        off = [np.count_nonzero(sums_by(1.0 * (values != bound), at), axis=0) * 1.0 for bound in bounds]
        low, high = values.min(axis=0), values.max(axis=0)
        return replace(of_users, mean=mean, low=low, high=high, above=off[0], below=off[1], bounds=bounds)

    def at(self, columns: slice) -> Moments:
        """Those of some columns."""
        return replace(self, **{name: getattr(self, name)[columns] for name in COLUMNS})

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        if n == 0:
            return self
        apart = other.mean - self.mean
        share = other.n / n
        squares = self.squares + other.squares + apart**2 * self.n * share
        cubes = (
            self.cubes + other.cubes
            + apart**3 * self.n * share * (self.n - other.n) / n
            + 3 * apart * (self.n * other.squares - other.n * self.squares) / n
        )  # fmt: skip
        return Moments(
            n, self.mean + apart * share, squares, cubes, np.fmin(self.low, other.low),
            np.fmax(self.high, other.high), self.above + other.above, self.below + other.below, self.bounds,
        )  # fmt: skip

    @property
    def variance(self) -> Floats:
        """Variance of each column, over n; 0 where users differ by rounding."""
        variance = self.squares / self.n
        return np.where(variance > (1e-13 * self.mean) ** 2, variance, 0.0)

    @property
    def skewness(self) -> Floats:
        """Skewness of each column; 0 where all values are alike."""
        variance = self.variance
        return np.asarray(
            np.divide(self.cubes / self.n, variance**1.5, out=np.zeros_like(variance), where=variance > 0)
        )

    def interval(self, confidence: float = 0.95, method: MomentsMethod = "auto") -> tuple[Floats, Floats]:
        """Lower and upper ends for the mean of each column; NaN where users are too few or too alike for the method.

        `beta`, which `auto` takes, generalises Clopper's and Pearson's to values between bounds (see `intervals`). `moments` is
        where the percentiles of the bootstrap go with many users: normal, with the skewness of the mean put in (Cornish
        and Fisher 1937). `bca_moments` is where those of BCa go: the same at the deviates that BCa takes. `t` is Student's.
        """
        from scipy.special import ndtri, stdtrit

        if not is_word(method, MOMENTS_METHODS):
            raise OptionError(f"method={method!r} needs more than moments. {near(method, MOMENTS_METHODS)}")
        checked_confidence(confidence)
        nothing = np.full_like(self.mean, np.nan)
        if self.n < 2:
            return nothing, nothing
        tail = (1 - confidence) / 2
        if method in ("auto", "beta"):
            return self._beta(tail)
        # Users who are all the same do not show how others would differ.
        variance = np.where(self.variance > 0, self.variance, np.nan)
        if method == "t":
            half = stdtrit(self.n - 1, 1 - tail) * np.sqrt(variance / (self.n - 1))
            return self.mean - half, self.mean + half
        error, skew = np.sqrt(variance / self.n), self.skewness / np.sqrt(self.n)
        ends = []
        for z in (ndtri(tail), ndtri(1 - tail)):
            taken = moved(skew / 6, skew / 6, z) if method == "bca_moments" else z
            ends.append(self.mean + error * (taken + skew * (taken**2 - 1) / 6))
        return ends[0], ends[1]

    def _beta(self, tail: float) -> tuple[Floats, Floats]:
        """Quantiles of the beta distribution with the mean and the variance of the users' mean, one more user put in.

        Under weights drawn from a flat Dirichlet distribution the mean of N users has their mean and the variance of their
        values / (N + 1). Where values are 0 or 1 that is a beta distribution, and its quantiles are Clopper's and Pearson's.
        """
        from scipy.special import betaincinv

        varied = self.high - self.low > 1e-12
        # Rounding, and repeats that a convention counts again, may pass the metric's bounds.
        bottom, top = (np.minimum(self.bounds[0], self.low), np.maximum(self.bounds[1], self.high))
        further = np.where(varied & (self.below >= ENOUGH), self.low, bottom), np.where(varied & (self.above >= ENOUGH), self.high, top)  # fmt: skip
        bottom, top = np.where(np.isfinite(bottom), bottom, self.low), np.where(np.isfinite(top), top, self.high)
        ends = []
        for extreme, share in zip(further, (tail, 1 - tail), strict=True):
            n, size = self.n + 1, top - bottom
            with np.errstate(invalid="ignore", divide="ignore"):
                at = (self.mean + (extreme - self.mean) / n - bottom) / size
                variance = (self.squares + (extreme - self.mean) ** 2 * self.n / n) / size**2 / (n * (n + 1))
                users = at * (1 - at) / variance - 1
                end = bottom + size * betaincinv(at * users, (1 - at) * users, share)
            ends.append(np.where((extreme == self.mean) & ~varied, self.mean, end))
        known = np.isfinite(further[0]) & np.isfinite(further[1])
        low, high = (np.where(known, end, np.nan) for end in ends)
        return low, high


def moved(bias: Floats, acceleration: Floats, z: float) -> Floats:
    """The normal deviate that BCa takes instead of z."""
    shifted = bias + z
    # Past the pole of the formula the end is that of the draws.
    left = np.maximum(1 - acceleration * shifted, 1e-9)
    return np.asarray(bias + shifted / left)


def sums_by(values: Floats, group: Ints, n_groups: int = 0) -> Floats:
    """The sum of the rows of each group of rows × columns; groups are numbered from 0, and are at least so many."""
    sums = [np.bincount(group, weights=column, minlength=n_groups) for column in values.T]
    return np.stack(sums, axis=1).astype(np.float64, copy=False)


def checked_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        given = Argument("confidence", confidence)
        raise OptionError(given, " is no share: give a number between 0 and 1, such as 0.95.")
