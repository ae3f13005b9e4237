"""A user's list in a report, by itself, among the worst and explained: hits stand where
they count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.results.user_groups import extremes

#: Equal scores, scores of 0 and below, and items that stand twice.
SCORES = [5, 4, 4, 4, 2, 2, 0, -1]
APART = pd.DataFrame({"user": 1, "item": list("abcdefgh"), "score": SCORES})
TWICE = APART.assign(item=list("abacdbgh"))
TRUTH = pd.DataFrame({"user": 1, "item": list("cfghz"), "relevance": [2, 1, 3, 1, 1]})
RULES: list[tuple[pd.DataFrame, dict[str, Any]]] = [
    (APART, {}),
    (APART, {"ties": "max_rank"}),
    (APART, {"ties": "floor_mean_rank"}),
    (APART, {"ties": "worst"}),
    (APART, {"nonpositive_scores": "never_hit"}),
    (APART, {"candidates": "padded"}),
    (APART, {"judged_only": True}),
    (TWICE, {"duplicates": "dedupe"}),
    (TWICE, {"duplicates": "hit_once"}),
    (TWICE, {"duplicates": "keep"}),
]


@pytest.mark.thin
@pytest.mark.parametrize("k", [1, 2, 3, 6, 8])
@pytest.mark.parametrize(("lists", "options"), RULES, ids=str)
def test_hits_are_those_of_the_explanation(
    lists: pd.DataFrame, options: dict[str, Any], k: int
) -> None:
    ev = recnb.evaluate(lists, TRUTH, **options)
    rows = ev.explain("cg", 1, k=k).rows
    is_hit = rows["relevance"] > 0
    hits = rows.loc[is_hit, ["rank", "item"]].to_numpy().tolist()
    ((user,),) = (group.users for group in ev.report(k=k).users)
    assert [[it.rank, it.item] for it in user.lists[0] if it.relevance] == hits
    assert user.n_hits == len({item for _rank, item in hits})
    assert {miss.item for miss in user.missed}.isdisjoint(item for _rank, item in hits)
    listed = ev.user(1, k=k)
    assert listed.loc[listed["hit"], ["rank", "item"]].to_numpy().tolist() == hits
    assert set(listed.missed["item"]) == {*TRUTH["item"]}.difference(
        item for _rank, item in hits
    )
    assert f"found {user.n_hits} of 5 relevant" in repr(listed)
    (worst,) = ev.worst("recall", k=k).to_dict("records")
    missed = listed.missed.sort_values("relevance", ascending=False, kind="stable")
    assert (worst["n_found"], worst["n_missed"]) == (user.n_hits, len(missed))
    assert worst["missing"] == next(iter(missed["item"]), None)
    assert ev.report(k=k).to_html().count(">hit, ") == len(hits)


def test_of_equal_scores_in_every_order_a_hit_is_shown_once() -> None:
    ev = recnb.evaluate(APART, TRUTH, ties="expected")
    ((user,),) = (group.users for group in ev.report(k=4).users)
    assert [it.item for it in user.lists[0] if it.relevance] == ["c"]
    assert (user.n_hits, user.n_missed) == (1, 4)


def test_users_of_one_value_go_by_the_hits_that_they_have() -> None:
    """A hit on each of three ranks, by the order of its tie, is one hit."""
    lists = {1: {"a": 1.0, "b": 1.0, "c": 1.0}, 2: {"a": 3.0, "b": 2.0, "c": 1.0}}
    ev = recnb.evaluate(lists, {1: ["a"], 2: ["a", "b"]}, ties="expected")
    best = ev.report(k=3, metrics=["hit_rate"]).users[0]
    assert [(user.user, user.n_hits) for user in best.users] == [(2, 2)]
    best = extremes("", ev, np.array([1 + 1e-15, 1]), 3, 1, "high")[0]  # rounding alone
    assert [user.user for user in best.users] == [2]
