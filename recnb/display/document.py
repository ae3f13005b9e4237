"""A document as a tree of blocks, and its forms: HTML, Markdown, lines for a console, LaTeX of its tables.

A line holds words, marks and names of the user's; `inline` writes it in a form, and is the one place where text is made safe.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any, Literal

from recnb.display.language import Message, _, current, ngettext, template, width, with_particles
from recnb.display.svg import ACCENT
from recnb.display.templates import tab_style, user_text
from recnb.display.text import aligned, latex_text, markdown_table, markdown_text, one_line

Form = Literal["html", "md", "txt", "tex"]

#: Columns and lines of a console.
CONSOLE, LINES = 100, 60


@dataclass(frozen=True)
class Name:
    """Something of the user's: an id, a title, the name of a model."""

    text: object
    longest: int = 40


@dataclass(frozen=True)
class Mark:
    """A part of a line that is set off."""

    kind: Literal["strong", "hit", "code", "faint", "note", "warning", "whole", "aside", "below", "best", "light"]
    line: Line


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval, and signs beside it."""

    value: str
    ends: tuple[str, str] | None = None
    best: bool = False
    signs: str = ""
    below: bool = False  #: the interval stands below the value in HTML
    signed: bool = False  #: there is room for signs, and what is not the best is not bold


@dataclass(frozen=True)
class Strip:
    """A small picture in a cell of HTML; other forms have its numbers beside it."""

    svg: str
    alt: str


@dataclass(frozen=True)
class Ready:
    """What is made safe elsewhere: returns itself in a form."""

    of_form: Callable[[Form], str]


Line = str | Name | Mark | Estimate | Strip | Ready | Sequence[Any]


def say(message: Message, /, **values: Any) -> list[Line]:
    """Translate a sentence whose values may be names and marks; Korean particles follow the last letter before them.

    >>> inline(say("{model} is better by {size:.2f}", model=Name("<i>"), size=0.5), "html")
    '<bdi>&lt;i&gt;</bdi> is better by 0.50'
    """
    line: list[Line] = []
    for words, name, spec, _conversion in Formatter().parse(template(message, values.get("n", 1))):
        before = _plain(line[-1:])[-2:]
        line.append(with_particles(before + words)[len(before) :] if current() == "ko" else words)
        if name is not None:
            value = values[name]
            line.append(format(value, spec or "") if isinstance(value, (str, int, float)) else value)
    return line


def with_code(sentence: str) -> list[Line]:
    """Mark what a sentence of recnb's has in backticks as code."""
    return [Mark("code", part) if at % 2 else part for at, part in enumerate(sentence.split("`"))]


def joined(lines: Iterable[Line], between: str = ", ") -> list[Line]:
    """Put words between lines."""
    return [part for line in lines for part in (between, line)][1:]


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    line: Line


@dataclass(frozen=True)
class Note:
    """A paragraph: small print, what is read first, or a title that HTML has elsewhere."""

    line: Line
    kind: Literal["note", "lead", "plain", "title"] = "note"


@dataclass(frozen=True)
class Headline:
    """The number of a report in large figures, with what stands beside and below it."""

    label: Line
    value: str
    beside: Line
    below: Line


@dataclass(frozen=True)
class Items:
    """A list, or lines that follow each other."""

    lines: Sequence[Line]
    points: bool = True
    most: int = 8  #: lines on a console


@dataclass(frozen=True)
class Tiles:
    """A few numbers to take in at once: each with its name and a remark. a console has none."""

    tiles: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Rows:
    """Rows of cells; columns from `left` on hold numbers."""

    header: Sequence[Line]
    rows: Sequence[Sequence[Any]]
    caption: Line = ""
    left: int = 1
    tinted: frozenset[int] = frozenset()  #: rows with a background
    most: int = 12  #: rows on a console
    html_only: frozenset[int] = frozenset()  #: columns that repeat others as pictures


@dataclass(frozen=True)
class Figure:
    """A picture, its numbers as text, and as a table: Markdown has the table alone, a console and LaTeX nothing."""

    svg: str
    alt: str
    numbers: Rows | None = None


@dataclass(frozen=True)
class Card:
    """Card side by side under a title, and what is missed; a line each where there is no room."""

    title: Line
    header: Sequence[Line]
    rows: Sequence[Sequence[Any]]  #: rank, and an item of each list
    below: Line = ""


