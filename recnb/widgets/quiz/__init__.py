"""Exercises: a small ranking drawn from a seed, whose metric is to be computed; common mistakes are recognised."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any, Never

import numpy as np

from recnb.display.language import checked
from recnb.errors import CutoffError, OptionError, RecnbError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.exercise import TOP, Exercise, exercises
from recnb.widgets.quiz.mistakes import Mistake, slips_of
from recnb.widgets.quiz.state import Answer, Quiz, Solution

#: Options of exercises: with beta=1, F-beta would be F1, and ERR needs the scale of grades.
DEFAULTS = {"fbeta": {"beta": 2}, "err": {"max_relevance": TOP}}

LEAST_K, MOST_K = 3, 10
LEAST_DIGITS, MOST_DIGITS = 2, 8

#: Lists that show what values a metric has, and draws before the best so far is taken; a few hundred are enough.
PROBES, TRIES = 30, 2000

#: Two numbers differ from this many units of the last digit on: one unit is an error of rounding.
APART = 3


def quiz(
    metric: str = "ndcg",
    seed: int = 0,
    *others: Never,
    k: int | None = None,
    digits: int | None = None,
    lang: str | None = None,
    **options: Any,
) -> Quiz:
    """Draw an exercise: a small ranking whose metric is to be computed by hand.

    The same metric, seed and options give the same exercise on every machine. It is never trivial: its value is not 0
    or 1, and differs from the numbers that common mistakes give.

    Parameters
    ----------
    metric
        The name of a metric of accuracy.
    seed
        A whole number from 0.
    k
        The cut-off, from 3 to 10; by default it is drawn.
    digits
        The number of decimals of the answer, from 2 to 8; by default 4, or none for a metric whose values are whole
        numbers, such as the cumulative gain.
    lang
        "en" or "ko", by default the language that is set.
    **options
        Options of the metric, such as gain="exponential".

    Examples
    --------
    >>> q = quiz("precision", seed=3)
    >>> q.check("3/5")
    ✗ 3/5 is not right. A common mistake gives exactly this number. The list was not cut: all 5 ranks counted, where only the first 3 do.
    >>> q.check(0.6).slip, bool(q.check("2/3")), q.grade(0.6667), q.grade("0.6")
    ('no_cutoff', True, 1.0, 0.0)
    """
    chosen = metric_named(metric, METRICS)
    chosen.check(options)
    if others or is_several(seed):
        explain = f"recnb.explain({chosen.name!r}, ranking, relevant)"
        raise OptionError(
            f"a quiz draws its own list: recnb.quiz({chosen.name!r}, seed=1). For the worked solution of yours: {explain}."
        )
    if not _is_whole(seed) or seed < 0:
        raise OptionError(f"seed={seed!r} is not a seed: give a whole number from 0 up, such as seed=1.")
    if digits is not None and (not _is_whole(digits) or not LEAST_DIGITS <= digits <= MOST_DIGITS):
        most = f"an answer has {LEAST_DIGITS} to {MOST_DIGITS} decimals, such as digits=4."
        raise OptionError(f"digits={digits!r}: {most}")
    cut = Cutoffs.one(k).values[0]
    if cut is not None and chosen.name == "r_precision":
        depth = "an exercise of R-precision has its own depth, the number of relevant items: leave k out."
        raise CutoffError(f"k={cut}: {depth}")
    if cut is not None and not LEAST_K <= cut <= MOST_K:
        raise CutoffError(f"k={cut}: an exercise is cut at {LEAST_K} to {MOST_K}; leave k out, and one is drawn.")
    options = DEFAULTS.get(chosen.name, {}) | {name: word for name, word in options.items() if word is not None}
    return _draw(chosen.name, int(seed), cut, digits, options, checked(lang))


def _draw(metric: str, seed: int, k: int | None, digits: int | None, options: dict[str, Any], lang: str) -> Quiz:
    """Draw until the value and the numbers of all mistakes differ, as far as the options allow; then it is the best."""
    probes = [*islice(exercises(f"values/{metric}", metric, k, options, users=False), PROBES)]
    users = {one.value for one in probes} <= {0, 1}  # a metric without other values is asked for as a mean
    if digits is None:
        digits = 0 if not users and all(one.value.is_integer() for one in probes) else 4
    unit = 10.0 ** -(digits or 4)
    if users:
        probes = [*islice(exercises(f"values/{metric}", metric, k, options, users=True), PROBES)]
    slips = slips_of([one for one in probes if one.can_be_mistaken()])
    found: list[tuple[int, int, Exercise, list[float]]] = []
    for one in islice(exercises(f"{metric}/{seed}", metric, k, options, users=users), TRIES):
        on_edge = abs(one.value / unit % 1 - 0.5) <= 0.02  # of rounding
        if on_edge or min(one.value, abs(one.value - 1)) < APART * unit or not one.can_be_mistaken():
            continue
        numbers = [slip.number_in(one) for slip in slips]
        found.append((_faults(one.value, numbers, unit), len(found), one, numbers))
        if not found[-1][0]:
            break
    if not found:
        label = metric_named(metric).label(k)
        raise RecnbError(f"no small list gives an exercise of {label} under {options}: its value is always 0 or 1.")
    *_best, drawn, numbers = min(found)
    apart = [pair for pair in zip(slips, numbers, strict=True) if abs(pair[1] - drawn.value) >= APART * unit]
    mistakes = tuple(slip.mistake(drawn, number) for slip, number in apart)
    return Quiz(metric, options, drawn.k, drawn.lists, drawn.truths, mistakes, seed, int(digits), lang)


def _faults(value: float, numbers: Sequence[float], unit: float) -> int:
    """Count the pairs of numbers that are alike, and mistakes that give 0; one that gives the value weighs most."""
    right = sum(abs(number - value) < APART * unit for number in numbers)
    alike = sum(abs(first - second) < APART * unit for first, second in combinations(numbers, 2))
    return 100 * right + 10 * alike + sum(abs(number) < unit for number in numbers)


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


__all__ = ["Answer", "Mistake", "Quiz", "Solution", "quiz"]
