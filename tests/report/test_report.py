"""The numbers of a report against plain loops and against the metrics asked one by one."""

import json
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import CutoffError, OptionError
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.data import CountSummary, distribution_of
from recnb.report.request import curve_points
from recnb.stats import intervals
from tests.lint_planted import CLEAN


@pytest.fixture(scope="module")
def sample():
    data = recnb.datasets.load_sample()
    return data.models["item-knn"].rec.against(data.test)


@pytest.fixture(scope="module")
def report(sample):
    return sample.report(k=[5, 10, 20])


def small():
    """Four users worked out by hand: lists of 2 at most, one user with no list."""
    recs = pd.DataFrame({"user": ["a", "a", "b", "b", "c"], "item": ["x", "y", "x", "z", "q"], "rank": [1, 2, 1, 2, 1]})
    truth = pd.DataFrame({"user": ["a", "b", "b", "c", "d", "d"], "item": ["x", "z", "w", "p", "p", "q"]})
    return recs.rec.against(truth)


def test_means_are_those_of_the_metrics_one_by_one(sample, report):
    frame = report.to_frame()
    assert list(frame.columns) == ["metric", "k", "mean", "low", "high", "n_users"]
    assert len(frame) == 7 * 3
    for row in frame.itertuples():
        score = getattr(sample, row.metric)(k=row.k)
        low, high = score.interval()
        assert row.mean == pytest.approx(float(score), abs=1e-12)
        # One score is drawn with the same seed as all columns together.
        assert (row.low, row.high) == pytest.approx((low, high), abs=1e-12)
        assert row.n_users == score.n_users


def test_all_intervals_come_from_one_call(sample, monkeypatch):
    calls = []

    def counted(values, *args, **options):
        calls.append(values.shape)
        return intervals(values, *args, **options)

    monkeypatch.setattr("recnb.report.build.intervals", counted)
    sample.report(k=[5, 10], metrics=["ndcg", "recall"])
    assert calls == [(sample.n_users, 10 + 2)]


@pytest.fixture
def computed(monkeypatch):
    """The metrics that are computed, each time one is."""
    calls = []
    at = Metric.at

    def counted(metric, *args):
        calls.append(metric.name)
        return at(metric, *args)

    monkeypatch.setattr(Metric, "at", counted)
    return calls


METRICS = ["ndcg", "recall", "f1"]


def test_a_metric_is_computed_once_for_a_report(computed):
    # Nothing is found in these data: the lint computes its metric as it is, and of the best lists.
    evaluation = CLEAN.evaluate()
    by = pd.Series({user: "even" if at % 2 else "odd" for at, user in enumerate(evaluation.users)})
    report = evaluation.report(k=[5, 10], metrics=METRICS, by=by)
    assert len(report.segments.rows) == 2 * len(METRICS)
    # Those beyond accuracy are computed at one cut-off at a time.
    assert Counter(computed) == {**dict.fromkeys(METRICS, 1), **dict.fromkeys(LIST_METRICS, 2), "ndcg": 3}


def test_a_metric_of_each_model_is_computed_once_for_a_report(computed):
    evaluations = {name: CLEAN.evaluate() for name in ("first", "second")}
    by = pd.Series({user: "even" if at % 2 else "odd" for at, user in enumerate(evaluations["first"].users)})
    report = recnb.compare(evaluations).report(k=[5, 10], metrics=METRICS, by=by)
    assert len(report.data.segments.rows) == 2
    assert report.data.curves
    assert Counter(computed) == {**dict.fromkeys([*METRICS, *LIST_METRICS], 2), "ndcg": 3 * 2}


def test_tables_of_segments_compute_a_metric_once(sample, computed):
    data = recnb.datasets.load_sample()
    compared = recnb.compare(data.models, data.test, train=data.train)
    for table in (compared.table, compared.differences):
        computed.clear()
        table(METRICS, k=[5, 10], by="activity")
        assert computed == [name for name in METRICS for _model in data.models]


