"""Differences over splits: folds, which share training data, or seeds."""

from __future__ import annotations

import numpy as np

from recnb.errors import OptionError, is_number, quoted
from recnb.stats.intervals import ROUNDING, Moments
from recnb.stats.means import Floats
from recnb.stats.sample import UserSample
from recnb.stats.student import Tested, t_test


def resampled(
    differences: Floats, confidence: float = 0.95, test_share: float | None = None
) -> Tested:
    """Test the differences of splits × columns, with splits - 1 degrees of freedom.

    With `test_share` it is the corrected resampled t test of Nadeau and Bengio (2003):
    folds that test a share q train on data in common, and the variance of the mean of J
    is (1 / J + q / (1 - q)) times that of the differences. With several seeds of each
    fold J is folds × seeds (Bouckaert and Frank 2004). Without it is the paired t test.
    NaN of a single split, and where all are alike.
    """
    n = len(differences)
    moments = Moments(differences, UserSample(n))
    variance = np.where(moments.variance > ROUNDING**2, moments.variance, np.nan)
    error = np.sqrt((1 / n + _overlap(test_share)) * variance)
    return t_test(moments.mean, error, n - 1, confidence=confidence)


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
