"""Intervals of means: closed forms, scipy's bootstrap, laws, sums of parts, rows that several of a user's."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import recnb
from recnb.errors import OptionError
from recnb.stats import METHODS, Moments, interval_of_pairs, intervals

SKEWED = np.random.default_rng(11).beta(0.4, 3.0, (120, 3))
UNIT = (0.0, 1.0)


def lists(hits: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A user for each entry: the one relevant item on rank 1 (a hit) or not recommended."""
    n = len(hits)
    recs = pd.DataFrame({"user": range(n), "item": ["a" if hit else "b" for hit in hits], "rank": 1})
    return recs, pd.DataFrame({"user": range(n), "item": "a"})


def hit_rate_of(hits: list[float]) -> recnb.Evaluation:
    return recnb.evaluate(*lists(hits))


# beta


@pytest.mark.parametrize("hits", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_hits_of_20_users_have_clopper_and_pearsons_interval(hits: int, confidence: float) -> None:
    score = hit_rate_of([1] * hits + [0] * (20 - hits)).hit_rate(k=1)
    want = scipy.stats.binomtest(hits, 20).proportion_ci(confidence)
    assert list(score.interval(confidence)) == pytest.approx([want.low, want.high], abs=1e-12)
    assert score.interval().method == "beta"
    assert f"{score.interval().low:.4f} to {score.interval().high:.4f}" in score._repr_html_()


def test_a_million_users_have_the_closed_form_as_well() -> None:
    values = np.zeros((1_000_000, 1))
    assert intervals(values, bounds=UNIT)[1] == pytest.approx(1 - 0.025 ** (1 / 1_000_000), rel=1e-6)
    values[:50] = 1
    want = scipy.stats.binomtest(50, 1_000_000).proportion_ci()
    assert np.ravel(intervals(values, bounds=UNIT)) == pytest.approx((want.low, want.high), rel=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_intervals_lie_within_the_bounds_about_the_mean_and_have_a_width(share: float, n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.where(rng.random((n, 50)) < share, rng.random((n, 50)), 0.0)
    low, high = intervals(values, bounds=UNIT)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low < high).all()
    assert ((low <= values.mean(axis=0)) & (values.mean(axis=0) <= high)).all()
    assert 1 - intervals(1 - values, bounds=UNIT)[1] == pytest.approx(low, abs=1e-9)


def test_repeats_that_pass_the_bounds_of_a_metric_have_an_interval() -> None:
    low, high = intervals(np.array([[0.0], [1.5], [0.5]]), bounds=UNIT)
    assert 0 <= low < 2 / 3 < high <= 1.5


@pytest.mark.parametrize("method", METHODS)
def test_one_user_and_users_who_are_all_alike_show_nothing_of_others(method: str) -> None:
    for value in (0.0, 0.5, 1.0):
        assert np.isnan(intervals(np.array([[value]]), method=method, bounds=UNIT)).all()
        assert np.isfinite(intervals(np.array([[value], [1 - value]]), bounds=UNIT)).all()
    third = np.full((150, 1), 1 / 3)
    for low, high in (intervals(third, method=method, bounds=UNIT), Moments.of(third, UNIT).interval()):
        assert (low < 0.333 < 0.334 < high) if np.isfinite(low) else method != "beta"


def test_a_metric_without_an_upper_bound_has_no_interval_of_few_hits() -> None:
    few, some = (hit_rate_of([1] * hits + [0] * (30 - hits)) for hits in (9, 10))
    assert all(map(math.isnan, few.dcg(k=1).interval()))
    assert "too few users" in repr(few.dcg(k=1).interval())
    assert "no interval: fewer than 10 users" in few.dcg(k=1)._repr_html_()
    assert 0 < some.dcg(k=1).interval().low < 1 / 3 < some.dcg(k=1).interval().high
    report = few.report(1, ["ndcg", "dcg"])
    for text in (repr(report), report.to_markdown(), report._repr_html_()):
        assert "without an upper bound" in " ".join(text.split())
    assert "without an upper bound" not in repr(some.report(1, ["ndcg", "dcg"]))


def test_the_report_the_curve_and_the_score_have_one_interval() -> None:
    ev = hit_rate_of([1] * 2 + [0] * 23)
    want = ev.hit_rate(k=1).interval()
    assert ev.report(1, "hit_rate").to_frame()[["low", "high"]].iloc[0].tolist() == pytest.approx(list(want))
    assert ev.curve("hit_rate", k=[1])[["low", "high"]].iloc[0].tolist() == pytest.approx(list(want))
    means = recnb.compare({"a": ev, "b": ev}).report(1, "hit_rate").to_frame()
    assert (means["mean_low"][0], means["mean_high"][0]) == pytest.approx(tuple(want))


# t and the bootstrap


def test_t_is_students() -> None:
    for column, low, high in zip(SKEWED.T, *intervals(SKEWED, 0.9, "t"), strict=True):
        want = scipy.stats.ttest_1samp(column, 0).confidence_interval(0.9)
        assert (low, high) == pytest.approx((want.low, want.high), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_bootstrap_is_scipys_bca(confidence: float) -> None:
    low, high = intervals(SKEWED, confidence, "bootstrap", resamples=500, seed=4)
    for at, column in enumerate(SKEWED.T):
        want = scipy.stats.bootstrap(
            (column,), np.mean, n_resamples=500, confidence_level=confidence, rng=np.random.default_rng(4)
        ).confidence_interval
        assert (low[at], high[at]) == pytest.approx((want.low, want.high), rel=1e-12)
    assert not np.allclose(low, intervals(SKEWED, confidence, "bootstrap", resamples=500, seed=5)[0], atol=1e-9)
    beside = intervals(np.hstack([SKEWED[:, :1], np.zeros((120, 1))]), confidence, "bootstrap", 500, 4)
    assert beside[0] == pytest.approx([low[0], np.nan], nan_ok=True)
    assert np.isnan(intervals(SKEWED[:99], method="bootstrap")).all()
    score = recnb.ndcg([["a", "b", "c"]] * 100, [{"a": 1}] * 40 + [{"b": 1}] * 50 + [{"c": 1}] * 10)
    assert score.interval(method="bootstrap").method == "bootstrap"
    assert score.interval(method="bootstrap").low < score < score.interval(method="bootstrap").high


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"method": "bca"}, "method='bca' makes no interval here."),
        ({"method": "bootstrp"}, "Did you mean 'bootstrap'"),
        ({"method": None}, "Known: 'beta', 't', 'bootstrap'"),
        ({"confidence": 95}, "confidence=95 is no share"),
        ({"resamples": 100}, "resamples=100 is of method='bootstrap': give that too, or leave it out"),
        ({"seed": 1}, "seed=1 is of method='bootstrap'"),
        ({"method": "bootstrap", "resamples": 0}, "resamples=0: give a whole number from 1 up"),
        ({"method": "bootstrap", "resamples": True}, "resamples=True"),
        ({"method": "bootstrap", "seed": -1}, "seed=-1: give a whole number from 0 up"),
    ],
)
def test_what_makes_no_interval(how: dict[str, object], words: str) -> None:
    score = hit_rate_of([1, 0, 1]).hit_rate(k=1)
    for call in (lambda: intervals(SKEWED, **how), lambda: score.interval(**how)):
        with pytest.raises(OptionError) as refused:
            call()
        assert words in str(refused.value)


