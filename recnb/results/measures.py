"""Measures by the names that papers print: the number of one, and a table of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import N_, _, current, use_language
from recnb.display.templates import render
from recnb.errors import Argument, OptionError, is_several
from recnb.metrics.metric import measure_named
from recnb.results import beyond_accuracy
from recnb.results.provenance import console
from recnb.results.score import CatalogueScore, Score

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: The columns, in order.
COLUMNS = {"mean": N_("mean"), "low": N_("low"), "high": N_("high"), "users": N_("users")}

#: What marks a number that is recnb's own, under the conventions of a library that has none.
OWN = "†"


class Measures(pd.DataFrame):
    """A row per measure: mean, the ends of its interval, and the number of users.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention.
    """

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """The numbers alone."""
        return pd.DataFrame(self)

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            shown = (
                pd.DataFrame(self)
                .rename(index=self._marked, columns=lambda name: _(COLUMNS[name]))
                .rename_axis(index=None)
            )
            return f"{console(shown, float_format='{:.4f}'.format, na_rep='')}\n{self.attrs.get('basis', '')}"

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            numbers = pd.DataFrame(self).to_numpy(dtype=np.float64)
            rows = [
                [self._marked(name), *("" if np.isnan(one) else f"{one:.4f}" for one in row[:-1]), f"{row[-1]:.0f}"]
                for name, row in zip(self.index, numbers, strict=True)
            ]
            return str(render(
                "results/table.jinja", label=_("measures"), title="", numbers_from=1, rows=rows,
                header=[_("measure"), *(_(COLUMNS[name]) for name in self.columns)], basis=self.attrs.get("basis", ""),
            ))  # fmt: skip

    def _marked(self, name: str) -> str:
        return f"{name}{OWN}" if name in self.attrs.get("own", ()) else name


def measure_of(data: EvaluationData, text: str, options: Mapping[str, Any]) -> Score | CatalogueScore:
    """The number of a measure."""
    if not isinstance(text, str):
        raise OptionError(f"{text!r} is no measure: type its name, such as 'nDCG@10'.")
    metric = measure_named(text)
    return beyond_accuracy.score_of(data, metric, metric.cutoff, options)


def measures_of(data: EvaluationData, names: Iterable[str], confidence: float, options: Mapping[str, Any]) -> Measures:
    """The table of several measures."""
    names = list(names) if is_several(names) else [names]
    if not names:
        raise OptionError("no measure is named: give at least one, such as ", Argument("names", ["nDCG@10"]), ".")
    everything = {name for text in names for name in measure_named(text).defaults}
    for name in options:
        if name not in everything:
            raise OptionError(f"none of {', '.join(map(str, names))} has an option {name!r}.")
    rows, own = {}, []
    for text in names:
        metric = measure_named(text)
        given = {name: options[name] for name in metric.defaults if name in options and name not in metric.given}
        score = measure_of(data, text, given)
        low, high = beyond_accuracy.interval_ends(score, confidence)
        n_users = score.n_users if isinstance(score, Score) else len(data.item_data.users)
        rows[text] = [float(score), low, high, n_users]
        own += [text] if data.is_own(metric) else []
    if len(rows) < len(names):
        raise OptionError(f"{next(name for name in names if names.count(name) > 1)!r} is named more than once.")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(COLUMNS))
    table = Measures(frame.astype({"users": np.int64}).rename_axis("measure"))
    words = [
        data.basis() if data.library is None else _("each metric as {library} has it", library=data.library),
        _("{confidence}% intervals", confidence=f"{100 * confidence:g}"),
    ]
    if any(measure_named(text).summed for text in names):
        words.append(_("NumRet, NumRel and NumRelRet: sums over users"))
    table.attrs = {"basis": "; ".join([*words, *own_note(data, own)]), "own": own, "lang": current()}
    return table


def own_note(data: EvaluationData, own: Iterable[str]) -> list[str]:
    """The line below numbers that a library has not."""
    return [f"{OWN} {words}" for words in [_("recnb's own: {library} has none", library=data.library)] if list(own)]
