"""A metric at many cut-offs, with an interval at each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.display.fonts import lettering
from recnb.display.language import _, current, use_language
from recnb.display.templates import render
from recnb.errors import Suggesting, is_several
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import any_metric
from recnb.results.arguments import check_options, measure_at
from recnb.results.beyond_accuracy import numbers_of
from recnb.results.plots import axes
from recnb.results.provenance import console

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData


#: The cut-offs of a curve if none are given.
CUTOFFS = range(1, 21)


@dataclass(frozen=True, eq=False)
class Curve(Suggesting):
    """A metric's mean over users at each k, with an interval at each k."""

    metric: str
    symbol: str
    k: tuple[float, ...]  #: the cut-offs, or the levels of recall
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
        if ax.get_autoscaley_on():
            ax.set_ylim(bottom=0, auto=True)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        with lettering(self.lang) as fonts:
            ax.set_xlabel("k", **fonts)
            ax.set_ylabel(self._label(ax.get_ylabel()), **fonts)
        if len({one.get_label() for one in ax.get_legend_handles_labels()[0]}) > 1:
            ax.legend(frameon=False)
        return ax

    def _label(self, other: str) -> str:
        """The label of the values, beside another curve's if there is one on the axes."""
        symbol = f"{self.symbol}@k"
        if any_metric(self.metric).over in ("items", "user pairs"):
            words = symbol
        else:
            words = _("{symbol}@{axis}, mean of {n:,} users", symbol=self.symbol, axis="k", n=self.n_users)
        if other in ("", words):
            return words
        return symbol if other.split(",")[0] == symbol else _("mean over users")

    def __repr__(self) -> str:
        with use_language(self.lang):
            return f"{console(self.to_frame(), float_format='{:.4f}'.format)}\n{self.basis}"

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            frame = self.to_frame()
            rows = [
                [k, *(f"{value:.4f}" if value == value else "–" for value in row)]
                for k, row in zip(self.k, frame.to_numpy(), strict=True)
            ]
            return str(render(
                "results/table.jinja", header=["k", *frame.columns], rows=rows, basis=f"{self.basis}; {_('95% intervals')}",
                title="", numbers_from=1, label=_("{metric} against {axis}", metric=self.metric, axis="k"),
            ))  # fmt: skip


def curve_of(data: EvaluationData, metric: str, k: object, options: Mapping[str, Any]) -> Curve:
    """The curve of a metric of accuracy or beyond it; NaN for the interval of a number that has none."""
    usual = is_several(k) and [*k] == [*CUTOFFS]
    chosen, cutoff = (
        measure_at(metric, None if usual else k) if usual or not is_several(k) else (any_metric(metric), None)
    )
    if usual and cutoff is not None:
        k = range(1, cutoff + 1)
    cutoffs = Cutoffs.of_curve(k)
    check_options(chosen, options)
    found = numbers_of(data, chosen, cutoffs, options)
    mean, low, high = (tuple(map(float, numbers)) for numbers in found.with_ends(chosen))
    finite = tuple(cutoff for cutoff in cutoffs if cutoff is not None)
    return Curve(chosen.name, chosen.symbol, finite, mean, low, high, len(found.users), "; ".join(found.basis()))
