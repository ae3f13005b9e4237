"""How the values of users are spread, and how many lists and relevant items they have."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from recnb.metrics.hits import Floats, Ints
from recnb.report.bins import BINS, Bins
from recnb.results.numbers import SAME
from recnb.stats import mean_of


def summary_of(counts: Ints) -> dict[str, float]:
    """Return the spread of counts, zeros where there are none."""
    counts = counts if len(counts) else np.zeros(1, dtype=np.int64)
    return {
        "min": int(counts.min()),
        "median": float(np.median(counts)),
        "mean": mean_of(counts),
        "max": int(counts.max()),
    }


def distribution_of(
    model: str,
    values: Floats,
    bounds: tuple[float, float],
    weights: Floats | None = None,
) -> dict[str, Any]:
    """Return the distribution of the values of users.

    Ten bins, quartiles, and the number of users at 0 and at either end.

    A bin holds its lower edge, the last one both; without a bound the edge is the
    highest value, or the lowest below 0.
    """
    mean = mean_of(values, weights)
    known = ~np.isnan(values)
    values = values[known]
    n_users = len(values)
    bins = Bins.over(values, bounds)
    n_bottom, *others = np.bincount(bins.of(values), minlength=BINS + 1).tolist()
    counts = [n_bottom + others[0], *others[1:]]
    quartiles = [nan, nan, nan]
    if n_users:
        quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return {
        "model": model,
        "n_users": n_users,
        "n_without_value": len(known) - n_users,
        "edges": [*bins.edges],
        "counts": counts,
        "shares": [count / max(n_users, 1) for count in counts],
        "n_zero": int((np.abs(values) <= SAME).sum()),
        "n_bottom": n_bottom,
        "n_top": int((values >= bins.edges[-1] - SAME).sum()),
        "mean": mean,
        "quartiles": quartiles,
    }
