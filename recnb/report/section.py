"""Sections, and reports made of them: every form of a report iterates over its sections, of one model or of several."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, overload

from markupsafe import Markup

from recnb.data.files import AsJson, json_values, written
from recnb.display.language import N_, _, use_language, width
from recnb.display.templates import macro, name, page, plain_macro, render, user_text
from recnb.display.text import LatexTable, aligned, markdown_table, markdown_text, one_line
from recnb.errors import Argument, OptionError, Suggesting

if TYPE_CHECKING:
    from recnb.report.data import RankedItem
    from recnb.report.request import ReportRequest
    from recnb.results.evaluation_data import EvaluationData

#: Makes text of the user's safe for the form in which it is shown.
Safe = Callable[[object], str]
#: Forms of plain text: for a console, and Markdown.
Form = Literal["txt", "md"]
SAFE: dict[Form, Safe] = {"txt": one_line, "md": markdown_text}
#: How wide lines for a console are.
LINE = 110


def wrapped(words: str, first: str = "", rest: str | None = None) -> str:
    """Lines for a console, with what the first and the others begin with; a Korean letter takes two columns."""
    rest = " " * len(first) if rest is None else rest
    columns = LINE * len(words) // max(width(words), 1)
    return textwrap.fill(words, max(columns, 20), initial_indent=first, subsequent_indent=rest)


def titled(safe: Safe) -> Callable[[Any, str], str]:
    """Return a function that shows an item by its title, if it has one, and its id."""
    return lambda item, title: f"{safe(title)} ({safe(item)})" if title else safe(item)


def listed(items: Sequence[RankedItem], shown: Callable[[Any, str], str], hit: str, left_out: int = 0) -> str:
    """The items of a list, hits marked, and how many are left out."""
    names = [(hit if item.relevance else "{}").format(shown(item.item, item.title)) for item in items]
    return ", ".join([*names, *([_("… {n} more", n=left_out)] if left_out else [])]) or _("no list")


#: The title of a column, and its cell in a row.
Column = tuple[str, Callable[[Any], str]]


class Cells(NamedTuple):
    """A table: columns from `numbers_from` on hold numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers_from: int = 1

    @classmethod
    def of(cls, rows: Iterable[Any], columns: Iterable[Column], numbers_from: int = 1) -> Cells:
        """A table of rows by its columns."""
        titles, cells = zip(*columns, strict=True)
        return cls(titles, [[cell(row) for cell in cells] for row in rows], numbers_from)

    def text(self) -> str:
        """Its lines for a console."""
        return "\n".join(aligned([self.header, *self.rows], self.numbers_from))

    def markdown(self) -> str:
        """The table in Markdown; names are safe already, the sign of a small p is not."""
        rows = [[cell.replace("<", "&lt;") for cell in row] for row in self.rows]
        return markdown_table(self.header, rows, self.numbers_from)

    def latex(self, caption: str, note: str = "") -> LatexTable:
        """The table in LaTeX, of cells, a caption and a note that are LaTeX already."""
        columns = "l" * self.numbers_from + "r" * (len(self.header) - self.numbers_from)
        return LatexTable(columns, [self.header, r"\midrule", *self.rows], caption, note)


class Section:
    """A section of a report: its numbers and its words.

    In each form it is shown by its macro in the template of this form, as `sections.md.jinja`, or by its `table` if there is
    none. `SECTIONS` in `report/sections.py` and `comparison/sections.py` list those of each report in their order.
    """

    name: ClassVar[str]  #: of its macros; of `compute`'s numbers in JSON
    title: ClassVar[str] = ""  #: of its tab in HTML; "" if it is above or below the tabs
    folder: ClassVar[str] = ""  #: of its templates; "": every form shows the table
    context: ClassVar[Mapping[str, Any]] = {}  #: what macros see besides the section
    fields: ClassVar[tuple[str, ...]] = ()  #: of the report's data, which it has in JSON
    needs: ClassVar[str] = ""  #: the field without which there is nothing to show

    def __init__(self, report: Any) -> None:
        self.report = report

    @staticmethod
    def compute(models: Mapping[str, EvaluationData], request: ReportRequest) -> Any:
        """Compute numbers that are no fields of the report's data, if any; the one model of a report has the name ""."""
        return None

    @property
    def numbers(self) -> Any:
        """The result of `compute`."""
        return self.report._computed[self.name]

    @property
    def shown(self) -> bool:
        """True if there is anything to show."""
        return not self.needs or bool(getattr(self.report, self.needs))

    @property
    def last(self) -> bool:
        """True if its tab comes after all others."""
        return False

    @property
    def tab(self) -> str:
        """The title of its tab."""
        return _(self.title)

    def heading(self, safe: Safe) -> str:
        """The title of its table, with text of the user's made safe for a form."""
        return _(self.title)

    def table(self, safe: Safe) -> Cells | None:
        """Its table, if it has one, with text of the user's made safe for a form."""
        return None

    def html(self) -> Markup:
        """The body of its tab."""
        if self.folder:
            return macro(f"{self.folder}/sections.html.jinja", self.name, self, **self.context)
        return macro("report/report.jinja", "titled_table", self.heading(name), self.table(name))

    def plain(self, form: Form) -> str:
        """The section for a console or in Markdown; "" if it has nothing to show there."""
        if self.folder:
            shown = plain_macro(f"{self.folder}/sections.{form}.jinja", self.name, self, **PLAIN, **self.context)
            if shown is not None:
                return shown
        safe = SAFE[form]
        cells, heading = self.table(safe), self.heading(safe)
        if cells is None:
            return ""
        return f"{heading}\n{cells.text()}" if form == "txt" else f"**{heading}**\n\n{cells.markdown()}"

    def latex(self) -> list[LatexTable]:
        """Its tables for a paper; most sections have none."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Its part of the report as plain Python: its fields, and its numbers under its name."""
        numbers = {self.name: self.numbers} if self.name in self.report._computed else {}
        return {field: getattr(self.report, field) for field in self.fields} | numbers


