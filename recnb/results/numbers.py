"""Numbers: means with intervals and differences with tests, each once, of all users or
of each part of a split. Tables, curves, segments, gates and reports are views of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Bools, Cutoffs, Floats, Ints
from recnb.metrics.metric import Better, Metric
from recnb.results.arguments import Asked
from recnb.results.columns import Column
from recnb.results.evaluation_data import Models
from recnb.results.segments import WHOLE, Split
from recnb.results.values import Basis, Said
from recnb.results.verdicts import FOUND, verdict_of
from recnb.stats import Settings, detectable, gap_to_rest, holm, paired

#: Values closer than this are the same: sums taken in another order differ in the last
#: places.
SAME = 1e-12

#: The power of the difference that is called detectable.
POWER = 0.8

#: Differences of users that are tested at once: so few that the processor's cache holds
#: them.
CELLS = 2**18

#: Models, each with the one that it is compared with.
Pairs = Sequence[tuple[str, str]]

#: The pair that a gap is of: the users of a segment, and all others, of one model.
GAP = ("", "")


class Place(NamedTuple):
    """What a row of numbers is of."""

    part: int  #: the position of its segment in the keys of the split
    name: str  #: of the metric, as it is asked for
    metric: Metric[...]
    k: int | None
    n_users: int


class Means(NamedTuple):
    """Means, places × models."""

    mean: Floats
    low: Floats  #: NaN without an interval
    high: Floats
    best: Bools  #: of several models the best, or the same to the last digits
    near_best: Bools  #: not shown to differ from the best


class Differences(NamedTuple):
    """Differences, places × pairs; NaN where they are not tested."""

    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    p_holm: Floats  #: corrected with all others that are tested together
    effect_size: Floats
    won: Ints
    tied: Ints
    lost: Ints
    detectable: Floats  #: the smallest difference found with 80 % power
    verdict: NDArray[Any]
    is_test: Bools  #: whether it is a test of its own


@dataclass(frozen=True, slots=True)
class MeanRow:
    """One model's number of a metric at a cut-off, with the ends of its interval; NaN
    where it has none.
    """

    model: str
    metric: str
    symbol: str
    k: int | None
    mean: float
    low: float
    high: float
    n_users: int
    best: bool = False
    near_best: bool = False

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return label_of(self.symbol, self.k)


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One model against another in a metric at a cut-off, over the users of both; or
    the users of a segment against all others, which names no model.
    """

    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    effect_size: float
    won: int
    tied: int
    lost: int
    n_users: int
    detectable: float
    better: Better
    verdict: str

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return label_of(self.symbol, self.k)

    @property
    def is_found(self) -> bool:
        """Whether the two are shown to differ."""
        return self.verdict in FOUND

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain Python; its verdict says what is better."""
        values = asdict(self)
        del values["better"]
        return values


def label_of(symbol: str, k: int | None) -> str:
    """Return a metric at a cut-off, as nDCG@10."""
    return symbol if k is None else f"{symbol}@{k}"


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is measured of models."""

    places: Sequence[Place]  #: those of a part together
    models: Sequence[str]
    pairs: Pairs
    means: Means
    differences: Differences
    #: Of each model, by metric as it is asked for, in this order.
    bases: Mapping[str, Sequence[Basis | Said]]
    split: Split

    def mean_rows(self) -> Iterator[MeanRow]:
        """Give each mean, models of a place together."""
        columns = [column.tolist() for column in self.means]
        for row, place in enumerate(self.places):
            for model, name in enumerate(self.models):
                mean, low, high, best, near_best = [
                    column[row][model] for column in columns
                ]
                yield MeanRow(
                    model=name,
                    metric=place.metric.name,
                    symbol=place.metric.symbol,
                    k=place.k,
                    mean=mean,
                    low=low,
                    high=high,
                    n_users=place.n_users,
                    best=best,
                    near_best=near_best,
                )

    def difference_rows(self) -> Iterator[DifferenceRow]:
        """Give each difference, pairs of a place together."""
        names = Differences._fields[:-1]
        columns = [getattr(self.differences, name).tolist() for name in names]
        for row, place in enumerate(self.places):
            for pair, (model, baseline) in enumerate(self.pairs):
                values = [column[row][pair] for column in columns]
                yield DifferenceRow(
                    metric=place.metric.name,
                    symbol=place.metric.symbol,
                    k=place.k,
                    model=model,
                    baseline=baseline,
                    n_users=place.n_users,
                    better=place.metric.better,
                    **dict(zip(names, values, strict=True)),
                )


