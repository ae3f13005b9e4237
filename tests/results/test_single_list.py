"""One list in plain Python: every form of call, held by the textbook's numbers and by
the same data in frames.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import FrameError
from recnb.metrics.metric import METRICS
from tests.rows import read_rows

RANKING, LIKED = ["a", "b", "c", "d"], ["b", "e", "d"]
RELEVANCE = {"b": 3.0, "e": 2.0, "d": 1.0, "a": 0.0}
GRADES = [3, 2, 3, 0, 1, 2]
IDCG = 3 + 2 / log2(3) + 1 / 2

#: Calls, each with its number.
BY_HAND = read_rows("results/one_list.toml")

#: Precision at 1 is 1/2 of two lists (a hits, c does not), and 1 of one list of two
#: items (the first hits).
TUPLES: Any = ([("a", "b"), ("c", "d")], [("a", "b"), ("x", "y")])


SEVERAL = [["a", "b"], ["b", "a"], ["c"]]


def tuples_and(truth: Callable[[Any], Any]) -> Any:
    return TUPLES[0], truth(TUPLES[1])


@pytest.mark.parametrize("call", BY_HAND)
def test_numbers_by_hand(call: str) -> None:
    assert eval(call) == pytest.approx(eval(BY_HAND[call]), abs=1e-15)


PAIRS = st.tuples(
    st.lists(st.integers(0, 6), unique=True, min_size=1, max_size=6),
    st.dictionaries(
        st.integers(0, 7), st.sampled_from([0.0, 1.0, 2.0, 3.5]), min_size=1
    ),
)


@given(
    st.lists(PAIRS, min_size=1, max_size=4),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from(list(METRICS)),
)
def test_the_same_as_in_frames(
    pairs: list[tuple[list[int], dict[int, float]]], k: int | None, metric: str
) -> None:
    lists, truths = [one for one, _ in pairs], [one for _, one in pairs]
    score = getattr(recnb, metric)(lists, truths, k=k)
    in_frames = recnb.evaluate(
        dict(enumerate(lists)), dict(enumerate(truths)), no_relevant="zero"
    )
    assert float(score) == pytest.approx(
        float(getattr(in_frames, metric)(k=k)), abs=1e-15
    )
    if metric != "err":  # the top of ERR's scale is that of all lists
        assert score.per_user.tolist() == [
            getattr(recnb, metric)(one, truth, k=k) for one, truth in pairs
        ]


# Collections of any kind

TRUTHS: list[Callable[[Any], Any]] = [
    list,
    tuple,
    set,
    frozenset,
    np.array,
    pd.Series,
    pd.Index,
    pl.Series,
    lambda items: dict.fromkeys(items, 1),
    lambda items: dict.fromkeys(items, True).keys(),
    lambda items: dict(enumerate(items)).values(),
    iter,
]
RANKINGS: list[Callable[[Any], Any]] = [
    list,
    tuple,
    np.array,
    lambda items: np.array(items, dtype=object),
    lambda items: pd.Series(items, index=[9, 3, 3, 0]),
    pd.Index,
    pl.Series,
    lambda items: pd.Series(items, dtype="category"),
    iter,
    lambda items: dict.fromkeys(items).keys(),
]
GRADED: list[Callable[[Any], Any]] = [
    list,
    tuple,
    np.array,
    pd.Series,
    pl.Series,
    iter,
    lambda grades: np.array(grades, dtype=np.float32),
    lambda grades: pd.Series(grades, index=list("fedcba")),
]
BINARY = recnb.evaluate({1: RANKING}, {1: LIKED})


@pytest.mark.thin
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("ranking", RANKINGS)
def test_collections_of_any_kind(
    ranking: Callable[[Any], Any], truth: Callable[[Any], Any]
) -> None:
    for metric in ("precision", "ndcg", "average_precision", "reciprocal_rank"):
        assert getattr(recnb, metric)(ranking(RANKING), truth(LIKED), k=3) == float(
            getattr(BINARY, metric)(k=3)
        )


@pytest.mark.parametrize("kind", GRADED)
def test_grades_of_any_kind(kind: Callable[[Any], Any]) -> None:
    assert recnb.dcg(kind(GRADES)) == pytest.approx(
        sum(grade / log2(rank + 1) for rank, grade in enumerate(GRADES, 1))
    )
    assert recnb.ndcg(kind(GRADES)) == pytest.approx(0.9608081943360617, abs=1e-15)
    assert (recnb.cg(kind(GRADES), k=3), recnb.hit_rate(kind(GRADES))) == (8, 1)
    found = recnb.ndcg(
        y_true=kind([3, 0, 2, 0, 0, 0]), y_score=kind([0.2, 0.9, 0.5, 0.1, 0, -1])
    )
    assert found == pytest.approx((2 / log2(3) + 3 / 2) / (3 + 2 / log2(3)))


#: Functions of one list that take labels and scores.
SCORED = sorted({*METRICS} & {*recnb.__all__} | {"auc"})


@pytest.mark.parametrize("metric", SCORED)
def test_labels_and_scores_in_another_order(metric: str) -> None:
    """Two Series with one index in two orders are not paired by position."""
    compute = getattr(recnb, metric)
    y_true = pd.Series([3.0, 0.0, 1.0], index=list("abc"))
    shuffled = pd.Series([0.1, 0.9, 0.5], index=list("cba"))
    problem = r"same index in another order: .*y_score\.loc\[y_true\.index\]"
    for sides in ((y_true, shuffled), ([y_true] * 2, [y_true, shuffled])):
        with pytest.raises(FrameError, match=problem):
            compute(y_true=sides[0], y_score=sides[1])
    with pytest.raises(FrameError, match=problem):
        recnb.evaluate_groups(y_true, shuffled, group=[3])
    with pytest.raises(FrameError, match=problem):
        recnb.evaluate_groups(y_true.to_frame(), shuffled.to_frame(), group=[3])
    # The fix, and what has no index or one of other rows, is paired as it stands.
    found = compute(y_true=y_true, y_score=shuffled.loc[y_true.index])
    assert found == compute(y_true=[3, 0, 1], y_score=[0.5, 0.9, 0.1])
    assert found == compute(y_true=y_true, y_score=pd.Series([0.5, 0.9, 0.1]))
    assert found == compute(y_true=iter([3, 0, 1]), y_score=iter([0.5, 0.9, 0.1]))


def test_an_array_beside_a_series_in_any_order() -> None:
    scores = pd.Series([0.1, 0.9, 0.5], index=[2, 0, 1])
    ndcg = recnb.ndcg(y_true=[3, 0, 1], y_score=scores)
    assert recnb.evaluate_groups([3, 0, 1], scores, [3]).ndcg() == ndcg
    queries = pd.Series(["q"] * 3, index=[0, 1, 2])
    with pytest.raises(FrameError, match=r"qid\.loc\[y_score\.index\]"):
        recnb.evaluate_groups([3, 0, 1], scores, qid=queries)
    found = recnb.evaluate_groups([3, 0, 1], scores, qid=queries.loc[scores.index])
    assert found.ndcg() == ndcg


def test_labels_of_rows_that_repeat_are_paired_by_position() -> None:
    y_true = pd.Series([3.0, 0.0, 1.0], index=list("aab"))
    scores = pd.Series([0.1, 0.9, 0.5], index=list("baa"))
    with pytest.raises(FrameError, match=r"by position, y_score\.to_numpy\(\)\."):
        recnb.ndcg(y_true=y_true, y_score=scores)
    ndcg = recnb.ndcg(y_true=y_true, y_score=scores.to_numpy())
    assert ndcg == recnb.ndcg(y_true=[3, 0, 1], y_score=[0.1, 0.9, 0.5])


@pytest.mark.parametrize("outer", [list, tuple, pd.Series, np.array])
def test_several_lists_of_any_kind(outer: Callable[[Any], Any]) -> None:
    lists, truths = [["a", "b"], ["b", "c"]], [["a", "c"], ["b", "a"]]
    assert recnb.precision(outer(lists), outer(truths)).per_user.tolist() == [0.5, 0.5]
    assert recnb.precision(outer(lists), [{"a"}, {"x": 1}]).per_user.tolist() == [
        0.5,
        0.0,
    ]
    assert recnb.dcg(outer([[3, 2], [0, 1]])).per_user.tolist() == [
        3 + 2 / log2(3),
        1 / log2(3),
    ]


def test_what_was_given_stays_as_it_was() -> None:
    ranking, truth = ["a", "b"], {"b": 1.0, "c": 2.0}
    recnb.ndcg(ranking, truth, k=1)
    assert (ranking, truth) == (["a", "b"], {"b": 1.0, "c": 2.0})


def test_grades_and_scores_are_those_of_groups() -> None:
    lists = [[3, 0, 2, 1, 0], [0, 1, 0]], [[0.5, 0.5, 0.5, 0.1, 0.5], [1.0, 1.0, 2.0]]
    grouped = recnb.evaluate_groups(
        np.concatenate(lists[0]), np.concatenate(lists[1]), group=[5, 3]
    )
    for name in ("ndcg", "mrr", "average_precision", "precision"):
        several = getattr(recnb, name)(y_true=lists[0], y_score=lists[1], k=2)
        assert several.per_user.tolist() == pytest.approx(
            getattr(grouped, name)(k=2).per_user.tolist()
        )
        assert (
            getattr(recnb, name)(y_true=np.array(lists[0][0]), y_score=lists[1][0], k=2)
            == several.per_user[0]
        )
