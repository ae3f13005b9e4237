"""Exercises that are drawn from a seed."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from recnb.errors import CutoffError, RecnbError
from recnb.results.single_list import OF_ONE_LIST
from recnb.widgets.quiz.answer import APART, Quiz
from recnb.widgets.quiz.exercise import UNIT

LETTERS = "ABCDEFGHJKLMNPQRST"  # I and O are too easily read as 1 and 0

#: The highest grade of an exercise.
TOP = 3

#: Draws of which the best is taken.
DRAWS = 60


class Draw(NamedTuple):
    """Lists that were drawn, with their truths, of items in alphabetical order."""

    k: int
    lists: list[list[str]]
    truths: list[dict[str, float]]


def drawn(
    metric: str, seed: int, k: int | None, options: dict[str, Any], lang: str
) -> Quiz:
    """Draw an exercise that tells mistakes apart."""
    if k is not None and not 2 <= k <= 10:
        raise CutoffError(f"k={k}: an exercise is cut at 2 to 10; leave k out.")
    exercises: list[Quiz] = []
    for draw in (graded_list, user_lists):
        dice = Random(f"{metric}/{seed}")
        exercises = []
        for _time in range(DRAWS):
            drawn_k, lists, truths = draw(dice, k)
            cutoff = None if metric == "r_precision" else drawn_k
            exercises.append(Quiz(metric, options, cutoff, lists, truths, lang))
        if any(q.value not in (0, 1) for q in exercises):
            break  # else the mean over users says more
    candidates = [q for q in exercises if _says_something(q.value)]
    if not candidates:
        label = OF_ONE_LIST[metric].label(k)
        raise RecnbError(
            f"no small list gives an exercise of {label} under {options}: its value "
            "is always 0 or 1."
        )
    # Of most metrics there are lists whose value differs at the cut-offs beside k, so
    # that who is off by one is told.
    by_cutoff = [q for q in candidates if _depends_on_cutoff(q)]
    return max(by_cutoff or candidates, key=lambda q: len(q.mistakes))


def _says_something(value: float) -> bool:
    """Say whether a value is neither near 0 or 1 nor on an edge of rounding."""
    is_plain = min(value, abs(value - 1)) <= APART * UNIT
    is_on_edge = abs(value / UNIT % 1 - 0.5) <= 0.02
    return not is_plain and not is_on_edge


def _depends_on_cutoff(q: Quiz) -> bool:
    """Say whether the value differs at the cut-offs beside k."""
    if q.k is None:
        return False
    return all(abs(q.score(k=k) - q.value) > UNIT for k in (q.k - 1, q.k + 1))


def graded_list(dice: Random, k: int | None) -> Draw:
    """Draw a graded list of 4 to 6 items, longer than k.

    One or two more relevant items are not in it.
    """
    if k is None:
        length = 4 + _below(dice, 3)
        k = 3 + _below(dice, length - 3)
    else:
        length = max(4, k + 1 + _below(dice, 2))
    grades = [(0, 0, 1, 2, TOP)[_below(dice, 5)] for _place in range(length)]
    n_missed = 1 + _below(dice, 2)
    grades += [1 + _below(dice, TOP) for _item in range(n_missed)]
    items = _shuffled(dice, LETTERS[: len(grades)])
    graded = sorted(zip(items, grades, strict=True))
    truth: dict[str, float] = {item: grade for item, grade in graded if grade}
    return Draw(k, [items[:length]], [truth])


def user_lists(dice: Random, k: int | None) -> Draw:
    """Draw the lists of 4 or 5 users.

    Each list is one item longer than k, and each user has 1 to 3 relevant items.
    """
    if k is None:
        k = 2 + _below(dice, 2)
    draw = Draw(k, [], [])
    letters = LETTERS[: k + 5]
    for _user in range(4 + _below(dice, 2)):
        draw.lists.append(_shuffled(dice, letters)[: k + 1])
        items = _shuffled(dice, letters)
        n_relevant = 1 + _below(dice, 3)
        draw.truths.append(dict.fromkeys(sorted(items[:n_relevant]), 1))
    return draw


def _below(dice: Random, n: int) -> int:
    """Draw a whole number from 0 to n - 1.

    Of a seeded generator, only `random()` stays the same in every version of Python.
    """
    return int(dice.random() * n)


def _shuffled(dice: Random, letters: str) -> list[str]:
    rest = list(letters)
    return [rest.pop(_below(dice, len(rest))) for _letter in letters]
