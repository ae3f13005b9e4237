"""The report of a comparison: one frozen object, and its forms."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from recnb.comparison import html, text
from recnb.comparison.results import ComparisonReportData, ModelFinding
from recnb.data.files import json_values, written
from recnb.display.language import use_language

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Version of the keys of `to_dict`.
SCHEMA = "recnb.comparison/3"


@dataclass(frozen=True, eq=False)
class ComparisonReport:
    """What may be concluded of some models, the numbers behind it, and the users behind those.

    In a notebook it shows itself; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    data: ComparisonReportData
    lang: str

    def to_frame(self) -> pd.DataFrame:
        """Means and differences in one long frame: a row for each metric, cut-off and model, with its baseline if it has one.

        `mean`, `mean_low` and `mean_high` are the model's; `difference` and what follows is from its baseline.
        """
        import pandas as pd

        means = pd.DataFrame([asdict(row) for row in self.data.means])
        means = means.drop(columns="symbol").rename(columns={"low": "mean_low", "high": "mean_high"})
        rows = [{**asdict(row), "verdict": row.verdict} for row in self.data.differences]
        apart = pd.DataFrame(rows).drop(columns=["symbol", "n_users", "alpha", "p"])
        return means.merge(apart, on=["metric", "k", "model"], how="left", sort=False)

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain Python that `json` can write; NaN is None.

        Keys: `schema`, `lang`, `models`, `reference` (None: every two models), `n_users`, `judged` (model, n_users,
        n_left_out, n_without_list), `k`, `lead_k`, `settings` (confidence, test, method, mean_method, resamples,
        permutations, seed, methods), `n_compared`, `metrics`, `means`, `differences` (each with its `verdict`), `curves`, `moved`
        (gained and lost users with both lists), `overlaps`, `beyond`, `n_checks` and `findings` (models, name, severity, n, of, short,
        example, advice, code, and `effects`, one for each of the models), `segments` (None, or by, n_small and `rows`: segment and the keys of a difference), `basis`,
        `notes` and `left_out` (what takes rows that are not here, in words).
        """
        content = asdict(self.data)
        verdicts = [difference.verdict for difference in self.data.differences]
        content["differences"] = [
            {**row, "verdict": verdict} for row, verdict in zip(content["differences"], verdicts, strict=True)
        ]
        content["findings"] = [_finding_as_dict(finding) for finding in self.data.findings]
        if self.data.segments is not None:
            content["segments"]["rows"] = [
                {"segment": name, **asdict(difference), "verdict": difference.verdict}
                for name, difference in self.data.segments.rows
            ]
        plain: dict[str, Any] = json_values(
            {"schema": SCHEMA, "lang": self.lang, "n_compared": self.data.n_tested, **content}
        )
        return plain

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | Path) -> None: ...
    def to_json(self, path: str | Path | None = None) -> str | None:
        """Return `to_dict` as JSON; with a path, write it there and return None."""
        return written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)

    @overload
    def to_html(self, path: None = None, title: str | None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path, title: str | None = None) -> None: ...
    def to_html(self, path: str | Path | None = None, title: str | None = None) -> str | None:
        """Return a document that runs no script and fetches nothing; with a path, write it there and return None."""
        with use_language(self.lang):
            return written(html.document(self.data, title), path)

    @overload
    def to_markdown(self, path: None = None) -> str: ...
    @overload
    def to_markdown(self, path: str | Path) -> None: ...
    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Return the report in Markdown, tables as GitHub has them; with a path, write it there and return None."""
        with use_language(self.lang):
            return written(text.markdown(self.data), path)

    @overload
    def to_latex(self, path: None = None) -> str: ...
    @overload
    def to_latex(self, path: str | Path) -> None: ...
    def to_latex(self, path: str | Path | None = None) -> str | None:
        """Return the means as a LaTeX table, best in bold, findings marked; it needs booktabs. With a path, write it there."""
        with use_language(self.lang):
            return written(text.latex(self.data), path)

    def figure(self) -> Figure:
        """The curves and the forest plot side by side, drawn by matplotlib."""
        from recnb.comparison.figure import figure

        with use_language(self.lang):
            return figure(self.data)

    def __repr__(self) -> str:
        with use_language(self.lang):
            return text.text(self.data)

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return html.fragment(self.data)


def _finding_as_dict(found: ModelFinding) -> dict[str, Any]:
    finding = found.finding
    sentences = {name: getattr(finding, name) for name in ("short", "example", "advice", "code")}
    effects = [of_model.effect for of_model in found.of_each]
    return {
        "models": found.models,
        "name": finding.name,
        "severity": finding.severity,
        "n": finding.n,
        "of": finding.of,
        "effects": effects,
        **sentences,
    }
