"""Two models on the same users, and a group against the rest: scipy's tests, intervals
that belong to them, few users, laws; Holm.
"""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from recnb.results.detectable import CORRELATION, Detectable, users_needed
from recnb.stats import UserSample, gap_to_rest, holm
from recnb.stats import smallest_found as smallest
from tests.rows import hold_calls, hold_refusals, read_rows
from tests.sample import SAMPLE
from tests.stats import samples
from tests.stats.samples import paired

near = pytest.approx
KNN, POPULAR = (
    SAMPLE.models[name].rec.against(SAMPLE.test) for name in ("item-knn", "popular")
)
ONE_USER = ({"a": {1: ["x"]}, "b": {1: ["y"]}}, {1: ["x"]})
RNG = np.random.default_rng(11)
DIFFERENCES = RNG.normal(0.02, 0.1, (120, 3))
TIED = RNG.choice([-0.5, 0.0, 0.0, 0.25, 0.5, 1.0], (120, 3))
ROUNDED = paired([[0.1 + 0.2 - 0.3, 1.0], [0.5, -1.0], [-0.2, 0.0], [0.0, 0.0]])
UP_TO_1E_12 = np.r_[np.full(12, 7e-13), np.full(8, -9e-13), np.full(20, 2e-12)]
TINY = paired(UP_TO_1E_12)
MOVED = {"old": np.full(40, 0.5), "new": 0.5 + UP_TO_1E_12}
FORTY = {user: ["a"] for user in range(40)}
ALIKE = paired(np.full(300, -0.1), bounds=(-1, 1))
DRAWN = np.random.default_rng(0).uniform(0.1, 3, 50)
ROUND = 0.3 + np.random.default_rng(1).uniform(0, 1e-13, 50)
P = np.array([[0.01, np.nan], [0.2, 0.04]])
ASSUMED = KNN.detectable("ndcg", 10)
APART = KNN.ndcg(k=10).per_user - POPULAR.ndcg(k=10).per_user


def correlations():
    """The lowest correlation of two models, by metric."""
    evs = [frame.rec.against(SAMPLE.test) for frame in SAMPLE.models.values()]
    lowest = {}
    for metric in ("ndcg", "precision", "recall", "hit_rate", "mrr", "map"):
        values = [ev.measure(metric, k=10).per_user for ev in evs]
        lowest[metric] = np.corrcoef(values).min()
    return lowest


def numbers(made):
    return np.array([made.difference, made.low, made.high, made.p, made.effect_size])


def found_among(values, weights=None):
    sample = UserSample(len(values), weights)
    return Detectable.of("ndcg@10", values, sample, 0.8, 0.05)


test_a_call_comes_to = hold_calls(
    read_rows("stats/calls.toml"), vars(samples) | globals()
)
test_what_makes_no_sense_is_refused = hold_refusals(
    read_rows("stats/refused.toml"), globals()
)


@pytest.mark.parametrize(
    "differences", [DIFFERENCES, TIED, np.abs(DIFFERENCES), TIED[:40], DIFFERENCES[:11]]
)
def test_tests_are_those_of_scipy(differences):
    made, t = paired(differences), scipy.stats.ttest_1samp(differences, 0)
    n_differ = np.count_nonzero(differences, axis=0)
    assert made.p == near(np.maximum(t.pvalue, 2.0 ** (1 - n_differ)), rel=1e-12)
    ends = np.array(t.confidence_interval())
    assert np.array([made.low, made.high]) == near(ends, rel=1e-9)
    assert made.effect_size * np.sqrt(len(differences)) == near(t.statistic, rel=1e-12)


def weighed(values, weights):
    """The effective number, mean and standard error, and how far a further user as heavy
    as the heaviest may move the mean down and up.
    """
    shares = weights / weights.sum()
    n, mean = 1 / (shares**2).sum(), shares @ values
    error = np.sqrt((shares**2 @ (values - mean) ** 2) * n / (n - 1))
    beyond = shares.max() - 1 / n
    share = beyond / (1 + beyond)
    return n, mean, error, share * (mean - values.min()), share * (values.max() - mean)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.04, 0.05, 0.06, 0.08, 0.1, 0.2])
def test_of_users_with_weights_interval_and_test_reach_as_far_as_the_heaviest_could_move_the_mean(
    shift,
):
    rng = np.random.default_rng(3)
    values, weights = rng.normal(shift, 0.2, 200), rng.lognormal(0, 1, 200)
    n, mean, error, down, up = weighed(values, weights)
    half = scipy.stats.t.ppf(0.975, n - 1) * error
    low, high = mean - half - down, mean + half + up
    made = paired(values, weights=weights)
    assert (made.low[0], made.high[0]) == near((low, high), rel=1e-9)
    left = max(abs(mean) - (down if mean > 0 else up), 0)
    assert made.p[0] == near(2 * scipy.stats.t.sf(left / error, n - 1))
    assert (made.p[0] <= 0.05) == (low > 0 or high < 0)
    power = smallest(error * np.sqrt(n), n) + max(down, up)
    assert made.detectable[0] == near(power, rel=1e-9)
    # Of one model, the difference from another is assumed.
    assumed = math.sqrt(2 * (1 - CORRELATION))
    assert found_among(values, weights) == near(assumed * power, rel=1e-9)


