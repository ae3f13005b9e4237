"""The report of one model or of several: one frozen object, and its forms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recnb.data.files import AsJson, json_values, written
from recnb.display.document import Note, html, latex, plain, tables_of, tabs
from recnb.display.language import _, use_language, use_noun
from recnb.display.templates import framed, page
from recnb.errors import Suggesting
from recnb.report.data import ReportData
from recnb.report.sections import head, remarks, sections_of, title_of


@dataclass(frozen=True, eq=False, repr=False)
class Report(AsJson, Suggesting, ReportData):
    """Findings about the data, each metric with its interval, what may be concluded,
    and the users behind the means.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`
    and `to_json` are its other forms.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain Python that `json` can write; NaN is None.

        Keys are the fields of the report, and `schema`; ids that are neither whole
        numbers nor text are written as text. Keys are the same in any language; texts
        are in that of the report.
        """
        differences = [row.to_dict() for row in self.differences]
        values: dict[str, Any] = json_values(
            {
                "schema": "recnb.report/6",
                **vars(self),
                "differences": differences,
                "segments": None if self.segments is None else self.segments.to_dict(),
            }
        )
        return values

    def to_html(self, path: str | Path | None = None, title: str | None = None) -> Any:
        """Return the report as an HTML document that runs no script and fetches
        nothing, or write it to `path`; `title` is its heading.
        """
        with use_language(self.lang), use_noun(self.noun):
            return written(
                str(page(title_of(self) if title is None else title, self._html())),
                path,
            )

    def to_markdown(self, path: str | Path | None = None) -> Any:
        """Return the report in Markdown, with tables as GitHub has them, or write it to
        `path`.
        """
        with use_language(self.lang), use_noun(self.noun):
            return written(
                plain([*head(self), *sections_of(self), Note(f"{self.basis}.")], "md")
                + "\n",
                path,
            )

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
    ) -> Any:
        """Return the means as LaTeX tables for a paper, and the segments if there are
        any, or write them to `path`.

        The best mean of several is bold. It needs the package booktabs. `caption` and
        `label` are LaTeX of the first table; further tables have their own captions,
        and the labels `label`-2 and so on.
        """
        with use_language(self.lang), use_noun(self.noun):
            first, *others = tables_of(sections_of(self))
            texts = [
                latex(
                    first,
                    caption,
                    label,
                    [" ", " ".join(remarks(self)), " ", self.basis, "."],
                )
            ]
            texts += [
                latex(table, None, label and f"{label}-{at}")
                for at, table in enumerate(others, 2)
            ]
            return written(
                "\n".join([_(r"% needs \usepackage{booktabs}"), *texts, ""]), path
            )

    def _html(self) -> str:
        label = (
            _("comparison of models")
            if self.several
            else _("report of {symbol}", symbol=self.lead.symbol)
        )
        shown = html(head(self)) + tabs(sections_of(self), _("sections of the report"))
        return str(framed(label, shown + html([Note(f"{self.basis}.")])))

    def __repr__(self) -> str:
        with use_language(self.lang), use_noun(self.noun):
            sections = sections_of(self)
            others = ", ".join(
                section.title for section in sections if "txt" not in section.forms
            )
            more = Note(
                _(
                    "In .to_html() and .to_markdown() as well: {sections}.",
                    sections=others,
                )
            )
            return plain([*head(self), *sections, Note(f"{self.basis}."), more], "txt")

    def _repr_html_(self) -> str:
        with use_language(self.lang), use_noun(self.noun):
            return self._html()
