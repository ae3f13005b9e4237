"""The sections of the report of one model, each in every form: HTML, console and Markdown (its macros in `sections.*.jinja`), LaTeX, JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from recnb.display.language import N_, _, ngettext, pgettext
from recnb.display.templates import plain_lines
from recnb.display.text import LatexTable, at_k, ends, fixed, latex_text, short, signed, some
from recnb.report.data import BeyondRow
from recnb.report.section import Cells, Column, FindingsTab, Safe, Section
from recnb.stats import BETA, ENOUGH

if TYPE_CHECKING:
    from recnb.report.data import MetricSummary, ReportData, UserSummary
    from recnb.results.segments import Segment


def headline(report: ReportData, label: str, value: str) -> str:
    """The lead metric with its value, and the users."""
    users = ngettext("{n:,} user", "{n:,} users", report.n_users)
    words = _("{label} = {value}, {users}", label=label, value=value, users=users)
    return _("Report: {headline}", headline=words)


def cell(metric: MetricSummary | BeyondRow, k: int | None, brackets: str = "[]", between: str = ", ") -> str:
    """A value with its interval, "" at a cut-off of other metrics; metrics of all lists together have no interval."""
    if k not in metric.k:
        return ""
    value, low, high = metric.at(k)
    if isinstance(metric, BeyondRow) and not isfinite(low):
        return fixed(value)
    return f"{fixed(value)} {brackets[0]}{ends(low, high, between)}{brackets[1]}"


class ModelSection(Section):
    """A section of the report of one model."""

    report: ReportData
    folder = "report"
    context: ClassVar[Mapping[str, Any]] = {"cell": cell, "headline": headline, "some": some}

    @property
    def users(self) -> str:
        """The number of users that the means are over, in words."""
        return ngettext("{n:,} user", "{n:,} users", self.report.n_users)

    @property
    def call(self) -> str:
        """The lead metric by the name that is typed, as ndcg@10."""
        return f"{self.report.lead.metric}@{self.report.lead_k}"


class HeadSection(ModelSection):
    """The lead metric with its interval, and the users."""

    name = "head"

    def to_dict(self) -> dict[str, Any]:
        interval = {"confidence": self.report.confidence, "method": self.report.method}
        return {"basis": self.report.basis, "interval": interval, "k": self.report.k, "lead_k": self.report.lead_k}


class FindingsSection(FindingsTab, ModelSection):
    """Problems in the data, and their effect on the numbers; the overview has a line for each."""

    def to_dict(self) -> dict[str, Any]:
        lint = self.report.findings
        names = ("n_checks", "label", "k", "value", "lower", "upper", "unchecked", "elsewhere")
        found = lint.to_frame().rename(columns={"finding": "name"}).to_dict("records")
        return {"findings": {**{name: getattr(lint, name) for name in names}, "found": found}}


class OverviewSection(ModelSection):
    """Every metric at the cut-offs, a line per finding, and what was evaluated."""

    name = "overview"
    title = N_("Overview")

    @property
    def remarks(self) -> str:
        """The method of the intervals, what they leave out, and the users of metrics beyond accuracy."""
        return " ".join(plain_lines("report/words.txt.jinja", "remarks", self.report, _(BETA), ENOUGH))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The users, lists and relevant items evaluated, as names and sentences."""
        population = self.report.population
        lengths, relevant = population.list_length, population.relevant_per_user
        median = short(lengths.median)
        length = _("{low:,} to {high:,} ranks, median {median}", low=lengths.min, high=lengths.max, median=median)
        if lengths.min == lengths.max:
            length = _("{items} each", items=ngettext("{n:,} item", "{n:,} items", lengths.max))
        rows = ngettext("{n:,} row", "{n:,} rows", population.n_recommended)
        recommended = ngettext("{n:,} different item", "{n:,} different items", population.n_items_recommended)
        per_user = _(
            "{low:,} to {high:,}, median {median}, mean {mean:.2f}",
            low=relevant.min,
            high=relevant.max,
            median=short(relevant.median),
            mean=relevant.mean,
        )
        items = ngettext("{n:,} different item", "{n:,} different items", population.n_items_relevant)
        found = _("{n:,}, of {items}; per user {per_user}", n=population.n_relevant, items=items, per_user=per_user)
        lines = [
            (_("users"), "; ".join(population.users)),
            (_("lists"), f"{length}; {rows}, {recommended}"),
            (_("relevant items"), found),
            (_("conventions"), "; ".join(population.conventions)),
        ]
        if population.n_not_relevant:
            rows = ngettext("{n:,} row", "{n:,} rows", population.n_not_relevant)
            lines.append((_("not relevant"), _("{rows} of the truth", rows=rows)))
        if population.n_gaps:
            gaps = ngettext("{n:,} user", "{n:,} users", population.n_gaps)
            words = _("the lists of {users} leave ranks empty, which count as misses", users=gaps)
            lines.append((_("rank gaps"), words))
        return [*lines, *((_("note"), note) for note in population.notes)]

    def means(
        self, at: Sequence[int | None], title: str = "", name: str = "{}", brackets: str = "[]", between: str = ", "
    ) -> Cells:
        """Each metric at some cut-offs."""
        rows = [
            [name.format(metric.metric), *(cell(metric, k, brackets, between) for k in at)]
            for metric in self.report.measured
        ]
        return Cells([title, *map(at_k, at)], rows)

    def latex(self) -> list[LatexTable]:
        report, at = self.report, self.report.k
        header = ["", *(rf"\multicolumn{{2}}{{c}}{{{at_k(k)}}}" for k in at)]
        rules = " ".join(rf"\cmidrule(lr){{{2 * column + 2}-{2 * column + 3}}}" for column in range(len(at)))
        metrics = [_latex_row(metric, at) for metric in report.measured]
        rows = [header, rules, *metrics[: len(report.metrics)]]
        if beyond := metrics[len(report.metrics) :]:
            rows += [r"\midrule", *beyond]
        conventions = [f"{metric.symbol}: {metric.convention}" for metric in report.metrics if metric.convention]
        note = _sentences([report.basis, *conventions, self.remarks])
        return [LatexTable("l" + "rl" * len(at), rows, _sentences([_("Mean over users, with interval")]), note)]

    def to_dict(self) -> dict[str, Any]:
        population = asdict(self.report.population)
        texts = ("users", "conventions", "notes", "list_length", "relevant_per_user")
        names = ("metric", "symbol", "reads", "formula", "convention")
        return {
            **{name: population[name] for name in texts},
            "counts": {name: count for name, count in population.items() if name.startswith("n_")},
            "metrics": [
                {**{name: getattr(metric, name) for name in names}, "values": _at_cutoffs(metric, "mean")}
                for metric in self.report.metrics
            ],
        }


