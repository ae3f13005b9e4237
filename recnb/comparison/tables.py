"""Means and differences as frames, over all users or within each segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.comparison.differences import MetricRequest, measure
from recnb.comparison.results import Difference, Mean, rows_of
from recnb.comparison.segments import differences_by, measured_by
from recnb.display.language import _

if TYPE_CHECKING:
    from recnb.comparison.data import ComparisonData

#: The columns of `differences`, in order.
COLUMNS = (
    "metric", "k", "model", "baseline", "difference", "low", "high", "t_p", "wilcoxon_p", "randomization_p", "p_holm", "p_bh",
    "effect_size", "won", "tied", "lost", "n_users", "detectable", "verdict",
)  # fmt: skip


def means_table(comparison: ComparisonData, asked: MetricRequest, by: Any, bins: int) -> pd.DataFrame:
    """A row for each model, or for each segment and model; a column for each metric and cut-off."""
    if by is None:
        frame = _wide(comparison.names, measure(comparison.models, asked, comparison.settings).means)
    else:
        made = measured_by(comparison.models, asked, comparison.settings, by, bins)
        frame = pd.concat({name: _wide(comparison.names, one.means) for name, one in made.items()}, names=["segment"])
    frame.attrs = {"basis": comparison.basis(), "n_users": comparison.n_users}
    if any(not metric.is_accuracy for metric in asked.metrics):
        frame.attrs["basis"] += f"; {_('metrics beyond accuracy over all users who have a value in every model')}"
    return frame


def _wide(names: Sequence[str], means: Sequence[Mean]) -> pd.DataFrame:
    columns = list(dict.fromkeys(_column(one) for one in means))
    frame = pd.DataFrame(index=pd.Index(list(names), name="model"), columns=columns, dtype=float)
    for one in means:
        frame.loc[one.model, _column(one)] = one.mean
    return frame


def _column(one: Mean) -> str:
    return one.metric if one.k is None else f"{one.metric}@{one.k}"


def differences_table(comparison: ComparisonData, asked: MetricRequest, by: Any, bins: int) -> pd.DataFrame:
    """A row for each metric, cut-off and pair, and for each segment."""
    made: list[tuple[dict[str, str], Difference]]
    if by is None:
        made = [({}, one) for one in measure(comparison.models, asked, comparison.settings).differences]
    else:
        found = differences_by(comparison.models, asked, comparison.settings, by, bins)
        made = [({"segment": name}, one) for name, one in found]
    rows = [{**segment, **next(rows_of([one])), "verdict": one.verdict} for segment, one in made]
    frame = pd.DataFrame(rows, columns=[*(["segment"] if by is not None else []), *COLUMNS])
    settings = comparison.settings
    frame.attrs = {"corrected": settings.test, "confidence": settings.confidence, "n_compared": len(frame)}
    return frame
