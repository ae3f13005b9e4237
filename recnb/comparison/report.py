"""The report of a comparison: one frozen object, and its forms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recnb.comparison.conclusions import number, report_title
from recnb.comparison.parts import Curves, draw_forest
from recnb.comparison.results import ComparisonReportData
from recnb.comparison.sections import SECTIONS
from recnb.display.language import _
from recnb.display.templates import user_text
from recnb.report.section import Section, SectionedReport

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonReport(SectionedReport):
    """The conclusions about some models, the numbers behind them, and the users behind those.

    A notebook displays it; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    data: ComparisonReportData
    lang: str

    _schema = "recnb.comparison/4"

    @property
    def _sections(self) -> list[Section]:
        return [section(self.data) for section in SECTIONS]

    def _titles(self) -> tuple[str, str]:
        title = user_text(report_title(self.data), 200)
        return title, title

    def _frame(self) -> tuple[str, str]:
        means = [(mean.label, mean.model, number(mean.mean)) for mean in self.data.means]
        return _("comparison of models"), f"{self.data.basis}; {self.data.settings}; {means}"

    def to_frame(self) -> pd.DataFrame:
        """Means and differences in one long frame: a row for each metric, cut-off and model, with its baseline if it has one.

        `mean`, `mean_low` and `mean_high` are the model's; `difference` and what follows is from its baseline.
        """
        import pandas as pd

        means = pd.DataFrame([asdict(row) for row in self.data.means])
        means = means.drop(columns="symbol").rename(columns={"low": "mean_low", "high": "mean_high"})
        rows = [row.to_dict() for row in self.data.differences]
        apart = pd.DataFrame(rows).drop(columns=["symbol", "n_users", "alpha"])
        return means.merge(apart, on=["metric", "k", "model"], how="left", sort=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as plain Python that `json` can write; NaN is None.

        Keys: `schema`, `lang`, `models`, `reference` (None: every two models), `n_users`, `judged` (model, n_users,
        n_left_out, n_without_list), `k`, `lead_k`, `settings` (confidence, test, method, resamples,
        permutations, seed), `n_compared`, `metrics`, `means`, `differences` (each with its `verdict`), `curves`, `moved`
        (gained and lost users with both lists), `overlaps`, `beyond`, `n_checks` and `findings` (models, name, severity, n, of, short,
        example, advice, code, and `effects`, one for each of the models), `segments` (None, or by, n_small and `rows`: segment and the keys of a difference), `basis`,
        `notes` and `left_out` (what takes rows that are not here, in words).
        """
        return {"lang": self.lang, **self._to_dict()}

    def figure(self) -> Figure:
        """Draw the curves and the forest plot side by side with matplotlib."""
        import matplotlib.pyplot as plt

        shown = tuple(self.data.drawn())
        height = max(3.8, 0.32 * len(shown) + 1.2)
        drawn, (left, right) = plt.subplots(1, 2, figsize=(12, height), layout="constrained")
        Curves(self.data.curves, self.data.settings, lang=self.lang).plot(left)
        draw_forest(right, shown, self.lang)
        # A notebook would show an open figure once more at the end of the cell.
        plt.close(drawn)
        return drawn
