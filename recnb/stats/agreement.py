"""How alike two metrics order the same models: a correlation of ranks that weighs the top."""

from __future__ import annotations

import numpy as np

from recnb.stats.intervals import Floats
from recnb.stats.paired import settled


def tau_ap(values: Floats, others: Floats) -> float:
    """Return tau AP of two orders of the same models (Yilmaz, Aslam and Robertson, SIGIR 2008): the mean of each taken as the truth.

    Of the models above a place it counts those that are rightly above it, averaged over the places from the second down. Ties in an
    order stand for all their orders, of which it is the mean; a pair tied in the truth is right by half. NaN if a model has no value.
    """
    one, other = settled(values), settled(others)
    n, total = len(one), 0.0
    if n < 2 or np.isnan([one, other]).any():
        return float("nan")
    for order, truth in ((one, other), (other, one)):
        # Rows are models, columns the models above them, or tied with them.
        right = (truth > truth[:, np.newaxis]) + (truth == truth[:, np.newaxis]) / 2
        above, tied = order > order[:, np.newaxis], (order == order[:, np.newaxis]) & ~np.eye(n, dtype=bool)
        for at in range(n):
            n_above, n_tied = int(above[at].sum()), int(tied[at].sum())
            places = np.arange(n_tied + 1)  # among those that are tied, each as likely
            found = right[at] @ above[at] + right[at] @ tied[at] * places / max(n_tied, 1)
            total += float((found / np.maximum(n_above + places, 1)).mean())
    return total / (n - 1) - 1
