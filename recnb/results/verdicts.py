"""What may be concluded of a difference: its verdict, with a sign and in words."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

from recnb.display.language import N_, Message, _
from recnb.metrics.metric import Better
from recnb.stats import Paired, Settings, UserSample


class Verdict(NamedTuple):
    """How a verdict is shown."""

    sign: str  #: so that no meaning depends on a colour
    words: str
    concluded: Message  #: a sentence on two models


VERDICTS = {
    "better": Verdict(
        "▲",
        N_("better"),
        N_("{label}: {model} is better than {baseline}, by {size} ({interval}; {p})."),
    ),
    "worse": Verdict(
        "▼",
        N_("worse"),
        N_("{label}: {model} is worse than {baseline}, by {size} ({interval}; {p})."),
    ),
    "higher": Verdict(
        "△",
        N_("higher"),
        N_(
            "{label}: {model} is higher than {baseline}, by {size} ({interval}; {p}). "
            "High values are not good in themselves."
        ),
    ),
    "lower": Verdict(
        "▽",
        N_("lower"),
        N_(
            "{label}: {model} is lower than {baseline}, by {size} ({interval}; {p}). "
            "Low values are not bad in themselves."
        ),
    ),
    "hint": Verdict(
        "◇",
        N_("inconclusive"),
        N_(
            "{label}: inconclusive. {model} differs from {baseline} by {difference}; the "
            "{interval} excludes 0, but the corrected test is not significant ({p})."
        ),
    ),
    "torn": Verdict(
        "◇",
        N_("test and interval disagree"),
        N_(
            "{label}: inconclusive. The corrected test of {model} against {baseline} is "
            "significant ({p}), but the {interval} includes 0; the difference is "
            "{difference}."
        ),
    ),
    "open": Verdict(
        "○",
        N_("no difference shown"),
        N_(
            "{label}: no significant difference between {model} and {baseline}: "
            "{difference} ({interval}; {p}). A true difference of {detectable} would "
            "have been found with 80% power by a single, uncorrected test."
        ),
    ),
    "same": Verdict(
        "○",
        N_("same value for every {user}"),
        N_("{label}: {model} and {baseline} give each of {sample} the same value."),
    ),
    "untested": Verdict(
        "–",
        N_("too few {users} or differences"),
        N_(
            "{label}: no test of {model} against {baseline}: too few {users} or "
            "differences for a test ({sample})."
        ),
    ),
}

#: The verdicts that are findings. Where neither more nor less is better, as of novelty,
#: a model is higher or lower.
FOUND = ("better", "worse", "higher", "lower")
#: The verdicts of a test that shows no difference.
NOT_FOUND = ("hint", "torn", "open")

#: The signs of marks beside means: of one that is not shown to differ from the best, or
#: of the finding against a baseline.
SIGN_NEAR_BEST = "°"
MARKS = {"near_best": SIGN_NEAR_BEST, **{kind: VERDICTS[kind].sign for kind in FOUND}}

#: The finding of a difference below 0 and of one above it, by what is better.
OF_SIGN: dict[Better, tuple[str, str]] = {
    "high": ("worse", "better"),
    "low": ("better", "worse"),
    None: ("lower", "higher"),
}


def verdict_of(
    difference: float,
    low: float,
    high: float,
    p: float,
    *,
    alpha: float,
    better: Better,
    all_tied: bool = False,
) -> str:
    """Return the verdict of a difference with its interval and its corrected p-value.

    A finding needs both to agree.

    `all_tied`: whether every user has the same value of both models.
    """
    if all_tied:
        return "same"
    if isnan(p) or isnan(low):
        return "untested"
    excludes_0 = low > 0 or high < 0
    is_significant = p <= alpha
    if excludes_0 and is_significant:
        below_0, above_0 = OF_SIGN[better]
        return above_0 if difference > 0 else below_0
    if excludes_0:
        return "hint"
    return "torn" if is_significant else "open"


def verdicts_of_pairs(
    tests: Paired, sample: UserSample, settings: Settings, better: Better
) -> list[str]:
    """Return the verdict of each difference, whose p-value is corrected already."""
    # A tie is one of lists, and what is drawn at random is a user or a cluster: a tie in
    # all lists of one alone says nothing, and is untested.
    all_tied = (tests.tied == sample.size) & (sample.n_units > 1)
    ends = tests.low, tests.high
    numbers = zip(tests.difference, *ends, tests.p, all_tied, strict=True)
    return [
        verdict_of(*test, alpha=settings.alpha, better=better, all_tied=is_tied)
        for *test, is_tied in numbers
    ]


def verdict_in_words(verdict: str) -> str:
    """Return a verdict in words."""
    return _(VERDICTS[verdict].words)


def with_sign(verdict: str) -> str:
    """Return a verdict with its sign."""
    return f"{VERDICTS[verdict].sign} {verdict_in_words(verdict)}"
