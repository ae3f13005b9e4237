"""Means of values over users.

Metrics give a value for each user, and need not know how users are averaged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# `recnb.metrics.hits` has its own: neither room imports the other.
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]

#: The number of users with a hit (or who differ, between two models) that is enough to
#: estimate a variance. Below it the bounds of the metric take the place of the lowest
#: and highest value seen, and nothing is tested.
ENOUGH = 10

#: Values that differ by less are one value, summed in another order.
ROUNDING = 1e-12


def means(values: Floats, weights: Floats | None = None) -> Floats:
    """Return the mean of each column of users × columns.

    It is over the users who have a value (not NaN), with weights sum(w x) / sum(w);
    NaN if none has one.
    """
    if weights is None:
        if len(values):
            plain_mean = np.asarray(values.mean(axis=0))
            # The usual case: a single user without a value would have made it NaN.
            if not np.isnan(plain_mean).any():
                return plain_mean
        weights = np.ones(len(values))
    weight = weights[:, np.newaxis]
    total_weight = (~np.isnan(values) * weight).sum(axis=0)
    total = np.nansum(values * weight, axis=0)
    mean = np.full(len(total), np.nan)
    np.divide(total, total_weight, out=mean, where=total_weight > 0)
    return mean


def mean_of(values: NDArray[Any], weights: Floats | None = None) -> float:
    """Return the mean of one value of each user, as `means` does of a column."""
    return float(means(values[:, np.newaxis], weights)[0])


def without_rounding(differences: Floats) -> Floats:
    """Return differences, of which those within rounding of 0 are 0: they are ties.

    Ties must not depend on the order in which two models add the same terms.
    """
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)
