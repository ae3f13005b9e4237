"""Confidence intervals for means over users, from the values per user.

The users are taken as a sample of users like them; an interval does not cover another training run or another split of the data.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from recnb.display.language import N_
from recnb.errors import OptionError, is_word, near, quoted
from recnb.stats.moments import ENOUGH, ROUNDING, UNBOUNDED, Bounds, Floats, Moments, checked_confidence

IntervalMethod = Literal["beta", "t", "bootstrap"]
METHODS = ("beta", "t", "bootstrap")

#: What the usual interval is, in words.
BETA = N_("beta distribution within the metric's bounds; for values of 0 and 1 the exact one of Clopper and Pearson")

#: The methods of earlier versions, and what gives the nearest interval.
FORMER = {"auto": "beta", "percentile": "bootstrap", "bca": "bootstrap", "moments": "t", "bca_moments": "t"}

RESAMPLES = 2000

#: Of fewer users the bootstrap is too narrow. Of more it differs little from t, and scipy takes n² steps, the mean without each user.
LEAST_RESAMPLED, MOST_RESAMPLED = 100, 10_000


def intervals(
    values: Floats,
    confidence: float = 0.95,
    method: IntervalMethod = "beta",
    resamples: int | None = None,
    seed: int | None = None,
    *,
    bounds: Bounds = UNBOUNDED,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends for the mean of each column of users × columns; NaN where a method gives no interval.

    `bounds` are the lowest and highest possible value: of all columns, or an array with an entry for each. `resamples` (2,000)
    and `seed` (0) are of the bootstrap.

    Notes
    -----
    `beta` puts in one more user, for the lower end with the lowest value and for the upper end with the highest, and takes the
    beta distribution with the mean and variance that this gives. For values of 0 and 1 that is the interval of Clopper and
    Pearson (Biometrika 26, 1934), which covers at least what it says at any number of users, where Wilson's (JASA 22, 1927)
    falls below it for rare hits; for other values it generalises it as the gamma intervals of Fay and Feuer (Statistics in
    Medicine 16, 1997) generalise the exact one of Poisson counts. The lowest and the highest value are those seen if 10 users or
    more are off the opposite bound, else the `bounds` of the metric. A metric without an upper bound (DCG, novelty) has NaN there.

    `t` is Student's, and `bootstrap` scipy's BCa: percentiles of the means of users drawn again and again, corrected for bias and
    skewness (Efron 1987), for 100 to 10,000 users. Few users with a hit make both too narrow, and where all are alike they are NaN.

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
    >>> low, high = intervals(np.ones((20, 1)), bounds=(0, 1))
    >>> round(float(low[0]), 3), float(high[0])
    (0.832, 1.0)
    """
    check_method(method, METHODS)
    checked_confidence(confidence)
    check_draws("method", "bootstrap", method, resamples=resamples, seed=seed)
    if method == "bootstrap":
        return bootstrap(values, confidence, resamples or RESAMPLES, seed or 0)
    return Moments.of(values, bounds).interval(confidence, method)


def check_method(method: str, methods: tuple[str, ...]) -> None:
    """Refuse a method that makes no interval; one of an earlier version with what to type."""
    if not is_word(method, methods):
        now = FORMER.get(method) if isinstance(method, str) else None
        fix = f"Type method={now!r}, or leave it out." if now in methods else near(method, methods)
        raise OptionError(f"method={quoted(method)} makes no interval here.", fix=fix)


def check_draws(option: str, word: str, given: str | None, **draws: int | None) -> None:
    """Refuse numbers of draws and seeds that are no whole numbers, or that what was asked for does not use."""
    for name, value in draws.items():
        least = 0 if name == "seed" else 1
        if value is None:
            continue
        if not (isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value < 2**31):
            raise OptionError(f"{name}={quoted(value)}: give a whole number from {least} up.")
        if given != word:
            raise OptionError(f"{name}={quoted(value)} is of {option}={quoted(word)}: give that too, or leave it out.")


def check_resampled(n: int) -> None:
    """Refuse the bootstrap of a number of users that it is not for."""
    if not LEAST_RESAMPLED <= n <= MOST_RESAMPLED:
        problem = f"method='bootstrap' is for {LEAST_RESAMPLED:,} to {MOST_RESAMPLED:,} users, and these are {n:,}:"
        why = "of so few it is too narrow." if n < LEAST_RESAMPLED else "of so many Student's t gives the same."
        raise OptionError(f"{problem} {why}", fix="Type method='t'.")


def bootstrap(values: Floats, confidence: float, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Return the ends of scipy's BCa bootstrap of the mean of each column; NaN below 100 users. All columns share the draws."""
    from scipy import stats

    n, m = values.shape
    check_resampled(max(n, LEAST_RESAMPLED))
    low, high = np.full(m, np.nan), np.full(m, np.nan)
    if n < LEAST_RESAMPLED:
        return low, high
    varied = np.ptp(values, axis=0) > ROUNDING
    if varied.any():
        found = stats.bootstrap(
            (values[:, varied],),
            np.mean,
            n_resamples=resamples,
            batch=max(1, 4_000_000 // values.size),
            axis=0,
            confidence_level=confidence,
            rng=np.random.default_rng(seed),
        ).confidence_interval
        low[varied], high[varied] = found.low, found.high
    return low, high


def interval_of_pairs(of_users: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a mean over pairs of users, from each user's mean over the pairs that they are in.

    Student's t with the standard error of the jackknife over users (Arvesen 1969, Ann. Math. Statist. 40): a pair shares its
    users with other pairs, so the pairs are no sample. NaN below 10 users, or where all are alike.
    """
    from scipy.special import stdtrit

    checked_confidence(confidence)
    n = len(of_users)
    left = of_users - of_users.mean() if n else of_users
    if n < ENOUGH or np.abs(left).max() <= ROUNDING:
        return np.nan, np.nan
    error = 2 * np.sqrt((n - 1) / n * (left**2).sum()) / (n - 2)
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * error)
    mean = float(of_users.mean())
    return mean - half, mean + half
