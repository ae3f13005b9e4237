"""Sentences call users what the caller's column calls them; numbers and the user's own
words stay as they are.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

import recnb
from recnb.display.language import Noun, _, named, noun_of, use_language, use_noun
from recnb.errors import RecnbError
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
    for shown in (
        repr(ev),
        repr(ev.ndcg(k=2)),
        repr(ev.coverage(k=2)),
        repr(ev.table(k=[1, 2])),
        repr(ev.report(k=2)),
        found.basis,
        repr(found.report(k=2)),
        ev.report(k=2).to_markdown(),
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


SIDES: dict[str, Any] = {
    "train": queries(SAMPLE.train),
    "items": queries(SAMPLE.items),
    "users": queries(SAMPLE.users),
}
MODELS = {name: queries(recs) for name, recs in SAMPLE.models.items()}
EV = recnb.evaluate(MODELS["item-knn"], queries(SAMPLE.test), **SIDES)
FOUND = recnb.compare(MODELS, queries(SAMPLE.test), baseline="popular", **SIDES)


def text_of(page: str) -> str:
    """Return what is read of HTML, and the labels of what is drawn."""
    labels = " ".join(re.findall(r'(?:alt|aria-label|title)="([^"]*)"', page))
    body = re.sub(r"<style.*?</style>", "", page, flags=re.DOTALL)
    return unescape(f"{labels} {re.sub('<[^>]+>', ' ', body)}")


def drawn(ax: Any) -> str:
    texts = [text.get_text() for text in ax.texts]
    return " | ".join([ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), *texts])


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(RecnbError) as refused:
        call()
    return str(refused.value)


SHOWN: dict[str, Callable[[], str]] = {
    "plot of a score": lambda: drawn(EV.ndcg(k=10).plot()),
    "plot of a curve": lambda: drawn(EV.curve("ndcg").plot()),
    "segments": lambda: repr(EV.table("ndcg", k=10, by="segment")),
    "beyond accuracy": lambda: repr(EV.beyond(k=10)),
    "models beyond accuracy": lambda: repr(FOUND.beyond(k=10)),
    "movers": lambda: repr(FOUND.movers("ndcg", k=10)),
    "movers in HTML": lambda: text_of(FOUND.movers("ndcg", k=10)._repr_html_()),
    "explanation": lambda: repr(EV.explain("ndcg", "u026", k=10)),
    "explanation in HTML": lambda: text_of(
        EV.explain("ndcg", "u026", k=10)._repr_html_()
    ),
    "explanation of novelty": lambda: repr(EV.explain("novelty", "u026", k=10)),
    "explanation of all lists": lambda: repr(EV.explain("personalization", k=10)),
    "lint": lambda: repr(EV.lint()),
    "lint in HTML": lambda: text_of(EV.lint()._repr_html_()),
    "gate": lambda: repr(EV.at_least("ndcg", 0.3, k=10)),
    "gate of models": lambda: repr(FOUND.not_worse("ndcg", k=10)),
    "power": lambda: repr(EV.detectable("ndcg", k=10)),
    "why": lambda: repr(EV.why("ndcg", k=10, other="rectools")),
    "why in HTML": lambda: text_of(
        EV.why("ndcg", k=10, other="rectools")._repr_html_()
    ),
    "explorer": lambda: text_of(EV.explore()._repr_html_()),
    "report": lambda: text_of(EV.report(k=10, by="segment")._repr_html_()),
    "not evaluated": lambda: message(lambda: EV.explain("ndcg", "nobody", k=10)),
    "not in the lists": lambda: message(lambda: EV.user("nobody")),
    "no interval": lambda: message(lambda: EV.coverage(k=10).interval()),
    "no pairs": lambda: message(lambda: FOUND.differences("coverage", k=10)),
    "none in common": lambda: message(
        lambda: recnb.compare(
            {"a": MODELS["popular"].head(100), "b": MODELS["popular"].tail(100)},
            queries(SAMPLE.test),
            averaged_users="recs",
        )
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_every_sentence_has_the_word_of_the_column(name: str) -> None:
    text = OTHER_WORDS.sub("", SHOWN[name]())
    assert re.search(r"[Qq]uer(y|ies)\b(?!_)", text)
    assert re.findall(r"(?<![\w.{=_`])[Uu]sers?(?![\w}=(\[_]|\.\w).{9}", text) == []
    others = re.sub(r"item-knn|Items (?=#)|'items?'|rank +item", "", text)
    assert (
        re.findall(r".{9}(?<![\w.{=_`])[Ii]tems?(?![\w}=(\[_]|\.\w).{9}", others) == []
    )


def test_a_result_keeps_the_word_when_it_is_shown_later_or_elsewhere() -> None:
    for result in (EV.explain("ndcg", "u026", k=10), EV.at_least("ndcg", 0.3, k=10)):
        with use_noun(Noun("session")):
            again = repr(pickle.loads(pickle.dumps(result)))
        assert again == repr(result)
        assert "quer" in again
    curve = EV.curve("ndcg")
    with use_noun(Noun("session")):
        assert "261 queries" in drawn(pickle.loads(pickle.dumps(curve)).plot())
    plain = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)
    assert "261 users" in drawn(plain.curve("ndcg").plot())


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
