"""Intervals, paired tests and corrections: hand-worked numbers, scipy's, and laws on random data."""

import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import recnb
from recnb.errors import FrameError, OptionError
from recnb.stats import Moments, benjamini_hochberg, holm, intervals, moments, paired
from recnb.stats.intervals import bca, percentiles, resampled_means
from recnb.stats.significance import FEW_DIFFER, settled, sign_flip

RNG = np.random.default_rng(11)
SKEWED = RNG.beta(0.4, 3.0, (80, 3))
DIFFERENCES = RNG.normal(0.02, 0.1, (80, 3))
TIED = RNG.choice([-0.5, 0.0, 0.0, 0.25, 0.5, 1.0], (60, 4))


def ends(low: np.ndarray, high: np.ndarray, *_: object) -> np.ndarray:
    return np.stack([low, high])


# Intervals


@pytest.mark.parametrize("values", [SKEWED, DIFFERENCES], ids=["skewed", "differences"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_bca_and_percentile_are_those_of_scipy(values: np.ndarray, confidence: float) -> None:
    means = resampled_means(values, 999, seed=4)
    for name, mine in (("BCa", bca(values, means, confidence)), ("percentile", percentiles(means, confidence))):
        for column in range(values.shape[1]):
            drawn = scipy.stats.bootstrap((values[:, column],), np.mean, n_resamples=2, method="percentile")
            drawn.bootstrap_distribution = means[:, column]
            theirs = scipy.stats.bootstrap(
                (values[:, column],), np.mean, n_resamples=0, bootstrap_result=drawn, method=name,
                confidence_level=confidence,
            ).confidence_interval  # fmt: skip
            assert (mine[0][column], mine[1][column]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_bca_by_hand() -> None:
    """Of four drawn means one is below the mean of 2 and one equal: 3 of 8 below; skewness 0 leaves no acceleration."""
    values, means = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [2.5], [3.0]])
    bias = scipy.stats.norm.ppf(3 / 8)
    low, high = bca(values, means, 0.5)
    share = scipy.stats.norm.cdf(2 * bias + scipy.stats.norm.ppf([0.25, 0.75]))
    assert (low[0], high[0]) == pytest.approx(np.quantile(means[:, 0], share))


def test_a_drawn_mean_that_differs_by_rounding_is_a_tie() -> None:
    values = np.repeat([[0.0], [0.1], [0.3]], 7, axis=0)
    means = np.full((10, 1), values.mean())
    apart = means * (1 + np.tile([[2e-16], [-2e-16]], (5, 1)))
    assert ends(*bca(values, means, 0.95)) == pytest.approx(ends(*bca(values, apart, 0.95)), rel=1e-14)


def test_bca_stays_among_the_draws_however_skewed() -> None:
    values = np.zeros((200, 1))
    values[0] = 1
    for confidence in (0.5, 0.95, 1 - 1e-9):
        means = resampled_means(values, 300, seed=0)
        low, high = bca(values, means, confidence)
        assert means.min() <= low[0] < high[0] <= means.max()


def test_bca_moments_is_where_bca_goes() -> None:
    values = np.random.default_rng(1).beta(0.4, 3.0, (100, 1))
    drawn = ends(*intervals(values, method="bca", resamples=40_000))
    closed = ends(*intervals(values, method="bca_moments"))
    spread = values.std() / 10
    assert closed == pytest.approx(drawn, abs=0.05 * spread)
    assert (np.abs(ends(*intervals(values, method="moments")) - drawn) > 0.1 * spread).all()


@pytest.mark.parametrize("method", ["auto", "moments", "bca_moments", "t"])
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_moments_of_parts_give_the_interval_of_the_whole(method: str, parts: int) -> None:
    values = SKEWED + 1e3
    total = Moments.of(values[:0])
    for part in np.array_split(values, parts):
        total = total + Moments.of(part)
    assert total.n == len(values)
    assert ends(*total.interval(0.9, method)) == pytest.approx(ends(*intervals(values, 0.9, method)), rel=1e-14)
    assert total.skewness == pytest.approx(scipy.stats.skew(SKEWED), rel=1e-9)


def test_moments_in_blocks_are_those_of_all_users(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random((1_000, 3)) ** 3
    whole = Moments.of(values, (0, 1))
    monkeypatch.setattr(moments, "BLOCK", 64)
    blocks = Moments.of(values, (0, 1))
    assert blocks.n == whole.n
    for name in moments.COLUMNS:
        np.testing.assert_allclose(getattr(blocks, name), getattr(whole, name), rtol=1e-12, atol=1e-12, err_msg=name)


def test_moments_of_values_that_are_alike_give_no_interval_by_their_spread() -> None:
    alike = np.full((1000, 2), 1 / 3)
    added = Moments.of(alike, (0, 1)) + Moments.of(alike[:1], (0, 1))
    for method in ("moments", "bca_moments", "t"):
        assert np.isnan(added.interval(method=method)).all()
    low, high = added.interval()
    assert (low < 1 / 3).all()
    assert (high > 1 / 3).all()
    assert np.isnan(Moments.of(np.array([[0.5]])).interval()).all()
    with pytest.raises(OptionError, match="needs more than moments"):
        added.interval(method="bca")  # type: ignore[arg-type]


def test_score_takes_bca() -> None:
    score = recnb.ndcg([["a", "b", "c"]] * 30, [{"a": 1}] * 10 + [{"b": 1}] * 19 + [{"c": 1}])
    interval = score.interval(method="bca")
    assert interval.method == "bca"
    assert interval.low < score < interval.high
    assert interval != score.interval()
    assert all(map(math.isnan, recnb.ndcg([1, 0, 2]).interval(method="bca")))


# Paired


def test_paired_agrees_with_scipy() -> None:
    for differences in (DIFFERENCES, TIED, np.abs(SKEWED), TIED[:9], DIFFERENCES[:2]):
        made = paired(differences, resamples=10, permutations=10)
        t = scipy.stats.ttest_1samp(differences, 0)
        lowest = 2.0 ** (1 - np.count_nonzero(differences, axis=0))
        assert made.t_p == pytest.approx(np.maximum(t.pvalue, lowest), rel=1e-12)
        two = scipy.stats.ttest_rel(differences + SKEWED[: len(differences), :1], SKEWED[: len(differences), :1])
        assert made.t_p == pytest.approx(np.maximum(two.pvalue, lowest), rel=1e-9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranks = [scipy.stats.wilcoxon(column).pvalue for column in differences.T]
        assert made.wilcoxon_p == pytest.approx(ranks, rel=1e-12)
        assert made.effect_size * np.sqrt(len(differences)) == pytest.approx(t.statistic, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 12])
def test_few_users_take_every_sign_as_scipy_does(n: int) -> None:
    for differences in (DIFFERENCES[:n], TIED[:n]):
        p, how = sign_flip(differences, 100, seed=0)
        assert set(how) == {"exact"}
        for column, mine in zip(differences.T, p, strict=True):
            theirs = 1.0 if n == 1 else scipy.stats.permutation_test(
                (column,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", n_resamples=np.inf,
                vectorized=True,
            ).pvalue  # fmt: skip
            assert mine == pytest.approx(theirs, abs=1e-12)


def test_every_sign_of_sixteen_is_gone_through() -> None:
    """One difference outweighs all others, so only its own sign matters less than the others' being all alike."""
    powers = 2.0 ** np.arange(16)
    assert sign_flip(powers[:, np.newaxis], 1, seed=0)[0] == [2 / 2**16]
    powers[0] *= -1
    assert sign_flip(powers[:, np.newaxis], 1, seed=0)[0] == [4 / 2**16]


def test_users_who_do_not_differ_change_nothing() -> None:
    with_ties = np.vstack([DIFFERENCES, np.zeros((50, 3))])
    for rows in (slice(0, 10), slice(0, 80)):
        alone, how = sign_flip(DIFFERENCES[rows], 999, seed=3)
        beside, same = sign_flip(np.vstack([DIFFERENCES[rows], np.zeros((5000, 3))]), 999, seed=3)
        assert (alone == beside).all()
        assert how == same
    assert paired(with_ties).tied.tolist() == [50] * 3


def test_drawn_signs_come_near_to_all_signs_and_to_the_limit() -> None:
    differences = DIFFERENCES[: FEW_DIFFER + 1]
    patterns = 1.0 - 2.0 * (np.arange(2 ** len(differences))[:, np.newaxis] >> np.arange(len(differences)) & 1)
    exact = (np.abs(patterns @ differences) >= np.abs(differences.sum(axis=0)) - 1e-12).mean(axis=0)
    drawn, how = sign_flip(differences, 20_000, seed=0)
    assert set(how) == {"drawn"}
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))
    many = RNG.normal(0.01, 1, (20_001, 2))
    limit, how = sign_flip(many, 1, seed=0)
    assert set(how) == {"limit"}
    assert limit == pytest.approx(scipy.stats.ttest_1samp(many, 0).pvalue, abs=1e-3)
    nearly, how = sign_flip(many[:-1], 2000, seed=0)
    assert set(how) == {"drawn"}
    assert nearly == pytest.approx(limit, abs=0.06)


def test_a_drawn_p_is_never_zero() -> None:
    assert sign_flip(np.ones((40, 1)), 999, seed=0)[0] == [1 / 1000]


def test_a_column_does_not_depend_on_those_beside_it() -> None:
    both = paired(np.hstack([DIFFERENCES, np.zeros((80, 1)), SKEWED]), seed=5, method="bca")
    alone = paired(DIFFERENCES[:, 1], seed=5, method="bca")
    for name in ("mean", "low", "high", "t_p", "wilcoxon_p", "randomization_p", "effect_size", "won", "lost"):
        assert getattr(both, name)[1] == pytest.approx(getattr(alone, name)[0], rel=1e-12)


def test_the_baseline_beside_the_model_is_the_mirror_image() -> None:
    for method in ("bca", "percentile", "t", "moments"):
        one, other = paired(TIED, method=method), paired(-TIED, method=method)
        assert one.method == (method,) * 4
        for name, mirrored in (("mean", "mean"), ("low", "high"), ("high", "low")):
            assert getattr(one, name) == pytest.approx(-getattr(other, mirrored), abs=1e-12)
        for name in ("t_p", "wilcoxon_p", "randomization_p", "sd", "tied"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
        assert (one.won == other.lost).all()
        assert (one.effect_size == -other.effect_size).all()


def test_counts_add_up_and_rounding_is_no_win() -> None:
    made = paired(np.array([[0.1 + 0.2 - 0.3, 1.0], [0.5, -1.0], [-0.2, 0.0], [0.0, 0.0]]))
    assert (made.won.tolist(), made.tied.tolist(), made.lost.tolist()) == ([1, 1], [2, 2], [1, 1])
    assert (made.won + made.tied + made.lost == made.n).all()


def test_two_models_that_are_the_same() -> None:
    for differences in (np.zeros((30, 2)), np.full((30, 2), 1e-17)):
        made = paired(differences, bounds=(-1, 1))
        for name in ("mean", "sd", "effect_size"):
            assert getattr(made, name).tolist() == [0.0, 0.0], name
        assert (made.low < 0).all()
        assert (made.high > 0).all()
        for name in ("t_p", "wilcoxon_p", "randomization_p"):
            assert getattr(made, name).tolist() == [1.0, 1.0], name
        assert made.tied.tolist() == [30, 30]


def test_all_users_differ_alike() -> None:
    for n in (12, 300):
        made = paired(np.full(n, -0.1), bounds=(-1, 1))
        assert made.mean[0] == pytest.approx(-0.1)
        assert made.low[0] < -0.105 < -0.095 < made.high[0]
        assert (made.sd[0], made.effect_size[0], made.t_p[0]) == (0, -math.inf, 2.0 ** (1 - n))
        assert made.wilcoxon_p[0] < 0.01
        assert made.randomization_p[0] < 0.01


def test_one_user_and_none() -> None:
    one = paired(np.array([[0.5]]))
    assert one.mean.tolist() == [0.5]
    for name in ("low", "high", "sd", "effect_size", "t_p"):
        assert np.isnan(getattr(one, name)).all(), name
    assert one.randomization_p.tolist() == one.wilcoxon_p.tolist() == [1.0]
    none = paired(np.empty((0, 2)))
    for name in ("mean", "low", "high", "sd", "effect_size", "t_p", "wilcoxon_p", "randomization_p"):
        assert np.isnan(getattr(none, name)).all(), name
    assert none.n == 0
    assert none.won.tolist() == [0, 0]


def test_the_method_is_by_the_number_of_users_who_differ() -> None:
    rows = np.zeros((50, 4))
    rows[:9, 0] = rows[:10, 1] = 1
    rows[9:, 2] = rows[10:, 3] = 1  # so many do not differ, and all others alike
    assert paired(rows).method == ("beta", "t", "beta", "t")
    assert paired(RNG.normal(0, 1, (10, 1))).method == ("beta",)
    assert paired(RNG.normal(0, 1, (11, 1))).method == ("t",)
    assert paired(rows, method="percentile", resamples=2).method == ("percentile",) * 4


def test_a_million_users() -> None:
    rows = np.random.default_rng(0).normal(0.001, 0.2, (1_000_000, 1)) * (np.arange(1_000_000) % 3 > 0)[:, np.newaxis]
    made = paired(rows)
    assert made.randomization_p == pytest.approx(made.t_p, abs=1e-6)


def test_same_seed_same_numbers() -> None:
    assert (paired(DIFFERENCES, seed=1).randomization_p == paired(DIFFERENCES, seed=1).randomization_p).all()
    one, other = (paired(DIFFERENCES, seed=seed, method="bca") for seed in (1, 2))
    assert (one.low != other.low).all()
    assert (one.randomization_p != other.randomization_p).any()


def test_the_array_given_is_not_changed() -> None:
    given_, kept = TIED.copy(), TIED.copy()
    given_.flags.writeable = False
    paired(given_, method="bca")
    assert (given_ == kept).all()


def test_what_is_no_difference_is_named() -> None:
    holed = DIFFERENCES.copy()
    holed[3, 1] = holed[7, 0] = np.nan
    with pytest.raises(FrameError, match=r"2 of 240 differences are no number, the first nan at user 3, column 1"):
        paired(holed)
    with pytest.raises(FrameError, match="the first inf"):
        paired(np.array([np.inf, 1.0]))
    with pytest.raises(FrameError, match="3 dimensions"):
        paired(np.zeros((2, 2, 2)))
    with pytest.raises(OptionError, match="Did you mean 'bca'"):
        paired(DIFFERENCES, method="bcaa")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="permutations=0"):
        paired(DIFFERENCES, permutations=0)
    with pytest.raises(OptionError, match="confidence=95"):
        paired(DIFFERENCES, confidence=95)
    with pytest.raises(OptionError, match="seed=-1"):
        paired(DIFFERENCES, seed=-1)


@given(arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 3)), elements=st.sampled_from(
    [-1.0, -0.5, -1 / 3, 0.0, 0.1, 0.2, 0.3, 1.0])))  # fmt: skip
