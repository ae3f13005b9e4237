"""The mean of a group of users against the mean of all others: the more conservative of Welch's and Student's t test.

Welch's test lets the variances differ, and is too liberal if the users of a small group happen to be alike; Student's takes one
variance for both. Of random groups of 10 users Welch's test alone rejects 6 to 11 % at 0.05 without a true difference, the more
conservative of both at most 5.4 % (`tests/stats/test_coverage.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recnb.stats._types import Floats
from recnb.stats.moments import ENOUGH


@dataclass(frozen=True, eq=False)
class Gap:
    """Per column: the mean of a group minus that of the others, its interval, and the p-value of the test."""

    gap: Floats
    low: Floats
    high: Floats
    p: Floats


def gap_to_rest(values: Floats, inside: np.ndarray[tuple[int], np.dtype[np.bool_]], confidence: float = 0.95) -> Gap:
    """Return the gap between the users inside a group and all others, for each column of users × columns.

    Interval and p-value are NaN if either side has fewer than 10 users, or users who are all alike. Welch 1947, Biometrika 34.

    >>> result = gap_to_rest(np.arange(25.0)[:, np.newaxis], np.arange(25) < 10)
    >>> float(result.gap[0]), round(float(result.low[0]), 2), round(float(result.high[0]), 2)
    (-12.5, -15.85, -9.15)
    """
    group, rest = values[inside], values[~inside]
    nothing = np.full(values.shape[1], np.nan)
    if not len(group) or not len(rest):
        return Gap(nothing, nothing, nothing, nothing)
    gap = group.mean(axis=0) - rest.mean(axis=0)
    if len(group) < ENOUGH or len(rest) < ENOUGH:
        return Gap(gap, nothing, nothing, nothing)
    from scipy.special import stdtr, stdtrit

    # scipy.stats.ttest_ind gives the same, for each test by itself: 14 times slower for 261 users × 7 metrics, 2.5 times for a
    # million, and scipy.stats takes a second to import, which a table by segment does not need otherwise.
    free = np.array([[len(group) - 1], [len(rest) - 1]])
    spread = np.array([group.var(axis=0, ddof=1), rest.var(axis=0, ddof=1)])
    spread[:, (spread <= 1e-24).any(axis=0)] = np.nan
    welch = spread / (free + 1)
    freedom = welch.sum(axis=0) ** 2 / (welch**2 / free).sum(axis=0)
    pooled = (spread * free).sum(axis=0) / free.sum() * (1 / (free + 1)).sum()
    both = ((np.sqrt(welch.sum(axis=0)), freedom), (np.sqrt(pooled), np.full_like(gap, free.sum())))
    half = np.max([stdtrit(df, (1 + confidence) / 2) * error for error, df in both], axis=0)
    p = np.max([2 * stdtr(df, -np.abs(gap) / error) for error, df in both], axis=0)
    return Gap(gap, gap - half, gap + half, p)
