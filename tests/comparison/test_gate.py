"""Gates: what passes, what fails, and that the numbers are those of the comparison."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.display.language import use_language
from recnb.errors import OptionError
from recnb.results.gate import Gate, GateCheck, at_least_check, not_worse_check

ABOUT = ("metric", "k", "model", "n_users", "baseline", "n_differ", "difference", "low", "high")


def not_worse(*numbers: Any) -> GateCheck:
    return not_worse_check(dict(zip(ABOUT, numbers[:-2], strict=True)), *numbers[-2:])


def reached(*numbers: Any) -> GateCheck:
    return at_least_check(dict(zip(ABOUT[:4], numbers[:4], strict=True)), *numbers[4:])


SAMPLE = recnb.datasets.load_sample()
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="item-knn")


def test_a_model_that_is_worse_fails_and_a_margin_is_a_test_of_non_inferiority() -> None:
    gate, rows = FOUND.not_worse("ndcg", k=10), FOUND.differences("ndcg", k=10).set_index("model")
    assert [(check.numbers["model"], check.passed) for check in gate.checks] == [("factors", True), ("popular", False)]
    assert bool(gate) is bool(FOUND.not_worse("ndcg", k=10, model="popular")) is False
    frame = gate.to_frame().set_index("model")
    for name in ("difference", "low", "high", "n_users"):
        assert frame[name].to_dict() == rows[name].to_dict()
    row = rows.loc["factors"]
    assert row["low"] < 0 < row["high"]
    assert FOUND.not_worse("ndcg", k=10, margin=-row["low"] + 1e-9, model="factors")
    assert not FOUND.not_worse("ndcg", k=10, margin=-row["low"] - 1e-9, model="factors")
    assert FOUND.not_worse("ndcg", 10, 0.2)
    assert not FOUND.not_worse("ndcg", 10, 0.01, model="popular")


@pytest.mark.parametrize(
    ("low", "high", "margin", "passed", "words"),
    [
        (-0.2, -0.1, 0.0, False, "new is worse than old"),
        (-0.2, 0.0, 0.0, True, "new is not shown to be worse than old"),
        (0.1, 0.2, 0.0, True, "new is not shown to be worse than old"),
        (np.nan, np.nan, 0.0, False, "no conclusion on new against old"),
        (np.nan, np.nan, 0.1, False, "no conclusion on new against old"),
        (-0.1, 0.3, 0.1, False, "inconclusive whether new is worse than old by 0.1 or more"),
        (-0.2, -0.05, 0.1, False, "inconclusive whether new is worse than old by 0.1 or more"),
        (-0.09, -0.01, 0.1, True, "new is not worse than old by 0.1 or more"),
        (-0.5736, -0.4875, 0.02, False, "new is worse than old by 0.02 or more"),
    ],
)  # fmt: skip
def test_the_rule(low: float, high: float, margin: float, passed: bool, words: str) -> None:
    check = not_worse("ndcg", 10, "new", 50, "old", 20, 0.0, low, high, margin, 0.95)
    assert check.passed is passed
    assert check.says.startswith(f"ndcg@10: {words} (")
    assert ("too few users or differences" in check.says) == np.isnan(low)


@pytest.mark.parametrize(
    ("n_users", "n_differ", "passed"), [(9, 9, False), (9, 0, False), (10, 10, True), (10, 0, True)]
)
def test_too_few_users_are_no_pass_and_the_same_values_are(n_users: int, n_differ: int, passed: bool) -> None:
    ends = (0.1, 0.2) if n_differ else (np.nan, np.nan)
    for margin in (0.0, 0.01):
        check = not_worse("ndcg", 10, "new", n_users, "old", n_differ, 0.0, *ends, margin, 0.95)
        assert check.passed is passed
        assert ("9 users, where a gate needs 10" in check.says) is not passed
    enough = reached("ndcg", 10, "", n_users, 0.4, 0.3)
    assert enough.passed is passed
    assert ("shows nothing of the least, 0.3: 9 users" in enough.says) is not passed


def test_a_gate_of_few_users_or_without_an_interval_fails() -> None:
    users = SAMPLE.test["user"].unique()
    for n, words in ((1, "1 user, where a gate needs 10"), (3, "3 users, where"), (9, "9 users, where")):
        few = SAMPLE.test[SAMPLE.test["user"].isin(users[:n])]
        found = recnb.compare(SAMPLE.recommendations, few, baseline="item-knn")
        for gate in (
            found.not_worse("ndcg", k=10),
            found["popular"].at_least("ndcg", 0),
        ):
            assert not gate
            assert words in repr(gate)
    # DCG has no upper bound, so where few users differ there is no interval.
    recs = SAMPLE.models["item-knn"]
    other = recs.assign(item=recs["item"].where(recs["user"] != "u026", "none " + recs["rank"].astype(str)))
    gate = recnb.compare({"new": other, "old": recs}, SAMPLE.test, baseline="old").not_worse("dcg", 10)
    assert not gate
    assert "too few users or differences for an interval" in repr(gate)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (reached("ndcg", 10, "", 261, 0.2589027, 0.258903), "is 0.2589027, below 0.258903"),
        (reached("ndcg", 10, "", 261, 0.29999996, 0.3), "is 0.29999996, below 0.3"),
        (reached("ndcg", 10, "", 261, 0.3, 0.3), "is 0.3000, at least 0.3"),
        (reached("ndcg", 10, "", 261, 0.123456789, 0.123456788), "is 0.123456789, at least 0.123456788"),
        (not_worse("ndcg", 10, "a", 261, "b", 99, -0.1, -0.020004, 0.1, 0.02, 0.95), "interval -0.020004 to 0.1000"),
        (not_worse("ndcg", 10, "a", 261, "b", 99, -0.00003, -0.1, -0.00001, 0.0, 0.95), "interval -0.1000 to -0.00001"),
    ],
)  # fmt: skip
def test_numbers_have_as_many_digits_as_tell_them_apart(check: GateCheck, words: str) -> None:
    assert words in check.says


def test_it_prints_why_and_is_a_file_for_ci(tmp_path) -> None:
    gate = FOUND.not_worse("ndcg", k=10, model="popular")
    for form in (repr(gate), gate.to_json()):
        for part in ("popular is worse than item-knn", "-0.0864", "-0.1124 to -0.0604", "261 users"):
            assert part in form
    assert repr(gate).startswith("failed: ")
    assert "relevance above 0" in repr(gate)
    with use_language("ko"):
        assert "popular 쪽이 item-knn보다 나쁨" in repr(FOUND.not_worse("ndcg", k=10, model="popular"))
    both = FOUND.not_worse("ndcg", k=10)
    assert both.to_json(tmp_path / "gate.json") is None
    told = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    assert [(check["passed"], check["says"]) for check in told["checks"]] == list(zip([True, False], [one.says for one in both.checks], strict=True))  # fmt: skip


def test_a_number_that_must_be_reached() -> None:
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, train=SAMPLE.train)
    value = float(ev.ndcg(k=10))
    assert ev.at_least("ndcg", value, k=10)
    gate = ev.at_least("ndcg", np.nextafter(value, 1), k=10)
    assert not gate
    assert f"ndcg@10 is {value}" in repr(gate)
    assert f"below {np.nextafter(value, 1)}" in repr(gate)
    assert ev.at_least("coverage", 0.2, k=10)
    assert ev.at_least("ndcg", float(ev.ndcg(k=10, gain="exponential")), k=10, gain="exponential")
    assert [bool(one.at_least("ndcg", 0.2, k=10)) for one in FOUND.models.values()] == [True, True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"metric": "ndgc"}, "ndcg"),
        ({"metric": "novelty"}, "novelty"),
        ({"metric": "ndcg", "margin": -1}, "from 0 up"),
        ({"metric": "ndcg", "margin": "0.1"}, "from 0 up"),
        ({"metric": "ndcg", "model": "item-knn"}, "is the baseline itself"),
        ({"metric": "ndcg", "model": "als"}, "none of the models"),
        ({"metric": "ndcg", "gian": "binary"}, "gain"),
    ],
)
def test_gates_that_cannot_be(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        FOUND.not_worse(**arguments)


def test_without_a_baseline_there_is_nothing_to_be_worse_than() -> None:
    every = recnb.compare(SAMPLE.recommendations, SAMPLE.test, pairs="all")
    with pytest.raises(OptionError, match="baseline="):
        every.not_worse("ndcg", k=10)
    with pytest.raises(OptionError, match="is no number that a metric could reach"):
        every["popular"].at_least("ndcg", "high")


def test_the_same_lists_are_not_worse() -> None:
    recs = SAMPLE.models["popular"]
    found = recnb.compare({"new": recs, "old": recs}, SAMPLE.test, baseline="old")
    assert found.not_worse("ndcg", k=10)
    assert found.not_worse("ndcg", k=10, margin=0.05)
    few = pd.DataFrame({"user": [1, 2], "item": ["a", "b"], "rank": 1})
    tiny = recnb.compare({"new": few, "old": few}, few[["user", "item"]], baseline="old")
    assert not tiny.not_worse("ndcg", k=1, margin=0.05)


def test_the_line_below_is_of_the_users_of_the_metric() -> None:
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, train=SAMPLE.train)
    coverage, accuracy = ev.at_least("coverage", 0.1, k=10), ev.at_least("ndcg", 0.1, k=10)
    assert (coverage.basis, accuracy.basis) == (ev.coverage(k=10).basis, ev.ndcg(k=10).basis)
    assert ev.under("trec").at_least("RR@1", 0.1).basis.endswith("recnb's own: pytrec_eval-terrier has no such number")
    both = Gate((*coverage.checks, *accuracy.checks))
    assert "coverage@10: 298 users with a list" in both.basis
    assert [check["basis"] for check in both.to_dict()["checks"]] == [coverage.basis, accuracy.basis]


def test_a_cut_off_is_named_once() -> None:
    with pytest.raises(OptionError, match="'nDCG@10' has its cut-off, and k=5 is another"):
        SAMPLE.models["item-knn"].rec.against(SAMPLE.test).at_least("nDCG@10", 0.1, k=5)
