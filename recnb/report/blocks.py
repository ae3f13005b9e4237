"""What a section is, and the sections that both reports share.

These are findings, curves, users, and how to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

from recnb.display import document as doc
from recnb.display import svg
from recnb.display.document import (
    Block,
    Form,
    Line,
    Mark,
    Name,
    Note,
    Rows,
    Section,
    estimate,
    joined,
    say,
    strong,
    with_code,
)
from recnb.display.language import N_, Message, _, ngettext, use_noun
from recnb.display.text import fixed, one_line, short, signed
from recnb.lint import Finding
from recnb.report import texts
from recnb.report.data import (
    RankedItem,
    ReportData,
    ShownUser,
    UserGroup,
)
from recnb.results.numbers import SAME, MeanRow

#: Models named in a sentence.
MOST_NAMED = 4

#: Findings that are all open; of more, the warnings.
FEW_FINDINGS = 3

#: Forms of a section: all of them, or those that have room for everything.
EVERY_FORM: tuple[Form, ...] = ("html", "md", "txt", "tex")
PAGES: tuple[Form, ...] = ("html", "md")


class SectionOf(NamedTuple):
    """A section of a report; one that gives no block is not shown."""

    title: Message
    blocks: Callable[[ReportData], Iterable[Block]]
    forms: tuple[Form, ...]
    #: The keys in `ReportData.calls` of the calls that return its numbers.
    calls: tuple[str, ...]
    #: The title in place of the other one, where it depends on the report.
    title_of: Callable[[ReportData], str] | None = None
    #: Whether it comes after all others, and not in its place.
    is_last: Callable[[ReportData], bool] = lambda report: False


class ReportLayout(NamedTuple):
    """What a report of one model or of several shows, from top to bottom."""

    title: Callable[[ReportData], str]
    label: Callable[[ReportData], str]  #: what a screen reader calls the report
    head: Callable[[ReportData], Iterable[Block]]
    sections: tuple[SectionOf, ...]
    remarks: Callable[[ReportData], list[str]]  #: below the first table of a paper


def shown(sections: Iterable[SectionOf], report: ReportData) -> list[Section]:
    """Return the sections that have anything to show.

    Each says by which calls one gets its numbers.
    """
    shown_sections = []
    for section in sorted(sections, key=lambda section: section.is_last(report)):
        section_blocks = list(section.blocks(report))
        if not section_blocks:
            continue
        title = _(section.title)
        if section.title_of is not None:
            title = section.title_of(report)
        section_blocks += same_numbers(report, section.calls)
        shown_sections.append(Section(title, section_blocks, section.forms))
    return shown_sections


def same_numbers(report: ReportData, names: Iterable[str]) -> Iterator[Block]:
    """Say by which calls one gets the numbers of a section."""
    calls: list[Line] = []
    for name in names:
        calls += [Mark("code", call) for call in report.calls.get(name, ())]
    if calls:
        line = say(texts.SAME_NUMBERS, calls=joined(calls))
        yield Section("", [Note(line)], PAGES)


def estimate_of(row: MeanRow, **look: Any) -> doc.Estimate:
    """Return a mean with the ends of its interval, for a cell."""
    return estimate(row.mean, row.low, row.high, **look)


# Lists and users


def noun_of_lists(report: ReportData) -> AbstractContextManager[None]:
    """Call users lists within a `with` statement, where they have several.

    Blocks are made within it and given after it, so that no other words are made there.
    """
    return use_noun(report.noun if report.n_lists is None else "list")


def clustered(report: ReportData) -> list[str]:
    """Say what intervals and tests are clustered by, if they are."""
    if not report.clustered_by:
        return []
    return [_(texts.CLUSTERED, unit=report.clustered_by)]


# Users who find anything


def has_hit_rates(report: ReportData) -> bool:
    """Return whether there is anything to say of users who find anything."""
    return report.n_users > 1 and bool(report.hit_rates)


def among_first(report: ReportData) -> str:
    """Return in words where hits are counted."""
    if report.lead_k == 1:
        return _("in the first place")
    return _("among their first {k}", k=report.lead_k)


def out_of(report: ReportData) -> int:
    """Return of how many users to say how many find anything.

    Of a hundred, or of as many as make it neither none nor all.
    """
    rates = [row.mean for row in report.hit_rates if SAME < row.mean < 1 - SAME]
    sizes = [100, 1_000, 10_000]
    n_lists = report.n_lists or report.n_users
    if n_lists < 100:
        sizes.insert(0, n_lists)
    for users in sizes:
        if all(0 < round(rate * users) < users for rate in rates):
            return users
    return 1_000_000


# Findings


def findings_in_brief(report: ReportData) -> list[Line]:
    """Return a line for each finding, or one that there are none."""
    lines = [_brief(models, found[0], report) for models, found in report.findings]
    if report.judged_order:
        lines.insert(0, [Mark("badge", _("warning")), " ", report.judged_order])
    return lines or [_no_findings(report)]


def left_out(report: ReportData) -> Iterator[Block]:
    """Say which metrics are not in the report, and why."""
    for why in dict.fromkeys(report.lacking.values()):
        metrics = [name for name, needs in report.lacking.items() if needs == why]
        names, reason = ", ".join(metrics), why.removesuffix(".")
        words = _("Not here: {names} ({why}).", names=names, why=reason)
        yield Note(with_code(words))
    for sentence in (report.left_out, report.unweighted):
        if sentence:
            yield Note(sentence)


def findings(report: ReportData) -> Iterator[Block]:
    """Give problems in the data in full: their effect on the numbers, what to type."""
    lints = list(report.lints.values())
    is_one = len(lints) == 1
    if not report.findings:
        yield Note(Mark("strong", _no_findings(report)), "plain")
    elif is_one:
        yield Note(Mark("strong", lints[0].headline), "plain")
    for models, found in report.findings:
        is_open = found[0].severity == "warning" or len(report.findings) <= FEW_FINDINGS
        details = [Note(line, "plain") for line in _details(models, found)]
        title = Mark("strong", _brief(models, found[0], report))
        yield doc.Fold(title, details, is_open)
    effects = lints[0].measured
    if not is_one:
        effects = _(texts.EFFECTS, checks=_n_checks(report))
    not_checked = [line for lint in lints for line in lint.not_checked]
    for line in dict.fromkeys([effects, *not_checked]):
        yield Note(with_code(line))


def _has_none(report: ReportData) -> bool:
    return not report.findings


def _findings_title(report: ReportData) -> str:
    n = len(report.findings)
    if n == 0:
        return _("No findings")
    return _("Findings ({n})", n=n)


#: That there are none is said below everything else.
FINDINGS = SectionOf(
    N_("Findings"),
    findings,
    PAGES,
    ("lints",),
    title_of=_findings_title,
    is_last=_has_none,
)


def _no_findings(report: ReportData) -> str:
    return _("Lint: no findings in {checks} checks", checks=_n_checks(report))


def _n_checks(report: ReportData) -> int:
    return min(lint.n_checks for lint in report.lints.values())


def _brief(models: Sequence[str], finding: Finding, report: ReportData) -> Line:
    """Return a finding on one line, and whose it is if there are several models."""
    if len(report.models) == 1:
        return [*finding.title]
    whose: Line = joined(map(Name, models))
    if len(models) == len(report.models):
        whose = _("all models")
    elif len(models) > MOST_NAMED:
        whose = _("{n} models", n=len(models))
    return [*finding.title, " ", Mark("small", ["(", whose, ")"])]


def _details(models: Sequence[str], found: Sequence[Finding]) -> list[Line]:
    """Return effect, example, advice and code of a finding.

    The effect has the name of each model if it is not the same on all.
    """
    first = found[0]
    if len({finding.effect for finding in found}) == 1:
        return first.details
    effects: list[Line] = []
    for model, finding in zip(models, found, strict=True):
        effects.append([strong(model), ": ", *with_code(finding.effect)])
    n_more = len(effects) - MOST_NAMED
    if n_more > 0:
        effects[MOST_NAMED:] = [[_(texts.MORE_EFFECTS, n=n_more)]]
    return [*effects, *replace(first, effect="").details]


# Curves


def curve(report: ReportData, title: str, marked: Sequence[int] = ()) -> doc.Picture:
    """Return the lead metric against the cut-off, a line for each model.

    The numbers are below the picture, under a title.
    """
    symbol = report.lead.symbol
    lines, last = [], []
    for model in report.drawn:
        points = report.curves[model]
        lines.append(
            (model, [(row.k or 0, row.mean, row.low, row.high) for row in points])
        )
        last.append(f"{one_line(model, 40)}: {fixed(points[-1].mean)}")
    words = N_("{symbol} against {axis}. At {axis} = {k}: {values}")
    deepest = report.curves[report.drawn[0]][-1].k
    alt = _(words, symbol=symbol, axis="k", k=deepest, values="; ".join(last))
    header = ["k", *(Name(model) if model else symbol for model in report.drawn)]
    at_each = zip(*(report.curves[model] for model in report.drawn), strict=True)
    rows = [[f"{row[0].k}", *map(estimate_of, row)] for row in at_each]
    ylabel = _("mean {symbol}@k", symbol=symbol)
    picture = svg.curves(lines, _("cut-off k"), ylabel, marked)
    return doc.Picture(picture, alt, Rows(header, rows, title))


def not_drawn(report: ReportData) -> Iterator[Note]:
    """Say that a picture of many models has not all of them."""
    n = len(report.models) - len(report.drawn)
    if n:
        words = texts.DRAWN_HIGHEST
        if report.lead.better == "low":
            words = texts.DRAWN_LOWEST
        yield Note(_(words, drawn=len(report.drawn), n=n))


# Users


def users(report: ReportData) -> Iterator[Block]:
    """Give the users shown, with their lists."""
    with noun_of_lists(report):
        of_users = list(user_blocks(report.users, report.label))
    yield from of_users


def user_blocks(groups: Sequence[UserGroup], label: str) -> Iterator[Block]:
    """Give users with their lists.

    Of two models, say how many gain and lose with one instead of the other.
    """
    pair = None
    for group in groups:
        if group.baseline is not None and pair != (group.model, group.baseline):
            pair = (group.model, group.baseline)
            yield Note(_gain_and_lose(group, label), "plain")
        kind = texts.GROUPS[group.kind]
        n = len(group.users)
        heading = say(kind, n=n, model=Name(group.model), label=label)
        yield Note(heading, "heading")
        if group.baseline is None:
            cards = [_card(user, label) for user in group.users]
            yield doc.Cards(cards, "17em", "24em")
        else:
            cards = [_card_of_two(group, user) for user in group.users]
            yield doc.Cards(cards, "27em", "40em")


def _gain_and_lose(group: UserGroup, label: str) -> Line:
    """Say how many users gain and lose with one model instead of another."""
    words = texts.GAIN_AND_LOSE
    if group.kind in ("risen", "fallen"):
        words = texts.RISE_AND_FALL
    won, tied, lost = group.counts or (0, 0, 0)
    return say(
        words,
        model=strong(group.model),
        baseline=strong(group.baseline),
        label=label,
        won=f"{won:,}",
        tied=f"{tied:,}",
        lost=f"{lost:,}",
    )


def _card(user: ShownUser, label: str) -> Rows:
    """Return a user's list, and what it misses."""
    rows = _rows_of_lists(user)
    found = _("no relevant item")
    if user.n_relevant:
        words = N_("found {n:,} of {relevant:,} relevant")
        found = _(words, n=user.n_hits, relevant=user.n_relevant)
    who = [*_who(user), f" {label} {fixed(user.values[0])} · {found}"]
    below = _more_ranks(user, len(rows))
    if not rows:
        below.append(f"{_('No list: nothing was recommended.')} ")
    if user.missed:
        below.append(say(N_("missed: {items}"), items=_missed(user)))
    return Rows(["#", _("list")], rows, who, 2, wraps=True, note=below)


