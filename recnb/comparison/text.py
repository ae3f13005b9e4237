"""A comparison as text: plain for a console or a log, Markdown for a page, and a table of LaTeX for a paper."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.comparison import tables
from recnb.comparison.conclusions import (
    SIGNS,
    TESTS,
    headline,
    intervals_in_words,
    legend,
    means_title,
    method_in_words,
    movers_title,
    notes,
    number,
    percent_of,
    segments_title,
    signed,
    summaries,
    whose,
)
from recnb.display.language import _, ngettext
from recnb.display.text import aligned, latex_table, latex_text, markdown_table, markdown_text, one_line

if TYPE_CHECKING:
    from recnb.comparison.results import ComparisonReportData, ListItem, Mean, ModelFinding, MovedUsers
    from recnb.comparison.tables import Cells

LINE = 110

#: Marks of LaTeX for verdicts, and for means that are not significantly different from the best.
LATEX_MARKS = {"better": r"\ast", "worse": r"\dagger"}
LATEX_NEAR = r"\circ"


def text(report: ComparisonReportData) -> str:
    """The comparison for a console."""
    lines = [one_line(_title(report), 300), ""]
    for finding in report.findings:
        lines += _item("! ", f"{finding.finding.word}: {finding.finding.short} ({whose(report, finding, one_line)})")
    lines += [] if report.findings else [_no_findings(report)]
    lines.append("")
    for words in [*headline(report, one_line), *summaries(report, one_line)]:
        lines += _item("- ", words)

    def lay_out(title: str, cells: Cells) -> list[str]:
        return ["", title, *aligned([cells.header, *cells.rows], cells.numbers_from)]

    for k in report.k:
        lines += lay_out(means_title(report, k), tables.means(report, k, one_line, _mean("*")))
    best = "*0.5*" + _(": the highest mean of its column")
    lines += ["", *_wrapped(f"{'. '.join(legend(report, best, one_line))}.")]
    lines += lay_out(_("Differences, each over the same users"), _tests(report, one_line))
    if report.segments is not None:
        lines += lay_out(segments_title(report, one_line), tables.segments(report, one_line))
    for moved in report.moved:
        lines += ["", *movers_text(moved)]
    if report.beyond:
        lines += lay_out(_("Beyond accuracy"), tables.beyond(report, one_line, _value))
    if report.overlaps:
        lines += lay_out(_("Similarity of the lists"), _overlaps(report, one_line))
    lines += ["", *_wrapped(" ".join(notes(report.settings, report.n_tested)))]
    lines += [*_wrapped(intervals_in_words(report.settings)), *_wrapped(one_line(f"{report.basis}.", 2000))]
    return "\n".join(lines + [line for words in report.left_out for line in _wrapped(one_line(words, 900))])


def movers_text(moved: MovedUsers) -> list[str]:
    """The users who moved most, in lines."""
    lines = _wrapped(one_line(movers_title(moved), 300))
    for mover in (*moved.gained, *moved.lost):
        lines.append(
            f"  {one_line(mover.user)}: {number(mover.before)} -> {number(mover.after)} ({signed(mover.change)})"
        )
        for model, items in ((moved.baseline, mover.old), (moved.model, mover.new)):
            words = f"{one_line(model)}: {_listed(items, one_line, '*{}')}"
            lines += textwrap.wrap(words, LINE, initial_indent=4 * " ", subsequent_indent=6 * " ")
    return lines


def markdown(report: ComparisonReportData) -> str:
    """The comparison in Markdown, tables as GitHub has them."""
    safe = markdown_text

    def lay_out(cells: Cells, title: str = "") -> list[str]:
        # Names are safe already; the sign of a small p is not.
        rows = [[cell.replace("<", "&lt;") for cell in row] for row in cells.rows]
        return [*([f"**{title}**"] if title else []), markdown_table(cells.header, rows, cells.numbers_from)]

    sentences = [f"- {words}" for words in [*headline(report, _bold), *summaries(report, _bold)]]
    findings = [_finding(report, finding) for finding in report.findings] or [safe(_no_findings(report))]
    parts = [f"## {safe(_title(report), 300)}", "\n".join(sentences), "\n".join(findings)]
    for k in report.k:
        parts += [safe(means_title(report, k), 300), *lay_out(tables.means(report, k, safe, _mean("**")))]
    best = f"**{_('Bold')}**" + _(": the highest mean of its column")
    parts.append(f"{'. '.join(legend(report, best, safe))}.")
    parts += lay_out(_tests(report, safe), _("Differences, each over the same users"))
    if report.segments is not None:
        parts += lay_out(tables.segments(report, safe), segments_title(report, safe))
    for moved in report.moved:
        header = [_("user"), _("value"), safe(moved.baseline), safe(moved.model)]
        rows = [
            [safe(mover.user), f"{number(mover.before)} → {number(mover.after)}", *(_listed(items, safe, "**{}**") for items in (mover.old, mover.new))]
            for mover in (*moved.gained, *moved.lost)
        ]  # fmt: skip
        parts += [f"**{movers_title(moved, safe)}**", markdown_table(header, rows, left=len(header))]
    if report.beyond:
        parts += lay_out(tables.beyond(report, safe, _value), _("Beyond accuracy"))
    if report.overlaps:
        parts += lay_out(_overlaps(report, safe), _("Similarity of the lists"))
    parts.append(safe(" ".join(notes(report.settings, report.n_tested)), 2000))
    parts.append(safe(f"{intervals_in_words(report.settings)} {report.basis}.", 3000))
    return "\n\n".join([*parts, *(safe(words, 900) for words in report.left_out)]) + "\n"


def latex(report: ComparisonReportData) -> str:
    """The means of all models at every cut-off; users, test and correction in the caption."""

    def cell(mean: Mean, verdict: str) -> str:
        marks = (LATEX_NEAR if mean.near_best else "") + LATEX_MARKS.get(verdict, "")
        value = rf"\textbf{{{number(mean.mean)}}}" if mean.best else number(mean.mean)
        return value + (_raised(marks) if marks else "")

    rows: list[Sequence[str] | str] = []
    for k in report.k:
        _header, body, _left = tables.means(report, k, latex_text, cell)
        head = [rf"$k = {k}$", *(latex_text(metric.symbol) for metric in report.metrics)]
        rows += [*([r"\midrule"] if rows else []), head, r"\midrule", *body]
    table = latex_table(f"l{'r' * len(report.metrics)}", _latex_caption(report), rows)
    return "\n".join([_(r"% needs \usepackage{booktabs}"), table, ""])


def _latex_caption(report: ComparisonReportData) -> str:
    settings = report.settings
    words = [latex_text(ngettext("Means over {n:,} user", "Means over {n:,} users", report.n_users), 400)]
    words.append(rf"\textbf{{{latex_text(_('Bold'))}}}" + latex_text(_(": the highest mean of its column"), 400))
    near = _(
        "not significantly different from it (paired t test, Holm's correction over all columns, level {alpha})",
        alpha=f"{settings.alpha:g}",
    )
    words.append(f"{_raised(LATEX_NEAR)} {latex_text(near, 400)}")
    if report.reference is not None:
        better = _("better than {baseline}", baseline=report.reference)
        worse = _("worse than {baseline}", baseline=report.reference)
        marks = [
            f"{_raised(LATEX_MARKS[verdict])} {latex_text(label, 400)}"
            for verdict, label in (("better", better), ("worse", worse))
        ]
        test = _(
            "{test}, Holm's correction over {count} comparisons, level {alpha}, and a {confidence} interval of "
            "the difference that leaves out 0 ({method})",
            test=_(TESTS[settings.test]),
            count=f"{report.n_tested:,}",
            alpha=f"{settings.alpha:g}",
            confidence=percent_of(settings.confidence),
            method=method_in_words(settings),
        )
        words.append(f"{', '.join(marks)}: {latex_text(test, 600)}")
    not_covered = notes(settings, report.n_tested)[-1]
    words += [latex_text(sentence.rstrip("."), 3000) for sentence in (not_covered, report.basis)]
    return ". ".join(words) + "."


def _raised(marks: str) -> str:
    return f"$^{{{marks}}}$"


def _title(report: ComparisonReportData) -> str:
    return _("Comparison of {models}", models=", ".join(report.models))


def _no_findings(report: ComparisonReportData) -> str:
    return _("Lint: no findings in {checks} checks", checks=report.n_checks)


def _bold(value: object) -> str:
    return f"**{markdown_text(value)}**"


def _mean(bold: str) -> Callable[[Mean, str], str]:
    """How a mean is shown in a table of text."""

    def cell(mean: Mean, verdict: str) -> str:
        value = f"{bold}{number(mean.mean)}{bold}" if mean.best else number(mean.mean)
        sign = SIGNS.get(verdict, "") if verdict in ("better", "worse") else ""
        ends = f" [{number(mean.low)}, {number(mean.high)}]" if isfinite(mean.low) else ""
        return f"{value}{'°' if mean.near_best else ''}{sign}{ends}"

    return cell


def _value(value: float, _low: float, _high: float) -> str:
    return number(value)


def _tests(report: ComparisonReportData, safe: tables.Name) -> Cells:
    return tables.paired_tests(report.differences, report.settings, safe, brief=True)


def _overlaps(report: ComparisonReportData, safe: tables.Name) -> Cells:
    return tables.overlaps(report.overlaps, lambda model, other: f"{safe(model)} · {safe(other)}")


def _finding(report: ComparisonReportData, found: ModelFinding) -> str:
    finding = found.finding
    code = f"`` {' '.join(finding.code.split()).replace('``', '` `')} ``" if finding.code else ""
    effects = [of_model.sentence("effect", "markdown") for of_model in found.of_each]
    if len(found.effects) > 1:
        effects = [f"{_bold(model)}: {sentences}" for model, sentences in zip(found.models, effects, strict=True)]
    sentences = " ".join(
        part for part in (*dict.fromkeys(effects), finding.sentence("advice", "markdown"), code) if part
    )
    return f"- **{finding.word}**: {finding.sentence('short', 'markdown')} ({whose(report, found, markdown_text)})\n  {sentences}".rstrip()


def _listed(items: Sequence[ListItem], safe: Callable[[object], str], hit: str) -> str:
    """The items of a list by their titles, hits marked."""
    names = [safe(item.item) if not item.title else f"{safe(item.title)} ({safe(item.item)})" for item in items]
    shown = [hit.format(name) if item.relevance else name for name, item in zip(names, items, strict=True)]
    return ", ".join(shown) or _("no list")


def _item(sign: str, words: str) -> list[str]:
    return textwrap.wrap(words, LINE, initial_indent=sign, subsequent_indent="  ")


def _wrapped(words: str) -> list[str]:
    return textwrap.wrap(words, LINE)
