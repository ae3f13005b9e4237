"""Drawing an exercise: again from the same seed, until its value and those of all common mistakes differ."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

from recnb.errors import RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList
from recnb.widgets.quiz.mistakes import Mistake, mistakes_of

T = TypeVar("T")

LETTERS = "ABCDEFGHJKLMNPQRST"  # I and O are too easily read as 1 and 0

#: Draws before the best one so far is taken. With default options, a few hundred are enough.
TRIES = 2000

#: Lists that show what kind of values a metric has.
PROBES = 20

#: The decimals of an answer, unless the values of the metric are whole numbers.
DIGITS = 4

#: Two numbers differ from this many units of the last digit on: one unit is an error of rounding.
APART = 3


class Dice:
    """Random draws that are the same on every machine and in every version of Python.

    Only `random()` of a seeded generator is guaranteed to stay the same.
    """

    def __init__(self, *seed: object) -> None:
        self._random = random.Random("/".join(map(str, seed))).random

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""
        return int(self._random() * n)

    def pick(self, values: Sequence[T]) -> T:
        """Draw one of the values."""
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Shuffle the values."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]


def draw(
    metric: str, seed: int, k: int | None, digits: int | None, options: Mapping[str, Any]
) -> tuple[QuizList, tuple[Mistake, ...], int]:
    """Draw an exercise, its common mistakes and the number of decimals of its answer, if that is not given.

    The value is neither 0 nor 1, it is not on the edge of rounding, and it differs from the numbers of all mistakes; so
    do these from each other, as far as the options allow. A mistake that gives the right value is left out.
    """
    dice, probes = Dice(metric, seed), Dice("values", metric)
    values = {draw_list(probes, metric, options, k).value for _ in range(PROBES)}
    several = values <= {0, 1}  # a metric that has no other value for one list is asked for as a mean
    if digits is None:
        digits = 0 if not several and all(value.is_integer() for value in values) else DIGITS
    unit = 10.0 ** -(digits or DIGITS)
    best: tuple[int, QuizList, tuple[Mistake, ...]] | None = None
    for _ in range(TRIES):
        drawn = (draw_users if several else draw_list)(dice, metric, options, k)
        if not _worth_asking(drawn, unit):
            continue
        slips = mistakes_of(drawn)
        faults = _faults(drawn, slips, unit)
        if best is None or faults < best[0]:
            best = faults, drawn, slips
        if not faults:
            break
    if best is None:
        raise RecnbError(
            f"no small list gives an exercise of {METRICS[metric].label(k)} under {dict(options)}: its value is always 0 or 1."
        )
    _, drawn, slips = best
    value = drawn.value
    return drawn, tuple(slip for slip in slips if abs(slip.value - value) >= APART * unit), digits


def _worth_asking(drawn: QuizList, unit: float) -> bool:
    """Whether the value is not trivial, and each mistake can be made."""
    if not drawn.several:
        grades = list(drawn.truth.values())
        one_preferred = drawn.options.get("target") != "preferred" or grades.count(TOP) == 1
        discounted = "discount" not in METRICS[drawn.metric].defaults or drawn.ranks_with_credit.max(initial=0) > 1
        if TOP not in grades or not drawn.hits_of_users[0][0] or not one_preferred or not discounted:
            return False
    value = drawn.value
    after_last_digit = value / unit % 1
    return min(abs(value), abs(value - 1)) >= APART * unit and abs(after_last_digit - 0.5) > 0.02


def _faults(drawn: QuizList, slips: Sequence[Mistake], unit: float) -> int:
    """Count the pairs of numbers that are alike, and mistakes that give 0; one that gives the value weighs most."""
    value = drawn.value
    right = sum(abs(slip.value - value) < APART * unit for slip in slips)
    alike = sum(abs(first.value - second.value) < APART * unit for first, second in combinations(slips, 2))
    return 100 * right + 10 * alike + sum(abs(slip.value) < unit for slip in slips)


def draw_list(dice: Dice, metric: str, options: Mapping[str, Any], k: int | None) -> QuizList:
    """Draw a graded list of 4 to 6 items, longer than k, and one or two relevant items that it misses."""
    if k is None:
        # The reciprocal rank depends on a single hit, so that it needs a longer list to differ from the mistakes.
        least = 4 if metric == "reciprocal_rank" else 3
        length = least + 1 + dice.below(6 - least)
        cut = least + dice.below(length - least)
    else:
        length = max(4, k + 1 + dice.below(2))
        cut = k
    grades = [dice.pick((0, 0, 1, 2, TOP)) for _ in range(length)]
    grades += [1 + dice.below(TOP) for _ in range(1 + dice.below(2))]
    items = dice.shuffled(LETTERS[: len(grades)])
    truth = {item: grade for item, grade in sorted(zip(items, grades, strict=True)) if grade}
    return QuizList(metric, options, None if metric == "r_precision" else cut, (tuple(items[:length]),), (truth,))


def draw_users(dice: Dice, metric: str, options: Mapping[str, Any], k: int | None) -> QuizList:
    """Draw four or five users with a short list and one to three relevant items each."""
    cut = 2 + dice.below(2) if k is None else k
    shelf = LETTERS[: cut + 5]
    lists, truths = [], []
    for _ in range(4 + dice.below(2)):
        lists.append(tuple(dice.shuffled(shelf)[: cut + 1]))
        truths.append(dict.fromkeys(sorted(dice.shuffled(shelf)[: 1 + dice.below(3)]), 1))
    return QuizList(metric, options, cut, tuple(lists), tuple(truths))
