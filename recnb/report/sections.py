"""The sections of a report, of one model or of several: each is a function of the
report that gives blocks.

`SECTIONS` has their order, titles and forms; a section that gives no block is not
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import Any

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
from recnb.display.language import N_, Message, Plural, _, ngettext, pgettext
from recnb.display.style import ACCENT, NEUTRAL, OTHER
from recnb.display.text import (
    at_k,
    bin_in_words,
    fixed,
    one_line,
    short,
    signed,
    users_in_words,
)
from recnb.lint import Finding
from recnb.report import conclusions as words
from recnb.report.conclusions import n_tested, p_value, percent_of
from recnb.report.data import (
    MOST_PAIRS,
    MetricWords,
    RankedItem,
    ReportData,
    ShownUser,
    UserGroup,
)
from recnb.report.segments import segments
from recnb.results.numbers import POWER, SAME, DifferenceRow, MeanRow
from recnb.results.verdicts import FOUND, in_words, mark_of, with_sign
from recnb.stats import BETA, ENOUGH

#: Models named in a sentence; findings that are all open; columns of a table of models;
#: differences that are drawn, and in tables.
MOST_NAMED, FEW_FINDINGS, MOST_COLUMNS, MOST_DRAWN, MOST_TESTS = 4, 3, 8, 42, 600

#: What a group of users is.
GROUPS: dict[str, Message] = {
    "best": N_("Best users by {label}"),
    "worst": N_("Worst users by {label}"),
    "highest": N_("Users with the highest {label}"),
    "lowest": N_("Users with the lowest {label}"),
    "only": N_("The user"),
    "gained": N_("Users who gain most with {model}"),
    "lost": N_("Users who lose most with {model}"),
    "risen": N_("Users whose {label} rises most with {model}"),
    "fallen": N_("Users whose {label} falls most with {model}"),
}


def head(report: ReportData) -> Iterator[Block]:
    """Give the lead metric with its interval; of several models, what may be concluded
    of it.
    """
    if report.several:
        yield Section("", [Note(Name(title_of(report), 100), "title")], ("md", "txt"))
        yield from _plainly(report)
        at_lead = report.at_lead
        if len(at_lead) > MOST_PAIRS:
            yield from _of_many(report)
            return
        for line in words.conclusions(at_lead, report.differences, report.settings):
            yield Note(line, "lead")
        if len(report.differences) > len(at_lead) and any(
            row.verdict == "hint" for row in at_lead
        ):
            alone = N_(
                "If {label} was the one question before the numbers were seen, "
                "ask it alone, `metrics=['{metric}'], k={k}`: no other test is "
                "then in the correction."
            )
            yield Note(
                with_code(
                    _(
                        alone,
                        label=report.label,
                        metric=report.lead.metric,
                        k=report.lead_k,
                    )
                ),
                "plain",
            )
        return
    (lead,) = report.means_of(report.lead.metric, report.lead_k)
    ends = f"{fixed(lead.low)}–{fixed(lead.high)}" if isfinite(lead.low) else _("n/a")
    interval = _(
        "{confidence:g}% interval {ends}",
        confidence=100 * report.settings.confidence,
        ends=ends,
    )
    about = Mark("small", f"({interval} · {users_in_words(report.n_users)})")
    yield Note(
        [Mark("strong", lead.label), " = ", Mark("big", fixed(lead.mean)), " ", about],
        "title",
    )
    yield from _plainly(report)
    yield Section("", [Note(with_code(report.lead.reads))], ("html",))


def estimate(mean: MeanRow, **look: Any) -> doc.Estimate:
    """Return a mean with the ends of its interval, for a cell."""
    return doc.estimate(mean.mean, mean.low, mean.high, **look)


def title_of(report: ReportData) -> str:
    """Return the title of the report."""
    if not report.several:
        return _("Evaluation report")
    models = (
        _("{n} models", n=len(report.models))
        if len(report.models) > MOST_NAMED
        else ", ".join(report.models)
    )
    return _("Comparison of {models}", models=models)


def _plainly(report: ReportData) -> Iterator[Block]:
    """Say in plain words how many users find anything, of a hundred, or of as many as
    make it neither none nor all.
    """
    rates = {mean.model: mean.mean for mean in report.hit_rates}
    if report.n_users < 2 or not rates:
        return
    inside, bases = (
        [rate for rate in rates.values() if SAME < rate < 1 - SAME],
        [100, 1_000, 10_000],
    )
    bases = [report.n_users, *bases] if report.n_users < 100 else bases
    users = next(
        (
            base
            for base in bases
            if all(0 < round(rate * base) < base for rate in inside)
        ),
        1_000_000,
    )
    found = {model: round(rate * users) for model, rate in rates.items()}
    first = (
        _("among their first {k}", k=report.lead_k)
        if report.lead_k != 1
        else _("in the first place")
    )
    if not report.several:
        (one,) = found.values()
        said = Plural(
            "Of {users:,} users, {n:,} finds at least one relevant item {first}.",
            "Of {users:,} users, {n:,} find at least one relevant item {first}.",
        )
        yield Note(_(said, users=users, n=one, first=first), "lead")
        return
    models = sorted(found, key=lambda model: -rates[model])
    if len(models) > MOST_NAMED:
        last = models[-1] if report.baseline is None else report.baseline
        models = [*[model for model in models if model != last][: MOST_NAMED - 1], last]
    with_each = [
        say(N_("{n:,} with {model}"), n=found[model], model=strong(model))
        for model in models
    ]
    several = N_(
        "Of {users:,} users, this many find at least one relevant item {first}: {found}."
    )
    yield Note(say(several, users=users, first=first, found=joined(with_each)), "lead")


def _of_many(report: ReportData) -> Iterator[Block]:
    """Say of many pairs which models are first and last, which are not shown to differ
    from the first, and how many differ.
    """
    means = {
        mean.model: mean for mean in report.means_of(report.lead.metric, report.lead_k)
    }
    first, *others = report.ranked
    if abs(means[first].mean - means[others[-1]].mean) <= SAME:
        alike = say(
            N_("{label} is {value} with every model."),
            label=report.label,
            value=fixed(means[first].mean),
        )
        yield Note(alike, "lead")
    else:
        yield from _first_and_last(report, means)
    yield Note(_how_many_differ(report), "lead")


def _first_and_last(
    report: ReportData, means: Mapping[str, MeanRow]
) -> Iterator[Block]:
    """Say which models are first and last, and which are not shown to differ from the
    first.
    """
    first, *others = report.ranked
    high, low = (first, others[-1])[:: report.lead.sign]
    ends: dict[str, Any] = {"first": strong(first), "last": strong(others[-1])}
    ends |= {"high": fixed(means[high].mean), "low": fixed(means[low].mean)}
    extremes = N_(
        "{label} is highest with {first}, {high}, and lowest with {last}, {low}."
    )
    if report.lead.better == "low":
        extremes = N_(
            "{label}, of which less is better, is lowest with {first}, {low}, and "
            "highest with {last}, {high}."
        )
    yield Note(say(extremes, label=report.label, **ends), "lead")
    if report.lead.better is not None:
        near = [
            strong(name) for name in others if means[name].best or means[name].near_best
        ]
        behind = _BEHIND[report.lead.better][not near]
        named = joined([*near[:MOST_NAMED], *["…"] * (len(near) > MOST_NAMED)])
        yield Note(say(behind, first=ends["first"], models=named), "lead")


def _how_many_differ(report: ReportData) -> Line:
    """Return how many of many models differ from the baseline, or how many pairs do."""
    verdicts, baseline = (
        [row.verdict for row in report.at_lead],
        strong(report.baseline),
    )
    counts: dict[str, Any] = {verdict: verdicts.count(verdict) for verdict in FOUND}
    counts |= {
        "n": len(verdicts),
        "found": sum(counts.values()),
        "correction": _correction(report),
    }
    said = N_(
        "Of {n:,} models, {better:,} are shown to be better than {baseline} and "
        "{worse:,} to be worse ({correction})."
    )
    if report.lead.better is None:
        said = N_(
            "Of {n:,} models, {higher:,} are shown to be higher than {baseline} and "
            "{lower:,} to be lower ({correction})."
        )
    if report.baseline is None:
        said = N_("Of {n:,} pairs, {found:,} are shown to differ ({correction}).")
    return say(said, **counts, baseline=baseline)


#: Which models are not shown to be behind the first, or that all are, by the direction
#: of the metric.
_BEHIND: dict[str, tuple[Message, Message]] = {
    "high": (
        N_("Not significantly below {first}: {models}."),
        N_("Every other model is significantly below {first}."),
    ),
    "low": (
        N_("Not significantly above {first}: {models}."),
        N_("Every other model is significantly above {first}."),
    ),
}


def _correction(report: ReportData) -> str:
    """Return over what the p-values of the lead metric are corrected."""
    return words.correction_of(report.lead.metric, report.differences, report.settings)


def overview(report: ReportData) -> Iterator[Block]:
    """Give every metric at the cut-offs, a line per finding, and what was evaluated."""
    yield from (
        _models_by_metrics(report) if report.several else [_metrics_by_cutoffs(report)]
    )
    lines = [_brief(models, found[0], report) for models, found in report.findings]
    if report.judged_order:
        lines.insert(0, [Mark("badge", _("warning")), " ", report.judged_order])
    yield doc.Items(lines or [_no_findings(report)])
    for why in dict.fromkeys(report.lacking.values()):
        names = ", ".join(
            name for name, needs in report.lacking.items() if needs == why
        )
        yield Note(
            with_code(
                _("Not here: {names} ({why}).", names=names, why=why.removesuffix("."))
            )
        )
    yield from [Note(report.left_out)] if report.left_out else []
    yield from [Note(report.unweighted)] if report.unweighted else []
    brief, *others = remarks(report)
    yield Note(brief)
    yield from (Section("", [Note(other)], ("html", "md")) for other in others)
    yield from [] if report.several else [_tiles(report)]


def _metrics_by_cutoffs(report: ReportData) -> Block:
    """Return a row a metric, those beyond accuracy last; a strip from 0 to the upper
    bound of a metric of accuracy.
    """
    rows: list[list[Line]] = []
    for metric in report.metrics:
        if not metric.is_accuracy and (
            not rows or report.metrics[len(rows) - 1].is_accuracy
        ):
            rows.append(
                [Mark("small", _("Beyond accuracy")), *[""] * (len(report.k) + 1)]
            )
        cells = [
            estimate(means[0]) if (means := report.means_of(metric.metric, k)) else ""
            for k in report.k
        ]
        rows.append([metric.row_name, *cells, _strip(report, metric)])
    header: list[Line] = [
        _("metric"),
        *map(at_k, report.k),
        Mark("aside", _("@{k}, 0 to 1", k=report.lead_k)),
    ]
    return Rows(
        header,
        rows,
        _("Means over {users}", users=users_in_words(report.n_users)),
        most=20,
    )


def _strip(report: ReportData, metric: MetricWords) -> Line:
    """Return a picture of a metric of accuracy between 0 and its upper bound."""
    bottom, top = metric.bounds
    for mean in (
        report.means_of(metric.metric, report.lead_k) if metric.is_accuracy else ()
    ):
        said = _(
            "{label} is {value} of {top}",
            label=mean.label,
            value=fixed(mean.mean),
            top=short(top),
        )
        is_drawn = bottom == 0 and isfinite(top) and isfinite(mean.mean)
        return (
            doc.Picture(svg.strip(mean.mean, mean.low, mean.high, 0.0, top), said)
            if is_drawn
            else "–"
        )
    return ""


def _models_by_metrics(report: ReportData) -> Iterator[Block]:
    """Give a row a model; many columns are a table a cut-off, that of the lead in
    sight.
    """
    legend = _legend(report)
    of_accuracy = [metric.metric for metric in report.metrics if metric.is_accuracy]
    columns = [
        of_k
        for name in of_accuracy
        for k in report.k
        if (of_k := report.means_of(name, k))
    ]
    if len(columns) <= MOST_COLUMNS:
        yield _models(
            report,
            columns,
            _("Means over {users}", users=users_in_words(report.n_users)),
            legend,
        )
        return
    for k in sorted(report.k, key=lambda k: k != report.lead_k):
        title = _("Means at k = {k}", k=k or _("whole list"))
        table = _models(
            report, [of_k for of_k in columns if of_k[0].k == k], title, legend
        )
        same = _("The same at k = {k}", k=k or _("whole list"))
        yield table if k == report.lead_k else doc.Fold(same, [replace(table, note="")])


def _legend(report: ReportData) -> Line:
    """Say what the marks of the table of models mean."""
    directions = {
        metric.symbol: metric.better for metric in report.metrics if metric.is_accuracy
    }
    legend: list[Line] = []
    if best := words.best_in_words(directions):
        legend += [Mark("best", "0.5"), best, "."]
        if report.marked_against is None:
            every_pair = report.baseline is None
            near = words.near_best_in_words(report.settings, every_pair=every_pair)
            legend.append(f" ° {near}.")
    if report.marked_against is not None:
        for marks in words.marks_in_words(report.marked_against, directions):
            legend += [" ", marks, "."]
    if said := words.directions_in_words(directions):
        legend.append(f" {said}")
    return legend


def _models(
    report: ReportData, columns: Sequence[Sequence[MeanRow]], title: str, note: Line
) -> Rows:
    """Return a row a model, with its means and the signs of its differences from the
    baseline.
    """
    rows, most = [], 12 if len(report.at_lead) <= MOST_PAIRS else 8
    for name, *means in sorted(
        zip(report.models, *columns, strict=True),
        key=lambda row: report.ranked.index(row[0]),
    ):
        row: list[Line] = [
            [
                Name(name),
                *(
                    [" ", Mark("small", _("baseline"))]
                    if name == report.baseline
                    else []
                ),
            ]
        ]
        for mean in means:
            row.append(
                estimate(
                    mean,
                    best=mean.best,
                    signs=report.marks_of(mean.metric, mean.k)[mean.model],
                    signed=True,
                )
            )
        rows.append(row)
    return Rows(
        [_("model"), *(of_k[0].label for of_k in columns)],
        rows,
        title,
        most=most,
        note=note,
    )


def remarks(report: ReportData) -> list[str]:
    """Return the method of the intervals, what they leave out, and the users of metrics
    beyond accuracy; a console has the first alone.
    """
    if report.several:
        made = words.notes(report.settings, n_tested(report.differences))
        intervals = [words.intervals_in_words(report.settings), *_known(report)]
        return [" ".join(made), " ".join(intervals)]
    of_accuracy, said = (
        {metric.metric for metric in report.metrics if metric.is_accuracy},
        list[str](),
    )
    if report.n_users < 2:
        said.append(_("No interval: one user is no sample."))
    else:
        sample = N_(
            "{confidence:g}% intervals for the mean, taking the users as a sample ({how})."
        )
        said.append(_(sample, confidence=100 * report.settings.confidence, how=_(BETA)))
        said.append(_("Intervals are not corrected for the number of comparisons."))
        if any(
            not isfinite(mean.low)
            for mean in report.means
            if mean.metric in of_accuracy
        ):
            said.append(
                _(
                    "A metric without an upper bound has no interval where fewer "
                    "than {n} users have a value above 0.",
                    n=ENOUGH,
                )
            )
        said.append(
            _("They do not cover another split of the data or another training run.")
        )
        said += _known(report)
    if len(of_accuracy) < len(report.metrics):
        said.append(
            _(
                "Metrics beyond accuracy are below the others; they cover other "
                "users, or all lists together."
            )
        )
    return [" ".join(said)]


def _known(report: ReportData) -> list[str]:
    """Return what intervals do not cover where pairs are weighted by propensities."""
    said = N_("Intervals and tests take the propensities as known.")
    return [_(said)] if report.unweighted else []


def _tiles(report: ReportData) -> doc.Tiles:
    """Return four numbers to take in at once."""
    people = report.populations[0]
    lists, relevant, n_items = (
        people["list_length"],
        people["relevant_per_user"],
        people["n_items_recommended"],
    )

    def spread(counts: Mapping[str, float], more: str) -> str:
        if counts["min"] == counts["max"]:
            return _("all equal; {more}", more=more)
        range_ = N_("median; {low:,} to {high:,}, mean {mean:.1f}; {more}")
        return _(
            range_,
            low=counts["min"],
            high=counts["max"],
            mean=counts["mean"],
            more=more,
        )

    rows = ngettext("{n:,} row", "{n:,} rows", people["n_recommended"])
    in_all, n_users = _("{n:,} in all", n=people["n_relevant"]), people["n_users"]
    return doc.Tiles(
        [
            (
                f"{n_users:,}",
                ngettext("user", "users", n_users),
                "; ".join(people["users"][1:]) or _("none left out"),
            ),
            (
                short(lists["median"]),
                ngettext("item per list", "items per list", lists["median"]),
                spread(lists, rows),
            ),
            (
                short(relevant["median"]),
                ngettext(
                    "relevant item per user",
                    "relevant items per user",
                    relevant["median"],
                ),
                spread(relevant, in_all),
            ),
            (
                f"{n_items:,}",
                ngettext(
                    "different item recommended", "different items recommended", n_items
                ),
                _("{n:,} relevant to someone", n=people["n_items_relevant"]),
            ),
        ]
    )


def findings(report: ReportData) -> Iterator[Block]:
    """Give problems in the data in full, with their effect on the numbers and what to
    type.
    """
    lints = list(report.lints.values())
    measured = N_(
        "{checks} checks of each model's lists. Effects are measured with the "
        "lead metric; .lint() of a model shows more."
    )
    below = (
        _(measured, checks=min(lint.n_checks for lint in lints))
        if report.several
        else lints[0].measured
    )
    if not report.several or not report.findings:
        yield Note(
            Mark(
                "strong", lints[0].headline if report.findings else _no_findings(report)
            ),
            "plain",
        )
    for models, found in report.findings:
        is_open = found[0].severity == "warning" or len(report.findings) <= FEW_FINDINGS
        details = [Note(line, "plain") for line in _details(models, found)]
        yield doc.Fold(
            Mark("strong", _brief(models, found[0], report)), details, is_open
        )
    not_checked = [line for lint in lints for line in lint.not_checked]
    yield from (Note(with_code(line)) for line in dict.fromkeys([below, *not_checked]))


def _no_findings(report: ReportData) -> str:
    return _(
        "Lint: no findings in {checks} checks",
        checks=min(lint.n_checks for lint in report.lints.values()),
    )


def _brief(models: Sequence[str], found: Finding, report: ReportData) -> Line:
    """Return a finding on one line, and whose it is."""
    whose: Line = joined(map(Name, models))
    if len(models) == len(report.models):
        whose = _("all models")
    elif len(models) > MOST_NAMED:
        whose = _("{n} models", n=len(models))
    return [
        *found.title,
        *([" ", Mark("small", ["(", whose, ")"])] if report.several else []),
    ]


def _details(models: Sequence[str], found: Sequence[Finding]) -> list[Line]:
    """Return effect, example, advice and code; the effect with the name of each model
    if it is not the same on all.
    """
    if len({one.effect for one in found}) == 1:
        return found[0].details
    effects = [
        [strong(model), ": ", *with_code(one.effect)]
        for model, one in zip(models, found, strict=True)
    ]
    if n := len(effects[MOST_NAMED:]):
        effects = [
            *effects[:MOST_NAMED],
            [
                _(
                    "{n} more models have an effect of their own, each in its .lint()",
                    n=n,
                )
            ],
        ]
    return [*effects, *replace(found[0], effect="").details]


def differences(report: ReportData) -> Iterator[Block]:
    """Give the forest plot, and every difference with its test."""
    if not report.several:
        return
    confidence = percent_of(report.settings.confidence)
    # Metrics with the bounds of the lead metric share an axis with it.
    alike = {
        metric.metric
        for metric in report.metrics
        if metric.bounds == report.lead.bounds
    }
    lead = [row for row in report.differences if row.k == report.lead_k]
    drawn = [row for row in lead if row.metric in alike]
    if len(drawn) > MOST_DRAWN:
        drawn = sorted(report.at_lead, key=lambda row: report.ranked.index(row.model))
    yield Note(_("Differences, each over the same users"), "heading")
    if report.baseline is None and len(report.models) > 2:
        yield _matrix(report)
    if len(drawn) <= MOST_DRAWN:
        yield _forest(drawn)
        directions = {
            row.symbol: row.better for row in drawn if isfinite(row.difference)
        }
        drawn_as = N_(
            "Mean difference over the same users, and its {confidence} "
            "interval. Filled marks are findings (▲ better, ▼ worse: the "
            "corrected test and the interval agree); hollow ones are not (◇ "
            "inconclusive, ○ no difference shown)."
        )
        if {*directions.values()} == {None}:
            drawn_as = N_(
                "Mean difference over the same users, and its {confidence} "
                "interval. Filled marks are findings (△ higher, ▽ lower: the "
                "corrected test and the interval agree); hollow ones are not (◇ "
                "inconclusive, ○ no difference shown)."
            )
        said = words.directions_in_words(directions)
        yield Note(f"{_(drawn_as, confidence=confidence)} {said}".strip())
        if len(drawn) < len(lead):
            symbols = ", ".join(dict.fromkeys(row.symbol for row in drawn))
            yield Note(
                _(
                    "Drawn for {symbol} alone; the other metrics are in the tables.",
                    symbol=symbols,
                )
            )
    columns: doc.Columns = [
        (_("metric"), lambda row: row.label),
        (_("model"), lambda row: Name(row.model)),
        (_("baseline"), lambda row: Name(row.baseline)),
        (_("difference"), lambda row: signed(row.difference)),
        (
            _("{confidence} interval", confidence=confidence),
            lambda row: f"{fixed(row.low)} … {fixed(row.high)}",
        ),
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
    is_long = len(report.differences) > MOST_TESTS
    listed = [
        row
        for row in report.differences
        if not is_long or row.metric == report.lead.metric
    ]
    for k in report.k:
        table = doc.table_of_rows(
            columns, [row for row in listed if row.k == k], left=3
        )
        yield doc.Fold(_("Every test at k = {k}", k=k or _("whole list")), [table])
    if is_long:
        said = N_(
            "Tests of {symbol} alone; those of all {n:,} comparisons are in "
            "`found.differences(k={k})`."
        )
        yield Note(
            with_code(
                _(
                    said,
                    symbol=report.lead.symbol,
                    n=len(report.differences),
                    k=[*report.k],
                )
            )
        )
    about = N_(
        "p-values are two-sided; those of {test} are corrected over all {count} "
        "comparisons of the report. Effect size: the mean difference in standard "
        "deviations of users' differences. Detectable: the true difference that a "
        "single, uncorrected t test at {alpha} would have found with {power} "
        "power. Won / tied / lost: users."
    )
    if report.settings.correction == "metric":
        about = N_(
            "p-values are two-sided; those of {test} are corrected within each "
            "metric, not over all {count} comparisons of the report. Effect size: "
            "the mean difference in standard deviations of users' differences. "
            "Detectable: the true difference that a single, uncorrected t test at "
            "{alpha} would have found with {power} power. Won / tied / lost: "
            "users."
        )
    n, alpha = f"{n_tested(report.differences):,}", f"{report.settings.alpha:g}"
    yield Note(
        _(
            about,
            test=_(words.TESTS[report.settings.test]),
            count=n,
            power=percent_of(POWER),
            alpha=alpha,
        )
    )


def _matrix(report: ReportData) -> Block:
    """Return the difference of each two models in the lead metric, models in order:
    that of the row minus that of the column.
    """
    ranked, of_pair = (
        report.ranked,
        {frozenset((row.model, row.baseline)): row for row in report.at_lead},
    )
    rows: list[list[Line]] = []
    for at, higher in enumerate(ranked, 1):
        cells: list[Line] = [""] * (at - 1)
        for lower in ranked[at:]:
            row = of_pair[frozenset((higher, lower))]
            # The order is that of the means, so that all differences have one sign.
            apart = (
                f"{abs(row.difference):.3f}".removeprefix("0")
                if isfinite(row.difference)
                else "–"
            )
            cells.append(
                Mark(
                    "small",
                    Mark("best", apart) if row.is_found else apart,
                )
            )
        rows.append([[f"{at} ", Name(higher, 20)], *cells])
    note = N_(
        "The model of the row minus that of the column, which has the number of "
        "its row. Bold: shown to be better, the corrected test and the interval "
        "agree ({correction})."
    )
    if report.lead.better == "low":
        note = N_(
            "The model of the column, which has the number of its row, minus that of "
            "the row: less is better. Bold: the row is shown to be better, the "
            "corrected test and the interval agree ({correction})."
        )
    elif report.lead.better is None:
        note = N_(
            "The model of the row minus that of the column, which has the number of "
            "its row. Bold: shown to differ, the corrected test and the interval "
            "agree ({correction})."
        )
    note = _(note, correction=_correction(report))
    header = [_("model"), *(f"{at}" for at in range(2, len(ranked) + 1))]
    return Rows(
        header, rows, _("{label}: each two models", label=report.label), note=note
    )


#: The colours of findings in a picture.
COLOURS_OF = {"better": ACCENT, "worse": OTHER, "higher": NEUTRAL, "lower": NEUTRAL}


def _forest(rows: Sequence[DifferenceRow]) -> Block:
    """Return differences with their intervals, one under the other."""
    said, points = [], []
    for row in rows:
        models = doc.inline([Name(row.model), " − ", Name(row.baseline)], "txt")
        ends = f"{signed(row.low)} … {signed(row.high)}"
        said.append(
            f"{row.label} {models}: {signed(row.difference)} ({ends}), "
            f"{in_words(row.verdict)}"
        )
        if isfinite(row.difference):
            numbers, value = (
                (row.difference, row.low, row.high),
                f"{signed(row.difference)} {mark_of(row.verdict)}",
            )
            points.append(
                (
                    f"{row.label} · {models}",
                    numbers,
                    COLOURS_OF.get(row.verdict, ""),
                    value,
                    ends,
                )
            )
    title = _("difference, first minus second")
    return doc.Picture(
        svg.forest(points, one_line(title, 90)), f"{title}. {'; '.join(said)}"
    )


def curves(report: ReportData) -> Iterator[Block]:
    """Give the lead metric against the cut-off; of one model, its distribution over
    users as well.
    """
    title = (
        _("Against the cut-off")
        if report.several
        else _("{symbol} against k", symbol=report.lead.symbol)
    )
    curve = Section("", [Note(title, "heading"), *_curve(report)], ("html",))
    yield (
        curve
        if report.several
        else doc.Side([curve, Section("", list(_distribution(report)))])
    )


def _curve(report: ReportData) -> Iterator[Block]:
    """Give a line for each model, with its numbers."""
    symbol, confidence = report.lead.symbol, report.settings.confidence
    of_each = [report.curves[name] for name in report.drawn]
    first = of_each[0]
    lines = [
        (of[0].model, [(one.k or 0, one.mean, one.low, one.high) for one in of])
        for of in of_each
    ]
    last = "; ".join(
        f"{one_line(name, 40)}: {fixed(line[-1][1])}" for name, line in lines
    )
    alt = _(
        "{symbol} against {axis}. At {axis} = {k}: {values}",
        symbol=symbol,
        axis="k",
        k=first[-1].k,
        values=last,
    )
    title = (
        _("The numbers of the curves")
        if report.several
        else _("The numbers of the curve")
    )
    rows = [
        [f"{row[0].k}", *(estimate(mean) for mean in row)]
        for row in zip(*of_each, strict=True)
    ]
    numbers = Rows(
        ["k", *(Name(name) if name else symbol for name in report.drawn)], rows, title
    )
    marked = [k for k in report.k if k is not None and not report.several]
    yield doc.Picture(
        svg.curves(lines, _("cut-off k"), _("mean {symbol}@k", symbol=symbol), marked),
        alt,
        numbers,
    )
    yield from report.not_drawn
    if report.several:
        yield Note(
            _(
                "Bands are {confidence} intervals of each mean. They may overlap "
                "although the paired difference is significant: compare models by "
                "their differences.",
                confidence=percent_of(confidence),
            )
        )
    elif isfinite(first[0].low):
        yield Note(
            _(
                "The band holds the {confidence:g}% intervals.",
                confidence=100 * confidence,
            )
        )


def _bins(spread: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """Return the bins in words, with the number and the share of users: first those at
    the lowest value, which are grey in the picture.
    """
    first, *others = pairwise(spread["edges"])
    n_bottom, n_users = spread["n_bottom"], max(spread["n_users"], 1)
    names = [short(first[0]), bin_in_words(*first, has_low=False, has_high=False)]
    for low, high in others:
        is_last = (low, high) == others[-1]
        names.append(bin_in_words(low, high, has_low=True, has_high=is_last))
    counts = [n_bottom, spread["counts"][0] - n_bottom, *spread["counts"][1:]]
    shares = [f"{n / n_users:.1%}" for n in counts]
    return list(zip(names, counts, shares, strict=True))


def _distribution(report: ReportData) -> Iterator[Block]:
    """Give the values of users in bars, how many have the lowest and the highest, and
    the quartiles.
    """
    (spread,), label, n_users = (
        report.distributions,
        report.label,
        report.distributions[0]["n_users"],
    )
    yield Note(_("{label} over users", label=label), "heading")
    bins = _bins(spread)
    shares = [f"{share:.1%}" for share in spread["shares"]]
    said = ", ".join(f"{name}: {share}" for name, _count, share in bins)
    drawn = svg.bars(
        spread, shares, _("{label} of a user", label=label), _("share of users")
    )
    rows: list[list[Line]] = [[name, f"{n:,}", share] for name, n, share in bins]
    numbers = Rows(
        [label, pgettext("number", "users"), _("share")],
        rows,
        _("The numbers of the bars"),
    )
    yield doc.Picture(
        drawn,
        _("Share of users by {label}. {shares}", label=label, shares=said),
        numbers,
    )
    exactly = N_("Exactly {value}: {n:,} of {users} ({share}).")
    sentences = [
        _(
            exactly,
            value=short(value),
            n=n,
            users=users_in_words(n_users),
            share=f"{n / max(n_users, 1):.1%}",
        )
        for value, n in (
            (spread["edges"][0], spread["n_bottom"]),
            (spread["edges"][-1], spread["n_top"]),
        )
    ]
    sentences += (
        [_("No value: {n:,}.", n=spread["n_without_value"])]
        if spread["n_without_value"]
        else []
    )
    quartiles = dict(
        zip(("low", "middle", "high"), map(fixed, spread["quartiles"]), strict=True)
    )
    sentences.append(
        _(
            "Quartiles {low}, {middle}, {high}; mean {mean}.",
            **quartiles,
            mean=fixed(spread["mean"]),
        )
    )
    yield Note(" ".join(sentences))
    keys = N_(
        "Grey: users at exactly 0. Below the bars: median and middle half of the users."
    )
    if spread["edges"][0] != 0:
        keys = N_(
            "Grey: users at the lowest value. Below the bars: median and middle half of "
            "the users."
        )
    ends = _("A bar counts the values at its lower end, the last one those at both.")
    yield Section("", [Note(f"{_(keys)} {ends}")], ("html",))


def beyond(report: ReportData) -> Iterator[Block]:
    """Give metrics beyond accuracy of several models; those of one are in the
    overview.
    """
    metrics = [
        metric for metric in report.metrics if report.several and not metric.is_accuracy
    ]
    rows: list[list[Line]] = [
        [metric.row_name, *(estimate(mean, signed=True) for mean in means)]
        for metric in metrics
        if (means := report.means_of(metric.metric, report.lead_k))
    ]
    if rows:
        title = f"{_('Beyond accuracy')} {at_k(report.lead_k)}"
        directions = {metric.symbol: metric.better for metric in metrics}
        note = words.directions_in_words(directions)
        without = N_(
            "Numbers of all lists together have no interval, except means over pairs "
            "of users."
        )
        note = f"{note} {_(without)}".strip()
        yield Rows([_("metric"), *map(Name, report.models)], rows, title, note=note)


def user_blocks(groups: Sequence[UserGroup], label: str) -> Iterator[Block]:
    """Give users with their lists; of two models, how many gain and lose with one
    instead of the other.
    """
    pair = None
    for group in groups:
        model, n = strong(group.model), len(group.users)
        if group.counts and pair != (pair := (group.model, group.baseline)):
            won, tied, lost = (f"{n:,}" for n in group.counts)
            title = N_(
                "{model} instead of {baseline}, {label}: users who gain {won}, "
                "who stay the same {tied}, who lose {lost}"
            )
            if group.kind in ("risen", "fallen"):
                title = N_(
                    "{model} instead of {baseline}, {label}: users whose value rises "
                    "{won}, stays the same {tied}, falls {lost}"
                )
            numbers = {"label": label, "won": won, "tied": tied, "lost": lost}
            yield Note(
                say(title, model=model, baseline=strong(group.baseline), **numbers),
                "plain",
            )
        yield Note(say(GROUPS[group.kind], n=n, model=model, label=label), "heading")
        widths = ("17em", "24em") if group.baseline is None else ("27em", "40em")
        yield doc.Cards([_card(group, user, label) for user in group.users], *widths)


def _card(group: UserGroup, user: ShownUser, label: str) -> Rows:
    """Return a user's list, or the lists of two models beside each other."""
    by_rank = [{item.rank: item for item in items} for items in user.lists]
    ranks = sorted({rank for items in by_rank for rank in items if rank})
    none = [_("no list"), *[""] * len(ranks)]
    cells = [
        [_item(items.get(rank)) for rank in ranks] if items else none
        for items in by_rank
    ]
    rows = list(zip(map(str, ranks), *cells, strict=False))
    below: list[Line] = []
    if user.n_places > len(rows):
        below += [_("… {n:,} more ranks", n=user.n_places - len(rows)), " "]
    if group.baseline is not None:
        change, n = signed(user.values[1] - user.values[0]), user.n_relevant
        relevant = ngettext("{n:,} relevant item", "{n:,} relevant items", n)
        who: Line = [
            strong(user.user),
            " ",
            _("{change}, {relevant}", change=change, relevant=relevant),
        ]
        of_each = zip((group.baseline, group.model), user.values, strict=True)
        header: list[Line] = [
            [Name(name, 20), f": {fixed(value)}"] for name, value in of_each
        ]
        return Rows(["#", *header], rows, who, 3, wraps=True, note=below)
    found = _(
        "found {n:,} of {relevant:,} relevant", n=user.n_hits, relevant=user.n_relevant
    )
    found = found if user.n_relevant else _("no relevant item")
    who = [strong(user.user), f" {label} {fixed(user.values[0])} · {found}"]
    if not rows:
        below.append(f"{_('No list: nothing was recommended.')} ")
    if user.missed:
        missed, more = list[Line](), user.n_missed - len(user.missed)
        for item in user.missed:
            at_rank = f" {_('(at rank {rank})', rank=item.rank)}" if item.rank else ""
            missed.append([_item(replace(item, relevance=0)), at_rank])
        items = [*joined(missed), *([" ", _("and {n:,} more", n=more)] if more else [])]
        below.append(say(N_("missed: {items}"), items=items))
    return Rows(["#", _("list")], rows, who, 2, wraps=True, note=below)


