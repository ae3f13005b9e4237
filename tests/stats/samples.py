"""Users alone or with weights, as most tests of this folder ask about them."""

import numpy as np

from recnb import stats
from recnb.stats import UNBOUNDED, Moments, UserSample

UNIT = (0.0, 1.0)


def intervals(values, bounds=UNIT, weights=None):
    """The ends of the intervals of means."""
    return Moments(values, UserSample(len(values), weights), bounds).interval()


def paired(differences, *, bounds=UNBOUNDED, weights=None):
    """Compare two models on the same users."""
    matrix = np.atleast_2d(np.transpose(differences)).T
    sample = UserSample(len(matrix), weights)
    return stats.paired(matrix, sample, bounds=bounds)
