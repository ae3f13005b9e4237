"""The sections of a report, of one model or of several: each is a function of the report that gives blocks.

`SECTIONS` has their order, titles and forms; a section that gives no block is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from recnb.display.document import (
    Block,
    Card,
    Estimate,
    Figure,
    Fold,
    Form,
    Heading,
    Headline,
    Items,
    Line,
    Mark,
    Name,
    Note,
    Ready,
    Rows,
    Section,
    Side,
    Strip,
    Tiles,
    inline,
    joined,
    say,
    with_code,
)  # fmt: skip
from recnb.display.language import N_, Plural, _, capital, ngettext, pgettext
from recnb.display.svg import PlotBars, PlotLine, PlotPoint, picture, reach_of, strip
from recnb.display.text import at_k, one_line, percent, short, some
from recnb.report import conclusions as words
from recnb.report.conclusions import (
    FOUND,
    SIGNS,
    TESTS,
    VERDICTS,
    Difference,
    bare_p,
    number,
    percent_of,
    signed,
    tested,
)
from recnb.stats import BETA, ENOUGH

if TYPE_CHECKING:
    from recnb.lint.findings import Finding
    from recnb.report.data import (
        CountSummary,
        Distribution,
        Mean,
        MetricWords,
        RankedItem,
        ReportData,
        SegmentRow,
        SharedFinding,
        ShownUser,
        UserGroup,
    )  # fmt: skip

#: Findings that are all open; cut-offs in a table; differences that are drawn, of more those of the lead metric alone.
FEW_FINDINGS, MOST_K, MOST_DRAWN = 3, 12, 42

#: The forms of a finding's sentences.
SENTENCE_FORMS: dict[Form, Literal["text", "html", "markdown"]] = {
    "html": "html", "md": "markdown", "txt": "text", "tex": "text",
}  # fmt: skip

#: What is said of a segment beside all other users.
SEGMENT_VERDICTS = {
    "above": N_("▲ above"),
    "below": N_("▼ below"),
    "open": N_("○ not significant"),
    "untested": N_("– too few users or differences"),
}


def head(report: ReportData) -> Iterator[Block]:
    """The lead metric with its interval; of several models, what may be concluded of it."""
    if report.several:
        yield Note(Name(_("Comparison of {models}", models=", ".join(report.models)), 300), "title")
        for row in report.differences:
            if (row.metric, row.k) == (report.lead.metric, report.lead_k):
                assert report.settings is not None
                yield Note(words.conclusion(row, report.settings, tested(report.differences)), "lead")
        return
    (lead,) = report.means_of(report.lead.metric, report.lead_k)
    ends = f"{number(lead.low)}–{number(lead.high)}" if isfinite(lead.low) else _("n/a")
    interval = _("{confidence:g}% interval {ends}", confidence=100 * report.confidence, ends=ends)
    about = interval if report.n_users > 1 else _("one user, no interval")
    yield Headline(lead.label, number(lead.mean), f"{about} · {_users(report.n_users)}", with_code(report.lead.reads))


def overview(report: ReportData) -> Iterator[Block]:
    """Every metric at the cut-offs, a line per finding, and what was evaluated."""
    yield from _models_by_metrics(report) if report.several else _metrics_by_cutoffs(report)
    yield Items([_brief(found, report) for found in report.findings] or [_no_findings(report)], points=False)
    yield from map(Note, report.left_out)
    if report.settings is None:
        yield Note(" ".join(_remarks(report)))
        yield _tiles(report)
        return
    remarks = [*words.notes(report.settings, tested(report.differences)), words.intervals_in_words(report.settings)]
    yield Section("", [Note(" ".join(remarks))], ("html", "md"))
    yield Section("", [Note(f"{remarks[-1]} {remarks[-2]}")], ("txt", "tex"))


def _metrics_by_cutoffs(report: ReportData) -> Iterator[Block]:
    """A row a metric, with a strip where a metric has an upper bound."""
    shown, rows = some(report.k, MOST_K), list[list[Line]]()
    for metric in report.metrics:
        if not metric.is_accuracy and len(rows) == sum(metric.is_accuracy for metric in report.metrics):
            rows.append([Mark("faint", _("Beyond accuracy")), *[""] * (len(shown) + 1)])
        lead = report.means_of(metric.metric, report.lead_k) if metric.is_accuracy else []
        cells = [_estimate(*mean) if (mean := report.means_of(metric.metric, k)) else "" for k in shown]
        rows.append([metric.symbol, *cells, _on_a_line(lead[0], metric) if lead else ""])
    title = _("Means over {users}, each with its interval", users=_users(report.n_users))
    title = title if report.n_users > 1 else _("Values of one user")
    header: list[Line] = [_("metric"), *map(at_k, shown), Mark("whole", _("@{k}, 0 to 1", k=report.lead_k))]
    yield Rows(header, rows, title, most=30, html_only=frozenset({len(header) - 1}))
    if len(shown) < len(report.k):
        yield Note(_("{n} more cut-offs: see to_frame().", n=len(report.k) - len(shown)))


def _on_a_line(mean: Mean, metric: MetricWords) -> Line:
    """A mean and its interval on a line from 0 to the upper bound of the metric."""
    top = metric.bounds[1]
    if not isfinite(top) or not isfinite(mean.mean):
        return "–"
    said = _("{label} is {value} of {top}", label=mean.label, value=number(mean.mean), top=short(top))
    return Strip(strip(mean.mean, mean.low, mean.high, 0.0, top), said)


def _models_by_metrics(report: ReportData) -> Iterator[Block]:
    """How often each model is better, and a row a model at each cut-off, the lead cut-off in sight."""
    yield Items(list(_summaries(report)))
    accuracy = [metric for metric in report.metrics if metric.is_accuracy]
    verdicts = {(row.model, row.label): row.verdict for row in report.differences if row.baseline == report.baseline}

    def table(title: str, columns: Sequence[Sequence[Mean]]) -> Rows:
        rows = []
        for name, *means in zip(report.models, *columns, strict=True):
            signs = [SIGNS.get(verdicts.get((name, mean.label), ""), "") for mean in means]
            signs = [("°" if mean.near_best else "") + sign for sign, mean in zip(signs, means, strict=True)]
            cells = [_estimate(mean, best=mean.best, signs=sign.strip("◇○–"), below=True, signed=True) for sign, mean in zip(signs, means, strict=True)]  # fmt: skip
            aside = [" ", Mark("faint", _("baseline"))] if name == report.baseline else []
            rows.append([[Name(name), *aside], *cells])
        return Rows([_("model"), *(means[0].label for means in columns)], rows, title)

    by_k = {k: [means for metric in accuracy if (means := report.means_of(metric.metric, k))] for k in report.k}
    if len(by_k) > 1 and sum(map(len, by_k.values())) == len(accuracy):  # each metric at a cut-off of its own
        title = _("Means over {users}, each with its interval", users=_users(report.n_users))
        in_order = [metric.metric for metric in accuracy]
        columns = sorted(
            (means for of_k in by_k.values() for means in of_k), key=lambda means: in_order.index(means[0].metric)
        )
        yield from (table(title, columns), _legend(report))
        return
    for k in sorted(report.k, key=lambda k: k != report.lead_k):
        confidence = percent_of(report.confidence)
        title = _("Means at k = {k}, with their {confidence} intervals", k=k, confidence=confidence)
        if k is None:
            title = _("Means of whole lists, with their {confidence} intervals", confidence=confidence)
        if k == report.lead_k:
            yield from (table(title, by_k[k]), _legend(report))
        else:
            same = _("The same of whole lists") if k is None else _("The same at k = {k}", k=k)
            yield Fold(same, [table(title, by_k[k])])


def _summaries(report: ReportData) -> Iterator[Line]:
    """Each pair over all metrics and cut-offs: how many differences of each verdict."""
    pairs = dict.fromkeys((row.model, row.baseline) for row in report.differences)
    for model, baseline in pairs if len(report.differences) > len(pairs) else ():
        verdicts = [row.verdict for row in report.differences if (row.model, row.baseline) == (model, baseline)]
        better, worse, count = verdicts.count("better"), verdicts.count("worse"), len(verdicts)
        yield say(
            N_("{model} against {baseline}, over {count} metrics and cut-offs: better in {better}, worse in {worse}, nothing shown in {rest}."),
            model=_strong(model), baseline=_strong(baseline), count=f"{count:,}", better=better,
            worse=worse, rest=count - better - worse,
        )  # fmt: skip


def _legend(report: ReportData) -> Note:
    assert report.settings is not None
    near = words.near_best_in_words(report.settings.alpha)
    lines: list[Line] = [Mark("best", "0.5"), _(": the highest mean of its column"), f". ° {near}."]
    if report.baseline is not None:
        marks = N_("▲ better, ▼ worse than {baseline} (the corrected test and the interval agree)")
        lines += [" ", say(marks, baseline=Name(report.baseline)), "."]
    return Note(lines)


def _remarks(report: ReportData) -> Iterator[str]:
    """The method of the intervals, what they leave out, and the users of metrics beyond accuracy."""
    of_accuracy = {metric.metric for metric in report.metrics if metric.is_accuracy}
    if report.n_users < 2:
        yield _("No interval: one user is no sample.")
    else:
        sample = N_("{confidence:g}% intervals for the mean, taking the users as a sample ({how}).")
        yield _(sample, confidence=100 * report.confidence, how=_(BETA))
        yield _("Intervals are not corrected for the number of comparisons.")
        if any(not isfinite(mean.low) for mean in report.means if mean.metric in of_accuracy):
            unbounded = N_(
                "A metric without an upper bound has no interval where fewer than {n} users have a value above 0."
            )
            yield _(unbounded, n=ENOUGH)
        yield _("They do not cover another split of the data or another training run.")
    if len(of_accuracy) < len(report.metrics):
        yield _("Metrics beyond accuracy are below the others; they cover other users, or all lists together.")


def _tiles(report: ReportData) -> Tiles:
    """Four numbers to take in at once."""
    people = report.populations[0]
    lists, relevant, n_items = people.list_length, people.relevant_per_user, people.n_items_recommended

    def spread(counts: CountSummary, more: str) -> str:
        if counts.min == counts.max:
            return _("all equal; {more}", more=more)
        range_ = N_("median; {low:,} to {high:,}, mean {mean:.1f}; {more}")
        return _(range_, low=counts.min, high=counts.max, mean=counts.mean, more=more)

    rows = ngettext("{n:,} row", "{n:,} rows", people.n_recommended)
    in_all = _("{n:,} in all", n=people.n_relevant)
    return Tiles([
        (f"{people.n_users:,}", ngettext("user", "users", people.n_users), "; ".join(people.users[1:]) or _("none left out")),
        (short(lists.median), ngettext("item per list", "items per list", lists.median), spread(lists, rows)),
        (short(relevant.median), ngettext("relevant item per user", "relevant items per user", relevant.median), spread(relevant, in_all)),
        (f"{n_items:,}", ngettext("different item recommended", "different items recommended", n_items), _("{n:,} relevant to someone", n=people.n_items_relevant)),
    ])  # fmt: skip


def findings(report: ReportData) -> Iterator[Block]:
    """Problems in the data in full, with their effect on the numbers and what to type."""
    lints = list(report.lints.values())
    if not report.several or not report.findings:
        yield Note(Mark("strong", lints[0].headline if report.findings else _no_findings(report)), "plain")
    for found in report.findings:
        opened = found.finding.severity == "warning" or len(report.findings) <= FEW_FINDINGS
        yield Fold(_brief(found, report, bold=True), [Note(line, "plain") for line in _details(found)], opened=opened)
    if report.several and report.findings:
        measured = N_(
            "{checks} checks of each model's lists. Effects are measured with the lead metric; .lint() of a model shows more."
        )
        yield Note(_(measured, checks=min(lint.n_checks for lint in lints)))
    lines = [lints[0].measured] * (not report.several) + [line for lint in lints for line in lint.not_checked]
    for line in dict.fromkeys(lines):
        yield Note(with_code(line))


def _no_findings(report: ReportData) -> str:
    return _("Lint: no findings in {checks} checks", checks=min(lint.n_checks for lint in report.lints.values()))


def _brief(found: SharedFinding, report: ReportData, *, bold: bool = False) -> Line:
    """A finding on one line, and whose it is."""
    whose: Line = _("all models") if len(found.models) == len(report.models) else joined(map(Name, found.models))
    short, badge = (
        _said(found.finding, "short"),
        Mark("warning" if found.finding.severity == "warning" else "note", found.finding.word),
    )
    aside = [" ", Mark("faint", ["(", whose, ")"])] if report.several else []
    return [badge, " ", Mark("strong", short) if bold else short, *aside]


def _details(found: SharedFinding) -> Iterator[Line]:
    """Effect, example, advice and code; the effect with the name of each model if it is not the same on all."""
    one = found.finding
    effects = [_said(finding, "effect") for finding in found.of_each]
    if len({finding.effect for finding in found.of_each}) > 1:
        yield from ([_strong(model), ": ", effect] for model, effect in zip(found.models, effects, strict=True))
    elif one.effect:
        yield effects[0]
    yield from (_said(one, part) for part in ("example", "advice") if one.sentence(part))
    yield from (Mark("code", Name(line, 1000)) for line in one.code_lines)


def _said(finding: Finding, part: str) -> Line:
    """A sentence of a finding, which makes its values safe itself."""
    return Ready(lambda form: str(finding.sentence(part, SENTENCE_FORMS[form])))


def differences(report: ReportData) -> Iterator[Block]:
    """The forest plot, and every difference with its test."""
    if not report.several:
        return
    assert report.settings is not None
    lead = [row for row in report.differences if row.k == report.lead_k]
    bounded = {metric.metric for metric in report.metrics if isfinite(metric.bounds[1])}
    drawn = [row for row in lead if row.metric in bounded]
    if alone := not drawn or len(drawn) > MOST_DRAWN:
        drawn = [row for row in lead if row.metric == report.lead.metric]
    confidence = percent_of(report.confidence)
    yield Heading(_("Differences, each over the same users"))
    yield from forest(drawn, report.confidence)
    if alone:
        yield Note(_("Drawn for {symbol} alone; the other metrics are in the tables.", symbol=report.lead.symbol))
    elif len(drawn) < len(lead):
        yield Note(ngettext("{n} difference of a metric without an upper bound is in the table alone.", "{n} differences of metrics without an upper bound are in the table alone.", len(lead) - len(drawn)))  # fmt: skip
    columns: Columns = [
        (_("metric"), lambda row: row.label),
        (_("model"), lambda row: Name(row.model)),
        (_("baseline"), lambda row: Name(row.baseline)),
        (_("difference"), lambda row: signed(row.difference)),
        (_("{confidence} interval", confidence=confidence), lambda row: f"{number(row.low)} … {number(row.high)}"),
        ("p", lambda row: bare_p(row.p)),
        (_("p, Holm"), lambda row: bare_p(row.p_holm)),
        (_("effect size"), lambda row: number(row.effect_size)),
        (_("won / tied / lost"), lambda row: f"{row.won:,} / {row.tied:,} / {row.lost:,}"),
        (_("detectable"), lambda row: number(row.detectable)),
        (_("conclusion"), lambda row: Mark("whole", words.verdict_in_words(row))),
    ]
    for k in report.k:
        title = _("Every test of whole lists") if k is None else _("Every test at k = {k}", k=k)
        yield Fold(title, [_table(columns, [row for row in report.differences if row.k == k], left=3)])
    about = N_("p-values are two-sided; those of {test} are corrected over all {count} comparisons of the report. Effect size: the mean difference in standard deviations of users' differences. Detectable: the true difference that a single, uncorrected t test at {alpha} would have found with {power} power. Won / tied / lost: users.")  # fmt: skip
    n, alpha = f"{tested(report.differences):,}", f"{report.settings.alpha:g}"
    yield Note(_(about, test=_(TESTS[report.settings.test]), count=n, power=percent_of(0.8), alpha=alpha))


def forest(rows: Sequence[Difference], confidence: float) -> Iterator[Block]:
    """Differences with their intervals, one under the other."""
    title = inline(words.difference_axis(rows), "txt")
    said = [f"{row.label} {one_line(row.model, 40)} − {one_line(row.baseline, 40)}: {signed(row.difference)} ({number(row.low)} … {number(row.high)}), {_(VERDICTS[row.verdict][1])}" for row in rows]  # fmt: skip
    shown = [row for row in rows if isfinite(row.difference)]
    points = [
        PlotPoint(
            f"{row.label} · {inline(words.difference_label(row, rows), 'txt')}", row.difference, row.low, row.high, row.verdict in FOUND,
            f"{signed(row.difference)} {SIGNS[row.verdict]}", f"{signed(row.low)} … {signed(row.high)}",
        )
        for row in shown
    ]  # fmt: skip
    yield Figure(picture(points, one_line(title, 90)), f"{title}. {'; '.join(said)}")
    yield Note(_("Mean difference over the same users, and its {confidence} interval. Filled marks are findings (▲ better, ▼ worse: the corrected test and the interval agree); hollow ones are not (◇ inconclusive, ○ no difference shown).", confidence=percent_of(confidence)))  # fmt: skip


def curves(report: ReportData) -> Iterator[Block]:
    """The lead metric against the cut-off; of one model, its distribution over users as well."""
    marked = [k for k in report.k if k is not None and not report.several]
    lines = {
        name: [(mean.k or 0, mean.mean, mean.low, mean.high) for mean in means] for name, means in report.curves.items()
    }
    curve = list(curve_blocks(lines, report.lead.symbol, report.confidence, marked))
    if report.several:
        yield Section("", [Heading(_("Against the cut-off")), *curve], ("html",))
    else:
        title = Heading(_("{symbol} against k", symbol=report.lead.symbol))
        yield Side([Section("", [title, *curve], ("html",)), Section("", list(_distribution(report)))])


def curve_blocks(
    lines: Mapping[str, Sequence[tuple[float, ...]]],
    symbol: str,
    confidence: float,
    marked: Sequence[int] = (),
) -> Iterator[Block]:
    """A line for each model with its numbers, from the places on the axis with mean and ends of the interval at each."""
    first = next(iter(lines.values()))
    if not any(isfinite(mean) for points in lines.values() for _k, mean, *_ends in points):
        yield Note(_("No mean to draw."))
        return
    rows = [
        [f"{points[0][0]:g}", *(_number(*ends) for _k, *ends in points)] for points in zip(*lines.values(), strict=True)
    ]
    last = "; ".join(f"{one_line(name, 40)}: {number(points[-1][1])}" for name, points in lines.items())
    alt = _("{symbol} against {axis}. At {axis} = {k}: {values}", symbol=symbol, axis="k", k=first[-1][0], values=last)
    if len(lines) == 1:
        means = ", ".join(f"{k}: {number(mean)}" for k, mean, *_ends in first)
        alt = _("{symbol} against k. Mean at k = {means}", symbol=symbol, means=means)
    drawn = [PlotLine(points, one_line(model, 20), marked) for model, points in lines.items()]
    at = [k for k, *_ends in first if k in {1, *marked, first[-1][0]}]
    title = _("The numbers of the curves") if len(lines) > 1 else _("The numbers of the curve")
    numbers = Rows(["k", *(Name(name) if name else symbol for name in lines)], rows, title)
    yield Figure(picture(drawn, _("cut-off k"), _("mean {symbol}@k", symbol=symbol), at), alt, numbers)
    if len(lines) > 1:
        yield Note(_("Bands are {confidence} intervals of each mean. They may overlap although the paired difference is significant: compare models by their differences.", confidence=percent_of(confidence)))  # fmt: skip
    elif isfinite(first[0][2]):
        yield Note(_("The band holds the {confidence:g}% intervals.", confidence=100 * confidence))


def _distribution(report: ReportData) -> Iterator[Block]:
    """The values of users in bars, how many have the lowest and the highest, and the quartiles."""
    (spread,), label = report.distributions, report.label
    yield Heading(_("{label} over users", label=label))
    edges, shares = [(short(low), short(high)) for low, high in pairwise(spread.edges)], [*map(percent, spread.shares)]
    bins = [_("{low} to <{high}", low=low, high=high) for low, high in edges[:-1]]
    bins.append(pgettext("last bin", "{low} to {high}", low=edges[-1][0], high=edges[-1][1]))
    said = ", ".join(f"{name}: {share}" for name, share in zip(bins, shares, strict=True))
    bars = PlotBars(spread.edges, spread.shares, shares, spread.n_zero / max(spread.n_users, 1), spread.quartiles)
    drawn = picture(bars, _("{label} of a user", label=label), _("share of users"))
    rows = [[name, f"{count:,}", share] for name, count, share in zip(bins, spread.counts, shares, strict=True)]
    numbers = Rows([label, pgettext("number", "users"), _("share")], rows, _("The numbers of the bars"))
    yield Figure(drawn, _("Share of users by {label}. {shares}", label=label, shares=said), numbers)
    yield Note(f"{capital('; '.join(_extremes(spread)))}.")
    keys = [_("Grey: users at exactly 0.")] if spread.n_zero else []
    keys += [_("Below the bars: median and middle half of the users.")] if spread.n_users > 1 else []
    yield Section("", [Note(" ".join(keys))], ("html",))


def _extremes(spread: Distribution) -> Iterator[str]:
    if not spread.n_users:
        yield _("No user has a value.")
        return
    for value, n in ((0.0, spread.n_zero), (spread.edges[-1], spread.n_top)):
        if n is not None:
            share = percent(n / spread.n_users)
            users = _("{n:,} of {users} ({share})", n=n, users=_users(spread.n_users), share=share)
            yield _("exactly {value}: {users}", value=short(value), users=users)
    if spread.n_without_value:
        yield _("no value: {n:,}", n=spread.n_without_value)
    low, middle, high = map(number, spread.quartiles)
    yield _(
        "quartiles {low}, {middle}, {high}; mean {mean}", low=low, middle=middle, high=high, mean=number(spread.mean)
    )


def segments(report: ReportData) -> Iterator[Block]:
    """Each segment of the users beside all other users, or the differences of models within it."""
    if report.segments is None:
        return
    for metric in report.metrics:
        if rows := [row for row in report.segments.rows if row.metric == metric.metric]:
            table = _segment_table(report, f"{metric.symbol}@{report.lead_k}", rows)
            fold = Section("", [Fold(f"{metric.symbol}@{report.lead_k}", [table])], ("html", "md"))
            yield table if metric == report.lead else fold
    note = _("A segment is above or below all other users if the corrected test and the {confidence:g}% interval of its gap agree; ○ does not prove that there is no difference. (few) marks segments of few users.", confidence=100 * report.confidence)  # fmt: skip
    if report.several:
        note = _("{confidence} intervals, not corrected for the number of comparisons; p corrected by Holm's method over the {n} tests here. (few) marks segments in which little can be shown. That a difference is found in one segment and not in another does not show that the two differ.", confidence=percent_of(report.confidence), n=sum(isfinite(row.p) for row in report.segments.rows))  # fmt: skip
    yield from [Note(report.segments.words)] if report.segments.words else []
    yield Section("", [Note(line) for line in (note, report.segments.basis) if line], ("html", "md", "tex"))


def _segment_table(report: ReportData, label: str, rows: Sequence[SegmentRow]) -> Rows:
    assert report.segments is not None
    reach = reach_of([end for row in rows for end in (row.gap, row.gap_low, row.gap_high)])
    by, several, pairs = Name(report.segments.by, 200), report.several, report.several and report.baseline is None

    def drawn(row: SegmentRow) -> Line:
        alt = _("{segment}: gap {gap}", segment=one_line(row.segment, 40), gap=signed(row.gap))
        return Strip(strip(row.gap, row.gap_low, row.gap_high, -reach, reach), alt) if isfinite(row.gap) else "–"

    def verdict(row: SegmentRow) -> Line:
        said = f"{SIGNS[row.verdict]} {_(VERDICTS[row.verdict][1])}" if several else _(SEGMENT_VERDICTS[row.verdict])
        return Mark("whole", said)

    columns: list[tuple[bool, Line, Callable[[SegmentRow], Line]]] = [
        (True, _("segment"), lambda row: Name(row.segment)),
        (several, _("model"), lambda row: Name(row.model)),
        (pairs, _("baseline"), lambda row: Name(row.baseline)),
        (True, _("users"), lambda row: f"{row.n_users:,}" + (f" {_('(few)')}" if row.small else "")),
        (not several, _("mean"), lambda row: _number(row.mean, row.low, row.high)),
        (True, _("difference") if several else _("gap to the rest"), lambda row: _number(row.gap, row.gap_low, row.gap_high, signed)),
        (True, _("about 0") if several else _("gap, about 0"), drawn),
        (True, _("p, Holm") if several else _("p (Holm)"), lambda row: bare_p(row.p_holm) if isfinite(row.p_holm) else "–"),
        (True, _("conclusion") if several else _("against the rest"), verdict),
    ]  # fmt: skip
    shown = [(title, cell) for here, title, cell in columns if here]
    title = say(N_("{label} by {by}: each segment, and its gap to all other users"), label=label, by=by)
    if several:
        apart = [", ", say(N_("difference from {baseline}"), baseline=Name(report.baseline))] if report.baseline else []
        title = [say(N_("{label} by {by}"), label=label, by=by), *apart]
    tinted = frozenset(at for at, row in enumerate(rows) if row.verdict in ("above", "below"))
    left = 1 + several + pairs
    return _table(shown, rows, title, left=left, tinted=tinted, html_only=frozenset({len(shown) - 3}))


def beyond(report: ReportData) -> Iterator[Block]:
    """Metrics beyond accuracy, what each means, and what the others need."""
    at = [report.lead_k] if report.several else some(report.k, 6)
    rows: list[list[Line]] = []
    for metric in report.metrics:
        if not metric.is_accuracy:
            of_k = [report.means_of(metric.metric, k) for k in at]
            cells: list[Line] = [_estimate(mean, below=True) for means in of_k for mean in means]
            cells += [""] * (max(len(report.models), len(at)) - len(cells))  # at cut-offs of other metrics
            rows.append([[metric.symbol, Mark("below", metric.title)], *cells])
    if rows:
        header = [_("metric"), *(map(Name, report.models) if report.several else map(at_k, at))]
        title = f"{_('Beyond accuracy')} {at_k(report.lead_k)}" if report.several else ""
        table = Rows(header, rows, title, most=14)
        # Of one model the overview of the other forms has them.
        yield Section("", [table], ("html", "md", "txt") if report.several else ("html",))
        note = _("Higher is not always better for these metrics. Numbers of all lists together have no interval, except means over pairs of users.")  # fmt: skip
        yield Section("", [Note(note)], ("html", "md"))
    for why in dict.fromkeys(report.lacking.values()):
        names = ", ".join(name for name, needs in report.lacking.items() if needs == why)
        yield Note(with_code(capital(_("not here: {names} ({why})", names=names, why=why.removesuffix(".")) + ".")))


def users(report: ReportData) -> Iterator[Block]:
    """The users whom the lists serve best and worst, or who gain and lose most, with their lists."""
    yield from user_blocks(report.users, report.label)


def user_blocks(groups: Sequence[UserGroup], label: str) -> Iterator[Block]:
    """Users with their lists; of two models, how many gain and lose by one in the place of the other."""
    pair = None
    for group in groups:
        model, baseline = _strong(group.model), _strong(group.baseline)
        if group.counts and pair != (pair := (group.model, group.baseline)):
            won, tied, lost = (f"{n:,}" for n in group.counts)
            title = N_(
                "{model} in the place of {baseline}, {label}: of the users {won} gain, {tied} stay the same, {lost} lose"
            )
            counted = say(title, model=model, baseline=baseline, label=label, won=won, tied=tied, lost=lost)
            yield Note(counted, "plain")
        n = len(group.users)
        order = Mark("light", _("by {label}; of equal ones, {among}", label=label, among=_("most found first") if group.kind == "best" else _("most missed first")))  # fmt: skip
        titles: dict[str, Line] = {
            "only": [_("The user")],
            "best": [_("Best users"), " ", order],
            "worst": [_("Worst users"), " ", order],
            "gained": say(Plural("Gains most by {model}", "Gain most by {model}"), n=n, model=model),
            "lost": say(Plural("Loses most by {model}", "Lose most by {model}"), n=n, model=model),
        }
        yield Heading(titles[group.kind])
        widths = ("17em", "24em") if group.baseline is None else ("27em", "40em")
        yield Side([_card(group, user, label) for user in group.users], *widths)


def _card(group: UserGroup, user: ShownUser, label: str) -> Card:
    """A user's list, or the lists of two models beside each other."""
    by_rank = [{item.rank: item for item in items} for items in user.lists]
    ranks = sorted({rank for items in by_rank for rank in items if rank})
    rows = [[f"{rank}", *(_item(items.get(rank)) for items in by_rank)] for rank in ranks]
    below: list[Line] = []
    if user.n_places > len(rows):
        below += [_("… {n:,} more ranks", n=user.n_places - len(rows)), " "]
    if group.baseline is not None:
        change, n = signed(user.values[1] - user.values[0]), user.n_relevant
        relevant = ngettext("{n:,} relevant item", "{n:,} relevant items", n)
        header = [[Name(name, 20), f": {number(value)}"] for name, value in zip((group.baseline, group.model), user.values, strict=True)]  # fmt: skip
        who = [_strong(user.user), " ", _("{change}, {relevant}", change=change, relevant=relevant)]
        return Card(who, ["#", *header], rows, below)
    found = _("found {n:,} of {relevant:,} relevant", n=user.n_hits, relevant=user.n_relevant)
    who = [
        _strong(user.user),
        f" {label} {number(user.values[0])} · {found if user.n_relevant else _('no relevant item')}",
    ]
    if not rows:
        below.append(f"{_('No list: nothing was recommended.')} ")
    if user.missed:
        missed = joined([_item(replace(item, relevance=0)), *([" ", _("(at rank {rank})", rank=item.rank)] if item.rank else [])] for item in user.missed)  # fmt: skip
        more = user.n_missed - len(user.missed)
        below.append(say(N_("missed: {items}"), items=[*missed, *([" ", _("and {n:,} more", n=more)] if more else [])]))
    return Card(who, ["#", _("list")], rows, below)


