"""The mean of a group of users against the mean of all others: the more conservative of Welch's and Student's t test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.stats.intervals import ENOUGH, ROUNDING, Floats


class Gap(NamedTuple):
    """Per column: the mean of a group minus that of the others, its interval, and the p-value of the test."""

    gap: Floats
    low: Floats
    high: Floats
    p: Floats


def gap_to_rest(values: Floats, inside: NDArray[np.bool_], confidence: float = 0.95) -> Gap:
    """Return the gap between the users inside a group and all others, for each column of users × columns.

    Interval and p-value are NaN if either side has fewer than 10 users, or users who are all alike. Welch 1947, Biometrika 34.
    scipy.stats.ttest_ind gives the same, each test by itself, and takes a second to import.
    """
    from scipy.special import stdtr, stdtrit

    nothing = np.full(values.shape[1], np.nan)
    if inside.all() or not inside.any():
        return Gap(nothing, nothing, nothing, nothing)
    sides = values[inside], values[~inside]
    gap, n = sides[0].mean(axis=0) - sides[1].mean(axis=0), np.array([[len(side)] for side in sides])
    if n.min() < ENOUGH:
        return Gap(gap, nothing, nothing, nothing)
    variances = np.array([side.var(axis=0, ddof=1) for side in sides])
    variances[:, (variances <= ROUNDING**2).any(axis=0)] = np.nan
    of_means, free = variances / n, n - 1
    pooled = (variances * free).sum(axis=0) / free.sum() * (1 / n).sum()
    welch = np.sqrt(of_means.sum(axis=0)), of_means.sum(axis=0) ** 2 / (of_means**2 / free).sum(axis=0)
    student = np.sqrt(pooled), np.full_like(gap, free.sum())
    half = np.max([stdtrit(df, (1 + confidence) / 2) * error for error, df in (welch, student)], axis=0)
    p = np.max([2 * stdtr(df, -np.abs(gap) / error) for error, df in (welch, student)], axis=0)
    return Gap(gap, gap - half, gap + half, p)
