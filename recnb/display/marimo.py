"""What marimo shows: the HTML of Jupyter, in which it typesets and lays out less."""

from __future__ import annotations

import html
import re

from markupsafe import escape

_BEGIN = '<div style="margin: 0.4em 0; text-align: left;">$\\displaystyle '
_END = "$</div>"
#: A formula as `formula` writes it. Whatever is the user's is escaped in HTML, so that no
#: text of theirs is taken for one.
_FORMULA = re.compile(f"{re.escape(_BEGIN)}(.*?){re.escape(_END)}", re.DOTALL)
#: Jupyter keeps the cells of a table apart, and marimo does not.
_CELLS = "<style>.recnb table :is(th, td) { padding: 0.25em 0.5em; }</style>"


class Shown:
    """HTML that a notebook shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return self.text


class ShownInMarimo:
    """A base of what has tables or formulas in its HTML."""

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _display_(self) -> Shown:
        """Return what marimo shows, which it asks for first."""
        return in_marimo(self._repr_html_())


def in_marimo(text: str) -> Shown:
    """Return HTML with its formulas typeset by marimo, and the cells of tables apart."""
    return Shown(_CELLS + _FORMULA.sub(_typeset, text))


def _typeset(match: re.Match[str]) -> str:
    import marimo

    latex = html.unescape(match[1])
    typeset: str = marimo.md(f"$\\displaystyle {latex}$").text
    return typeset


def formula(latex: str) -> str:
    """Return the HTML of a formula on a line by itself, as Jupyter typesets it."""
    return f"{_BEGIN}{escape(latex)}{_END}"


def in_marimo_widget(text: str) -> str:
    """Return the HTML of a widget, where marimo typesets nothing.

    A formula would be shown as its LaTeX. The same with numbers stands below it.
    """
    return _CELLS + _FORMULA.sub("", text)