def _item(item: RankedItem | None) -> Line:
    """An item with its title; a hit of a list is marked."""
    if item is None:
        return "–"
    name: Line = [Name(item.title, 60), " ", Mark("faint", ["(", Name(item.item), ")"])] if item.title else Name(item.item, 60)  # fmt: skip
    if not item.relevance:
        return name
    return [Mark("hit", name), Mark("aside", _("hit, {relevance}", relevance=short(item.relevance)))]


def overlap(report: ReportData) -> Iterator[Block]:
    """The similarity of the lists of each two models."""
    if report.overlaps:
        columns: Columns = [
            (_("lists of"), lambda row: [Name(row["model"]), " · ", Name(row["other"])]),
            (_("Jaccard{at}", at=f"@{report.lead_k}"), lambda row: number(row["jaccard"])),
            (_("the very same list"), lambda row: f"{row['n_identical']:,}"),
            (_("users"), lambda row: f"{row['n_users']:,}"),
        ]
        yield _table(columns, report.overlaps, _("Similarity of the lists"))
        yield Note(_("Means over users. Jaccard: items in both lists, out of items in either."))


def readings(report: ReportData) -> Iterator[Block]:
    """How to read each metric: the sentence, the formula and the convention."""
    columns: Columns = [
        (_("metric"), lambda metric: [metric.symbol, Mark("below", Mark("code", metric.metric))]),
        (_("how to read it"), lambda metric: with_code(metric.reads)),
        (_("formula"), lambda metric: Mark("code", metric.formula)),
        (_("convention"), lambda metric: metric.convention),
    ]
    yield _table(columns, report.metrics, left=4)


