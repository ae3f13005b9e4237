"""What a comparison shows: marks, verdicts and conclusions in the right words,
pictures, both languages.
"""

from __future__ import annotations

import dataclasses
import re
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recnb
from recnb.display.forms import CONSOLE
from recnb.errors import OptionError
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import METRICS
from recnb.results.conclusions import conclusions
from recnb.results.numbers import DifferenceRow
from recnb.results.verdicts import verdict_of
from recnb.stats import Settings
from tests.comparison.frames import FIRST, SAMPLE, SIDES, TRUTH, compared, lists
from tests.rows import read_rows

mpl.use("Agg")


def test_a_field_of_a_difference_is_a_column_unless_others_tell_it():
    told_by_others = {"symbol", "better", "n_lists", "cluster", "part"}
    fields = {field.name for field in dataclasses.fields(DifferenceRow)}
    columns = DifferenceRow.columns("frame")
    assert {*columns} == fields - told_by_others


def test_what_is_near_the_best_is_not_apart_from_it_by_the_corrected_test():
    """Beyond accuracy nothing is best, and marks beside it stay as they are."""
    models = SAMPLE.models | {"other": SAMPLE.models["factors"].query("rank != 5")}
    found = recnb.compare(models, SAMPLE.test, train=SAMPLE.train, pairs="all")
    table = found.table(["ndcg", "recall"], k=[5, 10])
    is_near = {}
    for column in table:
        metric, k = column.split("@")
        values = {
            name: getattr(found[name], metric)(k=int(k)).per_user for name in found
        }
        best = table[column].idxmax()
        pairs = [{*pair} for pair in found.pairs]
        p = [stats.ttest_rel(*(values[name] for name in pair)).pvalue for pair in pairs]
        p_holm = recnb.stats.holm(np.array(p))
        for pair, corrected in zip(pairs, p_holm, strict=True):
            if best in pair:
                (other,) = pair - {best}
                is_near[column, other] = corrected > 0.05
    assert set(is_near.values()) == {True, False}
    beside = found.table(["ndcg", "novelty", "recall"], k=[5, 10])
    for marks in (table.attrs, beside.attrs):
        for column in table:
            assert marks["best"][column] == [table[column].idxmax()]
            assert marks["near_best"][column] == [
                name for name in found if is_near.get((column, name))
            ]
    assert (
        beside.attrs["best"]["novelty@10"]
        == beside.attrs["near_best"]["novelty@10"]
        == []
    )
    assert (
        table._repr_html_().count("<b><u>") == len(table.columns) + 1
    )  # and in the legend
    table["mine"] = 1.5  # a column that was not compared
    assert "*1.5000*" not in repr(table)


SIGNS = {"better": "▲", "worse": "▼", "higher": "△", "lower": "▽"}


@pytest.mark.parametrize("by", [None, "segment"])
def test_marks_beside_a_named_baseline_are_the_verdicts_of_the_differences(by):
    found = recnb.compare(
        SAMPLE.models, SAMPLE.test, baseline="item-knn", users=SAMPLE.users, **SIDES
    )
    table = found.table(["ndcg", "novelty"], k=[5, 10], by=by)
    verdicts = {}
    for row in found.differences(["ndcg", "novelty"], k=[5, 10], by=by).itertuples():
        label = row.model if by is None else (row.segment, row.model)
        verdicts[label, f"{row.metric}@{row.k}"] = row.verdict
    assert {"better", "worse", "higher", "lower"} & {*verdicts.values()}
    shown = dict(zip(table.index, rows_of(table), strict=True))
    for label in table.index:
        for at, column in enumerate(table, -len(table.columns)):
            sign = SIGNS.get(verdicts.get((label, column), ""), "")
            assert re.sub(r"[*\d.]", "", shown[label][at]) == sign
    assert table.attrs["near_best"] == {column: [] for column in table}
    assert "▲ better, ▼ worse than item-knn" in repr(table)
    assert "△ higher, ▽ lower than item-knn" in repr(table)
    assert "not significantly different from it" not in repr(table)


def rows_of(table):
    """The cells of a table of Markdown."""
    lines = table.to_markdown().split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


