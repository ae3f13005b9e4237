"""A report as text: plain for a console, Markdown for a page, LaTeX for a paper; and user strings made safe for each."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

from recnb.results.chart import percent, short
from recnb.results.report_data import DRAWS

if TYPE_CHECKING:
    from recnb.results.report import Report
    from recnb.results.report_data import Measured, UserList

#: Cut-offs beyond these are counted, not shown, where there is no room; `to_frame` holds them all.
COLUMNS_SHOWN, NAME_SHOWN = 8, 60

METHODS = {
    "bootstrap": f"percentiles of {DRAWS:,} bootstrap draws of the users",
    "moments": "the limit of bootstrap draws of the users, from mean, spread and skewness",
    "t": "Student's t over the users",
}

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
    return f"{value:.4f}" if isfinite(value) else "n/a"


def ends(low: float, high: float, between: str = "–") -> str:
    """An interval as it is shown.

    >>> ends(0.1, 0.3), ends(float("nan"), float("nan"))
    ('0.1000–0.3000', 'n/a')
    """
    return f"{fixed(low)}{between}{fixed(high)}" if isfinite(low) and isfinite(high) else "n/a"


def some(values: Sequence[int], most: int) -> list[int]:
    """At most so many of the values, spread evenly, the first and the last among them.

    >>> some(range(1, 101), 4), some([5, 10], 4)
    ([1, 34, 67, 100], [5, 10])
    """
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def counted(n: int, what: str) -> str:
    """A count with its noun.

    >>> counted(1, "user"), counted(2000, "user")
    ('1 user', '2,000 users')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def intervals_in_words(report: Report) -> str:
    """What the intervals are."""
    if report.n_users < 2:
        return "No interval: one user is no sample."
    how = METHODS[report.method]
    return f"{100 * report.confidence:g}% intervals for the mean, taking the users as a sample ({how})."


#: What intervals over users leave out.
NOT_COVERED = "They do not cover another split of the data or another training run."


def facts(report: Report) -> list[tuple[str, str]]:
    """What was evaluated, as names and sentences; nothing in them is the user's."""
    people = report.population
    lengths, relevant = people.list_length, people.relevant_per_user
    length = f"{lengths.min:,} to {lengths.max:,} ranks, median {short(lengths.median)}"
    if lengths.min == lengths.max:
        length = f"{counted(lengths.max, 'item')} each"
    rows, recommended = counted(people.n_recommended, "row"), counted(people.n_items_recommended, "different item")
    items = counted(people.n_items_relevant, "different item")
    per_user = f"{relevant.min:,} to {relevant.max:,}, median {short(relevant.median)}, mean {relevant.mean:.2f}"
    lines = [
        ("users", "; ".join(people.users)),
        ("lists", f"{length}; {rows}, {recommended}"),
        ("relevant items", f"{people.n_relevant:,}, of {items}; per user {per_user}"),
        ("conventions", "; ".join(people.conventions)),
    ]
    if people.n_not_relevant:
        lines.append(("not relevant", f"{counted(people.n_not_relevant, 'row')} of the truth"))
    if people.n_gaps:
        lines.append(
            ("rank gaps", f"the lists of {counted(people.n_gaps, 'user')} leave ranks empty, which count as misses")
        )
    return [*lines, *(("note", note) for note in people.notes)]


def spread_in_words(report: Report) -> str:
    """Where the users stand in the distribution."""
    spread = report.distribution
    if not spread.n_users:
        return "No user has a value."
    low, middle, high = spread.quartiles
    parts = [f"exactly 0: {_of_users(spread.n_zero, spread.n_users)}"]
    if spread.n_top is not None:
        parts.append(f"exactly {short(spread.top)}: {_of_users(spread.n_top, spread.n_users)}")
    if spread.n_without_value:
        parts.append(f"no value: {spread.n_without_value:,}")
    return "; ".join([*parts, f"quartiles {fixed(low)}, {fixed(middle)}, {fixed(high)}; mean {fixed(spread.mean)}"])


def _of_users(n: int, n_users: int) -> str:
    return f"{n:,} of {counted(n_users, 'user')} ({percent(n / n_users)})"


def bin_names(edges: Sequence[float]) -> list[str]:
    """Each bin by its edges; the last one holds its upper edge as well.

    >>> bin_names([0.0, 0.5, 1.0])
    ['0 to <0.5', '0.5 to 1']
    """
    last = len(edges) - 2
    return [
        f"{short(low)} to {'' if at == last else '<'}{short(high)}" for at, (low, high) in enumerate(pairwise(edges))
    ]


def groups(report: Report) -> list[tuple[str, tuple[UserList, ...]]]:
    """The users that are shown, under their headings."""
    if not report.worst:
        return [("The user", report.best)] if report.best else []
    return [("Best users", report.best), ("Worst users", report.worst)]


def found_in_words(one: UserList) -> str:
    """How much of what is relevant a user's list holds."""
    if not one.n_relevant:
        return "no relevant item"
    return f"found {one.n_hits:,} of {one.n_relevant:,} relevant"


