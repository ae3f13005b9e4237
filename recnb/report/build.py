"""Compute a report: each number once, by one loop over the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.conventions import options_in_words
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import NoUsersError, OptionError, RecnbError
from recnb.lint import lint
from recnb.lint.findings import Finding, Lint, elsewhere_in_words
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.data import (
    SAME,
    Compared,
    CountSummary,
    Distribution,
    Mean,
    MetricWords,
    Population,
    RankedItem,
    ReportSegments,
    SegmentRow,
    SharedFinding,
    ShownUser,
    UserGroup,
    distribution_of,
)
from recnb.report.report import Report
from recnb.report.request import MetricOptions, ReportRequest, curve_points
from recnb.results.provenance import merged
from recnb.results.segments import n_tests, segment_frame
from recnb.results.values import Values, recorded_in, values_of

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

Models = Mapping[str, "EvaluationData"]

USERS_SHOWN, RANKS_SHOWN, MISSED_SHOWN = 3, 20, 5


def report_of(
    models: Models, request: ReportRequest, compared: Compared | None = None, *, users: int = USERS_SHOWN
) -> Report:
    """Build the report of some models, which `compared` holds against each other if they are several."""
    first, (lead, options), k = next(iter(models.values())), request.metrics[0], request.lead_k
    further = _beyond(models, request)
    values, at_lead_k, means, lints = dict[str, Floats](), dict[str, Floats](), list[Mean](), dict[str, Lint]()
    curves, lacking = dict[str, tuple[Mean, ...]](), dict[str, str]()
    populations, distributions = list[Population](), list[Distribution]()
    away = compared is not None and bool(compared.where)
    for name, model in steps(list(models.items()), _("report")):
        # The deepest join serves all metrics and cut-offs.
        whole = None in request.columns or any(metric.needs_whole_list(given) for metric, given in request.metrics)
        hits = model.hits(None if whole else max(request.k))
        if compared is None:
            for metric, given in request.metrics:
                at, points = request.k_of(metric.name), request.cutoffs_of(metric.name)
                found = values_of(model, metric, Cutoffs.of(points), given)
                if len(found.users) != model.n_users:
                    model.values(metric, Cutoffs.of(at), given)  # or an error that other users are averaged
                rows = means_of(name, metric, points, found, request.confidence)
                means += [row for row in rows if row.k in at]
                if k in at and len(found.users) == model.n_users:
                    at_lead_k[metric.name] = found.matrix[:, points.index(k)].copy()
                if metric is lead:
                    curves[name] = tuple(row for row in rows if row.k in curve_points(request.lead_ks))
        of_lead = at_lead_k if compared is None else compared.values.get(name, {})
        values[name] = of_lead[lead.name] if lead.name in of_lead else model.values(lead, Cutoffs.of(k), options)[:, 0]
        for metric, given in further if not away else ():
            try:
                found = values_of(model, metric, Cutoffs.of(request.k_of(metric.name)), given)
                means += means_of(name, metric, request.k_of(metric.name), found, request.confidence)
            except RecnbError as problem:
                if compared is not None and request.beyond is not None:
                    raise OptionError(str(problem)) from problem
                lacking[metric.name] = _(problem.statement)
        lints[name] = lint(model, k, lead.name, options)
        if not away:
            populations.append(_population(name, model, hits if whole else model.hits(max(request.k))))
        distributions.append(distribution_of(name, values[name], lead.bounds[1]))
    if compared is not None:
        means = [*compared.means, *means]
        curves = {name: tuple(mean for mean in compared.curve if mean.model == name) for name in models}
        groups = [moved(models, pair, values, k, users) for pair in _furthest(compared, lead.name, k)] if users else []
    else:
        groups = [_extremes(name, model, values[name], k, users) for name, model in models.items()]
    shown = [metric for metric in further if metric[0].name not in lacking and not away]
    conventions, basis = _basis(first, request)
    return Report(
        models=tuple(models),
        baseline=None if compared is None else compared.baseline,
        k=request.columns,
        lead_k=k,
        confidence=request.confidence,
        method="beta",
        n_users=first.n_users,
        metrics=tuple(_words(*metric) for metric in (*request.metrics, *shown)),
        means=tuple(mean for mean in means if mean.metric not in lacking),
        curves=curves,
        distributions=tuple(distributions),
        populations=tuple(populations),
        users_by_model=() if compared is None else compared.users_by_model,
        users=tuple(chain.from_iterable(groups)),
        lints=lints,
        findings=_found(lints),
        lacking=lacking,
        differences=() if compared is None else compared.differences,
        overlaps=() if compared is None else compared.overlaps,
        segments=_segments(first, request) if compared is None else compared.segments,
        settings=None if compared is None else compared.settings,
        notes=tuple(dict.fromkeys(note for model in models.values() for note in model.notes)),
        left_out=() if compared is None or not away else tuple(_left_out(compared.where, further, lints)),
        conventions=conventions,
        basis=basis if compared is None else compared.basis,
    )


def _left_out(where: str, further: Sequence[MetricOptions], lints: Mapping[str, Lint]) -> Iterator[str]:
    """What takes rows of lists that were not fetched, in words."""
    yield _(
        "The similarity of the lists is left out: it needs every row of the lists, which stay in {where}.", where=where
    )
    if further:
        yield _(
            "Metrics beyond accuracy are left out: they take every row of the lists, and those stay in {where}.",
            where=where,
        )
    yield from elsewhere_in_words(dict.fromkeys(name for lint in lints.values() for name in lint.elsewhere))


def beyond_of(models: Models, k: int | None) -> dict[str, tuple[list[float], str]]:
    """The metrics beyond accuracy that the data of every model allow: the number of every model, and the basis of the first."""
    for model in models.values():
        model.prepared.rows.all()  # or an error that says where they are
    found = {}
    for name, metric in LIST_METRICS.items() if _given(models) else ():
        with suppress(RecnbError):
            numbers = {model: values_of(data, metric, Cutoffs.of(k), {}) for model, data in models.items()}
            of_models = [float(of.mean[0]) for of in numbers.values()]
            if all(map(isfinite, of_models)):
                found[name] = of_models, "; ".join(next(iter(numbers.values())).basis.phrases())
    return found


def means_of(name: str, metric: Metric[...], k: Sequence[int | None], found: Values, confidence: float) -> list[Mean]:
    """A metric of a model at each cut-off, with the ends of its interval."""
    low, high = found.interval(confidence)
    if not metric.is_accuracy and not np.isfinite(found.mean).any():
        raise NoUsersError(metric.no_value)
    columns = (each.tolist() for each in (found.mean, low, high, found.n_users))
    rows = zip(k, *columns, strict=True)
    return [Mean(name, metric.name, metric.symbol, *row) for row in rows]


def _words(metric: Metric[...], options: Mapping[str, Any]) -> MetricWords:
    convention = (
        "; ".join(options_in_words({**metric.defaults, **options}))
        if metric.is_accuracy
        else _(metric.bounded(options).range_text)
    )
    formula = metric.formula_text(options)
    about = metric.name, metric.symbol, metric.title, metric.reads, formula, convention
    return MetricWords(*about, metric.bounds, metric.is_accuracy)


def _beyond(models: Models, request: ReportRequest) -> list[MetricOptions]:
    """Metrics beyond accuracy: those named; else all, if train or items are given for every model."""
    if request.beyond is not None:
        return [(LIST_METRICS[name], options) for name, options in request.beyond.items()]
    library = next(iter(models.values())).library
    return [(LIST_METRICS[name], {}) for name in recorded_in(library)] if _given(models) else []


def _given(models: Models) -> bool:
    """Whether train or items are given for every model."""
    side_data = [model.side_data for model in models.values()]
    return all(data.train is not None or data.items is not None for data in side_data)


def _basis(model: EvaluationData, request: ReportRequest) -> tuple[tuple[str, ...], str]:
    """The conventions in words, and with the users."""
    phrases = {}
    for (metric, options), (_metric, ks) in zip(request.metrics, request.at_cutoffs, strict=True):
        scoring = model.scoring(metric, options, whole=ks.values == (None,))
        phrases[metric.symbol] = model.basis_of(scoring, ks, options).phrases(brief=True)
    others = {"; ".join(model.users_in_words), *model.notes}
    conventions = merged({name: [one for one in own if one not in others] for name, own in phrases.items()})
    return tuple(conventions), "; ".join(merged(phrases))


def _population(name: str, model: EvaluationData, hits: Hits) -> Population:
    """Who and what one model is evaluated on."""
    counts = {
        field.name: getattr(model.counts, field.name) for field in fields(Population) if field.name.startswith("n_")
    }
    return Population(
        model=name,
        list_length=CountSummary.of(hits.list_length[hits.list_length > 0]),
        relevant_per_user=CountSummary.of(hits.n_relevant),
        users=tuple(model.users_in_words),
        **counts,
    )


def _found(lints: Mapping[str, Lint]) -> tuple[SharedFinding, ...]:
    """Findings of the lint, the same finding of several models once, warnings first."""
    same: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, of_model in lints.items():
        for finding in of_model:
            same.setdefault((finding.name, finding.short), {})[name] = finding
    kinds = list(dict.fromkeys(kind for kind, _short in same))
    found = [SharedFinding(tuple(of_models), tuple(of_models.values())) for of_models in same.values()]
    return tuple(sorted(found, key=lambda one: (one.finding.severity != "warning", kinds.index(one.finding.name))))


def _segments(model: EvaluationData, request: ReportRequest) -> ReportSegments | None:
    """The metrics at the middle cut-off in each segment, each with its gap to all other users."""
    if request.by is None:
        return None
    k, confidence = request.lead_k, request.confidence
    at_lead_k = {metric.name: given for metric, given in request.metrics if k in request.k_of(metric.name)}
    segments, frame, _words = segment_frame(model, at_lead_k, k, request.by, request.bins, {}, confidence)
    symbols = {metric.name: metric.symbol for metric, _given in request.metrics}
    if segments.words:
        frame = frame.assign(**dict.fromkeys(("gap", "gap_low", "gap_high", "p", "p_holm"), np.nan))

    def verdict(row: Any) -> str:
        if not np.isfinite(row.gap_low):
            return "untested"
        differs = row.p_holm <= 1 - confidence and (row.gap_low > 0 or row.gap_high < 0)
        return ("above" if row.gap > 0 else "below") if differs else "open"

    basis = _(
        "{confidence:g}% intervals, not corrected for the number of comparisons; gaps to all other users by the "
        "more careful of Welch's t and Student's, their p corrected by Holm's method over {n:,} tests, every "
        "metric and segment here.",
        n=n_tests(frame),
        confidence=100 * confidence,
    )
    rows: Iterator[Any] = frame.itertuples()
    shown = tuple(
        SegmentRow(
            *(row.segment, row.metric, symbols[row.metric], row.k, "", None, row.n_users, row.mean, row.low, row.high),
            *(row.gap, row.gap_low, row.gap_high, row.p, row.p_holm, row.small, verdict(row)),
        )
        for row in rows
    )
    return ReportSegments(segments.label, shown, basis, segments.words)


def _extremes(name: str, model: EvaluationData, values: Floats, k: int, n: int) -> list[UserGroup]:
    """The best and the worst users: of few, the better and the worse half."""
    hits = model.hits(k)
    n_hits = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    defined, level = np.flatnonzero(~np.isnan(values)), values.round(12)
    best = first_by(defined, -level, -n_hits, min(n, -(-len(defined) // 2)))
    worst = first_by(defined[~np.isin(defined, best)], level, n_hits - hits.n_relevant, min(n, len(defined) // 2))
    shown = shown_users([model], [*best.tolist(), *worst.tolist()], [values], k, titled=model)
    kinds = {"best" if len(worst) else "only": shown[: len(best)], "worst": shown[len(best) :]}
    return [UserGroup(kind, name, None, tuple(users)) for kind, users in kinds.items() if users]


def _furthest(compared: Compared, metric: str, k: int | None, most: int = 3) -> list[tuple[str, str]]:
    """The pairs of models that are furthest apart, in the order compared."""
    apart = [row for row in compared.differences if (row.metric, row.k) == (metric, k)]
    furthest = sorted(apart, key=lambda row: -abs(row.difference) if np.isfinite(row.difference) else 0.0)[:most]
    return [pair for pair in compared.pairs if pair in {(row.model, row.baseline) for row in furthest}]


def moved(
    models: Models, pair: tuple[str, str], values: Mapping[str, Floats], k: int | None, n: int
) -> list[UserGroup]:
    """At most `n` users who gain and `n` who lose, the largest changes first; of equal ones the first by id."""
    model, baseline = pair
    change = values[model] - values[baseline]
    defined = ~np.isnan(change)
    change = np.where(defined, change, 0.0)
    won, lost = int((change > SAME).sum()), int((change < -SAME).sum())
    counts = won, int(defined.sum()) - won - lost, lost
    groups = []
    for kind, sign in (("gained", 1), ("lost", -1)):
        at = first_by(np.flatnonzero(sign * change > SAME), -(sign * change).round(12), np.zeros(len(change)), n)
        sides = [models[baseline], models[model]]
        users = shown_users(sides, at.tolist(), [values[baseline], values[model]], k, titled=models[model])
        groups.append(UserGroup(kind, model, baseline, tuple(users), counts))
    return [group for group in groups if group.users]


def first_by(among: Ints, key: Floats, then: Ints | Floats, n: int) -> Ints:
    """The `n` of the positions that come first by `key`, then by the second key, then by their own order."""
    if n == 0 or len(among) == 0:
        return among[:0]
    keys = key[among]
    near = among[keys <= np.partition(keys, min(n, len(keys)) - 1)[min(n, len(keys)) - 1]]
    order: Ints = np.lexsort((near, then[near], key[near]))[:n]
    return np.asarray(near[order])


def shown_users(
    sides: Sequence[EvaluationData], at: Sequence[int], values: Sequence[Floats], k: int | None, titled: EvaluationData
) -> list[ShownUser]:
    """Users by position, each with the list of every side down to k; of one side with the most relevant items missed."""
    last, hits = sides[-1], [side.hits(k) for side in sides]
    lists, truths = [side.lists_of(at) for side in sides], [last.truth_of(user).rows() for user in at]
    in_lists = (item for of_side in lists for ranks in of_side for item in ranks.values())
    titles = titled.item_titles(
        list(dict.fromkeys([*in_lists, *(item for truth in truths for item, _relevance in truth)]))
    )

    def ranked(of_user: Hits, ranks: Mapping[int, Any]) -> tuple[RankedItem, ...]:
        relevance = dict(zip(of_user.rank.tolist(), of_user.relevance.tolist(), strict=True))
        inside = [rank for rank in ranks if k is None or rank <= k][:RANKS_SHOWN]
        return tuple(
            RankedItem(rank, plain_id(ranks[rank]), relevance.get(rank, 0.0), titles.get(ranks[rank], ""))
            for rank in inside
        )

    shown = []
    for row, (user, truth) in enumerate(zip(at, truths, strict=True)):
        of_sides = [of_side.of_user(user) for of_side in hits]
        found = of_sides[-1].rank <= (np.inf if k is None else k)
        order = np.argsort(-of_sides[-1].truth_relevance, kind="stable")
        missed = (
            [truth[place] for place in order[~np.isin(order, of_sides[-1].truth_row[found])]] if len(sides) == 1 else []
        )
        further = {item: rank for rank, item in reversed(lists[-1][row].items()) if k is not None and rank > k}
        shown.append(
            ShownUser(
                user=plain_id(last.prepared.users[user]),
                values=tuple(float(of_side[user]) for of_side in values),
                n_relevant=len(order),
                n_hits=int(found.sum()),
                n_places=max(sum(k is None or rank <= k for rank in of_side[row]) for of_side in lists),
                lists=tuple(ranked(of_user, of_side[row]) for of_user, of_side in zip(of_sides, lists, strict=True)),
                missed=tuple(
                    RankedItem(further.get(item), plain_id(item), float(relevance), titles.get(item, ""))
                    for item, relevance in missed[:MISSED_SHOWN]
                ),
                n_missed=len(missed),
            )
        )
    return shown


def plain_id(value: Any) -> Any:
    """A user or item as plain Python."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, str)) else str(plain)
