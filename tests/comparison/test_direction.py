"""The direction of a metric: where less is better all that is said of models and users
is mirrored, and where neither is, nothing is called better or worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import EVERY_METRIC, METRICS
from tests.comparison.frames import SAMPLE, many_models, models_at_random
from tests.examples import examples
from tests.rows import read_rows

DATA: dict[str, Any] = {
    "users": SAMPLE.users,
    "train": SAMPLE.train,
    "items": SAMPLE.items,
}


def register(name: str, sign: int, better: Any) -> None:
    """Make a metric of the mean of 1 / rank, or of its negative."""

    def function(hits, k=None):
        """Reciprocal ranks."""
        return Credit(hits, k, sign / hits.rank, out_of_count(hits, k, "k"))

    function.__name__ = name
    credit = "1 / rank" if sign > 0 else "(0 - 1) / rank"
    bounds = (0, 1) if sign > 0 else (-1, 0)
    recnb.metric(
        symbol=name.title(), credit=credit, out_of="k", bounds=bounds, better=better
    )(function)


@pytest.fixture(autouse=True, scope="module")
def metrics() -> Iterator[None]:
    """One metric, its negative, and the same without a direction."""
    register("worth", 1, "high")
    register("price", -1, "low")
    register("trait", 1, None)
    yield
    for name in ("worth", "price", "trait"):
        del METRICS[name]


def said(found: Any, name: str, k: int) -> tuple[list[float], dict[str, Any]]:
    """Numbers of a metric, turned if less is better, and all else that is said of it."""
    sign = METRICS[name].sign
    rows = found.differences([name], k=k)
    ends = [rows.low, rows.high][::sign]
    numbers = pd.concat(
        [sign * rows.difference, *(sign * end for end in ends), rows.p_holm]
    )
    marks = found.table([name], k=k).attrs
    report = found.report(k=k, metrics=[name])
    reports = [report, *(ev.report(k=k, metrics=[name]) for ev in found.values())]
    checks = ("at_least", "at_most")[::sign]
    return numbers.to_list(), {
        "rows": rows.to_frame()[["verdict", "won", "tied", "lost"]].to_dict(),
        "marks": [
            marks.get(kind, {}).get(f"{name}@{k}")
            for kind in ("best", "near_best", "better", "worse")
        ],
        "ranked": report._data.ranked,
        "users": [
            (group.kind, group.counts, [user.user for user in group.users])
            for each in reports
            for group in each.users
        ],
        "limits": [
            bool(getattr(ev, check)(name, sign * limit, k=k))
            for ev in found.values()
            for value in [float(ev.measure("worth", k=k))]
            for limit in (value - 0.01, value, value + 0.01)
            for check in checks
        ],
        "not worse": [
            check.passed
            for margin in (0, 0.01, 0.05)
            if found.baseline is not None
            for check in found.not_worse(name, k, margin).checks
        ],
    }


def check_mirrored(found: Any, k: int) -> None:
    """Compare all that is said of a metric with what is said of its negative."""
    numbers, words = said(found, "worth", k)
    mirrored, same_words = said(found, "price", k)
    np.testing.assert_allclose(numbers, mirrored, atol=1e-9)
    assert words == same_words


@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_where_less_is_better_all_is_mirrored(pairs: Any) -> None:
    found = recnb.compare(SAMPLE.models, SAMPLE.test, pairs=pairs, **DATA)
    check_mirrored(found, 10)


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_where_less_is_better_all_is_mirrored_on_random_lists(
    seed: int, k: int, with_baseline: bool
) -> None:
    models, truth = models_at_random(seed)
    baseline, pairs = ("first", None) if with_baseline else (None, "all")
    found = recnb.compare(models, truth, baseline=baseline, pairs=pairs)
    check_mirrored(found, k)


def reports_without_direction() -> Iterator[Any]:
    """Reports of a metric of which neither more nor less is better."""
    for options in ({}, {"pairs": "all"}):
        found = recnb.compare(SAMPLE.models, SAMPLE.test, users=SAMPLE.users, **options)
        yield found.report(metrics=["trait"], by="segment")
    for baseline in (None, "run03"):
        found = recnb.compare(many_models(10), SAMPLE.test, baseline=baseline)
        yield found.report(metrics=["trait"])
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test, users=SAMPLE.users)
    yield ev.report(metrics=["trait"], by="segment")


def test_where_neither_is_better_no_form_of_a_report_says_so() -> None:
    kinds = {"highest", "lowest", "risen", "fallen"}
    for report in reports_without_direction():
        html = re.sub(r'src="data:[^"]*"', "", report.to_html())
        said = "\n".join([repr(report), report.to_markdown(), html])
        assert re.findall(r".{30}\b(?:better|worse|best|worst|▲|▼).{30}", said) == []
        assert {group.kind for group in report.users} <= kinds
        assert not any(mean.best or mean.near_best for mean in report.means)


def test_directions_of_recnb_s_own_metrics() -> None:
    """More is better of what counts relevant items; less is of calibration; of the rest
    neither is.
    """
    directions = read_rows("comparison/directions.toml")
    for name, metric in EVERY_METRIC.items():
        if not metric.own:
            better = next(
                (key for key in directions if name in directions[key]), "high"
            )
            assert (metric.better or "neither") == better


@pytest.mark.parametrize("metric", ["ndcg", "price"])
def test_a_pair_has_one_verdict_in_headline_marks_and_matrix(metric: str) -> None:
    found = recnb.compare(many_models(14), SAMPLE.test)
    report = found.report(k=10, metrics=[metric], movers=0)
    first, *others = report._data.ranked
    apart = {
        name
        for name in others
        for row in report._data.at_lead
        if {row.model, row.baseline} == {first, name}
        and row.verdict in ("better", "worse")
    }
    assert apart
    assert apart != {*others}
    near = {mean.model for mean in report.means if mean.near_best}
    assert near == {*others} - apart
    told = repr(report).replace("\n", " ")
    (named,) = re.findall(r"Not significantly worse than run\d\d: ([^.]*)\.", told)
    assert named.split(", ")[:4] == [name for name in others if name in near][:4]


def test_a_cost_is_said_to_count_who_has_no_list_as_a_list_without_a_hit() -> None:
    @recnb.metric(symbol="Cost", credit="0", missed="no_hit", better="low")
    def cost(hits, k=None):
        no_hit = 1 - hits.total(hits.first, k)
        return Credit(hits, k, np.zeros(len(hits.rank)), missed=no_hit)

    lists = SAMPLE.models["popular"]
    names = {
        "cost": cost,
        "found": recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular"),
        "fewer": recnb.compare(
            {f"m{n}": lists[400 * n :] for n in range(5)}, SAMPLE.test
        ),
        "one": recnb.compare({"all": lists, "fewer": lists[400:]}, SAMPLE.test),
    }
    try:
        said = [
            eval(call, names) for call in read_rows("comparison/costs.toml")["calls"]
        ]
        ev = names["found"]["popular"]
        miss = 1 - ev.hit_rate(k=5).per_user
        assert ev.measure(cost, k=5).per_user.to_dict() == miss.to_dict()
    finally:
        del METRICS["cost"]
    assert not any("counts 0" in text for text in said)
    assert all("no hit" in text or "without a hit" in text for text in said)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("worth", "Every one of 12 users has the highest possible Worth@1"),
        ("price", "Every one of 12 users has the lowest possible Price@1"),
        ("trait", ""),
    ],
)
def test_values_that_cannot_be_better_are_a_finding(name: str, words: str) -> None:
    perfect = {user: ["a"] for user in range(12)}
    found = {
        finding.short
        for finding in recnb.evaluate(perfect, perfect).lint(1, name)
        if "possible" in finding.short
    }
    assert found == {words} - {""}


def test_pairs_that_are_tested_apart_have_the_numbers_of_those_tested_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = recnb.compare(many_models(5), SAMPLE.test, pairs="all")
    together = found.differences(["ndcg", "price"], k=[5, 10]).to_frame()
    monkeypatch.setattr("recnb.results.values.BLOCK_CELLS", 600)
    apart = found.differences(["ndcg", "price"], k=[5, 10]).to_frame()
    pd.testing.assert_frame_equal(together, apart, rtol=1e-9, atol=1e-12)
