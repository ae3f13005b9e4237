"""Figures of a `Table` with matplotlib: differences with their intervals, and curves.

`PLOTS` has them by name. Each is given the numbers, how the table is shown, and where it
is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.display.style import COLOURS, QUIET
from recnb.display.text import one_line, sample_in_words
from recnb.errors import OptionError
from recnb.results.shown import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_differences(table: pd.DataFrame, _shown: Shown, ax: Axes | None) -> Axes:
    """Draw differences with their intervals one under the other, about a line at 0."""
    ax = axes(ax)
    difference, low, high = table[["difference", "low", "high"]].to_numpy(float).T
    lengths = np.abs([low - difference, high - difference])
    rows = range(len(table))
    ax.errorbar(
        difference,
        rows,
        # Before 3.11 matplotlib takes arrays of one number for numbers, with a warning.
        xerr=lengths.tolist(),
        capsize=3,
        color=COLOURS[0],
        marker="o",
        linestyle="",
    )
    ax.set_yticks(rows, [as_text(name) for name in table.index])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel(_("difference, first minus second"))
    ax.axvline(0, color=QUIET, linewidth=1)
    return ax


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
    """Return the label of the values of a curve."""
    if shown.sample is None:
        return f"{shown.symbol}@k"
    return _(
        "{symbol}@{axis}, mean of {users}",
        symbol=shown.symbol,
        axis="k",
        users=sample_in_words(*shown.sample),
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
    "differences": draw_differences,
    "curve": draw_curve,
    "curves": draw_curves,
}


# Axes and names


def axes(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if ax is None:
        ax = plt.figure(layout="constrained").add_subplot()
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
