"""Every kind of result under "ko": no English but ids, symbols of metrics and code."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import LIST_METRICS, METRICS
from recnb.data import buckets
from recnb.display.language import _, use_language, with_particles
from recnb.metrics.recommendation_lists import NEEDED
from tests.korean import EV, english_in, page
from tests.tools.translations import stored

SAMPLE = recnb.datasets.load_sample()
#: Names that a reader types or that come from the data, and symbols.
CODE = [
    "True",
    "False",
    "recs",
    "truth",
    "assign",
    "groupby",
    "isin",
    "alpha",
    "ratio",
    "Methods",
    "RBO",
    "BCa",
    "nDCG",
    "Alt",
    "Enter",
    "JupyterLab",
    "Webber",
    "Moffat",
    "Zobel",
    "evaluate",
    "read",
]
NAMES = (
    {*CODE, *SAMPLE.test.columns}
    | {part for name in [*LIST_METRICS, *NEEDED] for part in re.findall("[A-Za-z]{3,}", name)}
    | {part for one in LIST_METRICS.values() for part in re.findall("[A-Za-z]{3,}", one.symbol)}
    | {part for one in (SAMPLE.items, SAMPLE.users, SAMPLE.recommendations) for part in one.columns}
    | {
        word
        for column in ("title", "genres")
        for text in SAMPLE.items[column]
        for word in re.findall("[A-Za-z]+", text)
    }
    | {
        word
        for column in ("segment", "branch")
        for text in SAMPLE.users[column]
        for word in re.findall("[A-Za-z]+", text)
    }
    | {"knn", "factors", "popular", "differences", "conclusion", "forest", "movers", "overlap"}
    # The columns of a frame and of its segments, by which they are asked for in any language.
    | {"metric", "mean", "low", "high", "gap", "holm", "users", "small", "False", "True"}
)


@cache
def compared(**options: Any) -> Any:
    return recnb.compare(SAMPLE.recommendations, SAMPLE.test, **options)


def evaluated(**options: Any) -> recnb.Evaluation:
    return recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **options)


def full() -> recnb.Evaluation:
    return evaluated(train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)


def exercise(metric: str = "ndcg") -> list[Any]:
    q = recnb.quiz(metric, 3)
    wrong = [q.check(one.number) for one in q.mistakes]
    return [q, q.reveal(), q.check(q.value), q.check(round(q.value, 2)), q.check(0.31), *wrong]


def played() -> list[Any]:
    state = recnb.playground([3, 2, 0, 1])
    return [state, recnb.playground(["a", "b", "c"], {"a": 1, "d": 2}, metrics=["recall"])]


RESULTS: dict[str, Any] = {
    "playground": played,
    "quiz": lambda: [one for metric in METRICS for one in exercise(metric)],
    "metrics beyond accuracy": lambda: [full().beyond(k=10), full().beyond(), EV.beyond(k=3), evaluated().beyond()],
    "scores beyond accuracy": lambda: [getattr(full(), name)(k=10) for name in LIST_METRICS],
    "explanations beyond accuracy": lambda: [
        full().explain(name, *(["u002"] if LIST_METRICS[name].of == "user" else []), k=5) for name in LIST_METRICS
    ],
    "lint": lambda: [full().lint(), EV.lint(), evaluated(train=SAMPLE.test, items=SAMPLE.items.head(50)).lint()],
    "report": lambda: [full().report([5, 10], by="segment"), EV.report([1, 3]), full().report(10)],
    "segments": lambda: [full().table(k=10, by="segment"), full().table(k=10, by="branch")],
    "power": lambda: [full().detectable("ndcg", k=10), EV.detectable("ndcg", k=3)],
    "explorer": lambda: [full().explore("ndcg", k=10), compared(baseline="popular").explore()],
    "comparison": lambda: [compared(), compared(baseline="popular")],
    "differences": lambda: [compared(baseline="popular").differences("ndcg", k=[5, 10]), compared().differences(k=10)],
    "movers": lambda: [compared(baseline="popular").movers("ndcg", 10)],
    "curves": lambda: [compared().curve("ndcg", range(1, 6))],
    "comparison report": lambda: [
        recnb.compare(
            SAMPLE.recommendations, SAMPLE.test, baseline="popular", train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users
        ).report([5, 10], by="segment"),
        compared().report(10),
    ],
}  # fmt: skip


def said(one: Any) -> str:
    """What a result shows, without code and the names that the data have."""
    shown = repr(one)
    if hasattr(one, "_repr_html_"):
        shown += "\n" + page(one._repr_html_() or "")
    shown = re.sub(r"\w+ …", " ", shown)  # a title that is cut
    shown = re.sub(r"^ *\w+ = .*$", " ", shown, flags=re.MULTILINE)  # a line of code
    return re.sub(
        r"`[^`]*`|\$[^$]*\$|\w+\.\w+\([^()]*(\([^()]*\))?[^()]*\)|\.\w+\([^()]*\)|\w+=[\w'\"\[\]]*", " ", shown
    )


def test_rows_that_are_not_in_memory_are_told_of_in_korean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "WHOLE", 0)
    monkeypatch.setattr(buckets, "SHARE", 0)
    lazy = {name: pl.from_pandas(recs).lazy() for name, recs in SAMPLE.models.items()}
    for given in (lazy, {name: duckdb.from_df(recs) for name, recs in SAMPLE.models.items()}):
        report = recnb.compare(given, SAMPLE.test, train=SAMPLE.train).report(10, lang="ko")
        left_out = [line for line in page(report._repr_html_()).splitlines() if "에 있다" in line]
        assert left_out
        assert english_in("\n".join(left_out)) <= {"DuckDB"}


def columns(one: Any) -> set[str]:
    """The words in the column names of a frame, which stay as they are typed."""
    names = one.reset_index().columns if isinstance(one, pd.DataFrame) else []
    return set(re.findall("[A-Za-z]{3,}", " ".join(map(str, names))))


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_shows_no_english(kind: str) -> None:
    with use_language("ko"):
        for one in RESULTS[kind]():
            left = english_in(said(one)) - NAMES - columns(one)
            assert left == set(), said(one)


# The words of the catalogue

TRANSLATIONS = [
    text
    for message in stored("ko")
    if message.id
    for text in ([message.string] if isinstance(message.string, str) else message.string)
]
#: Words that another one stands for everywhere, and endings of another register.
RETIRED = re.compile(
    r"처음 [kn{]|너머|식별자|인쇄된|독자|시험 아이템|세그먼트|센다|세어야|실수로 (?:된|들어온)|실수가 된|뒤집|보라\b|하라\b|보자\b|습니다|세요|끈기"
)


def test_one_word_and_one_register_for_each_thing() -> None:
    assert [text for text in TRANSLATIONS if RETIRED.search(text)] == []


def test_a_particle_after_a_value_has_both_forms() -> None:
    fixed = re.compile(r"\{[^{}]*\}(?:으로|로|이|가|은|는|을|를|과|와)(?![가-힣(])")
    assert [text for text in TRANSLATIONS if fixed.search(text) and "\\" not in text] == []


def test_particles_fit_what_is_put_in() -> None:
    with use_language("ko"):
        divided = "The number was divided by k = {depth}: see the denominator in the exercise."
        assert [_(divided, depth=depth)[:11] for depth in (2, 3)] == ["k = 2로 나누었다", "k = 3으로 나누었"]
    for name, particle in (("'회원 7'", "은"), ("'Ann'", "은(는)")):  # how a name in Latin letters is read is not known
        assert with_particles(f"{name}은(는) 거부함") == f"{name}{particle} 거부함"


def test_the_glossary_gives_the_names_of_other_books_too() -> None:
    names = recnb.glossary("ko").to_frame().set_index("term")["name"]
    assert [names[term] for term in ("cg", "dcg", "hit_rate")] == [
        "누적 이득(누적 이익)",
        "할인 누적 이득(감소된 누적 이득)",
        "적중률(히트 레이트)",
    ]
    assert recnb.glossary("en").to_frame().set_index("term")["name"]["cg"] == "cumulative gain"
