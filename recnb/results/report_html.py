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
    NOT_COVERED,
    bin_names,
    counted,
    ends,
    facts,
    fixed,
    found_in_words,
    groups,
    intervals_in_words,
    missed_in_words,
    one_line,
    some,
    spread_in_words,
)

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
    said = _plain(title, 200) if title is not None else f"Report: {html.text(_headline(report))}"
    shown = said if title is not None else "Evaluation report"
    top = f'<h1 style="font-size: 1.05rem; font-weight: 600; margin: 0 0 1.5rem 0; {FAINT}"><bdi>{shown}</bdi></h1>'
    # In a notebook headings stand below those of the notebook; here they follow the title.
    body = fragment(report).replace("<h3", "<h2").replace("</h3>", "</h2>")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
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
        *(_people(report, heading, users) for heading, users in groups(report)),
        _readings(report),
        html.note(html.text(f"{report.basis}.", 2000)),
        label=f"report of {report.lead.symbol}",
    )


def _headline(report: Report) -> str:
    mean, _, _ = report.lead.at(report.lead_k)
    return f"{report.lead.symbol}@{report.lead_k} = {fixed(mean)}, {_users(report)}"


def _users(report: Report) -> str:
    return counted(report.n_users, "user")


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
    interval = (
        f"{100 * report.confidence:g}% interval {ends(low, high)}" if report.n_users > 1 else "one user, no interval"
    )
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
    lists = _range(lengths, counted(people.n_recommended, "row"))
    per_user = _range(relevant, f"{people.n_relevant:,} in all")
    tiles = [
        (f"{people.n_users:,}", _named(people.n_users, "user"), "; ".join(people.users[1:]) or "none left out"),
        (short(lengths.median), _named(lengths.median, "item", "per list"), lists),
        (short(relevant.median), _named(relevant.median, "relevant item", "per user"), per_user),
        (
            f"{people.n_items_recommended:,}",
            _named(people.n_items_recommended, "different item", "recommended"),
            f"{people.n_items_relevant:,} relevant to someone",
        ),
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
    details = _folded("What was evaluated, in words", f'<dl style="margin: 0.3em 0;">{told}</dl>')
    return f'<div style="{SIDE_BY_SIDE} gap: 0.8em 1.6em; margin: 0 0 0.4em 0;">{shown}</div>{details}'


def _named(n: float, what: str, more: str = "") -> str:
    return f"{what}{'' if n == 1 else 's'} {more}".rstrip()


def _range(spread: Spread, more: str) -> str:
    """How far a spread goes about its median."""
    if spread.min == spread.max:
        return f"all alike; {more}"
    return f"median; {spread.min:,} to {spread.max:,}, mean {spread.mean:.1f}; {more}"


def _means(report: Report) -> str:
    """The table of metrics and cut-offs, an interval beside each mean."""
    shown = some(report.k, COLUMNS_SHOWN)
    bounded = any(one.top is not None for one in report.metrics)
    header = ["metric", *(f"@{k}" for k in shown)]
    if bounded:
        header.append(f'<span style="white-space: nowrap;">@{report.lead_k}, 0 to 1</span>')
    rows = []
    for one in report.metrics:
        cells = [
            f'<span title="{html.text(one.title, 200)}">{html.text(one.metric)}</span>',
            *(_mean(one, k) for k in shown),
        ]
        if bounded:
            cells.append(_strip(one, report.lead_k))
        rows.append(cells)
    more = (
        html.note(f"{len(report.k) - len(shown)} more cut-offs: see to_frame().") if len(shown) < len(report.k) else ""
    )
    words = f"{intervals_in_words(report)} {NOT_COVERED if report.n_users > 1 else ''}"
    caption = f"Means over {_users(report)}, each with its interval" if report.n_users > 1 else "Values of one user"
    table = html.table(header, rows, caption=_heading(caption))
    return f'<div style="{ROOM}">{_wide(table, "metrics at cut-offs")}{more}{html.note(html.text(words, 500))}</div>'


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
    words = f"{one.metric}@{k} is {fixed(mean)} of {short(one.top)}" + (
        f", interval {ends(low, high, ' to ')}" if isfinite(low) else ""
    )
    return chart.image(chart.strip(mean, low, high, one.top), words, chart.STRIP)


def _pictures(report: Report) -> str:
    """The curve and the distribution, each with its numbers in a folded table."""
    return f'<div style="{SIDE_BY_SIDE} gap: 0 2em;">{_curve(report)}{_spread(report)}</div>'


def _curve(report: Report) -> str:
    curve = report.curve
    mean_at_k = [f"{k}: {fixed(mean)}" for k, mean in zip(curve.k, curve.value, strict=True)]
    alt = f"{curve.symbol} against k. Mean at k = {', '.join(mean_at_k)}"
    picture = (
        chart.image(chart.curve(curve.k, curve.value, curve.low, curve.high, report.k, f"mean {curve.symbol}@k"), alt)
        if all(map(isfinite, curve.value))
        else html.note("No mean to draw.")
    )
    rows = [
        [str(k), fixed(mean), ends(low, high)]
        for k, mean, low, high in zip(curve.k, curve.value, curve.low, curve.high, strict=True)
    ]
    band = f"The band holds the {100 * report.confidence:g}% intervals." if isfinite(curve.low[0]) else ""
    table = html.table(["k", html.text(curve.metric), "interval"], rows)
    return _half(
        f"{html.text(curve.symbol)} against k", picture, html.note(band), _folded("The numbers of the curve", table)
    )


def _spread(report: Report) -> str:
    spread = report.distribution
    names = bin_names(spread.edges)
    told = [f"{name}: {percent(share)}" for name, share in zip(names, spread.shares, strict=True)]
    alt = f"Share of users by {spread.symbol}@{spread.k}. {', '.join(told)}"
    zero = spread.n_zero / max(spread.n_users, 1)
    picture = chart.image(
        chart.bars(spread.edges, spread.shares, spread.quartiles, zero, f"{spread.symbol}@{spread.k} of a user"), alt
    )
    numbers = zip(names, spread.counts, spread.shares, strict=True)
    rows = [[html.text(name), f"{count:,}", html.text(percent(share))] for name, count, share in numbers]
    legend = " Grey: users at exactly 0." if spread.n_zero else ""
    if spread.n_users > 1:
        legend += " Below the bars: median and middle half of the users."
    words = html.text(f"{_capital(spread_in_words(report))}.{legend}", 500)
    table = html.table([f"{html.text(spread.symbol)}@{spread.k}", "users", "share"], rows)
    return _half(
        f"{html.text(spread.symbol)}@{spread.k} over users",
        picture,
        html.note(words),
        _folded("The numbers of the bars", table),
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _people(report: Report, heading: str, users: Sequence[UserList]) -> str:
    """Some users with their lists, hits marked by a sign and a word."""
    cards = "".join(_card(report, one) for one in users)
    among = "most found first" if heading.startswith("Best") else "most missed first"
    order = f' <span style="font-weight: 400; font-size: 0.86em; {FAINT}">by {report.lead.label(report.lead_k)}; of equal ones, {among}</span>'
    named = _heading(html.text(heading) + (order if report.worst else ""))
    return f'<div style="{ROOM}">{named}<div style="{SIDE_BY_SIDE} gap: 1em 3%;">{cards}</div></div>'


def _card(report: Report, one: UserList) -> str:
    score = f"{html.text(report.lead.label(report.lead_k))} <b>{fixed(one.value)}</b> · {found_in_words(one)}"
    head = f'<div style="font-weight: 600; {ANYWHERE}">{_name(one.user)}</div><div style="font-size: 0.92em;">{score}</div>'
    shown = _list(one, head) if one.places else f"{head}{html.note('No list: nothing was recommended.')}"
    more = html.note(f"… {one.n_places - len(one.places):,} more ranks") if one.n_places > len(one.places) else ""
    missed = html.note(f'<span style="{ANYWHERE}">Missed: {missed_in_words(one, _name)}</span>') if one.missed else ""
    return f'<div style="flex: 0 1 31%; min-width: 16em;">{shown}{more}{missed}</div>'


def _list(one: UserList, caption: str) -> str:
    """A list as a narrow table: rank, item, and whether it is a hit."""
    cell = f"padding: 0.15em 0.6em 0.15em 0.3em; border-bottom: 1px solid {html.LINE}; text-align: left; vertical-align: top;"
    widths = {"rank": "3em", "item": "auto", "hit, relevance": "8em"}
    head = "".join(
        f'<th scope="col" style="{cell} width: {wide}; font-weight: 400; font-size: 0.86em; {FAINT}">{name}</th>'
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
    return f'<span style="color: {chart.ACCENT}; font-weight: 600;">✓</span> hit, {short(relevance)}'


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
    table = html.table(["metric", "how to read it", "formula", "convention"], rows, numbers_from=4)
    return _folded("How to read each metric, and its formula", _wide(table, "how to read each metric"))


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
