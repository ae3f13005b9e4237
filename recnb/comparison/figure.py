"""The pictures of a comparison by matplotlib, for a paper or a slide; axes can be given to draw on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.comparison.charts import colour_of
from recnb.comparison.conclusions import difference_axis, difference_label
from recnb.comparison.results import FOUND
from recnb.display.fonts import lettering
from recnb.display.language import _, current
from recnb.display.svg import COLOURS, QUIET
from recnb.results.plots import DOTS, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recnb.comparison.results import ComparisonReportData, Difference
    from recnb.results.curve import Curve

LINES = ("-", "--", ":", "-.")


def figure(report: ComparisonReportData) -> Figure:
    """The curves and the forest plot of the lead cut-off, side by side."""
    import matplotlib.pyplot as plt

    shown = report.drawn()
    height = max(3.8, 0.32 * len(shown) + 1.2)
    both, (left, right) = plt.subplots(1, 2, figsize=(12, height), layout="constrained")
    draw_curves(left, report.curves)
    draw_forest(right, shown)
    # A notebook would show an open figure once more at the end of the cell.
    plt.close(both)
    return both


def draw_forest(ax: Axes | None, differences: Sequence[Difference]) -> Axes:
    """Differences with their intervals about a line at 0; filled marks are findings, hollow ones are not."""
    ax = axes(ax)
    shown = [row for row in differences if isfinite(row.difference)]
    names = [f"{row.label}  {difference_label(row, shown, plain)}" for row in shown]
    for at, row in enumerate(shown):
        is_finding, colour = row.verdict in FOUND, colour_of(row)
        if isfinite(row.low):
            ax.plot([row.low, row.high], [at, at], color=colour, linewidth=2.5 if is_finding else 1.5)
        ax.plot([row.difference], [at], "o", color=colour, markerfacecolor=colour if is_finding else "none")
    ax.axvline(0, color=QUIET, linewidth=1)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    with lettering(current()) as fonts:
        ax.set_xlabel(difference_axis(shown, plain), **fonts)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def draw_curves(ax: Axes | None, curves: Mapping[str, Curve], axis: str = "k") -> Axes:
    """Means against the cut-off or recall, a line with its band for each model."""
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    for at, (model, curve) in enumerate(curves.items()):
        look = {"color": COLOURS[at % len(COLOURS)], "linestyle": LINES[at % len(LINES)], "linewidth": 2, "marker": ""}
        curve.plot(ax, label=plain(model), **look)
    with lettering(current()) as fonts:
        ax.set_xlabel(_("cut-off k") if axis == "k" else axis, **fonts)
        ax.set_ylabel(_("mean {symbol}@{axis}", symbol=next(iter(curves.values())).symbol, axis=axis), **fonts)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=axis == "k"))
    return ax


def draw_points(ax: Axes | None, points: Mapping[str, tuple[float, float]], x: str, y: str) -> Axes:
    """A named point for each model."""
    ax = axes(ax)
    places = [place for place in points.values() if all(map(isfinite, place))]
    for at, (model, place) in enumerate(points.items()):
        colour = COLOURS[at % len(COLOURS)]
        ax.plot([place[0]], [place[1]], DOTS[at % len(DOTS)], color=colour, markersize=9)
        way, anchor = (-9, "right") if place in places and _crowded(place, places) else (9, "left")
        ax.annotate(
            plain(model), place, textcoords="offset points", xytext=(way, 0), ha=anchor, va="center", color=colour
        )
    ax.set(xlabel=x, ylabel=y)
    ax.margins(0.18)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _crowded(place: tuple[float, float], places: Sequence[tuple[float, float]]) -> bool:
    """Return whether a name has no room to the right of its point: the picture's edge, or another point, is there."""
    (left, right), (bottom, top) = ((min(values), max(values)) for values in zip(*places, strict=True))
    far, level = 0.4 * (right - left), 0.08 * (top - bottom)
    beside = any(0 < other[0] - place[0] < far and abs(other[1] - place[1]) <= level for other in places)
    return beside or place[0] - left > 0.6 * (right - left)
