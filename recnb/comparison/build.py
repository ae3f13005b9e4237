"""Computes the report of a comparison: every number once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.comparison.common_users import check_side_data
from recnb.comparison.differences import MetricRequest, differences_by, lines_of, measure
from recnb.comparison.movers import moved, scores_of
from recnb.comparison.rank_similarity import overlaps
from recnb.comparison.report import ComparisonReport
from recnb.comparison.results import (
    BeyondAccuracy,
    ComparisonReportData,
    ComparisonSegments,
    CurveLine,
    Difference,
    Mean,
    MetricDescription,
    ModelFinding,
    MovedUsers,
    Overlap,
)
from recnb.conventions import options_in_words
from recnb.data.join import RemoteRanking
from recnb.display.language import _, checked, use_language
from recnb.display.progress import steps
from recnb.errors import OptionError
from recnb.lint import lint
from recnb.lint.findings import Finding, elsewhere_in_words
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.beyond_row import rows_of
from recnb.report.build import curve_points, whole_numbers
from recnb.results.arguments import Metrics, parted
from recnb.results.segments import SMALL, label_of

if TYPE_CHECKING:
    from recnb.comparison.data import ComparisonData

CURVE_POINTS = 25

#: Users are shown for at most so many pairs of models, those that differ most.
PAIRS_SHOWN = 3

#: Persistence of rank-biased overlap: the weight of each rank relative to the one above it.
PERSISTENCE = 0.9


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
    """Compute the report."""
    if not isinstance(movers, (int, np.integer)) or isinstance(movers, bool) or movers < 0:
        raise OptionError(f"movers={movers!r} is no number of users: give a whole number from 0 up.")
    with use_language(lang):
        at = whole_numbers(k, ".differences(k=None)")
        lead_k = sorted(at)[len(at) // 2]
        accuracy, further = parted(metrics, options)
        request = comparison.request(accuracy, at, options if accuracy is None else {}, comparison.pairs)
        metric, options_of_lead = request.metrics[0], request.options[0]
        assert isinstance(metric, Metric)
        results = measure(comparison.models, request, comparison.settings)
        lead = [
            difference
            for difference in results.differences
            if difference.k == lead_k and difference.metric == metric.name
        ]
        findings, n_checks, left_out = _findings(comparison, metric, lead_k, options_of_lead)
        segments = None
        if by is not None:
            within = replace(request, metrics=[metric], options=[options_of_lead], cutoffs=Cutoffs.one(lead_k))
            by_segment = differences_by(comparison.models, within, comparison.settings, by, bins)
            segments = ComparisonSegments(label_of(by), tuple(by_segment), SMALL)
        alike: tuple[Overlap, ...] = ()
        others: tuple[BeyondAccuracy, ...] = ()
        where, shows_beyond = _where(comparison), further is not None or _has_side_data(comparison)
        if where:
            rows = _(
                "The similarity of the lists is left out: it needs every row of the lists, which stay in {where}.",
                where=where,
            )
            both = _(
                "Metrics beyond accuracy are left out: they take every row of the lists, and those stay in {where}.",
                where=where,
            )
            left_out = [rows, *([both] if shows_beyond else []), *left_out]
        else:
            alike = overlaps(comparison.models, lead_k, PERSISTENCE)
            others = beyond(comparison, lead_k, further)
        data = ComparisonReportData(
            models=tuple(comparison.names),
            reference=comparison.baseline,
            k=at,
            lead_k=lead_k,
            metrics=tuple(map(_reading, request.metrics, request.options)),
            means=results.means,
            differences=results.differences,
            curves=_curves(comparison, replace(request, metrics=[metric], options=[options_of_lead]), results.means),
            moved=tuple(_moved(comparison, lead, metric, options_of_lead, int(movers))),
            overlaps=alike,
            beyond=others,
            findings=findings,
            n_checks=n_checks,
            segments=segments,
            n_users=comparison.n_users,
            judged=comparison.judged,
            settings=results.settings,
            basis=comparison.basis(),
            left_out=tuple(left_out),
            notes=tuple(
                dict.fromkeys(str(note) for model in comparison.models.values() for note in model.prepared.notes)
            ),
        )
    return ComparisonReport(data, checked(lang))


def _curves(comparison: ComparisonData, request: MetricRequest, means: Sequence[Mean]) -> tuple[CurveLine, ...]:
    """The lead metric against the cut-off, from the means there are and those of further cut-offs."""
    (metric,), at = request.metrics, request.cutoffs.values
    points = curve_points([k for k in at if k is not None], CURVE_POINTS)
    further = [k for k in points if k not in at]
    lead = [mean for mean in means if mean.metric == metric.name and mean.k in points]
    if further:
        lead += measure(
            comparison.models, replace(request, cutoffs=Cutoffs.of(further), pairs=[]), comparison.settings
        ).means
    return lines_of(sorted(lead, key=lambda mean: mean.k or 0), comparison.names)


def _moved(
    comparison: ComparisonData, lead: Sequence[Difference], metric: Metric[...], options: Mapping[str, Any], n: int
) -> Iterator[MovedUsers]:
    """The users who moved most, of the pairs of models that are furthest apart."""
    furthest = sorted(
        lead, key=lambda difference: -abs(difference.difference) if np.isfinite(difference.difference) else 0.0
    )
    pairs = {(difference.model, difference.baseline) for difference in furthest[:PAIRS_SHOWN]}
    scores = scores_of(comparison.models, metric, lead[0].k, options)
    for pair in steps([pair for pair in comparison.pairs if pair in pairs and n], _("comparing")):
        yield moved(comparison.models, pair, metric, lead[0].k, scores, n)


def _findings(
    comparison: ComparisonData, metric: Metric[...], k: int, options: Mapping[str, Any]
) -> tuple[tuple[ModelFinding, ...], int, list[str]]:
    """Findings of the lint, the same finding of several models once; the number of checks; and what could not be checked."""
    lints = {
        name: lint(model, k, metric.name, options)
        for name, model in steps(list(comparison.models.items()), _("comparing"))
    }
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
    rows = (model.prepared.rows for model in comparison.models.values())
    return next((model.away.where for model in rows if isinstance(model, RemoteRanking)), "")


def _has_side_data(comparison: ComparisonData) -> bool:
    """Whether train or items are given for every model."""
    side_data = [data.side_data for data in comparison.models.values()]
    return all(data.train is not None or data.items is not None for data in side_data)


def beyond(
    comparison: ComparisonData, k: int | None, asked: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[BeyondAccuracy, ...]:
    """The metrics beyond accuracy that were asked for, or all that the data of every model allow.

    Where neither train nor items is known, there are none unless they are asked for.
    """
    if asked is None and not _has_side_data(comparison):
        return ()
    check_side_data(comparison.models)
    for model in comparison.models.values():
        model.prepared.rows.all()  # or an error that says where they are
    names = LIST_METRICS if asked is None else list(asked)
    work = steps(list(comparison.models.values()), _("comparing"))
    confidence, required = comparison.settings.confidence, asked is not None
    of_each = [rows_of(model, k, confidence, names=names, options=asked, required=required) for model in work]
    return tuple(
        BeyondAccuracy(
            rows[0].metric,
            rows[0].symbol,
            rows[0].title,
            rows[0].reads,
            k,
            tuple(row.values[0] for row in rows),
            rows[0].basis,
        )
        for rows in zip(*of_each, strict=True)
        if all(row.values and np.isfinite(row.values[0][0]) for row in rows)
    )


def _reading(metric: Metric[...], options: Mapping[str, Any]) -> MetricDescription:
    return MetricDescription(
        metric=metric.name,
        symbol=metric.symbol,
        title=metric.title,
        reads=metric.reads,
        formula=metric.formula_text(options),
        convention="; ".join(options_in_words({**metric.defaults, **options})),
        bounded=bool(np.isfinite(metric.bounds[1])),
    )
