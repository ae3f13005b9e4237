"""One list in plain Python: every form of call, held by the textbook's numbers and by
the same data in frames.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.metrics.metric import METRICS
from tests.rows import hold_refusals, read_rows, value_of
from tests.strategies import Data, data

RANKING, LIKED = ["a", "b", "c", "d"], ["b", "e", "d"]
RELEVANCE = {"b": 3.0, "e": 2.0, "d": 1.0, "a": 0.0}
GRADES = [3, 2, 3, 0, 1, 2]
IDCG = 3 + 2 / log2(3) + 1 / 2

ROWS = read_rows("results/one_list.toml")
#: Calls, each with its number.
BY_HAND = ROWS["numbers"]

#: Precision at 1 is 1/2 of two lists (a hits, c does not), and 1 of one list of two
#: items (the first hits).
TUPLES: Any = ([("a", "b"), ("c", "d")], [("a", "b"), ("x", "y")])


SEVERAL = [["a", "b"], ["b", "a"], ["c"]]


def tuples_and(truth: Callable[[Any], Any]) -> Any:
    return TUPLES[0], truth(TUPLES[1])


@pytest.mark.parametrize("call", BY_HAND)
def test_numbers_by_hand(call: str) -> None:
    assert value_of(call, globals()) == pytest.approx(
        value_of(BY_HAND[call], globals()), abs=1e-15
    )


@given(
    data(gaps=False, most_users=4),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from(list(METRICS)),
)
def test_the_same_as_in_frames(source: Data, k: int | None, metric: str) -> None:
    truths = [*source.truth.values()]
    lists = [source.ranking(user) for user in source.truth]
    truths.append(dict.fromkeys(truths[0], 0.0))  # nothing is relevant
    lists.append(lists[0])
    score = getattr(recnb, metric)(lists, truths, k=k)
    in_frames = recnb.evaluate(
        dict(enumerate(lists)), dict(enumerate(truths)), no_relevant="zero"
    )
    mean = float(getattr(in_frames, metric)(k=k))
    assert float(score) == pytest.approx(mean, abs=1e-15)
    if metric != "err":  # the top of ERR's scale is that of all lists
        pairs = zip(lists, truths, strict=True)
        alone = [getattr(recnb, metric)(one, truth, k=k) for one, truth in pairs]
        assert score.per_user.tolist() == alone


# Collections of any kind

COLLECTIONS = ROWS["collections"]
BINARY = recnb.evaluate({1: RANKING}, {1: LIKED})


@pytest.mark.thin
@pytest.mark.parametrize("truth", COLLECTIONS["truths"])
@pytest.mark.parametrize("ranking", COLLECTIONS["rankings"])
def test_collections_of_any_kind(ranking: str, truth: str) -> None:
    for metric in ("precision", "ndcg", "average_precision", "reciprocal_rank"):
        given = value_of(ranking, {**globals(), "items": RANKING})
        relevant = value_of(truth, {**globals(), "items": LIKED})
        alone = getattr(recnb, metric)(given, relevant, k=3)
        assert alone == float(getattr(BINARY, metric)(k=3))


@pytest.mark.parametrize("kind", COLLECTIONS["grades"])
def test_grades_of_any_kind(kind: str) -> None:
    made = (
        value_of(kind, {**globals(), "items": items})
        for items in (GRADES, [3, 0, 2, 0, 0, 0], [0.2, 0.9, 0.5, 0.1, 0, -1])
    )
    grades, labels, scores = made
    assert recnb.ndcg(grades) == pytest.approx(0.9608081943360617, abs=1e-15)
    found = recnb.ndcg(y_true=labels, y_score=scores)
    assert found == pytest.approx((2 / log2(3) + 3 / 2) / (3 + 2 / log2(3)))


#: Two Series of one index in two orders, and one whose labels repeat.
Y_TRUE = pd.Series([3.0, 0.0, 1.0], index=list("abc"))
SHUFFLED = pd.Series([0.1, 0.9, 0.5], index=list("cba"))
QUERIES = pd.Series(["q"] * 3, index=[0, 1, 2])
LAST_FIRST = pd.Series([0.1, 0.9, 0.5], index=[2, 0, 1])
REPEATED = Y_TRUE.set_axis(list("aab"))


test_series_in_another_order_are_not_paired_by_position = hold_refusals(
    ROWS["refused"], globals()
)


def test_what_was_given_stays_as_it_was() -> None:
    ranking, truth = ["a", "b"], {"b": 1.0, "c": 2.0}
    recnb.ndcg(ranking, truth, k=1)
    assert (ranking, truth) == (["a", "b"], {"b": 1.0, "c": 2.0})
