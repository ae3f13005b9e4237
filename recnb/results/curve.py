"""A metric at many cut-offs, with an interval at each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.display.fonts import lettering
from recnb.display.language import _, current, use_language
from recnb.display.templates import render
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import any_metric
from recnb.results import beyond_accuracy
from recnb.results.beyond_accuracy import with_interval
from recnb.results.plots import axes
from recnb.results.provenance import console

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True, eq=False)
class Curve:
    """A metric's mean over users at each k, with an interval at each k."""

    metric: str
    symbol: str
    k: tuple[int, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_users: int
    basis: str
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """The curve as a frame: one row per k, with the mean and the ends of its interval."""
        columns = {self.metric: self.value, "low": self.low, "high": self.high}
        return pd.DataFrame(columns, index=pd.Index(self.k, name="k"))

    def plot(self, ax: Axes | None = None, **line: Any) -> Axes:
        """Draw the curve with its band of intervals; `line` goes to matplotlib's plot."""
        from matplotlib.ticker import MaxNLocator

        ax = axes(ax)
        drawn = ax.plot(
            self.k, self.value, **{"marker": "o" if len(self.k) <= 12 else "", "label": self.symbol, **line}
        )
        ax.fill_between(self.k, self.low, self.high, alpha=0.2, color=drawn[0].get_color(), linewidth=0)
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        with lettering(self.lang) as fonts:
            ax.set_xlabel("k", **fonts)
            ax.set_ylabel(_("{symbol}@k, mean of {n:,} users", symbol=self.symbol, n=self.n_users), **fonts)
        return ax

    def __repr__(self) -> str:
        with use_language(self.lang):
            return f"{console(self.to_frame(), float_format='{:.4f}'.format)}\n{self.basis}"

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            frame = self.to_frame()
            rows = [[k, *map("{:.4f}".format, row)] for k, row in zip(self.k, frame.to_numpy(), strict=True)]
            return str(render(
                "results/table.jinja", header=["k", *frame.columns], rows=rows, basis=f"{self.basis}; {_('95% intervals')}",
                title="", numbers_from=1, label=_("{metric} against k", metric=self.metric),
            ))  # fmt: skip


def curve_of(data: EvaluationData, metric: str, k: object, options: Mapping[str, Any]) -> Curve:
    """The curve of a metric of accuracy or beyond it; NaN for the interval of a number that has none."""
    chosen = any_metric(metric)
    cutoffs = Cutoffs.of_curve(k)
    chosen.check(options)
    mean, low, high = (tuple(map(float, numbers)) for numbers in with_interval(data, chosen, cutoffs, options))
    if chosen.is_accuracy:
        scoring = data.scoring(chosen, options)
        n_users, basis = scoring.prepared.counts.n_users, data.basis_of_metric(scoring)
    else:
        found = beyond_accuracy.result_of(data, chosen, cutoffs.deepest, options)
        n_users, basis = len(found.users), found.basis()
    finite = tuple(cutoff for cutoff in cutoffs if cutoff is not None)
    return Curve(chosen.name, chosen.symbol, finite, mean, low, high, n_users, basis)
