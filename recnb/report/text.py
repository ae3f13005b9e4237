"""A report as text: for a console, in Markdown for a page, in LaTeX for a paper."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from recnb.display.language import _, pgettext, width
from recnb.display.text import (
    aligned,
    ends,
    fixed,
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    one_line,
    percent,
    signed,
    some,
)
from recnb.report import summary
from recnb.report.beyond_row import BeyondRow

if TYPE_CHECKING:
    from recnb.report.data import MetricSummary, ReportData, ReportSegments, UserSummary

#: With more cut-offs than these, some are shown and the others counted.
COLUMNS_SHOWN = 8


def text(report: ReportData) -> str:
    """The report for a console, with metrics by the names that are typed."""
    label = f"{report.lead.metric}@{report.lead_k}"
    shown = some(report.k, COLUMNS_SHOWN)
    metrics = [[metric.metric, *(summary.cell(metric, k) for k in shown)] for metric in report.measured]
    left_out = len(report.k) - len(shown)
    remarks = " ".join(summary.remarks(report))
    lines = [
        summary.headline(report, label, summary.cell(report.lead, report.lead_k)),
        *report.findings.lines(),
        "",
        *aligned([["", *(f"@{k}" for k in shown)], *metrics]),
        *([_("({n} more cut-offs in .to_frame())", n=left_out)] if left_out else []),
        *textwrap.wrap(remarks, 110 * len(remarks) // width(remarks)),
        "",
        *aligned(summary.facts(report), left=2),
        "",
        _("{label} over users: {words}", label=label, words=summary.distribution(report)),
        *_bars(report),
        *(_segments(report.segments, label) if report.segments else []),
    ]
    for group, users in report.groups:
        heading = _(summary.GROUPS[group])
        lines += ["", _("{heading} by {label} (* marks a hit):", heading=heading, label=label)]
        lines += [_user(user) for user in users]
    return "\n".join(lines)


def _bars(report: ReportData) -> list[str]:
    most = max(*report.distribution.shares, 0.01)
    rows = [
        [name, f"{count:>9,}", f"{percent(share):>4}", "#" * round(24 * share / most)]
        for name, count, share in summary.bins(report)
    ]
    return [f"  {line}" for line in aligned(rows, left=4)]


def _segments(segments: ReportSegments, label: str) -> list[str]:
    rows = [
        [
            one_line(segment.segment),
            f"{segment.n_users:,}",
            f"{fixed(segment.mean)} [{ends(segment.low, segment.high, ', ')}]",
            signed(segment.gap),
            summary.verdict(segment, segments),
        ]
        for segment in segments.of(segments.rows[0].metric)
    ]
    header = [_("segment"), _("users"), _("mean"), _("gap to the rest"), ""]
    caption = _("{label} by {by}: each segment, and its gap to all other users", label=label, by=one_line(segments.by))
    return ["", caption, *aligned([header, *rows])]


def _user(user: UserSummary) -> str:
    items = [f"{'*' if place.relevance else ''}{_item(place.item, place.title)}" for place in user.places]
    words = _(
        "{user}: {value}, {found}; list: {places}",
        user=one_line(user.user),
        value=fixed(user.value),
        found=summary.found(user),
        places=", ".join([*items, *_more(user)]) or _("no list"),
    )
    missed = f"; {_('missed: {items}', items=summary.missed(user, _item))}" if user.missed else ""
    return f"  {words}{missed}"


def _item(item: Any, title: str) -> str:
    return f"{one_line(title)} ({one_line(item)})" if title else one_line(item)


def _more(user: UserSummary) -> list[str]:
    left_out = user.n_places - len(user.places)
    return [_("… {n} more", n=left_out)] if left_out else []


def markdown(report: ReportData) -> str:
    """The report in Markdown, with tables as GitHub has them."""
    mean, low, high = report.lead.at(report.lead_k)
    metrics = [
        [f"`{metric.metric}`", *(summary.cell(metric, k, "()", "–") for k in report.k)] for metric in report.measured
    ]
    facts = [[name, markdown_text(words, 1000)] for name, words in summary.facts(report)]
    bins = [
        [markdown_text(name), f"{count:,}", markdown_text(percent(share))]
        for name, count, share in summary.bins(report)
    ]
    interval = _(
        "{confidence:g}% interval {ends}, {users}.",
        confidence=100 * report.confidence,
        ends=ends(low, high),
        users=summary.users(report),
    )
    words = markdown_text(summary.distribution(report), 1000)
    parts = [
        f"## {report.label} = {fixed(mean)}",
        interval,
        report.findings.to_markdown().strip(),
        markdown_table([_("metric"), *(f"@{k}" for k in report.k)], metrics),
        " ".join(summary.remarks(report)),
        markdown_table([_("what was evaluated"), ""], facts, left=2),
        _("**{label} over users**: {words}.", label=report.label, words=words),
        markdown_table([report.label, pgettext("number", "users"), _("share")], bins),
        *(_markdown_segments(report.segments) if report.segments else []),
    ]
    header = [_("user"), report.label, _("found"), _("list"), _("missed")]
    for group, users in report.groups:
        parts += [
            _("**{heading}** (hits in bold, with ✓)", heading=_(summary.GROUPS[group])),
            markdown_table(header, map(_markdown_user, users), left=len(header)),
        ]
    return "\n\n".join([*parts, _("Basis: {basis}.", basis=markdown_text(report.basis, 2000))]) + "\n"


def _markdown_segments(segments: ReportSegments) -> list[str]:
    rows = [
        [
            f"`{segment.metric}`",
            markdown_text(segment.segment),
            f"{segment.n_users:,}",
            f"{fixed(segment.mean)} ({ends(segment.low, segment.high)})",
            signed(segment.gap),
            f"{segment.p_holm:.4f}" if isfinite(segment.p_holm) else "–",
            summary.verdict(segment, segments),
        ]
        for segment in segments.rows
    ]
    header = [_("metric"), _("segment"), _("users"), _("mean"), _("gap to the rest"), _("p (Holm)")]
    caption = _("By {by}, at {k}", by=markdown_text(segments.by), k=segments.k)
    table = markdown_table([*header, _("against the rest")], rows)
    return [f"**{caption}**", table, markdown_text(segments.basis, 2000)]


def _markdown_user(user: UserSummary) -> list[str]:
    items = [(_markdown_item(place.item, place.title), place.relevance) for place in user.places]
    return [
        markdown_text(user.user),
        fixed(user.value),
        summary.found(user),
        ", ".join([*(f"**✓ {item}**" if hit else item for item, hit in items), *_more(user)]) or _("no list"),
        summary.missed(user, _markdown_item),
    ]


def _markdown_item(item: Any, title: str) -> str:
    return f"{markdown_text(title)} ({markdown_text(item)})" if title else markdown_text(item)


def latex(report: ReportData) -> str:
    """The metrics as a table of LaTeX, and the segments as a second one; needs booktabs."""
    header = ["", *(rf"\multicolumn{{2}}{{c}}{{@{k}}}" for k in report.k)]
    rules = [rf"\cmidrule(lr){{{2 * at + 2}-{2 * at + 3}}}" for at in range(len(report.k))]
    beyond = [_latex_metric(metric, report.k) for metric in report.measured if isinstance(metric, BeyondRow)]
    rows = [
        header,
        " ".join(rules),
        *(_latex_metric(metric, report.k) for metric in report.metrics),
        *([r"\midrule", *beyond] if beyond else []),
    ]
    caption = [
        _("Mean over users, with interval"),
        report.basis,
        *(f"{metric.symbol}: {metric.convention}" for metric in report.metrics if metric.convention),
        *summary.remarks(report),
    ]
    tables = [latex_table("l" + "rl" * len(report.k), _sentences(caption), rows)]
    if report.segments is not None:
        tables.append(_latex_segments(report, report.segments))
    return "\n".join([_(r"% needs \usepackage{booktabs}"), *tables, ""])


def _latex_metric(metric: MetricSummary | BeyondRow, at: Iterable[int]) -> list[str]:
    cells = [latex_text(metric.symbol)]
    for value, low, high in map(metric.at, at):
        interval = "" if isinstance(metric, BeyondRow) and not isfinite(low) else f"[{ends(low, high, ', ')}]"
        cells += [fixed(value), interval]
    return cells


def _latex_segments(report: ReportData, segments: ReportSegments) -> str:
    """The segments by the lead metric; those that differ from all other users are marked."""
    names = [_("segment"), _("users"), _("mean"), pgettext("segments", "interval"), _("gap to the rest")]
    rows: list[Sequence[str] | str] = [[latex_text(name) for name in [*names, _("interval of the gap")]], r"\midrule"]
    for segment in segments.of(report.lead.metric):
        gap = [latex_text(signed(value)) for value in (segment.gap, segment.gap_low, segment.gap_high)]
        mark = r"$^{\ast}$" if segments.differs(segment) else ""
        rows.append(
            [
                latex_text(segment.segment),
                f"{segment.n_users:,}",
                fixed(segment.mean),
                f"[{ends(segment.low, segment.high, ', ')}]" if isfinite(segment.low) else "",
                f"{gap[0]}{mark}",
                f"[{gap[1]}, {gap[2]}]" if isfinite(segment.gap_low) else "",
            ]
        )
    caption = [
        _("{label} by {by}: each segment, and its gap to all other users", label=report.label, by=segments.by),
        segments.basis,
        _("* differs from all other users at {alpha} (Holm)", alpha=f"{segments.alpha:g}"),
    ]
    return latex_table("lrrlrl", _sentences(caption), rows)


def _sentences(sentences: Iterable[str]) -> str:
    return latex_text(" ".join(f"{words.rstrip('.')}." for words in sentences), 4000)
