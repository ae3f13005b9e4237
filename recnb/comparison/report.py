"""Gather a report of a comparison: everything measured once, then frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.comparison.common_users import one_beside
from recnb.comparison.differences import MetricRequest, lines_of, measure
from recnb.comparison.list_overlap import overlaps
from recnb.comparison.movers import moved
from recnb.comparison.results import BeyondAccuracy, Compared, ComparisonSegments, Found, Overlap, Reading
from recnb.comparison.segments import differences_by
from recnb.comparison.shown import ComparisonReport
from recnb.conventions import options_in_words
from recnb.data.join import RemoteRanking
from recnb.display.language import _, checked, use_language
from recnb.display.progress import steps
from recnb.errors import ElsewhereError, OptionError
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

#: For more pairs of models than this users are shown for those alone that lie furthest apart.
PAIRS_SHOWN = 3

#: How much each rank weighs against the one above it in rank-biased overlap.
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
    """Measure, look at single users, and freeze."""
    if not isinstance(movers, (int, np.integer)) or isinstance(movers, bool) or movers < 0:
        raise OptionError(f"movers={movers!r} is no number of users: give a whole number from 0 up.")
    with use_language(lang):
        at = whole_numbers(k, ".differences(k=None)")
        lead_k = sorted(at)[len(at) // 2]
        accuracy, further = parted(metrics, options)
        shared = options if accuracy is None else {}
        chosen, own = comparison.chosen(accuracy, shared)
        points = curve_points(at, CURVE_POINTS)
        # The deepest hits serve all cut-offs; asked for first, they are cut once.
        for one in comparison.models.values():
            whole = any(metric.needs_whole_list(mine) for metric, mine in zip(chosen, own, strict=True))
            one.hits(None if whole else max(at))
        made = comparison.measured(accuracy, at, shared)
        lead = MetricRequest(chosen[:1], own[:1], Cutoffs.of(points), [])
        lines = lines_of(measure(comparison.models, lead, comparison.settings), comparison.names)
        here = [one for one in made.differences if one.k == lead_k and one.metric == chosen[0].name]
        furthest = sorted(here, key=lambda one: -abs(one.difference) if np.isfinite(one.difference) else 0.0)
        pairs = {(one.model, one.baseline) for one in furthest[:PAIRS_SHOWN]}
        shown = [
            moved(comparison.models, pair, chosen[0], lead_k, own[0], int(movers))
            for pair in steps([one for one in comparison.pairs if one in pairs and movers], _("comparing"))
        ]
        found, n_checks, unseen = _findings(comparison, chosen[0], lead_k, own[0])
        segments = None
        if by is not None:
            within = MetricRequest(chosen[:1], own[:1], Cutoffs.one(lead_k), comparison.pairs)
            rows = differences_by(comparison.models, within, comparison.settings, by, bins)
            segments = ComparisonSegments(label_of(by), tuple(rows), SMALL)
        left_out: list[str] = []
        alike: tuple[Overlap, ...] = ()
        others: tuple[BeyondAccuracy, ...] = ()
        try:
            alike = overlaps(comparison.models, lead_k, PERSISTENCE)
        except ElsewhereError:
            left_out.append(
                _(
                    "How alike the lists are is left out: that takes every row of the lists, and they stay in {where}.",
                    where=_where(comparison),
                )
            )
        try:
            others = beyond(comparison, lead_k, further)
        except ElsewhereError:
            left_out.append(
                _(
                    "Metrics beyond accuracy are left out: they take every row of the lists, and those stay in "
                    "{where}.",
                    where=_where(comparison),
                )
            )
        data = Compared(
            models=tuple(comparison.names),
            reference=comparison.baseline,
            k=at,
            lead_k=lead_k,
            metrics=tuple(_reading(metric, mine) for metric, mine in zip(chosen, own, strict=True)),
            means=made.means,
            differences=made.differences,
            curves=lines,
            moved=tuple(shown),
            overlaps=alike,
            beyond=others,
            findings=found,
            n_checks=n_checks,
            segments=segments,
            n_users=comparison.n_users,
            judged=comparison.judged,
            settings=made.settings,
            basis=comparison.basis(),
            left_out=(*left_out, *unseen),
            notes=tuple(dict.fromkeys(str(note) for one in comparison.models.values() for note in one.prepared.notes)),
        )
    return ComparisonReport(data, checked(lang))


def _findings(
    comparison: ComparisonData, metric: Metric[...], k: int, options: Mapping[str, Any]
) -> tuple[tuple[Found, ...], int, tuple[str, ...]]:
    """What is odd about the data: what is found as often in several models is told once; and what no lint could look at."""
    lints = {
        name: lint(one, k, metric.name, **options)
        for name, one in steps(list(comparison.models.items()), _("comparing"))
    }
    same: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, findings in lints.items():
        for one in findings:
            same.setdefault((one.name, one.short), {})[name] = one
    kinds = list(dict.fromkeys(key[0] for key in same))
    found = [Found(tuple(some), tuple(some.values())) for some in same.values()]
    found.sort(key=lambda one: (one.finding.severity != "warning", kinds.index(one.finding.name)))
    unseen = dict.fromkeys(name for one in lints.values() for name in one.elsewhere)
    n_checks = min(one.n_checks for one in lints.values())
    return tuple(found), n_checks, tuple(elsewhere_in_words(unseen))


def _where(comparison: ComparisonData) -> str:
    """What holds the rows that are not here."""
    rows = (one.prepared.rows for one in comparison.models.values())
    return next(one.away.where for one in rows if isinstance(one, RemoteRanking))


def beyond(
    comparison: ComparisonData, k: int | None, asked: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[BeyondAccuracy, ...]:
    """The metrics beyond accuracy that were asked for, or all that the data of every model allow.

    Where neither train nor items is known, there are none unless they are asked for.
    """
    if asked is None and any(
        one.side_data.train is None and one.side_data.items is None for one in comparison.models.values()
    ):
        return ()
    one_beside(comparison.models)
    for one in comparison.models.values():
        one.prepared.rows.all()  # or an error that says where they are
    names = LIST_METRICS if asked is None else list(asked)
    work = steps(list(comparison.models.values()), _("comparing"))
    of_each = [rows_of(one, k, comparison.settings.confidence, names=names, options=asked) for one in work]
    if asked is not None:
        for row in (row for rows in of_each for row in rows if row.needs):
            raise OptionError(row.needs)
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


def _reading(metric: Metric[...], options: Mapping[str, Any]) -> Reading:
    return Reading(
        metric=metric.name,
        symbol=metric.symbol,
        title=metric.title,
        reads=metric.reads,
        formula=metric.formula_text(options),
        convention="; ".join(options_in_words({**metric.defaults, **options})),
        bounded=bool(np.isfinite(metric.bounds[1])),
    )