def measured(
    models: Models,
    asked: Sequence[Asked],
    k: Cutoffs,
    *,
    split: Split = WHOLE,
    pairs: Pairs = (),
    settings: Settings | None = None,
    intervals: bool = True,
) -> Numbers:
    """Measure metrics of models in each part of a split: means, and the differences of
    `pairs` with tests; of one model in segments, its gaps to all other users.
    """
    return numbers_of(
        split.columns(models, asked, k),
        list(models),
        split=split,
        pairs=pairs,
        settings=settings,
        intervals=intervals,
    )


def numbers_of(
    columns: Iterable[Column],
    models: Sequence[str],
    *,
    split: Split = WHOLE,
    pairs: Pairs = (),
    settings: Settings | None = None,
    intervals: bool = True,
) -> Numbers:
    """Measure columns, whose models have these names."""
    settings = settings or Settings()
    if pairs and settings.test == "randomization":
        columns = list(columns)
        settings = _with_draws(settings, columns, max(len(pairs), len(models)))
    if len(models) > 1:
        columns = steps(columns, _("comparing"))
    has_gaps = split.has_gaps and len(models) == 1
    measure = _Measuring(
        models=list(models),
        pairs=[GAP] if has_gaps else list(pairs),
        settings=settings,
        has_intervals=intervals,
        is_tested=split.is_tested,
    )
    rows = [measure.row_of(column) for column in columns]
    return _together(rows, measure, split)


def _with_draws(
    settings: Settings, columns: Sequence[Column], n_tests: int
) -> Settings:
    """Return the settings of a randomization test with as many draws as the number of
    tests that one correction is over, at most.
    """
    metrics = [column.metric.name for column in columns]
    n_columns = len(columns)
    if settings.correction == "metric":
        n_columns = max(map(metrics.count, {*metrics}), default=0)
    return settings.of_tests(n_columns * n_tests)


# One place: a column measured


class _Row(NamedTuple):
    """The numbers of a column."""

    place: Place
    means: Sequence[Any]  #: mean, low, high and best, of each model
    p_of_best: Floats  #: of each model against the best; NaN where that is not tested
    differences: Mapping[str, Any]  #: of each pair
    bases: Sequence[Basis | Said]


