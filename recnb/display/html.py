"""Small pieces of HTML: text, tables, notes. They know nothing of metrics.

JupyterLab strips style sheets from notebooks that are not trusted, so what matters is set inline; colours come from
the text around (`currentColor`), so light and dark need no detection. `mathjax_ignore` keeps a user's `$` from
being typeset.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from recnb.display.language import current

LINE = "rgba(128, 128, 128, 0.35)"
FAINT = "rgba(128, 128, 128, 0.14)"


def text(value: object, longest: int = 80) -> str:
    """Anything of the user's, as text that no browser takes for markup.

    >>> text("<b>Amélie</b> & 'co'")
    '&lt;b&gt;Amélie&lt;/b&gt; &amp; &#x27;co&#x27;'
    """
    plain = str(value)
    short = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return html.escape(short, quote=True)


def root(*parts: str, label: str) -> str:
    """The frame around everything that recnb shows."""
    style = "color: inherit; background: transparent; font-size: 0.95em; max-width: 68em;"
    lang = ""
    if current() == "ko":
        # Korean is broken between words, which browsers do only where they are told to.
        lang, style = ' lang="ko"', f"{style} word-break: keep-all; overflow-wrap: break-word;"
    inside = "".join(parts)
    return f'<div class="recnb mathjax_ignore tex2jax_ignore"{lang} role="region" aria-label="{text(label)}" style="{style}">{inside}</div>'


def formula(latex: str) -> str:
    """A formula to be typeset: it stands outside of `root`, where mathematics is switched off, and holds nothing of the user's.

    >>> formula("j<i")
    '<div style="margin: 0.4em 0; text-align: left;">$\\\\displaystyle j&lt;i$</div>'
    """
    shown = html.escape(latex)  # a sum over j<i must not open a tag
    return f'<div style="margin: 0.4em 0; text-align: left;">$\\displaystyle {shown}$</div>'


def note(words: str) -> str:
    """A line of small print."""
    return f'<div style="font-size: 0.86em; opacity: 0.8; margin: 0.3em 0;">{words}</div>'


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    numbers_from: int = 1,
    marked: Iterable[int] = (),
) -> str:
    """A table of cells that are HTML already; columns from `numbers_from` on stand to the right.

    Rows in `marked` are set off by a tint; what the mark means is always said in a cell as well.
    """
    tinted = set(marked)
    cell = f"padding: 0.25em 0.7em; border-bottom: 1px solid {LINE}; "
    side = ["left" if column < numbers_from else "right" for column in range(len(header))]
    head = "".join(
        f'<th scope="col" style="{cell}text-align: {at}; font-weight: 600;">{name}</th>'
        for name, at in zip(header, side, strict=True)
    )
    body = []
    for index, row in enumerate(rows):
        # Notebooks stripe the rows of tables; a tint says "hit" here, so the others are kept plain.
        tint = f' style="background: {FAINT if index in tinted else "transparent"};"'
        cells = []
        for column, (value, at) in enumerate(zip(row, side, strict=True)):
            tag, scope = ("th", ' scope="row"') if column == 0 else ("td", "")
            weight = " font-weight: 500;" if column == 0 else ""
            cells.append(f'<{tag}{scope} style="{cell}text-align: {at};{weight}">{value}</{tag}>')
        body.append(f"<tr{tint}>{''.join(cells)}</tr>")
    captioned = (
        f'<caption style="text-align: left; padding: 0.3em 0; font-weight: 600;">{caption}</caption>' if caption else ""
    )
    style = "border-collapse: collapse; margin: 0.4em 0; font-variant-numeric: tabular-nums;"
    return f'<table style="{style}">{captioned}<thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
