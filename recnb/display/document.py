"""A document as a tree of blocks, and its forms: HTML, Markdown, lines for a console,
LaTeX of its tables.

A line holds words, marks and names of the user's; `inline` writes it in a form, and is
the one place where text is made safe.
"""

from __future__ import annotations

import hashlib
import textwrap
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from string import Formatter
from typing import Any, Literal

from markupsafe import Markup

from recnb.display.language import (
    Message,
    current,
    ngettext,
    template,
    width,
    with_particles,
)
from recnb.display.style import ACCENT
from recnb.display.templates import macro, style_sheet, user_text
from recnb.display.text import fixed, latex_text, markdown_text, one_line

Form = Literal["html", "md", "txt", "tex"]

#: Columns of a console, lines of a list there, and the letters of the longest sentence.
CONSOLE, MOST, LONGEST = 100, 6, 5000


@dataclass(frozen=True)
class Name:
    """Something of the user's: an id, a title, the name of a model."""

    text: object
    longest: int = 40


@dataclass(frozen=True)
class Mark:
    """A part of a line that is set off; "aside" and "below" are in HTML alone."""

    kind: Literal[
        "strong", "best", "big", "hit", "code", "small", "badge", "aside", "below"
    ]
    line: Line


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval, and signs beside it."""

    value: str
    ends: tuple[str, str] | None = None
    best: bool = False
    signs: str = ""
    # : one of several models: there is room for signs, the best is bold, the interval
    # is below
    signed: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture and its numbers in words: in a cell, or a figure with a table of its
    numbers, which Markdown has in its place.
    """

    svg: str
    alt: str
    numbers: Rows | None = None


Line = str | Name | Mark | Estimate | Picture | Sequence[Any]


@dataclass(frozen=True)
class Note:
    """A paragraph: small print, what is read first, the title of a document, or a
    heading.
    """

    line: Line
    kind: Literal["note", "lead", "plain", "title", "heading"] = "note"


@dataclass(frozen=True)
class Items:
    """A list."""

    lines: Sequence[Line]


@dataclass(frozen=True)
class Tiles:
    """A few numbers to take in at once, each with its name and a remark; a console has
    none.
    """

    tiles: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Rows:
    """Rows of cells; columns from `left` on hold numbers, and a column under a mark
    "aside" is in HTML alone.
    """

    header: Sequence[Line]
    rows: Sequence[Sequence[Any]]
    caption: Line = ""
    left: int = 1
    tinted: Collection[int] = ()  #: rows with a background
    most: int = 12  #: rows on a console
    wraps: bool = False  #: cells hold sentences or titles, which are broken into lines
    note: Line = ""  #: small print below


@dataclass(frozen=True)
class Side:
    """Blocks beside each other where there is room for them, each between two widths."""

    blocks: Sequence[Block]
    least: str = "26em"
    most: str = "100%"


class Cards(Side):
    """Small tables beside each other; in Markdown and on a console each column but the
    first is a line.
    """


@dataclass(frozen=True)
class Fold:
    """Blocks to open in HTML; a console has none of them."""

    title: Line
    blocks: Sequence[Block]
    opened: bool = False


@dataclass(frozen=True)
class Section:
    """Blocks under a title, which is a tab of HTML, and the forms that have them;
    without a title, blocks that go together.
    """

    title: str
    blocks: Sequence[Block]
    forms: Collection[str] = ("html", "md", "txt")


Block = Note | Items | Tiles | Rows | Picture | Side | Fold | Section
#: The title of each column of a table, and what gives its cell.
Columns = Sequence[tuple[Line, Callable[[Any], Line]]]


def table_of_rows(
    columns: Columns, rows: Iterable[Any], caption: Line = "", **look: Any
) -> Rows:
    """Return a table: a row for each of `rows`, its cells by the columns."""
    titles, cells = zip(*columns, strict=True)
    return Rows(
        titles, [[cell(row) for cell in cells] for row in rows], caption, **look
    )


def estimate(
    value: float,
    low: float,
    high: float,
    shown: Callable[[float], str] = fixed,
    **look: Any,
) -> Estimate:
    """Return a value with the ends of its interval, if it has one."""
    return Estimate(
        shown(value), (shown(low), shown(high)) if isfinite(low) else None, **look
    )


