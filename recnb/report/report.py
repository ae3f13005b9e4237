"""The report of one model: who was evaluated, the metrics with their intervals, and the users behind the means.

`build` computes the numbers, `summary` states them in words; `report.jinja`, `text` and `figure` are the forms that show them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from markupsafe import Markup

from recnb.data.files import written
from recnb.display.language import _, use_language
from recnb.display.templates import page, render, user_text
from recnb.display.text import fixed, some
from recnb.lint.findings import Lint
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
    """What is odd about the data, each metric with its interval, the curve over k, and the users behind the mean.

    In a notebook it shows itself; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain Python that `json` can write; NaN is None.

        Keys: `schema`, `basis`, `users`, `conventions`, `notes` (texts); `counts`; `list_length`, `relevant_per_user`
        (min, median, mean, max); `interval` (confidence, method); `k`, `lead_k`; `metrics`, a list of metric, symbol,
        reads, formula, convention and `values` (k, mean, low, high); `curve` (metric, k, mean, low, high);
        `distribution` (metric, k, edges, counts, shares, n_zero, n_top, n_without_value, mean, quartiles); `findings`
        (n_checks, label, k, value, lower, upper, unchecked, elsewhere, and `found`, a list of name, severity, n, of, short, effect,
        example, advice, code); `beyond`, a list of metric, symbol, title, reads, formula, latex, bounds, n_users, basis, needs and
        `values` (k, value, low, high); `segments`, None or by, k, confidence, basis and `rows` (metric, k, segment, n_users,
        mean, low, high, gap, gap_low, gap_high, p, p_holm, small); `best` and `worst`, lists of user, value, n_hits, n_relevant, n_places, `places` (rank, item, relevance), `missed` (item, relevance,
        rank) and n_missed. Ids that are neither whole numbers nor text are written as text. Keys are the same in any
        language; texts are in that of the report.
        """
        curve, population = self.curve, asdict(self.population)
        told: dict[str, Any] = _plain(
            {
                "schema": SCHEMA,
                "basis": self.basis,
                **{
                    name: population[name]
                    for name in ("users", "conventions", "notes", "list_length", "relevant_per_user")
                },
                "counts": {name: count for name, count in population.items() if name.startswith("n_")},
                "interval": {"confidence": self.confidence, "method": self.method},
                "k": self.k,
                "lead_k": self.lead_k,
                "metrics": [_measured_as_dict(one) for one in self.metrics],
                "curve": {
                    "metric": curve.metric,
                    "k": curve.k,
                    "mean": curve.value,
                    "low": curve.low,
                    "high": curve.high,
                },
                "distribution": asdict(self.distribution),
                "findings": _findings_as_dict(self.findings),
                "beyond": [_beyond_as_dict(one) for one in self.beyond],
                "segments": None if self.segments is None else asdict(self.segments),
                "best": [asdict(one) for one in self.best],
                "worst": [asdict(one) for one in self.worst],
            }
        )
        return told

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | Path) -> None: ...
    def to_json(self, path: str | Path | None = None) -> str | None:
        """`to_dict` as JSON text, or written to `path`."""
        return written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)

    @overload
    def to_html(self, path: None = None, title: str | None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path, title: str | None = None) -> None: ...
    def to_html(self, path: str | Path | None = None, title: str | None = None) -> str | None:
        """A complete document without scripts, which fetches nothing; or written to `path`."""
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
        """The report in Markdown with tables as GitHub has them, or written to `path`."""
        with use_language(self.lang):
            return written(text.markdown(self), path)

    @overload
    def to_latex(self, path: None = None) -> str: ...
    @overload
    def to_latex(self, path: str | Path) -> None: ...
    def to_latex(self, path: str | Path | None = None) -> str | None:
        """The metrics as a LaTeX table for a paper, with users and convention in its caption; needs booktabs.

        Segments have a second table. Returned, or written to `path`.
        """
        with use_language(self.lang):
            return written(text.latex(self), path)

    def figure(self) -> Figure:
        """The curve and the distribution side by side, drawn by matplotlib."""
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


def _measured_as_dict(one: MetricSummary) -> dict[str, Any]:
    values = [
        dict(zip(("k", "mean", "low", "high"), row, strict=True))
        for row in zip(one.k, one.mean, one.low, one.high, strict=True)
    ]
    said = {name: getattr(one, name) for name in ("metric", "symbol", "reads", "formula", "convention")}
    return {**said, "values": values}


def _findings_as_dict(lint: Lint) -> dict[str, Any]:
    kept = {name: getattr(lint, name) for name in ("n_checks", "label", "k", "value", "lower", "upper")}
    found = [
        {"name": one.name, "severity": one.severity, "n": one.n, "of": one.of}
        | {name: getattr(one, name) for name in ("short", "effect", "example", "advice", "code")}
        for one in lint
    ]
    return {**kept, "unchecked": dict(lint.unchecked), "elsewhere": list(lint.elsewhere), "found": found}


def _beyond_as_dict(one: BeyondRow) -> dict[str, Any]:
    values = [
        dict(zip(("k", "value", "low", "high"), (k, *row), strict=True))
        for k, row in zip(one.k, one.values, strict=False)
    ]
    return {**asdict(one), "values": values}


def _plain(value: Any) -> Any:
    """Nested data with lists for tuples and None for NaN."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
