"""Clustered samples: naive loops, hand-worked numbers, laws, and how intervals cover."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from recnb.stats import Clusters, Moments, Settings, detectable, gap_to_rest, intervals
from recnb.stats import paired as paired_of

UNIT = (0.0, 1.0)
SIGNED = (-1.0, 1.0)


def codes_of(sizes):
    """The cluster of each list, of clusters of these sizes."""
    return np.repeat(np.arange(len(sizes)), sizes)


def clusters_of(sizes):
    return Clusters.of(codes_of(sizes))


def naive_variance(values, codes, weights=None):
    """The variance of the mean, by loops over clusters and lists."""
    weights = np.ones(len(values)) if weights is None else weights
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
    names = sorted(set(codes.tolist()))
    total = 0.0
    for name in names:
        of_cluster = 0.0
        for code, w, x in zip(codes.tolist(), weights, values, strict=True):
            if code == name:
                of_cluster += w * (x - mean)
        total += of_cluster**2
    n = len(names)
    return n / (n - 1) * total / sum(weights) ** 2


def made_lists(seed, n_clusters=30, largest=6):
    """Values of lists, the cluster of each, and weights, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, n_clusters)
    codes = rng.permutation(codes_of(sizes))
    level = rng.random(n_clusters)
    values = np.clip(level[codes] + rng.normal(0, 0.2, len(codes)), 0, 1)
    return values, codes, rng.lognormal(0, 0.5, len(codes))


@given(st.integers(0, 10_000))
def test_the_variance_of_the_mean_is_that_of_a_naive_loop(seed):
    values, codes, weights = made_lists(seed)
    clusters = Clusters.of(codes)
    for weight in (None, weights):
        moments = Moments.of(values[:, np.newaxis], UNIT, weight, clusters)
        assert moments.n == 30
        assert moments.mean == pytest.approx(np.average(values, weights=weight))
        variance = moments.variance / moments.n
        assert variance == pytest.approx(naive_variance(values, codes, weight))


def test_two_clusters_by_hand():
    # m = 2 / 4; the sums of x - m are 0.5 and -0.5; 2 / 1 * (0.25 + 0.25) / 16
    clusters = Clusters.of(np.array([7, 7, 7, 9]))
    values = np.array([[1.0], [1.0], [0.0], [0.0]])
    moments = Moments.of(values, UNIT, None, clusters)
    assert moments.mean.tolist() == [0.5]
    assert moments.variance / moments.n == pytest.approx(1 / 16)


def test_the_effective_number_off_a_bound_by_hand():
    # The lists of a cluster together are 1 and 3 off 0: (1 + 3)² / (1² + 3²) = 1.6.
    clusters = clusters_of([2, 2, 1])
    values = np.array([[0.5], [0.5], [2.0], [1.0], [0.0]])
    assert clusters.n_off(values, 0.0).tolist() == [1.6]
    assert clusters.n_off(np.zeros((5, 1)), 0.0).tolist() == [0.0]
    assert clusters.n_off(values, math.inf).tolist() == [3.0]


def test_of_clusters_equally_far_off_a_bound_the_effective_number_is_exact():
    clusters = clusters_of([2] * 10)
    values = np.tile(np.linspace(0.01, 0.99, 99), (20, 1))
    assert (clusters.n_off(values, 0.0) == 10).all()
    assert (clusters.n_off(values, 1.0) == 10).all()


def test_one_list_a_cluster_is_no_cluster_and_gives_the_same_bits():
    assert Clusters.of(np.array([4, 2, 9])) is None
    assert Clusters.of(None) is None
    one_by_one = clusters_of([1, 3]).among(np.array([True, True, False, False]))
    assert one_by_one is None


@pytest.mark.parametrize("weights", [None, "drawn"])
def test_lists_duplicated_within_their_clusters_leave_intervals_unchanged(weights):
    values, codes, drawn = made_lists(3)
    weight = None if weights is None else drawn
    twice = np.repeat(np.arange(len(values)), 3)
    once = (values[:, np.newaxis], weight, Clusters.of(codes))
    again = (
        values[twice, np.newaxis],
        None if weight is None else weight[twice],
        Clusters.of(codes[twice]),
    )
    ends, same = (
        intervals(matrix, 0.95, UNIT, of_list, clusters)
        for matrix, of_list, clusters in (once, again)
    )
    assert np.ravel(ends) == pytest.approx(np.ravel(same), rel=1e-9)
    centred = values[:, np.newaxis] - 0.45
    tests, others = (
        paired_of(matrix, Settings(), SIGNED, of_list, clusters)
        for matrix, of_list, clusters in (
            (centred, once[1], once[2]),
            (centred[twice], again[1], again[2]),
        )
    )
    for name in ("mean", "low", "high", "p", "sd"):
        mine, theirs = getattr(tests, name), getattr(others, name)
        assert mine == pytest.approx(theirs, rel=1e-9)
    assert (3 * tests.won == others.won).all()


