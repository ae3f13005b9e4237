"""From the values of users in every model to means, paired differences and tests, of all users or within segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from recnb.comparison.common_users import check_side_data, users_in_common
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric
from recnb.report.conclusions import POWER, Difference
from recnb.report.data import SAME, Mean
from recnb.report.request import MetricOptions
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import Segments
from recnb.results.values import Values, values_of
from recnb.stats import Moments, Settings, detectable, holm, paired

#: The values of a segment in each of its columns; () is all users.
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class PairedValues:
    """One metric at one cut-off: the values of the users who have one in every model."""

    metric: Metric[...]
    k: int | None
    users: pl.Series
    values: Floats  #: users × models


class Compared(NamedTuple):
    """Means and differences, each with the segment it is of."""

    means: list[tuple[Key, Mean]]
    differences: list[tuple[Key, Difference]]


def blocks_of(metric: Metric[...], cutoffs: Cutoffs, sides: Sequence[Values]) -> list[PairedValues]:
    """Return a block for each cut-off from the values of all models."""
    users = users_in_common([side.users for side in sides])
    # Users are sorted on every side, so those in common come in one order.
    kept = [side.matrix[side.users.is_in(users.implode()).to_numpy()] for side in sides]
    blocks = []
    for at, k in enumerate(cutoffs):
        # The values of a model lie together, so that a sum does not depend on what was computed with it.
        values = np.stack([matrix[:, at] for matrix in kept])
        known = ~np.isnan(values).any(axis=0)
        blocks.append(PairedValues(metric, k, users.filter(pl.Series(known)), np.compress(known, values, axis=1).T))
    return blocks


def computed_blocks(
    models: Mapping[str, EvaluationData], metrics: Iterable[MetricOptions], cutoffs: Cutoffs
) -> Iterator[list[PairedValues]]:
    """Compute the blocks of one metric after the other."""
    for metric, options in metrics:
        if metric.needs:
            check_side_data(models)
        at = metric.cutoffs(cutoffs)
        yield blocks_of(
            metric.bounded(options), at, [values_of(model, metric, at, options) for model in models.values()]
        )


def measure(
    blocks: Iterable[list[PairedValues]],
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    segments: Segments | None = None,
    evaluated: pl.Series | None = None,
) -> Compared:
    """Measure every mean and every difference of all users, or of the users evaluated in each segment.

    p-values are corrected over all differences, those of means against the best within each segment.
    """
    means: dict[Key, list[list[Mean]]] = {}
    behind_best: dict[Key, list[Floats]] = {}
    differences: dict[Key, list[Difference]] = {}
    for block in chain.from_iterable(steps(blocks, _("comparing"))):
        for key, values in _by_segment(block, segments, evaluated):
            own, behind = _means(block, values, names, settings)
            means.setdefault(key, []).append(own)
            behind_best.setdefault(key, []).append(behind)
            differences.setdefault(key, []).extend(_differences(block, values, names, pairs, settings) if pairs else [])
    marked = []
    for key in means:
        is_apart = holm(np.array(behind_best[key])) <= settings.alpha
        marked += [
            (key, replace(mean, near_best=mean.judges and not (mean.best or apart) and mean.n_users > 0))
            for own, aparts in zip(means[key], is_apart.tolist(), strict=True)
            for mean, apart in zip(own, aparts, strict=True)
        ]
    made = [(key, difference) for key in means for difference in differences[key]]
    corrected = holm(np.array([difference.p for _key, difference in made])).tolist()
    return Compared(marked, [(key, replace(one, p_holm=p)) for (key, one), p in zip(made, corrected, strict=True)])


def _by_segment(
    block: PairedValues, segments: Segments | None, evaluated: pl.Series | None
) -> Iterator[tuple[Key, Floats]]:
    """Return the values of all users, or of those of each segment that has any; one who is not evaluated is in none."""
    if segments is None or evaluated is None:
        yield (), block.values
        return
    code = np.where(block.users.is_in(evaluated.implode()).to_numpy(), segments.of(block.users), -1)
    for at in np.unique(code[code >= 0]).tolist():
        yield segments.keys[at], np.compress(code == at, block.values.T, axis=1).T


def _means(block: PairedValues, values: Floats, names: Sequence[str], settings: Settings) -> tuple[list[Mean], Floats]:
    """Return the mean of every model with the best marked, and the p of each against the best."""
    metric, moments = block.metric, Moments.of(values, block.metric.bounds)
    low, high = moments.interval(settings.confidence)
    mean = moments.mean if moments.n else np.full(len(names), nan)
    best = metric.is_accuracy & (mean >= mean.max() - SAME)  # beyond accuracy more is not better, and there is no best
    behind = np.full(len(names), nan)
    if best.any():
        behind = np.where(best, nan, paired(values[:, [int(mean.argmax())]] - values).p)
    rows = zip(names, *(each.tolist() for each in (mean, low, high, best)), strict=True)
    about = metric.name, metric.symbol, block.k
    return [Mean(name, *about, at, a, b, len(values), is_best) for name, at, a, b, is_best in rows], behind


def _differences(
    block: PairedValues, values: Floats, names: Sequence[str], pairs: Sequence[tuple[str, str]], settings: Settings
) -> list[Difference]:
    """Test each pair of models."""
    lowest, highest = block.metric.bounds
    apart = [values[:, names.index(model)] - values[:, names.index(baseline)] for model, baseline in pairs]
    tests = paired(np.stack(apart, axis=1), settings, (lowest - highest, highest - lowest))
    columns = ("low", "high", "p", "effect_size", "won", "tied", "lost")
    return [
        Difference(
            *(block.metric.name, block.metric.symbol, block.k, model, baseline, float(tests.mean[at])),
            # If few users differ, how far others would differ cannot be estimated.
            detectable=nan if isnan(tests.p[at]) else detectable(float(tests.sd[at]), tests.n, POWER, settings.alpha),
            alpha=settings.alpha,
            n_users=tests.n,
            **{name: getattr(tests, name)[at].item() for name in columns},
        )
        for at, (model, baseline) in enumerate(pairs)
    ]
