"""A comparison as text: plain for a console or a log, and Markdown for a page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.comparison.conclusions import (
    SIGNS,
    VERDICTS,
    bare_p,
    family,
    headline,
    intervals_in_words,
    not_covered,
    number,
    percent_of,
    signed,
    summaries,
    whose,
)
from recnb.display.language import _, width
from recnb.display.text import markdown_text, one_line

if TYPE_CHECKING:
    from recnb.comparison.results import Compared, Difference, Found, ListItem, Mean, Moved, Mover

LINE = 110


def text(compared: Compared) -> str:
    """The comparison for a console; it stands alone."""
    lines = [one_line(_("Comparison of {models}", models=", ".join(compared.models)), 300), ""]
    for found in compared.findings:
        words = f"{found.finding.word}: {found.finding.short} ({whose(compared, found, one_line)})"
        lines += textwrap.wrap(words, LINE, initial_indent="! ", subsequent_indent="  ")
    if not compared.findings:
        lines += [_("Lint: nothing odd in {checks} checks", checks=compared.n_checks)]
    lines.append("")
    for words in [*headline(compared, one_line), *summaries(compared, one_line)]:
        lines += textwrap.wrap(words, LINE, initial_indent="- ", subsequent_indent="  ")
    for k in compared.k:
        lines += [
            "",
            _(
                "Means at k = {k}, with their {confidence} intervals",
                k=k,
                confidence=percent_of(compared.settings.confidence),
            ),
        ]
        lines += _aligned(_means(compared, k, one_line, bold="*"))
    lines += ["", *_wrapped(_legend(compared, one_line, bold="*"))]
    lines += ["", _("Differences, each over the same users"), *_aligned(_tests(compared, one_line), left=3)]
    if compared.segments is not None:
        lines += ["", _segments_title(compared), *_aligned(_segments(compared, one_line), left=3)]
    for moved in compared.moved:
        lines += ["", *moved_text(moved)]
    if compared.beyond:
        lines += ["", _("Beyond accuracy"), *_aligned(_beyond(compared, one_line))]
    if compared.overlaps:
        lines += ["", _("How alike the lists are"), *_aligned(_overlaps(compared, one_line))]
    lines += ["", *_wrapped(" ".join([*family(compared.settings, compared.n_tested), not_covered()]))]
    lines += [*_wrapped(intervals_in_words(compared.settings)), *_wrapped(one_line(f"{compared.basis}.", 2000))]
    lines += [line for words in compared.left_out for line in _wrapped(one_line(words, 900))]
    return "\n".join(lines)


def markdown(compared: Compared) -> str:
    """The comparison in Markdown, tables as GitHub has them."""
    safe = markdown_text
    said = [f"- {words}" for words in [*headline(compared, _bold), *summaries(compared, _bold)]]
    parts = [f"## {safe(_('Comparison of {models}', models=', '.join(compared.models)), 300)}", "\n".join(said)]
    odd = [_finding(compared, one) for one in compared.findings]
    parts.append("\n".join(odd) or safe(_("Lint: nothing odd in {checks} checks", checks=compared.n_checks)))
    for k in compared.k:
        parts.append(
            safe(
                _(
                    "Means at k = {k}, with their {confidence} intervals",
                    k=k,
                    confidence=percent_of(compared.settings.confidence),
                ),
                300,
            )
        )
        parts.append(_pipes(_means(compared, k, safe, bold="**")))
    parts.append(_legend(compared, safe, bold="**"))
    parts += [f"**{safe(_('Differences, each over the same users'))}**", _pipes(_tests(compared, safe), left=3)]
    if compared.segments is not None:
        parts += [f"**{safe(_segments_title(compared), 300)}**", _pipes(_segments(compared, safe), left=3)]
    for moved in compared.moved:
        parts += [f"**{safe(_movers_title(moved), 300)}**", _pipes(_moved_rows(moved), left=5)]
    if compared.beyond:
        parts += [f"**{safe(_('Beyond accuracy'))}**", _pipes(_beyond(compared, safe))]
    if compared.overlaps:
        parts += [f"**{safe(_('How alike the lists are'))}**", _pipes(_overlaps(compared, safe))]
    parts.append(safe(" ".join([*family(compared.settings, compared.n_tested), not_covered()]), 2000))
    parts.append(safe(f"{intervals_in_words(compared.settings)} {compared.basis}.", 3000))
    parts += [safe(words, 900) for words in compared.left_out]
    return "\n\n".join(parts) + "\n"


def _bold(value: str) -> str:
    return f"**{markdown_text(value)}**"


def _legend(compared: Compared, safe: Callable[[str], str], bold: str) -> str:
    words = [bold + (_("Bold") if bold == "**" else "0.5") + bold + _(": the highest mean of its column")]
    words.append(
        _(
            "° not told apart from it (paired t test, Holm's correction over all columns, level {alpha})",
            alpha=f"{compared.settings.alpha:g}",
        )
    )
    if compared.reference is not None:
        words.append(
            _(
                "▲ better, ▼ worse than {baseline} (the corrected test and the interval agree)",
                baseline=safe(compared.reference),
            )
        )
    return ". ".join(words) + "."


def _means(compared: Compared, k: int, safe: Callable[[str], str], bold: str) -> list[list[str]]:
    rows = [[_("model"), *(f"{one.symbol}@{k}" for one in compared.metrics)]]
    rows += [
        [safe(model), *(_mean(compared, compared.mean_of(model, one.metric, k), bold) for one in compared.metrics)]
        for model in compared.models
    ]
    return rows


def _mean(compared: Compared, one: Mean, bold: str) -> str:
    value = f"{bold}{number(one.mean)}{bold}" if one.best else number(one.mean)
    against = None if one.k is None else compared.against_reference(one.model, one.metric, one.k)
    sign = SIGNS[against.verdict] if against is not None and against.verdict in ("better", "worse") else ""
    ends = f" [{number(one.low)}, {number(one.high)}]" if isfinite(one.low) else ""
    return f"{value}{'°' if one.near_best else ''}{sign}{ends}"


def _tests(compared: Compared, safe: Callable[[str], str]) -> list[list[str]]:
    confidence = percent_of(compared.settings.confidence)
    rows = [
        [
            _("metric"),
            _("model"),
            _("baseline"),
            _("difference"),
            _("{confidence} interval", confidence=confidence),
            _("p, t"),
            _("p, Holm"),
            _("p, BH"),
            _("effect size"),
            _("won / tied / lost"),
            _("conclusion"),
        ]
    ]
    rows += [_test(one, safe) for one in compared.differences]
    return rows


def _test(one: Difference, safe: Callable[[str], str]) -> list[str]:
    return [
        one.label, safe(one.model), safe(one.baseline), signed(one.difference), f"{number(one.low)} … {number(one.high)}",
        *(bare_p(p).replace("<", "&lt;") if safe is markdown_text else bare_p(p) for p in (one.t_p, one.p_holm, one.p_bh)),
        number(one.effect_size), f"{one.won:,} / {one.tied:,} / {one.lost:,}",
        f"{SIGNS[one.verdict]} {_(VERDICTS[one.verdict])}",
    ]  # fmt: skip


def _finding(compared: Compared, found: Found) -> str:
    one = found.finding
    code = f"`` {' '.join(one.code.split()).replace('``', '` `')} ``" if one.code else ""
    effects = [each.said("effect", "markdown") for each in found.of_each]
    if len(found.effects) > 1:
        effects = [f"{_bold(model)}: {said}" for model, said in zip(found.models, effects, strict=True)]
    said = " ".join(part for part in (*dict.fromkeys(effects), one.said("advice", "markdown"), code) if part)
    return f"- **{one.word}**: {one.said('short', 'markdown')} ({whose(compared, found, markdown_text)})\n  {said}".rstrip()


def _segments_title(compared: Compared) -> str:
    assert compared.segments is not None
    label = f"{compared.lead.symbol}@{compared.lead_k}"
    return _("{label} by {by}", label=label, by=one_line(compared.segments.by))


def _segments(compared: Compared, safe: Callable[[str], str]) -> list[list[str]]:
    assert compared.segments is not None
    head = [_("segment"), _("model"), _("baseline"), _("users"), _("difference")]
    interval = _("{confidence} interval", confidence=percent_of(compared.settings.confidence))
    rows = [[*head, interval, _("p, Holm"), _("conclusion")]]
    rows += [
        [
            safe(segment), safe(one.model), safe(one.baseline), f"{one.n_users:,}", signed(one.difference),
            f"{number(one.low)} … {number(one.high)}", bare_p(one.p_holm).replace("<", "&lt;") if safe is markdown_text else bare_p(one.p_holm),
            f"{SIGNS[one.verdict]} {_(VERDICTS[one.verdict])}",
        ]
        for segment, one in compared.segments.rows
    ]  # fmt: skip
    return rows


def _beyond(compared: Compared, safe: Callable[[str], str]) -> list[list[str]]:
    rows = [
        [f"{one.symbol}@{one.k}", *(number(value) for value, _ignored, _ignored in one.values)]
        for one in compared.beyond
    ]
    return [[_("metric"), *map(safe, compared.models)], *rows]


def _overlaps(compared: Compared, safe: Callable[[str], str]) -> list[list[str]]:
    first = compared.overlaps[0]
    head = [
        _("lists of"), _("Jaccard{at}", at="" if first.k is None else f"@{first.k}"),
        _("RBO, p = {p}", p=f"{first.p:g}"), _("the very same list"), _("users"),
    ]  # fmt: skip
    rows = [
        [
            f"{safe(one.model)} · {safe(one.other)}",
            number(one.jaccard),
            number(one.rbo),
            f"{one.n_identical:,}",
            f"{one.n_users:,}",
        ]
        for one in compared.overlaps
    ]
    return [head, *rows]


def _movers_title(moved: Moved) -> str:
    won, tied, lost = (f"{n:,}" for n in moved.won_tied_lost)
    return _(
        "{model} in the place of {baseline}, {label}: users who gain {won}, stay {tied}, lose {lost}",
        won=won,
        tied=tied,
        lost=lost,
        model=moved.model,
        baseline=moved.baseline,
        label=moved.label,
    )


def moved_text(moved: Moved) -> list[str]:
    """The users who moved most, in lines."""
    lines = _wrapped(one_line(_movers_title(moved), 300))
    for one in (*moved.gained, *moved.lost):
        lines.append(f"  {one_line(one.user)}: {number(one.before)} -> {number(one.after)} ({signed(one.change)})")
        lines.append(f"    {one_line(moved.baseline)}: {_listed(one.old, one_line, '*')}")
        lines.append(f"    {one_line(moved.model)}: {_listed(one.new, one_line, '*')}")
    return lines


def _moved_rows(moved: Moved) -> list[list[str]]:
    safe = markdown_text
    head = [_("user"), _("value"), safe(moved.baseline), safe(moved.model)]
    return [head, *([safe(one.user), _change(one), _listed(one.old, safe, "**"), _listed(one.new, safe, "**")]
                    for one in (*moved.gained, *moved.lost))]  # fmt: skip


def _change(one: Mover) -> str:
    return f"{number(one.before)} → {number(one.after)}"


def _listed(places: Sequence[ListItem], safe: Callable[[object], str], bold: str) -> str:
    end = bold if bold != "*" else ""
    shown = [f"{bold}{safe(place.item)}{end}" if place.relevance else safe(place.item) for place in places]
    return ", ".join(shown) or _("no list")


def _wrapped(words: str) -> list[str]:
    return textwrap.wrap(words, LINE)


def _aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Columns under each other; a sign of Korean is two places wide."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_padded(cell, widths[at], at < left) for at, cell in enumerate(row)).rstrip() for row in rows]


def _padded(cell: str, to: int, left: bool) -> str:
    room = " " * (to - width(cell))
    return cell + room if left else room + cell


def _pipes(rows: Iterable[Sequence[str]], left: int = 1) -> str:
    header, *body = rows
    rule = ["---" if at < left else "---:" for at in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *body])
