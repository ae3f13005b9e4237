"""The section of segments.

It has each beside all other users, models within each, or the means of many models;
times are a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

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
from recnb.report import blocks, texts
from recnb.report.blocks import estimate_of
from recnb.report.conclusions import directions_in_words, p_value, percent_of
from recnb.report.data import MOST_PAIRS, ReportData
from recnb.results.numbers import DifferenceRow
from recnb.results.segment_table import Segment, SegmentNumbers
from recnb.results.segments import PartsOfSplit
from recnb.results.table import times_of
from recnb.results.verdicts import with_sign


class Row(NamedTuple):
    """A difference within a segment, or the gap of a segment to all other users."""

    segment: Segment
    test: DifferenceRow


#: The title of a column, and what gives its cell.
Columns = list[tuple[Line, Callable[[Row], Line]]]


def of_one(report: ReportData) -> Iterator[Block]:
    """Give the mean of each segment, and its gap to all other users."""
    if report.segments is None:
        return
    yield from _over_time(report, report.segments)
    if report.segments.is_tested:
        yield _gaps(report, report.segments)
    else:
        yield _means(report, report.segments)


def of_several(report: ReportData) -> Iterator[Block]:
    """Give the differences of models within each segment; of many their means."""
    if report.segments is None:
        return
    yield from _over_time(report, report.segments)
    if isinstance(report.segments.numbers.division, PartsOfSplit):
        yield _means_by_split(report, report.segments)
    elif len(report.at_lead) > MOST_PAIRS:
        yield _means_of_many(report, report.segments)
    else:
        yield _differences(report, report.segments)


# One model


def _means(report: ReportData, segments: SegmentNumbers) -> Rows:
    """Return the mean of each part of the truth."""
    rows: list[list[Line]] = []
    for segment in segments.of(report.lead.metric):
        mean = estimate_of(segment.means[""])
        rows.append([_name(segment), _users_in(segment), mean])
    header = [_("segment"), _("users"), _("mean")]
    return Rows(header, rows, _title(report, segments), note=segments.basis)


def _gaps(report: ReportData, segments: SegmentNumbers) -> Rows:
    """Return the mean of each segment with its gap to others; findings are tinted."""
    rows = _rows_of(report, segments)
    columns: Columns = [
        (_("segment"), lambda row: _name(row.segment)),
        (_("users"), lambda row: _users_in(row.segment)),
        (_("mean"), lambda row: estimate_of(row.segment.means[""])),
        (_("gap to the rest"), lambda row: _difference(row.test)),
        (Mark("aside", _("gap, about 0")), _strips(rows)),
        (_("p, Holm"), lambda row: _corrected_p(row.test)),
        (_("against the rest"), lambda row: with_sign(row.test.verdict)),
    ]
    words = texts.GAPS
    if report.lead.better is None:
        words = texts.GAPS_WITHOUT_BETTER
    about = _(words, confidence=percent_of(report.settings.confidence))
    by = one_line(segments.by, 200)
    return table_of_rows(
        columns,
        rows,
        _(texts.GAP_OF_EACH, label=report.label, by=by),
        tinted={index for index, row in enumerate(rows) if row.test.is_found},
        most=_most_rows(report),
        note=f"{segments.basis} {about} {_directions(report)}".strip(),
    )


# Several models


def _differences(report: ReportData, segments: SegmentNumbers) -> Rows:
    """Return a row for each segment and pair of models.

    It has both means, and their difference if it is tested.
    """
    rows = _rows_of(report, segments)
    columns = _columns_of_models(report)
    left = 1 if len(report.at_lead) == 1 else 2
    title = _title(report, segments)
    if report.baseline is not None:
        by, baseline = one_line(segments.by, 200), one_line(report.baseline)
        words = texts.AGAINST_BASELINE
        title = _(words, label=report.label, by=by, baseline=baseline)
    if not segments.is_tested:
        return table_of_rows(columns, rows, title, left=left, note=segments.basis)
    columns += [
        (_("difference"), lambda row: _difference(row.test, is_signed=True)),
        (Mark("aside", _("about 0")), _strips(rows)),
        (_("p, Holm"), lambda row: _corrected_p(row.test)),
        (_("conclusion"), lambda row: with_sign(row.test.verdict)),
    ]
    confidence = percent_of(report.settings.confidence)
    n = segments.n_tests
    about = _(texts.DIFFERENCES_IN_SEGMENTS, confidence=confidence, n=n)
    return table_of_rows(
        columns,
        rows,
        title,
        left=left,
        most=_most_rows(report),
        note=f"{about} {_directions(report)}".strip(),
    )


def _columns_of_models(report: ReportData) -> Columns:
    """Return the columns of segments, of the models of each row, and of their means."""
    columns: Columns = [(_("segment"), lambda row: _name(row.segment))]
    of_model: Line = _("mean")
    of_other: Line = _("second mean")
    if report.baseline is not None:
        of_other = Name(report.baseline, 20)
    if len(report.at_lead) == 1:
        (pair,) = report.at_lead
        of_model, of_other = Name(pair.model, 20), Name(pair.baseline, 20)
    else:
        columns.append((_("model"), lambda row: _pair(row.test, report.baseline)))
    return [
        *columns,
        (_("users"), lambda row: _users_in(row.segment)),
        (of_model, lambda row: fixed(row.segment.means[row.test.model].mean)),
        (of_other, lambda row: fixed(row.segment.means[row.test.baseline].mean)),
    ]


def _pair(test: DifferenceRow, baseline: str | None) -> Line:
    """Return the models of a row, but for a baseline that all rows have."""
    if baseline is not None:
        return Name(test.model, 20)
    return [Name(test.model, 20), " − ", Name(test.baseline, 20)]


def _means_of_many(report: ReportData, segments: SegmentNumbers) -> Rows:
    """Return the mean of each of many models in each segment, the best marked."""
    shown = segments.of(report.lead.metric)
    rows: list[list[Line]] = [[_("users"), *map(_users_in, shown)]]
    for model in report.ranked:
        row: list[Line] = [Name(model)]
        for segment in shown:
            mean = segment.means[model]
            row.append(doc.Estimate(fixed(mean.mean), best=mean.best, signed=True))
        rows.append(row)
    header: list[Line] = [_("model"), *map(_name, shown)]
    note = segments.basis or _(texts.MEANS_OF_MANY[report.lead.better])
    title = _title(report, segments)
    return Rows(header, rows, title, most=6, note=with_code(note))


def _means_by_split(report: ReportData, segments: SegmentNumbers) -> Rows:
    """Return the mean of each model in each split, the best marked."""
    rows: list[list[Line]] = []
    for segment in segments.of(report.lead.metric):
        row: list[Line] = [_name(segment), f"{segment.n_users:,}"]
        for model in report.ranked:
            mean = segment.means[model]
            row.append(doc.Estimate(fixed(mean.mean), best=mean.best, signed=True))
        rows.append(row)
    header: list[Line] = [one_line(segments.by, 40), _("users")]
    header += map(Name, report.ranked)
    title = _title(report, segments)
    return Rows(header, rows, title, note=segments.basis)


# Times


def _over_time(report: ReportData, segments: SegmentNumbers) -> Iterator[Block]:
    """Draw the means of segments that are times as a line for each model."""
    shown = segments.of(report.lead.metric)
    names = [segment.name for segment in shown]
    at_time: dict[float, Segment] = {}
    # There are no times where the names are none.
    for time, segment in zip(times_of(segments.by, names), shown, strict=False):
        if time is not None:
            at_time[getattr(time, "value", time)] = segment
    if not at_time:
        return
    lines = []
    for model in report.drawn:
        points = []
        for time, segment in at_time.items():
            mean = segment.means[model]
            points.append((time, mean.mean, mean.low, mean.high))
        lines.append((model, points))
    values = []
    for segment in at_time.values():
        means = [fixed(segment.means[model].mean) for model in report.drawn]
        values.append(f"{segment.name}: {', '.join(means)}")
    words = {time: segment.name for time, segment in at_time.items()}
    marked = [*at_time] if len(report.models) == 1 else []
    by = one_line(segments.by, 40)
    picture = svg.curves(lines, by, report.label, marked, words)
    yield doc.Picture(picture, f"{_title(report, segments)}. {'; '.join(values)}")
    yield from blocks.not_drawn(report)


# What tables share


def _rows_of(report: ReportData, segments: SegmentNumbers) -> list[Row]:
    """Return a row for each difference of the lead metric in each segment."""
    rows = []
    for segment in segments.of(report.lead.metric):
        rows += [Row(segment, test) for test in segment.differences]
    return rows


def _title(report: ReportData, segments: SegmentNumbers) -> str:
    by = one_line(segments.by, 200)
    return _("{label} by {by}", label=report.label, by=by)


def _directions(report: ReportData) -> str:
    return directions_in_words({report.lead.symbol: report.lead.better})


def _most_rows(report: ReportData) -> int:
    return max(3, 12 - len(report.models))


def _name(segment: Segment) -> Name:
    return Name(segment.name.removesuffix(" 00:00:00"))


def _users_in(segment: Segment) -> str:
    few = f" {_('(few)')}" if segment.is_small else ""
    return f"{segment.n_users:,}{few}"


def _difference(test: DifferenceRow, *, is_signed: bool = False) -> Line:
    """Return a difference with the ends of its interval.

    There is room for signs if there are several models.
    """
    return estimate(test.difference, test.low, test.high, signed, signed=is_signed)


def _corrected_p(test: DifferenceRow) -> str:
    return p_value(test.p_holm) if isfinite(test.p_holm) else "–"


def _strips(rows: Sequence[Row]) -> Callable[[Row], Line]:
    """Return what draws the difference of a row about 0, on the scale of all rows."""
    ends = []
    for row in rows:
        ends += [row.test.difference, row.test.low, row.test.high]
    reach = svg.reach_of(ends)

    def strip(row: Row) -> Line:
        test = row.test
        if not isfinite(test.difference):
            return "–"
        segment = one_line(row.segment.name, 40)
        words = N_("{segment}: gap {gap}")
        alt = _(words, segment=segment, gap=signed(test.difference))
        drawn = svg.strip(test.difference, test.low, test.high, -reach, reach)
        return doc.Picture(drawn, alt)

    return strip
