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
from recnb.display.language import NC_, _, use_language
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


def messages() -> Iterator[tuple[Any, list[str], list[str]]]:
    for message in CATALOGUE:
        if message.id:
            yield message, *([text] if isinstance(text, str) else [*text] for text in (message.id, message.string))


def test_the_catalogue_is_in_step_with_the_code():
    made = updated("ko")
    assert problems(made) == [], COMMAND
    assert po_of(made).decode() == path_of("ko").read_text("utf-8"), COMMAND
    assert mo_of(made) == path_of("ko").with_suffix(".mo").read_bytes(), COMMAND
    assert fields("{n:,} of {users}") == {"n", "users"}
    with use_language("ko"):
        assert _("list") != _(NC_("glossary", "list"))
    assert (_(NC_("glossary", "list")), _("")) == ("list", "")
    assert len(made) > 800


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


@pytest.mark.parametrize("name", METRICS)
def test_the_words_of_a_metric_are_its_own_in_english_and_translated_in_korean(name: str):
    metric = METRICS[name]
    english = (metric.called, (metric.function.__doc__ or "").split("\n")[0], metric.sentence)
    assert (metric.term, metric.title, metric.reads) == english
    with use_language("ko"):
        assert (metric.term, metric.title, metric.reads) == tuple(CATALOGUE[text].string for text in english)
    assert metric.called in {message.id for message in extracted()}


@pytest.mark.parametrize("name", METRICS)
def test_a_formula_is_the_same_in_korean(name: str):
    """Word by word it is the English one, which tests evaluate."""
    metric = METRICS[name]
    words = {message.string: message.id for message, *_texts in messages() if message.context == "formula"}
    for options in each_word(metric):
        english, plain = [one.text() for one in metric.formulas(options)], metric.latex(3, options)
        with use_language("ko"):
            korean, line, latex = (
                [one.text() for one in metric.formulas(options)],
                metric.formula_text(options),
                metric.latex(3, options),
            )
        assert line.startswith(f"{CATALOGUE[metric.called].string} = ")
        assert korean[0] in line
        for text, expected in zip(korean, english, strict=True):
            # The longest first: "순위" is part of no other word, "관련도" is of "최대 관련도".
            for own in sorted(words, key=len, reverse=True):
                text = text.replace(own, words[own])
            assert text == expected
        assert all(latex.count(opening) == latex.count(closing) for opening, closing in ("{}", "()", "[]"))
        assert len({re.sub(r"\\(text|mathrm)\{[^}]*\}", "", one) for one in (latex, plain)}) == 1
