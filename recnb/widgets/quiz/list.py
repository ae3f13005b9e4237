"""The ranking of an exercise, and the numbers that follow from it.

The numbers are those of recnb's metrics on the same `Hits` as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from recnb.metrics.hits import Floats, Hits, Ints
from recnb.metrics.metric import METRICS
from recnb.results.single_list import Pair, hits_of

#: The highest grade; the truth of an exercise always holds an item of this grade.
TOP = 3

#: Options that mean the same in every metric that has them; a denominator is a metric's own.
SHARED = {"gain", "discount", "log_base", "ideal"}

#: The metrics whose terms differ from hit to hit, so that one term is the largest.
TERMS_DIFFER = ("average_precision", "cg", "dcg", "idcg", "ndcg", "rbp", "err")


@dataclass(frozen=True)
class QuizList:
    """One or several lists with their truths, and the metric to be worked out."""

    metric: str
    options: Mapping[str, Any]
    k: int | None
    lists: tuple[tuple[str, ...], ...]
    truths: tuple[Mapping[str, int], ...]  #: relevant item -> grade, in alphabetical order

    @property
    def label(self) -> str:
        """The metric's symbol at the cut-off."""
        return METRICS[self.metric].label(self.k)

    @property
    def several(self) -> bool:
        """Whether there are lists of several users."""
        return len(self.lists) > 1

    @property
    def asks_largest(self) -> bool:
        """Whether the largest term is asked for: not if every hit earns the same."""
        return self.metric in TERMS_DIFFER

    @cached_property
    def value(self) -> float:
        """The metric of the lists."""
        return self.score()

    def option(self, name: str) -> Any:
        """Return an option of the metric in force."""
        return self.options.get(name, METRICS[self.metric].defaults.get(name))

    def score(self, metric: str | None = None, *, whole: bool = False, deeper: int = 0, **changed: Any) -> float:
        """Compute a metric of the lists, with some options changed, or another cut-off or none."""
        chosen = METRICS[metric or self.metric]
        shared = self.options.keys() if chosen.name == self.metric else SHARED & self.options.keys()
        options = {name: self.options[name] for name in shared if name in chosen.defaults}
        k = None if whole or self.k is None else self.k + deeper
        return float(chosen.at(self._hits, k, {**options, **changed}).value.mean())

    def with_list(self, items: Iterable[str]) -> QuizList:
        """Return the exercise with another list."""
        return replace(self, lists=(tuple(items),))

    @cached_property
    def _hits(self) -> Hits:
        pairs = zip(self.lists, self.truths, strict=True)
        return hits_of(
            [Pair(items, tuple(truth.get(item, 0) for item in items), tuple(truth.items())) for items, truth in pairs]
        )

    @property
    def hits_of_users(self) -> list[tuple[int, int]]:
        """The number of hits that count, and of relevant items, of each user."""
        pairs = zip(self.lists, self.truths, strict=True)
        return [(len({*items[: self.depth]} & truth.keys()), len(truth)) for items, truth in pairs]

    # Of the one list that all metrics but the hit rate have.

    @property
    def row(self) -> tuple[str, ...]:
        """The list, from rank 1 down."""
        return self.lists[0]

    @property
    def depth(self) -> int:
        """The number of ranks that count."""
        return len(self.row) if self.k is None else self.k

    @property
    def truth(self) -> Mapping[str, int]:
        """Relevant item -> grade."""
        return self.truths[0]

    @cached_property
    def grades(self) -> tuple[int, ...]:
        """The grade of each rank of the list."""
        return tuple(self.truth.get(item, 0) for item in self.row)

    @cached_property
    def per_rank(self) -> dict[str, Floats]:
        """Columns of the ranks that count: rank, relevance, hits down to there, relevance down to there."""
        grades = np.array(self.grades[: self.depth], dtype=np.float64)
        ranks = np.arange(1.0, len(grades) + 1)
        hits = np.cumsum(np.sign(grades))
        return {"rank": ranks, "relevance": grades, "nth": hits, "relevance_so_far": np.cumsum(grades)}

    @property
    def ranks_with_credit(self) -> Ints:
        """The ranks whose item adds to the sum, in the list or, with a metric of the ideal list, in that."""
        credit = METRICS[self.metric].at(self._hits, self.k, self.options).by_rank
        ranks = credit.rows.rank[credit.earned > 0]
        return ranks[ranks <= self.depth]

    @property
    def missed(self) -> dict[str, int]:
        """The relevant items that are not in the list."""
        return {item: grade for item, grade in self.truth.items() if item not in self.row}
