"""From a metric to its values: of each user, their mean, and what they rest on; every result is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import PerUser, Whole
from recnb.results.beyond_accuracy import result_of
from recnb.results.evaluation_data import EvaluationData
from recnb.stats import interval_of_pairs, intervals


class Words(Protocol):
    """What a number rests on; its words are made when they are shown."""

    def users_in_words(self) -> list[str]:
        """Return the users behind the number, and those that are not, in words."""
        ...

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the users and the decisions behind the number; `brief`: the name of a library says its decisions."""
        ...


@dataclass(frozen=True, eq=False)
class Values:
    """A metric at some cut-offs: the values of users, their mean, and what they rest on."""

    metric: Metric[...]  #: with the bounds that it has under its options
    k: Cutoffs
    users: pl.Series  #: one for each row of the matrix; of one number of all lists, those with a list
    matrix: Floats  #: users × cut-offs; NaN: not averaged
    mean: Floats  #: by cut-off
    convention: Convention  #: with the metric's options
    basis: Words
    of_all: tuple[Whole, ...] = ()  #: the one number of all lists, by cut-off

    @property
    def n_users(self) -> Ints:
        """The number of users averaged, by cut-off; of one number of all lists, the number of lists."""
        if self.of_all:
            return np.full(len(self.k), len(self.users))
        return np.asarray((~np.isnan(self.matrix)).sum(axis=0))

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the lower and upper ends of the intervals, by cut-off; NaN where there is none."""
        if self.of_all:
            pairs = [
                (np.nan, np.nan) if one.of_users is None else interval_of_pairs(one.of_users(), confidence)
                for one in self.of_all
            ]
            low, high = np.transpose(pairs)
            return low, high
        kept = ~np.isnan(self.matrix)
        columns = [self.matrix] if kept.all() else [self.matrix[rows, at : at + 1] for at, rows in enumerate(kept.T)]
        low, high = np.hstack([intervals(column, confidence, bounds=self.metric.bounds)[:2] for column in columns])
        return low, high


def values_of(data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Mapping[str, Any]) -> Values:
    """Compute a metric: of accuracy for the users evaluated, beyond it for all who have a list."""
    if metric.is_accuracy:
        scoring = data.scoring(metric, options, whole=k.values == (None,))
        matrix, mean = scoring.averaged(k)
        basis = data.basis_of(scoring, k, options)
        return Values(metric, k, scoring.prepared.users, matrix, mean, scoring.in_force, basis)
    found = [result_of(data, metric, cut, options) for cut in k]
    deepest = found[k.values.index(k.deepest)]
    of_all = tuple(each.result for each in found if isinstance(each.result, Whole))
    of_users = [each.result for each in found if isinstance(each.result, PerUser)]
    metric = metric.bounded(deepest.options)
    about = deepest.convention, deepest
    if of_all:
        return Values(
            metric, k, deepest.users, np.zeros((0, len(k))), np.array(of_all, dtype=np.float64), *about, of_all
        )
    matrix = np.stack([np.where(each.counted, each.value, np.nan) for each in of_users], axis=1)
    return Values(metric, k, deepest.users, matrix, np.array([each.mean() for each in of_users]), *about)
