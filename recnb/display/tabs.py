"""Sections of a report behind tabs, without a script: radio buttons and a style sheet that shows the section chosen.

The heading of a section is its tab. Where the style sheet is taken away (a notebook that is not trusted, a page that
strips what it does not know), on paper, and in browsers that know no `:has()`, the sections stand one below the other,
each under its heading, and nothing is lost. Tabs need no ids: each button stands in the heading, and each set of tabs
in a form of its own, so two reports do not share buttons, nor does one report that is shown twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from recnb.display import html
from recnb.display.svg import ACCENT

#: Room around a section where sections stand below each other.
STACKED = "margin: 1.8em 0 0.6em 0;"
TITLE = "font-size: 1.1em; font-weight: 600; line-height: 1.3; margin: 0 0 0.5em 0;"

_T = ".recnb-tabs"
#: What makes tabs of sections; without it they are sections.
STYLE = (
    "@media screen { @supports selector(:has(*)) { "
    f"{_T} {{ display: flex; flex-wrap: wrap; margin: 0.8em 0; padding: 0; border: 0; }} "
    f"{_T} > section {{ display: contents; }} "
    f"{_T} > section > .recnb-tab {{ order: 1; margin: 0 !important; padding: 0; font-size: 1em !important; border-bottom: 3px solid transparent; }} "
    f"{_T} > section > .recnb-tab label {{ display: block; position: relative; padding: 0.45em 0.65em; cursor: pointer; opacity: 0.75; }} "
    f"{_T} > section > .recnb-tab label:hover {{ opacity: 1; background: {html.FAINT}; }} "
    f"{_T} > section > .recnb-tab label > span {{ display: inline !important; }} "
    f"{_T} > section > .recnb-tab input {{ display: block; position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: pointer; }} "
    f"{_T} > section > .recnb-tab label:has(:focus-visible) {{ outline: 2px solid {ACCENT}; outline-offset: -2px; opacity: 1; }} "
    f"{_T} > section:has(> .recnb-tab :checked) > .recnb-tab {{ border-bottom-color: {ACCENT}; }} "
    f"{_T} > section:has(> .recnb-tab :checked) > .recnb-tab label {{ opacity: 1; }} "
    f"{_T} > section > .recnb-panel {{ order: 2; flex: 0 0 100%; min-width: 0; box-sizing: border-box; border-top: 1px solid {html.LINE}; padding: 1em 0 0 0; display: none; }} "
    f"{_T} > section:has(> .recnb-tab :checked) > .recnb-panel, {_T}:not(:has(> section > .recnb-tab :checked)) > section:first-child > .recnb-panel {{ display: block; }} "
    "} } "
    # On paper nothing can be opened; what tells the numbers of a picture again stays out of it.
    "@media print { .recnb details:not(.recnb-again)::details-content { display: block; content-visibility: visible; } .recnb .recnb-again { display: none; } .recnb summary { list-style: none; } "
    # Nor can it be scrolled: what is wider than the paper is made smaller.
    ".recnb [role=region] { overflow: visible !important; } .recnb img { max-width: 100% !important; min-width: 0 !important; } "
    ".recnb .recnb-many { font-size: 6pt !important; } .recnb .recnb-many * { padding: 2px !important; } }"
)


@dataclass(frozen=True)
class Section:
    """One part of a report: what its tab says, and its HTML; both are safe already."""

    title: str
    body: str


def tabbed(sections: Sequence[Section], label: str, key: str) -> str:
    """Sections behind tabs, the first one open; arrow keys go from tab to tab. `key` tells one report from another."""
    made = [one for one in sections if one.body]
    group = "recnb-" + hashlib.sha256(key.encode()).hexdigest()[:12]
    parts = [_section(one, group, first=at == 0) for at, one in enumerate(made)]
    # A form bounds the group of its buttons; one of method "dialog" outside a dialog sends nothing when Enter is pressed.
    return (
        f'<style>{STYLE}</style><form class="recnb-tabs" method="dialog" role="group" aria-label="{html.text(label)}">'
        f"{''.join(parts)}</form>"
    )


def _section(one: Section, group: str, *, first: bool) -> str:
    # JupyterLab takes the arrow keys for its cells unless what is in focus says that they are its own; and it keeps the
    # inline style of the span, but not that of an input, in a notebook that is not trusted.
    button = f'<span style="display: none;"><input type="radio" name="{group}" data-lm-suppress-shortcuts="true"{" checked" if first else ""}></span>'
    return (
        f'<section style="{STACKED}"><h3 class="recnb-tab" style="{TITLE}"><label>{button}{one.title}</label></h3>'
        f'<div class="recnb-panel">{one.body}</div></section>'
    )
