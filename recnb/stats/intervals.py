"""Intervals of means over a sample; `README.md` says what they cover."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from recnb.caching import cached_property
from recnb.stats.cr2 import variance_of_mean
from recnb.stats.means import ENOUGH, ROUNDING, Bools, Floats, means
from recnb.stats.sample import UserSample
from recnb.stats.student import check_confidence, t_test

#: The lowest and the highest possible value of a metric: of all columns, or an entry
#: for each.
Bounds = tuple[float | Floats, float | Floats]
#: The lower and the upper end of something, by column.
Ends = tuple[Floats, Floats]
UNBOUNDED: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True, eq=False)
class Moments:
    """The mean of each column of values, its spread over units, and its interval.

    A unit is a user, or a cluster with all its lists (`UserSample`). By column there are
    several lowest and highest values:

    | `bounds`             | possible for the metric                               |
    | `_limits`            | the bounds, or values that pass them                  |
    | `_extremes`          | seen in a list                                        |
    | `_extremes_of_units` | seen in a unit                                        |
    | `_one_more`          | possible for one more unit: those seen, or the limits |
    """

    values: Floats  #: users, or lists, × columns, each with a value
    sample: UserSample
    bounds: Bounds = UNBOUNDED

    @cached_property
    def mean(self) -> Floats:
        """The mean, with weights sum(w x) / sum(w); NaN without values."""
        return means(self.values, self.sample.weights)

    # How units spread

    @cached_property
    def _deviations(self) -> Floats:
        """How far the value of each unit is from the mean, units × columns."""
        return self.sample.deviations(self.values, self.mean)

    @cached_property
    def _squares(self) -> Floats:
        """The sum of the squared deviations of units.

        The deviation of a user with a weight is n w (x - mean) / sum(w), so that the
        sum out of n² is the variance of the mean as a ratio of two sums, linearised:
        sum(w² (x - mean)²) / sum(w)².
        """
        squares: Floats = np.einsum("ij,ij->j", self._deviations, self._deviations)
        return squares

    @property
    def variance(self) -> Floats:
        """The variance of the values of units, out of n - 1, of 2 units at least."""
        return self._squares / (self.sample.n_effective - 1)

    @property
    def sd(self) -> Floats:
        """The standard deviation of the values of units; 0 if they differ by rounding.

        Out of √n it is the standard error of the mean. Of clusters without weights it is
        worked back from CR2, the variance of their mean.
        """
        if self.sample.n_effective < 2:
            return self._nan
        variance = self.variance
        if self.sample.has_cr2:
            squared_error = variance_of_mean(self._deviations, self.sample.shares)
            variance = self.sample.n_effective * squared_error
        lowest, highest = self._extremes
        return np.where(highest - lowest > ROUNDING, np.sqrt(variance), 0.0)

    @cached_property
    def _extremes(self) -> Ends:
        """The lowest and the highest value."""
        return self.values.min(axis=0), self.values.max(axis=0)

    @cached_property
    def _extremes_of_units(self) -> Ends:
        """The lowest and the highest value of a unit."""
        if not self.sample.is_clustered:
            return self._extremes
        lowest = self.mean + self._deviations.min(axis=0)
        highest = self.mean + self._deviations.max(axis=0)
        return lowest, highest

    @cached_property
    def varies(self) -> Bools:
        """Whether units have different values."""
        lowest, highest = self._extremes_of_units
        return np.asarray(highest - lowest > ROUNDING)

    @property
    def margin(self) -> Ends:
        """How far down and up the mean may go beyond its standard error.

        The heaviest user stands for users who were not seen. Suppose one more, with the
        lowest or the highest value seen, who weighs what the heaviest weighs beyond an
        equal share: the mean moves by so much. 0 without weights.
        """
        lowest, highest = self._extremes
        share = self.sample.excess / (1 + self.sample.excess)  # of the one more
        return share * (self.mean - lowest), share * (highest - self.mean)

    @property
    def _nan(self) -> Floats:
        """NaN for each column."""
        return np.full_like(self.mean, np.nan)

    # The interval

    def interval(
        self, confidence: float = 0.95, *, within_bounds: bool = False
    ) -> Ends:
        """Return the ends for the mean of each column, by the beta distribution.

        An end is a quantile of the mean of all units and one more, whose value is the
        lowest there may be for the lower end, the highest for the upper end.

        NaN of a single unit, and where few units are off one bound and there is no other.
        `within_bounds`: others may be as low or as high as the bounds, whatever is seen.
        """
        check_confidence(confidence)
        if self.sample.n_effective < 2:
            return self._nan, self._nan
        lowest, highest = self._one_more(within_bounds=within_bounds)
        is_known = np.isfinite(lowest) & np.isfinite(highest)
        tail = (1 - confidence) / 2
        low = self._quantile_with(lowest, tail)
        high = self._quantile_with(highest, 1 - tail)
        return np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)

    def _one_more(self, *, within_bounds: bool) -> Ends:
        """Return the lowest and the highest value that one more unit may have.

        The lowest is that seen, if so many units are below the upper bound that they
        show how low others are; where nearly all are at the upper bound, it is the lower
        bound. The highest likewise.
        """
        at_lower, at_upper = map(self._value_of_unit_at, self._limits)
        if within_bounds:
            return at_lower, at_upper
        lowest_seen, highest_seen = self._extremes_of_units
        lower_bound, upper_bound = self.bounds
        show_lowest = self._are_enough(upper_bound - self.values)
        show_highest = self._are_enough(self.values - lower_bound)
        return (
            np.where(show_lowest, lowest_seen, at_lower),
            np.where(show_highest, highest_seen, at_upper),
        )

    def _are_enough(self, distances: Floats) -> Bools:
        """Return whether enough units are off a bound; `distances`: of values from it."""
        return self.varies & (self.sample.n_off(distances) >= ENOUGH)

    @cached_property
    def _limits(self) -> Ends:
        """The bounds of the metric, or values that pass them.

        Values do by rounding, and by repeats that a convention counts again.
        """
        lowest, highest = self._extremes
        lower_bound, upper_bound = self.bounds
        return np.minimum(lower_bound, lowest), np.maximum(upper_bound, highest)

    def _value_of_unit_at(self, limit: Floats) -> Floats:
        """Return the value of one more unit whose lists all have the value `limit`.

        A cluster may have as many lists as the largest. `_quantile_with` gives it the
        weight of an average one, so that its value is as many times further from the
        mean.
        """
        if not self.sample.is_clustered:
            return limit
        times_average = self.sample.n_effective * self.sample.heaviest
        return self.mean + times_average * (limit - self.mean)

    def _quantile_with(self, extreme: Floats, chance: float) -> Floats:
        """Return the quantile of the mean with one more unit of an extreme value.

        With one more unit of value e and share s of all weight, n others of share
        r = (1 - s) / n and mean m, and the effective number N = 1 / (n r² + s²):

            mean      M = m + s (e - m)
            variance  V = N / (N + 1) * (sum(r² (x - M)²) + s² (e - M)²)

        V is the variance of the mean under random weights: the Bayesian bootstrap (Rubin
        1981, Ann. Statist. 9). The quantile is that of a beta distribution with mean M
        and variance V; for values of 0 and 1, of Clopper and Pearson. `README.md`
        measures the coverage, under "Intervals of a mean".
        """
        n_others = self.sample.n_effective
        # Out of the weight of all others: a user may be as heavy as the heaviest, a
        # cluster is an average one.
        weight = 1 / n_others if self.sample.is_clustered else self.sample.heaviest
        share = weight / (1 + weight)
        share_of_other = (1 - share) / n_others
        n_effective = 1 / (n_others * share_of_other**2 + share**2)

        distance = extreme - self.mean
        with np.errstate(invalid="ignore"):  # an extreme may be infinite
            moved = share * distance  # M - m
            # sum((x - M)²) = sum((x - m)²) + n (M - m)², and e - M = (1 - s) (e - m)
            from_others = share_of_other**2 * (self._squares + n_others * moved**2)
            from_extreme = (share * (1 - share) * distance) ** 2
            variance = n_effective * (from_others + from_extreme) / (n_effective + 1)
            quantile = self._beta_quantile(self.mean + moved, variance, chance)
        return np.where(np.abs(distance) <= ROUNDING, self.mean, quantile)

    def _beta_quantile(self, mean: Floats, variance: Floats, chance: float) -> Floats:
        """Return the quantile of a beta distribution by its mean and its variance.

        It lies between the limits; where there is none, between the values of units. On
        a scale from 0 to 1, with mean m and variance v, its parameters are

            a = m B,  b = (1 - m) B,  B = m (1 - m) / v - 1
        """
        from scipy.special import betaincinv

        lower_limit, upper_limit = self._limits
        lowest, highest = self._extremes_of_units
        bottom = np.where(np.isfinite(lower_limit), lower_limit, lowest)
        top = np.where(np.isfinite(upper_limit), upper_limit, highest)
        size = top - bottom
        with np.errstate(invalid="ignore", divide="ignore"):
            m, v = (mean - bottom) / size, variance / size**2
            # Clusters of which one has most lists may vary more than a mean can, which
            # is then at either end.
            n_beta = np.maximum(m * (1 - m) / v - 1, ROUNDING)
            quantile: Floats = betaincinv(m * n_beta, (1 - m) * n_beta, chance)
        return bottom + size * quantile


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
