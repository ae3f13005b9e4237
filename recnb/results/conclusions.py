"""What may be concluded of differences between models, and what marks say.

Sentences are lines of a document, so that names of models are made safe in each form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from recnb.display.forms import Estimate, Line, Mark, Name, say, strong
from recnb.display.language import N_, Message, _
from recnb.display.text import fixed, signed
from recnb.metrics.measure import symbol_of
from recnb.metrics.metric import Better
from recnb.results.numbers import DifferenceRow
from recnb.results.verdicts import SIGN_NEAR_BEST, VERDICTS
from recnb.stats import Settings

CORRECTED = N_("Holm's correction over {count} comparisons")

ONE_COMPARISON = N_("Comparisons tested: {count} (Student's paired t test).")

COMPARISONS = N_(
    "{count} comparisons are tested (Student's paired t test). Holm's correction, made "
    "within each column (a metric at a cut-off), keeps the chance of any false finding "
    "in it at most {alpha}."
)

COLUMNS_LOOKED_AT = N_(
    "{n} columns are looked at, and only {label} is taken as chosen beforehand: "
    "findings in the others may be due to chance."
)

SAMPLE = N_(
    "The {users} are taken as a sample of {users} like them. Intervals and tests do not "
    "cover another training run or another split of the data."
)

LESS_IS_BETTER = N_("Less is better: {symbols}.")

NEITHER_IS_BETTER = N_("High values are not good in themselves: {symbols}.")

#: Where every two models are compared.
NEAR_BEST = N_(
    "not shown to differ from the best (by Student's paired t test of every two models, "
    "with Holm's correction over all pairs within each column, level {alpha}, and by the "
    "interval). A mean without a mark is shown to differ, or is not tested"
)

BETTER_OR_WORSE = N_(
    "▲ better, ▼ worse than {baseline} (the corrected test and the interval agree)"
)

HIGHER_OR_LOWER = N_(
    "△ higher, ▽ lower than {baseline} (the corrected test and the interval agree)"
)


def n_tested(differences: Iterable[DifferenceRow]) -> int:
    """Count the differences that have a p-value."""
    return sum(not isnan(row.p) for row in differences)


def p_value(p: float) -> str:
    """Return a p-value behind its sign; as in tables, the smallest shown is 0.0001."""
    return "< 0.0001" if p < 0.0001 else f"= {p:#.2g}"


def ends_in_words(confidence: float, low: float, high: float) -> str:
    """Return the ends of the interval of a difference in words."""
    return _(
        "{confidence:g}% interval {low} to {high}",
        confidence=100 * confidence,
        low=fixed(low),
        high=fixed(high),
    )


def conclusions(rows: Sequence[DifferenceRow], settings: Settings) -> list[Line]:
    """Return what may be concluded of the differences of columns, a sentence each."""
    tested = Counter(row.label for row in rows if not isnan(row.p))
    return [conclusion(row, settings, tested[row.label]) for row in rows]


def conclusion(row: DifferenceRow, settings: Settings, n_compared: int) -> Line:
    """Return what may be concluded of a difference.

    It is one of `n_compared` whose p-values are corrected together.
    """
    low, high, size = row.low, row.high, row.difference
    if row.is_found and row.difference < 0:  # the size stands in words that say so
        low, high, size = -high, -low, -size
    p_words = N_("p {p}, {correction}") if n_compared > 1 else N_("p {p}")
    return say(
        VERDICTS[row.verdict].concluded,
        label=row.label,
        model=strong(row.model),
        baseline=strong(row.baseline),
        size=fixed(size),
        difference=signed(row.difference),
        interval=ends_in_words(settings.confidence, low, high),
        p=_(
            p_words,
            p=p_value(row.p_holm),
            correction=_(CORRECTED, count=f"{n_compared:,}"),
        ),
        detectable=fixed(row.detectable),
        sample=row.users_phrase,
    )


def notes(rows: Sequence[DifferenceRow], settings: Settings, chosen: str) -> list[str]:
    """Return how many comparisons there are, in how many columns, corrected how.

    `chosen` is the label of the column that was chosen beforehand. A sentence says what
    intervals over users do not cover; one user has none.
    """
    n_compared = n_tested(rows)
    if n_compared < 2:
        sample = [_(SAMPLE)] if any(row.n_users > 1 for row in rows) else []
        return [_(ONE_COMPARISON, count=n_compared), *sample]
    made = _(
        COMPARISONS,
        count=f"{n_compared:,}",
        alpha=f"{settings.alpha:g}",
    )
    n_columns = len({row.label for row in rows})
    if n_columns > 1:
        looked_at = _(COLUMNS_LOOKED_AT, n=f"{n_columns:,}", label=chosen)
        made = f"{made} {looked_at}"
    return [made, _(SAMPLE)]


def directions_in_words(directions: Mapping[str, Better]) -> str:
    """Say of which metrics less is better, and of which neither.

    `directions`: by metric. Nothing where more is better of all of them.
    """
    said: dict[Better, Message] = {"low": LESS_IS_BETTER, None: NEITHER_IS_BETTER}
    sentences = []
    for better, words in said.items():
        symbols = [
            symbol_of(name) for name, each in directions.items() if each == better
        ]
        if symbols:
            sentences.append(_(words, symbols=", ".join(symbols)))
    return " ".join(sentences)


def legend(
    directions: Mapping[str, Better],
    baseline: str | None,
    near_best: str,
    *,
    has_best: bool,
    has_marks: bool,
) -> list[Line]:
    """Return the meaning of each mark of means of models; `directions`: by symbol.

    Marks are of findings against the baseline; without one, of means near the best, whose
    meaning is `near_best`. `has_marks`: whether any mean has one beside it.
    """
    marks = list[Line]()
    if has_best:  # some number, as the best is shown
        marks.append([Mark("best", "0.5"), _(": the best mean of its column")])
    if not has_marks:
        return marks
    if baseline is None:
        sign = Estimate("0.5", signs=SIGN_NEAR_BEST, of_several=True)
        return [*marks, [sign, f": {near_best}"]]
    better = {*directions.values()}
    if "high" in better or "low" in better:
        marks.append(say(BETTER_OR_WORSE, baseline=Name(baseline)))
    if None in better:
        marks.append(say(HIGHER_OR_LOWER, baseline=Name(baseline)))
    return marks
