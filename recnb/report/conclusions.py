"""What may be concluded of differences between models, and what marks say.

Sentences are lines of a document, so that names of models are made safe in each form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from recnb.display.document import Line, Name, say, strong
from recnb.display.language import N_, Message, _
from recnb.display.text import fixed, signed
from recnb.metrics.metric import Better
from recnb.report import texts
from recnb.results.numbers import DifferenceRow
from recnb.stats import BETA, BETA_OF_CLUSTERS, Settings


def n_tested(differences: Iterable[DifferenceRow]) -> int:
    """Count the differences that have a p-value."""
    return sum(not isnan(row.p) for row in differences)


def correction_of(n_compared: int) -> str:
    """Say over how many comparisons of a column p-values are corrected."""
    return _(texts.CORRECTED, count=f"{n_compared:,}")


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


def conclusions(rows: Sequence[DifferenceRow], settings: Settings) -> list[Line]:
    """Return what may be concluded of the differences of columns, a sentence each."""
    tested = Counter(row.column for row in rows if not isnan(row.p))
    return [conclusion(row, settings, tested[row.column]) for row in rows]


def conclusion(row: DifferenceRow, settings: Settings, n_compared: int) -> Line:
    """Return what may be concluded of a difference.

    It is one of `n_compared` whose p-values are corrected together.
    """
    words = texts.CONCLUSIONS[row.verdict]
    if row.better == "low":
        words = texts.CONCLUSIONS_OF_COSTS.get(row.verdict, words)
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
        p=_(of_p, p=p, correction=correction_of(n_compared)),
        detectable=fixed(row.detectable),
        users=row.sample,
    )


def notes(rows: Sequence[DifferenceRow], settings: Settings, chosen: str) -> list[str]:
    """Return how many comparisons there are, in how many columns, corrected how.

    `chosen` is the label of the column that was chosen beforehand. A sentence says what
    intervals over users do not cover.
    """
    n_compared = n_tested(rows)
    if n_compared < 2:
        return [_(texts.ONE_COMPARISON, count=n_compared), _(texts.SAMPLE)]
    made = _(
        texts.COMPARISONS,
        count=f"{n_compared:,}",
        alpha=f"{settings.alpha:g}",
    )
    n_columns = len({row.column for row in rows})
    if n_columns > 1:
        looked_at = _(texts.COLUMNS_LOOKED_AT, n=f"{n_columns:,}", label=chosen)
        made = f"{made} {looked_at}"
    return [made, _(texts.SAMPLE)]


def intervals_in_words(settings: Settings, *, is_clustered: bool = False) -> str:
    """Return the methods of the intervals of differences and of means."""
    intervals = _(
        texts.INTERVALS_OF_SEVERAL,
        confidence=percent_of(settings.confidence),
        differences=_(texts.INTERVAL_OF_DIFFERENCES),
        means=_(BETA_OF_CLUSTERS if is_clustered else BETA),
    )
    return f"{intervals} {_(texts.NOT_CORRECTED)}"


def directions_in_words(directions: Mapping[str, Better]) -> str:
    """Say of which metrics less is better, and of which neither.

    `directions`: by symbol. Nothing where more is better of all of them.
    """
    low = [symbol for symbol, better in directions.items() if better == "low"]
    neither = [symbol for symbol, better in directions.items() if better is None]
    sentences = []
    if low:
        sentences.append(_(texts.LESS_IS_BETTER, symbols=", ".join(low)))
    if neither:
        sentences.append(_(texts.NEITHER_IS_BETTER, symbols=", ".join(neither)))
    return " ".join(sentences)


def best_in_words(directions: Mapping[str, Better]) -> str:
    """Return the meaning of the mark of the best means of some metrics, by symbol.

    "" where no mean is called that.
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
    """Return the meaning of the mark of means near the best.

    `every_pair`: whether every two models are compared, so that the mark is what the
    differences say.
    """
    words = texts.NEAR_BEST_OF_PAIRS if every_pair else texts.NEAR_BEST
    return _(words, alpha=f"{settings.alpha:g}")


def marks_in_words(baseline: str, directions: Mapping[str, Better]) -> list[Line]:
    """Return the meaning of the marks of means beside a baseline.

    `directions`: of the metrics, by symbol.
    """
    marks = list[Message]()
    if {"high", "low"} & {*directions.values()}:
        marks.append(texts.BETTER_OR_WORSE)
    if None in directions.values():
        marks.append(texts.HIGHER_OR_LOWER)
    return [say(words, baseline=Name(baseline)) for words in marks]
