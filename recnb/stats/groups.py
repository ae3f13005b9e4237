"""A group of users against all others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.stats.clusters import Clusters
from recnb.stats.intervals import ENOUGH, ROUNDING, Moments
from recnb.stats.means import Floats


class Gap(NamedTuple):
    """The difference of a group's mean from that of all others, by column."""

    mean: Floats
    low: Floats
    high: Floats
    p: Floats


def gap_to_rest(
    values: Floats,
    inside: NDArray[np.bool_],
    confidence: float = 0.95,
    weights: Floats | None = None,
    clusters: Clusters | None = None,
) -> Gap:
    """Return the gap of a group to all others, for each column of users × columns.

    Interval and p are the more careful of Welch's test (1947, Biometrika 34) and
    Student's; NaN if either side has fewer than 10 users, or users who are all alike.
    Of lists in clusters, these are the users; NaN if a cluster is on both sides.
    scipy.stats.ttest_ind gives the same, each test by itself, and takes a second to
    import.
    """
    from scipy.special import stdtr, stdtrit

    nothing = np.full(values.shape[1], np.nan)
    if inside.all() or not inside.any():
        return Gap(nothing, nothing, nothing, nothing)
    group = _moments_of(values, inside, weights, clusters)
    rest = _moments_of(values, ~inside, weights, clusters)
    gap = group.mean - rest.mean
    if min(group.n, rest.n) < ENOUGH or _is_split(clusters, inside):
        return Gap(gap, nothing, nothing, nothing)

    n = np.array([[group.n], [rest.n]])
    variances = np.array([group.variance, rest.variance])
    is_constant = (variances <= ROUNDING**2).any(axis=0)
    variances[:, is_constant] = np.nan
    of_means = variances / n
    free = n - 1

    welch_error = np.sqrt(of_means.sum(axis=0))
    welch_free = of_means.sum(axis=0) ** 2 / (of_means**2 / free).sum(axis=0)
    pooled = (variances * free).sum(axis=0) / free.sum()
    student_error = np.sqrt(pooled * (1 / n).sum())
    student_free = free.sum()

    quantile = (1 + confidence) / 2
    half = np.maximum(
        stdtrit(welch_free, quantile) * welch_error,
        stdtrit(student_free, quantile) * student_error,
    )
    p = np.maximum(
        2 * stdtr(welch_free, -np.abs(gap) / welch_error),
        2 * stdtr(student_free, -np.abs(gap) / student_error),
    )
    return Gap(gap, gap - half, gap + half, p)


def _moments_of(
    values: Floats,
    chosen: NDArray[np.bool_],
    weights: Floats | None,
    clusters: Clusters | None,
) -> Moments:
    """Sum up the users chosen."""
    return Moments.of(
        values[chosen],
        weights=None if weights is None else weights[chosen],
        clusters=None if clusters is None else clusters.among(chosen),
    )


def _is_split(clusters: Clusters | None, inside: NDArray[np.bool_]) -> bool:
    """Return whether a cluster has lists inside a group and others."""
    if clusters is None:
        return False
    return bool(clusters.count(inside) + clusters.count(~inside) > clusters.n)
