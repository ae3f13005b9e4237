"""Gather a report of a comparison: everything measured once, then frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.asked import Metrics, parted
from recnb.beyond_shown import rows_of
from recnb.comparison.aligned import one_beside
from recnb.comparison.alike import overlaps
from recnb.comparison.by_segment import differences_by
from recnb.comparison.measured import Asked, lines_of, measure
from recnb.comparison.movers import moved
from recnb.conventions import options_in_words
from recnb.errors import ElsewhereError, OptionError
from recnb.frames.rows import Ranked
from recnb.hits import Cutoffs
from recnb.metric import Metric
from recnb.progress import steps
from recnb.reported import curve_points, whole_numbers
from recnb.results.comparison import ComparisonReport
from recnb.results.comparison_data import Beyond, Compared, Found, Overlap, Reading, Segmented
from recnb.results.lint import Finding, elsewhere_in_words
from recnb.segments import SMALL, label_of
from recnb.strings import checked, say, speaking
from recnb.whole_lists import BEYOND

if TYPE_CHECKING:
    from recnb.comparison import Comparison

CURVE_POINTS = 25

#: For more pairs of models than this users are shown for those alone that lie furthest apart.
PAIRS_SHOWN = 3

#: How much each rank weighs against the one above it in rank-biased overlap.
PERSISTENCE = 0.9


def report_of(
    comparison: Comparison,
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
    with speaking(lang):
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
        lead = Asked(chosen[:1], own[:1], Cutoffs.of(points), [])
        lines = lines_of(measure(comparison.models, lead, comparison.settings), comparison.names)
        here = [one for one in made.differences if one.k == lead_k and one.metric == chosen[0].name]
        furthest = sorted(here, key=lambda one: -abs(one.difference) if np.isfinite(one.difference) else 0.0)
        pairs = {(one.model, one.baseline) for one in furthest[:PAIRS_SHOWN]}
        shown = [
            moved(comparison.models, pair, chosen[0], lead_k, own[0], int(movers))
            for pair in steps([one for one in comparison.pairs if one in pairs and movers], say("compare.progress"))
        ]
        found, n_checks, unseen = _findings(comparison, chosen[0], lead_k, own[0])
        segments = None
        if by is not None:
            within = Asked(chosen[:1], own[:1], Cutoffs.one(lead_k), comparison.pairs)
            rows = differences_by(comparison.models, within, comparison.settings, by, bins)
            segments = Segmented(label_of(by), tuple(rows), SMALL)
        left_out: list[str] = []
        alike: tuple[Overlap, ...] = ()
        others: tuple[Beyond, ...] = ()
        try:
            alike = overlaps(comparison.models, lead_k, PERSISTENCE)
        except ElsewhereError:
            left_out.append(say("compare.left_out.overlap", where=_where(comparison)))
        try:
            others = beyond(comparison, lead_k, further)
        except ElsewhereError:
            left_out.append(say("compare.left_out.beyond", where=_where(comparison)))
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
    comparison: Comparison, metric: Metric[...], k: int, options: Mapping[str, Any]
) -> tuple[tuple[Found, ...], int, tuple[str, ...]]:
    """What is odd about the data: what is found as often in several models is told once; and what no lint could look at."""
    lints = {
        name: one.lint(k, metric.name, **options)
        for name, one in steps(list(comparison.models.items()), say("compare.progress"))
    }
    same: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, lint in lints.items():
        for one in lint:
            same.setdefault((one.name, one.short), {})[name] = one
    kinds = list(dict.fromkeys(key[0] for key in same))
    found = [Found(tuple(some), tuple(some.values())) for some in same.values()]
    found.sort(key=lambda one: (one.finding.severity != "warning", kinds.index(one.finding.name)))
    unseen = dict.fromkeys(name for lint in lints.values() for name in lint.elsewhere)
    n_checks = min(lint.n_checks for lint in lints.values())
    return tuple(found), n_checks, tuple(elsewhere_in_words(unseen))


def _where(comparison: Comparison) -> str:
    """What holds the rows that are not here."""
    rows = (one.prepared.rows for one in comparison.models.values())
    return next(one.away.where for one in rows if isinstance(one, Ranked))


def beyond(
    comparison: Comparison, k: int | None, asked: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[Beyond, ...]:
    """The metrics beyond accuracy that were asked for, or all that the data of every model allow.

    Where neither train nor items is known, there are none unless they are asked for.
    """
    if asked is None and any(
        one.beside.train is None and one.beside.items is None for one in comparison.models.values()
    ):
        return ()
    one_beside(comparison.models)
    for one in comparison.models.values():
        one.prepared.rows.all()  # or an error that says where they are
    names = BEYOND if asked is None else list(asked)
    work = steps(list(comparison.models.values()), say("compare.progress"))
    of_each = [rows_of(one, k, comparison.settings.confidence, names=names, options=asked) for one in work]
    if asked is not None:
        for row in (row for rows in of_each for row in rows if row.needs):
            raise OptionError(row.needs)
    return tuple(
        Beyond(
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
