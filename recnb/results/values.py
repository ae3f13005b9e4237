"""From a metric to its values: of each user, their mean, and what they rest on; every result is made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data.encoding import positions
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import LIST_METRICS, Credit, Metric
from recnb.metrics.recommendation_lists import PerUser, TermRows, Whole
from recnb.results.evaluation_data import EvaluationData, Scoring, average, cutoffs_under, undefined_in
from recnb.results.provenance import Basis, ListBasis, Said, as_plain, of_evaluated
from recnb.stats import IntervalMethod, interval_of_pairs, intervals


@dataclass(frozen=True, eq=False)
class Values:
    """A metric at some cut-offs: the values of users, their mean, and what they rest on."""

    metric: Metric[...]  #: with the bounds that it has under its options
    options: Mapping[str, Any]  #: in force, without those that are the metric's own defaults
    k: Cutoffs
    users: pl.Series  #: one for each row of the matrix; of one number of all lists, those with a list
    matrix: Floats  #: users × cut-offs; NaN: not averaged
    mean: Floats  #: by cut-off
    convention: Convention  #: with the metric's options
    basis: Basis | ListBasis | Said
    #: Of a metric beyond accuracy, by cut-off: with the rows behind the values.
    results: tuple[PerUser | Whole, ...] = ()

    @property
    def at_hand(self) -> Values:
        """The same, with the values of users in memory."""
        return self

    @property
    def of_all(self) -> tuple[Whole, ...]:
        """The one number of all lists, by cut-off; nothing of a metric that users have a value of."""
        return tuple(each for each in self.results if isinstance(each, Whole))

    @property
    def n_users(self) -> Ints:
        """The number of users averaged, by cut-off; of one number of all lists, the number of lists."""
        if self.of_all:
            return np.full(len(self.k), len(self.users))
        return np.asarray(np.count_nonzero(~np.isnan(self.matrix), axis=0))

    def interval(
        self, confidence: float = 0.95, method: IntervalMethod = "beta", **draws: int | None
    ) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each mean, NaN where there is none: of what all lists show together.

        `draws`: how many samples a bootstrap takes, `resamples`, and its `seed`.
        """
        if self.of_all:
            none = (np.nan, np.nan)
            ends = [interval_of_pairs(one.of_users(), confidence) if one.of_users else none for one in self.of_all]
            low, high = np.array(ends, dtype=np.float64).T
            return low, high
        kept = ~np.isnan(self.matrix)
        columns = [self.matrix] if kept.all() else [self.matrix[rows, at : at + 1] for at, rows in enumerate(kept.T)]
        bounds = self.metric.bounds
        low, high = np.hstack([intervals(column, confidence, method, **draws, bounds=bounds) for column in columns])
        return low, high

    def in_words(self) -> Values:
        """Return the same without the data behind it: its basis in words, the values of users at hand."""
        wholes = [Whole(one, of_users=one.of_users and partial(np.asarray, one.of_users())) for one in self.of_all]
        said = Said("; ".join(self.basis.phrases()))
        return replace(self.at_hand, options={}, basis=said, results=tuple(wholes))


#: A metric, its cut-offs and its options.
Request = tuple[Metric[...], Cutoffs, Mapping[str, Any]]


class DistributedData(EvaluationData, ABC):
    """Data whose rows stay with an engine, which adds up the values of users."""

    @abstractmethod
    def values_of_each(self, requests: Sequence[Request]) -> list[Values]:
        """Compute several metrics in one pass over the rows."""


def values_of_each(data: EvaluationData, requests: Sequence[Request]) -> list[Values]:
    """Compute several metrics; of rows that stay with an engine, sums are fetched, and values of users when they are asked for."""
    if isinstance(data, DistributedData):
        return data.values_of_each(requests)
    return [values_of(data, *request) for request in requests]


def values_of(data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Mapping[str, Any]) -> Values:
    """Compute a metric: of accuracy for the users evaluated, beyond it for all who have a list."""
    scoring = data.scoring(metric, options, whole=k.values == (None,))
    if metric.is_accuracy:
        matrix, mean = scoring.averaged(k)
        basis = data.basis_of(scoring, k, options)
        return Values(metric, scoring.options, k, scoring.prepared.users, matrix, mean, scoring.in_force, basis)
    results = tuple(_of_lists(data, scoring, cut) for cut in k)
    users = data.prepared.users if of_evaluated(metric) else data.item_data.users
    in_force = {**metric.defaults, **scoring.options}
    about = ListBasis(data, metric, in_force, k.deepest, users, results[k.values.index(k.deepest)])
    of_users = [each for each in results if isinstance(each, PerUser)]
    matrix = np.stack(
        [np.where(each.counted, each.value, np.nan) for each in of_users] or [np.zeros((0, len(k)))], axis=-1
    )
    return Values(
        metric=metric.bounded(scoring.options),
        options=scoring.options,
        k=k,
        users=users,
        matrix=matrix,
        mean=np.array([each.mean() if isinstance(each, PerUser) else each for each in results], dtype=np.float64),
        convention=data.convention.with_metric(
            {name: as_plain(value) for name, value in in_force.items() if value is not None}
        ),
        basis=about,
        results=results,
    )


def _of_lists(data: EvaluationData, scoring: Scoring, k: int | None) -> PerUser | Whole:
    """Compute a metric beyond accuracy at a cut-off; credit of hits is filled in and left out as in metrics of accuracy."""
    metric, item_data, prepared = scoring.metric, data.item_data, data.prepared
    if metric.over != "hits":
        lists = item_data.lists_of_evaluated if of_evaluated(metric) else item_data.lists
        return metric.at(lists, k, scoring.options)
    cutoffs = cutoffs_under(prepared.convention, Cutoffs.one(k))
    credit = metric.at(item_data.familiar(prepared, prepared.hits(cutoffs.deepest)), cutoffs, scoring.options)
    of_users = average(credit, data.convention)[0][:, 0]
    return PerUser(of_users, np.ones(len(of_users)), ~np.isnan(of_users), partial(_rows_of_hits, data, credit))


def _rows_of_hits(data: EvaluationData, credit: Credit, user: int) -> TermRows:
    """Return the hits of the user at a position, with the credit of each."""
    hits, prepared, item_data = credit.rows, data.prepared, data.item_data
    if hits.tied is not None:
        raise many_orders()
    depth = int(credit.k.depth(hits.list_length)[user, 0])
    rows = np.flatnonzero((hits.user == user) & (hits.rank <= depth))
    familiar, row = item_data.familiar(prepared, hits), hits.truth_row[rows]
    names = {
        "rank": hits.rank[rows], "expected_rank": familiar.expected_rank[row], "depth": depth, "k": depth,
        "popular_place": familiar.popular_place[row], "n_items": familiar.n_items, "n_hits": len(rows),
        "list_length": hits.list_length[user],
    }  # fmt: skip
    items = positions(item_data.items, prepared.truth["item"])[row]
    undefined = undefined_in(credit, data.convention)
    is_undefined = undefined is not None and bool(undefined[user, 0])
    return TermRows(credit.earned[rows], names, items, hits.rank[rows], undefined=is_undefined)


def recorded_in(library: str | None) -> list[str]:
    """Return the metrics beyond accuracy whose numbers in a library are recorded; all, for recnb's own."""
    of_library = {one.metric for one in presets.of_library(library)} if library else {*LIST_METRICS}
    return [name for name in LIST_METRICS if name in of_library]


def many_orders() -> OptionError:
    """Return the error for an explanation where equal scores are averaged over their orders."""
    return OptionError(
        "ties='expected' averages many orders, and a worked explanation follows one: choose ties='first'."
    )
