"""Figures of a `Table` with matplotlib: points with their intervals, and lines.

`PLOTS` has them by name. Each is given the numbers, how the table is shown, and where it
is drawn.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.display.style import COLOURS, QUIET
from recnb.display.text import one_line, sample_in_words
from recnb.errors import OptionError
from recnb.metrics.measure import symbol_of
from recnb.results.shown import Shown, at_cutoff, cutoff_label, parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Names of columns whose numbers are times.
TIMES = {"time", "hour", "day", "date", "week", "month", "quarter", "year", "period"}

#: Markers of the columns of a plot.
DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Figures of points


def draw_metrics(
    table: pd.DataFrame, shown: Shown, ax: Axes | None, color: Any
) -> Axes:
    """Draw metrics, which are the rows, with a colour for each cut-off."""
    parts = [_by_metric(part, shown.by) for part in parts_of(table)]
    ax = draw_means(ax, parts, _("value"), color)
    title = as_text(shown.title)
    if title and not ax.get_title():
        ax.set_title(title, fontsize="medium")
    return ax


def draw_models(
    table: pd.DataFrame, _shown: Shown, ax: Axes | None, color: Any
) -> Axes:
    """Draw a line for each metric and a colour for each model."""
    parts = [_by_model(part) for part in parts_of(table)]
    return draw_means(ax, parts, _("mean over {users}"), color)


def draw_differences(
    table: pd.DataFrame, _shown: Shown, ax: Axes | None, color: Any
) -> Axes:
    """Draw differences one under the other, about a line at 0."""
    ends = [table[[end]] for end in ("difference", "low", "high")]
    ax = draw_intervals(ax, ends, color)
    ax.set_xlabel(_("difference, first minus second"))
    ax.axvline(0, color=QUIET, linewidth=1)
    return ax


def draw_means(
    ax: Axes | None, parts: Sequence[pd.DataFrame], label: str, color: Any
) -> Axes:
    """Draw points of metrics, which are the rows.

    The axis is logarithmic if their scales are far apart.
    """
    largest = parts[0].abs().max(axis=1)
    ax = draw_intervals(axes(ax, 1.7 + 0.25 * parts[0].size), parts, color)
    if largest.max() > max(1, 10 * largest.min()):
        ax.set_xscale("symlog", linthresh=0.1)
        label = _("{label}, on a logarithmic scale beyond 0.1", label=label)
    ax.set_xlabel(label)
    return ax


def draw_intervals(ax: Axes | None, parts: Sequence[pd.DataFrame], color: Any) -> Axes:
    """Draw points in groups: a line for each row, a colour for each column.

    `parts`: means, and the ends of their intervals if known.
    """
    means = parts[0]
    values = np.array([part.to_numpy(dtype=float) for part in parts])
    lengths = np.abs(values[1:] - values[0])
    n_rows, n_columns = means.shape
    ax = axes(ax)
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
            color=_colour_of(column, color),
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


def _colour_of(column: int, color: Any) -> Any:
    """Return the colour of a column; `color`: the one of all, or a list of them."""
    if color is None:
        return COLOURS[column % len(COLOURS)]
    if isinstance(color, list):
        return color[column % len(color)]
    return color


def _by_metric(part: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the numbers of a plot, each row named by its metric.

    The cut-off stands behind the metric, unless each of several has a colour; `by`:
    what segments are by, if the rows are segments.
    """
    names = [symbol_of(name) for name in part.index]
    if by:
        names = [
            f"{symbol_of(metric)}{at_cutoff(k)} {', '.join(map(str, segment))}"
            for metric, k, *segment in part.index
        ]
    elif part.columns.name == "k" and len(part.columns) == 1:
        cutoff = at_cutoff(part.columns[0])
        names = [f"{name}{cutoff}" for name in names]
    numbers = part.select_dtypes("number").rename(columns=cutoff_label)
    return numbers.set_axis(pd.Index(names, tupleize_cols=False), axis=0)


def _by_model(part: pd.DataFrame) -> pd.DataFrame:
    """Return a row per segment and column of a table of means, and a column per model."""
    of_each = part.rename(columns=symbol_of).stack(future_stack=True)
    models = part.index.unique("model")
    rows = of_each.xs(models[0], level="model").index
    # unstack(sort=False) of pandas 2.2 puts numbers into other cells.
    return pd.DataFrame(of_each.unstack("model")).reindex(index=rows, columns=models)


# Figures of lines


