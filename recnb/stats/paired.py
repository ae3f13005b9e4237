"""Two models on the same users: Student's paired t test with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.errors import FrameError
from recnb.stats.clusters import Clusters
from recnb.stats.intervals import (
    ENOUGH,
    UNBOUNDED,
    Bounds,
    Moments,
    check_confidence,
    effective_count,
)
from recnb.stats.means import Floats


@dataclass(frozen=True)
class Settings:
    """The settings of tests of differences."""

    confidence: float = 0.95
    #: Whether a difference that is not tested keeps the interval within the bounds of
    #: its metric, for a check that asks for no test.
    keeps_untested: bool = False

    def __post_init__(self) -> None:
        check_confidence(self.confidence)

    @property
    def alpha(self) -> float:
        """The level of the tests: what the confidence leaves."""
        return round(1 - self.confidence, 12)


class Paired(NamedTuple):
    """Mean difference, interval, test and users, an entry for each column."""

    mean: Floats  #: mean difference; above 0 if the model is better than the baseline
    #: The ends of the interval; NaN, as the p-value is, if fewer than 10 users differ or
    #: a metric without bounds has no interval.
    low: Floats
    high: Floats
    p: Floats
    sd: Floats  #: standard deviation of the differences (n - 1)
    effect_size: Floats  #: Cohen's d_z, mean / sd
    won: NDArray[np.int64]  #: users for whom the model is better
    tied: NDArray[np.int64]
    lost: NDArray[np.int64]
    n: int  #: users, or lists
    #: The same, or the effective number of users with weights, or that of clusters.
    n_effective: float
    #: How much more than its errors a difference must be, of users with weights (see
    #: `Moments.reach`).
    reach: Floats


def paired(
    differences: Floats,
    settings: Settings | None = None,
    bounds: Bounds = UNBOUNDED,
    weights: Floats | None = None,
    clusters: Clusters | None = None,
) -> Paired:
    """Return interval, test, effect size and users won, tied and lost, for each column.

    `differences` are users × columns: the values of the model minus those of the
    baseline; `bounds` are the lowest and highest possible difference. If fewer than 10
    users differ there is neither test nor interval. Of lists in clusters, clusters are
    the users of all this; won, tied and lost count lists.
    """
    settings = settings or Settings()
    sample = _Sample.of(differences, bounds, weights, clusters)
    n_users, n_columns = sample.differences.shape
    untested = np.full(n_columns, np.nan)
    made = Paired(
        mean=sample.mean,
        low=untested,
        high=untested,
        p=untested,
        sd=untested,
        effect_size=untested,
        won=sample.won,
        tied=n_users - sample.won - sample.lost,
        lost=sample.lost,
        n=n_users,
        n_effective=sample.moments.n,
        reach=untested,
    )
    if sample.moments.n < 2:
        return made
    low, high = _student_interval(sample, settings.confidence)
    p = _student_p(sample)
    # A test and its interval are one statement.
    is_tested = np.isfinite(p) & np.isfinite(low)
    is_kept = is_tested | settings.keeps_untested
    return made._replace(
        low=np.where(is_kept, low, np.nan),
        high=np.where(is_kept, high, np.nan),
        p=np.where(is_tested, p, np.nan),
        sd=sample.sd,
        effect_size=sample.effect_size,
        reach=np.maximum(*sample.moments.reach),
    )


def settled(differences: Floats) -> Floats:
    """Round differences to twelve decimals.

    Ties must not depend on the order in which two models add the same terms.
    """
    return np.round(differences, 12) + 0.0  # -0.0 is 0


@dataclass(frozen=True, eq=False)
class _Sample:
    """The differences of users, a column for each pair of models, as tests read them."""

    differences: Floats  #: users × columns, settled
    moments: Moments  #: of the differences before they were settled
    weights: Floats | None  #: of users
    clusters: Clusters | None  #: of lists; None: each user, or list, is one

    @classmethod
    def of(
        cls,
        differences: Floats,
        bounds: Bounds,
        weights: Floats | None,
        clusters: Clusters | None,
    ) -> _Sample:
        """Check differences, one of each user or several, and sum them up."""
        values = np.asarray(differences, dtype=np.float64)
        if values.ndim == 1:
            values = values[:, np.newaxis]
        if not np.isfinite(values).all():
            raise FrameError(
                "differences hold what is no finite number: leave out users on whom only "
                "one of the two models is judged."
            )
        moments = Moments.of(values, bounds, weights, clusters)
        return cls(settled(values), moments, weights, clusters)

    @cached_property
    def won(self) -> NDArray[np.int64]:
        """Users for whom the model is better."""
        return np.asarray((self.differences > 0).sum(axis=0))

    @cached_property
    def lost(self) -> NDArray[np.int64]:
        """Users for whom the baseline is better."""
        return np.asarray((self.differences < 0).sum(axis=0))

    @cached_property
    def n_differ(self) -> Floats:
        """The effective number of users who differ, or clusters with such a list."""
        return effective_count(self.differences != 0, self.weights, self.clusters)

    @cached_property
    def n_signs(self) -> NDArray[np.intp]:
        """The number of users, or of clusters in their sums, whose difference is not 0."""
        differences = self.differences
        if self.clusters is not None:
            differences = settled(self.clusters.sums(differences))
        return np.asarray(np.count_nonzero(differences, axis=0))

    @cached_property
    def mean(self) -> Floats:
        """The mean difference: 0 where rounding alone makes one, NaN without users."""
        if len(self.differences) == 0:
            return np.full(self.differences.shape[1], np.nan)
        if self.moments.n < 2:
            return self.moments.mean
        return np.where(self.won + self.lost == 0, 0.0, self.moments.mean)

    @cached_property
    def sd(self) -> Floats:
        """The standard deviation, 0 where users differ by rounding alone."""
        is_constant = np.ptp(self.differences, axis=0) == 0
        return np.where(is_constant, 0.0, self.moments.sd)

    @property
    def effect_size(self) -> Floats:
        """Cohen's d_z."""
        with np.errstate(divide="ignore", invalid="ignore"):
            size = self.mean / self.sd
        return np.where(self.won + self.lost == 0, 0.0, size)

    @property
    def n_off_each_end(self) -> Floats:
        """The fewest users whose difference is not 0, not the lowest, not the highest."""
        ends = (
            np.zeros(self.differences.shape[1]),
            self.differences.min(axis=0),
            self.differences.max(axis=0),
        )
        n_off = [self._n_off(end) for end in ends]
        return np.minimum(n_off[0], np.minimum(n_off[1], n_off[2]))

    def _n_off(self, end: Floats) -> Floats:
        """Return how many users, or clusters, effectively have another difference."""
        if self.clusters is not None:
            return self.clusters.n_off(self.differences, end, self.weights)
        return effective_count(self.differences != end, self.weights)


