"""Few users, rare hits, and users who are all alike: no interval of no width, no p below what so few users can reach."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import recnb
from recnb.errors import OptionError
from recnb.stats import Detectable, detectable, interval_of_pairs, intervals, paired, users_needed
from recnb.stats.groups import gap_to_rest
from recnb.stats.intervals import IntervalMethod
from recnb.stats.significance import student, wilcoxon
from tests.distributed.test_partial import of_no_users


def lists(hits: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A user for each entry: the one relevant item on rank 1 (a hit) or not recommended."""
    n = len(hits)
    recs = pd.DataFrame({"user": range(n), "item": ["a" if hit else "b" for hit in hits], "rank": 1})
    return recs, pd.DataFrame({"user": range(n), "item": "a"})


def hit_rate_of(hits: list[float]) -> recnb.Evaluation:
    return recnb.evaluate(*lists(hits))


# Means


@pytest.mark.parametrize("hits", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_hits_of_20_users_have_clopper_and_pearsons_interval(hits: int, confidence: float) -> None:
    score = hit_rate_of([1] * hits + [0] * (20 - hits)).hit_rate(k=1)
    want = scipy.stats.binomtest(hits, 20).proportion_ci(confidence)
    assert list(score.interval(confidence)) == pytest.approx([want.low, want.high], abs=1e-12)
    assert score.interval().method == "beta"


def test_twenty_hits_of_twenty_are_no_certainty() -> None:
    score = hit_rate_of([1] * 20).hit_rate(k=1)
    assert score.interval() == pytest.approx((0.8316, 1), abs=1e-4)
    assert "0.8316 to 1.0000" in score._repr_html_()


def test_a_million_users_have_the_closed_form_as_well() -> None:
    values = np.zeros((1_000_000, 1))
    assert intervals(values, bounds=(0, 1))[1] == pytest.approx(1 - 0.025 ** (1 / 1_000_000), rel=1e-6)
    values[:50] = 1
    want = scipy.stats.binomtest(50, 1_000_000).proportion_ci()
    got = intervals(values, bounds=(0, 1))
    assert (got[0][0], got[1][0]) == pytest.approx((want.low, want.high), rel=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_intervals_lie_within_the_bounds_about_the_mean_and_have_a_width(share: float, n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.where(rng.random((n, 50)) < share, rng.random((n, 50)), 0.0)
    low, high, _ = intervals(values, bounds=(0, 1))
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low < high).all()
    assert ((low <= values.mean(axis=0)) & (values.mean(axis=0) <= high)).all()
    mirrored = intervals(1 - values, bounds=(0, 1))
    assert 1 - mirrored[1] == pytest.approx(low, abs=1e-9)


def test_users_who_are_all_alike_show_nothing_of_others() -> None:
    third = np.full((50, 1), 1 / 3)
    low, high, _ = intervals(third, bounds=(0, 1))
    assert low < 0.33 < 0.34 < high
    for method in ("bootstrap", "bca", "moments", "bca_moments", "t"):
        assert np.isnan(intervals(third, method=method)[:2]).all(), method  # type: ignore[arg-type]


def test_a_metric_without_an_upper_bound_has_no_interval_of_few_hits() -> None:
    few, some = (hit_rate_of([1] * hits + [0] * (30 - hits)) for hits in (9, 10))
    assert all(map(math.isnan, few.dcg(k=1).interval()))
    assert "too few users" in repr(few.dcg(k=1).interval())
    assert "no interval: fewer than 10 users" in few.dcg(k=1)._repr_html_()
    assert 0 < some.dcg(k=1).interval().low < 1 / 3 < some.dcg(k=1).interval().high
    report = few.report(1, ["ndcg", "dcg"])
    for text in (repr(report), report.to_markdown(), report._repr_html_()):
        assert "no upper bound" in " ".join(text.split()) or "without an upper bound" in " ".join(text.split())
    assert "without an upper bound" not in repr(some.report(1, ["ndcg", "dcg"]))


def test_repeats_that_pass_the_bounds_of_a_metric_have_an_interval() -> None:
    low, high, _ = intervals(np.array([[0.0], [1.5], [0.5]]), bounds=(0, 1))
    assert 0 <= low < 2 / 3 < high <= 1.5


def test_sums_of_parts_give_the_interval_of_the_whole() -> None:
    ev = hit_rate_of([1] * 3 + [0] * 57)
    metrics = ["hit_rate", "ndcg", "dcg"]
    for some in (np.arange(60) < 7, np.arange(60) % 2 == 0):
        parts = [recnb.evaluate(*lists((np.arange(60) < 3)[mine].tolist())) for mine in (some, ~some)]
        total = sum(recnb.Partial.of(one, metrics, 1) for one in parts)
        stored = recnb.Partial.from_dict(json.loads(json.dumps(total.to_dict())))
        for metric in metrics:
            whole = getattr(ev, metric)(k=1).interval()
            for made in (total.interval(metric, 1), stored.interval(metric, 1)):
                assert list(made) == pytest.approx(list(whole), abs=1e-12, nan_ok=True)
                assert made.method == whole.method
    assert total.curve("hit_rate").high[0] == pytest.approx(ev.curve("hit_rate", k=[1]).high[0])


def test_the_report_the_curve_and_the_score_have_one_interval() -> None:
    ev = hit_rate_of([1] * 2 + [0] * 23)
    want = ev.hit_rate(k=1).interval()
    assert ev.report(1, "hit_rate").metrics[0].at(1)[1:] == pytest.approx(tuple(want))
    assert (ev.curve("hit_rate", k=[1]).low[0], ev.curve("hit_rate", k=[1]).high[0]) == pytest.approx(tuple(want))
    means = recnb.compare({"a": ev, "b": ev}).means("hit_rate", k=1)
    assert (means["low"][0], means["high"][0]) == pytest.approx(tuple(want))


# Differences


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_equal_differences_reach_no_p_that_flipping_signs_cannot(n: int) -> None:
    made = paired(np.ones((n, 1)), bounds=(-1, 1))
    lowest = 2.0 ** (1 - n)
    for p in (made.t_p, made.wilcoxon_p, made.randomization_p):
        assert p[0] >= lowest * (1 - 1e-9) or n == 1
    if n > 1:
        assert made.high[0] - made.low[0] > 0.2, "an interval of no width would claim to know"


def test_users_who_do_not_differ_are_no_signs_to_flip() -> None:
    rows = np.zeros((200, 1))
    rows[:4] = [[0.1], [0.1], [0.1], [0.1]]
    made = paired(rows, bounds=(-1, 1))
    assert made.t_p[0] == made.wilcoxon_p[0] == made.randomization_p[0] == 0.125
    assert made.low[0] < 0 < made.high[0]


def test_student_and_wilcoxon_are_never_below_the_randomization_of_few() -> None:
    for n, differ in itertools.product([8, 30, 100], range(7)):
        rows = np.zeros((n, 1))
        rows[:differ, 0] = np.arange(1, differ + 1) / 10
        lowest = min(2.0 ** (1 - differ), 1.0)
        assert student(rows.mean(axis=0), rows.std(axis=0, ddof=1), n, np.array([differ]))[0] >= lowest
        assert wilcoxon(rows)[0] >= lowest * (1 - 1e-12)


def test_models_that_agree_on_all_users_are_not_known_to_be_the_same() -> None:
    made = paired(np.zeros((20, 2)), bounds=(-1, 1))
    assert (made.low < -0.1).all()
    assert (made.high > 0.1).all()
    assert (made.t_p == 1).all()


def test_two_users_who_both_gain_are_no_finding() -> None:
    found = recnb.compare({"a": hit_rate_of([0, 0]), "b": hit_rate_of([1, 1])})
    row = found.differences("hit_rate", k=1).iloc[0]
    assert row.t_p == 0.5
    assert row.low < 0 < 1 <= row.high
    assert row.verdict == "open"
    assert math.isnan(row.detectable)
    words = found.conclusion("hit_rate", k=1).lines[0]
    assert "Too few users differ to estimate the detectable difference." in words
    assert "0.0000" not in words.split("Too few")[1]


def test_a_difference_without_bounds_of_few_who_differ_is_not_tested() -> None:
    two = {name: hit_rate_of([hit] * 3 + [0] * 30) for name, hit in (("a", 0), ("b", 1))}
    row = recnb.compare(two).differences("dcg", k=1).iloc[0]
    assert math.isnan(row.low)
    assert row.verdict == "untested"
    assert "too few users or differences" in recnb.compare(two).conclusion("dcg", k=1).lines[0]


def test_what_is_the_best_is_not_told_apart_by_two_users() -> None:
    means = recnb.compare({"a": hit_rate_of([0, 0]), "b": hit_rate_of([1, 1])}).means("hit_rate", k=1)
    assert means["best"].tolist() == [False, True]
    assert means["near_best"].tolist() == [True, False]


def test_texts_say_what_is_not_corrected_and_what_would_have_been_found() -> None:
    sample = recnb.datasets.load_sample()
    found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
    words = " ".join(found.conclusion("hit_rate", k=10).lines)
    assert "would have been found with 80% power by a single, uncorrected test." in words
    assert "would have shown" not in words
    not_corrected = "Intervals are not corrected for the number of comparisons."
    assert not_corrected in " ".join(repr(found.report(k=[5, 10])).split())
    ev = sample.models["popular"].rec.against(sample.test)
    assert not_corrected in " ".join(repr(ev.report(k=[5, 10])).split())
    by = ev.table("ndcg", k=10, by=pd.Series("x", ev.users, name="one"))
    assert "not corrected for the number of comparisons" in repr(by)


# Power


def test_what_no_randomization_could_find_is_not_detectable() -> None:
    assert math.isnan(detectable(0.0, 100))
    assert math.isnan(detectable(0.3, 5))
    assert detectable(0.3, 6) > 0
    assert math.isnan(detectable(0.3, 6, alpha=0.01))
    assert users_needed(5.0, 0.1) == 6
    with pytest.raises(OptionError, match="do not show how others spread"):
        users_needed(0.01, 0.0)
    made = Detectable.of("ndcg@10", np.full(40, 0.5), np.full(40, 0.4))
    assert math.isnan(made)
    assert "cannot be estimated" in made.words
    assert "0.0000" not in repr(made)
    assert math.isnan(Detectable.of("ndcg@10", np.r_[np.ones(9), np.zeros(100)]))
    assert Detectable.of("ndcg@10", np.r_[np.ones(10), np.zeros(100)]) > 0


# Segments


def test_a_segment_without_variance_is_not_tested_on_either_side() -> None:
    values = np.r_[np.zeros(12), np.random.default_rng(0).random(250)][:, np.newaxis]
    inside = np.arange(len(values)) < 12
    for mine in (inside, ~inside):
        gap = gap_to_rest(values, mine)
        assert np.isfinite(gap.gap).all()
        assert np.isnan([gap.low, gap.high, gap.p]).all()


@pytest.mark.parametrize(("n", "tested"), [(9, False), (10, True)])
def test_both_sides_of_a_gap_need_ten_users(n: int, tested: bool) -> None:
    values = np.random.default_rng(0).random((200, 1))
    inside = np.arange(200) < n
    for mine in (inside, ~inside):
        assert np.isfinite(gap_to_rest(values, mine).p[0]) == tested


def test_a_gap_is_the_more_careful_of_welch_and_student() -> None:
    rng = np.random.default_rng(1)
    for scale in (0.1, 1.0, 5.0):
        mine, rest = rng.normal(0.5, scale, 12), rng.normal(0, 1, 90)
        gap = gap_to_rest(np.r_[mine, rest][:, np.newaxis], np.arange(102) < 12, 0.9)
        each = [scipy.stats.ttest_ind(mine, rest, equal_var=equal) for equal in (False, True)]
        ends = [one.confidence_interval(0.9) for one in each]
        assert gap.p[0] == pytest.approx(max(one.pvalue for one in each))
        assert gap.low[0] == pytest.approx(min(one.low for one in ends))
        assert gap.high[0] == pytest.approx(max(one.high for one in ends))


def test_a_small_segment_and_its_mirror_are_not_tested() -> None:
    hits = [0] * 5 + [1, 0] * 100
    ev = hit_rate_of(hits)
    by = pd.Series(np.where(ev.users < 5, "few", "many"), ev.users, name="size")
    table = ev.table("hit_rate", k=1, by=by)
    assert table["p"].isna().all()
    assert table["gap_low"].isna().all()
    assert (table["low"] < table["high"]).all(), "each segment's own interval holds at any number"
    report = ev.report(1, "hit_rate", by=by)
    assert "too few users or differences" in report._repr_html_()


@pytest.mark.parametrize(("n", "verdict"), [(2, "untested"), (9, "untested"), (10, "better")])
def test_differences_of_small_segments_are_not_tested(n: int, verdict: str) -> None:
    two = {name: hit_rate_of([hit] * n + [0, 1] * 30) for name, hit in (("a", 0), ("b", 1))}
    users = two["a"].users
    by = pd.Series(np.where(users < n, "few", "many"), users, name="size")
    rows = recnb.compare(two).differences("hit_rate", k=1, by=by).reset_index().set_index("size")
    assert rows.loc["few", "verdict"] == verdict
    assert math.isnan(rows.loc["few", "t_p"]) == (verdict == "untested")
    assert "too few users or differences" in recnb.compare(two).report(1, by=by)._repr_html_() or verdict == "better"


# Pairs of users


def test_personalization_has_the_jackknifes_interval() -> None:
    rng = np.random.default_rng(0)
    lists = np.array([rng.permutation(30)[:5] for _ in range(25)])
    frame = pd.DataFrame({"user": np.repeat(np.arange(25), 5), "item": lists.ravel(), "rank": np.tile(range(1, 6), 25)})

    def value(users: np.ndarray) -> float:
        pairs = itertools.combinations(users.tolist(), 2)
        return 1 - float(np.mean([len({*lists[i]} & {*lists[j]}) / 5 for i, j in pairs]))

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
    (row,) = (one for one in ev.report(5, ["ndcg", "personalization"]).beyond if one.metric == "personalization")
    assert row.values[0][1:] == pytest.approx(tuple(ev.personalization(k=5).interval()))


def test_a_partial_of_no_users_changes_no_interval() -> None:
    ev = hit_rate_of([1] * 3 + [0] * 20)
    made = recnb.Partial.of(ev, ["hit_rate"], 1)
    none = of_no_users(made)
    stored = recnb.Partial.from_dict(json.loads(json.dumps(none.to_dict(), allow_nan=False)))
    for both in (made + none, none + made, made + stored, stored + made):
        assert both.interval("hit_rate", 1) == made.interval("hit_rate", 1)


@pytest.mark.parametrize("n", [2, 6, 10, 13, 14, 40])
def test_a_model_that_always_hits_and_one_that_never_does_differ(n: int) -> None:
    """All differences are 1, or -1: of all signs, two in 2^n are as far to one side, and no test says less."""
    made = paired(np.array([[1.0, -1.0, 0.0]] * n), bounds=(-1, 1))
    assert made.randomization_p == pytest.approx([2 / 2**n, 2 / 2**n, 1], abs=1e-4 if n > 13 else 1e-12)
    if n <= 13:
        assert made.wilcoxon_p == pytest.approx([2 / 2**n, 2 / 2**n, 1], rel=1e-12)
    else:
        assert (made.wilcoxon_p[:2] < 0.001).all()
        assert made.wilcoxon_p[2] == 1
    assert (made.won.tolist(), made.tied.tolist(), made.lost.tolist()) == ([n, 0, 0], [0, 0, n], [0, n, 0])


@pytest.mark.parametrize("method", ["auto", "beta", "moments", "bca_moments", "t", "bootstrap", "bca"])
def test_one_user_shows_nothing_of_others(method: IntervalMethod) -> None:
    for value in (0.0, 0.5, 1.0):
        assert np.isnan(intervals(np.array([[value]]), method=method, bounds=(0, 1))[:2]).all()
        assert np.isfinite(intervals(np.array([[value], [1 - value]]), bounds=(0, 1))[:2]).all()
