"""Mark, p, verdict and interval stand together, and are the same at every door."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recnb
from recnb.results.verdicts import FOUND, NOT_FOUND
from tests.examples import examples

METRICS = ["hit_rate", "dcg"]
CUTOFFS = [1, 3]


def models_at_random(seed: int) -> tuple[dict[str, Any], dict[int, list[str]]]:
    """Two to four models of 2 to 40 users, some of which are nearly the same."""
    rng = np.random.default_rng(seed)
    users = range(int(rng.integers(2, 41)))
    truth = {user: rng.choice(list("abcdef"), 2, False).tolist() for user in users}
    first = {user: rng.choice(list("abcdef"), 4, False).tolist() for user in users}
    models = {"first": first}
    for name in "xyz"[: rng.integers(1, 4)]:
        changed = rng.random(len(users)) < rng.choice([0.05, 0.4, 1.0])
        models[name] = {
            user: [*truth[user], "g"] if changed[user] else first[user]
            for user in users
        }
    return models, truth


def hold_together(row: Any) -> None:
    """Hold that p, interval and verdict are there together or not at all."""
    is_tested = row["verdict"] in (*FOUND, *NOT_FOUND)
    for name in ("p_holm", "low", "high"):
        assert math.isnan(row[name]) != is_tested


@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["baseline", "all"]),
    st.sampled_from([None, "first"]),
)
def test_a_report_has_the_numbers_of_each_column_by_itself(
    seed: int, pairs: Any, baseline: str | None
) -> None:
    models, truth = models_at_random(seed)
    found = recnb.compare(models, truth, pairs=pairs, baseline=baseline)
    report = found.report(k=CUTOFFS, metrics=METRICS, movers=0)
    reported = {
        (row.metric, row.k, row.model, row.baseline): row for row in report.differences
    }
    for metric in METRICS:
        for k in CUTOFFS:
            alone = found.differences(metric, k=k).to_frame()
            table = found.table(metric, k=k).attrs
            gate = found.not_worse(metric, k=k)
            checks = {check.numbers["model"]: check for check in gate.checks}
            for row in alone.to_dict("records"):
                hold_together(row)
                same = reported[metric, k, row["model"], row["baseline"]]
                assert same.verdict == row["verdict"]
                assert same.p_holm == pytest.approx(row["p_holm"], nan_ok=True)
                if row["verdict"] == "untested":
                    _hold_no_mark(table, row)
                if row["model"] in checks and pairs == "baseline":
                    passed = checks[row["model"]].passed
                    assert passed <= (row["verdict"] not in ("untested", "worse"))
    frame = report.to_frame()
    for row in frame[frame["verdict"].notna()].to_dict("records"):
        hold_together(row)


def _hold_no_mark(table: Any, row: Any) -> None:
    """Hold that an untested pair of the best and another has no mark."""
    of_pair = {row["model"], row["baseline"]}
    for kind in ("near_best", *FOUND):
        for column, marked in table.get(kind, {}).items():
            best = {*table["best"][column]} & of_pair
            if kind == "near_best" and len(best) == 1:
                assert not {*marked} & of_pair
            if kind in FOUND:
                assert row["model"] not in marked


def test_a_difference_without_an_interval_has_neither_p_nor_mark() -> None:
    """Of DCG, which has no bound, where 29 of 30 users are worse by the same."""
    truth = {user: ["a", "b", "c"] for user in range(30)}
    good = {user: ["a", "b"] for user in range(30)}
    bad = {user: ["x", "a"] if user else ["a", "b"] for user in range(30)}
    found = recnb.compare({"good": good, "bad": bad}, truth, baseline="good")
    (row,) = found.differences("dcg", k=2).to_frame().to_dict("records")
    assert row["lost"] == 29
    assert row["verdict"] == "untested"
    assert math.isnan(row["p"])
    hold_together(row)
    assert "▼" not in repr(found.table("dcg", k=2))
    gate = found.not_worse("dcg", k=2)
    assert not gate
    assert "no conclusion" in repr(gate)


def test_models_of_two_users_have_no_marks() -> None:
    models = {name: {1: [name, "a"], 2: ["a", name]} for name in ("x", "y", "z")}
    models["x"][1] = ["a"]
    found = recnb.compare(models, {1: ["a"], 2: ["a"]})
    assert {*found.differences("ndcg", k=2)["verdict"]} <= {"untested", "same"}
    table = found.table("ndcg", k=2)
    assert "°" not in repr(table)
    assert "paired t test" not in repr(table)
    report = found.report(k=2, metrics=["ndcg"], movers=0)
    assert not any(mean.near_best for mean in report.means)
    assert "°" not in report.to_html()
