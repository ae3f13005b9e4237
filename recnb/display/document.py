"""A document as a tree of blocks, and its forms.

HTML, Markdown, lines for a console, LaTeX of its tables.

A line holds words, marks and names of the user's. A form is a class below, which writes
lines, and is the one place where text is made safe; Markdown and a console write blocks
as well, HTML has templates for them.
"""

from __future__ import annotations

import hashlib
import textwrap
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from string import Formatter
from typing import Any, ClassVar, Literal

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
    #: One of several models: there is room for signs, the best is bold, the interval is
    #: below.
    signed: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture and its numbers in words.

    It is in a cell, or a figure with a table of its numbers, which Markdown shows.
    """

    svg: str
    alt: str
    numbers: Rows | None = None


Line = str | Name | Mark | Estimate | Picture | Sequence[Any]


@dataclass(frozen=True)
class Note:
    """A paragraph: small print, the lead, the title of a document, or a heading."""

    line: Line
    kind: Literal["note", "lead", "plain", "title", "heading"] = "note"


@dataclass(frozen=True)
class Items:
    """A list."""

    lines: Sequence[Line]


@dataclass(frozen=True)
class Tiles:
    """A few numbers to take in at once, each with its name and a remark.

    A console has none.
    """

    tiles: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Rows:
    """Rows of cells, with numbers in the columns from `left` on.

    A column under a mark "aside" is in HTML alone.
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
    """Small tables beside each other.

    In Markdown and on a console each column but the first is a line.
    """


@dataclass(frozen=True)
class Fold:
    """Blocks to open in HTML; a console has none of them."""

    title: Line
    blocks: Sequence[Block]
    opened: bool = False


@dataclass(frozen=True)
class Section:
    """Blocks under a title, which is a tab of HTML, and the forms that have them.

    Without a title, blocks that go together.
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
    titles = [title for title, _cell in columns]
    cells = [[cell(row) for _title, cell in columns] for row in rows]
    return Rows(titles, cells, caption, **look)


def estimate(
    value: float,
    low: float,
    high: float,
    shown: Callable[[float], str] = fixed,
    **look: Any,
) -> Estimate:
    """Return a value with the ends of its interval, if it has one."""
    ends = None
    if isfinite(low):
        ends = (shown(low), shown(high))
    return Estimate(shown(value), ends, **look)


def strong(name: object) -> Mark:
    """Return a name of the user's that is set off."""
    return Mark("strong", Name(name))


def say(message: Message, /, **values: Any) -> list[Line]:
    """Translate a sentence whose values may be names and marks.

    Korean particles follow the last letter before them.
    """
    sentence = template(message, values.get("n", 1))
    line: list[Line] = []
    for words, name, spec, _conversion in Formatter().parse(sentence):
        if current() == "ko":
            before = inline(line[-1:], "txt")[-2:]
            words = with_particles(before + words)[len(before) :]
        line.append(words)
        if name is None:
            continue
        value = values[name]
        if isinstance(value, (str, int, float)):
            value = format(value, spec or "")
        line.append(value)
    return line


def with_code(sentence: str) -> list[Line]:
    """Mark what a sentence of recnb's has in backticks as code."""
    line: list[Line] = []
    for index, part in enumerate(sentence.split("`")):
        is_code = index % 2 == 1
        line.append(Mark("code", part) if is_code else part)
    return line


def joined(lines: Iterable[Line], between: str = ", ") -> list[Line]:
    """Put words between lines."""
    line: list[Line] = []
    for part in lines:
        if line:
            line.append(between)
        line.append(part)
    return line


# Lines, in each form


class _Form:
    """How lines are written in one form."""

    #: How a part of a line is set off; as it is where nothing stands here.
    marks: ClassVar[Mapping[str, str]] = {}

    @staticmethod
    def text(value: object, longest: int = LONGEST) -> str:
        """Make text safe, and cut it to a length."""
        raise NotImplementedError

    def name(self, name: Name) -> str:
        return self.text(name.text, name.longest)

    def mark(self, mark: Mark) -> str:
        return self.marks.get(mark.kind, "{}").format(self.line(mark.line))

    def value(self, estimate: Estimate) -> str:
        """Write the value of an estimate, the best one set off."""
        if estimate.best:
            return self.line(Mark("best", estimate.value))
        return self.line(estimate.value)

    def estimate(self, estimate: Estimate) -> str:
        raise NotImplementedError

    def picture(self, picture: Picture) -> str:
        return ""

    def line(self, line: Line) -> str:
        match line:
            case str():
                return self.text(line, LONGEST)
            case Name():
                return self.name(line)
            case Mark():
                return self.mark(line)
            case Estimate():
                return self.estimate(line)
            case Picture():
                return self.picture(line)
        return "".join([self.line(part) for part in line])

    def cells(self, table: Rows) -> tuple[list[str], list[list[str]]]:
        """Write the header and the rows of a table.

        Without the columns that HTML alone has.
        """
        kept = []
        for column, title in enumerate(table.header):
            is_aside = isinstance(title, Mark) and title.kind == "aside"
            if not is_aside:
                kept.append(column)
        header = [self.line(table.header[column]) for column in kept]
        rows = [[self.line(row[column]) for column in kept] for row in table.rows]
        return header, rows


