"""What may be concluded of a difference: its verdict, with a sign and in words."""

from __future__ import annotations

from math import isnan

from recnb.display.language import N_, _
from recnb.metrics.metric import Better

#: The sign of each verdict, so that no meaning depends on a colour, and the verdict in
#: words.
VERDICTS = {
    "better": ("▲", N_("better")),
    "worse": ("▼", N_("worse")),
    "higher": ("△", N_("higher")),
    "lower": ("▽", N_("lower")),
    "hint": ("◇", N_("inconclusive")),
    "torn": ("◇", N_("test and interval disagree")),
    "open": ("○", N_("no difference shown")),
    "same": ("○", N_("same value for every {user}")),
    "untested": ("–", N_("too few {users} or differences")),
}

#: The verdicts that are findings. Where neither more nor less is better, as of novelty,
#: a model is higher or lower.
FOUND = ("better", "worse", "higher", "lower")
#: Those of a test that shows no difference.
NOT_FOUND = ("hint", "torn", "open")

#: The signs of marks beside means: of one that is not shown to differ from the best, or
#: of the finding against a baseline.
SIGN_NEAR_BEST = "°"
MARKS = {"near_best": SIGN_NEAR_BEST, **{kind: VERDICTS[kind][0] for kind in FOUND}}

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


def sign_of_verdict(verdict: str) -> str:
    """Return the sign of a verdict."""
    return VERDICTS[verdict][0]


def verdict_in_words(verdict: str) -> str:
    """Return a verdict in words."""
    return _(VERDICTS[verdict][1])


def with_sign(verdict: str) -> str:
    """Return a verdict with its sign."""
    return f"{sign_of_verdict(verdict)} {verdict_in_words(verdict)}"
