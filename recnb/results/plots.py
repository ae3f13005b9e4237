"""Drawing with matplotlib: points with their intervals, curves, and items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.display.style import ACCENT, COLOURS, lettering
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_several, quoted
from recnb.metrics.measure import metric_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")


def axes(ax: Axes | None, height: float | None = None, width: float | None = None) -> Axes:
    """Return the axes given, or those of a new figure, which may be so many inches high and wide."""
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
    """Return a name as text of matplotlib, which takes what stands between two $ for a formula."""
    return one_line(" ".join(map(str, name)) if isinstance(name, tuple) else name).replace("$", r"\$")


def parts_of(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the means, the lower ends and the upper ends of a table with intervals."""
    if table.columns.nlevels == 1:
        return [table[[part]].set_axis(["mean"], axis=1) for part in ("mean", "low", "high")]
    return [pd.DataFrame(table.xs(part, axis=1, level=1)) for part in ("mean", "low", "high")]


def draw_intervals(ax: Axes | None, parts: Sequence[pd.DataFrame], *, color: Any = None) -> Axes:
    """Draw points in groups, a line for each row and a colour for each column; `parts`: means, and the ends of intervals if known."""
    values, *ends = parts
    n_rows, n_columns = values.shape
    ax, colours = axes(ax), _colours(color)
    for at in range(n_columns):
        places = [row + 0.7 * ((at + 0.5) / n_columns - 0.5) for row in range(n_rows)]
        mean = values.iloc[:, at].to_numpy(dtype=float)
        lengths = [np.abs(end.iloc[:, at].to_numpy(dtype=float) - mean) for end in ends]
        style: dict[str, Any] = {"color": colours[at % len(colours)], "marker": DOTS[at % len(DOTS)], "linestyle": ""}
        ax.errorbar(mean, places, xerr=lengths or None, capsize=3, label=plain(values.columns[at]), **style)
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
    **fonts: Any,
) -> Axes:
    """Draw the same in a panel for each scale of the metrics, which are the rows (axis 0) or the columns (1).

    Values up to 1 share a panel, and each other metric has its own. `label` gives the words below those of some metrics.
    """
    names = [str(name) for name in parts[0].axes[axis]]
    largest = np.nan_to_num(np.abs(parts[0].to_numpy(dtype=float))).max(axis=1 - axis)
    shared, own = (np.flatnonzero(kind).tolist() for kind in (largest <= 1, largest > 1))
    groups = [*([shared] if shared else []), *([at] for at in own)]
    height = len(parts[0]) * (0.2 + 0.16 * parts[0].shape[1])
    ax = axes(ax, max(2.5, 1.2 + height * (len(groups) if axis else 1) + 0.75 * (len(groups) - 1)))
    panels = [ax]
    if len(groups) > 1:
        ax.axis("off")
        rows = np.array([parts[0].take(group, axis=axis).shape[0] for group in groups])
        heights, gap = (
            0.6 * rows / rows.sum(),
            0.4 / len(groups),
        )  # the gap is for the numbers and the label below a panel
        bottoms = 1 - np.cumsum(heights) - gap * np.arange(len(groups))
        panels = [ax.inset_axes((0, bottom, 1, height)) for bottom, height in zip(bottoms, heights, strict=True)]
    for at, (panel, group) in enumerate(zip(panels, groups, strict=True)):
        draw_intervals(panel, [part.take(group, axis=axis) for part in parts], color=color)
        panel.set_xlabel(label([names[place] for place in group]), **fonts)
        if at and axis == 0 and (legend := panel.get_legend()):  # the columns are those of the first panel
            legend.remove()
    return ax


def draw_means(table: Any, ax: Axes | None, color: Any) -> Axes:
    """Draw the means of a table with their intervals: a line for each metric, a colour for each cut-off."""
    with lettering(table.attrs.get("lang", "en")) as fonts:
        parts = [part.select_dtypes("number").rename(columns=_at) for part in table._parts()]
        return draw_scales(ax, parts, _of_values, color=color, **fonts)


