"""Means and paired differences of metrics at cut-offs, of all users or within segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl

from recnb.comparison.common_users import check_side_data, users_in_common
from recnb.data.encoding import positions
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Bools
from recnb.report.conclusions import POWER, Difference, Settings
from recnb.report.curve import Curve
from recnb.report.data import SAME, Mean
from recnb.report.request import MetricOptions
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import Segments, segments_of
from recnb.results.values import Values, values_of
from recnb.stats import Moments, detectable, holm, paired


@dataclass(frozen=True, eq=False)
class PairedValues:
    """One metric at one cut-off: the values of the users who have one in every model."""

    metric: Metric[...]
    k: int | None
    users: pl.Series
    values: Floats  #: users × models

    def only(self, kept: Bools) -> PairedValues:
        """Take some of the users."""
        users = self.users.filter(pl.Series(kept, dtype=pl.Boolean))
        return replace(self, users=users, values=np.compress(kept, self.values.T, axis=1).T)


def blocks_of(metric: Metric[...], cutoffs: Cutoffs, sides: Sequence[Values]) -> list[PairedValues]:
    """A block for each cut-off from the values of all models."""
    users = users_in_common([side.users for side in sides])
    # Users are sorted on every side, so those in common come in one order.
    values = [
        side.matrix if len(side.users) == len(users) else side.matrix[side.users.is_in(users.implode()).to_numpy()]
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


#: The means of one metric at one cut-off, the p of each against the best of them, and the differences.
Measured = tuple[list[Mean], Floats, list[Difference]]


def measure(
    blocks: Iterable[list[PairedValues]], names: Sequence[str], pairs: Sequence[tuple[str, str]], settings: Settings
) -> ComparedMetrics:
    """Measure every mean and every difference; corrections are over all of the call."""
    of_metrics = steps(blocks, _("comparing"))
    return _together(
        [_measured(block, names, pairs, settings) for each in of_metrics for block in each], settings.alpha
    )


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
    """Measure within each segment that has users, p-values corrected within it alone.

    `blocks` are the values of the users, if they are computed already.
    """
    first = next(iter(models.values()))
    segments = segments_of(first, by, bins)
    evaluated = first.prepared.users
    keys, code = segments.keys, segments.of(evaluated)
    measured: dict[int, list[Measured]] = {at: [] for at in np.unique(code).tolist()}
    for of_metric in steps(blocks or computed_blocks(models, metrics, cutoffs), _("comparing")):
        for block in of_metric:
            place = positions(evaluated, block.users)
            # Users who are not evaluated, but have a list, are in no segment.
            segment = np.where(place >= 0, code[place], -1)
            for at, own in measured.items():
                own.append(_measured(block.only(segment == at), list(models), pairs, settings))
    results = {keys[at]: _together(own, settings.alpha) for at, own in measured.items()}
    return segments, {key: result for key, result in results.items() if result.means[0].n_users}


def _measured(
    block: PairedValues, names: Sequence[str], pairs: Sequence[tuple[str, str]], settings: Settings
) -> Measured:
    """Measure one metric at one cut-off: means with the best marked, the p of each against the best, and differences."""
    metric, values = block.metric, block.values
    of_block: dict[str, Any] = {
        "metric": metric.name, "symbol": metric.symbol, "k": block.k, "n_users": len(values)
    }  # fmt: skip
    mean = low = high = behind_best = np.full(len(names), np.nan)
    if len(values):
        mean, (low, high) = values.mean(axis=0), Moments.of(values, metric.bounds).interval(settings.confidence)
    is_best = metric.is_accuracy & (
        mean >= mean.max() - SAME
    )  # beyond accuracy more is not better, and there is no best
    if is_best.any():
        behind_best = np.where(is_best, np.nan, paired(values[:, [int(mean.argmax())]] - values).p)
    means = [
        Mean(model, mean=m, low=a, high=b, best=best, near_best=False, **of_block)
        for model, m, a, b, best in zip(names, *(each.tolist() for each in (mean, low, high, is_best)), strict=True)
    ]
    if not pairs:
        return means, behind_best, []
    at, (lowest, highest) = {name: column for column, name in enumerate(names)}, metric.bounds
    tests = paired(
        np.stack([values[:, at[model]] - values[:, at[baseline]] for model, baseline in pairs], axis=1),
        confidence=settings.confidence,
        test=settings.test,
        method="bootstrap" if settings.method == "bootstrap" else "t",
        resamples=settings.resamples,
        permutations=settings.permutations,
        seed=settings.seed,
        bounds=(lowest - highest, highest - lowest),
    )
    columns = ("low", "high", "p", "effect_size", "won", "tied", "lost")
    differences = [
        Difference(
            model=model,
            baseline=baseline,
            difference=float(tests.mean[at]),
            # If few users differ, how far others would differ cannot be estimated.
            detectable=nan if isnan(tests.p[at]) else detectable(float(tests.sd[at]), tests.n, POWER, settings.alpha),
            alpha=settings.alpha,
            **{name: getattr(tests, name)[at].item() for name in columns},
            **of_block,
        )
        for at, (model, baseline) in enumerate(pairs)
    ]
    return means, behind_best, differences


def _together(measured: Sequence[Measured], alpha: float) -> ComparedMetrics:
    """Correct over all that was measured, and mark means that are not significantly different from the best of their column."""
    is_apart = holm(np.array([behind_best for _means, behind_best, _differences in measured])) <= alpha
    means = tuple(
        replace(mean, near_best=mean.judges and not (mean.best or apart) and mean.n_users > 0)
        for (of_block, _behind, _differences), of_means in zip(measured, is_apart.tolist(), strict=True)
        for mean, apart in zip(of_block, of_means, strict=True)
    )
    return ComparedMetrics(means, corrected([row for _means, _behind, differences in measured for row in differences]))


def differences_by(results: Mapping[tuple[Any, ...], ComparedMetrics]) -> list[tuple[tuple[Any, ...], Difference]]:
    """Each difference with the segment it is of; p-values are corrected over all segments, metrics and cut-offs."""
    keys = [key for key, result in results.items() for _difference in result.differences]
    differences = [difference for result in results.values() for difference in result.differences]
    return list(zip(keys, corrected(differences), strict=True))


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The same with p-values corrected over all of them."""
    if not differences:
        return ()
    p = np.array([difference.p for difference in differences])
    return tuple(replace(difference, p_holm=at) for difference, at in zip(differences, holm(p).tolist(), strict=True))


def curves_of(means: Sequence[Mean], names: Sequence[str]) -> dict[str, Curve]:
    """The means of one metric as the curve of each model."""
    curves = {}
    for name in names:
        points = [mean for mean in means if mean.model == name]
        columns = map(attrgetter("k", "mean", "low", "high", "n_users"), points)
        k, value, low, high, n_users = zip(*columns, strict=True)
        curves[name] = Curve(points[0].metric, points[0].symbol, k, value, low, high, min(n_users))
    return curves
