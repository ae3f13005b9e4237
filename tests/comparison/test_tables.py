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
from tests.comparison.frames import SAMPLE, SIDES, compared
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
    with pytest.raises(OptionError, match="by= cannot break it down"):
        found.table(["ndcg", "coverage"], k=5, by=pd.Series({"u1": 1}))
    with pytest.raises(OptionError, match="say True or False"):
        found.table("ndcg", intervals="yes")
    with pytest.raises(OptionError, match="has an option 'by'"):
        found.curve("ndcg", by="segment")


def test_two_names_of_one_number_are_refused():
    with pytest.raises(OptionError, match="'ndcg' more than once at k=10"):
        compared().table(["nDCG@10", "ndcg"], k=10)


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


@pytest.mark.parametrize(
    "basis_of",
    [
        lambda **options: (
            compared().differences("ndcg", k=10, **options).attrs["basis"]
        ),
        lambda **options: compared().movers("ndcg", k=10, **options).attrs["basis"],
        lambda **options: compared().not_worse("ndcg", k=10, **options).checks[0].basis,
    ],
    ids=["differences", "movers", "not_worse"],
)
def test_the_basis_of_what_is_paired_has_the_options_of_the_metric(basis_of):
    assert "2^relevance - 1" in basis_of(gain="exponential")
    assert "2^relevance - 1" not in basis_of()
