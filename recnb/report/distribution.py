"""How the values of users are spread, and how many lists and relevant items they have."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import numpy as np

from recnb.metrics.hits import Floats, Ints
from recnb.results.numbers import SAME
from recnb.stats import bins_of

#: Bars of a distribution.
BINS = 10


def summary_of(counts: Ints) -> dict[str, float]:
    """Return the spread of counts, zeros where there are none."""
    counts = counts if len(counts) else np.zeros(1, dtype=np.int64)
    middle, mean = float(np.median(counts)), float(counts.mean())
    return {
        "min": int(counts.min()),
        "median": middle,
        "mean": mean,
        "max": int(counts.max()),
    }


def distribution_of(
    model: str,
    values: Floats,
    bounds: tuple[float, float],
    weights: Floats | None = None,
) -> dict[str, Any]:
    """Return the distribution of the values of users: ten bins, quartiles, and the
    number of users at 0 and at either end.

    A bin holds its lower edge, the last one both; without a bound the edge is the
    highest value, or the lowest below 0.
    """
    known = ~np.isnan(values)
    defined, counted = values[known], None if weights is None else weights[known]
    start, end = _ends_of(defined, bounds)
    counts = np.bincount(bins_of(defined - start, end - start, BINS), minlength=BINS)
    return {
        "model": model,
        "n_users": len(defined),
        "n_without_value": len(values) - len(defined),
        "edges": (start + np.arange(BINS + 1) * (end - start) / BINS).tolist(),
        "counts": counts.tolist(),
        "shares": (counts / max(len(defined), 1)).tolist(),
        "n_zero": int((np.abs(defined) <= SAME).sum()),
        "n_bottom": int((defined <= start + SAME).sum()),
        "n_top": int((defined >= end - SAME).sum()),
        "mean": float(np.average(defined, weights=counted)) if len(defined) else nan,
        "quartiles": np.quantile(defined, [0.25, 0.5, 0.75]).tolist()
        if len(defined)
        else [nan, nan, nan],
    }


def _ends_of(values: Floats, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a scale: the bounds, or the values furthest from 0 where there
    is no bound; a convention may set values beyond the bounds.
    """
    lowest, highest = bounds
    start, end = min(0.0, values.min(initial=0.0)), max(0.0, values.max(initial=0.0))
    if isfinite(lowest):
        start = lowest
    if isfinite(highest):
        end = highest
    return float(start), float(end) if end > start else float(start) + 1.0
