"""Means and paired differences of metrics at cut-offs, of all users or within segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from recnb.comparison.common_users import values
from recnb.comparison.results import POWER, CurveLine, Difference, Mean, Settings
from recnb.data.subset import among
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import segments_of
from recnb.stats import ENOUGH, MANY_USERS, Bounds, Paired, benjamini_hochberg, detectable, holm, intervals, paired
from recnb.stats.tests import settled, student

#: With many users, so many metrics at a cut-off are computed at a time, to bound memory.
BLOCKS_AT_ONCE = 4

#: Means closer than this are the same: sums taken in another order differ in the last places.
SAME = 1e-12


@dataclass(frozen=True)
class MetricRequest:
    """What to compare: metrics with their options, cut-offs, and pairs of models."""

    metrics: Sequence[Metric[...]]
    options: Sequence[Mapping[str, Any]]
    cutoffs: Cutoffs
    pairs: Sequence[tuple[str, str]]  #: model and baseline


@dataclass(frozen=True)
class ComparedMetrics:
    """Means and differences, and the methods of their intervals."""

    means: tuple[Mean, ...]
    differences: tuple[Difference, ...]
    settings: Settings


@dataclass(frozen=True)
class Block:
    """One metric at one cut-off: the values of the users who have one in every model."""

    metric: Metric[...]
    k: int | None
    values: Floats  #: users × models


def measure(models: Mapping[str, EvaluationData], request: MetricRequest, settings: Settings) -> ComparedMetrics:
    """Every mean and every difference; corrections are over all differences of the call."""
    names = list(models)
    means: list[Mean] = []
    differences: list[Difference] = []
    to_best: list[Floats] = []
    methods: set[str] = set()
    mean_method = ""
    work, n_batches = _batches(models, request), _n_batches(models, request)
    for blocks in steps(work, _("comparing"), n_batches) if n_batches > 1 else work:
        batch_means, mean_method = _means(blocks, names, settings)
        means += batch_means
        to_best += [_behind_best(block) for block in blocks]
        if request.pairs:
            batch_differences, batch_methods = _differences(blocks, names, request.pairs, settings)
            differences += batch_differences
            methods |= batch_methods
    used = replace(settings, mean_method=mean_method, methods=tuple(sorted(methods, reverse=True)))
    return ComparedMetrics(_marked(means, to_best, settings.alpha), corrected(differences), used)


def _batches(models: Mapping[str, EvaluationData], request: MetricRequest) -> Iterator[list[Block]]:
    """All blocks at once, which share the draws of users; with many users a few at a time, to bound what is held."""
    each = (
        [
            Block(metric, k, block_values)
            for k, block_values in zip(request.cutoffs, values(models, metric, request.cutoffs, options), strict=True)
        ]
        for metric, options in zip(request.metrics, request.options, strict=True)
    )
    if max(model.n_users for model in models.values()) > MANY_USERS:
        for blocks in each:
            for start in range(0, len(blocks), BLOCKS_AT_ONCE):
                yield blocks[start : start + BLOCKS_AT_ONCE]
    else:
        yield [block for blocks in each for block in blocks]


def _n_batches(models: Mapping[str, EvaluationData], request: MetricRequest) -> int:
    if max(model.n_users for model in models.values()) <= MANY_USERS:
        return 1
    return len(request.metrics) * -(-len(request.cutoffs) // BLOCKS_AT_ONCE)


def _of_one_size(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Groups of blocks with the same number of users, nearly always all of them."""
    for _ignored, group in groupby(blocks, key=lambda block: len(block.values)):
        yield list(group)


def _means(blocks: Sequence[Block], names: Sequence[str], settings: Settings) -> tuple[list[Mean], str]:
    means = []
    method = ""
    for group in _of_one_size(blocks):
        n = len(group[0].values)
        stacked = np.concatenate([block.values for block in group], axis=1)
        mean = stacked.mean(axis=0) if n else np.full(stacked.shape[1], np.nan)
        low, high, method = (
            intervals(stacked, settings.confidence, bounds=_bounds(group, len(names))) if n else (mean, mean, "beta")
        )
        columns = [(block, name) for block in group for name in names]
        means += [
            Mean(name, block.metric.name, block.metric.symbol, block.k, float(m), float(a), float(b), n, False, False)
            for (block, name), m, a, b in zip(columns, mean, low, high, strict=True)
        ]
    return means, method


def _differences(
    blocks: Sequence[Block], names: Sequence[str], pairs: Sequence[tuple[str, str]], settings: Settings
) -> tuple[list[Difference], set[str]]:
    differences = []
    method: set[str] = set()
    at = [(names.index(model), names.index(baseline)) for model, baseline in pairs]
    for group in _of_one_size(blocks):
        n = len(group[0].values)
        if n == 0:
            differences += [_no_users(block, pair, settings.alpha) for block in group for pair in pairs]
            continue
        low, high = _bounds(group, len(at))
        apart = np.stack([block.values[:, i] - block.values[:, j] for block in group for i, j in at], axis=1)
        tests = paired(
            apart,
            confidence=settings.confidence,
            method=settings.method,  # type: ignore[arg-type]
            resamples=settings.resamples,
            permutations=settings.permutations,
            seed=settings.seed,
            bounds=(low - high, high - low),
        )
        method |= set(tests.method)
        columns = [(block, pair) for block in group for pair in pairs]
        differences += [_difference(block, pair, tests, at, settings) for at, (block, pair) in enumerate(columns)]
    return differences, method


def _bounds(blocks: Sequence[Block], times: int) -> Bounds:
    """The bounds of each block's metric, for so many columns of each."""
    low, high = np.repeat(np.array([block.metric.bounds for block in blocks], dtype=np.float64), times, axis=0).T
    return low, high


