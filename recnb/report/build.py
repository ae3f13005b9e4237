"""Compute a report: each number once, by one loop over the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recnb.conventions import options_in_words
from recnb.display.language import N_, _
from recnb.display.progress import steps
from recnb.errors import NoUsersError, OptionError, RecnbError
from recnb.lint import lint
from recnb.lint.findings import Finding, Lint
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.report.conclusions import Difference
from recnb.report.data import SAME, Comparing, Mean, MetricWords, ReportSegments
from recnb.report.differences import PairedValues, measure, overlaps, paired_values
from recnb.report.report import Report
from recnb.report.request import MetricOptions, ReportRequest, curve_points
from recnb.report.users import extremes, moved
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import merged
from recnb.results.segments import SMALL, segments_of, table_by
from recnb.results.values import Values, recorded_in, values_of
from recnb.stats import Settings

Models = Mapping[str, EvaluationData]

#: Bars of a distribution, users shown of each kind, and pairs of models whose users are shown.
BINS, USERS_SHOWN, PAIRS_SHOWN = 10, 3, 3

#: The counts of a population.
COUNTS = (
    "n_users", "n_without_list", "n_without_relevant", "n_recommended", "n_relevant", "n_items_recommended",
    "n_items_relevant", "n_not_relevant", "n_gaps",
)  # fmt: skip


class Measured(NamedTuple):
    """The metrics of accuracy, and of several models what they are compared by."""

    means: Sequence[Mean]
    curves: Mapping[str, tuple[Mean, ...]]  #: of each model, the lead metric at many cut-offs
    segments: ReportSegments | None
    differences: tuple[Difference, ...] = ()


def report_of(
    models: Models, request: ReportRequest, comparing: Comparing | None = None, users: int = USERS_SHOWN
) -> Report:
    """Build the report of one model, or of several that are held against each other."""
    first, (lead, options), k = next(iter(models.values())), request.metrics[0], request.lead_k
    found = _of_one(first, request) if comparing is None else _of_several(models, request, comparing)
    values = {name: model.values(lead, Cutoffs.of(k), options)[:, 0] for name, model in models.items()}
    where = "" if comparing is None else _elsewhere(models)
    beyond = _beyond(models, request)
    means, groups, lacking = [*found.means], [], dict[str, str]()
    lints, populations, distributions = dict[str, Lint](), [], []
    for name, model in steps(list(models.items()), _("report")):
        for metric, given in () if where else beyond:
            try:
                found_beyond = values_of(model, metric, Cutoffs.of(request.k_of(metric.name)), given)
                means += _means(name, found_beyond, request.confidence)
            except RecnbError as problem:
                if comparing is not None and request.beyond:
                    raise OptionError(str(problem)) from problem
                lacking[metric.name] = _(problem.statement)
        lints[name] = lint(model, k, lead.name, options)
        populations += [] if where else [_population(name, model, request)]
        distributions.append(distribution_of(name, values[name], lead.bounds[1]))
        groups += [] if comparing else extremes(name, model, values[name], k, users)
    at_lead = [row for row in found.differences if (row.metric, row.k) == (lead.name, k)]
    furthest = sorted(at_lead, key=lambda row: -abs(np.nan_to_num(row.difference)))[:PAIRS_SHOWN]
    for row in at_lead if users else ():
        groups += moved(models, (row.model, row.baseline), values, k, users) if row in furthest else []
    conventions, basis = _basis(first, request)
    how = comparing or Comparing(None, (), Settings(), (), basis)
    shown = [*request.metrics, *(each for each in beyond if not where and each[0].name not in lacking)]
    return Report(
        models=tuple(models),
        baseline=how.baseline,
        k=request.columns,
        lead_k=k,
        confidence=request.confidence,
        method="beta",
        n_users=first.n_users,
        metrics=tuple(_words(*each) for each in shown),
        means=tuple(mean for mean in means if mean.metric not in lacking),
        curves=found.curves,
        distributions=tuple(distributions),
        populations=tuple(populations),
        users_by_model=how.users_by_model,
        users=tuple(groups),
        lints=lints,
        findings=_shared(lints),
        lacking=lacking,
        differences=found.differences,
        overlaps=tuple(overlaps(models, k)) if comparing and not where else (),
        segments=found.segments,
        settings=comparing.settings if comparing else None,
        notes=tuple(dict.fromkeys(note for model in models.values() for note in model.notes)),
        left_out=tuple(_left_out(where, beyond)),
        conventions=conventions,
        basis=how.basis,
    )


def _of_one(model: EvaluationData, request: ReportRequest) -> Measured:
    """Compute the metrics of accuracy of one model; the deepest join serves all of them."""
    model.hits(request.deepest)
    means, curve = list[Mean](), tuple[Mean, ...]()
    for metric, given in request.metrics:
        found = values_of(model, metric, Cutoffs.of(request.cutoffs_of(metric.name)), given)
        if len(found.users) != model.n_users:  # an error that other users are averaged
            model.values(metric, Cutoffs.of(request.k_of(metric.name)), given)
        rows = _means("", found, request.confidence)
        means += [row for row in rows if row.k in request.k_of(metric.name)]
        curve = curve or tuple(row for row in rows if row.k in curve_points(request.lead_ks))
    return Measured(means, {"": curve}, _gaps(model, request))


def _of_several(models: Models, request: ReportRequest, comparing: Comparing) -> Measured:
    """Compute the metrics of accuracy of several models on the users they share, and compare them."""
    names, points = list(models), curve_points(request.lead_ks)
    blocks, curve = list[PairedValues](), list[PairedValues]()
    for metric, given in request.metrics:
        computed = paired_values(models, metric, Cutoffs.of(request.cutoffs_of(metric.name)), given)
        blocks += [block for block in computed if block.k in request.k_of(metric.name)]
        curve = curve or [block for block in computed if block.k in points]
    found = measure(blocks, names, comparing.pairs, comparing.settings)
    of_curve = [mean for _key, mean in measure(curve, names, [], comparing.settings).means]
    differences, segments = tuple(difference for _key, difference in found.differences), None
    if request.by is not None:
        first, at_lead = next(iter(models.values())), [block for block in blocks if block.k == request.lead_k][:1]
        parts = segments_of(first, request.by, request.bins)
        within = measure(at_lead, names, comparing.pairs, comparing.settings, parts, first.prepared.users).differences
        rows = [
            {
                **row.to_dict(),
                "gap": row.difference,
                "gap_low": row.low,
                "gap_high": row.high,
                "difference": row.to_dict(),
            }
            | {"segment": ", ".join(map(str, key)), "small": row.n_users < SMALL, "mean": nan, "low": nan, "high": nan}
            for key, row in within
        ]
        segments = ReportSegments(parts.label, rows, "")
    curves = {name: tuple(mean for mean in of_curve if mean.model == name) for name in names}
    return Measured([mean for _key, mean in found.means], curves, segments, differences)


def _gaps(model: EvaluationData, request: ReportRequest) -> ReportSegments | None:
    """Return the metrics at the middle cut-off in each segment, each with its gap to all other users."""
    if request.by is None:
        return None
    k, confidence = request.lead_k, request.confidence
    at_lead_k = {metric.name: given for metric, given in request.metrics if k in request.k_of(metric.name)}
    table = table_by(model, at_lead_k, k, request.by, request.bins, {}, confidence)
    symbols = {metric.name: metric.symbol for metric, _given in request.metrics}
    about = [(metric, cut, symbols[metric], ", ".join(map(str, key))) for metric, cut, *key in table.index]
    same = {"model": "", "baseline": None, "difference": None}
    frame = pd.DataFrame(about, columns=["metric", "k", "symbol", "segment"]).assign(**same)
    numbers = ["n_users", "mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm", "small"]
    frame = frame.join(table.to_frame().reindex(columns=numbers).reset_index(drop=True))
    found = (frame["p_holm"] <= 1 - confidence) & ((frame["gap_low"] > 0) | (frame["gap_high"] < 0))
    cases = [frame["gap_low"].isna(), ~found, frame["gap"] > 0]
    frame["verdict"] = np.select(cases, ["untested", "open", "above"], "below")
    of_gaps = N_("{confidence:g}% intervals, not corrected for the number of comparisons; gaps to all other users by the more careful of Welch's t and Student's, their p corrected by Holm's method over {n:,} tests, every metric and segment here.")  # fmt: skip
    basis = table.attrs["basis"].rpartition("; ")[2]  # of parts of the truth, which have no gap
    if "gap" in table:
        basis = _(of_gaps, n=table.attrs["n_tests"], confidence=100 * confidence)
    return ReportSegments(table.attrs["by"], frame.to_dict("records"), basis)


def _means(name: str, found: Values, confidence: float) -> list[Mean]:
    """Return a metric of a model at each cut-off, with the ends of its interval."""
    low, high = found.interval(confidence)
    if not found.metric.is_accuracy and not np.isfinite(found.mean).any():
        raise NoUsersError(found.metric.no_value)
    columns = (each.tolist() for each in (found.mean, low, high, found.n_users))
    about = name, found.metric.name, found.metric.symbol
    return [Mean(*about, *row) for row in zip(found.k, *columns, strict=True)]


def _beyond(models: Models, request: ReportRequest) -> Sequence[MetricOptions]:
    """Return the metrics beyond accuracy: those named; else all, if train or items are given for every model."""
    library = next(iter(models.values())).library
    return request.beyond or [(LIST_METRICS[name], {}) for name in recorded_in(library) if has_side_data(models)]


def has_side_data(models: Models) -> bool:
    """Return whether train or items are given for every model."""
    return all(model.side_data.train is not None or model.side_data.items is not None for model in models.values())


def _elsewhere(models: Models) -> str:
    """Say where the rows of lists are that were not fetched; "" if all are here."""
    sources = [model.source for model in models.values()]
    return next((_(source.where) for source in sources if not source.in_memory), "")


def _left_out(where: str, beyond: Sequence[MetricOptions]) -> list[str]:
    """Say what takes rows of lists that were not fetched."""
    overlap = N_("The similarity of the lists is left out: it needs every row of the lists, which stay in {where}.")
    further = N_("Metrics beyond accuracy are left out: they take every row of the lists, and those stay in {where}.")
    return [_(words, where=where) for words in (overlap, *[further] * bool(beyond)) if where]


def _words(metric: Metric[...], options: Mapping[str, Any]) -> MetricWords:
    convention = _(metric.bounded(options).range_text)
    if metric.is_accuracy:
        convention = "; ".join(options_in_words({**metric.defaults, **options}))
    about = metric.name, metric.symbol, metric.title, metric.reads, metric.formula_text(options)
    return MetricWords(*about, convention, metric.bounds, metric.is_accuracy)


def _basis(model: EvaluationData, request: ReportRequest) -> tuple[tuple[str, ...], str]:
    """Return the conventions in words, and with the users."""
    phrases = {}
    for metric, options in request.metrics:
        ks = Cutoffs.of(request.k_of(metric.name))
        scoring = model.scoring(metric, options, whole=ks.values == (None,))
        phrases[metric.symbol] = model.basis_of(scoring, ks, options).phrases(brief=True)
    others = {"; ".join(model.users_in_words), *model.notes}
    conventions = merged({name: [one for one in own if one not in others] for name, own in phrases.items()})
    return tuple(conventions), "; ".join(merged(phrases))


def _population(name: str, model: EvaluationData, request: ReportRequest) -> dict[str, Any]:
    """Count who and what one model is evaluated on."""
    hits = model.hits(request.deepest)
    counts = {count: getattr(model.counts, count) for count in COUNTS}
    spreads = {"list_length": hits.list_length[hits.list_length > 0], "relevant_per_user": hits.n_relevant}
    words = {"users": tuple(model.users_in_words)}
    return {"model": name, **counts, **{name: summary_of(spread) for name, spread in spreads.items()}, **words}


def summary_of(counts: Ints) -> dict[str, float]:
    """Return the spread of counts, zeros where there are none."""
    counts = counts if len(counts) else np.zeros(1, dtype=np.int64)
    middle, mean = float(np.median(counts)), float(counts.mean())
    return {"min": int(counts.min()), "median": middle, "mean": mean, "max": int(counts.max())}


def distribution_of(model: str, values: Floats, top: float) -> dict[str, Any]:
    """Return the distribution of the values of users: ten bins, quartiles, and the number of users at either bound.

    A bin holds its lower edge, the last one both; without an upper bound the last edge is a round number.
    """
    defined = values[~np.isnan(values)]
    end = top if isfinite(top) else _round_above(float(defined.max(initial=0.0)))
    # A value on an edge belongs to the bin above it, also where the last digit of a division says otherwise.
    bins = np.minimum((defined / end * BINS + 1e-9).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    return {
        "model": model,
        "n_users": len(defined),
        "n_without_value": len(values) - len(defined),
        "edges": (np.arange(BINS + 1) * end / BINS).tolist(),
        "counts": counts.tolist(),
        "shares": (counts / max(len(defined), 1)).tolist(),
        "n_zero": int((np.abs(defined) <= SAME).sum()),
        "n_top": int((defined >= top - SAME).sum()) if isfinite(top) else None,
        "mean": float(defined.mean()) if len(defined) else nan,
        "quartiles": np.quantile(defined, [0.25, 0.5, 0.75]).tolist() if len(defined) else [nan, nan, nan],
    }


def _round_above(value: float) -> float:
    """Return the next number from `value` up that reads well on an axis."""
    scale = 10.0 ** np.floor(np.log10(value)) if value > 0 else 1.0
    ends = (step * scale for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10))
    return float(f"{next(end for end in ends if end >= value * (1 - SAME)):.12g}")


def _shared(lints: Mapping[str, Lint]) -> tuple[tuple[tuple[str, ...], tuple[Finding, ...]], ...]:
    """Return findings of the lint, the same finding of several models once, warnings first."""
    same: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, of_model in lints.items():
        for finding in of_model:
            same.setdefault((finding.name, finding.short), {})[name] = finding
    kinds = list(dict.fromkeys(kind for kind, _short in same))
    found = [(tuple(of_models), tuple(of_models.values())) for of_models in same.values()]
    return tuple(sorted(found, key=lambda one: (one[1][0].severity != "warning", kinds.index(one[1][0].name))))
