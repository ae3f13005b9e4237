"""`Values`, of which every result is made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.splits import BY_USER, Keys
from recnb.display.language import named
from recnb.display.text import one_line
from recnb.errors import UnknownUserError, quoted
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.results.basis import Basis
from recnb.stats import Moments, UserSample, interval_of_pairs

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Values:
    """A metric at some cut-offs: values of users, their mean, what they rest on."""

    measure: Measure  #: the metric with the options in force, of each cut-off
    k: Cutoffs
    #: One for each row of the matrix; of one number of all lists, those with a list.
    users: pl.Series
    matrix: Floats  #: users × cut-offs; NaN: not averaged
    mean: Floats  #: by cut-off
    convention: Convention  #: with the metric's options
    basis: Basis
    #: Which the rows of the matrix are, made when asked.
    sample: Callable[[], UserSample]
    #: Of a metric beyond accuracy, by cut-off: with the rows behind the values.
    results: tuple[Any, ...] = ()
    keys: Keys = BY_USER  #: whose lists `users` are

    @property
    def is_of_all(self) -> bool:
        """Whether it is one number of all lists, and users have no value."""
        return self.measure.metric.of == "all"

    @property
    def moments(self) -> Moments:
        """The moments of the values at the first cut-off."""
        has_value = ~np.isnan(self.matrix[:, 0])
        values = self.matrix[has_value, :1]
        return Moments(values, self.sample().among(has_value), self.measure.bounds)

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
        of_users = self.results[0].of_users
        if of_users is None:
            return np.nan, np.nan
        return interval_of_pairs(of_users(), self.sample(), confidence)

    def without_data(self) -> Values:
        """Return the same without the data behind it.

        Its basis is in words, the values of users are at hand.
        """
        words = partial(_as_they_are, self.basis.phrases())
        numbers = self.results if self.is_of_all else ()
        plain = {
            name: value
            for name, value in self.measure.options.items()
            if isinstance(value, (str, int, float))
        }
        return replace(
            self,
            measure=replace(self.measure, options=plain),
            basis=replace(self.basis, words=words, users=tuple),
            results=tuple(one.without_data() for one in numbers),
            sample=partial(_as_they_are, self.sample()),
        )


def _as_they_are(made: T, **_asked: Any) -> T:
    """Return what is made, as a function that can be pickled."""
    return made


def index_of(user: Any, users: pl.Series, keys: Keys, in_words: str) -> int:
    """Return the position of a user, or of a list in a split, among some users.

    `in_words`: who these are, for the error.
    """
    index = None
    # An id of another kind is none of them.
    with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        index = users.index_of(keys.find(user))
    if index is None:
        _refuse_user_of_lists(user, users, keys)
        examples = ", ".join(map(repr, keys.names(users.head(5)).to_list()))
        if len(users) > 5:
            examples += ", …"
        raise UnknownUserError(
            named(
                "{user} {id} is not evaluated. Those evaluated are {examples}: {are}.",
                id=quoted(keys.in_words(user)),
                examples=examples,
                are=in_words,
            )
        )
    return index


def _refuse_user_of_lists(user: Any, users: pl.Series, keys: Keys) -> None:
    """Raise an error for a user alone, where users have lists in a split."""
    if not keys.columns:
        return
    lists = users.filter(keys.users_of(users).cast(pl.String) == str(user))
    if len(lists):
        raise UnknownUserError(
            named(
                "{user} {id} has {n:,} lists: name one, such as {example}.",
                id=one_line(user),
                n=len(lists),
                example=repr(keys.names(lists)[0]),
            )
        )
