"""What a docstring has for `help()` and an editor, as reStructuredText."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

#: An attribute without its object, as `.per_user`: which one it is, nobody can look up.
ATTRIBUTE = re.compile(r"(?<![^\s(])`(\.\w[^`]*)`(?!`)")
#: The line below the name of a section of numpydoc, before which the text is free.
SECTION = re.compile(r"-{3,}")


def register(app: Sphinx) -> None:
    """Let Sphinx read docstrings so, before numpydoc does."""
    app.connect("autodoc-process-docstring", _mend, priority=400)
    app.connect("doctree-read", _without_mail)


def _mend(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    lines[:] = mended(lines)


def mended(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with its layouts kept as they are typed.

    >>> mended(["Evaluate.", "", "    ev.ndcg()     a metric", "    ev.table()    many"])
    ['Evaluate.', '', '::', '', '    ev.ndcg()     a metric', '    ev.table()    many']
    """
    result: list[str] = []
    free = True
    for line in lines:
        if SECTION.fullmatch(line.strip()):
            free = False
        if free and line.startswith("    ") and _begins_a_block(result):
            result += ["::", ""]
        result.append(ATTRIBUTE.sub(r"``\1``", line))
    return result


def _begins_a_block(before: list[str]) -> bool:
    """Whether an indented line after these begins a block that is not announced."""
    if not before or before[-1].strip():
        return False
    text = [line for line in before if line.strip()]
    return bool(text) and not text[-1].startswith("    ") and text[-1][-2:] != "::"


def _without_mail(_app: Sphinx, doctree: nodes.document) -> None:
    """Take nDCG@10 for a measure, not for an address."""
    from docutils.nodes import Text, reference

    for link in list(doctree.findall(reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(Text(link.astext()))