def _student_interval(sample: _Sample, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of Student's interval.

    Of few users who differ they are those within the bounds of the metric.
    """
    from scipy.special import stdtrit

    n = sample.moments.n
    quantile = stdtrit(sample.moments.free, (1 + confidence) / 2)
    half = quantile * (sample.sd / np.sqrt(n))
    down, up = sample.moments.reach
    # So few users do not show how far others may differ, so the bounds of the metric
    # take the place of those seen.
    are_few = sample.n_off_each_end < ENOUGH
    low, high = sample.moments.interval_within_bounds(confidence)
    return (
        np.where(are_few, low, sample.mean - half - down),
        np.where(are_few, high, sample.mean + half + up),
    )


def _student_p(sample: _Sample) -> Floats:
    """Return p-values of Student's paired t test; NaN where fewer than 10 users differ.

    None is below that of as many coins, all on the side of the difference.
    """
    from scipy.special import stdtr

    n = sample.moments.n
    error = sample.sd / np.sqrt(n)
    reach = np.where(sample.mean > 0, *sample.moments.reach)
    beyond_reach = np.maximum(np.abs(sample.mean) - reach, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(beyond_reach == 0, 0.0, beyond_reach / error)
        p = 2 * stdtr(sample.moments.free, -statistic)
    lowest = 2.0 ** (1.0 - sample.n_signs)
    p = np.minimum(np.maximum(p, lowest), 1.0)
    return np.where(sample.n_differ < ENOUGH, np.nan, p)
