"""Computes the report of a comparison: every number once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.comparison.common_users import check_side_data
from recnb.comparison.differences import blocks_of, computed_blocks, curves_of, differences_by, measure, measure_by
from recnb.comparison.overlap import overlaps
from recnb.comparison.report import ComparisonReport
from recnb.comparison.results import (
    BeyondAccuracy,
    ComparisonReportData,
    ComparisonSegments,
    ModelFinding,
    MovedUsers,
    Mover,
    Overlap,
)
from recnb.comparison.sections import SECTIONS
from recnb.data.encoding import positions
from recnb.data.source import RemoteRanking
from recnb.display.language import _, checked, use_language
from recnb.display.progress import steps
from recnb.errors import OptionError
from recnb.lint import lint
from recnb.lint.findings import Finding, elsewhere_in_words
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.build import first_by, plain_id, ranked_items, rows_of
from recnb.report.data import SAME, MetricDescription, RankedItem
from recnb.report.request import curve_points, request_of
from recnb.report.section import computed_by
from recnb.results.arguments import Metrics
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import SMALL
from recnb.results.values import Values, values_of

if TYPE_CHECKING:
    from recnb.comparison.data import ComparisonData

CURVE_POINTS = 25

#: Users are shown for at most so many pairs of models, those that differ most.
PAIRS_SHOWN = 3


def report_of(
    comparison: ComparisonData,
    k: int | Sequence[int],
    metrics: Metrics,
    movers: int,
    by: Any,
    bins: int,
    lang: str | None,
    options: Mapping[str, Any],
) -> ComparisonReport:
    """Build the report; each metric is computed once for the tables, the curve, the users, the lint and the segments."""
    if not isinstance(movers, (int, np.integer)) or isinstance(movers, bool) or movers < 0:
        raise OptionError(f"movers={movers!r} is no number of users: give a whole number from 0 up.")
    with use_language(lang):
        models, names, settings = comparison._models, comparison.names, comparison.settings
        first = next(iter(models.values()))
        request = request_of(first, k, metrics, options, settings.confidence, instead=".differences(k=None)")
        lead_k, (lead, lead_options) = request.lead_k, request.metrics[0]
        points = curve_points(request.lead_ks, CURVE_POINTS)
        cutoffs = request.lead_cutoffs(points)
        values = {name: values_of(model, lead, cutoffs, lead_options) for name, model in models.items()}
        blocks = {block.k: block for block in blocks_of(lead, cutoffs, list(values.values()))}
        values = {name: of_model.at(cutoffs.values.index(lead_k)) for name, of_model in values.items()}
        of_curve = measure([[blocks[point] for point in points]], names, [], settings).means
        of_tables = [blocks[cutoff] for cutoff in request.k_of(lead.name)]
        at_lead_k = blocks[lead_k]
        del blocks
        of_others = (
            computed_blocks(models, [other], Cutoffs.of(request.k_of(other[0].name))) for other in request.metrics[1:]
        )
        results = measure(chain([of_tables], *of_others), names, comparison.pairs, settings)
        of_lead = [row for row in results.differences if (row.metric, row.k) == (lead.name, lead_k)]
        findings, n_checks, left_out = _findings(models, lead, lead_k, lead_options, values)
        segments = None
        if by is not None:
            alone = request.metrics[:1], Cutoffs.of(lead_k)
            found, by_segment = measure_by(models, *alone, comparison.pairs, settings, by, bins, [[at_lead_k]])
            named = tuple((", ".join(map(str, key)), row) for key, row in differences_by(by_segment))
            segments = ComparisonSegments(found.label, named, SMALL, found.words)
        alike: tuple[Overlap, ...] = ()
        further: tuple[BeyondAccuracy, ...] = ()
        if where := _where(comparison):
            lists = _(
                "The similarity of the lists is left out: it needs every row of the lists, which stay in {where}.",
                where=where,
            )
            both = _(
                "Metrics beyond accuracy are left out: they take every row of the lists, and those stay in {where}.",
                where=where,
            )
            shows_beyond = request.beyond is not None or _has_side_data(comparison)
            left_out = [lists, *([both] if shows_beyond else []), *left_out]
        else:
            alike = overlaps(models, lead_k)
            further = beyond(comparison, lead_k, request.beyond)
        by_symbol = [(metric.symbol, metric, own) for metric, own in request.metrics]
        # Users are shown for the pairs of models that are furthest apart.
        furthest = sorted(of_lead, key=lambda row: -abs(row.difference) if np.isfinite(row.difference) else 0.0)
        pairs = {(row.model, row.baseline) for row in furthest[:PAIRS_SHOWN]}
        shown = [pair for pair in comparison.pairs if pair in pairs and movers]
        data = ComparisonReportData(
            models=tuple(names),
            reference=comparison.baseline,
            k=request.columns,
            lead_k=lead_k,
            metrics=tuple(MetricDescription.of(*metric) for metric in request.metrics),
            means=results.means,
            differences=results.differences,
            curves=curves_of(of_curve, names),
            moved=tuple(
                moved(models, pair, lead, lead_k, values, int(movers)) for pair in steps(shown, _("comparing"))
            ),
            overlaps=alike,
            beyond=further,
            findings=findings,
            n_checks=n_checks,
            segments=segments,
            n_users=comparison.n_users,
            judged=comparison.users_by_model,
            settings=settings,
            basis="; ".join([comparison.basis(), *comparison._options_in_words(by_symbol)]),
            left_out=tuple(left_out),
            notes=tuple(dict.fromkeys(str(note) for model in models.values() for note in model.prepared.notes)),
            _computed=computed_by(SECTIONS, models, request),
        )
    return ComparisonReport(data, checked(lang))


def _findings(
    models: Mapping[str, EvaluationData],
    metric: Metric[...],
    k: int,
    options: Mapping[str, Any],
    values: Mapping[str, Values],
) -> tuple[tuple[ModelFinding, ...], int, list[str]]:
    """Findings of the lint, the same finding of several models once; the number of checks; and what could not be checked."""
    lints = {name: lint(model, k, metric.name, options) for name, model in steps(list(models.items()), _("comparing"))}
    same: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, of_model in lints.items():
        for finding in of_model:
            same.setdefault((finding.name, finding.short), {})[name] = finding
    kinds = list(dict.fromkeys(key[0] for key in same))
    findings = [ModelFinding(tuple(of_models), tuple(of_models.values())) for of_models in same.values()]
    findings.sort(key=lambda finding: (finding.finding.severity != "warning", kinds.index(finding.finding.name)))
    unseen = dict.fromkeys(name for of_model in lints.values() for name in of_model.elsewhere)
    return tuple(findings), min(of_model.n_checks for of_model in lints.values()), elsewhere_in_words(unseen)


def _where(comparison: ComparisonData) -> str:
    """Where the rows of lists are that were not fetched; "" if all are here."""
    rows = (model.prepared.rows for model in comparison._models.values())
    return next((_(model.away.where) for model in rows if isinstance(model, RemoteRanking)), "")


def _has_side_data(comparison: ComparisonData) -> bool:
    """Return whether train or items are given for every model."""
    side_data = [data.side_data for data in comparison._models.values()]
    return all(data.train is not None or data.items is not None for data in side_data)


def beyond(
    comparison: ComparisonData, k: int | None, named: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[BeyondAccuracy, ...]:
    """The metrics beyond accuracy that were asked for, or all that the data of every model allow.

    Where neither train nor items is known, there are none unless they are asked for.
    """
    if named is None and not _has_side_data(comparison):
        return ()
    check_side_data(comparison._models)
    for model in comparison._models.values():
        model.prepared.rows.all()  # or an error that says where they are
    names = LIST_METRICS if named is None else list(named)
    work = steps(list(comparison._models.values()), _("comparing"))
    confidence, required = comparison.settings.confidence, named is not None
    words = attrgetter("metric", "symbol", "title", "reads")
    of_each = [rows_of(model, k, confidence, names=names, options=named, required=required) for model in work]
    return tuple(
        BeyondAccuracy(*words(rows[0]), k, tuple(row.values[0] for row in rows), rows[0].basis)
        for rows in zip(*of_each, strict=True)
        if all(row.values and np.isfinite(row.values[0][0]) for row in rows)
    )


def moved(
    models: Mapping[str, EvaluationData],
    pair: tuple[str, str],
    metric: Metric[...],
    k: int | None,
    values: Mapping[str, Values],
    n: int,
) -> MovedUsers:
    """Return at most `n` users who gain and `n` who lose, the largest changes first; of equal ones the first by id.

    `values` are those of either model at k.
    """
    (block,) = blocks_of(metric, Cutoffs.one(k), [values[name] for name in pair])
    new, old = block.values.T
    change = new - old
    gained, lost = (
        first_by(np.flatnonzero(sign * change > SAME), -(sign * change).round(12), np.zeros(len(change)), n)
        for sign in (1, -1)
    )
    shown = np.r_[gained, lost]
    users = block.users.gather(shown)
    (new_lists, n_relevant), (old_lists, _n_relevant) = (
        _lists(models[name], users, k, models[pair[0]]) for name in pair
    )
    movers = tuple(
        Mover(plain_id(user), float(old[at]), float(new[at]), n_relevant[i], old_lists[i], new_lists[i])
        for i, (user, at) in enumerate(zip(users.to_list(), shown.tolist(), strict=True))
    )
    n_won, n_lost = int((change > SAME).sum()), int((change < -SAME).sum())
    counts = (n_won, len(change) - n_won - n_lost, n_lost)
    gains, losses = movers[: len(gained)], movers[len(gained) :]
    return MovedUsers(metric.name, metric.symbol, k, *pair, gains, losses, counts)


def _lists(
    model: EvaluationData, users: pl.Series, k: int | None, titled: EvaluationData
) -> tuple[list[tuple[RankedItem, ...]], list[int]]:
    """The lists of some users with their hits, items by the titles that one of the models has; and how many items are relevant."""
    hits = model.hits(k)
    at = positions(model.prepared.users, users).tolist()
    lists = model.lists_of(at)
    titles = titled.item_titles(list({item for ranks in lists for item in ranks.values()}))
    of_users = [hits.of_user(position) for position in at]
    ranked = [ranked_items(of_user, ranks, k, titles) for of_user, ranks in zip(of_users, lists, strict=True)]
    return ranked, [len(of_user.truth_relevance) for of_user in of_users]
