"""How far a mean over users could be from where it is: intervals from per-user values alone.

The users are taken as a sample, so the interval says what another draw of as many users could have given; it does
not cover another training run or another split of the data.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from recnb.errors import OptionError, is_number, near
from recnb.hits import Floats

IntervalMethod = Literal["auto", "bootstrap", "moments", "t"]
METHODS = ("auto", "bootstrap", "moments", "t")

#: Above this many users "auto" takes the closed form: resampling would cost seconds and change nothing that shows.
MANY_USERS = 20_000


def intervals(
    values: Floats, confidence: float = 0.95, method: IntervalMethod = "auto", resamples: int = 2000, seed: int = 0
) -> tuple[Floats, Floats, str]:
    """Lower and upper ends for the mean of each column of users × columns, and the method that gave them.

    `bootstrap` draws users again and again with the same seed and takes percentiles of the means; `moments` is its
    limit for many users, from mean, spread and skewness; `t` is Student's.

    >>> low, high, method = intervals(np.array([[0.0], [0.5], [0.5], [1.0]]))
    >>> float(low[0]), float(high[0]), method
    (0.125, 0.875, 'bootstrap')
    """
    if method not in METHODS:
        raise OptionError(f"method={method!r} makes no interval. {near(method, METHODS)}")
    if not (is_number(confidence) and 0 < confidence < 1):
        raise OptionError(f"confidence={confidence!r} is no share: give a number between 0 and 1, such as 0.95.")
    if not (isinstance(resamples, (int, np.integer)) and resamples >= 1):
        raise OptionError(f"resamples={resamples!r} is no number of draws: give a whole number, such as 2000.")
    if not (isinstance(seed, (int, np.integer)) and seed >= 0):
        raise OptionError(f"seed={seed!r} is no seed: give a whole number from 0 up.")
    n = len(values)
    chosen = ("bootstrap" if n <= MANY_USERS else "moments") if method == "auto" else method
    mean = values.mean(axis=0)
    if n < 2:
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing, chosen
    tail = (1 - confidence) / 2
    if chosen == "bootstrap":
        ends = np.quantile(_resampled_means(values, resamples, seed), [tail, 1 - tail], axis=0)
    elif chosen == "moments":
        ends = _moments(values, tail)
    else:
        from scipy.stats import t

        half = t.ppf(1 - tail, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
        ends = np.stack([mean - half, mean + half])
    # Where all users agree the mean is certain; summing in another order must not make it look otherwise.
    certain = np.ptp(values, axis=0) == 0
    return np.where(certain, mean, ends[0]), np.where(certain, mean, ends[1]), chosen


def _resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means of as many users drawn with replacement, one row a draw; all columns share the draws."""
    n = len(values)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, values.shape[1]))
    # For many users a matrix product of several draws reads the values once for all of them.
    at_once = 1 if n < 5_000 else 64
    for start in range(0, resamples, at_once):
        draws = range(start, min(start + at_once, resamples))
        times_drawn = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in draws], dtype=np.float64)
        means[draws.start : draws.stop] = times_drawn @ values
    return means / n


def _moments(values: Floats, tail: float) -> Floats:
    """The percentiles to which the bootstrap's converge: normal, with the skewness of the mean put in (Cornish-Fisher)."""
    from scipy.special import ndtri

    n = len(values)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    centred = values - mean
    skew = np.divide((centred**3).mean(axis=0), spread**3, out=np.zeros_like(mean), where=spread > 0)
    z = np.array([ndtri(tail), ndtri(1 - tail)])[:, np.newaxis]
    return np.asarray(mean + spread / np.sqrt(n) * (z + skew / np.sqrt(n) * (z**2 - 1) / 6))