def test_confidence_and_options_are_used(sample):
    wide = sample.report(k=10, metrics=["ndcg", "precision"], confidence=0.995, gain="exponential")
    score = sample.ndcg(k=10, gain="exponential")
    assert wide.lead.mean == (pytest.approx(float(score)),)
    assert (wide.lead.low[0], wide.lead.high[0]) == pytest.approx(tuple(score.interval(0.995)))
    for form in (wide.to_html(), repr(wide), wide.to_markdown(), wide.to_latex()):
        assert "99.5%" in form.replace("\\%", "%")
        assert re.search(r"gain 2(\^|\\textasciicircum\{\})relevance", form)


def test_each_metric_says_its_own_convention(report):
    told = {one.metric: one.convention for one in report.metrics}
    assert told["precision"] == "out of k"
    assert told["ndcg"].startswith("linear gain; ")
    for form in (report.to_html(), report.to_latex()):
        assert told["ndcg"] in form


def test_curve_is_the_metric_at_every_k(sample, report):
    assert report.curve.k == tuple(range(1, 21))
    values = [float(sample.ndcg(k=k)) for k in report.curve.k]
    assert report.curve.value == pytest.approx(values)
    low, high = sample.ndcg(k=7).interval()
    assert (report.curve.low[6], report.curve.high[6]) == pytest.approx((low, high))


@pytest.mark.parametrize("at", [[1], [5], [5, 10, 20], [100], [7, 1000], list(range(1, 60))])
def test_curve_has_few_points_from_1_to_the_deepest(at):
    points = curve_points(at)
    assert points[0] == 1
    assert points[-1] == max(at)
    assert list(points) == sorted(set(points))
    assert len(points) <= 33
    assert len(at) > 10 or set(at) <= set(points)


def test_distribution_counts_every_user_once(sample, report):
    values = sample.ndcg(k=10).per_user.to_numpy()
    spread = report.distribution
    by_hand = [sum(1 for one in values if low <= one < high or one == high == 1) for low, high in _bins()]
    assert list(spread.counts) == by_hand
    assert sum(spread.counts) == spread.n_users == len(values)
    assert spread.shares == pytest.approx([count / len(values) for count in by_hand])
    assert spread.n_zero == sum(1 for one in values if one == 0)
    assert spread.n_top == sum(1 for one in values if one > 1 - 1e-9)
    assert spread.quartiles == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))


def _bins():
    edges = [tenth / 10 for tenth in range(11)]
    return list(pairwise(edges))


def test_value_on_an_edge_is_in_the_bin_above():
    users = range(11)
    recs = pd.DataFrame(
        [(user, item, item + 1) for user in users for item in range(10)], columns=["user", "item", "rank"]
    )
    truth = pd.DataFrame([(user, item) for user in users for item in range(max(user, 1))], columns=["user", "item"])
    spread = recs.rec.against(truth).report(k=10, metrics=["precision"]).distribution
    # Users 0 and 1 have one hit each, user n has n.
    assert spread.counts == (0, 2, 1, 1, 1, 1, 1, 1, 1, 2)


def test_value_a_hair_below_an_edge_is_on_it(report):
    values = np.array([0.8, np.nextafter(0.8, 0), 1.0, np.nextafter(1, 0), 1e-16])
    spread = distribution_of(values, report.lead, 10)
    assert spread.counts == (1, 0, 0, 0, 0, 0, 0, 0, 2, 2)
    assert (spread.n_zero, spread.n_top) == (1, 2)


def test_metric_without_a_top_has_bins_up_to_its_largest_value(sample):
    spread = sample.report(k=10, metrics=["dcg"]).distribution
    values = sample.dcg(k=10).per_user
    assert spread.n_top is None
    assert values.max() <= spread.top <= 2 * values.max()
    assert sum(spread.counts) == len(values)