def test_marks_are_against_the_best_where_every_two_are_compared():
    found = recnb.compare(SAMPLE.models, SAMPLE.test, pairs="all")
    table = found.table("ndcg", k=10)
    legend = " ".join(repr(table).split())
    assert "°: not shown to differ from it" in legend
    assert "One without a mark is shown to differ, or is not tested" in legend
    assert "than" not in legend
    assert table.attrs["near_best"] == {"ndcg@10": ["item-knn"]}
    for kind in ("better", "worse", "higher", "lower"):
        assert table.attrs[kind] == {"ndcg@10": []}
    two = {name: SAMPLE.models[name] for name in ("factors", "popular")}
    apart = recnb.compare(two, SAMPLE.test, pairs="all").table("ndcg", k=10)
    assert apart.attrs["near_best"] == {"ndcg@10": []}


def test_marks_are_against_the_first_model_where_no_baseline_was_named():
    """No test is made beside those of the differences."""
    found = recnb.compare(SAMPLE.models, SAMPLE.test)
    table = found.table("ndcg", k=10)
    assert table.attrs["near_best"] == {"ndcg@10": []}
    assert table.attrs["worse"] == {"ndcg@10": ["popular"]}
    assert "°" not in repr(table)
    assert "▼ worse than item-knn" in repr(table)
    for mean in found.report(k=10, metrics=["ndcg"]).means:
        assert mean.mark == ("worse" if mean.model == "popular" else "")


def test_marks_of_parts_of_the_truth_are_none():
    parts = recnb.compare(
        SAMPLE.models,
        SAMPLE.test.assign(week=SAMPLE.test.index % 2),
        baseline="popular",
    ).table("ndcg", k=10, by="week")
    assert "▲" not in repr(parts)  # of parts of the truth nothing is tested


def test_where_all_means_are_the_same_none_is_the_best():
    """Neither of zeros nor of the same lists; of two that share the first place both."""
    other = lists(a="px", b="px", c="px", d="px")  # 1/2 for each
    nothing = lists(a="pq", b="pq", c="pq", d="pq")
    models = {"none": nothing, "one": FIRST, "other": nothing, "same": FIRST}
    zeros = recnb.compare({"none": nothing, "other": nothing}, TRUTH)
    for found in (zeros, recnb.compare({"one": FIRST, "two": FIRST}, TRUTH)):
        table = found.table("ndcg", k=2)
        assert table.attrs["best"] == {"ndcg@2": []}
        assert table.attrs["near_best"] == {"ndcg@2": []}
        assert "*" not in repr(table)
        assert "highest mean" not in repr(table)
        report = found.report(k=2)
        assert not any(mean.best or mean.near_best for mean in report.means)
    shared = recnb.compare({**models, "half": other}, TRUTH).table("ndcg", k=2)
    assert shared.attrs["best"] == {"ndcg@2": ["one", "same"]}


def test_a_table_has_intervals_and_numbers_of_all_lists():
    found = compared()
    table = found.table(["coverage", "ndcg", "novelty"], k=[5, 10], intervals=True)
    plain = found.table(["coverage", "ndcg", "novelty"], k=[5, 10])
    assert table.columns.nlevels == 2
    assert table.xs("mean", axis=1, level=1).equals(plain.to_frame())
    for name in found:
        for k in (5, 10):
            assert table.loc[name, (f"coverage@{k}", "mean")] == found[name].coverage(k)
            assert np.isnan(table.loc[name, (f"coverage@{k}", "low")])
            ends = table.loc[name, f"ndcg@{k}"][["low", "high"]]
            assert ends.to_numpy() == pytest.approx(found[name].ndcg(k).interval())
    columns = [*table.to_frame().columns[:4]]
    assert columns == [
        "coverage@5",
        "coverage@5 low",
        "coverage@5 high",
        "coverage@10",
    ]
    assert "0.2438▲ (0.2120–0.2795)" in table.to_markdown().replace("**", "")
    assert "Coverage: 298 users with a list" in table.attrs["basis"]
    assert "95% intervals" in table.attrs["basis"]
    for one, other in zip(
        plain.plot().containers, table.plot().containers, strict=True
    ):
        drawn, again = (
            [segment.tolist() for segment in container.lines[2][0].get_segments()]
            for container in (one, other)
        )
        assert drawn == again
    with pytest.raises(OptionError, match="by= cannot break it down"):
        found.table(["ndcg", "coverage"], k=5, by=pd.Series({"u1": 1}))
    with pytest.raises(OptionError, match="say True or False"):
        found.table("ndcg", intervals="yes")
    with pytest.raises(OptionError, match="has an option 'by'"):
        found.curve("ndcg", by="segment")


