"""What a comparison measures for the report of its models: means, differences, segments, and how alike lists are."""

from __future__ import annotations

from itertools import chain
from math import nan
from typing import Any

from recnb.comparison.differences import PairedValues, blocks_of, computed_blocks, measure
from recnb.comparison.overlap import overlaps
from recnb.data.source import RemoteRanking
from recnb.display.language import _
from recnb.metrics.hits import Cutoffs
from recnb.report.build import Measured
from recnb.report.data import ReportSegments
from recnb.report.request import ReportRequest, curve_points
from recnb.results.arguments import Asked
from recnb.results.segments import SMALL, segments_of
from recnb.results.values import values_of


def compared_of(comparison: Any, request: ReportRequest) -> Measured:
    """Hold the models of a comparison against each other in the metrics and cut-offs of a report."""
    models, names, settings = comparison._models, comparison.names, comparison.settings
    first, k, (lead, options) = next(iter(models.values())), request.lead_k, request.metrics[0]
    cutoffs = request.cutoffs_of(lead.name)
    sides = {name: values_of(model, lead, Cutoffs.of(cutoffs), options) for name, model in models.items()}
    blocks = dict(
        zip(cutoffs, blocks_of(lead.bounded(options), Cutoffs.of(cutoffs), list(sides.values())), strict=True)
    )
    others = (
        computed_blocks(models, [metric], Cutoffs.of(request.k_of(metric[0].name))) for metric in request.metrics[1:]
    )
    found = measure(
        chain([[blocks[cutoff] for cutoff in request.k_of(lead.name)]], *others), names, comparison.pairs, settings
    )
    points = measure([[blocks[point] for point in curve_points(request.lead_ks)]], names, [], settings).means
    curve = [mean for _key, mean in points]
    values = {
        name: side.matrix[:, cutoffs.index(k)]
        if len(side.users) == first.n_users
        else models[name].values(lead, Cutoffs.of(k), options)[:, 0]
        for name, side in sides.items()
    }
    sources = [model.prepared.rows for model in models.values()]
    where = next((_(rows.away.where) for rows in sources if isinstance(rows, RemoteRanking)), "")
    named = [Asked(metric.symbol, metric, dict(given)) for metric, given in request.metrics]
    return Measured(
        means=tuple(mean for _key, mean in found.means),
        curves={name: tuple(mean for mean in curve if mean.model == name) for name in models},
        values=values,
        segments=_segments(comparison, request, blocks[k]),
        baseline=comparison.baseline,
        pairs=comparison.pairs,
        settings=settings,
        differences=tuple(row for _key, row in found.differences),
        overlaps=() if where else tuple(overlaps(models, k)),
        users_by_model=comparison.users_by_model,
        where=where,
        basis="; ".join([comparison.basis(), *comparison._options_in_words(named)]),
    )


def _segments(comparison: Any, request: ReportRequest, block: PairedValues) -> ReportSegments | None:
    """Return the differences in the lead metric within each segment of the users."""
    if request.by is None:
        return None
    first = comparison._first
    found = segments_of(first, request.by, request.bins)
    names, pairs, users = comparison.names, comparison.pairs, first.prepared.users
    measured = measure([[block]], names, pairs, comparison.settings, found, users)
    rows = []
    for key, row in measured.differences:
        numbers = {
            "mean": nan,
            "low": nan,
            "high": nan,
            "gap": row.difference,
            "gap_low": row.low,
            "gap_high": row.high,
        }
        about = {
            name: getattr(row, name)
            for name in ("metric", "symbol", "k", "model", "baseline", "n_users", "p", "p_holm", "verdict")
        }
        own = {"segment": ", ".join(map(str, key)), "small": row.n_users < SMALL, "difference": row.to_dict()}
        rows.append({**about, **numbers, **own})
    return ReportSegments(found.label, tuple(rows), "", "")
