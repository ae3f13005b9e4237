"""What a docstring has for `help()` and an editor, as reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import getdoc
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

#: An attribute without its object, as `.per_user`: which one it is, nobody can look up.
ATTRIBUTE = re.compile(r"(?<![^\s(])`(\.\w[^`]*)`(?!`)")
#: Two columns on a line.
COLUMNS = re.compile(r"\S {2,}\S")


def register(app: Sphinx) -> None:
    """Let Sphinx read docstrings so, before numpydoc does."""
    app.connect("autodoc-process-docstring", _mend, priority=400)
    app.connect("autodoc-process-signature", _signature)
    app.connect("doctree-read", _without_mail)


def _mend(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    lines[:] = mended(lines)


def divided(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Divide a docstring into what it is for, its examples and its other sections.

    >>> divided(["Add.", "", "Returns", "-------", "int", "", "Examples", "--------", ">>> 1"])
    (['Add.', ''], ['>>> 1'], ['Returns', '-------', 'int', ''])
    """
    purpose: list[str] = []
    examples: list[str] = []
    others: list[str] = []
    part = purpose
    for line, underline in zip(lines, [*lines[1:], ""], strict=True):
        is_heading = bool(line) and underline == "-" * len(line)
        if is_heading:
            part = examples if line == "Examples" else others
        part.append(line)
    return purpose, examples[2:], others


def _signature(
    _app: Sphinx, what: str, _name: str, value: Any, *_shown: Any
) -> tuple[str, None] | None:
    """Leave out how a class is made that methods return and nobody makes.

    The docstring of a class that is called has its parameters.
    """
    is_returned = what in ("class", "exception") and "Parameters\n" not in (
        getdoc(value) or ""
    )
    return ("", None) if is_returned else None


def mended(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with its layouts kept as they are typed.

    >>> mended(["Evaluate.", "", "ev.ndcg()     a metric", "ev.table()    many"])
    ['Evaluate.', '', '::', '', '    ev.ndcg()     a metric', '    ev.table()    many']
    """
    result: list[str] = []
    for paragraph in _paragraphs(lines):
        if _is_layout(paragraph):
            result += ["::", "", *[f"    {line}" for line in paragraph]]
        else:
            result += [ATTRIBUTE.sub(r"``\1``", line) for line in paragraph]
    return result


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines between empty ones, and each empty line by itself."""
    for is_text, paragraph in groupby(lines, key=lambda line: bool(line.strip())):
        if is_text:
            yield list(paragraph)
        else:
            yield from ([line] for line in paragraph)


def _is_layout(paragraph: list[str]) -> bool:
    """Whether the lines of a paragraph are in columns, as calls with what they do."""
    return len(paragraph) > 1 and all(COLUMNS.search(line) for line in paragraph)


def _without_mail(_app: Sphinx, doctree: nodes.document) -> None:
    """Take nDCG@10 for a measure, not for an address."""
    from docutils.nodes import Text, reference

    for link in list(doctree.findall(reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(Text(link.astext()))
