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
from tests.report.models import EV, EVERY_PAIR, FOUND
from tests.sample import SAMPLE

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


def columns_of(rows, names):
    """Return rows of a report as numbers, by the names of their fields."""
    return [[getattr(row, name) for name in names] for row in rows]


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
        severities = [found[0].severity for _models, found in report.findings]
        assert severities == sorted(severities, reverse=True)
        told = set()
        for of_models, found in report.findings:
            told |= {*zip(of_models, [each.short for each in found], strict=True)}
        assert told == {
            (model, each.short) for model, lint in lints.items() for each in lint
        }


@pytest.mark.parametrize("found", [FOUND, EVERY_PAIR], ids=["baseline", "every pair"])
def test_users_who_gain_and_lose_are_those_of_its_calls(found):
    report = as_stored(found.report(k=[5, 10], movers=3))
    counts = {}
    for row in report._data.at_lead:
        counts[row.model, row.baseline] = (row.won, row.tied, row.lost)
    rows = []
    for model, baseline in dict.fromkeys(
        (group.model, group.baseline) for group in report.users
    ):
        table = found.movers("ndcg", k=10, n=3, model=model, baseline=baseline)
        rows += zip(table["user"], table["before"], table["after"], strict=True)
        assert table["change"].min() < 0 < table["change"].max(), "both are rows"
    users = []
    for group in report.users:
        users += [(user.user, *user.values) for user in group.users]
        assert group.counts == counts[group.model, group.baseline]
    assert users == rows


OF_TESTS = ["difference", "low", "high", "p", "p_holm", "won", "tied", "lost"]


def hold_differences(rows, table):
    """Hold the differences of a report against a table of them."""
    equal(columns_of(rows, OF_TESTS), table[OF_TESTS])
    names = ["model", "baseline", "verdict"]
    assert columns_of(rows, names) == table[names].to_numpy().tolist()


@pytest.mark.thin
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("found", [FOUND, EVERY_PAIR], ids=["baseline", "every pair"])
def test_differences_of_a_report_are_those_of_its_calls(asked, found):
    report = report_of(found, asked)
    table = found.differences(**of_table(ASKED[asked]))
    hold_differences(report.differences, table)
    for row, name, k in zip(
        report.differences, table["metric"], table["k"], strict=True
    ):
        assert (row.metric, row.k) == metric_and_k(name, None if k != k else k)


@pytest.mark.parametrize("asked", ["usual", "options of each", "a Series"])
def test_segments_of_a_report_are_those_of_its_calls(asked):
    report = report_of(EV, asked)
    lead = of_lead(report, ASKED[asked])
    by = ASKED[asked]["by"]
    table = EV.table(lead.pop("metric"), by=by, confidence=CONFIDENCE, **lead)
    told = report._data.segments
    segments = [", ".join(map(str, values)) for _metric, _k, *values in table.index]
    assert [told.names[row.part] for row in told.means] == segments
    names = ["mean", "low", "high", "n_users"]
    equal(columns_of(told.means, names), table[names])
    assert bool(told.differences) == ("gap" in table)
    if told.differences:
        gaps = columns_of(told.differences, OF_TESTS[:5])
        equal(gaps, table[["gap", "gap_low", "gap_high", "p", "p_holm"]])


@pytest.mark.parametrize("asked", ["usual", "options of each", "a Series"])
def test_models_in_segments_of_a_report_are_those_of_its_calls(asked):
    report = report_of(FOUND, asked)
    lead = of_lead(report, ASKED[asked])
    segments = {"metrics": [lead.pop("metric")], "by": ASKED[asked]["by"], **lead}
    means = FOUND.table(**segments, intervals=True)
    told = report._data.segments
    labels = [(told.names[row.part], row.model) for row in told.means]
    assert labels == [(str(segment), model) for segment, model in means.index]
    equal(columns_of(told.means, ["mean", "low", "high"]), means)
    hold_differences(told.differences, FOUND.differences(**segments))