def _card_of_two(group: UserGroup, user: ShownUser) -> Rows:
    """Return a user's lists of two models beside each other."""
    rows = _rows_of_lists(user)
    before, after = user.values
    n = user.n_relevant
    relevant = ngettext("{n:,} relevant item", "{n:,} relevant items", n)
    change = _("{change}, {relevant}", change=signed(after - before), relevant=relevant)
    header: list[Line] = ["#"]
    for model, value in zip((group.baseline, group.model), user.values, strict=True):
        header.append([Name(model, 20), f": {fixed(value)}"])
    who = [*_who(user), " ", change]
    below = _more_ranks(user, len(rows))
    return Rows(header, rows, who, 3, wraps=True, note=below)


def _who(user: ShownUser) -> list[Line]:
    """Return a user's id, with the text of a query."""
    if not user.text:
        return [strong(user.user)]
    return [strong(user.user), " (", Name(user.text, 120), ")"]


def _rows_of_lists(user: ShownUser) -> list[list[Line]]:
    """Return a row for each rank shown, with the item of each list."""
    by_rank = [{item.rank: item for item in items} for items in user.lists]
    ranks = sorted({rank for items in by_rank for rank in items if rank})
    rows = []
    for rank in ranks:
        row: list[Line] = [f"{rank}"]
        for items in by_rank:
            if items:
                row.append(_item(items.get(rank)))
            else:
                row.append(_("no list") if rank == ranks[0] else "")
        rows.append(row)
    return rows


