"""The catalogue of translations: complete, compiled, in step with the code, with the metrics and with their formulas."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract

import recnb.display.language as language
from recnb import METRICS
from recnb.display.language import LANGUAGES, NC_, _, use_language
from tests.strategies import each_word
from tests.tools.translations import (
    KEYWORDS,
    ROOT,
    extracted,
    fields,
    in_python,
    mo_of,
    path_of,
    po_of,
    problems,
    stored,
    updated,
)

CATALOGUE = stored("ko")
COMMAND = "run: python -m tests.tools.translations"


def texts_of(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else [*text]


def messages() -> Iterator[tuple[Any, list[str], list[str]]]:
    for message in CATALOGUE:
        if message.id:
            yield message, texts_of(message.id), texts_of(message.string)


@pytest.mark.parametrize("lang", [lang for lang in LANGUAGES if lang != "en"])
def test_the_catalogue_is_in_step_with_the_code(lang: str):
    made = updated(lang)
    assert problems(made) == [], COMMAND
    assert po_of(made).decode() == path_of(lang).read_text("utf-8"), COMMAND
    assert mo_of(made) == path_of(lang).with_suffix(".mo").read_bytes(), COMMAND
    assert len(made) > 900


def test_what_is_wrong_with_a_catalogue_is_found():
    catalogue = Catalog(locale="ko")
    catalogue.add("{n:,} item", "아이템 {n:,}개")
    catalogue.add(("{n:,} user", "{n:,} users"), ("사용자 {n:,}명",))
    assert problems(catalogue) == []
    catalogue.add("new")
    catalogue.add(("{n} new", "{n} new ones"))
    catalogue.add("guessed", "짐작", flags=["fuzzy"])
    catalogue.add("{low} to {high}", "{low} ~ {hihg}")
    catalogue.add(("{m} row", "{m} rows"), ("{n}행",))
    catalogue.add("hit", "적중 ")
    kinds = [one.split(":")[0] for one in problems(catalogue)]
    assert kinds == ["not translated"] * 2 + ["fuzzy"] + ["other values"] * 2 + ["blanks at an end"]
    catalogue.update(Catalog(), no_fuzzy_matching=True)
    assert [one.split(":")[0] for one in problems(catalogue)] == ["obsolete"] * 8


@pytest.mark.parametrize(
    ("how", "code", "expected"),
    [
        (in_python, b"""f"{_('one')} {ngettext('a', 'b', n)}"; X = {1: N_("two" " words")}; NC_("context", "three"); _(X[1]); Plural("c", "d")""",
         [("one", None), (("a", "b"), None), ("two words", None), ("three", "context"), (("c", "d"), None)]),
        (in_python, b"""Problem(rows, short=Plural("a", "b"), why={"x": "one", "y": "two"}[how], advice="three" if n else "four")""",
         [(("a", "b"), None), ("one", None), ("two", None), ("three", None), ("four", None)]),
        ("jinja2", b"""<b>{{ _("Users") }}</b> {{ ngettext("{n} row", "{n} rows", n) }} {{ pgettext("table", "to") }}""",
         [("Users", None), (("{n} row", "{n} rows"), None), ("to", "table")]),
    ],
)  # fmt: skip
def test_messages_are_extracted(how: Any, code: bytes, expected: list[Any]):
    found = [(message, context) for _line, message, _comments, context in extract(how, io.BytesIO(code), KEYWORDS)]
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_what_is_marked_is_written_out():
    """A message put together at run time would be in no catalogue."""
    for path in sorted({*ROOT.rglob("*.py")} - {Path(language.__file__)}):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                texts = node.args[: 1 if node.func.id in ("_", "N_", "translated") else 2]
                assert not any(isinstance(one, (ast.JoinedStr, ast.BinOp)) for one in texts), where
                if node.func.id not in ("_", "pgettext", "translated"):
                    assert all(isinstance(one, ast.Constant) for one in texts), where


def test_korean_is_korean():
    for message, english, korean in messages():
        if message.context != "formula" and "\\" not in "".join(english):
            letters = re.sub(r"\{[^}]*\}|\\\w+", "", "".join(english))
            assert re.search("[가-힣]", "".join(korean)) or not re.search("[a-z]{4}", letters), message.id
        assert not re.search("[가-힣]", "".join(english)), message.id


def test_a_translation_is_that_of_its_context():
    with use_language("ko"):
        assert _("list") != _(NC_("glossary", "list"))
    assert _(NC_("glossary", "list")) == "list"
    assert _("") == ""


# Metrics


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_english_of_a_metric_is_its_own(metric: Any):
    assert (metric.term, metric.reads) == (metric.called, metric.sentence)
    assert (metric.function.__doc__ or "").startswith(metric.title)
    english = (metric.term, metric.title, metric.reads)
    with use_language("ko"):
        korean = (metric.term, metric.title, metric.reads)
    assert korean == tuple(CATALOGUE[text].string for text in english)
    assert not set(korean) & set(english)


def test_terms_are_those_of_the_articles():
    terms = {
        "precision": "정밀도", "recall": "재현율", "hit_rate": "적중률", "reciprocal_rank": "역순위", "average_precision": "평균 정밀도",
        "cg": "누적 이득", "dcg": "할인 누적 이득", "idcg": "이상적 할인 누적 이득", "ndcg": "정규화 할인 누적 이득",
    }  # fmt: skip
    with use_language("ko"):
        assert {name: METRICS[name].term for name in terms} == terms


@pytest.mark.parametrize("name", METRICS)
def test_a_formula_is_the_same_in_korean(name: str):
    """Word by word it is the English one, which tests evaluate."""
    metric = METRICS[name]
    words = {message.id: message.string for message, _english, _korean in messages() if message.context == "formula"}
    for options in each_word(metric):
        english = [one.text() for one in metric.formulas(options)]
        with use_language("ko"):
            korean = [one.text() for one in metric.formulas(options)]
            line = metric.formula_text(options)
            latex = metric.latex(3, options)
        assert line.startswith(f"{CATALOGUE[metric.called].string} = ")
        assert korean[0] in line
        for text, expected in zip(korean, english, strict=True):
            # The longest first: "순위" is part of no other word, "관련도" is of "최대 관련도".
            for own, other in sorted(words.items(), key=lambda item: -len(item[1])):
                text = text.replace(other, own)
            assert text == expected
        for opening, closing in ("{}", "()", "[]"):
            assert latex.count(opening) == latex.count(closing), latex
        assert re.sub(r"\\(text|mathrm)\{[^}]*\}", "", latex) == re.sub(
            r"\\(text|mathrm)\{[^}]*\}", "", metric.latex(3, options)
        )


def test_the_words_of_a_message_are_those_of_the_metrics():
    assert {one.called for one in METRICS.values()} <= {message.id for message in extracted()}
    assert fields("{n:,} of {users}") == {"n", "users"}
