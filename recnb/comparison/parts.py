"""Parts of a comparison: conclusions, a forest plot, users, curves, points, the table of means. Each shows itself and is a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.comparison.charts import colour_of
from recnb.comparison.conclusions import (
    SIGNS,
    conclusions,
    difference_axis,
    difference_label,
    near_best_in_words,
    notes,
    number,
    signed,
)
from recnb.comparison.results import FOUND, Difference, MovedUsers, Settings, tested
from recnb.comparison.sections import ComparisonSection, part
from recnb.display.fonts import lettering
from recnb.display.language import _, use_language
from recnb.display.svg import COLOURS, QUIET
from recnb.display.templates import plain_macro
from recnb.display.text import one_line
from recnb.errors import Suggesting
from recnb.lint.findings import Finding
from recnb.report.section import PLAIN
from recnb.results.curve import Curve
from recnb.results.plots import DOTS, axes, draw_intervals, draw_scales, plain
from recnb.results.table import TEXT, Form, Table, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Dashes of the lines of models.
LINES = ("-", "--", ":", "-.")


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonPart(Suggesting, ABC):
    """A part of a comparison, shown in the language that it was made in."""

    _: KW_ONLY
    lang: str

    @abstractmethod
    def _text(self) -> str:
        """The part for a console."""

    @abstractmethod
    def _html(self) -> str:
        """The part for a notebook."""

    def __repr__(self) -> str:
        with use_language(self.lang):
            return self._text()

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return self._html()


@dataclass(frozen=True, eq=False, repr=False)
class Conclusion(ComparisonPart):
    """The conclusion of each difference, in sentences, and notes on all of them."""

    differences: tuple[Difference, ...]
    settings: Settings
    _tied: Callable[[], Mapping[str, Finding]]  # equal scores that decide, looked for where notes are shown

    @property
    def lines(self) -> list[str]:
        """A sentence for each difference."""
        with use_language(self.lang):
            return conclusions(self.differences, self.settings, one_line)

    @property
    def notes(self) -> list[str]:
        """Equal scores that decide, the number of comparisons made, and what intervals over users do not cover."""
        with use_language(self.lang):
            ties = [f"{one_line(model)}: {finding.short}." for model, finding in self._tied().items()]
            return [*ties, *notes(self.settings, tested(self.differences))]

    def to_frame(self) -> pd.DataFrame:
        """Each difference with its verdict and its sentence."""
        names = ["metric", "k", "model", "baseline", "verdict"]
        return pd.DataFrame([row.to_dict() for row in self.differences], columns=names).assign(says=self.lines)

    def _text(self) -> str:
        return "\n".join([*self.lines, *self.notes])

    def _html(self) -> str:
        return part(_("What may be concluded"), "conclusion", self.differences, self.settings, self.notes)


@dataclass(frozen=True, eq=False, repr=False)
class Forest(ComparisonPart):
    """Differences with their intervals, one under the other, about a line at 0."""

    differences: tuple[Difference, ...]
    settings: Settings

    def to_frame(self) -> pd.DataFrame:
        """The differences drawn: metric, k, model, baseline, difference and the ends of its interval, verdict."""
        names = ["metric", "k", "model", "baseline", "difference", "low", "high", "verdict"]
        return pd.DataFrame([row.to_dict() for row in self.differences], columns=names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it by matplotlib, on `ax` if given."""
        ax = axes(ax)
        shown = [row for row in self.differences if isfinite(row.difference)]
        with lettering(self.lang) as fonts:
            names = [f"{row.label}  {difference_label(row, shown, plain)}" for row in shown]
            ax.set_xlabel(difference_axis(shown, plain), **fonts)
        # Filled marks are findings, hollow ones are not.
        for at, row in enumerate(shown):
            is_finding, colour = row.verdict in FOUND, colour_of(row)
            if isfinite(row.low):
                ax.plot([row.low, row.high], [at, at], color=colour, linewidth=2.5 if is_finding else 1.5)
            ax.plot([row.difference], [at], "o", color=colour, markerfacecolor=colour if is_finding else "none")
        ax.axvline(0, color=QUIET, linewidth=1)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return ax

    def _text(self) -> str:
        return "\n".join(
            f"{row.label}  {one_line(row.model)} − {one_line(row.baseline)}: {signed(row.difference)} [{number(row.low)}, {number(row.high)}] {SIGNS[row.verdict]}"
            for row in self.differences
        )

    def _html(self) -> str:
        return part(_("Differences, each over the same users"), "forest", self.differences, self.settings)