def _difference(block: Block, pair: tuple[str, str], tests: Paired, at: int, settings: Settings) -> Difference:
    p = {"t": tests.t_p, "wilcoxon": tests.wilcoxon_p, "randomization": tests.randomization_p}[settings.test]
    sizes = ("low", "high", "t_p", "wilcoxon_p", "randomization_p", "effect_size")
    values: dict[str, Any] = {name: float(getattr(tests, name)[at]) for name in sizes}
    values |= {name: int(getattr(tests, name)[at]) for name in ("won", "tied", "lost")}
    values |= {"difference": float(tests.mean[at]), "p": float(p[at]), "n_users": tests.n}
    # If few users differ, how far others would differ cannot be estimated.
    if tests.n - tests.tied[at] >= ENOUGH:
        values["detectable"] = detectable(float(tests.sd[at]), tests.n, POWER, settings.alpha)
    return replace(_no_users(block, pair, settings.alpha), **values)


def _no_users(block: Block, pair: tuple[str, str], alpha: float) -> Difference:
    """The difference where no user has a value in every model."""
    metric, nan = block.metric, float("nan")
    return Difference(
        metric.name, metric.symbol, block.k, *pair, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, 0, 0, 0, 0, nan, alpha
    )  # fmt: skip


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The same with p-values corrected over all of them."""
    if not differences:
        return ()
    p = np.array([difference.p for difference in differences])
    rows = zip(differences, holm(p).tolist(), benjamini_hochberg(p).tolist(), strict=True)
    return tuple(replace(difference, p_holm=p_holm, p_bh=p_bh) for difference, p_holm, p_bh in rows)


def _behind_best(block: Block) -> Floats:
    """For each model the p of a paired t test against the best one of the block; NaN for what is the best.

    Beyond accuracy more is not better, and there is no best: NaN for all.
    """
    scores = block.values
    n, n_models = scores.shape
    if n == 0 or not block.metric.is_accuracy:
        return np.full(n_models, np.nan)
    mean = scores.mean(axis=0)
    apart = scores[:, [int(mean.argmax())]] - scores
    behind = apart.mean(axis=0)
    sd = apart.std(axis=0, ddof=1) if n > 1 else np.full(n_models, np.nan)
    p = student(behind, sd, n, np.count_nonzero(settled(apart), axis=0))
    return np.where(behind <= SAME, np.nan, p)


def _marked(means: Sequence[Mean], to_best: Sequence[Floats], alpha: float) -> tuple[Mean, ...]:
    """Mark the best mean of each column, and those not significantly different from it (Holm's correction over all columns)."""
    if not to_best:
        return ()
    significant = holm(np.array(to_best)) <= alpha
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


def all_pairs(names: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    """Pair every model with the reference; without one, each model with all before it.

    >>> all_pairs(["a", "b", "c"], "b"), all_pairs(["a", "b", "c"], None)
    ([('a', 'b'), ('c', 'b')], [('b', 'a'), ('c', 'a'), ('c', 'b')])
    """
    if reference is not None:
        return [(name, reference) for name in names if name != reference]
    return [(later, earlier) for at, later in enumerate(names) for earlier in names[:at]]


def lines_of(means: Sequence[Mean], names: Sequence[str]) -> tuple[CurveLine, ...]:
    """The means of one metric as a line over k for each model."""
    lines = []
    for name in names:
        points = [mean for mean in means if mean.model == name and mean.k is not None]
        k = tuple(mean.k for mean in points if mean.k is not None)
        mean, low, high = (tuple(getattr(point, end) for point in points) for end in ("mean", "low", "high"))
        n_users = min(point.n_users for point in points)
        lines.append(CurveLine(name, points[0].metric, points[0].symbol, k, mean, low, high, n_users))
    return tuple(lines)


def measured_by(
    models: Mapping[str, EvaluationData], request: MetricRequest, settings: Settings, by: Any, bins: int
) -> dict[str, ComparedMetrics]:
    """Means and differences within each segment that has users, p-values corrected within it alone."""
    everyone = next(iter(models.values())).prepared.users
    segments = segments_of(next(iter(models.values())), by, bins)
    code, unknown = segments.of(everyone), _("not known")
    # Users without a segment come last.
    names = [*segments.names, *([unknown] if unknown not in segments.names else [])]
    code = np.where(code < 0, len(names) - 1, code)
    results: dict[str, ComparedMetrics] = {}
    for at, name in steps(list(enumerate(names)), _("comparing")):
        users = everyone.filter(pl.Series(code == at, dtype=pl.Boolean))
        if len(users) == 0:
            continue
        restricted = {
            model: evaluation.restricted(among(evaluation.prepared, users)) for model, evaluation in models.items()
        }
        result = measure(restricted, request, settings)
        results[name] = replace(result, differences=tuple(map(_enough, result.differences)))
    return results


def _enough(difference: Difference) -> Difference:
    """A difference without its tests if it is of too few users: of many segments some would be significant by chance."""
    if difference.n_users >= ENOUGH:
        return difference
    nan = float("nan")
    return replace(
        difference, low=nan, high=nan, p=nan, t_p=nan, wilcoxon_p=nan, randomization_p=nan, p_holm=nan, p_bh=nan, detectable=nan
    )  # fmt: skip


def differences_by(
    models: Mapping[str, EvaluationData], request: MetricRequest, settings: Settings, by: Any, bins: int
) -> list[tuple[str, Difference]]:
    """Each difference with the segment it is of; p-values are corrected over all segments, metrics and cut-offs."""
    results = measured_by(models, request, settings, by, bins)
    names = [name for name, result in results.items() for _ignored in result.differences]
    differences = [difference for result in results.values() for difference in result.differences]
    return list(zip(names, corrected(differences), strict=True))
