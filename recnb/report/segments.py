"""The section of segments: each beside all other users, models within it, or many
models; times as a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any

from recnb.display import document as doc
from recnb.display import svg
from recnb.display.document import (
    Block,
    Line,
    Mark,
    Name,
    Rows,
    estimate,
    table_of_rows,
    with_code,
)
from recnb.display.language import N_, _
from recnb.display.text import fixed, one_line, signed
from recnb.report import conclusions as words
from recnb.report.conclusions import p_value, percent_of
from recnb.report.data import MOST_PAIRS, ReportData
from recnb.results.numbers import DifferenceRow, MeanRow
from recnb.results.segment_table import Segment
from recnb.results.table import times_of
from recnb.results.verdicts import with_sign


def segments(report: ReportData) -> Iterator[Block]:
    """Give each segment of the users beside all other users, or the differences of
    models within it; times are drawn as well.
    """
    if report.segments is None:
        return
    each = report.segments.of(report.lead.metric)
    by = one_line(report.segments.by, 200)
    yield from _over_time(report, by, each)
    if len(report.at_lead) > MOST_PAIRS:
        yield _means_of_many(report, by, each)
        return
    rows = [
        (segment, row)
        for segment in each
        for row in (segment.differences or [segment.means.get("")])
    ]
    yield _beside_each_other(report, by, rows)


def _beside_each_other(report: ReportData, by: str, rows: Sequence[Any]) -> Rows:
    """Return each segment with its mean and its gap to all other users, or with the
    means of models and their difference.
    """
    several, confidence, left = (
        report.several,
        percent_of(report.settings.confidence),
        1,
    )
    reach = svg.reach_of(
        [
            getattr(row, end, float("nan"))
            for _segment, row in rows
            for end in ("difference", "low", "high")
        ]
    )
    columns: list[tuple[Line, Callable[[Any], Line]]] = [(_("segment"), _segment)]
    if len(report.at_lead) > 1:
        columns.append((_("model"), lambda each: _pair(each[1], report.baseline)))
        left = 2
    columns.append((_("users"), _users_in))
    if several:
        only = report.at_lead[0] if len(report.at_lead) == 1 else None
        other = only.baseline if only else report.baseline
        of_other: Line = _("second mean") if other is None else Name(other, 20)
        columns.append(
            (
                Name(only.model, 20) if only else _("mean"),
                lambda each: fixed(each[0].means[each[1].model].mean),
            )
        )
        columns.append(
            (of_other, lambda each: fixed(each[0].means[each[1].baseline].mean))
        )
    else:
        columns.append(
            (
                _("mean"),
                lambda each: estimate(*_ends(each[0].means[""])),
            )
        )
    title = _("{label} by {by}", label=report.label, by=by)
    if several and report.baseline is not None:
        title = _(
            "{label} by {by}, against {baseline}",
            label=report.label,
            by=by,
            baseline=one_line(report.baseline),
        )
    basis = report.segments.basis if report.segments else ""
    if not any(
        isfinite(getattr(row, "difference", float("nan"))) for _segment, row in rows
    ):  # parts of the truth
        return table_of_rows(columns, rows, title, note=basis)
    columns += [
        (
            _("difference") if several else _("gap to the rest"),
            lambda each: estimate(
                each[1].difference, each[1].low, each[1].high, signed, signed=several
            ),
        ),
        (
            Mark("aside", _("about 0") if several else _("gap, about 0")),
            lambda each: _strip_about_0(*each, reach),
        ),
        (
            _("p, Holm"),
            lambda each: p_value(each[1].p_holm) if isfinite(each[1].p_holm) else "–",
        ),
        (
            _("conclusion") if several else _("against the rest"),
            lambda each: with_sign(each[1].verdict),
        ),
    ]
    if several:
        note = _(
            "{confidence} intervals, not corrected for the number of comparisons; "
            "p corrected by Holm's method over the {n} tests here. (few) marks "
            "segments in which little can be shown. That a difference is found in "
            "one segment and not in another does not show that the two differ.",
            confidence=confidence,
            n=report.segments.n_tests,
        )
    else:
        note = _(
            "▲ and ▼ are findings: the corrected test and the {confidence} "
            "interval of the gap agree; ○ does not prove that there is no "
            "difference. (few) marks segments of few users.",
            confidence=confidence,
        )
        if report.lead.better is None:
            note = _(
                "△ and ▽ are findings: the corrected test and the {confidence} "
                "interval of the gap agree; ○ does not prove that there is no "
                "difference. (few) marks segments of few users.",
                confidence=confidence,
            )
        title = _(
            "{label} by {by}: each segment, and its gap to all other users",
            label=report.label,
            by=by,
        )
    tinted = frozenset(
        at for at, (_segment, row) in enumerate(rows) if row.is_found and not several
    )
    said = words.directions_in_words({report.lead.symbol: report.lead.better})
    note = f"{note} {said}".strip()
    look = {"left": left, "tinted": tinted, "most": max(3, 12 - len(report.models))}
    return table_of_rows(columns, rows, title, note=f"{basis} {note}".strip(), **look)


def _means_of_many(report: ReportData, by: str, each: Sequence[Segment]) -> Rows:
    """Return the mean of each of many models in each segment, the best marked."""
    better = report.lead.better
    table: list[list[Line]] = [[_("users"), *(_users_in(segment) for segment in each)]]
    for model in report.ranked:
        means = [segment.means[model] for segment in each]
        marked = [
            doc.Estimate(fixed(row.mean), best=row.best, signed=True) for row in means
        ]
        table.append([Name(model), *marked])
    notes = {
        "high": N_(
            "The highest mean of each segment is bold. Each difference with its test "
            "is in `found.differences(by=...)`."
        ),
        "low": N_(
            "The lowest mean of each segment is bold: less is better. Each difference "
            "with its test is in `found.differences(by=...)`."
        ),
        None: N_("Each difference with its test is in `found.differences(by=...)`."),
    }
    note = report.segments.basis or _(notes[better]) if report.segments else ""
    header: list[Line] = [_("model"), *(_segment(segment) for segment in each)]
    return Rows(
        header,
        table,
        _("{label} by {by}", label=report.label, by=by),
        most=6,
        note=with_code(note),
    )


def _over_time(report: ReportData, by: str, each: Sequence[Segment]) -> Iterator[Block]:
    """Draw the means of segments that are dates, weeks or periods as a line for each
    model.
    """
    names, drawn = [segment.name for segment in each], report.drawn
    times = [getattr(time, "value", time) for time in times_of(by, names)]
    found = [
        (
            time,
            names[at],
            {model: _ends(row) for model, row in each[at].means.items()},
        )
        for at, time in enumerate(times)
        if time is not None
    ]
    if found:
        lines = [
            (model, [(time, *means[model]) for time, _name, means in found])
            for model in drawn
        ]
        said = "; ".join(
            f"{name}: {', '.join(fixed(means[one][0]) for one in drawn)}"
            for _time, name, means in found
        )
        title, places = (
            _("{label} by {by}", label=report.label, by=by),
            {time: name for time, name, _means in found},
        )
        picture = svg.curves(
            lines,
            one_line(by, 40),
            report.label,
            () if report.several else [*places],
            places,
        )
        yield doc.Picture(picture, f"{title}. {said}")
        yield from report.not_drawn


def _ends(row: MeanRow) -> tuple[float, float, float]:
    return row.mean, row.low, row.high


def _segment(row: Any) -> Name:
    segment = row if isinstance(row, Segment) else row[0]
    return Name(segment.name.removesuffix(" 00:00:00"))


def _pair(row: DifferenceRow, baseline: str | None) -> Line:
    return [
        Name(row.model, 20),
        *([" − ", Name(row.baseline, 20)] if baseline is None else []),
    ]


def _users_in(row: Any) -> str:
    segment = row if isinstance(row, Segment) else row[0]
    return f"{segment.n_users:,}" + (f" {_('(few)')}" if segment.is_small else "")


def _strip_about_0(segment: Segment, row: DifferenceRow, reach: float) -> Line:
    alt = _(
        "{segment}: gap {gap}",
        segment=one_line(segment.name, 40),
        gap=signed(row.difference),
    )
    strip = svg.strip(row.difference, row.low, row.high, -reach, reach)
    return doc.Picture(strip, alt) if isfinite(row.difference) else "–"
