"""The sentences of a report, chosen by its numbers.

Those longer than a label stand at the beginning. Words for those whose lists are ranked
are fields, {users}. They are translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from math import isfinite, isnan

from recnb.display.forms import (
    CONSOLE,
    Line,
    Mark,
    Name,
    joined,
    say,
    strong,
    with_code,
)
from recnb.display.language import N_, Language, Plural, Sentence, _
from recnb.display.text import fixed, short, users_in_words
from recnb.lint import Finding, order_in_words
from recnb.report.data import MOST_PAIRS, ReportData
from recnb.results import conclusions
from recnb.results.numbers import MeanRow
from recnb.results.verdicts import FOUND
from recnb.stats import ENOUGH, ROUNDING

#: Models named in a sentence, and lines on findings in the overview.
MOST_NAMED, MOST_LINES = 4, 4

# Texts: the head

ONE_MODEL_FINDS = N_(
    "{share} of {users} find at least one relevant {item} among their first {k}."
)
EACH_MODEL_FINDS = N_(
    "Share of {users} with at least one relevant {item} among their first {k}: {found}."
)
ALL_THE_SAME = N_("{label} is {value} with every model.")
HIGHEST_AND_LOWEST = N_(
    "{label} is highest with {highest}, {high}, and lowest with {lowest}, {low}."
)
NOT_BEHIND = N_("Not significantly worse than {first}: {models}.")
ALL_BEHIND = N_("Every other model is significantly worse than {first}.")
BETTER_AND_WORSE = N_(
    "Shown to be better than {baseline}: {better:,} of {n:,} models; shown to be worse: "
    "{worse:,} (tests with Holm's correction: {tested:,})."
)
PAIRS_THAT_DIFFER = N_(
    "Pairs shown to differ: {found:,} of {n:,} (tests with Holm's correction: "
    "{tested:,})."
)

# Texts: overview

NEAR_BEST = N_(
    "not shown to differ from the best; a mean without a mark is shown to differ, or is "
    "not tested"
)
ONE_USER = N_("No interval: one {user} is no sample.")
LEFT_OUT = N_(
    "Metrics beyond accuracy are left out: they take every row of the lists, and those "
    "stay in {where}."
)
ELSEWHERE = N_(
    "HTML and Markdown have all other sections, such as {users}, curves and how to read."
)

# Texts: findings

IN_MODELS = N_("{first}; other numbers with {others}")
EFFECTS = N_(
    "{checks} checks are made of the lists of each model. Effects are measured with "
    "{label}."
)
MORE_EFFECTS = Plural(
    "JSON has the effect of {n} more model", "JSON has the effects of {n} more models"
)

# Texts: differences, curve and distribution

TESTS_ALONE = N_("The table has the tests of {symbol} alone, JSON all {n:,}.")
NOT_DRAWN = N_("Drawn for the first {drawn} models, and not for the other {n}.")
EXACTLY = N_("Exactly {value}: {n:,} of {users} ({share}).")
QUARTILES = N_("Quartiles {low}, {middle}, {high}; mean {mean}.")

# Texts: segments

GAPS_OF_EACH = N_(
    "The {confidence:g}% intervals are not corrected for the number of comparisons. Gaps "
    "to all other {users} are tested by the more careful of Welch's t and Student's. "
    "Their p is corrected by Holm's method over the segments of a metric (tests in all: "
    "{n:,})."
)
#: Below segments where no gap is tested.
INTERVALS_OF_EACH = N_(
    "The {confidence:g}% intervals are not corrected for the number of comparisons."
)
HOLM_HERE = N_("p is corrected by Holm's method over the {n} tests here.")
DIFFERENCES_IN_SEGMENTS = N_(
    "(few) marks segments in which little can be shown. That a difference is found in "
    "one segment and not in another does not show that the two differ."
)
#: Of many models.
TESTS_IN_SEGMENTS = N_("JSON has each difference with its test.")

# Texts: beyond accuracy

WITHOUT_INTERVAL = N_(
    "Numbers of all lists together have no interval, except means over pairs of {users}."
)
OF_ALL_LISTS = N_(
    "Metrics that take no truth are over all {users} with a list, also those without a "
    "relevant {item}."
)

# Texts: how to read

INTERVALS = N_("The {confidence:g}% intervals take the {users} as a sample.")
BETA = N_(
    "The interval of a mean is of a beta distribution within the metric's bounds; where "
    "all values are 0 or 1, it is the exact one of Clopper and Pearson."
)
#: The interval of a mean over lists in clusters, which is never exact.
BETA_OF_CLUSTERS = N_(
    "The interval of a mean is of a beta distribution within the metric's bounds."
)
INTERVAL_OF_DIFFERENCES = N_(
    "The interval of a difference is of Student's t over the {users}; where fewer than "
    "10 {users} lie above the lowest difference, or below the highest, it is one within "
    "the metric's bounds."
)
NOT_CORRECTED = N_("Intervals are not corrected for the number of comparisons.")
CLUSTERED = N_("Inference is clustered by {unit}.")
NO_INTERVAL = N_(
    "A metric without an upper bound has no interval where fewer than {n} {users} or "
    "clusters have a value above 0."
)
TOO_HEAVY = N_(
    "By their weights the {n:,} {users} count as fewer than 2 of equal weight, so "
    "means have no interval."
)
NOT_COVERED = N_("They do not cover another split of the data or another training run.")
PROPENSITIES_KNOWN = N_("Intervals and tests take the propensities as known.")
BETTER_OR_WORSE = N_("▲ better, ▼ worse: the corrected test and the interval agree.")
HIGHER_OR_LOWER = N_("△ higher, ▽ lower: the corrected test and the interval agree.")
NOT_FOUND = N_(
    "◇ inconclusive: test and interval disagree. ○ no difference is shown, which does "
    "not prove that there is none."
)
NOT_TESTED = N_("– no test: too few {users} or differences.")

# Texts: the foot

CALLS = N_(
    "The same numbers in Python: {frame}; with the metrics, k and options of this "
    "report {calls}."
)


def nouns(report: ReportData) -> Mapping[str, str]:
    """Return the words for users of a report; where they have several, for lists."""
    language = report.language
    if report.n_lists is not None:
        language = Language(language, language.noun._replace(user="list"))
    return language.fields


# The head


def title(report: ReportData) -> str:
    """Return the title of the report."""
    if report.is_one:
        return _("Evaluation report")
    models = joined(first_of(report.models))
    return str(CONSOLE.write(say(N_("Comparison of {models}"), models=models)))


def first_of(models: Sequence[str]) -> list[Line]:
    """Return the first of some models by name, and how many more there are."""
    named: list[Line] = [*map(Name, models[:MOST_NAMED])]
    n_more = len(models) - len(named)
    if n_more:
        named.append(_("and {n:,} more", n=n_more))
    return named


def label(report: ReportData) -> str:
    """Return what a screen reader calls the report."""
    if report.is_one:
        return _("report of {symbol}", symbol=report.lead.symbol)
    return _("comparison of models")


def headline(report: ReportData) -> Line:
    """Return the lead metric of one model with its interval."""
    (lead,) = report.means_of(report.lead.metric, report.lead_k)
    ends = f"{fixed(lead.low)}–{fixed(lead.high)}" if isfinite(lead.low) else _("n/a")
    interval = _(
        "{confidence:g}% interval {ends}",
        confidence=100 * report.settings.confidence,
        ends=ends,
    )
    about = Mark("small", f"({interval} · {report.sample})")
    return [
        Mark("strong", lead.label),
        " = ",
        Mark("big", fixed(lead.mean)),
        " ",
        about,
    ]


def leads(report: ReportData) -> Iterator[Line]:
    """Give what a reader should take away."""
    if report.n_users > 1 and report.hit_rates:
        yield _who_find(report)
    if report.is_one:
        return
    if len(report.at_lead) <= MOST_PAIRS:
        yield from conclusions.conclusions(report.at_lead, report.settings)
        return
    yield from _of_many(report)


def _who_find(report: ReportData) -> Line:
    """Say how many users find anything, with each model; of many the first."""
    rates = {row.model: row.mean for row in report.hit_rates}
    if report.is_one:
        (share,) = [_share(rate) for rate in rates.values()]
        return say(ONE_MODEL_FINDS, share=share, users=report.sample, k=report.lead_k)
    models = sorted(rates, key=lambda model: -rates[model])
    found = first_of(models)  # and how many more
    for place, model in enumerate(models[:MOST_NAMED]):
        share = _share(rates[model])
        found[place] = say(N_("{share} with {model}"), share=share, model=strong(model))
    return say(
        EACH_MODEL_FINDS,
        users=report.sample,
        k=report.lead_k,
        found=joined(found),
    )


def _share(rate: float) -> str:
    """Return a share of users: 0% is said of none of them alone, and 100% of all."""
    if not ROUNDING < rate < 1 - ROUNDING:
        return f"{rate:.0%}"
    shares = (f"{100 * rate:.{decimals}f}" for decimals in count())
    return f"{next(share for share in shares if 0 < float(share) < 100)}%"


def _of_many(report: ReportData) -> Iterator[Line]:
    """Give which of many models are first and last, and how many differ."""
    means = report.means_of(report.lead.metric, report.lead_k)
    mean_of = {row.model: row.mean for row in means}
    highest, *_others, lowest = report.ranked
    if report.lead.better == "low":
        highest, lowest = lowest, highest
    high, low = fixed(mean_of[highest]), fixed(mean_of[lowest])
    is_tested = all(row.verdict != "untested" for row in report.at_lead)
    if abs(mean_of[highest] - mean_of[lowest]) <= ROUNDING:
        yield say(ALL_THE_SAME, label=report.label, value=high)
    else:
        yield say(
            HIGHEST_AND_LOWEST,
            label=report.label,
            highest=strong(highest),
            high=high,
            lowest=strong(lowest),
            low=low,
        )
        if report.baseline is None and report.lead.better and is_tested:
            yield _behind_the_first(report, means)
    yield _how_many_differ(report)


def _behind_the_first(report: ReportData, means: Sequence[MeanRow]) -> Line:
    """Say which models are not shown to be worse than the first, or that all are."""
    first, *others = report.ranked
    as_good = {row.model for row in means if row.best or row.near_best}
    near = [model for model in others if model in as_good]
    if not near:
        return say(ALL_BEHIND, first=strong(first))
    return say(NOT_BEHIND, first=strong(first), models=joined(first_of(near)))


def _how_many_differ(report: ReportData) -> Line:
    """Say how many of many models differ from the baseline, or how many pairs do."""
    verdicts = [row.verdict for row in report.at_lead]
    counts = {verdict: verdicts.count(verdict) for verdict in FOUND}
    n = len(verdicts)
    tested = conclusions.n_tested(report.at_lead)
    if report.baseline is None or report.lead.better is None:
        n_found = sum(counts.values())
        return say(PAIRS_THAT_DIFFER, n=n, found=n_found, tested=tested)
    baseline = strong(report.baseline)
    return say(BETTER_AND_WORSE, n=n, baseline=baseline, tested=tested, **counts)


# Findings


def findings_in_brief(report: ReportData) -> list[Line]:
    """Return a line for each check that found something, or one that none did."""
    lines = [finding_title(models, found, report) for models, found in report.findings]
    if report.judged_order:
        order = order_in_words(report.label, report.judged_order)
        lines.insert(0, [Mark("badge", _("warning")), " ", order])
    if len(lines) > MOST_LINES:
        n_more = len(lines) - MOST_LINES + 1
        lines[MOST_LINES - 1 :] = [_("… and {n} more", n=n_more)]
    return lines or [_("Lint: no findings in {checks} checks", checks=report.n_checks)]


def finding_title(
    models: Sequence[str], found: Sequence[Finding], report: ReportData
) -> Line:
    """Return what a check found on one line, and in which models."""
    first = found[0]
    line = [*first.title]
    if report.is_one:
        return line
    first_model, *others = dict.fromkeys(models)
    whose: Line = joined(first_of([first_model, *others]))
    if others and len({finding.short for finding in found}) > 1:
        names = joined(first_of(others))
        whose = say(IN_MODELS, first=Name(first_model), others=names)
    elif len(others) + 1 == len(report.models):
        whose = _("all models")
    return [*line, " ", Mark("small", ["(", whose, ")"])]


def on_checks(report: ReportData) -> Iterator[Line]:
    """Say how many checks were made, and which were not."""
    lints = list(report.lints.values())
    effects = lints[0].measured
    if not report.is_one:
        effects = _(EFFECTS, checks=report.n_checks, label=report.label)
    not_checked = [line for lint in lints for line in lint.not_checked_lines]
    for line in dict.fromkeys([effects, *not_checked]):
        yield with_code(line)


# Below the means


def not_here(report: ReportData) -> Iterator[Line]:
    """Say which metrics are not in the report, and why; that one user is no sample."""
    for why in dict.fromkeys(report.lacking.values()):
        metrics = [name for name, needs in report.lacking.items() if needs == why]
        names, reason = ", ".join(metrics), why.removesuffix(".")
        yield with_code(_("Not here: {names} ({why}).", names=names, why=reason))
    yield from filter(None, [report.left_out, report.unweighted])
    if report.n_users == 1:
        yield _(ONE_USER)


def legend(report: ReportData) -> Line:
    """Say what marks beside means are."""
    directions = {metric.symbol: metric.better for metric in report.of_accuracy}
    marks = conclusions.legend(
        directions,
        report.baseline,
        _(NEAR_BEST),
        has_best=any(mean.best for mean in report.means),
        has_marks=any(mean.mark for mean in report.means),
    )
    return joined(marks, "; ")


# Curve and distribution


def not_drawn(report: ReportData) -> str:
    """Say that a picture of many models has not all of them."""
    n = len(report.models) - len(report.drawn)
    if not n:
        return ""
    return _(NOT_DRAWN, drawn=len(report.drawn), n=n)


def on_bars(report: ReportData) -> str:
    """Say how many users have the lowest and the highest value, and the quartiles."""
    spread = report.distribution
    assert spread is not None
    users = users_in_words(spread.n_users)
    if report.n_lists is not None:
        users = f"{spread.n_users:,} {nouns(report)['users']}"
    sentences = []
    ends = [(spread.edges[0], spread.n_bottom), (spread.edges[-1], spread.n_top)]
    for value, n in ends:
        share = f"{spread.share_of(n):.1%}"
        sentences.append(_(EXACTLY, value=short(value), n=n, users=users, share=share))
    if spread.n_without_value:
        sentences.append(_("No value: {n:,}.", n=spread.n_without_value))
    low, middle, high = map(fixed, spread.quartiles)
    mean = fixed(spread.mean)
    sentences.append(_(QUARTILES, low=low, middle=middle, high=high, mean=mean))
    return " ".join(sentences)


# How to read, and the foot


def reading(report: ReportData) -> Iterator[Line]:
    """Say how to read intervals, tests and marks."""
    if report.n_users > 1:
        yield _on_intervals(report)
    if not report.is_one:
        yield from conclusions.notes(report.differences, report.settings, report.label)
    directions = {metric.symbol: metric.better for metric in report.metrics}
    in_words = conclusions.directions_in_words(directions)
    yield from filter(None, [_on_marks(report), in_words])


def _on_marks(report: ReportData) -> str:
    """Say what the signs beside differences mean, if there are any."""
    rows = [*report.differences]
    if report.segments is not None:
        rows += report.segments.differences
    if not rows:
        return ""
    directions = {metric.better for metric in report.of_accuracy}
    sentences = []
    if directions != {None}:
        sentences.append(_(BETTER_OR_WORSE))
    if None in directions:
        sentences.append(_(HIGHER_OR_LOWER))
    sentences.append(_(NOT_FOUND))
    if any(row.verdict == "untested" or isnan(row.p) for row in rows):
        sentences.append(_(NOT_TESTED))
    return " ".join(sentences)


def _on_intervals(report: ReportData) -> str:
    """Say how intervals are made, and what they leave out."""
    sentences = [_(INTERVALS, confidence=100 * report.settings.confidence)]
    if not report.is_one:
        sentences.append(_(INTERVAL_OF_DIFFERENCES))
    sentences.append(_(BETA if report.n_lists is None else BETA_OF_CLUSTERS))
    if report.clustered_by:
        sentences.append(_(CLUSTERED, unit=report.clustered_by))
    sentences.append(_(NOT_CORRECTED))
    sentences += _why_no_interval(report)
    if report.is_one:  # of several, the tests say so
        sentences.append(_(NOT_COVERED))
    if report.unweighted:
        sentences.append(_(PROPENSITIES_KNOWN))
    return " ".join(sentences)


def _why_no_interval(report: ReportData) -> list[str]:
    """Say why some means over users have no interval, if some have none."""
    lacking = {mean.metric for mean in report.means if isnan(mean.low)}
    metrics = [metric for metric in report.of_accuracy if metric.metric in lacking]
    if not metrics:
        return []
    if any(isfinite(metric.bounds[1]) for metric in metrics):
        return [_(TOO_HEAVY, n=report.n_users)]
    return [_(NO_INTERVAL, n=ENOUGH)]


def calls(report: ReportData) -> Sentence:
    """Return the calls that return the numbers, for a notebook."""
    names = ["found.table(...)", "found.differences(...)", "found.movers(...)"]
    if report.is_one:
        names = ["ev.table(...)", "ev.curve(...)", "ev.user(...)"]
    calls: list[Line] = [Mark("code", name) for name in names]
    frame = Mark("code", "report.to_frame()")
    return say(CALLS, frame=frame, calls=joined(calls))


def version(report: ReportData) -> str:
    """Return the version and the day of a file."""
    day = report.made_with["time"].partition("T")[0]
    return f"recnb {report.made_with['versions']['recnb']}, {day}"
