"""Intervals of means over a sample; `README.md` says what they cover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recnb.stats.cr2 import variance_of_mean
from recnb.stats.means import Floats, means
from recnb.stats.sample import Bools, UserSample
from recnb.stats.student import check_confidence, t_test

#: The lowest and the highest possible value of a metric: of all columns, or an entry
#: for each.
Bounds = tuple[float | Floats, float | Floats]
#: The lower and the upper end of something, by column.
Pair = tuple[Floats, Floats]
UNBOUNDED: Bounds = (-math.inf, math.inf)

#: The number of users with a hit (or who differ, between two models) that is enough to
#: estimate a variance. Below it the bounds of the metric take the place of the lowest
#: and highest value seen, and nothing is tested.
ENOUGH = 10

#: Values that differ by less are one value, summed in another order.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """The mean of each column of values, its spread over units, and its interval."""

    values: Floats  #: users, or lists, × columns, each with a value
    sample: UserSample
    bounds: Bounds = UNBOUNDED

    @cached_property
    def mean(self) -> Floats:
        """The mean, with weights sum(w x) / sum(w); NaN without values."""
        return means(self.values, self.sample.weights)

    @cached_property
    def _deviations(self) -> Floats:
        """How far the values of units are from the mean."""
        return self.sample.deviations(self.values, self.mean)

    @cached_property
    def _squares(self) -> Floats:
        """Sums of squared deviations.

        With weights these out of n² are sum(w² (x - mean)²) / sum(w)², the variance of
        the linearised ratio.
        """
        squares: Floats = np.einsum("ij,ij->j", self._deviations, self._deviations)
        return squares

    @property
    def variance(self) -> Floats:
        """The variance of the values of units, by n - 1; NaN below 2 units."""
        if self.sample.n_effective < 2:
            return self._nothing
        return self._squares / (self.sample.n_effective - 1)

    @property
    def sd(self) -> Floats:
        """The standard deviation of the values of units; 0 if they differ by rounding.

        Out of √n it is the standard error of their mean. So that it is of clusters
        too, whose sizes are not equal, it is there made of the variance CR2.
        """
        if self.sample.n_effective < 2:
            return self._nothing
        variance = self.variance
        if self.sample.has_cr2:
            of_mean = variance_of_mean(self._deviations, self.sample.shares)
            variance = self.sample.n_effective * of_mean
        lowest, highest = self._extremes
        return np.where(highest - lowest > ROUNDING, np.sqrt(variance), 0.0)

    @cached_property
    def _extremes(self) -> Pair:
        """The lowest and the highest value."""
        return self.values.min(axis=0), self.values.max(axis=0)

    @cached_property
    def _extremes_of_units(self) -> Pair:
        """The lowest and the highest value of a unit."""
        if not self.sample.is_clustered:
            return self._extremes
        lowest = self.mean + self._deviations.min(axis=0)
        highest = self.mean + self._deviations.max(axis=0)
        return lowest, highest

    @property
    def varies(self) -> Bools:
        """Whether units have different values."""
        lowest, highest = self._extremes_of_units
        return np.asarray(highest - lowest > ROUNDING)

    @property
    def reach(self) -> Pair:
        """How far down and up the mean may go beyond its standard error.

        The heaviest user counts for others, whose values may be the lowest or the
        highest: as far as the share that is more than an equal one moves the mean. It
        is 0 without weights.
        """
        least, most = self._extremes
        share = self.sample.excess / (1 + self.sample.excess)
        return share * (self.mean - least), share * (most - self.mean)

    @property
    def _nothing(self) -> Floats:
        """NaN for each column."""
        return np.full_like(self.mean, np.nan)

    def interval(
        self, confidence: float = 0.95, *, within_bounds: bool = False
    ) -> Pair:
        """Return the ends for the mean of each column, by the beta distribution.

        NaN of a single unit, and without bounds where few units are off the other one.
        `within_bounds`: others may be as low or as high as the bounds, whatever is seen.
        """
        check_confidence(confidence)
        if self.sample.n_effective < 2:
            return self._nothing, self._nothing
        lowest, highest = self._one_more(within_bounds=within_bounds)
        is_known = np.isfinite(lowest) & np.isfinite(highest)
        tail = (1 - confidence) / 2
        low = self._quantile_with(lowest, tail)
        high = self._quantile_with(highest, 1 - tail)
        return np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)

    def _one_more(self, *, within_bounds: bool) -> Pair:
        """Return the lowest and the highest value that one more unit may have.

        Those of units seen, where enough of them are off the bound.
        """
        lowest, highest = map(self._furthest, self._limits)
        if within_bounds:
            return lowest, highest
        seen = self._extremes_of_units
        above, below = self._are_enough
        return np.where(below, seen[0], lowest), np.where(above, seen[1], highest)

    @property
    def _limits(self) -> Pair:
        """The bounds of the metric, and where values pass them these.

        Rounding does, and repeats that a convention counts again.
        """
        lowest, highest = self._extremes
        return np.minimum(self.bounds[0], lowest), np.maximum(self.bounds[1], highest)

    @property
    def _scale(self) -> Pair:
        """The ends of the beta distribution: the limits, or else the values of units."""
        ends = zip(self._limits, self._extremes_of_units, strict=True)
        low, high = (np.where(np.isfinite(limit), limit, seen) for limit, seen in ends)
        return low, high

    @property
    def _are_enough(self) -> tuple[Bools, Bools]:
        """Whether enough units are above the lower bound, and below the upper one."""
        n_above = self.sample.off(self.values - self.bounds[0])
        n_below = self.sample.off(self.bounds[1] - self.values)
        return self.varies & (n_above >= ENOUGH), self.varies & (n_below >= ENOUGH)

    def _furthest(self, bound: Floats) -> Floats:
        """Return the value of one more user at a bound.

        One more cluster has the value of one as large as the largest, with all its lists
        there: `_quantile_with` gives it the weight of an average one.
        """
        if not self.sample.is_clustered:
            return bound
        largest = self.sample.n_effective * self.sample.heaviest
        return self.mean + largest * (bound - self.mean)

    def _quantile_with(self, extreme: Floats, chance: float) -> Floats:
        """Return the quantile of the mean with one more unit of an extreme value.

        The unit is a user as heavy as the heaviest, or a cluster with the weight of an
        average one and the value of the largest (`_furthest`). With it there are n units,
        by their effective number, and between the ends of the scale, 0 and 1, the mean
        is m. Its variance under weights drawn at random (the
        Bayesian bootstrap, Rubin 1981, Ann. Statist. 9) is v = s² / (n + 1), where s² is
        the variance of the n values. The beta distribution of this mean and variance has
        the parameters a = m N and b = (1 - m) N, where N = m (1 - m) / v - 1. For values
        of 0 and 1 the quantile is that of Clopper and Pearson. `README.md` measures the
        coverage, under "Intervals of a mean".
        """
        from scipy.special import betaincinv

        n_units = self.sample.n_effective
        bottom, top = self._scale
        size = top - bottom
        weight = 1 / n_units if self.sample.is_clustered else self.sample.heaviest
        share = weight / (1 + weight)  # of the unit put in
        n = 1 / ((1 - share) ** 2 / n_units + share**2)
        distance = extreme - self.mean
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (self.mean + distance * share - bottom) / size
            spread = self._squares / n_units**2
            spread = spread + (distance * share) ** 2 * (1 + 1 / n_units)
            variance = (1 - share) ** 2 * spread / size**2 * n / (n + 1)
            n_beta = mean * (1 - mean) / variance - 1
            # Clusters of which one has most lists may vary more than a mean can, which
            # is then at either end.
            n_beta = np.maximum(n_beta, ROUNDING)
            quantile = betaincinv(mean * n_beta, (1 - mean) * n_beta, chance)
        is_mean = (np.abs(distance) <= ROUNDING) & ~self.varies
        return np.where(is_mean, self.mean, bottom + size * quantile)


def interval_of_pairs(
    of_users: Floats, sample: UserSample, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a mean over pairs of users, from each user's over theirs.

    Student's t with the standard error of the jackknife over users (Arvesen 1969, Ann.
    Math. Statist. 40), 2 (n - 1) / (n - 2) times that of the users' means: a pair shares
    its users with other pairs, so the pairs are no sample. NaN below 10 users, or where
    all are alike.
    """
    moments = Moments(of_users[:, np.newaxis], sample)
    n = sample.n_effective
    if n < ENOUGH or not moments.varies[0]:
        return np.nan, np.nan
    error = 2 * (n - 1) / (n - 2) * np.sqrt(moments.variance / n)
    test = t_test(moments.mean, error, n - 1, confidence=confidence)
    return float(test.low[0]), float(test.high[0])


def settled(differences: Floats) -> Floats:
    """Return differences, of which those within rounding of 0 are 0: they are ties.

    Ties must not depend on the order in which two models add the same terms.
    """
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)
