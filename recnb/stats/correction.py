"""Holm's correction of p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recnb.errors import FrameError
from recnb.stats.means import Floats


def holm(p: Floats, families: Sequence[str] | None = None) -> Floats:
    """Return p-values corrected by Holm's method; with `families`, each within its own.

    It bounds the chance of any false finding, however the tests depend on each other
    (Holm 1979, Scandinavian Journal of Statistics 6). `families` has a name for each.
    NaN is no test: it is not counted, and stays NaN. scipy has no such function.
    """
    values: Floats = np.array(p, dtype=np.float64)
    if ((values < 0) | (values > 1)).any():
        lowest, highest = np.nanmin(values), np.nanmax(values)
        raise FrameError(
            f"p-values lie between 0 and 1, and these from {lowest:g} to {highest:g}."
        )
    if families is None:
        return _corrected(values)
    of_family = np.array(families)
    corrected = np.empty_like(values)
    for family in np.unique(of_family):
        is_member = of_family == family
        corrected[is_member] = _corrected(values[is_member])
    return corrected


def _corrected(p: Floats) -> Floats:
    """Correct p-values of tests that are made together."""
    corrected = p.copy()
    is_tested = ~np.isnan(p)
    values = p[is_tested]
    rising = np.argsort(values, kind="stable")
    n_not_below = np.arange(len(values), 0, -1)
    values[rising] = np.maximum.accumulate(values[rising] * n_not_below)
    corrected[is_tested] = np.minimum(values, 1.0)
    return corrected
