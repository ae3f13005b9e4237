"""Scatter plots: the users of two models, and the models by two metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.document import wrapped
from recnb.display.language import _, current
from recnb.display.style import ACCENT, QUIET, lettering
from recnb.display.text import sample_in_words
from recnb.metrics.hits import Floats, Ints
from recnb.results.columns import Column
from recnb.results.numbers import MeanRow, label_of
from recnb.results.table import as_text, axes
from recnb.stats.paired import settled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Areas of points in a plot: of one user, of the most users, and the least that is seen.
AREA, LARGEST_AREA, SMALLEST_AREA = 16.0, 400.0, 2.0


def draw_users(
    ax: Axes | None,
    column: Column,
    pair: tuple[str, str],
    basis: Sequence[str],
    color: Any = None,
) -> Axes:
    """Draw the value of each user with two models.

    The second of a pair is along, the first is up; `column` has the values of the
    baseline and those of the model.
    """
    model, baseline = pair
    label = label_of(column.measure.symbol, column.k)
    places, n_users = np.unique(column.values, axis=0, return_counts=True)
    words = [*basis]
    if (n_users > 1).any():
        words.append(_("larger points are of several users"))
    ax = axes(ax)
    with lettering(current()) as fonts:
        ax.scatter(
            places[:, 0],
            places[:, 1],
            s=_areas(n_users),
            color=ACCENT if color is None else color,
            alpha=0.5,
            linewidths=0,
        )
        _draw_diagonal(ax, column.values)
        ax.set_title(_counts_in_words(column, pair), fontsize="medium", **fonts)
        ax.set_xlabel(_with_model(label, baseline), **fonts)
        ax.set_ylabel(_with_model(label, model), **fonts)
        _write_basis(ax, words, fonts)
    return ax


def draw_models(
    ax: Axes | None,
    along: Sequence[MeanRow],
    up: Sequence[MeanRow],
    basis: Sequence[str],
    color: Any = None,
) -> Axes:
    """Draw a named point for each model, at its numbers of two metrics.

    The intervals that these have are drawn as well.
    """
    ax = axes(ax)
    colour = ACCENT if color is None else color
    x = [row.mean for row in along]
    y = [row.mean for row in up]
    with lettering(current()) as fonts:
        ax.errorbar(
            x,
            y,
            xerr=_lengths(along),
            yerr=_lengths(up),
            linestyle="",
            color=colour,
            alpha=0.4,
        )
        ax.scatter(x, y, color=colour)
        for row, place in zip(along, zip(x, y, strict=True), strict=True):
            ax.annotate(
                as_text(row.model),
                place,
                xytext=(5, 5),
                textcoords="offset points",
                **fonts,
            )
        ax.set_xlabel(as_text(along[0].label), **fonts)
        ax.set_ylabel(as_text(up[0].label), **fonts)
        _write_basis(ax, basis, fonts)
    ax.grid(alpha=0.3)
    return ax


def _areas(n_users: Ints) -> Floats:
    """Return the areas of points, which go with their numbers of users."""
    of_one = min(AREA, LARGEST_AREA / n_users.max(initial=1))
    return np.asarray(np.maximum(of_one * n_users, SMALLEST_AREA))


def _draw_diagonal(ax: Axes, values: Floats) -> None:
    """Draw the line on which both models are the same, on axes of one length."""
    low = min(0.0, values.min(initial=0.0))
    high = values.max(initial=low) if values.size else 1.0
    margin = 0.04 * ((high - low) or 1.0)
    ax.axline((low, low), slope=1, color=QUIET, linewidth=1)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(low - margin, high + margin)
    ax.set_aspect("equal")


def _counts_in_words(column: Column, pair: tuple[str, str]) -> str:
    """Say how many users are above the diagonal, below it and on it."""
    model, baseline = map(as_text, pair)
    difference = settled(column.values[:, 1] - column.values[:, 0])
    heading = _(
        "{label} of {users}",
        label=as_text(label_of(column.measure.symbol, column.k)),
        users=sample_in_words(column.n_users, column.n_lists, column.cluster),
    )
    counts = _(
        "{n_above:,} higher with {model}, {n_below:,} with {baseline}, {n_same:,} the same",
        n_above=np.count_nonzero(difference > 0),
        n_below=np.count_nonzero(difference < 0),
        n_same=np.count_nonzero(difference == 0),
        model=model,
        baseline=baseline,
    )
    return f"{heading}\n{counts}"


def _with_model(label: str, model: str) -> str:
    """Name the values of a model."""
    return _("{label} with {model}", label=as_text(label), model=as_text(model))


def _lengths(rows: Sequence[MeanRow]) -> list[list[float]] | None:
    """Return how far intervals reach down and up; NaN where there is none."""
    down = [row.mean - row.low for row in rows]
    up = [row.high - row.mean for row in rows]
    if np.isnan(down).all():
        return None
    return [down, up]


def _write_basis(ax: Axes, basis: Sequence[str], fonts: dict[str, Any]) -> None:
    """Write users and convention in small print below a plot."""
    words = wrapped("; ".join(basis)).replace("$", r"\$")
    ax.annotate(
        words,
        (0, 0),
        xycoords="axes fraction",
        xytext=(0, -36),
        textcoords="offset points",
        va="top",
        fontsize="x-small",
        color=QUIET,
        **fonts,
    )
