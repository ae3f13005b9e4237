"""Small pieces of HTML that the sections of a report are made of: names made safe, tables, pictures, what can be opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recnb.display import html
from recnb.display import svg as chart
from recnb.display.text import one_line

NAME_SHOWN = 40

#: A table of more columns is printed in small letters, to have room on paper.
MANY = 9
FAINT, ANYWHERE = "opacity: 0.75;", "overflow-wrap: anywhere;"
SIDE_BY_SIDE = "display: flex; flex-wrap: wrap; align-items: flex-start;"


def plain(value: object, longest: int = NAME_SHOWN) -> str:
    """Anything of the user's: escaped, on one line, and with no address in it."""
    return html.text(one_line(value, longest), longest + 1).replace("://", ":&#47;&#47;")


def name(value: object, longest: int = NAME_SHOWN) -> str:
    """Anything of the user's, in its own direction."""
    return f"<bdi>{plain(value, longest)}</bdi>"


def strong(value: object) -> str:
    """The name of a model in a sentence."""
    return f'<b style="font-weight: 600;">{name(value)}</b>'


def heading(words: str) -> str:
    """A heading within a section, whose own is a level above."""
    return f'<h4 style="font-size: 1.02em; font-weight: 600; line-height: 1.3; margin: 0 0 0.4em 0;">{words}</h4>'


def folded(summary: str, *parts: str, again: bool = False) -> str:
    """Something to open; on paper it stands open, unless it tells the numbers of a picture `again`."""
    kind = ' class="recnb-again"' if again else ""
    return (
        f'<details{kind} style="margin: 0.3em 0;"><summary style="cursor: pointer; font-size: 0.92em; {FAINT}">{summary}</summary>'
        f"{''.join(parts)}</details>"
    )


def wide(table: str, label: str) -> str:
    """A table that scrolls sideways where the page is narrow."""
    return f'<div role="region" aria-label="{html.text(label)}" tabindex="0" style="overflow-x: auto;">{table}</div>'


def compact(header: Sequence[str], rows: Iterable[Sequence[str]], left: int, caption: str = "") -> str:
    """A long table in few bytes: lines and padding are set for rows and the table, and not for each cell again."""
    line = f'style="border-bottom: 1px solid {html.LINE}; background: transparent;"'
    to_the_left = ' style="text-align: left;"'

    def row(cells: Sequence[str], tag: str) -> str:
        made = [f"<{tag}{to_the_left if at < left else ' align=right'}>{cell}</{tag}>" for at, cell in enumerate(cells)]
        return f"<tr {line}>{''.join(made)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    style = "border-collapse: collapse; margin: 0.4em 0; white-space: nowrap; font-variant-numeric: tabular-nums; font-size: 0.95em;"
    above = (
        f'<caption style="text-align: left; padding: 0.3em 0; font-weight: 600;">{caption}</caption>' if caption else ""
    )
    small = ' class="recnb-many"' if len(header) > MANY else ""
    return f'<table{small} cellpadding="4" style="{style}">{above}<thead>{row(header, "th")}</thead><tbody>{body}</tbody></table>'


def picture(svg: str, alt: str, width: int) -> str:
    """A picture that scrolls sideways where the page is narrow, instead of shrinking until its words cannot be read."""
    image = chart.image(svg, alt, width).replace("max-width: 100%;", f"max-width: none; min-width: {width * 3 // 4}px;")
    return wide(image.replace("://", ":&#47;&#47;"), one_line(alt.split(". ")[0], 80).replace("://", ": "))
