"""Compute the report of an evaluation: findings, metrics with intervals, the curve, users, segments, metrics beyond accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import _
from recnb.display.progress import counted
from recnb.errors import NoUsersError, OptionError, RecnbError
from recnb.lint import lint
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.curve import Curve
from recnb.report.data import (
    BeyondRow,
    CountSummary,
    MetricSummary,
    PopulationSummary,
    RankedItem,
    ReportSegments,
    UserSummary,
    distribution_of,
)
from recnb.report.report import Report
from recnb.report.request import ReportRequest, curve_points, request_of
from recnb.report.section import computed_by
from recnb.report.sections import SECTIONS
from recnb.results.arguments import Metrics
from recnb.results.beyond_accuracy import recorded_in
from recnb.results.provenance import merged
from recnb.results.segments import n_tests, segment_rows
from recnb.results.values import values_of
from recnb.stats import intervals

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

USERS_SHOWN, RANKS_SHOWN, MISSED_SHOWN = 3, 20, 5


def report_of(
    evaluation: EvaluationData,
    k: int | Sequence[int],
    metrics: Metrics,
    confidence: float,
    by: Any,
    bins: int,
    options: Mapping[str, Any],
) -> Report:
    """Build the report of an evaluation; each metric is computed once for the table, the curve, the users, the lint and the segments."""
    request = request_of(evaluation, k, metrics, options, confidence, instead=".table(k=None)")
    at, lead_k, points = request.k, request.lead_k, curve_points(request.lead_ks)
    chosen = request.metrics
    # The deepest join serves all metrics and cut-offs.
    whole = any(metric.needs_whole_list(metric_options) for metric, metric_options in chosen)
    evaluation.hits(None if whole or None in request.columns else max(at))
    others = [request.k_of(metric.name) for metric, _options in chosen[1:]]
    cutoffs = [request.lead_cutoffs(points).values, *others]
    columns = [(metric, k) for (metric, _options), ks in zip(chosen, cutoffs, strict=True) for k in ks]
    with counted(len(chosen) + 3 + (by is not None), _("report")) as bar:
        values, filled = np.empty((evaluation.n_users, len(columns))), 0
        for (metric, metric_options), ks in zip(chosen, cutoffs, strict=True):
            values[:, filled : filled + len(ks)] = evaluation.values(metric, Cutoffs.of(ks), metric_options)
            filled += len(ks)
            bar.update()
        lowest, highest = np.array([metric.bounds for metric, _k in columns], dtype=np.float64).T
        low, high = intervals(values, confidence, bounds=(lowest, highest))
        names = [(metric.name, k) for metric, k in columns]
        means = zip(values.mean(axis=0).tolist(), low.tolist(), high.tolist(), strict=True)
        numbers = dict(zip(names, means, strict=True))

        def summary(metric: Metric[...], metric_options: Mapping[str, Any]) -> MetricSummary:
            own = request.k_of(metric.name)
            mean, low, high = zip(*(numbers[metric.name, k] for k in own), strict=True)
            return MetricSummary.of(metric, metric_options, k=own, mean=mean, low=low, high=high)

        summaries = tuple(summary(*metric) for metric in chosen)
        # Segments take the values of all metrics, everything else those of the lead metric.
        kept = {name for name, _k in names} if by is not None else {chosen[0][0].name}
        at_lead_k = {
            name: values[:, column].copy() for column, (name, k) in enumerate(names) if k == lead_k and name in kept
        }
        del values
        bar.update()
        lead, (lead_metric, lead_options) = summaries[0], chosen[0]
        lead_values = at_lead_k[lead.metric]
        hits = evaluation.hits(max(at))
        basis, population = _population(evaluation, hits, request)
        best, worst = _extremes(evaluation, hits, lead_values, lead_k)
        findings = lint(evaluation, lead_k, lead_metric.name, lead_options)
        bar.update()
        segments = None
        if by is not None:
            segments = _segments(evaluation, request, by, bins, at_lead_k)
            bar.update()
        further = _beyond(evaluation, request)
        bar.update()
    value, low_ends, high_ends = zip(*(numbers[lead.metric, k] for k in points), strict=True)
    return Report(
        population=population,
        k=request.columns,
        lead_k=lead_k,
        metrics=summaries,
        confidence=float(confidence),
        method="beta",
        curve=Curve(lead.metric, lead.symbol, points, value, low_ends, high_ends, evaluation.n_users),
        distribution=distribution_of(lead_values, lead, lead_k),
        best=best,
        worst=worst,
        findings=findings,
        beyond=further,
        segments=segments,
        basis=basis,
        _computed=computed_by(SECTIONS, {"": evaluation}, request),
    )


def rows_of(
    evaluation: EvaluationData,
    k: object,
    confidence: float = 0.95,
    *,
    names: Iterable[str] = LIST_METRICS,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    required: bool = False,
) -> list[BeyondRow]:
    """Metrics beyond accuracy as rows of a report: the value at each cut-off with the ends of its interval, or what it needs.

    If they are `required`, one without a value raises the error instead.
    """
    cutoffs = Cutoffs.of(k)
    rows = []
    for name in names:
        metric, metric_options = LIST_METRICS[name], (options or {}).get(name, {})
        needs, basis, n_users = "", "", 0
        values: tuple[tuple[float, float, float], ...] = ()
        try:
            found = values_of(evaluation, metric, cutoffs, metric_options)
            mean, low, high = (ends.tolist() for ends in (found.mean, *found.interval(confidence)))
            defined = np.flatnonzero(np.isfinite(mean))
            n_users = int(found.n_users[defined[-1:]].sum())
            basis = "; ".join(found.basis.phrases())
            if not len(defined):
                raise NoUsersError(metric.no_value)
            values = tuple(zip(mean, low, high, strict=True))
        except RecnbError as problem:
            if required:
                raise OptionError(*problem.parts) from problem
            needs = _(problem.statement)
        description = {name: getattr(metric, name) for name in ("symbol", "title", "reads")}
        formula, latex = metric.formula_text(metric_options), metric.latex(options=metric_options)
        description |= {
            "metric": name,
            "formula": formula,
            "latex": latex,
            "bounds": _(metric.bounded(metric_options).range_text),
        }
        rows.append(
            BeyondRow(**description, k=cutoffs.values, values=values, basis=basis, n_users=n_users, needs=needs)
        )
    return rows


def _beyond(evaluation: EvaluationData, request: ReportRequest) -> tuple[BeyondRow, ...]:
    """Metrics beyond accuracy: those named; else all, if train or items were given."""
    metrics, side_data = request.beyond, evaluation.side_data
    if metrics is None:
        if side_data.train is None and side_data.items is None:
            return ()
        metrics = {name: {} for name in recorded_in(evaluation.library)}
    rows = (
        rows_of(evaluation, request.k_of(name), request.confidence, names=[name], options=metrics) for name in metrics
    )
    return tuple(chain.from_iterable(rows))


def _segments(
    evaluation: EvaluationData, request: ReportRequest, by: Any, bins: int, values: Mapping[str, Floats]
) -> ReportSegments:
    """The metrics at the middle cut-off, whose values are given, in each segment."""
    named = {metric.name: metric_options for metric, metric_options in request.metrics if metric.name in values}
    confidence, k = request.confidence, request.lead_k
    segments, rows, _words = segment_rows(
        evaluation, named, k, by, bins=bins, confidence=confidence, options={}, computed=values
    )
    basis = _(
        "{confidence:g}% intervals, not corrected for the number of comparisons; gaps to all other users by the "
        "more careful of Welch's t and Student's, their p corrected by Holm's method over {n:,} tests, every "
        "metric and segment here.",
        n=n_tests(rows),
        confidence=100 * confidence,
    )
    basis = "; ".join(filter(None, [segments.words, basis]))
    return ReportSegments(segments.label, k, confidence, tuple(rows), basis, segments.words)


def _population(evaluation: EvaluationData, hits: Hits, request: ReportRequest) -> tuple[str, PopulationSummary]:
    """Return the basis of the report, of its metrics and their options, and who and what was evaluated."""
    counts = evaluation.counts
    phrases = {}
    for (metric, options), (_metric, ks) in zip(request.metrics, request.at_cutoffs, strict=True):
        scoring = evaluation.scoring(metric, options, whole=ks.values == (None,))
        phrases[metric.symbol] = evaluation.basis_of(scoring, ks, options).phrases(brief=True)
    users = evaluation.users_in_words
    others = {"; ".join(users), *evaluation.notes}
    conventions = merged({name: [one for one in own if one not in others] for name, own in phrases.items()})
    basis = "; ".join(merged(phrases))
    names = [field.name for field in fields(PopulationSummary) if hasattr(counts, field.name)]
    population = PopulationSummary(
        **{name: getattr(counts, name) for name in names},
        list_length=CountSummary.of(hits.list_length[hits.list_length > 0]),
        relevant_per_user=CountSummary.of(hits.n_relevant),
        users=tuple(users),
        conventions=tuple(conventions),
        notes=evaluation.notes,
    )
    return basis, population


def _extremes(
    evaluation: EvaluationData, hits: Hits, values: Floats, k: int
) -> tuple[tuple[UserSummary, ...], tuple[UserSummary, ...]]:
    """The best and the worst users: of few, the better and the worse half."""
    n_hits = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    defined = np.flatnonzero(~np.isnan(values))
    level = values.round(12)
    best = first_by(defined, -level, -n_hits, min(USERS_SHOWN, -(-len(defined) // 2)))
    rest = defined[~np.isin(defined, best)]
    worst = first_by(rest, level, n_hits - hits.n_relevant, min(USERS_SHOWN, len(defined) // 2))
    users = _user_summaries(evaluation, hits, [*best.tolist(), *worst.tolist()], values, k)
    return users[: len(best)], users[len(best) :]


def first_by(among: Ints, key: Floats, then: Ints | Floats, n: int) -> Ints:
    """The `n` of the positions that come first by `key`, then by the second key, then by their own order."""
    if n == 0 or len(among) == 0:
        return among[:0]
    keys = key[among]
    near = among[keys <= np.partition(keys, min(n, len(keys)) - 1)[min(n, len(keys)) - 1]]
    order: Ints = np.lexsort((near, then[near], key[near]))[:n]
    return np.asarray(near[order])


def _user_summaries(
    evaluation: EvaluationData, hits: Hits, shown: Sequence[int], values: Floats, k: int
) -> tuple[UserSummary, ...]:
    """Users by position, each with the list down to k and the most relevant of the items missed."""
    lists, truths = evaluation.lists_of(shown), [evaluation.truth_of(user).rows() for user in shown]
    items = chain(*(ranks.values() for ranks in lists), (item for truth in truths for item, _relevance in truth))
    titles = evaluation.item_titles(list(dict.fromkeys(items)))
    summaries = []
    for user, ranks, truth in zip(shown, lists, truths, strict=True):
        of_user = hits.of_user(user)
        inside = of_user.rank <= k
        order = np.argsort(-of_user.truth_relevance, kind="stable")
        missed = [truth[row] for row in order[~np.isin(order, of_user.truth_row[inside])]]
        further = {item: rank for rank, item in reversed(ranks.items()) if rank > k}
        summary = UserSummary(
            user=plain_id(evaluation.prepared.users[user]),
            value=float(values[user]),
            n_hits=int(inside.sum()),
            n_relevant=len(order),
            n_places=sum(rank <= k for rank in ranks),
            places=ranked_items(of_user, ranks, k, titles),
            missed=tuple(
                RankedItem(further.get(item), plain_id(item), float(relevance), titles.get(item, ""))
                for item, relevance in missed[:MISSED_SHOWN]
            ),
            n_missed=len(missed),
        )
        summaries.append(summary)
    return tuple(summaries)


def ranked_items(
    of_user: Hits, items: Mapping[int, Any], k: int | None, titles: Mapping[Any, str]
) -> tuple[RankedItem, ...]:
    """A user's list down to a rank, as far as it is shown."""
    relevance = dict(zip(of_user.rank.tolist(), of_user.relevance.tolist(), strict=True))
    ranks = [rank for rank in items if k is None or rank <= k][:RANKS_SHOWN]
    return tuple(
        RankedItem(rank, plain_id(items[rank]), relevance.get(rank, 0.0), titles.get(items[rank], "")) for rank in ranks
    )


def plain_id(value: Any) -> Any:
    """A user or item as plain Python."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, str)) else str(plain)
