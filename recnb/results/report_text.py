"""A report as text: plain for a console, Markdown for a page, LaTeX for a paper; and user strings made safe for each."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from recnb.results.chart import percent, short
from recnb.strings import say, width
from recnb.uncertainty import ENOUGH

if TYPE_CHECKING:
    from recnb.results.beyond_data import BeyondRow
    from recnb.results.report import Report
    from recnb.results.report_data import UserList
    from recnb.results.segment_table import Segment

#: Cut-offs beyond these are counted, not shown, where there is no room; `to_frame` holds them all.
COLUMNS_SHOWN, NAME_SHOWN = 8, 60

_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "`": r"\textasciigrave{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"}, "−": "--", "–": "--", "×": r"$\times$", "…": r"\ldots{}",
}  # fmt: skip
_MARKDOWN = {
    **{sign: "\\" + sign for sign in "\\`*_[]#~|"}, "&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;",
}  # fmt: skip


def one_line(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's on one line: no line breaks, nothing that turns the direction of what follows.

    >>> one_line("two\nlines"), one_line("x" * 100, 5)
    ('two lines', 'xxxx…')
    """
    # Cut before looking at each character: a name may be as long as a book.
    plain = str(value)[: longest + 1]
    kept = "".join(" " if one in _SPACES else one for one in plain if one in _SPACES or _shows(one))
    return kept if len(plain) <= longest else kept[: longest - 1] + "…"


def _shows(one: str) -> bool:
    return one not in _TURNS and unicodedata.category(one) not in ("Cc", "Cs")