@dataclass(frozen=True)
class Side:
    """Blocks beside each other where there is room for them, each between two widths."""

    blocks: Sequence[Block]
    least: str = "26em"
    most: str = "100%"


@dataclass(frozen=True)
class Fold:
    """Blocks to open in HTML; `repeats`: they are in a picture as well, and only HTML has them."""

    title: Line
    blocks: Sequence[Block]
    repeats: bool = False
    opened: bool = False


@dataclass(frozen=True)
class Section:
    """Blocks under a title, which is a tab of HTML, and the forms that have them; without a title, blocks that go together."""

    title: str
    blocks: Sequence[Block]
    forms: Container[str] = ("html", "md", "txt")


Block = Heading | Note | Headline | Items | Tiles | Rows | Figure | Card | Side | Fold | Section

SAFE: dict[Form, Callable[[object, int], str]] = {
    "html": lambda text, longest: str(user_text(text, longest)),
    "md": markdown_text,
    "txt": one_line,
    "tex": latex_text,
}
BADGE = '<span style="border: 1px solid currentColor; border-radius: 0.3em; padding: 0 0.35em; font-size: 0.82em; font-weight: {};">{{}}</span>'
#: How a form sets off a part of a line; as it is where nothing stands here.
MARKS: dict[Form, dict[str, str]] = {
    "html": {
        "best": "<b><u>{}</u></b>", "light": '<small style="font-weight:400;opacity:0.8">{}</small>',
        "strong": "<b>{}</b>", "code": "<code>{}</code>",
        "hit": f'<b><span style="color:{ACCENT}">✓</span> {{}}</b>',
        "faint": '<small style="opacity:0.8">{}</small>',
        "note": BADGE.format(400), "warning": BADGE.format(700), "aside": " <small>{}</small>",
        "below": '<div style="font-size: 0.86em; font-weight: 400; opacity:0.75;min-width:15em;max-width:30em">{}</div>',
        "whole": '<span style="white-space:nowrap">{}</span>',
    },
    "md": {"best": "**{}**", "strong": "**{}**", "hit": "**✓ {}**", "code": "`{}`", "note": "**{}**:", "warning": "**{}**:", "aside": "", "below": ""},
    "txt": {"best": "*{}*", "hit": "*{}", "note": "{}:", "warning": "{}:", "aside": "", "below": ""},
    "tex": {"best": r"\textbf{{{}}}", "strong": r"\textbf{{{}}}", "aside": "", "below": ""},
}  # fmt: skip
SIGNS = {"°": r"\circ", "▲": r"\ast", "▼": r"\ddagger"}
LONGEST = 5000

LINE = "border-bottom:1px solid rgba(128,128,128,0.35)"
TINT = "rgba(128,128,128,0.14)"
LEFT = "text-align:left"
FIGURES = "font-variant-numeric: tabular-nums;"
#: More columns than this stand closer together on paper.
MANY = 9


def inline(line: Line, form: Form) -> str:
    r"""Write a line in a form.

    >>> cell = [Name("a|b"), " ", Mark("strong", "50%")]
    >>> inline(cell, "md"), inline(cell, "tex")
    ('a\\|b **50%**', 'a\\textbar{}b \\textbf{50\\%}')
    """
    match line:
        case str():
            return SAFE[form](line, LONGEST)
        case Name():
            safe = SAFE[form](line.text, line.longest)
            return f"<bdi>{safe}</bdi>" if form == "html" else safe
        case Mark("code", words) if form == "md":  # in which nothing is escaped
            return f"`` {inline(words, 'txt').replace('``', '` `').replace('://', ':/ /')} ``"
        case Mark():
            return MARKS[form].get(line.kind, "{}").format(inline(line.line, form))
        case Estimate():
            return _estimate(line, form)
        case Strip():
            return _image(line.svg, line.alt, "") if form == "html" else ""
        case Ready():
            return line.of_form(form)
    return "".join(inline(part, form) for part in line)


def _plain(line: Line) -> str:
    return inline(line, "txt")


