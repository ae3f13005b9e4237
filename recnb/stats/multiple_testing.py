"""Corrections of p-values for multiple tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recnb.errors import FrameError
from recnb.stats.moments import Floats


def holm(p: Floats) -> Floats:
    """Return p-values corrected by Holm's method, which bounds the chance of any false finding.

    If findings are those below 0.05 after the correction, at most 5 of 100 such families of tests hold a false finding,
    however the tests depend on each other. scipy has no such function.

    P-values may have any shape; NaN is no test: it is not counted, and stays NaN.

    References
    ----------
    S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    corrected, tested = _checked(p)
    values = corrected[tested]
    rising = np.argsort(values, kind="stable")
    values[rising] = np.minimum(np.maximum.accumulate(values[rising] * np.arange(len(values), 0, -1)), 1.0)
    corrected[tested] = values
    return corrected


def benjamini_hochberg(p: Floats) -> Floats:
    """Return p-values corrected by the method of Benjamini and Hochberg, which bounds the expected share of false findings.

    If findings are those below 0.05 after the correction, at most 5 % of them are expected to be false. This is proved
    for independent tests and for some positive dependence of one-sided tests (Benjamini and Yekutieli 2001). The proof
    does not cover two-sided tests or all pairs of models, so the conclusions of a comparison use Holm's method.

    References
    ----------
    Y. Benjamini and Y. Hochberg. Controlling the false discovery rate. Journal of the Royal Statistical Society B 57, 1995.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, np.nan])).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    from scipy import stats

    corrected, tested = _checked(p)
    corrected[tested] = stats.false_discovery_control(corrected[tested])
    return corrected


def _checked(p: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """A copy of the p-values, and which of them are those of a test."""
    values: Floats = np.array(p, dtype=np.float64)
    wrong = values[(values < 0) | (values > 1)]
    if len(wrong):
        raise FrameError(f"{wrong[0]!r} is no p-value: they lie between 0 and 1.")
    return values, ~np.isnan(values)