class _Html(_Form):
    marks: ClassVar[Mapping[str, str]] = {
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
    }

    @staticmethod
    def text(value: object, longest: int = LONGEST) -> str:
        return str(user_text(value, longest))

    def name(self, name: Name) -> str:
        return f"<bdi>{super().name(name)}</bdi>"

    def estimate(self, estimate: Estimate) -> str:
        # Signs and intervals stand in a space of one width, also where there are none,
        # so that numbers stand under each other.
        value = self.value(estimate)
        interval = ""
        if estimate.ends:
            low, high = estimate.ends
            between = "–" if low[:1].isdigit() else " … "
            interval = f"{low}{between}{high}"
        if not estimate.signed:
            return f'<b>{value}</b> <small class="recnb-ends">{interval}</small>'
        if interval:
            interval = f"<div><small>{interval}</small></div>"
        return f'{value}<span class="recnb-signs">{estimate.signs}</span>{interval}'

    def picture(self, picture: Picture) -> str:
        return f'<img src="{_address(picture)}" alt="{self.text(picture.alt, 999)}">'


class _Latex(_Form):
    marks: ClassVar[Mapping[str, str]] = {
        "best": r"\textbf{{{}}}",
        "strong": r"\textbf{{{}}}",
        "aside": "",
        "below": "",
    }

    text = staticmethod(latex_text)

    def estimate(self, estimate: Estimate) -> str:
        written = self.value(estimate)
        if estimate.signs:
            written += rf"\textsuperscript{{{latex_text(estimate.signs)}}}"
        if estimate.ends:
            low, high = map(latex_text, estimate.ends)
            written += rf" {{\footnotesize [{low}, {high}]}}"
        return written


class _Plain(_Form):
    """A form that blocks are written in as text."""

    name_of_form: ClassVar[str]
    interval: ClassVar[str]  #: with places for both ends

    def estimate(self, estimate: Estimate) -> str:
        written = f"{self.value(estimate)}{estimate.signs}"
        if estimate.ends:
            written += self.interval.format(*estimate.ends)
        return written

    def blocks(self, blocks: Iterable[Block]) -> str:
        """Write blocks with an empty line between them."""
        return _apart(map(self.block, blocks))

    def block(self, block: Block) -> str:
        """Write a block; nothing of one that the form has not."""
        match block:
            case Section():
                return self.section(block)
            case Cards(cards):
                return _apart(map(self.card, cards))
            case Side(blocks):
                return self.blocks(blocks)
            case Rows():
                return self.rows(block)
            case Note():
                return self.note(block)
            case Items():
                return self.items(block)
        return ""

    def section(self, section: Section) -> str:
        if self.name_of_form not in section.forms:
            return ""
        return self.blocks(section.blocks)

    def card(self, card: Block) -> str:
        raise NotImplementedError

    def rows(self, table: Rows) -> str:
        raise NotImplementedError

    def note(self, note: Note) -> str:
        raise NotImplementedError

    def items(self, items: Items) -> str:
        raise NotImplementedError

    def lines_of_card(self, card: Block) -> list[str]:
        """Write a small table in lines.

        Its caption, the cells of each column but the first, and its note.
        """
        if not isinstance(card, Rows):
            return []
        lines = [card.caption]
        if card.rows:
            for title, *cells in list(zip(card.header, *card.rows, strict=True))[1:]:
                lines.append([title, ": ", *joined(filter(None, cells))])
        lines.append(card.note)
        return [self.line(line) for line in lines if line]


