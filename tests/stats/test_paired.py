"""Two models on the same users, and a group against the rest: scipy's tests, intervals
that belong to them, few users, laws; Holm.
"""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import NoUsersError, OptionError
from recnb.results.detectable import CORRELATION, Detectable, users_needed
from recnb.results.user_groups import moved
from recnb.stats import (
    UserSample,
    gap_to_rest,
    holm,
)
from recnb.stats import detectable as smallest
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE
from tests.stats.samples import intervals, paired

KNN, POPULAR = (
    SAMPLE.models[name].rec.against(SAMPLE.test) for name in ("item-knn", "popular")
)
ONE_USER = ({"a": {1: ["x"]}, "b": {1: ["y"]}}, {1: ["x"]})
RNG = np.random.default_rng(11)
DIFFERENCES = RNG.normal(0.02, 0.1, (120, 3))
TIED = RNG.choice([-0.5, 0.0, 0.0, 0.25, 0.5, 1.0], (120, 3))


def numbers(made):
    return np.array([made.difference, made.low, made.high, made.p, made.effect_size])


@pytest.mark.parametrize(
    "differences", [DIFFERENCES, TIED, np.abs(DIFFERENCES), TIED[:40], DIFFERENCES[:11]]
)
def test_tests_are_those_of_scipy(differences):
    made, t = paired(differences), scipy.stats.ttest_1samp(differences, 0)
    n_differ = np.count_nonzero(differences, axis=0)
    assert made.p == pytest.approx(
        np.maximum(t.pvalue, 2.0 ** (1 - n_differ)), rel=1e-12
    )
    assert np.array([made.low, made.high]) == pytest.approx(
        np.array(t.confidence_interval()), rel=1e-9
    )
    assert made.effect_size * np.sqrt(len(differences)) == pytest.approx(
        t.statistic, rel=1e-12
    )


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.04, 0.05, 0.06, 0.08, 0.1, 0.2])
def test_of_users_with_weights_interval_and_test_reach_as_far_as_the_heaviest_could_move_the_mean(
    shift,
):
    rng = np.random.default_rng(3)
    values, weights = rng.normal(shift, 0.2, 200), rng.lognormal(0, 1, 200)
    shares = weights / weights.sum()
    n, mean = 1 / (shares**2).sum(), shares @ values
    error = np.sqrt((shares**2 @ (values - mean) ** 2) * n / (n - 1))
    beyond = shares.max() - 1 / n
    share, half = beyond / (1 + beyond), scipy.stats.t.ppf(0.975, n - 1) * error
    made = paired(values, weights=weights)
    low, high = (
        mean - half - share * (mean - values.min()),
        mean + half + share * (values.max() - mean),
    )
    assert (made.low[0], made.high[0]) == pytest.approx((low, high), rel=1e-9)
    toward_0 = share * (mean - values.min() if mean > 0 else values.max() - mean)
    left = max(abs(mean) - toward_0, 0)
    assert made.p[0] == pytest.approx(2 * scipy.stats.t.sf(left / error, n - 1))
    assert (made.p[0] <= 0.05) == (low > 0 or high < 0)
    reach = share * max(mean - values.min(), values.max() - mean)
    power = found_among(values, np.zeros(200), weights)
    assert power == pytest.approx(smallest(error * np.sqrt(n), n) + reach, rel=1e-9)
    assert made.detectable[0] == pytest.approx(power, rel=1e-9)


def test_one_more_user_as_heavy_as_the_heaviest():
    """All are hits: the upper end is 1; one of 21 users has a third of the weight, and
    another like that might miss.
    """
    values, weights = np.ones((21, 1)), np.r_[10.0, np.ones(20)]
    low, high = intervals(values, bounds=(0.0, 1.0), weights=weights * 1.1)
    assert high[0] == pytest.approx(1.0, abs=1e-12)
    assert low[0] < intervals(np.ones((8, 1)), bounds=(0.0, 1.0))[0][0] - 0.1


def test_the_weighted_mean_of_equal_values_is_one_value_but_for_rounding():
    weights, values = (
        np.random.default_rng(0).uniform(0.1, 3, 50),
        np.full((50, 1), 0.3),
    )
    assert weights @ values / weights.sum() != 0.3
    assert intervals(values, bounds=(0.0, 0.3), weights=weights)[1] == pytest.approx(
        0.3, abs=1e-12
    )


