"""What is read of a plot and of a page."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from matplotlib.axes import Axes


def words_of(ax: Axes) -> str:
    """Return all words of a plot."""
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
    legend = ax.get_legend()
    if legend is not None:
        texts += [legend.get_title(), *legend.get_texts()]
    return "\n".join(text.get_text() for text in texts)


def text_of_html(page: str) -> str:
    """Return what is read of HTML, and the labels of what is drawn."""
    labels = " ".join(re.findall(r'(?:alt|aria-label|title)="([^"]*)"', page))
    body = re.sub(r"<style.*?</style>|<code.*?</code>", "", page, flags=re.DOTALL)
    return unescape(f"{labels} {re.sub('<[^>]+>', ' ', body)}")


def every_form(result: Any) -> dict[str, str]:
    """Return what is read of a result in each form that it has."""
    if isinstance(result, Axes):
        return {"plot": words_of(result)}
    forms = {"text": repr(result)}
    if hasattr(result, "_repr_html_"):
        forms["HTML"] = text_of_html(result._repr_html_())
    for name in ("to_markdown", "to_latex"):
        if hasattr(result, name):
            forms[name] = getattr(result, name)()
    return forms
