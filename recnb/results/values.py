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
from recnb.display.language import N_, Plural, _, ngettext
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import LIST_METRICS, Credit, Metric
from recnb.metrics.recommendation_lists import PerUser, TermRows, Whole
from recnb.results.evaluation_data import EvaluationData, Scoring, average, cutoffs_under, undefined_in
from recnb.results.provenance import Basis, Said, follows, recnbs_own
from recnb.stats import IntervalMethod, interval_of_pairs, intervals

#: Which catalogue.
CATALOGUES: dict[str, str] = {
    "items": N_("out of {n:,} items of items="),
    "train": N_("out of {n:,} items of train"),
}

#: Recommended items and rows that the data do not expect.
NOT_LISTED = Plural("{n:,} recommended item is not among them", "{n:,} recommended items are not among them")
NOT_IN_TRAIN = Plural("{n:,} recommended item is not in train", "{n:,} recommended items are not in train")
AGAIN = Plural(
    "{n:,} recommended row is of an item that its user has in train",
    "{n:,} recommended rows are of items that their users have in train",
)


@dataclass(frozen=True, eq=False)
class ListBasis:
    """What a number beyond accuracy rests on."""

    data: EvaluationData
    metric: Metric[...]
    options: Mapping[str, Any]  #: in force, defaults included
    k: int | None
    users: pl.Series
    result: PerUser | Whole

    def users_in_words(self) -> list[str]:
        """Return whose lists are behind the number, in words."""
        n = len(self.users)
        if of_evaluated(self.metric):
            return [ngettext("{n:,} user evaluated", "{n:,} users evaluated", n)]
        return [ngettext("{n:,} user with a list", "{n:,} users with a list", n)]

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return in words how many users and items, by what order, and what is odd in them; brief or not, it is the same."""
        library, own = self.data.library, self.data.is_own(self.metric)
        (users,) = self.users_in_words()
        parts = [users if library is None or own else follows(library, words=users), *self._items()]
        parts.append(replace(self.data.convention, relevant_from=None).phrases(graded=False)[0])
        told = ((name, as_plain(value)) for name, value in self.options.items())
        parts += [f"{name}={value}" for name, value in told if value and (name, value) != ("cutoff", "k")]
        return [*parts, *[recnbs_own(str(library))] * own, *self.data.notes]

    def _items(self) -> list[str]:
        """Return in words the catalogue and train, and the recommended items that are not in them."""
        item_data, metric, result = self.data.item_data, self.metric, self.result
        parts, catalogue, lists = list[str](), item_data.catalogue, item_data.lists.upto(self.k)
        if isinstance(result, PerUser) and not of_evaluated(metric) and (left := int((~result.counted).sum())):
            parts.append(_("{n:,} with a list without a value, left out", n=left))
        population = self.options.get("population", "catalogue")
        is_counted = "catalogue" in metric.needs or self.options.get("normalize")
        if is_counted and population != "recommended" and catalogue.listed is not None:
            of_train = population == "train" or item_data.side_data.items is None
            members = catalogue.members("train" if of_train else "catalogue", metric.name)
            parts.append(_(CATALOGUES["train" if of_train else "items"], n=int(members.sum())))
            parts += _if_any(NOT_LISTED, item_data.seen(lists, members))
            parts += [_("and one more, of padding")] * (population == "catalogue+padding")
        if catalogue.users is not None and "train" in metric.needs:
            parts.append(_("what {users:,} users had in train", users=catalogue.n_users))
            parts += _if_any(NOT_IN_TRAIN, item_data.seen(lists, catalogue.users > 0))
            parts += _if_any(AGAIN, item_data.again(self.k))
        return parts


def _if_any(message: Plural, n: int) -> list[str]:
    return [_(message, n=n)] if n else []


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

    def interval(self, confidence: float = 0.95, method: IntervalMethod = "beta") -> tuple[Floats, Floats]:
        """Return the ends of the interval of each mean, NaN where there is none: of what all lists show together."""
        if self.of_all:
            none = (np.nan, np.nan)
            ends = [interval_of_pairs(one.of_users(), confidence) if one.of_users else none for one in self.of_all]
            low, high = np.array(ends, dtype=np.float64).T
            return low, high
        kept = ~np.isnan(self.matrix)
        columns = [self.matrix] if kept.all() else [self.matrix[rows, at : at + 1] for at, rows in enumerate(kept.T)]
        bounds = self.metric.bounds
        low, high = np.hstack([intervals(column, confidence, method, bounds) for column in columns])
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
        found: PerUser | Whole = item_data.compute(metric, k, scoring.options, evaluated=of_evaluated(metric))
        return found
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
        "n_hits": len(rows), "list_length": hits.list_length[user],
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


def of_evaluated(metric: Metric[...]) -> bool:
    """Whether the values of a metric beyond accuracy are of the users evaluated, and not of all users with a list."""
    return metric.over in ("hits", "users")


def as_plain(value: object) -> Any:
    """Return an option as a word or number; what is bigger, such as a frame, as "given"."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return "given"
