"""A group of users against all others."""

from __future__ import annotations

import numpy as np

from recnb.stats.intervals import Moments
from recnb.stats.means import ENOUGH, ROUNDING, Bools, Floats
from recnb.stats.sample import UserSample
from recnb.stats.student import Tested, t_test


def gap_to_rest(
    values: Floats, sample: UserSample, inside: Bools, confidence: float = 0.95
) -> Tested:
    """Return the gap of a group to all others, by column of users × columns.

    Interval and p are the more careful of Welch's test and Student's; NaN if either side
    has fewer than 10 users, or users who are all alike. Of lists in clusters, these are
    the users; NaN if a cluster is on both sides.
    """
    # The values of a column lie together in memory still.
    group = Moments(np.compress(inside, values.T, axis=1).T, sample.among(inside))
    rest = Moments(np.compress(~inside, values.T, axis=1).T, sample.among(~inside))
    gap = group.mean - rest.mean
    n_of_sides = group.sample.n_units + rest.sample.n_units
    has_cluster_on_both = n_of_sides > sample.n_units
    n_least = min(group.sample.n_effective, rest.sample.n_effective)
    if n_least < ENOUGH or has_cluster_on_both:
        untested = np.full_like(gap, np.nan)
        return Tested(gap, untested, untested, untested)
    error, freedom = _welch_and_student(group, rest)
    both = t_test(gap, error, freedom, confidence=confidence)  # test × columns
    return Tested(
        mean=gap,
        low=both.low.min(axis=0),
        high=both.high.max(axis=0),
        p=both.p.max(axis=0),
    )


def _welch_and_student(group: Moments, rest: Moments) -> tuple[Floats, Floats]:
    """Return the standard error of a gap and its degrees of freedom, test × columns.

    The first test is Welch's (1947, Biometrika 34), the second has one variance for both
    sides. scipy.stats.ttest_ind gives the same, each by itself.
    """
    variances = np.array([group.variance, rest.variance])
    is_constant = (variances <= ROUNDING**2).any(axis=0)
    variances[:, is_constant] = np.nan
    n = np.array([[group.sample.n_effective], [rest.sample.n_effective]])
    freedom = n - 1

    squared_errors = variances / n
    squared_error = squared_errors.sum(axis=0)
    welch_error = np.sqrt(squared_error)
    welch_freedom = squared_error**2 / (squared_errors**2 / freedom).sum(axis=0)
    pooled = (variances * freedom).sum(axis=0) / freedom.sum()
    student_error = np.sqrt(pooled * (1 / n).sum())
    student_freedom = np.full_like(welch_freedom, freedom.sum())
    return (
        np.array([welch_error, student_error]),
        np.array([welch_freedom, student_freedom]),
    )