def strong(name: object) -> Mark:
    """Return a name of the user's that is set off."""
    return Mark("strong", Name(name))


def say(message: Message, /, **values: Any) -> list[Line]:
    """Translate a sentence whose values may be names and marks; Korean particles follow
    the last letter before them.
    """
    line: list[Line] = []
    for words, name, spec, _conversion in Formatter().parse(
        template(message, values.get("n", 1))
    ):
        before = inline(line[-1:], "txt")[-2:]
        line.append(
            with_particles(before + words)[len(before) :]
            if current() == "ko"
            else words
        )
        if name is not None:
            value = values[name]
            line.append(
                format(value, spec or "")
                if isinstance(value, (str, int, float))
                else value
            )
    return line


def with_code(sentence: str) -> list[Line]:
    """Mark what a sentence of recnb's has in backticks as code."""
    return [
        Mark("code", part) if at % 2 else part
        for at, part in enumerate(sentence.split("`"))
    ]


def joined(lines: Iterable[Line], between: str = ", ") -> list[Line]:
    """Put words between lines."""
    return [part for line in lines for part in (between, line)][1:]


SAFE: dict[Form, Callable[[object, int], str]] = {
    "html": lambda text, longest: str(user_text(text, longest)),
    "md": markdown_text,
    "txt": one_line,
    "tex": latex_text,
}
#: How a form sets off a part of a line; as it is where nothing stands here.
MARKS: dict[Form, dict[str, str]] = {
    "html": {
        "best": "<b><u>{}</u></b>",
        "strong": "<b>{}</b>",
        "code": "<code>{}</code>",
        "big": f'<b style="font-size:2em;font-weight:600;color:{ACCENT}">{{}}</b>',
        "hit": f'<b><span style="color:{ACCENT}">✓</span> {{}}</b>',
        "small": "<small>{}</small>",
        "badge": '<span style="border:1px solid;border-radius:.3em;padding:0 '
        '.35em;font-size:.82em">{}</span>',
        "aside": " <small>{}</small>",
        "below": '<div style="font-size:.86em;font-weight:400;opacity:.75">{}</div>',
    },
    "md": {
        "best": "**{}**",
        "strong": "**{}**",
        "hit": "**✓ {}**",
        "badge": "**{}**:",
        "aside": "",
        "below": "",
    },
    "txt": {"best": "*{}*", "hit": "*{}", "badge": "{}:", "aside": "", "below": ""},
    "tex": {
        "best": r"\textbf{{{}}}",
        "strong": r"\textbf{{{}}}",
        "aside": "",
        "below": "",
    },
}


def inline(line: Line, form: Form) -> str:
    """Write a line in a form."""
    match line:
        case str():
            return SAFE[form](line, LONGEST)
        case Name(text, longest):
            safe = SAFE[form](text, longest)
            return f"<bdi>{safe}</bdi>" if form == "html" else safe
        case Mark("code", words) if form == "md":  # in which nothing is escaped
            return f"`` {inline(words, 'txt').replace('``', '` `').replace('://', ':/ /')} ``"
        case Mark(kind, words):
            return MARKS[form].get(kind, "{}").format(inline(words, form))
        case Estimate():
            return _estimate(line, form)
        case Picture(_svg, alt):
            return (
                f'<img src="{_address(line)}" alt="{SAFE["html"](alt, 999)}">'
                if form == "html"
                else ""
            )
    return "".join(inline(part, form) for part in line)


def _estimate(one: Estimate, form: Form) -> str:
    low, high = one.ends or ("", "")
    value = inline(Mark("best", one.value) if one.best else one.value, form)
    if form == "tex":
        ends = rf" {{\footnotesize [{latex_text(low)}, {latex_text(high)}]}}"
        signs = rf"\textsuperscript{{{latex_text(one.signs)}}}" if one.signs else ""
        return f"{value}{signs}{ends if one.ends else ''}"
    if form != "html":
        ends = f" [{low}, {high}]" if form == "txt" else f" ({low}–{high})"
        return f"{value}{one.signs}{ends if one.ends else ''}"
    # Signs and intervals stand in a space of one width, also where there are none, so
    # that numbers stand under each other.
    words = f"{low}{'–' if low[:1].isdigit() else ' … '}{high}" if one.ends else ""
    if not one.signed:
        return f'<b>{value}</b> <small class="recnb-ends">{words}</small>'
    below = f"<div><small>{words}</small></div>" if words else ""
    return f'{value}<span class="recnb-signs">{one.signs}</span>{below}'


