"""Means without propensities beside those with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.evaluation_data import Models
from recnb.results.scoring import values_of

VALUES = N_("{label} without propensities (with them): {values}.")
OTHER_ORDER = N_(
    "By {label} the order of the models is another without them: {models}."
)
SAME_ORDER = N_("By {labels} the order of the models is the same.")


def plain_means(models: Models, measures: Sequence[Measure], k: Cutoffs) -> str:
    """Say what the first metric is without propensities, at its last cut-off.

    A sentence says by which metrics the order of the models is another. Nothing if there
    are no propensities.
    """
    if not all(model.source.weighted for model in models.values()):
        return ""
    without = {name: model.unweighted for name, model in models.items()}
    sentences, same = list[str](), list[str]()
    for measure in measures:
        at_last = measure.cut_at(measure.cutoffs(k).values[-1])
        weighted, plain = _means(models, at_last), _means(without, at_last)
        if not sentences:
            sentences.append(_values_in_words(at_last.label, weighted, plain))
        order = _in_order(plain, weighted)
        if order == _in_order(weighted, plain):
            same.append(at_last.label)
            continue
        names = ", ".join(map(one_line, order))
        sentences.append(_(OTHER_ORDER, label=at_last.label, models=names))
    if same and len(models) > 1:
        sentences.append(_(SAME_ORDER, labels=", ".join(same)))
    return " ".join(sentences)


def _means(models: Models, measure: Measure) -> dict[str, float]:
    """Return the mean of each model in a measure."""
    cutoff = Cutoffs.of(measure.k)
    return {
        name: float(values_of(model, measure, cutoff).mean[0])
        for name, model in models.items()
    }


def _values_in_words(
    label: str, weighted: Mapping[str, float], plain: Mapping[str, float]
) -> str:
    """Return the mean of each model without propensities, and with them in brackets."""
    of_models = []
    for name, mean in plain.items():
        values = f"{one_line(name)} {mean:.4f} ({weighted[name]:.4f})"
        of_models.append(values.strip())  # one model has no name
    return _(VALUES, label=label, values=", ".join(of_models))


def _in_order(means: Mapping[str, float], others: Mapping[str, float]) -> list[str]:
    """Return models by their means, and where these are the same by the other ones.

    The same is but for rounding. So two orders differ where a pair of models changes
    places.
    """
    settled = {name: float(f"{mean:.12g}") for name, mean in means.items()}
    then = {name: float(f"{mean:.12g}") for name, mean in others.items()}
    return sorted(settled, key=lambda name: (-settled[name], -then[name]))
