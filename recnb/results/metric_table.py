"""A table of metrics × cut-offs, of accuracy and beyond it, with the line of small print below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.conventions import presets
from recnb.display.language import _, current
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric
from recnb.results import Table, beyond_accuracy, beyond_accuracy_tables
from recnb.results.aggregation import means_of
from recnb.results.arguments import STANDARD, Metrics, asked_metrics, options_of
from recnb.results.segments import table_by

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def table_of(
    evaluation: EvaluationData,
    metrics: Metrics,
    k: Any,
    options: Mapping[str, Any],
    *,
    by: Any = None,
    bins: int = 4,
) -> Table:
    """Means over users, or the one number of all lists: one row per metric, one column per cut-off."""
    import pandas as pd

    cutoffs, library = Cutoffs.of(k), evaluation.library
    if metrics is None and library is not None:
        metrics = [name for name in STANDARD if presets.of_metric(name, library)]
    if by is not None:
        return table_by(evaluation, metrics, k, by, bins=bins, options=options)
    chosen = asked_metrics(metrics)
    own = [options_of(metric, metrics, options, chosen) for metric in chosen]
    means = _means(evaluation, chosen, own, cutoffs)
    index = pd.Index([metric.name for metric in chosen], name="metric")
    # As objects, whole numbers stay whole beside a None.
    columns = pd.Index(list(cutoffs), dtype=object if None in cutoffs.values else None, name="k")
    table = Table(means, index=index, columns=columns)
    of_accuracy = [mine for metric, mine in zip(chosen, own, strict=True) if metric.is_accuracy]
    convention = evaluation.convention.with_metric({name: mine[name] for mine in of_accuracy for name in mine})
    parts = [evaluation.basis(convention) if library is None else _("each metric as {library} has it", library=library)]
    # Text and numbers only: pandas writes attrs as JSON where it writes them.
    basis = "; ".join((parts if of_accuracy else []) + beyond_accuracy_tables.also(evaluation, chosen, cutoffs, own))
    table.attrs = {
        "basis": basis, "n_users": evaluation.n_users, "convention": str(convention), "lang": current(),
    }  # fmt: skip
    return table


def _means(
    evaluation: EvaluationData, metrics: Sequence[Metric[...]], options: Sequence[Mapping[str, Any]], cutoffs: Cutoffs
) -> Floats:
    """Metrics × cut-offs: those of accuracy together, where they are of the same users; the others one by one."""
    asked = list(zip(metrics, options, strict=True))
    of_accuracy = [(metric, mine) for metric, mine in asked if metric.is_accuracy]
    if evaluation.library is not None or not of_accuracy:
        # Join as deep as the deepest metric needs, so that no metric makes the join be done again.
        if any(metric.needs_whole_list(mine) for metric, mine in asked):
            evaluation.hits(None)
        return np.array([_means_of_one(evaluation, metric, cutoffs, mine) for metric, mine in asked])
    together = iter(means_of(evaluation.prepared, of_accuracy, cutoffs))
    return np.array(
        [
            next(together) if metric.is_accuracy else beyond_accuracy.means_of(evaluation, metric, cutoffs, mine)
            for metric, mine in asked
        ]
    )


def _means_of_one(
    evaluation: EvaluationData, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]
) -> Floats:
    if not metric.is_accuracy:
        return beyond_accuracy.means_of(evaluation, metric, cutoffs, options)
    return evaluation.means(metric, cutoffs, options)