def test_two_names_of_one_number_are_refused():
    with pytest.raises(OptionError, match="'nDCG@10' and 'ndcg@10' are the same"):
        compared().table(["nDCG@10", "ndcg"], k=10)


def test_metrics_beyond_accuracy_say_where_lists_are_cut():
    for k, words in ((3, "lists cut at 3"), (None, "whole lists")):
        table = compared().beyond(k=k)
        for shown in (repr(table), table.to_latex(), table.to_markdown()):
            assert f"Beyond accuracy, {words}" in shown


USUAL = {
    "metric": "ndcg",
    "symbol": "nDCG",
    "k": 5,
    "model": "new",
    "baseline": "old",
    "difference": 0.01,
    "low": -0.01,
    "high": 0.03,
    "p": 0.2,
    "p_holm": 0.4,
    "effect_size": 0.1,
    "won": 5,
    "tied": 2,
    "lost": 3,
    "n_users": 10,
    "detectable": 0.05,
    "better": "high",
}


VERDICTS = read_rows("comparison/verdicts.toml")


@pytest.mark.parametrize("numbers", VERDICTS)
def test_what_may_be_said(numbers):
    verdict = VERDICTS[numbers]["verdict"]
    row = DifferenceRow(**{**USUAL, **eval(numbers)}, verdict=verdict)
    if verdict != "same":  # which the numbers of users say
        assert verdict == verdict_of(
            row.difference,
            row.low,
            row.high,
            row.p_holm,
            alpha=0.05,
            better=row.better,
        )
    others = [dataclasses.replace(row, p=0.2)] * 2
    line, *_lines = conclusions([row, *others], Settings())
    assert VERDICTS[numbers]["words"] in CONSOLE.write(line)


def test_users_who_are_too_few_or_alike_and_one_comparison():
    same = recnb.compare({"one": FIRST, "two": FIRST}, TRUTH)
    row = same.differences("ndcg", k=2).iloc[0]
    assert (row.verdict, np.isnan(row.p), row.tied) == ("same", True, 4)
    assert same.overlap(2).loc[0, ["jaccard", "n_identical"]].tolist() == [1, 4]
    alone = recnb.compare({"one": lists(a="xy"), "two": lists(a="yx")}, TRUTH.head(1))
    assert alone.differences("ndcg", k=2).verdict.tolist() == ["untested"]
    assert "too few users or differences for a test" in repr(alone.report(k=2))
    single = recnb.compare(
        {name: SAMPLE.models[name] for name in ("factors", "popular")}, SAMPLE.test
    )
    assert "Holm" not in str(single.differences("ndcg", k=10))
    assert (
        single.differences("ndcg", k=10).notes[0].startswith("Comparisons tested: 1 ")
    )


def test_conclusions_name_equal_scores_that_decide():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "qid": np.repeat(np.arange(60), 8),
            "label": np.tile([1, 1, 0, 0, 0, 0, 0, 0], 60),
        }
    )
    frame = frame.assign(pred=0.0, pred2=rng.normal(size=len(frame)))
    found = recnb.compare(frame, score=["pred", "pred2"]).differences("ndcg", k=5)
    (told,) = (note for note in found.notes if note.startswith("pred"))
    assert told.startswith("pred: Queries for which equal scores decide: 60 of 60")
    assert told in " ".join(repr(found).split())
    assert "equal scores decide" in found._repr_html_()


def test_a_forest_names_its_rows_by_verdict_metric_and_models():
    axes = compared().differences("ndcg", k=[5, 10]).plot()
    assert [one.get_text() for one in axes.get_yticklabels()] == [
        f"▲ nDCG@{k} {model} − popular"
        for k in (5, 10)
        for model in ("item-knn", "factors")
    ]
    assert axes.get_xlabel() == "difference, first minus second"
    assert len(compared().curve("ndcg", k=range(1, 6)).plot().lines) == 3


