"""Frames on which a library's number follows no rule are refused by name, and what the error advises gives a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import pytest

import recnb
from recnb.errors import RecnbError
from recnb.libraries import as_in
from recnb.libraries.refusals import REFUSALS

Frame = pd.DataFrame
RECS = Frame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
TRUTH = Frame({"user": [1], "item": ["b"], "relevance": [1]})
GRADED = Frame({"user": [1, 1], "item": ["b", "c"], "relevance": [2, 1]})
NEGATIVE = GRADED.assign(relevance=[2, -1])
LEVEL = RECS.assign(score=[3.0, 2.0, 2.0])
LONG = Frame({"user": 1, "item": [*"abcdefghijklmnop"], "score": [9.0, *[2.0] * 15]})
BOTH, BOTH_TRUTH = (pd.concat([one, one.assign(user=2)], ignore_index=True) for one in (RECS, TRUTH))
TWICE = pd.concat([RECS, RECS[:1].assign(score=0.5)], ignore_index=True)

#: Word of the refusal, library, metric, recommendations, truth, k, and both after what the error advises.
CASES = [
    ("grades", "recpack", "ndcg", RECS, GRADED, 2, RECS, GRADED.assign(relevance=1)),
    ("repeats", "recpack", "recall", TWICE, TRUTH, 2, RECS, TRUTH),
    ("repeats", "recommenders", "ndcg", TWICE, TRUTH, 2, RECS, TRUTH),
    ("ties", "recpack", "rr", LEVEL, TRUTH, 3, RECS, TRUTH),
    ("ties", "torchmetrics", "precision[list]", LEVEL, TRUTH, 2, RECS, TRUTH),
    ("ties", "torcheval", "precision", LEVEL, TRUTH, 2, RECS, TRUTH),
    ("graded ties", "scikit-learn", "ndcg_ignore_ties[list]", LEVEL, GRADED, 2, RECS, GRADED),
    ("long ties", "ranx", "ndcg", LONG, TRUTH, 3, LONG.assign(score=range(16, 0, -1)), TRUTH),
    ("unsorted rows", "evidently", "ap[list]", RECS[::-1], TRUTH, 2, RECS, TRUTH),
    ("unsorted rows", "evidently", "ap[full]", LEVEL, TRUTH, 2, RECS, TRUTH),
    ("short lists", "evidently", "ap[list]", BOTH[:-1], BOTH_TRUTH, 3, BOTH, BOTH_TRUTH),
    ("negatives", "evidently", "ndcg[list]", RECS, NEGATIVE, 2, RECS, GRADED),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_what_follows_no_rule_is_refused_and_the_remedy_works(
    case: tuple[str, str, str, Frame, Frame, int, Frame, Frame],
) -> None:
    word, library, metric, recs, truth, k, *then = case
    with pytest.raises(RecnbError, match="follows no rule") as refused:
        as_in(library, metric, recs, truth, k)
    assert REFUSALS[word].frames in str(refused.value)
    assert REFUSALS[word].remedy in str(refused.value)
    assert as_in(library, metric, *then, k) > 0


def test_every_remedy_is_tried() -> None:
    assert {case[0] for case in CASES} == {word for word, refusal in REFUSALS.items() if refusal.remedy}


NOT_REFUSED = [
    ("recpack", "ndcg", RECS, TRUTH, 2), ("recpack", "precision", RECS, GRADED, 2),
    # No hit is among equal scores; all of them are hits; the equal scores stand below k.
    ("recpack", "rr", LEVEL, TRUTH.assign(item="a"), 3), ("recpack", "recall", LEVEL, GRADED.assign(relevance=1), 2),
    ("torcheval", "precision", LEVEL, TRUTH.assign(item="a"), 1), ("ranx", "ndcg", LONG[:15], TRUTH, 3),
]  # fmt: skip


@pytest.mark.parametrize(("library", "metric", "recs", "truth", "k"), NOT_REFUSED)
def test_what_does_not_depend_on_it_is_not_refused(
    library: str, metric: str, recs: Frame, truth: Frame, k: int
) -> None:
    assert 0 <= as_in(library, metric, recs, truth, k) <= 1


def test_evidently_reads_the_longest_list_of_all_users_and_the_last_place_of_those_with_a_hit() -> None:
    """Lists of users without a hit make precision@3 defined, and not the reciprocal rank; where nobody has a hit it raises."""
    recs, truth = pd.concat([RECS, RECS[:2].assign(user=2)], ignore_index=True), TRUTH.assign(user=2)
    assert as_in("evidently", "precision[list]", recs, truth, 3) == 0.5
    none = TRUTH.assign(item="x")
    for asked in (("rr[list]", recs, truth, 3), ("rr[list]", RECS, none, 2), ("precision[list]", RECS, none, 4)):
        with pytest.raises(RecnbError, match="raises an error on"):
            as_in("evidently", *asked)


def outcome(call: Callable[[], object]) -> str:
    try:
        return str(call())
    except RecnbError as problem:
        return str(problem)


@pytest.mark.parametrize("library", recnb.conventions.names())
def test_true_and_false_are_grades_of_1_and_0(library: str) -> None:
    grades = Frame({"user": [1, 1], "item": ["b", "z"], "relevance": [1, 0]})
    truths = grades, grades.astype({"relevance": bool})
    for metric in recnb.conventions.metrics(library):
        of_numbers, of_words = (outcome(partial(as_in, library, metric, RECS, truth, 2)) for truth in truths)
        assert of_numbers == of_words, metric
    of_numbers, of_words = (repr(recnb.evaluate(RECS, truth, convention=library).table(k=2)) for truth in truths)
    assert of_numbers == of_words
