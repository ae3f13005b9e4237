"""A report in Markdown for a page, and in LaTeX for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.display.language import _, pgettext
from recnb.display.svg import percent
from recnb.display.text import ends, fixed, latex_text, markdown_text, signed
from recnb.report.text import (
    GROUPS,
    beyond_in_words,
    bin_names,
    facts,
    found_in_words,
    gap_in_words,
    groups,
    intervals_in_words,
    missed_in_words,
    not_covered,
    spread_in_words,
    told_apart,
    users_of,
)

if TYPE_CHECKING:
    from recnb.report.beyond_row import BeyondRow
    from recnb.report.data import MetricSummary, ReportData, ReportSegments, UserList


def markdown(report: ReportData) -> str:
    """The report as Markdown."""
    lead = report.lead
    name = f"{lead.symbol}@{report.lead_k}"
    mean, low, high = lead.at(report.lead_k)
    spread = report.distribution
    parts = [
        f"## {name} = {fixed(mean)}",
        _("{confidence:g}% interval {ends}, {users}.", confidence=100 * report.confidence, ends=ends(low, high), users=users_of(report)),
        report.findings.to_markdown().strip(),
        _pipes(
            [_("metric"), *(f"@{k}" for k in report.k)],
            [*([f"`{one.metric}`", *_cells(one)] for one in report.metrics),
             *([f"`{one.metric}`", *_further(one)] for one in report.beyond if one.values)],
        ),
        " ".join(part for part in (intervals_in_words(report), not_covered(report), beyond_in_words(report)) if part),
        _pipes([_("what was evaluated"), ""], [[what, markdown_text(words, 1000)] for what, words in facts(report)], numbers=False),
        _("**{label} over users**: {words}.", label=name, words=markdown_text(spread_in_words(report), 1000)),
        _pipes(
            [name, pgettext("number", "users"), _("share")],
            [[markdown_text(label), f"{count:,}", markdown_text(percent(share))]
             for label, count, share in zip(bin_names(spread.edges), spread.counts, spread.shares, strict=True)],
        ),
    ]  # fmt: skip
    parts += _segments(report)
    header = [_("user"), name, _("found"), _("list"), _("missed")]
    for group, users in groups(report):
        rows = [
            [
                markdown_text(one.user),
                fixed(one.value),
                found_in_words(one),
                _marked_list(one),
                missed_in_words(one, markdown_text),
            ]
            for one in users
        ]
        parts += [
            _("**{heading}** (hits in bold, with ✓)", heading=_(GROUPS[group])),
            _pipes(header, rows, numbers=False),
        ]
    return "\n\n".join([*parts, _("Basis: {basis}.", basis=markdown_text(report.basis, 2000))]) + "\n"


def _cells(one: MetricSummary) -> Iterable[str]:
    for mean, low, high in map(one.at, one.k):
        yield f"{fixed(mean)} ({ends(low, high)})"


def _further(one: BeyondRow) -> Iterable[str]:
    for value, low, high in one.values:
        yield f"{fixed(value)} ({ends(low, high)})" if isfinite(low) else fixed(value)


def _segments(report: ReportData) -> list[str]:
    parted = report.segments
    if parted is None:
        return []
    header = [_("metric"), _("segment"), _("users"), _("mean"), _("gap to the rest"), _("p (Holm)")]
    rows = [
        [
            f"`{one.metric}`", markdown_text(one.segment), f"{one.n_users:,}", f"{fixed(one.mean)} ({ends(one.low, one.high)})",
            f"{signed(one.gap)}", f"{one.p_holm:.4f}" if isfinite(one.p_holm) else "–",
            gap_in_words(one, 1 - parted.confidence),
        ]
        for one in parted.rows
    ]  # fmt: skip
    caption = _("By {by}, at {k}", by=markdown_text(parted.by), k=parted.k)
    return [
        f"**{caption}**",
        _pipes([*header, _("against the rest")], rows),
        markdown_text(parted.basis, 2000),
    ]


def _marked_list(one: UserList) -> str:
    places = [
        f"**✓ {markdown_text(place.item)}**" if place.relevance else markdown_text(place.item) for place in one.places
    ]
    more = [_("… {n} more", n=one.n_places - len(places))] if one.n_places > len(places) else []
    return ", ".join([*places, *more]) or _("no list")


def _pipes(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    rule = ["---", *(["---:" if numbers else "---"] * (len(header) - 1))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


def latex(report: ReportData) -> str:
    """The metrics as a table of LaTeX, in booktabs' style; segments in a second one."""
    columns = "l" + "rl" * len(report.k)
    spans = [rf"\multicolumn{{2}}{{c}}{{@{k}}}" for k in report.k]
    rules = [rf"\cmidrule(lr){{{2 * at + 2}-{2 * at + 3}}}" for at in range(len(report.k))]
    rows = [
        " & ".join([latex_text(one.symbol), *(f"{fixed(m)} & [{ends(a, b, ', ')}]" for m, a, b in map(one.at, one.k))])
        + r" \\"
        for one in report.metrics
    ]
    further = [
        " & ".join([latex_text(one.symbol), *(f"{fixed(m)} & {_bracketed(a, b)}" for m, a, b in one.values)]) + r" \\"
        for one in report.beyond
        if one.values
    ]
    own = [f"{one.symbol}: {one.convention}" for one in report.metrics if one.convention]
    beyond = (
        [
            _(
                "Metrics beyond accuracy stand below the others; they are of other users, or of all lists together."
            ).rstrip(".")
        ]
        if further
        else []
    )
    caption = ". ".join(
        [_("Mean over users, with interval"), report.basis, intervals_in_words(report).rstrip("."), *own, *beyond]
    )
    parts = [" & ".join(["", *spans]) + r" \\", " ".join(rules), *rows, *([r"\midrule", *further] if further else [])]
    tables = [
        _table(columns, caption, parts),
        *([] if report.segments is None else [_segment_table(report.segments, report)]),
    ]
    return "\n".join([_(r"% needs \usepackage{booktabs}"), *tables, ""])


def _bracketed(low: float, high: float) -> str:
    return f"[{ends(low, high, ', ')}]" if isfinite(low) else ""


def _table(columns: str, caption: str, rows: Sequence[str]) -> str:
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption, 4000)}.}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _segment_table(parted: ReportSegments, report: ReportData) -> str:
    """The segments of the lead metric, those that differ from all other users marked."""
    alpha = 1 - parted.confidence
    header = [
        _("segment"),
        _("users"),
        _("mean"),
        pgettext("segments", "interval"),
        _("gap to the rest"),
        _("interval of the gap"),
    ]
    rows = [" & ".join(map(latex_text, header)) + r" \\", r"\midrule"]
    for one in parted.of(report.lead.metric):
        mark = r"$^{\ast}$" if told_apart(one, alpha) else ""
        cells = [
            latex_text(one.segment), f"{one.n_users:,}", fixed(one.mean), _bracketed(one.low, one.high), f"{latex_text(signed(one.gap))}{mark}",
            f"[{latex_text(signed(one.gap_low))}, {latex_text(signed(one.gap_high))}]" if isfinite(one.gap_low) else "",
        ]  # fmt: skip
        rows.append(" & ".join(cells) + r" \\")
    label = f"{report.lead.symbol}@{parted.k}"
    caption = ". ".join(
        [
            _("{label} by {by}: each segment, and its gap to all other users", label=label, by=parted.by),
            parted.basis.rstrip("."),
            _("* differs from all other users at {alpha} (Holm)", alpha=f"{alpha:g}"),
        ]
    )
    return _table("lrrlrl", caption, rows)
