"""Values as they are shown, and the forms that they are written in.

What is shown is data: a sentence with its values, a name of the user's, a mean with its
interval, a picture, rows of cells. `Form.write` writes each of them, as HTML, Markdown,
text of a console or LaTeX, and is the one place where text is made safe.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from string import Formatter
from typing import Any, Literal

from markupsafe import Markup

from recnb.display.language import (
    Message,
    Sentence,
    current,
    template,
    with_particles,
)
from recnb.display.style import ACCENT
from recnb.display.text import (
    beginning,
    fixed,
    html_text,
    latex_text,
    markdown_text,
    one_line,
    sign_between,
    signed,
)

#: The letters of the longest sentence, and of the words of a picture.
LONGEST, LONGEST_ALT = 5_000, 100_000


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
class Number:
    """A number with its look; it has four decimals unless `digits` says otherwise."""

    value: float
    #: A "difference" has its sign, and small and large ones are shortened where no
    #: decimals are asked for; a small "p" is not rounded to 0. A "grade" and a "score"
    #: have their own decimals.
    look: Literal["fixed", "signed", "difference", "p", "grade", "score"] = "fixed"
    digits: int | None = None

    def __str__(self) -> str:
        value = self.value
        decimals = 4 if self.digits is None else self.digits
        smallest = 10.0**-decimals
        if isnan(value):
            return "–"
        match self.look:
            case "grade":
                return f"{value:g}"
            case "score":
                return f"{value:#.5g}"
            case "signed":
                return f"{value:+.{decimals}f}"
            case "difference":
                return signed(value, self.digits)
            case "p" if value < smallest:
                return f"<{smallest:.{decimals}f}"
        return f"{value:.{decimals}f}"


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval, and signs beside it."""

    value: Line
    ends: tuple[Line, Line] | None = None
    best: bool = False
    signs: str = ""
    #: Whether it is of one of several models: HTML then has the value in usual letters,
    #: room for signs beside each, and the interval below.
    of_several: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture, and its numbers in words."""

    svg: str
    alt: str

    @property
    def address(self) -> Markup:
        """The picture as the address of an image."""
        encoded = b64encode(self.svg.encode()).decode("ascii")
        return Markup("data:image/svg+xml;base64," + encoded)


Line = str | Name | Mark | Number | Estimate | Picture | Sentence | Sequence[Any]


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
    #: The first columns, which name the rows and stand in each part of a table that is
    #: too wide for a console; None: all on the left.
    n_names: int | None = None
    wraps: bool = False  #: cells hold sentences or titles, which are broken into lines
    small: bool = False  #: many columns have room beside each other
    note: Line = ""  #: small print below

    def with_cells(self, changed: Callable[[Line], Line]) -> Rows:
        """Return the table with each of its cells changed."""
        rows = [[changed(cell) for cell in row] for row in self.rows]
        return replace(self, rows=rows)


def estimate(
    value: float,
    low: float,
    high: float,
    shown: Callable[[float], Line] = fixed,
    **look: Any,
) -> Estimate:
    """Return a value with the ends of its interval, if it has one."""
    ends = None
    if isfinite(low):
        ends = (shown(low), shown(high))
    return Estimate(shown(value), ends, **look)


def with_digits(table: Rows, digits: int | None) -> Rows:
    """Return a table whose numbers have so many decimals."""
    return table.with_cells(lambda cell: _rounded(cell, digits))


def _rounded(cell: Line, digits: int | None) -> Line:
    """Return a cell whose numbers have so many decimals."""
    if isinstance(cell, Number):
        return replace(cell, digits=digits)
    if isinstance(cell, Estimate):
        ends = None
        if cell.ends is not None:
            low, high = cell.ends
            ends = (_rounded(low, digits), _rounded(high, digits))
        return replace(cell, value=_rounded(cell.value, digits), ends=ends)
    return cell


def opening(text: str, longest: int) -> Name:
    """Return a title or a text of the user's, of which the beginning is shown."""
    return Name(beginning(text, longest), longest)


def strong(name: object) -> Mark:
    """Return a name of the user's that is set off."""
    return Mark("strong", Name(name))


def say(message: Message, /, **values: Any) -> Sentence:
    """Return a sentence whose values may be names, marks and other sentences.

    It is translated where it is written.
    """
    return Sentence(message, values)


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


