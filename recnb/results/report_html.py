"""A report as HTML: the number first, then what is odd about it, what it is made of, and the users behind it.

All that matters for reading is set inline and in text, since JupyterLab strips style sheets and inline SVG from
notebooks that are not trusted; there the sections stand one below the other. There is no script and nothing is fetched.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from recnb.results import chart, html
from recnb.results.chart import short
from recnb.results.page import page
from recnb.results.pieces import FAINT, SIDE_BY_SIDE, folded, plain, wide
from recnb.results.report_html_parts import beyond, findings, pictures, readings, segments, users
from recnb.results.report_text import (
    beyond_in_words,
    ends,
    facts,
    fixed,
    intervals_in_words,
    not_covered,
    some,
    users_of,
)
from recnb.results.tabs import Section, tabbed
from recnb.strings import say

if TYPE_CHECKING:
    from recnb.results.beyond_data import BeyondRow
    from recnb.results.report import Report
    from recnb.results.report_data import Measured, Spread

#: Cut-offs beyond these are counted, not shown; `to_frame` holds them all.
COLUMNS_SHOWN = 12

FIGURES = "font-variant-numeric: tabular-nums;"
ROOM = "margin: 1.4em 0 0.6em 0;"


def document(report: Report, title: str | None = None) -> str:
    """The report as a document that stands by itself."""
    said = plain(title, 200) if title is not None else html.text(say("report.title", headline=_headline(report)))
    return page(said, said if title is not None else say("report.title_shown"), fragment(report))


def fragment(report: Report) -> str:
    """The report as a notebook shows it."""
    return html.root(
        _headed(report),
        tabbed(sections(report), say("report.sections"), _key(report)),
        html.note(html.text(f"{report.basis}.", 2000)),
        label=say("report.region", symbol=report.lead.symbol),
    )


def sections(report: Report) -> list[Section]:
    """What there is to show, what is odd about the data first, if anything is."""
    n = len(report.findings)
    odd = Section(say("report.tab.findings", n=n) if n else say("report.tab.nothing_odd"), findings(report))
    further = [
        Section(say("report.tab.overview"), _facts(report) + _means(report)),
        Section(say("report.tab.curve"), pictures(report)),
        Section(say("report.tab.segments"), segments(report)),
        Section(say("report.tab.beyond"), beyond(report)),
        Section(say("report.tab.users"), users(report)),
        Section(say("report.tab.readings"), readings(report)),
    ]
    return [one for one in ([odd, *further] if n else [*further, odd]) if one.body]


def _key(report: Report) -> str:
    """What tells this report from another: its numbers and what they are of."""
    return f"{report.basis}; {report.to_frame().to_csv(float_format='%.9f')}"


def _headline(report: Report) -> str:
    mean, _, _ = report.lead.at(report.lead_k)
    label = f"{report.lead.symbol}@{report.lead_k}"
    return say("report.headline", label=label, value=fixed(mean), users=users_of(report))


def _headed(report: Report) -> str:
    """The lead metric, large, with its interval."""
    lead = report.lead
    mean, low, high = lead.at(report.lead_k)
    interval = say("interval.one_user")
    if report.n_users > 1:
        interval = say("interval.short", confidence=100 * report.confidence, ends=ends(low, high))
    return (
        '<div style="margin: 0.2em 0 1em 0;">'
        '<div style="line-height: 1.25;">'
        f'<span style="font-size: 1.15em; font-weight: 600;">{html.text(lead.label(report.lead_k))}</span> '
        f'<span style="font-size: 2.5em; font-weight: 600; color: {chart.ACCENT}; {FIGURES}">'
        f"{fixed(mean)}</span> "
        f'<span style="white-space: nowrap; {FAINT}">{interval} · {users_of(report)}</span></div>'
        f'<div style="font-size: 0.95em; {FAINT}">{html.text(lead.reads, 400)}</div></div>'
    )


def _facts(report: Report) -> str:
    """What was evaluated: four numbers to take in at once, and the rest in sentences."""
    people = report.population
    lengths, relevant = people.list_length, people.relevant_per_user
    lists = _range(lengths, say("count.rows", n=people.n_recommended))
    per_user = _range(relevant, say("report.in_all", n=people.n_relevant))
    left_out = "; ".join(people.users[1:]) or say("report.none_left_out")
    n_items, to_someone = people.n_items_recommended, say("report.to_someone", n=people.n_items_relevant)
    tiles = [
        (f"{people.n_users:,}", say("tile.users", n=people.n_users), left_out),
        (short(lengths.median), say("tile.items", n=lengths.median), lists),
        (short(relevant.median), say("tile.relevant", n=relevant.median), per_user),
        (f"{n_items:,}", say("tile.recommended", n=n_items), to_someone),
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
    details = folded(say("report.what_in_words"), f'<dl style="margin: 0.3em 0;">{told}</dl>')
    return f'<div style="{SIDE_BY_SIDE} gap: 0.8em 1.6em; margin: 0 0 0.4em 0;">{shown}</div>{details}'


def _range(spread: Spread, more: str) -> str:
    """How far a spread goes about its median."""
    if spread.min == spread.max:
        return say("report.all_alike", more=more)
    return say("report.median_range", low=spread.min, high=spread.max, mean=spread.mean, more=more)


def _means(report: Report) -> str:
    """The table of metrics and cut-offs, an interval beside each mean."""
    shown = some(report.k, COLUMNS_SHOWN)
    bounded = any(one.top is not None for one in report.metrics)
    header = [say("column.metric"), *(f"@{k}" for k in shown)]
    if bounded:
        header.append(f'<span style="white-space: nowrap;">{say("report.zero_to_one", k=report.lead_k)}</span>')
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
        rows.append([f'<i style="font-weight: 400; {FAINT}">{say("report.tab.beyond")}</i>', *blank])
        rows += [[html.text(one.metric), *_further(one, shown), *([""] if bounded else [])] for one in further]
    left_out = len(report.k) - len(shown)
    more = html.note(say("report.more_cutoffs", n=left_out)) if left_out else ""
    words = f"{intervals_in_words(report)} {not_covered(report)}"
    one_user = report.n_users == 1
    caption = say("report.values_of_one") if one_user else say("report.means", users=users_of(report))
    words = f"{words} {beyond_in_words(report)}"
    table = html.table(header, rows, caption=caption)
    return f'<div style="{ROOM}">{wide(table, say("table.region"))}{more}{html.note(html.text(words, 500))}</div>'


def _mean(one: Measured, k: int) -> str:
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


def _strip(one: Measured, k: int) -> str:
    mean, low, high = one.at(k)
    if one.top is None or not isfinite(mean):
        return "–"
    words = say("report.strip", label=f"{one.metric}@{k}", value=fixed(mean), top=short(one.top))
    if isfinite(low):
        words = say("report.strip_interval", words=words, low=fixed(low), high=fixed(high))
    return chart.image(chart.strip(mean, low, high, one.top), words, chart.STRIP)
