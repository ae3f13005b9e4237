"""Metrics beyond accuracy as rows of a report, of one model or of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import _
from recnb.errors import NoUsersError, OptionError, RecnbError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import LIST_METRICS
from recnb.results.beyond_accuracy import numbers_of

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True)
class BeyondRow:
    """One metric beyond accuracy at each cut-off; or, where the data do not allow it, what it needs."""

    metric: str
    symbol: str
    title: str
    reads: str
    formula: str
    latex: str
    bounds: str  #: in words
    k: tuple[int | None, ...]
    values: tuple[tuple[float, float, float], ...]  #: value, lower and upper end at each cut-off; NaN: no interval
    basis: str
    n_users: int = 0  #: whose values the mean is of; of a number of all lists, how many lists
    needs: str = ""  #: what is missing and what to type; "" if there are values

    def at(self, k: int | None) -> tuple[float, float, float]:
        """Value, lower and upper end at a cut-off; NaN at those of other metrics, and ends where there is no interval."""
        return self.values[self.k.index(k)] if k in self.k else (np.nan, np.nan, np.nan)


def rows_of(
    evaluation: EvaluationData,
    k: object,
    confidence: float = 0.95,
    *,
    names: Iterable[str] = LIST_METRICS,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    required: bool = False,
) -> list[BeyondRow]:
    """Metrics beyond accuracy as rows of a report: the value at each cut-off with the ends of its interval, or what it needs.

    If they are `required`, one without a value raises the error instead.
    """
    cutoffs = Cutoffs.of(k)
    rows = []
    for name in names:
        metric, metric_options = LIST_METRICS[name], (options or {}).get(name, {})
        needs, basis, n_users = "", "", 0
        values: tuple[tuple[float, float, float], ...] = ()
        try:
            found = numbers_of(evaluation, metric, cutoffs, metric_options)
            mean, low, high = (ends.tolist() for ends in found.with_ends(metric, confidence))
            kept, defined = found.averages.kept, np.flatnonzero(np.isfinite(mean))
            n_users = len(found.users) if kept is None else int(kept[:, defined[-1:]].sum())
            basis = "; ".join(found.basis())
            if not len(defined):
                raise NoUsersError(metric.no_value)
            values = tuple(zip(mean, low, high, strict=True))
        except RecnbError as problem:
            if required:
                raise OptionError(*problem.parts) from problem
            needs = _(problem.statement)
        description = {name: getattr(metric, name) for name in ("symbol", "title", "reads")}
        formula, latex = metric.formula_text(metric_options), metric.latex(options=metric_options)
        description |= {"metric": name, "formula": formula, "latex": latex, "bounds": _(metric.range_text)}
        rows.append(
            BeyondRow(**description, k=cutoffs.values, values=values, basis=basis, n_users=n_users, needs=needs)
        )
    return rows
