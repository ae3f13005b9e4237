"""What may be concluded of a difference between two models: the difference with its
test, its verdict, and the sentences.

Sentences are lines of a document, so that names of models are made safe in each form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

from recnb.display.document import Line, Name, say, strong
from recnb.display.language import N_, _
from recnb.display.text import fixed, signed, users_in_words
from recnb.metrics.metric import Better
from recnb.stats import BETA, Settings

#: The verdicts that are findings. Where neither more nor less is better, as of novelty,
#: a model is higher or lower.
FOUND = ("better", "worse", "higher", "lower")

POWER = 0.8


@dataclass(frozen=True)
class Difference:
    """One model against another in one metric at one cut-off, over the users that both
    are judged on.
    """

    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str
    difference: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    p_holm: float = nan  #: corrected over all differences shown
    effect_size: float = nan
    won: int = 0
    tied: int = 0
    lost: int = 0
    n_users: int = 0
    # : the smallest difference found with 80 % power; NaN if too few users differ
    detectable: float = nan
    alpha: float = 0.05
    better: Better = "high"

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_dict(self) -> dict[str, Any]:
        """Return the difference with its verdict, which says what `better` does, as
        plain Python.
        """
        numbers = asdict(self) | {"verdict": self.verdict}
        del numbers["better"]
        return numbers

    @property
    def verdict(self) -> str:
        """The conclusion, one of `VERDICTS`: a finding needs the corrected test and the
        interval to agree.
        """
        if self.n_users > 1 and self.tied == self.n_users:
            return "same"
        if isnan(self.p) or isnan(self.low):
            return "untested"
        excluded = self.low > 0 or self.high < 0
        if self.p_holm > self.alpha:
            return "hint" if excluded else "open"
        if not excluded:
            return "torn"
        is_higher = self.difference > 0
        if self.better is None:
            return "higher" if is_higher else "lower"
        return "better" if is_higher == (self.better == "high") else "worse"

    @property
    def is_found(self) -> bool:
        """Whether the models are shown to differ."""
        return self.verdict in FOUND


#: The sign of each verdict, so that no meaning depends on a colour; the verdict in a
#: few words; what it allows to conclude.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "better": (
        "▲",
        N_("better"),
        N_("{label}: {model} is better than {baseline}, by {size} ({interval}; {p})."),
    ),
    "worse": (
        "▼",
        N_("worse"),
        N_("{label}: {model} is worse than {baseline}, by {size} ({interval}; {p})."),
    ),
    "higher": (
        "△",
        N_("higher"),
        N_(
            "{label}: {model} is higher than {baseline}, by {size} ({interval}; "
            "{p}). High values are not good in themselves."
        ),
    ),
    "lower": (
        "▽",
        N_("lower"),
        N_(
            "{label}: {model} is lower than {baseline}, by {size} ({interval}; "
            "{p}). Low values are not bad in themselves."
        ),
    ),
    "hint": (
        "◇",
        N_("inconclusive"),
        N_(
            "{label}: inconclusive. {model} differs from {baseline} by "
            "{difference}; the {interval} excludes 0, but the corrected test is "
            "not significant ({p})."
        ),
    ),
    "torn": (
        "◇",
        N_("test and interval disagree"),
        N_(
            "{label}: inconclusive. The corrected test of {model} against "
            "{baseline} is significant ({p}), but the {interval} includes 0; the "
            "difference is {difference}."
        ),
    ),
    "open": (
        "○",
        N_("no difference shown"),
        N_(
            "{label}: no significant difference between {model} and {baseline}: "
            "{difference} ({interval}; {p}). A true difference of {detectable} "
            "would have been found with 80% power by a single, uncorrected test."
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
        N_(
            "{label}: no test of {model} against {baseline}: too few users or "
            "differences for a test ({users})."
        ),
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
SIGNS = {verdict: sign for verdict, (sign, _words, _conclusion) in VERDICTS.items()}

#: The paired tests, and the methods of the intervals of differences.
TESTS = {
    "t": N_("Student's paired t test"),
    "randomization": N_("randomization test, signs flipped"),
}
INTERVAL_METHODS = {
    "t": N_(
        "Student's t over the users, and within the metric's bounds where fewer "
        "than 10 users differ"
    ),
    "randomization": N_("the differences that the randomization test does not reject"),
}


def tested(differences: Iterable[Difference]) -> int:
    """Count the differences that have a p-value."""
    return sum(not isnan(difference.p) for difference in differences)


def corrected_with(
    differences: Iterable[Difference], settings: Settings
) -> dict[str, tuple[int, str]]:
    """Count by metric how many tests are corrected together, with the symbol of the
    metric if those of others are not among them.
    """
    rows = list(differences)
    symbols = {row.metric: row.symbol for row in rows}
    if settings.correction == "all" or len(symbols) < 2:
        return dict.fromkeys(symbols, (tested(rows), ""))
    return {
        name: (tested(row for row in rows if row.metric == name), symbol)
        for name, symbol in symbols.items()
    }


def correction_in_words(n_compared: int, within: str) -> str:
    """Return over what p-values are corrected: `n_compared` comparisons, all of one
    metric if it is named.
    """
    all_of, of_one = (
        N_("Holm's correction over {count} comparisons"),
        N_("Holm's correction over the {count} comparisons of {symbol}"),
    )
    return _(of_one if within else all_of, count=f"{n_compared:,}", symbol=within)


def verdict_in_words(verdict: str) -> str:
    """Return a verdict with its sign."""
    return f"{SIGNS[verdict]} {_(VERDICTS[verdict][1])}"


def p_value(p: float) -> str:
    """Return a p-value as it stands in a table."""
    if isnan(p):
        return _("n/a")
    return (
        "< 0.001"
        if p < 0.001
        else "1"
        if p > 0.995
        else f"{p:.3f}"
        if p < 0.1
        else f"{p:.2f}"
    )


def percent_of(share: float) -> str:
    """Return a confidence in words: 95%."""
    return f"{100 * share:.6g}%"


def conclusion(
    row: Difference, settings: Settings, n_compared: int, within: str = ""
) -> Line:
    """Return what may be concluded of a difference, one of `n_compared` that are
    corrected together, all of one metric if it is named.
    """
    of_p = N_("p {p}, {correction}") if n_compared > 1 else N_("p {p}")
    p, correction = p_value(row.p_holm), correction_in_words(n_compared, within)
    low, high, size = row.low, row.high, row.difference
    if row.is_found and row.difference < 0:  # the size stands in words that say so
        low, high, size = -high, -low, -size
    words = VERDICTS[row.verdict][2]
    if row.better == "low":
        words = OF_COSTS.get(row.verdict, words)
    ends = {
        "confidence": percent_of(settings.confidence),
        "low": fixed(low),
        "high": fixed(high),
    }
    return say(
        words,
        label=row.label,
        model=strong(row.model),
        baseline=strong(row.baseline),
        size=fixed(size),
        difference=signed(row.difference),
        interval=_("{confidence} interval {low} to {high}", **ends),
        p=_(
            of_p,
            p=p if p.startswith("<") or isnan(row.p_holm) else f"= {p}",
            correction=correction,
        ),
        detectable=fixed(row.detectable),
        users=users_in_words(row.n_users),
    )


def notes(settings: Settings, n_compared: int) -> list[str]:
    """Return the number of comparisons with its correction, and what intervals over
    users do not cover.
    """
    test, expected, alpha = (
        _(TESTS[settings.test]),
        settings.alpha * n_compared,
        f"{settings.alpha:g}",
    )
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
    of_differences = _(INTERVAL_METHODS[settings.test])
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
