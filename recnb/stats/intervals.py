"""Intervals of means over users; `README.md` says what they cover."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import N_
from recnb.errors import OptionError, is_number, quoted
from recnb.stats.clusters import Clusters
from recnb.stats.means import Floats, mean_of, means

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

#: What the interval of a mean is, in words.
BETA = N_(
    "beta distribution within the metric's bounds; for values of 0 and 1 the "
    "exact one of Clopper and Pearson"
)
#: The same of lists in clusters, where it is never exact.
BETA_OF_CLUSTERS = N_("beta distribution within the metric's bounds")


@dataclass(frozen=True, eq=False)
class Moments:
    """What an interval needs of users × columns, with an entry for each column.

    Of lists in clusters, what is sampled are clusters (see `clusters.py`).
    """

    n: float  #: users or clusters; of users with weights the effective number
    mean: Floats
    squares: Floats  #: sums of squared deviations from the mean
    low: Floats  #: the lowest value of a user, or of a list
    high: Floats
    sampled: tuple[Floats, Floats]  #: the lowest and the highest value sampled
    above: Floats  #: users or clusters above the lower bound: those with a hit
    below: Floats  #: users or clusters below the upper bound
    bounds: Bounds
    #: The weight of the heaviest user out of that of all; None: all count the same.
    heaviest: float | None = None
    #: The share of a heavy user or cluster of all weight, beyond an equal share.
    excess: float = 0.0
    #: The size of the largest cluster, that of the average one being 1; None: of users.
    largest: float | None = None
    #: Of clusters without weights the variance of the mean difference, and its degrees
    #: of freedom; None: they follow from `squares` and `n`.
    corrected: tuple[Floats, float] | None = None

    @classmethod
    def of(
        cls,
        values: Floats,
        bounds: Bounds = UNBOUNDED,
        weights: Floats | None = None,
        clusters: Clusters | None = None,
    ) -> Moments:
        """Sum up users × columns, or lists × columns, whose values lie in the bounds.

        Of users with weights the mean is sum(w x) / sum(w); `n` and `squares` give its
        variance, sum(w² (x - mean)²) / sum(w)².
        """
        if clusters is not None:
            return cls._of_clusters(values, bounds, weights, clusters)
        n_users, n_columns = values.shape
        n = float(n_users)
        heaviest = None
        excess = 0.0
        if n_users == 0:
            mean = np.zeros(n_columns)
            squares = np.zeros(n_columns)
        elif weights is None:
            mean = means(values)
            squares = _sums_of_squares(values - mean)
        else:
            total = weights.sum()
            total_of_squares = np.square(weights).sum()
            n = float(total**2 / total_of_squares)
            heaviest = float(weights.max() / total)
            excess = heaviest - 1 / n
            mean = means(values, weights)
            deviations = weights[:, np.newaxis] * (values - mean)
            squares = n / total_of_squares * _sums_of_squares(deviations)
        low = values.min(axis=0, initial=np.inf)
        high = values.max(axis=0, initial=-np.inf)
        return cls(
            n=n,
            mean=mean,
            squares=squares,
            low=low,
            high=high,
            sampled=(low, high),
            above=effective_count(values > bounds[0], weights),
            below=effective_count(values < bounds[1], weights),
            bounds=bounds,
            heaviest=heaviest,
            excess=excess,
        )

    @classmethod
    def _of_clusters(
        cls,
        values: Floats,
        bounds: Bounds,
        weights: Floats | None,
        clusters: Clusters,
    ) -> Moments:
        """Sum up the values of clusters, each of which counts 1."""
        mean = means(values, weights)
        deviations = clusters.deviations(values, mean, weights)
        shares = clusters.shares(weights)
        largest = float(shares.max())
        corrected, excess = None, 0.0
        if weights is not None:
            excess = max(largest - 1 / clusters.n, 0.0)
        elif clusters.n > 1:
            variance = clusters.corrected_variance(deviations)
            corrected = variance, clusters.degrees_of_freedom()
        return cls(
            n=float(clusters.n),
            mean=mean,
            squares=_sums_of_squares(deviations),
            low=values.min(axis=0),
            high=values.max(axis=0),
            sampled=(mean + deviations.min(axis=0), mean + deviations.max(axis=0)),
            above=clusters.n_off(values, bounds[0], weights),
            below=clusters.n_off(values, bounds[1], weights),
            bounds=bounds,
            excess=excess,
            largest=clusters.n * largest,
            corrected=corrected,
        )

    @property
    def variance(self) -> Floats:
        """The variance of the values, by n - 1; NaN below 2 users."""
        if self.n < 2:
            return np.full_like(self.mean, np.nan)
        return self.squares / (self.n - 1)

    @property
    def sd(self) -> Floats:
        """The standard deviation of differences, whose error is this out of √n."""
        variance = self.variance
        if self.corrected is not None:
            variance = self.n * self.corrected[0]
        deviation: Floats = np.sqrt(variance)
        return deviation

    @property
    def free(self) -> float:
        """The degrees of freedom of a test of the mean difference."""
        return self.n - 1 if self.corrected is None else self.corrected[1]

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether users, or clusters, have different values."""
        lowest, highest = self.sampled
        return np.asarray(highest - lowest > ROUNDING)

    @property
    def reach(self) -> tuple[Floats, Floats]:
        """How far down and up the mean may go.

        It does if who is heavier than an equal share has the lowest or highest value.
        """
        share = self.excess / (1 + self.excess)
        return share * (self.mean - self.low), share * (self.high - self.mean)

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends for the mean of each column, by the beta distribution.

        NaN of a single user, and without bounds where few users are off the other one.
        """
        check_confidence(confidence)
        if self.n < 2:
            return np.full_like(self.mean, np.nan), np.full_like(self.mean, np.nan)
        # Rounding, and repeats that a convention counts again, may pass the metric's
        # bounds.
        bottom = np.minimum(self.bounds[0], self.low)
        top = np.maximum(self.bounds[1], self.high)
        lowest_seen, highest_seen = self.sampled
        is_seen = self.varies & (self.below >= ENOUGH)
        lowest = np.where(is_seen, lowest_seen, self._furthest(bottom))
        is_seen = self.varies & (self.above >= ENOUGH)
        highest = np.where(is_seen, highest_seen, self._furthest(top))
        is_known = np.isfinite(lowest) & np.isfinite(highest)
        scale = (
            np.where(np.isfinite(bottom), bottom, lowest_seen),
            np.where(np.isfinite(top), top, highest_seen),
        )
        tail = (1 - confidence) / 2
        low = self._quantile_with(lowest, tail, scale)
        high = self._quantile_with(highest, 1 - tail, scale)
        return np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)

    def interval_within_bounds(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the interval if others may be as low or as high as the bounds."""
        none = np.zeros_like(self.mean)
        return replace(self, above=none, below=none).interval(confidence)

    def student_interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of Student's t for the mean of each column.

        NaN below 2 users and where all users are alike.
        """
        from scipy.special import stdtrit

        check_confidence(confidence)
        if self.n < 2:
            return np.full_like(self.mean, np.nan), np.full_like(self.mean, np.nan)
        variance = np.where(self.varies, self.squares / self.n, np.nan)
        tail = (1 - confidence) / 2
        half = stdtrit(self.n - 1, 1 - tail) * np.sqrt(variance / (self.n - 1))
        return self.mean - half, self.mean + half

    def _furthest(self, bound: Floats) -> Floats:
        """Return the value of one more user at a bound.

        One more cluster is as large as the largest, and all its lists are there.
        """
        if self.largest is None:
            return bound
        return self.mean + self.largest * (bound - self.mean)

    def _quantile_with(
        self, extreme: Floats, chance: float, scale: tuple[Floats, Floats]
    ) -> Floats:
        """Return the quantile of the mean with one more user of an extreme value.

        The beta distribution has its mean and variance, between the ends of the scale.
        """
        from scipy.special import betaincinv

        bottom, top = scale
        size = top - bottom
        heaviest = self.heaviest or 1 / self.n
        share = heaviest / (1 + heaviest)  # of the user put in
        n = 1 / ((1 - share) ** 2 / self.n + share**2)
        distance = extreme - self.mean
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (self.mean + distance * share - bottom) / size
            spread = self.squares / self.n**2
            spread = spread + (distance * share) ** 2 * (1 + 1 / self.n)
            variance = (1 - share) ** 2 * spread / size**2 * n / (n + 1)
            n_beta = mean * (1 - mean) / variance - 1
            # Clusters of which one has most lists may vary more than a mean can, which
            # is then at either end.
            n_beta = np.maximum(n_beta, ROUNDING)
            quantile = betaincinv(mean * n_beta, (1 - mean) * n_beta, chance)
        is_mean = (np.abs(distance) <= ROUNDING) & ~self.varies
        return np.where(is_mean, self.mean, bottom + size * quantile)


def intervals(
    values: Floats,
    confidence: float = 0.95,
    bounds: Bounds = UNBOUNDED,
    weights: Floats | None = None,
    clusters: Clusters | None = None,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends for the mean of each column of users × columns.

    `bounds` are the lowest and highest possible value. NaN of a single user; a metric
    without an upper bound (DCG, novelty) has NaN below 10 users with a hit.
    """
    return Moments.of(values, bounds, weights, clusters).interval(confidence)


