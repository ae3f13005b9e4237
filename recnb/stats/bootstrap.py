"""Bootstrap over users: means of resampled users, and percentile and BCa intervals from them."""

from __future__ import annotations

import numpy as np

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.stats._types import Floats
from recnb.stats.moments import Moments, moved


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