def test_the_detectable_difference_from_one_model_with_weights():
    values, weights = (
        np.random.default_rng(3).uniform(0, 1, 200),
        np.r_[np.ones(150), np.full(50, 9.0)],
    )
    shares, assumed = weights / weights.sum(), math.sqrt(2 * (1 - CORRELATION))
    n, mean = 1 / (shares**2).sum(), shares @ values
    sd = math.sqrt((shares**2 @ (values - mean) ** 2) * n**2 / (n - 1)) * assumed
    beyond = 9 / weights.sum() - 1 / n
    reach = (
        beyond / (1 + beyond) * max(mean - values.min(), values.max() - mean) * assumed
    )
    assert found_among(values, None, weights) == pytest.approx(
        smallest(sd, n) + reach, rel=1e-9
    )
    few = np.r_[
        np.ones(20), np.zeros(180)
    ]  # 20 differ, and one of them has nearly all of their weight
    assert found_among(few, np.zeros(200)) > 0
    assert np.isnan(found_among(few, np.zeros(200), np.r_[100.0, np.ones(199)]))


def test_laws_of_the_test():
    kept = TIED.copy()
    kept.flags.writeable = False
    made, mirrored = paired(kept), paired(-TIED)
    assert (kept == TIED).all()
    assert ((made.p >= 0) & (made.p <= 1) & (made.low < made.high)).all()
    assert (made.won + made.tied + made.lost == len(TIED)).all()
    assert (made.won == mirrored.lost).all()
    assert made.p == pytest.approx(mirrored.p, rel=1e-9)
    assert made.low == pytest.approx(-mirrored.high, abs=1e-9)
    beside = paired(np.hstack([TIED, np.zeros((120, 1))]))
    assert numbers(beside)[:, :3] == pytest.approx(numbers(made), rel=1e-9)
    assert paired(4 * TIED).p == pytest.approx(made.p, rel=1e-9)
    assert (numbers(paired(TIED)) == numbers(made)).all(), (
        "draws are the same each time"
    )


@pytest.mark.parametrize("n", [0, 1, 2, 9, 10, 40, 200])
@pytest.mark.parametrize("differ", [0, 1, 9, 10, 12])
def test_fewer_than_ten_users_who_differ_are_not_tested(n, differ):
    rows = np.zeros((n, 1))
    rows[:differ, 0] = np.linspace(0.1, 0.3, differ)[:n]
    made = paired(rows, bounds=(-1, 1))
    tested = min(n, differ) >= 10
    assert np.isnan(made.p[0]) != tested
    if tested:
        assert made.p[0] >= 2.0 ** (1 - min(n, differ))
    if tested:
        assert -1 <= made.low[0] <= made.difference[0] <= made.high[0] <= 1
        assert made.high[0] - made.low[0] > 0.01, (
            "an interval of no width would claim to know"
        )
    elif not tested:
        assert np.isnan([made.low[0], made.high[0]]).all()
    assert math.isnan(made.difference[0]) == (n == 0)
    if n and not differ:
        assert made.effect_size[0] == 0


def test_few_users_who_differ_have_beta_intervals_within_the_bounds():
    """Of 50 users 9 and 10 differ; and all but 9 and all but 10 differ, all by the
    same.
    """
    rows = np.zeros((50, 4))
    rows[:9, 0] = rows[:10, 1] = rows[9:, 2] = rows[10:, 3] = 1
    half = scipy.stats.t.ppf(0.975, 49) * rows.std(axis=0, ddof=1) / math.sqrt(50)
    made = paired(rows, bounds=(-1, 1))
    assert (np.abs(made.high - rows.mean(axis=0) - half) < 1e-9).tolist() == [
        False,
        True,
        False,
        True,
    ]
    assert np.isnan(paired(rows).low).tolist() == [True, False, True, False], (
        "without bounds there is none"
    )


def test_two_models_that_are_the_same_and_users_who_all_differ_alike():
    for differences in (np.zeros((30, 2)), np.full((30, 2), 1e-17)):
        made = paired(differences, bounds=(-1, 1))
        assert numbers(made)[[0, 4]].tolist() == [[0.0, 0.0]] * 2
        assert np.isnan([made.low, made.high, made.p]).all()
        assert made.tied.tolist() == [30, 30]
    made = paired(np.full(300, -0.1), bounds=(-1, 1))
    assert made.low[0] < -0.105 < -0.095 < made.high[0]
    assert (made.effect_size[0], made.p[0]) == (-math.inf, 2.0**-299)
    made = paired(np.repeat([0.5, -0.5], 10))
    assert (made.difference[0], made.p[0], made.effect_size[0]) == (0, 1, 0)
    assert made.low[0] == -made.high[0] < 0


def test_rounding_is_no_win():
    made = paired(
        np.array([[0.1 + 0.2 - 0.3, 1.0], [0.5, -1.0], [-0.2, 0.0], [0.0, 0.0]])
    )
    assert (made.won.tolist(), made.tied.tolist(), made.lost.tolist()) == (
        [1, 1],
        [2, 2],
        [1, 1],
    )


