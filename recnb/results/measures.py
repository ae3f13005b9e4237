"""Measures by the names that papers print: the number of one, and a table of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _, current
from recnb.errors import Argument, OptionError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import measure_named
from recnb.results.arguments import Metrics, asked_of, options_of
from recnb.results.beyond_accuracy import interval_ends, score_of
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
    return score_of(data, metric, metric.cutoff, options)


def users_frame(data: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """A row per user and a column per metric, at each cut-off; NaN for a user whom a metric leaves out."""
    columns = {}
    for name, metric, own in asked_of(data.library, metrics, options):
        if metric.of == "all":
            problem = f"{metric.name} is one number of all lists, and no user has a value of it: leave it out."
            raise OptionError(problem)
        for cut in metric.cutoffs(Cutoffs.of(k)):
            label = name if metric.cutoff is not None or cut is None else f"{name}@{cut}"
            columns[label] = score_of(data, metric, cut, own).per_user
    return pd.DataFrame(columns).rename_axis(data.user_label)


def measures_of(data: EvaluationData, names: Iterable[str], confidence: float, options: Mapping[str, Any]) -> Measures:
    """The table of several measures."""
    names = list(names) if is_several(names) else [str(names)]
    if not names:
        raise OptionError("no measure is named: give at least one, such as ", Argument("names", ["nDCG@10"]), ".")
    if twice := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"{twice[0]!r} is named more than once.")
    metrics = [measure_named(text) for text in names]
    own = [options_of(metric, None, options, metrics) for metric in metrics]
    named, rows = list(zip(names, metrics, own, strict=True)), {}
    for text, metric, given in named:
        score = score_of(data, metric, metric.cutoff, given)
        n_users = score.n_users if isinstance(score, Score) else len(data.item_data.users)
        rows[text] = [float(score), *interval_ends(score, confidence), n_users]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
    table = Measures(frame.astype({"users": np.int64}).rename_axis("measure"))
    marked, lines = data.library_notes((text, metric, Cutoffs.of(metric.cutoff)) for text, metric, _own in named)
    convention = data.convention_of(zip(metrics, own, strict=True))
    words = [
        data.basis(convention) if data.library is None else data.each_as_library,
        _("{confidence}% intervals", confidence=f"{100 * confidence:g}"),
    ]
    if any(metric.summed for metric in metrics):
        words.append(_("NumRet, NumRel and NumRelRet: sums over users"))
    basis = "; ".join([*words, *own_users(data, named, Cutoffs.one(None)), *lines])
    table.attrs = {"basis": basis, "own": marked, "lang": current()}
    return table
