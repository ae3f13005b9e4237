"""The values of metrics beyond accuracy, and in words what they rest on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from recnb.beyond.catalogue import Catalogue
from recnb.beyond.recommendation_lists import Lists
from recnb.display.language import N_, Noun, _, ngettext
from recnb.display.text import Phrase
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.results.basis import (
    OWN,
    Basis,
    follows,
    lists_in_words,
    weights_in_words,
)
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import as_computed, recorded_of
from recnb.results.values import Values, plain_options


def values_of_lists(
    metric: Metric[...], data: EvaluationData, measure: Measure, cutoffs: Cutoffs
) -> Values:
    """Compute a metric beyond accuracy.

    Its users are all who have a list or, as the metric says, those evaluated.
    """
    recorded = recorded_of(data, metric)
    measure = as_computed(data, measure, recorded)
    parts = data.item_data.parts_for(metric)
    wholes = []
    if metric.of == "all":
        (lists,) = parts
        wholes = [metric.at(lists, cutoff, measure.options) for cutoff in cutoffs]
        users, matrix, weights = lists.users, np.zeros((0, len(cutoffs))), None
    else:
        users, matrix = _of_users(parts, measure, cutoffs)
        weights = data.source.weight_of(users)
    at_deepest = matrix[:, cutoffs.values.index(cutoffs.deepest)]
    return Values(
        measure=measure,
        cutoffs=cutoffs,
        users=users,
        matrix=matrix,
        decided=data.convention,
        basis=BeyondBasis(
            data=data,
            measure=measure,
            is_recorded=recorded is not None,
            users=users,
            weights=weights,
            n_without_value=int(np.isnan(at_deepest).sum()),
        ),
        wholes=tuple(wholes),
        data=data,
        weights=weights,
    )


def _of_users(
    parts: list[Lists], measure: Measure, cutoffs: Cutoffs
) -> tuple[pl.Series, Floats]:
    """Return the users of all parts, sorted, and the values of each, users × cut-offs."""
    users = pl.concat(lists.users for lists in parts)
    order = users.arg_sort()
    columns = []
    for cutoff in cutoffs:
        results = [measure.metric.at(lists, cutoff, measure.options) for lists in parts]
        values = np.concatenate([result.value for result in results])
        columns.append(values[order.to_numpy()])
    # The values at a cut-off lie together in memory, so that a sum does not depend on the
    # cut-offs beside it.
    return users.gather(order), np.stack(columns).T


def users_with_lists_in_words(data: EvaluationData, users: pl.Series) -> str:
    """Say in words how many users have a list, or how many lists there are of users."""
    if data.keys.columns:
        return lists_in_words(data.keys, users)
    return ngettext("{n:,} {user} with a list", "{n:,} {users} with a list", len(users))


@dataclass(frozen=True, eq=False, kw_only=True)
class BeyondBasis(Basis):
    """What a number beyond accuracy rests on, in words that are made when shown."""

    data: EvaluationData
    measure: Measure
    is_recorded: bool  #: whether the library in force has it
    users: pl.Series  #: who have a list, or are evaluated
    weights: Floats | None  #: of these users
    n_without_value: int  #: of them, at the deepest cut-off

    @property
    def noun(self) -> Noun:
        """What sentences call users and items."""
        return self.data.noun

    def followed(self) -> list[str]:
        """Return the library in force, if it has the metric."""
        library = self.data.library
        return [follows(library)] if library is not None and self.is_recorded else []

    def rules(self, *, brief: bool) -> list[str]:
        """Return the items, the order of lists and the options, brief or not."""
        words = [
            *self._without_value(),
            *self._catalogue(),
            self.data.convention.order_in_words,
            *self._options(),
        ]
        if self.data.library is not None and not self.is_recorded:
            words.append(_(OWN, library=self.data.library))
        return [*words, *self.data.notes]

    def who(self) -> list[str]:
        """Return the users behind the number and their weights, as one phrase."""
        has_several = bool(self.data.keys.columns)
        who = users_with_lists_in_words(self.data, self.users)
        if has_several and self.measure.metric.of == "all":
            who = _("{lists}, taken together", lists=who)
        elif not has_several and self.measure.metric.of_evaluated:
            who = ngettext(
                "{n:,} {user} evaluated", "{n:,} {users} evaluated", len(self.users)
            )
        weights = weights_in_words(self.weights, of_lists=has_several)
        return [Phrase("; ".join([who, *weights]), who)]

    def _without_value(self) -> list[str]:
        """Say how many users have a list and no value, if some do."""
        n = self.n_without_value
        if self.measure.metric.of_evaluated or not n:
            return []
        words = _("{n:,} with a list without a value, left out", n=n)
        return [Phrase(words, _("{n:,} left out", n=n))]

    def _catalogue(self) -> list[str]:
        """Return the items that the number is out of, and the users of train."""
        catalogue: Catalogue = self.data.item_data.catalogue
        needs = self.measure.metric.needs
        words = []
        if "catalogue" in needs:
            words += self._items(catalogue)
        if "train" in needs:
            had = ngettext(
                "what {n:,} {user} had in train",
                "what {n:,} {users} had in train",
                catalogue.n_users,
            )
            words.append(had)
        return words

    def _items(self, catalogue: Catalogue) -> list[str]:
        """Return how many items could have been recommended."""
        population = self.measure.chosen.get("population", "catalogue")
        out_of = N_("out of {n:,} {items} of items=")
        # Without items= the catalogue is the items of train.
        if population == "train" or catalogue.frame is None:
            out_of = N_("out of {n:,} {items} of train")
        members = catalogue.members(population)
        items = _(out_of, n=int(members.sum()))
        words: list[str] = [Phrase(items)]
        if population == "catalogue+padding":
            words.append(_("and one more, of padding"))
        return words

    def _options(self) -> list[str]:
        """Return the options, but for defaults that go without saying.

        These are cutoff="k", and what is off, such as normalize=False of novelty.
        """
        words = list[str]()
        for name, shown in plain_options(self.measure).items():
            is_default = shown == self.measure.metric.defaults[name]
            if shown is None or (is_default and shown in ("k", False)):
                continue
            phrase = f"{name}={shown}"
            is_given = name in self.measure.options
            words.append(Phrase(phrase) if is_given else phrase)
        return words