def basis(report: ReportData) -> Iterator[Block]:
    """The users and the convention behind the numbers."""
    yield Note(f"{report.basis}.")


#: In the order shown: a title, what gives the blocks, and the forms that have them.
SECTIONS: tuple[tuple[str, Callable[[ReportData], Iterable[Block]], tuple[Form, ...]], ...] = (
    (N_("Overview"), overview, ("html", "md", "txt", "tex")),
    (N_("Findings"), findings, ("html", "md")),
    (N_("Differences"), differences, ("html", "md")),
    (N_("Curve and distribution"), curves, ("html", "md", "txt")),
    (N_("Segments"), segments, ("html", "md", "txt", "tex")),
    (N_("Beyond accuracy"), beyond, ("html", "md", "txt")),
    (N_("Users"), users, ("html", "md", "txt")),
    (N_("Overlap"), overlap, ("html", "md", "txt")),
    (N_("How to read"), readings, ("html",)),
)


def sections_of(report: ReportData) -> list[Section]:
    """The sections that have anything to show; findings come last if there are none."""
    shown, n = list[Section](), len(report.findings)
    for title, section, forms in sorted(SECTIONS, key=lambda each: each[1] is findings and not n):
        name = N_("Curves") if section is curves and report.several else title
        name = _(name) if section is not findings else _("Findings ({n})", n=n) if n else _("No findings")
        if blocks := list(section(report)):
            shown.append(Section(name, blocks, forms))
    return shown


Columns = list[tuple[Line, Callable[[Any], Line]]]


def _table(columns: Columns, rows: Iterable[Any], caption: Line = "", **look: Any) -> Rows:
    titles, cells = zip(*columns, strict=True)
    return Rows(titles, [[cell(row) for cell in cells] for row in rows], caption, **look)


def _estimate(mean: Mean, **look: Any) -> Estimate:
    return _number(mean.mean, mean.low, mean.high, **look)


def _number(value: float, low: float, high: float, shown: Callable[[float], str] = number, **look: Any) -> Estimate:
    return Estimate(shown(value), (shown(low), shown(high)) if isfinite(low) else None, **look)


def _users(n: int) -> str:
    return ngettext("{n:,} user", "{n:,} users", n)


def _strong(name: object) -> Mark:
    return Mark("strong", Name(name))
