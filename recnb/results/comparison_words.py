"""What may be said of a difference, and what a reader must know to take it as it is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

from recnb.results.report_text import one_line
from recnb.strings import say

if TYPE_CHECKING:
    from recnb.results.comparison_data import Compared, Difference, Found, Judged, Settings, Verdict

#: What makes a model's name safe where it is shown.
Safe = Callable[[str], str]

#: A sign for each verdict, so that no meaning hangs on a colour.
SIGNS: dict[Verdict, str] = {
    "better": "▲", "worse": "▼", "higher": "△", "lower": "▽", "hint": "◇", "torn": "◇", "open": "○", "same": "○", "untested": "–",
}  # fmt: skip


def number(value: float) -> str:
    """A mean or a size as it is shown; one too small for four decimals is not rounded to none.

    >>> number(0.25), number(0.0000123), number(0.0), number(float("nan"))
    ('0.2500', '1.2e-05', '0.0000', 'n/a')
    """
    if not isfinite(value):
        return "n/a"
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
        return say("compare.none")
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
    return say("compare.interval", confidence=percent_of(confidence), low=number(low), high=number(high))


def whose(compared: Compared, found: Found, safe: Safe = str) -> str:
    """In whose lists something was found."""
    if len(found.models) == len(compared.models):
        return say("compare.findings.all")
    return ", ".join(map(safe, found.models))


def sentence(one: Difference, settings: Settings, n_compared: int, safe: Safe = str) -> str:
    """What may be concluded of one difference."""
    p = say("compare.p.holm" if n_compared > 1 else "compare.p.alone", p=p_value(one.p_holm), count=f"{n_compared:,}")
    low, high, size = one.low, one.high, one.difference
    verdict = one.verdict
    if verdict in ("worse", "lower"):
        low, high, size = -high, -low, -size
    return say(
        f"compare.says.{verdict}" + (".unknown" if verdict == "open" and isnan(one.detectable) else ""),
        label=one.label,
        model=safe(one.model),
        baseline=safe(one.baseline),
        size=number(size),
        difference=signed(one.difference),
        interval=interval(low, high, settings.confidence),
        p=p,
        detectable=number(one.detectable),
        users=say("count.users", n=one.n_users),
    )


def summary(differences: Sequence[Difference], pair: tuple[str, str], safe: Safe = str) -> str:
    """One model against another over all metrics and cut-offs: how many of each verdict."""
    mine = [one.verdict for one in differences if (one.model, one.baseline) == pair]
    better, worse = mine.count("better"), mine.count("worse")
    return say(
        "compare.summary",
        model=safe(pair[0]),
        baseline=safe(pair[1]),
        count=f"{len(mine):,}",
        better=better,
        worse=worse,
        rest=len(mine) - better - worse,
    )


def family(settings: Settings, n_compared: int) -> list[str]:
    """How many comparisons were made, and what is done about it."""
    test = say(f"compare.test.{settings.test}")
    if n_compared < 2:
        return [say("compare.family.one", test=test)]
    alpha = f"{settings.alpha:g}"
    expected = f"{settings.alpha * n_compared:.2g}"
    return [say("compare.family.many", count=f"{n_compared:,}", expected=expected, alpha=alpha, test=test)]


def intervals_in_words(settings: Settings) -> str:
    """How the intervals of differences and of means are made."""
    resamples = f"{settings.resamples:,}"
    of_means = say(f"compare.method.{settings.mean_method or 'auto'}", resamples=resamples)
    made = say(
        "compare.intervals",
        confidence=percent_of(settings.confidence),
        differences=method_in_words(settings),
        means=of_means,
    )
    return f"{made} {say('interval.uncorrected')}"


def method_in_words(settings: Settings) -> str:
    """How the intervals of differences are made."""
    resamples = f"{settings.resamples:,}"
    words = [
        say(
            "compare.method.few" if one == "beta" and "," in settings.method else f"compare.method.{one}",
            resamples=resamples,
        )
        for one in (settings.method or "auto").split(", ")
    ]
    return "; ".join(words)


def not_covered() -> str:
    """What no interval over users covers."""
    return say("compare.covers")


def population_in_words(judged: Iterable[Judged], n_users: int, n_skipped: int = 0, *, zero: bool = True) -> list[str]:
    """On whom the models are compared, and who was left out; names are the user's, on one line and not yet escaped."""
    judged = list(judged)
    words = [say("compare.users.common", n=n_users, models=len(judged))]
    words += [
        say("compare.users.left", n=one.n_left_out, model=one_line(one.model)) for one in judged if one.n_left_out
    ]
    no_list = "compare.users.no_list" if zero else "compare.users.no_list_kept"
    without = {one.n_without_list for one in judged}
    if len(without) == 1 and (n := without.pop()):
        words.append(say(f"{no_list}.each", n=n))
    else:
        words += [say(no_list, n=one.n_without_list, model=one_line(one.model)) for one in judged if one.n_without_list]
    if n_skipped:
        words.append(say("compare.users.no_relevant", n=n_skipped))
    return words


def headline(compared: Compared, safe: Safe = str) -> list[str]:
    """What may be concluded by the lead metric at the lead cut-off."""
    found = compared.at(compared.lead_k, compared.lead.metric)
    return [sentence(one, compared.settings, compared.n_tested, safe) for one in found]


def summaries(compared: Compared, safe: Safe = str) -> list[str]:
    """Each pair over all that was compared."""
    if len(compared.metrics) * len(compared.k) < 2:
        return []
    return [summary(compared.differences, pair, safe) for pair in compared.pairs]
