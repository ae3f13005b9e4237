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
from recnb.results import beyond_accuracy
from recnb.results.score import CatalogueScore, Score
from recnb.results.table import Table

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: The columns, in order.
COLUMNS = ("mean", "low", "high", "users")


class Measures(Table):
    """A row per measure: mean, the ends of its interval, and the number of users.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention.
    """

    def _number(self, value: float, column: object) -> str:
        return "" if np.isnan(value) else super()._number(value, column)


def measure_of(data: EvaluationData, text: str, options: Mapping[str, Any]) -> Score | CatalogueScore:
    """The number of a measure."""
    if not isinstance(text, str):
        raise OptionError(f"{text!r} is no measure: type its name, such as 'nDCG@10'.")
    metric = measure_named(text)
    return beyond_accuracy.score_of(data, metric, metric.cutoff, options)


def measures_of(data: EvaluationData, names: Iterable[str], confidence: float, options: Mapping[str, Any]) -> Measures:
    """The table of several measures."""
    if not is_several(names):
        names = [str(names)]
    names = list(names)
    if not names:
        raise OptionError("no measure is named: give at least one, such as ", Argument("names", ["nDCG@10"]), ".")
    everything = {name for text in names for name in measure_named(text).defaults}
    for name in options:
        if name not in everything:
            raise OptionError(f"none of {', '.join(map(str, names))} has an option {name!r}.")
    rows: dict[str, list[float]] = {}
    for text in names:
        metric = measure_named(text)
        given = {name: options[name] for name in metric.defaults if name in options and name not in metric.given}
        score = measure_of(data, text, given)
        low, high = beyond_accuracy.interval_ends(score, confidence)
        n_users = score.n_users if isinstance(score, Score) else len(data.item_data.users)
        rows[text] = [float(score), low, high, n_users]
    if len(rows) < len(names):
        raise OptionError(f"{next(name for name in names if names.count(name) > 1)!r} is named more than once.")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
    named = [(text, metric := measure_named(text), Cutoffs.of(metric.cutoff)) for text in names]
    own, lines = data.library_notes(named)
    table = Measures(frame.astype({"users": np.int64}).rename_axis("measure"))
    words = [
        data.basis() if data.library is None else _("each metric as {library} has it", library=data.library),
        _("{confidence}% intervals", confidence=f"{100 * confidence:g}"),
    ]
    if any(measure_named(text).summed for text in names):
        words.append(_("NumRet, NumRel and NumRelRet: sums over users"))
    table.attrs = {"basis": "; ".join([*words, *lines]), "own": own, "lang": current()}
    return table
