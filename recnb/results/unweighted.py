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
OTHER_ORDER = N_(
    "By {label} the order of the models is another without them: {models}."
)
SAME_ORDER = N_("By {labels} the order of the models is the same.")


def plain_means(models: Models, measures: Sequence[Measure], cutoffs: Cutoffs) -> str:
    """Say what the first metric is without propensities; nothing if there are none.

    More sentences say by which metrics the order of the models is another. Each metric
    is taken at its last cut-off.
    """
    if not all(model.source.weighted for model in models.values()):
        return ""
    sentences, same = list[str](), list[str]()
    for measure in measures:
        at_last = measure.cut_at(measure.cutoffs(cutoffs).values[-1])
        weighted = {name: _mean(model, at_last) for name, model in models.items()}
        plain = {
            name: _mean(model.unweighted, at_last) for name, model in models.items()
        }
        if not sentences:
            numbers = [
                f"{one_line(name)} {plain[name]:.4f} ({weighted[name]:.4f})".strip()
                for name in models  # one model has no name
            ]
            values = ", ".join(numbers)
            sentences.append(_(VALUES, label=at_last.label, values=values))
        # Of models whose means are the same, the other means decide: so two orders
        # differ where a pair of models changes places.
        with_them = sorted(models, key=lambda name: (-weighted[name], -plain[name]))
        without = sorted(models, key=lambda name: (-plain[name], -weighted[name]))
        if without == with_them:
            same.append(at_last.label)
            continue
        names = ", ".join(map(one_line, without))
        sentences.append(_(OTHER_ORDER, label=at_last.label, models=names))
    if same and len(models) > 1:
        sentences.append(_(SAME_ORDER, labels=", ".join(same)))
    return " ".join(sentences)


def _mean(model: EvaluationData, measure: Measure) -> float:
    """Return the mean of a model in a measure, without digits that are of rounding."""
    mean = values_of(model, measure, measure.cutoffs()).mean[0]
    return float(f"{mean:.12g}")