class _Markdown(_Plain):
    name_of_form = "md"
    interval = " ({}–{})"
    marks: ClassVar[Mapping[str, str]] = {
        "best": "**{}**",
        "strong": "**{}**",
        "hit": "**✓ {}**",
        "badge": "**{}**:",
        "aside": "",
        "below": "",
    }

    text = staticmethod(markdown_text)

    def mark(self, mark: Mark) -> str:
        if mark.kind != "code":
            return super().mark(mark)
        # Nothing is escaped in code.
        code = inline(mark.line, "txt").replace("``", "` `").replace("://", ":/ /")
        return f"`` {code} ``"

    def block(self, block: Block) -> str:
        match block:
            case Tiles():
                return self.tiles(block)
            case Fold():
                return self.fold(block)
            case Picture(numbers=Rows() as numbers):
                return self.rows(numbers)
        return super().block(block)

    def section(self, section: Section) -> str:
        body = super().section(section)
        if not section.title or not body:
            return body
        return f"### {self.line(section.title)}\n\n{body}"

    def card(self, card: Block) -> str:
        return "\n- ".join(self.lines_of_card(card))

    def rows(self, table: Rows) -> str:
        header, rows = self.cells(table)
        n_numbers = len(header) - table.left
        rule = ["---"] * table.left + ["---:"] * n_numbers
        lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
        title = ""
        if table.caption:
            title = self.line(Mark("strong", table.caption))
        return _apart([title, "\n".join(lines), self.line(table.note)])

    def note(self, note: Note) -> str:
        if note.kind == "title":
            return f"## {self.line(note.line)}"
        if note.kind == "heading":
            return self.line(Mark("strong", note.line))
        return self.line(note.line)

    def items(self, items: Items) -> str:
        return "\n".join([f"- {self.line(line)}" for line in items.lines])

    def tiles(self, tiles: Tiles) -> str:
        lines = []
        for number, name, remark in tiles.tiles:
            words = self.text(f"{name}: {remark}", LONGEST)
            lines.append(f"- **{number}** {words}")
        return "\n".join(lines)

    def fold(self, fold: Fold) -> str:
        title = fold.title
        if isinstance(title, Mark):
            title = title.line
        return self.blocks([Note(title, "plain"), *fold.blocks])


class _Console(_Plain):
    name_of_form = "txt"
    interval = " [{}, {}]"
    marks: ClassVar[Mapping[str, str]] = {
        "best": "*{}*",
        "hit": "*{}",
        "badge": "{}:",
        "aside": "",
        "below": "",
    }

    text = staticmethod(one_line)

    def card(self, card: Block) -> str:
        return "\n".join([wrapped(line) for line in self.lines_of_card(card)])

    def note(self, note: Note) -> str:
        return wrapped(self.line(note.line))

    def items(self, items: Items) -> str:
        lines = items.lines
        if len(lines) > MOST:
            lines = [*lines[: MOST - 1], "…"]
        return "\n".join([wrapped(self.line(line), "- ", 2) for line in lines])

    def rows(self, table: Rows) -> str:
        """Write a table, without intervals if there is no room for them.

        What is still too wide is cut.
        """
        shown = replace(table, rows=table.rows[: table.most])
        lines = aligned_rows(shown)
        if max(map(width, lines)) > CONSOLE:
            bare = aligned_rows(_without_intervals(shown))
            lines = [_shortened(line) for line in bare]
        n_left_out = len(table.rows) - len(shown.rows)
        more = ""
        if n_left_out:
            more = f"({ngettext('{n} more row', '{n} more rows', n_left_out)})"
        caption = wrapped(self.line(table.caption))
        note = wrapped(self.line(table.note))
        return "\n".join(filter(None, [caption, *lines, more, note]))


_FORMS: dict[Form, _Form] = {
    "html": _Html(),
    "md": _Markdown(),
    "txt": _Console(),
    "tex": _Latex(),
}


def inline(line: Line, form: Form) -> str:
    """Write a line in a form."""
    return _FORMS[form].line(line)


def plain(blocks: Iterable[Block], form: Literal["md", "txt"]) -> str:
    """Write blocks in Markdown or for a console, with an empty line between them."""
    written = _FORMS[form]
    assert isinstance(written, _Plain)
    return written.blocks(blocks)


