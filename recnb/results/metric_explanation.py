"""The worked explanation of one user's score, read from an evaluation's data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import use_language
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric, any_metric
from recnb.results import beyond_accuracy_tables
from recnb.results.aggregation import cutoffs_under
from recnb.results.explanation import Explanation, explain

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def explanation_of(
    data: EvaluationData, metric: str, user: Any, k: int | None, options: Mapping[str, Any], lang: str | None = None
) -> Explanation:
    """The explanation of a metric of accuracy or beyond it."""
    with use_language(lang):
        chosen = any_metric(metric)
        explain_metric = _of_accuracy if chosen.is_accuracy else beyond_accuracy_tables.explain_of
        return explain_metric(data, chosen, user, k, options)


def _of_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: int | None, options: Mapping[str, Any]
) -> Explanation:
    metric.check(options)
    if data.library is not None:
        scoring = data.scoring(metric, options)
        own = type(data)(scoring.prepared, side_data=data.side_data)
        return _of_accuracy(own, metric, user, k, scoring.options)
    cutoffs = cutoffs_under(data.convention, Cutoffs.one(k))
    position = data.position(user)
    hits = data.scoring(metric, options).hits(cutoffs).of(position)
    if hits.tied is not None:
        raise OptionError(
            "ties='expected' averages many orders, and a worked explanation follows one: choose ties='first'."
        )
    convention = data.convention.with_metric({**metric.defaults, **options})
    explanation = explain(
        metric, hits, cutoffs.values[0], options, items=data.list_of(position), truth_items=data.truth_of(position)["item"].to_list(),
        user=user, basis="; ".join([*convention.phrases(graded=data.prepared.graded), *data.notes]),
    )  # fmt: skip
    if hits.n_relevant[0] == 0 and data.convention.no_relevant in ("one", "nan"):
        return explanation.decided(1.0 if data.convention.no_relevant == "one" else np.nan)
    return explanation