def _more_ranks(user: ShownUser, n_rows: int) -> list[Line]:
    """Say how many ranks are not shown."""
    n_more = user.n_places - n_rows
    return [_("… {n:,} more ranks", n=n_more), " "] if n_more > 0 else []


def _missed(user: ShownUser) -> list[Line]:
    """Return the relevant items that a list misses."""
    items = []
    for item in user.missed:
        at_rank = f" {_('(at rank {rank})', rank=item.rank)}" if item.rank else ""
        items.append([_item(replace(item, relevance=0)), at_rank])
    n_more = user.n_missed - len(items)
    more = [" ", _("and {n:,} more", n=n_more)] if n_more else []
    return [*joined(items), *more]


def _item(item: RankedItem | None) -> Line:
    """Return an item with its title; a hit of a list is marked."""
    if item is None:
        return "–"
    name: Line = Name(item.item, 60)
    if item.title:
        name = [Name(item.title, 60), " ", Mark("small", ["(", Name(item.item), ")"])]
    if not item.relevance:
        return name
    hit = _("hit, {relevance}", relevance=short(item.relevance))
    return [Mark("hit", name), Mark("aside", hit)]


# How to read


def readings(report: ReportData) -> Iterator[Block]:
    """Give how to read each metric: the sentence, the formula and the convention."""
    header = [_("metric"), _("how to read it"), _("formula"), _("convention")]
    rows = []
    for metric in report.metrics:
        name = [metric.row_name, Mark("below", Mark("code", metric.metric))]
        formula = Mark("code", metric.formula)
        rows.append([name, with_code(metric.reads), formula, metric.convention])
    yield Rows(header, rows, left=4, wraps=True)