def test_population(sample, report):
    data = recnb.datasets.load_sample()
    recs, truth = data.models["item-knn"], data.test
    people = report.population
    per_user = truth.groupby("user").size()
    assert (people.n_users, people.n_relevant, people.n_recommended) == (per_user.size, len(truth), len(recs))
    assert people.n_without_list == len(set(truth.user) - set(recs.user))
    assert people.n_without_relevant == len(set(recs.user) - set(truth.user))
    assert (people.n_items_recommended, people.n_items_relevant) == (recs.item.nunique(), truth.item.nunique())
    spread = people.relevant_per_user
    assert (spread.min, spread.median, spread.max) == (per_user.min(), per_user.median(), per_user.max())
    assert spread.mean == pytest.approx(per_user.mean())
    assert people.list_length.min == people.list_length.max == 20
    assert "; ".join([*people.users, *people.conventions, *people.notes]) == report.basis


def test_notes_and_gaps_are_told():
    frame = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 3, 1], "relevance": [0, 1, 1]})
    report = frame.rec.report(k=2)
    assert report.population.n_gaps == 1
    assert report.population.notes == frame.rec.evaluation().notes != ()
    parts = [*report.population.users, *report.population.conventions, *report.population.notes]
    assert sorted(parts) == sorted(report.basis.split("; "))
    for form in (report.to_html(), repr(report), report.to_markdown()):
        assert "lists of 1 user leave ranks empty" in form
        assert report.population.notes[0] in form


def test_best_and_worst_users_by_hand():
    report = small().report(k=2, metrics=["recall"])
    # a finds 1 of 1, b 1 of 2, c 0 of 1, d 0 of 2 with no list.
    assert [(one.user, one.value) for one in report.best] == [("a", 1.0), ("b", 0.5)]
    assert [(one.user, one.n_hits, one.n_relevant) for one in report.worst] == [("d", 0, 2), ("c", 0, 1)]
    b = report.best[1]
    assert [(place.rank, place.item, place.relevance) for place in b.places] == [(1, "x", 0.0), (2, "z", 1.0)]
    assert [(one.item, one.rank) for one in b.missed] == [("w", None)]
    assert report.worst[0].places == ()
    assert "No list" in report.to_html()
    assert "no list" in repr(report)


def test_ties_go_to_who_has_more_at_stake(sample, report):
    values = sample.ndcg(k=10).per_user
    frame = sample.to_frame().assign(value=values.round(12)).reset_index()
    hits = sample.hits(10)
    frame["found"] = np.bincount(hits.user[hits.rank <= 10], minlength=len(frame))
    frame["lost"] = frame["n_relevant"] - frame["found"]
    best = frame.sort_values(["value", "found", "user"], ascending=[False, False, True])["user"][:3]
    worst = frame.sort_values(["value", "lost", "user"], ascending=[True, False, True])["user"][:3]
    assert [one.user for one in report.best] == list(best)
    assert [one.user for one in report.worst] == list(worst)


def test_missed_items_say_where_they_stand_further_down():
    recs = pd.DataFrame({"user": 1, "item": list("abcdef"), "rank": range(1, 7)})
    truth = pd.DataFrame({"user": 1, "item": list("faz"), "relevance": [1, 1, 3]})
    (one,) = recs.rec.against(truth).report(k=2).best
    assert [(miss.item, miss.relevance, miss.rank) for miss in one.missed] == [("z", 3.0, None), ("f", 1.0, 6)]


def test_long_lists_and_many_misses_are_cut():
    recs = pd.DataFrame({"user": 1, "item": range(100), "rank": range(1, 101)})
    truth = pd.DataFrame({"user": 1, "item": range(1000, 1050)})
    truth = pd.concat([truth, pd.DataFrame({"user": [1], "item": [99]})])
    (one,) = recs.rec.against(truth).report(k=50).best
    assert (len(one.places), one.n_places, len(one.missed), one.n_missed) == (20, 50, 5, 51)


def test_users_are_numbers_or_text_as_in_the_frame():
    recs = pd.DataFrame({"user": [7, 8], "item": [1, 2], "rank": [1, 1]})
    report = recs.rec.against(recs.drop(columns="rank")).report(k=1)
    assert [type(one.user) for one in (*report.best, *report.worst)] == [int, int]
    dated = recs.assign(user=pd.to_datetime(["2020-01-01", "2020-01-02"]))
    told = dated.rec.against(dated.drop(columns="rank")).report(k=1).to_dict()
    assert told["best"][0]["user"].startswith("2020-01-0")


