"""The tables of a comparison as header and cells, which each form (console, Markdown, LaTeX, HTML) lays out.

`name` makes a string of the user's safe for the form; everything else in a cell is text or numbers of recnb's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recnb.comparison.conclusions import bare_p, number, percent_of, signed, verdict_in_words
from recnb.display.language import _

if TYPE_CHECKING:
    from recnb.comparison.results import ComparisonReportData, Difference, Mean, Overlap, Settings

Name = Callable[[object], str]


class Cells(NamedTuple):
    """A table: columns from `numbers_from` on hold numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers_from: int = 1


def means(report: ComparisonReportData, k: int, name: Name, cell: Callable[[Mean, str], str]) -> Cells:
    """Models × metrics at a cut-off; `cell` takes a mean and the verdict of its difference from the reference, or ""."""

    def value(model: str, metric: str) -> str:
        against = report.against_reference(model, metric, k)
        return cell(report.mean_of(model, metric, k), "" if against is None else against.verdict)

    rows = [[name(model), *(value(model, metric.metric) for metric in report.metrics)] for model in report.models]
    return Cells([_("model"), *(f"{metric.symbol}@{k}" for metric in report.metrics)], rows)


def paired_tests(differences: Sequence[Difference], settings: Settings, name: Name, *, brief: bool = False) -> Cells:
    """Differences with intervals, p-values, corrections, effect size and users; if `brief`, without three of the columns."""

    def row(difference: Difference) -> list[str]:
        further = [] if brief else [bare_p(difference.wilcoxon_p), bare_p(difference.randomization_p)]
        return [
            difference.label, name(difference.model), name(difference.baseline), signed(difference.difference), f"{number(difference.low)} … {number(difference.high)}",
            bare_p(difference.t_p), *further, bare_p(difference.p_holm), bare_p(difference.p_bh), number(difference.effect_size),
            f"{difference.won:,} / {difference.tied:,} / {difference.lost:,}", *([] if brief else [number(difference.detectable)]), verdict_in_words(difference),
        ]  # fmt: skip

    interval = _("{confidence} interval", confidence=percent_of(settings.confidence))
    header = [
        _("metric"), _("model"), _("baseline"), _("difference"), interval, _("p, t"),
        *([] if brief else [_("p, Wilcoxon"), _("p, signs")]), _("p, Holm"), _("p, BH"), _("effect size"),
        _("won / tied / lost"), *([] if brief else [_("detectable")]), _("conclusion"),
    ]  # fmt: skip
    return Cells(header, list(map(row, differences)), 3)


def segments(report: ComparisonReportData, name: Name) -> Cells:
    """The differences within each segment of the users."""
    assert report.segments is not None
    interval = _("{confidence} interval", confidence=percent_of(report.settings.confidence))
    header = [
        _("segment"),
        _("model"),
        _("baseline"),
        _("users"),
        _("difference"),
        interval,
        _("p, Holm"),
        _("conclusion"),
    ]
    rows = [
        [
            name(segment), name(difference.model), name(difference.baseline), f"{difference.n_users:,}", signed(difference.difference),
            f"{number(difference.low)} … {number(difference.high)}", bare_p(difference.p_holm), verdict_in_words(difference),
        ]
        for segment, difference in report.segments.rows
    ]  # fmt: skip
    return Cells(header, rows, 3)


def beyond(report: ComparisonReportData, name: Name, cell: Callable[[float, float, float], str]) -> Cells:
    """Metrics beyond accuracy, a column a model; `cell` takes the value and the ends of its interval."""
    rows = [[f"{metric.symbol}@{metric.k}", *(cell(*values) for values in metric.values)] for metric in report.beyond]
    return Cells([_("metric"), *map(name, report.models)], rows)


def overlaps(pairs: Sequence[Overlap], pair: Callable[[str, str], str]) -> Cells:
    """How alike the lists of each two models are; `pair` puts two names into a cell."""
    first = pairs[0]
    header = [
        _("lists of"), _("Jaccard{at}", at="" if first.k is None else f"@{first.k}"), _("RBO, p = {p}", p=f"{first.p:g}"),
        _("the very same list"), _("users"),
    ]  # fmt: skip
    rows = [
        [
            pair(overlap.model, overlap.other),
            number(overlap.jaccard),
            number(overlap.rbo),
            f"{overlap.n_identical:,}",
            f"{overlap.n_users:,}",
        ]
        for overlap in pairs
    ]
    return Cells(header, rows)
