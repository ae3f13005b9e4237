"""The tables and pictures of a report, each a view of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

from recnb.display import svg
from recnb.display.forms import (
    Estimate,
    Line,
    Mark,
    Name,
    Number,
    Picture,
    Rows,
    estimate,
    say,
    strong,
    with_code,
)
from recnb.display.language import N_, _
from recnb.display.style import ACCENT, NEUTRAL, OTHER, QUIET
from recnb.display.text import at_k, fixed, one_line, short, signed
from recnb.lint import Finding
from recnb.metrics.metric import Better
from recnb.report import words
from recnb.report.data import (
    MOST_PAIRS,
    MetricWords,
    ReportData,
    SegmentNumbers,
)
from recnb.results.conclusions import n_tested
from recnb.results.numbers import DifferenceRow, MeanRow
from recnb.results.segments import SMALL
from recnb.results.verdicts import MARKS, VERDICTS, with_sign

#: Differences in a table, and columns of means in letters of the usual size.
MOST_ROWS, MOST_COLUMNS = 24, 6
#: Findings that are all open, and models of a table that has room for intervals.
FEW_FINDINGS, FEW_MODELS = 3, 5

#: The bounds of means that are drawn.
UNIT = (0.0, 1.0)

#: The colours of findings in a picture.
COLOURS = {"better": ACCENT, "worse": OTHER, "higher": NEUTRAL, "lower": NEUTRAL}

#: The verdict on two models the other way round.
TURNED = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}

#: The titles of columns with their cells.
Columns = list[tuple[Line, Sequence[Line]]]


def estimate_of(row: MeanRow, **look: Any) -> Estimate:
    """Return a mean with the ends of its interval, for a cell."""
    return estimate(row.mean, row.low, row.high, **look)


# Means


def means(report: ReportData) -> list[tuple[Line, Rows]]:
    """Return the tables of means with their titles, the lead cut-off first."""
    first, *others = _tables_of_means(report)
    first = replace(first, note="" if report.is_one else words.legend(report))
    titled = [(other.caption, replace(other, caption="")) for other in others]
    return [(first.caption, first), *titled]


def _tables_of_means(report: ReportData) -> list[Rows]:
    """Return a row a metric of one model; of several a row a model, a table a cut-off."""
    title = _("Means over {users}", users=report.sample)
    if report.is_one:
        return [_of_one(report, title)]
    if report.has_own_cutoffs:
        columns = []
        for metric in report.of_accuracy:
            for k in report.k:
                rows = report.means_of(metric.metric, k)
                columns += [(row.label, rows) for row in rows[:1]]
        return [_of_several(report, columns, title)]
    tables = []
    for k in sorted(report.k, key=lambda k: k != report.lead_k):
        columns = []
        for metric in report.of_accuracy:
            head = _arrowed(metric.symbol, metric.better)
            columns.append((head, report.means_of(metric.metric, k)))
        title = _("Means at k = {k}", k=k or _("whole list"))
        tables.append(_of_several(report, columns, title))
    return tables


def _of_several(
    report: ReportData, titled: Sequence[tuple[str, Sequence[MeanRow]]], title: str
) -> Rows:
    """Return a row a model, a column for each title: means with their marks."""
    names = [_name_of(model, report) for model in report.ranked]
    columns: Columns = [(_("model"), names)]
    for head, means in titled:
        of_model = {mean.model: _marked(mean) for mean in means}
        columns.append((head, [of_model[model] for model in report.ranked]))
    table = _in_columns(columns, title, left=1)
    return replace(table, small=len(titled) > MOST_COLUMNS)


def _marked(mean: MeanRow) -> Estimate:
    """Return one of several means with its mark."""
    signs = MARKS.get(mean.mark, "")
    return estimate_of(mean, best=mean.best, signs=signs, of_several=True)


def _name_of(model: str, report: ReportData) -> Line:
    """Return the name of a model, and whether it is the baseline."""
    if model == report.baseline:
        return [Name(model), " ", Mark("small", _("baseline"))]
    return Name(model)


def beyond(report: ReportData) -> Rows | None:
    """Return the metrics beyond accuracy, if there are any.

    Each has users of its own, whose number stands beside its name.
    """
    title = ""
    places = [(report.models[0], k) for k in report.k]
    header: list[Line] = [*map(at_k, report.k)]
    if not report.is_one:
        title = at_k(report.lead_k)
        places = [(model, report.lead_k) for model in report.models]
        header = [*map(Name, report.models)]
    rows: list[list[Line]] = []
    for metric in report.metrics:
        means = {
            (row.model, row.k): row
            for row in report.means
            if row.metric == metric.metric
        }
        shown = [means[place] for place in places if place in means]
        if metric.is_accuracy or not shown:
            continue
        row: list[Line] = [_arrowed(metric.row_name, metric.better), _sizes_of(shown)]
        row += [_beyond_of(means.get(place), report) for place in places]
        rows.append(row)
    if not rows:
        return None
    header = [_("metric"), words.nouns(report)["users"], *header]
    notes = [_(words.WITHOUT_INTERVAL)]
    if any(mean.n_users > report.n_users for mean in report.means):
        notes.append(_(words.OF_ALL_LISTS))
    return Rows(header, rows, title, most=20, note=" ".join(notes))


def _sizes_of(means: Sequence[MeanRow]) -> str:
    """Return how many users means are over, or lists; of models that differ a range."""
    sizes = sorted(mean.n_lists or mean.n_users for mean in means)
    ends = dict.fromkeys([sizes[0], sizes[-1]])
    return "–".join(f"{size:,}" for size in ends)


def _beyond_of(mean: MeanRow | None, report: ReportData) -> Line:
    """Return a mean beyond accuracy; there is no room for intervals of many models."""
    if mean is None:
        return ""
    cell = estimate_of(mean, of_several=not report.is_one)
    return replace(cell, ends=None) if len(report.models) > FEW_MODELS else cell


def _arrowed(name: str, better: Better) -> str:
    """Return the name of a metric; an arrow says that less is better."""
    return f"{name} ↓" if better == "low" else name


def _of_one(report: ReportData, title: str) -> Rows:
    """Return a row a metric of accuracy, a column a cut-off, and a picture."""
    rows = []
    for metric in report.of_accuracy:
        row: list[Line] = [_arrowed(metric.row_name, metric.better)]
        for k in report.k:
            at_cutoff = report.means_of(metric.metric, k)
            row.append(estimate_of(at_cutoff[0]) if at_cutoff else "")
        rows.append([*row, _strip(report, metric)])
    header: list[Line] = [_("metric"), *map(at_k, report.k)]
    if any(metric.bounds == UNIT for metric in report.of_accuracy):
        header.append(Mark("aside", _("@{k}, 0 to 1", k=report.lead_k)))
    else:
        rows = [row[:-1] for row in rows]
    return Rows(header, rows, title, most=20)


def _strip(report: ReportData, metric: MetricWords) -> Line:
    """Return a picture of a mean between 0 and 1, if these are its bounds."""
    means = report.means_of(metric.metric, report.lead_k)
    if not means:
        return ""
    (mean,) = means
    if metric.bounds != UNIT or isnan(mean.mean):
        return "–"
    alt = _("{label} is {value} of 1", label=mean.label, value=fixed(mean.mean))
    return Picture(svg.strip(mean.mean, mean.low, mean.high, *UNIT), alt)


# Differences


def differences(report: ReportData) -> Rows:
    """Return the differences at the lead cut-off with their tests.

    Of many, only the differences of the lead metric; of many of these, only the ones from
    the best model.
    """
    rows = [*report.differences]
    title = _("Differences, each over the same {users}")
    if not report.has_own_cutoffs:
        rows = [row for row in rows if row.k == report.lead_k]
        title = _("Differences at k = {k}, each over the same {users}", k=report.lead_k)
    note: Line = ""
    if len(rows) > MOST_ROWS:
        rows = report.at_lead
        n, symbol = n_tested(report.differences), report.lead.symbol
        note = _(words.TESTS_ALONE, symbol=symbol, n=n)
    if len(rows) > MOST_ROWS and report.baseline is None:
        rows = _of_the_best(rows, report)
    metrics = []
    for row in rows:
        name = row.label if report.has_own_cutoffs else row.symbol
        metrics.append(_arrowed(name, row.better))
    columns: Columns = [(_("metric"), metrics), *_models_of(rows)]
    return _tests(columns, rows, title, note=note)


def _of_the_best(
    rows: Sequence[DifferenceRow], report: ReportData
) -> list[DifferenceRow]:
    """Return the differences of every other model to the best, in order."""
    first = report.ranked[0]
    of_best = []
    for row in rows:
        if row.model == first:
            row = _turned(row)
        if row.baseline == first:
            of_best.append(row)
    return sorted(of_best, key=lambda row: report.ranked.index(row.model))


def _turned(row: DifferenceRow) -> DifferenceRow:
    """Return a difference the other way round."""
    return replace(
        row,
        model=row.baseline,
        baseline=row.model,
        difference=-row.difference,
        low=-row.high,
        high=-row.low,
        won=row.lost,
        lost=row.won,
        verdict=TURNED.get(row.verdict, row.verdict),
    )


def _models_of(rows: Sequence[DifferenceRow]) -> Columns:
    """Return the columns that say which models a difference is of."""
    columns: Columns = [(_("model"), [Name(row.model) for row in rows])]
    if len({row.baseline for row in rows}) > 1:
        columns.append((_("baseline"), [Name(row.baseline) for row in rows]))
    return columns


def _tests(
    columns: Columns,
    rows: Sequence[DifferenceRow],
    title: Line,
    *,
    left: int | None = None,
    note: Line,
) -> Rows:
    """Return a table of differences: each with the sign of its verdict, drawn about 0.

    `columns` say what each is of.
    """
    against: Line = _("difference")
    baselines = {row.baseline for row in rows}
    if len(baselines) == 1 and rows[0].baseline:
        against = say(N_("minus {baseline}"), baseline=Name(rows[0].baseline, 20))
    elif not any(baselines):
        against = _("gap to the rest")
    ends = []
    for row in rows:
        ends += [row.difference, row.low, row.high]
    reach = svg.reach_of(ends)
    left = left or len(columns)
    columns = [
        *columns,
        (against, [_difference(row) for row in rows]),
        (Mark("aside", _("about 0")), [_about_0(row, reach) for row in rows]),
        (_("p, Holm"), [Number(row.p_holm, "p") for row in rows]),
    ]
    if any(baselines):
        counts = [f"{row.won:,} / {row.tied:,} / {row.lost:,}" for row in rows]
        columns.append((_("won / tied / lost"), counts))
    return _in_columns(columns, title, left=left, note=note)


def _in_columns(columns: Columns, title: Line, *, left: int, note: Line = "") -> Rows:
    """Return a table of columns, each a title with its cells."""
    header = [title for title, _cells in columns]
    cells = list(zip(*(cells for _title, cells in columns), strict=True))
    return Rows(header, cells, title, left=left, note=note)


def _difference(row: DifferenceRow) -> Estimate:
    """Return a difference with its interval and the sign of its verdict."""
    sign = f" {VERDICTS[row.verdict].sign}"
    return estimate(row.difference, row.low, row.high, signed, signs=sign)


def _about_0(row: DifferenceRow, reach: float) -> Line:
    """Draw a difference about 0, grey unless it is a finding."""
    if not isfinite(row.difference):
        return "–"
    ends = f"{signed(row.low)} … {signed(row.high)}"
    alt = f"{signed(row.difference)} ({ends}), {with_sign(row.verdict)}"
    colour = COLOURS.get(row.verdict, QUIET)
    picture = svg.strip(row.difference, row.low, row.high, -reach, reach, colour)
    return Picture(picture, f"{row.label}: {alt}")


# Segments


def segments(report: ReportData, segments: SegmentNumbers) -> list[Rows]:
    """Return the means of each segment, and its differences or its gap to the rest."""
    by = one_line(segments.by, 200)
    title = _("{label} by {by}", label=report.label, by=by)
    if report.is_one:
        return [_segments_of_one(report, segments, title)]
    tables = [_segments_of_several(report, segments, title)]
    if segments.is_tested and len(report.at_lead) <= MOST_PAIRS:
        rows = segments.differences
        columns: Columns = [(_("segment"), [_name(segments, row) for row in rows])]
        columns += _models_of(rows)
        note = _(words.DIFFERENCES_IN_SEGMENTS)
        n = n_tested(segments.differences)
        if n > 1:
            note = f"{_(words.HOLM_HERE, n=n)} {note}"
        titled = [title, ": ", _("difference")]
        tables.append(_tests(columns, rows, titled, note=note))
    return tables


def _segments_of_one(report: ReportData, segments: SegmentNumbers, title: str) -> Rows:
    """Return the mean of each segment with its gap to others, if it has one."""
    means = segments.means
    columns: Columns = [
        (_("segment"), [_name(segments, row) for row in means]),
        (_("{users}"), [_users_in(row) for row in means]),
        (_("mean"), [estimate_of(row) for row in means]),
    ]
    gaps = segments.differences
    if len(gaps) == len(means):
        return _tests(columns, gaps, title, left=1, note=segments.basis)
    return _in_columns(columns, title, left=1, note=segments.basis)


def _segments_of_several(
    report: ReportData, segments: SegmentNumbers, title: str
) -> Rows:
    """Return the mean of each model in each segment."""
    means = segments.means
    mean_of = {(mean.part, mean.model): mean for mean in means}
    each = [mean for mean in means if mean.model == report.models[0]]
    columns: Columns = [
        (_("segment"), [_name(segments, row) for row in each]),
        (_("{users}"), [_users_in(row) for row in each]),
    ]
    for model in report.ranked:
        cells = [fixed(mean_of[row.part, model].mean) for row in each]
        columns.append((Name(model, 20), cells))
    note: Line = segments.basis
    if not note and len(report.at_lead) > MOST_PAIRS:
        note = _(words.TESTS_IN_SEGMENTS)
    return _in_columns(columns, title, left=1, note=note)


def _name(segments: SegmentNumbers, row: MeanRow | DifferenceRow) -> Name:
    """Return the name of a row's segment, a day without its time."""
    return Name(segments.names[row.part].removesuffix(" 00:00:00"))


