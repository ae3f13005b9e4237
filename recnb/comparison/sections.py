"""The sections of the report of a comparison, each in every form: HTML, console and Markdown (its macros in `sections.*.jinja`), LaTeX, JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from recnb.comparison import charts
from recnb.comparison import conclusions as words
from recnb.comparison.conclusions import SIGNS, bare_p, number, percent_of, signed
from recnb.display.language import N_, _, ngettext
from recnb.display.templates import macro, name, user_text
from recnb.display.text import LatexTable, latex_text
from recnb.report.section import Cells, Column, FindingsTab, Safe, Section

if TYPE_CHECKING:
    from recnb.comparison.results import ComparisonReportData, Difference, Mean
    from recnb.report.data import MetricDescription

#: Marks of LaTeX for verdicts, and for means that are not significantly different from the best.
LATEX_MARKS = {"better": r"\ast", "worse": r"\ddagger"}
LATEX_NEAR = r"\circ"


def marked(bold: str) -> Callable[[Mean, str], str]:
    """Return a function that shows a mean in a table of text."""

    def cell(mean: Mean, verdict: str) -> str:
        value = f"{bold}{number(mean.mean)}{bold}" if mean.best else number(mean.mean)
        sign = SIGNS.get(verdict, "") if verdict in ("better", "worse") else ""
        ends = f" [{number(mean.low)}, {number(mean.high)}]" if isfinite(mean.low) else ""
        return f"{value}{'°' if mean.near_best else ''}{sign}{ends}"

    return cell


def part(label: str, section: str, *arguments: Any) -> str:
    """One macro of `sections.html.jinja` by itself."""
    body = macro("comparison/sections.html.jinja", section, *arguments, **ComparisonSection.context)
    return str(macro("report/report.jinja", "framed", label, body))


class ComparisonSection(Section):
    """A section of the report of a comparison."""

    report: ComparisonReportData
    folder = "comparison"
    context: ClassVar[Mapping[str, Any]] = {
        "words": words, "charts": charts, "marked": marked, "name_of": name, "user_text": user_text,
    }  # fmt: skip


class ComparisonHead(ComparisonSection):
    """The conclusions of the lead metric at the lead cut-off."""

    name = "head"
    fields = ("models", "reference", "k", "lead_k", "n_users", "judged", "settings")

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"n_compared": self.report.n_tested}


class ComparisonFindings(FindingsTab, ComparisonSection):
    """Problems in the data of the models, and in whose lists; and what is left out of the report."""

    fields = ("n_checks", "left_out")

    @property
    def none_found(self) -> str:
        """The number of checks that found nothing."""
        return _("Lint: no findings in {checks} checks", checks=self.report.n_checks)

    def to_dict(self) -> dict[str, Any]:
        names = ("name", "severity", "n", "of", "short", "example", "advice", "code")
        findings = [
            {"models": found.models, "effects": [of_model.effect for of_model in found.of_each]}
            | {name: getattr(found.finding, name) for name in names}
            for found in self.report.findings
        ]
        return super().to_dict() | {"findings": findings}


class ComparisonOverview(ComparisonSection):
    """The conclusions, and the means at every cut-off."""

    name = "overview"
    title = N_("Overview")
    fields = ("means",)

    def means(self, k: int | None, safe: Safe, cell: Callable[[Mean, str], str]) -> Cells:
        """The means of all models at a cut-off."""
        return self._means([(metric, k) for metric in self.report.metrics_at(k)], safe, cell)

    def _means(
        self, columns: Sequence[tuple[MetricDescription, int | None]], safe: Safe, cell: Callable[[Mean, str], str]
    ) -> Cells:
        """Models × metrics; `cell` takes a mean and the verdict of its difference from the reference, or ""."""
        report = self.report
        verdicts = {
            (row.model, row.label): row.verdict for row in report.differences if row.baseline == report.reference
        }
        of_columns = [
            [cell(mean, verdicts.get((mean.model, mean.label), "")) for mean in report.means_at(metric.metric, k)]
            for metric, k in columns
        ]
        rows = [[safe(model), *cells] for model, *cells in zip(report.models, *of_columns, strict=True)]
        return Cells(
            [_("model"), *(metric.symbol if k is None else f"{metric.symbol}@{k}" for metric, k in columns)], rows
        )

    def latex(self) -> list[LatexTable]:
        """The means of all models at every cut-off; users, test and correction in the note."""

        def cell(mean: Mean, verdict: str) -> str:
            marks = (LATEX_NEAR if mean.near_best else "") + LATEX_MARKS.get(verdict, "")
            value = rf"\textbf{{{number(mean.mean)}}}" if mean.best else number(mean.mean)
            return value + (_raised(marks) if marks else "")

        report, n_columns = self.report, len(self.report.metrics)
        rows: list[Sequence[str] | str] = []
        columns = [(metric, k) for metric in report.metrics for k in report.k if report.means_at(metric.metric, k)]
        if len(columns) == n_columns and len(report.k) > 1:  # each metric at a cut-off of its own
            cells = self._means(columns, latex_text, cell)
            rows = [["", *map(latex_text, cells.header[1:])], r"\midrule", *cells.rows]
            return [self._latex_table(n_columns, rows)]
        for k in self.report.k:
            header = latex_text(_("whole list")) if k is None else rf"$k = {k}$"
            metrics = [latex_text(metric.symbol) for metric in self.report.metrics_at(k)]
            rest = [""] * (n_columns - len(metrics))  # of metrics that have no number here
            body = [[*row, *rest] for row in self.means(k, latex_text, cell).rows]
            rows += [*([r"\midrule"] if rows else []), [header, *metrics, *rest], r"\midrule", *body]
        return [self._latex_table(n_columns, rows)]

    def to_dict(self) -> dict[str, Any]:
        names = ("metric", "symbol", "title", "reads", "formula", "convention")
        metrics = [
            {name: getattr(metric, name) for name in names} | {"bounded": metric.top is not None}
            for metric in self.report.metrics
        ]
        return super().to_dict() | {"metrics": metrics}

    def _latex_table(self, n_columns: int, rows: Sequence[Sequence[str] | str]) -> LatexTable:
        caption = ngettext("Means over {n:,} user", "Means over {n:,} users", self.report.n_users)
        return LatexTable("l" + "r" * n_columns, rows, f"{latex_text(caption, 400)}.", self._note())

    def _note(self) -> str:
        report, settings = self.report, self.report.settings
        near = words.near_best_in_words(settings.alpha)
        sentences = [
            rf"\textbf{{{latex_text(_('Bold'))}}}" + latex_text(_(": the highest mean of its column"), 400),
            f"{_raised(LATEX_NEAR)} {latex_text(near, 400)}",
        ]
        if report.reference is not None:
            better = latex_text(_("better than {baseline}", baseline=report.reference), 400)
            worse = latex_text(_("worse than {baseline}", baseline=report.reference), 400)
            test = _(
                "{test}, Holm's correction over {count} comparisons, level {alpha}, and a {confidence} interval of "
                "the difference that leaves out 0 ({method})",
                test=_(words.TESTS[settings.test]),
                count=f"{report.n_tested:,}",
                alpha=f"{settings.alpha:g}",
                confidence=percent_of(settings.confidence),
                method=words.method_in_words(settings),
            )
            marks = f"{_raised(LATEX_MARKS['better'])} {better}, {_raised(LATEX_MARKS['worse'])} {worse}"
            sentences.append(f"{marks}: {latex_text(test, 600)}")
        not_covered = words.notes(settings, report.n_tested)[-1]
        sentences += [latex_text(sentence.rstrip("."), 3000) for sentence in (not_covered, report.basis)]
        return ". ".join(sentences) + "."


def _columns(report: ComparisonReportData, safe: Safe) -> dict[str, Column]:
    """The columns of tables of differences: the title of each, and a cell."""
    interval = _("{confidence} interval", confidence=percent_of(report.settings.confidence))
    return {
        "metric": (_("metric"), lambda row: row.label),
        "model": (_("model"), lambda row: safe(row.model)),
        "baseline": (_("baseline"), lambda row: safe(row.baseline)),
        "users": (_("users"), lambda row: f"{row.n_users:,}"),
        "difference": (_("difference"), lambda row: signed(row.difference)),
        "interval": (interval, lambda row: f"{number(row.low)} … {number(row.high)}"),
        "p": (_("p"), lambda row: bare_p(row.p)),
        "holm": (_("p, Holm"), lambda row: bare_p(row.p_holm)),
        "effect": (_("effect size"), lambda row: number(row.effect_size)),
        "won": (_("won / tied / lost"), lambda row: f"{row.won:,} / {row.tied:,} / {row.lost:,}"),
        "detectable": (_("detectable"), lambda row: number(row.detectable)),
        "conclusion": (_("conclusion"), words.verdict_in_words),
    }


class DifferencesSection(ComparisonSection):
    """Every difference with its tests, and the forest plot."""

    name = "differences"
    title = N_("Differences")

    def heading(self, safe: Safe) -> str:
        return _("Differences, each over the same users")

    def tests(self, differences: Sequence[Difference], safe: Safe, *, brief: bool = False) -> Cells:
        """Differences with intervals, p-values, corrections, effect size and users; if `brief`, without what is detectable."""
        left_out = {"users", *(("detectable",) if brief else ())}
        columns = [column for name, column in _columns(self.report, safe).items() if name not in left_out]
        return Cells.of(differences, columns, 3)

    def table(self, safe: Safe) -> Cells:
        return self.tests(self.report.differences, safe, brief=True)

    def to_dict(self) -> dict[str, Any]:
        return {"differences": [row.to_dict() for row in self.report.differences]}


class SegmentDifferences(ComparisonSection):
    """The differences within each segment of the users."""

    name = "segments"
    title = N_("Segments")
    needs = "segments"

    def table(self, safe: Safe) -> Cells:
        assert self.report.segments is not None
        names = ("model", "baseline", "users", "difference", "interval", "holm", "conclusion")
        columns = [column for name, column in _columns(self.report, safe).items() if name in names]
        segments, differences = zip(*self.report.segments.rows, strict=True)
        header, rows, _numbers_from = Cells.of(differences, columns)
        cells = [[safe(segment), *row] for segment, row in zip(segments, rows, strict=True)]
        return Cells([_("segment"), *header], cells, 3)

    def heading(self, safe: Safe) -> str:
        return words.segments_title(self.report, safe)

    def latex(self) -> list[LatexTable]:
        """The differences within each segment; text of LaTeX has no signs of verdicts."""
        assert self.report.segments is not None
        cells = self.table(str)
        rows = [[*row[:-1], row[-1].partition(" ")[2]] for row in cells.rows]
        note = _(
            "p-values by {test}, corrected by Holm's method over {n:,} tests; intervals are not corrected",
            test=_(words.TESTS[self.report.settings.test]),
            n=self.report.segments.n_tested,
        )
        header, *body = ([latex_text(cell) for cell in row] for row in (cells.header, *rows))
        return [
            Cells(header, body, cells.numbers_from).latex(
                f"{latex_text(self.heading(str), 400)}.", f"{latex_text(note, 400)}."
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        segments = self.report.segments
        if segments is None:
            return {"segments": None}
        rows = [{"segment": name, **row.to_dict()} for name, row in segments.rows]
        return {"segments": {"by": segments.by, "rows": rows, "n_small": segments.n_small}}


class CurvesSection(ComparisonSection):
    """The lead metric of every model against the cut-off, in HTML alone."""

    name = "curves_of_report"
    title = N_("Curves")

    def to_dict(self) -> dict[str, Any]:
        names = ("metric", "symbol", "k", "value", "low", "high", "n_users")
        curves = self.report.curves.items()
        rows = [{"model": model} | {name: getattr(curve, name) for name in names} for model, curve in curves]
        return {"curves": [{"mean" if name == "value" else name: value for name, value in row.items()} for row in rows]}


class ComparisonBeyond(ComparisonSection):
    """Metrics beyond accuracy, a column a model."""

    name = "beyond"
    title = N_("Beyond accuracy")
    needs = "beyond"
    fields = ("beyond",)

    def table(self, safe: Safe, cell: Callable[[float, float, float], str] = lambda value, *_: number(value)) -> Cells:
        rows = [[f"{row.symbol}@{row.k}", *(cell(*values) for values in row.values)] for row in self.report.beyond]
        return Cells([_("metric"), *map(safe, self.report.models)], rows)


class MoversSection(ComparisonSection):
    """The users who gain and lose most, with both lists."""

    name = "users"
    title = N_("Users")
    needs = "moved"
    fields = ("moved",)


class OverlapSection(ComparisonSection):
    """The similarity of the lists of each two models."""

    name = "overlap"
    title = N_("Overlap")
    needs = "overlaps"
    fields = ("overlaps",)

    def heading(self, safe: Safe) -> str:
        return _("Similarity of the lists")

    def table(self, safe: Safe) -> Cells:
        first = self.report.overlaps[0]
        columns: list[Column] = [
            (_("lists of"), lambda row: safe(row.model) + " · " + safe(row.other)),
            (_("Jaccard{at}", at="" if first.k is None else f"@{first.k}"), lambda row: number(row.jaccard)),
            (_("the very same list"), lambda row: f"{row.n_identical:,}"),
            (_("users"), lambda row: f"{row.n_users:,}"),
        ]
        return Cells.of(self.report.overlaps, columns)


class ComparisonReadings(ComparisonSection):
    """The users, the conventions, how often was tested, and how to read each metric."""

    name = "about"
    title = N_("How to read")
    fields = ("basis", "notes")


def _raised(marks: str) -> str:
    return f"$^{{{marks}}}$"


#: In the order shown: the head first, without a tab; findings behind the others in HTML if there are none.
SECTIONS: tuple[type[Section], ...] = (
    ComparisonHead,
    ComparisonOverview,
    ComparisonFindings,
    DifferencesSection,
    SegmentDifferences,
    CurvesSection,
    ComparisonBeyond,
    MoversSection,
    OverlapSection,
    ComparisonReadings,
)