@dataclass(frozen=True)
class _Measuring:
    """What is measured of each column."""

    models: Sequence[str]
    pairs: Pairs
    settings: Settings
    has_intervals: bool
    is_tested: bool  #: whether pairs are tested

    def row_of(self, column: Column) -> _Row:
        """Measure a column."""
        metric = column.metric
        low = high = np.full(len(self.models), nan)
        if self.has_intervals:
            low, high = column.interval(self.settings.confidence)
        best = np.zeros(len(self.models), dtype=bool)
        if len(self.models) > 1 and not column.of_all:
            best = _best_of(column.mean, metric)
        p_of_best = np.full(len(self.models), nan)
        if self.pairs and self.is_tested and best.any():
            p_of_best = self._against(column, best)
        return _Row(
            place=Place(column.part, column.name, metric, column.k, column.n_users),
            means=[column.mean, low, high, best],
            p_of_best=p_of_best,
            differences=self._differences(column),
            bases=column.bases,
        )

    def _against(self, column: Column, best: Bools) -> Floats:
        """Return the p-value of each model against the best, of equal ones the first;
        NaN for those whose difference from it is tested as a pair.
        """
        p = np.full(len(self.models), nan)
        top = int(np.argmax(best))
        in_pairs = {frozenset(pair) for pair in self.pairs}
        others = []
        for place, model in enumerate(self.models):
            is_pair = frozenset((model, self.models[top])) in in_pairs
            if not (best[place] or is_pair):
                others.append(place)
        if others:
            behind = column.values[:, [top]] - column.values[:, others]
            p[others] = paired(behind, self.settings, weights=column.weights).p
        return p

    def _differences(self, column: Column) -> Mapping[str, Any]:
        """Return the differences of each pair with their tests."""
        if self.pairs == [GAP]:
            return _gap(column, self.settings.confidence)
        if not self.is_tested or column.of_all:
            return _untested(len(self.pairs))
        # So many at a time as are fast; all at once where they share drawn signs.
        at_once = max(1, CELLS // max(len(column.values), 1))
        if self.settings.test == "randomization":
            at_once = max(1, len(self.pairs))
        blocks = [
            self._tests(column, self.pairs[start : start + at_once])
            for start in range(0, len(self.pairs), at_once)
        ]
        if not blocks:
            return _untested(0)
        return {
            name: np.concatenate([block[name] for block in blocks]) for name in TESTED
        }

    def _tests(self, column: Column, pairs: Pairs) -> Mapping[str, Any]:
        """Test pairs of models; where less is better, a user is won by the lower value."""
        lowest, highest = column.metric.bounds
        models = [self.models.index(model) for model, _baseline in pairs]
        baselines = [self.models.index(baseline) for _model, baseline in pairs]
        values = column.values[:, models] - column.values[:, baselines]
        bounds = (lowest - highest, highest - lowest)
        tests = paired(values, self.settings, bounds, column.weights)
        won, lost = tests.won, tests.lost
        if column.metric.better == "low":
            won, lost = lost, won
        smallest = np.full(len(pairs), nan)
        # If few users differ, how far others would differ cannot be estimated.
        for pair in np.flatnonzero(~np.isnan(tests.p)).tolist():
            sd = float(tests.sd[pair])
            alpha = self.settings.alpha
            smallest[pair] = detectable(sd, tests.n_effective, POWER, alpha)
        return {
            "difference": tests.mean,
            "low": tests.low,
            "high": tests.high,
            "p": tests.p,
            "effect_size": tests.effect_size,
            "won": won,
            "tied": tests.tied,
            "lost": lost,
            "detectable": smallest + tests.reach,
        }


#: The numbers of a difference; what follows from all of them together comes after.
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


def _best_of(mean: Floats, metric: Metric[...]) -> Bools:
    """Mark the best of the means of several models; none where neither more nor less is
    better, and none where all are the same.
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
    gap, low, high, p = gap_to_rest(whole.values, inside, confidence, whole.weights)
    return _untested(1) | {"difference": gap, "low": low, "high": high, "p": p}


# All places together: corrections, verdicts, and what is near the best


def _together(rows: Sequence[_Row], measure: _Measuring, split: Split) -> Numbers:
    """Return the numbers of all columns, whose tests are corrected together."""
    bases = {row.place.name: row.bases for row in rows}
    rows = sorted(rows, key=lambda row: row.place.part)
    places = [row.place for row in rows]
    n_models, n_pairs = len(measure.models), len(measure.pairs)
    mean, low, high, best = [
        _stacked([row.means[at] for row in rows], n_models) for at in range(4)
    ]
    tests = {
        name: _stacked([row.differences[name] for row in rows], n_pairs)
        for name in TESTED
    }
    differences = _concluded(places, tests, measure)
    near_best = np.zeros((len(rows), n_models), dtype=bool)
    if measure.pairs and n_models > 1:
        p_of_best = _stacked([row.p_of_best for row in rows], n_models)
        near_best = _near_best(places, best, p_of_best, differences.verdict, measure)
    return Numbers(
        places=places,
        models=measure.models,
        pairs=measure.pairs,
        means=Means(mean, low, high, best.astype(bool), near_best),
        differences=differences,
        bases=bases,
        split=split,
    )


def _stacked(rows: Sequence[Any], n_columns: int) -> NDArray[Any]:
    """Return rows as a matrix, which has columns without a row as well."""
    return np.stack(rows) if rows else np.zeros((0, n_columns))


def _concluded(
    places: Sequence[Place], tests: Mapping[str, Any], measure: _Measuring
) -> Differences:
    """Correct the p-values of differences, and give each its verdict."""
    p, settings = tests["p"], measure.settings
    twins = _twins(places, p) if measure.pairs == [GAP] else {}
    is_test = ~np.isnan(p)
    is_test[[*twins]] = False
    groups: list[Hashable] = [()] * len(places)
    if settings.correction == "metric":
        groups = [place.metric.name for place in places]
    p_holm = _corrected(np.where(is_test, p, nan), groups)
    for second, first in twins.items():
        p_holm[second] = p_holm[first]
    verdict = np.full(p.shape, "untested", dtype=object)
    for row, place in enumerate(places):
        numbers = [tests[name][row].tolist() for name in ("difference", "low", "high")]
        verdict[row] = [
            verdict_of(*of_pair, alpha=settings.alpha, better=place.metric.better)
            for of_pair in zip(*numbers, p_holm[row].tolist(), strict=True)
        ]
        if place.n_users > 1:  # no user has another value
            verdict[row, tests["tied"][row] == place.n_users] = "same"
    return Differences(**tests, p_holm=p_holm, verdict=verdict, is_test=is_test)


def _twins(places: Sequence[Place], p: Floats) -> dict[int, int]:
    """Return the second of two segments with the first, where there are two: each is
    the rest of the other, which is one test.
    """
    segments = dict[Hashable, list[int]]()
    for row, place in enumerate(places):
        segments.setdefault((place.metric.name, place.k), []).append(row)
    twins = {}
    for rows in segments.values():
        if len(rows) == 2 and not np.isnan(p[rows]).any():
            twins[rows[1]] = rows[0]
    return twins


def _corrected(p: Floats, groups: Sequence[Hashable]) -> Floats:
    """Correct p-values by Holm's method, over the rows of each group together."""
    corrected = np.array(p)
    for group in dict.fromkeys(groups):
        rows = [row for row, of_row in enumerate(groups) if of_row == group]
        tests = p[rows]
        corrected[rows] = holm(tests.ravel()).reshape(tests.shape)
    return corrected


def _near_best(
    places: Sequence[Place],
    best: Bools,
    p_of_best: Floats,
    verdict: NDArray[Any],
    measure: _Measuring,
) -> Bools:
    """Mark the means that are not shown to differ from the best of their place.

    A pair of models has one verdict: that of its difference if the two are compared,
    else that of a test against the best, corrected over these tests of a part.
    """
    settings = measure.settings
    groups = list[Hashable]()
    for place in places:
        within = place.metric.name if settings.correction == "metric" else ""
        groups.append((place.part, within))
    p_holm = _corrected(p_of_best, groups)
    pair_of = {frozenset(pair): at for at, pair in enumerate(measure.pairs)}
    is_near = np.zeros(best.shape, dtype=bool)
    for row, place in enumerate(places):
        if not best[row].any() or place.n_users == 0:
            continue
        top = measure.models[int(np.argmax(best[row]))]
        for column, model in enumerate(measure.models):
            pair = pair_of.get(frozenset((model, top)))
            if pair is None:
                is_apart = p_holm[row, column] <= settings.alpha
            else:
                is_apart = verdict[row, pair] in FOUND
            is_near[row, column] = not (best[row, column] or is_apart)
    return is_near
