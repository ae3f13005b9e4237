"""What a report says, one can get by one call: each call that a report names is made,
and its numbers are held against those of the report and of its JSON.
"""

from __future__ import annotations

import html
import json

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests.report.test_forms import tabs

SAMPLE = recnb.datasets.load_sample()
SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)
EVERY_PAIR = recnb.compare(SAMPLE.models, SAMPLE.test, **SIDE_DATA)
GROUP = pd.Series(
    {user: f"group {n % 3}" for n, user in enumerate(SAMPLE.test["user"].unique())}
)


@pytest.fixture(autouse=True, scope="module")
def own_metric():
    """A metric of one's own, named `top_of_list`."""

    @recnb.metric(symbol="Top", credit="rank <= 1", bounds=(0, 1))
    def top_of_list(hits, k=None):
        """A hit at the first rank."""
        return recnb.metrics.Credit(hits, k, (hits.rank <= 1) * 1.0)

    yield
    del METRICS["top_of_list"]


#: Of the intervals of reports of one model.
CONFIDENCE = 0.8

#: What reports are asked.
ASKED = {
    "usual": {"k": [5, 10], "by": "activity"},
    "options": {"k": [3, 7], "metrics": ["dcg", "ndcg"], "gain": "exponential"},
    "options of each": {
        "k": 5,
        "metrics": {"ndcg": {"gain": "exponential"}, "dcg": {}},
        "by": "activity",
    },
    "own": {"k": [5, 10], "metrics": ["top_of_list", "ndcg"], "by": "activity"},
    "texts": {"metrics": ["nDCG@10", "P@5", "AP"]},
    "a Series": {"k": [5, 10, 60], "metrics": ["recall"], "by": GROUP},
    "genres": {"k": 10, "metrics": ["ndcg", "recall"], "by": "genres"},
}


def result_of(call, **names):
    """Make a call as it is typed in a report."""
    known = {"recnb": recnb, "ev": EV, "found": FOUND, "by": GROUP}
    return eval(call, {**known, **names})


def equal(numbers, others):
    numbers, others = np.array(numbers, float), np.array(others, float)
    np.testing.assert_allclose(numbers, others, atol=1e-12)


def metric_and_k(name, k):
    """Return the metric and the cut-off of a row or a column of a table."""
    measure = measure_named(name)
    return measure.name, k if measure.k is None else measure.k


def means_of_one(table):
    """Return mean, low and high by metric and cut-off."""
    means = {}
    for name in table.index:
        if table.columns.nlevels == 1:
            means[metric_and_k(name, None)] = [*table.loc[name]]
            continue
        for k in table.columns.unique(0):
            means[metric_and_k(name, k)] = [*table.loc[name, k]]
    return means


def means_of_several(table):
    """Return mean, low and high by metric, cut-off and row."""
    means = {}
    for column in table.columns.unique(0):
        name, _at, k = column.partition("@")
        key = metric_and_k(name, int(k) if k else None)
        for row in table.index:
            means[(*key, row)] = [*table.loc[row, column]]
    return means


@pytest.mark.parametrize("asked", ASKED)
def test_calls_of_a_report_of_one_model_return_its_numbers(asked):
    report = EV.report(**ASKED[asked], confidence=CONFIDENCE)
    table, beyond = map(result_of, report.calls["means"])
    means = means_of_one(table)
    for row in report.means:
        if row.metric in LIST_METRICS:
            equal([row.mean], [beyond.loc[row.metric, row.k]])
        else:
            equal([row.mean, row.low, row.high], means.pop((row.metric, row.k)))
    assert means == {}
    (curve,) = map(result_of, report.calls["curves"])
    points = report.curves[""]
    assert [row.k for row in points] == [*curve.index]
    equal([(row.mean, row.low, row.high) for row in points], curve)
    (values,) = map(result_of, report.calls["distributions"])
    (spread,) = report.distributions
    numbers, _edges = np.histogram(values.round(12), spread.edges)
    assert [*numbers] == spread.counts
    equal(values.quantile([0.25, 0.5, 0.75]), spread.quartiles)
    (counts,) = map(result_of, report.calls["populations"])
    (people,) = report.populations
    assert people.n_users == counts.n_users
    assert people.n_items_relevant == counts.n_items_relevant


@pytest.mark.parametrize("asked", ASKED)
def test_users_of_a_report_of_one_model_are_those_of_its_calls(asked):
    report = EV.report(**ASKED[asked])
    values, call = report.calls["users"]
    in_order = result_of(values)
    for group in report.users:
        ends = in_order[::-1] if group.kind == "best" else in_order
        equal([user.values[0] for user in group.users], ends[: len(group.users)])
        for user in group.users:
            table = result_of(call, user=user.user)
            (items,) = user.lists
            assert [item.item for item in items] == table["item"].tolist()[:20]
            assert user.n_hits == table["hit"].sum()


