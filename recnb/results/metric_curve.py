"""A metric at many cut-offs, with an interval at each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import any_metric
from recnb.results import beyond_accuracy_tables
from recnb.results.curve import Curve
from recnb.stats import intervals

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def curve_of(data: EvaluationData, metric: str, k: object, options: Mapping[str, Any]) -> Curve:
    """The curve of a metric of accuracy or beyond it."""
    chosen = any_metric(metric)
    if not chosen.is_accuracy:
        return beyond_accuracy_tables.curve_of(data, chosen, k, options)
    chosen.check(options)
    cutoffs = Cutoffs.of_curve(k)
    scoring = data.scoring(chosen, options)
    averaged = scoring.averaged(cutoffs)
    low, high, _ = intervals(data.values(chosen, cutoffs, options), bounds=chosen.bounds)
    finite = tuple(k for k in cutoffs if k is not None)
    mean, lower, upper = (tuple(map(float, ends)) for ends in (averaged.means, low, high))
    n_users, basis = scoring.prepared.counts.n_users, data.basis_of_metric(scoring)
    return Curve(chosen.name, chosen.symbol, finite, mean, lower, upper, n_users=n_users, basis=basis)
