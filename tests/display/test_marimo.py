"""What marimo shows: it asks for `_display_` first, and typesets its own Markdown alone."""

from __future__ import annotations

import html
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import recnb
from recnb.display.marimo import formula, in_marimo, in_marimo_widget
from recnb.widgets.playground import Playground

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test)
SHOWN: dict[str, Any] = {
    "table": EV.table(["ndcg", "recall"], k=[5, 10]),
    "curve": EV.curve("ndcg"),
    "user": EV.user("u026", k=5),
    "comparison": FOUND.table(k=10),
    "differences": FOUND.differences("ndcg", k=10),
    "report": EV.report(k=[5]),
    "lint": EV.lint(),
    "why": EV.why("ndcg", k=10, other="rectools"),
    "explanation": EV.explain("ndcg", "u026", k=10),
    "solution": recnb.quiz("ndcg", seed=3).reveal(),
}


@pytest.fixture(autouse=True)
def typeset(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Markdown that marimo is asked for."""
    asked: list[str] = []

    def md(text: str) -> SimpleNamespace:
        asked.append(text)
        return SimpleNamespace(text="<marimo-tex/>")

    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(md=md))
    return asked


@pytest.mark.parametrize("name", SHOWN)
def test_it_shows_the_html_of_jupyter_with_cells_apart(name: str) -> None:
    shown = SHOWN[name]
    text = shown._display_()._repr_html_()
    assert "padding" in text.partition("</style>")[0]
    in_jupyter = re.sub(r"<div[^>]*>\$.*?\$</div>", "", shown._repr_html_())
    assert text.partition("</style>")[2].replace("<marimo-tex/>", "") == in_jupyter


def test_a_table_has_its_line_of_users_and_conventions() -> None:
    text = html.unescape(SHOWN["table"]._display_()._repr_html_())
    assert SHOWN["table"].attrs["basis"] in re.sub("<[^>]+>", "", text)


def test_a_formula_is_typeset_by_its_markdown(typeset: list[str]) -> None:
    explanation = SHOWN["explanation"]
    text = explanation._display_()._repr_html_()
    assert typeset == [f"$\\displaystyle {explanation.latex}$"]
    assert text.count("<marimo-tex/>") == 1
    assert "$" not in text


def test_what_looks_like_a_formula_in_a_name_stays_text(typeset: list[str]) -> None:
    name = formula("x < y")
    frame = {"ann": [name, "b"]}
    text = recnb.evaluate(frame, {"ann": ["b"]}).explain("ndcg", "ann", k=2)
    shown = text._display_()._repr_html_()
    assert len(typeset) == 1  # that of nDCG
    assert "&lt;div style=" in shown
    assert in_marimo(name)._repr_html_().endswith("<marimo-tex/>")
    assert typeset[1] == "$\\displaystyle x < y$"


def test_a_widget_is_alive_as_one_and_the_same_in_each_cell_that_shows_it() -> None:
    play = Playground()
    first, second = play._display_(), play._display_()
    assert first is not second  # marimo closes what a cell showed when it runs again
    before = first.html
    sent: list[Any] = []
    first.send = lambda *content: sent.append(content)
    second._handle_custom_msg({"name": "by", "value": "1", "key": "2"}, [])
    assert before != first.html == second.html
    assert sent == [("draw",)]
    whole = "".join([play._html(live=True), *play._worked()])
    assert first.html == in_marimo_widget(whole)
    assert "$" not in first.html
    assert play.explain().numbers in html.unescape(first.html)


def test_a_refusal_is_shown_in_every_widget() -> None:
    play = Playground()
    shown = play._display_()
    play.use("relevance", "-1", "2")
    assert play.problem
    assert html.escape(play.problem, quote=False) in shown.html


def test_without_a_widget_library_it_shows_the_still_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from recnb.widgets import live

    live.html_widget.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    text = Playground()._display_()._repr_html_()
    assert "<marimo-tex/>" in text
    assert not re.search(r"<(button|input|select|form)", text)
