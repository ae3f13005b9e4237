"""The report of one model: who was evaluated, the metrics with their intervals, and the users behind the means.

`build` computes the numbers, `summary` states them in words; `report.jinja`, `text` and `figure` are the forms that show them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from markupsafe import Markup

from recnb.data.files import json_values, written
from recnb.display.language import _, use_language
from recnb.display.templates import page, render, user_text
from recnb.display.text import fixed, some
from recnb.report import summary, text
from recnb.report.beyond_row import BeyondRow
from recnb.report.data import MetricSummary, ReportData

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Names the layout of `to_dict`; it changes when a key does.
SCHEMA = "recnb.report/3"

#: With more cut-offs than these, HTML shows some and counts the others.
COLUMNS_SHOWN = 12


@dataclass(frozen=True, eq=False)
class Report(ReportData):
    """Findings about the data, each metric with its interval, the curve over k, and the users behind the mean.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as plain Python that `json` can write; NaN is None.

        Keys: `schema`, `basis`, `users`, `conventions`, `notes` (texts); `counts`; `list_length`, `relevant_per_user`
        (min, median, mean, max); `interval` (confidence, method); `k`, `lead_k`; `metrics`, a list of metric, symbol,
        reads, formula, convention and `values` (k, mean, low, high); `curve` (metric, k, mean, low, high);
        `distribution` (metric, symbol, k, n_users, n_without_value, edges, counts, shares, n_zero, n_top, mean,
        quartiles); `findings` (n_checks, label, k, value, lower, upper, unchecked, elsewhere, and `found`, a list of
        name, severity, n, of, short, effect, example, advice, code); `beyond`, a list of metric, symbol, title, reads,
        formula, latex, bounds, k, n_users, basis, needs and `values` (k, value, low, high); `segments`, None or by, k,
        confidence, basis and `rows` (metric, k, segment, n_users, mean, low, high, gap, gap_low, gap_high, p, p_holm,
        small); `best` and `worst`, lists of user, value, n_hits, n_relevant, n_places, `places` (rank, item, relevance,
        title), `missed` (item, relevance, rank, title) and n_missed. Ids that are neither whole numbers nor text are
        written as text. Keys are the same in any language; texts are in that of the report.
        """
        population, lint = asdict(self.population), self.findings
        texts = ("users", "conventions", "notes", "list_length", "relevant_per_user")
        report: dict[str, Any] = json_values(
            {
                "schema": SCHEMA,
                "basis": self.basis,
                **{name: population[name] for name in texts},
                "counts": {name: count for name, count in population.items() if name.startswith("n_")},
                "interval": _picked(self, "confidence", "method"),
                "k": self.k,
                "lead_k": self.lead_k,
                "metrics": [
                    _picked(metric, "metric", "symbol", "reads", "formula", "convention")
                    | {"values": _at_cutoffs(metric, "mean")}
                    for metric in self.metrics
                ],
                "curve": {
                    **_picked(self.curve, "metric", "k"),
                    "mean": self.curve.value,
                    **_picked(self.curve, "low", "high"),
                },
                "distribution": asdict(self.distribution),
                "findings": {
                    **_picked(lint, "n_checks", "label", "k", "value", "lower", "upper", "unchecked", "elsewhere"),
                    "found": lint.to_frame().rename(columns={"finding": "name"}).to_dict("records"),
                },
                "beyond": [{**asdict(metric), "values": _at_cutoffs(metric, "value")} for metric in self.beyond],
                "segments": None if self.segments is None else asdict(self.segments),
                "best": list(map(asdict, self.best)),
                "worst": list(map(asdict, self.worst)),
            }
        )
        return report

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | Path) -> None: ...
    def to_json(self, path: str | Path | None = None) -> str | None:
        """Return `to_dict` as JSON text, or write it to a file.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        """
        return written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)

    @overload
    def to_html(self, path: None = None, title: str | None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path, title: str | None = None) -> None: ...
    def to_html(self, path: str | Path | None = None, title: str | None = None) -> str | None:
        """Return the report as an HTML document that needs nothing else, or write it to a file.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        title
            The title and heading of the document; None: the lead metric.
        """
        with use_language(self.lang):
            value, _low, _high = self.lead.at(self.lead_k)
            heading = _("Evaluation report") if title is None else user_text(title, 200)
            document = page(
                summary.headline(self, self.label, fixed(value)) if title is None else heading, heading, self._html()
            )
        return written(str(document), path)

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
            return written(text.markdown(self), path)

    @overload
    def to_latex(self, path: None = None) -> str: ...
    @overload
    def to_latex(self, path: str | Path) -> None: ...
    def to_latex(self, path: str | Path | None = None) -> str | None:
        """Return the metrics as a LaTeX table for a paper, or write it to a file.

        Users and convention are in the caption; segments have a second table. It needs the package booktabs.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        """
        with use_language(self.lang):
            return written(text.latex(self), path)

    def figure(self) -> Figure:
        """Draw the curve and the distribution side by side with matplotlib."""
        from recnb.report.figure import figure

        return figure(self)

    def _html(self) -> Markup:
        # What distinguishes this report from others on a page: its numbers and what they are of.
        key = f"{self.basis}; {self.to_frame().to_csv(float_format='%.9f')}"
        shown = some(self.k, COLUMNS_SHOWN)
        return render("report/report.jinja", report=self, summary=summary, shown=shown, key=key)

    def __repr__(self) -> str:
        with use_language(self.lang):
            return text.text(self)

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(self._html())


def _picked(data: object, *names: str) -> dict[str, Any]:
    return {name: getattr(data, name) for name in names}


def _at_cutoffs(metric: MetricSummary | BeyondRow, value: str) -> list[dict[str, Any]]:
    names = ("k", value, "low", "high")
    return [dict(zip(names, (k, *row), strict=True)) for k, row in zip(metric.k, metric.values, strict=False)]
