"""How alike two metrics order the same models."""

from __future__ import annotations

import math

import numpy as np

from recnb.stats.means import Floats
from recnb.stats.paired import settled


def tau_ap(values: Floats, others: Floats) -> float:
    """Return tau AP of two orders of the same models, the mean of each as the truth.

    It is that of Yilmaz, Aslam and Robertson (SIGIR 2008). Of the models above a place
    it counts those that are rightly above it, averaged over the places from the second
    down. Ties in an order stand for all their orders, of which it is the mean; a pair
    tied in the truth is right by half. NaN if a model has no value.
    """
    first = settled(values)
    second = settled(others)
    n = len(first)
    if n < 2 or np.isnan([first, second]).any():
        return math.nan
    total = _rightly_above(first, truth=second) + _rightly_above(second, truth=first)
    return total / (n - 1) - 1


def _rightly_above(order: Floats, truth: Floats) -> float:
    """Sum over models the share of those above one that the truth has above it."""
    n = len(order)
    # Rows are models, columns the models above them, or tied with them.
    is_right = (truth > truth[:, np.newaxis]) + (truth == truth[:, np.newaxis]) / 2
    is_above = order > order[:, np.newaxis]
    is_tied = (order == order[:, np.newaxis]) & ~np.eye(n, dtype=bool)
    total = 0.0
    for model in range(n):
        n_above = int(is_above[model].sum())
        n_tied = int(is_tied[model].sum())
        places = np.arange(n_tied + 1)  # among those that are tied, each as likely
        right_above = is_right[model] @ is_above[model]
        right_tied = is_right[model] @ is_tied[model]
        n_right = right_above + right_tied * places / max(n_tied, 1)
        total += float((n_right / np.maximum(n_above + places, 1)).mean())
    return total