def _estimate(one: Estimate, form: Form) -> str:
    low, high = one.ends or ("", "")
    if form == "html":
        value = f"<b><u>{one.value}</u></b>" if one.best else one.value if one.signed else f"<b>{one.value}</b>"
        words = f"{low}{'–' if low[:1].isdigit() else ' … '}{high}" if one.ends else ""
        # Signs and intervals stand in a space of one width, also where there are none, so that numbers stand under each other.
        if one.below:
            signs = (
                f'<span style="display:inline-block;width:1.3em;text-align:left">{one.signs}</span>'
                if one.signed
                else ""
            )
            return f'{value}{signs}<br><small style="opacity:0.75{";padding-right:0.4em" if one.signed else ""}">{words}</small>'
        return f'{value} <small style="display:inline-block;min-width:13ch;opacity:0.75">{words}</small>'
    if form == "tex":
        raised = "".join(SIGNS[sign] for sign in one.signs)
        value = (rf"\textbf{{{one.value}}}" if one.best else one.value) + (f"$^{{{raised}}}$" if raised else "")
        return value + (rf" {{\footnotesize [{latex_text(low)}, {latex_text(high)}]}}" if one.ends else "")
    mark = {"md": "**", "txt": "*"}[form] if one.best else ""
    ends = f" [{low}, {high}]" if form == "txt" else f" ({low}–{high})"
    return f"{mark}{one.value}{mark}{one.signs}{ends if one.ends else ''}"


# HTML


def html(blocks: Iterable[Block]) -> str:
    """Write blocks as HTML; sections follow each other."""
    return "".join(map(_html, blocks))


def tabs(sections: Sequence[Section], label: str) -> str:
    """Put sections behind tabs, without a script and without ids: radio buttons, and a style sheet that shows the section chosen.

    Where the style sheet is removed, on paper, and in browsers without `:has()`, the sections follow each other. A form bounds
    the group of its buttons, and one of method "dialog" outside a dialog sends nothing on Enter. JupyterLab takes the arrow
    keys for its cells unless the attribute says otherwise, and keeps the inline style of a span, not of an input.
    """
    bodies = [(section.title, html(section.blocks)) for section in sections if "html" in section.forms]
    group = "recnb-" + hashlib.sha256("".join(body for _title, body in bodies).encode()).hexdigest()[:12]
    parts: list[str] = []
    for title, body in bodies:
        button = f'<input type="radio" name="{group}" data-lm-suppress-shortcuts="true"{"" if parts else " checked"}>'
        head = "font-size: 1.1em; font-weight: 600; line-height: 1.3; margin: 0 0 0.5em 0;"
        parts.append(
            f'<section style="margin: 1.8em 0 0.6em 0;"><h3 class="recnb-tab" style="{head}"><label><span style="display: none;">{button}</span>'
            f'{SAFE["html"](title, 80)}</label></h3><div class="recnb-panel">{body}</div></section>'
        )
    form = f'<form class="recnb-tabs" method="dialog" role="group" aria-label="{SAFE["html"](label, 80)}">'
    return f"<style>{tab_style()}</style>{form}{''.join(parts)}</form>"


