"""Metrics beyond accuracy on an evaluation: the value of each user, the mean, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data.encoding import positions
from recnb.display.language import N_, _, ngettext
from recnb.errors import Argument, NoUsersError, OptionError
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import LIST_METRICS, Credit, Metric
from recnb.metrics.recommendation_lists import PerUser, TermRows, Whole
from recnb.results.aggregation import averaged, cutoffs_under
from recnb.results.arguments import check_options
from recnb.results.evaluation_data import EvaluationData, index_of
from recnb.results.item_metrics import arguments_of
from recnb.results.provenance import WHY_OWN
from recnb.results.score import CatalogueScore, Score, most_shown
from recnb.stats import intervals

#: Which catalogue.
CATALOGUES: dict[str, str] = {
    "items": N_("out of {n:,} items of items="),
    "train": N_("out of {n:,} items of train"),
}


@dataclass(frozen=True, eq=False)
class ListMetricResult:
    """A metric beyond accuracy, worked out at one cut-off."""

    evaluation: EvaluationData
    metric: Metric[...]
    k: int | None
    options: Mapping[str, Any]  #: as given, and as a library has them
    average: str = "user"

    @cached_property
    def result(self) -> PerUser | Whole:
        """The value of the metric's function; credit of hits is filled in and left out as in metrics of accuracy."""
        item_data = self.evaluation.item_data
        if self.metric.over != "hits":
            return self.metric.at(
                item_data.lists_of_evaluated if self.of_evaluated else item_data.lists, self.k, self.options
            )
        averages = averaged(self._credit, self.evaluation.convention, self.metric, self.options)
        values = averages.values[:, 0]
        kept = np.ones(len(values), dtype=bool) if averages.kept is None else averages.kept[:, 0]
        return PerUser(values, np.ones(len(values)), kept, self._rows_of_hits)

    @cached_property
    def _credit(self) -> Credit:
        prepared = self.evaluation.prepared
        cutoffs = cutoffs_under(prepared.convention, Cutoffs.one(self.k))
        familiar = self.evaluation.item_data.familiar(prepared, prepared.hits(cutoffs.deepest))
        return self.metric.at(familiar, cutoffs, self.options)

    def _rows_of_hits(self, user: int) -> TermRows:
        hits, prepared, item_data = self._credit.rows, self.evaluation.prepared, self.evaluation.item_data
        if hits.tied is not None:
            raise many_orders()
        depth = int(self._credit.k.depth(hits.list_length)[user, 0])
        rows = np.flatnonzero((hits.user == user) & (hits.rank <= depth))
        familiar, row = item_data.familiar(prepared, hits), hits.truth_row[rows]
        names = {
            "rank": hits.rank[rows], "expected_rank": familiar.expected_rank[row], "depth": depth, "k": depth,
            "popular_place": familiar.popular_place[row], "n_items": familiar.n_items, "n_hits": len(rows),
            "list_length": hits.list_length[user],
        }  # fmt: skip
        items = positions(item_data.items, prepared.truth["item"])[row]
        return TermRows(self._credit.earned[rows], names, items, hits.rank[rows])

    @property
    def of_evaluated(self) -> bool:
        """Whether the values are of the users evaluated, and not of all users with a list."""
        return self.metric.over in ("hits", "users")

    @property
    def users(self) -> pl.Series:
        """Whose values there are."""
        return self.evaluation.prepared.users if self.of_evaluated else self.evaluation.item_data.users

    @property
    def mean(self) -> float:
        """The mean over users, or the one number there is."""
        result = self.result
        if isinstance(result, Whole):
            return float(result)
        if not result.counted.any():
            problem = f"no user has a value. {self.metric.no_value} Nothing is left to average."
            raise NoUsersError(problem, subject=f"{self.metric.name}: ")
        return result.mean("pooled" if self.average == "pooled" else "user")

    @property
    def convention(self) -> Convention:
        """The decisions about the data and the options in force; frames that were given are left out."""
        options = {name: _plain(value) for name, value in {**self.metric.defaults, **self.options}.items()}
        return self.evaluation.convention.with_metric(
            {name: value for name, value in options.items() if value is not None}
        )

    def basis(self) -> str:
        """In words: how many users and items, by what order, and what is odd in them."""
        return "; ".join(self.basis_parts())

    def basis_parts(self) -> list[str]:
        """The parts of the basis."""
        evaluation, item_data, result, n = self.evaluation, self.evaluation.item_data, self.result, len(self.users)
        catalogue, needs = item_data.catalogue, self.metric.needs
        users = (
            ngettext("{n:,} user evaluated", "{n:,} users evaluated", n)
            if self.of_evaluated
            else ngettext("{n:,} user with a list", "{n:,} users with a list", n)
        )
        library, own = evaluation.library, evaluation.is_own(self.metric)
        parts = [users if library is None or own else _("as {library}: {words}", library=library, words=users)]
        if isinstance(result, PerUser) and (left := int((~result.counted).sum())) and not self.of_evaluated:
            parts.append(_("{n:,} with a list without a value, left out", n=left))
        if catalogue.listed is not None and ("catalogue" in needs or self.options.get("normalize")):
            source = "train" if item_data.side_data.items is None else "items"
            parts.append(_(CATALOGUES[source], n=int(catalogue.listed.sum())))
            if n := item_data.seen(item_data.lists.upto(self.k), catalogue.listed):
                parts.append(
                    ngettext(
                        "{n:,} recommended item is not among them", "{n:,} recommended items are not among them", n
                    )
                )
        if catalogue.users is not None and "train" in needs:
            parts.append(_("what {users:,} users had in train", users=catalogue.n_users))
            if n := item_data.seen(item_data.lists.upto(self.k), catalogue.users > 0):
                parts.append(
                    ngettext("{n:,} recommended item is not in train", "{n:,} recommended items are not in train", n)
                )
            if n := item_data.again(self.k):
                parts.append(
                    ngettext(
                        "{n:,} recommended row is of an item that its user has in train",
                        "{n:,} recommended rows are of items that their users have in train",
                        n,
                    )
                )
        parts.append(replace(evaluation.convention, relevant_from=None).phrases(graded=False)[0])
        parts += [_("{name}={value}", name=name, value=_plain(value)) for name, value in self.options.items()]
        parts += [_(WHY_OWN["none"], library=library)] if own else []
        return [*parts, *evaluation.notes]


