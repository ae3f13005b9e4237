"""Intervals from a few moments per column, which add up over parts of the users: no values need be kept or moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recnb.errors import OptionError, is_number, near
from recnb.hits import Floats
from recnb.uncertainty.bootstrap import moved

MomentsMethod = Literal["moments", "bca_moments", "t"]
MOMENTS_METHODS = ("moments", "bca_moments", "t")


@dataclass(frozen=True, eq=False)
class Moments:
    """How many users; the mean of their values, and the squares and cubes of what is left after it, summed.

    Parts of the users are put together with `+`, without losing digits (Chan, Golub and LeVeque 1979; Pébay 2008).

    >>> whole = Moments.of(np.array([[0.0], [1.0]])) + Moments.of(np.array([[0.5], [0.5]]))
    >>> low, high = whole.interval(method="t")
    >>> whole.n, round(float(low[0]), 3), round(float(high[0]), 3)
    (4, -0.15, 1.15)
    """

    n: int
    mean: Floats
    squares: Floats
    cubes: Floats

    @classmethod
    def of(cls, values: Floats) -> Moments:
        """The moments of users × columns."""
        mean = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
        left = values - mean
        squared = left * left
        return cls(len(values), mean, squared.sum(axis=0), np.einsum("ij,ij->j", squared, left))

    @classmethod
    def of_sums(cls, n: int, values: Floats, squares: Floats, cubes: Floats) -> Moments:
        """The moments from sums of values, squares and cubes, as engines give them.

        Where users are almost alike, sums hold few digits of how they differ; what may be rounding counts as none.
        """
        mean = values / n
        second = squares - n * mean**2
        second = np.where(second > 1e-15 * n * squares, second, 0.0)
        third = cubes - 3 * mean * squares + 2 * n * mean**3
        return cls(n, mean, second, np.where(second > 0, third, 0.0))

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
        return Moments(n, self.mean + apart * share, squares, cubes)

    @property
    def variance(self) -> Floats:
        """Variance of each column, over n; 0 where users differ by rounding."""
        made = self.squares / self.n
        return np.where(made > (1e-13 * self.mean) ** 2, made, 0.0)

    @property
    def skewness(self) -> Floats:
        """Skewness of each column; 0 where all values are alike."""
        variance = self.variance
        return np.asarray(
            np.divide(self.cubes / self.n, variance**1.5, out=np.zeros_like(variance), where=variance > 0)
        )

    def interval(self, confidence: float = 0.95, method: MomentsMethod = "moments") -> tuple[Floats, Floats]:
        """Lower and upper ends for the mean of each column.

        `moments` is where the percentiles of the bootstrap go with many users: normal, with the skewness of the mean
        put in (Cornish and Fisher 1937). `bca_moments` is where those of BCa go: the same at the deviates that BCa
        takes. `t` is Student's.
        """
        from scipy.special import ndtri, stdtrit

        if method not in MOMENTS_METHODS:
            raise OptionError(f"method={method!r} needs more than moments. {near(method, MOMENTS_METHODS)}")
        checked_confidence(confidence)
        if self.n < 2:
            nothing = np.full_like(self.mean, np.nan)
            return nothing, nothing
        tail = (1 - confidence) / 2
        if method == "t":
            half = stdtrit(self.n - 1, 1 - tail) * np.sqrt(self.variance / (self.n - 1))
            return self.mean - half, self.mean + half
        error, skew = np.sqrt(self.variance / self.n), self.skewness / np.sqrt(self.n)
        ends = []
        for z in (ndtri(tail), ndtri(1 - tail)):
            taken = moved(skew / 6, skew / 6, z) if method == "bca_moments" else z
            ends.append(self.mean + error * (taken + skew * (taken**2 - 1) / 6))
        return ends[0], ends[1]


def checked_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        raise OptionError(f"confidence={confidence!r} is no share: give a number between 0 and 1, such as 0.95.")