def _html(block: Block) -> str:
    match block:
        case Heading(line):
            return f'<h4 style="font-size: 1.02em; font-weight: 600; line-height: 1.3; margin: 0.8em 0 0.4em 0;">{inline(line, "html")}</h4>'
        case Note(_line, "title"):
            return ""
        case Note(line, kind):
            look = {
                "note": "font-size: 0.86em; opacity: 0.8; margin: 0.3em 0;",
                "lead": f"border-left: 3px solid {ACCENT}; padding: 0.2em 0 0.2em 0.7em; margin: 0.35em 0;",
                "plain": "margin: 0.25em 0;",
            }[kind]
            return f'<div style="{look} overflow-wrap: anywhere;">{inline(line, "html")}</div>'
        case Headline(label, value, beside, below):
            name = f'<span style="font-size: 1.15em; font-weight: 600;">{inline(label, "html")}</span>'
            figures = f'<span style="font-size: 2.5em; font-weight: 600; color: {ACCENT}; {FIGURES}">{value}</span>'
            rest = f'<span style="white-space: nowrap; opacity: 0.75;">{inline(beside, "html")}</span>'
            reads = f'<div style="font-size: 0.95em; opacity: 0.75;">{inline(below, "html")}</div>'
            return f'<div style="margin: 0.2em 0 1em 0;"><div style="line-height: 1.25;">{name} {figures} {rest}</div>{reads}</div>'
        case Items(lines, False):
            return html(Note(line, "plain") for line in lines)
        case Items(lines):
            points = "".join(f'<li style="margin: 0.15em 0;">{inline(line, "html")}</li>' for line in lines)
            return f'<ul style="margin: 0.5em 0; padding-left: 1.2em;">{points}</ul>'
        case Tiles(tiles):
            return (
                f'<div style="margin: 1.2em 0 0.4em 0;">{_side("0.8em 1.6em", (_tile(*tile) for tile in tiles))}</div>'
            )
        case Rows():
            return _table(block)
        case Figure(svg, alt, numbers):
            again = [] if numbers is None else [Fold(numbers.caption, [replace(numbers, caption="")], repeats=True)]
            return _figure(svg, alt) + html(again)
        case Card():
            return _lists(block)
        case Side(blocks, least, most):
            look = f"flex: 1 1 {least}; max-width: {most}; min-width: 0; margin: 0 0 0.6em 0;"
            return _side("1em 2em", (f'<div style="{look}">{_html(one)}</div>' for one in blocks))
        case Fold(title, blocks, repeats, opened):
            head = (
                f'<summary style="cursor: pointer; font-size: 0.95em; opacity: 0.85;">{inline(title, "html")}</summary>'
            )
            start = f"<details{' class=recnb-again' if repeats else ''}{' open' if opened else ''}"
            return f'{start} style="margin: 0.4em 0;">{head}<div style="margin: 0 0 0.5em 1em;">{html(blocks)}</div></details>'
        case Section(_title, blocks, forms):
            return html(blocks) if "html" in forms else ""


def _side(gap: str, parts: Iterable[str]) -> str:
    return f'<div style="display: flex; flex-wrap: wrap; align-items: flex-start; gap: {gap};">{"".join(parts)}</div>'


def _tile(number: str, name: str, more: str) -> str:
    figures = f'<div style="font-size: 1.5em; font-weight: 600; line-height: 1.2; {FIGURES}">{number}</div>'
    rest = f'<div>{SAFE["html"](name, 200)}</div><div style="font-size: 0.86em; opacity: 0.75;">{SAFE["html"](more, 1000)}</div>'
    return f'<div style="flex: 1 1 9.5em; border-top: 2px solid rgba(128, 128, 128, 0.35); padding: 0.35em 0 0.2em 0;">{figures}{rest}</div>'


def _scrolling(label: Line, body: str) -> str:
    words = SAFE["html"](_plain(label), 80)
    return f'<div role="region" aria-label="{words}" tabindex="0" style="overflow-x: auto;">{body}</div>'


def _image(svg: str, alt: str, look: str) -> str:
    drawn = b64encode(svg.encode()).decode("ascii")
    words = SAFE["html"](alt, 100_000)
    return f'<img src="data:image/svg+xml;base64,{drawn}" alt="{words}" style="{look}vertical-align: middle; background: transparent;">'


def _figure(svg: str, alt: str) -> str:
    """Draw a picture that scrolls sideways where the page is much narrower, so that its words can be read."""
    wide = int(re.findall(r'width="(\d+)"', svg)[0])
    return _scrolling(
        alt.split(". ")[0],
        _image(
            svg,
            alt,
            f"width: {wide}px; max-width: 100%; min-width: {wide * 3 // 4 if wide > 560 else 340}px; height: auto; ",
        ),
    )


def _table(table: Rows) -> str:
    many = ' class="recnb-many"' if len(table.header) > MANY else ""
    caption = (
        f'<caption style="text-align: left; padding: 0.3em 0; font-weight: 600;">{inline(table.caption, "html")}</caption>'
        if table.caption
        else ""
    )
    left, right = f' style="{LEFT}"', " align=right"
    wraps = table.left > 3  # columns of sentences
    sides = [left if at < table.left else right for at in range(len(table.header))]
    head = "".join(
        f'<th scope="col"{side}>{inline(cell, "html")}</th>' for side, cell in zip(sides, table.header, strict=True)
    )
    rows = []
    for at, (first, *rest) in enumerate(table.rows):
        cells = "".join(f"<td{side}>{inline(cell, 'html')}</td>" for side, cell in zip(sides[1:], rest, strict=True))
        start = f'<th scope="row" style="{LEFT};font-weight:500;white-space:normal;min-width:6em">{inline(first, "html")}</th>'
        tint = TINT if at in table.tinted else "transparent"
        rows.append(f'<tr style="{LINE};background:{tint}">{start}{cells}</tr>')
    look = f"border-collapse: collapse; margin: 0.4em 0; {FIGURES}{'' if wraps else ' white-space: nowrap;'}"
    body = f'{caption}<thead><tr style="{LINE}">{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
    return _scrolling(table.caption or table.header[0], f'<table{many} cellpadding="5" style="{look}">{body}</table>')


