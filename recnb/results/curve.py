"""A metric at many cut-offs, with an interval at each: a table that is drawn as a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.fonts import lettering
from recnb.display.language import _
from recnb.errors import OptionError, is_several
from recnb.metrics.hits import Cutoffs
from recnb.results.arguments import check_options, measure_at
from recnb.results.plots import axes
from recnb.results.table import Table
from recnb.results.values import values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData

#: The cut-offs of a curve if none are given.
CUTOFFS = range(1, 21)


def curve_of(data: EvaluationData, metric: str, k: Any, options: Mapping[str, Any]) -> Table:
    """Return a row per cut-off: the number of a metric and the ends of its interval, NaN where it has none."""
    usual = is_several(k) and [*k] == [*CUTOFFS]
    chosen, cutoff = measure_at(metric, None if usual or is_several(k) else k)
    if usual and cutoff is not None:
        k = range(1, cutoff + 1)
    elif is_several(k) and chosen.cutoff is not None:
        raise OptionError(f"{metric!r} has its cut-off, and k= names others: leave one of them out.")
    cutoffs = Cutoffs.of_curve(k)
    check_options(chosen, options)
    found = values_of(data, chosen, cutoffs, options)
    numbers = np.transpose([found.mean, *found.interval()])
    frame = pd.DataFrame(numbers, pd.Index([*cutoffs], name="k"), [chosen.name, "low", "high"])
    table = Table.made(frame, [*found.basis.phrases(), _("95% intervals")])
    n_users = None if found.of_all else int(found.n_users[-1])
    table.attrs |= {"drawn": "curve", "symbol": chosen.symbol, "n_users": n_users}
    return table


def draw_curve(table: pd.DataFrame, ax: Axes | None = None, color: Any = None, **line: Any) -> Axes:
    """Draw a line over the index of a table with its band of intervals; `line` goes to matplotlib's plot."""
    from matplotlib.ticker import MaxNLocator

    ax, symbol, n_users = axes(ax), str(table.attrs["symbol"]), table.attrs["n_users"]
    line = {
        "marker": "o" if len(table) <= 12 else "",
        "label": symbol,
        **({} if color is None else {"color": color}),
        **line,
    }
    value, low, high = table.to_numpy(dtype=float).T
    drawn = ax.plot(table.index, value, **line)
    ax.fill_between(table.index, low, high, alpha=0.2, color=drawn[0].get_color(), linewidth=0)
    if ax.get_autoscaley_on():
        ax.set_ylim(bottom=0, auto=True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    with lettering(table.attrs.get("lang", "en")) as fonts:
        words, other = f"{symbol}@k", ax.get_ylabel()
        if n_users is not None:
            words = _("{symbol}@{axis}, mean of {n:,} users", symbol=symbol, axis="k", n=n_users)
        if other not in ("", words):  # another curve is on the axes
            words = f"{symbol}@k" if other.split(",")[0] == f"{symbol}@k" else _("mean over users")
        ax.set_xlabel("k", **fonts)
        ax.set_ylabel(words, **fonts)
    if len({one.get_label() for one in ax.get_legend_handles_labels()[0]}) > 1:
        ax.legend(frameon=False)
    return ax


Table._drawings["curve"] = draw_curve
