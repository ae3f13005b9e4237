"""The values of metrics beyond accuracy, and in words what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recnb.beyond.catalogue import Catalogue
from recnb.beyond.item_data import ItemData, put_together
from recnb.beyond.recommendation_lists import PerUser, Whole
from recnb.display.language import N_, _, ngettext
from recnb.display.text import Phrase
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.results.basis import (
    OWN,
    Basis,
    follows,
    lists_in_words,
    train_in_words,
    weights_in_words,
)
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import as_computed, recorded_of
from recnb.results.values import Values, plain_option
from recnb.stats import means


def values_of_lists(
    metric: Metric[...], data: EvaluationData, measure: Measure, k: Cutoffs
) -> Values:
    """Compute a metric beyond accuracy.

    Its users are all who have a list or, as the metric says, those evaluated.
    """
    measure = as_computed(data, measure, recorded_of(data, metric))
    # `results` has one result for each cut-off.
    users, results = _computed(data, metric, k, measure.options)
    values = [result.value for result in results]
    if metric.of == "all":
        matrix, weights = np.zeros((0, len(k))), None
        mean = np.array(values, dtype=np.float64)
    else:
        # The values at a cut-off lie together in memory, so that a sum does not depend
        # on the cut-offs beside it.
        matrix, weights = np.stack(values).T, data.source.weight_of(users)
        mean = means(matrix, weights)
    at_deepest = results[k.values.index(k.deepest)]
    grounds = Grounds(data, measure, at_deepest, users, weights)
    basis = Basis(grounds.words, grounds.averaged, lambda: data.noun)
    return Values(
        measure=measure,
        k=k,
        users=users,
        matrix=matrix,
        mean=mean,
        decided=data.convention,
        basis=basis,
        results=tuple(results),
        data=data,
        weights=weights,
    )


def alone(data: EvaluationData) -> list[ItemData]:
    """Return the data of lists that have values of their own, together.

    These are all; in a split those of each combination of its values.
    """
    whole: ItemData = data.item_data
    keys = data.keys
    if not keys.columns:
        return [whole]
    if whole.of_splits is None:
        parts = []
        listed = data.joined.source.recs_rows["user"]
        for combination in keys.combinations_of(listed).iter_slices(1):
            part = data.of_split(combination)
            # Items are numbered alike in all parts.
            catalogue = Catalogue(whole.items, part.side_data)
            parts.append(ItemData(part.joined, part.side_data, catalogue))
        whole.of_splits = parts
    return whole.of_splits


def _computed(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Mapping[str, Any]
) -> tuple[pl.Series, list[PerUser | Whole]]:
    """Compute a metric beyond accuracy; return the users of the values as well."""
    parts = [data.item_data] if metric.of == "all" else alone(data)
    users = [part.users_of(metric) for part in parts]
    by_cutoff: list[list[Any]] = [
        [part.compute(metric, cutoff, options) for part in parts] for cutoff in k
    ]
    if len(parts) == 1:
        return users[0], [values for (values,) in by_cutoff]
    together = [put_together(users, values) for values in by_cutoff]
    return together[0][0], [values for _users, values in together]


def users_with_lists_in_words(data: EvaluationData, users: pl.Series) -> str:
    """Say in words how many users have a list, or how many lists there are of users."""
    if data.keys.columns:
        return lists_in_words(data.keys, users)
    return ngettext("{n:,} {user} with a list", "{n:,} {users} with a list", len(users))


@dataclass(frozen=True, eq=False)
class Grounds:
    """What a number beyond accuracy rests on, in words that are made when shown."""

    data: EvaluationData
    measure: Measure
    result: PerUser | Whole  #: at the deepest cut-off
    users: pl.Series
    weights: Floats | None

    def averaged(self) -> list[str]:
        """Return the users behind the number and their weights."""
        of_lists = bool(self.data.keys.columns)
        who = self._users
        phrases = [who, *weights_in_words(self.weights, of_lists=of_lists)]
        return [Phrase("; ".join(phrases), who)]

    @property
    def _users(self) -> str:
        """The users behind the number."""
        metric, users = self._metric, self.users
        has_keys = bool(self.data.keys.columns)
        if metric.of_evaluated and not has_keys:
            return ngettext(
                "{n:,} {user} evaluated", "{n:,} {users} evaluated", len(users)
            )
        lists = users_with_lists_in_words(self.data, users)
        if has_keys and metric.of == "all":
            return _("{lists}, taken together", lists=lists)
        return lists

    def words(self, *, brief: bool) -> list[str]:
        """Return all that the number rests on, brief or not."""
        data = self.data
        (who,) = self.averaged()
        is_own = data.library is not None and recorded_of(data, self._metric) is None
        if data.library is not None and not is_own:
            who = follows(data.library, words=who)
        words = [
            who,
            *self._without_value(),
            *self._catalogue(),
            data.convention.order_in_words,
            *self._options(),
        ]
        if is_own:
            words.append(_(OWN, library=data.library))
        return [*words, *data.notes]

    @property
    def _metric(self) -> Metric[...]:
        return self.measure.metric

    def _without_value(self) -> list[str]:
        """Say how many users have a list and no value, if some do."""
        if not isinstance(self.result, PerUser) or self._metric.of_evaluated:
            return []
        n_left_out = int(np.isnan(self.result.value).sum())
        if not n_left_out:
            return []
        words = _("{n:,} with a list without a value, left out", n=n_left_out)
        return [Phrase(words, _("{n:,} left out", n=n_left_out))]

    def _catalogue(self) -> list[str]:
        """Return the items that the number is out of, and the users of train."""
        catalogue: Catalogue = self.data.item_data.catalogue
        needs = self._metric.needs
        population = self.measure.chosen.get("population", "catalogue")
        words = []
        if "catalogue" in needs and catalogue.listed is not None:
            words += self._items(catalogue, population)
        if "train" in needs and catalogue.users is not None:
            words += train_in_words(catalogue.n_users)
        return words

    def _items(self, catalogue: Catalogue, population: str) -> list[str]:
        """Return how many items could have been recommended."""
        listed, out_of = "catalogue", N_("out of {n:,} {items} of items=")
        # Without items= the catalogue is the items of train.
        if population == "train" or catalogue.frame is None:
            listed, out_of = "train", N_("out of {n:,} {items} of train")
        members = catalogue.members(listed, self._metric.name)
        items = _(out_of, n=int(members.sum()))
        words: list[str] = [Phrase(items, items)]
        if population == "catalogue+padding":
            words.append(_("and one more, of padding"))
        return words

    def _options(self) -> list[str]:
        """Return the options, but for defaults that go without saying.

        These are cutoff="k", and what is off, such as normalize=False of novelty.
        """
        words = list[str]()
        for name, shown in _plain_options(self.measure).items():
            if shown in ("k", False) and shown == self._metric.defaults[name]:
                continue
            phrase = f"{name}={shown}"
            is_given = name in self.measure.options
            words.append(Phrase(phrase, phrase) if is_given else phrase)
        return words


def _plain_options(measure: Measure) -> dict[str, Any]:
    """Return the options that are set, given or by default, as words and numbers."""
    return {
        name: plain_option(value)
        for name, value in measure.chosen.items()
        if value is not None
    }
