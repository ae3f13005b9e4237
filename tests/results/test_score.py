"""Score, Interval and Evaluation: numbers that know what they are made of."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.display.language import use_language, width
from tests.rows import hold_calls, read_rows

RNG = np.random.default_rng(5)
N = 60
RECS = pd.DataFrame(
    {
        "user": np.repeat(np.arange(N), 5),
        "item": np.concatenate([RNG.permutation(20)[:5] for _ in range(N)]),
        "rank": np.tile(np.arange(1, 6), N),
    }
)
TRUTH = pd.DataFrame(
    {
        "user": np.repeat(np.arange(N), 4),
        "item": np.concatenate([RNG.permutation(20)[:4] for _ in range(N)]),
        "rating": RNG.integers(1, 6, 4 * N),
    }
)
EV = recnb.evaluate(
    RECS, TRUTH, train=TRUTH, items=pd.DataFrame({"item": range(25), "title": "A <b>"})
)
SCORE = EV.ndcg(k=5)
VALUES = SCORE.per_user.to_numpy()


RECS_OF_FOUR = pd.DataFrame(
    {"user": ["ann", "ann", "bob", "cid"], "item": [*"abbc"], "score": [2.0, 2, 3, 1]}
)
TRUTH_OF_FOUR = pd.DataFrame(
    {
        "user": ["ann", "bob", "cid", "dan", "eve"],
        "item": [*"abxab"],
        "rating": [5, 5, 5, 4, 0],
    }
)
APART = RECS_OF_FOUR.assign(score=[3.0, 2, 3, 1])
THREE = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
TWO = pd.DataFrame({"user": [1, 2], "item": [11, 10]})
AS_ID = {"user": "customer_id"}
OPTIONS = (
    ("gain", "linear"),
    ("discount", "log"),
    ("log_base", 2),
    ("ideal", "relevant"),
)
OF_TEAMS = recnb.evaluate(
    {"u": ["x"], "v": ["y"]},
    {"u": ["x"], "v": ["x"]},
    users=pd.DataFrame({"user": ["u", "v"], "team": [*"ab"]}),
    cluster="team",
)


test_what_scores_intervals_and_evaluations_know = hold_calls(
    read_rows("results/score.toml"), globals()
)


def test_what_a_score_gives_is_a_copy() -> None:
    shown = EV.coverage(k=5)
    for values in (SCORE.per_user, shown.per_item):
        values.iloc[:] = 0
    assert (SCORE.per_user.to_numpy() == VALUES).all()
    assert shown.per_item.sum() == len(RECS)


def test_of_more_rows_than_are_looked_at_the_rule_of_ties_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recnb.results.scoring.LOOKED_AT", 3)
    assert "ties as given" in repr(recnb.evaluate(APART, TRUTH_OF_FOUR).ndcg(k=2))


def test_the_line_of_a_score_has_at_most_100_columns() -> None:
    ev = recnb.evaluate(
        RECS_OF_FOUR,
        TRUTH_OF_FOUR,
        ties="expected",
        relevant_from=5,
        no_relevant="zero",
    )
    for lang in ("en", "ko"):
        with use_language(lang):
            for library in ("", "pytrec_eval"):
                line = repr((ev.under(library) if library else ev).ndcg(k=2))
                assert width(line) <= 100
                assert "\n" not in line


AGAIN = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda one, way=way: pickle.loads(pickle.dumps(one, way))
        for way in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize("again", AGAIN)
def test_an_interval_is_copied_whole(again: Callable[[Any], Any]) -> None:
    interval = SCORE.interval(confidence=0.9)
    other = again(interval)
    assert (other, other.confidence, other.method) == (interval, 0.9, "beta")


@pytest.mark.parametrize("order", [[1, 5, None, 3], [None, 1], [5, 3, 1], [3, None, 5]])
def test_the_hits_of_an_evaluation_at_any_depth_in_any_order(order: Any) -> None:
    ev = recnb.evaluate(RECS, TRUTH)
    both = RECS.merge(TRUTH, on=["user", "item"]).sort_values(["user", "rank"])
    both = both.assign(relevance=both["rating"])
    for k in order:
        alone = recnb.evaluate(RECS, TRUTH)
        hits, wanted = ev.hits(k), both if k is None else both[both["rank"] <= k]
        for name in ("user", "rank", "relevance"):
            assert getattr(hits, name).tolist() == wanted[name].tolist()
        for metric in ("ndcg", "recall", "r_precision"):
            assert getattr(ev, metric)(k=k) == getattr(alone, metric)(k=k)
