"""Compute a report: each number once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from recnb.conventions import options_in_words
from recnb.data.parts import Parts
from recnb.display.language import _, current, template
from recnb.errors import OptionError, RecnbError
from recnb.lint import Lint, judged_order, lint
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS, METRICS
from recnb.report import words
from recnb.report.data import MetricWords, ReportData, SegmentNumbers
from recnb.report.distribution import Distribution
from recnb.report.made_with import made_with
from recnb.report.report import Report
from recnb.report.request import ReportRequest, curve_points, in_order
from recnb.results.evaluation_data import EvaluationData, Models, has_side_data
from recnb.results.means_tables import phrases_of
from recnb.results.numbers import (
    DifferenceRow,
    MeanRow,
    Numbers,
    Pairs,
    measured,
    panels_beyond,
    panels_of,
)
from recnb.results.score import unweighted_in_words
from recnb.results.scoring import recorded_in, scoring_of, values_of_users
from recnb.results.segments import (
    MOST_SEGMENTS,
    division_by,
    part_in_words,
)
from recnb.results.user_groups import UserGroup, extremes, moved
from recnb.results.values import Panel
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
    basis: str = "",
    n_shown: int = USERS_SHOWN,
) -> Report:
    """Build the report of one model, or of several, which are compared by `pairs`.

    `n_shown` users of each kind are shown.
    """
    first, language = next(iter(models.values())), current()
    request = _with_split(request, first)
    numbers, curve = _of_accuracy(models, request, pairs, settings)
    differences = tuple(numbers.difference_rows())
    where = _where_rows_stay(models) if pairs else ""
    beyond = () if where else _asked_beyond(models, request)
    of_beyond, lacking = _beyond_accuracy(models, request, beyond, settings)
    measures = [one for one in (*request.metrics, *beyond) if one.name not in lacking]
    lead, k = request.lead, request.lead_k
    values = _values_of_lead(models, request)
    data = ReportData(
        models=tuple(models),
        baseline=baseline,
        metrics=tuple(_words_of(first, one, request) for one in measures),
        k=request.k,
        lead_k=k,
        settings=settings,
        n_users=first.n_users,
        n_lists=first.sample.n_lists,
        cluster=first.sample.cluster,
        clustered_by=first.clustered_by,
        means=(*numbers.mean_rows(against_baseline=baseline is not None), *of_beyond),
        differences=differences,
        curve=tuple(curve.mean_rows()),
        distribution=_distribution(models, lead, values),
        hit_rates=_hit_rates(models, k, settings),
        segments=_segments(models, request, pairs, settings),
        users=tuple(_users_shown(models, request, values, differences, n_shown)),
        lints=_lints(models, request),
        judged_order=judged_order(models, lead.cut_at(k)) if pairs else {},
        lacking=lacking,
        left_out=_(words.LEFT_OUT, where=where) if where else "",
        unweighted=unweighted_in_words(models, request.metrics, Cutoffs.of(k)),
        basis=basis or "; ".join(phrases_of(numbers.bases)),
        made_with=made_with(models),
        lang=str(language),
        noun=language.noun.user,
        item_noun=language.noun.item,
    )
    return Report(data)


def _with_split(request: ReportRequest, model: EvaluationData) -> ReportRequest:
    """Return the request with the splits as segments, if it names none."""
    keys = model.keys
    n_parts = keys.combinations.height
    if request.by is not None or not 0 < n_parts <= MOST_SEGMENTS:
        return request
    return replace(request, by=[*keys.columns])


# Metrics of accuracy


def _of_accuracy(
    models: Models, request: ReportRequest, pairs: Pairs, settings: Settings
) -> tuple[Numbers, Numbers]:
    """Measure the metrics of accuracy on the users that the models share.

    The lead metric is measured at the cut-offs of its curve as well.
    """
    points = curve_points(request.lead_ks)
    panels, of_curve = list[Panel](), list[Panel]()
    for measure in request.metrics:
        wanted = request.k_of(measure.name)
        drawn = points if measure is request.lead else ()
        cutoffs = Cutoffs.of(in_order([*wanted, *drawn]))
        for model in models.values():
            _check_users(model, measure, cutoffs)
        for panel in panels_of(models, measure, cutoffs):
            panels.append(panel.at(wanted))
            of_curve.append(panel.at(drawn))
    names = list(models)
    return (
        Numbers(panels, names, pairs, settings),
        Numbers(of_curve, names, settings=settings),
    )


def _check_users(model: EvaluationData, measure: Measure, cutoffs: Cutoffs) -> None:
    """Refuse a measure that a library averages over other users than its others."""
    scoring = scoring_of(model, measure, cutoffs)
    if len(scoring.joined.users) != model.n_lists:
        values_of_users(model, measure, cutoffs)


# Metrics beyond accuracy


def _where_rows_stay(models: Models) -> str:
    """Return where rows are that are not in memory; "" if there are none."""
    for model in models.values():
        if isinstance(model.source, Parts):
            return _(model.source.stored.where)
    return ""


def _asked_beyond(models: Models, request: ReportRequest) -> tuple[Measure, ...]:
    """Return the metrics beyond accuracy that are named, or all if data are given."""
    if request.beyond or not has_side_data(models):
        return request.beyond
    library = next(iter(models.values())).library
    return tuple(Measure(LIST_METRICS[name]) for name in recorded_in(library))


def _beyond_accuracy(
    models: Models,
    request: ReportRequest,
    measures: Sequence[Measure],
    settings: Settings,
) -> tuple[list[MeanRow], dict[str, str]]:
    """Return the means of metrics beyond accuracy, and what those without one need.

    Each model has its own users. A metric that is named is refused if one of several
    models has no number.
    """
    means, lacking = list[MeanRow](), dict[str, str]()
    for name, model in models.items():
        panels = list[Panel]()
        for measure in measures:
            k = Cutoffs.of(request.k_of(measure.name))
            try:
                panels += panels_beyond({name: model}, measure, k)
            except RecnbError as problem:
                if len(models) > 1 and request.beyond:
                    raise OptionError(str(problem)) from problem
                prefix = f"{measure.name}: "
                why = problem.lack or str(problem).removeprefix(prefix)
                lacking[measure.name] = template(why)
        means += Numbers(panels, [name], settings=settings).mean_rows()
    return [row for row in means if row.metric not in lacking], lacking


# Segments


def _segments(
    models: Models, request: ReportRequest, pairs: Pairs, settings: Settings
) -> SegmentNumbers | None:
    """Return the segments, in the lead metric at the middle cut-off."""
    if request.by is None:
        return None
    division = division_by(models, request.by)
    k = Cutoffs.of(request.lead_k)
    numbers = measured(
        models, [request.lead], k, division=division, pairs=pairs, settings=settings
    )
    first = next(iter(models.values()))
    return SegmentNumbers(
        by=", ".join(division.labels),
        names=tuple(", ".join(map(str, key)) for key in division.keys),
        means=tuple(numbers.mean_rows()),
        differences=tuple(numbers.difference_rows()),
        is_tested=division.is_tested,
        basis=_basis_of_segments(first, numbers),
    )


def _basis_of_segments(model: EvaluationData, numbers: Numbers) -> str:
    """Return what stands below the segments; nothing of models that are compared."""
    if not numbers.division.is_tested:
        return part_in_words(model, numbers.division)
    if len(numbers.models) > 1:
        return ""
    n_tests = numbers.n_tests
    message = words.GAPS_OF_EACH if n_tests else words.INTERVALS_OF_EACH
    return _(message, n=n_tests, confidence=100 * numbers.settings.confidence)


# Users


def _values_of_lead(models: Models, request: ReportRequest) -> dict[str, Floats]:
    """Return the values of users in the lead metric, by model."""
    k = Cutoffs.of(request.lead_k)
    return {
        name: values_of_users(model, request.lead, k)[:, 0]
        for name, model in models.items()
    }


def _distribution(
    models: Models, lead: Measure, values: Mapping[str, Floats]
) -> Distribution | None:
    """Return how the values of users of one model are spread; None of several."""
    if len(models) > 1:
        return None
    (model,), (of_users,) = models.values(), values.values()
    bounds = scoring_of(model, lead).measure.bounds
    return Distribution.of(of_users, bounds, model.joined.user_weight)


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
    lead, k = request.lead, request.lead_k
    if len(models) == 1:
        ((name, model),) = models.items()
        return extremes(name, model, values[name], k, n, lead.metric.better)
    groups = list[UserGroup]()
    at_lead = [row for row in differences if (row.metric, row.k) == (lead.name, k)]
    by_size = sorted(at_lead, key=lambda row: -abs(np.nan_to_num(row.difference)))
    furthest = by_size[:PAIRS_SHOWN]
    for row in at_lead:
        if row in furthest:
            pair = row.model, row.baseline
            groups += moved(models, pair, values, k, n, lead.metric.better)
    return groups


# The data


def _hit_rates(models: Models, k: int, settings: Settings) -> tuple[MeanRow, ...]:
    """Return the share of users who find anything with each model.

    Empty if users have weights, if the hit rate is over other users, if it counts 1 for
    users with nothing to find, or if the data have none.
    """
    first = next(iter(models.values()))
    hit_rate = Measure(METRICS["hit_rate"])
    try:
        convention = scoring_of(first, hit_rate).joined.convention
        (panel,) = panels_of(models, hit_rate, Cutoffs.of(k))
    except RecnbError:
        return ()
    if convention.no_relevant == "one" or len(panel.users) != first.n_lists:
        return ()
    if panel.sample.weights is not None:
        return ()
    return tuple(Numbers([panel], list(models), settings=settings).mean_rows())


def _lints(models: Models, request: ReportRequest) -> dict[str, Lint]:
    """Return the problems in the data of each model, measured by the lead metric."""
    return {
        name: lint(model, request.lead_k, request.lead, {})
        for name, model in models.items()
    }


# Words


def _words_of(
    model: EvaluationData, asked: Measure, request: ReportRequest
) -> MetricWords:
    """Return the words of a measure."""
    cutoffs = Cutoffs.of(request.k_of(asked.name))
    metric = asked.metric
    scoring = scoring_of(model, asked, cutoffs)
    measure = scoring.measure
    convention = _(measure.range_text)
    if metric.is_accuracy:
        convention = "; ".join(
            options_in_words(
                asked.chosen,
                whole=cutoffs.is_whole,
                cutoff=scoring.joined.convention.cutoff,
            )
        )
    return MetricWords(
        metric=measure.name,
        symbol=measure.symbol,
        term=metric.term,
        reads=metric.reads,
        formula=measure.formula_text(),
        convention=convention,
        bounds=measure.bounds,
        is_accuracy=metric.is_accuracy,
        better=metric.better,
    )
