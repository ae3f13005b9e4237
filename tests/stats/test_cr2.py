"""Differences of clusters by CR2: by hand, by matrices, by Student's t, simulated."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from recnb.stats import Clusters, Moments, Settings, paired

SIZES = [[1, 3], [1, 1, 5, 9], [4, 4, 1, 1, 1, 20], [2] * 7, [1, 2, 3, 4, 5, 6, 7, 30]]


def clusters_of(sizes):
    return Clusters.of(np.repeat(np.arange(len(sizes)), sizes))


def by_matrices(values, codes):
    """The variance CR2 of the mean, and Bell and McCaffrey's degrees of freedom.

    Of a regression on an intercept, with the hat matrix and its square roots; the
    degrees are those of lists that are alike within their cluster.
    """
    n = len(values)
    hat = np.full((n, n), 1 / n)
    rest = np.eye(n) - hat
    residuals = rest @ values
    columns, variance = [], 0.0
    for code in np.unique(codes):
        inside = codes == code
        block = rest[np.ix_(inside, inside)]
        roots, vectors = np.linalg.eigh(block)
        adjusted = vectors @ np.diag(roots**-0.5) @ vectors.T
        of_mean = adjusted @ np.full(inside.sum(), 1 / n)
        variance += float(of_mean @ residuals[inside]) ** 2
        columns.append(rest[:, inside] @ of_mean)
    alike = (codes[:, np.newaxis] == codes) * 1.0
    products = np.column_stack(columns).T @ alike @ np.column_stack(columns)
    return variance, np.trace(products) ** 2 / np.square(products).sum()


def test_two_clusters_by_hand():
    # m = 1 / 2; s is 1 / 8 and -1 / 8; p is 1 / 4 and 3 / 4:
    # (1 / 64) / (3 / 4) + (1 / 64) / (1 / 4) = 1 / 12.
    # The residuals of two clusters sum up to 0, so there is one degree of freedom.
    moments = Moments.of(
        np.array([[1.0], [1.0], [0.0], [0.0]]), clusters=clusters_of([1, 3])
    )
    assert moments.corrected is not None
    assert moments.corrected[0] == pytest.approx(1 / 12)
    assert moments.free == pytest.approx(1)


@pytest.mark.parametrize("sizes", SIZES)
def test_variance_and_degrees_of_freedom_are_those_of_the_matrices(sizes):
    values = np.random.default_rng(0).normal(size=(sum(sizes), 3))
    moments = Moments.of(values, clusters=clusters_of(sizes))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    for column in range(3):
        variance, free = by_matrices(values[:, column], codes)
        error = moments.sd[column] ** 2 / moments.n
        assert error == pytest.approx(variance, rel=1e-10)
        assert moments.free == pytest.approx(free, rel=1e-10)


def test_of_clusters_of_one_size_it_is_students_t():
    values = np.random.default_rng(1).normal(0.1, 1, (60, 4))
    made = paired(values, Settings(), clusters=clusters_of([3] * 20))
    wanted = scipy.stats.ttest_1samp(values.reshape(20, 3, 4).mean(axis=1), 0)
    interval = wanted.confidence_interval()
    for mine, theirs in (
        (made.p, wanted.pvalue),
        (made.low, interval.low),
        (made.high, interval.high),
    ):
        assert mine == pytest.approx(theirs, abs=1e-12)


def test_interval_and_p_have_the_error_and_the_degrees_of_the_matrices():
    sizes = [1, 2, 3, 4, 5, 6, 7, 20, 2, 2, 9, 1] * 4
    codes = np.repeat(np.arange(48), sizes)
    values = np.random.default_rng(2).normal(0.3, 1, len(codes))
    made = paired(values, Settings(), clusters=Clusters.of(codes))
    variance, free = by_matrices(values, codes)
    error = np.sqrt(variance)
    student = scipy.stats.t(free)
    half = student.ppf(0.975) * error
    assert made.low[0] == pytest.approx(values.mean() - half)
    assert made.high[0] == pytest.approx(values.mean() + half)
    assert made.p[0] == pytest.approx(2 * student.sf(abs(values.mean()) / error))
    assert made.reach.tolist() == [0.0]


def test_one_cluster_has_neither_interval_nor_test():
    values = np.random.default_rng(3).normal(size=(30, 1))
    made = paired(values, Settings(), clusters=clusters_of([30]))
    assert np.isnan([made.low, made.high, made.p]).all()


def test_weights_keep_the_excess_of_the_heaviest_cluster():
    sizes = [1, 1, 1, 5] * 4
    values = np.random.default_rng(4).normal(size=(32, 1))
    weighted = Moments.of(values, weights=np.ones(32), clusters=clusters_of(sizes))
    assert weighted.corrected is None
    assert weighted.excess == pytest.approx(5 / 32 - 1 / 16)


def simulated(kind, n, alike):
    """The share of 95 % intervals that hold the mean 0 of lists in clusters.

    Users return 1 + Geometric(0.2) times. Values are normal, differences of two models
    with values from 0 to 1, or skewed to one side: beta or exponential. Those of one
    user correlate by `alike`.
    """
    rng = np.random.default_rng([n, round(10 * alike)])
    draw = {
        "normal": lambda shape: rng.normal(size=shape),
        "differences": lambda shape: (
            rng.beta(0.5, 2, shape) - rng.beta(0.5, 3, shape) - (1 / 5 - 1 / 7)
        ),
        "beta": lambda shape: rng.beta(0.5, 2, shape) - 0.2,
        "exponential": lambda shape: rng.exponential(size=shape) - 1,
    }[kind]
    shares = []
    for _draw in range(40):
        sizes = rng.geometric(0.2, n)
        codes = np.repeat(np.arange(n), sizes)
        of_user = draw((n, 100))[codes]
        own = draw((len(codes), 100))
        if kind == "normal":
            values = np.sqrt(alike) * of_user + np.sqrt(1 - alike) * own
        else:
            values = np.where(rng.random(own.shape) < np.sqrt(alike), of_user, own)
        # The interval itself: with few clusters `paired` keeps to the metric's bounds.
        moments = Moments.of(values, clusters=Clusters.of(codes))
        quantile = scipy.stats.t(moments.free).ppf(0.975)
        half = quantile * moments.sd / np.sqrt(moments.n)
        shares.append((np.abs(moments.mean) <= half).mean())
    return float(np.mean(shares))


#: The lowest share that intervals of each kind of values hold: less where values are
#: skewed to one side.
LOWEST = {"normal": 0.946, "differences": 0.946, "beta": 0.92, "exponential": 0.92}
SAMPLES = 4_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*LOWEST])
@pytest.mark.parametrize("alike", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("n", [12, 20, 50, 200])
def test_intervals_cover(kind, alike, n):
    error = np.sqrt(LOWEST[kind] * (1 - LOWEST[kind]) / SAMPLES)
    assert simulated(kind, n, alike) >= LOWEST[kind] - 3 * error
