"""A finding as a line of HTML, for the comparison until its own template imports the macro."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from recnb.display.templates import render
from recnb.lint.findings import Finding

FEW = 3


def line(finding: Finding, *, is_open: bool, whose: str = "", effects: Sequence[str] | None = None) -> str:
    """A finding as a line that unfolds; `whose` and `effects` are HTML."""
    shown = None if effects is None else [Markup(words) for words in effects]
    return str(
        render("lint/lint.jinja", view="line", finding=finding, open=is_open, whose=Markup(whose), effects=shown)
    )
