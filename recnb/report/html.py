"""A report as HTML: the number first, then what is odd about it, what it is made of, and the users behind it.

All that matters for reading is set inline and in text, since JupyterLab strips style sheets and inline SVG from
notebooks that are not trusted; there the sections stand one below the other. There is no script and nothing is fetched.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from recnb.display import html, svg
from recnb.display.components import FAINT, SIDE_BY_SIDE, folded, plain, wide
from recnb.display.language import _, ngettext
from recnb.display.page import page
from recnb.display.svg import short
from recnb.display.tabs import Section, tabbed
from recnb.display.text import ends, fixed, some
from recnb.report.html_sections import beyond, findings, pictures, readings, segments, users
from recnb.report.text import beyond_in_words, facts, intervals_in_words, not_covered, users_of

if TYPE_CHECKING:
    from recnb.report.beyond_row import BeyondRow
    from recnb.report.data import CountSummary, MetricSummary, ReportData

#: Cut-offs beyond these are counted, not shown; `to_frame` holds them all.
COLUMNS_SHOWN = 12

FIGURES = "font-variant-numeric: tabular-nums;"
ROOM = "margin: 1.4em 0 0.6em 0;"


def document(report: ReportData, title: str | None = None) -> str:
    """The report as a document that stands by itself."""
    said = plain(title, 200) if title is not None else html.text(_("Report: {headline}", headline=_headline(report)))
    return page(said, said if title is not None else _("Evaluation report"), fragment(report))


def fragment(report: ReportData) -> str:
    """The report as a notebook shows it."""
    return html.root(
        _headed(report),
        tabbed(sections(report), _("sections of the report"), _key(report)),
        html.note(html.text(f"{report.basis}.", 2000)),
        label=_("report of {symbol}", symbol=report.lead.symbol),
    )


def sections(report: ReportData) -> list[Section]:
    """What there is to show, what is odd about the data first, if anything is."""
    n = len(report.findings)
    odd = Section(_("Findings ({n})", n=n) if n else _("Findings: nothing odd"), findings(report))
    further = [
        Section(_("Overview"), _facts(report) + _means(report)),
        Section(_("Curve and distribution"), pictures(report)),
        Section(_("Segments"), segments(report)),
        Section(_("Beyond accuracy"), beyond(report)),
        Section(_("Users"), users(report)),
        Section(_("How to read"), readings(report)),
    ]
    return [one for one in ([odd, *further] if n else [*further, odd]) if one.body]


def _key(report: ReportData) -> str:
    """What tells this report from another: its numbers and what they are of."""
    return f"{report.basis}; {report.to_frame().to_csv(float_format='%.9f')}"


def _headline(report: ReportData) -> str:
    mean, _ignored, _ignored = report.lead.at(report.lead_k)
    label = f"{report.lead.symbol}@{report.lead_k}"
    return _("{label} = {value}, {users}", label=label, value=fixed(mean), users=users_of(report))


def _headed(report: ReportData) -> str:
    """The lead metric, large, with its interval."""
    lead = report.lead
    mean, low, high = lead.at(report.lead_k)
    interval = _("one user, no interval")
    if report.n_users > 1:
        interval = _("{confidence:g}% interval {ends}", confidence=100 * report.confidence, ends=ends(low, high))
    return (
        '<div style="margin: 0.2em 0 1em 0;">'
        '<div style="line-height: 1.25;">'
        f'<span style="font-size: 1.15em; font-weight: 600;">{html.text(lead.label(report.lead_k))}</span> '
        f'<span style="font-size: 2.5em; font-weight: 600; color: {svg.ACCENT}; {FIGURES}">'
        f"{fixed(mean)}</span> "
        f'<span style="white-space: nowrap; {FAINT}">{interval} · {users_of(report)}</span></div>'
        f'<div style="font-size: 0.95em; {FAINT}">{html.text(lead.reads, 400)}</div></div>'
    )


def _facts(report: ReportData) -> str:
    """What was evaluated: four numbers to take in at once, and the rest in sentences."""
    people = report.population
    lengths, relevant = people.list_length, people.relevant_per_user
    lists = _range(lengths, ngettext("{n:,} row", "{n:,} rows", people.n_recommended))
    per_user = _range(relevant, _("{n:,} in all", n=people.n_relevant))
    left_out = "; ".join(people.users[1:]) or _("none left out")
    n_items, to_someone = people.n_items_recommended, _("{n:,} relevant to someone", n=people.n_items_relevant)
    tiles = [
        (f"{people.n_users:,}", ngettext("user", "users", people.n_users), left_out),
        (short(lengths.median), ngettext("item per list", "items per list", lengths.median), lists),
        (
            short(relevant.median),
            ngettext("relevant item per user", "relevant items per user", relevant.median),
            per_user,
        ),
        (f"{n_items:,}", ngettext("different item recommended", "different items recommended", n_items), to_someone),
    ]
    shown = "".join(
        f'<div style="flex: 1 1 9.5em; border-top: 2px solid {html.LINE}; padding: 0.35em 0 0.2em 0;">'
        f'<div style="font-size: 1.5em; font-weight: 600; line-height: 1.2; {FIGURES}">{number}</div>'
        f'<div>{name}</div><div style="font-size: 0.86em; {FAINT}">{html.text(more, 400)}</div></div>'
        for number, name, more in tiles
    )
    told = "".join(
        f'<dt style="font-weight: 600; margin-top: 0.4em;">{html.text(what)}</dt><dd style="margin: 0 0 0 1.2em;">{html.text(words, 2000)}</dd>'
        for what, words in facts(report)
    )
    details = folded(_("What was evaluated, in words"), f'<dl style="margin: 0.3em 0;">{told}</dl>')
    return f'<div style="{SIDE_BY_SIDE} gap: 0.8em 1.6em; margin: 0 0 0.4em 0;">{shown}</div>{details}'


def _range(spread: CountSummary, more: str) -> str:
    """How far a spread goes about its median."""
    if spread.min == spread.max:
        return _("all alike; {more}", more=more)
    return _(
        "median; {low:,} to {high:,}, mean {mean:.1f}; {more}",
        low=spread.min,
        high=spread.max,
        mean=spread.mean,
        more=more,
    )


def _means(report: ReportData) -> str:
    """The table of metrics and cut-offs, an interval beside each mean."""
    shown = some(report.k, COLUMNS_SHOWN)
    bounded = any(one.top is not None for one in report.metrics)
    header = [_("metric"), *(f"@{k}" for k in shown)]
    if bounded:
        header.append(f'<span style="white-space: nowrap;">{_("@{k}, 0 to 1", k=report.lead_k)}</span>')
    rows = []
    for one in report.metrics:
        cells = [
            f'<span title="{html.text(one.title, 200)}">{html.text(one.metric)}</span>',
            *(_mean(one, k) for k in shown),
        ]
        if bounded:
            cells.append(_strip(one, report.lead_k))
        rows.append(cells)
    further = [one for one in report.beyond if one.values]
    if further:
        blank = [""] * (len(header) - 1)
        rows.append([f'<i style="font-weight: 400; {FAINT}">{_("Beyond accuracy")}</i>', *blank])
        rows += [[html.text(one.metric), *_further(one, shown), *([""] if bounded else [])] for one in further]
    left_out = len(report.k) - len(shown)
    more = html.note(_("{n} more cut-offs: see to_frame().", n=left_out)) if left_out else ""
    words = f"{intervals_in_words(report)} {not_covered(report)}"
    one_user = report.n_users == 1
    caption = (
        _("Values of one user") if one_user else _("Means over {users}, each with its interval", users=users_of(report))
    )
    words = f"{words} {beyond_in_words(report)}"
    table = html.table(header, rows, caption=caption)
    return f'<div style="{ROOM}">{wide(table, _("metrics at cut-offs"))}{more}{html.note(html.text(words, 500))}</div>'


def _mean(one: MetricSummary, k: int) -> str:
    mean, low, high = one.at(k)
    return (
        f'<b style="font-weight: 600;">{fixed(mean)}</b> '
        f'<span style="font-size: 0.86em; white-space: nowrap; {FAINT}">{ends(low, high)}</span>'
    )


def _further(one: BeyondRow, shown: list[int]) -> list[str]:
    """The values of a metric beyond accuracy, with intervals where users have values of their own."""
    cells = []
    for k in shown:
        value, low, high = one.values[one.k.index(k)]
        small = f' <span style="font-size: 0.86em; white-space: nowrap; {FAINT}">{ends(low, high)}</span>'
        cells.append(f'<b style="font-weight: 600;">{fixed(value)}</b>{small if isfinite(low) else ""}')
    return cells


def _strip(one: MetricSummary, k: int) -> str:
    mean, low, high = one.at(k)
    if one.top is None or not isfinite(mean):
        return "–"
    words = _("{label} is {value} of {top}", label=f"{one.metric}@{k}", value=fixed(mean), top=short(one.top))
    if isfinite(low):
        words = _("{words}, interval {low} to {high}", words=words, low=fixed(low), high=fixed(high))
    return svg.image(svg.strip(mean, low, high, one.top), words, svg.STRIP)
