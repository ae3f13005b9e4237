"""Measures by the names that papers print: the number of one, and a table of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _, current
from recnb.errors import Argument, OptionError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric, measure_named
from recnb.results import beyond_accuracy
from recnb.results.arguments import Metrics, asked_measures, metrics_under, options_of, refuse_options_of_data
from recnb.results.score import CatalogueScore, Score
from recnb.results.table import Table, own_users

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: The columns, in order.
COLUMNS = ("mean", "low", "high", "users")


class Measures(Table):
    """A row per measure: mean, the ends of its interval, and the number of users.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention.
    """


def measure_of(data: EvaluationData, text: str, options: Mapping[str, Any]) -> Score | CatalogueScore:
    """The number of a measure."""
    if not isinstance(text, str):
        raise OptionError(f"{text!r} is no measure: type its name, such as 'nDCG@10'.")
    metric = measure_named(text)
    return beyond_accuracy.score_of(data, metric, metric.cutoff, options)


def users_frame(data: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """A row per user and a column per metric, at each cut-off; NaN for a user whom a metric leaves out."""
    metrics = metrics_under(data.library, metrics)
    named, columns = asked_measures(metrics), {}
    for name, metric in named:
        own = options_of(metric, metrics, options, [metric for _name, metric in named])
        for cut in (metric.cutoff,) if metric.cutoff is not None else Cutoffs.of(k).values:
            score = beyond_accuracy.score_of(data, metric, cut, own)
            if not isinstance(score, Score):
                raise OptionError(
                    f"{metric.name} is one number of all lists, and no user has a value of it: leave it out."
                )
            columns[name if metric.cutoff is not None or cut is None else f"{name}@{cut}"] = score.per_user
    return pd.DataFrame(columns).rename_axis(data.user_label)


def measures_of(data: EvaluationData, names: Iterable[str], confidence: float, options: Mapping[str, Any]) -> Measures:
    """The table of several measures."""
    if not is_several(names):
        names = [str(names)]
    names = list(names)
    if not names:
        raise OptionError("no measure is named: give at least one, such as ", Argument("names", ["nDCG@10"]), ".")
    everything = {name for text in names for name in measure_named(text).defaults}
    refuse_options_of_data("these measures", options, everything)
    for name in options:
        if name not in everything:
            raise OptionError(f"none of {', '.join(map(str, names))} has an option {name!r}.")
    rows: dict[str, list[float]] = {}
    in_force: dict[str, Any] = {}
    own_options: list[tuple[str, Metric[...], dict[str, Any]]] = []
    for text in names:
        metric = measure_named(text)
        given = {name: options[name] for name in metric.defaults if name in options and name not in metric.given}
        score = measure_of(data, text, given)
        in_force |= given
        low, high = beyond_accuracy.interval_ends(score, confidence)
        n_users = score.n_users if isinstance(score, Score) else len(data.item_data.users)
        rows[text] = [float(score), low, high, n_users]
        own_options.append((text, metric, given))
    if len(rows) < len(names):
        raise OptionError(f"{next(name for name in names if names.count(name) > 1)!r} is named more than once.")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
    named = [(text, metric := measure_named(text), Cutoffs.of(metric.cutoff)) for text in names]
    own, lines = data.library_notes(named)
    table = Measures(frame.astype({"users": np.int64}).rename_axis("measure"))
    convention = data.convention.with_metric(in_force)
    words = [
        data.basis(convention) if data.library is None else _("each metric as {library} has it", library=data.library),
        _("{confidence}% intervals", confidence=f"{100 * confidence:g}"),
    ]
    if any(measure_named(text).summed for text in names):
        words.append(_("NumRet, NumRel and NumRelRet: sums over users"))
    table.attrs = {"basis": "; ".join([*words, *own_users(data, own_options), *lines]), "own": own, "lang": current()}
    return table