@dataclass(frozen=True)
class Form:
    """How values are written in one form."""

    name: Literal["html", "md", "txt", "tex"]
    #: Makes text safe, and cuts it to a length.
    text: Callable[[object, int], str]
    #: How a part of a line is set off, by its kind, and how a "name" and a "picture" are
    #: written; other kinds are written as they are.
    marks: Mapping[str, str]
    estimate: str  #: how an estimate is written, and its interval
    interval: str
    of_several: str = ""  #: the same of one of several models; "" for no other way
    interval_below: str = ""
    signs: str = "{}"

    def write(self, line: Line) -> Markup:
        """Write a line; all text is made safe here."""
        match line:
            case Markup():
                return line
            case str() | Number():
                return Markup(self.text(line, LONGEST))
            case Name():
                name = self.text(line.text, line.longest)
                return Markup(self.marks.get("name", "{}").format(name))
            case Mark():
                return Markup(self._mark(line))
            case Estimate():
                return Markup(self._estimate(line))
            case Picture():
                alt = self.text(line.alt, LONGEST_ALT)
                picture = self.marks.get("picture", "")
                return Markup(picture.format(line.address, alt))
            case Sentence():
                return Markup(self._sentence(line))
        return Markup("").join([self.write(part) for part in line])

    def cells(self, table: Rows) -> tuple[list[str], list[list[str]]]:
        """Write the header and the rows of a table.

        Without the columns that HTML alone has.
        """
        kept = []
        for column, title in enumerate(table.header):
            is_aside = isinstance(title, Mark) and title.kind == "aside"
            if not is_aside:
                kept.append(column)
        header = [str(self.write(table.header[column])) for column in kept]
        rows = [[str(self.write(row[column])) for column in kept] for row in table.rows]
        return header, rows

    def _mark(self, mark: Mark) -> str:
        look = self.marks.get(mark.kind, "{}")
        if mark.kind == "code" and self.name == "md":
            # Nothing in it is escaped, so no backticks end it, and no address is a link.
            code = CONSOLE.write(mark.line).replace("``", "` `")
            return look.format(code.replace("://", ":/ /"))
        return look.format(self.write(mark.line))

    def _estimate(self, estimate: Estimate) -> str:
        value = estimate.value
        if estimate.best:
            value = Mark("best", value)
        look, interval = self.estimate, self.interval
        if estimate.of_several and self.of_several:
            look, interval = self.of_several, self.interval_below
        ends = signs = ""
        if estimate.ends:
            low, high = map(self.write, estimate.ends)
            ends = interval.format(low=low, high=high, between=sign_between(low))
        if estimate.signs:
            signs = self.signs.format(self.write(estimate.signs))
        return look.format(value=self.write(value), signs=signs, ends=ends)

    def _sentence(self, sentence: Sentence) -> str:
        """Translate a sentence and put its values in.

        Korean particles follow the last letter before them.
        """
        words = template(sentence.message, sentence.values.get("n", 1))
        values = current().fields | sentence.values
        written, before = [], ""
        for part, name, spec, _conversion in Formatter().parse(words):
            # The end of a value stands before the words while particles are chosen, as
            # text: beside markup they would be escaped here as well.
            fitting = with_particles(f"{before}{part}")[len(before) :]
            written.append(self.write(fitting))
            if name is None:
                continue
            value = values[name]
            if isinstance(value, (str, int, float)) and not isinstance(value, Markup):
                value = format(value, spec or "")
            written.append(self.write(value))
            before = CONSOLE.write(value)[-2:]
        return "".join(written)


HTML = Form(
    name="html",
    text=html_text,
    marks={
        "name": "<bdi>{}</bdi>",
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
        "picture": '<img src="{}" alt="{}">',
    },
    # Signs and intervals stand in a space of one width, also where there are none, so
    # that numbers stand under each other.
    estimate='<b>{value}</b>{signs} <small class="recnb-ends">{ends}</small>',
    interval="{low}{between}{high}",
    of_several='{value}<span class="recnb-signs">{signs}</span>{ends}',
    interval_below="<div><small>{low}{between}{high}</small></div>",
)
MARKDOWN = Form(
    name="md",
    text=markdown_text,
    marks={
        "best": "**{}**",
        "strong": "**{}**",
        "hit": "**✓ {}**",
        "badge": "**{}**:",
        "code": "`` {} ``",
        "aside": "",
        "below": "",
    },
    estimate="{value}{signs}{ends}",
    interval=" ({low}{between}{high})",
)
CONSOLE = Form(
    name="txt",
    text=one_line,
    marks={
        "best": "*{}*",
        "hit": "*{}",
        "badge": "{}:",
        "aside": "",
        "below": "",
    },
    estimate="{value}{signs}{ends}",
    interval=" [{low}, {high}]",
)
LATEX = Form(
    name="tex",
    text=latex_text,
    marks={
        "best": r"\textbf{{{}}}",
        "strong": r"\textbf{{{}}}",
        "aside": "",
        "below": "",
    },
    estimate="{value}{signs}{ends}",
    interval=r" {{\footnotesize [{low}, {high}]}}",
    signs=r"\textsuperscript{{{}}}",
)
FORMS = {"html": HTML, "md": MARKDOWN, "txt": CONSOLE, "lines": CONSOLE}
