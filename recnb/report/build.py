"""Check what is asked of a report, and compute it: each number once, by one loop over
the models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from recnb.conventions import options_in_words
from recnb.display.language import N_, _
from recnb.display.progress import steps
from recnb.errors import NoUsersError, OptionError, RecnbError, quoted
from recnb.lint import Lint, judged_order, lint
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import (
    LIST_METRICS,
    METRICS,
    Better,
    Given,
    Metric,
    sign_of,
)
from recnb.report.conclusions import Difference
from recnb.report.data import (
    SAME,
    Mean,
    MetricWords,
    Pairs,
    RankedItem,
    ReportSegments,
    ShownUser,
    UserGroup,
)
from recnb.report.differences import (
    PairedValues,
    compared,
    means_of,
    measure,
    paired_values,
    plain_means,
)
from recnb.report.report import Report
from recnb.results.arguments import Asked, Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData, Models, recorded_in, values_of
from recnb.results.segments import SMALL, table_by
from recnb.results.values import Values, merged
from recnb.stats import Settings, bins_of

#: Bars of a distribution; users shown of each kind, pairs of models whose users are
#: shown, and of each user ranks and items missed.
BINS, USERS_SHOWN, PAIRS_SHOWN, RANKS_SHOWN, MISSED_SHOWN = 10, 3, 3, 20, 5

#: The numbers of a gap as those of a difference.
GAP = {
    "difference": "gap",
    "low": "gap_low",
    "high": "gap_high",
    "p": "p",
    "p_holm": "p_holm",
}

#: The counts of a population.
COUNTS = (
    "n_users",
    "n_recommended",
    "n_relevant",
    "n_items_recommended",
    "n_items_relevant",
)

#: The cut-offs of a report if none are given, and about how many points a curve has.
USUAL_K, CURVE_POINTS = (5, 10, 20), 30

#: A metric with its own options.
MetricOptions = tuple[Metric[...], Mapping[str, Any]]


@dataclass(frozen=True)
class ReportRequest:
    """The metrics of a report with their cut-offs, each checked."""

    metrics: tuple[MetricOptions, ...]  #: of accuracy; the first is the lead metric
    beyond: tuple[MetricOptions, ...]  #: metrics beyond accuracy that are named
    cutoffs: Mapping[str, tuple[int | None, ...]]  #: of each metric that is named
    by: Any = None  #: segments of users
    bins: int = 4

    @property
    def columns(self) -> tuple[int | None, ...]:
        """All cut-offs, the whole list last."""
        return in_order(k for ks in self.cutoffs.values() for k in ks)

    def k_of(self, metric: str) -> tuple[int | None, ...]:
        """Return the cut-offs of a metric."""
        return self.cutoffs.get(metric, tuple(k for k in self.columns if k is not None))

    @property
    def deepest(self) -> int | None:
        """The rank down to which hits are needed."""
        whole = None in self.columns or any(
            metric.needs_whole_list(options) for metric, options in self.metrics
        )
        return None if whole else max(k for k in self.columns if k is not None)

    @property
    def lead_ks(self) -> tuple[int, ...]:
        """The cut-offs of the lead metric that are ranks."""
        return tuple(k for k in self.k_of(self.metrics[0][0].name) if k is not None)

    @property
    def lead_k(self) -> int:
        """The cut-off at which users are looked at: the middle one."""
        return self.lead_ks[len(self.lead_ks) // 2]


def request_of(
    model: EvaluationData,
    k: Any,
    metrics: Metrics,
    options: Given,
    *,
    by: Any,
    bins: int,
) -> ReportRequest:
    """Check what is asked of a report of this model, or of this and others."""
    asked = asked_of(model, metrics, options)
    if None in Cutoffs.of(k).values:
        problem = (
            "a report needs whole numbers for k, such as k=[5, 10, 20]: its curve "
            "runs from 1 to the largest."
        )
        raise OptionError(problem, fix="For whole lists ask .table(k=None).")
    cutoffs = _cutoffs_of(asked, k)
    # The lead, which has a cut-off and a curve, comes first, and the others as they are
    # asked for.
    ranked = [
        each for each in asked if each.metric.is_accuracy and not each.metric.retrieval
    ]
    lead = next((each for each in ranked if cutoffs[each.metric.name] != (None,)), None)
    asked.sort(key=lambda each: each is not lead)
    own = {each.metric.name: each.options for each in asked}
    accurate = list(
        dict.fromkeys(each.metric.name for each in asked if each.metric.is_accuracy)
    )
    if not accurate or metric_named(accurate[0]).retrieval:
        problem = f"a report needs a metric of accuracy, such as metrics={quoted(['ndcg', *own])}: "
        raise OptionError(problem, "its curve and its users are shown by it.")
    for each in asked:
        if each.metric.data:
            problem = (
                f"a report has the same relevant items and lists throughout, and "
                f"{each.metric.name} has others: ask for it by "
            )
            raise OptionError(problem, f".table([{each.metric.name!r}]).")
    return ReportRequest(
        metrics=tuple((metric_named(name), own[name]) for name in accurate),
        beyond=tuple(
            (each.metric, each.options) for each in asked if not each.metric.is_accuracy
        ),
        cutoffs=cutoffs,
        by=by,
        bins=bins,
    )


def _cutoffs_of(asked: Sequence[Asked], k: object) -> dict[str, tuple[int | None, ...]]:
    """Return the cut-offs of each metric: of its name, else k; beside names with one,
    the whole list unless k is given.
    """
    given = Cutoffs.of(k).values
    named = [each.metric for each in asked if each.metric.cutoff is not None]
    own = {metric.cutoff for metric in named if metric.cutoff is not None}
    if len(named) == len(asked) and given != USUAL_K and {*given} != own:
        problem = f"the metrics name the cut-offs {sorted(own)}, and k={quoted(k)} names others: "
        raise OptionError(f"{problem}leave one of them out.")
    rest = (
        (None,)
        if given == USUAL_K and any(metric.is_accuracy for metric in named)
        else given
    )
    cutoffs: dict[str, list[int | None]] = {}
    for each in asked:
        cutoffs.setdefault(each.metric.name, []).extend(
            rest if each.metric.cutoff is None else [each.metric.cutoff]
        )
    return {name: in_order(ks) for name, ks in cutoffs.items()}


def in_order(cutoffs: Iterable[int | None]) -> tuple[int | None, ...]:
    """Return cut-offs once each, the whole list last."""
    return tuple(sorted({*cutoffs}, key=lambda k: inf if k is None else k))


def curve_points(cutoffs: Sequence[int]) -> tuple[int, ...]:
    """Return the cut-offs of a curve: from 1 to the deepest, evenly, and those of the
    table if they are few.
    """
    deepest = max(cutoffs)
    even = np.unique(
        np.linspace(1, deepest, min(CURVE_POINTS, deepest)).round().astype(int)
    ).tolist()
    return (
        tuple(sorted({*even, *cutoffs}))
        if len(cutoffs) <= CURVE_POINTS // 3
        else tuple(even)
    )


def report_of(
    models: Models,
    request: ReportRequest,
    settings: Settings,
    *,
    pairs: Pairs = (),
    baseline: str | None = None,
    basis: str = "",
    users: int = USERS_SHOWN,
) -> Report:
    """Build the report of one model, or of several that are compared by `pairs`; show
    so many `users` of each kind.
    """
    first, (lead, options), k = (
        next(iter(models.values())),
        request.metrics[0],
        request.lead_k,
    )
    blocks, curve = _accuracy(models, request)
    found = measure(blocks, list(models), pairs, settings)
    of_curve = [
        mean
        for block in curve
        for mean in means_of(block, list(models), settings.confidence)
    ]
    differences = tuple(difference for _key, difference in found.differences)
    values = {
        name: model.values(lead, Cutoffs.of(k), options)[:, 0]
        for name, model in models.items()
    }
    where = next(
        (
            _(model.source.where)
            for model in models.values()
            if pairs and not model.source.in_memory
        ),
        "",
    )
    usual: list[MetricOptions] = [
        (LIST_METRICS[name], {}) for name in recorded_in(first.library)
    ]
    beyond: Sequence[MetricOptions] = (
        [] if where else request.beyond or (usual if has_side_data(models) else [])
    )
    means, groups, lacking = [mean for _key, mean in found.means], [], dict[str, str]()
    lints, populations = dict[str, Lint](), []
    for name, model in steps(list(models.items()), _("report")):
        for metric, given in beyond:
            try:
                numbers = values_of(
                    model, metric, Cutoffs.of(request.k_of(metric.name)), given
                )
                means += _means_beyond(name, numbers, metric, settings.confidence)
            except RecnbError as problem:
                if pairs and request.beyond:
                    raise OptionError(str(problem)) from problem
                lacking[metric.name] = _(problem.statement)
        lints[name] = lint(model, k, lead.name, options)
        populations += (
            [] if where and len(models) > 1 else [_population(name, model, request)]
        )
        if not pairs:
            groups += extremes(name, model, values[name], k, users, lead.better)
    bounds = first.scoring(lead, options).metric.bounds
    weights = first.joined.user_weight
    at_lead = [row for row in differences if (row.metric, row.k) == (lead.name, k)]
    furthest = sorted(at_lead, key=lambda row: -abs(np.nan_to_num(row.difference)))[
        :PAIRS_SHOWN
    ]
    for row in at_lead if users else ():
        groups += (
            moved(models, (row.model, row.baseline), values, k, users, lead.better)
            if row in furthest
            else []
        )
    left_out = N_(
        "Metrics beyond accuracy are left out: they take every row of the lists, "
        "and those stay in {where}."
    )
    return Report(
        models=tuple(models),
        baseline=baseline,
        k=request.columns,
        lead_k=k,
        settings=settings,
        n_users=first.n_users,
        metrics=tuple(
            _words(first, metric, given, whole=request.k_of(metric.name) == (None,))
            for metric, given in (*request.metrics, *beyond)
            if metric.name not in lacking
        ),
        means=tuple(mean for mean in means if mean.metric not in lacking),
        hit_rates=_hit_rates(models, k, settings),
        curves={
            name: tuple(mean for mean in of_curve if mean.model == name)
            for name in models
        },
        distributions=tuple(
            distribution_of(name, values[name], bounds, weights) for name in models
        ),
        populations=tuple(populations),
        users=tuple(groups),
        lints=lints,
        judged_order=judged_order(models, k, lead, options) if pairs else "",
        lacking=lacking,
        differences=differences,
        segments=None
        if request.by is None
        else _segments(models, request, pairs, settings),
        unweighted=plain_means(models, request.metrics, Cutoffs.of(k)),
        left_out=_(left_out, where=where) if where else "",
        basis=basis or _basis(first, request),
        noun=first.noun,
    )


def _accuracy(
    models: Models, request: ReportRequest
) -> tuple[list[PairedValues], list[PairedValues]]:
    """Compute the metrics of accuracy on the users that the models share, and the lead
    metric at the cut-offs of its curve.
    """
    blocks, curve, points = (
        list[PairedValues](),
        list[PairedValues](),
        curve_points(request.lead_ks),
    )
    for model in models.values():
        model.hits(request.deepest)  # the deepest join serves all metrics
    for metric, given in request.metrics:
        of_curve = points if not curve else ()
        cutoffs = Cutoffs.of(in_order([*request.k_of(metric.name), *of_curve]))
        for model in models.values():
            scoring = model.scoring(metric, given, whole=cutoffs.values == (None,))
            if len(scoring.joined.users) != model.n_users:
                model.values(
                    metric, cutoffs, given
                )  # or an error that other users are averaged
        computed = paired_values(models, metric, cutoffs, given)
        blocks += [block for block in computed if block.k in request.k_of(metric.name)]
        curve = curve or [block for block in computed if block.k in points]
    return blocks, curve


def _hit_rates(models: Models, k: int, settings: Settings) -> tuple[Mean, ...]:
    """Return the share of users who find anything with each model, each counted once;
    nothing if the hit rate is of other users, or if the data have none.
    """
    counting = {name: _without_ones(model) for name, model in models.items()}
    try:
        (block,) = paired_values(counting, METRICS["hit_rate"], Cutoffs.of(k), {})
    except RecnbError:
        return ()
    means = means_of(block._replace(weights=None), list(models), settings.confidence)
    return tuple(
        mean for mean in means if mean.n_users == next(iter(models.values())).n_users
    )


def _without_ones(model: EvaluationData) -> EvaluationData:
    """Return a model of which users with nothing to find count 0, and not 1."""
    if model.scoring(METRICS["hit_rate"], {}).convention.no_relevant != "one":
        return model
    rule = {"no_relevant": "zero"}
    convention = replace(model.convention, no_relevant="zero")
    return EvaluationData(
        replace(model.joined, convention=convention),
        model.library,
        {**model.overrides, **rule},
        model.side_data,
    )


def _segments(
    models: Models, request: ReportRequest, pairs: Pairs, settings: Settings
) -> ReportSegments:
    """Return the segments at the middle cut-off: of one model all its metrics, of
    several their differences in the lead metric.
    """
    if not pairs:
        return _gaps(next(iter(models.values())), request, settings)
    asked, k = [Asked("", *request.metrics[0])], Cutoffs.of(request.lead_k)
    found = compared(
        models, asked, k, pairs, settings, request.by, request.bins, apart=True
    )
    means, rows = {(key, mean.model): mean for key, mean in found.means}, []
    for key, row in found.differences:
        about = {
            "segment": ", ".join(map(str, key)),
            "small": row.n_users < SMALL,
            **row.to_dict(),
        }
        for whose, model in (("", row.model), ("baseline_", row.baseline)):
            mean = means[key, model]
            about |= {
                f"{whose}mean": mean.mean,
                f"{whose}mean_low": mean.low,
                f"{whose}mean_high": mean.high,
            }
        rows.append(about)
    return ReportSegments(", ".join(found.labels), rows, found.parts)


def _gaps(
    model: EvaluationData, request: ReportRequest, settings: Settings
) -> ReportSegments:
    """Return the metrics at the middle cut-off in each segment, each with its gap to
    all other users.
    """
    k, symbols = (
        request.lead_k,
        {metric.name: metric.symbol for metric, _given in request.metrics},
    )
    directions = {metric.name: metric.better for metric, _given in request.metrics}
    asked = {
        metric.name: given
        for metric, given in request.metrics
        if k in request.k_of(metric.name)
    }
    table, rows = (
        table_by(model, asked, k, request.by, request.bins, {}, settings.confidence),
        [],
    )
    for (metric, cut, *key), row in zip(
        table.index, table.to_frame().to_dict("records"), strict=True
    ):
        gap = {name: row.get(own, nan) for name, own in GAP.items()}
        of_gap = Difference(
            metric,
            symbols[metric],
            cut,
            "",
            "",
            **gap,
            n_users=row["n_users"],
            alpha=settings.alpha,
            better=directions[metric],
        )
        about = {
            "metric": metric,
            "symbol": symbols[metric],
            "k": cut,
            "n_users": row["n_users"],
            "mean": row["mean"],
        }
        about |= {
            "mean_low": row["low"],
            "mean_high": row["high"],
            **gap,
            "verdict": of_gap.verdict,
        }
        rows.append(
            {"segment": ", ".join(map(str, key)), "small": row["small"], **about}
        )
    of_gaps = N_(
        "{confidence:g}% intervals, not corrected for the number of comparisons; "
        "gaps to all other users by the more careful of Welch's t and Student's, "
        "their p corrected by Holm's method over {n:,} tests, every metric and "
        "segment."
    )
    basis = table.attrs["basis"].rpartition("; ")[
        2
    ]  # of parts of the truth, which have no gap
    if "gap" in table:
        basis = _(
            of_gaps, n=table.attrs["n_tests"], confidence=100 * settings.confidence
        )
    return ReportSegments(table.attrs["by"], rows, basis)


def _means_beyond(
    name: str, found: Values, metric: Metric[...], confidence: float
) -> list[Mean]:
    """Return a metric beyond accuracy of a model at each cut-off, with the ends of its
    interval.
    """
    if not np.isfinite(found.mean).any():
        raise NoUsersError(metric.no_value)
    columns = (
        each.tolist()
        for each in (found.mean, *found.interval(confidence), found.n_users)
    )
    return [
        Mean(name, metric.name, metric.symbol, *row)
        for row in zip(found.k, *columns, strict=True)
    ]


def has_side_data(models: Models) -> bool:
    """Return whether train or items are given for every model."""
    return all(
        model.side_data.train is not None or model.side_data.items is not None
        for model in models.values()
    )


def _words(
    model: EvaluationData, metric: Metric[...], options: Given, *, whole: bool
) -> MetricWords:
    scoring = model.scoring(metric, options, whole=whole)
    metric = scoring.metric
    convention = _(metric.bounded(options).range_text)
    if metric.is_accuracy:
        in_force = {**metric.defaults, **options}
        convention = "; ".join(options_in_words(in_force, scoring.convention.cutoff))
    about = (
        metric.name,
        metric.symbol,
        metric.term,
        metric.title,
        metric.reads,
        metric.formula_text(options),
    )
    return MetricWords(
        *about, convention, metric.bounds, metric.is_accuracy, metric.better
    )


def _basis(model: EvaluationData, request: ReportRequest) -> str:
    """Return the users and the conventions in words."""
    phrases = {}
    for metric, options in request.metrics:
        ks = Cutoffs.of(request.k_of(metric.name))
        scoring = model.scoring(metric, options, whole=ks.values == (None,))
        phrases[metric.symbol] = model.basis_of(scoring, ks, options).phrases(
            brief=True
        )
    return "; ".join(merged(phrases))


def _population(
    name: str, model: EvaluationData, request: ReportRequest
) -> dict[str, Any]:
    """Count who and what one model is evaluated on."""
    hits = model.hits(request.deepest)
    counts = {count: getattr(model.joined.counts, count) for count in COUNTS}
    spreads = {
        "list_length": hits.list_length[hits.list_length > 0],
        "relevant_per_user": hits.n_relevant,
    }
    words = {"users": tuple(model.users_in_words)}
    return {
        "model": name,
        **counts,
        **{name: summary_of(spread) for name, spread in spreads.items()},
        **words,
    }


def summary_of(counts: Ints) -> dict[str, float]:
    """Return the spread of counts, zeros where there are none."""
    counts = counts if len(counts) else np.zeros(1, dtype=np.int64)
    middle, mean = float(np.median(counts)), float(counts.mean())
    return {
        "min": int(counts.min()),
        "median": middle,
        "mean": mean,
        "max": int(counts.max()),
    }


def distribution_of(
    model: str,
    values: Floats,
    bounds: tuple[float, float],
    weights: Floats | None = None,
) -> dict[str, Any]:
    """Return the distribution of the values of users: ten bins, quartiles, and the
    number of users at 0 and at either end.

    A bin holds its lower edge, the last one both; without a bound the edge is the
    highest value, or the lowest below 0.
    """
    known = ~np.isnan(values)
    defined, counted = values[known], None if weights is None else weights[known]
    start, end = _ends_of(defined, bounds)
    counts = np.bincount(bins_of(defined - start, end - start, BINS), minlength=BINS)
    return {
        "model": model,
        "n_users": len(defined),
        "n_without_value": len(values) - len(defined),
        "edges": (start + np.arange(BINS + 1) * (end - start) / BINS).tolist(),
        "counts": counts.tolist(),
        "shares": (counts / max(len(defined), 1)).tolist(),
        "n_zero": int((np.abs(defined) <= SAME).sum()),
        "n_bottom": int((defined <= start + SAME).sum()),
        "n_top": int((defined >= end - SAME).sum()),
        "mean": float(np.average(defined, weights=counted)) if len(defined) else nan,
        "quartiles": np.quantile(defined, [0.25, 0.5, 0.75]).tolist()
        if len(defined)
        else [nan, nan, nan],
    }


def _ends_of(values: Floats, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a scale: the bounds, or the values furthest from 0 where there
    is no bound; a convention may set values beyond the bounds.
    """
    lowest, highest = bounds
    start, end = min(0.0, values.min(initial=0.0)), max(0.0, values.max(initial=0.0))
    if isfinite(lowest):
        start = lowest
    if isfinite(highest):
        end = highest
    return float(start), float(end) if end > start else float(start) + 1.0


