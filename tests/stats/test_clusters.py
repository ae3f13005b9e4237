"""Clustered samples: naive sums, hand-worked numbers, laws.

How intervals cover is simulated in test_clustered_coverage.py.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from recnb import stats
from recnb.stats import Moments, UserSample, gap_to_rest
from recnb.stats import paired as paired_of
from tests.rows import hold_calls, read_rows

near = pytest.approx
UNIT = (0.0, 1.0)
SIGNED = (-1.0, 1.0)
OFF = np.array([[0.5], [0.5], [2.0], [1.0], [0.0]])
LEVEL = np.random.default_rng(6).normal(0, 0.1, 50)
FOUR_EACH = np.repeat(LEVEL, 4)[:, np.newaxis]


def codes_of(sizes):
    """The cluster of each list, of clusters of these sizes."""
    return np.repeat(np.arange(len(sizes)), sizes)


def sample_of(sizes, weights=None):
    return UserSample(sum(sizes), weights, codes_of(sizes))


ONE_BY_ONE = sample_of([1, 3]).among(np.array([True, True, False, False]))


def intervals(values, sample, bounds=UNIT):
    return Moments(values, sample, bounds).interval()


def ends_and_p(differences, sample):
    made = paired_of(differences, sample)
    return np.array([made.low, made.high, made.p])


def nine_or_ten(n):
    """Lists of 30 clusters of five, of which so many are off 0."""
    values = np.zeros((150, 1))
    values[: 5 * n] = 0.3
    return values


def made_lists(seed):
    """Values of lists, the cluster of each, and weights, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(codes_of(rng.integers(1, 7, 30)))
    level = rng.random(30)
    values = np.clip(level[codes] + rng.normal(0, 0.2, len(codes)), 0, 1)
    return values, codes, rng.lognormal(0, 0.5, len(codes))


test_a_call_comes_to = hold_calls(
    read_rows("stats/clusters.toml"), vars(stats) | globals()
)


@given(st.integers(0, 10_000), st.booleans())
def test_the_variance_of_the_mean_is_the_sum_over_clusters(seed, is_weighted):
    values, codes, weights = made_lists(seed)
    weight = weights if is_weighted else np.ones(len(values))
    sample = UserSample(len(values), weights if is_weighted else None, codes)
    moments = Moments(values[:, np.newaxis], sample)
    mean = np.average(values, weights=weight)
    sums = pd.Series(weight * (values - mean)).groupby(codes).sum()
    wanted = 30 / 29 * (sums**2).sum() / weight.sum() ** 2
    assert sample.n_effective == 30
    assert moments.mean == near(mean)
    assert moments.variance / 30 == near(wanted)


def numbers_of(values, sample):
    """Intervals, tests of differences, and the gap of the first units to the others."""
    differences = values - 0.2
    return np.concatenate(
        [
            Moments(values, sample, UNIT).interval(0.5),
            intervals(values, sample),
            ends_and_p(differences, sample),
            gap_to_rest(values, sample, sample.codes < 15),
        ]
    )


@pytest.mark.parametrize("repeats", [2, 5])
@pytest.mark.parametrize("lists", ["one each", "several", "with weights"])
def test_lists_duplicated_within_their_clusters_leave_all_numbers(lists, repeats):
    """Of users with a list each these are the numbers of users."""
    values, codes, weights = made_lists(3)
    values = 0.2 + values / 2  # off the bounds
    is_weighted = lists == "with weights"
    if lists == "one each":
        codes = np.arange(len(values))
    before, after = (
        UserSample(
            n * len(values),
            np.repeat(weights, n) if is_weighted else None,
            np.repeat(codes, n),
        )
        for n in (1, repeats)
    )
    many = np.repeat(values, repeats)[:, np.newaxis]
    values = values[:, np.newaxis]
    assert numbers_of(many, after) == near(numbers_of(values, before), rel=1e-9)
    won = paired_of(values - 0.45, before, bounds=SIGNED).won
    assert paired_of(many - 0.45, after, bounds=SIGNED).won == repeats * won
    # A cluster on both sides makes them no independent samples.
    inside = np.arange(len(many)) % repeats == 0
    assert np.isnan(gap_to_rest(many, after, inside).p).all()
    assert (after.n_lists, after.n_units) == (len(many), before.n_units)


def test_one_more_cluster_is_as_large_as_the_largest():
    # Of 3, 1, 1 and 1 lists the largest has twice as many as the average of 1.5.
    values = np.array([0.4, 0.7, 0.5, 0.3, 0.6, 0.5])
    m, sums = 0.5, np.array([0.1, -0.2, 0.1, 0.0])
    ends = intervals(values[:, np.newaxis], sample_of([3, 1, 1, 1]))
    for (end,), bound, chance in zip(ends, UNIT, (0.025, 0.975), strict=True):
        units = np.r_[m + 4 / 6 * sums, m + 2 * (bound - m)]
        mean, variance = units.mean(), units.var() / 6
        n = mean * (1 - mean) / variance - 1
        wanted = scipy.stats.beta.ppf(chance, mean * n, (1 - mean) * n)
        assert end == near(wanted)


# CR2: by matrices, by Student's t


def by_matrices(values, codes):
    """The variance CR2 of the mean, and Bell and McCaffrey's degrees of freedom.

    Of a regression on an intercept, with the hat matrix and its square roots; the
    degrees are those of lists that are alike within their cluster.
    """
    n = len(values)
    rest = np.eye(n) - 1 / n
    residuals = rest @ values
    columns, variance = [], 0.0
    for code in np.unique(codes):
        inside = codes == code
        roots, vectors = np.linalg.eigh(rest[np.ix_(inside, inside)])
        adjusted = vectors @ np.diag(roots**-0.5) @ vectors.T
        of_mean = adjusted.sum(axis=1) / n
        variance += float(of_mean @ residuals[inside]) ** 2
        columns.append(rest[:, inside] @ of_mean)
    alike = (codes[:, np.newaxis] == codes) * 1.0
    products = np.column_stack(columns).T @ alike @ np.column_stack(columns)
    return variance, np.trace(products) ** 2 / np.square(products).sum()


@pytest.mark.parametrize(
    "sizes",
    [
        [1, 3],
        [1, 1, 5, 9],
        [4, 4, 1, 1, 1, 20],
        [2] * 7,
        [1, 2, 3, 4, 5, 6, 7, 30],
        [3] * 20,
        [1, 2, 3, 4, 5, 6, 7, 20, 2, 2, 9, 1] * 4,
    ],
)
def test_error_and_degrees_of_freedom_are_those_of_the_matrices(sizes):
    values = np.random.default_rng(0).normal(0.1, 1, sum(sizes))
    sample, matrix = sample_of(sizes), values[:, np.newaxis]
    variance, free = by_matrices(values, codes_of(sizes))
    error = np.sqrt(variance)
    sd = Moments(matrix, sample).sd[0]
    assert sd / np.sqrt(sample.n_effective) == near(error, rel=1e-10)
    assert sample.degrees_of_freedom == near(free, rel=1e-10)
    if len(sizes) < 10:  # too few clusters for a test
        return
    student, mean = scipy.stats.t(free), values.mean()
    half = student.ppf(0.975) * error
    wanted = [mean - half, mean + half, 2 * student.sf(abs(mean) / error)]
    assert ends_and_p(matrix, sample)[:, 0] == near(wanted)
