"""Means and paired differences of metrics at cut-offs, of all users or within segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl

from recnb.comparison.common_users import check_side_data, users_in_common
from recnb.comparison.results import POWER, Difference, Mean, Settings
from recnb.data.encoding import positions
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import FRAME, Argument, OptionError
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Bools
from recnb.report.data import SAME
from recnb.report.request import MetricOptions
from recnb.results.beyond_accuracy import UserValues, values_of
from recnb.results.curve import Curve
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import Segments, segments_of
from recnb.stats import Bounds, Moments, Paired, detectable, holm, paired
from recnb.stats.moments import sums_by

#: With more users than the first number, as many metrics at cut-offs as the second are compared at a time, to bound memory.
MANY_USERS, BLOCKS_AT_ONCE = 20_000, 4


@dataclass(frozen=True, eq=False)
class PairedValues:
    """One metric at one cut-off: the values of the users who have one in every model."""

    metric: Metric[...]
    k: int | None
    users: pl.Series
    values: Floats  #: users × models
    user: Ints | None = None  #: a number for the user of each row, where several rows may be one user's

    def only(self, kept: Bools) -> PairedValues:
        """The same for some of the users."""
        users = self.users.filter(pl.Series(kept, dtype=pl.Boolean))
        user = None if self.user is None else self.user[kept]
        return replace(self, users=users, values=np.compress(kept, self.values.T, axis=1).T, user=user)

    def of_users(self) -> PairedValues:
        """The same with one row a user, whose mean is that of the rows: sums of a user's rows, by the mean number of rows."""
        if self.user is None:
            return self
        numbers, at = np.unique(self.user, return_inverse=True)
        per_row = len(numbers) / max(len(at), 1)
        values = np.zeros((0, self.values.shape[1])) if not len(at) else sums_by(self.values, at) * per_row
        return replace(self, users=pl.Series(numbers), values=values, user=None)


def blocks_of(metric: Metric[...], cutoffs: Cutoffs, sides: Sequence[UserValues]) -> list[PairedValues]:
    """A block for each cut-off from the values of all models."""
    users = users_in_common([side.users for side in sides])
    # Users are sorted on every side, so those in common come in one order.
    values = [
        side.values if len(side.users) == len(users) else side.values[side.users.is_in(users.implode()).to_numpy()]
        for side in sides
    ]
    blocks = []
    for at, k in enumerate(cutoffs):
        # The values of a model lie together, so that a sum does not depend on what was computed with it.
        block = PairedValues(metric, k, users, np.stack([of_model[:, at] for of_model in values]).T)
        undefined = np.isnan(block.values).any(axis=1)
        blocks.append(block.only(np.logical_not(undefined)) if undefined.any() else block)
    return blocks


def computed_blocks(
    models: Mapping[str, EvaluationData], metrics: Iterable[MetricOptions], cutoffs: Cutoffs
) -> Iterator[list[PairedValues]]:
    """The blocks of one metric after the other."""
    for metric, options in metrics:
        if metric.needs:
            check_side_data(models)
        at = metric.cutoffs(cutoffs)
        yield blocks_of(
            metric.bounded(options), at, [values_of(model, metric, at, options) for model in models.values()]
        )


@dataclass(frozen=True)
class ComparedMetrics:
    """Means and differences."""

    means: tuple[Mean, ...]
    differences: tuple[Difference, ...]