def _users_in(row: MeanRow) -> str:
    """Return the number of users of a segment, marked where they are few."""
    few = f" {_('(few)')}" if row.n_users < SMALL else ""
    return f"{row.n_users:,}{few}"


# Pictures of the lead metric


def curve(report: ReportData) -> Picture:
    """Draw the lead metric against the cut-off, a line for each model."""
    symbol = report.lead.symbol
    lines, last = [], []
    for model in report.drawn:
        points = report.curve_of(model)
        lines.append(
            (model, [(row.k or 0, row.mean, row.low, row.high) for row in points])
        )
        name = f"{one_line(model, 40)}: " if model else ""
        last.append(f"{name}{fixed(points[-1].mean)}")
    message = N_("{symbol} against {axis}. At {axis} = {k}: {values}")
    deepest = report.curve_of(report.drawn[0])[-1].k
    alt = _(message, symbol=symbol, axis="k", k=deepest, values="; ".join(last))
    ticks = [k for k in report.k if k is not None]
    marked = ticks if report.is_one else []
    ylabel = _("mean {symbol}@k", symbol=symbol)
    picture = svg.curves(lines, _("cut-off k"), ylabel, marked, ticks=ticks)
    return Picture(picture, alt)


def bars(report: ReportData) -> Picture:
    """Draw the values of users of one model in bars."""
    spread = report.distribution
    assert spread is not None
    nouns = words.nouns(report)
    shares = [spread.share_of(count) for count in spread.counts]
    labels = [f"{share:.1%}" for share in shares]
    named = []
    for low, high, share in zip(spread.edges, spread.edges[1:], labels, strict=False):
        named.append(f"{short(low)} – {short(high)}: {share}")
    picture = svg.bars(
        edges=spread.edges,
        shares=shares,
        at_lowest=spread.share_of(spread.n_bottom),
        quartiles=spread.quartiles,
        labels=labels,
        xlabel=report.label,
        ylabel=_("share of {users}", users=nouns["users"]),
    )
    alt = _(
        "Share of {users} by {label}. {shares}",
        users=nouns["users"],
        label=report.label,
        shares=", ".join(named),
    )
    return Picture(picture, alt)


