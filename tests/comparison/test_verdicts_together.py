"""Mark, p, verdict and interval stand together, and are the same at every door."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import recnb
from recnb.results.verdicts import FOUND, MARKS, NOT_FOUND
from tests.comparison.frames import SAMPLE, models_at_random
from tests.rows import hold_calls, read_rows

METRICS = ["hit_rate", "dcg"]
CUTOFFS = [1, 3]
#: Of DCG, which has no bound, 29 of 30 users are worse by the same.
WORSE = recnb.compare(
    {
        "good": {user: ["a", "b"] for user in range(30)},
        "bad": {user: ["x", "a"] if user else ["a", "b"] for user in range(30)},
    },
    {user: ["a", "b", "c"] for user in range(30)},
)
OF_TWO = {
    "x": {1: ["a"], 2: ["a", "x"]},
    "y": {1: ["y", "a"], 2: ["a", "y"]},
    "z": {1: ["z", "a"], 2: ["a", "z"]},
}
TWO_USERS = recnb.compare(OF_TWO, {1: ["a"], 2: ["a"]})
AGAINST_Y = recnb.compare(OF_TWO, {1: ["a"], 2: ["a"]}, baseline="y")


test_a_call_comes_to = hold_calls(read_rows("comparison/untested.toml"), globals())


def hold_together(row: Any) -> None:
    """Hold that p, interval and verdict are there together or not at all."""
    is_tested = row["verdict"] in (*FOUND, *NOT_FOUND)
    for name in ("p_holm", "low", "high"):
        assert math.isnan(row[name]) != is_tested


def hold_marks(marks: Any, column: str, found: Any, differences: Any) -> None:
    """Hold that marks beside means are verdicts: findings on models against their
    baseline; where every two are tested, others that are not shown to differ from the
    best, the first of equal ones.
    """
    best = marks["best"][column]
    wanted: dict[str, set[str]] = {kind: set() for kind in MARKS}
    for row in differences.to_dict("records"):
        pair, verdict = {row["model"], row["baseline"]}, row["verdict"]
        if found.baseline and verdict in FOUND:
            wanted[verdict].add(row["model"])
        if not found.baseline and verdict in NOT_FOUND and pair & {*best[:1]}:
            wanted["near_best"] |= pair - {*best}
    assert {kind: {*marks[kind][column]} for kind in MARKS} == wanted


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
        hold_marks(found.table(metric, k=k).attrs, f"{metric}@{k}", found, alone)
        for row in alone.to_dict("records"):
            hold_together(row)
            same = reported[metric, k, row["model"], row["baseline"]]
            assert same.verdict == row["verdict"]
            assert same.p_holm == pytest.approx(row["p_holm"], nan_ok=True)
    frame = report.to_frame()
    for row in frame[frame["verdict"].notna()].to_dict("records"):
        hold_together(row)


@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_marks_and_gates_of_models_that_are_close_are_their_verdicts(
    pairs: Any,
) -> None:
    """Of novelty too, of which none is the best."""
    models = SAMPLE.models | {"other": SAMPLE.models["factors"].query("rank != 5")}
    found = recnb.compare(models, SAMPLE.test, pairs=pairs, train=SAMPLE.train)
    n_near = 0
    for metric, k in itertools.product(["ndcg", "novelty", "recall"], [5, 10]):
        column, marks = f"{metric}@{k}", found.table(metric, k=k).attrs
        rows = found.differences(metric, k=k).to_frame()
        hold_marks(marks, column, found, rows)
        n_near += len(marks["near_best"][column])
        if pairs == "baseline" and metric != "novelty":
            checks = found.not_worse(metric, k=k).checks
            passed = [check.passed for check in checks]
            assert passed == (rows["verdict"] != "worse").tolist()
    assert (n_near > 0) == (pairs == "all")
