"""Compute the report of an evaluation: findings, metrics with intervals, the curve, users, segments, metrics beyond accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.conventions import options_in_words
from recnb.display.language import _
from recnb.display.progress import counted
from recnb.errors import Argument, OptionError
from recnb.lint import lint
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.beyond_row import BeyondRow, rows_of
from recnb.report.data import (
    CountSummary,
    MetricSummary,
    Missed,
    PopulationSummary,
    RankedItem,
    ReportSegments,
    UserSummary,
    distribution_of,
)
from recnb.report.report import Report
from recnb.results.arguments import Metrics, chosen_metrics, metrics_under, options_of, parted
from recnb.results.beyond_accuracy import recorded_in
from recnb.results.curve import Curve
from recnb.results.provenance import users_in_words
from recnb.results.segments import Segment, table_by
from recnb.stats import intervals

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

USERS_SHOWN, RANKS_SHOWN, MISSED_SHOWN = 3, 20, 5
CURVE_POINTS = 30


def report_of(
    evaluation: EvaluationData,
    k: int | Sequence[int],
    metrics: Metrics,
    confidence: float,
    by: Any,
    bins: int,
    options: Mapping[str, Any],
) -> Report:
    """Build the report of an evaluation; the values of a metric are computed once for the table, the curve and the users."""
    at = whole_numbers(k)
    lead_k = sorted(at)[len(at) // 2]
    accuracy, beyond = parted(metrics, options)
    # Named metrics come with their options; the standard ones share the options given.
    shared = options if accuracy is None else {}
    chosen = chosen_metrics(metrics_under(evaluation.library, accuracy))
    own = [options_of(metric, accuracy, shared, chosen) for metric in chosen]
    # The deepest join serves all metrics and cut-offs.
    whole = any(metric.needs_whole_list(mine) for metric, mine in zip(chosen, own, strict=True))
    evaluation.hits(None if whole else max(at))
    points = curve_points(at)
    cutoffs = [tuple(sorted({*points, *at})), *[at] * (len(chosen) - 1)]
    starts = np.cumsum([0, *map(len, cutoffs)]).tolist()
    with counted(len(chosen) + 3 + (by is not None), _("report")) as bar:
        values = np.empty((evaluation.n_users, starts[-1]))
        for metric, mine, ks, start in zip(chosen, own, cutoffs, starts, strict=False):
            values[:, start : start + len(ks)] = evaluation.values(metric, Cutoffs.of(ks), mine)
            bar.update()
        bounds = np.array([metric.bounds for metric, ks in zip(chosen, cutoffs, strict=True) for _k in ks], dtype=float)
        low, high, method = intervals(values, confidence, bounds=(bounds[:, 0], bounds[:, 1]))
        numbers = list(zip(values.mean(axis=0).tolist(), low.tolist(), high.tolist(), strict=True))
        summaries = tuple(
            _summary(metric, mine, at, [numbers[start + ks.index(k)] for k in at])
            for metric, mine, ks, start in zip(chosen, own, cutoffs, starts, strict=False)
        )
        lead_values = values[:, cutoffs[0].index(lead_k)].copy()
        del values
        bar.update()
        hits = evaluation.hits(max(at))
        basis, population = _population(evaluation, hits, {name: mine[name] for mine in own for name in mine})
        best, worst = _extremes(evaluation, hits, lead_values, lead_k)
        findings = lint(evaluation, lead_k, chosen[0].name, own[0], lead_values)
        bar.update()
        segments = None
        if by is not None:
            named = {metric.name: mine for metric, mine in zip(chosen, own, strict=True)}
            segments = _segments(evaluation, named, lead_k, by, bins, confidence)
            bar.update()
        further = _beyond(evaluation, beyond, at, confidence)
        bar.update()
    lead = summaries[0]
    value, low_ends, high_ends = zip(*(numbers[cutoffs[0].index(k)] for k in points), strict=True)
    return Report(
        population=population,
        k=at,
        lead_k=lead_k,
        metrics=summaries,
        confidence=float(confidence),
        method=method,
        curve=Curve(lead.metric, lead.symbol, points, value, low_ends, high_ends, evaluation.n_users, basis),
        distribution=distribution_of(lead_values, lead, lead_k),
        best=best,
        worst=worst,
        findings=findings,
        beyond=further,
        segments=segments,
        basis=basis,
    )


def _beyond(
    evaluation: EvaluationData,
    metrics: Mapping[str, Mapping[str, Any]] | None,
    at: tuple[int, ...],
    confidence: float,
) -> tuple[BeyondRow, ...]:
    """Metrics beyond accuracy: those named; else all, if train or items were given."""
    if metrics is None:
        side_data = evaluation.side_data
        if side_data.train is None and side_data.items is None:
            return ()
        recorded = recorded_in(evaluation.library)
        metrics = {name: {} for name in LIST_METRICS if name in recorded}
    return tuple(rows_of(evaluation, at, confidence, names=list(metrics), options=metrics))


def _segments(
    evaluation: EvaluationData, metrics: Mapping[str, Mapping[str, Any]], k: int, by: Any, bins: int, confidence: float
) -> ReportSegments:
    """The metrics at one cut-off in each segment."""
    table = table_by(evaluation, metrics, k, by, bins=bins, confidence=confidence, options={})
    rows = tuple(
        Segment(**{str(name): value for name, value in row.items()}) for row in table.reset_index().to_dict("records")
    )
    basis = _(
        "{confidence:g}% intervals, not corrected for the number of comparisons; gaps to all other users by the "
        "more careful of Welch's t and Student's, their p corrected by Holm's method over {n:,} tests, every "
        "metric and segment here.",
        n=sum(not np.isnan(row.p) for row in rows),
        confidence=100 * confidence,
    )
    return ReportSegments(str(table.attrs["by"]), k, float(confidence), rows, basis)


def curve_points(at: Sequence[int], most: int = CURVE_POINTS) -> tuple[int, ...]:
    """The cut-offs of a curve: from 1 to the deepest, evenly, and those of the table if they are few.

    >>> curve_points([5]), len(curve_points([5, 10, 1000])) <= 33
    ((1, 2, 3, 4, 5), True)
    """
    even = np.unique(np.linspace(1, max(at), min(most, max(at))).round().astype(int)).tolist()
    return tuple(sorted({*even, *at})) if len(at) <= most // 3 else tuple(even)


def whole_numbers(k: object, instead: str = ".table(k=None)") -> tuple[int, ...]:
    """The cut-offs of a report, all of them numbers; `instead` is what to ask for whole lists."""
    at = Cutoffs.of(k)
    finite = tuple(one for one in at if one is not None)
    if len(finite) < len(at):
        problem = (
            "a report needs whole numbers for k, such as ",
            Argument("k", [5, 10, 20]),
            ": its curve runs from 1 to the largest.",
        )
        raise OptionError(*problem, fix=f"For whole lists ask {instead}.")
    return finite


def _summary(
    metric: Metric[...], options: Mapping[str, Any], at: tuple[int, ...], numbers: Sequence[tuple[float, float, float]]
) -> MetricSummary:
    mean, low, high = zip(*numbers, strict=True)
    return MetricSummary(
        metric=metric.name,
        symbol=metric.symbol,
        title=metric.title,
        reads=metric.reads,
        formula=metric.formula_text(options),
        convention="; ".join(options_in_words({**metric.defaults, **options})),
        bounds=metric.bounds,
        k=at,
        mean=mean,
        low=low,
        high=high,
    )


def _population(evaluation: EvaluationData, hits: Hits, options: Mapping[str, Any]) -> tuple[str, PopulationSummary]:
    """The basis of the report, of metrics with these options, and who and what was evaluated."""
    counts, convention = evaluation.counts, evaluation.convention.with_metric(options)
    users = tuple(users_in_words(counts, convention))
    if evaluation.library is None:
        conventions = tuple(convention.phrases(graded=evaluation.prepared.graded))
        basis = "; ".join([*users, *conventions, *evaluation.notes])
    else:
        basis = _("each metric as {library} has it", library=evaluation.library)
        conventions = (basis,)
    population = PopulationSummary(
        **{
            field.name: getattr(counts, field.name)
            for field in fields(PopulationSummary)
            if field.name.startswith("n_")
        },
        list_length=CountSummary.of(hits.list_length[hits.list_length > 0]),
        relevant_per_user=CountSummary.of(hits.n_relevant),
        users=users,
        conventions=conventions,
        notes=evaluation.notes,
    )
    return basis, population


def _extremes(
    evaluation: EvaluationData, hits: Hits, values: Floats, k: int
) -> tuple[tuple[UserSummary, ...], tuple[UserSummary, ...]]:
    """The best and the worst users: of few, the better and the worse half."""
    found = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    there = np.flatnonzero(~np.isnan(values))
    level = values.round(12)
    best = _first(there, -level, -found, min(USERS_SHOWN, -(-len(there) // 2)))
    rest = there[~np.isin(there, best)]
    worst = _first(rest, level, found - hits.n_relevant, min(USERS_SHOWN, len(there) // 2))
    shown = [*best.tolist(), *worst.tolist()]
    lists = dict(zip(shown, evaluation.lists_of(shown), strict=True))
    truths = {user: evaluation.truth_of(user) for user in shown}
    items = [
        *(item for ranks in lists.values() for item in ranks.values()),
        *(item for truth in truths.values() for item in truth["item"]),
    ]
    titles = evaluation.item_titles(list(dict.fromkeys(items)))
    users = evaluation.users
    made = {
        user: _user_list(hits, users[user], user, lists[user], truths[user], titles, float(values[user]), k)
        for user in shown
    }
    return tuple(made[user] for user in best.tolist()), tuple(made[user] for user in worst.tolist())


def _first(among: Ints, key: Floats, then: Ints, n: int) -> Ints:
    """The `n` positions that come first by `key`, then by the second key, then by their own order."""
    if n == 0:
        return among[:0]
    mine = key[among]
    near = among[mine <= np.partition(mine, n - 1)[n - 1]]
    order: Ints = np.lexsort((near, then[near], key[near]))[:n]
    return np.asarray(near[order])


def _user_list(
    hits: Hits,
    user: Any,
    position: int,
    items: Mapping[int, Any],
    truth: pl.DataFrame,
    titles: Mapping[Any, str],
    value: float,
    k: int,
) -> UserSummary:
    of_user = hits.of(position)
    inside = of_user.rank <= k
    relevance = dict(zip(of_user.rank[inside].tolist(), of_user.relevance[inside].tolist(), strict=True))
    ranks = [rank for rank in items if rank <= k]
    further = {items[rank]: rank for rank in reversed(list(items)) if rank > k}
    found = set(of_user.truth_row[inside].tolist())
    rows = [row for row in np.argsort(-of_user.truth_relevance, kind="stable").tolist() if row not in found]
    missed = [(truth["item"][row], float(truth["relevance"][row])) for row in rows[:MISSED_SHOWN]]
    return UserSummary(
        user=plain_id(user),
        value=value,
        n_hits=int(inside.sum()),
        n_relevant=len(of_user.truth_relevance),
        n_places=len(ranks),
        places=tuple(
            RankedItem(rank, plain_id(items[rank]), relevance.get(rank, 0.0), titles.get(items[rank], ""))
            for rank in ranks[:RANKS_SHOWN]
        ),
        missed=tuple(Missed(plain_id(item), grade, further.get(item), titles.get(item, "")) for item, grade in missed),
        n_missed=len(rows),
    )


def plain_id(value: Any) -> Any:
    """A user or item as plain Python."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, str)) else str(plain)
