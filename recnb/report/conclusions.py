"""What may be concluded of differences between models, in sentences, and what the
marks beside means say.

Sentences are lines of a document, so that names of models are made safe in each form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from recnb.display.document import Line, Name, say, strong
from recnb.display.language import N_, _
from recnb.display.text import fixed, signed, users_in_words
from recnb.metrics.metric import Better
from recnb.results.numbers import DifferenceRow
from recnb.stats import BETA, Settings

#: What each verdict allows to conclude.
CONCLUSIONS = {
    "better": N_(
        "{label}: {model} is better than {baseline}, by {size} ({interval}; {p})."
    ),
    "worse": N_(
        "{label}: {model} is worse than {baseline}, by {size} ({interval}; {p})."
    ),
    "higher": N_(
        "{label}: {model} is higher than {baseline}, by {size} ({interval}; "
        "{p}). High values are not good in themselves."
    ),
    "lower": N_(
        "{label}: {model} is lower than {baseline}, by {size} ({interval}; "
        "{p}). Low values are not bad in themselves."
    ),
    "hint": N_(
        "{label}: inconclusive. {model} differs from {baseline} by "
        "{difference}; the {interval} excludes 0, but the corrected test is "
        "not significant ({p})."
    ),
    "torn": N_(
        "{label}: inconclusive. The corrected test of {model} against "
        "{baseline} is significant ({p}), but the {interval} includes 0; the "
        "difference is {difference}."
    ),
    "open": N_(
        "{label}: no significant difference between {model} and {baseline}: "
        "{difference} ({interval}; {p}). A true difference of {detectable} "
        "would have been found with 80% power by a single, uncorrected test."
    ),
    "same": N_("{label}: {model} and {baseline} give each of {users} the same value."),
    "untested": N_(
        "{label}: no test of {model} against {baseline}: too few users or "
        "differences for a test ({users})."
    ),
}
#: The conclusions of a metric of which less is better.
OF_COSTS = {
    "better": N_(
        "{label}, of which less is better: {model} is better than {baseline}, lower by "
        "{size} ({interval}; {p})."
    ),
    "worse": N_(
        "{label}, of which less is better: {model} is worse than {baseline}, higher by "
        "{size} ({interval}; {p})."
    ),
}

#: The paired tests, and the intervals of differences that belong to them.
TESTS = {
    "t": N_("Student's paired t test"),
    "randomization": N_("randomization test, signs flipped"),
}
INTERVALS = {
    "t": N_(
        "Student's t over the users, and within the metric's bounds where fewer "
        "than 10 users differ"
    ),
    "randomization": N_("the differences that the randomization test does not reject"),
}


def n_tested(differences: Iterable[DifferenceRow]) -> int:
    """Count the differences that have a p-value."""
    return sum(not isnan(row.p) for row in differences)


def corrected_with(
    metric: str, differences: Sequence[DifferenceRow], settings: Settings
) -> tuple[int, str]:
    """Count the tests that those of a metric are corrected with, and say so."""
    metrics = {row.metric for row in differences}
    if settings.correction == "all" or len(metrics) < 2:
        n = n_tested(differences)
        return n, _("Holm's correction over {count} comparisons", count=f"{n:,}")
    of_metric = [row for row in differences if row.metric == metric]
    n = n_tested(of_metric)
    words = N_("Holm's correction over the {count} comparisons of {symbol}")
    return n, _(words, count=f"{n:,}", symbol=of_metric[0].symbol)


def correction_of(
    metric: str, differences: Sequence[DifferenceRow], settings: Settings
) -> str:
    """Say over what the p-values of a metric are corrected."""
    return corrected_with(metric, differences, settings)[1]


def p_value(p: float) -> str:
    """Return a p-value as it stands in a table."""
    if isnan(p):
        return _("n/a")
    if p < 0.001:
        return "< 0.001"
    if p > 0.995:
        return "1"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def percent_of(share: float) -> str:
    """Return a confidence in words: 95%."""
    return f"{100 * share:.6g}%"


def conclusions(
    rows: Iterable[DifferenceRow],
    differences: Sequence[DifferenceRow],
    settings: Settings,
) -> list[Line]:
    """Return what may be concluded of some of the differences, a sentence each."""
    corrections = {
        metric: corrected_with(metric, differences, settings)
        for metric in {row.metric for row in differences}
    }
    return [conclusion(row, settings, *corrections[row.metric]) for row in rows]


def conclusion(
    row: DifferenceRow, settings: Settings, n_compared: int, correction: str
) -> Line:
    """Return what may be concluded of a difference, one of `n_compared` whose p-values
    are corrected together.
    """
    words = CONCLUSIONS[row.verdict]
    if row.better == "low":
        words = OF_COSTS.get(row.verdict, words)
    low, high, size = row.low, row.high, row.difference
    if row.is_found and row.difference < 0:  # the size stands in words that say so
        low, high, size = -high, -low, -size
    p = p_value(row.p_holm)
    if not (p.startswith("<") or isnan(row.p_holm)):
        p = f"= {p}"
    of_p = N_("p {p}, {correction}") if n_compared > 1 else N_("p {p}")
    return say(
        words,
        label=row.label,
        model=strong(row.model),
        baseline=strong(row.baseline),
        size=fixed(size),
        difference=signed(row.difference),
        interval=_(
            "{confidence} interval {low} to {high}",
            confidence=percent_of(settings.confidence),
            low=fixed(low),
            high=fixed(high),
        ),
        p=_(of_p, p=p, correction=correction),
        detectable=fixed(row.detectable),
        users=users_in_words(row.n_users),
    )


def notes(settings: Settings, n_compared: int) -> list[str]:
    """Return the number of comparisons with its correction, and what intervals over
    users do not cover.
    """
    test, alpha = _(TESTS[settings.test]), f"{settings.alpha:g}"
    expected = settings.alpha * n_compared
    made = _("Comparisons tested: {count} ({test}).", count=n_compared, test=test)
    if n_compared > 1:
        made = _(
            "{count} comparisons are made at once ({test}). Were no model "
            "different from another, about {expected} of them would still be "
            "expected below p = {alpha} by chance; p-values are therefore "
            "corrected. Holm's correction keeps the chance of any false finding "
            "at {alpha}.",
            count=f"{n_compared:,}",
            test=test,
            expected=f"{expected:.2g}" if expected < 10 else f"{expected:,.0f}",
            alpha=alpha,
        )
        if settings.correction == "metric":
            made += " " + _(
                "That is within each metric; correction='all' keeps it over all of them."
            )
    return [
        made,
        _(
            "The users are taken as a sample of users like them; another training "
            "run or another split of the data may come out differently, and that "
            "is not covered."
        ),
    ]


def intervals_in_words(settings: Settings) -> str:
    """Return the methods of the intervals of differences and of means."""
    confidence = percent_of(settings.confidence)
    of_differences = _(INTERVALS[settings.test])
    said = N_(
        "{confidence} intervals: of differences by {differences}; of means by {means}."
    )
    intervals = _(
        said, confidence=confidence, differences=of_differences, means=_(BETA)
    )
    return (
        f"{intervals} {_('Intervals are not corrected for the number of comparisons.')}"
    )


def directions_in_words(directions: Mapping[str, Better]) -> str:
    """Say of which metrics less is better, and of which neither; `directions`: by
    symbol. Nothing where more is better of all of them.
    """
    low = [symbol for symbol, better in directions.items() if better == "low"]
    neither = [symbol for symbol, better in directions.items() if better is None]
    said = []
    if low:
        said.append(_("Less is better: {symbols}.", symbols=", ".join(low)))
    if neither:
        words = N_("High values are not good in themselves: {symbols}.")
        said.append(_(words, symbols=", ".join(neither)))
    return " ".join(said)


def best_in_words(directions: Mapping[str, Better]) -> str:
    """Return the meaning of the mark of the best means of some metrics, by symbol; ""
    where no mean is called that.
    """
    marked = {better for better in directions.values() if better is not None}
    if not marked:
        return ""
    if marked == {"high"}:
        return _(": the highest mean of its column")
    if marked == {"low"}:
        return _(": the lowest mean of its column")
    return _(": the best mean of its column")


def near_best_in_words(settings: Settings, *, every_pair: bool) -> str:
    """Return the meaning of the mark of means near the best; `every_pair`: whether
    every two models are compared, so that the mark is what the differences say.
    """
    if every_pair:
        words = N_(
            "not shown to differ from it: of every two models, {test}, Holm's "
            "correction over all pairs and columns, level {alpha}, and the interval"
        )
        if settings.correction == "metric":
            words = N_(
                "not shown to differ from it: of every two models, {test}, Holm's "
                "correction over all pairs within each metric, level {alpha}, and the "
                "interval"
            )
        return _(words, test=_(TESTS[settings.test]), alpha=f"{settings.alpha:g}")
    words = N_(
        "not significantly different from it ({test}, Holm's correction over all "
        "columns, level {alpha}; beside the baseline, what their difference says)"
    )
    if settings.correction == "metric":
        words = N_(
            "not significantly different from it ({test}, Holm's correction within "
            "each metric, level {alpha}; beside the baseline, what their difference "
            "says)"
        )
    return _(words, test=_(TESTS[settings.test]), alpha=f"{settings.alpha:g}")


def marks_in_words(baseline: str, directions: Mapping[str, Better]) -> list[Line]:
    """Return the meaning of the marks of means beside a baseline; `directions`: of the
    metrics, by symbol.
    """
    marks = list[str]()
    if {"high", "low"} & {*directions.values()}:
        marks.append(
            N_(
                "▲ better, ▼ worse than {baseline} (the corrected test and the "
                "interval agree)"
            )
        )
    if None in directions.values():
        marks.append(
            N_(
                "△ higher, ▽ lower than {baseline} (the corrected test and the "
                "interval agree)"
            )
        )
    return [say(words, baseline=Name(baseline)) for words in marks]