def draw_segments(table: Any, ax: Axes | None, color: Any) -> Axes:
    """Draw the means of segments with their intervals: a line for each segment, a colour for each metric."""
    index: Any = table.index
    names = [metric if pd.isna(k) else f"{metric}@{k:.0f}" for metric, k, *_key in index]
    # Segments are told apart by their values, which may read alike.
    codes, keys = pd.factorize(pd.Series([tuple(key) for _metric, _k, *key in index], dtype=object))
    wide = pd.DataFrame(table).set_axis(pd.MultiIndex.from_arrays([codes, names]), axis=0)
    labels = [", ".join(map(str, key)) for key in keys]
    parts = [pd.DataFrame(wide[part].unstack(sort=False)).set_axis(labels, axis=0) for part in ("mean", "low", "high")]
    with lettering(table.attrs.get("lang", "en")) as fonts:
        ax = draw_scales(ax, parts, _of_metrics, axis=1, color=color, **fonts)
        if not ax.child_axes:
            ax.set_ylabel(plain(table.attrs["by"]), **fonts)
    return ax


def draw_curve(table: pd.DataFrame, ax: Axes | None = None, color: Any = None, **line: Any) -> Axes:
    """Draw a line over the index of a table with its band of intervals; `line` goes to matplotlib's plot."""
    from matplotlib.ticker import MaxNLocator

    ax, symbol, n_users = axes(ax), str(table.attrs["symbol"]), table.attrs["n_users"]
    look = {"marker": "o" if len(table) <= 12 else "", "label": symbol, **({} if color is None else {"color": color})}
    value, low, high = table.to_numpy(dtype=float).T
    drawn = ax.plot(table.index, value, **look | line)
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


def draw_items(table: pd.DataFrame, ax: Axes | None, color: Any) -> Axes:
    """Draw the share of each item in the lists against its share in train; without train, its hits against times shown."""
    ax, known = axes(ax), "share_in_train" in table
    x, y = ("share_in_train", "share") if known else ("shown", "hits")
    ax.plot(table[x], table[y], "o", color=ACCENT if color is None else color, alpha=0.6)
    with lettering(table.attrs.get("lang", "en")) as fonts:
        ax.set_xlabel(_("share in train") if known else _("lists that show the item"), **fonts)
        ax.set_ylabel(_("share in the lists") if known else _("hits"), **fonts)
    return ax


#: How tables are drawn, by `attrs["drawn"]`.
DRAWINGS: dict[str, Callable[..., Axes]] = {
    "means": draw_means, "segments": draw_segments, "curve": draw_curve, "items": draw_items
}  # fmt: skip


def _of_values(metrics: Sequence[str]) -> str:
    """Return the label of an axis of numbers of metrics, of which some may be no means."""
    try:
        is_mean = all(metric_named(name).over not in ("items", "user pairs") for name in metrics)
    except RecnbError:  # a row was renamed
        is_mean = False
    return _("mean over users") if is_mean else _("value")


def _of_metrics(metrics: Sequence[str]) -> str:
    """Return the label of an axis of means; several metrics are in the legend."""
    return _("{label}, mean over users", label=metrics[0]) if len(metrics) == 1 else _("mean over users")


def _at(k: Any) -> str:
    if isinstance(k, str):
        return _("mean") if k == "mean" else k
    return _("whole list") if pd.isna(k) else f"@{k:g}"


def _colours(color: Any) -> Sequence[Any]:
    """Return the colours of the columns: one for all, one for each, or the usual ones."""
    from matplotlib.colors import is_color_like

    if color is None:
        return COLOURS
    colours = [color] if is_color_like(color) else list(color) if is_several(color) else []
    if not colours or not all(map(is_color_like, colours)):
        problem = f"color={quoted(color)} is no colour of matplotlib: give one, such as 'C0', or a list of them."
        raise OptionError(problem)
    return colours
