"""A ranking drawn for an exercise, and every number that is worked out from it.

The numbers are those of recnb's own metrics on the same `Hits` that everything else ends in; a slip is the same list
under another option, or a line of arithmetic with what is counted here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recnb.metrics.hits import Hits
from recnb.metrics.metric import METRICS
from recnb.results.single_list import Pair, hits_of

#: The top of the scale of grades; a drawn truth always holds an item of this grade.
TOP = 3

#: Options that mean the same in every metric that has them; a denominator is a metric's own.
SHARED = {"gain", "discount", "log_base", "ideal"}


@dataclass(frozen=True)
class QuizList:
    """One or several lists with their truths, and what is asked of them."""

    metric: str
    options: Mapping[str, Any]
    k: int | None
    lists: tuple[tuple[str, ...], ...]
    truths: tuple[Mapping[str, int], ...]  #: relevant item -> grade, in alphabetical order

    @cached_property
    def _hits(self) -> Hits:
        pairs = zip(self.lists, self.truths, strict=True)
        return hits_of(
            [Pair(row, tuple(truth.get(item, 0) for item in row), tuple(truth.items())) for row, truth in pairs]
        )

    def option(self, name: str) -> Any:
        """An option of the metric in force."""
        return self.options.get(name, METRICS[self.metric].defaults.get(name))

    def score(self, metric: str | None = None, *, whole: bool = False, deeper: int = 0, **changed: Any) -> float:
        """A metric of the lists under the options asked for, some of them changed, cut elsewhere or not at all."""
        chosen = METRICS[metric or self.metric]
        shared = (
            self.options
            if chosen.name == self.metric
            else {name: self.options[name] for name in SHARED & {*self.options}}
        )
        kept = {name: value for name, value in shared.items() if name in chosen.defaults}
        k = None if whole or self.k is None else self.k + deeper
        return float(chosen.at(self._hits, k, {**kept, **changed}).value.mean())

    # What is counted by hand, of the one list that all metrics but the hit rate ask for.

    @property
    def row(self) -> tuple[str, ...]:
        """The list, from rank 1 down."""
        return self.lists[0]

    @property
    def length(self) -> int:
        """How many ranks the list has."""
        return len(self.row)

    @property
    def depth(self) -> int:
        """How many ranks count."""
        return self.length if self.k is None else self.k

    @property
    def truth(self) -> Mapping[str, int]:
        """Relevant item -> grade."""
        return self.truths[0]

    @cached_property
    def grades(self) -> tuple[int, ...]:
        """The grade of each rank of the list."""
        return tuple(self.truth.get(item, 0) for item in self.row)

    @cached_property
    def hits(self) -> tuple[tuple[int, int], ...]:
        """Rank and grade of each hit that counts."""
        return tuple((rank, grade) for rank, grade in enumerate(self.grades[: self.depth], 1) if grade)

    @property
    def n_relevant(self) -> int:
        """How many items are relevant, found or not."""
        return len(self.truth)

    @property
    def missed(self) -> dict[str, int]:
        """The relevant items that are not in the list."""
        return {item: grade for item, grade in self.truth.items() if item not in self.row}
