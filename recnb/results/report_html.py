"""A report as HTML: the number first, then what it is made of, then the users behind it.

All that matters for reading is set inline and in text, since JupyterLab strips style sheets and inline SVG from
notebooks that are not trusted. There is no script and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.results import chart, html
from recnb.results.chart import percent, short
from recnb.results.report_text import (
    bin_names,
    ends,
    facts,
    fixed,
    found_in_words,
    groups,
    intervals_in_words,
    missed_in_words,
    not_covered,
    one_line,
    some,
    spread_in_words,
    users_of,
)
from recnb.strings import capital, current, say

if TYPE_CHECKING:
    from recnb.results.report import Report
    from recnb.results.report_data import Measured, Spread, UserList

#: Cut-offs beyond these are counted, not shown; `to_frame` holds them all.
COLUMNS_SHOWN, NAME_SHOWN = 12, 40

FAINT, FIGURES = "opacity: 0.75;", "font-variant-numeric: tabular-nums;"
SIDE_BY_SIDE = "display: flex; flex-wrap: wrap; align-items: flex-start;"
ANYWHERE, ROOM = "overflow-wrap: anywhere;", "margin: 1.6em 0 0.6em 0;"
SECURITY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
PAGE = (
    "body { margin: 0 auto; max-width: 68rem; padding: 2rem clamp(1rem, 4vw, 3rem); line-height: 1.45; "
    "font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; "
    "color: #1b1b1b; background: #ffffff; } "
    "@media (prefers-color-scheme: dark) { body { color: #e4e4e4; background: #141414; } } "
    "@media print { details { break-inside: avoid; } }"
)


def document(report: Report, title: str | None = None) -> str:
    """The report as a document that stands by itself."""
    said = _plain(title, 200) if title is not None else html.text(say("report.title", headline=_headline(report)))
    shown = said if title is not None else say("report.title_shown")
    top = f'<h1 style="font-size: 1.05rem; font-weight: 600; margin: 0 0 1.5rem 0; {FAINT}"><bdi>{shown}</bdi></h1>'
    # In a notebook headings stand below those of the notebook; here they follow the title.
    body = fragment(report).replace("<h3", "<h2").replace("</h3>", "</h2>")
    return (
        f'<!DOCTYPE html>\n<html lang="{current()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{SECURITY}">\n'
        f"<title>{said}</title>\n<style>{PAGE}</style>\n</head>\n<body>\n<main>\n{top}{body}\n</main>\n</body>\n</html>\n"
    )


def fragment(report: Report) -> str:
    """The report as a notebook shows it."""
    return html.root(
        _headed(report),
        _facts(report),
        _means(report),
        _pictures(report),
        *(_people(report, group, users) for group, users in groups(report)),
        _readings(report),
        html.note(html.text(f"{report.basis}.", 2000)),
        label=say("report.region", symbol=report.lead.symbol),
    )


def _headline(report: Report) -> str:
    mean, _, _ = report.lead.at(report.lead_k)
    label = f"{report.lead.symbol}@{report.lead_k}"
    return say("report.headline", label=label, value=fixed(mean), users=users_of(report))


def _name(value: object, longest: int = NAME_SHOWN) -> str:
    """Anything of the user's, in its own direction."""
    return f"<bdi>{_plain(value, longest)}</bdi>"


def _plain(value: object, longest: int) -> str:
    """Anything of the user's: escaped, on one line, and with no address in it."""
    return html.text(one_line(value, longest), longest + 1).replace("://", ":&#47;&#47;")


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
        f'<span style="white-space: nowrap; {FAINT}">{interval}</span></div>'
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
    details = _folded(say("report.what_in_words"), f'<dl style="margin: 0.3em 0;">{told}</dl>')
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
    left_out = len(report.k) - len(shown)
    more = html.note(say("report.more_cutoffs", n=left_out)) if left_out else ""
    words = f"{intervals_in_words(report)} {not_covered(report)}"
    one_user = report.n_users == 1
    caption = say("report.values_of_one") if one_user else say("report.means", users=users_of(report))
    table = html.table(header, rows, caption=_heading(caption))
    return f'<div style="{ROOM}">{_wide(table, say("table.region"))}{more}{html.note(html.text(words, 500))}</div>'


def _mean(one: Measured, k: int) -> str:
    mean, low, high = one.at(k)
    return (
        f'<b style="font-weight: 600;">{fixed(mean)}</b> '
        f'<span style="font-size: 0.86em; white-space: nowrap; {FAINT}">{ends(low, high)}</span>'
    )


def _strip(one: Measured, k: int) -> str:
    mean, low, high = one.at(k)
    if one.top is None or not isfinite(mean):
        return "–"
    words = say("report.strip", label=f"{one.metric}@{k}", value=fixed(mean), top=short(one.top))
    if isfinite(low):
        words = say("report.strip_interval", words=words, low=fixed(low), high=fixed(high))
    return chart.image(chart.strip(mean, low, high, one.top), words, chart.STRIP)


def _pictures(report: Report) -> str:
    """The curve and the distribution, each with its numbers in a folded table."""
    return f'<div style="{SIDE_BY_SIDE} gap: 0 2em;">{_curve(report)}{_spread(report)}</div>'


