"""The options for the data: what is refused, and what is said of them; their numbers are held by the law of test_attack."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError, OptionError


def test_a_pair_recommended_twice_by_score_and_by_row() -> None:
    recs = pd.DataFrame({"user": 1, "item": ["a", "b", "a", "c"], "score": [1, 3, 2, 0]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "c"]})
    places = {"dedupe": ([2, 3], [1, 3]), "keep": ([2, 3, 4], [1, 3, 4]), "hit_once": ([2, 4], [1, 4])}
    for mode, of_orders in places.items():
        for order, found in zip(("score", "row"), of_orders, strict=True):
            assert recnb.evaluate(recs, truth, duplicates=mode, order=order).hits().rank.tolist() == found


@pytest.mark.parametrize("users", ["truth", "recs", "both", "union"])
@pytest.mark.parametrize(
    "more", [{}, {"candidates": "padded"}, {"judged": "list"}, {"no_relevant": "zero"}, {"no_relevant": "one"}]
)
def test_no_user_in_common_is_refused_whoever_counts(users: str, more: dict[str, Any]) -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": [10, 11], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [3, 4], "item": [10, 11]})
    with pytest.raises(FrameError, match=r"no user is in both frames.*such as 1.*such as 3"):
        recnb.evaluate(recs, truth, averaged_users=users, **more)


def test_who_is_averaged_is_said() -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": [10, 11], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": [10, 11], "relevance": [1, 0]})
    phrases = {"truth": ";", "recs": ", those with a list", "both": ", those in both frames", "union": ", those in either frame"}  # fmt: skip
    for users, phrase in phrases.items():
        assert recnb.evaluate(recs, recs[["user", "item"]], averaged_users=users).basis().startswith(f"2 users{phrase}")
    said = [recnb.evaluate(recs, truth, no_relevant=word).basis() for word in ("skip", "zero", "one")]
    assert all("1 with no relevant item" in basis for basis in said)
    assert len(set(said)) == 3, "what becomes of such users is said"
    assert "left out" in said[0]


@pytest.mark.parametrize(
    "options", [{}, {"ties": "worst"}, {"candidates": "padded"}, {"duplicates": "rows"}, {"score_dtype": "float32"}]
)
def test_ranks_are_looked_at_whatever_the_other_options(options: dict[str, Any]) -> None:
    recs = pd.DataFrame({"user": 1, "item": [10, 11], "rank": [1, 2], "score": [0.1, 0.2]})
    truth = recs[["user", "item"]]
    with pytest.raises(FrameError, match="'rank' and 'score' disagree"):
        recnb.evaluate(recs, truth, **options)
    assert recnb.evaluate(recs, truth, order="rank", **options)._data.lists_of([0])[0] == {1: 10, 2: 11}
    with pytest.raises(FrameError, match="user 1 has 10 and 11 at rank 1"):
        recnb.evaluate(recs.assign(rank=1), truth, order="rank", **options)


@pytest.mark.parametrize(
    "ranks, duplicates, place",
    [([1, 2], "error", 4), ([1, 7], "error", 9), ([1, 2, 3], "keep", 5), ([1, 3, 7], "hit_once", 9)],
)
def test_the_catalogue_stands_below_empty_places_and_repeats(ranks: list[int], duplicates: Any, place: int) -> None:
    """Items a and b in a list, once or twice; c and d of the catalogue follow it."""
    recs = pd.DataFrame({"user": 1, "item": ["b", "a", "a"][: len(ranks)], "rank": ranks})
    truth = pd.DataFrame({"user": 1, "item": ["c", "d"], "relevance": [0, 1]})
    for ties in ("first", "max_rank"):
        ev = recnb.evaluate(recs, truth, candidates="catalogue", duplicates=duplicates, ties=ties)
        assert ev.reciprocal_rank() == 1 / place
        assert ev.precision() == 1 / place


# ---- equal scores: long runs of them in closed form, what is tied below a list, and what has no mean


@pytest.mark.parametrize("g, m, above", [(1000, 1, 0), (1000, 7, 0), (1000, 400, 3), (1000, 1000, 2), (5000, 30, 1)])
def test_large_runs_of_equal_scores(g: int, m: int, above: int):
    """Exact fractions say what a thousand tied items give; enumerating their orders could not."""
    items = [f"i{number}" for number in range(above + g)]
    recs = pd.DataFrame({"user": 1, "item": items, "score": [2.0] * above + [1.0] * g})
    truth = pd.DataFrame({"user": 1, "item": items[above : above + m]})
    ev = recnb.evaluate(recs, truth, ties="expected")
    first = [Fraction(math.comb(g - j, m - 1), math.comb(g, m)) for j in range(1, g + 1)]
    for k in (1, 10, g // 2, above + g):
        inside = range(1, min(g, k - above) + 1)
        wanted = {
            "precision": Fraction(m * len(inside), g * k),
            "recall": Fraction(len(inside), g),
            "hit_rate": sum(first[: len(inside)], Fraction(0)),
            "reciprocal_rank": math.fsum(float(first[j - 1]) / (above + j) for j in inside),
            "average_precision": math.fsum((1 + (j - 1) * (m - 1) / (g - 1)) / (above + j) / g for j in inside),
            "dcg": math.fsum(m / g / math.log2(above + j + 1) for j in inside),
        }
        for name, value in wanted.items():
            got = float(getattr(ev, name)(k=k))
            assert math.isfinite(got)
            assert got == pytest.approx(float(value), rel=1e-9, abs=1e-12), (name, k)


def test_what_has_no_closed_form_is_refused():
    recs = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": [1.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["a"]})
    ev = recnb.evaluate(recs, truth, ties="expected")
    for ask, words in (
        (ev.err, "no mean over ties"),
        (lambda: ev.average_precision(out_of="hits"), "no mean over ties"),
        (lambda: ev.reciprocal_rank(target="preferred"), "choose ties='first'"),
        (lambda: ev.explain("ndcg", 1), "follows one"),
        (
            lambda: recnb.evaluate(recs, truth, ties="expected", duplicates="hit_once"),
            "has no mean for duplicates=.hit_once",
        ),
        (lambda: recnb.evaluate(recs, truth, ties="last", candidates="catalogue"), "goes with"),
    ):
        with pytest.raises(OptionError, match=words):
            ask()


@pytest.mark.parametrize("duplicates", ["keep", "rows", "hit_once", "dedupe"])
@pytest.mark.parametrize("order", ["rank", "score"])
def test_a_preferred_item_that_is_repeated_counts_where_it_first_stands(duplicates: str, order: str) -> None:
    recs = pd.DataFrame({"user": 1, "item": ["x", "a", "b", "a"], "rank": [1, 2, 3, 4], "score": [4.0, 3.0, 2.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "b"], "relevance": [3, 1]})
    ev = recnb.evaluate(recs, truth, duplicates=duplicates, order=order)
    for k, expected in ((1, 0.0), (2, 0.5), (None, 0.5)):
        assert ev.reciprocal_rank(k=k, target="preferred") == expected
    assert ev.explain("reciprocal_rank", 1, target="preferred").value == 0.5
