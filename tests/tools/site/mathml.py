"""Formulas as MathML, which browsers show without a script and without a request."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

#: A formula in HTML that recnb shows (results/explanation.jinja).
SHOWN = re.compile(r"\$(\\displaystyle [^$<>]*)\$")


def mathml(latex: str, *, as_block: bool = False) -> str:
    """Return a formula of LaTeX as MathML; one that is not known raises an error."""
    from docutils.utils.math.latex2mathml import tex2mathml

    in_place, large = latex, ""
    if latex.startswith("\\displaystyle "):
        in_place, large = latex.removeprefix("\\displaystyle "), ' displaystyle="true"'
    formula = tex2mathml(in_place, as_block=as_block)
    # nDCG@10 is one word, and @ no operator with space around it.
    formula = formula.replace("<mo>@</mo>", '<mo lspace="0" rspace="0">@</mo>')
    return formula.replace("<math", f"<math{large}", 1)


def with_formulas(output: str) -> str:
    """Return HTML whose formulas are MathML."""
    return SHOWN.sub(lambda formula: mathml(html.unescape(formula[1])), output)


def show_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line, for Sphinx."""
    _write(translator, mathml(node.astext()))


def show_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula that stands by itself, for Sphinx."""
    _write(translator, mathml(node.astext(), as_block=True))


def _write(translator: Any, formula: str) -> None:
    from docutils.nodes import SkipNode

    translator.body.append(formula)
    raise SkipNode


def register(app: Sphinx) -> None:
    """Let Sphinx write formulas so."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
