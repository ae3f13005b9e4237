"""Compute a report: each number once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from recnb.conventions import options_in_words
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import NoUsersError, OptionError, RecnbError
from recnb.lint import Lint, judged_order, lint
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS, METRICS
from recnb.report import texts
from recnb.report.calls import Calls, calls_of_one, calls_of_several
from recnb.report.data import MetricWords, UserGroup
from recnb.report.distribution import CountSummary, Distribution, Population
from recnb.report.made_with import made_with
from recnb.report.report import Report
from recnb.report.request import ReportRequest, in_order
from recnb.report.users import extremes, moved
from recnb.results.arguments import Asked
from recnb.results.columns import Column, metric_columns
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.measuring import measured, numbers_of
from recnb.results.numbers import DifferenceRow, MeanRow, Numbers, Pairs
from recnb.results.scoring import basis_of, recorded_in, scoring_of, values_of_users
from recnb.results.segment_table import SegmentNumbers
from recnb.results.segments import (
    MOST_SEGMENTS,
    Division,
    division_by,
    part_in_words,
    unlisted,
)
from recnb.results.tables import lack_in_words
from recnb.results.unweighted import plain_means
from recnb.results.values import merged
from recnb.stats import Settings

#: Users shown of each kind, and pairs of models whose users are shown.
USERS_SHOWN, PAIRS_SHOWN = 3, 3


def report_of(
    models: Models,
    request: ReportRequest,
    settings: Settings,
    *,
    pairs: Pairs = (),
    baseline: str | None = None,
    marked_against: str | None = None,
    basis: str = "",
    users: int = USERS_SHOWN,
) -> Report:
    """Build the report of one model, or of several.

    These are compared by `pairs`; so many `users` of each kind are shown.
    """
    first = next(iter(models.values()))
    request = _with_split(request, first)
    made = _computed(models, request, pairs, settings, users)
    beyond = made.beyond
    means = (*made.numbers.mean_rows(marked_against), *beyond.means)
    return Report(
        models=tuple(models),
        baseline=baseline,
        marked_against=marked_against,
        k=request.columns,
        lead_k=request.lead_k,
        settings=settings,
        metrics=_metric_words(first, request, beyond),
        means=means,
        **_of_lead(models, request, made, settings),
        **_of_data(models, request),
        users=tuple(made.groups),
        lacking=beyond.lacking,
        differences=made.differences,
        segments=made.segments,
        left_out=_(texts.LEFT_OUT, where=beyond.where) if beyond.where else "",
        basis=basis or _basis(first, request),
        made_with=made_with(first),
        calls=_calls(models, request, made, users, settings),
    )


class Computed(NamedTuple):
    """The numbers of a report, each computed once."""

    numbers: Numbers
    curve: Numbers  #: of the lead metric
    beyond: Beyond
    differences: tuple[DifferenceRow, ...]
    values: dict[str, Floats]  #: of users in the lead metric, by model
    groups: Sequence[UserGroup]
    segments: SegmentNumbers | None


def _computed(
    models: Models,
    request: ReportRequest,
    pairs: Pairs,
    settings: Settings,
    n_users: int,
) -> Computed:
    """Compute the numbers of a report that shows so many users of each kind."""
    numbers, curve = _of_accuracy(models, request, pairs, settings)
    beyond = _beyond_accuracy(models, request, settings, is_compared=bool(pairs))
    differences = tuple(numbers.difference_rows())
    values = _values_of_lead(models, request)
    return Computed(
        numbers=numbers,
        curve=curve,
        beyond=beyond,
        differences=differences,
        values=values,
        groups=_users_shown(models, request, values, differences, n_users),
        segments=_segments(models, request, pairs, settings),
    )


def _of_lead(
    models: Models, request: ReportRequest, made: Computed, settings: Settings
) -> dict[str, Any]:
    """Return what a report shows of the lead metric at its cut-off."""
    lead, k, first = request.metrics[0], request.lead_k, next(iter(models.values()))
    order = judged_order(models, lead.cut_at(k)) if made.differences else ""
    return {
        "hit_rates": _hit_rates(models, k, settings),
        "curves": _curves(models, made.curve),
        "distributions": _distributions(first, request, made.values),
        "judged_order": order,
        "unweighted": plain_means(models, request.metrics, Cutoffs.of(k)),
    }


def _of_data(models: Models, request: ReportRequest) -> dict[str, Any]:
    """Return what a report says of the data: users, lists and problems."""
    first = next(iter(models.values()))
    return {
        **_sample_of(first),
        "populations": _populations(models, request),
        "lints": _lints(models, request),
        "noun": first.noun,
    }


def _sample_of(model: EvaluationData) -> dict[str, Any]:
    """Count the users of a report and their lists, and say what these are clustered by."""
    return {
        "n_users": model.n_users,
        "n_lists": None if model.clusters is None else model.n_lists,
        "cluster": model.side_data.cluster or "",
        "clustered_by": model.clustered_by,
    }


def _with_split(request: ReportRequest, model: EvaluationData) -> ReportRequest:
    """Return the request with the splits as segments, if it names none."""
    keys = model.keys
    if request.by is not None or not 0 < len(keys.labels) <= MOST_SEGMENTS:
        return request
    return replace(request, by=unlisted([*keys.columns]))


def _values_of_lead(models: Models, request: ReportRequest) -> dict[str, Floats]:
    """Return the values of users of each model in the lead metric, at its cut-off."""
    lead, k = request.metrics[0], Cutoffs.of(request.lead_k)
    return {
        name: values_of_users(model, lead, k)[:, 0] for name, model in models.items()
    }


# Metrics of accuracy


def _of_accuracy(
    models: Models, request: ReportRequest, pairs: Pairs, settings: Settings
) -> tuple[Numbers, Numbers]:
    """Measure the metrics of accuracy on the users that the models share.

    The lead metric is measured at the cut-offs of its curve as well.
    """
    points = request.points
    columns, of_curve = list[Column](), list[Column]()
    for model in models.values():
        model.hits(request.deepest)  # the deepest join serves all metrics
    for measure in request.metrics:
        wanted = request.k_of(measure.name)
        is_lead = not of_curve
        cutoffs = Cutoffs.of(in_order([*wanted, *points]) if is_lead else wanted)
        for model in models.values():
            _check_users(model, measure, cutoffs)
        asked = Asked(measure.name, measure)
        computed = list(metric_columns(models, asked, cutoffs))
        columns += [column for column in computed if column.k in wanted]
        if is_lead:
            of_curve = [column for column in computed if column.k in points]
    names = list(models)
    return (
        numbers_of(columns, names, pairs=pairs, settings=settings),
        numbers_of(of_curve, names, settings=settings),
    )


def _check_users(model: EvaluationData, measure: Measure, cutoffs: Cutoffs) -> None:
    """Refuse a measure that a library averages over other users than its others."""
    scoring = scoring_of(model, measure, whole=cutoffs.is_whole)
    if len(scoring.joined.users) != model.n_lists:
        values_of_users(model, measure, cutoffs)


def _hit_rates(models: Models, k: int, settings: Settings) -> tuple[MeanRow, ...]:
    """Return the share of users who find anything with each model.

    Each user is counted once. Empty if the hit rate is over other users, or if the data
    have none.
    """
    counting = {name: _without_ones(model) for name, model in models.items()}
    asked = Asked("hit_rate", Measure(METRICS["hit_rate"]))
    try:
        (column,) = metric_columns(counting, asked, Cutoffs.of(k))
    except RecnbError:
        return ()
    if len(column.users) != next(iter(models.values())).n_lists:
        return ()
    column = replace(column, weights=None, known=None)
    return tuple(numbers_of([column], list(models), settings=settings).mean_rows())


def _without_ones(model: EvaluationData) -> EvaluationData:
    """Return a model of which users with nothing to find count 0, and not 1."""
    scoring = scoring_of(model, Measure(METRICS["hit_rate"]))
    if scoring.joined.convention.no_relevant != "one":
        return model
    convention = replace(model.convention, no_relevant="zero")
    joined = replace(model.joined, convention=convention)
    return model.restricted(joined, no_relevant="zero")


# Metrics beyond accuracy


class Beyond(NamedTuple):
    """Metrics beyond accuracy, of which each model has its own users."""

    means: Sequence[MeanRow]
    metrics: Sequence[Measure]  #: that have a number
    lacking: Mapping[str, str]  #: those without one, and what they need
    where: str  #: where the rows are that all of them would take; "" if they are here


def _beyond_accuracy(
    models: Models, request: ReportRequest, settings: Settings, *, is_compared: bool
) -> Beyond:
    """Compute the metrics beyond accuracy that are named, or all that the data allow."""
    elsewhere = [
        _(model.source.where) for model in models.values() if not model.source.in_memory
    ]
    if is_compared and elsewhere:
        return Beyond([], [], {}, elsewhere[0])
    asked = request.beyond
    if not asked and has_side_data(models):
        library = next(iter(models.values())).library
        asked = tuple(Measure(LIST_METRICS[name]) for name in recorded_in(library))
    means, lacking = list[MeanRow](), dict[str, str]()
    for name, model in models.items():
        columns = list[Column]()
        for measure in asked:
            k = Cutoffs.of(request.k_of(measure.name))
            try:
                columns += _columns_beyond(name, model, measure, k)
            except RecnbError as problem:
                if is_compared and request.beyond:
                    raise OptionError(str(problem)) from problem
                lacking[measure.name] = lack_in_words(measure.name, problem)
        means += numbers_of(columns, [name], settings=settings).mean_rows()
    return Beyond(
        means=[row for row in means if row.metric not in lacking],
        metrics=[each for each in asked if each.name not in lacking],
        lacking=lacking,
        where="",
    )


def _columns_beyond(
    name: str, model: EvaluationData, measure: Measure, k: Cutoffs
) -> list[Column]:
    """Compute a metric beyond accuracy of a model, or say why it has no number."""
    asked = Asked(measure.name, measure)
    columns = list(metric_columns({name: model}, asked, k))
    if not any(np.isfinite(column.mean).any() for column in columns):
        raise NoUsersError(measure.metric.no_value)
    return columns


def has_side_data(models: Models) -> bool:
    """Return whether train or items are given for every model."""
    return all(
        model.side_data.train is not None or model.side_data.items is not None
        for model in models.values()
    )


# Users, findings, segments and calls


def _curves(models: Models, curve: Numbers) -> dict[str, tuple[MeanRow, ...]]:
    """Return the means of each model at the cut-offs of the curve."""
    rows = list(curve.mean_rows())
    return {name: tuple(row for row in rows if row.model == name) for name in models}


def _distributions(
    first: EvaluationData, request: ReportRequest, values: Mapping[str, Floats]
) -> tuple[Distribution, ...]:
    """Return how the values of each model are spread in the lead metric."""
    bounds = scoring_of(first, request.metrics[0]).measure.bounds
    weights = first.joined.user_weight
    return tuple(
        Distribution.of(name, of_model, bounds, weights)
        for name, of_model in values.items()
    )


def _lints(models: Models, request: ReportRequest) -> dict[str, Lint]:
    """Return the problems in the data of each model, measured by the lead metric."""
    lead = request.metrics[0]
    lints = {}
    for name, model in steps(list(models.items()), _("report")):
        lints[name] = lint(model, request.lead_k, lead, {})
    return lints


def _calls(
    models: Models,
    request: ReportRequest,
    made: Computed,
    n_users: int,
    settings: Settings,
) -> Calls:
    """Return the calls that return the numbers of the report."""
    if len(models) == 1:
        has_beyond = bool(made.beyond.metrics) and not request.beyond
        return calls_of_one(request, settings.confidence, has_beyond=has_beyond)
    pairs = [(group.model, group.baseline) for group in made.groups if group.baseline]
    return calls_of_several(
        request,
        n_users,
        dict.fromkeys(pairs),
        beyond=[measure.name for measure in made.beyond.metrics],
        has_side_data=has_side_data(models),
        is_tested=made.segments is not None and made.segments.is_tested,
    )


def _segments(
    models: Models, request: ReportRequest, pairs: Pairs, settings: Settings
) -> SegmentNumbers | None:
    """Return the segments at the middle cut-off.

    One model has all its metrics there, several have differences in the lead metric.
    """
    if request.by is None:
        return None
    measures = request.metrics[:1]
    if not pairs:
        measures = tuple(
            measure
            for measure in request.metrics
            if request.lead_k in request.k_of(measure.name)
        )
    asked = [Asked(measure.name, measure) for measure in measures]
    division = division_by(models, request.by)
    k = Cutoffs.of(request.lead_k)
    numbers = measured(
        models, asked, k, division=division, pairs=pairs, settings=settings
    )
    first = next(iter(models.values()))
    return SegmentNumbers(
        by=", ".join(division.labels),
        basis=_basis_of_segments(first, division, numbers, settings),
        numbers=numbers,
    )


def _basis_of_segments(
    model: EvaluationData, division: Division, numbers: Numbers, settings: Settings
) -> str:
    """Return what stands below the segments; nothing of models that are compared."""
    if not division.is_tested:
        return part_in_words(model, division)
    if len(numbers.models) > 1:
        return ""
    n_tests = int(numbers.differences.is_test.sum())
    words = texts.GAPS_OF_EACH if n_tests else texts.INTERVALS_OF_EACH
    return _(words, n=n_tests, confidence=100 * settings.confidence)


def _users_shown(
    models: Models,
    request: ReportRequest,
    values: Mapping[str, Floats],
    differences: Sequence[DifferenceRow],
    n: int,
) -> list[UserGroup]:
    """Return the users shown, by kind.

    A report of one model shows the best and the worst, one of several those who move
    most between the models that are furthest apart.
    """
    lead, k = request.metrics[0], request.lead_k
    groups = list[UserGroup]()
    if len(models) == 1:
        for name, model in models.items():
            groups += extremes(name, model, values[name], k, n, lead.metric.better)
        return groups
    if not n:
        return []
    at_lead = [row for row in differences if (row.metric, row.k) == (lead.name, k)]
    by_size = sorted(at_lead, key=lambda row: -abs(np.nan_to_num(row.difference)))
    furthest = by_size[:PAIRS_SHOWN]
    for row in at_lead:
        if row in furthest:
            pair = row.model, row.baseline
            groups += moved(models, pair, values, k, n, lead.metric.better)
    return groups


# Words


def _metric_words(
    model: EvaluationData, request: ReportRequest, beyond: Beyond
) -> tuple[MetricWords, ...]:
    """Return the words of every metric that has a number."""
    return tuple(
        _words_of(model, measure, whole=request.k_of(measure.name) == (None,))
        for measure in (*request.metrics, *beyond.metrics)
    )


def _words_of(model: EvaluationData, asked: Measure, *, whole: bool) -> MetricWords:
    """Return the words of a measure."""
    metric = asked.metric
    scoring = scoring_of(model, asked, whole=whole)
    measure = scoring.measure
    convention = _(measure.range_text)
    if metric.is_accuracy:
        convention = "; ".join(
            options_in_words(asked.chosen, whole=scoring.cuts_nothing)
        )
    return MetricWords(
        metric=measure.name,
        symbol=measure.symbol,
        term=metric.term,
        title=metric.title,
        reads=metric.reads,
        formula=measure.formula_text(),
        convention=convention,
        bounds=measure.bounds,
        is_accuracy=metric.is_accuracy,
        better=metric.better,
    )


def _basis(model: EvaluationData, request: ReportRequest) -> str:
    """Return the users and the conventions in words."""
    phrases = {}
    for measure in request.metrics:
        ks = Cutoffs.of(request.k_of(measure.name))
        scoring = scoring_of(model, measure, whole=ks.is_whole)
        basis = basis_of(model, scoring, ks, measure.options_beside_text)
        phrases[measure.symbol] = basis.phrases(brief=True)
    return "; ".join(merged(phrases))


def _populations(models: Models, request: ReportRequest) -> tuple[Population, ...]:
    """Count who and what each model is evaluated on.

    Empty for several models if rows of one are not in memory.
    """
    is_here = all(model.source.in_memory for model in models.values())
    if len(models) > 1 and not is_here:
        return ()
    return tuple(_population(name, model, request) for name, model in models.items())


def _population(name: str, model: EvaluationData, request: ReportRequest) -> Population:
    """Count who and what one model is evaluated on."""
    hits = model.hits(request.deepest)
    counts = model.joined.counts
    return Population(
        model=name,
        n_users=counts.n_users,
        n_lists=counts.n_lists,
        n_recommended=counts.n_recommended,
        n_relevant=counts.n_relevant,
        n_items_recommended=counts.n_items_recommended,
        n_items_relevant=counts.n_items_relevant,
        list_length=CountSummary.of(hits.list_length[hits.list_length > 0]),
        relevant_per_user=CountSummary.of(hits.n_relevant),
        users=tuple(model.users_in_words),
    )
