"""What a comparison measures for the report of its models: means, differences, segments, and how alike lists are."""

from __future__ import annotations

from itertools import chain
from math import nan
from typing import Any

from recnb.comparison.differences import PairedValues, computed_blocks, measure
from recnb.comparison.overlap import overlaps
from recnb.data.source import RemoteRanking
from recnb.display.language import _
from recnb.metrics.hits import Cutoffs
from recnb.report.build import Measured
from recnb.report.data import ReportSegments
from recnb.report.request import ReportRequest, curve_points
from recnb.results.arguments import Asked
from recnb.results.segments import SMALL, segments_of


def compared_of(comparison: Any, request: ReportRequest) -> Measured:
    """Hold the models of a comparison against each other in the metrics and cut-offs of a report."""
    models, names, settings = comparison._models, comparison.names, comparison.settings
    k, (lead, options) = request.lead_k, request.metrics[0]
    cutoffs = request.cutoffs_of(lead.name)
    (of_lead,) = computed_blocks(models, [(lead, options)], Cutoffs.of(cutoffs))
    blocks = dict(zip(cutoffs, of_lead, strict=True))
    others = (computed_blocks(models, [each], Cutoffs.of(request.k_of(each[0].name))) for each in request.metrics[1:])
    asked = [[blocks[cutoff] for cutoff in request.k_of(lead.name)]]
    found = measure(chain(asked, *others), names, comparison.pairs, settings)
    points = measure([[blocks[point] for point in curve_points(request.lead_ks)]], names, [], settings).means
    sources = [model.prepared.rows for model in models.values()]
    where = next((_(rows.away.where) for rows in sources if isinstance(rows, RemoteRanking)), "")
    named = [Asked(metric.symbol, metric, dict(given)) for metric, given in request.metrics]
    return Measured(
        means=[mean for _key, mean in found.means],
        curves={name: tuple(mean for _key, mean in points if mean.model == name) for name in names},
        values={name: model.values(lead, Cutoffs.of(k), options)[:, 0] for name, model in models.items()},
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
    found, users = segments_of(comparison._first, request.by, request.bins), comparison._first.prepared.users
    measured = measure([[block]], comparison.names, comparison.pairs, comparison.settings, found, users)
    rows = []
    for key, row in measured.differences:
        numbers = row.to_dict()
        gap = dict(zip(("gap", "gap_low", "gap_high"), (row.difference, row.low, row.high), strict=True))
        own = {"segment": ", ".join(map(str, key)), "small": row.n_users < SMALL, "difference": numbers}
        rows.append(numbers | gap | own | dict.fromkeys(("mean", "low", "high"), nan))
    return ReportSegments(found.label, rows, "")