@pytest.mark.parametrize("asked", ASKED)
def test_findings_of_a_report_are_those_of_its_calls(asked):
    for data in (EV, FOUND):
        report = data.report(**ASKED[asked])
        (lints,) = map(result_of, report.calls["lints"])
        lints = lints if data is FOUND else {"": lints}
        assert lints.keys() == report.lints.keys()
        for model, lint in lints.items():
            shown = report.lints[model]
            assert (lint.label, lint.value) == (shown.label, shown.value)
            assert [each.effect for each in lint] == [each.effect for each in shown]


@pytest.mark.parametrize("asked", ASKED)
def test_calls_of_a_report_of_several_models_return_its_numbers(asked):
    report = FOUND.report(**ASKED[asked])
    means = means_of_several(result_of(*report.calls["means"]))
    for row in report.means:
        if row.metric not in LIST_METRICS:
            key = (row.metric, row.k, row.model)
            equal([row.mean, row.low, row.high], means.pop(key))
    assert means == {}
    beyond = result_of(*report.calls["beyond"])
    for metric in beyond.columns:
        rows = report.means_of(metric, report.lead_k)
        equal([row.mean for row in rows], beyond[metric])
    curves = result_of(*report.calls["curves"])
    for model, points in report.curves.items():
        curve = curves[curves["model"] == model]
        assert [row.k for row in points] == [*curve["k"]]
        numbers = [(row.mean, row.low, row.high) for row in points]
        equal(numbers, curve[["mean", "low", "high"]])


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("found", [FOUND, EVERY_PAIR], ids=["baseline", "every pair"])
def test_differences_of_a_report_are_those_of_its_calls(asked, found):
    report = found.report(**ASKED[asked])
    differences = result_of(*report.calls["differences"], found=found)
    held = held_against(differences, report.differences)
    assert held == len(differences) == len(report.differences)


def held_against(table, rows):
    """Hold each row of a table of differences against that of a report, and count
    them.
    """
    own = {(row.metric, row.k, row.model, row.baseline): row for row in rows}
    for record in table.to_dict("records"):
        metric, k = metric_and_k(record["metric"], record["k"])
        k = None if k != k else k
        row = own.pop((metric, k, record["model"], record["baseline"]))
        names = ["difference", "low", "high", "p", "p_holm", "won", "tied", "lost"]
        equal([record[name] for name in names], [getattr(row, name) for name in names])
        assert record["verdict"] == row.verdict
    return len(rows) - len(own)


@pytest.mark.parametrize("found", [FOUND, EVERY_PAIR], ids=["baseline", "every pair"])
def test_users_who_gain_and_lose_are_those_of_its_calls(found):
    report = found.report(k=[5, 10], movers=3)
    groups = []
    for call in report.calls["users"]:
        table = result_of(call, found=found)
        groups += table.groups
        assert table["change"].min() < 0 < table["change"].max(), "both are rows"
    assert report.users == tuple(groups)


@pytest.mark.parametrize("asked", ["usual", "options of each", "a Series", "genres"])
def test_segments_of_a_report_are_those_of_its_calls(asked):
    report = EV.report(**ASKED[asked], confidence=CONFIDENCE)
    table = result_of(*report.calls["segments"])
    rows = json.loads(report.to_json())["segments"]["rows"]
    assert len(rows) == len(table)
    for row, (key, numbers) in zip(rows, table.iterrows(), strict=True):
        assert (row["metric"], row["k"]) == (metric_and_k(*key[:2]))
        names = ["mean", "mean_low", "mean_high", "n_users"]
        equal(
            [row[name] for name in names], numbers[["mean", "low", "high", "n_users"]]
        )
        if "gap" in table:
            gap = ["gap", "gap_low", "gap_high", "p", "p_holm"]
            names = ["difference", "low", "high", "p", "p_holm"]
            equal([row[name] for name in names], numbers[gap])


@pytest.mark.parametrize("asked", ["usual", "options of each", "a Series", "genres"])
def test_models_in_segments_of_a_report_are_those_of_its_calls(asked):
    report = FOUND.report(**ASKED[asked])
    means, *differences = map(result_of, report.calls["segments"])
    rows = json.loads(report.to_json())["segments"]["rows"]
    column = means.columns.unique(0)[0]
    for row in rows:
        for whose, model in (("", row["model"]), ("baseline_", row["baseline"])):
            numbers = [row[f"{whose}mean{end}"] for end in ("", "_low", "_high")]
            equal(numbers, means[column].loc[row["segment"], model])
    assert bool(differences) == (asked != "genres")
    for table in differences:
        names = ["difference", "low", "high", "p_holm", "won", "tied", "lost"]
        equal([[row[name] for name in names] for row in rows], table[names])
        assert [row["verdict"] for row in rows] == table["verdict"].tolist()


@pytest.mark.parametrize(
    "report", [EV.report(by="activity"), FOUND.report(by="activity")]
)
def test_each_section_of_numbers_says_by_which_calls_one_gets_them(report):
    page = html.unescape(report.to_html())
    for field, calls in report.calls.items():
        for call in calls:
            assert f"<code>{call}</code>" in page, field
            result_of(
                call, user="u026", name="item-knn"
            )  # or an error: there is no such call
    n_sections = len(tabs(report))
    assert page.count("The same numbers in Python: ") == n_sections - 1, (
        "all but How to read"
    )
