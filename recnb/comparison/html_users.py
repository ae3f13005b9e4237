"""The users and the lists of a comparison as HTML: who moved, how alike the lists are, what lies beyond accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.comparison import charts
from recnb.comparison.conclusions import SIGNS, VERDICTS, bare_p, number, percent_of, signed
from recnb.display import html
from recnb.display import svg as chart
from recnb.display.components import ANYWHERE, FAINT, SIDE_BY_SIDE, compact, folded, name, picture, plain, strong, wide
from recnb.display.language import N_, Message, Plural, _, ngettext
from recnb.display.text import one_line
from recnb.lint.values import in_form

if TYPE_CHECKING:
    from recnb.comparison.results import Compared, Difference, ListItem, Moved, Mover, Overlap

#: Columns of the tables.
HEADERS: dict[str, str] = {
    "model": N_("model"),
    "baseline": N_("baseline"),
    "metric": N_("metric"),
    "difference": N_("difference"),
    "interval": N_("{confidence} interval"),
    "t": N_("p, t"),
    "wilcoxon": N_("p, Wilcoxon"),
    "randomization": N_("p, signs"),
    "holm": N_("p, Holm"),
    "bh": N_("p, BH"),
    "effect": N_("effect size"),
    "users": N_("won / tied / lost"),
    "detectable": N_("detectable"),
    "verdict": N_("conclusion"),
    "n_users": N_("users"),
    "segment": N_("segment"),
}

#: Headings of the users whose value changed most.
MOVERS: dict[str, Message] = {
    "gained": Plural("Gains most by {model}", "Gain most by {model}"),
    "lost": Plural("Loses most by {model}", "Lose most by {model}"),
}


#: The metrics that accuracy is drawn against, where they are known.
AGAINST = ("coverage", "novelty")


def movers(moved: Moved) -> str:
    """The users who moved most, each with both lists side by side."""
    won, tied, lost = moved.won_tied_lost
    pair = {"model": strong(moved.model), "baseline": strong(moved.baseline), "label": html.text(moved.label)}
    top = f'<div style="margin: 0.9em 0 0.3em 0;">{_("{model} in the place of {baseline}, {label}: users who gain {won}, stay {tied}, lose {lost}", won=f"{won:,}", tied=f"{tied:,}", lost=f"{lost:,}", **pair)}</div>'
    parts = [top]
    for key, users in (("gained", moved.gained), ("lost", moved.lost)):
        if users:
            cards = "".join(_card(moved, one) for one in users)
            words = _(MOVERS[key], n=len(users), **pair)
            parts.append(f'<div style="font-weight: 600; margin: 0.6em 0 0.2em 0;">{words}</div>')
            parts.append(f'<div style="{SIDE_BY_SIDE} gap: 1em 3%;">{cards}</div>')
    return "".join(parts)


def _card(moved: Moved, one: Mover) -> str:
    depth = max([place.rank for place in (*one.old, *one.new)], default=0)
    old, new = ({place.rank: place for place in places} for places in (one.old, one.new))
    left = "text-align: left;"
    head = "".join(
        f'<th scope="col" style="{left} font-weight: 400; font-size: 0.86em; width: {width}; {FAINT}">{words}</th>'
        for words, width in (
            ("#", "2em"),
            (f"{name(moved.baseline, 20)}: {number(one.before)}", "auto"),
            (f"{name(moved.model, 20)}: {number(one.after)}", "auto"),
        )
    )
    line = f'style="border-bottom: 1px solid {html.LINE}; background: transparent;"'
    rows = "".join(
        f'<tr {line}><td style="{left} {FAINT}">{rank}</td>{_place(old.get(rank))}{_place(new.get(rank))}</tr>'
        for rank in range(1, depth + 1)
    )
    found = _(
        "{change}, {relevant}",
        change=signed(one.change),
        relevant=ngettext("{n:,} relevant item", "{n:,} relevant items", one.n_relevant),
    )
    caption = f'<caption style="text-align: left; padding: 0 0 0.3em 0; {ANYWHERE}"><b style="font-weight: 600;">{name(one.user)}</b> {found}</caption>'
    lists = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return (
        '<div style="flex: 0 1 47%; min-width: 18em;"><table cellpadding="3" '
        'style="border-collapse: collapse; width: 100%; margin: 0; table-layout: fixed; overflow-wrap: anywhere; font-variant-numeric: tabular-nums;">'
        f"{caption}{lists}</table></div>"
    )


def _place(place: ListItem | None) -> str:
    left = "text-align: left;"
    if place is None:
        return f'<td style="{left}">–</td>'
    if not place.relevance:
        return f'<td style="{left}">{name(place.item)}</td>'
    mark = f'<span style="color: {chart.ACCENT};">✓</span>'
    hit = f'<span style="font-weight: 400; font-size: 0.86em;">{_("hit")}</span>'
    return f'<td style="{left} font-weight: 600; background: {html.FAINT};">{mark} {name(place.item)} {hit}</td>'


def segments(compared: Compared) -> str:
    """The differences within each segment of the users."""
    parted = compared.segments
    if parted is None:
        return ""
    found = [one for _ignored, one in parted.rows]
    reach = max(
        [abs(end) for one in found for end in (one.difference, one.low, one.high) if isfinite(end)], default=0.0
    )
    names = ("model",) if compared.reference is not None else ("model", "baseline")
    head = ("segment", *names, "n_users", "difference")
    header = [_(HEADERS[one]) for one in head]
    header += [_("about 0"), _("p, Holm"), _("conclusion")]
    cells = [
        [
            name(segment),
            *(name(getattr(one, which)) for which in names),
            f"{one.n_users:,}{f' {few}' if one.n_users < parted.n_small and (few := _('(few)')) else ''}",
            _difference(one),
            _drawn(one, segment, reach or 1.0),
            html.text(bare_p(one.p_holm)),
            f'<span style="white-space: nowrap;">{SIGNS[one.verdict]} {_(VERDICTS[one.verdict])}</span>',
        ]
        for segment, one in parted.rows
    ]
    label = f"{compared.lead.symbol}@{compared.lead_k}"
    caption = plain(_("{label} by {by}", label=label, by=parted.by), 200)
    if compared.reference is not None:
        caption += f", {plain(_('difference from {baseline}', baseline=compared.reference), 200)}"
    table = wide(html.table(header, cells, caption=caption, numbers_from=1 + len(names)), _("segments of the users"))
    words = _(
        "{confidence} intervals, not corrected for the number of comparisons; p corrected by Holm's method over "
        "the {n} differences here. (few) marks segments in which little can be shown. That a difference is found "
        "in one segment and not in another does not show that the two differ.",
        confidence=percent_of(compared.settings.confidence),
        n=len(found),
    )
    return table + html.note(html.text(words, 600))


def _difference(one: Difference) -> str:
    ends = f"{signed(one.low)} … {signed(one.high)}" if isfinite(one.low) else ""
    return (
        f'<span style="white-space: nowrap;"><b style="font-weight: 600;">{signed(one.difference)}</b> '
        f'<span style="font-size: 0.82em; {FAINT}">{ends}</span></span>'
    )


def _drawn(one: Difference, segment: str, reach: float) -> str:
    if not isfinite(one.difference):
        return "–"
    alt = f"{one_line(segment, 40)}, {one_line(one.model, 40)} − {one_line(one.baseline, 40)}: {signed(one.difference)}"
    image = chart.image(chart.gap(one.difference, one.low, one.high, reach), alt, chart.STRIP)
    return image.replace("://", ":&#47;&#47;")


def overlap(found: Sequence[Overlap]) -> str:
    """How alike the lists of each two models are."""
    if not found:
        return ""
    first = found[0]
    header = [
        _("lists of"),
        _("Jaccard{at}", at="" if first.k is None else f"@{first.k}"),
        _("RBO, p = {p}", p=f"{first.p:g}"),
        _("the very same list"),
        _("users"),
    ]
    rows = [
        [
            f"{name(one.model)} · {name(one.other)}",
            number(one.jaccard),
            number(one.rbo),
            f"{one.n_identical:,}",
            f"{one.n_users:,}",
        ]
        for one in found
    ]
    return wide(html.table(header, rows), _("How alike the lists are")) + html.note(
        _(
            "Means over users. Jaccard: items in both lists, out of items in either. RBO: rank-biased overlap, "
            "extrapolated, each rank weighing {p} times as much as the one above it (Webber, Moffat and Zobel "
            "2010). 1 is the same list, 0 nothing shared.",
            p=f"{first.p:g}",
        )
    )


def beyond(compared: Compared) -> str:
    """What lies beyond accuracy, a column a model, and accuracy against some of it."""
    if not compared.beyond:
        return ""
    header = [_("metric"), *map(name, compared.models)]
    rows = [[f"{html.text(one.symbol)}@{one.k}", *map(_with_ends, one.values)] for one in compared.beyond]
    table = wide(html.table(header, rows), _("Beyond accuracy"))
    drawn = "".join(f'<div style="flex: 0 1 auto;">{_against(compared, metric)}</div>' for metric in AGAINST)
    words = _(
        "Values of each model's lists, with {confidence} intervals where there is a mean over users or pairs of "
        "users; nothing here is tested.",
        confidence=percent_of(compared.settings.confidence),
    )
    reads = compact(
        [_("metric"), _("how to read it")],
        [
            [
                html.text(one.symbol),
                f'<span style="white-space: normal;">{in_form(html.text(f"{one.title} {one.reads}", 800), "html")}</span>',
            ]
            for one in compared.beyond
        ],
        left=2,
    )
    basis = plain(" · ".join(dict.fromkeys(one.basis for one in compared.beyond)), 1500)
    note = html.note(html.text(words, 600)) + folded(
        _("How to read each metric, and its formula"), reads, html.note(basis)
    )
    return f'{table}<div style="{SIDE_BY_SIDE} gap: 0 2em;">{drawn}</div>{note}'


def _with_ends(values: tuple[float, float, float]) -> str:
    value, low, high = values
    ends = f"{number(low)}–{number(high)}" if isfinite(low) else ""
    return f'{number(value)} <span style="font-size: 0.82em; white-space: nowrap; {FAINT}">{ends}</span>'


def _against(compared: Compared, metric: str) -> str:
    """The lead metric against one beyond accuracy, a point a model."""
    found = next((one for one in compared.beyond if one.metric == metric), None)
    if found is None:
        return ""
    k = compared.lead_k
    up = [compared.mean_of(model, compared.lead.metric, k).mean for model in compared.models]
    across = [value for value, _ignored, _ignored in found.values]
    return points(compared.models, across, up, (f"{found.symbol}@{k}", f"{compared.lead.symbol}@{k}"))


def points(models: Sequence[str], across: Sequence[float], up: Sequence[float], labels: tuple[str, str]) -> str:
    """One metric against another, a point a model; nothing where one has no value."""
    if not all(map(isfinite, (*across, *up))):
        return ""
    svg, width = charts.points(models, across, up, labels)
    told = "; ".join(
        f"{one_line(model, 40)}: {number(a)}, {number(b)}" for model, a, b in zip(models, across, up, strict=True)
    )
    return picture(svg, f"{labels[1]} / {labels[0]}. {told}", width)