def test_up_to_1e_12_is_a_tie_in_the_test_and_among_the_users_who_move():
    differences = np.r_[np.full(12, 7e-13), np.full(8, -9e-13), np.full(20, 2e-12)]
    made = paired(differences)
    assert (made.won[0], made.tied[0], made.lost[0]) == (20, 20, 0)
    models = {"old": 0.5 + np.zeros(40), "new": 0.5 + differences}
    lists = {user: ["a"] for user in range(40)}
    of_models = recnb.compare(dict.fromkeys(models, lists), lists)._models
    (gained,) = moved(of_models, ("new", "old"), models, 1, 3, "high")
    assert gained.counts == (20, 20, 0)


def test_differences_that_are_equal_but_for_rounding_spread_by_nothing():
    weights = np.random.default_rng(0).uniform(0.1, 3, 50)
    alike = 0.3 + np.random.default_rng(1).uniform(0, 1e-13, 50)
    made = paired(alike, bounds=(-1, 1), weights=weights)
    assert math.isinf(made.effect_size[0])
    assert math.isnan(made.detectable[0])
    assert math.isnan(found_among(alike, np.zeros(50), weights))


# In a comparison


# Corrections


def test_holm_leaves_out_what_was_not_tested_and_changes_nothing_it_was_given():
    table = np.array([[0.01, np.nan], [0.2, 0.04]])
    assert holm(table) == pytest.approx(
        np.array([[0.03, np.nan], [0.2, 0.08]]), nan_ok=True
    )
    assert table[0, 0] == 0.01
    assert holm(np.array([])).shape == (0,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_its_definition(p):
    for one, mine in zip(p, holm(np.array(p)), strict=True):
        naive = min(
            1.0, max(sum(x >= other for x in p) * other for other in p if other <= one)
        )
        assert mine == pytest.approx(naive, rel=1e-12)


# A group of users against all others


def test_a_gap_is_the_more_careful_of_welch_and_student():
    rng = np.random.default_rng(1)
    for scale in (0.1, 1.0, 5.0):
        mine, rest = rng.normal(0.5, scale, 12), rng.normal(0, 1, 90)
        gap, low, high, p = gap_to_rest(
            np.r_[mine, rest][:, np.newaxis], UserSample(102), np.arange(102) < 12, 0.9
        )
        each = [
            scipy.stats.ttest_ind(mine, rest, equal_var=equal)
            for equal in (False, True)
        ]
        ends = [one.confidence_interval(0.9) for one in each]
        assert gap[0] == pytest.approx(mine.mean() - rest.mean())
        assert p[0] == pytest.approx(max(one.pvalue for one in each))
        assert (low[0], high[0]) == pytest.approx(
            (min(one.low for one in ends), max(one.high for one in ends))
        )


@pytest.mark.parametrize(("n", "tested"), [(9, False), (10, True)])
def test_both_sides_of_a_gap_need_ten_users_who_are_not_alike(n, tested):
    values = np.random.default_rng(0).random((200, 1))
    for inside in (np.arange(200) < n, np.arange(200) >= n):
        assert np.isfinite(
            gap_to_rest(values, UserSample(200), inside)
        ).ravel().tolist() == [
            True,
            tested,
            tested,
            tested,
        ]
        alike = np.where(np.arange(200) < n, 0.0, values[:, 0])[:, np.newaxis]
        assert np.isfinite(
            gap_to_rest(alike, UserSample(200), inside)
        ).ravel().tolist() == [
            True,
            False,
            False,
            False,
        ]


# Power


@pytest.mark.parametrize("n", [10, 50, 261, 20_000, 1_000_000])
@pytest.mark.parametrize(
    "power,alpha", [(0.8, 0.05), (0.95, 0.05), (0.5, 0.01), (0.9, 0.001)]
)
def test_what_can_be_found_has_the_power_of_the_normal_approximation(n, power, alpha):
    difference = smallest(0.3, n, power, alpha)
    in_errors = difference / 0.3 * math.sqrt(n)
    assert scipy.stats.norm.sf(
        scipy.stats.norm.isf(alpha / 2) - in_errors
    ) == pytest.approx(power)
    assert users_needed(difference * (1 + 1e-9), 0.3, power, alpha) == n
    assert users_needed(-difference * (1 - 1e-6), 0.3, power, alpha) in range(
        n + 1, n + 4
    )


def test_users_needed_are_at_least_ten_and_those_of_cohen():
    """Cohen (1988), table 2.4.1 for one sample: d = 0.5 needs 34 at 80 %; by t, two
    more.
    """
    assert users_needed(0.5, 1.0) == 32
    assert users_needed(1e300, 1.0) == users_needed(-10.0, 1e-9) == 10


def found_among(values, others=None, weights=None):
    sample = UserSample(len(values), weights)
    return Detectable.of("ndcg@10", values, others, sample, 0.8, 0.05)


def test_users_who_do_not_differ_show_nothing_of_others():
    assert np.isnan([smallest(0.0, 100), smallest(0.3, 9), smallest(0.3, 1)]).all()
    made = found_among(np.full(40, 0.5), np.full(40, 0.4))
    assert math.isnan(made)
    assert "cannot be estimated" in made.words
    assert "With 1 user" in found_among(np.array([0.5])).words
    assert math.isnan(found_among(np.r_[np.ones(9), np.zeros(100)]))
    assert found_among(np.r_[np.ones(10), np.zeros(100)]) > 0


REFUSED = read_rows("stats/refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_makes_no_sense_is_refused(call):
    hold_refused(call, REFUSED[call], globals())


def test_detectable_is_measured_against_another_evaluation_on_the_users_of_both():
    made = KNN.detectable("ndcg", k=10, against=POPULAR)
    differences = KNN.ndcg(k=10).per_user - POPULAR.ndcg(k=10).per_user
    assert (made.label, made.n_users, made.sd) == (
        "nDCG@10",
        KNN.n_users,
        pytest.approx(differences.std()),
    )
    assert made == pytest.approx(smallest(differences.std(), KNN.n_users))
    assert "measured between the two models" in made.words
    assert users_needed(float(made) * (1 + 1e-9), made) == KNN.n_users
    is_some = SAMPLE.test["user"].isin(KNN.users[:50])
    fewer, strangers = (
        SAMPLE.models["popular"].rec.against(SAMPLE.test[kept])
        for kept in (is_some, ~is_some)
    )
    assert KNN.detectable("recall", 5, against=fewer).n_users == 50
    with pytest.raises(NoUsersError, match="no user is in both"):
        fewer.detectable("recall", 5, against=strangers)


def test_detectable_pairs_lists_that_the_same_columns_tell_apart():
    def in_folds(frame: pd.DataFrame, user: str, fold: str) -> pd.DataFrame:
        folds = [frame.assign(**{fold: number}) for number in (0, 1)]
        return pd.concat(folds).rename(columns={"user": user})

    def evaluated(model: str, user: str, fold: str) -> recnb.Evaluation:
        return recnb.evaluate(
            in_folds(SAMPLE.models[model], user, fold),
            in_folds(SAMPLE.test, user, fold),
            split=fold,
        )

    knn = evaluated("item-knn", "user", "fold")
    # Each list is there twice. What the column of users is called does not matter.
    sd = (KNN.ndcg(k=10).per_user - POPULAR.ndcg(k=10).per_user).std(ddof=0)
    for user in ("user", "qid"):
        made = knn.detectable("ndcg", 10, against=evaluated("popular", user, "fold"))
        assert (made.n_users, made.n_lists) == (KNN.n_users, 2 * KNN.n_users)
        assert made.sd == pytest.approx(sd, rel=0.01)
    in_days = evaluated("popular", "user", "day")
    for ours, theirs, words in (
        (knn, POPULAR, r"has split=\['fold'\], and against= has no split="),
        (POPULAR, knn, r"has no split=, and against= has split=\['fold'\]"),
        (knn, in_days, r"has split=\['fold'\], and against= has split=\['day'\]"),
    ):
        with pytest.raises(OptionError, match=words):
            ours.detectable("ndcg", 10, against=theirs)


def test_detectable_assumes_a_careful_correlation_and_says_so():
    made = KNN.detectable("ndcg", 10)
    assert made.sd == pytest.approx(
        KNN.ndcg(k=10).per_user.std() * math.sqrt(2 * (1 - CORRELATION))
    )
    assert "Assumed, not measured" in repr(made)
    assert "0.3" in made.words
    assert (
        made
        < KNN.detectable("ndcg", 10, power=0.9)
        < KNN.detectable("ndcg", 10, power=0.9, alpha=0.01)
    )
    for again in (copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert (again, repr(again), again.sd) == (made, repr(made), made.sd)
    assert float(str(made)) == float(f"{made}") == float(made)
    evs = [frame.rec.against(SAMPLE.test) for frame in SAMPLE.models.values()]
    for metric in (
        "ndcg",
        "precision",
        "recall",
        "hit_rate",
        "reciprocal_rank",
        "average_precision",
    ):
        assert (
            np.corrcoef([getattr(ev, metric)(k=10).per_user for ev in evs]).min()
            > CORRELATION
        )


def test_as_many_wins_as_losses_are_no_mean_of_zero():
    differences = np.repeat([0.5, -0.1], 20)[:, np.newaxis]
    found = paired(differences, bounds=(-1, 1))
    assert found.difference[0] == pytest.approx(0.2)
