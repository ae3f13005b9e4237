"""An exercise: small lists with what is relevant, and a metric to be worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Self

from recnb.results.single_list import OF_ONE_LIST, Pair, hits_of
from recnb.stats import mean_of

#: The decimals of an answer, and a unit of the last one.
DIGITS, UNIT = 4, 1e-4

#: Options that mean the same in every metric that has them; each metric has a
#: denominator of its own.
SHARED = {"gain", "discount", "log_base", "ideal"}


@dataclass(eq=False, repr=False)
class Exercise:
    """One or several lists with their truths, and the metric to be worked out."""

    metric: str
    options: Mapping[str, Any]  #: all options of the metric
    k: int | None  #: the cut-off; None for R-precision, which has its own depth
    lists: list[list[str]]  #: the items of each user, from rank 1 down
    truths: list[dict[str, float]]  #: the grades of the relevant items of each user

    def __post_init__(self) -> None:
        self._hits = hits_of([*map(Pair, self.lists, self.truths)])
        self.value: float = self.score()
        self.label: str = OF_ONE_LIST[self.metric].label(self.k)

    @property
    def row(self) -> list[str]:
        """The first list, which is the only one for all metrics but the hit rate."""
        return self.lists[0]

    @property
    def truth(self) -> dict[str, float]:
        """The grades of the relevant items of the first list."""
        return self.truths[0]

    @property
    def depth(self) -> int:
        """The number of ranks that count."""
        return self.k or len(self.row)

    def score(
        self,
        metric: str | None = None,
        *,
        k: int | EllipsisType | None = ...,
        **changed: Any,
    ) -> float:
        """Compute a metric of the lists, by default the exercise's.

        Some options may be changed, and the cut-off may be another one.
        """
        options = self.options if metric is None else self.shared(metric)
        cutoff = self.k if k is ... else k
        chosen = OF_ONE_LIST[metric or self.metric]
        credit = chosen.at(self._hits, cutoff, {**options, **changed})
        return mean_of(credit.value[:, 0])

    def shared(self, metric: str) -> dict[str, Any]:
        """Return the options that another metric has as well, with the same meaning."""
        names = SHARED & self.options.keys() & OF_ONE_LIST[metric].defaults.keys()
        return {name: self.options[name] for name in names}

    def with_list(self, items: list[str]) -> Self:
        """Return the exercise with another list."""
        return replace(self, lists=[items])
