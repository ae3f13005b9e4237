"""A lint as HTML: each finding a line with its severity as a word, and below it what it does and what to type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recnb.display import html
from recnb.display.language import _, use_language
from recnb.lint.values import in_form

if TYPE_CHECKING:
    from recnb.lint.findings import Finding, Lint

#: So many findings stand open at the head of a report, whatever they are.
FEW = 3

_FAINT = "opacity: 0.8;"
_BELOW = "margin: 0.15em 0 0 0; overflow-wrap: anywhere;"


def whole(lint: Lint) -> str:
    """The lint as a notebook shows it: everything in sight."""
    head = (
        f'<div><b>{html.text(lint.headline, 400)}</b></div><div style="{_FAINT}">{html.text(lint.measured, 400)}</div>'
    )
    with use_language(lint.lang):
        name = _("what is odd about the data, by {label}", label=lint.label)
    return html.root(
        head, *map(finding, lint.findings), _unchecked(lint), html.note(html.text(lint.basis, 2000)), label=name
    )


def folded(lint: Lint) -> str:
    """The lint as the head of a report: a line per finding, which unfolds; warnings stand open, and all if they are few."""
    rows = "".join(line(one, is_open=one.severity == "warning" or len(lint) <= FEW) for one in lint.findings)
    head = f'<div style="font-weight: 600;">{html.text(lint.headline, 400)}</div>'
    return f'<div style="margin: 0.6em 0;">{head}{rows}{_unchecked(lint)}</div>'


def line(one: Finding, *, is_open: bool, whose: str = "", effects: Sequence[str] | None = None) -> str:
    """One finding as a line which unfolds; `whose` lists it is about and its `effects` there, as HTML."""
    said = f' <span style="opacity: 0.8;">({whose})</span>' if whose else ""
    return (
        f'<details{" open" if is_open else ""} style="margin: 0.4em 0;"><summary style="cursor: pointer;">{_line(one)}{said}</summary>'
        f'<div style="margin: 0 0 0.5em 1.2em;">{_below(one, effects)}</div></details>'
    )


def finding(one: Finding) -> str:
    """One finding, in sight."""
    heavy = "0.3em double" if one.severity == "warning" else "1px solid"
    style = f"border-left: {heavy} {html.LINE.replace('0.35', '0.8')}; padding: 0.1em 0 0.1em 0.8em; margin: 0.8em 0;"
    return f'<div style="{style}"><div>{_line(one)}</div>{_below(one)}</div>'


def _line(one: Finding) -> str:
    weight = "700" if one.severity == "warning" else "400"
    word = f'<span style="border: 1px solid currentColor; border-radius: 0.3em; padding: 0 0.35em; font-size: 0.82em; font-weight: {weight};">{html.text(one.word)}</span>'
    return f'{word} <span style="font-weight: 600; overflow-wrap: anywhere;">{one.said("short", "html")}</span>'


def _below(one: Finding, effects: Sequence[str] | None = None) -> str:
    parts = [f'<div style="{_BELOW}">{said}</div>' for said in [*([one.said("effect", "html")] if effects is None else effects), one.said("example", "html"), one.said("advice", "html")] if said]  # fmt: skip
    if one.code:
        parts.append(
            f'<div style="{_BELOW}"><code>{html.text(" ".join(one.code.split()), 1000).replace("://", ":&#47;&#47;")}</code></div>'
        )
    return "".join(parts)


def _unchecked(lint: Lint) -> str:
    return "".join(html.note(in_form(line, "html")) for line in lint.not_checked)