@pytest.mark.parametrize("k", [None, [5, None]])
def test_whole_lists_are_refused(sample, k):
    with pytest.raises(OptionError, match="whole numbers"):
        sample.report(k=k)


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": []}, {"k": True}])
def test_cutoffs_that_are_none(sample, wrong):
    with pytest.raises(CutoffError):
        sample.report(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"metrics": []}, {"metrics": ["nope"]}, {"gain": "cubic"}, {"colour": 1}, {"confidence": 2}]
)
def test_options_that_are_none(sample, wrong):
    with pytest.raises(OptionError):
        sample.report(k=5, **wrong)


NAMED = ["AP", "nDCG@10", "P@5", "Bpref", "coverage@5"]


def test_each_measure_has_the_cutoff_of_its_name() -> None:
    """One without a cut-off among others with one is of the whole list; no other number is computed or shown."""
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    report = ev.report(metrics=NAMED)
    frame = report.to_frame()
    got = {(row.metric, None if np.isnan(row.k) else row.k): row.mean for row in frame.itertuples()}
    wanted = {
        ("ndcg", 10): ev.ndcg(k=10), ("average_precision", None): ev.average_precision(), ("precision", 5): ev.precision(k=5),
        ("bpref", None): ev.bpref(), ("coverage", 5): ev.coverage(k=5),
    }  # fmt: skip
    assert got == pytest.approx(wanted)
    assert (report.lead.metric, report.lead_k, report.k) == ("ndcg", 10, (5, 10, None))
    row = next(line for line in repr(report).splitlines() if line.split()[:1] == ["bpref"])
    assert row.count("[") == 1
    assert f"{ev.bpref():.4f}" in row
    for text in (report.to_html(), report.to_markdown(), report.to_latex()):
        assert f"{ev.bpref():.4f}" in text
        assert f"{ev.bpref(k=10):.4f}" not in text
        assert f"{ev.precision(k=10):.4f}" not in text
        assert "n/a" not in text
        assert "whole list" in text
    segments = ev.report(metrics=NAMED, by="activity").segments
    assert segments is not None
    assert {row.metric for row in segments.rows} == {"ndcg"}
    assert set(ev.report(metrics=["nDCG@10", "AP"], k=[5]).to_frame()["k"]) == {5, 10}


def test_a_comparison_shows_each_measure_at_the_cutoff_of_its_name() -> None:
    sample = recnb.datasets.load_sample()
    found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
    report = found.report(metrics=["nDCG@10", "AP", "P@5"])
    data = json.loads(report.to_json())
    ap = found["popular"].average_precision()
    for text in (repr(report), report.to_html(), report.to_markdown(), report.to_latex()):
        assert f"{ap:.4f}" in text
        assert f"{found['popular'].precision(k=10):.4f}" not in text
    assert {(row["metric"], row["k"]) for row in data["differences"]} == {
        ("ndcg", 10), ("average_precision", None), ("precision", 5),
    }  # fmt: skip


def test_measures_as_cut_offs_and_titles_are_told_where_they_go(sample):
    with pytest.raises(OptionError, match=r"metrics=\['nDCG@10'\]"):
        sample.report(["nDCG@10"])
    with pytest.raises(OptionError, match=r"to_html\(title='May'\)"):
        sample.report(title="May")


def test_no_user_evaluated_has_a_list() -> None:
    truth = pd.DataFrame({"user": ["with a list", "without"], "item": ["a", "b"], "relevance": [0, 1]})
    report = recnb.evaluate({"with a list": ["x", "y"]}, truth).report(k=2)
    assert report.population.list_length == CountSummary(0, 0.0, 0.0, 0)
    for form in (repr(report), report.to_html(), report.to_markdown()):
        assert "0 items each" in form


def test_a_comparison_without_findings_counts_its_checks() -> None:
    report = recnb.compare({name: CLEAN.evaluate() for name in ("first", "second")}).report(k=[5, 10])
    assert report.data.findings == ()
    for form in (repr(report), report.to_markdown(), report.to_html()):
        assert f"Lint: no findings in {report.data.n_checks} checks" in form
