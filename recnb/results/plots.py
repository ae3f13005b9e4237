"""Figures of a `Table` with matplotlib: points with their intervals, and lines.

`PLOTS` has them by name. Each is given the numbers, how the table is shown, and where it
is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.display.style import COLOURS, QUIET
from recnb.display.text import one_line, sample_in_words
from recnb.errors import OptionError
from recnb.metrics.measure import symbol_of
from recnb.results.shown import Shown, at_cutoff, cutoff_label, means_and_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Markers of the columns of a plot.
DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Figures of points


def draw_metrics(table: pd.DataFrame, _shown: Shown, ax: Axes | None) -> Axes:
    """Draw metrics, which are the rows, with a colour for each cut-off."""
    parts = [_by_metric(part) for part in means_and_ends(table)]
    ax = draw_intervals(axes(ax, 1.7 + 0.25 * parts[0].size), parts)
    ax.set_xlabel(_("value"))
    return ax


def draw_differences(table: pd.DataFrame, _shown: Shown, ax: Axes | None) -> Axes:
    """Draw differences one under the other, about a line at 0."""
    drawn = table[np.isfinite(table["difference"])]
    parts = [drawn[[name]] for name in ("difference", "low", "high")]
    ax = draw_intervals(axes(ax), parts)
    ax.set_xlabel(_("difference, first minus second"))
    ax.axvline(0, color=QUIET, linewidth=1)
    return ax


def draw_intervals(ax: Axes, parts: Sequence[pd.DataFrame]) -> Axes:
    """Draw points in groups: a line for each row, a colour for each column.

    `parts`: means, and the ends of their intervals if known.
    """
    means = parts[0]
    values = np.array([part.to_numpy(dtype=float) for part in parts])
    lengths = np.abs(values[1:] - values[0])
    n_rows, n_columns = means.shape
    for column in range(n_columns):
        offset = 0.7 * ((column + 0.5) / n_columns - 0.5)
        ax.errorbar(
            values[0, :, column],
            np.arange(n_rows) + offset,
            # Before 3.11 matplotlib takes arrays of one number for numbers, with a
            # warning.
            xerr=lengths[:, :, column].tolist() or None,
            capsize=3,
            label=as_text(means.columns[column]),
            color=COLOURS[column % len(COLOURS)],
            marker=DOTS[column % len(DOTS)],
            linestyle="",
        )
    ax.set_yticks(range(n_rows), [as_text(name) for name in means.index])
    ax.set_ylim(n_rows - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    if n_columns > 1:  # beside the points, of which a row may be anywhere
        ax.legend(
            title=means.columns.name,
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(1, 1),
        )
    return ax


def _by_metric(part: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of a plot, each row named by its metric.

    The cut-off stands behind the metric, unless each of several has a colour.
    """
    names = [symbol_of(name) for name in part.index]
    if part.columns.name == "k" and len(part.columns) == 1:
        cutoff = at_cutoff(part.columns[0])
        names = [f"{name}{cutoff}" for name in names]
    return part.rename(columns=cutoff_label).set_axis(names)


# Figures of lines


def draw_curve(
    table: pd.DataFrame, shown: Shown, ax: Axes | None, /, **line: Any
) -> Axes:
    """Draw a line over the cut-offs of a table, with its band of intervals.

    `line` goes to matplotlib's plot.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    table = table.sort_index()  # cut-offs may be asked for in any order
    look = {"marker": "o" if len(table) <= 12 else "", "label": shown.symbol}
    value, low, high = table.to_numpy(dtype=float).T
    (drawn,) = ax.plot(table.index, value, **look | line)
    colour = drawn.get_color()
    ax.fill_between(table.index, low, high, alpha=0.2, color=colour, linewidth=0)
    if ax.get_autoscaley_on() and not (value < 0).any():
        ax.set_ylim(bottom=0, auto=True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    words = _label_of_curve(shown)
    ax.set_xlabel("k")
    ax.set_ylabel(words if ax.get_ylabel() in ("", words) else _("value"))
    _handles, labels = ax.get_legend_handles_labels()
    if len(set(labels)) > 1:
        ax.legend(frameon=False)
    return ax


def _label_of_curve(shown: Shown) -> str:
    """Return the label of the values of a curve, in the language of the figure."""
    if shown.counted is None:
        return f"{shown.symbol}@k"
    return _(
        "{symbol}@{axis}, mean of {users}",
        symbol=shown.symbol,
        axis="k",
        users=sample_in_words(**shown.counted),
    )


def draw_curves(table: pd.DataFrame, shown: Shown, ax: Axes | None) -> Axes:
    """Draw a line for each model."""
    ax = axes(ax)
    for model, rows in table.groupby("model", sort=False):
        line = rows.set_index("k")[["mean", "low", "high"]]
        draw_curve(line, shown, ax, label=as_text(model), marker="")
    return ax


#: The figures that a table may have.
PLOTS: dict[str, Callable[..., Axes]] = {
    "metrics": draw_metrics,
    "differences": draw_differences,
    "curve": draw_curve,
    "curves": draw_curves,
}


# Axes and names


def axes(ax: Axes | None, height: float | None = None) -> Axes:
    """Return the axes given, or those of a new figure, `height` inches high."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if ax is None:
        size = None if height is None else (plt.rcParams["figure.figsize"][0], height)
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    elif not isinstance(ax, Axes):
        raise OptionError(
            f"ax= is of type {type(ax).__name__}: give one Axes of matplotlib, such as ax=axes[0]."
        )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def in_letters(ax: Axes, font: Mapping[str, Any]) -> Axes:
    """Give title and labels the font of the language: Axes made before have another."""
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        text.set(**font)
    return ax


def as_text(name: object) -> str:
    """Return a name as text of matplotlib, for which a $ begins a formula."""
    return one_line(name).replace("$", r"\$")