class Measurement:
    """The means and differences of blocks that are added to it; corrections are over all of them."""

    def __init__(self, names: Sequence[str], pairs: Sequence[tuple[str, str]], settings: Settings) -> None:
        self.names, self.pairs, self.settings = names, pairs, settings
        self.means: list[Mean] = []
        self.differences: list[Difference] = []
        self.behind_best: list[Floats] = []

    def add(self, blocks: Sequence[PairedValues]) -> None:
        """Add blocks, which share the draws of users."""
        # Blocks with the same number of users, nearly always all of them.
        for _n, group in groupby(blocks, key=lambda block: len(block.users) if block.user is None else -id(block)):
            same = list(group)
            self._add_means(same)
            if self.pairs:
                self._add_differences([block.of_users() for block in same])
        self.behind_best += [_behind_best(block.of_users()) for block in blocks]

    def result(self) -> ComparedMetrics:
        """Everything added, corrected."""
        means = _marked(self.means, self.behind_best, self.settings.alpha)
        return ComparedMetrics(means, corrected(self.differences))

    def _add_means(self, blocks: Sequence[PairedValues]) -> None:
        n, user, bounds = len(blocks[0].users), blocks[0].user, _bounds(blocks, len(self.names))
        stacked = np.concatenate([block.values for block in blocks], axis=1)
        mean = low = high = np.full(stacked.shape[1], np.nan)
        if n:
            moments = Moments.of(stacked, bounds) if user is None else Moments.of_clusters(stacked, user, bounds)
            n, mean, (low, high) = moments.n, stacked.mean(axis=0), moments.interval(self.settings.confidence)
        columns = [(block, name) for block in blocks for name in self.names]
        self.means += [
            Mean(name, block.metric.name, block.metric.symbol, block.k, float(m), float(a), float(b), n, False, False)
            for (block, name), m, a, b in zip(columns, mean, low, high, strict=True)
        ]

    def _add_differences(self, blocks: Sequence[PairedValues]) -> None:
        settings = self.settings
        columns = [(block, pair) for block in blocks for pair in self.pairs]
        if len(blocks[0].users) == 0:
            self.differences += [_no_users(block, pair, settings.alpha) for block, pair in columns]
            return
        low, high = _bounds(blocks, len(self.pairs))
        at = {name: column for column, name in enumerate(self.names)}
        apart = [block.values[:, at[model]] - block.values[:, at[baseline]] for block, (model, baseline) in columns]
        tests = paired(
            np.stack(apart, axis=1),
            confidence=settings.confidence,
            test=settings.test,
            method="bootstrap" if settings.method == "bootstrap" else "t",
            resamples=settings.resamples,
            permutations=settings.permutations,
            seed=settings.seed,
            bounds=(low - high, high - low),
        )
        self.differences += [
            _difference(block, pair, tests, column, settings) for column, (block, pair) in enumerate(columns)
        ]


def measure(
    blocks: Iterable[list[PairedValues]], names: Sequence[str], pairs: Sequence[tuple[str, str]], settings: Settings
) -> ComparedMetrics:
    """Every mean and every difference; corrections are over all differences of the call."""
    measurement = Measurement(names, pairs, settings)
    for batch in _batches(blocks):
        measurement.add(batch)
    return measurement.result()


def _batches(blocks: Iterable[list[PairedValues]]) -> Iterator[list[PairedValues]]:
    """All blocks at once; with many users a few at a time, to bound what is held."""
    together = []
    for of_metric in steps(blocks, _("comparing")):
        if max(len(block.users) for block in of_metric) > MANY_USERS:
            yield from (of_metric[at : at + BLOCKS_AT_ONCE] for at in range(0, len(of_metric), BLOCKS_AT_ONCE))
        else:
            together += of_metric
    if together:
        yield together


def measure_by(
    models: Mapping[str, EvaluationData],
    metrics: Sequence[MetricOptions],
    cutoffs: Cutoffs,
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    by: Any,
    bins: int,
    blocks: Iterable[list[PairedValues]] | None = None,
) -> tuple[Segments, dict[tuple[Any, ...], ComparedMetrics]]:
    """Means and differences within each segment that has users, p-values corrected within it alone.

    `blocks` are the values of the users, if they are computed already. Of users that a column of the truth splits there is
    a row for each part, with other values.
    """
    first, *others = models.values()
    segments = segments_of(first, by, bins)
    evaluated = first.prepared.users if segments.parts is None else segments.users
    keys, code = segments.placed(evaluated)
    if segments.by_recs:
        _check_same(segments, [segments_of(model, by, bins) for model in others], evaluated)
    if segments.parts is not None:
        models = {name: segments.split(model) for name, model in models.items()}
    if segments.parts is not None or blocks is None:
        blocks = computed_blocks(models, metrics, cutoffs)
    measurements = {at: Measurement(list(models), pairs, settings) for at in np.unique(code).tolist()}
    for batch in _batches(blocks):
        for block in batch:
            segments.check(block.metric)
        # Users who are not evaluated, but have a list, are in no segment.
        places = [positions(evaluated, block.users) for block in batch]
        codes = [np.where(place >= 0, code[place], -1) for place in places]
        of_users = [replace(block, user=segments.user(block.users)) for block in batch]
        for at, measurement in measurements.items():
            measurement.add([block.only(of_user == at) for block, of_user in zip(of_users, codes, strict=True)])
    results = {keys[at]: measurement.result() for at, measurement in measurements.items()}
    return segments, {key: result for key, result in results.items() if result.means[0].n_users}


