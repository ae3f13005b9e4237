"""Tables of means: metrics at cut-offs, measures by the names that papers print, all metrics beyond accuracy, curves, users' values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.errors import OptionError, RecnbError, is_several, quoted
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import LIST_METRICS
from recnb.results.arguments import Metrics, asked_of, check_options, metric_of_curve
from recnb.results.plots import parts_of
from recnb.results.provenance import merged
from recnb.results.score import CatalogueScore, Score, score_of
from recnb.results.table import Table
from recnb.results.values import recorded_in, values_of, values_of_each

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def table_of(
    data: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any], *, intervals: bool = False
) -> Table:
    """Return means over users, or the one number of all lists: one row per metric, one column per cut-off, or three with intervals."""
    if not isinstance(intervals, bool):
        raise OptionError(f"intervals={intervals!r}: say True or False.")
    cutoffs = Cutoffs.of(k)
    asked = asked_of(data.library, metrics, options, "k", "intervals", "by", "bins")
    with_cutoff = next((each.name for each in asked if each.metric.cutoff is not None), None)
    if with_cutoff is not None and len(cutoffs) > 1:
        rest = " has columns for others: give each name its own cut-off, or none."
        raise OptionError(f"{with_cutoff!r} has its cut-off, and k={quoted(list(cutoffs))}", rest)
    rows, phrases, decisions = {}, dict[str, list[str]](), dict[str, list[str]]()
    requests = [(metric, metric.cutoffs(cutoffs), own) for _name, metric, own in asked]
    for (name, metric, _own), found in zip(asked, values_of_each(data, requests), strict=True):
        if with_cutoff is not None and metric.cutoff is None and cutoffs.values[0] is not None:
            name = f"{name}@{cutoffs.values[0]}"
        rows[name] = [found.mean, *(found.interval() if intervals else ())]
        phrases[name] = found.basis.phrases(brief=True)
        if metric.is_accuracy:
            decisions[name] = found.convention.decisions()
    table = wide_table(
        list(rows), [*zip(*rows.values(), strict=True)], cutoffs, [*merged(phrases), *[_("95% intervals")] * intervals]
    )
    table.attrs |= {"n_users": data.n_users, "convention": "; ".join(merged(decisions))}
    if with_cutoff is not None:
        table.columns = pd.Index(["mean", "low", "high"] if intervals else ["mean"])
    if not intervals:
        again = partial(table_of, data, {each.name: each.options for each in asked}, cutoffs.values, {}, intervals=True)
        table._measured = lambda: parts_of(again())
    return table


def wide_table(
    names: Sequence[str], numbers: Sequence[Sequence[Floats]], cutoffs: Cutoffs, basis: Iterable[str]
) -> Table:
    """Return a table of metrics × cut-offs: of means, or of means and the ends of their intervals."""
    # As objects, whole numbers stay whole beside a None.
    columns = pd.Index(list(cutoffs), dtype=object if None in cutoffs.values else None, name="k")
    if len(numbers) > 1:
        columns = pd.MultiIndex.from_product([list(columns), ["mean", "low", "high"]], names=["k", None])
    stacked = np.array(numbers, dtype=np.float64).reshape(len(numbers), len(names), len(cutoffs))
    cells = stacked.transpose(1, 2, 0).reshape(len(names), len(columns))
    return Table.made(pd.DataFrame(cells, pd.Index(names, name="metric"), columns), basis)


def beyond_table(data: EvaluationData, k: object) -> Table:
    """Return every metric beyond accuracy that the data allow, a row each; what the others need is said below."""
    cutoffs, recorded = Cutoffs.of(k), recorded_in(data.library)
    if not recorded:
        raise OptionError(f"{data.library} has no metric beyond accuracy that recnb has recorded.")
    rows, phrases, missing = dict[str, Floats](), dict[str, list[str]](), dict[str, str]()
    lacks: dict[str, list[str]] = {}  # what is missing, with the metrics that lack it
    for name in recorded:
        try:
            found = values_of(data, LIST_METRICS[name], cutoffs, {})
            words = found.basis.phrases(brief=True)
        except RecnbError as problem:
            missing[name], lack = str(problem), _(problem.statement)
        else:
            if not np.isnan(found.mean).all():
                rows[name], phrases[name] = found.mean, words
                continue
            missing[name] = lack = _(LIST_METRICS[name].no_value)
        lacks.setdefault(lack.removesuffix("."), []).append(name)
    absent = [_("not here: {names} ({why})", names=", ".join(names), why=why) for why, names in lacks.items()]
    table = wide_table(list(rows), [list(rows.values())], cutoffs, [*merged(phrases), *absent])
    table.attrs["missing"] = missing
    return table


def measure_of(data: EvaluationData, text: str, options: Mapping[str, Any]) -> Score | CatalogueScore:
    """Return the number of a measure."""
    if not isinstance(text, str):
        raise OptionError(f"{text!r} is no measure: type its name, such as 'nDCG@10'.")
    options, metric = dict(options), metric_named(text)
    return score_of(data, metric, metric.cut_at(options.pop("k", None)), options)


def measures_of(data: EvaluationData, names: Iterable[str], confidence: float, options: Mapping[str, Any]) -> Table:
    """Return a row per measure, each at its own cut-off: mean, the ends of its interval and the number of users."""
    names = list(names) if is_several(names) else [str(names)]
    if not names:
        raise OptionError("no measure is named: give at least one, such as names=['nDCG@10'].")
    if twice := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"{twice[0]!r} is named more than once.")
    rows, phrases = dict[str, list[Any]](), dict[str, list[str]]()
    asked = asked_of(data.library, names, options)
    requests = [(metric, Cutoffs.of(metric.cutoff), own) for _name, metric, own in asked]
    for text, found in zip(names, values_of_each(data, requests), strict=True):
        rows[text] = [column.item() for column in (found.mean, *found.interval(confidence), found.n_users)]
        phrases[text] = found.basis.phrases(brief=True)
    frame = pd.DataFrame.from_dict(rows, "index", columns=["mean", "low", "high", "users"]).rename_axis("measure")
    words = _("{confidence}% intervals", confidence=f"{100 * confidence:g}")
    return Table.made(frame, [*merged(phrases), words])


def users_frame(data: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row per user and a column per metric, at each cut-off; NaN for a user whom a metric leaves out."""
    columns = {}
    for name, metric, own in asked_of(data.library, metrics, options):
        if metric.of == "all":
            raise OptionError(f"{metric.name} is one number of all lists, and no user has a value of it: leave it out.")
        for cut in metric.cutoffs(Cutoffs.of(k)):
            score = score_of(data, metric, cut, own)
            columns[name if cut in (None, metric.cutoff) else f"{name}@{cut}"] = score.per_user
    return pd.DataFrame(columns).rename_axis(data.user_label)


def curve_of(data: EvaluationData, metric: str, k: Any, options: Mapping[str, Any]) -> Table:
    """Return a row per cut-off: the number of a metric and the ends of its interval, NaN where it has none."""
    chosen, cutoffs = metric_of_curve(metric, k)
    check_options(chosen, options)
    (found,) = values_of_each(data, [(chosen, cutoffs, options)])
    numbers = np.transpose([found.mean, *found.interval()])
    frame = pd.DataFrame(numbers, pd.Index([*cutoffs], name="k"), [chosen.name, "low", "high"])
    table = Table.made(frame, [*found.basis.phrases(), _("95% intervals")])
    n_users = None if found.of_all else int(found.n_users[-1])
    table.attrs |= {"drawn": "curve", "symbol": chosen.symbol, "n_users": n_users}
    return table