@pytest.mark.parametrize("models", ["ab", "ba"])
def test_parts_of_the_truth_that_one_model_has_no_users_of(models):
    """User 2, alone in the part y, has a list from one model and none from the other."""
    truth = pd.DataFrame(
        {"user": [1, 1, 2], "item": list("pqp"), "day": ["x", "z", "y"]}
    )
    lists_of = {
        "a": pd.DataFrame({"user": [1, 2], "item": list("pp"), "rank": 1}),
        "b": pd.DataFrame({"user": [1], "item": ["q"], "rank": 1}),
    }
    found = recnb.compare(
        {name: lists_of[name] for name in models}, truth, averaged_users="both"
    )
    means = found.table("recall", k=1, by="day")["recall@1"].to_dict()
    assert means == {("x", "a"): 1, ("x", "b"): 0, ("z", "a"): 0, ("z", "b"): 1}
    told = found.report(k=1, metrics="recall", by="day").to_dict()["segments"]
    assert [told["names"][part] for part in told["differences"]["part"]] == ["x", "z"]


def test_a_metric_of_other_relevant_items_says_which_and_of_how_many_users():
    truth = pd.DataFrame({"user": range(30), "item": "a", "relevance": 1})
    truth.loc[20:, "relevance"] = 3
    recs = pd.DataFrame({"user": range(30), "item": "a", "rank": 1})
    found = recnb.compare({"x": recs, "y": recs[:25]}, truth, baseline="x")
    told = "AP(rel=2): 10 users, relevant: relevance of 2 or more"
    bases = [
        found.table(["AP", "AP(rel=2)"]).attrs["basis"],
        found.differences(["AP(rel=2)"]).attrs["basis"],
        found.not_worse("AP(rel=2)").basis,
    ]
    assert all(told in basis for basis in bases)
    assert "AP(rel=2)" not in found.table(["AP"]).attrs["basis"]
    assert found.differences(["AP(rel=2)"])["n_users"].tolist() == [10]


def test_a_metric_that_is_no_longer_known_by_its_name_has_a_curve():
    @recnb.metric(symbol="Gone", credit="1", out_of="k", bounds=(0, 1))
    def gone(hits, k=None):
        """Share of the first k places that hold a relevant item."""
        return Credit(hits, k, np.ones(len(hits.rank)), out_of_count(hits, k, "k"))

    del METRICS["gone"]
    means = compared().curve(gone, k=[5])["mean"].tolist()
    assert means == compared().curve("precision", k=[5])["mean"].tolist()


def test_a_library_without_a_usual_metric_under_weights_is_asked_for_names():
    truth = SAMPLE.test.assign(shown=0.5)
    options = {"propensity": "shown", "convention": "rexmex"}
    found = recnb.compare(SAMPLE.models, truth, **options)
    for ask in (found["popular"].table, found.table, found.differences):
        with pytest.raises(OptionError, match="rexmex has none of the usual metrics"):
            ask()
    assert len(found.differences(["recall"], k=5)) == 2


def test_an_option_beside_a_text_that_gives_it_is_of_the_other_metrics():
    table = compared()["popular"].table(["nDCG(dcg='exp-log2')", "ndcg"], gain="binary")
    plain = compared()["popular"].table(["nDCG(dcg='exp-log2')"])
    assert table.iloc[0].tolist() == plain.iloc[0].tolist()
    with pytest.raises(OptionError, match="leave one of them out"):
        compared()["popular"].table(["nDCG(dcg='exp-log2')"], gain="linear")


def test_only_a_deleted_lint_is_done_without(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("recnb.lint")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "recnb.lint", None)
    assert compared().differences("ndcg", k=5) is not None
    monkeypatch.delitem(sys.modules, "recnb.lint")
    monkeypatch.setitem(sys.modules, "recnb.lint.data", None)
    with pytest.raises(ModuleNotFoundError, match=r"recnb\.lint\.data"):
        compared().differences("ndcg", k=5)
