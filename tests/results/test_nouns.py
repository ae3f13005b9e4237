"""Sentences call users what the caller's column calls them; numbers and the user's own
words stay as they are.
"""

from __future__ import annotations

import pickle
import re

import matplotlib as mpl
import pandas as pd
import pytest

import recnb
from recnb.display.language import Noun, _, named, noun_of, use_language, use_noun
from recnb.errors import RecnbError
from tests import evaluated as evaluated_sample
from tests.drawn import every_form, words_of
from tests.rows import read_rows
from tests.sample import SAMPLE

mpl.use("Agg")

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
    results = (ev, ev.ndcg(k=2), ev.coverage(k=2), ev.table(k=[1, 2]))
    reports = (ev.report(k=2), found.report(k=2))
    for shown in (
        *map(repr, (*results, *reports)),
        found.basis,
        reports[0].to_markdown(),
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


#: Words that say nothing of the caller's users: the name of a metric, values of
#: options, columns of a table, code, names of models.
OTHER_WORDS = re.compile(
    r"User coverage|popularity=users|log2\(users\)|'users?'|measure +mean +low +high +users"
    r"|'ndcg', user|By default, ev[^.]*|ev\.user\(user, k=\d+\)"
)


def queries(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"user": "query_id", "item": "doc_id"})


SIDES = {name: queries(frame) for name, frame in evaluated_sample.SIDES.items()}
MODELS = {name: queries(recs) for name, recs in SAMPLE.models.items()}
EV = recnb.evaluate(MODELS["item-knn"], queries(SAMPLE.test), **SIDES)
FOUND = recnb.compare(MODELS, queries(SAMPLE.test), baseline="popular", **SIDES)


SHOWN = read_rows("results/nouns.toml")


@pytest.mark.parametrize("call", [*SHOWN["results"], *SHOWN["refused"]])
def test_every_sentence_has_the_word_of_the_column(call: str) -> None:
    try:
        forms = every_form(eval(call))
        text = " ".join(forms.get(form, "") for form in ("plot", "text", "HTML"))
        assert call in SHOWN["results"]
    except RecnbError as problem:
        assert call in SHOWN["refused"]
        text = str(problem)
    text = OTHER_WORDS.sub("", f"{' '.join(text.split())}{' ' * 9}")
    assert re.search(r"[Qq]uer(y|ies)\b(?!_)", text)
    assert re.findall(r"(?<![\w.{=_`])[Uu]sers?(?![\w}=(\[_]|\.\w).{9}", text) == []
    others = re.sub(r"item-knn|Items (?=#)|'items?'|rank +item", "", text)
    of_items = r".{9}(?<![\w.{=_`])[Ii]tems?(?![\w}=(\[_]|\.\w).{9}"
    assert re.findall(of_items, others) == []


def test_a_result_keeps_the_word_when_it_is_shown_later_or_elsewhere() -> None:
    for result in (EV.explain("ndcg", "u026", k=10), EV.at_least("ndcg", 0.3, k=10)):
        with use_noun(Noun("session")):
            again = repr(pickle.loads(pickle.dumps(result)))
        assert again == repr(result)
        assert "quer" in again
    curve = EV.curve("ndcg")
    with use_noun(Noun("session")):
        assert "261 queries" in words_of(pickle.loads(pickle.dumps(curve)).plot())
    assert "261 users" in words_of(evaluated_sample.EV.curve("ndcg").plot())


def test_numbers_are_those_of_users() -> None:
    assert evaluated("topic").table().equals(evaluated("user_id").table())


def test_fields_are_filled_by_the_noun_in_force() -> None:
    with use_noun(Noun("query")):
        assert _("{Users} of users=: {user}, user {id}", id="user") == (
            "Queries of users=: query, user user"
        )
    with use_noun(noun_of("topic", "doc_id")):
        assert (
            _("{Items} of {user}: {item}, item") == "Documents of topic: document, item"
        )
        assert _("{users}: {items}", users="two users") == "two users: documents"
    with use_noun(noun_of("user_id", "DocNo")):
        assert named("a {user}, no {item}") == "a user, no document"


def test_korean_has_words_for_queries_and_documents() -> None:
    with use_language("ko"):
        assert "토픽" in repr(evaluated("topic").ndcg(k=2))
        assert "사용자" in repr(evaluated("user_id").ndcg(k=2))
        with use_noun(noun_of("query_id", "doc_id")):
            assert _("{users} {n}{counter}, {items}", n=2) == "질의 2개, 문서"
