"""Metrics beyond accuracy on an evaluation: the value of each user, the mean, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data.encoding import positions
from recnb.display.language import N_, Plural, _, ngettext
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import LIST_METRICS, Credit, Metric
from recnb.metrics.recommendation_lists import PerUser, TermRows, Whole
from recnb.results.aggregation import average, cutoffs_under, undefined_in
from recnb.results.arguments import check_options
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import WHY_OWN, follows

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
        of_users = average(self._credit, self.evaluation.convention)[0][:, 0]
        rows = partial(_rows_of_hits, self.evaluation, self._credit)
        return PerUser(of_users, np.ones(len(of_users)), ~np.isnan(of_users), rows)

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

    def users_in_words(self) -> list[str]:
        """Return whose lists are behind the number, in words."""
        n = len(self.users)
        if self.of_evaluated:
            return [ngettext("{n:,} user evaluated", "{n:,} users evaluated", n)]
        return [ngettext("{n:,} user with a list", "{n:,} users with a list", n)]

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return in words how many users and items, by what order, and what is odd in them."""
        evaluation, item_data, result = self.evaluation, self.evaluation.item_data, self.result
        catalogue, needs, lists = item_data.catalogue, self.metric.needs, item_data.lists
        (users,) = self.users_in_words()
        library, own = evaluation.library, evaluation.why_own(self.metric) is not None
        parts = [users if library is None or own else follows(library, words=users)]
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
    undefined = undefined_in(credit, evaluation.convention)
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
    return ListMetricResult(evaluation, metric, k, {**dict(chosen.options), **options})


def recorded_in(library: str | None) -> list[str]:
    """The metrics beyond accuracy whose numbers in a library are recorded; all, for recnb's own."""
    return [
        name
        for name, metric in LIST_METRICS.items()
        if library is None or presets.of_metric(metric.plain_name, library)
    ]


def many_orders() -> OptionError:
    """Return the error for an explanation where equal scores are averaged over their orders."""
    return OptionError(
        "ties='expected' averages many orders, and a worked explanation follows one: choose ties='first'."
    )


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