def _curve(report: Report) -> str:
    curve = report.curve
    mean_at_k = [f"{k}: {fixed(mean)}" for k, mean in zip(curve.k, curve.value, strict=True)]
    alt = say("report.curve_alt", symbol=curve.symbol, means=", ".join(mean_at_k))
    name = say("chart.mean", symbol=curve.symbol)
    picture = (
        chart.image(chart.curve(curve.k, curve.value, curve.low, curve.high, report.k, name), alt)
        if all(map(isfinite, curve.value))
        else html.note(say("report.no_mean"))
    )
    rows = [
        [str(k), fixed(mean), ends(low, high)]
        for k, mean, low, high in zip(curve.k, curve.value, curve.low, curve.high, strict=True)
    ]
    band = say("interval.band", confidence=100 * report.confidence) if isfinite(curve.low[0]) else ""
    table = html.table(["k", html.text(curve.metric), say("column.interval")], rows)
    heading = say("chart.against_k", symbol=html.text(curve.symbol))
    return _half(heading, picture, html.note(band), _folded(say("report.curve_numbers"), table))


def _spread(report: Report) -> str:
    spread = report.distribution
    names = bin_names(spread.edges)
    told = [f"{name}: {percent(share)}" for name, share in zip(names, spread.shares, strict=True)]
    label = f"{spread.symbol}@{spread.k}"
    alt = say("report.bars_alt", label=label, shares=", ".join(told))
    zero = spread.n_zero / max(spread.n_users, 1)
    picture = chart.image(
        chart.bars(spread.edges, spread.shares, spread.quartiles, zero, say("chart.of_a_user", label=label)), alt
    )
    numbers = zip(names, spread.counts, spread.shares, strict=True)
    rows = [[html.text(name), f"{count:,}", html.text(percent(share))] for name, count, share in numbers]
    legend = f" {say('report.grey')}" if spread.n_zero else ""
    if spread.n_users > 1:
        legend += f" {say('report.below_bars')}"
    words = html.text(f"{capital(spread_in_words(report))}.{legend}", 500)
    table = html.table([html.text(label), say("column.users"), say("column.share")], rows)
    heading = say("chart.over_users", label=html.text(label))
    return _half(heading, picture, html.note(words), _folded(say("report.bars_numbers"), table))


def _people(report: Report, group: str, users: Sequence[UserList]) -> str:
    """Some users with their lists, hits marked by a sign and a word."""
    cards = "".join(_card(report, one) for one in users)
    named = say(f"report.group.{group}")
    if group != "only":
        order = say("report.by", label=report.lead.label(report.lead_k), among=say(f"report.among.{group}"))
        named += f' <span style="font-weight: 400; font-size: 0.86em; {FAINT}">{order}</span>'
    named = _heading(named)
    return f'<div style="{ROOM}">{named}<div style="{SIDE_BY_SIDE} gap: 1em 3%;">{cards}</div></div>'


def _card(report: Report, one: UserList) -> str:
    score = f"{html.text(report.lead.label(report.lead_k))} <b>{fixed(one.value)}</b> · {found_in_words(one)}"
    head = f'<div style="font-weight: 600; {ANYWHERE}">{_name(one.user)}</div><div style="font-size: 0.92em;">{score}</div>'
    shown = _list(one, head) if one.places else f"{head}{html.note(say('report.no_list_card'))}"
    left_out = one.n_places - len(one.places)
    more = html.note(say("more.ranks", n=left_out)) if left_out else ""
    names = capital(say("report.missed", items=missed_in_words(one, _name)))
    missed = html.note(f'<span style="{ANYWHERE}">{names}</span>') if one.missed else ""
    return f'<div style="flex: 0 1 31%; min-width: 16em;">{shown}{more}{missed}</div>'


def _list(one: UserList, caption: str) -> str:
    """A list as a narrow table: rank, item, and whether it is a hit."""
    cell = f"padding: 0.15em 0.6em 0.15em 0.3em; border-bottom: 1px solid {html.LINE}; text-align: left; vertical-align: top;"
    widths = {"rank": "3em", "item": "auto", "hit": "8em"}
    head = "".join(
        f'<th scope="col" style="{cell} width: {wide}; font-weight: 400; font-size: 0.86em; {FAINT}">{say(f"column.{name}")}</th>'
        for name, wide in widths.items()
    )
    rows = "".join(
        f'<tr style="background: {html.FAINT if place.relevance else "transparent"};">'
        f'<th scope="row" style="{cell} font-weight: 400; {FIGURES} {FAINT}">{place.rank}</th>'
        f'<td style="{cell} {ANYWHERE}{" font-weight: 600;" if place.relevance else ""}">{_name(place.item)}</td>'
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


def _readings(report: Report) -> str:
    """How to read each metric, folded: the sentence, the formula and the convention."""
    rows = [
        [
            html.text(one.metric),
            html.text(one.reads, 400),
            f"<code>{html.text(one.formula, 400)}</code>",
            html.text(one.convention, 400),
        ]
        for one in report.metrics
    ]
    header = [say(f"column.{one}") for one in ("metric", "how_to_read", "formula", "convention")]
    table = html.table(header, rows, numbers_from=4)
    return _folded(say("report.readings"), _wide(table, say("report.readings_region")))


def _half(heading: str, *parts: str) -> str:
    return (
        f'<div style="flex: 1 1 26em; max-width: 100%; min-width: 0; {ROOM}">{_heading(heading)}{"".join(parts)}</div>'
    )


def _heading(words: str) -> str:
    return f'<h3 style="font-size: 1.1em; font-weight: 600; line-height: 1.3; margin: 0 0 0.4em 0;">{words}</h3>'


def _wide(table: str, label: str) -> str:
    """A table that scrolls sideways where the page is narrow."""
    return f'<div role="region" aria-label="{html.text(label)}" tabindex="0" style="overflow-x: auto;">{table}</div>'


def _folded(summary: str, *parts: str) -> str:
    return f'<details style="margin: 0.3em 0;"><summary style="cursor: pointer; font-size: 0.9em; {FAINT}">{summary}</summary>{"".join(parts)}</details>'
