"""The report of one model: who was evaluated, the metrics with their intervals, and the users behind the means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recnb.display.language import _, current
from recnb.display.text import fixed
from recnb.lint.findings import Lint
from recnb.report.data import BeyondRow, Distribution, MetricSummary, PopulationSummary, ReportSegments, UserSummary
from recnb.report.section import Section, SectionedReport
from recnb.report.sections import SECTIONS, headline
from recnb.results.curve import Curve

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Report(SectionedReport):
    """Findings about the data, each metric with its interval, the curve over k, and the users behind the mean.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    population: PopulationSummary
    k: tuple[int | None, ...]  #: all cut-offs; None: the whole list
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    metrics: tuple[MetricSummary, ...]  #: the first is the lead metric
    confidence: float
    method: str  #: of the intervals
    curve: Curve
    distribution: Distribution
    best: tuple[UserSummary, ...]
    worst: tuple[UserSummary, ...]
    findings: Lint  #: problems in the data, measured with the lead metric at `lead_k`
    beyond: tuple[BeyondRow, ...]  #: beyond accuracy, at each cut-off; () where neither train nor items is known
    segments: ReportSegments | None  #: the metrics at `lead_k` by segment, if that was asked for
    basis: str
    _computed: Mapping[str, Any]  #: numbers of sections that have no field here, by the section's name
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    _schema = "recnb.report/3"

    @property
    def n_users(self) -> int:
        """The number of users that the means are over."""
        return self.population.n_users

    @property
    def lead(self) -> MetricSummary:
        """The metric of the curve, the distribution and the users shown."""
        return self.metrics[0]

    @property
    def label(self) -> str:
        """The lead metric at the middle cut-off, as nDCG@10."""
        return f"{self.lead.symbol}@{self.lead_k}"

    @property
    def measured(self) -> tuple[MetricSummary | BeyondRow, ...]:
        """All metrics with values: those of accuracy, then those beyond it."""
        return *self.metrics, *(metric for metric in self.beyond if metric.values)

    @property
    def groups(self) -> tuple[tuple[str, tuple[UserSummary, ...]], ...]:
        """The users shown: "best" and "worst", or the "only" one."""
        if not self.worst:
            return (("only", self.best),) if self.best else ()
        return ("best", self.best), ("worst", self.worst)

    @property
    def _sections(self) -> list[Section]:
        return [section(self) for section in SECTIONS]

    def _titles(self) -> tuple[str, str]:
        value, _low, _high = self.lead.at(self.lead_k)
        return headline(self, self.label, fixed(value)), _("Evaluation report")

    def _frame(self) -> tuple[str, str]:
        numbers = self.to_frame().to_csv(float_format="%.9f")
        return _("report of {symbol}", symbol=self.lead.symbol), f"{self.basis}; {numbers}"

    def to_frame(self) -> pd.DataFrame:
        """The means as a long frame: metric, k, mean, low, high, n_users; those beyond accuracy last.

        `segments` and `findings` have frames of their own: `report.segments.to_frame()`, `report.findings.to_frame()`.
        """
        import pandas as pd

        rows = [
            (metric.metric, k, *values, metric.n_users if isinstance(metric, BeyondRow) else self.n_users)
            for metric in self.measured
            for k, values in zip(metric.k, metric.values, strict=True)
        ]
        return pd.DataFrame(rows, columns=["metric", "k", "mean", "low", "high", "n_users"])

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
        return self._to_dict()

    def figure(self) -> Figure:
        """Draw the curve and the distribution side by side with matplotlib."""
        from recnb.report.figure import figure

        return figure(self)
