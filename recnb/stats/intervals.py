"""Intervals of means over users, of the values of users or of sums over them;
`README.md` says which method covers what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import N_
from recnb.errors import OptionError, is_number, is_word, near, quoted

Floats = NDArray[np.float64]

#: The lowest and the highest possible value of a metric: of all columns, or an entry
#: for each.
Bounds = tuple[float | Floats, float | Floats]
UNBOUNDED: Bounds = (-math.inf, math.inf)

#: The number of users with a hit (or who differ, between two models) that is enough to
#: estimate a variance. Below it the bounds of the metric take the place of the lowest
#: and highest value seen, and nothing is tested.
ENOUGH = 10

#: Values that differ by less are one value, summed in another order.
ROUNDING = 1e-12

IntervalMethod = Literal["beta", "t", "bootstrap"]
METHODS = ("beta", "t", "bootstrap")

#: What the usual interval is, in words.
BETA = N_(
    "beta distribution within the metric's bounds; for values of 0 and 1 the "
    "exact one of Clopper and Pearson"
)

#: Of fewer users the bootstrap is too narrow. Of more it differs little from t, and
#: scipy takes n² steps, the mean without each user.
LEAST_RESAMPLED, MOST_RESAMPLED = 100, 10_000


@dataclass(frozen=True, eq=False)
class Moments:
    """The number of users, and for each column what an interval needs; without weights,
    those of parts are added with `+`.
    """

    n: float  #: users; of those with weights the effective number
    mean: Floats
    squares: Floats  #: sums of squared deviations from the mean
    low: Floats  #: the lowest value
    high: Floats
    above: Floats  #: users above the lower bound: those with a hit
    below: Floats  #: users below the upper bound
    bounds: Bounds
    heaviest: float | None = (
        None  #: the weight of the heaviest user out of all; None: all count the same
    )

    @classmethod
    def of(
        cls, values: Floats, bounds: Bounds = UNBOUNDED, weights: Floats | None = None
    ) -> Moments:
        """Sum up users × columns whose values lie between the bounds.

        Of users with weights the mean is sum(w x) / sum(w); `n` and `squares` give its
        variance, sum(w² (x - mean)²) / sum(w)².
        """
        n, heaviest = float(len(values)), None
        mean = values.mean(axis=0) if n else np.zeros(values.shape[1])
        left = values - mean
        squares = np.einsum("ij,ij->j", left, left)
        if weights is not None and n:
            total, of_squares = weights.sum(), np.square(weights).sum()
            mean, n = (
                np.einsum("i,ij->j", weights, values) / total,
                float(total**2 / of_squares),
            )
            left = weights[:, np.newaxis] * (values - mean)
            squares = n / of_squares * np.einsum("ij,ij->j", left, left)
            heaviest = float(weights.max() / total)
        return cls(
            n=n,
            mean=mean,
            squares=squares,
            low=values.min(axis=0, initial=np.inf),
            high=values.max(axis=0, initial=-np.inf),
            above=cls.count(values > bounds[0], weights) * 1.0,
            below=cls.count(values < bounds[1], weights) * 1.0,
            bounds=bounds,
            heaviest=heaviest,
        )

    @property
    def variance(self) -> Floats:
        """The variance of the values, by n - 1; NaN below 2 users."""
        return (
            self.squares / (self.n - 1)
            if self.n >= 2
            else np.full_like(self.mean, np.nan)
        )

    @property
    def reach(self) -> tuple[Floats, Floats]:
        """How far down and up the mean goes if who is heavier than an equal share by as
        much as the heaviest has the lowest or highest value.
        """
        beyond = 0.0 if self.heaviest is None else self.heaviest - 1 / self.n
        share = beyond / (1 + beyond)
        return share * (self.mean - self.low), share * (self.high - self.mean)

    @staticmethod
    def count(chosen: NDArray[np.bool_], weights: Floats | None = None) -> Any:
        """Count the users chosen in each column; of users with weights as many of equal
        weight as show as much (Kish 1965).
        """
        if weights is None:
            return np.count_nonzero(chosen, axis=0)
        total, squares = (
            np.einsum("i,i...", weight, chosen) for weight in (weights, weights**2)
        )
        return np.divide(
            total**2, squares, out=np.zeros_like(squares), where=squares > 0
        )

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

    def interval(
        self, confidence: float = 0.95, method: Literal["beta", "t"] = "beta"
    ) -> tuple[Floats, Floats]:
        """Return the ends for the mean of each column; NaN where users are too few or
        too alike (see `intervals`).
        """
        from scipy.special import stdtrit

        check_confidence(confidence)
        if self.n < 2:
            return np.full_like(self.mean, np.nan), np.full_like(self.mean, np.nan)
        tail = (1 - confidence) / 2
        if method == "beta":
            return self._beta(tail)
        variance = np.where(
            self.high - self.low > ROUNDING, self.squares / self.n, np.nan
        )
        half = stdtrit(self.n - 1, 1 - tail) * np.sqrt(variance / (self.n - 1))
        return self.mean - half, self.mean + half

    def _beta(self, tail: float) -> tuple[Floats, Floats]:
        """Take quantiles of the beta distribution with the mean and the variance of the
        users' mean, one more user put in.
        """
        from scipy.special import betaincinv

        varied = self.high - self.low > ROUNDING
        # Rounding, and repeats that a convention counts again, may pass the metric's
        # bounds.
        bottom, top = (
            np.minimum(self.bounds[0], self.low),
            np.maximum(self.bounds[1], self.high),
        )
        lowest = np.where(varied & (self.below >= ENOUGH), self.low, bottom)
        highest = np.where(varied & (self.above >= ENOUGH), self.high, top)
        known = np.isfinite(lowest) & np.isfinite(highest)
        bottom, top = (
            np.where(np.isfinite(bottom), bottom, self.low),
            np.where(np.isfinite(top), top, self.high),
        )
        size, ends = top - bottom, []
        heaviest = self.heaviest or 1 / self.n
        share = heaviest / (1 + heaviest)  # of the user put in
        n = 1 / ((1 - share) ** 2 / self.n + share**2)
        for extreme, chance in ((lowest, tail), (highest, 1 - tail)):
            apart = extreme - self.mean
            with np.errstate(invalid="ignore", divide="ignore"):
                at = (self.mean + apart * share - bottom) / size
                spread = self.squares / self.n**2 + (apart * share) ** 2 * (
                    1 + 1 / self.n
                )
                variance = (1 - share) ** 2 * spread / size**2 * n / (n + 1)
                users = at * (1 - at) / variance - 1
                end = bottom + size * betaincinv(at * users, (1 - at) * users, chance)
            end = np.where((np.abs(apart) <= ROUNDING) & ~varied, self.mean, end)
            ends.append(np.where(known, end, np.nan))
        return ends[0], ends[1]


def intervals(
    values: Floats,
    confidence: float = 0.95,
    method: IntervalMethod = "beta",
    bounds: Bounds = UNBOUNDED,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends for the mean of each column of users × columns; NaN
    where a method gives no interval.

    `bounds` are the lowest and highest possible value; a metric without an upper bound
    (DCG, novelty) has NaN below 10 users with a hit. `t` is Student's, `bootstrap`
    scipy's BCa of 100 to 10,000 users; both are NaN where all users are alike.
    """
    check_confidence(confidence)
    if not is_word(method, METHODS):
        raise OptionError(
            f"method={quoted(method)} makes no interval here.",
            fix=near(method, METHODS),
        )
    if method == "bootstrap":
        return bootstrap(values, confidence, weights)
    return Moments.of(values, bounds, weights).interval(confidence, method)


