"""Results of a comparison: the table of means, differences, users who moved, curves. Each shows itself and is or has a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from recnb.comparison.charts import colour_of
from recnb.comparison.conclusions import (
    VERDICTS,
    conclusions,
    difference_axis,
    difference_label,
    near_best_in_words,
    notes,
    signed,
)
from recnb.comparison.results import FOUND, Difference, MovedUsers, Settings, tested
from recnb.comparison.sections import ComparisonSection, part
from recnb.display.fonts import lettering
from recnb.display.language import _, use_language
from recnb.display.svg import COLOURS, QUIET
from recnb.display.templates import plain_macro
from recnb.display.text import one_line
from recnb.errors import OptionError, Suggesting
from recnb.report.curve import Curve
from recnb.report.section import PLAIN
from recnb.results.plots import axes, draw_intervals, draw_scales, plain
from recnb.results.table import Form, Table, named

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

    def to_frame(self) -> pd.DataFrame:
        """A row for each model and k, or level of recall: mean and the ends of its interval."""
        frames = {
            model: curve.to_frame().set_axis(["mean", "low", "high"], axis=1) for model, curve in self.curves.items()
        }
        return pd.concat(frames, names=["model", "k"]).reset_index()

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
            ax.set_xlabel(_("cut-off k"), **fonts)
            ax.set_ylabel(_("mean {symbol}@{axis}", symbol=symbol, axis="k"), **fonts)
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return ax

    def _text(self) -> str:
        means = pd.DataFrame({one_line(model): curve.to_frame().iloc[:, 0] for model, curve in self.curves.items()})
        symbol = next(iter(self.curves.values())).symbol
        return f"{symbol}@k\n{means.rename_axis('model', axis=1).to_string(float_format='{:.4f}'.format)}"

    def _html(self) -> str:
        return part(_("Against the cut-off"), "curves", self.curves, self.settings, (), "k")


class ComparisonTable(Table):
    """Means of models over the common users: a row per model, a column per metric and cut-off.

    Where it is shown, and in `to_markdown()` and `to_latex()`, the highest mean of a column is bold (between asterisks on a
    console), and ° marks means that are not significantly different from it. `attrs["best"]` and `attrs["near_best"]` have
    the labels of these rows by column.
    """

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
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

    def _notes(self, form: Form) -> list[str]:
        return [*super()._notes(form), *(form.safe(line, 1000) for line in self.attrs.get("lines", ()))]


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


#: Conclusions stand below so many differences.
FEW = 6


class Differences(ComparisonRows):
    """Paired differences with intervals, tests and corrections.

    `conclusions` has a sentence for each, `notes` what all of them rest on, and `plot()` draws them with their intervals.
    """

    _metadata: ClassVar = ["_made", "_settings", "_segments", "_ties"]
    _made: tuple[Difference, ...] = ()
    _settings: Settings
    _segments: tuple[str, ...] = ()  #: the segment of each, if they are by segment
    _ties: tuple[str, ...] = ()  #: models whose equal scores decide

    @property
    def conclusions(self) -> list[str]:
        """What may be concluded of each difference."""
        with use_language(self.attrs["lang"]):
            sentences = conclusions(self._made, self._settings, one_line)
        if not self._segments:
            return sentences
        return [f"{one_line(of)}: {words}" for of, words in zip(self._segments, sentences, strict=True)]

    @property
    def notes(self) -> list[str]:
        """Equal scores that decide, the number of comparisons made, and what intervals over users do not cover."""
        with use_language(self.attrs["lang"]):
            return [*self._ties, *notes(self._settings, tested(self._made))]

    def _shown_rows(self) -> ShownRows:
        shown = super()._shown_rows()
        with use_language(self.attrs["lang"]):
            shown["verdict"] = [_(VERDICTS[verdict][1]) for verdict in shown["verdict"]]
        shown.attrs = {**self.attrs, "lines": [*self._ties, *(self.conclusions if len(self) <= FEW else ())]}
        return shown

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        """Draw the differences with their intervals one under the other, about a line at 0."""
        if color is not None:
            problem = "the colours of differences say which of them are findings."
            raise OptionError(problem, fix="Leave out color=.")
        return draw_forest(ax, self._made, self.attrs["lang"], self._segments)


def draw_forest(ax: Axes | None, differences: Sequence[Difference], lang: str, segments: Sequence[str] = ()) -> Axes:
    """Draw differences with their intervals; filled marks are findings, hollow ones are not."""
    at_all = [(row, *of) for row, *of in zip(differences, *([segments] if segments else []), strict=True)]
    shown = [(row, *of) for row, *of in at_all if isfinite(row.difference)]
    rows = [row for row, *_of in shown]
    ax = axes(ax)
    with lettering(lang) as fonts:
        names = ["  ".join([*map(plain, of), row.label, difference_label(row, rows, plain)]) for row, *of in shown]
        ax.set_xlabel(difference_axis(rows, plain), **fonts)
    for at, row in enumerate(rows):
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
