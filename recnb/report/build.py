"""Gather a report of one evaluation: findings, metrics with intervals, the curve, users, segments, what lies beyond accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.conventions import options_in_words
from recnb.display.language import _
from recnb.display.progress import ProgressBar, counted
from recnb.errors import OptionError
from recnb.lint import lint
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import LIST_METRICS, Metric, metric_named
from recnb.report.beyond_row import BeyondRow, rows_of
from recnb.report.data import (
    CountSummary,
    MetricSummary,
    Missed,
    PopulationSummary,
    RankedItem,
    ReportSegments,
    UserList,
    distribution_of,
)
from recnb.report.report import Report
from recnb.results.arguments import Metrics, options_of, parted
from recnb.results.beyond_accuracy import recorded_in
from recnb.results.curve import Curve
from recnb.results.provenance import users_in_words
from recnb.results.segments import Segment, table_by
from recnb.results.table import table_of
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
    """Gather a report: every value per user once."""
    at = whole_numbers(k)
    accuracy, beyond = parted(metrics, options)
    shared = options if accuracy is None else {}
    # The table checks the names and the options, joins as deep as they need and knows their basis.
    table = table_of(evaluation, accuracy, max(at), shared)
    chosen = [metric_named(name) for name in table.index]
    own = [options_of(metric, accuracy, shared, chosen) for metric in chosen]
    parts = len(chosen) + 3 + (by is not None)
    with counted(parts, _("report")) as bar:
        points = curve_points(at)
        lead_at = tuple(sorted({*points, *at}))
        depths = [lead_at, *[at] * (len(chosen) - 1)]
        values = _stacked(evaluation, chosen, own, depths, bar)
        bounds = np.repeat(
            np.array([metric.bounds for metric in chosen], dtype=np.float64), list(map(len, depths)), axis=0
        )
        low, high, method = intervals(values, confidence, bounds=(bounds[:, 0], bounds[:, 1]))
        bar.update()
        mean = values.mean(axis=0)
        starts = np.cumsum([0, *map(len, depths)])
        columns = [[int(start) + ks.index(one) for one in at] for start, ks in zip(starts, depths, strict=False)]
        measured = tuple(
            _measured(metric, mine, at, (mean[mine_at], low[mine_at], high[mine_at]))
            for metric, mine, mine_at in zip(chosen, own, columns, strict=True)
        )
        basis = str(table.attrs["basis"])
        lead_k = sorted(at)[len(at) // 2]
        drawn = [lead_at.index(one) for one in points]
        curve = Curve(
            measured[0].metric,
            measured[0].symbol,
            k=points,
            value=tuple(mean[drawn].tolist()),
            low=tuple(low[drawn].tolist()),
            high=tuple(high[drawn].tolist()),
            n_users=evaluation.n_users,
            basis=basis,
        )
        hits = evaluation.hits(max(at))
        lead_values = values[:, lead_at.index(lead_k)]
        best, worst = _extremes(evaluation, hits, lead_values, lead_k)
        population = _population(evaluation, hits, basis)
        del values
        findings = lint(evaluation, lead_k, measured[0].metric, **own[0])
        bar.update()
        segments = None
        if by is not None:
            named = {metric.name: mine for metric, mine in zip(chosen, own, strict=True)}
            segments = _segmented(evaluation, named, lead_k, by, bins, confidence)
            bar.update()
        further = _beyond(evaluation, beyond, at, confidence)
        bar.update()
    return Report(
        population=population,
        k=at,
        lead_k=lead_k,
        metrics=measured,
        confidence=float(confidence),
        method=method,
        curve=curve,
        distribution=distribution_of(lead_values, measured[0], lead_k),
        best=best,
        worst=worst,
        findings=findings,
        beyond=further,
        segments=segments,
        basis=basis,
    )


def _beyond(
    evaluation: EvaluationData,
    asked: Mapping[str, Mapping[str, Any]] | None,
    at: tuple[int, ...],
    confidence: float,
) -> tuple[BeyondRow, ...]:
    """The metrics beyond accuracy that were asked for; else all, where something is known of the items."""
    if asked is not None:
        return tuple(rows_of(evaluation, at, confidence, names=list(asked), options=asked))
    side_data = evaluation.side_data
    if side_data.train is None and side_data.items is None:
        return ()
    has = recorded_in(evaluation.library)
    return tuple(rows_of(evaluation, at, confidence, names=[name for name in LIST_METRICS if name in has]))


def _segmented(
    evaluation: EvaluationData, metrics: Mapping[str, Mapping[str, Any]], k: int, by: Any, bins: int, confidence: float
) -> ReportSegments:
    """The metrics at one cut-off in each segment, frozen."""
    table = table_by(evaluation, metrics, k, by, bins=bins, confidence=confidence, options={})
    rows = []
    for one in table.reset_index().to_dict("records"):
        numbers = {
            name: float(one[name]) for name in ("mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm")
        }
        rows.append(
            Segment(
                metric=str(one["metric"]), k=int(one["k"]), segment=str(one["segment"]), n_users=int(one["n_users"]),
                small=bool(one["small"]), **numbers,
            )
        )  # fmt: skip
    basis = _(
        "{confidence:g}% intervals, not corrected for the number of comparisons; gaps to all other users by the "
        "more careful of Welch's t and Student's, their p corrected by Holm's method over {n:,} tests, every "
        "metric and segment here.",
        n=sum(not np.isnan(one.p) for one in rows),
        confidence=100 * confidence,
    )
    return ReportSegments(str(table.attrs["by"]), k, float(confidence), tuple(rows), basis)


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
        raise OptionError(
            f"a report needs whole numbers for k, such as k=[5, 10, 20]: its curve runs from 1 to the largest. For whole lists ask {instead}."
        )
    return finite


def _stacked(
    evaluation: EvaluationData,
    metrics: Sequence[Metric[...]],
    options: Sequence[Mapping[str, Any]],
    depths: Sequence[Sequence[int]],
    bar: ProgressBar,
) -> Floats:
    """The values of users, a column for each metric at each of its cut-offs."""
    values = np.empty((evaluation.n_users, sum(map(len, depths))))
    start = 0
    for metric, mine, ks in zip(metrics, options, depths, strict=True):
        values[:, start : start + len(ks)] = evaluation.values(metric, Cutoffs.of(ks), mine)
        start += len(ks)
        bar.update()
    return values


def _measured(
    metric: Metric[...], options: Mapping[str, Any], at: tuple[int, ...], numbers: tuple[Floats, Floats, Floats]
) -> MetricSummary:
    mean, low, high = (tuple(map(float, column)) for column in numbers)
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


def _population(evaluation: EvaluationData, hits: Hits, basis: str) -> PopulationSummary:
    counts = evaluation.counts
    users = tuple(users_in_words(counts, evaluation.convention))
    said = basis.removeprefix("; ".join(users)).removesuffix("; ".join(evaluation.notes))
    return PopulationSummary(
        n_users=counts.n_users,
        n_without_list=counts.n_without_list,
        n_without_relevant=counts.n_without_relevant,
        n_recommended=counts.n_recommended,
        n_relevant=counts.n_relevant,
        n_items_recommended=counts.n_items_recommended,
        n_items_relevant=counts.n_items_relevant,
        n_not_relevant=counts.n_not_relevant,
        n_gaps=counts.n_gaps,
        list_length=CountSummary.of(hits.list_length[hits.list_length > 0]),
        relevant_per_user=CountSummary.of(hits.n_relevant),
        users=users,
        conventions=tuple(phrase for phrase in said.split("; ") if phrase),
        notes=evaluation.notes,
    )


def _extremes(
    evaluation: EvaluationData, hits: Hits, values: Floats, k: int
) -> tuple[tuple[UserList, ...], tuple[UserList, ...]]:
    """The best and the worst users: of few, the better and the worse half."""
    found = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    there = np.flatnonzero(~np.isnan(values))
    level = values.round(12)
    best = _first(there, -level, -found, min(USERS_SHOWN, -(-len(there) // 2)))
    rest = there[~np.isin(there, best)]
    worst = _first(rest, level, found - hits.n_relevant, min(USERS_SHOWN, len(there) // 2))
    users = evaluation.users
    shown = np.r_[best, worst].tolist()
    lists = dict(zip(shown, evaluation.lists_of(shown), strict=True))
    best_lists, worst_lists = (
        tuple(_user_list(evaluation, hits, users[one], one, lists[one], float(values[one]), k) for one in some.tolist())
        for some in (best, worst)
    )
    return best_lists, worst_lists


def _first(among: Ints, key: Floats, then: Ints, n: int) -> Ints:
    """The `n` positions that come first by `key`, then by the second key, then by their own order."""
    if n == 0:
        return among[:0]
    mine = key[among]
    near = among[mine <= np.partition(mine, n - 1)[n - 1]]
    order: Ints = np.lexsort((near, then[near], key[near]))[:n]
    return np.asarray(near[order])


def _user_list(
    evaluation: EvaluationData, hits: Hits, user: Any, position: int, items: Mapping[int, Any], value: float, k: int
) -> UserList:
    truth = evaluation.truth_of(position)
    mine = hits.of(position)
    inside = mine.rank <= k
    relevance = dict(zip(mine.rank[inside].tolist(), mine.relevance[inside].tolist(), strict=True))
    ranks = [rank for rank in items if rank <= k]
    found = set(mine.truth_row[inside].tolist())
    rows = [row for row in np.argsort(-mine.truth_relevance, kind="stable").tolist() if row not in found]
    further = {items[rank]: rank for rank in reversed(list(items)) if rank > k}
    missed = [(truth["item"][row], float(truth["relevance"][row])) for row in rows[:MISSED_SHOWN]]
    return UserList(
        user=_id(user),
        value=value,
        n_hits=int(inside.sum()),
        n_relevant=len(mine.truth_relevance),
        n_places=len(ranks),
        places=tuple(RankedItem(rank, _id(items[rank]), relevance.get(rank, 0.0)) for rank in ranks[:RANKS_SHOWN]),
        missed=tuple(Missed(_id(item), grade, further.get(item)) for item, grade in missed),
        n_missed=len(rows),
    )


def _id(value: Any) -> Any:
    """A user or item as plain Python."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, str)) else str(plain)