#: What macros of plain text see.
PLAIN = {
    "aligned": aligned,
    "line": one_line,
    "listed": listed,
    "md": markdown_text,
    "titled": titled,
    "wrapped": wrapped,
}


class FindingsTab(Section):
    """Problems in the data in full: the second tab if there are any, else the last."""

    name = "findings"
    title = N_("No findings")

    @property
    def last(self) -> bool:
        """True if nothing was found."""
        return not self.report.findings

    @property
    def tab(self) -> str:
        """The number of findings."""
        n = len(self.report.findings)
        return _("Findings ({n})", n=n) if n else _(self.title)


def computed_by(
    sections: Sequence[type[Section]], models: Mapping[str, EvaluationData], request: ReportRequest
) -> dict[str, Any]:
    """The numbers that sections compute for themselves, by the name of the section."""
    numbers = {section.name: section.compute(models, request) for section in sections}
    if len(numbers) < len(sections):
        raise TypeError(f"Two sections have one name: {[section.name for section in sections]}.")
    return {name: value for name, value in numbers.items() if value is not None}


class SectionedReport(AsJson, Suggesting):
    """The forms of a report, each of which goes through its sections."""

    lang: str
    _schema: ClassVar[str]  # names the layout of `to_dict`

    @property
    @abstractmethod
    def _sections(self) -> list[Section]:
        """All sections, in the order shown; the first is the head."""

    @abstractmethod
    def _titles(self) -> tuple[str, str]:
        """The title and the heading of a document."""

    @abstractmethod
    def _frame(self) -> tuple[str, str]:
        """The label of the report in HTML, and what distinguishes it from others on a page."""

    @property
    def _shown(self) -> list[Section]:
        return [section for section in self._sections if section.shown]

    def _to_dict(self) -> dict[str, Any]:
        sections: dict[str, Any] = {"schema": self._schema}
        for section in self._sections:
            sections |= section.to_dict()
        values: dict[str, Any] = json_values(sections)
        return values

    @overload
    def to_html(self, path: None = None, title: str | None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path, title: str | None = None) -> None: ...
    def to_html(self, path: str | Path | None = None, title: str | None = None) -> str | None:
        """Return the report as an HTML document that runs no script and fetches nothing, or write it to a file.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        title
            The title and heading of the document; None: one that names what is reported.
        """
        with use_language(self.lang):
            given = None if title is None else user_text(title, 200)
            words, heading = self._titles() if given is None else (given, given)
            return written(str(page(words, heading, self._html())), path)

    @overload
    def to_markdown(self, path: None = None) -> str: ...
    @overload
    def to_markdown(self, path: str | Path) -> None: ...
    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Return the report in Markdown, with tables as GitHub has them, or write it to a file.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        """
        with use_language(self.lang):
            return written(self._plain("md") + "\n", path)

    @overload
    def to_latex(self, path: None = None, *, caption: str | None = None, label: str | None = None) -> str: ...
    @overload
    def to_latex(self, path: str | Path, *, caption: str | None = None, label: str | None = None) -> None: ...
    def to_latex(
        self, path: str | Path | None = None, *, caption: str | None = None, label: str | None = None
    ) -> str | None:
        """Return the means as a LaTeX table for a paper, or write it to a file.

        Users and convention are in a note below it. Segments have a second table; of several models, the best mean is bold and
        findings are marked. It needs the package booktabs.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        caption, label
            LaTeX of the first table; further tables have their own captions, and the labels `label`-2 and so on.
        """
        for argument, given in (("caption", caption), ("label", label)):
            if not isinstance(given, (str, NoneType)):
                raise OptionError(Argument(argument, given), ": give LaTeX as text.")
        with use_language(self.lang):
            first, *others = [table for section in self._shown for table in section.latex()]
            tables = [first if caption is None else first._replace(caption=caption), *others]
            labels = [label, *(label and f"{label}-{at}" for at in range(2, len(tables) + 1))]
            texts = [table.text(of_table) for table, of_table in zip(tables, labels, strict=True)]
            return written("\n".join([_(r"% needs \usepackage{booktabs}"), *texts, ""]), path)

    def _plain(self, form: Form) -> str:
        return "\n\n".join(filter(None, (section.plain(form) for section in self._shown)))

    def _html(self) -> Markup:
        head, *sections = self._shown
        label, key = self._frame()
        tabs = sorted((section for section in sections if section.title), key=lambda section: section.last)
        below = [section.html() for section in sections if not section.title]
        bodies = [(section.tab, section.html()) for section in tabs]
        return render("report/report.jinja", label=label, key=key, head=head.html(), tabs=bodies, below=below)

    def __repr__(self) -> str:
        with use_language(self.lang):
            return self._plain("txt")

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(self._html())
