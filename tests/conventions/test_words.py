"""Every word of every decision and option, read off the code: it gives the number of the
plain reference, and another number than each other word; one of an option has a phrase
(those of decisions: test_conventions.py).

A word that is added to a `Literal` and to nothing else fails here by its name.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import WORDS, Convention
from recnb.conventions.convention import PHRASES
from recnb.errors import FrameError, RecnbError
from recnb.metrics.measure import Measure
from recnb.metrics.metric import METRICS, RETRIEVAL_METRICS
from tests import reference
from tests.rows import read_rows

#: Lists that tell the words apart: a tie of items of four grades, scores that only
#: double precision tells apart, a pair repeated, scores of 0 and below, short lists,
#: users on one side.
FRAMES = read_rows("conventions/words.toml")
RECS = pd.DataFrame(FRAMES["recs"], columns=["user", "item", "score", "rank"])
TRUTH = pd.DataFrame(FRAMES["truth"], columns=["user", "item", "relevance"])
CASE = {"recs": RECS.to_dict("records"), "truth": TRUTH.to_dict("records"), "k": 3}

#: What the other decisions are while one is tried, so that the frames can be read.
BASE: dict[str, Any] = {
    "order": "score",
    "negative_relevance": "keep",
    "duplicates": "dedupe",
}
#: And so that the one matters.
BESIDE: dict[str, dict[str, Any]] = {
    "score_dtype": {"ties": "item_desc"},
    "negative_relevance": {"relevant": "!=0"},
    "averaged_users": {"no_relevant": "zero"},
    "no_relevant": {"averaged_users": "union"},
}
#: A word that stands for the column that there is, and words that refuse the frames:
#: their effect is tested by itself, below.
OF_THEIR_OWN = {
    ("order", "auto"),
    ("negative_relevance", "error"),
    ("duplicates", "error"),
}
TRIED = ("precision", "recall", "ndcg", "average_precision", "cg")
EACH_WORD = [(name, word) for name, words in WORDS.items() for word in words]


def convention_of(name: str, word: str) -> dict[str, Any]:
    return BASE | BESIDE.get(name, {}) | {name: word}


@cache
def evaluation(decisions: tuple[tuple[str, Any], ...]) -> recnb.Evaluation:
    """Frames with the one column that gives the order; both where rows do."""
    order = "rank" if dict(decisions)["order"] == "rank" else "score"
    columns = ["user", "item", order]
    return recnb.evaluate(RECS[columns], TRUTH, **dict(decisions))


def numbers(convention: dict[str, Any]) -> list[float]:
    ev = evaluation(tuple(convention.items()))
    return [float(ev.measure(metric, k=CASE["k"])) for metric in TRIED]


@pytest.mark.parametrize(
    ("name", "word"), [pair for pair in EACH_WORD if pair not in OF_THEIR_OWN]
)
def test_a_word_of_a_decision_gives_the_number_of_the_reference(
    name: str, word: str
) -> None:
    convention = convention_of(name, word)
    wanted = [
        reference.evaluate(metric, vars(Convention()) | convention, CASE)
        for metric in TRIED
    ]
    assert numbers(convention) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_a_decision_are_told_apart(name: str) -> None:
    """One that always does what another does is no decision."""
    words = [word for word in WORDS[name] if (name, word) not in OF_THEIR_OWN]
    of_word = {word: numbers(convention_of(name, word)) for word in words}
    for word in words:
        for other in words[words.index(word) + 1 :]:
            is_same = np.allclose(
                of_word[word], of_word[other], rtol=0, atol=1e-12, equal_nan=True
            )
            assert not is_same, f"{name}={word!r} and {name}={other!r}"


def test_words_that_refuse_and_the_order_that_is_found() -> None:
    for name in ("negative_relevance", "duplicates"):
        with pytest.raises(RecnbError, match=r"-2|repeated"):
            evaluation(tuple((BASE | {name: "error"}).items()))
    for column in ("rank", "score"):
        ev = recnb.evaluate(
            RECS[["user", "item", column]], TRUTH, **{**BASE, "order": "auto"}
        )
        assert float(ev.ndcg(k=3)) == numbers(BASE | {"order": column})[2]
    both = RECS[RECS["user"] != "twice"]
    with pytest.raises(FrameError, match="disagree"):
        recnb.evaluate(both, TRUTH, negative_relevance="keep")


# Options of metrics

EVERY_METRIC = {**METRICS, **RETRIEVAL_METRICS}
#: Lists for options, longer than k and shorter, with more relevant items than k and fewer.
LISTS, LIKED = FRAMES["lists"], FRAMES["liked"]
OPTIONS_EV = recnb.evaluate(LISTS, LIKED)


def of_options(name: str, options: dict[str, Any]) -> list[float]:
    values = getattr(OPTIONS_EV, name)(k=3, **options).per_user
    return [float(values[user]) for user in LISTS]


@pytest.mark.parametrize("name", EVERY_METRIC)
def test_the_words_of_a_metric_are_told_apart_and_have_phrases(name: str) -> None:
    metric = EVERY_METRIC[name]
    seen: dict[str, dict[str, list[float]]] = {}
    for option, words in metric.words.items():
        for word in words:
            options = {option: word}
            if (option, word) != ("out_of", "1"):  # nothing is divided by: no words
                assert (option, word) in PHRASES
            assert Measure(metric, options).formula_text()
            values = of_options(name, options)
            for other, theirs in seen.setdefault(option, {}).items():
                assert not np.allclose(values, theirs, rtol=0, atol=1e-12), (
                    f"{name}: {option}={word!r} and {option}={other!r}"
                )
            seen[option][word] = values
