"""The numbers of an exercise, and how one is drawn: a graded list, or lists of several users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Self

import numpy as np

from recnb.metrics.hits import Floats
from recnb.metrics.metric import METRICS
from recnb.results.single_list import Pair, hits_of

LETTERS = "ABCDEFGHJKLMNPQRST"  # I and O are too easily read as 1 and 0

#: The highest grade of an exercise.
TOP = 3

#: Options that mean the same in every metric that has them; a denominator is a metric's own.
SHARED = {"gain", "discount", "log_base", "ideal"}

Draw = tuple[int, list[list[str]], list[dict[str, int]]]


@dataclass(eq=False, repr=False)
class Exercise:
    """One or several lists with their truths, and the metric to be worked out."""

    metric: str
    options: Mapping[str, Any]  #: all options of the metric
    k: int | None  #: the cut-off; None for R-precision, which has its own depth
    lists: list[list[str]]  #: the items of each user, from rank 1 down
    truths: list[dict[str, int]]  #: relevant item -> grade, in alphabetical order

    def __post_init__(self) -> None:
        pairs = [*zip(self.lists, self.truths, strict=True)]
        self._hits = hits_of([Pair(row, [truth.get(i, 0) for i in row], [*truth.items()]) for row, truth in pairs])
        self.value: float = self.score()
        self.label: str = METRICS[self.metric].label(self.k)
        self.n_hits: list[int] = [len({*row[: self.k]} & truth.keys()) for row, truth in pairs]
        # Of the one list that all metrics but the hit rate have; arrays are of the ranks that count, and of their hits.
        self.row: list[str] = self.lists[0]
        self.truth: dict[str, int] = self.truths[0]
        self.depth: int = self.k or len(self.row)
        self.grades: Floats = np.array([self.truth.get(item, 0.0) for item in self.row[: self.k]])
        self.ranks: Floats = 1 + np.flatnonzero(self.grades).astype(np.float64)
        self.relevance: Floats = self.grades[self.grades > 0]
        self.nth: Floats = np.arange(1.0, len(self.ranks) + 1)

    def score(self, metric: str = "", *, k: int | None = -1, **changed: Any) -> float:
        """Compute a metric of the lists, with some options changed or at another cut-off than that of the exercise."""
        chosen = METRICS[metric or self.metric]
        kept = chosen.defaults.keys() & self.options.keys() & (SHARED if metric else self.options.keys())
        options = {name: self.options[name] for name in kept} | changed
        return float(chosen.at(self._hits, self.k if k == -1 else k, options).value.mean())

    def with_list(self, items: list[str]) -> Self:
        """Return the exercise with another list."""
        return replace(self, lists=[items])


def graded_list(dice: Random, k: int | None) -> Iterator[Draw]:
    """Draw a graded list of 4 to 6 items, longer than k; one or two more relevant items are not in it."""
    while True:
        length = max(4, k + 1 + _below(dice, 2)) if k else 4 + _below(dice, 3)
        cut = k or 3 + _below(dice, length - 3)
        grades = [(0, 0, 1, 2, TOP)[_below(dice, 5)] for _place in range(length)]
        grades += [1 + _below(dice, TOP) for _place in range(1 + _below(dice, 2))]
        items = _shuffled(dice, LETTERS[: len(grades)])
        yield cut, [items[:length]], [{item: grade for item, grade in sorted(zip(items, grades, strict=True)) if grade}]


def lists_of_users(dice: Random, k: int | None) -> Iterator[Draw]:
    """Draw the lists of 4 or 5 users, each one longer than k, with 1 to 3 relevant items."""
    while True:
        cut = k or 2 + _below(dice, 2)
        letters, lists, truths = LETTERS[: cut + 5], list[list[str]](), list[dict[str, int]]()
        for _user in range(4 + _below(dice, 2)):
            lists.append(_shuffled(dice, letters)[: cut + 1])
            truths.append(dict.fromkeys(sorted(_shuffled(dice, letters)[: 1 + _below(dice, 3)]), 1))
        yield cut, lists, truths


def _below(dice: Random, n: int) -> int:
    """Draw a whole number from 0; of a seeded generator, only `random()` stays the same in every Python."""
    return int(dice.random() * n)


def _shuffled(dice: Random, letters: str) -> list[str]:
    rest = list(letters)
    return [rest.pop(_below(dice, len(rest))) for _letter in letters]
