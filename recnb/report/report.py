"""The report of one model: who was evaluated, the metrics with their intervals, and the users behind the means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recnb.display.language import _
from recnb.display.text import fixed
from recnb.report.data import ReportData
from recnb.report.section import Section, SectionedReport
from recnb.report.sections import SECTIONS, headline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Report(SectionedReport, ReportData):
    """Findings about the data, each metric with its interval, the curve over k, and the users behind the mean.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    _schema = "recnb.report/3"

    @property
    def _sections(self) -> list[Section]:
        return [section(self) for section in SECTIONS]

    def _titles(self) -> tuple[str, str]:
        value, _low, _high = self.lead.at(self.lead_k)
        return headline(self, self.label, fixed(value)), _("Evaluation report")

    def _frame(self) -> tuple[str, str]:
        numbers = self.to_frame().to_csv(float_format="%.9f")
        return _("report of {symbol}", symbol=self.lead.symbol), f"{self.basis}; {numbers}"

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