def interval_of_pairs(
    of_users: Floats,
    confidence: float = 0.95,
    clusters: Clusters | None = None,
) -> tuple[float, float]:
    """Return the interval of a mean over pairs of users, from each user's over theirs.

    Student's t with the standard error of the jackknife over users (Arvesen 1969, Ann.
    Math. Statist. 40): a pair shares its users with other pairs, so the pairs are no
    sample. NaN below 10 users, or where all are alike.
    """
    moments = Moments.of(of_users[:, np.newaxis], clusters=clusters)
    n = moments.n
    if n < ENOUGH:
        return np.nan, np.nan
    low, high = moments.student_interval(confidence)
    mean = mean_of(of_users)
    half = float(high[0] - low[0]) * (n - 1) / (n - 2)
    return mean - half, mean + half


def effective_count(
    chosen: NDArray[np.bool_],
    weights: Floats | None = None,
    clusters: Clusters | None = None,
) -> Floats:
    """Count the users chosen in each column, or the clusters with a list chosen.

    Of users with weights it is as many of equal weight as show as much (Kish 1965).
    """
    if clusters is not None:
        return clusters.count(chosen)
    if weights is None:
        return np.asarray(np.count_nonzero(chosen, axis=0), dtype=np.float64)
    total = np.einsum("i,i...", weights, chosen)
    squares = np.einsum("i,i...", weights**2, chosen)
    count: Floats = np.zeros_like(squares)
    np.divide(total**2, squares, out=count, where=squares > 0)
    return count


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        raise OptionError(
            f"confidence={quoted(confidence)} is no share: give a number between "
            f"0 and 1, such as 0.95."
        )


def _sums_of_squares(deviations: Floats) -> Any:
    """Sum the squares of each column."""
    return np.einsum("ij,ij->j", deviations, deviations)
