"""Means of values over users.

Metrics give a value for each user, and need not know how users are averaged: those
beyond accuracy may average over the items of a list before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# `recnb.metrics.hits` has its own: neither room imports the other.
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]


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