def cells_of(table: Rows, form: Form) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table in a form other than HTML."""
    return _FORMS[form].cells(table)


def _apart(parts: Iterable[str]) -> str:
    """Put an empty line between parts, where there is something."""
    return "\n\n".join(filter(None, parts))


# HTML


def html(blocks: Iterable[Block]) -> Markup:
    """Write blocks as HTML; sections follow each other."""
    return _written("blocks", list(blocks))


def tabs(sections: Sequence[Section], label: str) -> Markup:
    """Put sections behind tabs."""
    shown = [section for section in sections if "html" in section.forms]
    bodies = [(section.title, html(section.blocks)) for section in shown]
    content = "".join([body for _title, body in bodies])
    digest = hashlib.sha256(content.encode()).hexdigest()
    group = f"recnb-{digest[:12]}"
    return _written("tabs", bodies, label, group, Markup(style_sheet("tabs")))


def _written(name: str, *arguments: Any) -> Markup:
    """Write a macro of the template of documents."""
    return macro(
        "display/document.jinja",
        name,
        *arguments,
        as_html=_as_html,
        as_text=_as_text,
        is_hit=_is_hit,
        address=_address,
    )


def _as_html(line: Line) -> Markup:
    return Markup(inline(line, "html"))


def _as_text(line: Line) -> str:
    return inline(line, "txt")


def _is_hit(cell: Line) -> bool:
    first = cell
    if isinstance(cell, list) and cell:
        first = cell[0]
    return isinstance(first, Mark) and first.kind == "hit"


def _address(picture: Picture) -> str:
    encoded = b64encode(picture.svg.encode()).decode("ascii")
    return f"data:image/svg+xml;base64,{encoded}"


# Lines of a console


def aligned_rows(table: Rows) -> list[str]:
    """Return the lines of a table for a console, in its whole width.

    Columns of numbers are aligned to the right.
    """
    header, rows = cells_of(table, "txt")
    columns = zip(header, *rows, strict=True)
    widths = [max(map(width, column)) for column in columns]
    return [_aligned(row, widths, table.left) for row in (header, *rows)]


def _aligned(row: Sequence[str], widths: Sequence[int], n_left: int) -> str:
    """Put the cells of a row into columns, the first ones aligned to the left."""
    cells = []
    for column, (cell, wide) in enumerate(zip(row, widths, strict=True)):
        # A Korean letter takes two columns, which str.ljust and str.rjust do not know.
        gap = " " * (wide - width(cell))
        cells.append(cell + gap if column < n_left else gap + cell)
    return "  ".join(cells).rstrip()


def _without_intervals(table: Rows) -> Rows:
    rows = []
    for row in table.rows:
        cells = []
        for cell in row:
            if isinstance(cell, Estimate):
                cell = replace(cell, ends=None)
            cells.append(cell)
        rows.append(cells)
    return replace(table, rows=rows)


def wrapped(words: str, first: str = "", most: int | None = None) -> str:
    """Break words into lines of a console, at most so many.

    `first` begins the first line.
    """
    # A Korean letter takes two columns, which textwrap does not know: each is followed
    # by a sign that is taken out again.
    plain_words = " ".join(words.split())
    letters = [letter + "\0" * (width(letter) - 1) for letter in plain_words]
    filled = textwrap.fill(
        "".join(letters),
        CONSOLE,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" …",
    )
    return filled.replace("\0", "")


def _shortened(line: str) -> str:
    """Cut a line of a console to its width."""
    while width(line) > CONSOLE:
        n_over = max(2, (width(line) - CONSOLE) // 2)
        line = line[: -n_over - 1].rstrip(" ,…") + " …"
    return line


# LaTeX


def tables_of(blocks: Iterable[Block]) -> list[Rows]:
    """Return the tables of a document for a paper."""
    tables: list[Rows] = []
    for block in blocks:
        match block:
            case Rows():
                tables.append(block)
            case Fold(blocks=inner):
                tables += tables_of(inner)
            case Section(blocks=inner, forms=forms) if "tex" in forms:
                tables += tables_of(inner)
    return tables


def latex(
    table: Rows, caption: str | None = None, label: str | None = None, below: Line = ""
) -> str:
    """Write a table in the style of booktabs with its note and what is below it.

    Caption and label are LaTeX.
    """
    header, rows = cells_of(table, "tex")
    title = caption
    if title is None:
        title = inline([table.caption, "."], "tex")
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{title}}}"]
    if label:
        lines.append(rf"\label{{{label}}}")
    columns = "l" * table.left + "r" * (len(header) - table.left)
    lines += [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(header) + r" \\",
        r"\midrule",
    ]
    lines += [" & ".join(row) + r" \\" for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    note = inline([table.note, below], "tex").strip()
    if note:
        lines += ["", r"\smallskip", rf"{{\footnotesize\raggedright {note}\par}}"]
    return "\n".join([*lines, r"\end{table}"])