def _check_same(segments: Segments, others: Sequence[Segments], users: pl.Series) -> None:
    """Refuse a column of the recommendations that does not put a user into one segment, the same for every model."""
    keys, code = segments.placed(users)
    for other in others:
        if segments.parts is None and other.parts is None:
            theirs, of_other = other.placed(users)
            if [keys[at] for at in code.tolist()] == [theirs[at] for at in of_other.tolist()]:
                continue
        problem = " of the recommendations puts a user's lists from two models into different segments: "
        raise OptionError(
            Argument("by", segments.label), problem, "take a column of ", Argument("users", FRAME), " or of the truth."
        )


def differences_by(results: Mapping[tuple[Any, ...], ComparedMetrics]) -> list[tuple[tuple[Any, ...], Difference]]:
    """Each difference with the segment it is of; p-values are corrected over all segments, metrics and cut-offs."""
    keys = [key for key, result in results.items() for _difference in result.differences]
    differences = [difference for result in results.values() for difference in result.differences]
    return list(zip(keys, corrected(differences), strict=True))


def _bounds(blocks: Sequence[PairedValues], times: int) -> Bounds:
    """The bounds of each block's metric, for so many columns of each."""
    low, high = np.repeat(np.array([block.metric.bounds for block in blocks], dtype=np.float64), times, axis=0).T
    return low, high


def _difference(block: PairedValues, pair: tuple[str, str], tests: Paired, at: int, settings: Settings) -> Difference:
    values: dict[str, Any] = {name: float(getattr(tests, name)[at]) for name in ("low", "high", "p", "effect_size")}
    values |= {name: int(getattr(tests, name)[at]) for name in ("won", "tied", "lost")}
    values |= {"difference": float(tests.mean[at]), "n_users": tests.n}
    # If few users differ, how far others would differ cannot be estimated.
    if not np.isnan(tests.p[at]):
        values["detectable"] = detectable(float(tests.sd[at]), tests.n, POWER, settings.alpha)
    return replace(_no_users(block, pair, settings.alpha), **values)


def _no_users(block: PairedValues, pair: tuple[str, str], alpha: float) -> Difference:
    """The difference where no user has a value in every model."""
    return Difference(block.metric.name, block.metric.symbol, block.k, *pair, alpha=alpha)


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The same with p-values corrected over all of them."""
    if not differences:
        return ()
    p = np.array([difference.p for difference in differences])
    return tuple(replace(difference, p_holm=at) for difference, at in zip(differences, holm(p).tolist(), strict=True))


def _behind_best(block: PairedValues) -> Floats:
    """For each model the p of a paired t test against the best one of the block; NaN for what is the best.

    Beyond accuracy more is not better, and there is no best: NaN for all.
    """
    scores = block.values
    n, n_models = scores.shape
    if n == 0 or not block.metric.is_accuracy:
        return np.full(n_models, np.nan)
    behind = paired(scores[:, [int(scores.mean(axis=0).argmax())]] - scores)
    return np.where(behind.mean <= SAME, np.nan, behind.p)


def _marked(means: Sequence[Mean], behind_best: Sequence[Floats], alpha: float) -> tuple[Mean, ...]:
    """Mark the best mean of each column, and those not significantly different from it (Holm's correction over all columns)."""
    significant = holm(np.array(behind_best)) <= alpha
    marked: list[Mean] = []
    starts = range(0, len(means), significant.shape[1])
    for start, apart in zip(starts, significant, strict=True):
        column = means[start : start + len(apart)]
        top = max((mean.mean for mean in column if not np.isnan(mean.mean)), default=np.nan)
        for mean, is_apart in zip(column, apart.tolist(), strict=True):
            is_best = mean.judges and mean.mean >= top - SAME
            near = mean.judges and not is_best and not is_apart and mean.n_users > 0
            marked.append(replace(mean, best=is_best, near_best=near))
    return tuple(marked)


def curves_of(means: Sequence[Mean], names: Sequence[str]) -> dict[str, Curve]:
    """The means of one metric as the curve of each model."""
    curves = {}
    for name in names:
        points = [mean for mean in means if mean.model == name]
        columns = map(attrgetter("k", "mean", "low", "high", "n_users"), points)
        k, value, low, high, n_users = zip(*columns, strict=True)
        curves[name] = Curve(points[0].metric, points[0].symbol, k, value, low, high, min(n_users), "")
    return curves