def _latex_row(metric: MetricSummary | BeyondRow, at: Iterable[int | None]) -> list[str]:
    cells = [latex_text(metric.symbol)]
    for k in at:
        value, low, high = metric.at(k)
        if k not in metric.k:
            cells += ["", ""]
            continue
        interval = "" if isinstance(metric, BeyondRow) and not isfinite(low) else f"[{ends(low, high, ', ')}]"
        cells += [fixed(value), interval]
    return cells


def _sentences(sentences: Iterable[str]) -> str:
    return latex_text(" ".join(f"{words.rstrip('.')}." for words in sentences), 4000)


def _at_cutoffs(metric: MetricSummary | BeyondRow, value: str) -> list[dict[str, Any]]:
    names = ("k", value, "low", "high")
    return [dict(zip(names, (k, *row), strict=True)) for k, row in zip(metric.k, metric.values, strict=False)]


class DistributionSection(ModelSection):
    """The lead metric against k, and its distribution over users."""

    name = "curve_and_distribution"
    title = N_("Curve and distribution")

    @property
    def words(self) -> str:
        """The number of users with the lowest and the highest value, and the quartiles."""
        return "; ".join(plain_lines("report/words.txt.jinja", "spread", self.report.distribution))

    @property
    def bins(self) -> list[tuple[str, int, float]]:
        """The bins: edges in words, users and their share; the last bin holds its upper edge as well."""
        values = self.report.distribution
        edges = [(short(low), short(high)) for low, high in pairwise(values.edges)]
        names = [_("{low} to <{high}", low=low, high=high) for low, high in edges[:-1]]
        names.append(pgettext("last bin", "{low} to {high}", low=edges[-1][0], high=edges[-1][1]))
        return list(zip(names, values.counts, values.shares, strict=True))

    def to_dict(self) -> dict[str, Any]:
        names = ("metric", "k", "low", "high")
        curve = {name: getattr(self.report.curve, name) for name in names} | {"mean": self.report.curve.value}
        return {"curve": curve, "distribution": self.report.distribution}


