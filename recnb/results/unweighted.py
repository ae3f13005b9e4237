"""Means without propensities beside those with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.evaluation_data import Models
from recnb.results.scoring import values_of


def plain_means(models: Models, measures: Sequence[Measure], k: Cutoffs) -> str:
    """Return the means of the first metric with and without propensities.

    A sentence says by which metrics the order of the models is another.
    """
    if not all(model.source.weighted for model in models.values()):
        return ""
    sentences, same = list[str](), list[str]()
    for measure in measures:
        measure = measure.cut_at(measure.cutoffs(k).values[-1])
        label = measure.label
        weighted, plain = _with_and_without(models, measure)
        if not sentences:
            each = ", ".join(
                f"{one_line(name)} {plain[name]:.4f} ({weighted[name]:.4f})".strip()
                for name in models
            )
            said = N_("{label} without propensities (with them): {values}.")
            sentences.append(_(said, label=label, values=each))
        order, other = _in_order(weighted, plain), _in_order(plain, weighted)
        if order == other:
            same.append(label)
            continue
        said = N_(
            "By {label} the order of the models is another without them: {models}."
        )
        names = ", ".join(map(one_line, other))
        sentences.append(_(said, label=label, models=names))
    if same and len(models) > 1:
        said = N_("By {labels} the order of the models is the same.")
        sentences.append(_(said, labels=", ".join(same)))
    return " ".join(sentences)


def _in_order(means: Mapping[str, float], others: Mapping[str, float]) -> list[str]:
    """Return models by their means, and where these are the same by the other ones.

    The same is but for rounding. So two orders differ where a pair of models changes
    places.
    """
    settled = {name: float(f"{mean:.12g}") for name, mean in means.items()}
    then = {name: float(f"{mean:.12g}") for name, mean in others.items()}
    return sorted(settled, key=lambda name: (-settled[name], -then[name]))


def _with_and_without(
    models: Models, measure: Measure
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the means of models with their propensities and without them."""
    weighted, plain = dict[str, float](), dict[str, float]()
    for name, model in models.items():
        for means, data in ((weighted, model), (plain, model.unweighted)):
            values = values_of(data, measure, Cutoffs.of(measure.k))
            means[name] = float(values.mean[-1])
    return weighted, plain