# Findings


def is_open(report: ReportData, found: Sequence[Finding]) -> bool:
    """Return whether the findings of a check are open: warnings, or all of few."""
    few = len(report.findings) <= FEW_FINDINGS
    return few or found[0].severity == "warning"


def details(models: Sequence[str], found: Sequence[Finding]) -> list[Line]:
    """Return the effect on every model, an example, and what to type.

    What to type is of the first model, which is named where others type something else.
    """
    first = found[0]
    lines = first.details
    if len({finding.code for finding in found}) > 1:
        advice = len(first.sentences) - 1
        lines[advice] = [strong(models[0]), ": ", lines[advice]]
    if len({finding.effect for finding in found}) > 1:
        lines[:1] = _effects(models, found)
    return lines


def _effects(models: Sequence[str], found: Sequence[Finding]) -> list[Line]:
    """Return the effect of a finding on each model, of many on the first ones."""
    effects: list[Line] = []
    for model, finding in zip(models, found, strict=True):
        effects.append([strong(model), ": ", *with_code(finding.effect)])
    n_more = len(effects) - words.MOST_NAMED
    if n_more > 0:
        effects[words.MOST_NAMED :] = [_(words.MORE_EFFECTS, n=n_more)]
    return effects


# How to read


def readings(report: ReportData) -> Rows:
    """Return how to read each metric: the sentence, the formula and the convention."""
    header = [_("metric"), _("how to read it"), _("formula"), _("convention")]
    rows = []
    for metric in report.metrics:
        name = [metric.row_name, Mark("below", Mark("code", metric.metric))]
        formula = Mark("code", metric.formula)
        rows.append([name, with_code(metric.reads), formula, metric.convention])
    return Rows(header, rows, left=4, wraps=True)
