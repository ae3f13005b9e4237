"""Metrics beyond accuracy on an evaluation: the value of each user, the mean, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data.encoding import positions
from recnb.display.language import N_, Plural, _, ngettext
from recnb.errors import NoUsersError, OptionError
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import LIST_METRICS, Credit, Metric
from recnb.metrics.recommendation_lists import PerUser, TermRows, Whole
from recnb.results.aggregation import Averaged, averaged, cutoffs_under, undefined_in
from recnb.results.arguments import check_options
from recnb.results.evaluation_data import EvaluationData, index_of
from recnb.results.item_metrics import arguments_of
from recnb.results.provenance import WHY_OWN, as_library
from recnb.results.score import CatalogueScore, Score, most_shown
from recnb.stats import interval_of_pairs, intervals

#: The ends of an interval that there is none of.
NO_ENDS = (float("nan"), float("nan"))

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
class ListMetricResult:
    """A metric beyond accuracy, worked out at one cut-off."""

    evaluation: EvaluationData
    metric: Metric[...]
    k: int | None
    options: Mapping[str, Any]  #: as given, and as a library has them

    @cached_property
    def result(self) -> PerUser | Whole:
        """The value of the metric's function; credit of hits is filled in and left out as in metrics of accuracy."""
        item_data = self.evaluation.item_data
        if self.metric.over != "hits":
            return self.metric.at(
                item_data.lists_of_evaluated if self.of_evaluated else item_data.lists, self.k, self.options
            )
        averages = averaged(self._credit, self.evaluation.convention)
        values = averages.values[:, 0]
        kept = np.ones(len(values), dtype=bool) if averages.kept is None else averages.kept[:, 0]
        return PerUser(values, np.ones(len(values)), kept, partial(_rows_of_hits, self.evaluation, self._credit))

    @cached_property
    def _credit(self) -> Credit:
        prepared = self.evaluation.prepared
        cutoffs = cutoffs_under(prepared.convention, Cutoffs.one(self.k))
        familiar = self.evaluation.item_data.familiar(prepared, prepared.hits(cutoffs.deepest))
        return self.metric.at(familiar, cutoffs, self.options)

    @property
    def of_evaluated(self) -> bool:
        """Whether the values are of the users evaluated, and not of all users with a list."""
        return self.metric.over in ("hits", "users")

    @property
    def users(self) -> pl.Series:
        """Whose values there are."""
        return self.evaluation.prepared.users if self.of_evaluated else self.evaluation.item_data.users

    @property
    def convention(self) -> Convention:
        """The decisions about the data and the options in force; frames that were given are left out."""
        options = {name: _plain(value) for name, value in {**self.metric.defaults, **self.options}.items()}
        return self.evaluation.convention.with_metric(
            {name: value for name, value in options.items() if value is not None}
        )

    def basis(self) -> list[str]:
        """In words: how many users and items, by what order, and what is odd in them."""
        evaluation, item_data, result, n = self.evaluation, self.evaluation.item_data, self.result, len(self.users)
        catalogue, needs, lists = item_data.catalogue, self.metric.needs, item_data.lists
        listed = ngettext("{n:,} user with a list", "{n:,} users with a list", n)
        users = ngettext("{n:,} user evaluated", "{n:,} users evaluated", n) if self.of_evaluated else listed
        library, own = evaluation.library, evaluation.why_own(self.metric) is not None
        parts = [users if library is None or own else as_library(library, "", users)]
        if isinstance(result, PerUser) and (left := int((~result.counted).sum())) and not self.of_evaluated:
            parts.append(_("{n:,} with a list without a value, left out", n=left))
        population = {**self.metric.defaults, **self.options}.get("population", "catalogue")
        counted = "catalogue" in needs or self.options.get("normalize")
        if counted and population != "recommended" and catalogue.listed is not None:
            of_train = population == "train" or item_data.side_data.items is None
            members = catalogue.members("train" if of_train else "catalogue", self.metric.name)
            others = item_data.seen(lists.upto(self.k), members)
            parts += [
                _(CATALOGUES["train" if of_train else "items"], n=int(members.sum())),
                *_if_any(NOT_LISTED, others),
            ]
            parts += [_("and one more, of padding")] if population == "catalogue+padding" else []
        if catalogue.users is not None and "train" in needs:
            others = item_data.seen(lists.upto(self.k), catalogue.users > 0)
            parts.append(_("what {users:,} users had in train", users=catalogue.n_users))
            parts += [*_if_any(NOT_IN_TRAIN, others), *_if_any(AGAIN, item_data.again(self.k))]
        parts.append(replace(evaluation.convention, relevant_from=None).phrases(graded=False)[0])
        options = {**self.metric.defaults, **self.options}
        parts += [f"{name}={_plain(value)}" for name, value in options.items() if _is_told(name, value)]
        parts += [_(WHY_OWN["none"], library=library)] if own else []
        return [*parts, *evaluation.notes]