def test_laws_of_the_test():
    kept = TIED.copy()
    kept.flags.writeable = False
    made, mirrored = paired(kept), paired(-TIED)
    assert ((made.p >= 0) & (made.p <= 1) & (made.low < made.high)).all()
    assert (made.won + made.tied + made.lost == len(TIED)).all()
    assert (made.won == mirrored.lost).all()
    assert made.p == near(mirrored.p, rel=1e-9)
    assert made.low == near(-mirrored.high, abs=1e-9)
    beside = paired(np.hstack([TIED, np.zeros((120, 1))]))
    assert numbers(beside)[:, :3] == near(numbers(made), rel=1e-9)
    assert paired(4 * TIED).p == near(made.p, rel=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 9, 10, 40, 200])
@pytest.mark.parametrize("differ", [0, 1, 9, 10, 12])
def test_fewer_than_ten_users_who_differ_are_not_tested(n, differ):
    rows = np.zeros((n, 1))
    rows[:differ, 0] = np.linspace(0.1, 0.3, differ)[:n]
    difference, low, high, p, effect_size = numbers(paired(rows, bounds=(-1, 1)))[:, 0]
    assert math.isnan(difference) == (n == 0)
    if n and not differ:
        assert effect_size == 0
    if min(n, differ) < 10:
        assert np.isnan([p, low, high]).all()
        return
    assert p >= 2.0 ** (1 - min(n, differ))
    assert -1 <= low <= difference <= high <= 1
    # An interval of no width would claim to know.
    assert high - low > 0.01


def test_few_users_who_differ_have_beta_intervals_within_the_bounds():
    """Of 50 users 9 and 10 differ; and all but 9 and all but 10 differ, all by the
    same.
    """
    rows = np.zeros((50, 4))
    rows[:9, 0] = rows[:10, 1] = rows[9:, 2] = rows[10:, 3] = 1
    half = scipy.stats.t.ppf(0.975, 49) * rows.std(axis=0, ddof=1) / math.sqrt(50)
    made = paired(rows, bounds=(-1, 1))
    is_t = np.abs(made.high - rows.mean(axis=0) - half) < 1e-9
    assert is_t.tolist() == [False, True, False, True]
    # Without bounds there is none.
    assert np.isnan(paired(rows).low).tolist() == [True, False, True, False]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_its_definition(p):
    for one, mine in zip(p, holm(np.array(p)), strict=True):
        naive = min(
            1.0, max(sum(x >= other for x in p) * other for other in p if other <= one)
        )
        assert mine == near(naive, rel=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_a_gap_is_the_more_careful_of_welch_and_student(scale):
    rng = np.random.default_rng(1)
    mine, rest = rng.normal(0.5, scale, 12), rng.normal(0, 1, 90)
    values, inside = np.r_[mine, rest][:, np.newaxis], np.arange(102) < 12
    gap, low, high, p = gap_to_rest(values, UserSample(102), inside, 0.9)
    tests = [
        scipy.stats.ttest_ind(mine, rest, equal_var=equal) for equal in (False, True)
    ]
    ends = [test.confidence_interval(0.9) for test in tests]
    assert gap[0] == near(mine.mean() - rest.mean())
    assert p[0] == near(max(test.pvalue for test in tests))
    assert low[0] == near(min(end.low for end in ends))
    assert high[0] == near(max(end.high for end in ends))


@pytest.mark.parametrize(("n", "is_tested"), [(9, False), (10, True)])
def test_both_sides_of_a_gap_need_ten_users_who_are_not_alike(n, is_tested):
    values = np.random.default_rng(0).random((200, 1))
    is_first = np.arange(200) < n
    alike = np.where(is_first, 0.0, values[:, 0])[:, np.newaxis]
    for inside in (is_first, ~is_first):
        for sides, has_test in ((values, is_tested), (alike, False)):
            gap, *test = gap_to_rest(sides, UserSample(200), inside)
            assert np.isfinite(gap).all()
            assert np.isfinite(test).ravel().tolist() == [has_test] * 3


@pytest.mark.parametrize("n", [10, 50, 261, 20_000, 1_000_000])
@pytest.mark.parametrize(
    "power,alpha", [(0.8, 0.05), (0.95, 0.05), (0.5, 0.01), (0.9, 0.001)]
)
def test_what_can_be_found_has_the_power_of_the_normal_approximation(n, power, alpha):
    difference = smallest(0.3, n, power, alpha)
    normal = scipy.stats.norm
    in_errors = difference / 0.3 * math.sqrt(n)
    assert normal.sf(normal.isf(alpha / 2) - in_errors) == near(power)
    assert users_needed(difference * (1 + 1e-9), 0.3, power, alpha) == n
    more = users_needed(-difference * (1 - 1e-6), 0.3, power, alpha)
    assert more in range(n + 1, n + 4)
