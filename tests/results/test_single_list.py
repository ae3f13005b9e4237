"""One list in plain Python: every form of call, held by the textbook's numbers and by the same data in frames."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

import recnb
from recnb.conventions import Convention
from recnb.errors import CutoffError, OptionError, RecnbError
from recnb.metrics.metric import METRICS

RANKING = ["a", "b", "c", "d"]
RELEVANCE = {"b": 3.0, "e": 2.0, "d": 1.0, "a": 0.0}


@pytest.mark.parametrize("name", [*METRICS, "mrr", "map"])
def test_a_score_of_one_list(name: str) -> None:
    """The values are those of the naive definitions (tests/metrics/test_reference.py)."""
    score = getattr(recnb, name)(RANKING, RELEVANCE, k=3)
    assert isinstance(score, recnb.Score)
    assert (score.k, score.n_users, score.per_user.tolist()) == (3, 1, [float(score)])


IDCG = 3 + 2 / math.log2(3) + 1 / 2


def in_a_frame(
    metric: str, lists: list[list[Any]], truths: list[dict[Any, float]], k: int | None, **options: Any
) -> float:
    recs = pd.DataFrame(
        [(user, item, rank) for user, one in enumerate(lists) for rank, item in enumerate(one, 1)],
        columns=["user", "item", "rank"],
    )
    truth = pd.DataFrame(
        [(user, item, grade) for user, one in enumerate(truths) for item, grade in one.items()],
        columns=["user", "item", "relevance"],
    )
    return float(getattr(recnb.evaluate(recs, truth, no_relevant="zero"), metric)(k=k, **options))


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 6), unique=True, min_size=1, max_size=6),
            st.dictionaries(st.integers(0, 7), st.sampled_from([0.0, 1.0, 2.0, 3.5]), min_size=1),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from(list(METRICS)),
)
def test_the_same_as_in_frames(pairs: list[tuple[list[int], dict[int, float]]], k: int | None, metric: str) -> None:
    lists, truths = [one for one, _ in pairs], [one for _, one in pairs]
    score = getattr(recnb, metric)(lists, truths, k=k)
    assert float(score) == pytest.approx(in_a_frame(metric, lists, truths, k), abs=1e-15)
    if metric != "err":  # the top of ERR's scale is that of all lists
        assert score.per_user.tolist() == [getattr(recnb, metric)(one, truth, k=k) for one, truth in pairs]


LIKED = ["b", "e", "d"]
BINARY = recnb.evaluate(
    pd.DataFrame({"user": 1, "item": RANKING, "rank": [1, 2, 3, 4]}), pd.DataFrame({"user": 1, "item": LIKED})
)


@pytest.mark.parametrize(
    "truth",
    [
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
    ],
)
@pytest.mark.parametrize(
    "ranking",
    [
        list,
        tuple,
        np.array,
        lambda items: np.array(items, dtype=object),
        lambda items: pd.Series(items, index=[9, 3, 3, 0]),
        pd.Index,
        pl.Series,
        lambda items: pd.Series(items, dtype="category"),
    ],
)
def test_collections_of_any_kind(ranking: Callable[[Any], Any], truth: Callable[[Any], Any]) -> None:
    for metric in ("precision", "ndcg", "average_precision", "reciprocal_rank"):
        assert getattr(recnb, metric)(ranking(RANKING), truth(LIKED), k=3) == float(getattr(BINARY, metric)(k=3))


def test_items_may_be_numbers_or_both_sides_numpy() -> None:
    assert recnb.precision(np.array([3, 1, 2]), {1: 2.0}) == 1 / 3
    assert recnb.precision([3, 1, 2], np.array([1, 2])) == recnb.precision(np.array([3, 1, 2]), {1, 2}) == 2 / 3
    assert recnb.precision([3.0, 1.0], [1]) == 1 / 2


GRADES = [3, 2, 3, 0, 1, 2]


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        lambda grades: np.array(grades, dtype=np.float32),
        lambda grades: pd.Series(grades, index=list("fedcba")),
    ],
)
def test_grades_of_any_kind(kind: Callable[[Any], Any]) -> None:
    assert recnb.dcg(kind(GRADES)) == pytest.approx(
        sum(grade / math.log2(rank + 1) for rank, grade in enumerate(GRADES, 1)), abs=1e-15
    )
    assert recnb.ndcg(kind(GRADES)) == pytest.approx(0.9608081943360617, abs=1e-15)
    assert recnb.cg(kind(GRADES), k=3) == 8
    assert recnb.hit_rate(kind(GRADES)) == 1


def test_grades_are_the_whole_truth() -> None:
    """What a list of grades does not hold is not relevant: the ideal is the grades sorted, cut at k."""
    assert recnb.idcg(GRADES) == pytest.approx(
        sum(grade / math.log2(rank + 1) for rank, grade in enumerate(sorted(GRADES, reverse=True), 1))
    )
    assert recnb.idcg(GRADES, k=2) == pytest.approx(3 + 3 / math.log2(3))
    assert recnb.recall([0, 1, 1], k=2) == 1 / 2
    assert recnb.ndcg([True, False, True]) == recnb.ndcg([1, 0, 1]) == recnb.ndcg(np.array([True, False, True]))
    assert recnb.ndcg([0, 0]) == 0
    assert recnb.dcg([0.5, 0.25]) == 0.5 + 0.25 / math.log2(3)


def test_idcg() -> None:
    assert recnb.idcg(RELEVANCE) == pytest.approx(IDCG, abs=1e-15)  # of relevance alone: all of it
    assert recnb.idcg(RELEVANCE, k=2) == pytest.approx(3 + 2 / math.log2(3), abs=1e-15)
    assert recnb.idcg([1, 3, 2, 0]) == pytest.approx(IDCG, abs=1e-15)
    assert recnb.idcg(["x"], RELEVANCE) == 3.0  # beside a list: cut where the list ends
    assert recnb.idcg(["x"], RELEVANCE, k=10) == pytest.approx(IDCG, abs=1e-15)
    assert recnb.idcg(RELEVANCE, gain="exponential", discount="rank") == 7 + 3 / 2 + 1 / 3


def test_several_lists() -> None:
    score = recnb.ndcg([["a", "b"], ["b", "a"], ["c"]], [{"a": 1}, {"a": 1}, {"a": 1}], k=2)
    assert score.per_user.tolist() == [1.0, 1 / math.log2(3), 0.0]
    assert score == pytest.approx((1 + 1 / math.log2(3)) / 3)
    assert score.per_user.index.tolist() == [0, 1, 2]
    assert score.per_user.index.name == "list"
    assert score.per_user.name == "ndcg@2"
    assert score.n_users == 3
    assert "mean of 3 lists" in repr(score)
    assert "one list of 4" in repr(recnb.ndcg(RANKING, LIKED))
    assert len(score.interval()) == 2
    assert 0 <= score.interval().low <= score <= score.interval().high <= 1


@pytest.mark.parametrize("outer", [list, tuple, lambda lists: pd.Series(lists), lambda lists: np.array(lists)])
def test_several_lists_of_any_kind(outer: Callable[[Any], Any]) -> None:
    lists, truths = [["a", "b"], ["b", "c"]], [["a", "c"], ["b", "a"]]
    assert recnb.precision(outer(lists), outer(truths)).per_user.tolist() == [0.5, 0.5]
    assert recnb.precision(outer(lists), [{"a"}, {"x": 1}]).per_user.tolist() == [0.5, 0.0]
    grades = outer([[3, 2], [0, 1]])
    assert recnb.dcg(grades).per_user.tolist() == [3 + 2 / math.log2(3), 1 / math.log2(3)]


def test_several_lists_of_grades_of_any_length() -> None:
    score = recnb.precision([[1, 0, 0, 0], [1], [0, 1]])
    assert score.per_user.tolist() == [1 / 4, 1.0, 1 / 2]
    assert recnb.ndcg([[0, 1], [1, 0]], k=1).per_user.tolist() == [0.0, 1.0]


def test_k_beyond_the_list_and_none() -> None:
    assert recnb.precision(RANKING, LIKED, 4) == recnb.precision(RANKING, LIKED) == 0.5
    assert recnb.precision(RANKING, LIKED, k=8) == 0.25
    assert recnb.recall(RANKING, LIKED, k=8) == recnb.recall(RANKING, LIKED)
    assert recnb.ndcg(["b"], LIKED) == 1.0  # without k the ideal is cut where the list ends
    assert recnb.ndcg(["b"], LIKED, k=3) < 1.0


def test_aliases_are_the_same_function() -> None:
    assert recnb.mrr is recnb.reciprocal_rank
    assert recnb.map is recnb.average_precision


def test_empty_lists() -> None:
    assert recnb.ndcg([], ["a"]) == 0
    assert recnb.precision([], ["a"], k=5) == 0
    assert recnb.recall([], {"a": 1}) == 0
    assert recnb.ndcg(["a"], []) == 0
    assert recnb.recall(["a"], {}) == 0
    assert recnb.recall(["a"], {"a": 0}) == 0
    assert recnb.ndcg([], []) == 0


def test_explain_of_a_list() -> None:
    explanation = recnb.explain("ndcg", RANKING, RELEVANCE, k=3)
    assert explanation.value == float(recnb.ndcg(RANKING, RELEVANCE, k=3))
    assert explanation.user is None
    assert explanation.to_frame()["item"].tolist() == ["a", "b", "c"]
    assert explanation.missed == ("e", "d")
    assert recnb.explain("mrr", RANKING, LIKED).value == 0.5
    assert recnb.explain("dcg", [3, 0, 1]).to_frame()["relevance"].tolist() == [3, 0, 1]


FRAME = pd.DataFrame({"user": [1] * 60, "item": range(60), "rank": range(1, 61)})
WRONG: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "an item twice": (lambda: recnb.ndcg(["a", "b", "a"], ["a"]), ("'a' more than once", "each item once")),
    "a relevant item twice": (lambda: recnb.ndcg(["a"], ["b", "b"]), ("truth", "'b' more than once")),
    "text for a truth": (lambda: recnb.ndcg(["a"], "abc"), ("truth is 'abc'", "mapping", "list or set")),
    "a number for a truth": (lambda: recnb.ndcg(["a"], 5), ("truth is 5", "mapping")),
    "k for a truth": (lambda: recnb.ndcg([3, 2], 2), ("truth is 2", "mapping")),
    "text for a ranking": (lambda: recnb.ndcg("abc", ["a"]), ("ranking is 'abc'", "give a list")),
    "nothing for a ranking": (lambda: recnb.ndcg(None), ("ranking is None", "give a list")),
    "a set has no ranks": (lambda: recnb.ndcg({"a"}, ["a"]), ("ranking is {'a'}", "give a list, from rank 1 down")),
    "a mapping for a ranking": (lambda: recnb.ndcg({"a": 1}), ("the ranking is a mapping", "no order", "recnb.ndcg(ranking, relevance)", "By scores: sorted(scores, key=scores.get, reverse=True)")),
    "two mappings": (lambda: recnb.idcg({"a": 1}, {"a": 1}), ("the ranking is a mapping", "recnb.idcg(ranking, relevance)")),
    "a negative grade": (lambda: recnb.ndcg([1, -1]), ("rank 2", "-1", "from 0 up")),
    "a NaN grade": (lambda: recnb.ndcg([float("nan"), 1]), ("rank 1", "nan")),
    "an infinite grade": (lambda: recnb.ndcg([1, 2, float("inf")]), ("rank 3", "inf")),
    "a grade beyond floats": (lambda: recnb.ndcg([10**400]), ("rank 1", "from 0 up")),
    "a missing grade": (lambda: recnb.ndcg([1, None]), ("rank 2", "None")),
    "a grade of text": (lambda: recnb.ndcg(["3", "2"]), ("rank 1", "'3'", "second argument")),
    "a decimal grade": (lambda: recnb.ndcg([decimal.Decimal(1)]), ("rank 1", "Decimal")),
    "items without a truth": (lambda: recnb.precision(["a", "b"], k=2), ("rank 1", "'a'", "needs its truth", "second argument")),
    "lists and grades mixed": (lambda: recnb.ndcg([[3, 2], 1]), ("rank 1", "[3, 2]")),
    "negative relevance": (lambda: recnb.ndcg(["a"], {"a": -1}), ("item 'a'", "-1")),
    "NaN relevance": (lambda: recnb.ndcg(["a"], {"b": 1, "a": math.nan}), ("item 'a'", "nan")),
    "relevance of text": (lambda: recnb.ndcg(["a"], {"a": "very"}), ("item 'a'", "'very'")),
    "fewer truths than lists": (lambda: recnb.ndcg([["a"], ["b"]], [["a"]]), ("2 rankings", "1 truths", "one truth for each")),
    "more truths than lists": (lambda: recnb.ndcg([["a"]], [["a"], ["b"]]), ("1 rankings", "2 truths")),
    "an item that is a list": (lambda: recnb.ndcg([["a"], "b"], ["a"]), ("ranking", "['a']", "cannot be an item")),
    "a relevant item that is a list": (lambda: recnb.ndcg(["a"], [["a"]]), ("truth", "['a']", "cannot be an item")),
    "no grades": (lambda: recnb.ndcg([]), ("empty", "[3, 2, 0, 1]")),
    "one list of none": (lambda: recnb.ndcg([[3], []]), ("empty", "[3, 2, 0, 1]")),
    "a missing item": (lambda: recnb.ndcg(["a", None], ["a"]), ("ranking", "missing", "None")),
    "a NaN item": (lambda: recnb.ndcg(["a"], [math.nan, "a"]), ("truth", "missing", "nan")),
    "an item that pandas misses": (lambda: recnb.ndcg(["a", pd.NA], ["a"]), ("ranking", "missing", "<NA>")),
    "items of other kinds": (lambda: recnb.ndcg([1, 2], {"1": 3}), ("1 and the truth '1'", "never match", "both text or both numbers")),
    "items of other kinds, text first": (lambda: recnb.ndcg(["7", "8"], np.array([8, 9])), ("'7'", "8", "never match")),
    "a series that is a mapping": (lambda: recnb.ndcg(["a", "b"], pd.Series({"a": 3, "b": 1})), ("never match", ".to_dict()")),
    "a frame": (lambda: recnb.ndcg(FRAME, FRAME), ("frame", "recnb.evaluate(recs, truth).ndcg(k=10)")),
    "a Polars frame": (lambda: recnb.recall(pl.from_pandas(FRAME), pl.from_pandas(FRAME)), ("frame", "recnb.evaluate(recs, truth).recall(k=10)")),
    "a frame for a truth": (lambda: recnb.ndcg([1], FRAME), ("truth is <DataFrame>", "mapping")),
    "several lists to explain": (lambda: recnb.explain("ndcg", [["a"], ["b"]], [["a"], ["b"]]), ("one list", "2 were given")),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_refused(what: str) -> None:
    call, pieces = WRONG[what]
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 25 < len(message) < 600
    assert "\n" not in message


def test_refused_by_kind() -> None:
    with pytest.raises(CutoffError):
        recnb.ndcg([1], k=0)
    with pytest.raises(OptionError, match="Did you mean 'gain'"):
        recnb.ndcg([1], gian="linear")  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="Did you mean 'exponential'"):
        recnb.ndcg([1], gain="exp")  # type: ignore[arg-type]


def test_what_was_given_stays_as_it_was() -> None:
    ranking, truth = ["a", "b"], {"b": 1.0, "c": 2.0}
    recnb.ndcg(ranking, truth, k=1)
    assert ranking == ["a", "b"]
    assert truth == {"b": 1.0, "c": 2.0}
    assert list(truth) == ["b", "c"]


#: Tuples may be items or whole lists: what is read as two lists, and as one list of two items.
TUPLES = [("a", "b"), ("c", "d")], [("a", "b"), ("x", "y")]


def test_tuples_are_no_lists_by_chance() -> None:
    """Precision at 1 is 1/2 of two lists (a hits, c does not), and 1 of one list of two items (the first hits)."""
    ranking, truth = TUPLES
    with pytest.raises(
        RecnbError, match=r"may be items or whole lists.*set\(truth\).*\[list\(one\) for one in ranking\]"
    ):
        recnb.precision(ranking, truth, k=1)
    assert recnb.precision(ranking, set(truth), k=1) == 1
    assert recnb.precision(ranking, dict.fromkeys(truth, 1), k=1) == 1
    assert recnb.precision([list(one) for one in ranking], truth, k=1) == 0.5
    assert recnb.precision(ranking, [list(one) for one in truth], k=1) == 0.5
    assert recnb.precision(ranking, [set(one) for one in truth], k=1) == 0.5
    with pytest.raises(RecnbError, match="may be items or whole lists"):
        recnb.precision([*ranking, ("e", "f")], truth, k=1)


def test_a_list_with_nothing_to_find_counts_0_and_the_basis_says_so() -> None:
    """A frame leaves such a user out instead, and says that."""
    both = recnb.ndcg([["A"], ["B"]], [{"A": 1}, {}])
    assert both == 0.5
    assert "mean of 2 lists; 1 list with no relevant item counts 0; " in repr(both)
    assert "counts 0" not in repr(recnb.ndcg([["A"], ["B"]], [{"A": 1}, {"C": 1}]))
    frame = pd.DataFrame({"user": [1, 2], "recommended": [["A"], ["B"]], "relevant": [{"A": 1}, {}]})
    assert frame.rec.ndcg() == 1.0
    assert "1 with no relevant item left out" in repr(frame.rec.ndcg())


# Grades and scores


def test_grades_and_scores() -> None:
    want = (2 / math.log2(3) + 3 / 2) / (3 + 2 / math.log2(3))
    for convert in (list, tuple, np.array, pd.Series, pl.Series):
        found = recnb.ndcg(y_true=convert([3, 0, 2]), y_score=convert([0.2, 0.9, 0.5]))
        assert found == pytest.approx(want, abs=1e-15)
    assert recnb.ndcg(y_true=[3, 0, 2], y_score=[0.2, 0.9, 0.5], k=1) == 0
    assert recnb.precision(y_true=[1, 0, 1], y_score=[3, 2, 1], k=2) == 0.5
    assert recnb.mrr(y_true=[0, 1], y_score=[0.5, 0.5]) == 0.5, "equal scores keep their order"
    assert recnb.mrr(y_true=[[0, 1], [1, 0]], y_score=[[1, 2], [1, 2]]).per_user.tolist() == [1, 0.5]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"y_true": [1, 0]}, "go together"),
        ({"y_score": [1, 0]}, "go together"),
        ({"ranking": [1], "y_true": [1], "y_score": [1]}, "go together"),
        ({"y_true": [1, 0], "y_score": [1]}, "y_true has 2 values and y_score 1"),
        ({"y_true": [1, 0], "y_score": [1, math.nan]}, "y_score holds nan"),
        ({"y_true": [1, 0], "y_score": [1, "a"]}, "y_score holds 'a'"),
        ({"y_true": [1, 0], "y_score": [None, 1]}, "y_score holds None"),
        ({"y_true": [1, -2], "y_score": [2, 1]}, "-2"),
        ({"y_true": [], "y_score": []}, "empty"),
        ({"y_true": 1, "y_score": 1}, "y_true is 1"),
    ],
)
def test_grades_and_scores_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(RecnbError, match=words):
        recnb.ndcg(**given)


def test_grades_and_scores_by_position_are_not_taken_for_items() -> None:
    for ranking, truth in (
        ([3, 0, 2], [0.2, 0.9, 0.5]),
        ([1, 0, 2], [0.2, 1.0, 0.5]),
        (np.array([3, 0, 2]), np.array([0.2, 0.9, 0.5])),
        ([[3, 0, 2]], [[0.2, 0.9, 0.5]]),
        ([1, 2], [3, 4]),
        ([5, 4, 3], [3, 4, 9]),
        ([12, 15], [15, 11]),
        ([7], [7]),
        (iter([5, 4, 3]), iter([3, 4, 9])),
    ):
        with pytest.raises(RecnbError, match=r"y_true=\.\.\., y_score="):
            recnb.ndcg(ranking, truth)
    assert recnb.ndcg([1, 2], {3, 4}) == 0
    assert recnb.ndcg([1, 2], [3, 4, 5]) == 0
    assert recnb.ndcg(["a", "b"], ["c", "d"]) == 0
    assert recnb.ndcg([1, 2], {2: 1, 3: 1}) > 0


@pytest.mark.parametrize("form", [list, np.array, pd.Series, lambda values: np.array([values])])
def test_grades_and_scores_by_position(form: Any) -> None:
    """Two lists of numbers are answered with y_true= and y_score=, whatever else could be refused."""
    lists = [
        ([3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7]),
        ([3, 0, 2, 1, 0], [5, 4, 3, 2, 1]),
        ([True, False], [0.3, 0.9]),
    ]
    for ranking, truth in lists:
        with pytest.raises(RecnbError, match=r"recnb\.precision\(y_true=\.\.\., y_score=\.\.\.\)"):
            recnb.precision(form(ranking), form(truth))


@pytest.mark.parametrize(
    ("ranking", "truth"), [([3, 2, 1, 0], [0.2, 0.9, 0.5]), ([0.5, 2.0], {2, 3}), ([True], {1, 2})]
)
def test_fractions_and_booleans_are_no_items(ranking: Any, truth: Any) -> None:
    with pytest.raises(RecnbError, match="if they are grades and scores, type"):
        recnb.ndcg(ranking, truth)
    assert recnb.hit_rate([1.0, 2.0], {2, 3}) == 1
    assert recnb.hit_rate([3, 1, 2], [2, 3, 9, 10]) == 1


def test_equal_scores_are_in_the_basis() -> None:
    tied = recnb.ndcg(y_true=[3, 0, 2, 1, 0], y_score=[0.5, 0.5, 0.5, 0.1, 0.5])
    assert tied == recnb.ndcg([3, 0, 2, 0, 1])
    assert "equal scores in the order given" in tied.basis
    assert "equal scores" in recnb.mrr(y_true=[[1, 0], [0, 1]], y_score=[[1, 2], [1, 1]]).basis
    assert "equal scores" not in recnb.mrr(y_true=[[1, 0], [0, 1]], y_score=[[1, 2], [1, 2]]).basis
    for option in ("qid", "group"):
        with pytest.raises(OptionError, match=r"recnb\.evaluate_groups\(y_true, y_score, group=\.\.\.\)"):
            recnb.ndcg(y_true=[1, 0], y_score=[0.5, 0.5], **{option: [2]})


@pytest.mark.parametrize("ties", ["first", "last", "expected", "max_rank", "floor_mean_rank", "worst"])
def test_ties_of_one_list(ties: Any) -> None:
    """One list and several have the values that groups have under the same rule."""
    lists = [[3, 0, 2, 1, 0], [0, 1, 0]], [[0.5, 0.5, 0.5, 0.1, 0.5], [1.0, 1.0, 2.0]]
    grouped = recnb.evaluate_groups(np.concatenate(lists[0]), np.concatenate(lists[1]), group=[5, 3], ties=ties)
    for name in ("ndcg", "mrr", "average_precision", "precision"):
        several = getattr(recnb, name)(y_true=lists[0], y_score=lists[1], k=2, ties=ties)
        assert several.per_user.tolist() == pytest.approx(getattr(grouped, name)(k=2).per_user.tolist())
        one = getattr(recnb, name)(y_true=np.array(lists[0][0]), y_score=lists[1][0], k=2, ties=ties)
        assert one == pytest.approx(several.per_user[0])
        assert one.convention.ties == ties
        assert Convention(ties=ties).in_words().split("; ")[2] in one.basis or ties == "first"
    assert recnb.ndcg(y_true=[0, 0], y_score=[1, 1], ties=ties) == 0


def test_expected_ties_of_one_list_are_those_of_scikit_learn() -> None:
    y_true, y_score = [3, 0, 2, 1, 0], [0.5, 0.5, 0.5, 0.1, 0.5]
    expected = recnb.ndcg(y_true=y_true, y_score=y_score, k=3, ties="expected")
    assert expected == pytest.approx(ndcg_score([y_true], [y_score], k=3))


def test_ties_of_one_list_refused() -> None:
    for ties in ("item_asc", "random", 3):
        with pytest.raises(OptionError, match="is no order of equal scores"):
            recnb.mrr(y_true=[0, 1], y_score=[1, 1], ties=ties)
    with pytest.raises(OptionError, match="y_true= and y_score="):
        recnb.mrr([0, 1], ties="expected")


@pytest.mark.parametrize(
    ("ranking", "truth", "words"),
    [
        (["a", "b", "c"], [3, 2, 1], r"dict\(zip\(items, grades\)\)"),
        (["a", "b", "c"], [0, 0, 1], "more than once"),
        (["x", "y"], [10], "never match"),
        ([1, 2], ["a"], "never match"),
        (["a", "b"], [("b", 2)], r"dict\(pairs\)"),
        ([("a", 0.3), ("b", 0.9)], ["b"], "the items alone"),
        ([3, 2, 0, 1], [3, 2, 1, 0], r"hold numbers.*y_true=\.\.\., y_score="),
        ([[3, 2, 0], [1, 0, 2]], [[3, 2, 1], [2, 1, 0]], r"hold numbers.*y_true=\.\.\., y_score="),
    ],
)
def test_items_and_grades_that_never_match_are_no_silent_0(ranking: Any, truth: Any, words: str) -> None:
    with pytest.raises(RecnbError, match=words):
        recnb.ndcg(ranking, truth, k=3)


def test_names_of_arguments_are_suggested() -> None:
    with pytest.raises(OptionError, match="'ranking', 'truth', 'k', 'y_true', 'y_score'"):
        recnb.ndcg(["a"], **dict[str, Any](relevant=["a"]))


def test_lists_of_grades_need_lists_of_scores() -> None:
    for ties in (None, "first"):
        with pytest.raises(RecnbError, match="the relevance at rank 1 is"):
            recnb.ndcg(y_true=[[1, 0], [0, 1]], y_score=[2, 1], ties=ties)


def test_an_empty_ranking_against_a_truth_of_pairs() -> None:
    with pytest.raises(RecnbError, match=re.escape("are tuples, such as ('a', 1)")):
        recnb.ndcg([], [("a", 1)])


@pytest.mark.parametrize("metric", [recnb.ndcg, recnb.precision, recnb.average_precision], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "truth", [[decimal.Decimal("1")], {decimal.Decimal("1")}, {decimal.Decimal("1"): 2.0}], ids=repr
)
def test_items_that_cannot_be_compared_are_refused(metric: Callable[..., float], truth: Any) -> None:
    ranking = np.array([1, 0])
    calls: list[Callable[[], object]] = [
        lambda: metric(ranking, truth),
        lambda: metric([*truth, 0], ranking[:1]),
        lambda: metric([*truth, *ranking], []),
        lambda: metric([ranking, ranking], [truth, truth]),
        lambda: recnb.explain("ndcg", ranking, truth),
        lambda: recnb.playground(list(ranking), truth),
    ]
    for call in calls:
        with pytest.raises(RecnbError, match=r"cannot be an item: .*\[str\(item\) for item"):
            call()
    assert metric([str(item) for item in ranking], [str(item) for item in truth], k=1) == 1