# HTML


def html(blocks: Iterable[Block]) -> Markup:
    """Write blocks as HTML; sections follow each other."""
    return _drawn("blocks", list(blocks))


def tabs(sections: Sequence[Section], label: str) -> Markup:
    """Put sections behind tabs."""
    bodies = [
        (section.title, html(section.blocks))
        for section in sections
        if "html" in section.forms
    ]
    group = (
        "recnb-"
        + hashlib.sha256("".join(body for _title, body in bodies).encode()).hexdigest()[
            :12
        ]
    )
    return _drawn("tabs", bodies, label, group, Markup(style_sheet("tabs")))


def _drawn(name: str, *arguments: Any) -> Markup:
    used = {
        "as_html": lambda line: Markup(inline(line, "html")),
        "as_text": lambda line: inline(line, "txt"),
    }
    return macro(
        "display/document.jinja",
        name,
        *arguments,
        **used,
        is_hit=_is_hit,
        address=_address,
    )


def _is_hit(cell: Line) -> bool:
    first = cell[0] if isinstance(cell, list) and cell else cell
    return isinstance(first, Mark) and first.kind == "hit"


def _address(picture: Picture) -> str:
    return (
        f"data:image/svg+xml;base64,{b64encode(picture.svg.encode()).decode('ascii')}"
    )


# Markdown, and lines for a console


def plain(blocks: Iterable[Block], form: Form) -> str:
    """Write blocks in Markdown or for a console, with an empty line between them."""
    return "\n\n".join(filter(None, [_plain(block, form) for block in blocks]))


def _plain(block: Block, form: Form) -> str:
    match block:
        case Section(title, blocks, forms):
            body = plain(blocks, form) if form in forms else ""
            return (
                f"### {inline(title, form)}\n\n{body}"
                if form == "md" and title and body
                else body
            )
        case Cards(cards):
            return "\n\n".join(
                _card(card, form) for card in cards if isinstance(card, Rows)
            )
        case Side(blocks):
            return plain(blocks, form)
        case Rows():
            return _markdown_rows(block) if form == "md" else _console_rows(block)
        case Note(line, kind):
            words = inline(Mark("strong", line) if kind == "heading" else line, form)
            return (
                wrapped(words)
                if form == "txt"
                else f"{'## ' if kind == 'title' else ''}{words}"
            )
        case Items(lines) if form == "md":
            return "\n".join(f"- {inline(line, form)}" for line in lines)
        case Items(lines):
            shown = lines if len(lines) <= MOST else [*lines[: MOST - 1], "…"]
            return "\n".join(wrapped(inline(line, form), "- ", 2) for line in shown)
        case Fold(title, blocks) if form == "md":
            return plain(
                [
                    Note(title.line if isinstance(title, Mark) else title, "plain"),
                    *blocks,
                ],
                form,
            )
        case Picture(numbers=Rows() as numbers) if form == "md":
            return _plain(numbers, form)
        case Tiles(tiles) if form == "md":
            return "\n".join(
                f"- **{n}** {markdown_text(f'{name}: {more}', LONGEST)}"
                for n, name, more in tiles
            )
    return ""


def _card(card: Rows, form: Form) -> str:
    """Write a small table in lines: its caption, the cells of each column but the
    first, and its note.
    """
    columns = list(zip(card.header, *card.rows, strict=True))[1:] if card.rows else []
    lines = [
        card.caption,
        *([head, ": ", *joined(filter(None, cells))] for head, *cells in columns),
        card.note,
    ]
    texts = [inline(line, form) for line in lines if line]
    return "\n".join(map(wrapped, texts)) if form == "txt" else "\n- ".join(texts)


