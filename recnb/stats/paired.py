"""Two models on the same users: tests, each with the interval that belongs to it.

They are Student's paired t test and the randomization test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import FrameError, OptionError, is_word, near, quoted
from recnb.stats.clusters import Clusters
from recnb.stats.intervals import (
    ENOUGH,
    ROUNDING,
    UNBOUNDED,
    Bounds,
    Moments,
    check_confidence,
    effective_count,
)
from recnb.stats.means import Floats, means

Test = Literal["t", "randomization"]
TESTS = ("t", "randomization")

#: How many entries of signs are drawn at a time, and how many means of draws are held.
SIGNS_AT_ONCE, DRAWS_AT_ONCE = 4_000_000, 25_000_000


@dataclass(frozen=True)
class Settings:
    """The settings of tests of differences."""

    confidence: float = 0.95
    test: Test = "t"
    #: Signs that the randomization test draws for each user, at least.
    permutations: int = 10_000

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not is_word(self.test, TESTS):
            raise OptionError(
                f"test={quoted(self.test)} is no test of recnb.",
                fix=near(self.test, TESTS),
            )

    @property
    def alpha(self) -> float:
        """The level of the tests: what the confidence leaves."""
        return round(1 - self.confidence, 12)

    def of_tests(self, n: int) -> Self:
        """Return the settings of `n` tests corrected together.

        The lowest p of so many draws is far below `alpha / n`.
        """
        n_draws = math.ceil(5 * n / self.alpha)
        return replace(self, permutations=max(self.permutations, n_draws))


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
    if weights is not None and settings.test != "t":
        raise OptionError(
            f"test={settings.test!r} takes all users alike, and user_weight= is given: ",
            "say test='t'.",
        )
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
    if settings.test == "t":
        low, high = _student_interval(sample, settings.confidence)
        p = _student_p(sample)
    else:
        low, high, p = _randomization(sample, settings)
    # A test and its interval are one statement.
    is_tested = np.isfinite(p) & np.isfinite(low)
    return made._replace(
        low=np.where(is_tested, low, np.nan),
        high=np.where(is_tested, high, np.nan),
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
                "differences hold what is no finite number: ",
                "leave out users on whom only one of the two models is judged.",
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
    def signed(self) -> tuple[Floats, Floats]:
        """What signs are drawn for, and their sizes: users, each of size 1, or clusters.

        A cluster has the sum of its differences over the average number of lists; its
        size is its number of lists over the same.
        """
        if self.clusters is None:
            return self.differences, np.ones(len(self.differences))
        sizes = self.clusters.shares() * self.clusters.n
        average_size = len(self.differences) / self.clusters.n
        sums = settled(self.clusters.sums(self.differences))
        return sums / average_size, sizes

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

    None is below the lowest one of the randomization test.
    """
    from scipy.special import stdtr

    n = sample.moments.n
    error = sample.sd / np.sqrt(n)
    reach = np.where(sample.mean > 0, *sample.moments.reach)
    beyond_reach = np.maximum(np.abs(sample.mean) - reach, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(beyond_reach == 0, 0.0, beyond_reach / error)
        p = 2 * stdtr(sample.moments.free, -statistic)
    differences, _sizes = sample.signed
    lowest = 2.0 ** (1.0 - np.count_nonzero(differences, axis=0))
    p = np.minimum(np.maximum(p, lowest), 1.0)
    return np.where(sample.n_differ < ENOUGH, np.nan, p)


def _randomization(
    sample: _Sample, settings: Settings
) -> tuple[Floats, Floats, Floats]:
    """Return intervals and p-values of the randomization test (Fisher 1935).

    NaN where fewer than 10 users differ.
    """
    n_columns = sample.differences.shape[1]
    low, high, p = np.full((3, n_columns), np.nan)
    differences, sizes = sample.signed
    columns = np.flatnonzero(sample.n_differ >= ENOUGH)
    if len(columns) == 0:
        return low, high, p
    # As many together as 200 MB hold with all that is drawn for each.
    n_blocks = math.ceil(len(columns) * settings.permutations / DRAWS_AT_ONCE)
    blocks = np.array_split(columns, n_blocks)
    n_allowed = int(settings.alpha * (1 + settings.permutations) + ROUNDING)
    for block in steps(blocks, _("testing")):
        draws = _drawn(differences[:, block], sizes, settings.permutations)
        for column, draw in zip(block, draws, strict=True):
            p[column] = draw.p
            if n_allowed:
                low[column] = draw.mean - draw.furthest_shift(1, n_allowed)
                high[column] = draw.mean + draw.furthest_shift(-1, n_allowed)
    return low, high, p


class _Draws(NamedTuple):
    """The means of a column under drawn signs.

    If `shift` is taken from each difference, they are `of_rest + (mean - shift) *
    of_signs`; the interval holds the shifts for which this is as far from 0 as `mean -
    shift` in more than 1 - confidence of the draws.
    """

    mean: float  #: of the differences
    of_rest: Floats  #: by draw: the mean of what differs from the mean
    of_signs: Floats  #: by draw: the mean of the signs

    @property
    def p(self) -> float:
        """How often a mean is as far from 0 as that of the differences."""
        drawn = np.abs(self.of_rest + self.mean * self.of_signs)
        is_as_far = drawn >= np.abs(self.mean) - ROUNDING
        return (1 + np.count_nonzero(is_as_far)) / (1 + len(drawn))

    def furthest_shift(self, side: int, n_allowed: int) -> float:
        """Return how far the shift is, down (1) or up (-1), at which draws are as far."""
        with np.errstate(divide="ignore", invalid="ignore"):
            down = side * self.of_rest / (1 - self.of_signs)
            up = -side * self.of_rest / (1 + self.of_signs)
            shift = np.maximum(down, up)
        # All signs alike: as far whatever is taken off.
        shift[np.abs(self.of_signs) > 1 - ROUNDING] = np.inf
        return float(np.partition(shift, -n_allowed)[-n_allowed])


def _drawn(differences: Floats, sizes: Floats, n_draws: int) -> list[_Draws]:
    """Draw signs of users, the same for each column.

    A shift of each list moves a cluster by its size times as much; that of a user is 1.
    """
    rng = np.random.default_rng(0)
    n_users = len(differences)
    # A column lies together, so that its sum does not depend on those beside it.
    mean = means(np.asfortranarray(differences))
    deviations = differences - sizes[:, np.newaxis] * mean
    columns = np.column_stack([deviations, sizes]) / n_users
    at_once = max(1, SIGNS_AT_ONCE // n_users)
    drawn = []
    for start in range(0, n_draws, at_once):
        shape = (min(at_once, n_draws - start), n_users)
        signs = rng.integers(0, 2, shape, dtype=np.int8) * 2.0 - 1
        drawn.append((signs @ columns).T)
    *of_rests, of_signs = np.concatenate(drawn, axis=1)
    return [
        _Draws(of_column, of_rest, of_signs)
        for of_column, of_rest in zip(mean.tolist(), of_rests, strict=True)
    ]