@pytest.mark.parametrize("size", [2, 5])
def test_users_whose_lists_are_alike_have_the_interval_of_users(size):
    of_users = np.random.default_rng(1).beta(0.4, 2, (40, 3))
    lists = np.repeat(of_users, size, axis=0)
    clusters = clusters_of([size] * 40)
    for confidence in (0.5, 0.95):
        ends = intervals(lists, confidence, UNIT, None, clusters)
        assert ends == pytest.approx(np.array(intervals(of_users, confidence, UNIT)))
    tests = paired_of(lists - 0.2, Settings(), SIGNED, None, clusters)
    of_one = paired_of(of_users - 0.2, Settings(), SIGNED)
    assert tests.p == pytest.approx(of_one.p, rel=1e-9)
    assert tests.low == pytest.approx(of_one.low, rel=1e-9)
    assert (tests.won == size * of_one.won).all()
    assert (tests.n, tests.n_effective) == (40 * size, 40)


def test_of_clusters_of_one_size_t_has_the_degrees_of_clusters():
    rng = np.random.default_rng(5)
    differences = rng.normal(0.03, 0.1, 60) + np.repeat(rng.normal(0, 0.1, 20), 3)
    codes = codes_of([3] * 20)
    test = paired_of(differences, Settings(), SIGNED, None, Clusters.of(codes))
    error = math.sqrt(naive_variance(differences, codes))
    half = scipy.stats.t.ppf(0.975, 19) * error
    mean = differences.mean()
    assert (test.low[0], test.high[0]) == pytest.approx((mean - half, mean + half))
    p = 2 * scipy.stats.t.sf(abs(mean) / error, 19)
    assert test.p[0] == pytest.approx(p, rel=1e-9)
    of_users = scipy.stats.ttest_1samp(differences.reshape(20, 3).mean(axis=1), 0)
    assert test.p[0] == pytest.approx(of_users.pvalue, rel=1e-9)


def test_few_clusters_who_differ_are_not_tested_however_many_lists_do():
    clusters = clusters_of([5] * 30)
    differences = np.zeros(150)
    differences[: 5 * 9] = 0.3
    test = paired_of(differences, Settings(), SIGNED, None, clusters)
    assert math.isnan(test.p[0])
    assert test.won[0] == 45
    assert np.isnan([test.low[0], test.high[0]]).all()
    differences[: 5 * 10] = 0.3
    assert paired_of(differences, Settings(), SIGNED, None, clusters).p[0] < 0.05


def test_a_metric_without_an_upper_bound_needs_ten_clusters_with_a_hit():
    clusters = clusters_of([4] * 25)
    unbounded = (0.0, math.inf)
    for n_hits, is_known in ((9, False), (10, True)):
        values = np.zeros((100, 1))
        values[: 4 * n_hits] = 1.7
        low, _high = intervals(values, 0.95, unbounded, None, clusters)
        assert np.isfinite(low[0]) == is_known


def test_intervals_stay_within_the_bounds():
    clusters = clusters_of([30, 1, 1, 1, 2, 2])
    for n_hits in (0, 1, 30, 36, 37):
        values = np.zeros((37, 1))
        values[:n_hits] = 1
        low, high = intervals(values, 0.95, UNIT, None, clusters)
        assert 0 <= low[0] <= values.mean() <= high[0] <= 1
        assert low[0] < high[0]
    one = clusters_of([5])
    assert np.isnan(intervals(np.ones((5, 1)), 0.95, UNIT, None, one)).all()


def test_a_group_of_whole_clusters_is_tested_by_its_clusters():
    rng = np.random.default_rng(4)
    level = rng.random(40)
    lists = np.repeat(level, 3)[:, np.newaxis]
    clusters = clusters_of([3] * 40)
    inside = np.repeat(np.arange(40) < 15, 3)
    gap = gap_to_rest(lists, inside, 0.95, None, clusters)
    of_users = gap_to_rest(level[:, np.newaxis], np.arange(40) < 15)
    assert np.array(gap) == pytest.approx(np.array(of_users), rel=1e-9)
    # A cluster on both sides makes them no independent samples.
    inside = np.tile([True, False, False], 40)
    assert np.isnan(gap_to_rest(lists, inside, 0.95, None, clusters).p).all()


def test_what_is_detectable_goes_by_clusters():
    clusters = clusters_of([4] * 50)
    level = np.random.default_rng(6).normal(0, 0.1, 50)
    lists = np.repeat(level, 4)
    tests = paired_of(lists, Settings(), SIGNED, None, clusters)
    assert tests.sd[0] == pytest.approx(level.std(ddof=1))
    assert tests.n_effective == 50
    assert detectable(float(tests.sd[0]), tests.n_effective) > detectable(
        float(lists.std(ddof=1)), 200
    )