def _markdown_rows(table: Rows) -> str:
    header, rows = cells_of(table, "md")
    rule = ["---" if at < table.left else "---:" for at in range(len(header))]
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))
    title = inline(Mark("strong", table.caption), "md") if table.caption else ""
    return "\n\n".join(filter(None, [title, lines, inline(table.note, "md")]))


def _console_rows(table: Rows) -> str:
    """Write a table, without intervals if there is no room for them; what is still too
    wide is cut.
    """
    rows = table.rows[: table.most]
    bare = [
        [
            replace(cell, ends=None) if isinstance(cell, Estimate) else cell
            for cell in row
        ]
        for row in rows
    ]
    lines, short = (aligned_rows(replace(table, rows=each)) for each in (rows, bare))
    shown = lines if max(map(width, lines)) <= CONSOLE else map(_shortened, short)
    left_out = len(table.rows) - len(rows)
    more = (
        f"({ngettext('{n} more row', '{n} more rows', left_out)})" if left_out else ""
    )
    parts = [
        wrapped(inline(table.caption, "txt")),
        *shown,
        more,
        wrapped(inline(table.note, "txt")),
    ]
    return "\n".join(filter(None, parts))


def aligned_rows(table: Rows) -> list[str]:
    """Return the lines of a table for a console, in its whole width; columns of numbers
    are aligned to the right.
    """
    header, rows = cells_of(table, "txt")
    # A Korean letter takes two columns, which str.ljust and str.rjust do not know.
    widths = [max(map(width, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        spaces = [
            " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)
        ]
        cells = enumerate(zip(row, spaces, strict=True))
        lines.append(
            "  ".join(
                cell + gap if at < table.left else gap + cell
                for at, (cell, gap) in cells
            ).rstrip()
        )
    return lines


def cells_of(table: Rows, form: Form) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table in a form other than HTML."""
    kept = [
        at
        for at, cell in enumerate(table.header)
        if not (isinstance(cell, Mark) and cell.kind == "aside")
    ]
    header, *rows = [
        [inline(row[at], form) for at in kept] for row in (table.header, *table.rows)
    ]
    return header, rows


def wrapped(words: str, first: str = "", most: int | None = None) -> str:
    """Break words into lines of a console, at most so many; `first` begins the first
    line.
    """
    # A Korean letter takes two columns, which textwrap does not know: each is followed
    # by a sign that is taken out again.
    spread = "".join(
        letter + "\0" * (width(letter) - 1) for letter in " ".join(words.split())
    )
    how: dict[str, Any] = {
        "initial_indent": first,
        "subsequent_indent": " " * len(first),
        "max_lines": most,
    }
    return textwrap.fill(
        spread, CONSOLE, break_on_hyphens=False, placeholder=" …", **how
    ).replace("\0", "")


def _shortened(line: str) -> str:
    """Cut a line of a console to its width."""
    while width(line) > CONSOLE:
        line = line[: -max(2, (width(line) - CONSOLE) // 2) - 1].rstrip(" ,…") + " …"
    return line


# LaTeX


def tables_of(blocks: Iterable[Block]) -> list[Rows]:
    """Return the tables of a document for a paper."""
    tables: list[Rows] = []
    for block in blocks:
        if isinstance(block, Rows):
            tables.append(block)
        elif isinstance(block, Fold) or (
            isinstance(block, Section) and "tex" in block.forms
        ):
            tables += tables_of(block.blocks)
    return tables


def latex(
    table: Rows, caption: str | None = None, label: str | None = None, below: Line = ""
) -> str:
    """Write a table in the style of booktabs with its note and what stands below it;
    caption and label are LaTeX.
    """
    header, rows = cells_of(table, "tex")
    title = inline([table.caption, "."], "tex") if caption is None else caption
    note = inline([table.note, below], "tex").strip()
    columns = "l" * table.left + "r" * (len(header) - table.left)
    head = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{title}}}",
        *([rf"\label{{{label}}}"] if label else []),
    ]
    body = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(header) + r" \\",
        r"\midrule",
    ]
    body += [
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    small = (
        ["", r"\smallskip", rf"{{\footnotesize\raggedright {note}\par}}"]
        if note
        else []
    )
    return "\n".join([*head, *body, *small, r"\end{table}"])
