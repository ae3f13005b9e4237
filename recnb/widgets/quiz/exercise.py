"""An exercise, drawn from a seed: small lists, their truths, and the numbers that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from recnb.errors import Suggesting
from recnb.metrics.metric import METRICS
from recnb.results.single_list import Pair, hits_of

LETTERS = "ABCDEFGHJKLMNPQRST"  # I and O are too easily read as 1 and 0

#: The highest grade.
TOP = 3

#: Options that mean the same in every metric that has them; a denominator is a metric's own.
SHARED = {"gain", "discount", "log_base", "ideal"}


@dataclass(eq=False, repr=False)
class Exercise(Suggesting):
    """One or several lists with their truths, and the metric to be worked out."""

    metric: str
    options: Mapping[str, Any]
    k: int | None  #: the cut-off; None for R-precision, which has its own depth
    lists: tuple[tuple[str, ...], ...]  #: the items of each user, from rank 1 down
    truths: tuple[dict[str, int], ...]  #: relevant item -> grade, in alphabetical order

    def __post_init__(self) -> None:
        pairs = zip(self.lists, self.truths, strict=True)
        self._hits = hits_of([Pair(row, [truth.get(i, 0) for i in row], [*truth.items()]) for row, truth in pairs])
        self.value, self.label = self.score(), METRICS[self.metric].label(self.k)
        # Of the one list that all metrics but the hit rate have; arrays are of the ranks that count, and of their hits.
        self.row, self.truth = self.lists[0], self.truths[0]
        self.depth = self.k or len(self.row)
        self.grades = np.array([self.truth.get(item, 0.0) for item in self.row[: self.k]])
        self.ranks, self.relevance = np.flatnonzero(self.grades) + 1.0, self.grades[self.grades > 0]
        self.nth = np.arange(1.0, len(self.ranks) + 1)

    def option(self, name: str) -> Any:
        """Return an option of the metric in force."""
        return self.options.get(name, METRICS[self.metric].defaults.get(name))

    def score(self, metric: str = "", *, k: int | None = -1, **changed: Any) -> float:
        """Compute a metric of the lists, with some options changed or at another cut-off than that of the exercise."""
        chosen = METRICS[metric or self.metric]
        kept = self.options.keys() & chosen.defaults.keys() & (SHARED if metric else self.options.keys())
        options = {**{name: self.options[name] for name in kept}, **changed}
        return float(chosen.at(self._hits, self.k if k == -1 else k, options).value.mean())

    def with_list(self, items: Iterable[str]) -> Exercise:
        """Return the exercise with another list."""
        return Exercise(self.metric, self.options, self.k, (tuple(items),), self.truths)

    def credited_ranks(self) -> Any:
        """Return the ranks whose item adds to the sum, in the list or, with a metric of the ideal list, in that."""
        credit = METRICS[self.metric].at(self._hits, self.k, self.options).by_rank
        ranks = credit.rows.rank[credit.earned > 0]
        return ranks[ranks <= self.depth]

    def can_be_mistaken(self) -> bool:
        """Whether the top grade, a hit and a discount are there; and a single item is preferred, where it counts."""
        one = len(self.lists) == 1 and self.options.get("target") == "preferred"
        discounted = "discount" not in METRICS[self.metric].defaults or self.credited_ranks().max(initial=0) > 1
        top = [*self.truth.values()].count(TOP)
        return bool(
            self.value and (len(self.lists) > 1 or (self.ranks.size and discounted and (top == 1 if one else top)))
        )


def exercises(seed: str, metric: str, k: int | None, options: Mapping[str, Any], *, users: bool) -> Iterator[Exercise]:
    """Draw exercises without end: one graded list each, or lists of several users.

    A graded list has 4 to 6 items, and is longer than k; one or two more relevant items are not in it.
    """
    dice = Random(seed)

    def below(n: int) -> int:  # of a seeded generator, only `random()` stays the same in every Python
        return int(dice.random() * n)

    def shuffled(letters: str) -> list[str]:
        rest = list(letters)
        return [rest.pop(below(len(rest))) for _ in letters]

    while users:
        cut = k or 2 + below(2)
        lists: list[tuple[str, ...]] = []
        truths: list[dict[str, int]] = []
        for _ in range(4 + below(2)):
            lists.append(tuple(shuffled(LETTERS[: cut + 5])[: cut + 1]))
            truths.append(dict.fromkeys(sorted(shuffled(LETTERS[: cut + 5])[: 1 + below(3)]), 1))
        yield Exercise(metric, options, cut, tuple(lists), tuple(truths))
    while True:
        # The reciprocal rank depends on a single hit, so that it needs a longer list to differ from the mistakes.
        least = 4 if metric == "reciprocal_rank" else 3
        length = max(4, k + 1 + below(2)) if k else least + 1 + below(6 - least)
        cut = k or least + below(length - least)
        grades = [(0, 0, 1, 2, TOP)[below(5)] for _ in range(length)]
        grades += [1 + below(TOP) for _ in range(1 + below(2))]
        items = shuffled(LETTERS[: len(grades)])
        truth = {item: grade for item, grade in sorted(zip(items, grades, strict=True)) if grade}
        yield Exercise(metric, options, None if metric == "r_precision" else cut, (tuple(items[:length]),), (truth,))
