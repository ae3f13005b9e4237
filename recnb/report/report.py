"""What an evaluation amounts to: who was evaluated, the metrics with their intervals, and the users behind the means.

`recnb.report.build` gathers the numbers; `html`, `text`, `markup` and `figure` are the forms in which they are shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recnb.data.files import written
from recnb.display.language import use_language
from recnb.lint.findings import Lint
from recnb.report.beyond_row import BeyondRow
from recnb.report.data import MetricSummary, ReportData

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Names the layout of `to_dict`; it changes when a key does.
SCHEMA = "recnb.report/2"


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

    def to_json(self, path: str | Path | None = None) -> str:
        """`to_dict` as JSON text, written to `path` if one is given."""
        return written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)

    def to_html(self, path: str | Path | None = None, title: str | None = None) -> str:
        """A document that stands by itself, written to `path` if one is given: no script, nothing fetched."""
        from recnb.report.html import document

        with use_language(self.lang):
            page = document(self, title)
        return written(page, path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The report in Markdown, tables as GitHub has them, written to `path` if one is given."""
        from recnb.report.markup import markdown

        with use_language(self.lang):
            return written(markdown(self), path)

    def to_latex(self, path: str | Path | None = None) -> str:
        """The metrics as a LaTeX table for a paper, with users and convention in its caption; needs booktabs.

        Segments have a table of their own below it. Written to `path` if one is given.
        """
        from recnb.report.markup import latex

        with use_language(self.lang):
            return written(latex(self), path)

    def figure(self) -> Figure:
        """The curve and the distribution side by side, drawn by matplotlib."""
        from recnb.report.figure import figure

        return figure(self)

    def __repr__(self) -> str:
        from recnb.report.text import text

        with use_language(self.lang):
            return text(self)

    def _repr_html_(self) -> str:
        from recnb.report.html import fragment

        with use_language(self.lang):
            return fragment(self)


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
