"""Measure columns: means with intervals, differences with tests, and verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Bools, Cutoffs, Floats, cached_property
from recnb.metrics.metric import Metric
from recnb.results.arguments import Asked
from recnb.results.columns import Column
from recnb.results.evaluation_data import Models
from recnb.results.numbers import (
    POWER,
    SAME,
    DifferenceArrays,
    MeanArrays,
    Numbers,
    Pairs,
    Place,
)
from recnb.results.segments import WHOLE, Division
from recnb.results.values import Basis, WordedBasis
from recnb.results.verdicts import NOT_FOUND, verdict_of
from recnb.stats import Paired, Settings, detectable, gap_to_rest, holm, paired

#: Differences of users that are tested at once; the processor's cache holds as many.
CELLS = 2**18

#: The pair that a gap is of: the users of a segment, and all others, of one model.
GAP = ("", "")

#: The numbers of a difference by itself; corrections and verdicts come of all together.
TESTED = (
    "difference",
    "low",
    "high",
    "p",
    "effect_size",
    "won",
    "tied",
    "lost",
    "detectable",
)


def measured(
    models: Models,
    asked: Sequence[Asked],
    k: Cutoffs,
    *,
    division: Division = WHOLE,
    pairs: Pairs = (),
    settings: Settings | None = None,
    intervals: bool = True,
) -> Numbers:
    """Measure metrics of models in each part of a division.

    Measured are means, and the differences of `pairs` with tests. For one model in
    segments, these are the differences of its users from all others.
    """
    return numbers_of(
        division.columns(models, asked, k),
        list(models),
        division=division,
        pairs=pairs,
        settings=settings,
        intervals=intervals,
    )


def numbers_of(
    columns: Iterable[Column],
    models: Sequence[str],
    *,
    division: Division = WHOLE,
    pairs: Pairs = (),
    settings: Settings | None = None,
    intervals: bool = True,
) -> Numbers:
    """Measure columns, whose models have these names."""
    settings = settings or Settings()
    if len(models) > 1:
        columns = steps(columns, _("comparing"))
    has_gaps = division.has_gaps and len(models) == 1
    measuring = _Measuring(
        models=list(models),
        pairs=[GAP] if has_gaps else list(pairs),
        has_gaps=has_gaps,
        settings=settings,
        has_intervals=intervals,
        is_tested=division.is_tested,
    )
    of_places = [measuring.measure(column) for column in columns]
    return _together(of_places, measuring, division)


# One place: the numbers of its column


class _PlaceNumbers(NamedTuple):
    """The numbers of a place: arrays by model or by pair."""

    place: Place
    mean: Floats  #: by model
    low: Floats  #: by model
    high: Floats  #: by model
    best: Bools  #: by model
    p_of_best: Floats  #: by model, against the best; NaN where that is not tested
    tests: Mapping[str, Any]  #: the numbers of `TESTED` by name, each by pair
    bases: Sequence[Basis | WordedBasis]  #: by model


@dataclass(frozen=True)
class _Measuring:
    """The measuring of columns: of which models and pairs, and how."""

    models: Sequence[str]
    pairs: Pairs
    has_gaps: bool  #: whether the one pair is `GAP`
    settings: Settings
    has_intervals: bool
    is_tested: bool  #: whether pairs are tested

    def measure(self, column: Column) -> _PlaceNumbers:
        """Measure a column."""
        n_models = len(self.models)
        low = high = p_of_best = np.full(n_models, nan)
        best = np.zeros(n_models, dtype=bool)
        if self.has_intervals:
            low, high = column.interval(self.settings.confidence)
        if n_models > 1 and not column.of_all:
            best = _best_of(column.mean, column.measure.metric)
        if self.pairs and self.is_tested and best.any():
            p_of_best = self._against(column, best)
        return _PlaceNumbers(
            place=Place(
                part=column.part,
                name=column.name,
                measure=column.measure,
                k=column.k,
                n_users=column.n_users,
                n_lists=column.n_lists,
                cluster=column.cluster,
            ),
            mean=column.mean,
            low=low,
            high=high,
            best=best,
            p_of_best=p_of_best,
            tests=self._tests(column),
            bases=column.bases,
        )

    def _against(self, column: Column, best: Bools) -> Floats:
        """Return the p-value of each model against the best, of equal ones the first.

        NaN for the best themselves, and where the difference from the best is tested
        as a pair.
        """
        p = np.full(len(self.models), nan)
        top = int(np.argmax(best))
        in_pairs = {frozenset(pair) for pair in self.pairs}
        others = []
        for index, model in enumerate(self.models):
            is_pair = frozenset((model, self.models[top])) in in_pairs
            if not (best[index] or is_pair):
                others.append(index)
        if others:
            behind = column.values[:, [top]] - column.values[:, others]
            tests = paired(
                behind,
                self.settings,
                _bounds_of_difference(column),
                weights=column.weights,
                clusters=column.clusters,
            )
            p[others] = tests.p
        return p

    def _tests(self, column: Column) -> Mapping[str, Any]:
        """Return the differences of each pair with their tests."""
        if self.has_gaps:
            return _gap(column, self.settings.confidence)
        n_pairs = len(self.pairs)
        if n_pairs == 0 or not self.is_tested or column.of_all:
            return self._untested
        block_size = self._block_size(n_users=len(column.values))
        blocks = []
        for start in range(0, n_pairs, block_size):
            pairs = self.pairs[start : start + block_size]
            blocks.append(self._tests_of(column, pairs))
        return {
            name: np.concatenate([block[name] for block in blocks]) for name in TESTED
        }

    @cached_property
    def _untested(self) -> Mapping[str, Any]:
        """The differences of a column whose pairs are not tested."""
        return _untested(len(self.pairs))

    def _block_size(self, n_users: int) -> int:
        """Return how many pairs are tested at once: as many as are fast."""
        return max(1, CELLS // max(n_users, 1))

    def _tests_of(self, column: Column, pairs: Pairs) -> Mapping[str, Any]:
        """Test pairs of models; where less is better, a user is won by the lower value."""
        models = [self.models.index(model) for model, _baseline in pairs]
        baselines = [self.models.index(baseline) for _model, baseline in pairs]
        differences = column.values[:, models] - column.values[:, baselines]
        tests = paired(
            differences,
            self.settings,
            _bounds_of_difference(column),
            weights=column.weights,
            clusters=column.clusters,
        )
        won, lost = tests.won, tests.lost
        if column.measure.metric.better == "low":
            won, lost = lost, won
        return {
            "difference": tests.mean,
            "low": tests.low,
            "high": tests.high,
            "p": tests.p,
            "effect_size": tests.effect_size,
            "won": won,
            "tied": tests.tied,
            "lost": lost,
            "detectable": detectable_of(tests, self.settings.alpha),
        }


def _bounds_of_difference(column: Column) -> tuple[float, float]:
    """Return the lowest and the highest possible difference of two models."""
    lowest, highest = column.measure.bounds
    return lowest - highest, highest - lowest


def detectable_of(tests: Paired, alpha: float) -> Floats:
    """Return the smallest difference of each pair that a test is likely to find.

    NaN where so few users differ that there is no test.
    """
    smallest = np.full(len(tests.p), nan)
    for pair in np.flatnonzero(~np.isnan(tests.p)).tolist():
        sd = float(tests.sd[pair])
        smallest[pair] = detectable(sd, tests.n_effective, POWER, alpha)
    # `reach` is 0 without weights of users. With them it is how far the heaviest users
    # alone can move a mean, and a difference is found only beyond it.
    return smallest + tests.reach


def _best_of(mean: Floats, metric: Metric[...]) -> Bools:
    """Mark the best of the means of several models.

    No mean is marked if all are the same, or if the metric has no better direction.
    """
    if metric.better is None:
        return np.zeros(len(mean), dtype=bool)
    ordered = metric.sign * mean
    best: Bools = ordered >= ordered.max() - SAME
    return np.zeros(len(mean), dtype=bool) if best.all() else best


def _untested(n_pairs: int) -> dict[str, Any]:
    """Return the differences of pairs that are not tested."""
    numbers: dict[str, Any] = {name: np.full(n_pairs, nan) for name in TESTED}
    for name in ("won", "tied", "lost"):
        numbers[name] = np.zeros(n_pairs, dtype=np.int64)
    return numbers


def _gap(column: Column, confidence: float) -> dict[str, Any]:
    """Test the users of a segment against all others."""
    whole, inside = column.whole, column.inside
    assert whole is not None
    assert inside is not None
    gap, low, high, p = gap_to_rest(
        whole.values, inside, confidence, whole.weights, whole.clusters
    )
    return _untested(1) | {"difference": gap, "low": low, "high": high, "p": p}


# All places together: corrections, verdicts, and what is near the best


def _together(
    of_places: Sequence[_PlaceNumbers], measuring: _Measuring, division: Division
) -> Numbers:
    """Return the numbers of all places, whose tests are corrected together."""
    # The numbers of a metric, at any cut-off and in any part, rest on the same.
    bases = {numbers.place.name: numbers.bases for numbers in of_places}
    of_places = sorted(of_places, key=lambda numbers: numbers.place.part)
    places = [numbers.place for numbers in of_places]
    n_models, n_pairs = len(measuring.models), len(measuring.pairs)
    tests = {
        name: _stacked([numbers.tests[name] for numbers in of_places], n_pairs)
        for name in TESTED
    }
    differences = _concluded(places, tests, measuring)
    best = _stacked([numbers.best for numbers in of_places], n_models).astype(bool)
    near_best = np.zeros_like(best)
    if measuring.pairs and n_models > 1 and division.is_tested:
        p_of_best = _stacked([numbers.p_of_best for numbers in of_places], n_models)
        near_best = _near_best(places, best, p_of_best, differences.verdict, measuring)
    return Numbers(
        places=places,
        models=measuring.models,
        pairs=measuring.pairs,
        means=MeanArrays(
            mean=_stacked([numbers.mean for numbers in of_places], n_models),
            low=_stacked([numbers.low for numbers in of_places], n_models),
            high=_stacked([numbers.high for numbers in of_places], n_models),
            best=best,
            near_best=near_best,
        ),
        differences=differences,
        bases=bases,
        division=division,
    )


def _stacked(of_places: Sequence[Any], n: int) -> NDArray[Any]:
    """Return places × models or pairs, of which there are `n`; also without a place."""
    return np.reshape(of_places, (len(of_places), n))


def _concluded(
    places: Sequence[Place], tests: Mapping[str, Any], measuring: _Measuring
) -> DifferenceArrays:
    """Correct the p-values of differences, and give each its verdict."""
    p, settings = tests["p"], measuring.settings
    is_test = ~np.isnan(p)
    # Two segments are each the rest of the other: they are one test, which is corrected
    # as one, and both have its p-value.
    same_tests = _same_tests(places, p) if measuring.has_gaps else []
    for _first, second in same_tests:
        is_test[second] = False
    families = [_column_name(place) for place in places]
    p_holm = _corrected(np.where(is_test, p, nan), families)
    for first, second in same_tests:
        p_holm[second] = p_holm[first]
    verdict = _verdicts(places, tests, p_holm, settings.alpha)
    return DifferenceArrays(**tests, p_holm=p_holm, verdict=verdict, is_test=is_test)


def _verdicts(
    places: Sequence[Place], tests: Mapping[str, Any], p_holm: Floats, alpha: float
) -> NDArray[Any]:
    """Return the verdict of each difference."""
    verdict = np.empty(p_holm.shape, dtype=object)
    for index, place in enumerate(places):
        # A tie is one of lists, and what is drawn at random is a user or a cluster: a
        # tie in all lists of one alone says nothing, and is untested.
        n_lists = place.n_lists or place.n_users
        is_tied = tests["tied"][index] == n_lists
        all_tied = is_tied & (place.n_users > 1)
        for pair in range(p_holm.shape[1]):
            verdict[index, pair] = verdict_of(
                tests["difference"][index, pair],
                tests["low"][index, pair],
                tests["high"][index, pair],
                float(p_holm[index, pair]),
                alpha=alpha,
                better=place.measure.metric.better,
                all_tied=all_tied[pair],
            )
    return verdict


def _same_tests(places: Sequence[Place], p: Floats) -> list[tuple[int, int]]:
    """Return the places of both segments, by position, where there are two."""
    segments = dict[Hashable, list[int]]()
    for index, place in enumerate(places):
        segments.setdefault((place.measure.name, place.k), []).append(index)
    same_tests = []
    for indexes in segments.values():
        if len(indexes) == 2 and not np.isnan(p[indexes]).any():
            first, second = indexes
            same_tests.append((first, second))
    return same_tests


def _column_name(place: Place) -> str:
    """Return the name of a column, whose tests are corrected together."""
    return f"{place.measure.name} {place.k}"


def _corrected(p: Floats, families: Sequence[str]) -> Floats:
    """Correct p-values by Holm's method, over the places of each family together."""
    family_of_each = np.repeat(families, p.shape[1]).tolist()
    return holm(p.ravel(), family_of_each).reshape(p.shape)


def _near_best(
    places: Sequence[Place],
    best: Bools,
    p_of_best: Floats,
    verdict: NDArray[Any],
    measuring: _Measuring,
) -> Bools:
    """Mark the means that are not shown to differ from the best of their place.

    A pair of models has one verdict: that of its difference if the two are compared,
    else that of a test against the best, corrected over these tests of a part.
    """
    alpha = measuring.settings.alpha
    # Each part has a best of its own, so its number is in the names of families.
    families = [f"{place.part} {_column_name(place)}" for place in places]
    p_holm = _corrected(p_of_best, families)
    # NaN, where there is no test, has no mark.
    is_near = p_holm > alpha
    pair_of = {frozenset(pair): index for index, pair in enumerate(measuring.pairs)}
    for index in range(len(places)):
        top = measuring.models[int(np.argmax(best[index]))]
        for model, name in enumerate(measuring.models):
            pair = pair_of.get(frozenset((name, top)))
            if pair is not None:
                is_near[index, model] = verdict[index, pair] in NOT_FOUND
    has_best: Bools = np.logical_or.reduce(best, axis=1)
    marked: Bools = has_best[:, np.newaxis] & ~best & is_near
    return marked
