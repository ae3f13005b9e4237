"""What an evaluation amounts to: who was evaluated, the metrics with their intervals, and the users behind the means.

Here the numbers stand, frozen; `recnb.reported` gathers them, `report_html`, `report_text`, `report_markup` and `figure`
draw them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recnb.files import written
from recnb.results.beyond_data import BeyondRow
from recnb.results.curve import Curve
from recnb.results.lint import Lint
from recnb.results.report_data import Distribution, Measured, Population, Segmented, UserList
from recnb.strings import current, speaking

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Names the layout of `to_dict`; it changes when a key does.
SCHEMA = "recnb.report/2"


@dataclass(frozen=True, eq=False)
class Report:
    """What is odd about the data, each metric with its interval, the curve over k, and the users behind the mean.

    In a notebook it shows itself; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    population: Population
    k: tuple[int, ...]
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    metrics: tuple[Measured, ...]  #: the first is the lead metric
    confidence: float
    method: str  #: of the intervals
    curve: Curve
    distribution: Distribution
    best: tuple[UserList, ...]
    worst: tuple[UserList, ...]
    findings: Lint  #: what is odd about the data, told by the lead metric at `lead_k`
    beyond: tuple[BeyondRow, ...]  #: beyond accuracy, at each cut-off; () where neither train nor items is known
    segments: Segmented | None  #: the metrics at `lead_k` by segment, if that was asked for
    basis: str
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def n_users(self) -> int:
        """How many users the means are over."""
        return self.population.n_users

    @property
    def lead(self) -> Measured:
        """The metric that the curve and the users are shown by."""
        return self.metrics[0]

    def to_frame(self) -> pd.DataFrame:
        """The means as a long frame: metric, k, mean, low, high, n_users; those beyond accuracy last.

        `segments` and `findings` have frames of their own: `report.segments.to_frame()`, `report.findings.to_frame()`.
        """
        import pandas as pd

        rows = [
            (one.metric, k, mean, low, high, self.n_users)
            for one in self.metrics
            for k, mean, low, high in zip(one.k, one.mean, one.low, one.high, strict=True)
        ]
        rows += [
            (one.metric, k, *values, one.n_users)
            for one in self.beyond
            for k, values in zip(self.k, one.values, strict=False)
        ]
        return pd.DataFrame(rows, columns=["metric", "k", "mean", "low", "high", "n_users"])

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
        from recnb.results.report_html import document

        with speaking(self.lang):
            page = document(self, title)
        return written(page, path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The report in Markdown, tables as GitHub has them, written to `path` if one is given."""
        from recnb.results.report_markup import markdown

        with speaking(self.lang):
            return written(markdown(self), path)

    def to_latex(self, path: str | Path | None = None) -> str:
        """The metrics as a LaTeX table for a paper, with users and convention in its caption; needs booktabs.

        Segments have a table of their own below it. Written to `path` if one is given.
        """
        from recnb.results.report_markup import latex

        with speaking(self.lang):
            return written(latex(self), path)

    def figure(self) -> Figure:
        """The curve and the distribution side by side, drawn by matplotlib."""
        from recnb.results.figure import figure

        return figure(self)

    def __repr__(self) -> str:
        from recnb.results.report_text import text

        with speaking(self.lang):
            return text(self)

    def _repr_html_(self) -> str:
        from recnb.results.report_html import fragment

        with speaking(self.lang):
            return fragment(self)


def _measured_as_dict(one: Measured) -> dict[str, Any]:
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