def _rows_of_hits(evaluation: EvaluationData, credit: Credit, user: int) -> TermRows:
    """The hits of the user at a position, with the credit of each."""
    hits, prepared, item_data = credit.rows, evaluation.prepared, evaluation.item_data
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
    undefined = undefined_in(credit, evaluation.convention, (hits.n_users, 1))
    is_undefined = undefined is not None and bool(undefined[user, 0])
    return TermRows(credit.earned[rows], names, items, hits.rank[rows], undefined=is_undefined)


def _if_any(message: Plural, n: int) -> list[str]:
    return [_(message, n=n)] if n else []


def result_of(
    evaluation: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> ListMetricResult:
    """A metric with the options in force: those given, over those of a library."""
    check_options(metric, options)
    library = evaluation.library
    if library is None:
        return ListMetricResult(evaluation, metric, k, options)
    variants = presets.of_metric(metric.plain_name, library)
    if not variants:
        return ListMetricResult(evaluation, metric, k, options)
    # Of several ways that go by one formula, the one that has its name.
    chosen = next((preset for preset in variants if preset.variant.split("[")[0] == metric.name), variants[0])
    arguments = arguments_of(metric, dict(chosen.options))
    return ListMetricResult(evaluation, metric, k, {**arguments, **options})


def recorded_in(library: str | None) -> list[str]:
    """The metrics beyond accuracy whose numbers in a library are recorded; all, for recnb's own."""
    return [
        name
        for name, metric in LIST_METRICS.items()
        if library is None or presets.of_metric(metric.plain_name, library)
    ]


@dataclass(frozen=True, eq=False)
class Numbers:
    """A metric at some cut-offs: the values of users with their mean, or the one number of all lists."""

    users: pl.Series  #: those who have values; of one number of all lists, those with a list
    averages: Averaged
    convention: Convention  #: with the metric's options
    basis: Callable[[], list[str]]  #: what the number at the deepest cut-off is computed from
    of_all: tuple[Whole, ...] = ()  #: the one number of all lists at each cut-off

    def with_ends(self, metric: Metric[...], confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """The number at each cut-off with the ends of its interval; NaN where it has none."""
        low = high = np.full(len(self.averages.means), np.nan)
        if self.of_all:
            ends = [
                NO_ENDS if one.of_users is None else interval_of_pairs(one.of_users(), confidence)
                for one in self.of_all
            ]
            low, high = np.transpose(ends)
        else:
            values, kept = self.averages.values, self.averages.kept
            bounds = metric.bounded(dict(self.convention.metric)).bounds
            columns = [values] if kept is None else [values[rows, at : at + 1] for at, rows in enumerate(kept.T)]
            low, high = np.hstack([intervals(column, confidence, bounds=bounds)[:2] for column in columns])
        return self.averages.means, low, high


def numbers_of(
    evaluation: EvaluationData, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]
) -> Numbers:
    """Compute a metric; beyond accuracy, the users are all with a list."""
    if metric.is_accuracy:
        scoring = evaluation.scoring(metric, options, whole=cutoffs.values == (None,))
        users, averages = scoring.prepared.users, scoring.averaged(cutoffs)
        return Numbers(users, averages, scoring.in_force, lambda: evaluation.phrases(scoring, cutoffs))
    found = [result_of(evaluation, metric, k, options) for k in cutoffs]
    deepest = found[cutoffs.values.index(cutoffs.deepest)]
    if all(isinstance(each.result, Whole) for each in found):
        of_all = tuple(each.result for each in found if isinstance(each.result, Whole))
        averages = Averaged(np.zeros((0, len(cutoffs))), None, np.array(of_all, dtype=np.float64))
    else:
        of_all, of_users = (), [each.result for each in found if isinstance(each.result, PerUser)]
        values = np.stack([result.value for result in of_users], axis=1)
        kept = np.stack([result.counted for result in of_users], axis=1)
        means = [result.mean() for result in of_users]
        averages = Averaged(values, kept, np.array(means))
    return Numbers(deepest.users, averages, deepest.convention, deepest.basis, of_all)


def score_of(
    evaluation: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Score | CatalogueScore:
    """The number of any metric, as the methods give it: the mean over users, or the one number of all lists."""
    found = numbers_of(evaluation, metric, Cutoffs.of(k), options)
    values, kept, mean = found.averages.values[:, 0], found.averages.kept, float(found.averages.means[0])
    about = mean, metric.name, k, found.convention, "; ".join(found.basis())
    if found.of_all:
        times, of_users = partial(exposure, evaluation, k), found.of_all[0].of_users
        titles = partial(_titles, evaluation, times)
        n_lists = len(found.users)
        return CatalogueScore(*about, exposure=times, titles=titles, of_users=of_users, n_lists=n_lists)
    counted = None if kept is None or kept.all() else kept[:, 0]
    if not metric.is_accuracy and counted is not None and not counted.any():
        problem = f"no user has a value. {metric.no_value} Nothing is left to average."
        raise NoUsersError(problem, subject=f"{metric.name}: ")
    users = partial(index_of, found.users, counted, evaluation.user_label)
    return Score(*about, values=values if counted is None else values[counted], users=users)


def user_score(evaluation: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> Score:
    """The same of a metric that users have a value of."""
    score = score_of(evaluation, metric, k, options)
    assert isinstance(score, Score)
    return score


def _titles(evaluation: EvaluationData, times: Callable[[], pd.Series[int]]) -> dict[Any, str]:
    return evaluation.item_titles(list(most_shown(times()).index))


@dataclass(frozen=True, eq=False)
class UserValues:
    """One model's values of a metric at some cut-offs."""

    users: pl.Series  #: sorted
    values: Floats  #: users × cut-offs; NaN: none
    basis: Callable[[], list[str]] = list  #: what they are computed from

    def at(self, column: int) -> UserValues:
        """The values at one of the cut-offs."""
        return UserValues(self.users, self.values[:, [column]])


def values_of(model: EvaluationData, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> UserValues:
    """The values of users of a metric that has them."""
    found = numbers_of(model, metric, cutoffs, options)
    return UserValues(found.users, found.averages.counted, found.basis)


def interval_ends(score: Score | CatalogueScore, confidence: float = 0.95) -> tuple[float, float]:
    """The ends of a score's interval; NaN where it has none."""
    return score.interval(confidence)[:2] if score.has_interval else NO_ENDS


def n_users_of(score: Score | CatalogueScore) -> int:
    """Return the number of users behind a score; of a number of all lists, that of lists."""
    return score.n_users if isinstance(score, Score) else score.n_lists


def many_orders() -> OptionError:
    """The error for an explanation where equal scores are averaged over their orders."""
    return OptionError(
        "ties='expected' averages many orders, and a worked explanation follows one: choose ties='first'."
    )


def exposure(evaluation: EvaluationData, k: int | None) -> pd.Series[int]:
    """The number of lists that show each item of the catalogue, and each item that is shown."""
    item_data = evaluation.item_data
    times = item_data.lists.upto(k).times_shown
    listed = item_data.catalogue.listed
    member = times > 0 if listed is None else listed | (times > 0)
    index: pd.Index[Any] = pd.Index(item_data.items.filter(pl.Series(member)).to_numpy(), name="item")
    return pd.Series(times[member], index=index, name="n_lists")


def _is_told(name: str, value: object) -> bool:
    """Whether an option is part of the line below a number: it does something, other than to cut lists at k."""
    return bool(_plain(value)) and (name, _plain(value)) != ("cutoff", "k")


def _plain(value: object) -> Any:
    """An option as a word or number; what is bigger, by its kind."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return "given"
