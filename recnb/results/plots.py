"""Drawing with matplotlib: axes, colours, and points with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recnb.display.svg import COLOURS
from recnb.display.text import one_line
from recnb.errors import OptionError, is_several, quoted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Inches below a panel, for its numbers and its label.
GAP = 0.75
DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")


def axes(ax: Axes | None, height: float | None = None, width: float | None = None) -> Axes:
    """The axes given, or those of a new figure, which may be so many inches high and wide."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        one = "ax=axes[0, 0]" if getattr(ax, "ndim", 1) == 2 else "ax=axes[0]"
        fix = f"Give one of them, such as {one}." if is_several(ax) else "Leave it out for new axes, or give plt.gca()."
        raise OptionError(f"ax= is of type {type(ax).__name__}, and not one Axes of matplotlib.", fix=fix)
    if ax is None:
        size = None if height is None else (width or plt.rcParams["figure.figsize"][0], height)
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plain(name: object) -> str:
    """A name as text of matplotlib, which takes what stands between two $ for a formula."""
    return one_line(" ".join(map(str, name)) if isinstance(name, tuple) else name).replace("$", r"\$")


def draw_intervals(
    ax: Axes | None,
    values: pd.DataFrame,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
    *,
    color: Any = None,
) -> Axes:
    """Points in groups, a line for each row of a frame and a colour for each column, with intervals if there are any."""
    n_rows, n_columns = values.shape
    ax, colours = axes(ax, max(2.5, 1.2 + _room(values))), _colours(color)
    for at in range(n_columns):
        places = [row + 0.7 * ((at + 0.5) / n_columns - 0.5) for row in range(n_rows)]
        mean: Any = values.iloc[:, at].to_numpy(dtype=float)
        ends: Any = None
        if low is not None and high is not None:
            ends = [mean - low.iloc[:, at].to_numpy(), high.iloc[:, at].to_numpy() - mean]
            ends = [part.clip(min=0) for part in ends]
        style: dict[str, Any] = {"color": colours[at % len(colours)], "marker": DOTS[at % len(DOTS)], "linestyle": ""}
        ax.errorbar(mean, places, xerr=ends, capsize=3, label=plain(values.columns[at]), **style)
    ax.set_yticks(range(n_rows), [plain(name) for name in values.index])
    ax.set_ylim(n_rows - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    if n_columns > 1:  # beside the points, of which a row may be anywhere
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def draw_scales(
    ax: Axes | None,
    parts: Sequence[pd.DataFrame],
    label: Callable[[list[str]], str],
    *,
    axis: Literal[0, 1] = 0,
    color: Any = None,
    ylabel: str = "",
    **fonts: Any,
) -> Axes:
    """The same, in a panel for each scale of the metrics, which are the rows (axis 0) or the columns (1).

    Values up to 1 share a panel, and each other metric has its own. `label` gives the words below those of some metrics.
    """
    values = parts[0]
    names = [str(name) for name in values.axes[axis]]
    largest = np.nan_to_num(np.abs(values.to_numpy(dtype=float))).max(axis=1 - axis)
    shared, own = (np.flatnonzero(kind).tolist() for kind in (largest <= 1, largest > 1))
    groups = [*([shared] if shared else []), *([at] for at in own)]
    frames = [[part.take(group, axis=axis) for part in parts] for group in groups]
    panels = [ax]
    if len(groups) > 1:
        rooms = [_room(of_panel[0]) for of_panel in frames]
        total = sum(rooms) + GAP * len(groups)
        ax = axes(ax, total)
        ax.axis("off")
        gap = min(
            GAP / ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted()).height, 0.6 / len(groups)
        )
        heights = (1 - gap * (len(groups) - 1)) * np.array(rooms) / sum(rooms)
        bottoms = 1 - np.cumsum(heights) - gap * np.arange(len(groups))
        panels = [ax.inset_axes((0, bottom, 1, height)) for bottom, height in zip(bottoms, heights, strict=True)]
    for at, (panel, of_panel, group) in enumerate(zip(panels, frames, groups, strict=True)):
        panels[at] = drawn = draw_intervals(panel, *of_panel, color=color)
        drawn.set_xlabel(label([names[at] for at in group]), **fonts)
        if len(panels) == 1:
            drawn.set_ylabel(ylabel, **fonts)
        if at and axis == 0 and (legend := drawn.get_legend()):  # the columns are those of the first panel
            legend.remove()
    drawn_on = ax or panels[0]
    assert drawn_on is not None
    return drawn_on


def _room(values: pd.DataFrame) -> float:
    """The height of its points, in inches."""
    n_rows, n_columns = values.shape
    return n_rows * (0.2 + 0.16 * n_columns)


def _colours(color: Any) -> Sequence[Any]:
    """The colours of the columns: one for all, one for each, or the usual ones."""
    from matplotlib.colors import is_color_like

    if color is None:
        return COLOURS
    colours = [color] if is_color_like(color) else list(color) if is_several(color) else []
    if not colours or not all(map(is_color_like, colours)):
        raise OptionError(
            f"color={quoted(color)} is no colour of matplotlib: give one, such as 'C0', or a list of them."
        )
    return colours
