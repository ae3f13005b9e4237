"""Every metric, with every word of every option, at every cut-off, equals its naive
definition.

Frames are held against the same definitions by the law of tests/laws/test_attack.py, formula
texts in tests/results/test_explanation.py.
"""

from __future__ import annotations

from math import log2
from typing import Any

import ir_measures
import pandas as pd
import pytest
from hypothesis import assume, given

import recnb
from recnb import METRICS
from recnb.errors import RecnbError
from tests.reference import REFERENCE
from tests.rows import hold_refusals, read_rows
from tests.strategies import CUTOFFS, GRADES, Data, data, every_choice, random_data


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def test_every_metric_has_a_definition() -> None:
    assert set(REFERENCE) == set(METRICS)


@pytest.mark.thin
@pytest.mark.parametrize("scale", ["graded", "far apart"])
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("name", sorted(METRICS))
def test_all_options_through_lists(name: str, half: int, scale: str) -> None:
    """As a plain function of several lists, and of grades in rank order; every other
    choice of options is tried at every other cut-off.
    """
    function = getattr(recnb, name)
    source = random_data(seed=2, n_users=4, gaps=False, grades=GRADES[scale])
    users = [user for user in source.truth if source.ranking(user)]
    lists = [source.ranking(user) for user in users]
    truths = [source.truth[user] for user in users]
    pairs = list(zip(lists, truths, strict=True))
    grades = [3, 0, 2, 2, 0, 1]
    for number, options in enumerate(every_choice(METRICS[name]), half):
        for k in CUTOFFS[number % 2 :: 2]:
            wanted = [REFERENCE[name](*pair, k, **options) for pair in pairs]
            if options.get("max_relevance", 1) is None:
                # The highest grade is that of all lists together, if there are several.
                values = [float(function(*pair, k=k, **options)) for pair in pairs]
            else:
                values = function(lists, truths, k=k, **options).per_user.tolist()
            assert values == close(wanted), f"{name}@{k} {options}"
            of_grades = REFERENCE[name](
                list(range(6)), dict(enumerate(grades)), k, **options
            )
            assert float(function(grades, k=k, **options)) == close(of_grades)


ROWS = read_rows("metrics/by_hand.toml")
NAMES: dict[str, Any] = {"log2": log2, "pd": pd, "recnb": recnb}
for name, text in ROWS["names"].items():
    NAMES[name] = eval(text, NAMES)


@pytest.mark.parametrize("call", ROWS["values"])
def test_values_by_hand(call: str) -> None:
    assert eval(call, NAMES) == close(eval(ROWS["values"][call], NAMES))


NAMES["measure"] = recnb.evaluate({1: ["a"]}, {1: ["a"]}).measure
NAMES["ir_measures"] = ir_measures


test_what_has_no_value_is_refused = hold_refusals(
    read_rows("metrics/refused.toml"), NAMES
)


@given(data(gaps=False, most_users=5), data(gaps=False, most_users=3))
def test_who_is_averaged_does_not_depend_on_what_is_judged(
    source: Data, more: Data
) -> None:
    """A list that holds no judged item is a list, of the value 0."""
    lists = source.lists | {f"new {user}": items for user, items in more.lists.items()}
    recs = Data(lists, {}).recs.assign(user=lambda frame: frame["user"].map(str))
    truth = source.relevant.assign(user=lambda frame: frame["user"].map(str))
    assume(len(recs))
    for users in ("truth", "recs", "both", "union"):
        options: dict[str, Any] = {"averaged_users": users, "no_relevant": "zero"}
        try:
            every = recnb.evaluate(recs, truth, **options)
        except RecnbError:  # no user is in both frames
            continue
        ev = recnb.evaluate(recs, truth, judged_only=True, **options)
        values = ev.ndcg(k=3).per_user
        assert list(values.index) == list(every.ndcg(k=3).per_user.index)
