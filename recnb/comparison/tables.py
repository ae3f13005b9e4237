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

    rows = [[name(model), *(value(model, one.metric) for one in report.metrics)] for model in report.models]
    return Cells([_("model"), *(f"{one.symbol}@{k}" for one in report.metrics)], rows)


def paired_tests(differences: Sequence[Difference], settings: Settings, name: Name, *, brief: bool = False) -> Cells:
    """Differences with intervals, p-values, corrections, effect size and users; if `brief`, without three of the columns."""

    def row(one: Difference) -> list[str]:
        further = [] if brief else [bare_p(one.wilcoxon_p), bare_p(one.randomization_p)]
        return [
            one.label, name(one.model), name(one.baseline), signed(one.difference), f"{number(one.low)} … {number(one.high)}",
            bare_p(one.t_p), *further, bare_p(one.p_holm), bare_p(one.p_bh), number(one.effect_size),
            f"{one.won:,} / {one.tied:,} / {one.lost:,}", *([] if brief else [number(one.detectable)]), verdict_in_words(one),
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
            name(segment), name(one.model), name(one.baseline), f"{one.n_users:,}", signed(one.difference),
            f"{number(one.low)} … {number(one.high)}", bare_p(one.p_holm), verdict_in_words(one),
        ]
        for segment, one in report.segments.rows
    ]  # fmt: skip
    return Cells(header, rows, 3)


def beyond(report: ComparisonReportData, name: Name, cell: Callable[[float, float, float], str]) -> Cells:
    """Metrics beyond accuracy, a column a model; `cell` takes the value and the ends of its interval."""
    rows = [[f"{one.symbol}@{one.k}", *(cell(*values) for values in one.values)] for one in report.beyond]
    return Cells([_("metric"), *map(name, report.models)], rows)


def overlaps(found: Sequence[Overlap], pair: Callable[[str, str], str]) -> Cells:
    """How alike the lists of each two models are; `pair` puts two names into a cell."""
    first = found[0]
    header = [
        _("lists of"), _("Jaccard{at}", at="" if first.k is None else f"@{first.k}"), _("RBO, p = {p}", p=f"{first.p:g}"),
        _("the very same list"), _("users"),
    ]  # fmt: skip
    rows = [
        [pair(one.model, one.other), number(one.jaccard), number(one.rbo), f"{one.n_identical:,}", f"{one.n_users:,}"]
        for one in found
    ]
    return Cells(header, rows)
