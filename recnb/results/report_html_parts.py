"""The sections of a report as HTML: findings, pictures, users, segments, what lies beyond accuracy, how to read it all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING

from recnb.results import chart, html
from recnb.results.chart import percent, short
from recnb.results.lint_words import in_form
from recnb.results.pieces import ANYWHERE, FAINT, SIDE_BY_SIDE, folded, heading, name, plain, wide
from recnb.results.report_text import (
    bin_names,
    ends,
    fixed,
    found_in_words,
    gap_in_words,
    groups,
    missed_in_words,
    one_line,
    signed,
    spread_in_words,
    told_apart,
)
from recnb.strings import capital, say

if TYPE_CHECKING:
    from recnb.results.beyond_data import BeyondRow
    from recnb.results.report import Report
    from recnb.results.report_data import UserList
    from recnb.results.segment_table import Segment

FIGURES = "font-variant-numeric: tabular-nums;"
ROOM = "margin: 1.2em 0 0.6em 0;"


def findings(report: Report) -> str:
    """What is odd about the data and what it does to the numbers."""
    return report.findings.in_report() + html.note(html.text(report.findings.measured, 400))


def pictures(report: Report) -> str:
    """The curve and the distribution, each with its numbers in a folded table."""
    return f'<div style="{SIDE_BY_SIDE} gap: 0 2em;">{_curve(report)}{_spread(report)}</div>'


def _curve(report: Report) -> str:
    curve = report.curve
    mean_at_k = [f"{k}: {fixed(mean)}" for k, mean in zip(curve.k, curve.value, strict=True)]
    alt = say("report.curve_alt", symbol=curve.symbol, means=", ".join(mean_at_k))
    axis = say("chart.mean", symbol=curve.symbol)
    picture = (
        chart.image(chart.curve(curve.k, curve.value, curve.low, curve.high, report.k, axis), alt)
        if all(map(isfinite, curve.value))
        else html.note(say("report.no_mean"))
    )
    rows = [
        [str(k), fixed(mean), ends(low, high)]
        for k, mean, low, high in zip(curve.k, curve.value, curve.low, curve.high, strict=True)
    ]
    band = say("interval.band", confidence=100 * report.confidence) if isfinite(curve.low[0]) else ""
    table = html.table(["k", html.text(curve.metric), say("column.interval")], rows)
    title = say("chart.against_k", symbol=html.text(curve.symbol))
    return _half(title, picture, html.note(band), folded(say("report.curve_numbers"), table, again=True))


def _spread(report: Report) -> str:
    spread = report.distribution
    names = bin_names(spread.edges)
    told = [f"{one}: {percent(share)}" for one, share in zip(names, spread.shares, strict=True)]
    label = f"{spread.symbol}@{spread.k}"
    alt = say("report.bars_alt", label=label, shares=", ".join(told))
    zero = spread.n_zero / max(spread.n_users, 1)
    picture = chart.image(
        chart.bars(spread.edges, spread.shares, spread.quartiles, zero, say("chart.of_a_user", label=label)), alt
    )
    numbers = zip(names, spread.counts, spread.shares, strict=True)
    rows = [[html.text(one), f"{count:,}", html.text(percent(share))] for one, count, share in numbers]
    legend = f" {say('report.grey')}" if spread.n_zero else ""
    if spread.n_users > 1:
        legend += f" {say('report.below_bars')}"
    words = html.text(f"{capital(spread_in_words(report))}.{legend}", 500)
    table = html.table([html.text(label), say("column.users"), say("column.share")], rows)
    title = say("chart.over_users", label=html.text(label))
    return _half(title, picture, html.note(words), folded(say("report.bars_numbers"), table, again=True))


def _half(title: str, *parts: str) -> str:
    return f'<div style="flex: 1 1 26em; max-width: 100%; min-width: 0; margin: 0 0 0.6em 0;">{heading(title)}{"".join(parts)}</div>'


def users(report: Report) -> str:
    """The users whom the lists serve best and worst, with their lists."""
    return "".join(_people(report, group, some) for group, some in groups(report))


def _people(report: Report, group: str, users: Sequence[UserList]) -> str:
    """Some users with their lists, hits marked by a sign and a word."""
    cards = "".join(_card(report, one) for one in users)
    named = say(f"report.group.{group}")
    if group != "only":
        order = say("report.by", label=report.lead.label(report.lead_k), among=say(f"report.among.{group}"))
        named += f' <span style="font-weight: 400; font-size: 0.86em; {FAINT}">{order}</span>'
    named = heading(named)
    return f'<div style="{ROOM}">{named}<div style="{SIDE_BY_SIDE} gap: 1em 2em;">{cards}</div></div>'


def _card(report: Report, one: UserList) -> str:
    score = f"{html.text(report.lead.label(report.lead_k))} <b>{fixed(one.value)}</b> · {found_in_words(one)}"
    head = (
        f'<div style="font-weight: 600; {ANYWHERE}">{name(one.user)}</div><div style="font-size: 0.92em;">{score}</div>'
    )
    shown = _list(one, head) if one.places else f"{head}{html.note(say('report.no_list_card'))}"
    left_out = one.n_places - len(one.places)
    more = html.note(say("more.ranks", n=left_out)) if left_out else ""
    names = capital(say("report.missed", items=missed_in_words(one, name)))
    missed = html.note(f'<span style="{ANYWHERE}">{names}</span>') if one.missed else ""
    return f'<div style="flex: 1 1 16em; max-width: 26em; min-width: 0;">{shown}{more}{missed}</div>'


def _list(one: UserList, caption: str) -> str:
    """A list as a narrow table: rank, item, and whether it is a hit."""
    cell = f"padding: 0.15em 0.6em 0.15em 0.3em; border-bottom: 1px solid {html.LINE}; text-align: left; vertical-align: top;"
    widths = {"rank": "3em", "item": "auto", "hit": "8em"}
    head = "".join(
        f'<th scope="col" style="{cell} width: {wide}; font-weight: 400; font-size: 0.86em; {FAINT}">{say(f"column.{column}")}</th>'
        for column, wide in widths.items()
    )
    rows = "".join(
        f'<tr style="background: {html.FAINT if place.relevance else "transparent"};">'
        f'<th scope="row" style="{cell} font-weight: 400; {FIGURES} {FAINT}">{place.rank}</th>'
        f'<td style="{cell} {ANYWHERE}{" font-weight: 600;" if place.relevance else ""}">{name(place.item)}</td>'
        f'<td style="{cell} white-space: nowrap;">{_mark(place.relevance)}</td></tr>'
        for place in one.places
    )
    style = "border-collapse: collapse; width: 100%; margin: 0;"
    above = f'<caption style="text-align: left; padding: 0 0 0.3em 0;">{caption}</caption>'
    return f'<table style="{style}">{above}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _mark(relevance: float) -> str:
    if not relevance:
        return ""
    return f'<span style="color: {chart.ACCENT}; font-weight: 600;">✓</span> {say("report.hit", relevance=short(relevance))}'


def segments(report: Report) -> str:
    """How segments of the users fare: the lead metric in sight, the others to open."""
    parted = report.segments
    if parted is None:
        return ""
    parts = []
    for metric, rows in groupby(parted.rows, key=lambda one: one.metric):
        shown = list(rows)
        caption = plain(say("report.segments_of", label=f"{metric}@{parted.k}", by=parted.by), 200)
        table = wide(_segment_table(shown, caption, 1 - parted.confidence), say("report.segments_region"))
        parts.append(table if metric == report.lead.metric else folded(f"{html.text(metric)}@{parted.k}", table))
    words = say("report.segments_note", confidence=100 * parted.confidence)
    first = parts[0] + html.note(html.text(words, 600))
    return first + html.note(html.text(parted.basis, 600)) + "".join(parts[1:])


def _segment_table(rows: Sequence[Segment], caption: str, alpha: float) -> str:
    reach = max(
        [abs(end) for one in rows for end in (one.gap, one.gap_low, one.gap_high) if isfinite(end)], default=0.0
    )
    header = [say(f"segments.head.{one}") for one in ("segment", "users", "mean", "gap")]
    header += [say("report.segments_gap_drawn"), say("segments.head.p"), say("report.segments_says")]
    cells = []
    for one in rows:
        few = f" {say('segments.small')}" if one.small else ""
        cells.append(
            [
                name(one.segment),
                f"{one.n_users:,}{few}",
                _with_ends(fixed(one.mean), one.low, one.high),
                _with_ends(signed(one.gap), one.gap_low, one.gap_high, between=" … ", plus=True),
                _gap_drawn(one, reach or 1.0),
                html.text(
                    "–" if not isfinite(one.p_holm) else "< 0.001" if one.p_holm < 0.001 else f"{one.p_holm:.3f}"
                ),
                _nowrap(gap_in_words(one, alpha)),
            ]
        )
    marked = [at for at, one in enumerate(rows) if told_apart(one, alpha)]
    return html.table(header, cells, caption=caption, marked=marked)


def _nowrap(words: str) -> str:
    return f'<span style="white-space: nowrap;">{html.text(words)}</span>'


def _gap_drawn(one: Segment, reach: float) -> str:
    if not isfinite(one.gap):
        return "–"
    alt = say("report.segments_gap_alt", segment=one_line(one.segment, 40), gap=signed(one.gap))
    image = chart.image(chart.gap(one.gap, one.gap_low, one.gap_high, reach), alt, chart.STRIP)
    return image.replace("://", ":&#47;&#47;")


def _with_ends(value: str, low: float, high: float, between: str = "–", *, plus: bool = False) -> str:
    shown = (signed(low), signed(high)) if plus else (fixed(low), fixed(high))
    small = f'<span style="font-size: 0.86em; {FAINT}">{between.join(shown)}</span>' if isfinite(low) else ""
    return f'<span style="white-space: nowrap;"><b style="font-weight: 600;">{value}</b> {small}</span>'


def beyond(report: Report) -> str:
    """What lies beyond accuracy, what each number means, and what the others need."""
    there = [one for one in report.beyond if one.values]
    if not report.beyond:
        return ""
    parts = []
    if there:
        header = [say("column.metric"), *(f"@{k}" for k in report.k[:6]), say("report.beyond_range")]
        rows = [
            [
                f'{html.text(one.metric)}<div style="font-weight: 400; font-size: 0.86em; max-width: 30em; {FAINT}">{html.text(one.title, 400)}</div>',
                *(_with_ends(fixed(value), low, high) for value, low, high in one.values[:6]),
                html.text(one.bounds, 60),
            ]
            for one in there
        ]
        parts.append(wide(html.table(header, rows), say("report.beyond_region")))
        parts.append(html.note(html.text(say("report.beyond_note"), 600)))
    parts += [html.note(html.text(words, 900)) for words in lacking(report.beyond)]
    bases = dict.fromkeys(one.basis for one in there)
    parts.append(
        folded(say("report.beyond_basis"), *(html.note(html.text(_of(there, basis), 2000)) for basis in bases))
    )
    return "".join(parts)


def _of(rows: Sequence[BeyondRow], basis: str) -> str:
    return f"{', '.join(one.metric for one in rows if one.basis == basis)}: {basis}"


def lacking(rows: Sequence[BeyondRow]) -> list[str]:
    """What is missing for the metrics that have no value, those that lack the same named together."""
    lacks: dict[str, list[str]] = {}
    for one in rows:
        if not one.values:
            lacks.setdefault(one.needs.removeprefix(one.metric).lstrip(": ").removesuffix("."), []).append(one.metric)
    return [capital(say("beyond.without", names=", ".join(names), why=why)) + "." for why, names in lacks.items()]


def readings(report: Report) -> str:
    """How to read each metric: the sentence, the formula and the convention."""
    rows = [
        [
            html.text(one.metric),
            in_form(html.text(one.reads, 400), "html"),
            f"<code>{html.text(one.formula, 400)}</code>",
            html.text(one.convention, 400),
        ]
        for one in report.metrics
    ]
    rows += [
        [
            html.text(one.metric),
            in_form(html.text(one.reads, 400), "html"),
            f"<code>{html.text(one.formula, 400)}</code>",
            html.text(one.bounds, 60),
        ]
        for one in report.beyond
        if one.values
    ]
    header = [say(f"column.{one}") for one in ("metric", "how_to_read", "formula", "convention")]
    return wide(html.table(header, rows, numbers_from=4), say("report.readings_region"))