def text(report: Report) -> str:
    """The report for a console; it stands alone."""
    lead = report.lead
    mean, low, high = lead.at(report.lead_k)
    shown = some(report.k, COLUMNS_SHOWN)
    header = ["", *(f"@{k}" for k in shown)]
    rows = [
        [one.metric, *(f"{fixed(m)} [{ends(a, b, ', ')}]" for m, a, b in map(one.at, shown))] for one in report.metrics
    ]
    lines = [
        f"Report: {lead.metric}@{report.lead_k} = {fixed(mean)} [{ends(low, high, ', ')}], {_users(report)}",
        "",
        *_aligned([header, *rows]),
        *([f"({len(report.k) - len(shown)} more cut-offs in .to_frame())"] if len(shown) < len(report.k) else []),
        *textwrap.wrap(f"{intervals_in_words(report)} {NOT_COVERED if report.n_users > 1 else ''}", 110),
        "",
        *_aligned([[name, words] for name, words in facts(report)], left=True),
        "",
        f"{lead.metric}@{report.lead_k} over users: {spread_in_words(report)}",
        *_bars(report),
    ]
    for heading, users in groups(report):
        lines += [
            "",
            f"{heading} by {lead.metric}@{report.lead_k} (* marks a hit):",
            *(_user_line(one) for one in users),
        ]
    return "\n".join(lines)


def _users(report: Report) -> str:
    return counted(report.n_users, "user")


def _aligned(rows: Sequence[Sequence[str]], *, left: bool = False) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<" if at == 0 or left else ">" for at in range(len(widths))]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]


def _bars(report: Report) -> list[str]:
    spread = report.distribution
    most = max(max(spread.shares), 0.01)
    names = bin_names(spread.edges)
    rows = [
        [name, f"{count:,}", percent(share), "#" * round(24 * share / most)]
        for name, count, share in zip(names, spread.counts, spread.shares, strict=True)
    ]
    return [
        "  " + line for line in _aligned([[row[0], f"{row[1]:>9}", f"{row[2]:>4}", row[3]] for row in rows], left=True)
    ]


def _user_line(one: UserList) -> str:
    places = ", ".join(f"{'*' if place.relevance else ''}{one_line(place.item)}" for place in one.places) or "no list"
    more = f", … {one.n_places - len(one.places)} more" if one.n_places > len(one.places) else ""
    missed = f"; missed: {missed_in_words(one, one_line)}" if one.missed else ""
    return f"  {one_line(one.user)}: {fixed(one.value)}, {found_in_words(one)}; list: {places}{more}{missed}"


def missed_in_words(one: UserList, safe: Any) -> str:
    """The first of what was missed, each made safe by `safe`, and how many more there are."""
    names = [safe(item.item) + (f" (at rank {item.rank})" if item.rank else "") for item in one.missed]
    more = one.n_missed - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def markdown(report: Report) -> str:
    """The report as Markdown."""
    lead = report.lead
    name = f"{lead.symbol}@{report.lead_k}"
    mean, low, high = lead.at(report.lead_k)
    spread = report.distribution
    parts = [
        f"## {name} = {fixed(mean)}",
        f"{100 * report.confidence:g}% interval {ends(low, high)}, {_users(report)}.",
        _pipes(["metric", *(f"@{k}" for k in report.k)], [[f"`{one.metric}`", *_cells(one)] for one in report.metrics]),
        f"{intervals_in_words(report)} {NOT_COVERED if report.n_users > 1 else ''}".rstrip(),
        _pipes(["what was evaluated", ""], [[what, markdown_text(words, 1000)] for what, words in facts(report)], numbers=False),
        f"**{name} over users**: {markdown_text(spread_in_words(report), 1000)}.",
        _pipes(
            [name, "users", "share"],
            [[markdown_text(label), f"{count:,}", markdown_text(percent(share))]
             for label, count, share in zip(bin_names(spread.edges), spread.counts, spread.shares, strict=True)],
        ),
    ]  # fmt: skip
    for heading, users in groups(report):
        rows = [
            [
                markdown_text(one.user),
                fixed(one.value),
                found_in_words(one),
                _marked_list(one),
                missed_in_words(one, markdown_text),
            ]
            for one in users
        ]
        parts += [
            f"**{heading}** (hits in bold, with ✓)",
            _pipes(["user", name, "found", "list", "missed"], rows, numbers=False),
        ]
    return "\n\n".join([*parts, f"Basis: {markdown_text(report.basis, 2000)}."]) + "\n"


def _cells(one: Measured) -> Iterable[str]:
    for mean, low, high in map(one.at, one.k):
        yield f"{fixed(mean)} ({ends(low, high)})"


def _marked_list(one: UserList) -> str:
    places = [
        f"**✓ {markdown_text(place.item)}**" if place.relevance else markdown_text(place.item) for place in one.places
    ]
    more = [f"… {one.n_places - len(places)} more"] if one.n_places > len(places) else []
    return ", ".join([*places, *more]) or "no list"


def _pipes(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    rule = ["---", *(["---:" if numbers else "---"] * (len(header) - 1))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


def latex(report: Report) -> str:
    """The metrics as a table of LaTeX, in booktabs' style."""
    columns = "l" + "rl" * len(report.k)
    spans = [rf"\multicolumn{{2}}{{c}}{{@{k}}}" for k in report.k]
    rules = [rf"\cmidrule(lr){{{2 * at + 2}-{2 * at + 3}}}" for at in range(len(report.k))]
    rows = [
        " & ".join([latex_text(one.symbol), *(f"{fixed(m)} & [{ends(a, b, ', ')}]" for m, a, b in map(one.at, one.k))])
        + r" \\"
        for one in report.metrics
    ]
    own = [f"{one.symbol}: {one.convention}" for one in report.metrics if one.convention]
    caption = ". ".join(["Mean over users, with interval", report.basis, intervals_in_words(report).rstrip("."), *own])
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption, 4000)}.}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(["", *spans]) + r" \\",
            " ".join(rules),
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
