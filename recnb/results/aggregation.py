"""Aggregation of users' values to one number, by the convention's rules for users without a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recnb.conventions import Convention
from recnb.data import Prepared
from recnb.data.subset import judged_hits
from recnb.metrics.hits import Cutoffs, Floats, Hits
from recnb.metrics.metric import Credit, Metric


@dataclass(frozen=True, eq=False)
class Averaged:
    """The values of all users at all cut-offs, which of them count, and their mean."""

    values: Floats  #: users × cut-offs
    kept: np.ndarray[Any, np.dtype[np.bool_]] | None  #: users × cut-offs; None: all
    means: Floats  #: per cut-off

    @property
    def counted(self) -> Floats:
        """The values, NaN for users who do not count."""
        return self.values if self.kept is None else np.where(self.kept, self.values, np.nan)


def averaged(credit: Credit, convention: Convention, *, mean: bool = True) -> Averaged:
    """Fill in, leave out and average by the convention."""
    values = credit.value
    undefined = undefined_in(credit, convention, values.shape)
    kept = None
    if undefined is not None and undefined.any():
        values = np.where(undefined, 1.0 if convention.no_relevant == "one" else 0.0, values)
        if convention.no_relevant == "skip":
            kept = ~undefined
    means = _mean(values, kept) if mean else np.full(values.shape[1], np.nan)
    return Averaged(values, kept, means)


def undefined_in(
    credit: Credit, convention: Convention, shape: tuple[int, ...]
) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Where there was nothing to find: no relevant item or, where an item of no gain can be relevant, an ideal of 0."""
    if convention.relevant != ">0" and isinstance(credit.out_of, Credit):
        return np.broadcast_to(np.asarray(credit.possible) == 0, shape)
    n_relevant = credit.rows.n_relevant
    return None if n_relevant.all() else np.broadcast_to((n_relevant == 0)[:, np.newaxis], shape)


def _mean(values: Floats, kept: Any) -> Floats:
    """Average over the users who are kept, at each cut-off."""
    if kept is None:
        return np.asarray(values.mean(axis=0))
    n = kept.sum(axis=0)
    total = np.where(kept, values, 0.0).sum(axis=0)
    return np.asarray(np.divide(total, n, out=np.full(values.shape[1], np.nan), where=n > 0))


def hits_for(prepared: Prepared, metrics: Sequence[tuple[Metric[...], Mapping[str, Any]]], cutoffs: Cutoffs) -> Hits:
    """The hits that metrics need at these cut-offs, with all judged items if one of them counts these."""
    whole = any(metric.needs_whole_list(options) for metric, options in metrics)
    hits = prepared.hits(None if whole else cutoffs.deepest)
    if any(metric.needs_judged for metric, _options in metrics):
        return replace(hits, judged=judged_hits(prepared))
    return hits


@dataclass(frozen=True, eq=False)
class Scoring:
    """One metric with its options on prepared data."""

    prepared: Prepared
    metric: Metric[...]
    options: Mapping[str, Any]

    @property
    def convention(self) -> Convention:
        """The convention of the data."""
        return self.prepared.convention

    @property
    def in_force(self) -> Convention:
        """The convention of the data with the metric's own options."""
        return self.convention.with_metric({**self.metric.defaults, **self.options})

    def n_undefined(self, cutoffs: Cutoffs) -> int | None:
        """The users with an ideal of 0 at the deepest cut-off, where an item of no gain can be relevant; None where the relevant items tell."""
        cutoffs = cutoffs_under(self.convention, Cutoffs.one(cutoffs.deepest))
        if self.convention.relevant == ">0":
            return None
        credit = self.metric.at(self.hits(cutoffs), cutoffs, self.options)
        return int((np.asarray(credit.possible) == 0).sum()) if isinstance(credit.out_of, Credit) else None

    def hits(self, cutoffs: Cutoffs) -> Hits:
        """The hits that the metric needs at these cut-offs."""
        return hits_for(self.prepared, [(self.metric, self.options)], cutoffs)

    def averaged(self, cutoffs: Cutoffs) -> Averaged:
        """Values per user, and their mean."""
        cutoffs = cutoffs_under(self.convention, cutoffs)
        credit = self.metric.at(self.hits(cutoffs), cutoffs, self.options)
        return averaged(credit, self.convention)


#: Users at a time: few enough for the processor's cache, and so many that a step takes longer than its call.
BLOCK = 2**15


def means_of(prepared: Prepared, metrics: Sequence[tuple[Metric[...], Mapping[str, Any]]], cutoffs: Cutoffs) -> Floats:
    """The means of several metrics of the same users at each cut-off, metrics × cut-offs.

    A mean over users is a sum over blocks of users, so nothing is held that is as large as users × cut-offs. One core
    does it: the steps are so short that threads would mostly wait for each other.
    """
    under = cutoffs_under(prepared.convention, cutoffs)
    hits = hits_for(prepared, metrics, under)
    sums, counts = np.zeros((2, len(metrics), len(cutoffs)))
    for start, stop in hits.blocks(BLOCK):
        block = hits.user_range(start, stop)
        for row, (metric, options) in enumerate(metrics):
            part = averaged(metric.at(block, under, options), prepared.convention, mean=False)
            values = part.values if part.kept is None else np.where(part.kept, part.values, 0.0)
            sums[row] += values.sum(axis=0)
            counts[row] += len(values) if part.kept is None else part.kept.sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


def cutoffs_under(convention: Convention, k: object) -> Cutoffs:
    """The cut-offs; under a convention that does not cut, they only label the numbers."""
    cutoffs = Cutoffs.of(k)
    return Cutoffs(cutoffs.values, uncut=True) if convention.cutoff == "none" else cutoffs
