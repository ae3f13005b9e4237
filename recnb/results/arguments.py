"""Arguments of calls: metrics by name or text, with their options and cut-offs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from recnb.conventions import presets
from recnb.display.language import named
from recnb.errors import (
    OptionError,
    instead_of,
    is_number,
    is_several,
    near,
    quoted,
)
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import Given, Metric
from recnb.results.evaluation_data import EvaluationData

#: A metric by name or text, as "ndcg" or "nDCG@10", or made by `recnb.metric`.
AnyMetric = str | Metric[...]

#: One or several of these, or each with its own options.
Metrics = AnyMetric | Iterable[AnyMetric] | Mapping[Any, Mapping[str, Any]] | None

#: A cut-off or several; None is the whole list.
AnyCutoffs = int | Sequence[int | None] | None

#: The metrics of a table by default.
STANDARD = (
    "ndcg",
    "average_precision",
    "reciprocal_rank",
    "precision",
    "recall",
    "f1",
    "hit_rate",
)

#: The metrics of a table by default if relevant pairs have weights: the last, nDCG, is
#: biased, the others are not, or hardly.
WEIGHTED = ("precision", "recall", "ndcg")

#: A metric of all lists together, and why it is refused.
OF_ALL_LISTS = "{metric} is one number of all lists, with no value for each {user}"
NO_PAIRS = (
    "no {users} can be paired: that of each model is in .table([{metric!r}], k=10)."
)


def asked_of(
    data: EvaluationData | None,
    metrics: Metrics | Sequence[AnyMetric | Measure],
    cutoffs: Cutoffs,
    options: Given,
    *of_call: str,
) -> list[Measure]:
    """Look up the metrics of a call, each with the options that it has.

    Without `metrics` these are the standard ones that the data allow. `cutoffs` are those
    of metrics that name none. `of_call` has other keywords of the call, which a misspelt
    option may mean.
    """
    named_in_call = _named_in_call(metrics, data)
    measures = [measure for measure, _own in named_in_call]
    refuse_twice(measures, cutoffs)
    for option, value in options.items():
        having, lacking = [], []
        for measure, own in named_in_call:
            if option in measure.metric.defaults:
                having.append(own)
                if option not in measure.options:  # its text may give the option
                    lacking.append(own)
        if not having:
            _refuse_unknown(option, measures, of_call)
        # If every text gives the option, `with_options` refuses another value.
        for own in lacking or having:
            own.setdefault(option, value)
    return [measure.with_options(own) for measure, own in named_in_call]


def refuse_whole_metrics(asked: Sequence[Measure], why: str) -> None:
    """Refuse metrics of all lists together, which have no value of each user."""
    for each in asked:
        if each.metric.of == "all":
            raise OptionError(named(f"{OF_ALL_LISTS}, so {why}", metric=each.name))


def refuse_twice(measures: Sequence[Measure], cutoffs: Cutoffs) -> None:
    """Refuse a measure that is named twice at one cut-off, which `cutoffs` may give it."""
    seen = set()
    for measure in measures:
        for cutoff in measure.cutoffs(cutoffs):
            place = (measure.name, cutoff)
            if place in seen:
                at = "" if cutoff is None else f" at k={cutoff}"
                raise OptionError(
                    f"the call names {measure.name!r} more than once{at}: name it once."
                )
            seen.add(place)


def _refuse_unknown(
    option: str, measures: Sequence[Measure], of_call: Sequence[str]
) -> NoReturn:
    """Refuse an option that none of the metrics has.

    `of_call`: other keywords, which it may mean.
    """
    known = {name for measure in measures for name in measure.metric.defaults}
    labels = ", ".join(measure.name for measure in measures)
    problem = f"{labels} has no option {option!r}."
    if len(measures) > 1:
        problem = f"none of {labels} has an option {option!r}."
    instead = instead_of(["metric"], option)
    fix = instead or near(option, [*sorted(known), *of_call])
    raise OptionError(f"{problem} {fix}".strip())


def _named_in_call(
    metrics: Any, data: EvaluationData | None
) -> list[tuple[Measure, dict[str, Any]]]:
    """Look up the metrics that a call names, each with its own options."""
    if metrics is None:
        metrics = _standard_names(data)
    if is_number(metrics):
        raise OptionError(
            f"metrics={metrics!r}: name them in a list, such as metrics=['ndcg', "
            f"'recall']; a cut-off is named, k={metrics!r}."
        )
    names: Any = metrics if is_several(metrics) else [metrics]
    has_own_options = isinstance(names, Mapping)
    found = []
    for name in names:
        own = names[name] if has_own_options else {}
        if not isinstance(own, Mapping):
            fix = "give each metric a mapping of its options, {} for none."
            raise OptionError(f"metrics={{{name!r}: {own!r}}}: {fix}")
        found.append((measure_named(name), dict(own)))
    if not found:
        raise OptionError(
            "metrics is empty: name at least one, such as metrics=['ndcg']."
        )
    return found


def _standard_names(data: EvaluationData | None) -> list[str]:
    """Return the usual metrics that the data allow.

    Those that the library has, and that weights take the bias out of.
    """
    if data is None:
        return [*STANDARD]
    usual = WEIGHTED if data.source.has_propensities else STANDARD
    if data.library is None:
        return [*usual]
    names = [name for name in usual if presets.of_metric(name, data.library)]
    if not names:
        raise OptionError(
            f"{data.library} has none of the usual metrics {', '.join(usual)}: name those "
            f"that are wanted, such as metrics=[{usual[0]!r}]."
        )
    return names


def count_of_users(name: str, n: object, *, least: int = 0) -> int:
    """Return a number of users as it was given, or refuse it."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < least:
        raise OptionError(
            f"{name}={quoted(n)} is no number of users: give a whole number from "
            f"{least} up."
        )
    return int(n)


def measure_of_curve(metric: object, k: object) -> tuple[Measure, Cutoffs]:
    """Look up the measure of a curve, and the cut-offs that it runs over."""
    measure = measure_named(metric)
    if measure.k is not None:
        raise OptionError(
            f"{metric!r} has a cut-off, and a curve runs over several: name the metric "
            f"without it, and give k=range(1, {measure.k + 1})."
        )
    cutoffs = Cutoffs.of(k)
    if cutoffs.deepest is None:
        raise OptionError(
            "a curve runs over whole numbers: leave None out of k, such as k=range(1, 21)."
        )
    return measure, cutoffs
