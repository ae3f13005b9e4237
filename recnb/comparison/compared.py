"""What a comparison adds to the report of its models: differences with their tests, means beside the best, how alike lists are."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from math import nan

from recnb.comparison.data import ComparisonData
from recnb.comparison.differences import PairedValues, blocks_of, computed_blocks, differences_by, measure, measure_by
from recnb.comparison.overlap import overlaps
from recnb.data.source import RemoteRanking
from recnb.display.language import _
from recnb.metrics.hits import Cutoffs
from recnb.report.data import Compared, ReportSegments, SegmentRow
from recnb.report.request import ReportRequest, curve_points
from recnb.results.segments import SMALL
from recnb.results.values import values_of


def compared_of(comparison: ComparisonData, request: ReportRequest) -> Compared:
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
    of_lead = [blocks[cutoff] for cutoff in request.k_of(lead.name)]
    found = measure(chain([of_lead], *others), names, comparison.pairs, settings)
    curve = measure([[blocks[point] for point in curve_points(request.lead_ks)]], names, [], settings).means
    at = cutoffs.index(k)
    values = {name: {lead.name: side.matrix[:, at]} for name, side in sides.items() if len(side.users) == first.n_users}
    where = next(
        (_(rows.away.where) for model in models.values() if isinstance(rows := model.prepared.rows, RemoteRanking)), ""
    )
    named = [(metric.symbol, metric, given) for metric, given in request.metrics]
    return Compared(
        baseline=comparison.baseline,
        pairs=tuple(comparison.pairs),
        settings=settings,
        means=found.means,
        curve=curve,
        values=values,
        differences=found.differences,
        segments=_segments(comparison, request, blocks[k]),
        overlaps=() if where else tuple(asdict(row) for row in overlaps(models, k)),
        where=where,
        users_by_model=comparison.users_by_model,
        basis="; ".join([comparison.basis(), *comparison._options_in_words(named)]),
    )


def _segments(comparison: ComparisonData, request: ReportRequest, block: PairedValues) -> ReportSegments | None:
    """The differences in the lead metric within each segment of the users."""
    if request.by is None:
        return None
    lead = request.metrics[:1], Cutoffs.of(request.lead_k)
    found, results = measure_by(
        comparison._models, *lead, comparison.pairs, comparison.settings, request.by, request.bins, [[block]]
    )
    rows = tuple(
        SegmentRow(
            *(", ".join(map(str, key)), row.metric, row.symbol, row.k, row.model, row.baseline, row.n_users, nan, nan, nan),
            *(row.difference, row.low, row.high, row.p, row.p_holm, row.n_users < SMALL, row.verdict, row),
        )
        for key, row in differences_by(results)
    )  # fmt: skip
    return ReportSegments(found.label, rows, "", found.words)
