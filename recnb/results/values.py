"""`Values`, of which every result is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.splits import BY_USER, Keys
from recnb.display.language import Noun
from recnb.errors import is_several
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.results.basis import Basis
from recnb.results.evaluation_data import EvaluationData
from recnb.stats import Moments, UserSample, interval_of_pairs


@dataclass(frozen=True, eq=False)
class WithoutData:
    """What results know of lists whose data are not at hand: their names and clusters.

    They are lists that were given by themselves, or those of a result that was pickled.
    """

    user_label: str = "user"
    noun: Noun = field(default_factory=Noun)
    keys: Keys = BY_USER
    codes: NDArray[np.integer[Any]] | None = None  #: by list, as in `UserSample`
    cluster: str = ""

    def sample_of(self, users: pl.Series, weights: Floats | None) -> UserSample:
        """Return all lists with their weights as a sample."""
        return UserSample(len(users), weights, self.codes, self.cluster)


@dataclass(frozen=True, eq=False)
class Values:
    """A metric at some cut-offs: values of users, their mean, what they rest on."""

    measure: Measure  #: the metric with the options in force, of each cut-off
    k: Cutoffs
    #: One for each row of the matrix; of one number of all lists, those with a list.
    users: pl.Series
    matrix: Floats  #: users × cut-offs; NaN: not averaged
    mean: Floats  #: by cut-off
    basis: Basis
    decided: Convention  #: the decisions about the data
    data: EvaluationData | WithoutData  #: whose lists `users` are
    weights: Floats | None = None  #: of the users; None: all count the same
    #: Of a metric beyond accuracy, by cut-off: with the rows behind the values.
    results: tuple[Any, ...] = ()

    @property
    def is_of_all(self) -> bool:
        """Whether it is one number of all lists, and users have no value."""
        return self.measure.metric.of == "all"

    @property
    def sample(self) -> UserSample:
        """Which the rows of the matrix are."""
        return self.data.sample_of(self.users, self.weights)

    @property
    def averaged(self) -> UserSample:
        """The users that the mean is over; of one number of all lists, the lists."""
        if self.is_of_all:
            return UserSample(len(self.users))
        return self.moments.sample

    @property
    def moments(self) -> Moments:
        """The moments of the values at the first cut-off."""
        has_value = ~np.isnan(self.matrix[:, 0])
        values = self.matrix[has_value, :1]
        return Moments(values, self.sample.among(has_value), self.measure.bounds)

    @property
    def convention(self) -> Convention:
        """The decisions about the data, with the options of the metric."""
        return self.decided.with_metric(self._plain_options)

    @property
    def _plain_options(self) -> dict[str, Any]:
        """Every option in force as a word or number; it may be several columns."""
        return {
            name: plain_option(value) for name, value in self.measure.chosen.items()
        }

    def at(self, index: int) -> Values:
        """Return the values at one of the cut-offs."""
        return replace(
            self,
            k=Cutoffs.one(self.k.values[index]),
            matrix=self.matrix[:, index : index + 1],
            mean=self.mean[index : index + 1],
            results=self.results[index : index + 1],
        )

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the ends of the interval at the first cut-off, NaN without one.

        Of numbers of all lists, a mean over pairs of users has one.
        """
        if not self.is_of_all:
            low, high = self.moments.interval(confidence)
            return float(low[0]), float(high[0])
        means_of_users = self.results[0].of_users
        if means_of_users is None:
            return np.nan, np.nan
        return interval_of_pairs(means_of_users(), self.sample, confidence)

    def without_data(self) -> Values:
        """Return the same without the data behind it.

        Its basis is in words, the values of users are at hand.
        """
        data, sample = self.data, self.sample
        results = self.results if self.is_of_all else ()
        return replace(
            self,
            measure=replace(self.measure, options=self._plain_options),
            basis=Basis(partial(_made_before, self.basis.phrases())),
            data=WithoutData(
                data.user_label, data.noun, data.keys, sample.codes, sample.cluster
            ),
            results=tuple(result.without_data() for result in results),
        )


def _made_before(words: list[str], *, brief: bool) -> list[str]:
    """Return words that are made, as a function that can be pickled."""
    return words


def plain_option(value: Any) -> Any:
    """Return an option as a word or number; of several columns, their names."""
    if is_several(value):
        return ", ".join(map(str, value))
    return value.item() if isinstance(value, np.generic) else value
