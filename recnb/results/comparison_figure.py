"""The pictures of a comparison by matplotlib, for a paper or a slide; axes can be given to draw on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.results.chart import QUIET
from recnb.results.comparison_chart import COLOURS, DOWN, UP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recnb.results.comparison_data import Compared, Difference, Line

LINES = ("-", "--", ":", "-.")
DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")


def figure(compared: Compared) -> Figure:
    """The curves and the forest plot of the lead cut-off, side by side."""
    import matplotlib.pyplot as plt

    lead = compared.at(compared.lead_k)
    bounded = {one.metric for one in compared.metrics if one.bounded}
    shown = [one for one in lead if one.metric in bounded] or compared.at(compared.lead_k, compared.lead.metric)
    height = max(3.8, 0.32 * len(shown) + 1.2)
    drawn, (left, right) = plt.subplots(1, 2, figsize=(12, height), layout="constrained")
    draw_curves(left, compared.curves)
    draw_forest(right, shown, compared.reference)
    # A notebook would show an open figure once more at the end of the cell.
    plt.close(drawn)
    return drawn


def new_axes() -> Axes:
    """Axes of a new figure."""
    import matplotlib.pyplot as plt

    return plt.figure(layout="constrained").add_subplot()


def draw_forest(ax: Axes, found: Sequence[Difference], reference: str | None) -> Axes:
    """Differences with their intervals about a line at 0; filled marks are findings, hollow ones are not."""
    shown = [one for one in found if isfinite(one.difference)]
    many = len({one.baseline for one in shown}) > 1
    names = []
    for at, one in enumerate(shown):
        is_finding = one.verdict in ("better", "worse")
        colour = (UP if one.difference > 0 else DOWN) if is_finding else QUIET
        if isfinite(one.low):
            ax.plot([one.low, one.high], [at, at], color=colour, linewidth=2.5 if is_finding else 1.5)
        ax.plot([one.difference], [at], "o", color=colour, markerfacecolor=colour if is_finding else "none")
        names.append(
            f"{one.label}  {plain(one.model)} − {plain(one.baseline)}" if many else f"{one.label}  {plain(one.model)}"
        )
    ax.axvline(0, color=QUIET, linewidth=1)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(f"difference from {plain(reference)}" if reference is not None and not many else "difference")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def draw_curves(ax: Axes, lines: Sequence[Line]) -> Axes:
    """Means against the cut-off, a line with its band for each model."""
    from matplotlib.ticker import MaxNLocator

    for at, line in enumerate(lines):
        colour = COLOURS[at % len(COLOURS)]
        ax.plot(line.k, line.mean, LINES[at % len(LINES)], color=colour, linewidth=2, label=plain(line.model))
        if isfinite(line.low[0]):
            ax.fill_between(line.k, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="cut-off k", ylabel=f"mean {lines[0].symbol}@k")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_points(ax: Axes, points: Mapping[str, tuple[float, float]], x: str, y: str) -> Axes:
    """A named point for each model."""
    for at, (model, (across, up)) in enumerate(points.items()):
        ax.plot([across], [up], DOTS[at % len(DOTS)], color=COLOURS[at % len(COLOURS)], markersize=9)
        ax.annotate(plain(model), (across, up), textcoords="offset points", xytext=(8, 4))
    ax.set(xlabel=x, ylabel=y)
    ax.margins(0.18)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plain(name: str | None) -> str:
    """A name as text of matplotlib, which takes what stands between two $ for a formula."""
    return str(name).replace("$", r"\$")
