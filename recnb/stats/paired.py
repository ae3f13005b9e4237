"""Two models on the same users, or on the same splits, and Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from recnb.errors import FrameError, OptionError, is_number, quoted
from recnb.stats.intervals import UNBOUNDED, Bounds, Moments
from recnb.stats.means import ENOUGH, ROUNDING, Floats, without_rounding
from recnb.stats.power import smallest_found
from recnb.stats.sample import UserSample
from recnb.stats.student import Tested, check_confidence, t_test


@dataclass(frozen=True)
class Settings:
    """The settings of intervals, and of tests of differences."""

    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_confidence(self.confidence)

    @property
    def alpha(self) -> float:
        """The level of the tests: what the confidence leaves."""
        return round(1 - self.confidence, 12)


#: The settings of a call that names none.
USUAL = Settings()


class Paired(NamedTuple):
    """The numbers of differences of two models, an entry for each column.

    Interval and p-value are NaN together: if fewer than 10 users differ, or if a metric
    without bounds has no interval.
    """

    difference: Floats  #: the mean; above 0 if the model's is above the baseline's
    low: Floats
    high: Floats
    p: Floats
    #: The mean out of the standard deviation (`Moments.sd`), Cohen's d_z; 0 if nobody
    #: differs.
    effect_size: Floats
    #: Users, or lists, with a difference above 0.
    won: NDArray[np.int64]
    tied: NDArray[np.int64]
    lost: NDArray[np.int64]
    detectable: Floats  #: the smallest difference found with 80 % power
    #: The interval, also where nothing is tested. If few users differ, or are off the
    #: lowest or the highest difference, it is the one within the bounds of the metric.
    #: `not_worse` reads it.
    low_even_untested: Floats
    high_even_untested: Floats

    @classmethod
    def untested(cls, *shape: int) -> Self:
        """Return arrays of the numbers of differences of which nothing is known."""
        numbers: dict[str, Any] = {name: np.full(shape, np.nan) for name in cls._fields}
        for name in ("won", "tied", "lost"):
            numbers[name] = np.zeros(shape, dtype=np.int64)
        return cls(**numbers)

    @classmethod
    def joined(cls, blocks: Sequence[Self]) -> Self:
        """Return the numbers of several blocks of columns, one block behind the other."""
        return cls(*map(np.concatenate, zip(cls.untested(0), *blocks, strict=True)))


def paired(
    differences: Floats,
    sample: UserSample,
    settings: Settings = USUAL,
    bounds: Bounds = UNBOUNDED,
) -> Paired:
    """Return interval, test, effect size and users won, tied and lost, for each column.

    `differences` are users × columns: the values of the model minus those of the
    baseline; `bounds` are the lowest and highest possible difference. If fewer than 10
    users differ there is neither test nor interval. Of lists in clusters, clusters are
    the users of all this; won, tied and lost count lists.
    """
    if not np.isfinite(differences).all():
        raise FrameError(
            "differences hold what is no finite number: leave out users on whom only "
            "one of the two models is judged."
        )
    if sample.size == 0:
        return Paired.untested(differences.shape[1])
    moments = Moments(differences, sample, bounds)
    values = without_rounding(differences)  # in which ties are 0, for counts
    won = np.count_nonzero(values > 0, axis=0)
    lost = np.count_nonzero(values < 0, axis=0)
    differs = won + lost > 0
    mean = np.where(differs, moments.mean, 0.0)
    sd = moments.sd
    with np.errstate(divide="ignore", invalid="ignore"):
        effect_size = mean / sd
    test = _careful_test(mean, moments, values, settings.confidence)
    is_tested = np.isfinite(test.p) & np.isfinite(test.low)
    smallest = smallest_found(
        sd, sample.n_effective, alpha=settings.alpha, margin=np.maximum(*moments.margin)
    )
    return Paired(
        difference=mean,
        low=np.where(is_tested, test.low, np.nan),
        high=np.where(is_tested, test.high, np.nan),
        p=np.where(is_tested, test.p, np.nan),
        effect_size=np.where(differs, effect_size, 0.0),
        won=won,
        tied=sample.size - won - lost,
        lost=lost,
        detectable=np.where(is_tested, smallest, np.nan),
        low_even_untested=test.low,
        high_even_untested=test.high,
    )


def _careful_test(
    mean: Floats, moments: Moments, values: Floats, confidence: float
) -> Tested:
    """Return Student's test, which claims no more than the users who differ can show.

    Where few are off 0, off the lowest or off the highest difference, they do not show
    how far others may be, and the interval is the one within the bounds of the metric.
    """
    sample = moments.sample
    test = t_test(
        mean,
        moments.sd / np.sqrt(sample.n_effective),
        sample.degrees_of_freedom,
        confidence=confidence,
        margin=moments.margin,
    )
    n_off_0 = sample.n_off(np.abs(values))
    n_off_lowest = sample.n_off(without_rounding(values - values.min(axis=0)))
    n_off_highest = sample.n_off(without_rounding(values.max(axis=0) - values))
    are_few = np.min([n_off_0, n_off_lowest, n_off_highest], axis=0) < ENOUGH
    low, high = moments.interval(confidence, within_bounds=True)
    return Tested(
        mean,
        low=np.where(are_few, low, test.low),
        high=np.where(are_few, high, test.high),
        p=_careful_p(test.p, values, sample),
    )


def _careful_p(p: Floats, values: Floats, sample: UserSample) -> Floats:
    """Return p-values, each at least the chance that as many coins all land alike.

    NaN where fewer than 10 users differ.
    """
    # The sum of a cluster is a coin, whatever its size; one that is 0 is none.
    n_coins = np.count_nonzero(without_rounding(sample.by_unit(values)), axis=0)
    all_on_one_side = 2.0 ** (1.0 - n_coins)
    n_differ = sample.count(values != 0)
    careful = np.clip(p, all_on_one_side, 1.0)
    return np.where(n_differ < ENOUGH, np.nan, careful)


def resampled(
    differences: Floats, confidence: float, test_share: float | None
) -> Tested:
    """Test the differences of splits × columns, with splits - 1 degrees of freedom.

    With `test_share` it is the corrected resampled t test of Nadeau and Bengio (2003):
    folds that test a share q train on data in common, and the variance of the mean of J
    is (1 / J + q / (1 - q)) times that of the differences. With several seeds of each
    fold J is folds × seeds (Bouckaert and Frank 2004). Without it, this is the paired t
    test. NaN where all are alike.
    """
    overlap = 0.0
    if test_share is not None:
        if not (is_number(test_share) and 0 < test_share < 1):
            raise OptionError(
                f"test_share={quoted(test_share)} is no share of the data: give what a "
                "fold tests, such as 0.2 of five folds."
            )
        overlap = test_share / (1 - test_share)
    n = len(differences)
    variance = differences.var(axis=0, ddof=1)
    variance[variance <= ROUNDING**2] = np.nan
    error = np.sqrt((1 / n + overlap) * variance)
    return t_test(differences.mean(axis=0), error, n - 1, confidence=confidence)


def holm(p: Floats) -> Floats:
    """Return the p-values of tests that are made together, corrected by Holm's method.

    It bounds the chance of any false finding, however the tests depend on each other
    (Holm 1979, Scandinavian Journal of Statistics 6). NaN is no test: it is not counted,
    and stays NaN. scipy has no such function.
    """
    is_tested = ~np.isnan(p)
    values = p[is_tested]
    rising = np.argsort(values, kind="stable")
    n_not_below = np.arange(len(values), 0, -1)
    values[rising] = np.maximum.accumulate(values[rising] * n_not_below)
    corrected = np.full_like(p, np.nan)
    corrected[is_tested] = np.minimum(values, 1.0)
    return corrected