class SegmentsSection(ModelSection):
    """The metrics in each segment of the users, and the gap of each segment to all others."""

    name = "segments"
    title = N_("Segments")
    needs = "segments"
    fields = ("segments",)

    def verdict(self, segment: Segment) -> str:
        """The comparison of a segment with all other users."""
        assert self.report.segments is not None
        if not isfinite(segment.gap_low):
            return _("– too few users or differences")
        if not self.report.segments.differs(segment):
            return _("○ not significant")
        return _("▲ above") if segment.gap > 0 else _("▼ below")

    def heading(self, safe: Safe) -> str:
        assert self.report.segments is not None
        return self._caption(self.call, safe(self.report.segments.by))

    def _caption(self, label: str, by: str) -> str:
        return _("{label} by {by}: each segment, and its gap to all other users", label=label, by=by)

    def cells(
        self, shown: Iterable[Segment], safe: Safe, brackets: str, between: str, columns: Sequence[int] = range(7)
    ) -> Cells:
        """Some of the columns of a table of segments."""
        of_segments: list[Column] = [
            (_("metric"), lambda row: f"`{row.metric}`"),
            (_("segment"), lambda row: safe(row.segment)),
            (_("users"), lambda row: f"{row.n_users:,}"),
            (_("mean"), lambda row: f"{fixed(row.mean)} {brackets[0]}{ends(row.low, row.high, between)}{brackets[1]}"),
            (_("gap to the rest"), lambda row: signed(row.gap)),
            (_("p (Holm)"), lambda row: f"{row.p_holm:.4f}" if isfinite(row.p_holm) else "–"),
            (_("against the rest"), self.verdict),
        ]
        return Cells.of(shown, [of_segments[at] for at in columns])

    def latex(self) -> list[LatexTable]:
        """The segments by the lead metric; those that differ from all other users are marked."""
        segments = self.report.segments
        assert segments is not None
        marks = {True: r"$^{\ast}$", False: ""}

        def gaps(row: Segment) -> str:
            low, high = (latex_text(signed(value)) for value in (row.gap_low, row.gap_high))
            return f"[{low}, {high}]" if isfinite(row.gap_low) else ""

        columns: list[Column] = [
            (_("segment"), lambda row: latex_text(row.segment)),
            (_("users"), lambda row: f"{row.n_users:,}"),
            (_("mean"), lambda row: fixed(row.mean)),
            (
                pgettext("segments", "interval"),
                lambda row: f"[{ends(row.low, row.high, ', ')}]" if isfinite(row.low) else "",
            ),
            (_("gap to the rest"), lambda row: latex_text(signed(row.gap)) + marks[segments.differs(row)]),
            (_("interval of the gap"), gaps),
        ]
        header, rows, _numbers_from = Cells.of(segments.of(self.report.lead.metric), columns)
        caption = _sentences([self._caption(self.report.label, segments.by)])
        differs = _("* differs from all other users at {alpha} (Holm)", alpha=f"{segments.alpha:g}")
        body = [list(map(latex_text, header)), r"\midrule", *rows]
        return [LatexTable("lrrlrl", body, caption, _sentences([segments.basis, differs]))]


class BeyondSection(ModelSection):
    """Metrics beyond accuracy, in HTML alone: other forms have them below the others."""

    name = "beyond"
    title = N_("Beyond accuracy")
    needs = "beyond"

    @property
    def lacking(self) -> list[str]:
        """A sentence for each frame or column that is missing for metrics which have no value."""
        lacks: dict[str, list[str]] = {}
        for metric in self.report.beyond:
            if not metric.values:
                lacks.setdefault(metric.needs.removesuffix("."), []).append(metric.metric)
        return [_("not here: {names} ({why})", names=", ".join(names), why=why) + "." for why, names in lacks.items()]

    def to_dict(self) -> dict[str, Any]:
        return {"beyond": [{**asdict(metric), "values": _at_cutoffs(metric, "value")} for metric in self.report.beyond]}


class UsersSection(ModelSection):
    """The users whom the lists serve best and worst, with their lists."""

    name = "users"
    title = N_("Users")
    fields = ("best", "worst")
    groups: ClassVar = {"only": N_("The user"), "best": N_("Best users"), "worst": N_("Worst users")}  #: their headings

    def found(self, user: UserSummary) -> str:
        """The number of the relevant items in a user's list."""
        if not user.n_relevant:
            return _("no relevant item")
        return _("found {n:,} of {relevant:,} relevant", n=user.n_hits, relevant=user.n_relevant)

    def missed(self, user: UserSummary, shown: Callable[[Any, str], str]) -> str:
        """The most relevant of the items missed, each as `shown` gives its id and title, and how many more there are."""
        names = [
            shown(item.item, item.title) + (f" {_('(at rank {rank})', rank=item.rank)}" if item.rank else "")
            for item in user.missed
        ]
        more = user.n_missed - len(names)
        return ", ".join(names) + (f" {_('and {n:,} more', n=more)}" if more else "")


class ReadingsSection(ModelSection):
    """The meaning, the formula and the convention of each metric, in HTML alone."""

    name = "readings"
    title = N_("How to read")


class BasisSection(ModelSection):
    """The users and the convention behind the numbers."""

    name = "basis"


#: In the order shown: the head first, without a tab; findings behind the others in HTML if there are none.
SECTIONS: tuple[type[Section], ...] = (
    HeadSection,
    OverviewSection,
    FindingsSection,
    DistributionSection,
    SegmentsSection,
    BeyondSection,
    UsersSection,
    ReadingsSection,
    BasisSection,
)
