"""What may be concluded of a difference between two models: the difference with its test, its verdict, and the sentences.

Sentences are lines of a document, so that names of models are made safe in each form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from math import isfinite, isnan, nan
from typing import Any, Literal

from recnb.display.document import Line, Mark, Name, say
from recnb.display.language import N_, _, ngettext
from recnb.metrics.metric import LIST_METRICS
from recnb.stats import BETA, Test

#: Conclusions of a difference; `hint` and `torn` are inconclusive.
Verdict = Literal["better", "worse", "higher", "lower", "hint", "torn", "open", "same", "untested"]

#: The verdicts that are findings. Beyond accuracy more is not better: there a model is higher or lower.
FOUND: tuple[Verdict, ...] = ("better", "worse", "higher", "lower")

POWER = 0.8


@dataclass(frozen=True)
class Settings:
    """The settings of tests and intervals."""

    confidence: float
    test: Test
    method: str  #: of the intervals of differences: that of the test, or "bootstrap"
    resamples: int
    permutations: int
    seed: int

    @property
    def alpha(self) -> float:
        """The level of the tests: what the confidence leaves."""
        return round(1 - self.confidence, 12)


@dataclass(frozen=True)
class Difference:
    """One model against another in one metric at one cut-off, over the users that both are judged on."""

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
    detectable: float = nan  #: the smallest difference found with 80 % power; NaN if too few users differ
    alpha: float = 0.05

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_dict(self) -> dict[str, Any]:
        """The difference with its verdict as plain Python."""
        return asdict(self) | {"verdict": self.verdict}

    @property
    def verdict(self) -> Verdict:
        """The conclusion: a finding needs the corrected test and the interval to agree."""
        if self.n_users > 1 and self.tied == self.n_users:
            return "same"
        if isnan(self.p) or isnan(self.low):
            return "untested"
        excluded = self.low > 0 or self.high < 0
        if self.p_holm <= self.alpha and excluded:
            if self.metric in LIST_METRICS:
                return "higher" if self.difference > 0 else "lower"
            return "better" if self.difference > 0 else "worse"
        if self.p_holm <= self.alpha:
            return "torn"
        return "hint" if excluded else "open"


def tested(differences: Iterable[Difference]) -> int:
    """The number of differences that have a p-value."""
    return sum(not isnan(difference.p) for difference in differences)


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


def near_best_in_words(alpha: float) -> str:
    """The meaning of the mark of means near the best."""
    return _(
        "not significantly different from it (paired t test, Holm's correction over all columns, level {alpha})",
        alpha=f"{alpha:g}",
    )


def conclusion(difference: Difference, settings: Settings, n_compared: int) -> Line:
    """The conclusion that a difference allows."""
    alone, of_many = N_("p {p}"), N_("p {p}, Holm's correction over {count} comparisons")
    p = _(of_many if n_compared > 1 else alone, p=p_value(difference.p_holm), count=f"{n_compared:,}")
    low, high, size = difference.low, difference.high, difference.difference
    verdict = difference.verdict
    if verdict in ("worse", "lower"):
        low, high, size = -high, -low, -size
    return say(
        VERDICTS[verdict][2],
        label=difference.label,
        model=Mark("strong", Name(difference.model)),
        baseline=Mark("strong", Name(difference.baseline)),
        size=number(size),
        difference=signed(difference.difference),
        interval=interval(low, high, settings.confidence),
        p=p,
        detectable=number(difference.detectable),
        users=ngettext("{n:,} user", "{n:,} users", difference.n_users),
    )


def conclusions(differences: Collection[Difference], settings: Settings) -> list[Line]:
    """The conclusion of each difference; they are corrected together."""
    return [conclusion(difference, settings, tested(differences)) for difference in differences]


def notes(settings: Settings, n_compared: int) -> list[str]:
    """The number of comparisons with its correction, and what intervals over users do not cover."""
    test, expected, alpha = _(TESTS[settings.test]), f"{settings.alpha * n_compared:.2g}", f"{settings.alpha:g}"
    made = _("No comparison could be tested ({test}).", test=test)
    if n_compared == 1:
        made = _("One comparison was made ({test}).", test=test)
    elif n_compared:
        made = _("{count} comparisons are made at once ({test}). Were no model different from another, about {expected} of them would still be expected below p = {alpha} by chance; p-values are therefore corrected. Holm's correction keeps the chance of any false finding at {alpha}.", count=f"{n_compared:,}", test=test, expected=expected, alpha=alpha)  # fmt: skip
    return [made, _("The users are taken as a sample of users like them; another training run or another split of the data may come out differently, and that is not covered.")]  # fmt: skip


def difference_axis(differences: Collection[Difference]) -> Line:
    """The label of the axis of a forest plot."""
    baselines = {difference.baseline for difference in differences}
    if len(baselines) == 1:
        return say(N_("difference from {baseline}"), baseline=Name(baselines.pop()))
    return _("difference, first minus second")


def difference_label(difference: Difference, differences: Collection[Difference]) -> Line:
    """The models of a row of a forest plot: both, if not all rows are against one baseline."""
    several = len({row.baseline for row in differences}) > 1
    return [Name(difference.model), *([" − ", Name(difference.baseline)] if several else [])]


def comparison_title(models: Line, baseline: str | None) -> Line:
    """The models compared, and the baseline."""
    if baseline:
        return say(
            N_("Comparison of {models} against {baseline}"), models=models, baseline=Mark("strong", Name(baseline))
        )
    return say(N_("Comparison of {models}, each two against each other"), models=models)