def _lists(lists: Card) -> str:
    """Draw lists as a narrow table; what is a hit has a background."""
    widths = ["2em", *["auto"] * (len(lists.header) - 1)]
    head = "".join(
        f'<th scope="col" style="text-align: left; font-weight: 400; font-size: 0.86em; opacity: 0.8; width: {wide};">{inline(cell, "html")}</th>'
        for wide, cell in zip(widths, lists.header, strict=True)
    )
    rows = []
    for row in lists.rows:
        hits = [isinstance(cell, list) and isinstance(cell[0], Mark) for cell in row]
        looks = [f"{LEFT};background:{TINT}" if hit else LEFT for hit in hits]
        cells = "".join(
            f'<td style="{look}">{inline(cell, "html")}</td>' for look, cell in zip(looks, row, strict=True)
        )
        rows.append(f'<tr style="{LINE};background:transparent">{cells}</tr>')
    caption = f'<caption style="text-align: left; padding: 0 0 0.3em 0; overflow-wrap: anywhere;">{inline(lists.title, "html")}</caption>'
    look = f"border-collapse: collapse; width: 100%; margin: 0; table-layout: fixed; overflow-wrap: anywhere; {FIGURES}"
    body = f"{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<table cellpadding="3" style="{look}">{body}</table>{_html(Note(lists.below)) if lists.below else ""}'


# Plain forms


def plain(blocks: Iterable[Block], form: Form) -> str:
    """Write blocks in Markdown or for a console, where a heading stands right above what it is of."""
    text = ""
    for block in blocks:
        part = _plain_block(block, form)
        text += part and part + ("\n" if form == "txt" and isinstance(block, Heading) else "\n\n")
    return text.rstrip("\n")


def console(head: Sequence[Block], sections: Iterable[Section], last: Sequence[Block]) -> str:
    """Write a document on a console: the sections that fit into `LINES`, the first cut to fit, and the titles of the others."""
    first, end = plain(head, "txt").splitlines(), plain(last, "txt").splitlines()
    room, shown, left_out = LINES - min(len(first), 20) - min(len(end), 8) - 6, list[str](), list[str]()
    for section in sections:
        lines = _plain_block(section, "txt").splitlines()
        if not shown:
            lines = _cut(lines, room)
        if lines and len(lines) < room:
            shown.append("\n".join(lines))
            room -= len(lines) + 1
        else:
            left_out.append(section.title)
    rest = _("In .to_html() and .to_markdown() as well: {sections}.", sections=", ".join(left_out)) if left_out else ""
    texts = ["\n".join(_cut(first, 20)), *shown, "\n".join(_cut(end, 8)), wrapped(rest)]
    return "\n\n".join(filter(None, texts))


def _cut(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) < most else [*lines[: most - 2], "…"]


def wrapped(words: str, first: str = "") -> str:
    """Break words into lines of a console, in which a Korean letter takes two columns; `first` begins the first line."""
    lines, line, indent = list[str](), first, " " * len(first)
    for word in words.split():
        if width(line) + width(word) + 1 > CONSOLE and line.strip():
            lines.append(line)
            line = indent
        line += word if line in (first, indent) else f" {word}"
    return "\n".join([*lines, shortened(line)])


