"""The calls that return the numbers of a report, as they are typed: `ev` is the
evaluation of one model, `found` a comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recnb.errors import is_several
from recnb.metrics.metric import EVERY_METRIC, METRICS, Given, Metric
from recnb.results.arguments import Asked

#: By the field of a report, the calls that return its numbers.
Calls = dict[str, tuple[str, ...]]

#: The number of bins of segments where none is given.
USUAL_BINS = 4


@dataclass(frozen=True)
class Typed:
    """What is asked of a report, for other calls."""

    asked: Sequence[Asked]  #: the lead metric first
    k: Any  #: None: each metric has its own
    lead_k: int
    at_lead_k: Sequence[Asked]  #: metrics of accuracy that have the middle cut-off
    points: Sequence[int]  #: of the curve
    by: Any = None
    bins: int = USUAL_BINS

    @property
    def lead(self) -> tuple[str, ...]:
        """The lead metric, and its options."""
        metric, options = self.asked[0].metric, self.asked[0].options
        return _name(metric.name, metric), *_keywords(options)

    @property
    def k_of_lead(self) -> str:
        """The middle cut-off."""
        return f"k={self.lead_k}"

    @property
    def k_of_curve(self) -> str:
        """The cut-offs of the curve."""
        if [*self.points] == [*range(1, len(self.points) + 1)]:
            return f"k=range(1, {len(self.points) + 1})"
        return f"k={[*self.points]}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics with their cut-offs and options."""
        cutoffs = [] if self.k is None else [f"k={self.k!r}"]
        names = [_name(each.name, each.metric) for each in self.asked]
        return _with_options(self.asked, names, cutoffs)

    @property
    def metrics_at_lead(self) -> tuple[str, ...]:
        """The metrics of accuracy that have the middle cut-off, and their options."""
        names = [_name(each.metric.name, each.metric) for each in self.at_lead_k]
        return _with_options(self.at_lead_k, names, [self.k_of_lead])

    @property
    def segments(self) -> tuple[str, ...]:
        """What defines segments: names of columns, or what `by` is where the call is
        typed.
        """
        columns = self.by if is_several(self.by) else [self.by]
        is_named = all(isinstance(column, str) for column in columns)
        by = f"by={self.by!r}" if is_named else "by=by"
        return (by,) if self.bins == USUAL_BINS else (by, f"bins={self.bins}")


def calls_of_one(typed: Typed, *, has_beyond: bool) -> Calls:
    """Return the calls of a report of one model; `has_beyond`: whether it has metrics
    beyond accuracy that are not asked for.
    """
    lead, *options = typed.lead
    k = typed.k_of_lead
    name = typed.asked[0].metric.name
    values = call("ev.measure", lead, k, *options)
    if name in METRICS:
        values = call(f"ev.{name}", k, *options)
    calls = {
        "means": (call("ev.table", *typed.metrics, "intervals=True"),),
        "populations": ("ev.counts",),
        "lints": (call("ev.lint", k, f"metric={lead}", *options),),
        "curves": (call("ev.curve", lead, typed.k_of_curve, *options),),
        "distributions": (f"{values}.per_user",),
        "users": (f"{values}.per_user.sort_values()", call("ev.user", "user", k)),
    }
    if has_beyond:
        calls["means"] += (call("ev.beyond", f"k={typed.k!r}"),)
    if typed.by is not None:
        table = call("ev.table", *typed.metrics_at_lead, *typed.segments)
        calls["segments"] = (table,)
    return calls


def calls_of_several(
    typed: Typed,
    movers: int,
    pairs: Iterable[tuple[str, str]],
    *,
    has_beyond: bool,
    is_tested: bool,
) -> Calls:
    """Return the calls of a report of several models; `pairs`: whose users are shown,
    `is_tested`: whether models are tested within segments.
    """
    lead, *options = typed.lead
    k = typed.k_of_lead
    lint = call("one.lint", k, f"metric={lead}", *options)
    moved = []
    for model, baseline in pairs:
        pair = [f"model={model!r}", f"baseline={baseline!r}"]
        moved.append(call("found.movers", lead, k, f"n={movers}", *pair, *options))
    calls = {
        "means": (call("found.table", *typed.metrics, "intervals=True"),),
        "differences": (call("found.differences", *typed.metrics),),
        "lints": (f"{{name: {lint} for name, one in found.items()}}",),
        "curves": (call("found.curve", lead, typed.k_of_curve, *options),),
        "users": tuple(moved),
    }
    if has_beyond:
        calls["beyond"] = (call("found.beyond", k),)
    if typed.by is not None:
        about = [f"[{lead}]", k, *typed.segments, *options]
        calls["segments"] = (call("found.table", *about, "intervals=True"),)
        if is_tested:
            calls["segments"] += (call("found.differences", *about),)
    return calls


def call(function: str, *arguments: str) -> str:
    """Return a call as it is typed."""
    return f"{function}({', '.join(arguments)})"


def _name(name: str, metric: Metric[...]) -> str:
    """Return a metric as it is typed: quoted, or of the caller's own the function."""
    return repr(name) if metric.plain_name in EVERY_METRIC else name


def _keywords(options: Given) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items()]


def _with_options(
    asked: Sequence[Asked], names: Sequence[str], cutoffs: Sequence[str]
) -> tuple[str, ...]:
    """Return metrics with their cut-offs and options: as keywords, or a mapping of each
    metric to its own where they are not the same.
    """
    options: dict[str, Any] = {}
    for each in asked:
        options |= each.options
    if all(each.options == _had(each.metric, options) for each in asked):
        return f"[{', '.join(names)}]", *cutoffs, *_keywords(options)
    own = [
        f"{name}: {dict(each.options)!r}"
        for name, each in zip(names, asked, strict=True)
    ]
    return f"{{{', '.join(own)}}}", *cutoffs


def _had(metric: Metric[...], options: Given) -> Mapping[str, Any]:
    """Return those of some options that a metric takes as keywords."""
    return {
        name: value
        for name, value in options.items()
        if name in metric.defaults and name not in metric.given
    }