# The users that are shown


def extremes(
    name: str,
    model: EvaluationData,
    values: Floats,
    k: int,
    n: int,
    better: Better,
) -> list[UserGroup]:
    """Return the best and the worst users of a model: of few, the better and the worse
    half; where neither is better, the highest and the lowest.
    """
    hits = model.hits(k)
    n_hits = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    defined = np.flatnonzero(~np.isnan(values))
    level = sign_of(better) * values.round(12)
    best = _first_by(defined, -level, -n_hits, min(n, -(-len(defined) // 2)))
    worst = _first_by(
        defined[~np.isin(defined, best)],
        level,
        n_hits - hits.n_relevant,
        min(n, len(defined) // 2),
    )
    shown = _shown([model], [*best.tolist(), *worst.tolist()], [values], k)
    of_best, of_worst = ("best", "worst") if better else ("highest", "lowest")
    kinds = {
        of_best if len(worst) else "only": shown[: len(best)],
        of_worst: shown[len(best) :],
    }
    return [
        UserGroup(kind, name, None, users) for kind, users in kinds.items() if users
    ]


def moved(
    models: Models,
    pair: tuple[str, str],
    values: dict[str, Floats],
    k: int | None,
    n: int,
    better: Better,
) -> list[UserGroup]:
    """Return at most `n` users who gain and `n` who lose, or whose value rises or falls
    where neither is better, the largest changes first; of equal ones the first by id.
    """
    model, baseline = pair
    change = sign_of(better) * (values[model] - values[baseline])
    n_defined = int((~np.isnan(change)).sum())
    change = np.nan_to_num(change)
    won, lost = int((change > SAME).sum()), int((change < -SAME).sum())
    groups = []
    kinds = ("gained", "lost") if better else ("risen", "fallen")
    for kind, gain in zip(kinds, (change, -change), strict=True):
        at = _first_by(
            np.flatnonzero(gain > SAME), -gain.round(12), np.zeros(len(gain)), n
        )
        users = _shown(
            [models[baseline], models[model]],
            at.tolist(),
            [values[baseline], values[model]],
            k,
        )
        groups.append(
            UserGroup(kind, model, baseline, users, (won, n_defined - won - lost, lost))
        )
    return [group for group in groups if group.users]


def _first_by(among: Ints, key: Floats, then: Ints | Floats, n: int) -> Ints:
    """Return the `n` of the positions that come first by `key`, then by the second key,
    then by their own order.
    """
    order: Ints = np.lexsort((among, then[among], key[among]))[:n]
    return np.asarray(among[order])


def _shown(
    sides: list[EvaluationData], at: list[int], values: list[Floats], k: int | None
) -> tuple[ShownUser, ...]:
    """Return users by position, each with the list of every side down to k; of one side
    with the most relevant items missed.
    """
    last, depth, hits = (
        sides[-1],
        inf if k is None else k,
        [side.hits(k) for side in sides],
    )
    lists, truths = (
        [side.lists_of(at) for side in sides],
        [last.truth_of(user).rows() for user in at],
    )
    in_lists = [
        item for of_side in lists for ranks in of_side for item in ranks.values()
    ]
    in_truth = [item for truth in truths for item, _relevance in truth]
    titles = last.item_titles(list(dict.fromkeys([*in_lists, *in_truth])))

    def ranked(of_user: Hits, ranks: Mapping[int, Any]) -> tuple[RankedItem, ...]:
        relevance = dict(
            zip(of_user.rank.tolist(), of_user.relevance.tolist(), strict=True)
        )
        inside = [(rank, item) for rank, item in ranks.items() if rank <= depth][
            :RANKS_SHOWN
        ]
        return tuple(
            RankedItem(rank, id_, relevance.get(rank, 0.0), titles.get(id_, ""))
            for rank, id_ in inside
        )

    shown = []
    for row, (user, truth) in enumerate(zip(at, truths, strict=True)):
        of_sides = [of_side.of_user(user) for of_side in hits]
        own, found = of_sides[-1], of_sides[-1].rank <= depth
        order = np.argsort(-own.truth_relevance, kind="stable")
        missed = (
            [truth[place] for place in order[~np.isin(order, own.entry[found])]]
            if len(sides) == 1
            else []
        )
        below = {
            item: rank
            for rank, item in reversed(lists[-1][row].items())
            if rank > depth
        }
        told = [
            (below.get(id_), id_, float(r), titles.get(id_, ""))
            for id_, r in missed[:MISSED_SHOWN]
        ]
        shown.append(
            ShownUser(
                user=last.joined.users[user],
                values=tuple(float(of_side[user]) for of_side in values),
                n_relevant=len(order),
                n_hits=int(found.sum()),
                n_places=max(
                    sum(rank <= depth for rank in of_side[row]) for of_side in lists
                ),
                lists=tuple(
                    ranked(of_user, of_side[row])
                    for of_user, of_side in zip(of_sides, lists, strict=True)
                ),
                missed=tuple(RankedItem(*one) for one in told),
                n_missed=len(missed),
            )
        )
    return tuple(shown)
