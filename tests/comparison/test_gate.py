"""Gates: what passes, what fails, and that the numbers are those of the comparison."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import recnb
from recnb.results.gate import Gate, limit_check, not_worse_check
from recnb.results.numbers import DifferenceRow
from recnb.results.verdicts import verdict_of
from recnb.stats import Moments, UserSample
from tests.comparison.frames import SAMPLE, USUAL
from tests.rows import hold_calls, hold_refusals, read_rows

near = pytest.approx
NAN = np.nan
KNN = SAMPLE.models["item-knn"]
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="item-knn")
EV = KNN.rec.against(SAMPLE.test, train=SAMPLE.train)
LOW = FOUND.differences("ndcg", k=10).set_index("model")["low"]["factors"]
COVERAGE, ACCURACY = EV.at_least("coverage", 0.1, k=10), EV.at_least("ndcg", 0.1, k=10)
BOTH = Gate((*COVERAGE.checks, *ACCURACY.checks))
ONE_USER = recnb.compare(
    SAMPLE.recommendations, SAMPLE.test.query("user == 'u002'"), baseline="item-knn"
)
#: Where few users differ there is no test, and of DCG, which has no upper bound, no
#: interval either.
CHANGED = KNN["item"].where(KNN["user"] != "u026", "none " + KNN["rank"].astype(str))
FEW_DIFFER = recnb.compare(
    {"new": KNN.assign(item=CHANGED), "old": KNN}, SAMPLE.test, baseline="old"
)
SAME = recnb.compare({"new": KNN, "old": KNN}, SAMPLE.test)
#: Five of 500 lose their item: that is 0.01 on average, shown to be below 0.03.
OLD = {user: ["a", "b"] for user in range(500)}
NEW = OLD | {user: ["b", "c"] for user in range(5)}
FIVE = recnb.compare({"old": OLD, "new": NEW}, {user: ["a"] for user in range(500)})
(FIVE_LOW,), (FIVE_HIGH,) = Moments(
    np.r_[-np.ones(5), np.zeros(495)][:, np.newaxis], UserSample(500), (-1.0, 1.0)
).interval(within_bounds=True)


def not_worse(low, high, margin, n_users=50, n_differ=20, better="high", verdict=None):
    """A check of a difference; its verdict is that of its interval unless it is given."""
    if verdict is None:
        p = 1.0 if low <= 0 <= high else 0.01
        sign = -1.0 if high < 0 else 1.0
        verdict = verdict_of(sign, low, high, p, alpha=0.05, better=better)
    numbers = {
        "difference": 0.0,
        "low": low,
        "high": high,
        "won": 0,
        "tied": n_users - n_differ,
        "lost": n_differ,
        "n_users": n_users,
        "better": better,
        "verdict": verdict,
    }
    return not_worse_check(DifferenceRow(**USUAL | numbers), margin, 0.95, "")


def reached(value, limit, n_users=261, check="at_least"):
    score = EV.ndcg(k=10)
    values = replace(
        score._values,
        users=pl.Series(range(n_users)),
        matrix=np.zeros((n_users, 1)),
    )
    vars(values)["mean"] = np.array([value])
    return limit_check(check, type(score)(values), limit, "")


def not_dearer(low, high, margin, **about):
    """Of a cost, where the model above the baseline is the worse one."""
    return not_worse(low, high, margin, better="low", **about)


def below(value, most, n_users=261):
    return reached(value, most, n_users, check="at_most")


GATES = read_rows("comparison/gates.toml")


test_a_call_comes_to = hold_calls(read_rows("comparison/gates_called.toml"), globals())


@pytest.mark.parametrize("result", GATES)
def test_the_rule_and_what_it_says(result):
    for call, words in GATES[result].items():
        check = eval(call)
        assert check.passed == (result == "passes"), call
        assert words in check.says, call


test_gates_that_cannot_be = hold_refusals(
    read_rows("comparison/gates_refused.toml"), globals()
)
