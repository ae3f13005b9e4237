"""Drawing with matplotlib: axes, colours, and points with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recnb.display.svg import COLOURS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")


def axes(ax: Axes | None, height: float | None = None) -> Axes:
    """The axes given, or those of a new figure, which may be so many inches high."""
    import matplotlib.pyplot as plt

    if ax is None:
        size = None if height is None else (plt.rcParams["figure.figsize"][0], height)
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plain(name: object) -> str:
    """A name as text of matplotlib, which takes what stands between two $ for a formula."""
    text = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    return text.replace("$", r"\$")


def draw_intervals(
    ax: Axes | None, values: pd.DataFrame, low: pd.DataFrame | None = None, high: pd.DataFrame | None = None
) -> Axes:
    """Points in groups, a line for each row of a frame and a colour for each column, with intervals if there are any."""
    n_rows, n_columns = values.shape
    ax = axes(ax, max(2.5, 1.2 + n_rows * (0.2 + 0.16 * n_columns)))
    for at in range(n_columns):
        places = [row + 0.7 * ((at + 0.5) / n_columns - 0.5) for row in range(n_rows)]
        mean: Any = values.iloc[:, at].to_numpy(dtype=float)
        ends: Any = None
        if low is not None and high is not None:
            ends = [mean - low.iloc[:, at].to_numpy(), high.iloc[:, at].to_numpy() - mean]
            ends = [part.clip(min=0) for part in ends]
        style: dict[str, Any] = {"color": COLOURS[at % len(COLOURS)], "marker": DOTS[at % len(DOTS)], "linestyle": ""}
        ax.errorbar(mean, places, xerr=ends, capsize=3, label=plain(values.columns[at]), **style)
    ax.set_yticks(range(n_rows), [plain(name) for name in values.index])
    ax.set_ylim(n_rows - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    if n_columns > 1:
        ax.legend(frameon=False)
    return ax
