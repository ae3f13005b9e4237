"""How alike two metrics order the same models: a correlation of ranks that weighs the top."""

from __future__ import annotations

import numpy as np

from recnb.stats.intervals import Floats
from recnb.stats.paired import settled


def tau_ap(values: Floats, others: Floats) -> float:
    """Return the symmetric tau AP of two orders of the same models: the mean of each taken as the truth of the other.

    Yilmaz, Aslam and Robertson (SIGIR 2008): of the models above a place, how many are rightly above it, averaged over the places from
    the second down. Of a tie in one order it is the mean over all its orders; a pair tied in the truth is right by half.
    """
    one, other = settled(np.asarray(values, dtype=np.float64)), settled(np.asarray(others, dtype=np.float64))
    return (_against(one, other) + _against(other, one)) / 2


def _against(values: Floats, truth: Floats) -> float:
    """Return tau AP of the order by `values` if that by `truth` is right; NaN of fewer than two models, or of any without a value."""
    n = len(values)
    if n < 2 or np.isnan([*values, *truth]).any():
        return float("nan")
    # Rows are models, columns the models above or beside them.
    right = (truth > truth[:, np.newaxis]) + (truth == truth[:, np.newaxis]) / 2
    above, beside = values > values[:, np.newaxis], values == values[:, np.newaxis]
    np.fill_diagonal(beside, False)
    total = 0.0
    for n_above, n_beside, of_above, of_beside in zip(
        above.sum(axis=1), beside.sum(axis=1), (right * above).sum(axis=1), (right * beside).sum(axis=1), strict=True
    ):
        # Each place among the tied ones is as likely, and so is each of the others to be above it.
        for place in range(n_beside + 1):
            if higher := n_above + place:
                total += (of_above + of_beside * place / max(n_beside, 1)) / higher / (n_beside + 1)
    return float(2 * total / (n - 1) - 1)