def shortened(words: str, columns: int = CONSOLE) -> str:
    """Cut a line of a console to its width."""
    while width(words) > columns:
        words = words[: -max(2, (width(words) - columns) // 2) - 1].rstrip(" ,…") + " …"
    return words


def latex_tables(blocks: Iterable[Block]) -> list[tuple[Rows, list[Line]]]:
    """The tables of a document for a paper, each with the notes that follow it."""
    tables: list[tuple[Rows, list[Line]]] = []
    for block in _leaves(blocks, "tex"):
        if isinstance(block, Rows):
            tables.append((block, []))
        elif isinstance(block, Note) and tables:
            tables[-1][1].append(block.line)
    return tables


def _leaves(blocks: Iterable[Block], form: Form) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Fold) or (isinstance(block, Section) and form in block.forms):
            yield from _leaves(block.blocks, form)
        else:
            yield block


def _plain_block(block: Block, form: Form) -> str:
    console = form == "txt"
    match block:
        case Section(title, blocks, forms):
            body = plain(blocks, form) if form in forms else ""
            return f"### {inline(title, form)}\n\n{body}" if body and title and not console else body
        case Rows():
            return (
                _table_on_console(block)
                if console
                else "\n\n".join(
                    filter(None, [_strong_md(block.caption), markdown_table(*cells_of(block, form), block.left)])
                )
            )
        case Fold(_title, blocks, repeats):
            return "" if repeats or console else plain(blocks, form)
        case Side(blocks):
            return ("\n" if all(isinstance(one, Card) for one in blocks) else "\n\n").join(
                filter(None, (_plain_block(one, form) for one in blocks))
            )
        case Heading(line):
            return inline(line, form) if console else _strong_md(line)
        case Note(line, kind):
            words = inline(line, form)
            return wrapped(words) if console else f"## {words}" if kind == "title" else words
        case Headline(label, value, beside):
            words = inline([label, " = ", value, ", ", beside], form)
            return words if console else f"## {words}"
        case Items(lines, points, most):
            shown = lines if not console or len(lines) <= most else [*lines[: most - 1], "…"]
            return "\n".join(
                wrapped(inline(line, form), "- " if points else "") if console else f"- {inline(line, form)}"
                for line in shown
            )
        case Card():
            return _card_of_text(block, form)
        case Figure(_svg, _alt, numbers):
            return "" if console or numbers is None else _plain_block(numbers, form)
        case Tiles(tiles):
            return (
                ""
                if console
                else "\n".join(
                    f"- **{number}** {markdown_text(f'{name}: {more}', LONGEST)}" for number, name, more in tiles
                )
            )


def _strong_md(line: Line) -> str:
    return f"**{inline(line, 'md')}**" if line else ""


def cells_of(table: Rows, form: Form) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table in a form other than HTML."""
    columns = [at for at in range(len(table.header)) if at not in table.html_only]
    header, *rows = [[inline(row[at], form) for at in columns] for row in (table.header, *table.rows)]
    return header, rows


def _table_on_console(table: Rows) -> str:
    """A table whose lines fit: without intervals if there is no room for them, then without the last columns and rows."""

    def lines() -> list[str]:
        header, rows = cells_of(replace(table, rows=shown), "txt")
        return aligned([row[:n] for row in (header, *rows)], table.left)

    n, shown, left_out = len(table.header) - len(table.html_only), list(table.rows[: table.most]), []
    if max(map(width, lines())) > CONSOLE and any(
        isinstance(cell, Estimate) and cell.signed for row in shown for cell in row
    ):
        shown = [[replace(cell, ends=None) if isinstance(cell, Estimate) else cell for cell in row] for row in shown]
        left_out.append(_("without intervals"))
    whole = n
    while max(map(width, lines())) > CONSOLE and n > table.left + 1:
        n -= 1
    if n < whole:
        left_out.append(ngettext("{n} more column", "{n} more columns", whole - n))
    if len(shown) < len(table.rows):
        left_out.append(ngettext("{n} more row", "{n} more rows", len(table.rows) - len(shown)))
    rest = f"({', '.join(left_out)})" if left_out else ""
    return "\n".join(filter(None, [wrapped(inline(table.caption, "txt")), *map(shortened, lines()), rest]))


def _card_of_text(lists: Card, form: Form) -> str:
    """The title, and the items of each list, hits marked."""
    of_lists: Iterator[tuple[Line, ...]] = zip(*(row[1:] for row in lists.rows), strict=True)
    named = [
        inline([name, ": ", *joined(items)], form) for name, items in zip(lists.header[1:], of_lists, strict=False)
    ]
    parts = [*named, *([inline(lists.below, form)] if lists.below else [])]
    title = inline(lists.title, form)
    if form == "md":
        return "\n".join([f"- {title}", *(f"  - {part}" for part in parts)])
    if len(lists.header) == 2:
        return shortened("; ".join([title, *parts]))
    return "\n".join([shortened(title), *("  " + shortened(part, CONSOLE - 2) for part in parts)])
