"""What a report states in words, made once and shown by each of its forms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from recnb.display.language import N_, NC_, _, ngettext
from recnb.display.text import ends, fixed, percent, short
from recnb.report.beyond_row import BeyondRow
from recnb.stats import ENOUGH

if TYPE_CHECKING:
    from recnb.report.data import MetricSummary, ReportData, ReportSegments, UserSummary
    from recnb.results.segments import Segment

#: Headings of the users shown.
GROUPS: dict[str, str] = {
    "only": N_("The user"),
    "best": N_("Best users"),
    "worst": N_("Worst users"),
}

#: How an interval is computed.
INTERVALS: dict[str, str] = {
    "beta": N_("Clopper and Pearson's, for values between bounds"),
}


def users(report: ReportData) -> str:
    """How many users the means are over."""
    return ngettext("{n:,} user", "{n:,} users", report.n_users)


def headline(report: ReportData, label: str, value: str) -> str:
    """The lead metric with its value, and the users."""
    words = _("{label} = {value}, {users}", label=label, value=value, users=users(report))
    return _("Report: {headline}", headline=words)


def cell(metric: MetricSummary | BeyondRow, k: int, brackets: str = "[]", between: str = ", ") -> str:
    """A value with its interval; metrics of all lists together have none."""
    value, low, high = metric.at(k)
    if isinstance(metric, BeyondRow) and not isfinite(low):
        return fixed(value)
    return f"{fixed(value)} {brackets[0]}{ends(low, high, between)}{brackets[1]}"


def remarks(report: ReportData) -> list[str]:
    """What the intervals are and leave out, and whose the numbers beyond accuracy are."""
    beyond = (
        [_("Metrics beyond accuracy are below the others; they cover other users, or all lists together.")]
        if any(metric.values for metric in report.beyond)
        else []
    )
    if report.n_users < 2:
        return [_("No interval: one user is no sample."), *beyond]
    words = [
        _(
            "{confidence:g}% intervals for the mean, taking the users as a sample ({how}).",
            confidence=100 * report.confidence,
            how=_(INTERVALS[report.method]),
        ),
        _("Intervals are not corrected for the number of comparisons."),
    ]
    if any(isnan(metric.low[0]) for metric in report.metrics):
        words.append(
            _(
                "A metric without an upper bound has no interval where fewer than {n} users have a value above 0.",
                n=ENOUGH,
            )
        )
    return [*words, _("They do not cover another split of the data or another training run."), *beyond]


def facts(report: ReportData) -> list[tuple[str, str]]:
    """What was evaluated, as names and sentences."""
    population = report.population
    lengths, relevant = population.list_length, population.relevant_per_user
    length = _(
        "{low:,} to {high:,} ranks, median {median}", low=lengths.min, high=lengths.max, median=short(lengths.median)
    )
    if lengths.min == lengths.max:
        length = _("{items} each", items=ngettext("{n:,} item", "{n:,} items", lengths.max))
    rows = ngettext("{n:,} row", "{n:,} rows", population.n_recommended)
    recommended = ngettext("{n:,} different item", "{n:,} different items", population.n_items_recommended)
    per_user = _(
        "{low:,} to {high:,}, median {median}, mean {mean:.2f}",
        low=relevant.min,
        high=relevant.max,
        median=short(relevant.median),
        mean=relevant.mean,
    )
    items = ngettext("{n:,} different item", "{n:,} different items", population.n_items_relevant)
    found = _("{n:,}, of {items}; per user {per_user}", n=population.n_relevant, items=items, per_user=per_user)
    lines = [
        (_("users"), "; ".join(population.users)),
        (_("lists"), f"{length}; {rows}, {recommended}"),
        (_("relevant items"), found),
        (_("conventions"), "; ".join(population.conventions)),
    ]
    if population.n_not_relevant:
        rows = ngettext("{n:,} row", "{n:,} rows", population.n_not_relevant)
        lines.append((_("not relevant"), _("{rows} of the truth", rows=rows)))
    if population.n_gaps:
        gaps = ngettext("{n:,} user", "{n:,} users", population.n_gaps)
        lines.append((_("rank gaps"), _("the lists of {users} leave ranks empty, which count as misses", users=gaps)))
    return [*lines, *((_("note"), note) for note in population.notes)]


def distribution(report: ReportData) -> str:
    """How many users have the lowest and the highest value, and the quartiles."""
    values = report.distribution
    n_users = values.n_users
    if not n_users:
        return _("No user has a value.")

    def exactly(value: str, n: int) -> str:
        whose = _(
            "{n:,} of {users} ({share})",
            n=n,
            users=ngettext("{n:,} user", "{n:,} users", n_users),
            share=percent(n / n_users),
        )
        return _("exactly {value}: {users}", value=value, users=whose)

    parts = [exactly("0", values.n_zero)]
    if values.n_top is not None:
        parts.append(exactly(short(values.top), values.n_top))
    if values.n_without_value:
        parts.append(_("no value: {n:,}", n=values.n_without_value))
    low, middle, high = map(fixed, values.quartiles)
    mean = fixed(values.mean)
    parts.append(_("quartiles {low}, {middle}, {high}; mean {mean}", low=low, middle=middle, high=high, mean=mean))
    return "; ".join(parts)


def bins(report: ReportData) -> list[tuple[str, int, float]]:
    """The bins of the distribution: edges in words, users and their share; the last bin holds its upper edge as well."""
    values = report.distribution
    last = len(values.edges) - 2
    names = [
        _(
            NC_("last bin", "{low} to {high}") if at == last else N_("{low} to <{high}"),
            low=short(low),
            high=short(high),
        )
        for at, (low, high) in enumerate(pairwise(values.edges))
    ]
    return list(zip(names, values.counts, values.shares, strict=True))


def verdict(segment: Segment, segments: ReportSegments) -> str:
    """How a segment compares with all other users."""
    if not isfinite(segment.gap_low):
        return _("– too few users or differences")
    if not segments.differs(segment):
        return _("○ not significant")
    return _("▲ above") if segment.gap > 0 else _("▼ below")


def found(user: UserSummary) -> str:
    """How many of the relevant items a user's list holds."""
    if not user.n_relevant:
        return _("no relevant item")
    return _("found {n:,} of {relevant:,} relevant", n=user.n_hits, relevant=user.n_relevant)


def missed(user: UserSummary, shown: Callable[[Any, str], str]) -> str:
    """The most relevant of the items missed, each as `shown` gives its id and title, and how many more there are."""
    names = [
        shown(item.item, item.title) + (f" {_('(at rank {rank})', rank=item.rank)}" if item.rank else "")
        for item in user.missed
    ]
    more = user.n_missed - len(names)
    return ", ".join(names) + (f" {_('and {n:,} more', n=more)}" if more else "")


def lacking(report: ReportData) -> list[str]:
    """What the data lack for metrics beyond accuracy that have no value; a sentence for each thing that is missing."""
    lacks: dict[str, list[str]] = {}
    for metric in report.beyond:
        if not metric.values:
            lacks.setdefault(metric.needs.removesuffix("."), []).append(metric.metric)
    return [_("not here: {names} ({why})", names=", ".join(names), why=why) + "." for why, names in lacks.items()]
