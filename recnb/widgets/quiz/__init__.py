"""Exercises: a small ranking drawn from a seed, whose metric is to be computed; common mistakes are recognised."""

from __future__ import annotations

from typing import Any, Never

import numpy as np

from recnb.display.language import checked
from recnb.errors import CutoffError, OptionError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import standard_metric
from recnb.widgets.quiz.exercise import Answer, Quiz, Solution
from recnb.widgets.quiz.generate import draw
from recnb.widgets.quiz.list import TOP
from recnb.widgets.quiz.mistakes import Mistake

#: Options of exercises: with beta=1, F-beta would be F1, and ERR needs the scale of grades.
DEFAULTS = {"fbeta": {"beta": 2}, "err": {"max_relevance": TOP}}

LEAST_K, MOST_K = 3, 10
LEAST_DIGITS, MOST_DIGITS = 2, 8


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
    >>> q.check("1/3")
    ✗ 1/3 is not right. No common mistake gives this number. Write down the term of each rank and compare; q.reveal() shows the solution.
    >>> q.check(0.6).slip, bool(q.check("2/3")), q.grade(0.6667), q.grade("0.6")
    ('no_cutoff', True, 1.0, 0.0)
    """
    chosen = standard_metric(metric)
    chosen.check(options)
    if others or is_several(seed):
        explain = f"recnb.explain({chosen.name!r}, ranking, relevant)"
        raise OptionError(
            f"a quiz draws its own list: recnb.quiz({chosen.name!r}, seed=1). For the worked solution of yours: {explain}."
        )
    if not _is_whole(seed) or seed < 0:
        raise OptionError(f"seed={seed!r} is not a seed: give a whole number from 0 up, such as seed=1.")
    if digits is not None and (not _is_whole(digits) or not LEAST_DIGITS <= digits <= MOST_DIGITS):
        raise OptionError(
            f"digits={digits!r}: an answer has {LEAST_DIGITS} to {MOST_DIGITS} decimals, such as digits=4."
        )
    options = DEFAULTS.get(chosen.name, {}) | {name: word for name, word in options.items() if word is not None}
    digits = None if digits is None else int(digits)
    drawn, slips, digits = draw(chosen.name, int(seed), _cutoff(chosen.name, k), digits, options)
    return Quiz(drawn, slips, int(seed), digits, checked(lang))


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _cutoff(metric: str, k: int | None) -> int | None:
    cut = Cutoffs.one(k).values[0]
    if cut is None:
        return None
    if metric == "r_precision":
        raise CutoffError(
            f"k={cut}: an exercise of R-precision has its own depth, the number of relevant items: leave k out."
        )
    if not LEAST_K <= cut <= MOST_K:
        raise CutoffError(f"k={cut}: an exercise is cut at {LEAST_K} to {MOST_K}; leave k out, and one is drawn.")
    return cut


__all__ = ["Answer", "Mistake", "Quiz", "Solution", "quiz"]
