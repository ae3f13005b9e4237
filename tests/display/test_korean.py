"""Every kind of result under "ko": no English but ids, symbols of metrics and code; and
the words of the catalogue.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb import LIST_METRICS, METRICS, Convention
from recnb.beyond.catalogue import NEEDED
from recnb.conventions import WORDS, in_words
from recnb.conventions.convention import DECISIONS
from recnb.conventions.presets import of_library
from recnb.display.language import _, use_language
from tests.korean import EV, EVALUATIONS, ONE, RECS, TRUTH, english_in, page
from tests.refused import names as refused
from tests.rows import hold_calls, hold_refused, read_rows
from tests.sample import SAMPLE
from tests.strategies import each_word
from tests.tools.translations import stored


def words_in(texts: Iterable[Any]) -> set[str]:
    return {word for text in texts for word in re.findall("[A-Za-z]{2,}", str(text))}


#: Names that a reader types or that come from the data, symbols, and the columns of
#: frames.
NAMES = (
    words_in(
        [
            (
                "True False recs truth assign groupby isin alpha ratio Methods RBO "
                "BCa nDCG Alt Enter JupyterLab Webber Moffat Zobel evaluate read "
                "timestamp"
            ),
            (
                "knn factors popular differences conclusion forest movers overlap "
                "metric mean low high gap holm users small items"
            ),
        ]
    )
    | words_in([*LIST_METRICS, *NEEDED, *(one.symbol for one in LIST_METRICS.values())])
    | words_in(
        column
        for one in (SAMPLE.items, SAMPLE.users, SAMPLE.recommendations, SAMPLE.test)
        for column in one
    )
    | words_in(
        [
            *SAMPLE.items["title"],
            *SAMPLE.items["genres"],
            *SAMPLE.users["segment"],
            *SAMPLE.users["branch"],
        ]
    )
)
OF_LIBRARIES = words_in(
    f"{one.library} {one.variant}"
    for name in recnb.conventions.names()
    for one in of_library(name)
)
OF_LIBRARIES |= words_in(
    [
        *DECISIONS,
        (
            "metric out_of gain discount log_base ideal recnb relevant library "
            "otherwise value difference convention fit decision frames from change "
            "moved most"
        ),
    ]
)


SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items, "users": SAMPLE.users}


@cache
def names() -> dict[str, Any]:
    """What stands in the calls of every kind of result."""
    recs, truth = SAMPLE.models["item-knn"], SAMPLE.test
    return {
        "recnb": recnb,
        "ev": recnb.evaluate(recs, truth, **SIDE_DATA),
        "found": recnb.compare(SAMPLE.models, truth, baseline="popular", **SIDE_DATA),
        "USER": "u002",
        "COLUMN": "segment",
        "ITEMS": ["a", "b", "c", "d"],
    }


def exercises() -> Iterator[Any]:
    for metric in METRICS:
        q = recnb.quiz(metric, seed=3)
        numbers = [one.number for one in q.mistakes]
        answers = [q.value, round(q.value, 2), 0.31, *numbers]
        yield from (q, q.reveal(), *map(q.check, answers))


#: Users and cut-offs of the explanations of nDCG; those of other metrics are of one.
PLACES: list[tuple[str, int | None]] = [("b", 1), ("c", 5), ("e", 50), ("d", None)]


def explanations() -> Iterator[Any]:
    decided = recnb.evaluate(RECS, TRUTH, averaged_users="union", no_relevant="one")
    for name, metric in METRICS.items():
        places = PLACES if name == "ndcg" else PLACES[1:2]
        for options in each_word(metric):
            yield from (EV.explain(name, *place, **options) for place in places)
        yield from (recnb.explain(name, [3, 2, 0, 1]), decided.explain(name, "f", 3))
    for name, metric in LIST_METRICS.items():
        yield names()["ev"].explain(name, *(["u002"] if metric.of == "user" else []))


def of_evaluations() -> Iterator[Any]:
    for ev, k in EVALUATIONS.values():
        yield from (ev, ev.lint(), ev.report(k))
        yield from (getattr(ev, name)(k=3) for name in METRICS)
        yield ev.table(["ndcg", "recall"], k=[1, None], gain="exponential")
        yield ev.curve("ndcg", k=[1, 2, 3])


#: A convention that decides what is usually left open; numbers close to a value.
DECIDED = Convention(averaged_users="union", no_relevant="zero", relevant_from=2)
VALUE = float(ONE.ndcg(k=3))
CLOSE = (f"{VALUE:.2f}", "0.0003", f"{VALUE:.6f}", f"{VALUE - 0.9e-4:.4f}")

#: Calls of every kind of result.
RESULTS: dict[str, list[str]] = {
    **{
        kind: [call]
        for kind, call in read_rows("display/results.toml")["kinds"].items()
    },
    **read_rows("display/korean.toml")["kinds"],
}
#: Results that name libraries, their variants and what decides between them.
OF_OTHERS = ("libraries", "why", "identified")

CODE_IN_TEXT = re.compile(
    r"`[^`]*`|\$[^$]*\$|\w+\.\w+\([^()]*(\([^()]*\))?[^()]*\)|\.\w+\([^()]*\)|\w+=[\w'\"\[\]]*"
)


def said(one: Any) -> str:
    """What a result shows, without code and the names that the data have."""
    shown = repr(one)
    if hasattr(one, "_repr_html_"):
        shown += "\n" + page(one._repr_html_() or "")
    if "otherwise" in getattr(
        one, "columns", ()
    ):  # an error, which is English, and may be cut
        for words in one["otherwise"][one["value"].isna()]:
            shown = re.sub(f"{re.escape(words[:40])}[^–<\n]*", "", shown)
    shown = re.sub(r"\w+ …", " ", shown)  # a title that is cut
    shown = re.sub(r"^ *\w+ = .*$", " ", shown, flags=re.MULTILINE)  # a line of code
    return CODE_IN_TEXT.sub(" ", shown)


def results_of(kind: str) -> Iterator[Any]:
    for call in RESULTS[kind]:
        made = eval(call, globals() | names())
        yield from made if isinstance(made, list) else [made]


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_shows_no_english(kind: str) -> None:
    known = NAMES | OF_LIBRARIES if kind in OF_OTHERS else NAMES
    with use_language("ko"):
        for one in results_of(kind):
            columns = one.reset_index().columns if isinstance(one, pd.DataFrame) else []
            assert english_in(said(one)) - known - words_in(columns) == set(), said(one)


def test_conventions_are_all_korean() -> None:
    with use_language("ko"):
        for name, words in WORDS.items():
            for word in words:
                convention = Convention(**{name: word})
                shown = [
                    convention.in_words(),
                    *convention.phrases(graded=True),
                    *convention.phrases(graded=False),
                ]
                assert english_in("\n".join(shown)) == set(), (name, word)
        assert (
            Convention(relevant_from=4)
            .in_words()
            .endswith("관련 아이템: 관련도 4 이상")
        )
        options = [
            pair
            for metric in METRICS.values()
            for each in each_word(metric)
            for pair in each.items()
        ]
        assert (
            english_in("\n".join(in_words(name, value) for name, value in options))
            == set()
        )


# The words of the catalogue

TRANSLATIONS = [
    text
    for message in stored("ko")
    if message.id
    for text in (
        [message.string] if isinstance(message.string, str) else message.string
    )
]
#: A particle after a value that has one form alone.
ONE_FORM = re.compile(r"\{[^{}]*\}(?:으로|로|이|가|은|는|을|를|과|와)(?![가-힣(])")


def test_particles_have_both_forms() -> None:
    assert [
        text for text in TRANSLATIONS if ONE_FORM.search(text) and "\\" not in text
    ] == []


def test_a_word_that_has_a_plural_is_translated_by_any_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        gettext.GNUTranslations,
        "gettext",
        lambda self, message: self._catalog.get(message, message),
    )
    with use_language("ko"):
        assert (_("{user}"), _("{item}")) == ("사용자", "아이템")


# Errors, and what pupils type


def playground_after(*use: str) -> Any:
    play = recnb.playground(["A"], {"A": 1}, lang="ko")
    play.use(*use)
    return play


test_a_call_comes_to = hold_calls(read_rows("display/korean.toml")["typed"], globals())


def test_errors_are_english() -> None:
    with use_language("ko"):
        for call, row in read_rows("refused/calls.toml").items():
            hold_refused(call, row, vars(refused))
