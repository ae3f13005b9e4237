"""Differences over splits: folds, which share training data, or seeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recnb.errors import OptionError, is_number, quoted
from recnb.stats.intervals import ROUNDING, check_confidence
from recnb.stats.means import Floats, means


class Resampled(NamedTuple):
    """The mean difference over splits, by column."""

    mean: Floats
    low: Floats  #: NaN of a single split, and where all are alike
    high: Floats
    p: Floats


def resampled(
    differences: Floats, confidence: float = 0.95, test_share: float | None = None
) -> Resampled:
    """Test the differences of splits × columns, with splits - 1 degrees of freedom.

    With `test_share` it is the corrected resampled t test of Nadeau and Bengio (2003):
    folds that test a share q train on data in common, and the variance of the mean of J
    is (1 / J + q / (1 - q)) times that of the differences. With several seeds of each
    fold J is folds × seeds (Bouckaert and Frank 2004). Without it is the paired t test.
    """
    from scipy.special import stdtr, stdtrit

    check_confidence(confidence)
    n = len(differences)
    mean = means(differences)
    if n < 2:
        none = np.full_like(mean, np.nan)
        return Resampled(mean, none, none, none)
    factor = 1 / n + _overlap(test_share)
    deviations = differences - mean
    variance = np.einsum("ij,ij->j", deviations, deviations) / (n - 1)
    error = np.sqrt(factor * np.where(variance > ROUNDING**2, variance, np.nan))
    half = stdtrit(n - 1, (1 + confidence) / 2) * error
    p = 2 * stdtr(n - 1, -np.abs(mean) / error)
    return Resampled(mean, mean - half, mean + half, p)


def _overlap(test_share: float | None) -> float:
    """Return what the training data in common add to the variance."""
    if test_share is None:
        return 0.0
    if not (is_number(test_share) and 0 < test_share < 1):
        raise OptionError(
            f"test_share={quoted(test_share)} is no share of the data: give what a "
            "fold tests, such as 0.2 of five folds."
        )
    return test_share / (1 - test_share)