def _item(item: RankedItem | None) -> Line:
    """Return an item with its title; a hit of a list is marked."""
    if item is None:
        return "–"
    name: Line = Name(item.item, 60)
    if item.title:
        name = [Name(item.title, 60), " ", Mark("small", ["(", Name(item.item), ")"])]
    if not item.relevance:
        return name
    return [
        Mark("hit", name),
        Mark("aside", _("hit, {relevance}", relevance=short(item.relevance))),
    ]


def readings(report: ReportData) -> Iterator[Block]:
    """Give how to read each metric: the sentence, the formula and the convention."""
    columns: doc.Columns = [
        (
            _("metric"),
            lambda metric: [
                metric.row_name,
                Mark("below", Mark("code", metric.metric)),
            ],
        ),
        (_("how to read it"), lambda metric: with_code(metric.reads)),
        (_("formula"), lambda metric: Mark("code", metric.formula)),
        (_("convention"), lambda metric: metric.convention),
    ]
    yield doc.table_of_rows(columns, report.metrics, left=4, wraps=True)


#: In the order shown: a title, what gives the blocks, and the forms that have them.
SECTIONS: tuple[
    tuple[str, Callable[[ReportData], Iterable[Block]], tuple[doc.Form, ...]], ...
] = (
    (N_("Overview"), overview, ("html", "md", "txt", "tex")),
    (N_("Findings"), findings, ("html", "md")),
    (N_("Differences"), differences, ("html", "md")),
    (N_("Curve and distribution"), curves, ("html", "md")),
    (N_("Segments"), segments, ("html", "md", "txt", "tex")),
    (N_("Beyond accuracy"), beyond, ("html", "md")),
    (
        N_("Users"),
        lambda report: user_blocks(report.users, report.label),
        ("html", "md"),
    ),
    (N_("How to read"), readings, ("html",)),
)


def sections_of(report: ReportData) -> list[Section]:
    """Return the sections that have anything to show; findings come last if there are
    none.
    """
    shown, n = list[Section](), len(report.findings)
    for title, section, forms in sorted(
        SECTIONS, key=lambda each: each[1] is findings and not n
    ):
        name = _(N_("Curves") if section is curves and report.several else title)
        if section is findings:
            name = _("Findings ({n})", n=n) if n else _("No findings")
        if blocks := list(section(report)):
            shown.append(Section(name, blocks, forms))
    return shown
