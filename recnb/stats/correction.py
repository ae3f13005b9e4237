"""Holm's correction of p-values."""

from __future__ import annotations

import numpy as np

from recnb.errors import FrameError
from recnb.stats.means import Floats


def holm(p: Floats) -> Floats:
    """Return the p-values of tests that are made together, corrected by Holm's method.

    It bounds the chance of any false finding, however the tests depend on each other
    (Holm 1979, Scandinavian Journal of Statistics 6). NaN is no test: it is not counted,
    and stays NaN. scipy has no such function.
    """
    is_tested = ~np.isnan(p)
    values = p[is_tested]
    if ((values < 0) | (values > 1)).any():
        raise FrameError(
            f"p-values lie between 0 and 1, and these from {values.min():g} to "
            f"{values.max():g}."
        )
    rising = np.argsort(values, kind="stable")
    n_not_below = np.arange(len(values), 0, -1)
    values[rising] = np.maximum.accumulate(values[rising] * n_not_below)
    corrected = np.full_like(p, np.nan)
    corrected[is_tested] = np.minimum(values, 1.0)
    return corrected
