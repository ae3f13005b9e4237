"""The sections of a report as HTML: findings, pictures, users, segments, what lies beyond accuracy, how to read it all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING

from recnb.display import html, svg
from recnb.display.components import ANYWHERE, FAINT, SIDE_BY_SIDE, folded, heading, name, plain, wide
from recnb.display.language import N_, _, capital, pgettext
from recnb.display.svg import percent, short
from recnb.display.text import ends, fixed, one_line, signed
from recnb.lint.values import in_form
from recnb.report.text import (
    GROUPS,
    bin_names,
    found_in_words,
    gap_in_words,
    groups,
    missed_in_words,
    spread_in_words,
    told_apart,
)
from recnb.results.provenance import COLUMNS

if TYPE_CHECKING:
    from recnb.report.beyond_row import BeyondRow
    from recnb.report.data import ReportData, UserList
    from recnb.results.segments import Segment

#: The order of users with equal values.
AMONG: dict[str, str] = {
    "best": N_("most found first"),
    "worst": N_("most missed first"),
}


FIGURES = "font-variant-numeric: tabular-nums;"
ROOM = "margin: 1.2em 0 0.6em 0;"


def findings(report: ReportData) -> str:
    """What is odd about the data and what it does to the numbers."""
    return report.findings.in_report() + html.note(html.text(report.findings.measured, 400))


def pictures(report: ReportData) -> str:
    """The curve and the distribution, each with its numbers in a folded table."""
    return f'<div style="{SIDE_BY_SIDE} gap: 0 2em;">{_curve(report)}{_spread(report)}</div>'


def _curve(report: ReportData) -> str:
    curve = report.curve
    mean_at_k = [f"{k}: {fixed(mean)}" for k, mean in zip(curve.k, curve.value, strict=True)]
    alt = _("{symbol} against k. Mean at k = {means}", symbol=curve.symbol, means=", ".join(mean_at_k))
    axis = _("mean {symbol}@k", symbol=curve.symbol)
    picture = (
        svg.image(svg.curve(curve.k, curve.value, curve.low, curve.high, report.k, axis), alt)
        if all(map(isfinite, curve.value))
        else html.note(_("No mean to draw."))
    )
    rows = [
        [str(k), fixed(mean), ends(low, high)]
        for k, mean, low, high in zip(curve.k, curve.value, curve.low, curve.high, strict=True)
    ]
    band = (
        _("The band holds the {confidence:g}% intervals.", confidence=100 * report.confidence)
        if isfinite(curve.low[0])
        else ""
    )
    table = html.table(["k", html.text(curve.metric), _("interval")], rows)
    title = _("{symbol} against k", symbol=html.text(curve.symbol))
    return _half(title, picture, html.note(band), folded(_("The numbers of the curve"), table, again=True))


def _spread(report: ReportData) -> str:
    spread = report.distribution
    names = bin_names(spread.edges)
    told = [f"{one}: {percent(share)}" for one, share in zip(names, spread.shares, strict=True)]
    label = f"{spread.symbol}@{spread.k}"
    alt = _("Share of users by {label}. {shares}", label=label, shares=", ".join(told))
    zero = spread.n_zero / max(spread.n_users, 1)
    picture = svg.image(
        svg.bars(spread.edges, spread.shares, spread.quartiles, zero, _("{label} of a user", label=label)), alt
    )
    numbers = zip(names, spread.counts, spread.shares, strict=True)
    rows = [[html.text(one), f"{count:,}", html.text(percent(share))] for one, count, share in numbers]
    legend = f" {_('Grey: users at exactly 0.')}" if spread.n_zero else ""
    if spread.n_users > 1:
        legend += f" {_('Below the bars: median and middle half of the users.')}"
    words = html.text(f"{capital(spread_in_words(report))}.{legend}", 500)
    table = html.table([html.text(label), pgettext("number", "users"), _("share")], rows)
    title = _("{label} over users", label=html.text(label))
    return _half(title, picture, html.note(words), folded(_("The numbers of the bars"), table, again=True))


def _half(title: str, *parts: str) -> str:
    return f'<div style="flex: 1 1 26em; max-width: 100%; min-width: 0; margin: 0 0 0.6em 0;">{heading(title)}{"".join(parts)}</div>'


def users(report: ReportData) -> str:
    """The users whom the lists serve best and worst, with their lists."""
    return "".join(_people(report, group, some) for group, some in groups(report))


def _people(report: ReportData, group: str, users: Sequence[UserList]) -> str:
    """Some users with their lists, hits marked by a sign and a word."""
    cards = "".join(_card(report, one) for one in users)
    named = _(GROUPS[group])
    if group != "only":
        order = _("by {label}; of equal ones, {among}", label=report.lead.label(report.lead_k), among=_(AMONG[group]))
        named += f' <span style="font-weight: 400; font-size: 0.86em; {FAINT}">{order}</span>'
    named = heading(named)
    return f'<div style="{ROOM}">{named}<div style="{SIDE_BY_SIDE} gap: 1em 2em;">{cards}</div></div>'


def _card(report: ReportData, one: UserList) -> str:
    score = f"{html.text(report.lead.label(report.lead_k))} <b>{fixed(one.value)}</b> · {found_in_words(one)}"
    head = (
        f'<div style="font-weight: 600; {ANYWHERE}">{name(one.user)}</div><div style="font-size: 0.92em;">{score}</div>'
    )
    shown = _list(one, head) if one.places else f"{head}{html.note(_('No list: nothing was recommended.'))}"
    left_out = one.n_places - len(one.places)
    more = html.note(_("… {n:,} more ranks", n=left_out)) if left_out else ""
    names = capital(_("missed: {items}", items=missed_in_words(one, name)))
    missed = html.note(f'<span style="{ANYWHERE}">{names}</span>') if one.missed else ""
    return f'<div style="flex: 1 1 16em; max-width: 26em; min-width: 0;">{shown}{more}{missed}</div>'


def _list(one: UserList, caption: str) -> str:
    """A list as a narrow table: rank, item, and whether it is a hit."""
    cell = f"padding: 0.15em 0.6em 0.15em 0.3em; border-bottom: 1px solid {html.LINE}; text-align: left; vertical-align: top;"
    widths = {"rank": "3em", "item": "auto", "hit": "8em"}
    head = "".join(
        f'<th scope="col" style="{cell} width: {wide}; font-weight: 400; font-size: 0.86em; {FAINT}">{_(COLUMNS[column])}</th>'
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
    return f'<span style="color: {svg.ACCENT}; font-weight: 600;">✓</span> {_("hit, {relevance}", relevance=short(relevance))}'


def segments(report: ReportData) -> str:
    """How segments of the users fare: the lead metric in sight, the others to open."""
    parted = report.segments
    if parted is None:
        return ""
    parts = []
    for metric, rows in groupby(parted.rows, key=lambda one: one.metric):
        shown = list(rows)
        caption = plain(
            _(
                "{label} by {by}: each segment, and its gap to all other users",
                label=f"{metric}@{parted.k}",
                by=parted.by,
            ),
            200,
        )
        table = wide(_segment_table(shown, caption, 1 - parted.confidence), _("segments of the users"))
        parts.append(table if metric == report.lead.metric else folded(f"{html.text(metric)}@{parted.k}", table))
    words = _(
        "A segment is above or below all other users where the corrected test and the {confidence:g}% interval "
        "of its gap agree; ○ is no proof that it is like them. (few) marks segments whose mean says little.",
        confidence=100 * parted.confidence,
    )
    first = parts[0] + html.note(html.text(words, 600))
    return first + html.note(html.text(parted.basis, 600)) + "".join(parts[1:])


def _segment_table(rows: Sequence[Segment], caption: str, alpha: float) -> str:
    reach = max(
        [abs(end) for one in rows for end in (one.gap, one.gap_low, one.gap_high) if isfinite(end)], default=0.0
    )
    header = [_("segment"), _("users"), _("mean"), _("gap to the rest")]
    header += [_("gap, about 0"), _("p (Holm)"), _("against the rest")]
    cells = []
    for one in rows:
        few = f" {_('(few)')}" if one.small else ""
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
    alt = _("{segment}: gap {gap}", segment=one_line(one.segment, 40), gap=signed(one.gap))
    image = svg.image(svg.gap(one.gap, one.gap_low, one.gap_high, reach), alt, svg.STRIP)
    return image.replace("://", ":&#47;&#47;")


def _with_ends(value: str, low: float, high: float, between: str = "–", *, plus: bool = False) -> str:
    shown = (signed(low), signed(high)) if plus else (fixed(low), fixed(high))
    small = f'<span style="font-size: 0.86em; {FAINT}">{between.join(shown)}</span>' if isfinite(low) else ""
    return f'<span style="white-space: nowrap;"><b style="font-weight: 600;">{value}</b> {small}</span>'


def beyond(report: ReportData) -> str:
    """What lies beyond accuracy, what each number means, and what the others need."""
    there = [one for one in report.beyond if one.values]
    if not report.beyond:
        return ""
    parts = []
    if there:
        header = [_("metric"), *(f"@{k}" for k in report.k[:6]), _("range")]
        rows = [
            [
                f'{html.text(one.metric)}<div style="font-weight: 400; font-size: 0.86em; max-width: 30em; {FAINT}">{html.text(one.title, 400)}</div>',
                *(_with_ends(fixed(value), low, high) for value, low, high in one.values[:6]),
                html.text(one.bounds, 60),
            ]
            for one in there
        ]
        parts.append(wide(html.table(header, rows), _("metrics beyond accuracy")))
        parts.append(
            html.note(
                html.text(
                    _(
                        "Higher is not always better here: read these beside accuracy. A number of all lists "
                        "together has no interval, a mean over pairs of users apart."
                    ),
                    600,
                )
            )
        )
    parts += [html.note(html.text(words, 900)) for words in lacking(report.beyond)]
    bases = dict.fromkeys(one.basis for one in there)
    parts.append(
        folded(
            _("Of whom, and by which conventions"), *(html.note(html.text(_of(there, basis), 2000)) for basis in bases)
        )
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
    return [
        capital(_("not here: {names} ({why})", names=", ".join(names), why=why)) + "." for why, names in lacks.items()
    ]


def readings(report: ReportData) -> str:
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
    header = [_("metric"), _("how to read it"), _("formula"), _("convention")]
    return wide(html.table(header, rows, numbers_from=4), _("how to read each metric"))
