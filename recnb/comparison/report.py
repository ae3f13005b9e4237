"""Gather a report of a comparison: everything measured once, then frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.asked import Metrics
from recnb.beyond_shown import rows_of
from recnb.comparison.alike import overlaps
from recnb.comparison.measured import Asked, lines_of, measure
from recnb.comparison.movers import moved
from recnb.conventions import options_in_words
from recnb.errors import OptionError
from recnb.hits import Cutoffs
from recnb.metric import Metric
from recnb.results.comparison import ComparisonReport
from recnb.results.comparison_data import Beyond, Compared, Reading
from recnb.strings import checked, speaking

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
    lang: str | None,
    options: Mapping[str, Any],
) -> ComparisonReport:
    """Measure, look at single users, and freeze."""
    if not isinstance(movers, (int, np.integer)) or isinstance(movers, bool) or movers < 0:
        raise OptionError(f"movers={movers!r} is no number of users: give a whole number from 0 up.")
    with speaking(lang):
        at = _whole_numbers(k)
        lead_k = sorted(at)[len(at) // 2]
        chosen, own = comparison.chosen(metrics, options)
        points = points_upto(max(at), at)
        # The deepest hits serve all cut-offs; asked for first, they are cut once.
        for one in comparison.models.values():
            whole = any(metric.needs_whole_list(mine) for metric, mine in zip(chosen, own, strict=True))
            one.hits(None if whole else max(at))
        made = comparison.measured(metrics, at, options)
        lead = Asked(chosen[:1], own[:1], Cutoffs.of(points), [])
        lines = lines_of(measure(comparison.models, lead, comparison.settings), comparison.names)
        here = [one for one in made.differences if one.k == lead_k and one.metric == chosen[0].name]
        furthest = sorted(here, key=lambda one: -abs(one.difference) if np.isfinite(one.difference) else 0.0)
        pairs = {(one.model, one.baseline) for one in furthest[:PAIRS_SHOWN]}
        shown = [
            moved(comparison.models, pair, chosen[0], lead_k, own[0], int(movers))
            for pair in comparison.pairs
            if pair in pairs and movers
        ]
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
            overlaps=overlaps(comparison.models, lead_k, PERSISTENCE),
            beyond=beyond(comparison, lead_k),
            n_users=comparison.n_users,
            judged=comparison.judged,
            settings=made.settings,
            basis=comparison.basis(),
            notes=tuple(dict.fromkeys(str(note) for one in comparison.models.values() for note in one.prepared.notes)),
        )
    return ComparisonReport(data, checked(lang))


def beyond(comparison: Comparison, k: int | None) -> tuple[Beyond, ...]:
    """The metrics beyond accuracy that the data of every model allow; none where neither train nor items is known."""
    if any(one.beside.train is None and one.beside.items is None for one in comparison.models.values()):
        return ()
    of_each = [rows_of(one, k, comparison.settings.confidence) for one in comparison.models.values()]
    return tuple(
        Beyond(rows[0].metric, rows[0].symbol, rows[0].reads, k, tuple(row.values[0] for row in rows), rows[0].basis)
        for rows in zip(*of_each, strict=True)
        if all(row.values and np.isfinite(row.values[0][0]) for row in rows)
    )


def points_upto(deepest: int, at: Sequence[int]) -> tuple[int, ...]:
    """The cut-offs of the curves: from 1 to the deepest, evenly, and those of the table if they are few.

    >>> points_upto(5, [5]), len(points_upto(1000, [5, 10, 1000]))
    ((1, 2, 3, 4, 5), 27)
    """
    even = np.unique(np.linspace(1, deepest, min(CURVE_POINTS, deepest)).round().astype(int)).tolist()
    return tuple(sorted({*even, *at})) if len(at) <= CURVE_POINTS // 3 else tuple(even)


def _whole_numbers(k: object) -> tuple[int, ...]:
    at = Cutoffs.of(k)
    finite = tuple(one for one in at if one is not None)
    if len(finite) < len(at):
        raise OptionError(
            "a report needs whole numbers for k, such as k=[5, 10, 20]: its curves run from 1 to the largest. For whole lists "
            "ask .differences(k=None)."
        )
    return finite


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
