"""One table of strings, in two languages: whole, used, and in step with the metrics and their formulas."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
import string
from collections.abc import Iterator
from typing import Any

import pytest

import recnb
from recnb import METRICS
from recnb.strings import speaking, table
from recnb.whose.special import SPECIAL
from tests.strategies import each_word

ROOT = pathlib.Path(recnb.__file__).parent
TABLE = table()


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


#: Texts that are never filled in: braces in them are those of LaTeX.
PLAIN = [key for key in TABLE if key.startswith("latex.") or key == "report.latex_needs"]


def test_each_text_stands_in_both_languages():
    assert len(TABLE) > 200
    for key, texts in TABLE.items():
        assert len(texts) == 2, key
        assert all(text and text == text.strip() for text in texts), key
    lines = (ROOT / "strings/strings.csv").read_text("utf-8").splitlines()
    assert len(lines) == len(TABLE) + 1, "a key stands twice"


def test_both_languages_have_the_same_places_to_fill():
    for key in TABLE.keys() - set(PLAIN):
        english, korean = TABLE[key]
        # A metric's formula is headed by its name in Korean: an English one is not.
        extra = {"name"} if key in ("formula.sum", "formula.ratio") else set()
        assert fields(korean) == fields(english) | extra, key
        assert english.count("|") <= 1, key
        assert korean.count("|") <= english.count("|"), f"{key}: Korean has more forms than English"


def test_korean_is_korean():
    for key, (english, korean) in TABLE.items():
        if not key.startswith(("latex.", "formula.")):
            letters = re.sub(r"\{[^}]*\}|\\\w+", "", english)
            assert re.search("[가-힣]", korean) or not re.search("[a-z]{4}", letters), key
            assert not re.search("[가-힣]", english), key


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Every string of a module, those with parts to fill in as patterns."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside
        ):
            yield pattern_of(node)


def pattern_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            re.escape(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else ".+"
            for part in node.values
        )
    assert isinstance(node, ast.Constant)
    return re.escape(node.value)


@functools.cache
def trees() -> list[tuple[str, ast.Module]]:
    return [(path.name, ast.parse(path.read_text("utf-8"))) for path in sorted(ROOT.glob("**/*.py"))]


def test_every_key_that_is_said_stands_in_the_table():
    for name, tree in trees():
        for node in ast.walk(tree):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if called not in ("say", "Sentence") or not isinstance(node, ast.Call) or not node.args:
                continue
            first = node.args[0]
            for key in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                if isinstance(key, ast.JoinedStr) or (isinstance(key, ast.Constant) and "." in str(key.value)):
                    pattern = re.compile(pattern_of(key))
                    assert any(map(pattern.fullmatch, TABLE)), f"{name}:{node.lineno} says {pattern.pattern}"


def test_every_text_of_the_table_is_said_somewhere():
    patterns = {text for _, tree in trees() for text in texts_of(tree) if re.match(r"(\.\+\\\.)?[a-z_]+(\\\.|$)", text)}
    whole = re.compile("|".join(f"(?:{text})" for text in sorted(patterns)))
    assert [key for key in TABLE if not whole.fullmatch(key)] == []


# Metrics


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_english_of_a_metric_is_its_own(metric: Any):
    for what, own in (("title", metric.title), ("reads", metric.sentence)):
        assert TABLE[f"metric.{metric.name}.{what}"][0] == own
    assert metric.reads == metric.sentence
    assert (metric.function.__doc__ or "").startswith(metric.title)
    with speaking("ko"):
        assert (metric.term, metric.title, metric.reads) == tuple(
            TABLE[f"metric.{metric.name}.{what}"][1] for what in ("name", "title", "reads")
        )


@pytest.mark.parametrize("metric", SPECIAL.values(), ids=SPECIAL)
def test_the_english_of_a_variant_is_its_own(metric: Any):
    assert TABLE[f"metric.{metric.name}.title"][0] == metric.title == (metric.function.__doc__ or "").split("\n")[0]


def test_terms_are_those_of_the_articles():
    with speaking("ko"):
        terms = {name: metric.term for name, metric in METRICS.items()}
    assert terms["precision"] == "정밀도"
    assert terms["recall"] == "재현율"
    assert terms["hit_rate"] == "적중률"
    assert terms["reciprocal_rank"] == "역순위"
    assert terms["average_precision"] == "평균 정밀도"
    assert [terms[name] for name in ("cg", "dcg", "idcg", "ndcg")] == [
        "누적 이득",
        "할인 누적 이득",
        "이상적 할인 누적 이득",
        "정규화 할인 누적 이득",
    ]


@pytest.mark.parametrize("name", METRICS)
def test_a_formula_is_the_same_in_korean(name: str):
    """Word by word it is the English one, which tests evaluate."""
    metric = METRICS[name]
    words = {key.removeprefix("formula."): texts for key, texts in TABLE.items() if key.startswith("formula.")}
    for options in each_word(metric):
        english = [one.text() for one in metric.formulas(options)]
        with speaking("ko"):
            korean = [one.text() for one in metric.formulas(options)]
            line = metric.formula_text(options)
            latex = metric.latex(3, options)
        assert line.startswith(f"{TABLE[f'metric.{name}.name'][1]} = ")
        assert korean[0] in line
        for text, expected in zip(korean, english, strict=True):
            # The longest first: "순위" is part of no other word, "관련도" is of "최대 관련도".
            for one, (own, other) in sorted(words.items(), key=lambda item: -len(item[1][1])):
                if not fields(other) and not one.startswith("over_"):
                    text = text.replace(other, own)
            assert text == expected
        for opening, closing in ("{}", "()", "[]"):
            assert latex.count(opening) == latex.count(closing), latex
        assert re.sub(r"\\(text|mathrm)\{[^}]*\}", "", latex) == re.sub(
            r"\\(text|mathrm)\{[^}]*\}", "", metric.latex(3, options)
        )
