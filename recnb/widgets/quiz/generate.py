"""Drawing an exercise: again and again from the same seed, until its value and every usual slip tell apart."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

from recnb.errors import RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList
from recnb.widgets.quiz.mistakes import slips_of
from recnb.widgets.quiz.wording import Mistake

T = TypeVar("T")

LETTERS = "ABCDEFGHJKLMNPQRST"  # I and O are too easily read as 1 and 0

#: Draws before the best one so far is taken. With the options that metrics have by default, a few hundred are enough.
TRIES = 2000

#: Two numbers tell apart from this many units of the last digit asked for: one unit is an error of rounding.
APART = 3


class Dice:
    """Draws that are the same on every machine and in every version of Python.

    Only `random()` of a seeded generator is promised to stay as it is; what is drawn from it is done here.
    """

    def __init__(self, *seed: object) -> None:
        self._random = random.Random("/".join(map(str, seed))).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._random() * n)

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """The values in another order."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]


def draw(
    metric: str, seed: int, k: int | None, digits: int, options: Mapping[str, Any]
) -> tuple[QuizList, tuple[Mistake, ...]]:
    """An exercise and its slips.

    The value is neither 0 nor 1, it is not on the edge of rounding, and it differs from what every slip gives; so do
    the slips among each other, as far as the options asked for allow. A slip that gives the right value all the same
    is not among the slips.
    """
    dice = Dice(metric, seed)
    unit = 10.0**-digits
    best: tuple[int, QuizList, tuple[Mistake, ...]] | None = None
    for _ in range(TRIES):
        drawn = draw_users(dice, metric, options, k) if metric == "hit_rate" else draw_list(dice, metric, options, k)
        if not _worth_asking(drawn, unit):
            continue
        slips = slips_of(drawn)
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
    value = drawn.score()
    return drawn, tuple(slip for slip in slips if abs(slip.value - value) >= APART * unit)


def _worth_asking(drawn: QuizList, unit: float) -> bool:
    """Whether there is something to work out, and something for each slip to go wrong with."""
    if drawn.metric != "hit_rate":
        grades = list(drawn.truth.values())
        one_preferred = drawn.options.get("target") != "preferred" or grades.count(TOP) == 1
        if TOP not in grades or not drawn.hits or not one_preferred:
            return False
    value = drawn.score()
    beyond = value / unit % 1
    return min(abs(value), abs(value - 1)) >= APART * unit and abs(beyond - 0.5) > 0.02


def _faults(drawn: QuizList, slips: Sequence[Mistake], unit: float) -> int:
    """How many pairs of numbers do not tell apart, and how many slips give 0; a slip that is right weighs most."""
    value = drawn.score()
    right = sum(abs(slip.value - value) < APART * unit for slip in slips)
    alike = sum(abs(one.value - other.value) < APART * unit for one, other in combinations(slips, 2))
    return 100 * right + 10 * alike + sum(abs(slip.value) < unit for slip in slips)


def draw_list(dice: Dice, metric: str, options: Mapping[str, Any], k: int | None) -> QuizList:
    """One graded list of 4 to 6 items, longer than k, and one or two relevant items that it misses."""
    if k is None:
        # The ranks of a single hit tell few things apart: the reciprocal rank needs a longer list.
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
    """Four or five users with a short list and one to three relevant items each."""
    cut = 2 + dice.below(2) if k is None else k
    shelf = LETTERS[: cut + 5]
    lists, truths = [], []
    for _ in range(4 + dice.below(2)):
        lists.append(tuple(dice.shuffled(shelf)[: cut + 1]))
        truths.append(dict.fromkeys(sorted(dice.shuffled(shelf)[: 1 + dice.below(3)]), 1))
    return QuizList(metric, options, cut, tuple(lists), tuple(truths))
