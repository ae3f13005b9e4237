"""What a report says, one can get by one call, whose numbers are held against those of
the report, after it was written as JSON and read.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import METRICS
from tests.sample import SAMPLE

SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)
EVERY_PAIR = recnb.compare(SAMPLE.models, SAMPLE.test, pairs="all", **SIDE_DATA)
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
}


def of_table(asked):
    """What a table is asked for the same numbers: all but segments."""
    return {name: value for name, value in asked.items() if name != "by"}


def of_lead(report, asked):
    """What a method of one metric is asked for the lead metric of a report."""
    lead = report._data.lead.metric
    return {"metric": lead, "k": report._data.lead_k, **options_of(lead, asked)}


@functools.cache
def report_of(models, asked):
    """Return the report of an evaluation or a comparison, as its JSON has it."""
    confidence = {"confidence": CONFIDENCE} if models is EV else {}
    return as_stored(models.report(**ASKED[asked], **confidence))


def as_stored(report):
    """Return a report as it is read from its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        report.to_json(path)
        return recnb.read_report(path)


def equal(numbers, others):
    numbers, others = np.array(numbers, float), np.array(others, float)
    np.testing.assert_allclose(numbers, others, atol=1e-12)


def metric_and_k(name, k):
    """Return the metric and the cut-off of a row or a column of a table."""
    measure = measure_named(name)
    return measure.name, k if measure.k is None else measure.k


def options_of(metric, asked):
    """Return the options that a report is asked for a metric."""
    metrics = asked.get("metrics", ())
    if isinstance(metrics, dict):
        return metrics.get(metric, {})
    return {"gain": asked["gain"]} if "gain" in asked and metric in metrics else {}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("models", [EV, FOUND], ids=["one", "several"])
def test_each_mean_is_that_of_its_call(models, asked):
    report = report_of(models, asked)
    asked = ASKED[asked]
    named = {"": EV} if models is EV else models
    confidence = CONFIDENCE if models is EV else 0.95
    for row in (*report.means, *report._data.curve, *report._data.hit_rates):
        options = options_of(row.metric, asked)
        score = named[row.model].measure(row.metric, k=row.k, **options)
        equal(row.mean, score)
        if score.has_interval:
            equal([row.low, row.high], score.interval(confidence)[:2])
            assert row.n_users == score.n_users
        else:
            assert np.isnan(row.low)
    of_accuracy = {row.label for row in report.means if row.metric in METRICS}
    assert len(of_accuracy) == n_columns(models.table(**of_table(asked)))
    assert len({row.label for row in report.means}) * len(named) == len(report.means)
    counts = report._data.made_with["counts"]
    assert counts.pop("model") == [*named]
    for name, n in counts.items():
        assert n == [getattr(model.counts, name) for model in named.values()]


def n_columns(table):
    """Return how many metrics at a cut-off a table has."""
    return table.shape[1] if "model" in table.index.names else table.size


@pytest.mark.parametrize("asked", ASKED)
def test_the_distribution_of_a_report_is_that_of_its_call(asked):
    report = report_of(EV, asked)
    lead = of_lead(report, ASKED[asked])
    score = EV.measure(lead.pop("metric"), **lead)
    spread = report._data.distribution
    numbers, _edges = np.histogram(score.per_user.round(12), spread.edges)
    assert (*numbers,) == spread.counts
    equal(score.per_user.quantile([0.25, 0.5, 0.75]), spread.quartiles)
    equal(score, spread.mean)


@pytest.mark.parametrize("asked", ASKED)
def test_users_of_a_report_of_one_model_are_those_of_its_calls(asked):
    report = report_of(EV, asked)
    lead = of_lead(report, ASKED[asked])
    in_order = EV.measure(lead.pop("metric"), **lead).per_user.sort_values()
    for group in report.users:
        ends = in_order[::-1] if group.kind == "best" else in_order
        equal([user.values[0] for user in group.users], ends[: len(group.users)])
        for user in group.users:
            table = EV.user(user.user, k=lead["k"])
            (items,) = user.lists
            assert [item.item for item in items] == table["item"].tolist()[:20]
            assert user.n_hits == table["hit"].sum()


@pytest.mark.parametrize("asked", ASKED)
def test_findings_of_a_report_are_those_of_its_calls(asked):
    for data in (EV, FOUND):
        report = report_of(data, asked)
        lead = of_lead(report, ASKED[asked])
        models = dict(data.items()) if data is FOUND else {"": EV}
        lints = {name: model.lint(**lead) for name, model in models.items()}
        assert lints.keys() == report._data.lints.keys()
        for model, lint in lints.items():
            shown = report._data.lints[model]
            assert (lint.label, lint.value) == (shown.label, shown.value)
            assert [each.effect for each in lint] == [each.effect for each in shown]


@pytest.mark.thin
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("found", [FOUND, EVERY_PAIR], ids=["baseline", "every pair"])
def test_differences_of_a_report_are_those_of_its_calls(asked, found):
    report = report_of(found, asked)
    differences = found.differences(**of_table(ASKED[asked]))
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
    report = as_stored(found.report(k=[5, 10], movers=3))
    rows = []
    for model, baseline in dict.fromkeys(
        (group.model, group.baseline) for group in report.users
    ):
        table = found.movers("ndcg", k=10, n=3, model=model, baseline=baseline)
        rows += zip(table["user"], table["before"], table["after"], strict=True)
        assert table["change"].min() < 0 < table["change"].max(), "both are rows"
    users = [user for group in report.users for user in group.users]
    assert [(user.user, *user.values) for user in users] == rows


@pytest.mark.parametrize("asked", ["usual", "options of each", "a Series"])
def test_segments_of_a_report_are_those_of_its_calls(asked):
    report = report_of(EV, asked)
    lead = of_lead(report, ASKED[asked])
    by = ASKED[asked]["by"]
    table = EV.table(lead.pop("metric"), by=by, confidence=CONFIDENCE, **lead)
    segments = report._data.segments
    means = {
        (row.metric, row.k, segments.names[row.part]): row for row in segments.means
    }
    gaps = {
        (row.metric, row.k, segments.names[row.part]): row
        for row in segments.differences
    }
    assert len(means) == len(table)
    assert bool(gaps) == ("gap" in table)
    for (name, k, *values), numbers in table.iterrows():
        key = (*metric_and_k(name, k), ", ".join(map(str, values)))
        row = means[key]
        own = [row.mean, row.low, row.high, row.n_users]
        equal(own, numbers[["mean", "low", "high", "n_users"]])
        if gaps:
            gap = gaps[key]
            own = [gap.difference, gap.low, gap.high, gap.p, gap.p_holm]
            equal(own, numbers[["gap", "gap_low", "gap_high", "p", "p_holm"]])


@pytest.mark.parametrize("asked", ["usual", "options of each", "a Series"])
def test_models_in_segments_of_a_report_are_those_of_its_calls(asked):
    report = report_of(FOUND, asked)
    lead = of_lead(report, ASKED[asked])
    segments = {"metrics": [lead.pop("metric")], "by": ASKED[asked]["by"], **lead}
    means = FOUND.table(**segments, intervals=True)
    told = report._data.segments
    column = means.columns.unique(0)[0]
    for row in told.means:
        own = [row.mean, row.low, row.high]
        equal(own, means[column].loc[told.names[row.part], row.model])
    table = FOUND.differences(**segments)
    names = ["difference", "low", "high", "p_holm", "won", "tied", "lost"]
    own = [[getattr(row, name) for name in names] for row in told.differences]
    equal(own, table[names])
    assert [row.verdict for row in told.differences] == table["verdict"].tolist()