def test_of_very_many_users_the_bootstrap_is_t() -> None:
    with pytest.raises(OptionError, match=r"for 100 to 10,000 users, and these are 10,001.*Type method='t'"):
        intervals(np.random.default_rng(0).random((10_001, 1)), method="bootstrap")


# Sums of parts


@pytest.mark.parametrize("method", ["beta", "t"])
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_moments_of_parts_give_the_interval_of_the_whole(method: str, parts: int) -> None:
    values = SKEWED + 1e3
    total = Moments.of(values[:0])
    for part in np.array_split(values, parts):
        total = total + Moments.of(part)
    assert total.n == len(values)
    assert np.array(total.interval(0.9, method)) == pytest.approx(np.array(intervals(values, 0.9, method)), rel=1e-14)


# Pairs of users


def test_personalization_has_the_jackknifes_interval() -> None:
    rng = np.random.default_rng(0)
    shown = np.array([rng.permutation(30)[:5] for _user in range(25)])
    frame = pd.DataFrame({"user": np.repeat(np.arange(25), 5), "item": shown.ravel(), "rank": np.tile(range(1, 6), 25)})

    def value(users: np.ndarray) -> float:
        pairs = itertools.combinations(users.tolist(), 2)
        return 1 - float(np.mean([len({*shown[i]} & {*shown[j]}) / 5 for i, j in pairs]))

    everyone = np.arange(25)
    left_out = np.array([value(everyone[everyone != one]) for one in everyone])
    error = np.sqrt(24 / 25 * ((left_out - left_out.mean()) ** 2).sum())
    half = scipy.stats.t.ppf(0.975, 24) * error
    ev = recnb.evaluate(frame, frame)
    for options in ({}, {"overlap": "k"}):
        score = ev.personalization(k=5, **options)
        assert score == pytest.approx(value(everyone))
        assert tuple(score.interval()) == pytest.approx((score - half, score + half), abs=1e-12)
        assert score.interval().method == "jackknife"
    with pytest.raises(OptionError, match="makes no interval of a mean over pairs"):
        ev.personalization(k=5).interval(method="bootstrap")
    assert np.isnan(interval_of_pairs(np.linspace(0, 1, 9))).all()
    assert np.isfinite(interval_of_pairs(np.linspace(0, 1, 11))).all(), "one user at the mean is not all alike"
    shown = (
        ev.report(5, ["ndcg", "personalization"]).to_frame().set_index("metric").loc["personalization", ["low", "high"]]
    )
    assert shown.tolist() == pytest.approx(list(ev.personalization(k=5).interval()))
