"""The report of one model or of several: one frozen object, and its forms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, overload

from markupsafe import Markup

from recnb.data.files import AsJson, json_values, written
from recnb.display.document import cells_of, console, html, inline, joined, latex_tables, plain, tabs
from recnb.display.language import _, use_language
from recnb.display.templates import framed, page, user_text
from recnb.display.text import LatexTable
from recnb.errors import OptionError, Suggesting, quoted
from recnb.report.data import ReportData
from recnb.report.sections import basis, head, sections_of


@dataclass(frozen=True, eq=False, repr=False)
class Report(AsJson, Suggesting, ReportData):
    """Findings about the data, each metric with its interval, what may be concluded, and the users behind the means.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict` and `to_json` are its other forms.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain Python that `json` can write; NaN is None.

        Keys are the fields of the report, and `schema`. Findings have models, name, severity, n, of, short, effects, example,
        advice and code; ids that are neither whole numbers nor text are written as text. Keys are the same in any language; texts are in that of the report.
        """
        with use_language(self.lang):
            names = ("name", "severity", "n", "of", "short", "example", "advice", "code")
            findings = [
                {"models": found.models, "effects": [finding.effect for finding in found.of_each]}
                | {name: getattr(found.finding, name) for name in names}
                for found in self.findings
            ]
            bounds = ("n_checks", "label", "k", "value", "lower", "upper", "unchecked", "elsewhere")
            lints = {model: {name: getattr(lint, name) for name in bounds} for model, lint in self.lints.items()}
            differences = [row.to_dict() for row in self.differences]
            own = {"lints": lints, "findings": findings, "differences": differences}
            values: dict[str, Any] = json_values({"schema": "recnb.report/4", **vars(self), **own})
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
            line = (
                _("Comparison of {models}", models=", ".join(self.models)) if self.several else _("Evaluation report")
            )
            given = user_text(line if title is None else title, 200)
            return written(str(page(given, given, Markup(self._html()))), path)

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
            return written(plain([*head(self), *sections_of(self), *basis(self)], "md") + "\n", path)

    @overload
    def to_latex(self, path: None = None, *, caption: str | None = None, label: str | None = None) -> str: ...
    @overload
    def to_latex(self, path: str | Path, *, caption: str | None = None, label: str | None = None) -> None: ...
    def to_latex(
        self, path: str | Path | None = None, *, caption: str | None = None, label: str | None = None
    ) -> str | None:
        """Return the means as LaTeX tables for a paper, and the segments if there are any, or write them to a file.

        The best mean of several is bold. It needs the package booktabs.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        caption, label
            LaTeX of the first table; further tables have their own captions, and the labels `label`-2 and so on.
        """
        for argument, given in (("caption", caption), ("label", label)):
            if not isinstance(given, (str, NoneType)):
                raise OptionError(f"{argument}={quoted(given)}: give LaTeX as text.")
        with use_language(self.lang):
            texts = []
            for at, (table, notes) in enumerate(latex_tables(sections_of(self)), 1):
                header, rows = cells_of(table, "tex")
                columns = "l" * table.left + "r" * (len(header) - table.left)
                words = caption if caption is not None and at == 1 else inline([table.caption, "."], "tex")
                below = inline(joined([*notes, f"{self.basis}."] if at == 1 else notes, " "), "tex")
                named = label if at == 1 else label and f"{label}-{at}"
                texts.append(LatexTable(columns, [header, r"\midrule", *rows], words, below).text(named))
            return written("\n".join([_(r"% needs \usepackage{booktabs}"), *texts, ""]), path)

    def _html(self) -> str:
        label = _("comparison of models") if self.several else _("report of {symbol}", symbol=self.lead.symbol)
        below = "" if self.several else html(basis(self))
        return str(framed(label, html(head(self)) + tabs(sections_of(self), _("sections of the report")) + below))

    def __repr__(self) -> str:
        with use_language(self.lang):
            return console(list(head(self)), sections_of(self), list(basis(self)))

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(self._html())
