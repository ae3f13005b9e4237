"""The calls that return the numbers of a report, as they are typed.

`ev` is the evaluation of one model, `found` a comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from recnb.metrics.measure import Measure
from recnb.metrics.metric import Given
from recnb.report.request import ReportRequest
from recnb.results.arguments import Asked

#: By the field of a report, the calls that return its numbers; see `ReportData.calls`.
Calls = dict[str, tuple[str, ...]]

#: The confidence where none is given.
USUAL_CONFIDENCE = 0.95


def calls_of_one(
    request: ReportRequest, confidence: float, *, has_beyond: bool
) -> Calls:
    """Return the calls of a report of one model.

    `has_beyond`: whether it has metrics beyond accuracy that are not named.
    """
    level = [] if confidence == USUAL_CONFIDENCE else [f"confidence={confidence!r}"]
    lead, k, *options = _lead(request)
    measure = request.metrics[0]
    score = call(f"ev.{measure.name}", k, *options)
    if measure.text or measure.metric.own:
        score = call("ev.measure", lead, k, *options)
    metrics = _metrics(request, request.asked)
    calls: Calls = {
        "means": (call("ev.table", *metrics, "intervals=True", *level),),
        "populations": ("ev.counts",),
        "lints": (call("ev.lint", k, f"metric={lead}", *options),),
        "curves": (call("ev.curve", lead, _k_of_curve(request), *level, *options),),
        "distributions": (f"{score}.per_user",),
        "users": (f"{score}.per_user.sort_values()", call("ev.user", "user", k)),
    }
    if has_beyond:
        cutoffs = [k for k in request.columns if k is not None]
        calls["means"] += (call("ev.beyond", f"k={cutoffs}"),)
    if request.by is not None:
        metrics = _metrics_at_lead(request)
        calls["segments"] = (call("ev.table", *metrics, _by(request), *level),)
    return calls


def calls_of_several(
    request: ReportRequest,
    n_movers: int,
    pairs: Iterable[tuple[str, str]],
    *,
    beyond: Sequence[str],
    has_side_data: bool,
    is_tested: bool,
) -> Calls:
    """Return the calls of a report of several models.

    `pairs`: whose users are shown; `beyond`: metrics beyond accuracy in it;
    `is_tested`: whether models are tested within segments.
    """
    lead, k, *options = _lead(request)
    accuracy = [each for each in request.asked if each.metric.is_accuracy]
    metrics = _metrics(request, accuracy)
    lint = call("ev.lint", k, f"metric={lead}", *options)
    calls: Calls = {
        "means": (call("found.table", *metrics, "intervals=True"),),
        "differences": (call("found.differences", *metrics),),
        "lints": (f"{{name: {lint} for name, ev in found.items()}}",),
        "curves": (call("found.curve", lead, _k_of_curve(request), *options),),
    }
    movers = []
    for model, baseline in pairs:
        pair = [f"model={model!r}", f"baseline={baseline!r}"]
        movers.append(call("found.movers", lead, k, f"n={n_movers}", *pair, *options))
    if movers:
        calls["users"] = tuple(movers)
    if beyond and has_side_data:
        calls["beyond"] = (call("found.beyond", k),)
    elif beyond:
        calls["beyond"] = (call("found.table", f"{[*beyond]}", k),)
    if request.by is not None:
        asked = [f"[{lead}]", k, _by(request), *options]
        calls["segments"] = (call("found.table", *asked, "intervals=True"),)
        if is_tested:
            calls["segments"] += (call("found.differences", *asked),)
    return calls


def call(function: str, *arguments: str) -> str:
    """Return a call as it is typed."""
    return f"{function}({', '.join(arguments)})"


# Arguments as they are typed


def _lead(request: ReportRequest) -> list[str]:
    """Return the lead metric, the middle cut-off and the options of the metric."""
    measure = request.metrics[0]
    options = _keywords(measure.options_beside_text)
    return [repr(measure.name), f"k={request.lead_k}", *options]


def _k_of_curve(request: ReportRequest) -> str:
    points = [*request.points]
    if points == [*range(1, len(points) + 1)]:
        return f"k=range(1, {len(points) + 1})"
    return f"k={points}"


def _metrics(request: ReportRequest, asked: Sequence[Asked]) -> list[str]:
    """Return metrics with their cut-offs and options."""
    cutoffs = [] if request.k is None else [f"k={[*request.k]}"]
    return _with_options(asked, cutoffs)


def _metrics_at_lead(request: ReportRequest) -> list[str]:
    """Return the metrics of accuracy that have the middle cut-off, and their options."""
    asked = [
        Asked(measure.name, measure)
        for measure in request.metrics
        if request.lead_k in request.k_of(measure.name)
    ]
    return _with_options(asked, [f"k={request.lead_k}"])


def _by(request: ReportRequest) -> str:
    """Write what defines segments: columns, or `by` as the call types it."""
    columns = request.by if isinstance(request.by, list) else [request.by]
    is_named = all(isinstance(column, str) for column in columns)
    return f"by={request.by!r}" if is_named else "by=by"


def _keywords(options: Given) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items()]


def _with_options(asked: Sequence[Asked], cutoffs: Sequence[str]) -> list[str]:
    """Return metrics with their cut-offs and options, as keywords.

    Where they are not the same, a mapping has each metric with its own.
    """
    names = [repr(each.name) for each in asked]
    options_of_each = [each.measure.options_beside_text for each in asked]
    together: dict[str, Any] = {}
    for options in options_of_each:
        together |= options
    if all(_takes(each.measure, together) for each in asked):
        return [f"[{', '.join(names)}]", *cutoffs, *_keywords(together)]
    pairs = zip(names, options_of_each, strict=True)
    own = [f"{name}: {options!r}" for name, options in pairs]
    return [f"{{{', '.join(own)}}}", *cutoffs]


def _takes(measure: Measure, options: Given) -> bool:
    """Say whether keywords of a call give a measure the options that it has."""
    beside_text = measure.options_beside_text
    of_text = measure.options.keys() - beside_text.keys()
    names = options.keys() & measure.metric.defaults.keys() - of_text
    return {name: options[name] for name in names} == beside_text
