"""The mean of a group of users against the mean of all others: the more conservative of Welch's and Student's t test.

Welch's test lets the variances differ, and is too liberal if the users of a small group happen to be alike; Student's takes one
variance for both. Of random groups of 10 users Welch's test alone rejects 6 to 11 % at 0.05 without a true difference, the more
conservative of both at most 5.4 % (`tests/stats/test_coverage.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recnb.stats.moments import ENOUGH, Floats, Ints, sums_by


@dataclass(frozen=True, eq=False)
class Gap:
    """Per column: the mean of a group minus that of the others, its interval, and the p-value of the test."""

    gap: Floats
    low: Floats
    high: Floats
    p: Floats


def gap_to_rest(
    values: Floats, inside: NDArray[np.bool_], confidence: float = 0.95, *, user: Ints | None = None
) -> Gap:
    """Return the gap between the rows inside a group and all others, for each column of rows × columns.

    Rows are users, or several are of the one that `user` numbers, and may be on either side; variances are then those of the users'
    sums of deviations, and what both sides share of a user is taken off (Liang and Zeger 1986, Biometrika 73). Interval and p-value
    are NaN if either side has fewer than 10 users, or users who are all alike. Welch 1947, Biometrika 34.

    >>> result = gap_to_rest(np.arange(25.0)[:, np.newaxis], np.arange(25) < 10)
    >>> float(result.gap[0]), round(float(result.low[0]), 2), round(float(result.high[0]), 2)
    (-12.5, -15.85, -9.15)
    """
    nothing = np.full(values.shape[1], np.nan)
    if inside.all() or not inside.any():
        return Gap(nothing, nothing, nothing, nothing)
    sides = [values[inside], values[~inside]]
    means = [side.mean(axis=0) for side in sides]
    gap = means[0] - means[1]
    n_rows = np.array([[len(side)] for side in sides])
    off = [side - mean for side, mean in zip(sides, means, strict=True)]
    users, weight, most, shared = n_rows, n_rows, len(values) - 1, np.zeros_like(gap)
    if user is not None:
        numbered = np.unique(user, return_inverse=True)[1]
        most = int(numbered.max())
        sides_of = [numbered[inside], numbered[~inside]]
        rows_of = np.array([np.bincount(side, minlength=most + 1) for side in sides_of])
        users, weight = np.count_nonzero(rows_of, axis=1)[:, np.newaxis], (rows_of**2).sum(axis=1, keepdims=True)
        off = [sums_by(each, side, most + 1) for each, side in zip(off, sides_of, strict=True)]
    if users.min() < ENOUGH:
        return Gap(gap, nothing, nothing, nothing)
    from scipy.special import stdtr, stdtrit

    # scipy.stats.ttest_ind gives the same for one row a user, each test by itself: 14 times slower for 261 users × 7 metrics, and
    # scipy.stats takes a second to import, which a table by segment does not need otherwise.
    squares = np.array([(each**2).sum(axis=0) for each in off])
    squares[:, (squares <= 1e-24 * n_rows).any(axis=0)] = np.nan
    if user is not None:
        shared = (off[0] * off[1]).sum(axis=0) / np.sqrt(squares.prod(axis=0))
    free = users - 1
    welch = squares / n_rows**2 * users / free
    freedom = np.minimum(welch.sum(axis=0) ** 2 / (welch**2 / free).sum(axis=0), most)
    # Student's takes one variance for both sides: that of a row, or of the rows of one user.
    pooled = squares.sum(axis=0) / weight.sum() * users.sum() / free.sum() * weight / n_rows**2
    both = ((welch, freedom), (pooled, np.full_like(gap, min(free.sum(), most))))
    variances = [each.sum(axis=0) - 2 * shared * np.sqrt(each.prod(axis=0)) for each, _df in both]
    # Users who differ by the same between the sides are alike as well.
    errors = [(np.sqrt(np.where(of > 1e-24, of, np.nan)), df) for of, (_, df) in zip(variances, both, strict=True)]
    half = np.max([stdtrit(df, (1 + confidence) / 2) * error for error, df in errors], axis=0)
    p = np.max([2 * stdtr(df, -np.abs(gap) / error) for error, df in errors], axis=0)
    return Gap(gap, gap - half, gap + half, p)
