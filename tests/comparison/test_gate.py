"""Gates: what passes, what fails, and that the numbers are those of the comparison."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recnb
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import measure_named
from recnb.results.basis import Basis
from recnb.results.gate import Gate, limit_check, not_worse_check
from recnb.results.numbers import DifferenceRow
from recnb.results.score import Score
from recnb.results.values import Values
from recnb.results.verdicts import verdict_of
from recnb.stats import Moments, UserSample
from tests.comparison.frames import SAMPLE
from tests.rows import hold_refused, read_rows

FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="item-knn")
NAN = np.nan
EV = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, train=SAMPLE.train)


def not_worse(
    low, high, margin, n_users=50, n_differ=20, mean=0.0, better="high", verdict=None
):
    """A check of a difference; its verdict is that of its interval unless it is given."""
    if verdict is None:
        p = 1.0 if low <= 0 <= high else 0.01
        verdict = verdict_of(
            -1.0 if high < 0 else 1.0, low, high, p, alpha=0.05, better=better
        )
    row = DifferenceRow(
        metric="ndcg",
        symbol="nDCG",
        k=10,
        model="new",
        baseline="old",
        difference=mean,
        low=low,
        high=high,
        p=NAN,
        p_holm=NAN,
        effect_size=NAN,
        won=0,
        tied=n_users - n_differ,
        lost=n_differ,
        n_users=n_users,
        detectable=NAN,
        better=better,
        verdict=verdict,
    )
    return not_worse_check(row, margin, 0.95)


def reached(value, least, n_users=261, check="at_least"):
    values = Values(
        measure=measure_named("ndcg"),
        k=Cutoffs.one(10),
        users=pl.Series(range(n_users)),
        matrix=np.zeros((n_users, 1)),
        mean=np.array([value]),
        convention=recnb.Convention(),
        basis=Basis(words=lambda **_brief: []),
        sample=lambda: UserSample(n_users),
    )
    return limit_check(check, Score(values), least)


def not_dearer(low, high, margin, **about):
    """Of a cost, where the model above the baseline is the worse one."""
    return not_worse(low, high, margin, better="low", **about)


def below(value, most, n_users=261):
    return reached(value, most, n_users, check="at_most")


def test_a_model_that_is_worse_fails_and_a_margin_is_a_test_of_non_inferiority():
    gate, rows = (
        FOUND.not_worse("ndcg", k=10),
        FOUND.differences("ndcg", k=10).set_index("model"),
    )
    assert [(check.numbers["model"], check.passed) for check in gate.checks] == [
        ("factors", True),
        ("popular", False),
    ]
    assert bool(gate) is bool(FOUND.not_worse("ndcg", k=10, model="popular")) is False
    frame = gate.to_frame().set_index("model")
    for name in ("difference", "low", "high", "n_users"):
        assert frame[name].to_dict() == rows[name].to_dict()
    low = rows.loc["factors", "low"]
    assert low < 0 < rows.loc["factors", "high"]
    for margin, passed in ((-low + 1e-9, True), (-low - 1e-9, False)):
        assert bool(FOUND.not_worse("ndcg", 10, margin, model="factors")) is passed
    assert FOUND.not_worse("ndcg", 10, 0.2)


def test_a_gate_says_what_the_verdict_of_the_difference_says():
    """Also where the interval, which is not corrected, is below 0 and the test is not."""
    rng = np.random.default_rng(1)
    old = SAMPLE.models["item-knn"]
    models = {"old": old}
    for share in (0.02, 0.05, 0.1, 0.2):  # rows of lists whose item is nobody's
        is_lost = rng.random(len(old)) < share
        models[f"{share}"] = old.assign(
            item=old["item"].mask(is_lost, "none " + old["rank"].astype(str))
        )
    found = recnb.compare(models, SAMPLE.test, baseline="old")
    verdicts = found.differences("ndcg", k=10).set_index("model")["verdict"]
    gate = found.not_worse("ndcg", k=10)
    for check in gate.checks:
        verdict = verdicts[check.numbers["model"]]
        assert check.numbers["verdict"] == verdict
        if verdict != "untested":  # of which an interval may say something
            assert check.passed == (verdict != "worse")
    assert {"worse"} < {*verdicts}
    checks = gate.to_dict()["checks"]
    for name, check in zip(found.names[1:], checks, strict=True):
        of_one = found.not_worse("ndcg", k=10, model=name)
        assert of_one.to_dict()["checks"] == [check]


GATES = read_rows("comparison/gates.toml")


@pytest.mark.parametrize("result", GATES)
def test_the_rule_and_what_it_says(result):
    for call, words in GATES[result].items():
        check = eval(call)
        assert check.passed == (result == "passes"), call
        assert words in check.says, call


def test_a_gate_of_few_users_fails_and_one_without_a_test_says_so():
    few = SAMPLE.test[SAMPLE.test["user"].isin(SAMPLE.test["user"].unique()[:1])]
    found = recnb.compare(SAMPLE.recommendations, few, baseline="item-knn")
    for gate in (found.not_worse("ndcg", k=10), found["popular"].at_least("ndcg", 0)):
        assert not gate
        assert "1 user, where a gate needs 10" in repr(gate)
    # Where few users differ there is no test, and of DCG, which has no upper bound, no
    # interval either.
    recs = SAMPLE.models["item-knn"]
    other = recs.assign(
        item=recs["item"].where(
            recs["user"] != "u026", "none " + recs["rank"].astype(str)
        )
    )
    found = recnb.compare({"new": other, "old": recs}, SAMPLE.test, baseline="old")
    gate = found.not_worse("dcg", 10)
    assert gate
    assert "no test could be made" in repr(gate)
    assert "too few users or differences for an interval" in repr(gate)
    assert not found.not_worse("dcg", 10, margin=0.5)
    same = recnb.compare({"new": recs, "old": recs}, SAMPLE.test, baseline="old")
    assert same.not_worse("ndcg", k=10, margin=0.05)


def test_few_of_many_users_who_differ_have_an_interval_within_the_bounds():
    """Five of 500 lose their item: that is 0.01 on average, shown to be below 0.03."""
    old = {user: ["a", "b"] for user in range(500)}
    new = {user: ["b", "c"] if user < 5 else old[user] for user in old}
    truth = {user: ["a"] for user in old}
    found = recnb.compare({"new": new, "old": old}, truth, baseline="old")
    assert found.differences("ndcg", k=2)["low"].isna().all()
    gate = found.not_worse("ndcg", k=2)
    assert gate
    assert "no test could be made (difference -0.0100, 95% interval -0.0" in repr(gate)
    bounds = (-1.0, 1.0)
    differences = np.r_[-np.ones(5), np.zeros(495)][:, np.newaxis]
    moments = Moments(differences, UserSample(500), bounds)
    low, high = moments.interval(within_bounds=True)
    check = gate.checks[0].numbers
    assert (check["low"], check["high"]) == pytest.approx((low[0], high[0]))
    assert -0.03 < low[0] < -0.01 < high[0]
    for margin in (-low[0] - 1e-6, -low[0] + 1e-6):
        is_less = bool(low[0] > -margin)
        assert bool(found.not_worse("ndcg", k=2, margin=margin)) == is_less


def test_a_number_that_must_be_reached():
    value = float(EV.ndcg(k=10))
    assert EV.at_least("ndcg", value, k=10)
    gate = EV.at_least("ndcg", np.nextafter(value, 1), k=10)
    assert not gate
    assert f"nDCG@10 is {value}" in repr(gate)
    assert f"below {np.nextafter(value, 1)}" in repr(gate)
    assert EV.at_least(
        "ndcg", float(EV.ndcg(k=10, gain="exponential")), k=10, gain="exponential"
    )
    coverage, accuracy = (
        EV.at_least("coverage", 0.1, k=10),
        EV.at_least("ndcg", 0.1, k=10),
    )
    assert (coverage.basis, accuracy.basis) == (
        EV.coverage(k=10).basis,
        EV.ndcg(k=10).basis,
    )
    both = Gate((*coverage.checks, *accuracy.checks))
    assert "Coverage@10: 298 users with a list" in both.basis
    assert [check["basis"] for check in both.to_dict()["checks"]] == [
        coverage.basis,
        accuracy.basis,
    ]


REFUSED = read_rows("comparison/gates_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_gates_that_cannot_be(call):
    hold_refused(call, REFUSED[call], globals())


def test_a_failed_gate_says_its_numbers_in_a_script() -> None:
    lists = {user: ["a", "b"] for user in range(10)}
    gate = recnb.evaluate(lists, {user: ["b"] for user in lists}).at_least(
        "mrr", 0.6, k=2
    )
    with pytest.raises(AssertionError, match=r"^failed: RR@2 is 0.5000, below"):
        assert gate, gate
