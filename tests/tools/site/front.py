"""The playground of the front page: one list after each of some moves.

A page has no kernel, so what a reader chooses between is made here, by the methods that
a notebook has. Choosing needs no script: they are the tabs of a report.
"""

from __future__ import annotations

from markupsafe import Markup

from recnb.display.templates import framed, macro, style_sheet
from recnb.widgets import Playground
from tests.tools.site.mathml import with_formulas

#: The heading of the README before which the playground stands.
BEFORE = "## Two commands\n"
HEADING = "## What one move changes"
WORDS = (
    "A list of six items, scored by four metrics. "
    "Choose a move to see which terms it changes. In a notebook, `recnb.playground()` "
    "shows the same list, whose items are dragged."
)
#: What is done, one after the other, in words and as it is typed.
MOVES = (
    ("The list", "play = recnb.playground()"),
    ("Move C to the top", 'play.move("C", 1)'),
    ("Take G in", 'play.move("G", 3)'),
    ("Cut at 3", "play.change(k=3)"),
    ("Exponential gain", 'play.change(gain="exponential")'),
)


def with_playground(readme: str) -> str:
    """Return the README with the playground, as raw HTML of MyST."""
    assert BEFORE in readme
    raw = f"```````{{raw}} html\n{playground()}\n```````"
    section = f"{HEADING}\n\n{WORDS}\n\n{raw}\n\n{BEFORE}"
    return readme.replace(BEFORE, section, 1)


def playground() -> str:
    """Return the playground after each move, each behind a tab."""
    play = Playground()
    bodies = [_body(play, *MOVES[0])]
    for title, code in MOVES[1:]:
        exec(code, {"play": play})  # a line of the table above
        bodies.append(_body(play, title, code))
    tabs = macro(
        "display/document.jinja",
        "tabs",
        bodies,
        "moves",
        "recnb-moves",
        Markup(style_sheet("tabs")),
    )
    return with_formulas(framed("playground", tabs))


def _body(play: Playground, title: str, code: str) -> tuple[str, Markup]:
    """Return what is behind one tab, the worked calculation folded."""
    body = Markup(
        "<p><code>{code}</code></p>{list}"
        "<details><summary>The calculation, term by term</summary>{worked}</details>"
    )
    worked = Markup("".join(play._worked()))
    return title, body.format(
        code=code, list=Markup(play._html(live=False)), worked=worked
    )
