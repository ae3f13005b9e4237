"""Tables of a comparison: means, differences, users who moved, curves.

The best means are marked, and differences say what they allow to conclude.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from recnb.display.document import Estimate, Line, Mark, Name, html, inline, plain
from recnb.display.language import _, use_language
from recnb.display.style import QUIET, lettering
from recnb.display.templates import framed
from recnb.display.text import one_line, signed
from recnb.metrics.metric import Better
from recnb.report import conclusions as words
from recnb.report.blocks import user_blocks
from recnb.report.data import UserGroup
from recnb.results.numbers import DifferenceRow, Numbers
from recnb.results.segments import distinct_labels
from recnb.results.table import (
    Table,
    draw_curve,
    draw_intervals,
    draw_means,
    estimate_of,
    number_in,
    parts_of,
    symbol_of,
)
from recnb.results.verdicts import FOUND, MARKS, NEAR_BEST, in_words, sign_of_verdict
from recnb.stats import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A mean, and the ends of its interval.
ENDS = ("mean", "low", "high")

#: The columns of differences, the first of which say what each is of.
NAMES = ("metric", "k", "model", "baseline")
COLUMNS = (
    *NAMES,
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "effect_size",
    "won",
    "tied",
    "lost",
    "n_users",
    "detectable",
    "verdict",
)

#: Those that are shown beside the names.
SHOWN = [
    "difference",
    "low",
    "high",
    "p_holm",
    "won",
    "tied",
    "lost",
    "n_users",
    "verdict",
]

FEW = 6  #: conclusions stand below so many differences

#: A metric at a cut-off, which is a column of means.
Column = tuple[str, int | None]


class Means(Table):
    """Means of models over the common users.

    A row per model, a column per metric and cut-off, or three with intervals.

    The best mean of a column is shown bold (between asterisks on a console). Where a
    baseline was named, ▲ and ▼ mark what is shown to be better or worse than it, △ and
    ▽ what is higher or lower where neither is better; otherwise ° marks means that are
    not shown to differ from the best. Where neither more nor less is better, as of
    novelty, none is the best. `attrs["best"]`, `attrs["near_best"]`, `attrs["better"]`
    and so on have the labels of these rows by column.
    """

    _metadata: ClassVar = ["_drawn", "_legend"]
    _drawn: pd.DataFrame | None = None  #: the same with intervals, which a plot draws
    _legend: Sequence[Line] = ()  #: what the marks mean

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        """Draw a line for each metric and a colour for each model."""
        parts = parts_of(self if self._drawn is None else self._drawn)
        with lettering(self.attrs.get("lang", "en")) as fonts:
            return draw_means(
                ax,
                [_by_model(part) for part in parts],
                _("mean over users"),
                color=color,
                **fonts,
            )

    def _cell(
        self, value: Any, label: object, column: object, digits: int | None = None
    ) -> Line:
        return self._marked(number_in("", value, digits), None, label, column)

    def _interval(
        self,
        numbers: Sequence[float],
        label: object,
        column: object,
        digits: int | None,
    ) -> Line:
        mean = estimate_of(numbers, digits)
        return self._marked(mean.value, mean.ends, label, column)

    def _marked(
        self, value: str, ends: tuple[str, str] | None, label: object, column: object
    ) -> Estimate:
        """Return a cell with the marks of its row and column."""
        signs = "".join(
            sign for kind, sign in MARKS.items() if self._has(kind, label, column)
        )
        is_best = self._has("best", label, column)
        return Estimate(value, ends, best=is_best, signs=signs, signed=True)

    def _has(self, kind: str, label: object, column: object) -> bool:
        return label in self.attrs.get(kind, {}).get(column, ())

    def _head(self, column: Any, symbols: bool) -> Line:
        return symbol_of(column) if symbols else column

    def _flat(self, column: Any, part: str) -> str:
        return str(column) if part == "mean" else f"{column} {part}"

    def _below(self) -> list[Line]:
        return [*super()._below(), *self._legend]


def means_table(
    numbers: Numbers,
    names: Mapping[Column, str],
    basis: Sequence[str],
    *,
    settings: Settings,
    marked_against: str | None,
    every_pair: bool,
    intervals: bool,
) -> Means:
    """Return the table of means, with marks against a baseline or against the best.

    `names`: of the columns; `every_pair`: whether every two models are compared.
    """
    if not numbers.division.is_tested:  # as parts of the truth are not
        marked_against = None
    frames = _frames_of(numbers, names)
    with_ends = pd.concat(frames, axis=1, keys=ENDS).swaplevel(axis=1)
    with_ends = with_ends[[(name, end) for name in frames[0] for end in ENDS]]
    table = Means.made(with_ends if intervals else frames[0], basis)
    table._drawn = with_ends
    marks = _marks(numbers, names, marked_against)
    table.attrs |= {**marks, "baseline": marked_against}
    directions = {
        names[place.measure.name, place.k]: place.measure.metric.better
        for place in numbers.places
    }
    if not numbers.means.near_best.any() and np.isnan(numbers.differences.p).all():
        # Without a test no mark needs a meaning.
        marked_against = None
    table._legend = _legend(
        marks,
        directions,
        marked_against=marked_against,
        settings=settings,
        every_pair=every_pair,
    )
    return table


def _frames_of(numbers: Numbers, names: Mapping[Column, str]) -> list[pd.DataFrame]:
    """Return a frame of means and one of each end of their intervals.

    A row per part and model.
    """
    parts = list(dict.fromkeys(place.part for place in numbers.places))
    columns = list(names)
    cells = np.full((3, len(parts), len(numbers.models), len(columns)), np.nan)
    for row, place in enumerate(numbers.places):
        part = parts.index(place.part)
        column = columns.index((place.measure.name, place.k))
        for end, values in enumerate(numbers.means[:3]):
            cells[end, part, :, column] = values[row]
    labels = [
        _label(numbers, part, model) for part in parts for model in numbers.models
    ]
    if numbers.division.labels:
        levels = distinct_labels(numbers.division.labels, ["model"])
        index: Any = pd.MultiIndex.from_tuples(labels, names=[*levels, "model"])
    else:
        index = pd.Index(labels, name="model")
    return [
        pd.DataFrame(end.reshape(len(labels), len(columns)), index, [*names.values()])
        for end in cells
    ]


def _label(numbers: Numbers, part: int, model: str) -> Any:
    """Return the label of the row of a model, in a part if there are several."""
    key = numbers.division.keys[part]
    return (*key, model) if key else model


def _marks(
    numbers: Numbers, names: Mapping[Column, str], marked_against: str | None
) -> dict[str, dict[str, list[Any]]]:
    """Return by kind of mark and column the labels of the rows that have it.

    The best mean, and what differs from the baseline or does not from the best.
    """
    kinds: Sequence[str] = ("best", "near_best")
    if marked_against is not None:
        kinds = ("best", *FOUND)
    labels = {
        kind: {column: list[Any]() for column in names.values()} for kind in kinds
    }
    of_places = zip(
        numbers.places, numbers.means.best, numbers.marks(marked_against), strict=True
    )
    for place, best, marks in of_places:
        column = names[place.measure.name, place.k]
        for model, is_best, mark in zip(numbers.models, best, marks, strict=True):
            label = _label(numbers, place.part, model)
            if is_best:
                labels["best"][column].append(label)
            if mark:
                labels[mark][column].append(label)
    if marked_against is not None or not numbers.division.is_tested:
        labels["near_best"] = {}
    return labels


def _legend(
    marks: Mapping[str, Any],
    directions: Mapping[str, Better],
    *,
    marked_against: str | None,
    settings: Settings,
    every_pair: bool,
) -> list[Line]:
    """Return what the marks of a table mean; `directions`: of its columns."""
    lines = list[Line]()
    if any(marks["best"].values()):
        lines.append([Mark("best", "0.5"), words.best_in_words(directions)])
        if any(marks["near_best"].values()):
            near = words.near_best_in_words(settings, every_pair=every_pair)
            sign = Estimate("0.5", signs=NEAR_BEST, signed=True)
            lines.append([sign, f": {near}"])
    if marked_against is not None:
        lines += words.marks_in_words(marked_against, directions)
    if of_directions := words.directions_in_words(directions):
        lines.append(of_directions)
    return lines


def _by_model(part: pd.DataFrame) -> pd.DataFrame:
    """Return a row per segment and column of a table of means, and a column per model."""
    if part.index.nlevels == 1:
        return part.T
    models = part.index.get_level_values("model")
    rows: dict[Any, Any] = {
        model: part[models == model].droplevel("model").stack(future_stack=True)
        for model in models.unique()
    }
    return pd.DataFrame(rows).rename_axis(columns="model")


class Differences(Table):
    """Paired differences with intervals, tests and corrections.

    `plot()` draws them with their intervals.
    """

    _metadata: ClassVar = ["conclusions", "notes", "_drawn", "_warnings"]
    conclusions: Sequence[str] = ()  #: what may be concluded of each difference
    notes: Sequence[str] = ()  #: what all of them rest on
    _drawn: pd.DataFrame = pd.DataFrame()  #: with the names that a plot has
    #: Sentences on equal scores that decide, and on an order that unjudged items decide.
    _warnings: Sequence[str] = ()

    def _shown(self) -> pd.DataFrame:
        labels = [*self.columns[: self.attrs["labels"]]]
        return super()._shown()[[*labels, *SHOWN]].set_index(labels)

    def _cell(
        self, value: Any, label: object, column: object, digits: int | None = None
    ) -> Line:
        if column == "verdict":
            return in_words(value)
        if column == "difference" and isfinite(value) and digits is None:
            return signed(value)
        cell = super()._cell(value, label, column, digits)
        return f"+{cell}" if column == "difference" and value > 0 else cell

    def _below(self) -> list[Line]:
        return [
            *super()._below(),
            *self._warnings,
            *(self.conclusions if len(self) <= FEW else ()),
        ]

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        """Draw the differences one under the other, about a line at 0.

        Each has the sign of its verdict.
        """
        ends = [self._drawn[[end]] for end in ("difference", "low", "high")]
        with lettering(self.attrs["lang"]) as fonts:
            ax = draw_intervals(ax, ends, color=color)
            ax.set_xlabel(_("difference, first minus second"), **fonts)
        ax.axvline(0, color=QUIET, linewidth=1)
        return ax


def differences_table(
    numbers: Numbers,
    basis: Sequence[str],
    *,
    settings: Settings,
    warnings: Sequence[str],
    known: Sequence[str],
) -> Differences:
    """Return the table of differences.

    `warnings` and what is taken as `known` stand among its notes.
    """
    rows = list(numbers.difference_rows())
    keys = [
        numbers.division.keys[place.part]
        for place in numbers.places
        for _pair in numbers.pairs
    ]
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    if any(row.n_lists is not None for row in rows):
        columns["n_lists"] = [row.n_lists or row.n_users for row in rows]
    labels = distinct_labels(numbers.division.labels, COLUMNS)
    of_keys = {label: [key[at] for key in keys] for at, label in enumerate(labels)}
    table = Differences.made(pd.DataFrame(of_keys | columns), basis)
    names = numbers.division.names
    segments = [
        names[place.part] for place in numbers.places for _pair in numbers.pairs
    ]
    table.conclusions = []
    for segment, line in zip(segments, words.conclusions(rows, settings), strict=True):
        text = inline(line, "txt")
        table.conclusions.append(f"{one_line(segment)}: {text}" if segment else text)
    table._drawn = _drawn(table, segments, rows)
    table._warnings = warnings
    chosen = rows[0].label if rows else ""
    table.notes = [*warnings, *words.notes(rows, settings, chosen), *known]
    table.attrs["labels"] = len(labels) + len(NAMES)
    return table


def _drawn(
    table: Differences, segments: Sequence[str], rows: Sequence[DifferenceRow]
) -> pd.DataFrame:
    """Return the differences that a plot shows.

    Each is named by the sign of the verdict, segment, metric and models.
    """
    names = []
    for segment, row in zip(segments, rows, strict=True):
        models = inline([Name(row.model), " − ", Name(row.baseline)], "txt")
        parts = [sign_of_verdict(row.verdict), segment, row.label, models]
        names.append(" ".join(filter(None, parts)))
    frame = table.to_frame().set_axis(names)[["difference", "low", "high"]]
    drawn: pd.DataFrame = frame[np.isfinite(frame["difference"])]
    return drawn


class Movers(Table):
    """The users who gain and lose most with one model instead of another.

    A row each, with both lists.
    """

    _metadata: ClassVar = ["groups"]
    groups: tuple[UserGroup, ...] = ()  #: who gain, and who lose

    def __repr__(self) -> str:
        with use_language(self.attrs["lang"]):
            return plain(user_blocks(self.groups, self.attrs["title"]), "txt")

    def _repr_html_(self) -> str:
        with use_language(self.attrs["lang"]):
            title = _("Users with the largest changes in value")
            return str(
                framed(title, html(user_blocks(self.groups, self.attrs["title"])))
            )


class Curves(Table):
    """A metric against the cut-off, a row for each model and k.

    It has the ends of an interval; `plot()` draws it.
    """

    def _shown(self) -> pd.DataFrame:
        return pd.DataFrame(self).pivot(index="k", columns="model", values="mean")[
            self["model"].unique()
        ]

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        """Draw a line for each model."""
        for model, rows in pd.DataFrame(self).groupby("model", sort=False):
            line = rows.set_index("k")[["mean", "low", "high"]]
            line.attrs = self.attrs
            ax = draw_curve(
                line, ax, color, label=one_line(model).replace("$", r"\$"), marker=""
            )
        assert ax is not None
        return ax
