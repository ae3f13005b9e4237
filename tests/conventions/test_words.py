"""Every word of every decision, read off the code, gives the number of the plain
reference.

A word that is added to a `Literal` and to nothing else fails here by its name. The words
of options: tests/metrics/test_reference.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.conventions import WORDS, Convention
from tests import reference
from tests.rows import read_rows
from tests.tools.readme import ROOT

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
#: A word that stands for the column that there is, and words that refuse the frames
#: (tests/refused).
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


def test_the_table_of_the_page_has_every_word_of_its_decisions() -> None:
    page = (ROOT / "recnb/conventions/README.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    lacking = [
        (name, word)
        for name, words in WORDS.items()
        for word in words
        for row in rows
        # Of most decisions the default is told in words.
        if f"`{name}`" in row.split("|")[1] and f'`"{word}"`' not in row
        if word != getattr(Convention(), name)
    ]
    assert not lacking