def bootstrap(
    values: Floats, confidence: float, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the ends of scipy's BCa bootstrap of the mean of each column; NaN below
    100 users. All columns share the draws.
    """
    from scipy import stats

    if weights is not None:
        problem = (
            "method='bootstrap' takes all users alike, and user_weight= is given: "
        )
        raise OptionError(problem, "leave it out, for Student's t.")
    n, m = values.shape
    if n > MOST_RESAMPLED:
        problem = (
            f"method='bootstrap' is for at most {MOST_RESAMPLED:,} users, and these "
            f"are {n:,}: "
        )
        raise OptionError(problem, "of so many Student's t gives the same, method='t'.")
    low, high = np.full((2, m), np.nan)
    varied = (
        (np.ptp(values, axis=0) > ROUNDING)
        if n >= LEAST_RESAMPLED
        else np.zeros(m, dtype=bool)
    )
    if varied.any():
        how: Any = {
            "n_resamples": 2000,
            "batch": max(1, 4_000_000 // values.size),
            "rng": np.random.default_rng(0),
        }
        found = stats.bootstrap(
            (values[:, varied],), np.mean, axis=0, confidence_level=confidence, **how
        )
        low[varied], high[varied] = found.confidence_interval
    return low, high


def interval_of_pairs(
    of_users: Floats, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a mean over pairs of users, from each user's mean over the
    pairs that they are in.

    Student's t with the standard error of the jackknife over users (Arvesen 1969, Ann.
    Math. Statist. 40): a pair shares its users with other pairs, so the pairs are no
    sample. NaN below 10 users, or where all are alike.
    """
    n = len(of_users)
    if n < ENOUGH:
        return np.nan, np.nan
    low, high = Moments.of(of_users[:, np.newaxis]).interval(confidence, "t")
    mean, half = float(of_users.mean()), float(high[0] - low[0]) * (n - 1) / (n - 2)
    return mean - half, mean + half


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        raise OptionError(
            f"confidence={quoted(confidence)} is no share: give a number between "
            f"0 and 1, such as 0.95."
        )