def result_of(
    evaluation: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> ListMetricResult:
    """A metric with the options in force: those given, over those of a library."""
    check_options(metric, options)
    library = evaluation.library
    if library is None:
        return ListMetricResult(evaluation, metric, k, options)
    variants = presets.of_metric(metric.recorded_as, library)
    if not variants:
        return ListMetricResult(evaluation, metric, k, options)
    # Of several ways that go by one formula, the one that has its name.
    chosen = next((preset for preset in variants if preset.variant.split("[")[0] == metric.name), variants[0])
    arguments = arguments_of(metric, dict(chosen.options))
    average = str(arguments.pop("average", "user"))
    return ListMetricResult(evaluation, metric, k, {**arguments, **options}, average)


def recorded_in(library: str | None) -> list[str]:
    """The metrics beyond accuracy whose numbers in a library are recorded; all, for recnb's own."""
    return [
        name
        for name, metric in LIST_METRICS.items()
        if library is None or presets.of_metric(metric.recorded_as, library)
    ]


def score_of(
    evaluation: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Score | CatalogueScore:
    """The number of any metric, as the methods give it: the mean over users, or the one number of all lists."""
    if metric.is_accuracy:
        return evaluation.score(metric, k, options)
    found = result_of(evaluation, metric, k, options)
    result = found.result
    if isinstance(result, Whole):
        times = partial(exposure, evaluation, k)
        return CatalogueScore(
            float(result),
            metric.name,
            k,
            found.convention,
            found.basis(),
            exposure=times,
            titles=lambda: evaluation.item_titles(list(most_shown(times()).index)),
            of_users=result.of_users,
        )
    users = partial(index_of, found.users, result.counted, evaluation.user_label)
    mean, basis = found.mean, found.basis()
    return Score(mean, metric.name, k, found.convention, basis, values=result.value[result.counted], users=users)


@dataclass(frozen=True, eq=False)
class UserValues:
    """One model's values of a metric at some cut-offs."""

    users: pl.Series  #: sorted
    values: Floats  #: users × cut-offs; NaN: none

    def at(self, column: int) -> UserValues:
        """The values at one of the cut-offs."""
        return UserValues(self.users, self.values[:, [column]])


def values_of(model: EvaluationData, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> UserValues:
    """Compute a metric for each user of a model; beyond accuracy, those are all users with a list."""
    if metric.is_accuracy:
        return UserValues(model.scoring(metric, options).prepared.users, model.values(metric, cutoffs, options))
    results = [result_of(model, metric, k, options) for k in cutoffs]
    columns = []
    for computed in results:
        if computed.average != "user":
            problem = f"{model.library} averages {metric.name} over rows and not over users, so users cannot be compared one by one: "
            raise OptionError(problem, "leave ", Argument("convention"), " out.")
        assert isinstance(computed.result, PerUser)
        columns.append(np.where(computed.result.counted, computed.result.value, np.nan))
    return UserValues(results[0].users, np.stack(columns, axis=1))


def means_and_basis(
    evaluation: EvaluationData, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]
) -> tuple[Floats, list[str]]:
    """The value at each cut-off, NaN where no user has one; and in words what the deepest is computed from."""
    results = [result_of(evaluation, metric, k, options) for k in cutoffs]
    means = [
        np.nan if isinstance(found.result, PerUser) and not found.result.counted.any() else found.mean
        for found in results
    ]
    deepest = results[cutoffs.values.index(cutoffs.deepest)]
    return np.array(means), deepest.basis_parts()


def interval_ends(score: Score | CatalogueScore, confidence: float = 0.95) -> tuple[float, float]:
    """The ends of a score's interval; NaN where it has none."""
    return score.interval(confidence)[:2] if score.has_interval else (np.nan, np.nan)


def with_interval(
    data: EvaluationData, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]
) -> tuple[Floats, Floats, Floats]:
    """The number of any metric at each cut-off with the ends of its 95% interval; NaN where it has none."""
    if metric.is_accuracy:
        scoring = data.scoring(metric, options, whole=cutoffs.values == (None,))
        averages = scoring.averaged(cutoffs)
        if scoring.convention.average != "user" or metric.summed:
            return averages.means, np.full(len(cutoffs), np.nan), np.full(len(cutoffs), np.nan)
        return averages.means, *intervals(averages.counted, bounds=metric.bounds)[:2]
    numbers = [_or_none(data, metric, k, options) for k in cutoffs]
    low, high = zip(*((np.nan, np.nan) if one is None else interval_ends(one) for one in numbers), strict=True)
    return np.array([np.nan if one is None else float(one) for one in numbers]), np.array(low), np.array(high)


def _or_none(
    data: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Score | CatalogueScore | None:
    try:
        return score_of(data, metric, k, options)
    except NoUsersError:
        return None


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


def _plain(value: object) -> Any:
    """An option as a word or number; what is bigger, by its kind."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return "given"