def test_laws_of_paired(differences: np.ndarray) -> None:
    made = paired(differences, resamples=50, permutations=50, bounds=(-1, 1))
    for p in (made.t_p, made.wilcoxon_p, made.randomization_p):
        assert ((p >= 0) & (p <= 1)).all()
    assert (made.low <= made.mean + 1e-12).all()
    assert (made.mean <= made.high + 1e-12).all()
    shuffled = paired(differences[::-1], resamples=50, permutations=50)
    for name in ("mean", "sd", "wilcoxon_p", "t_p"):
        assert getattr(made, name) == pytest.approx(getattr(shuffled, name), rel=1e-9, abs=1e-12)
    larger = paired(differences * 4, resamples=50, permutations=50)
    for name in ("wilcoxon_p", "randomization_p", "t_p"):
        assert getattr(made, name) == pytest.approx(getattr(larger, name), rel=1e-9, abs=1e-12)
    assert (settled(differences) == differences).sum() >= (differences != -1 / 3).sum()


# Corrections


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    """Of p = .01 .02 .03 .04 .05 Holm makes 5×.01, 4×.02, then the largest so far; BH n/rank times p, all .05."""
    p = np.array([0.03, 0.01, 0.05, 0.02, 0.04])
    assert holm(p) == pytest.approx([0.09, 0.05, 0.09, 0.08, 0.09])
    assert benjamini_hochberg(p) == pytest.approx([0.05] * 5)
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_agree_with_their_definitions(p: list[float]) -> None:
    values = np.array(p)
    assert benjamini_hochberg(values) == pytest.approx(scipy.stats.false_discovery_control(values), rel=1e-12)
    n = len(p)
    for one, mine in zip(p, holm(values), strict=True):
        naive = min(1.0, max(sum(x >= other for x in p) * other for other in p if other <= one))
        assert mine == pytest.approx(naive, rel=1e-12)
    assert (holm(values) >= benjamini_hochberg(values) - 1e-15).all()
    assert (holm(values) <= np.minimum(1, n * values) + 1e-15).all()


