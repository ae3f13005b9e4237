"""The numbers of a report against plain loops and against the metrics asked one by one."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import CutoffError, OptionError
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.build import distribution_of
from recnb.report.request import curve_points
from tests.lint_planted import CLEAN


@pytest.fixture(scope="module")
def sample():
    return recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def ev(sample):
    side_data = {"train": sample.train, "items": sample.items, "users": sample.users}
    return recnb.evaluate(sample.models["item-knn"], sample.test, **side_data)


@pytest.fixture(scope="module")
def report(ev):
    return ev.report(k=[5, 10, 20], by="activity")


@pytest.fixture(scope="module")
def found(sample):
    return recnb.compare(sample.models, sample.test, train=sample.train, items=sample.items, baseline="popular")


@pytest.fixture(scope="module")
def compared(found):
    return found.report(k=[5, 10], by="activity")


def shown(report):
    return [user for group in report.users for user in group.users]


def small(**options):
    """Four users worked out by hand: lists of 2 at most, one user with no list."""
    recs = pd.DataFrame({"user": ["a", "a", "b", "b", "c"], "item": ["x", "y", "x", "z", "q"], "rank": [1, 2, 1, 2, 1]})
    truth = pd.DataFrame({"user": ["a", "b", "b", "c", "d", "d"], "item": ["x", "z", "w", "p", "p", "q"]})
    return recs.rec.against(truth).report(k=2, metrics=["recall"], **options)


def test_every_number_is_that_of_the_metric_asked_alone(ev, report):
    frame = report.to_frame()
    assert list(frame.columns) == ["metric", "k", "mean", "low", "high", "n_users"]
    assert len(frame) == (7 + len(LIST_METRICS)) * 3
    for row in frame.itertuples():
        score = getattr(ev, row.metric)(k=row.k)
        assert row.mean == pytest.approx(float(score), abs=1e-12)
        if score.has_interval:
            assert (row.low, row.high) == pytest.approx(tuple(score.interval())[:2], abs=1e-12)
            assert row.n_users == getattr(score, "n_users", 298)
        else:
            assert np.isnan(row.low)


def test_the_numbers_of_a_comparison_are_those_of_its_methods(found, compared):
    frame = compared.to_frame()
    table, apart = found.table(k=[5, 10]), found.differences(k=[5, 10])
    assert len(frame) == (7 + len(LIST_METRICS)) * 2 * 3
    for row in frame.itertuples():
        if row.metric in LIST_METRICS:
            assert row.mean == pytest.approx(float(getattr(found[row.model], row.metric)(k=row.k)))
            continue
        assert row.mean == pytest.approx(table.loc[row.model, f"{row.metric}@{row.k}"])
        here = apart[(apart.metric == row.metric) & (apart.k == row.k) & (apart.model == row.model)]
        assert here.empty == (row.model == "popular") == np.isnan(row.difference)
        if not here.empty:
            columns = ["difference", "low", "high", "p_holm"]
            assert here.iloc[0][columns].tolist() == [getattr(row, name) for name in columns]
    best = {mean.model: (mean.best, mean.near_best) for mean in compared.means_of("ndcg", 10)}
    assert best == {"item-knn": (False, True), "factors": (True, False), "popular": (False, False)}


def test_the_overlap_and_the_users_are_those_of_the_comparison(found, compared):
    assert list(compared.overlaps) == pd.DataFrame(found.overlap(k=10)).to_dict("records")
    assert compared.users[:2] == found.movers("ndcg", k=10, n=2, model="item-knn").groups
    won, tied, lost = compared.users[0].counts
    row = next(row for row in compared.differences if (row.model, row.label) == ("item-knn", "nDCG@10"))
    assert (won, tied, lost) == (row.won, row.tied, row.lost)


@pytest.fixture
def computed(monkeypatch):
    """The metrics that are computed, each time one is."""
    calls, at = [], Metric.at

    def counted(metric, *args):
        calls.append(metric.name)
        return at(metric, *args)

    monkeypatch.setattr(Metric, "at", counted)
    return calls


@pytest.mark.parametrize("n_models", [1, 2])
def test_a_metric_of_each_model_is_computed_once(computed, n_models):
    # Nothing is found in these data: the lint computes its metric as it is, and of the best lists.
    evaluations = {f"model {at}": CLEAN.evaluate() for at in range(n_models)}
    first = evaluations["model 0"]
    asked, several = ["ndcg", "recall", "f1"], n_models > 1
    (recnb.compare(evaluations) if several else first).report(k=[5, 10], metrics=asked)
    # Those beyond accuracy are computed at one cut-off at a time.
    assert Counter(computed) == {
        **dict.fromkeys(asked, n_models),
        **dict.fromkeys(LIST_METRICS, 2 * n_models),
        "ndcg": 3 * n_models,
    }


def test_confidence_and_options_are_used(ev):
    report = ev.report(k=10, metrics=["ndcg", "tail_share"], confidence=0.995, gain="exponential", ratio=0.5)
    score = ev.ndcg(k=10, gain="exponential")
    (mean,) = report.means_of("ndcg", 10)
    assert (mean.mean, mean.low, mean.high) == pytest.approx((float(score), *score.interval(0.995)[:2]))
    assert report.means_of("tail_share", 10)[0].mean == pytest.approx(float(ev.tail_share(k=10, ratio=0.5)))
    assert "gain 2^relevance - 1" in report.lead.convention


@pytest.mark.parametrize("convention", ["trec", "ranx", "recbole", "scikit-learn"])
def test_under_a_library_every_number_is_that_of_the_library(sample, convention):
    ev = recnb.evaluate(sample.models["item-knn"], sample.test, convention=convention)
    for row in ev.report(k=[5, 10], metrics=["ndcg", "precision", "recall"]).to_frame().itertuples():
        assert row.mean == pytest.approx(float(getattr(ev, row.metric)(k=row.k)), abs=1e-12)


def test_a_comparison_takes_options(found):
    report = found.report(k=5, metrics={"ndcg": {"gain": "exponential"}}, movers=0)
    assert report.users == ()
    assert report.means_of("ndcg", 5)[0].mean == pytest.approx(found["item-knn"].ndcg(k=5, gain="exponential"))


def test_the_curve_is_the_metric_at_every_k(ev, report):
    curve = report.curves[""]
    assert [mean.k for mean in curve] == list(range(1, 21))
    assert [mean.mean for mean in curve] == pytest.approx([float(ev.ndcg(k=mean.k)) for mean in curve])
    assert (curve[6].low, curve[6].high) == pytest.approx(tuple(ev.ndcg(k=7).interval())[:2])


@pytest.mark.parametrize("at", [[1], [5], [5, 10, 20], [100], [7, 1000], list(range(1, 60))])
def test_a_curve_has_few_points_from_1_to_the_deepest(at):
    points = curve_points(at)
    assert (points[0], points[-1]) == (1, max(at))
    assert list(points) == sorted(set(points))
    assert len(points) <= 33
    assert len(at) > 10 or set(at) <= set(points)


def test_the_distribution_counts_every_user_once(ev, report):
    values, (spread,) = ev.ndcg(k=10).per_user.to_numpy(), report.distributions
    edges = pairwise(tenth / 10 for tenth in range(11))
    by_hand = [sum(1 for one in values if low <= one < high or one == high == 1) for low, high in edges]
    assert list(spread["counts"]) == by_hand
    assert sum(spread["counts"]) == spread["n_users"] == len(values)
    assert spread["shares"] == pytest.approx([count / len(values) for count in by_hand])
    assert (spread["n_zero"], spread["n_top"]) == ((values == 0).sum(), (values > 1 - 1e-9).sum())
    assert spread["quartiles"] == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))


def test_a_value_a_hair_below_an_edge_is_on_it():
    spread = distribution_of("", np.array([0.8, np.nextafter(0.8, 0), 1.0, np.nextafter(1, 0), 1e-16, 0.1]), 1.0)
    assert spread["counts"] == [1, 1, 0, 0, 0, 0, 0, 0, 2, 2]
    assert (spread["n_zero"], spread["n_top"]) == (1, 2)


def test_a_metric_without_a_top_has_bins_up_to_its_largest_value(ev):
    (spread,) = ev.report(k=10, metrics=["dcg"]).distributions
    values = ev.dcg(k=10).per_user
    assert spread["n_top"] is None
    assert values.max() <= spread["edges"][-1] <= 2 * values.max()
    assert sum(spread["counts"]) == len(values)


def test_the_population_is_counted(sample, report):
    recs, truth, (people,) = sample.models["item-knn"], sample.test, report.populations
    per_user = truth.groupby("user").size()
    assert (people["n_users"], people["n_relevant"], people["n_recommended"]) == (per_user.size, len(truth), len(recs))
    assert people["n_without_list"] == len(set(truth.user) - set(recs.user))
    assert people["n_without_relevant"] == len(set(recs.user) - set(truth.user))
    assert (people["n_items_recommended"], people["n_items_relevant"]) == (recs.item.nunique(), truth.item.nunique())
    spread = people["relevant_per_user"]
    assert (spread["min"], spread["median"], spread["max"]) == (per_user.min(), per_user.median(), per_user.max())
    assert spread["mean"] == pytest.approx(per_user.mean())
    assert people["list_length"]["min"] == people["list_length"]["max"] == 20
    assert all(one in report.basis for one in (*people["users"], *report.notes))


def test_no_user_evaluated_has_a_list():
    truth = pd.DataFrame({"user": ["with a list", "without"], "item": ["a", "b"], "relevance": [0, 1]})
    report = recnb.evaluate({"with a list": ["x", "y"]}, truth).report(k=2)
    assert report.populations[0]["list_length"] == {"min": 0, "median": 0.0, "mean": 0.0, "max": 0}


def test_best_and_worst_users_by_hand():
    best, worst = small().users
    # a finds 1 of 1, b 1 of 2, c 0 of 1, d 0 of 2 with no list.
    assert [(user.user, user.values) for user in best.users] == [("a", (1.0,)), ("b", (0.5,))]
    assert [(user.user, user.n_hits, user.n_relevant) for user in worst.users] == [("d", 0, 2), ("c", 0, 1)]
    b = best.users[1]
    assert [(item.rank, item.item, item.relevance) for item in b.lists[0]] == [(1, "x", 0.0), (2, "z", 1.0)]
    assert [(item.item, item.rank) for item in b.missed] == [("w", None)]
    assert worst.users[0].lists == ((),)


def test_of_equal_users_those_with_more_at_stake_come_first(ev, report):
    frame = ev.to_frame().assign(value=ev.ndcg(k=10).per_user.round(12)).reset_index()
    hits = ev.hits(10)
    frame["found"] = np.bincount(hits.user[hits.rank <= 10], minlength=len(frame))
    frame["lost"] = frame["n_relevant"] - frame["found"]
    best = frame.sort_values(["value", "found", "user"], ascending=[False, False, True])["user"][:3]
    worst = frame.sort_values(["value", "lost", "user"], ascending=[True, False, True])["user"][:3]
    assert [user.user for user in shown(report)] == [*best, *worst]


def test_missed_items_say_where_they_stand_further_down():
    recs = pd.DataFrame({"user": 1, "item": list("abcdef"), "rank": range(1, 7)})
    truth = pd.DataFrame({"user": 1, "item": list("faz"), "relevance": [1, 1, 3]})
    (user,) = shown(recs.rec.against(truth).report(k=2))
    assert [(miss.item, miss.relevance, miss.rank) for miss in user.missed] == [("z", 3.0, None), ("f", 1.0, 6)]


def test_long_lists_and_many_misses_are_cut():
    recs = pd.DataFrame({"user": 1, "item": range(100), "rank": range(1, 101)})
    truth = pd.DataFrame({"user": 1, "item": [*range(1000, 1050), 99]})
    (user,) = shown(recs.rec.against(truth).report(k=50))
    assert (len(user.lists[0]), user.n_places, len(user.missed), user.n_missed) == (20, 50, 5, 51)


def test_users_are_numbers_or_text_as_in_the_frame():
    recs = pd.DataFrame({"user": [7, 8], "item": [1, 2], "rank": [1, 1]})
    report = recs.rec.against(recs.drop(columns="rank")).report(k=1)
    assert [type(user.user) for user in shown(report)] == [int, int]


def test_segments_are_those_of_the_table(ev, report, found, compared):
    table = ev.table(k=10, by="activity")
    frame = report.segments.to_frame()
    for column in ("n_users", "mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm"):
        assert frame[column].to_numpy() == pytest.approx(table[column].to_numpy(), nan_ok=True), column
    apart = found.differences("ndcg", k=10, by="activity")
    rows = compared.segments.rows
    assert [row["segment"] for row in rows] == apart["activity"].tolist()
    assert [(row["gap"], row["p_holm"], row["verdict"]) for row in rows] == [*zip(apart.difference, apart.p_holm, apart.verdict, strict=True)]  # fmt: skip


def test_a_segment_that_stands_out_is_marked():
    rng = np.random.default_rng(3)
    rows = [(user, rank, rank) for user in range(200) for rank in range(1, 6)]
    recs = pd.DataFrame(rows, columns=["user", "item", "rank"])
    truth = pd.DataFrame(
        {"user": range(200), "item": [1 + user % 2 if user < 100 else int(rng.integers(3, 9)) for user in range(200)]}
    )
    kind = pd.Series(["good" if user < 100 else "bad" for user in range(200)], name="kind")
    report = recs.rec.against(truth).report(k=5, metrics=["ndcg"], by=kind)
    assert {row["segment"]: row["verdict"] for row in report.segments.rows} == {"good": "above", "bad": "below"}
    for form in (report.to_html(), repr(report), report.to_markdown()):
        assert "▲ above" in form
        assert "▼ below" in form


@pytest.mark.parametrize(("parts", "n"), [(2, 2), (3, 6)])
def test_the_number_of_tests_is_that_of_the_correction(ev, parts, n):
    # Of two segments each is the rest of the other: one test a metric.
    by = pd.Series({user: at % parts for at, user in enumerate(ev.users)})
    assert f"over {n} tests" in ev.report(k=5, metrics=["ndcg", "recall"], by=by).segments.basis


def test_findings_are_those_of_the_lint_once_and_whose(ev, report, found, compared):
    assert [(one.finding.name, one.finding.short) for one in report.findings] == [(one.name, one.short) for one in ev.lint(10)]  # fmt: skip
    assert [one.finding.severity for one in compared.findings] == sorted((one.finding.severity for one in compared.findings), reverse=True)  # fmt: skip
    for model, one in found.models.items():
        told = {each.finding.short for each in compared.findings if model in each.models}
        assert told == {finding.short for finding in one.lint(10)}


def test_findings_are_told_by_the_lead_metric_and_its_options(ev):
    # Lists have 20 items: of 50, the options tell.
    report = ev.report(k=[50], metrics={"precision": {"out_of": "list"}, "ndcg": {}})
    assert report.lints[""].label == "Precision@50"
    assert report.lints[""].value == pytest.approx(report.means_of("precision", 50)[0].mean)


def test_metrics_beyond_accuracy_are_named_or_come_with_the_frames(sample, ev):
    bare = sample.models["item-knn"].rec.against(sample.test)
    assert all(metric.is_accuracy for metric in bare.report(k=5).metrics)
    assert [metric.metric for metric in ev.report(k=5, metrics=["coverage", "ndcg"]).metrics] == ["ndcg", "coverage"]
    lacking = bare.report(k=5, metrics=["ndcg", "novelty"])
    assert "train=" in lacking.lacking["novelty"]
    assert "train=" in lacking.to_html()
    for models in (bare, recnb.compare(sample.models, sample.test)):
        with pytest.raises(OptionError, match="a metric of accuracy"):
            models.report(k=5, metrics=["coverage"])
    with pytest.raises(OptionError, match="train="):
        recnb.compare(sample.models, sample.test).report(k=5, metrics=["ndcg", "novelty"])


NAMED = ["AP", "nDCG@10", "P@5", "Bpref", "coverage@5"]


def test_each_measure_has_the_cutoff_of_its_name(sample):
    """One without a cut-off among others with one is of the whole list; no other number is computed or shown."""
    ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    report = ev.report(metrics=NAMED)
    got = {(mean.metric, mean.k): mean.mean for mean in report.means}
    wanted = {
        ("ndcg", 10): ev.ndcg(k=10), ("average_precision", None): ev.average_precision(), ("precision", 5): ev.precision(k=5),
        ("bpref", None): ev.bpref(), ("coverage", 5): ev.coverage(k=5),
    }  # fmt: skip
    assert got == pytest.approx(wanted)
    assert (report.lead.metric, report.lead_k, report.k) == ("ndcg", 10, (5, 10, None))
    for text in (repr(report), report.to_html(), report.to_markdown(), report.to_latex()):
        assert f"{ev.bpref():.4f}" in text
        assert f"{ev.precision(k=10):.4f}" not in text
        assert "n/a" not in text
        assert "whole list" in text
    assert {row["metric"] for row in ev.report(metrics=NAMED, by="activity").segments.rows} == {"ndcg"}
    assert set(ev.report(metrics=["nDCG@10", "AP"], k=[5]).to_frame()["k"]) == {5, 10}


def test_a_comparison_has_each_measure_at_the_cutoff_of_its_name_in_one_table(sample):
    found = recnb.compare(sample.models, sample.test, baseline="popular")
    report = found.report(metrics=["nDCG@10", "AP", "P@5"])
    assert {(row.metric, row.k) for row in report.differences} == {
        ("ndcg", 10), ("average_precision", None), ("precision", 5),
    }  # fmt: skip
    assert r"nDCG@10 & Precision@5 & AP \\" in report.to_latex()
    assert report.to_latex().count(r"\begin{tabular}") == 1
    assert f"{found['popular'].precision(k=10):.4f}" not in report.to_html()


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (OptionError, {"k": None}), (OptionError, {"k": [5, None]}), (CutoffError, {"k": 0}), (CutoffError, {"k": []}),
        (CutoffError, {"k": True}), (OptionError, {"metrics": []}), (OptionError, {"metrics": ["nope"]}), (OptionError, {"gain": "cubic"}),
        (OptionError, {"colour": 1}), (OptionError, {"confidence": 2}), (OptionError, {"lang": "de"}), (OptionError, {"by": "activty"}),
        (OptionError, {"by": "activity", "bins": 1}), (OptionError, {"k": ["nDCG@10"]}), (OptionError, {"title": "May"}),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(ev, found, error, wrong):
    for models in (ev, found):
        with pytest.raises(error):
            models.report(**{"k": 5, **wrong})


@pytest.mark.parametrize("movers", [-1, 1.5, True])
def test_movers_is_a_number_of_users(found, movers):
    with pytest.raises(OptionError, match="movers="):
        found.report(k=5, movers=movers)


def test_where_names_as_cut_offs_and_titles_go_is_told(ev):
    with pytest.raises(OptionError, match=r"metrics=\['nDCG@10'\]"):
        ev.report(["nDCG@10"])


def test_json_is_a_dump_of_the_data(report, compared, tmp_path):
    for one in (report, compared):
        told = json.loads(one.to_json())
        assert told == one.to_dict()
        assert one.to_json(tmp_path / "report.json") is None
        assert told == json.loads((tmp_path / "report.json").read_text("utf-8"))
        assert told["schema"] == "recnb.report/4"
        assert set(vars(one)) < told.keys()
        assert [(mean["metric"], mean["k"], mean["mean"]) for mean in told["means"]] == [(mean.metric, mean.k, mean.mean) for mean in one.means]  # fmt: skip
        assert {finding["name"] for finding in told["findings"]} == {found.finding.name for found in one.findings}
        assert told["users"][0]["users"][0].keys() >= {"user", "values", "lists", "missed", "n_missed"}
    told = compared.to_dict()
    assert {row["verdict"] for row in told["differences"]} == {"better", "open"}
    assert told["segments"]["rows"][0]["difference"]["won"] == compared.segments.rows[0]["difference"]["won"]


@pytest.mark.parametrize("values", [["2020-01-01", "2020-01-02"], [1.5, 2.5]])
def test_json_of_segments_and_users_that_are_dates_or_decimals(values):
    recs = pd.DataFrame({"user": [7, 8], "item": [1, 2], "rank": [1, 1]})
    by = pd.to_datetime(pd.Series(values)) if isinstance(values[0], str) else pd.Series(values)
    by.index = [7, 8]
    report = recs.rec.against(recs.drop(columns="rank")).report(k=1, by=by.rename("by"))
    assert len(report.to_dict()["segments"]["rows"]) == 14
    assert json.loads(report.to_json())


def test_many_users_stay_small():
    def page(n):
        user, rank = np.repeat(np.arange(n), 10), np.tile(np.arange(1, 11), n)
        name = pl.lit("<&é" * 30) + pl.col("item").cast(pl.String)
        recs = pl.DataFrame({"user": user, "item": (user * 7 + rank * 13) % 3000, "rank": rank}).with_columns(item=name)
        truth = recs.filter(pl.Series(rank == user % 10 + 1)).select("user", "item")
        train = recs.select("user", "item").with_columns(pl.col("item").shift(5).fill_null("x"))
        report = recnb.evaluate(recs, truth, train=train.unique()).report(by="activity")
        return len(report.to_html().encode()), len(report.to_markdown())

    (few, _text), (many, text) = page(300), page(6_000)
    assert many < 1.15 * few
    assert many < 200_000
    assert text < 60_000
