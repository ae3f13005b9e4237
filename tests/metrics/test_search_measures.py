"""Measures of search: the numbers of trec_eval and ir_measures topic by topic, naive
definitions, and laws.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.metrics.metric import RETRIEVAL_METRICS
from tests.rows import read_rows
from tests.strategies import CUTOFFS, Data, data

Rows = dict[str, dict[str, Any]]

ROWS = read_rows("metrics/search.toml")

#: Who is averaged, and how lists are ordered, by both libraries.
AS_TREC: dict[str, Any] = {
    "ties": "item_desc",
    "negative_relevance": "zero",
    "no_relevant": "zero",
    "averaged_users": "both",
}


def judgments() -> Rows:
    """150 topics; grades from -2, which was pooled and not judged, to 3.

    Of every tenth topic nothing is relevant.
    """
    rng = np.random.default_rng(5)
    qrels = {}
    for topic in range(150):
        items = rng.choice(60, size=rng.integers(3, 40), replace=False)
        highest = 1 if topic % 10 == 0 else 4
        grades = rng.integers(-2, highest, len(items))
        qrels[f"t{topic}"] = {
            f"d{item:02}": int(grade) for item, grade in zip(items, grades, strict=True)
        }
    return qrels


def run(number: int) -> Rows:
    """Lists with equal scores, some of them short.

    Ten topics are missing, another run by run, and five are not in the judgments.
    """
    rng = np.random.default_rng(100 + number)
    lists = {}
    for topic in range(155):
        if topic % 15 == number % 15:
            continue
        items = rng.choice(80, size=rng.integers(1, 50), replace=False)
        scores = rng.integers(0, 8, len(items))
        lists[f"t{topic}"] = {
            f"d{item:02}": float(score)
            for item, score in zip(items, scores, strict=True)
        }
    return lists


QRELS = judgments()


#: Runs that are drawn, the first of them by the test command.
NUMBERS = [
    pytest.param(number, marks=() if number < 5 else pytest.mark.slow)
    for number in range(20)
]


@pytest.mark.parametrize("number", NUMBERS)
def test_each_topic_has_the_number_of_ir_measures(number: int) -> None:
    """Which are those of trec_eval, where it has the measure."""
    lists = run(number)
    by_options = recnb.evaluate(lists, QRELS, **AS_TREC)
    by_name = recnb.evaluate(lists, QRELS, convention="trec_eval")
    for text in ROWS["ir_measures"]:
        measure = ir_measures.parse_measure(text)
        # Each by itself: asked with others, NumRet of ir_measures 0.4 now and then counts
        # judged documents alone, as its place among them is that of a hash.
        theirs = {
            each.query_id: each.value
            for each in ir_measures.iter_calc([measure], QRELS, lists)
            if each.query_id in lists
        }
        for ev in (by_options, by_name):
            values = ev.measure(text).per_user.to_dict()
            assert values == pytest.approx(theirs, rel=1e-12, abs=1e-12), text


# Laws


@given(data(gaps=False), st.sampled_from(CUTOFFS[:-1]))
def test_a_cut_off_is_where_lists_end(source: Data, k: int) -> None:
    """So what libraries return of whole lists holds at every cut-off."""
    ev = recnb.evaluate(source.recs, source.relevant)
    cut = recnb.evaluate(source.recs.query(f"rank <= {k}"), source.relevant)
    for name in RETRIEVAL_METRICS:
        values = ev.measure(name, k=k).per_user.to_dict()
        assert values == pytest.approx(cut.measure(name).per_user.to_dict()), name


@given(data(gaps=False), st.sampled_from(CUTOFFS))
def test_auc_is_the_share_of_pairs_that_are_in_order(
    source: Data, k: int | None
) -> None:
    """As ir_measures' Accuracy, which has no value of a list without a pair."""
    values = recnb.evaluate(source.recs, source.relevant).measure("auc", k=k).per_user
    for user in source.users:
        truth = source.truth[user]
        found = [truth.get(item, 0) > 0 for item in source.ranking(user)[:k]]
        in_order = [above for above, below in combinations(found, 2) if above != below]
        share = np.mean(in_order) if in_order else 0.5
        assert values[user] == pytest.approx(share)


@given(data(gaps=False), st.sampled_from(CUTOFFS), st.floats(0.01, 0.99))
def test_rbp_with_its_residual_is_rbp_if_all_that_is_not_judged_is_relevant(
    source: Data, k: int | None, p: float
) -> None:
    """Below the list as well, where relevant items would add p to the power of k."""
    ev = recnb.evaluate(source.recs, source.relevant)
    upper = ev.rbp(k=k, p=p).per_user + ev.measure("rbp_residual", k=k, p=p).per_user
    for user in source.users:
        shown = source.ranking(user)[:k]
        truth = source.truth[user]
        could_be = [place for place, item in enumerate(shown) if truth.get(item, 1) > 0]
        best = sum((1 - p) * p**place for place in could_be) + p ** len(shown)
        assert upper[user] == pytest.approx(best, abs=1e-12)


#: What is relevant is never nothing here, and every list has places below its end.
WITHOUT_LOWEST = {"relevant_count", "rbp_residual"}


def test_bounds_hold_and_are_reached() -> None:
    """By lists of what is relevant alone, of it above and below the rest, and of the rest."""
    truth = {"u": {"a": 1, "b": 1, "c": 1}}
    lists = ("abc", "abcxyz", "xyzabc", "xyz")
    of_lists = [recnb.evaluate({"u": [*items]}, truth) for items in lists]
    without = recnb.evaluate(
        {"v": ["a"]}, {**truth, "v": ["a"]}, averaged_users="truth"
    )
    for name, metric in RETRIEVAL_METRICS.items():
        values = [float(ev.measure(name, k=6)) for ev in of_lists]
        values.append(without.measure(name, k=6).per_user["u"])
        low, high = metric.bounds
        assert low <= min(values), name
        assert max(values) <= high, name
        if name not in WITHOUT_LOWEST:
            assert min(values) == pytest.approx(low, abs=1e-5), name
        if math.isfinite(high):
            assert max(values) == pytest.approx(high, abs=1e-5), name
        else:
            assert max(values) > 1, name


def test_measures_of_search_are_asked_by_name() -> None:
    """What is advised in place of a method gives a number."""
    ev = recnb.evaluate({1: ["a", "b"]}, {1: ["b"]})
    assert not {*RETRIEVAL_METRICS} & {*dir(ev)}
    for name in RETRIEVAL_METRICS:
        with pytest.raises(AttributeError, match="Type ") as refused:
            getattr(ev, name)
        advice = str(refused.value).partition("Type ")[2].rstrip(".")
        for call in advice.split(", or "):
            eval(call, {"ev": ev})
