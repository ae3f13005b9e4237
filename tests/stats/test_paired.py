"""Two models on the same users: scipy's tests, intervals that belong to them, few users, laws; Holm's correction."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import recnb
from recnb.errors import FrameError, OptionError
from recnb.stats import TESTS, holm
from tests.stats.settings import paired
from tests.stats.test_intervals import hit_rate_of

RNG = np.random.default_rng(11)
DIFFERENCES = RNG.normal(0.02, 0.1, (120, 3))
TIED = RNG.choice([-0.5, 0.0, 0.0, 0.25, 0.5, 1.0], (120, 3))
#: Ways to compare: each test, and the other interval of the first.
WAYS = [*({"test": test} for test in TESTS), {"method": "bootstrap", "resamples": 200}]
FAST = {"permutations": 500}


def numbers(made: object) -> np.ndarray:
    return np.array([getattr(made, name) for name in ("mean", "low", "high", "p", "sd", "effect_size")])


@pytest.mark.parametrize("differences", [DIFFERENCES, TIED, np.abs(DIFFERENCES), TIED[:40], DIFFERENCES[:11]])
def test_tests_are_those_of_scipy(differences: np.ndarray) -> None:
    made, t = paired(differences), scipy.stats.ttest_1samp(differences, 0)
    n_differ = np.count_nonzero(differences, axis=0)
    assert made.p == pytest.approx(np.maximum(t.pvalue, 2.0 ** (1 - n_differ)), rel=1e-12)
    assert np.array([made.low, made.high]) == pytest.approx(np.array(t.confidence_interval()), rel=1e-9)
    assert made.effect_size * np.sqrt(len(differences)) == pytest.approx(t.statistic, rel=1e-12)
    ranks = [scipy.stats.wilcoxon(column).pvalue for column in differences.T]
    assert paired(differences, test="wilcoxon").p == pytest.approx(ranks, rel=1e-9)
    swapped = [
        scipy.stats.permutation_test(
            (column,), lambda x, axis: np.mean(x, axis=axis), permutation_type="samples", vectorized=True, rng=1
        ).pvalue
        for column in differences.T
    ]  # fmt: skip
    assert paired(differences, test="randomization").p == pytest.approx(swapped, abs=0.03)


def test_the_randomization_interval_holds_what_the_test_does_not_reject() -> None:
    for differences in (DIFFERENCES[:30, :1], TIED[:30, :1], TIED[:15, 1:2] + 0.2):
        made = paired(differences, test="randomization", confidence=0.9, seed=3)
        for end, sign in ((made.low, 1), (made.high, -1)):
            inside, outside = (
                paired(differences - end - sign * step, test="randomization", seed=3).p[0] for step in (1e-6, -1e-6)
            )
            assert outside <= 0.1 < inside


def test_the_interval_of_wilcoxon_is_hodges_and_lehmanns() -> None:
    for column in (DIFFERENCES[:25, 0], TIED[:60, 1], DIFFERENCES[:10, 2]):
        made = column[column != 0]
        pairwise = np.sort([(a + b) / 2 for a, b in itertools.combinations_with_replacement(made, 2)])
        n = len(made)
        left_out = int(len(pairwise) / 2 - 1.959964 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
        found = paired(column, test="wilcoxon")
        assert (found.low[0], found.high[0]) == pytest.approx((pairwise[left_out], pairwise[-1 - left_out]), abs=1e-12)
    assert np.isnan(paired(DIFFERENCES[:10], test="wilcoxon", confidence=0.9999).low).all()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_laws_of_each_way(way: dict[str, str]) -> None:
    made = paired(TIED, **FAST, **way)
    assert ((made.p >= 0) & (made.p <= 1)).all()
    assert (made.low < made.high).all()
    assert (made.won + made.tied + made.lost == made.n).all()
    mirrored = paired(-TIED, **FAST, **way)
    if "resamples" not in way:  # other draws are below the mean
        assert made.low == pytest.approx(-mirrored.high, abs=1e-9)
    assert (made.won == mirrored.lost).all()
    assert made.p == pytest.approx(mirrored.p, rel=1e-9)
    beside = paired(np.hstack([TIED, np.zeros((120, 1))]), **FAST, **way)
    assert numbers(beside)[:, :3] == pytest.approx(numbers(made), rel=1e-9)
    assert numbers(paired(4 * TIED, **FAST, **way))[3] == pytest.approx(made.p, rel=1e-9)
    assert (numbers(paired(TIED, **FAST, **way)) == numbers(made)).all(), "the same seed gives the same numbers"
    other = paired(TIED, seed=1, **FAST, **way)
    drawn = "resamples" in way or way.get("test") == "randomization"
    assert (numbers(other) == numbers(made)).all() is not drawn or not drawn
    assert (other.low == made.low).all() != drawn


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 9, 10, 40, 200])
@pytest.mark.parametrize("differ", [0, 1, 9, 10, 12])
def test_fewer_than_ten_users_who_differ_are_not_tested(way: dict[str, str], n: int, differ: int) -> None:
    rows = np.zeros((n, 1))
    rows[:differ, 0] = np.linspace(0.1, 0.3, differ)[:n]
    made = paired(rows, bounds=(-1, 1), **FAST, **way)
    assert np.isnan(made.p[0]) == (min(n, differ) < 10)
    assert made.p[0] >= 2.0 ** (1 - min(n, differ)) or np.isnan(made.p[0]) or "test" in way
    within_bounds = way == {"test": "t"} and n > 1
    if n < 2 or (min(n, differ) < 10 and not within_bounds):
        assert np.isnan([made.low[0], made.high[0]]).all()
    elif within_bounds:
        assert -1 <= made.low[0] <= made.mean[0] <= made.high[0] <= 1
        assert made.high[0] - made.low[0] > 0.01, "an interval of no width would claim to know"
    assert math.isnan(made.mean[0]) == (n == 0)


def test_few_users_who_differ_have_beta_intervals_within_the_bounds() -> None:
    """Of 50 users 9 and 10 differ; and all but 9 and all but 10 differ, all by the same."""
    rows = np.zeros((50, 4))
    rows[:9, 0] = rows[:10, 1] = rows[9:, 2] = rows[10:, 3] = 1
    half = scipy.stats.t.ppf(0.975, 49) * rows.std(axis=0, ddof=1) / math.sqrt(50)
    made = paired(rows, bounds=(-1, 1))
    assert (np.abs(made.high - rows.mean(axis=0) - half) < 1e-9).tolist() == [False, True, False, True]
    assert np.isnan(paired(rows).low).tolist() == [True, False, True, False], "without bounds there is none"


def test_two_models_that_are_the_same_and_users_who_all_differ_alike() -> None:
    for differences in (np.zeros((30, 2)), np.full((30, 2), 1e-17)):
        made = paired(differences, bounds=(-1, 1))
        assert numbers(made)[[0, 4, 5]].tolist() == [[0.0, 0.0]] * 3
        assert (made.low < -0.09).all()
        assert (made.high > 0.09).all()
        assert np.isnan(made.p).all()
        assert made.tied.tolist() == [30, 30]
    for n in (12, 300):
        made = paired(np.full(n, -0.1), bounds=(-1, 1))
        assert made.low[0] < -0.105 < -0.095 < made.high[0]
        assert (made.sd[0], made.effect_size[0], made.p[0]) == (0, -math.inf, 2.0 ** (1 - n))


def test_a_mean_of_0_is_no_difference() -> None:
    made = paired(np.repeat([0.5, -0.5], 10))
    assert (made.mean[0], made.p[0], made.effect_size[0]) == (0, 1, 0)
    assert made.low[0] == -made.high[0] < 0


def test_rounding_is_no_win_and_the_array_given_is_not_changed() -> None:
    made = paired(np.array([[0.1 + 0.2 - 0.3, 1.0], [0.5, -1.0], [-0.2, 0.0], [0.0, 0.0]]))
    assert (made.won.tolist(), made.tied.tolist(), made.lost.tolist()) == ([1, 1], [2, 2], [1, 1])
    for way in WAYS:
        kept = TIED.copy()
        kept.flags.writeable = False
        paired(kept, **FAST, **way)
        assert (kept == TIED).all()


def test_many_users_take_no_time() -> None:
    rows = np.random.default_rng(0).normal(0.001, 0.2, (300_000, 1)) * (np.arange(300_000) % 3 > 0)[:, np.newaxis]
    made = paired(rows)
    for other in (paired(rows, test="randomization", permutations=400), paired(rows, test="wilcoxon")):
        assert other.p == pytest.approx(made.p, abs=0.12)
        assert other.low == pytest.approx(made.low, abs=4e-4)


@pytest.mark.parametrize(
    ("differences", "how", "words"),
    [
        (np.where(np.eye(4) > 0, np.nan, 0.0), {}, "finite numbers of users × columns, and nan is none"),
        ([np.inf, 1.0], {}, "inf is none"),
        (np.zeros((2, 2, 2)), {}, "is none"),
    ],
)  # fmt: skip
def test_what_is_no_difference_is_named(differences: object, how: dict[str, object], words: str) -> None:
    with pytest.raises((FrameError, OptionError), match=words):
        paired(differences, **how)


@given(arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 3)), elements=st.sampled_from(
    [-1.0, -0.5, -1 / 3, 0.0, 0.1, 0.2, 0.3, 1.0])))  # fmt: skip
def test_laws_of_paired(differences: np.ndarray) -> None:
    made = paired(differences, bounds=(-1, 1))
    assert (made.low <= made.mean + 1e-12).all()
    assert (made.mean <= made.high + 1e-12).all()
    shuffled = paired(differences[::-1], bounds=(-1, 1))
    assert numbers(made) == pytest.approx(numbers(shuffled), rel=1e-9, abs=1e-12, nan_ok=True)


# In a comparison


def test_the_test_that_is_asked_for_has_its_own_interval_and_is_named() -> None:
    sample = recnb.datasets.load_sample()
    seen = set()
    for way, words in (
        ({}, "Student's t over the users"),
        ({"test": "wilcoxon"}, "Hodges and Lehmann's"),
        (
            {"test": "randomization", "permutations": 500, "seed": 3},
            "the differences that the randomization test does not",
        ),
        ({"method": "bootstrap", "resamples": 300, "seed": 3}, "BCa bootstrap of 300 draws"),
    ):
        found = recnb.compare(sample.models, sample.test, **way)
        (row, _other) = found.differences("ndcg", k=10).itertuples()
        apart = found["factors"].ndcg(k=10).per_user - found["item-knn"].ndcg(k=10).per_user
        want = paired(apart.to_numpy(), **way)
        assert (row.difference, row.low, row.high, row.p) == pytest.approx(
            (want.mean[0], want.low[0], want.high[0], want.p[0])
        )
        assert words in " ".join(repr(found.report(k=10, metrics=["ndcg"])).split())
        seen.add((row.low, row.high))
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"resamples": 7}, "resamples=7 is of method='bootstrap': give that too, or leave it out"),
        ({"permutations": 7}, "permutations=7 is of test='randomization'"),
        ({"seed": 7}, "seed=7 is of method='bootstrap'"),
        ({"seed": 7, "test": "wilcoxon"}, "seed=7 is of"),
        ({"test": "randomization", "permutations": 0}, "permutations=0: give a whole number from 1 up"),
        ({"test": "wilcoxon", "method": "bootstrap"}, "test='wilcoxon' has an interval of its own: leave out method='bootstrap'"),
        ({"confidence": 95}, "confidence=95"),
        ({"method": "beta"}, "Known: 't', 'bootstrap'"),
        ({"test": "wilcox"}, "Did you mean 'wilcoxon'"),
    ],
)  # fmt: skip
def test_a_comparison_refuses_what_would_change_nothing(how: dict[str, object], words: str) -> None:
    sample = recnb.datasets.load_sample()
    with pytest.raises(OptionError) as refused:
        recnb.compare(sample.models, sample.test, **how)
    assert words in str(refused.value)


def test_a_comparison_of_few_users_has_no_bootstrap() -> None:
    few = {name: hit_rate_of([1, hit] * 30) for name, hit in (("a", 0), ("b", 1))}
    with pytest.raises(
        OptionError, match=r"for 100 to 10,000 users, and these are 60: of so few it is too narrow\. Type method='t'"
    ):
        recnb.compare(few, method="bootstrap")


def test_few_users_are_no_finding() -> None:
    for n, metric, is_bounded in ((2, "hit_rate", True), (3, "dcg", False), (9, "hit_rate", True)):
        two = {name: hit_rate_of([hit] * n + [0] * 30) for name, hit in (("a", 0), ("b", 1))}
        found = recnb.compare(two)
        row = found.differences(metric, k=1).iloc[0]
        assert row.verdict == "untested"
        assert np.isnan([row.p, row.p_holm, row.detectable]).all()
        assert math.isnan(row.low) is not is_bounded
        assert "too few users or differences" in found.differences(metric, k=1).conclusions[0]
        assert found.table(metric, k=1).attrs["near_best"] == {f"{metric}@1": ["a"]}


# Corrections


def test_holm_by_hand() -> None:
    """Of p = .01 .02 .03 .04 .05 Holm makes 5×.01, 4×.02, then the largest so far."""
    assert holm(np.array([0.03, 0.01, 0.05, 0.02, 0.04])) == pytest.approx([0.09, 0.05, 0.09, 0.08, 0.09])
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]
    table = np.array([[0.01, np.nan], [0.2, 0.04]])
    assert holm(table) == pytest.approx(np.array([[0.03, np.nan], [0.2, 0.08]]), nan_ok=True)
    assert table[0, 0] == 0.01, "what was given stays"
    assert holm(np.array([])).shape == (0,)
    with pytest.raises(FrameError, match=r"1\.5"):
        holm(np.array([0.5, 1.5]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_its_definition(p: list[float]) -> None:
    for one, mine in zip(p, holm(np.array(p)), strict=True):
        naive = min(1.0, max(sum(x >= other for x in p) * other for other in p if other <= one))
        assert mine == pytest.approx(naive, rel=1e-12)
