"""Exercises: a small ranking drawn from a seed, its value asked for, the answer checked and the slip behind it named."""

from __future__ import annotations

from typing import Any

import numpy as np

from recnb.display.language import checked
from recnb.errors import CutoffError, OptionError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import metric_named
from recnb.widgets.quiz.answer import Answer
from recnb.widgets.quiz.exercise import Quiz
from recnb.widgets.quiz.generate import draw
from recnb.widgets.quiz.list import TOP
from recnb.widgets.quiz.solution import Solution
from recnb.widgets.quiz.wording import Mistake

#: Options without which an exercise would ask for less: F1 is a metric of its own, and ERR needs the scale of grades.
ASKED = {"fbeta": {"beta": 2}, "err": {"max_relevance": TOP}}

LEAST_K, MOST_K = 3, 10
LEAST_DIGITS, MOST_DIGITS = 2, 8


def quiz(
    metric: str = "ndcg",
    seed: int = 0,
    *,
    k: int | None = None,
    digits: int = 4,
    lang: str | None = None,
    **options: Any,
) -> Quiz:
    """Draw an exercise: a small ranking whose metric is to be worked out by hand.

    The same metric, seed and options give the same exercise on every machine. k is drawn unless it is given (3 to 10);
    `options` are the metric's own, such as gain="exponential". The exercise is never trivial: its value is not 0 or 1,
    and differs from what each of the usual slips gives.

    >>> q = quiz("precision", seed=3)
    >>> q.check("1/3")
    ✗ 1/3 is not right. No usual slip gives this number. Write down the term of each rank and compare; q.reveal() shows the solution.
    >>> q.check(0.6).slip, bool(q.check("2/3")), q.grade(0.6667), q.grade("0.6")
    ('no_cutoff', True, 1.0, 0.0)
    """
    chosen = metric_named(metric)
    chosen.check(options)
    whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not whole or seed < 0:
        raise OptionError(f"seed={seed!r} is not a seed: give a whole number from 0 up, such as seed=1.")
    if (
        not isinstance(digits, (int, np.integer))
        or isinstance(digits, bool)
        or digits not in range(LEAST_DIGITS, MOST_DIGITS + 1)
    ):
        raise OptionError(
            f"digits={digits!r}: an answer has {LEAST_DIGITS} to {MOST_DIGITS} decimals, such as digits=4."
        )
    spoken = checked(lang)
    asked = ASKED.get(chosen.name, {}) | {name: word for name, word in options.items() if word is not None}
    drawn, slips = draw(chosen.name, int(seed), _cutoff(chosen.name, k), int(digits), asked)
    return Quiz(drawn, slips, int(seed), int(digits), spoken)


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
