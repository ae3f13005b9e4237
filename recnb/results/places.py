"""Measure metrics of models: the values of users, at a place for each cut-off and part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import Any

import numpy as np
import polars as pl

from recnb.errors import NoUsersError
from recnb.metrics.hits import Bools, Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Better, Metric
from recnb.results.basis import Basis
from recnb.results.evaluation_data import (
    OF_ITEMS,
    EvaluationData,
    Models,
    check_side_data,
    users_in_common,
)
from recnb.results.scoring import values_of
from recnb.results.segments import DataParts, Division, Segments
from recnb.results.values import Values
from recnb.results.verdicts import verdict_of
from recnb.stats import (
    Moments,
    Paired,
    Settings,
    Tested,
    UserSample,
    gap_to_rest,
    means,
    paired,
)

#: Values or differences of users that are computed at once; the processor's cache holds
#: as many.
CELLS = 2**18


@dataclass(frozen=True, eq=False)
class Place:
    """A metric at a cut-off in one part: the values of users, of each model.

    Its users have a value in every model. In a split a list's id stands where a user's
    does. A metric that is one number of all lists has no values of users: its place has
    the numbers themselves, in `of_all`.

    |                       | `users` are       | `sample.n_units` counts | `n_lists` counts |
    |-----------------------|-------------------|-------------------------|------------------|
    | each user has a list  | users             | users                   | nothing: None    |
    | in a split            | lists             | users                   | lists            |
    | with `cluster=`       | users, or lists   | values of `cluster=`    | users, or lists  |
    | number of all lists   | those with a list | those with a list       | nothing: None    |
    """

    measure: Measure  #: the metric with its options, and its bounds under them
    k: int | None
    users: pl.Series  #: users, or ids of lists; see above
    values: Floats  #: users × models; without rows of a number of all lists
    sample: UserSample
    mean: Floats  #: the number of each model; NaN without a user
    bases: Sequence[Basis]  #: what the number of each model rests on
    of_all: Sequence[Values] = ()  #: of each model the number of all lists
    part: int = 0  #: its position in the keys of the division
    #: Of a segment, the place of all users, and which of these are in the segment.
    whole: tuple[Place, Bools] | None = None

    def among(self, inside: Bools) -> Place:
        """Return the place of some of its users."""
        # The values of a model lie together in memory still.
        values = np.compress(inside, self.values.T, axis=1).T
        sample = self.sample.among(inside)
        return replace(
            self,
            users=self.users.filter(pl.Series(inside)),
            values=values,
            sample=sample,
            mean=means(values, sample.weights),
        )

    def gap(self, confidence: float) -> Tested:
        """Return the gap of the users of a segment to all others."""
        assert self.whole is not None
        everyone, inside = self.whole
        return gap_to_rest(everyone.values, everyone.sample, inside, confidence)

    @property
    def better(self) -> Better:
        """Whether a higher or a lower number is better; None: neither."""
        return self.measure.metric.better

    @property
    def column(self) -> tuple[str, int | None]:
        """The metric and the cut-off: tests of a column are corrected together."""
        return self.measure.name, self.k

    @property
    def key(self) -> dict[str, Any]:
        """What rows of the place have in common, by the names that they have there."""
        return {
            "part": self.part,
            "metric": self.measure.name,
            "symbol": self.measure.symbol,
            "k": self.k,
            "n_users": self.sample.n_units,
            "n_lists": self.sample.n_lists,
            "cluster": self.sample.cluster,
        }


# What is computed at places of the same users, all of them at once


def intervals_at(places: Sequence[Place], confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval of each number, by place and then by model.

    NaN where there is none.
    """
    numbers = list(chain.from_iterable(place.of_all for place in places))
    if numbers:
        ends_of_all = [number.interval(confidence) for number in numbers]
        low, high = np.array(ends_of_all, dtype=np.float64).T
        return low, high
    columns = chain.from_iterable(place.values.T for place in places)
    sample, bounds = places[0].sample, places[0].measure.bounds
    ends = [
        Moments(block, sample, bounds).interval(confidence)
        for block in _in_blocks(columns, sample.size)
    ]
    low, high = np.concatenate(ends, axis=1)
    return low, high


def paired_at(
    places: Sequence[Place], pairs: Sequence[tuple[int, int]], settings: Settings
) -> Paired:
    """Test pairs of models, told by their positions, by place and then by pair.

    Where less is better, the lower value wins a user.
    """
    differences = (
        place.values[:, model] - place.values[:, baseline]
        for place, (model, baseline) in product(places, pairs)
    )
    sample = places[0].sample
    lowest, highest = places[0].measure.bounds
    bounds = lowest - highest, highest - lowest
    blocks = [
        paired(block, sample, settings, bounds)
        for block in _in_blocks(differences, sample.size)
    ]
    tests = Paired(*map(np.concatenate, zip(*blocks, strict=True)))
    if places[0].better == "low":
        tests = tests._replace(won=tests.lost, lost=tests.won)
    return tests


