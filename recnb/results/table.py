"""Tables of metrics × cut-offs, each a DataFrame with its convention in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _, current, use_language
from recnb.display.templates import render
from recnb.errors import Argument, OptionError, RecnbError
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.results import beyond_accuracy
from recnb.results.aggregation import means_of
from recnb.results.arguments import Metrics, asked_measures, metrics_under, options_of
from recnb.results.measures import OWN, own_note
from recnb.results.provenance import console, users_in_words

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


class Table(pd.DataFrame):
    """Means over users, one row per metric and one column per cut-off.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention. What is
    cut out of it is a plain DataFrame. `attrs["basis"]` holds the line.
    """

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """The numbers alone."""
        return pd.DataFrame(self)

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            shown = pd.DataFrame(self).rename(index=self._marked)
            shown = shown.rename_axis(index=None if self.index.name is None else _named(self.index.name))
            return f"{console(shown, float_format='{:.4f}'.format)}\n{self.attrs.get('basis', '')}"

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            return str(render(
                "results/table.jinja", label=_("metrics at cut-offs"), title="", numbers_from=1, basis=self.attrs.get("basis", ""),
                header=[_named(self.index.name or ""), *map(_at, self.columns)],
                rows=[
                    [self._marked(name), *(f"{value:.4f}" for value in row)]
                    for name, row in zip(self.index, self.to_numpy(), strict=True)
                ],
            ))  # fmt: skip

    def _marked(self, name: object) -> str:
        return f"{name}{OWN}" if name in self.attrs.get("own", ()) else str(name)


def _named(index: object) -> str:
    return _("metric") if index == "metric" else str(index)


def _at(k: Any) -> str:
    if k == "mean":
        return _("mean")
    return _("whole list") if pd.isna(k) else f"@{k}"


def table_of(evaluation: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> Table:
    """Means over users, or the one number of all lists: one row per metric, one column per cut-off."""
    cutoffs, library = Cutoffs.of(k), evaluation.library
    metrics = metrics_under(library, metrics)
    named = asked_measures(metrics)
    chosen = [metric for _name, metric in named]
    names = [name for name, _metric in named]
    with_cutoff = next((name for name, metric in named if metric.cutoff is not None), None)
    if with_cutoff is not None:
        (cut,) = cutoffs.values if len(cutoffs) == 1 else (0,)
        if cut == 0:
            rest = " has columns for others: give each name its own cut-off, or none."
            raise OptionError(f"{with_cutoff!r} has its cut-off, and ", Argument("k", list(cutoffs)), rest)
        names = [name if metric.cutoff is not None or cut is None else f"{name}@{cut}" for name, metric in named]
    metric_options = {metric.name: options_of(metric, metrics, options, chosen) for metric in chosen}
    of_accuracy = [(metric, metric_options[metric.name]) for metric in chosen if metric.is_accuracy]
    convention = evaluation.convention.with_metric(
        {name: value for _metric, given in of_accuracy for name, value in given.items()}
    )
    parts: list[str] = []
    if of_accuracy:
        parts = [
            evaluation.basis(convention) if library is None else _("each metric as {library} has it", library=library)
        ]
    accuracy = iter(_means(evaluation, of_accuracy, cutoffs))
    rows = []
    for metric in chosen:
        if metric.is_accuracy:
            rows.append(next(accuracy))
        else:
            own_cutoffs = metric.cutoffs(cutoffs)
            means, words = beyond_accuracy.means_and_basis(evaluation, metric, own_cutoffs, metric_options[metric.name])
            rows.append(means)
            parts.append(f"{metric.name}: {'; '.join(words)}")
    for name, (metric, given) in zip(names, ((metric, metric_options[metric.name]) for metric in chosen), strict=True):
        if metric.data:
            prepared = evaluation.scoring(metric, given).prepared
            parts.append(f"{name}: {users_in_words(prepared.counts, prepared.convention)[0]}")
    own = [name for name, metric in zip(names, chosen, strict=True) if evaluation.is_own(metric)]
    parts += own_note(evaluation, own)
    attrs = {"basis": "; ".join(parts), "n_users": evaluation.n_users, "convention": str(convention), "own": own}
    table = _table(names, np.array(rows), cutoffs, attrs)
    if with_cutoff is not None:
        table.columns = pd.Index(["mean"])
    return table


def _means(
    evaluation: EvaluationData, metrics: Sequence[tuple[Metric[...], Mapping[str, Any]]], cutoffs: Cutoffs
) -> Sequence[Floats]:
    """The means of metrics of accuracy: together, if they are of the same users."""
    together: dict[Cutoffs, list[int]] = {}
    for at, (metric, _options) in enumerate(metrics):
        if evaluation.library is None and not metric.data:
            together.setdefault(metric.cutoffs(cutoffs), []).append(at)
    found: dict[int, Floats] = {}
    for own, rows in together.items():
        found |= zip(rows, means_of(evaluation.prepared, [metrics[at] for at in rows], own), strict=True)
    if len(found) == len(metrics):
        return [found[at] for at in range(len(metrics))]
    if any(metric.needs_whole_list(options) for metric, options in metrics):
        # Join as deep as the deepest metric needs, so that no metric makes the join be done again.
        evaluation.hits(None)
    return [
        found[at] if at in found else evaluation.means(metric, metric.cutoffs(cutoffs), options)
        for at, (metric, options) in enumerate(metrics)
    ]


def beyond_table(evaluation: EvaluationData, k: object) -> Table:
    """Every metric beyond accuracy that the data allow, a row each; what the others need is said below."""
    cutoffs = Cutoffs.of(k)
    rows: dict[str, Floats] = {}
    missing: dict[str, str] = {}
    lacks: dict[str, list[str]] = {}  # what is missing, with the metrics that lack it
    parts: dict[str, None] = {}  # of the small print, each once
    recorded = beyond_accuracy.recorded_in(evaluation.library)
    if not recorded:
        raise OptionError(f"{evaluation.library} has no metric beyond accuracy that recnb has recorded.")
    for name in recorded:
        try:
            means, words = beyond_accuracy.means_and_basis(evaluation, LIST_METRICS[name], cutoffs, {})
        except RecnbError as problem:
            missing[name], lack = str(problem), problem.statement
        else:
            if not np.isnan(means).all():
                rows[name] = means
                parts |= dict.fromkeys(words)
                continue
            missing[name] = lack = LIST_METRICS[name].no_value
        lacks.setdefault(lack.removesuffix("."), []).append(name)
    values = np.array(list(rows.values())).reshape(len(rows), len(cutoffs))
    absent = [_("not here: {names} ({why})", names=", ".join(names), why=why) for why, names in lacks.items()]
    basis = "; ".join([*parts, *absent])
    return _table(list(rows), values, cutoffs, {"basis": basis, "missing": missing})


def _table(names: Sequence[str], values: Floats, cutoffs: Cutoffs, attrs: dict[Any, Any]) -> Table:
    # As objects, whole numbers stay whole beside a None.
    columns = pd.Index(list(cutoffs), dtype=object if None in cutoffs.values else None, name="k")
    table = Table(values, pd.Index(names, name="metric"), columns)
    # Text and numbers only: pandas writes attrs as JSON where it writes them.
    table.attrs = {**attrs, "lang": current()}
    return table
