"""Mark, p, verdict and interval stand together, and are the same at every door."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.results.verdicts import FOUND, NOT_FOUND

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


@pytest.mark.parametrize("seed", range(8))
def test_a_report_has_the_numbers_of_each_column_by_itself(seed: int) -> None:
    models, truth = models_at_random(seed)
    pairs = ("baseline", "all")[seed % 2]
    baseline = (None, "first")[seed // 2 % 2]
    found = recnb.compare(models, truth, pairs=pairs, baseline=baseline)
    report = found.report(k=CUTOFFS, metrics=METRICS, movers=0)
    reported = {
        (row.metric, row.k, row.model, row.baseline): row for row in report.differences
    }
    for metric, k in itertools.product(METRICS, CUTOFFS):
        alone = found.differences(metric, k=k).to_frame()
        table = found.table(metric, k=k).attrs
        for row in alone.to_dict("records"):
            hold_together(row)
            same = reported[metric, k, row["model"], row["baseline"]]
            assert same.verdict == row["verdict"]
            assert same.p_holm == pytest.approx(row["p_holm"], nan_ok=True)
            if row["verdict"] == "untested":
                _hold_no_mark(table, row)
        if pairs == "baseline" and len(truth) >= 10:
            checks = found.not_worse(metric, k=k).checks
            passed = [check.passed for check in checks]
            assert passed == (alone["verdict"] != "worse").tolist()
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
    assert gate
    assert "no test could be made" in repr(gate)


def test_models_of_two_users_have_no_marks() -> None:
    models = {name: {1: [name, "a"], 2: ["a", name]} for name in ("x", "y", "z")}
    models["x"][1] = ["a"]
    truth = {1: ["a"], 2: ["a"]}
    against_y = recnb.compare(models, truth, baseline="y").differences("ndcg", k=2)
    assert against_y["verdict"].tolist() == ["untested", "same"]  # of x, and of z
    found = recnb.compare(models, truth)
    table = found.table("ndcg", k=2)
    assert "°" not in repr(table)
    assert "paired t test" not in repr(table)
    report = found.report(k=2, metrics=["ndcg"], movers=0)
    assert not any(mean.near_best for mean in report.means)
    assert "°" not in report.to_html()
