"""The report of one model or of several: one frozen object, and its forms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recnb.data.files import AsJson, json_values, written
from recnb.display.document import (
    Block,
    Note,
    Section,
    html,
    latex,
    plain,
    tables_of,
    tabs,
)
from recnb.display.language import _, use_language, use_noun
from recnb.display.marimo import ShownInMarimo
from recnb.display.templates import framed, page
from recnb.errors import Suggesting
from recnb.report import blocks, one, several, texts
from recnb.report.blocks import ReportLayout
from recnb.report.data import ReportData
from recnb.results.numbers import as_plain


@dataclass(frozen=True, eq=False, repr=False)
class Report(AsJson, ShownInMarimo, Suggesting, ReportData):
    """Findings about the data, metrics with intervals, and what may be concluded.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`
    and `to_json` are its other forms. `calls` has the calls that return its numbers.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
    >>> report.to_frame().loc[:1, ["metric", "k", "mean"]].round(4)
                  metric   k    mean
    0               ndcg  10  0.1725
    1  average_precision  10  0.0948
    """

    @property
    def _layout(self) -> ReportLayout:
        return one.LAYOUT if len(self.models) == 1 else several.LAYOUT

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain Python that `json` can write; NaN is None.

        Returns
        -------
        dict
            Keys are the fields of the report, and `schema`; ids that are neither whole
            numbers nor text are written as text. Keys are the same in any language; texts
            are in that of the report.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> [metric["metric"] for metric in report.to_dict()["metrics"]][:3]
        ['ndcg', 'average_precision', 'reciprocal_rank']
        """
        fields = {"schema": "recnb.report/7", **vars(self)}
        for name in ("means", "hit_rates"):
            fields[name] = [as_plain(row) for row in fields[name]]
        fields["curves"] = {
            model: [as_plain(row) for row in rows]
            for model, rows in self.curves.items()
        }
        fields["differences"] = [row.to_dict() for row in self.differences]
        if self.segments is not None:
            fields["segments"] = self.segments.to_dict()
        values: dict[str, Any] = json_values(fields)
        return values

    def to_html(self, path: str | Path | None = None, title: str | None = None) -> Any:
        """Return the report as an HTML document, or write it to `path`.

        It runs no script and fetches nothing.

        Parameters
        ----------
        path : path, optional
            Where it is written; without it text is returned.
        title : str, optional
            The heading.

        Returns
        -------
        str or None
            The document, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> "<title>Autumn</title>" in report.to_html(title="Autumn")
        True
        """
        with use_language(self.lang), use_noun(self.noun):
            heading = self._layout.title(self) if title is None else title
            body = self._html(self._foot())
            return written(str(page(heading, body)), path)

    def to_markdown(self, path: str | Path | None = None) -> Any:
        """Return the report in Markdown, or write it to `path`.

        Its tables are as GitHub has them.

        Parameters
        ----------
        path : path, optional
            Where it is written; without it text is returned.

        Returns
        -------
        str or None
            The Markdown, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> print(report.to_markdown().splitlines()[0])
        ## **nDCG@10** = 0.1725 (95% interval 0.1503–0.1979 · 261 users)
        """
        with use_language(self.lang), use_noun(self.noun):
            shown = [*self._head(), *self._sections(), self._basis(), self._foot()]
            return written(plain(shown, "md") + "\n", path)

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
    ) -> Any:
        """Return the means as LaTeX tables for a paper, or write them to `path`.

        So are the segments, if there are any. The best mean of several is bold. It needs
        the package booktabs.

        Parameters
        ----------
        path : path, optional
            Where they are written; without it text is returned.
        caption : str, optional
            LaTeX of the caption of the first table; further tables have their own.
        label : str, optional
            LaTeX of the label of the first table; those of further tables are `label`-2
            and so on.

        Returns
        -------
        str or None
            The LaTeX, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> "toprule" in report.to_latex(caption="Means", label="tab:means")
        True
        """
        with use_language(self.lang), use_noun(self.noun):
            first, *others = tables_of(self._sections())
            below = [" ", " ".join(self._layout.remarks(self)), " ", self.basis, "."]
            tables = [latex(first, caption, label, below)]
            for number, table in enumerate(others, 2):
                tables.append(latex(table, None, label and f"{label}-{number}"))
            head = _(r"% needs \usepackage{booktabs}")
            return written("\n".join([head, *tables, ""]), path)

    def _head(self) -> Iterable[Block]:
        return self._layout.head(self)

    def _sections(self) -> list[Section]:
        return blocks.shown(self._layout.sections, self)

    def _basis(self) -> Note:
        return Note(f"{self.basis}.")

    def _foot(self) -> Note:
        """Return the version and the day of a file."""
        day = self.made_with["time"].partition("T")[0]
        return Note(f"recnb {self.made_with['versions']['recnb']}, {day}")

    def _html(self, *foot: Block) -> str:
        head = html(self._head())
        sections = tabs(self._sections(), _("sections of the report"))
        return str(
            framed(
                self._layout.label(self),
                head + sections + html([self._basis(), *foot]),
            )
        )

    def __repr__(self) -> str:
        with use_language(self.lang), use_noun(self.noun):
            sections = self._sections()
            others = [
                section.title for section in sections if "txt" not in section.forms
            ]
            more = Note(_(texts.OTHER_SECTIONS, sections=", ".join(others)))
            return plain([*self._head(), *sections, self._basis(), more], "txt")

    def _repr_html_(self) -> str:
        with use_language(self.lang), use_noun(self.noun):
            return self._html()