def _in_blocks(columns: Iterator[Floats], n_users: int) -> Iterator[Floats]:
    """Give columns as matrices, users × columns, each of about `CELLS` cells."""
    n_at_once = max(1, CELLS // max(n_users, 1))
    while block := list(islice(columns, n_at_once)):
        yield _side_by_side(block)


def _side_by_side(columns: Sequence[Floats]) -> Floats:
    """Return columns as a matrix in which each lies together in memory.

    A sum then does not depend on the columns beside it.
    """
    matrix: Floats = np.stack(columns).T
    return matrix


def verdicts_of_pairs(
    tests: Paired,
    p: Floats,
    sample: UserSample,
    settings: Settings,
    better: Better,
) -> list[str]:
    """Return the verdict of each difference, by its p-value as it is corrected."""
    # A tie is one of lists, and what is drawn at random is a user or a cluster: a tie in
    # all lists of one alone says nothing, and is untested.
    all_tied = (tests.tied == sample.size) & (sample.n_units > 1)
    numbers = zip(tests.difference, tests.low, tests.high, p, all_tied, strict=True)
    return [
        verdict_of(*test, alpha=settings.alpha, better=better, all_tied=is_tied)
        for *test, is_tied in numbers
    ]


# Places of models


def places_of_parts(
    models: Models, measures: Sequence[Measure], k: Cutoffs, division: Division
) -> Iterator[Place]:
    """Compute metrics of every model, and give a place for each part and cut-off.

    Segments are cut out of the values of all users; a part of the truth is evaluated by
    itself.
    """
    if isinstance(division, DataParts):
        for part, part_models in division.evaluations_of(models):
            for place in _places_of_each(part_models, measures, k):
                bases = division.bases_of(part_models, place.bases)
                yield replace(place, part=part, bases=bases)
        return
    for place in _places_of_each(models, measures, k):
        if isinstance(division, Segments):
            yield from _segments_of(place, division)
        else:
            yield place


def _places_of_each(
    models: Models, measures: Sequence[Measure], k: Cutoffs
) -> Iterator[Place]:
    """Compute metrics of every model, each at its own cut-off or at all of `k`."""
    for measure in measures:
        yield from places_of(models, measure, measure.cutoffs(k))


def _segments_of(everyone: Place, segments: Segments) -> Iterator[Place]:
    """Give the place of each segment that has users with a value."""
    segment_of_user = segments.of(everyone.users)  # -1: in none
    for segment in np.unique(segment_of_user[segment_of_user >= 0]).tolist():
        inside = segment_of_user == segment
        place = everyone.among(inside)
        yield replace(place, part=segment, whole=(everyone, inside))


def places_of(models: Models, measure: Measure, cutoffs: Cutoffs) -> Iterator[Place]:
    """Compute a metric of every model, and give a place for each cut-off."""
    check_side_data(models, _side_data_of(measure.metric))
    values_of_models = [values_of(model, measure, cutoffs) for model in models.values()]
    if values_of_models[0].is_of_all:
        return _places_of_all_lists(values_of_models)
    return _places_of_users(values_of_models, next(iter(models.values())))


def _places_of_all_lists(values_of_models: Sequence[Values]) -> Iterator[Place]:
    """Give a place for each cut-off of a metric that is one number of a model's lists."""
    first = values_of_models[0]
    for index, cutoff in enumerate(first.k):
        numbers = [values.at(index) for values in values_of_models]
        yield Place(
            measure=first.measure,
            k=cutoff,
            users=first.users,
            values=np.empty((0, len(values_of_models))),
            sample=UserSample(len(first.users)),
            mean=np.array([number.mean[0] for number in numbers]),
            bases=[number.basis for number in numbers],
            of_all=numbers,
        )


def _places_of_users(
    values_of_models: Sequence[Values], data: EvaluationData
) -> Iterator[Place]:
    """Give a place for each cut-off: the users whom all models have a value of.

    `data`: of one of the models, which have the same weights and clusters.
    """
    first = values_of_models[0]
    users = users_in_common([values.users for values in values_of_models])
    sample = data.sample_of(users, data.source.weight_of(users))
    has_others = any(len(values.users) > len(users) for values in values_of_models)
    matrices = [values.matrix for values in values_of_models]
    if has_others:
        matrices = [_rows_of(values, users) for values in values_of_models]
    lacks_values = any(np.isnan(matrix).any() for matrix in matrices)
    means_of_models = np.array([values.mean for values in values_of_models])
    bases = [values.basis for values in values_of_models]
    for index, cutoff in enumerate(first.k):
        values_at_cutoff = _values_at(index, matrices)
        mean = means_of_models[:, index]
        if has_others:
            mean = means(values_at_cutoff, sample.weights)
        place = Place(
            measure=first.measure,
            k=cutoff,
            users=users,
            values=values_at_cutoff,
            sample=sample,
            mean=mean,
            bases=bases,
        )
        if lacks_values:
            has_values = ~np.isnan(values_at_cutoff).any(axis=1)
            place = place.among(np.asarray(has_values))
        yield place


def places_beyond(
    name: str, model: EvaluationData, measure: Measure, k: Cutoffs
) -> list[Place]:
    """Compute a metric beyond accuracy of a model, or say why it has no number."""
    places = list(places_of({name: model}, measure, k))
    if not any(np.isfinite(place.mean).any() for place in places):
        raise NoUsersError(measure.metric.no_value)
    return places


def _side_data_of(metric: Metric[...]) -> Sequence[str]:
    """Return the frames of side data that the values of a metric may depend on."""
    if metric.is_accuracy:
        return ()
    if metric.own:  # the function of which has the columns of items=
        return ("items",)
    return OF_ITEMS if metric.needs else ()


def _values_at(index: int, matrices: Sequence[Floats]) -> Floats:
    """Return the values at one of the cut-offs, users × models."""
    if len(matrices) == 1:  # whose columns lie together, and are not copied
        return matrices[0][:, index : index + 1]
    return _side_by_side([matrix[:, index] for matrix in matrices])


def _rows_of(values: Values, users: pl.Series) -> Floats:
    """Return the values of some users, who stand in one order everywhere."""
    rows: Floats = values.matrix[values.users.is_in(users.implode()).to_numpy()]
    return rows
