"""Confidence intervals for means over users, from the values per user.

The users are taken as a sample of users like them; an interval does not cover another training run or another split of the data.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from recnb.display.language import N_, _
from recnb.display.progress import steps
from recnb.errors import OptionError, is_word, near
from recnb.stats.moments import ENOUGH, UNBOUNDED, Bounds, Floats, Moments, checked_confidence, moved

IntervalMethod = Literal["auto", "beta", "bootstrap", "bca", "moments", "bca_moments", "t"]
#: What the usual interval is, in words.
BETA = N_("beta distribution within the metric's bounds; for values of 0 and 1 the exact one of Clopper and Pearson")
METHODS = ("auto", "beta", "bootstrap", "bca", "moments", "bca_moments", "t")


def interval_of_pairs(of_users: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a mean over pairs of users, from each user's mean over the pairs that they are in.

    Student's t with the standard error of the jackknife over users (Arvesen 1969, Ann. Math. Statist. 40): a pair shares its
    users with other pairs, so the pairs are no sample. NaN below 10 users, or where all are alike.
    """
    from scipy.special import stdtrit

    checked_confidence(confidence)
    n = len(of_users)
    left = of_users - of_users.mean() if n else of_users
    if n < ENOUGH or np.abs(left).max() <= 1e-12:
        return np.nan, np.nan
    error = 2 * np.sqrt((n - 1) / n * (left**2).sum()) / (n - 2)
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * error)
    mean = float(of_users.mean())
    return mean - half, mean + half


def intervals(
    values: Floats,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
    resamples: int = 2000,
    seed: int = 0,
    *,
    bounds: Bounds = UNBOUNDED,
) -> tuple[Floats, Floats, str]:
    """Return lower and upper ends for the mean of each column of users × columns, and the method used.

    Ends are NaN where a method gives no interval. `bounds` are the lowest and highest possible value: of all columns, or an
    array with an entry for each. `resamples` and `seed` are of the bootstrap.

    Notes
    -----
    `auto` is `beta` at any number of users. `beta` puts in one more user, for the lower end with the lowest value and for the
    upper end with the highest, and takes the beta distribution with the mean and variance that this gives. For values of 0
    and 1 that is the interval of Clopper and Pearson (Biometrika 26, 1934), which holds at least what it says at any number
    of users, where Wilson's (JASA 22, 1927) falls below it for rare hits; for other values it generalises it as the gamma
    intervals of Fay and Feuer (Statistics in Medicine 16, 1997) generalise the exact one of Poisson counts. The lowest and
    the highest value are those seen if 10 users or more are off the opposite bound, else the `bounds` of the metric. A metric
    without an upper bound (DCG, novelty) has NaN there.

    `bootstrap` draws users again and again with the same seed and takes percentiles of the means; `bca` takes other
    percentiles, corrected for bias and skewness (Efron 1987); `moments` and `bca_moments` are their limits for many
    users, from mean, spread and skewness; `t` is Student's. Few users with a hit make these too narrow, and where all users
    are alike they are NaN.

    Coverage of 95 % intervals in percent (`tests/stats/test_coverage.py`):

        users                       20      50     200    1000
        nDCG, half at 0           98.8    96.6    96.6    95.7
        nDCG, 90 % at 0           99.2    98.8    96.5    96.4
        nDCG, 97 % at 0           99.1    98.8    98.6    96.6
        hit rate 0.1              98.7    97.0    96.8    96.0
        hit rate 0.05             98.8    98.7    96.7    96.1
        hit rate 0.01             98.5    98.5    98.3    97.9
        hit rate 0.95             98.3    98.9    97.3    95.9

    Examples
    --------
    >>> low, high, method = intervals(np.ones((20, 1)), bounds=(0, 1))
    >>> round(float(low[0]), 3), float(high[0]), method
    (0.832, 1.0, 'beta')
    """
    if not is_word(method, METHODS):
        raise OptionError(f"method={method!r} makes no interval. {near(method, METHODS)}")
    checked_confidence(confidence)
    if not (isinstance(resamples, (int, np.integer)) and not isinstance(resamples, bool) and 1 <= resamples < 2**31):
        raise OptionError(f"resamples={resamples!r} is no number of draws: give a whole number, such as 2000.")
    if not (isinstance(seed, (int, np.integer)) and seed >= 0):
        raise OptionError(f"seed={seed!r} is no seed: give a whole number from 0 up.")
    if method != "bootstrap" and method != "bca":
        low, high = Moments.of(values, bounds).interval(confidence, method)
        return low, high, "beta" if method == "auto" else method
    if len(values) < 2:
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing, method
    means = resampled_means(values, resamples, seed)
    low, high = percentiles(means, confidence) if method == "bootstrap" else bca(values, means, confidence)
    alike = np.ptp(values, axis=0) == 0
    return np.where(alike, np.nan, low), np.where(alike, np.nan, high), method


def resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means of as many users drawn with replacement, a row per draw; all columns share the draws."""
    n = len(values)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, values.shape[1]))
    # For many users a matrix product of several draws reads the values once for all of them.
    at_once = 1 if n < 5_000 else 64
    for start in steps(range(0, resamples, at_once), _("drawing users again")):
        draws = range(start, min(start + at_once, resamples))
        times_drawn = np.array(
            [np.bincount(rng.integers(0, n, n), minlength=n) for _ignored in draws], dtype=np.float64
        )
        means[draws.start : draws.stop] = times_drawn @ values
    return means / n


def percentiles(means: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Lower and upper percentile of the drawn means, as many below as above."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


def bca(values: Floats, means: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Percentiles of the drawn means, corrected for bias and acceleration (BCa).

    If scores are skewed, the percentiles lie too far to one side; BCa takes others, by how often a drawn mean is below the
    mean (bias) and by the skewness of the values (acceleration). For a mean the jackknife of the acceleration has a closed
    form. Efron, "Better bootstrap confidence intervals", JASA 82, 1987.

    >>> values = np.array([[0.0], [0.0], [0.0], [0.1], [0.2], [0.9]])
    >>> means = resampled_means(values, 2000, seed=0)
    >>> [round(float(end[0]), 3) for end in percentiles(means, 0.9)]
    [0.033, 0.45]
    >>> [round(float(end[0]), 3) for end in bca(values, means, 0.9)]
    [0.05, 0.5]
    """
    from scipy.special import ndtr, ndtri

    mean = values.mean(axis=0)
    # A drawn mean may differ from the mean by rounding alone, as often up as down; that is a tie, and counts half.
    rounding = 1e-12 * np.abs(values).max(axis=0)
    below = (means < mean - rounding).mean(axis=0) + (np.abs(means - mean) <= rounding).mean(axis=0) / 2
    half_a_draw = 0.5 / len(means)
    bias = ndtri(np.clip(below, half_a_draw, 1 - half_a_draw))
    acceleration = Moments.of(values).skewness / (6 * np.sqrt(len(values)))
    tails = ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    shares = ndtr([moved(bias, acceleration, z) for z in tails])
    low, high = np.array([np.quantile(column, ends) for column, ends in zip(means.T, shares.T, strict=True)]).T
    return low, high
