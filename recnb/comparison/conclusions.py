"""The sentences of a comparison: what may be concluded of each difference, and what the numbers rest on.

Every form (console, Markdown, LaTeX, HTML) shows these sentences. Names of models are the user's: `safe` makes them safe for
the form, and if it returns HTML the sentence is HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import isfinite, isnan
from typing import TYPE_CHECKING

from recnb.comparison.results import tested
from recnb.display.language import N_, Plural, _, ngettext
from recnb.display.templates import joined, plain_lines, translated
from recnb.display.text import one_line
from recnb.results.provenance import NO_RELEVANT
from recnb.stats import BETA

if TYPE_CHECKING:
    from recnb.comparison.results import (
        ComparisonReportData,
        Difference,
        ModelFinding,
        ModelUsers,
        MovedUsers,
        Settings,
    )

#: The sign of each verdict, so that no meaning depends on a colour; the verdict in a few words; what it allows to conclude.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "better": ("▲", N_("better"), N_("{label}: {model} is better than {baseline}, by {size} ({interval}; {p}).")),
    "worse": ("▼", N_("worse"), N_("{label}: {model} is worse than {baseline}, by {size} ({interval}; {p}).")),
    "higher": (
        "△",
        N_("higher"),
        N_(
            "{label}: {model} is higher than {baseline}, by {size} ({interval}; {p}); higher is not necessarily better."
        ),
    ),
    "lower": (
        "▽",
        N_("lower"),
        N_("{label}: {model} is lower than {baseline}, by {size} ({interval}; {p}); lower is not necessarily better."),
    ),
    "hint": (
        "◇",
        N_("inconclusive"),
        N_(
            "{label}: inconclusive. {model} differs from {baseline} by {difference}; the {interval} excludes 0, but the corrected test is not significant ({p})."
        ),
    ),
    "torn": (
        "◇",
        N_("test and interval disagree"),
        N_(
            "{label}: inconclusive. The corrected test of {model} against {baseline} is significant ({p}), but the {interval} includes 0; the difference is {difference}."
        ),
    ),
    "open": (
        "○",
        N_("no difference shown"),
        N_(
            "{label}: no significant difference between {model} and {baseline}: {difference} ({interval}; {p}). A true difference of {detectable} would have been found with 80% power by a single, uncorrected test."
        ),
    ),
    "same": (
        "○",
        N_("same value for every user"),
        N_("{label}: {model} and {baseline} give each of {users} the same value."),
    ),
    "untested": (
        "–",
        N_("too few users or differences"),
        N_("{label}: no test of {model} against {baseline}: too few users or differences for a test ({users})."),
    ),
}
SIGNS = {verdict: sign for verdict, (sign, _words, _conclusion) in VERDICTS.items()}

#: The paired tests.
TESTS: dict[str, str] = {
    "t": N_("Student's paired t test"),
    "wilcoxon": N_("Wilcoxon's signed-rank test"),
    "randomization": N_("randomization test, signs flipped"),
}

#: Methods of the intervals of differences.
INTERVAL_METHODS: dict[str, str] = {
    "t": N_("Student's t over the users, and within the metric's bounds where fewer than 10 users differ"),
    "bootstrap": N_("BCa bootstrap of {resamples} draws of the users"),
    "wilcoxon": N_("Hodges and Lehmann's, for the median of pairwise means of the users who differ"),
    "randomization": N_("the differences that the randomization test does not reject"),
}

#: Whom models are compared on.
JUDGED_BY_BOTH = Plural("{n:,} user that both models are judged on", "{n:,} users that both models are judged on")
JUDGED_BY_ALL = Plural(
    "{n:,} user that all {models} models are judged on", "{n:,} users that all {models} models are judged on"
)

#: Makes a name safe for the form in which it is shown.
Safe = Callable[[str], str]


def verdict_in_words(difference: Difference) -> str:
    """The verdict of a difference with its sign."""
    sign, words, _conclusion = VERDICTS[difference.verdict]
    return f"{sign} {_(words)}"


def number(value: float) -> str:
    """A mean or a size as it is shown; one too small for four decimals is not rounded to none.

    >>> number(0.25), number(0.0000123), number(0.0), number(float("nan"))
    ('0.2500', '1.2e-05', '0.0000', 'n/a')
    """
    if not isfinite(value):
        return _("n/a")
    return f"{value:.1e}" if 0 < abs(value) < 0.00005 else f"{value:.4f}"


def signed(value: float) -> str:
    """A difference as it is shown.

    >>> signed(0.25), signed(-0.0000123)
    ('+0.2500', '-1.2e-05')
    """
    return number(value) if not isfinite(value) or value <= 0 else f"+{number(value)}"


def p_value(p: float) -> str:
    """A p-value with its sign.

    >>> p_value(0.0123), p_value(0.00001), p_value(0.2), p_value(1.0)
    ('= 0.012', '< 0.001', '= 0.20', '= 1')
    """
    if isnan(p):
        return _("n/a")
    if p < 0.001:
        return "< 0.001"
    return "= 1" if p > 0.995 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def bare_p(p: float) -> str:
    """A p-value in a table.

    >>> bare_p(0.0123), bare_p(0.00001)
    ('0.012', '< 0.001')
    """
    return p_value(p).removeprefix("= ")


def percent_of(share: float) -> str:
    """A confidence in words: 95%."""
    return f"{100 * share:.6g}%"


def interval(low: float, high: float, confidence: float) -> str:
    """An interval in words."""
    return _(
        "{confidence} interval {low} to {high}", confidence=percent_of(confidence), low=number(low), high=number(high)
    )


def whose(report: ComparisonReportData, finding: ModelFinding, safe: Safe = str) -> str:
    """The models that a finding is about."""
    if len(finding.models) == len(report.models):
        return _("all models")
    return joined(map(safe, finding.models))


def sentence(difference: Difference, settings: Settings, n_compared: int, safe: Safe = str) -> str:
    """The conclusion that a difference allows."""
    alone, of_many = N_("p {p}"), N_("p {p}, Holm's correction over {count} comparisons")
    p = _(of_many if n_compared > 1 else alone, p=p_value(difference.p_holm), count=f"{n_compared:,}")
    low, high, size = difference.low, difference.high, difference.difference
    verdict = difference.verdict
    if verdict in ("worse", "lower"):
        low, high, size = -high, -low, -size
    return translated(
        VERDICTS[verdict][2],
        label=difference.label,
        model=safe(difference.model),
        baseline=safe(difference.baseline),
        size=number(size),
        difference=signed(difference.difference),
        interval=interval(low, high, settings.confidence),
        p=p,
        detectable=number(difference.detectable),
        users=ngettext("{n:,} user", "{n:,} users", difference.n_users),
    )


def conclusions(differences: Collection[Difference], settings: Settings, safe: Safe = str) -> list[str]:
    """The conclusion of each difference; they are corrected together."""
    return [sentence(difference, settings, tested(differences), safe) for difference in differences]


def notes(settings: Settings, n_compared: int) -> list[str]:
    """The number of comparisons with its correction, and what intervals over users do not cover."""
    test, expected = _(TESTS[settings.test]), f"{settings.alpha * n_compared:.2g}"
    return plain_lines("comparison/words.txt.jinja", "notes", n_compared, test, expected, f"{settings.alpha:g}")


def intervals_in_words(settings: Settings) -> str:
    """The methods of the intervals of differences and of means."""
    intervals = _(
        "{confidence} intervals: of differences by {differences}; of means by {means}.",
        confidence=percent_of(settings.confidence),
        differences=method_in_words(settings),
        means=_(BETA),
    )
    return f"{intervals} {_('Intervals are not corrected for the number of comparisons.')}"


def method_in_words(settings: Settings) -> str:
    """The method of the intervals of differences."""
    return _(INTERVAL_METHODS[settings.method], resamples=f"{settings.resamples:,}")


def comparison_title(models: str, baseline: str | None) -> str:
    """The models compared, and the baseline; names are safe already."""
    if baseline:
        return translated("Comparison of {models} against {baseline}", models=models, baseline=baseline)
    return translated("Comparison of {models}, each two against each other", models=models)


def report_title(report: ComparisonReportData) -> str:
    """The models compared, as the title of their report; names are not yet escaped."""
    return _("Comparison of {models}", models=", ".join(report.models))


def means_title(report: ComparisonReportData, k: int | None) -> str:
    """The title of the means at a cut-off."""
    confidence = percent_of(report.settings.confidence)
    if k is None:
        return _("Means of whole lists, with their {confidence} intervals", confidence=confidence)
    return _("Means at k = {k}, with their {confidence} intervals", k=k, confidence=confidence)


def near_best_in_words(alpha: float) -> str:
    """The meaning of the mark of means near the best."""
    return _(
        "not significantly different from it (paired t test, Holm's correction over all columns, level {alpha})",
        alpha=f"{alpha:g}",
    )


def legend(report: ComparisonReportData, best: str, safe: Safe = str) -> list[str]:
    """The meaning of the marks of means; `best` is that of the mark of the highest mean."""
    lines = [best, f"° {near_best_in_words(report.settings.alpha)}"]
    if report.reference is not None:
        lines.append(
            translated(
                "▲ better, ▼ worse than {baseline} (the corrected test and the interval agree)",
                baseline=safe(report.reference),
            )
        )
    return lines


def difference_axis(differences: Collection[Difference], safe: Safe = str) -> str:
    """The label of the axis of a forest plot."""
    baselines = {difference.baseline for difference in differences}
    if len(baselines) == 1:
        return translated("difference from {baseline}", baseline=safe(baselines.pop()))
    return _("difference, first minus second")


def difference_label(difference: Difference, differences: Collection[Difference], safe: Safe = str) -> str:
    """The models of a row of a forest plot: both, if not all rows are against one baseline."""
    models = [difference.model, *([difference.baseline] if len({row.baseline for row in differences}) > 1 else [])]
    return joined(map(safe, models), " − ")


def segments_title(report: ComparisonReportData, safe: Safe = str) -> str:
    """The lead metric, and what the segments are of."""
    assert report.segments is not None
    return translated("{label} by {by}", label=f"{report.lead.symbol}@{report.lead_k}", by=safe(report.segments.by))


def movers_title(moved: MovedUsers, safe: Safe = str) -> str:
    """The models, and how many users gain and lose."""
    won, tied, lost = (f"{n:,}" for n in moved.won_tied_lost)
    return translated(
        "{model} in the place of {baseline}, {label}: of the users {won} gain, {tied} stay the same, {lost} lose",
        won=won,
        tied=tied,
        lost=lost,
        model=safe(moved.model),
        baseline=safe(moved.baseline),
        label=moved.label,
    )


def population_in_words(
    judged: Iterable[ModelUsers], n_users: int, n_without: int = 0, no_relevant: str = "skip"
) -> list[str]:
    """The users that models are compared on, and those left out; names are the user's, on one line and not yet escaped."""
    judged = list(judged)
    words = [_(JUDGED_BY_BOTH if len(judged) == 2 else JUDGED_BY_ALL, n=n_users, models=len(judged))]
    words += [
        ngettext(
            "{n:,} user of {model} left out, not judged in every other model",
            "{n:,} users of {model} left out, not judged in every other model",
            counts.n_left_out,
            model=one_line(counts.model),
        )
        for counts in judged
        if counts.n_left_out
    ]
    if len({counts.n_without_list for counts in judged}) == 1:
        in_each, without = N_("in each model {n:,} without a list, which counts 0"), judged[:1]
    else:
        in_each, without = N_("{n:,} without a list from {model}, which counts 0"), judged
    words += [
        _(in_each, n=counts.n_without_list, model=one_line(counts.model)) for counts in without if counts.n_without_list
    ]
    if n_without:
        words.append(_(NO_RELEVANT[no_relevant], n=n_without))
    return words


def headline(report: ComparisonReportData, safe: Safe = str) -> list[str]:
    """The conclusions of the lead metric at the lead cut-off."""
    differences = report.at(report.lead_k, report.lead.metric)
    return [sentence(difference, report.settings, report.n_tested, safe) for difference in differences]


def summaries(report: ComparisonReportData, safe: Safe = str) -> list[str]:
    """Each pair over all metrics and cut-offs: how many differences of each verdict."""
    if len(report.metrics) * len(report.k) < 2:
        return []
    sentences = []
    for model, baseline in report.pairs:
        verdicts = [row.verdict for row in report.differences if (row.model, row.baseline) == (model, baseline)]
        better, worse = verdicts.count("better"), verdicts.count("worse")
        sentences.append(
            translated(
                "{model} against {baseline}, over {count} metrics and cut-offs: better in {better}, worse in {worse}, "
                "nothing shown in {rest}.",
                model=safe(model),
                baseline=safe(baseline),
                count=f"{len(verdicts):,}",
                better=better,
                worse=worse,
                rest=len(verdicts) - better - worse,
            )
        )
    return sentences
