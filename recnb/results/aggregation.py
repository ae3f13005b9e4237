"""A metric of accuracy on joined data: the values of users, and their mean by the convention's rules."""

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

#: A metric with its options.
MetricOptions = tuple[Metric[...], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Scoring:
    """One metric of accuracy with its options on joined data."""

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

    def hits(self, cutoffs: Cutoffs) -> Hits:
        """Return the hits that the metric needs at these cut-offs."""
        return hits_for(self.prepared, [(self.metric, self.options)], cutoffs)

    def credit(self, cutoffs: Cutoffs) -> Credit:
        """Return the credit of the hits at these cut-offs."""
        cutoffs = cutoffs_under(self.convention, cutoffs)
        return self.metric.at(self.hits(cutoffs), cutoffs, self.options)

    def averaged(self, cutoffs: Cutoffs) -> tuple[Floats, Floats]:
        """Return the values of users × cut-offs, NaN where not averaged, and their mean."""
        return average(self.credit(cutoffs), self.convention)

    def n_undefined(self, cutoffs: Cutoffs) -> int | None:
        """Count the users with an ideal of 0 at the deepest cut-off, where an item of no gain can be relevant; None: none can."""
        if self.convention.relevant == ">0":
            return None
        credit = self.credit(Cutoffs.one(cutoffs.deepest))
        return int((np.asarray(credit.possible) == 0).sum()) if isinstance(credit.out_of, Credit) else None


def users_behind(prepared: Prepared, n_undefined: int | None) -> tuple[int, int, int]:
    """Count the users behind a mean, of these those without a list, and those with no relevant item.

    `n_undefined` are the users of a metric whose relevant items give no gain; None where the relevant items tell.
    """
    n_users, n_without_list = len(prepared.users), int(np.count_nonzero(prepared.list_length == 0))
    if n_undefined is None:
        return n_users, n_without_list, prepared.n_without_relevant
    if prepared.convention.no_relevant == "skip":  # those counted are others, who are left out before
        return n_users - n_undefined, n_without_list, prepared.n_without_relevant + n_undefined
    return n_users, n_without_list, n_undefined


def average(credit: Credit, convention: Convention) -> tuple[Floats, Floats]:
    """Fill in and leave out users who have nothing to find, and average the others."""
    matrix, undefined = credit.value, undefined_in(credit, convention)
    kept = None
    if undefined is not None and undefined.any():
        fill = {"skip": np.nan, "one": 1.0}.get(convention.no_relevant, 0.0)
        matrix = np.where(undefined, fill, matrix)
        kept = ~undefined if convention.no_relevant == "skip" else None
    if kept is None and len(matrix):
        return matrix, np.asarray(matrix.mean(axis=0))
    n = np.count_nonzero(~np.isnan(matrix), axis=0)
    total = np.nansum(matrix, axis=0)
    return matrix, np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)


def undefined_in(credit: Credit, convention: Convention) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Mark users who had nothing to find: no relevant item or, where an item of no gain can be relevant, an ideal of 0."""
    if convention.relevant != ">0" and isinstance(credit.out_of, Credit):
        return np.asarray(np.asarray(credit.possible) == 0)
    n_relevant = credit.rows.n_relevant
    return None if n_relevant.all() else (n_relevant == 0)[:, np.newaxis]


def hits_for(prepared: Prepared, metrics: Sequence[MetricOptions], cutoffs: Cutoffs) -> Hits:
    """Return the hits that metrics need at these cut-offs, with all judged items if one of them counts these."""
    whole = any(metric.needs_whole_list(options) for metric, options in metrics)
    hits = prepared.hits(None if whole else cutoffs.deepest)
    if any(metric.needs_judged for metric, _options in metrics):
        return replace(hits, judged=judged_hits(prepared))
    return hits


#: Users at a time: few enough for the processor's cache, and so many that a step takes longer than its call.
BLOCK = 2**15


def cutoffs_under(convention: Convention, k: object) -> Cutoffs:
    """Return the cut-offs; under a convention that does not cut, they only label the numbers."""
    cutoffs = Cutoffs.of(k)
    return Cutoffs(cutoffs.values, uncut=True) if convention.cutoff == "none" else cutoffs
