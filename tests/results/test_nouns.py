"""Sentences call users what the caller's column calls them; numbers and the user's own
words stay as they are.
"""

from __future__ import annotations

import re

import pandas as pd
import pytest

import recnb
from recnb.display.language import _, use_noun

RECS = pd.DataFrame(
    {"user": ["a", "a", "b", "c"], "item": ["x", "user 7", "x", "y"], "rank": 1}
).assign(rank=[1, 2, 1, 1])
TRUTH = pd.DataFrame({"user": ["a", "b", "d"], "item": ["x", "y", "x"]})
WORDS = {
    "qid": "queries",
    "query_id": "queries",
    "topic": "topics",
    "SessionID": "sessions",
    "customer": "customers",
    "user_id": "users",
    "person": "users",
}


def evaluated(column: str) -> recnb.Evaluation:
    frames = [frame.rename(columns={"user": column}) for frame in (RECS, TRUTH)]
    items = pd.DataFrame({"item": ["x", "y", "user 7"]})
    return recnb.evaluate(*frames, user=column, items=items)


@pytest.mark.parametrize("column", WORDS)
def test_the_line_below_a_number_has_the_word_of_the_column(column: str) -> None:
    ev, word = evaluated(column), WORDS[column]
    found = recnb.compare({"users": ev, "other": ev})
    for shown in (
        repr(ev),
        repr(ev.ndcg(k=2)),
        repr(ev.coverage(k=2)),
        repr(ev.table(k=[1, 2])),
        repr(ev.report(k=2)),
        found.basis,
        repr(found.report(k=2)),
        ev.report(k=2).to_markdown(),
        ev.report(k=2).to_latex(),
    ):
        assert re.search(rf"\d {word}\b", shown)
        if word != "users":
            assert not re.search(r"\d users?\b", shown)
    differences = found.differences("ndcg", k=2)
    assert f"each of 3 {word} the same value" in differences.conclusions[0]
    assert f"The {word} are taken as a sample" in differences.notes[-1]
    one = "query" if word == "queries" else word.removesuffix("s")
    assert repr(ev.user("a")).startswith(f"{one} a: found")
    assert f"shown and share: 3 {word} with a list" in ev.items().attrs["basis"]
    assert "users" in found.table("ndcg").index  # the name of a model


def test_numbers_are_those_of_users() -> None:
    assert evaluated("topic").table().equals(evaluated("user_id").table())


def test_only_words_of_a_sentence_are_put_in_another_word() -> None:
    with use_noun("query"):
        assert _("Users who have users=, {user} and user_weight.", user="a user") == (
            "Queries that have users=, a user and user_weight."
        )
    recnb.language("ko")
    try:
        assert repr(evaluated("topic").ndcg(k=2)) == repr(
            evaluated("user_id").ndcg(k=2)
        )
    finally:
        recnb.language("en")
