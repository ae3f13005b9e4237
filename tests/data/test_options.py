"""The options for the data: what is refused, and what is said of them; their numbers are held by the law of test_attack."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError


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
    phrases = {
        "truth": "2 users;",
        "recs": "2 users, those with a list",
        "both": "2 users, those in both frames",
        "union": "2 users, those in either frame",
    }
    for users, phrase in phrases.items():
        assert recnb.evaluate(recs, recs[["user", "item"]], averaged_users=users).basis().startswith(phrase)
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