def latex_text(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's as text of LaTeX.

    >>> print(latex_text("50% of {a_b} & $c^2$"))
    50\% of \{a\_b\} \& \$c\textasciicircum{}2\$
    """
    return "".join(_LATEX.get(one, one) for one in one_line(value, longest))


def markdown_text(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's as text of Markdown, also within a table.

    >>> print(markdown_text("a|b <i> *c* $5"))
    a\|b &lt;i&gt; \*c\* &#36;5
    """
    escaped = "".join(_MARKDOWN.get(one, one) for one in one_line(value, longest))
    return escaped.replace("://", "&#58;//")  # an address is not to become a link


def fixed(value: float) -> str:
    """A mean as it is shown.

    >>> fixed(0.25), fixed(float("nan"))
    ('0.2500', 'n/a')
    """
    return f"{value:.4f}" if isfinite(value) else say("number.none")


def ends(low: float, high: float, between: str = "–") -> str:
    """An interval as it is shown.

    >>> ends(0.1, 0.3), ends(float("nan"), float("nan"))
    ('0.1000–0.3000', 'n/a')
    """
    return f"{fixed(low)}{between}{fixed(high)}" if isfinite(low) and isfinite(high) else say("number.none")


def some(values: Sequence[int], most: int) -> list[int]:
    """At most so many of the values, spread evenly, the first and the last among them.

    >>> some(range(1, 101), 4), some([5, 10], 4)
    ([1, 34, 67, 100], [5, 10])
    """
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def intervals_in_words(report: Report) -> str:
    """What the intervals are."""
    if report.n_users < 2:
        return say("interval.none")
    how = say(f"interval.{report.method}")
    words = [say("interval.words", confidence=100 * report.confidence, how=how), say("interval.uncorrected")]
    if any(isnan(one.low[0]) for one in report.metrics):
        words.append(say("interval.unbounded", n=ENOUGH))
    return " ".join(words)


def not_covered(report: Report) -> str:
    """What intervals over users leave out, where there are intervals."""
    return say("interval.not_covered") if report.n_users > 1 else ""


def beyond_in_words(report: Report) -> str:
    """Whose the numbers beyond accuracy are, where there are any."""
    return say("report.means_beyond") if any(one.values for one in report.beyond) else ""


def facts(report: Report) -> list[tuple[str, str]]:
    """What was evaluated, as names and sentences; nothing in them is the user's."""
    people = report.population
    lengths, relevant = people.list_length, people.relevant_per_user
    length = say("fact.length", low=lengths.min, high=lengths.max, median=short(lengths.median))
    if lengths.min == lengths.max:
        length = say("fact.length_each", items=say("count.items", n=lengths.max))
    rows = say("count.rows", n=people.n_recommended)
    recommended = say("count.different_items", n=people.n_items_recommended)
    items = say("count.different_items", n=people.n_items_relevant)
    spread = {"low": relevant.min, "high": relevant.max, "median": short(relevant.median), "mean": relevant.mean}
    found = say("fact.relevant", n=people.n_relevant, items=items, per_user=say("fact.per_user", **spread))
    lines = [
        (say("fact.users"), "; ".join(people.users)),
        (say("fact.lists"), f"{length}; {rows}, {recommended}"),
        (say("fact.relevant_items"), found),
        (say("fact.conventions"), "; ".join(people.conventions)),
    ]
    if people.n_not_relevant:
        rows = say("count.rows", n=people.n_not_relevant)
        lines.append((say("fact.not_relevant"), say("fact.rows_of_truth", rows=rows)))
    if people.n_gaps:
        lines.append((say("fact.rank_gaps"), say("fact.gaps", users=say("count.users", n=people.n_gaps))))
    return [*lines, *((say("fact.note"), note) for note in people.notes)]


def spread_in_words(report: Report) -> str:
    """Where the users stand in the distribution."""
    spread = report.distribution
    if not spread.n_users:
        return say("spread.nobody")
    parts = [say("spread.exactly", value="0", users=_of_users(spread.n_zero, spread.n_users))]
    if spread.n_top is not None:
        parts.append(say("spread.exactly", value=short(spread.top), users=_of_users(spread.n_top, spread.n_users)))
    if spread.n_without_value:
        parts.append(say("spread.no_value", n=spread.n_without_value))
    low, middle, high = map(fixed, spread.quartiles)
    return "; ".join([*parts, say("spread.quartiles", low=low, middle=middle, high=high, mean=fixed(spread.mean))])


def _of_users(n: int, n_users: int) -> str:
    return say("spread.of_users", n=n, users=say("count.users", n=n_users), share=percent(n / n_users))


def bin_names(edges: Sequence[float]) -> list[str]:
    """Each bin by its edges; the last one holds its upper edge as well.

    >>> bin_names([0.0, 0.5, 1.0])
    ['0 to <0.5', '0.5 to 1']
    """
    last = len(edges) - 2
    return [
        say("spread.last_bin" if at == last else "spread.bin", low=short(low), high=short(high))
        for at, (low, high) in enumerate(pairwise(edges))
    ]


def groups(report: Report) -> list[tuple[str, tuple[UserList, ...]]]:
    """The users that are shown, by which end they stand at: "only", or "best" and "worst"."""
    if not report.worst:
        return [("only", report.best)] if report.best else []
    return [("best", report.best), ("worst", report.worst)]


def signed(value: float) -> str:
    """A difference as it is shown.

    >>> signed(0.25), signed(-0.25), signed(0.0)
    ('+0.2500', '-0.2500', '0.0000')
    """
    return f"+{fixed(value)}" if isfinite(value) and value > 0 else fixed(value)


def told_apart(one: Segment, alpha: float) -> bool:
    """Whether a segment differs from all other users: the corrected test and the interval agree."""
    excluded = isfinite(one.gap_low) and (one.gap_low > 0 or one.gap_high < 0)
    return bool(excluded and one.p_holm <= alpha)


def gap_in_words(one: Segment, alpha: float) -> str:
    """What may be said of a segment against all other users."""
    if not isfinite(one.gap_low):
        return say("report.gap.untested")
    if not told_apart(one, alpha):
        return say("report.gap.open")
    return say("report.gap.above" if one.gap > 0 else "report.gap.below")


def found_in_words(one: UserList) -> str:
    """How much of what is relevant a user's list holds."""
    if not one.n_relevant:
        return say("report.nothing_relevant")
    return say("report.found", n=one.n_hits, relevant=one.n_relevant)


def text(report: Report) -> str:
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
        say("report.title", headline=say("report.headline", label=label, value=value, users=users_of(report))),
        *report.findings.lines(),
        "",
        *aligned([header, *rows, *further]),
        *([say("report.more_cutoffs_text", n=left_out)] if left_out else []),
        *textwrap.wrap(said, 110 * len(said) // width(said)),
        "",
        *aligned([[name, words] for name, words in facts(report)], left=True),
        "",
        say("report.over_users", label=label, words=spread_in_words(report)),
        *_bars(report),
    ]
    lines += _segment_lines(report)
    for group, users in groups(report):
        heading = say(f"report.group.{group}")
        lines += ["", say("report.marked_stars", heading=heading, label=label), *(_user_line(one) for one in users)]
    return "\n".join(lines)


def _valued(one: BeyondRow, k: int) -> str:
    value, low, high = one.values[one.k.index(k)]
    return f"{fixed(value)} [{ends(low, high, ', ')}]" if isfinite(low) else fixed(value)


def _segment_lines(report: Report) -> list[str]:
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
    header = [*(say(f"segments.head.{one}") for one in ("segment", "users", "mean", "gap")), ""]
    caption = say("report.segments_of", label=f"{report.lead.metric}@{parted.k}", by=one_line(parted.by))
    return ["", caption, *aligned([header, *rows])]


def users_of(report: Report) -> str:
    """How many users the means are over."""
    return say("count.users", n=report.n_users)


def aligned(rows: Sequence[Sequence[str]], *, left: bool = False) -> list[str]:
    """Cells in columns; numbers stand to the right, all to the left if that is asked for."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    sides = [left or at == 0 for at in range(len(widths))]
    return ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows]


def _padded(cell: str, to: int, left: bool) -> str:
    room = " " * (to - width(cell))
    return cell + room if left else room + cell


def _bars(report: Report) -> list[str]:
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
    places = ", ".join(f"{'*' if place.relevance else ''}{one_line(place.item)}" for place in one.places) or say(
        "report.no_list"
    )
    left_out = one.n_places - len(one.places)
    places += f", {say('report.more_places', n=left_out)}" if left_out else ""
    missed = f"; {say('report.missed', items=missed_in_words(one, one_line))}" if one.missed else ""
    said = {"user": one_line(one.user), "value": fixed(one.value), "found": found_in_words(one), "places": places}
    return f"  {say('report.user_line', **said)}{missed}"


def missed_in_words(one: UserList, safe: Any) -> str:
    """The first of what was missed, each made safe by `safe`, and how many more there are."""
    names = [
        safe(item.item) + (f" {say('report.at_rank', rank=item.rank)}" if item.rank else "") for item in one.missed
    ]
    more = one.n_missed - len(names)
    return ", ".join(names) + (f" {say('more.items', n=more)}" if more else "")
