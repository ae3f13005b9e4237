"""A report as text: plain for a console, Markdown for a page, LaTeX for a paper; and user strings made safe for each."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from recnb.display.language import N_, NC_, _, ngettext, width
from recnb.display.svg import percent, short
from recnb.display.text import ends, fixed, one_line, signed, some
from recnb.stats import ENOUGH

if TYPE_CHECKING:
    from recnb.report.beyond_row import BeyondRow
    from recnb.report.data import ReportData, UserList
    from recnb.results.segments import Segment

#: Headings of some users.
GROUPS: dict[str, str] = {
    "only": N_("The user"),
    "best": N_("Best users"),
    "worst": N_("Worst users"),
}

#: How an interval is made.
INTERVALS: dict[str, str] = {
    "beta": N_("Clopper and Pearson's, for values between bounds"),
}


#: Cut-offs beyond these are counted, not shown, where there is no room; `to_frame` holds them all.
COLUMNS_SHOWN = 8


def intervals_in_words(report: ReportData) -> str:
    """What the intervals are."""
    if report.n_users < 2:
        return _("No interval: one user is no sample.")
    how = _(INTERVALS[report.method])
    words = [
        _(
            "{confidence:g}% intervals for the mean, taking the users as a sample ({how}).",
            confidence=100 * report.confidence,
            how=how,
        ),
        _("Intervals are not corrected for the number of comparisons."),
    ]
    if any(isnan(one.low[0]) for one in report.metrics):
        words.append(
            _(
                "A metric without an upper bound has no interval where fewer than {n} users have a value above 0.",
                n=ENOUGH,
            )
        )
    return " ".join(words)


def not_covered(report: ReportData) -> str:
    """What intervals over users leave out, where there are intervals."""
    return _("They do not cover another split of the data or another training run.") if report.n_users > 1 else ""


def beyond_in_words(report: ReportData) -> str:
    """Whose the numbers beyond accuracy are, where there are any."""
    return (
        _("Metrics beyond accuracy stand below the others; they are of other users, or of all lists together.")
        if any(one.values for one in report.beyond)
        else ""
    )


def facts(report: ReportData) -> list[tuple[str, str]]:
    """What was evaluated, as names and sentences; nothing in them is the user's."""
    people = report.population
    lengths, relevant = people.list_length, people.relevant_per_user
    length = _(
        "{low:,} to {high:,} ranks, median {median}", low=lengths.min, high=lengths.max, median=short(lengths.median)
    )
    if lengths.min == lengths.max:
        length = _("{items} each", items=ngettext("{n:,} item", "{n:,} items", lengths.max))
    rows = ngettext("{n:,} row", "{n:,} rows", people.n_recommended)
    recommended = ngettext("{n:,} different item", "{n:,} different items", people.n_items_recommended)
    items = ngettext("{n:,} different item", "{n:,} different items", people.n_items_relevant)
    spread = {"low": relevant.min, "high": relevant.max, "median": short(relevant.median), "mean": relevant.mean}
    found = _(
        "{n:,}, of {items}; per user {per_user}",
        n=people.n_relevant,
        items=items,
        per_user=_("{low:,} to {high:,}, median {median}, mean {mean:.2f}", **spread),
    )
    lines = [
        (_("users"), "; ".join(people.users)),
        (_("lists"), f"{length}; {rows}, {recommended}"),
        (_("relevant items"), found),
        (_("conventions"), "; ".join(people.conventions)),
    ]
    if people.n_not_relevant:
        rows = ngettext("{n:,} row", "{n:,} rows", people.n_not_relevant)
        lines.append((_("not relevant"), _("{rows} of the truth", rows=rows)))
    if people.n_gaps:
        lines.append(
            (
                _("rank gaps"),
                _(
                    "the lists of {users} leave ranks empty, which count as misses",
                    users=ngettext("{n:,} user", "{n:,} users", people.n_gaps),
                ),
            )
        )
    return [*lines, *((_("note"), note) for note in people.notes)]


def spread_in_words(report: ReportData) -> str:
    """Where the users stand in the distribution."""
    spread = report.distribution
    if not spread.n_users:
        return _("No user has a value.")
    parts = [_("exactly {value}: {users}", value="0", users=_of_users(spread.n_zero, spread.n_users))]
    if spread.n_top is not None:
        parts.append(
            _("exactly {value}: {users}", value=short(spread.top), users=_of_users(spread.n_top, spread.n_users))
        )
    if spread.n_without_value:
        parts.append(_("no value: {n:,}", n=spread.n_without_value))
    low, middle, high = map(fixed, spread.quartiles)
    return "; ".join(
        [
            *parts,
            _(
                "quartiles {low}, {middle}, {high}; mean {mean}",
                low=low,
                middle=middle,
                high=high,
                mean=fixed(spread.mean),
            ),
        ]
    )


def _of_users(n: int, n_users: int) -> str:
    return _(
        "{n:,} of {users} ({share})",
        n=n,
        users=ngettext("{n:,} user", "{n:,} users", n_users),
        share=percent(n / n_users),
    )


def bin_names(edges: Sequence[float]) -> list[str]:
    """Each bin by its edges; the last one holds its upper edge as well.

    >>> bin_names([0.0, 0.5, 1.0])
    ['0 to <0.5', '0.5 to 1']
    """
    last = len(edges) - 2
    return [
        _(
            NC_("last bin", "{low} to {high}") if at == last else N_("{low} to <{high}"),
            low=short(low),
            high=short(high),
        )
        for at, (low, high) in enumerate(pairwise(edges))
    ]


def groups(report: ReportData) -> list[tuple[str, tuple[UserList, ...]]]:
    """The users that are shown, by which end they stand at: "only", or "best" and "worst"."""
    if not report.worst:
        return [("only", report.best)] if report.best else []
    return [("best", report.best), ("worst", report.worst)]


