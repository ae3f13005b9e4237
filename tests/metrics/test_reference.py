"""Every metric, with every word of every option, at every cut-off, equals its naive
definition.

Frames are held against the same definitions by the law of tests/laws/test_attack.py, formula
texts in tests/results/test_explanation.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

import recnb
from recnb import METRICS
from recnb.errors import OptionError, RecnbError
from tests.reference import REFERENCE
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


def test_users_who_are_left_out_do_not_shift_the_others() -> None:
    """User 1 has nothing relevant, 2 no list, 3 is not in the truth: positions differ
    between judged items and hits.
    """
    recs = pd.DataFrame(
        {"user": [1, 1, 3, 4, 4, 4], "item": list("abaxba"), "rank": [1, 2, 1, 1, 2, 3]}
    )
    truth = pd.DataFrame(
        {"user": [1, 2, 4, 4], "item": list("aaab"), "relevance": [0, 1, 2, 0]}
    )
    for users in ("truth", "recs", "both", "union"):
        values = (
            recnb.evaluate(recs, truth, averaged_users=users)
            .measure("judged", k=3)
            .per_user
        )
        assert values[4] == close(2 / 3)
        assert (
            recnb.evaluate(recs, truth, averaged_users=users)
            .measure("bpref")
            .per_user[4]
            == 0
        )
    every = (
        recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero")
        .measure("judged", k=3)
        .per_user
    )
    np.testing.assert_allclose(every, [1 / 2, 0, 0, 2 / 3])


def test_the_ideal_of_k_is_as_good_as_the_best_below_0() -> None:
    ev = recnb.evaluate(
        {1: ["a"]}, {1: {"a": -2, "b": -3}}, relevant="any", negative_relevance="keep"
    )
    assert ev.idcg(k=2, ideal="k") == close(-2 - 2 / np.log2(3))


@pytest.mark.parametrize("relevant", [">0", "any", "!=0"])
@pytest.mark.parametrize("ideal", ["relevant", "all", "k"])
@pytest.mark.parametrize("k", [None, 1])
def test_a_user_without_a_list_counts_0_if_some_item_has_a_gain(
    relevant: str, ideal: str, k: int | None
) -> None:
    """The ideal list beside an empty one has no rank where lists count whole."""
    truth = {1: {"a": 3}, 2: {"a": 1, "b": 0}, 3: {"b": 0}}
    ev = recnb.evaluate({1: ["a"]}, truth, relevant=relevant)
    assert ev.ndcg(k=k, ideal=ideal).per_user.to_dict() == {1: 1.0, 2: 0.0}


def test_gains_and_discounts_at_the_ends_of_what_they_take() -> None:
    for relevance, gain in ((0.5, 2**0.5 - 1), (1000, 2.0**1000)):
        assert recnb.cg([relevance], gain="exponential") == close(gain)
    with pytest.raises(OptionError, match="1001 is too large"):
        recnb.cg([1001], gain="exponential")
    assert recnb.dcg([1], log_base=1.5) == close(np.log(1.5) / np.log(2))
    with pytest.raises(OptionError, match="log_base=1 is not a base"):
        recnb.dcg([1], log_base=1)


def test_an_ideal_that_is_never_cut_holds_what_is_relevant_below_k() -> None:
    """The first of two items of relevance 3 and 1 at k = 1: 3 out of 3 + 1 / log2(3)."""
    ev = recnb.evaluate({1: ["a", "b"]}, {1: {"a": 3, "c": 1}})
    best = 3 + 1 / np.log2(3)
    for k in (1, 2):
        assert ev.ndcg(k=k, ideal="all") == close(3 / best)
        assert ev.idcg(k=k, ideal="all") == close(best)
    assert ev.ndcg(k=1) == 1


@pytest.mark.parametrize(
    "judged_only, judged, bpref", [(False, 4 / 5, 0), (True, 1, 0)]
)
def test_grades_below_0_are_judged_where_they_count_0(
    judged_only: bool, judged: float, bpref: float
) -> None:
    recs = pd.DataFrame({"user": 1, "item": list("abcde"), "rank": range(1, 6)})
    truth = pd.DataFrame(
        {"user": 1, "item": list("abcdx"), "relevance": [0, -1, 2, 1, -1]}
    )
    ev = recnb.evaluate(recs, truth, negative_relevance="zero", judged_only=judged_only)
    assert (float(ev.measure("judged", k=5)), float(ev.measure("bpref"))) == (
        judged,
        bpref,
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


def test_lists_without_a_judged_item_are_no_missing_lists() -> None:
    """In the lint and in a comparison; the user whom the truth alone has, has none."""
    recs = {"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"]}
    truth = {"a": {"x": 1, "y": 0}, "e": {"x": 1}}
    options: dict[str, Any] = {
        "judged_only": True,
        "averaged_users": "union",
        "no_relevant": "zero",
    }
    ev = recnb.evaluate(recs, truth, **options)
    assert float(ev.ndcg(k=1)) == close(1 / 5)
    assert ev.lint()["users_without_list"].n == 1
    compared = repr(recnb.compare({"m": recs, "n": recs}, truth, **options).table())
    assert "in each model 4 without a judged item in a list" in compared.replace(
        "\n", " "
    )


def test_a_list_without_a_hit_is_worth_0_though_its_own_items_have_no_better_order():
    ev = recnb.evaluate({"a": ["x"], "b": ["y"]}, {"a": ["x"], "b": ["x"], "c": ["x"]})
    assert ev.ndcg(ideal="list").per_user.to_dict() == {"a": 1.0, "b": 0.0, "c": 0.0}
