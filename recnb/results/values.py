"""`Values` of one model, and the `Panel` of several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.splits import BY_USER, Keys
from recnb.display.language import Noun
from recnb.errors import is_several
from recnb.metrics.hits import Bools, Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.results.basis import Basis, Worded
from recnb.results.evaluation_data import EvaluationData
from recnb.stats import (
    Moments,
    Paired,
    Settings,
    UserSample,
    gap_to_rest,
    interval_of_pairs,
    means,
    paired,
)

#: Values or differences of users that are computed at once; the processor's cache holds
#: as many.
BLOCK_CELLS = 2**18


@dataclass(frozen=True, eq=False)
class WithoutData:
    """What results know of lists whose data are not at hand: their names and clusters.

    They are lists that were given by themselves, or those of a result that was pickled.
    """

    user_label: str
    noun: Noun
    keys: Keys = BY_USER
    codes: NDArray[np.integer[Any]] | None = None  #: by list, as in `UserSample`
    cluster: str = ""

    def sample_of(self, users: pl.Series, weights: Floats | None) -> UserSample:
        """Return all lists with their weights as a sample."""
        return UserSample(len(users), weights, self.codes, self.cluster)


@dataclass(frozen=True, eq=False)
class Values:
    """A metric at some cut-offs: values of users, and what they rest on."""

    measure: Measure  #: the metric with the options in force, of each cut-off
    cutoffs: Cutoffs
    #: One for each row of the matrix; of one number of all lists, those with a list.
    users: pl.Series
    matrix: Floats  #: users × cut-offs; NaN: not averaged
    basis: Basis
    decided: Convention  #: the decisions about the data
    data: EvaluationData | WithoutData  #: whose lists `users` are
    weights: Floats | None = None  #: of the users; None: all count the same
    #: Of one number of all lists, by cut-off, a `Whole`: with the rows behind it.
    wholes: tuple[Any, ...] = ()

    @property
    def is_of_all(self) -> bool:
        """Whether it is one number of all lists, and users have no value."""
        return self.measure.metric.of == "all"

    @cached_property
    def mean(self) -> Floats:
        """The means, or the numbers of all lists, by cut-off."""
        if self.is_of_all:
            return np.array([whole.value for whole in self.wholes], np.float64)
        return means(self.matrix, self.weights)

    @property
    def sample(self) -> UserSample:
        """The sample of users that the rows of the matrix are."""
        return self.data.sample_of(self.users, self.weights)

    @cached_property
    def panel(self) -> Panel:
        """The users whom the mean at the first cut-off is over, with their values."""
        return panels([self])[0]

    @property
    def convention(self) -> Convention:
        """The decisions about the data, with the options of the metric."""
        return self.decided.with_metric(plain_options(self.measure))

    def interval_of_all(self, confidence: float) -> Floats:
        """Return the ends of the interval of numbers of all lists: 2 × cut-offs.

        A mean over pairs of users has one; NaN stands for none.
        """
        ends = np.full((2, len(self.wholes)), np.nan)
        for index, whole in enumerate(self.wholes):
            if whole.of_users is not None:
                ends[:, index] = interval_of_pairs(
                    whole.of_users, self.sample, confidence
                )
        return ends

    def without_data(self) -> Values:
        """Return the same without the data behind it.

        Its basis is in words, the values of users are at hand.
        """
        data, sample = self.data, self.sample
        return replace(
            self,
            measure=replace(self.measure, options=plain_options(self.measure)),
            basis=Worded(self.basis.phrases()),
            data=WithoutData(
                data.user_label, data.noun, data.keys, sample.codes, sample.cluster
            ),
            wholes=tuple(whole.without_data() for whole in self.wholes),
        )


def plain_options(measure: Measure) -> dict[str, Any]:
    """Return every option in force as a word or number; of columns, their names."""
    plain = dict[str, Any]()
    for name, value in measure.chosen.items():
        if is_several(value):
            value = ", ".join(map(str, value))
        plain[name] = value.item() if isinstance(value, np.generic) else value
    return plain


# Models side by side


@dataclass(frozen=True, eq=False)
class Panel:
    """A metric of models in one part, at cut-offs that have the same users.

    Its users have a value in every model. In a split a list's id stands where a user's
    does. A metric that is one number of all lists has no values of users: its panel has
    the numbers themselves, in `of_all`.

    |                       | `users` are       | `sample.n_units` counts | `n_lists` counts |
    |-----------------------|-------------------|-------------------------|------------------|
    | each user has a list  | users             | users                   | nothing: None    |
    | in a split            | lists             | users                   | lists            |
    | with `cluster=`       | users, or lists   | values of `cluster=`    | users, or lists  |
    | number of all lists   | those with a list | those with a list       | nothing: None    |
    """

    measure: Measure  #: the metric with its options, and its bounds under them
    ks: Sequence[int | None]
    users: pl.Series  #: users, or ids of lists; see above
    #: Cut-offs × models × users: those of a model at a cut-off lie together in memory, so
    #: that a sum does not depend on the values beside them.
    values: Floats
    sample: UserSample
    bases: Sequence[Basis]  #: what the numbers of each model rest on
    of_all: Sequence[Values]  #: of each model the numbers of all lists
    part: int = 0  #: its position in the keys of the division
    #: Of a segment, the panel of all users, and which of these are in the segment.
    whole: tuple[Panel, Bools] | None = None

    def at(self, ks: Sequence[int | None]) -> Panel:
        """Return the panel at some of its cut-offs, in its own order."""
        rows = [row for row, k in enumerate(self.ks) if k in ks]
        return replace(
            self, ks=[self.ks[row] for row in rows], values=self.values[rows]
        )

    def among(self, inside: Bools) -> Panel:
        """Return the panel of some of its users."""
        return replace(
            self,
            users=self.users.filter(pl.Series(inside)),
            values=np.compress(inside, self.values, axis=2),
            sample=self.sample.among(inside),
        )

    @cached_property
    def mean(self) -> Floats:
        """The means, or the numbers of all lists: cut-offs × models.

        NaN without a user.
        """
        if self.of_all:
            return np.transpose([each.mean for each in self.of_all])
        mean = means(self.columns.T, self.sample.weights)
        return mean.reshape(self.values.shape[:2])

    @property
    def columns(self) -> Floats:
        """The values of users in each model at each cut-off: columns × users."""
        n_cutoffs, n_models, n_users = self.values.shape
        return self.values.reshape(n_cutoffs * n_models, n_users)

    def interval(self, confidence: float) -> Floats:
        """Return the ends of the interval of each number, 2 × cut-offs × models.

        NaN where there is none.
        """
        if self.of_all:
            numbers = [number.interval_of_all(confidence) for number in self.of_all]
            return np.stack(numbers, axis=2)
        columns, bounds = self.columns, self.measure.bounds
        ends: list[Any] = [np.empty((2, 0))]
        for some in self._at_once(len(columns)):
            moments = Moments(columns[some].T, self.sample, bounds)
            ends.append(moments.interval(confidence))
        return np.concatenate(ends, axis=1).reshape(2, *self.values.shape[:2])

    def tests(self, pairs: Sequence[tuple[int, int]], settings: Settings) -> Paired:
        """Test pairs of models, told by their positions, by cut-off and then by pair.

        Where less is better, the lower value wins a user.
        """
        columns, (n_cutoffs, n_models, _n) = self.columns, self.values.shape
        models, baselines = np.transpose(pairs)
        start = n_models * np.arange(n_cutoffs)[:, np.newaxis]  # of each cut-off
        ours, theirs = (start + models).ravel(), (start + baselines).ravel()
        lowest, highest = self.measure.bounds
        bounds = lowest - highest, highest - lowest
        blocks = []
        for some in self._at_once(len(ours)):
            differences = columns[ours[some]] - columns[theirs[some]]
            blocks.append(paired(differences.T, self.sample, settings, bounds))
        tests = Paired.joined(blocks)
        if self.measure.metric.better == "low":
            tests = tests._replace(won=tests.lost, lost=tests.won)
        return tests

    def gaps(self, confidence: float) -> Paired:
        """Test the gap of the users of a segment to all others, by cut-off."""
        assert self.whole is not None
        everyone, inside = self.whole
        gap, low, high, p = gap_to_rest(
            everyone.columns.T, everyone.sample, inside, confidence
        )
        untested = Paired.untested(len(self.ks))
        return untested._replace(difference=gap, low=low, high=high, p=p)

    def _at_once(self, n_columns: int) -> Iterator[slice]:
        """Give columns as slices, each of about `BLOCK_CELLS` cells."""
        n_at_once = max(1, BLOCK_CELLS // max(self.sample.size, 1))
        for start in range(0, n_columns, n_at_once):
            yield slice(start, start + n_at_once)


def panels(values_of_models: Sequence[Values]) -> list[Panel]:
    """Put the values of models side by side, for the users with a value in every model.

    It is one panel, or one for each cut-off if these have different users.
    """
    first, *others = values_of_models
    users, is_of_all = first.users, first.is_of_all
    values = np.ascontiguousarray(first.matrix.T)[:, np.newaxis]
    if others:
        values = np.stack([_of_users(each, users) for each in values_of_models], axis=1)
    panel = Panel(
        measure=first.measure,
        ks=first.cutoffs.values,
        users=users,
        values=values,
        sample=UserSample(len(users)) if is_of_all else first.sample,
        bases=[each.basis for each in values_of_models],
        of_all=values_of_models if is_of_all else (),
    )
    if is_of_all or not np.isnan(values).any():
        return [panel]
    has_values: Bools = ~np.any(np.isnan(values), axis=1)  # cut-offs × users
    if (has_values == has_values[0]).all():
        return [panel.among(has_values[0])]
    by_cutoff = zip(panel.ks, has_values, strict=True)
    return [panel.at([k]).among(has_value) for k, has_value in by_cutoff]


def _of_users(values: Values, users: pl.Series) -> Floats:
    """Return the values of users in a model, cut-offs × users; NaN where it lacks one.

    Users stand in one order everywhere.
    """
    if values.is_of_all or values.users.equals(users):
        return values.matrix.T
    of_users = np.full((len(values.cutoffs), len(users)), np.nan)
    is_known = users.is_in(values.users.implode()).to_numpy()
    is_asked = values.users.is_in(users.implode()).to_numpy()
    of_users[:, is_known] = values.matrix[is_asked].T
    return of_users
