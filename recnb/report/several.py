"""The report of several models: its head, and its sections from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite

from recnb.display import document as doc
from recnb.display import svg
from recnb.display.document import (
    Block,
    Line,
    Mark,
    Name,
    Note,
    Rows,
    Section,
    joined,
    say,
    strong,
    with_code,
)
from recnb.display.language import N_, _
from recnb.display.style import ACCENT, NEUTRAL, OTHER
from recnb.display.text import at_k, fixed, one_line, signed
from recnb.report import blocks, conclusions, segments, texts
from recnb.report.blocks import (
    EVERY_FORM,
    MOST_NAMED,
    PAGES,
    ReportLayout,
    SectionOf,
    estimate_of,
)
from recnb.report.conclusions import n_tested, p_value, percent_of
from recnb.report.data import MOST_PAIRS, ReportData
from recnb.results.numbers import POWER, SAME, DifferenceRow, MeanRow
from recnb.results.verdicts import (
    FOUND,
    NEAR_BEST,
    in_words,
    sign_of_verdict,
    with_sign,
)

#: Columns of a table of models; more are a table a cut-off.
MOST_COLUMNS = 8

#: Rows of a table of models on a console, where few pairs are compared and where many.
ROWS_OF_FEW_PAIRS, ROWS_OF_MANY_PAIRS = 12, 8

#: Differences that are drawn.
MOST_DRAWN = 42

#: Tests in tables; of more, those of the lead metric.
MOST_TESTS = 600

#: The colours of findings in a picture.
COLOURS = {"better": ACCENT, "worse": OTHER, "higher": NEUTRAL, "lower": NEUTRAL}


def title_of(report: ReportData) -> str:
    """Return the title of the report."""
    models = ", ".join(report.models)
    if len(report.models) > MOST_NAMED:
        models = _("{n} models", n=len(report.models))
    return _("Comparison of {models}", models=models)


def label_of(report: ReportData) -> str:
    """Return what a screen reader calls the report."""
    return _("comparison of models")


def head(report: ReportData) -> Iterator[Block]:
    """Give what may be concluded of the lead metric at the middle cut-off."""
    title = Note(Name(title_of(report), 100), "title")
    yield Section("", [title], ("md", "txt"))
    if blocks.has_hit_rates(report):
        yield Note(_users_who_find(report), "lead")
    if len(report.at_lead) > MOST_PAIRS:
        yield from _of_many(report)
        return
    for sentence in conclusions.conclusions(report.at_lead, report.settings):
        yield Note(sentence, "lead")


def _users_who_find(report: ReportData) -> Line:
    """Say in plain words how many users find anything with each model.

    Of many models, with the first ones and the last.
    """
    rates = {row.model: row.mean for row in report.hit_rates}
    models = sorted(rates, key=lambda model: -rates[model])
    if len(models) > MOST_NAMED:
        last = models[-1] if report.baseline is None else report.baseline
        others = [model for model in models if model != last]
        models = [*others[: MOST_NAMED - 1], last]
    users = blocks.out_of(report)
    found = []
    with blocks.noun_of_lists(report):
        for model in models:
            n = round(rates[model] * users)
            found.append(say(N_("{n:,} with {model}"), n=n, model=strong(model)))
        first = blocks.among_first(report)
        return say(
            texts.EACH_MODEL_FINDS, users=users, first=first, found=joined(found)
        )


def _of_many(report: ReportData) -> Iterator[Block]:
    """Say which models are first and last, which are near the first, how many differ."""
    rows = report.means_of(report.lead.metric, report.lead_k)
    means = {row.model: row for row in rows}
    first, *others = report.ranked
    if abs(means[first].mean - means[others[-1]].mean) <= SAME:
        value = fixed(means[first].mean)
        yield Note(say(texts.ALL_THE_SAME, label=report.label, value=value), "lead")
    else:
        yield Note(_first_and_last(report, means), "lead")
        is_tested = all(row.verdict != "untested" for row in report.at_lead)
        if report.lead.better is not None and is_tested:
            yield Note(_behind_the_first(report, means), "lead")
    yield Note(_how_many_differ(report), "lead")


def _first_and_last(report: ReportData, means: dict[str, MeanRow]) -> Line:
    """Say which models are first and last."""
    first, last = report.ranked[0], report.ranked[-1]
    words, high, low = texts.HIGHEST_AND_LOWEST, means[first], means[last]
    if report.lead.better == "low":
        words, high, low = texts.LOWEST_AND_HIGHEST, means[last], means[first]
    return say(
        words,
        label=report.label,
        first=strong(first),
        last=strong(last),
        high=fixed(high.mean),
        low=fixed(low.mean),
    )


def _behind_the_first(report: ReportData, means: dict[str, MeanRow]) -> Line:
    """Say which models are not shown to differ from the first, or that all are."""
    better = report.lead.better
    first, *others = report.ranked
    near = [name for name in others if means[name].best or means[name].near_best]
    assert better is not None
    if not near:
        return say(texts.ALL_BEHIND[better], first=strong(first))
    named: list[Line] = [strong(name) for name in near[:MOST_NAMED]]
    if len(near) > MOST_NAMED:
        named.append("…")
    return say(texts.NOT_BEHIND[better], first=strong(first), models=joined(named))


def _how_many_differ(report: ReportData) -> Line:
    """Say how many of many models differ from the baseline, or how many pairs do."""
    verdicts = [row.verdict for row in report.at_lead]
    counts = {verdict: verdicts.count(verdict) for verdict in FOUND}
    n, correction = len(verdicts), _correction(report)
    if report.baseline is None:
        n_found = sum(counts.values())
        return say(texts.PAIRS_THAT_DIFFER, n=n, found=n_found, correction=correction)
    words = texts.BETTER_AND_WORSE
    if report.lead.better is None:
        words = texts.HIGHER_AND_LOWER
    baseline = strong(report.baseline)
    return say(words, n=n, baseline=baseline, correction=correction, **counts)


def _correction(report: ReportData) -> str:
    """Return over what the p-values of the lead metric are corrected."""
    return conclusions.correction_of(n_tested(report.at_lead))


# Overview


def overview(report: ReportData) -> Iterator[Block]:
    """Give every model in every metric, and a line per finding."""
    yield from _models_by_metrics(report)
    yield doc.Items(blocks.findings_in_brief(report))
    yield from blocks.left_out(report)
    brief, intervals = remarks(report)
    yield Note(brief)
    yield Section("", [Note(intervals)], PAGES)


def remarks(report: ReportData) -> list[str]:
    """Return how many comparisons there are, and the methods of the intervals."""
    made = conclusions.notes(report.differences, report.settings, report.label)
    intervals = conclusions.intervals_in_words(
        report.settings, is_clustered=report.n_lists is not None
    )
    intervals = " ".join([intervals, *blocks.clustered(report)])
    if report.unweighted:
        intervals = f"{intervals} {_(texts.PROPENSITIES_KNOWN)}"
    return [" ".join(made), intervals]


def _models_by_metrics(report: ReportData) -> Iterator[Block]:
    """Give a row a model; many columns are a table a cut-off.

    That of the lead is in sight.
    """
    columns = []
    for metric in report.metrics:
        for k in report.k if metric.is_accuracy else ():
            means = report.means_of(metric.metric, k)
            if means:
                columns.append(means)
    legend = _legend(report)
    if len(columns) <= MOST_COLUMNS:
        title = _("Means over {users}", users=report.sample)
        yield replace(_models(report, columns, title), note=legend)
        return
    for k in sorted(report.k, key=lambda k: k != report.lead_k):
        at_cutoff = [means for means in columns if means[0].k == k]
        table = _models(report, at_cutoff, _("Means at k = {k}", k=_cutoff(k)))
        if k == report.lead_k:
            yield replace(table, note=legend)
        else:
            yield doc.Fold(_("The same at k = {k}", k=_cutoff(k)), [table])


def _cutoff(k: int | None) -> int | str:
    return k or _("whole list")


def _legend(report: ReportData) -> list[Line]:
    """Say what the marks of the table of models mean."""
    metrics = [metric for metric in report.metrics if metric.is_accuracy]
    directions = {metric.symbol: metric.better for metric in metrics}
    sentences: list[Line] = []
    best = conclusions.best_in_words(directions)
    if best:
        example = Mark("best", "0.5")  # some number, as the best mean is shown
        sentences.append([example, f"{best}."])
    baseline = report.marked_against
    has_tests = n_tested(report.differences) > 0
    has_tests = has_tests or any(mean.near_best for mean in report.means)
    if has_tests and baseline is not None:
        meanings = conclusions.marks_in_words(baseline, directions)
        sentences += [[meaning, "."] for meaning in meanings]
    elif has_tests and best:
        is_every_pair = report.baseline is None
        near = conclusions.near_best_in_words(report.settings, every_pair=is_every_pair)
        sentences.append(f"{NEAR_BEST} {near}.")
    words = conclusions.directions_in_words(directions)
    if words:
        sentences.append(words)
    return joined(sentences, " ")


def _models(
    report: ReportData, columns: Sequence[Sequence[MeanRow]], title: str
) -> Rows:
    """Return a row a model, with its means and their marks."""
    header = [_("model"), *(means[0].label for means in columns)]
    rows: list[list[Line]] = [[_name_of(model, report)] for model in report.ranked]
    for means in columns:
        mean_of = {mean.model: mean for mean in means}
        signs = report.marks_of(means[0].metric, means[0].k)
        for model, row in zip(report.ranked, rows, strict=True):
            mean, sign = mean_of[model], signs[model]
            row.append(estimate_of(mean, best=mean.best, signs=sign, signed=True))
    has_few_pairs = len(report.at_lead) <= MOST_PAIRS
    most = ROWS_OF_FEW_PAIRS if has_few_pairs else ROWS_OF_MANY_PAIRS
    return Rows(header, rows, title, most=most)


def _name_of(model: str, report: ReportData) -> Line:
    """Return the name of a model, and whether it is the baseline."""
    if model == report.baseline:
        return [Name(model), " ", Mark("small", _("baseline"))]
    return Name(model)


# Differences


def differences(report: ReportData) -> Iterator[Block]:
    """Give the differences drawn, and every difference with its test."""
    words = N_("Differences at k = {k}, each over the same users")
    yield Note(_(words, k=report.lead_k), "heading")
    if report.baseline is None and len(report.models) > 2:
        yield _each_two_models(report)
    yield from _drawn_differences(report)
    yield from _tests(report)


def _each_two_models(report: ReportData) -> Rows:
    """Return the difference of each two models in the lead metric.

    Models are in order: that of the row minus that of the column.
    """
    of_pair = {frozenset((row.model, row.baseline)): row for row in report.at_lead}
    ranked = report.ranked
    rows = []
    for rank, higher in enumerate(ranked, 1):
        row: list[Line] = [[f"{rank} ", Name(higher, 20)], *[""] * (rank - 1)]
        pairs = [frozenset((higher, lower)) for lower in ranked[rank:]]
        row += [_size_of(of_pair[pair]) for pair in pairs]
        rows.append(row)
    header = [_("model"), *(f"{rank}" for rank in range(2, len(ranked) + 1))]
    title = _("{label}: each two models", label=report.label)
    note = _(texts.EACH_TWO[report.lead.better], correction=_correction(report))
    return Rows(header, rows, title, note=note)


def _size_of(row: DifferenceRow) -> Line:
    """Return a difference without its sign; a finding is bold.

    The sign is that of the order of the models.
    """
    if not isfinite(row.difference):
        return Mark("small", "–")
    size = f"{abs(row.difference):.3f}".removeprefix("0")
    return Mark("small", Mark("best", size) if row.is_found else size)


def _drawn_differences(report: ReportData) -> Iterator[Block]:
    """Draw the differences of all metrics at the lead cut-off that there is room for.

    If they are too many, those of the lead metric alone; if these are, none.
    """
    if len(report.at_lead) > MOST_DRAWN:
        return
    at_cutoff = [row for row in report.differences if row.k == report.lead_k]
    drawn = _of_same_bounds(at_cutoff, report)
    if len(drawn) > MOST_DRAWN:
        drawn = sorted(report.at_lead, key=lambda row: report.ranked.index(row.model))
    yield _picture_of(drawn)
    yield Note(_about_drawn(drawn, report))
    if len(drawn) < len(at_cutoff):
        symbols = ", ".join(dict.fromkeys(row.symbol for row in drawn))
        yield Note(_(texts.DRAWN_ALONE, symbol=symbols))


def _about_drawn(rows: Sequence[DifferenceRow], report: ReportData) -> str:
    """Say what the intervals and the colours of drawn differences mean."""
    directions = {row.symbol: row.better for row in rows if isfinite(row.difference)}
    is_neutral = all(better is None for better in directions.values())
    words = texts.DRAWN_DIFFERENCES
    if directions and is_neutral:
        words = texts.DRAWN_WITHOUT_BETTER
    about = _(words, confidence=percent_of(report.settings.confidence))
    return f"{about} {conclusions.directions_in_words(directions)}".strip()


def _of_same_bounds(
    rows: Sequence[DifferenceRow], report: ReportData
) -> list[DifferenceRow]:
    """Return the differences of metrics that share the bounds of the lead metric."""
    bounds = report.lead.bounds
    metrics = {metric.metric for metric in report.metrics if metric.bounds == bounds}
    return [row for row in rows if row.metric in metrics]


def _picture_of(rows: Sequence[DifferenceRow]) -> doc.Picture:
    """Draw differences with their intervals, one under the other."""
    values, points = [], []
    for row in rows:
        models = doc.inline([Name(row.model), " − ", Name(row.baseline)], "txt")
        difference = signed(row.difference)
        ends = f"{signed(row.low)} … {signed(row.high)}"
        verdict = in_words(row.verdict)
        values.append(f"{row.label} {models}: {difference} ({ends}), {verdict}")
        if isfinite(row.difference):
            name = f"{row.label} · {models}"
            numbers = (row.difference, row.low, row.high)
            colour = COLOURS.get(row.verdict, "")
            words = f"{difference} {sign_of_verdict(row.verdict)}"
            points.append((name, numbers, colour, words, ends))
    title = _("difference, first minus second")
    picture = svg.forest(points, one_line(title, 90))
    return doc.Picture(picture, f"{title}. {'; '.join(values)}")


def _tests(report: ReportData) -> Iterator[Block]:
    """Give every difference with its test, a table a cut-off."""
    rows, n = report.differences, len(report.differences)
    if n > MOST_TESTS:
        rows = tuple(row for row in rows if row.metric == report.lead.metric)
    columns = _columns_of_tests(report)
    for k in report.k:
        at_cutoff = [row for row in rows if row.k == k]
        table = doc.table_of_rows(columns, at_cutoff, left=3)
        yield doc.Fold(_("Every test at k = {k}", k=_cutoff(k)), [table])
    if n > MOST_TESTS:
        symbol = report.lead.symbol
        words = _(texts.TESTS_ALONE, symbol=symbol, n=n, k=[*report.k])
        yield Note(with_code(words))
    settings = report.settings
    with blocks.noun_of_lists(report):
        about = _(
            texts.COLUMNS_OF_TESTS,
            count=f"{n_tested(report.differences):,}",
            power=percent_of(POWER),
            alpha=f"{settings.alpha:g}",
        )
    yield Note(about)


def _columns_of_tests(report: ReportData) -> doc.Columns:
    interval = _(
        "{confidence} interval", confidence=percent_of(report.settings.confidence)
    )
    return [
        (_("metric"), lambda row: row.label),
        (_("model"), lambda row: Name(row.model)),
        (_("baseline"), lambda row: Name(row.baseline)),
        (_("difference"), lambda row: signed(row.difference)),
        (interval, lambda row: f"{fixed(row.low)} … {fixed(row.high)}"),
        ("p", lambda row: p_value(row.p)),
        (_("p, Holm"), lambda row: p_value(row.p_holm)),
        (_("effect size"), lambda row: fixed(row.effect_size)),
        (
            _("won / tied / lost"),
            lambda row: f"{row.won:,} / {row.tied:,} / {row.lost:,}",
        ),
        (_("detectable"), lambda row: fixed(row.detectable)),
        (_("conclusion"), lambda row: with_sign(row.verdict)),
    ]


# Curves, and metrics beyond accuracy


def curves(report: ReportData) -> Iterator[Block]:
    """Give the lead metric against the cut-off."""
    yield Note(_("{symbol} against k", symbol=report.lead.symbol), "heading")
    yield blocks.curve(report, _("The numbers of the curves"))
    yield from blocks.not_drawn(report)
    yield Note(_(texts.BANDS, confidence=percent_of(report.settings.confidence)))


def beyond(report: ReportData) -> Iterator[Block]:
    """Give metrics beyond accuracy of each model."""
    metrics = [metric for metric in report.metrics if not metric.is_accuracy]
    rows: list[list[Line]] = []
    for metric in metrics:
        means = report.means_of(metric.metric, report.lead_k)
        if means:
            cells = [estimate_of(mean, signed=True) for mean in means]
            rows.append([metric.row_name, *cells])
    if not rows:
        return
    header: list[Line] = [_("metric"), *map(Name, report.models)]
    title = f"{_('Beyond accuracy')} {at_k(report.lead_k)}"
    directions = {metric.symbol: metric.better for metric in metrics}
    words = conclusions.directions_in_words(directions)
    note = f"{words} {_(texts.WITHOUT_INTERVAL)}".strip()
    yield Rows(header, rows, title, note=note)


#: From top to bottom.
SECTIONS = (
    SectionOf(N_("Overview"), overview, EVERY_FORM, ("means",)),
    blocks.FINDINGS,
    SectionOf(N_("Differences"), differences, PAGES, ("differences",)),
    SectionOf(N_("Curves"), curves, ("html",), ("curves",)),
    SectionOf(N_("Segments"), segments.of_several, EVERY_FORM, ("segments",)),
    SectionOf(N_("Beyond accuracy"), beyond, PAGES, ("beyond",)),
    SectionOf(N_("Users"), blocks.users, PAGES, ("users",)),
    SectionOf(N_("How to read"), blocks.readings, ("html",), ()),
)

LAYOUT = ReportLayout(title_of, label_of, head, SECTIONS, remarks)
