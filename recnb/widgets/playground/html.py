"""The playground as HTML: the parts that its view shows beside the list, and all of it where nothing can be run."""

from __future__ import annotations

import re

from markupsafe import Markup

from recnb.display.language import _, use_language
from recnb.display.templates import render
from recnb.widgets.playground.state import GAINS, PlaygroundState

#: A formula in the HTML of an explanation, which is typeset; everything around it is not.
_FORMULA = re.compile(r"<div[^>]*>\$\\displaystyle.*?\$</div>")


def values(state: PlaygroundState) -> Markup:
    """Show each metric: its value with a bar, and how the last step changed it."""
    with use_language(state.lang):
        return render("widgets/playground/values.jinja", state=state)


def changes(state: PlaygroundState) -> Markup:
    """Show the last step, and the terms that it changed."""
    with use_language(state.lang):
        return render("widgets/playground/changes.jinja", state=state)


def explanation(state: PlaygroundState) -> tuple[Markup, Markup]:
    """Show how the metric in focus is worked out: the formula, to be typeset, and the rest, which is not."""
    shown = state.explanation()._repr_html_()
    (formula,) = _FORMULA.findall(shown)
    return Markup(formula), Markup(shown.replace(formula, ""))


def still(state: PlaygroundState) -> Markup:
    """Show the whole playground as it is, without a kernel, a script or a style sheet."""
    formula, worked = explanation(state)
    with use_language(state.lang):
        return render(
            "widgets/playground/playground.jinja",
            state=state,
            gain=_(GAINS[state.gain]),
            formula=formula,
            explanation=worked,
        )
