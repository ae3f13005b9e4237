"""What a comparison shows: marks, verdicts and conclusions in the right words,
pictures, both languages.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.comparison.tables import TESTED
from recnb.display.forms import CONSOLE
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import METRICS
from recnb.results.conclusions import conclusions
from recnb.results.numbers import NAMES, DifferenceRow
from recnb.results.verdicts import MARKS, verdict_of
from recnb.stats import Settings
from tests.comparison.frames import SAMPLE, SIDES, USUAL, compared
from tests.rows import read_rows


def test_a_field_of_a_difference_is_a_column_unless_others_tell_it():
    told_by_others = {"symbol", "better", "n_lists", "cluster", "part"}
    fields = {field.name for field in dataclasses.fields(DifferenceRow)}
    assert {*NAMES, *TESTED} == fields - told_by_others


def test_what_is_near_the_best_is_not_apart_from_it_by_the_corrected_test():
    """Beyond accuracy nothing is best, and marks beside it stay as they are."""
    models = SAMPLE.models | {"other": SAMPLE.models["factors"].query("rank != 5")}
    found = recnb.compare(models, SAMPLE.test, train=SAMPLE.train, pairs="all")
    table = found.table(["ndcg", "novelty", "recall"], k=[5, 10])
    marks = table.attrs
    n_near = 0
    for column in table:
        metric, k = column.split("@")
        best = table[column].idxmax()
        near = []
        for row in found.differences(metric, k=int(k)).itertuples():
            pair = {row.model, row.baseline}
            if best in pair and row.p_holm > 0.05:
                near += pair - {best}
        if metric == "novelty":
            assert marks["best"][column] == marks["near_best"][column] == []
        else:
            assert marks["best"][column] == [best]
            assert {*marks["near_best"][column]} == {*near}
            n_near += len(near)
    assert 0 < n_near < 4 * 3
    # And in the legend.
    assert table._repr_html_().count("<b><u>") == 4 + 1
    table["mine"] = 1.5  # a column that was not compared
    assert "*1.5000*" not in repr(table)


@pytest.mark.parametrize("by", [None, "segment"])
def test_marks_beside_a_named_baseline_are_the_verdicts_of_the_differences(by):
    found = recnb.compare(
        SAMPLE.models, SAMPLE.test, baseline="item-knn", users=SAMPLE.users, **SIDES
    )
    table = found.table(["ndcg", "novelty"], k=[5, 10], by=by)
    marked = {kind: {column: [] for column in table} for kind in MARKS}
    for row in found.differences(["ndcg", "novelty"], k=[5, 10], by=by).itertuples():
        label = row.model if by is None else (row.segment, row.model)
        if row.verdict in MARKS:
            marked[row.verdict][f"{row.metric}@{row.k}"].append(label)
    assert {kind: table.attrs[kind] for kind in MARKS} == marked
    assert not any(marked["near_best"].values())
    assert "▲ better, ▼ worse than item-knn" in repr(table)
    assert "△ higher, ▽ lower than item-knn" in repr(table)
    assert "not significantly different from it" not in repr(table)


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


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_parts_of_the_truth_that_one_model_has_no_users_of(names):
    """User 2, alone in the part y, has a list from one model and none from the other."""
    truth = pd.DataFrame({"user": [1, 1, 2], "item": list("pqp"), "day": list("xzy")})
    lists_of = {"a": {1: ["p"], 2: ["p"]}, "b": {1: ["q"]}}
    models = {name: lists_of[name] for name in names}
    found = recnb.compare(models, truth, averaged_users="both")
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