def told_apart(one: Segment, alpha: float) -> bool:
    """Whether a segment differs from all other users: the corrected test and the interval agree."""
    excluded = isfinite(one.gap_low) and (one.gap_low > 0 or one.gap_high < 0)
    return bool(excluded and one.p_holm <= alpha)


def gap_in_words(one: Segment, alpha: float) -> str:
    """What may be said of a segment against all other users."""
    if not isfinite(one.gap_low):
        return _("– too few, or too alike")
    if not told_apart(one, alpha):
        return _("○ not told apart")
    return _("▲ above") if one.gap > 0 else _("▼ below")


def found_in_words(one: UserList) -> str:
    """How much of what is relevant a user's list holds."""
    if not one.n_relevant:
        return _("no relevant item")
    return _("found {n:,} of {relevant:,} relevant", n=one.n_hits, relevant=one.n_relevant)


def text(report: ReportData) -> str:
    """The report for a console; it stands alone."""
    lead = report.lead
    mean, low, high = lead.at(report.lead_k)
    shown = some(report.k, COLUMNS_SHOWN)
    header = ["", *(f"@{k}" for k in shown)]
    rows = [
        [one.metric, *(f"{fixed(m)} [{ends(a, b, ', ')}]" for m, a, b in map(one.at, shown))] for one in report.metrics
    ]
    label = f"{lead.metric}@{report.lead_k}"
    value = f"{fixed(mean)} [{ends(low, high, ', ')}]"
    said = " ".join(part for part in (intervals_in_words(report), not_covered(report), beyond_in_words(report)) if part)
    left_out = len(report.k) - len(shown)
    further = [[one.metric, *(_valued(one, k) for k in shown)] for one in report.beyond if one.values]
    lines = [
        _(
            "Report: {headline}",
            headline=_("{label} = {value}, {users}", label=label, value=value, users=users_of(report)),
        ),
        *report.findings.lines(),
        "",
        *aligned([header, *rows, *further]),
        *([_("({n} more cut-offs in .to_frame())", n=left_out)] if left_out else []),
        *textwrap.wrap(said, 110 * len(said) // width(said)),
        "",
        *aligned([[name, words] for name, words in facts(report)], left=True),
        "",
        _("{label} over users: {words}", label=label, words=spread_in_words(report)),
        *_bars(report),
    ]
    lines += _segment_lines(report)
    for group, users in groups(report):
        heading = _(GROUPS[group])
        lines += [
            "",
            _("{heading} by {label} (* marks a hit):", heading=heading, label=label),
            *(_user_line(one) for one in users),
        ]
    return "\n".join(lines)


def _valued(one: BeyondRow, k: int) -> str:
    value, low, high = one.values[one.k.index(k)]
    return f"{fixed(value)} [{ends(low, high, ', ')}]" if isfinite(low) else fixed(value)


def _segment_lines(report: ReportData) -> list[str]:
    """The segments of the lead metric, a line each."""
    parted = report.segments
    if parted is None:
        return []
    rows = [
        [
            one_line(one.segment), f"{one.n_users:,}", f"{fixed(one.mean)} [{ends(one.low, one.high, ', ')}]",
            f"{signed(one.gap)}", gap_in_words(one, 1 - parted.confidence),
        ]
        for one in parted.of(report.lead.metric)
    ]  # fmt: skip
    header = [_("segment"), _("users"), _("mean"), _("gap to the rest"), ""]
    caption = _(
        "{label} by {by}: each segment, and its gap to all other users",
        label=f"{report.lead.metric}@{parted.k}",
        by=one_line(parted.by),
    )
    return ["", caption, *aligned([header, *rows])]


def users_of(report: ReportData) -> str:
    """How many users the means are over."""
    return ngettext("{n:,} user", "{n:,} users", report.n_users)


def aligned(rows: Sequence[Sequence[str]], *, left: bool = False) -> list[str]:
    """Cells in columns; numbers stand to the right, all to the left if that is asked for."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    sides = [left or at == 0 for at in range(len(widths))]
    return ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows]


def _padded(cell: str, to: int, left: bool) -> str:
    room = " " * (to - width(cell))
    return cell + room if left else room + cell


def _bars(report: ReportData) -> list[str]:
    spread = report.distribution
    most = max(max(spread.shares), 0.01)
    names = bin_names(spread.edges)
    rows = [
        [name, f"{count:,}", percent(share), "#" * round(24 * share / most)]
        for name, count, share in zip(names, spread.counts, spread.shares, strict=True)
    ]
    return [
        "  " + line for line in aligned([[row[0], f"{row[1]:>9}", f"{row[2]:>4}", row[3]] for row in rows], left=True)
    ]


def _user_line(one: UserList) -> str:
    places = ", ".join(f"{'*' if place.relevance else ''}{one_line(place.item)}" for place in one.places) or _(
        "no list"
    )
    left_out = one.n_places - len(one.places)
    places += f", {_('… {n} more', n=left_out)}" if left_out else ""
    missed = f"; {_('missed: {items}', items=missed_in_words(one, one_line))}" if one.missed else ""
    said = {"user": one_line(one.user), "value": fixed(one.value), "found": found_in_words(one), "places": places}
    return f"  {_('{user}: {value}, {found}; list: {places}', **said)}{missed}"


def missed_in_words(one: UserList, safe: Any) -> str:
    """The first of what was missed, each made safe by `safe`, and how many more there are."""
    names = [
        safe(item.item) + (f" {_('(at rank {rank})', rank=item.rank)}" if item.rank else "") for item in one.missed
    ]
    more = one.n_missed - len(names)
    return ", ".join(names) + (f" {_('and {n:,} more', n=more)}" if more else "")
