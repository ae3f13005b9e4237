"""Clustered samples: naive loops, hand-worked numbers, laws, and how intervals cover."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from recnb.stats import Moments, UserSample, detectable, gap_to_rest
from recnb.stats import paired as paired_of

UNIT = (0.0, 1.0)
SIGNED = (-1.0, 1.0)


def codes_of(sizes):
    """The cluster of each list, of clusters of these sizes."""
    return np.repeat(np.arange(len(sizes)), sizes)


def sample_of(sizes, weights=None):
    return UserSample(sum(sizes), weights, codes_of(sizes))


def intervals(values, sample, bounds=UNIT):
    return Moments(values, sample, bounds).interval()


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
    for weight in (None, weights):
        sample = UserSample(len(values), weight, codes)
        moments = Moments(values[:, np.newaxis], sample)
        assert sample.n_effective == 30
        assert moments.mean == pytest.approx(np.average(values, weights=weight))
        variance = moments.variance / sample.n_effective
        assert variance == pytest.approx(naive_variance(values, codes, weight))


def test_the_effective_number_off_a_bound_by_hand():
    # The lists of a cluster together are 1 and 3 off 0: (1 + 3)² / (1² + 3²) = 1.6.
    sample = sample_of([2, 2, 1])
    values = np.array([[0.5], [0.5], [2.0], [1.0], [0.0]])
    assert sample.off(values).tolist() == [1.6]
    assert sample.off(np.zeros((5, 1))).tolist() == [0.0]
    assert sample.off(math.inf - values).tolist() == [3.0]


def test_of_clusters_equally_far_off_a_bound_the_effective_number_is_exact():
    distances = np.tile(np.linspace(0.01, 0.99, 99), (20, 1))
    assert (sample_of([2] * 10).off(distances) == 10).all()


def test_one_list_a_cluster_is_no_cluster_and_gives_the_same_bits():
    assert UserSample(3, codes=np.array([4, 2, 9])).positions is None
    one_by_one = sample_of([1, 3]).among(np.array([True, True, False, False]))
    assert (one_by_one.n_units, one_by_one.n_lists) == (2, None)


def test_ten_users_of_one_weight_count_as_ten_whatever_it_is():
    for weight in (0.1, 0.3, 1 / 3, 0.7, 7.0):
        sample = UserSample(10, np.full(10, weight))
        assert sample.count(np.full((10, 2), fill_value=True)).tolist() == [10, 10]
        assert sample.n_effective == 10


@pytest.mark.parametrize("weights", [None, "drawn"])
def test_lists_duplicated_within_their_clusters_leave_intervals_unchanged(weights):
    values, codes, drawn = made_lists(3)
    weight = None if weights is None else drawn
    thrice = np.repeat(np.arange(len(values)), 3)
    once = UserSample(len(values), weight, codes)
    again = UserSample(
        len(thrice), None if weight is None else weight[thrice], codes[thrice]
    )
    matrix = values[:, np.newaxis]
    ends, same = intervals(matrix, once), intervals(matrix[thrice], again)
    assert np.ravel(ends) == pytest.approx(np.ravel(same), rel=1e-9)
    centred = matrix - 0.45
    tests = paired_of(centred, once, bounds=SIGNED)
    others = paired_of(centred[thrice], again, bounds=SIGNED)
    for name in ("difference", "low", "high", "p", "effect_size"):
        mine, theirs = getattr(tests, name), getattr(others, name)
        assert mine == pytest.approx(theirs, rel=1e-9)
    assert (3 * tests.won == others.won).all()


@pytest.mark.parametrize("size", [2, 5])
def test_users_whose_lists_are_alike_have_the_interval_of_users(size):
    of_users = np.random.default_rng(1).beta(0.4, 2, (40, 3))
    lists = np.repeat(of_users, size, axis=0)
    sample = sample_of([size] * 40)
    for confidence in (0.5, 0.95):
        ends = Moments(lists, sample, UNIT).interval(confidence)
        of_one = Moments(of_users, UserSample(40), UNIT).interval(confidence)
        assert ends == pytest.approx(np.array(of_one))
    tests = paired_of(lists - 0.2, sample, bounds=SIGNED)
    of_one = paired_of(of_users - 0.2, UserSample(40), bounds=SIGNED)
    assert tests.p == pytest.approx(of_one.p, rel=1e-9)
    assert tests.low == pytest.approx(of_one.low, rel=1e-9)
    assert (tests.won == size * of_one.won).all()
    assert (sample.n_lists, sample.n_units, sample.n_effective) == (40 * size, 40, 40)


def test_few_clusters_who_differ_are_not_tested_however_many_lists_do():
    sample = sample_of([5] * 30)
    differences = np.zeros((150, 1))
    differences[: 5 * 9] = 0.3
    test = paired_of(differences, sample, bounds=SIGNED)
    assert math.isnan(test.p[0])
    assert test.won[0] == 45
    assert np.isnan([test.low[0], test.high[0]]).all()
    differences[: 5 * 10] = 0.3
    assert paired_of(differences, sample, bounds=SIGNED).p[0] < 0.05


def test_a_metric_without_an_upper_bound_needs_ten_clusters_with_a_hit():
    unbounded = (0.0, math.inf)
    for n_hits, is_known in ((9, False), (10, True)):
        values = np.zeros((100, 1))
        values[: 4 * n_hits] = 1.7
        low, _high = intervals(values, sample_of([4] * 25), unbounded)
        assert np.isfinite(low[0]) == is_known


def test_intervals_stay_within_the_bounds():
    sample = sample_of([30, 1, 1, 1, 2, 2])
    for n_hits in (0, 1, 30, 36, 37):
        values = np.zeros((37, 1))
        values[:n_hits] = 1
        low, high = intervals(values, sample)
        assert 0 <= low[0] <= values.mean() <= high[0] <= 1
        assert low[0] < high[0]
    assert np.isnan(intervals(np.ones((5, 1)), sample_of([5]))).all()


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
        assert end == pytest.approx(wanted)


def test_a_group_of_whole_clusters_is_tested_by_its_clusters():
    rng = np.random.default_rng(4)
    level = rng.random(40)
    lists = np.repeat(level, 3)[:, np.newaxis]
    sample = sample_of([3] * 40)
    inside = np.repeat(np.arange(40) < 15, 3)
    gap = gap_to_rest(lists, sample, inside)
    of_users = gap_to_rest(level[:, np.newaxis], UserSample(40), np.arange(40) < 15)
    assert np.array(gap) == pytest.approx(np.array(of_users), rel=1e-9)
    # A cluster on both sides makes them no independent samples.
    inside = np.tile([True, False, False], 40)
    assert np.isnan(gap_to_rest(lists, sample, inside).p).all()


def test_what_is_detectable_goes_by_clusters():
    sample = sample_of([4] * 50)
    level = np.random.default_rng(6).normal(0, 0.1, 50)
    lists = np.repeat(level, 4)
    (smallest,) = paired_of(lists[:, np.newaxis], sample, bounds=SIGNED).detectable
    assert smallest == pytest.approx(detectable(level.std(ddof=1), 50))
    assert smallest > detectable(lists.std(ddof=1), 200)


# CR2: by matrices, by Student's t, simulated

SIZES = [[1, 3], [1, 1, 5, 9], [4, 4, 1, 1, 1, 20], [2] * 7, [1, 2, 3, 4, 5, 6, 7, 30]]


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


@pytest.mark.parametrize("sizes", SIZES)
def test_variance_and_degrees_of_freedom_are_those_of_the_matrices(sizes):
    values = np.random.default_rng(0).normal(size=(sum(sizes), 3))
    sample = sample_of(sizes)
    sd = Moments(values, sample).sd
    codes = codes_of(sizes)
    for column in range(3):
        variance, free = by_matrices(values[:, column], codes)
        assert sd[column] ** 2 / sample.n_effective == pytest.approx(
            variance, rel=1e-10
        )
        assert sample.free == pytest.approx(free, rel=1e-10)


def test_of_clusters_of_one_size_it_is_students_t():
    values = np.random.default_rng(1).normal(0.1, 1, (60, 4))
    made = paired_of(values, sample_of([3] * 20))
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
    codes = codes_of(sizes)
    values = np.random.default_rng(2).normal(0.3, 1, len(codes))
    made = paired_of(values[:, np.newaxis], sample_of(sizes))
    variance, free = by_matrices(values, codes)
    error = np.sqrt(variance)
    student = scipy.stats.t(free)
    half = student.ppf(0.975) * error
    assert made.low[0] == pytest.approx(values.mean() - half)
    assert made.high[0] == pytest.approx(values.mean() + half)
    assert made.p[0] == pytest.approx(2 * student.sf(abs(values.mean()) / error))


def test_one_cluster_has_neither_interval_nor_test():
    values = np.random.default_rng(3).normal(size=(30, 1))
    made = paired_of(values, sample_of([30]))
    assert np.isnan([made.low, made.high, made.p]).all()


def test_weights_keep_the_excess_of_the_heaviest_cluster():
    sizes = [1, 1, 1, 5] * 4
    weighted = sample_of(sizes, np.ones(32))
    assert weighted.free == 15
    assert weighted.excess == pytest.approx(5 / 32 - 1 / 16)
    assert sample_of(sizes).excess == 0


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
        codes = codes_of(sizes)
        of_user = draw((n, 100))[codes]
        own = draw((len(codes), 100))
        if kind == "normal":
            values = np.sqrt(alike) * of_user + np.sqrt(1 - alike) * own
        else:
            values = np.where(rng.random(own.shape) < np.sqrt(alike), of_user, own)
        # The interval itself: with few clusters `paired` keeps to the metric's bounds.
        sample = sample_of(sizes)
        moments = Moments(values, sample)
        quantile = scipy.stats.t(sample.free).ppf(0.975)
        half = quantile * moments.sd / np.sqrt(sample.n_effective)
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