def draw_curve(
    table: pd.DataFrame, shown: Shown, ax: Axes | None, color: Any, /, **line: Any
) -> Axes:
    """Draw a line over the index of a table, with its band of intervals.

    `line` goes to matplotlib's plot.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    look: dict[str, Any] = {
        "marker": "o" if len(table) <= 12 else "",
        "label": shown.symbol,
    }
    if color is not None:
        look["color"] = color
    value, low, high = table.to_numpy(dtype=float).T
    (drawn,) = ax.plot(table.index, value, **look | line)
    colour = drawn.get_color()
    ax.fill_between(table.index, low, high, alpha=0.2, color=colour, linewidth=0)
    if ax.get_autoscaley_on() and not (value < 0).any():
        ax.set_ylim(bottom=0, auto=True)
    if pd.api.types.is_numeric_dtype(table.index):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        ax.tick_params(axis="x", rotation=30)
    along = as_text(table.index.name or "k")
    words = _label_of_curve(shown, along)
    ax.set_xlabel(along)
    ax.set_ylabel(words if ax.get_ylabel() in ("", words) else _("value"))
    _handles, labels = ax.get_legend_handles_labels()
    if len(set(labels)) > 1:
        ax.legend(frameon=False)
    return ax


def _label_of_curve(shown: Shown, along: str) -> str:
    """Return the label of the values of a curve; `along`: what it is drawn over."""
    if shown.sample is not None:
        n_users, n_lists, cluster = shown.sample
        return _(
            "{symbol}@{axis}, mean of {users}",
            symbol=shown.symbol,
            axis="k",
            users=sample_in_words(n_users, n_lists, cluster),
        )
    return f"{shown.symbol}@k" if along == "k" else as_text(shown.symbol)


def draw_curves(table: pd.DataFrame, shown: Shown, ax: Axes | None, color: Any) -> Axes:
    """Draw a line for each model."""
    for model, rows in table.groupby("model", sort=False):
        line = rows.set_index("k")[["mean", "low", "high"]]
        ax = draw_curve(line, shown, ax, color, label=as_text(model), marker="")
    assert ax is not None
    return ax


def draw_segments(
    table: pd.DataFrame, shown: Shown, ax: Axes | None, color: Any
) -> Axes:
    """Draw each metric of segments at each cut-off: over time, or else as points."""
    segments = list(dict.fromkeys(_segment(key) for key in table.index))
    times = times_of(shown.by, segments)
    if not times:
        return draw_metrics(table, shown, ax, color)
    time_of = dict(zip(segments, times, strict=True))
    of_each: Any = table.groupby(level=[0, 1], sort=False, dropna=False)
    for (name, k), rows in of_each:
        places = pd.Index([time_of[_segment(key)] for key in rows.index], name=shown.by)
        line = rows[["mean", "low", "high"]].set_axis(places)
        of_metric = replace(shown, symbol=f"{symbol_of(name)}{at_cutoff(k)}")
        known = line[places.notna()]
        ax = draw_curve(known, of_metric, ax, color, marker="o")
    assert ax is not None
    return ax


def times_of(by: str, segments: Iterable[str]) -> list[Any]:
    """Return when each segment begins; nothing if they are no times.

    That is a date, or the number of a week or year; None of a last one not known.
    """
    words = re.split(r"[\W_\d]+", by.casefold())
    is_named = not TIMES.isdisjoint(words)
    times = [_time_of(segment, is_named) for segment in segments]
    known = times[:-1] if None in times else times
    kinds = {type(time) for time in known}
    if len(times) < 2 or len(kinds) != 1 or type(None) in kinds:
        return []
    return times


def _time_of(segment: str, is_named: bool) -> Any:
    """Return when a segment begins; `is_named`: a whole number is one of a time."""
    start = segment.partition("/")[0]
    with contextlib.suppress(ValueError):
        if re.match(r"\d{4}-W", start):
            return pd.Timestamp.fromisoformat(start)
        if re.match(r"\d{4}(-\d|Q)", start):
            return pd.Period(start).start_time
    return int(start) if is_named and start.isdecimal() else None


def _segment(key: tuple[Any, ...]) -> str:
    return ", ".join(map(str, key[2:]))


#: The figures that a table may have.
PLOTS: dict[str, Callable[..., Axes]] = {
    "metrics": draw_metrics,
    "models": draw_models,
    "differences": draw_differences,
    "segments": draw_segments,
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
    levels = name if isinstance(name, tuple) else (name,)
    text = " ".join(str(level) for level in levels if not pd.isna(level))
    return one_line(text).replace("$", r"\$")