@dataclass(frozen=True, eq=False, repr=False)
class Movers(ComparisonPart):
    """The users who gain and lose most by one model in the place of another, with both lists."""

    moved: MovedUsers

    def to_frame(self) -> pd.DataFrame:
        """A row a user: the baseline's value, the model's, the change, and both lists of items."""
        rows = [
            (row.user, row.before, row.after, row.change, row.n_relevant, *([item.item for item in items] for items in (row.old, row.new)))
            for row in (*self.moved.gained, *self.moved.lost)
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["user", "before", "after", "change", "n_relevant", "old", "new"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each user's value by either model, on `ax` or on a new figure."""
        values = self.to_frame().set_index("user")[["before", "after"]].rename(index=one_line)
        ax = draw_intervals(ax, values.set_axis([self.moved.baseline, self.moved.model], axis=1))
        ax.set_xlabel(self.moved.label)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """The users and their lists as plain Python."""
        return asdict(self.moved)

    def _text(self) -> str:
        context = {**PLAIN, **ComparisonSection.context}
        return plain_macro("comparison/sections.txt.jinja", "movers", self.moved, **context) or ""

    def _html(self) -> str:
        return part(_("Users with the largest changes in value"), "movers", self.moved)


@dataclass(frozen=True, eq=False, repr=False)
class Curves(ComparisonPart):
    """A metric against the cut-off, a line for each model."""

    curves: Mapping[str, Curve]
    settings: Settings
    axis: str = "k"  #: what it is against: cut-offs, or levels of recall

    def to_frame(self) -> pd.DataFrame:
        """A row for each model and k, or level of recall: mean and the ends of its interval."""
        frames = {
            model: curve.to_frame().set_axis(["mean", "low", "high"], axis=1) for model, curve in self.curves.items()
        }
        return pd.concat(frames, names=["model", self.axis]).reset_index()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw them by matplotlib, on `ax` if given."""
        from matplotlib.ticker import MaxNLocator

        ax = axes(ax)
        for at, (model, curve) in enumerate(self.curves.items()):
            look = {
                "color": COLOURS[at % len(COLOURS)],
                "linestyle": LINES[at % len(LINES)],
                "linewidth": 2,
                "marker": "",
            }
            curve.plot(ax, label=plain(model), **look)
        symbol = next(iter(self.curves.values())).symbol
        with lettering(self.lang) as fonts:
            ax.set_xlabel(_("cut-off k") if self.axis == "k" else self.axis, **fonts)
            ax.set_ylabel(_("mean {symbol}@{axis}", symbol=symbol, axis=self.axis), **fonts)
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=self.axis == "k"))
        return ax

    def _text(self) -> str:
        means = pd.DataFrame({one_line(model): curve.to_frame().iloc[:, 0] for model, curve in self.curves.items()})
        symbol = next(iter(self.curves.values())).symbol
        return f"{symbol}@{self.axis}\n{means.rename_axis('model', axis=1).to_string(float_format='{:.4f}'.format)}"

    def _html(self) -> str:
        title = _("Against the cut-off") if self.axis == "k" else _("Against recall")
        return part(title, "curves", self.curves, self.settings, (), self.axis)


@dataclass(frozen=True, eq=False, repr=False)
class Tradeoff(ComparisonPart):
    """Two metrics against each other, a point for each model."""

    x: str
    y: str
    k: int | None
    points: Mapping[str, tuple[float, float]]
    n_users: int

    @property
    def labels(self) -> tuple[str, str]:
        """Both metrics at their cut-off."""
        at = "" if self.k is None else f"@{self.k}"
        return f"{self.x}{at}", f"{self.y}{at}"

    def to_frame(self) -> pd.DataFrame:
        """A row a model, a column a metric."""
        columns = list(self.labels) if self.x != self.y else [self.x, f"{self.y} "]
        return pd.DataFrame.from_dict(dict(self.points), orient="index", columns=columns).rename_axis("model")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw them by matplotlib, on `ax` if given."""
        ax = axes(ax)
        places = [place for place in self.points.values() if all(map(isfinite, place))]
        for at, (model, place) in enumerate(self.points.items()):
            colour = COLOURS[at % len(COLOURS)]
            ax.plot([place[0]], [place[1]], DOTS[at % len(DOTS)], color=colour, markersize=9)
            way, anchor = (-9, "right") if place in places and _crowded(place, places) else (9, "left")
            ax.annotate(
                plain(model), place, textcoords="offset points", xytext=(way, 0), ha=anchor, va="center", color=colour
            )
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        ax.margins(0.18)
        return ax

    def _text(self) -> str:
        return self.to_frame().rename(index=one_line).to_string(float_format="{:.4f}".format)

    def _html(self) -> str:
        return part(_("comparison of models"), "tradeoff", self.points, self.labels, self.n_users)


def _crowded(place: tuple[float, float], places: Sequence[tuple[float, float]]) -> bool:
    """Return whether a name has no room to the right of its point: the picture's edge, or another point, is there."""
    (left, right), (bottom, top) = ((min(values), max(values)) for values in zip(*places, strict=True))
    far, level = 0.4 * (right - left), 0.08 * (top - bottom)
    beside = any(0 < other[0] - place[0] < far and abs(other[1] - place[1]) <= level for other in places)
    return beside or place[0] - left > 0.6 * (right - left)


class ComparisonTable(Table):
    """Means of models over the common users: a row per model, a column per metric and cut-off.

    Where it is shown, and in `to_markdown()` and `to_latex()`, the highest mean of a column is bold (between asterisks on a
    console), and ° marks means that are not significantly different from it. `attrs["best"]` and `attrs["near_best"]` have
    the labels of these rows by column.
    """

    def _draw(self, ax: Axes | None, color: Any) -> Axes:
        """A line for each metric and a colour for each model."""
        with lettering(self.attrs.get("lang", "en"), rc=True) as fonts:
            parts: list[Any] = [part.stack(future_stack=True).unstack("model", sort=False) for part in self._parts()]
            return draw_scales(ax, parts, lambda metrics: _("mean over users"), color=color, **fonts)

    def _cell(self, value: object, label: object, column: object, form: Form) -> str:
        best, near = (label in self.attrs[kind].get(column, ()) for kind in ("best", "near_best"))
        mark = form.best if best else form.near if near else form.plain
        return mark.format(super()._cell(value, label, column, form))

    def _head(self, column: Any, form: Form) -> str:
        return named(column, form)

    def _as_text(self) -> pd.DataFrame:
        return pd.DataFrame(self._formatted(TEXT), self.index[: self._most], self.columns)

    def _legend(self, form: Form) -> list[str]:
        best, near = (mark.format(0.5).strip() for mark in (form.best, form.near))
        words = near_best_in_words(self.attrs["alpha"])
        return [best + form.safe(_(": the highest mean of its column"), 400), near + form.safe(": " + words, 400)]


class ShownRows(Table):
    """The rows of a comparison as they are shown: indexed by what they are of, with the columns that a reader needs."""

    def _number(self, value: float, column: object) -> str:
        """A difference with its sign; a small p is not rounded to 0."""
        if column == "p_holm" and value < 0.0001:
            return "<0.0001"
        return signed(value) if column == "difference" and isfinite(value) else super()._number(value, column)


class ComparisonRows(Table):
    """Rows of a comparison as a DataFrame; where it is shown, names of models and segments are on one line.

    `attrs["labels"]` is the number of columns that say what a row is of, and `attrs["shown"]` names the others that are shown.
    """

    def _shown_rows(self) -> ShownRows:
        labels = [*self.columns[: self.attrs["labels"]]]
        shown = ShownRows(pd.DataFrame(self)[[*labels, *self.attrs["shown"]]].set_index(labels))
        shown.attrs = self.attrs
        return shown

    def __repr__(self) -> str:
        return repr(self._shown_rows())

    def _repr_html_(self) -> str:
        return self._shown_rows()._repr_html_()

    def to_markdown(self, *args: Any, **options: Any) -> Any:
        """Return the rows in Markdown as they are shown, or write them to a file."""
        return self._shown_rows().to_markdown(*args, **options)

    def to_latex(self, *args: Any, **options: Any) -> Any:
        """Return the rows in LaTeX as they are shown, or write them to a file."""
        return self._shown_rows().to_latex(*args, **options)
