"""Means without propensities beside those with them."""

from __future__ import annotations

from collections.abc import Sequence

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.scoring import values_of

VALUES = N_("{label} without propensities (with them): {values}.")


def plain_means(models: Models, measures: Sequence[Measure], cutoffs: Cutoffs) -> str:
    """Say what each metric is without propensities, at its last cut-off.

    Nothing if there are none.
    """
    if not all(model.source.weighted for model in models.values()):
        return ""
    sentences = []
    for measure in measures:
        at_last = measure.cut_at(measure.cutoffs(cutoffs).values[-1])
        values = []
        for name, model in models.items():
            plain, weighted = _mean(model.unweighted, at_last), _mean(model, at_last)
            # One model has no name.
            values.append(f"{one_line(name)} {plain:.4f} ({weighted:.4f})".strip())
        sentences.append(_(VALUES, label=at_last.label, values=", ".join(values)))
    return " ".join(sentences)


def _mean(model: EvaluationData, measure: Measure) -> float:
    """Return the mean of a model in a measure."""
    return float(values_of(model, measure, measure.cutoffs()).mean[0])