def test_no_test_is_not_counted_and_given_back() -> None:
    for correct in (holm, benjamini_hochberg):
        table = np.array([[0.01, np.nan], [0.2, 0.04]])
        made = correct(table)
        assert made.shape == table.shape
        assert np.isnan(made[0, 1])
        assert made[~np.isnan(table)] == pytest.approx(correct(np.array([0.01, 0.2, 0.04])))
        assert np.isnan(correct(np.array([np.nan]))).all()
        assert correct(np.array([])).shape == (0,)
        assert np.isnan(table[0, 1])
        assert table[0, 0] == 0.01, "what was given stays"
        with pytest.raises(FrameError, match=r"1\.5"):
            correct(np.array([0.5, 1.5]))


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_bca_moments_by_hand(confidence: float) -> None:
    """Values 0, 0, 0, 4: mean 1, variance 3, third moment 6, so their skewness is 6 / 3^1.5 and that of the mean half of it.

    Bias and acceleration are a sixth of that (Efron 1987), and the quantile at a deviate is Cornish's and Fisher's.
    """
    skew = 6 / 3**1.5 / math.sqrt(4)
    bias = acceleration = skew / 6
    ends = []
    for z in (scipy.stats.norm.ppf((1 - confidence) / 2), scipy.stats.norm.ppf((1 + confidence) / 2)):
        taken = bias + (bias + z) / (1 - acceleration * (bias + z))
        ends.append(1 + math.sqrt(3 / 4) * (taken + skew * (taken**2 - 1) / 6))
    low, high, method = intervals(np.array([[0.0], [0.0], [0.0], [4.0]]), confidence, method="bca_moments")
    assert (low.item(), high.item()) == pytest.approx(ends, rel=1e-12)
    assert method == "bca_moments"


def test_one_draw_is_a_number_of_draws() -> None:
    """Of a single draw the p is (1 + as far) / 2."""
    differences = np.linspace(-1, 2, 40)[:, np.newaxis]
    for permutations in (1, np.int64(1)):
        made = paired(differences, permutations=permutations, resamples=1)
        assert made.randomization_p.item() in (0.5, 1.0)
    for permutations in (0, -1, True, 1.0):
        with pytest.raises(OptionError, match="is no number of draws"):
            paired(differences, permutations=permutations)  # type: ignore[arg-type]
