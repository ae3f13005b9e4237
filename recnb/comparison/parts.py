"""Results of a comparison: the table of means, differences, users who moved, curves. Each shows itself and is or has a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from recnb.display.document import Estimate, Line, Mark, html, inline
from recnb.display.document import plain as plain_blocks
from recnb.display.fonts import lettering
from recnb.display.language import _, use_language
from recnb.display.svg import ACCENT, COLOURS, OTHER, QUIET
from recnb.display.templates import framed
from recnb.display.text import one_line, signed
from recnb.errors import OptionError, Suggesting
from recnb.report.conclusions import (
    FOUND,
    VERDICTS,
    Difference,
    Settings,
    conclusions,
    difference_axis,
    difference_label,
    near_best_in_words,
    notes,
    tested,
)  # fmt: skip
from recnb.report.curve import Curve
from recnb.report.data import UserGroup
from recnb.report.sections import curve_blocks, user_blocks
from recnb.results.plots import axes, draw_intervals, draw_scales, plain
from recnb.results.table import Table, number_in, symbol_of

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
            return str(self._html())


@dataclass(frozen=True, eq=False, repr=False)
class Movers(ComparisonPart):
    """The users who gain and lose most by one model in the place of another, with both lists."""

    groups: tuple[UserGroup, ...]  #: who gain, and who lose
    models: tuple[str, str]  #: the model, and the one in whose place it is
    symbol: str
    k: int | None

    @property
    def _label(self) -> str:
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_frame(self) -> pd.DataFrame:
        """A row a user: the baseline's value, the model's, the change, and both lists of items."""
        users = [user for group in self.groups for user in group.users]
        rows = [
            (user.user, *user.values, user.values[1] - user.values[0], user.n_relevant, *([item.item for item in items] for items in user.lists))
            for user in users
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["user", "before", "after", "change", "n_relevant", "old", "new"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each user's value by either model, on `ax` or on a new figure."""
        values = self.to_frame().set_index("user")[["before", "after"]].rename(index=one_line)
        ax = draw_intervals(ax, [values.set_axis([*reversed(self.models)], axis=1)])
        ax.set_xlabel(self._label)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """The users and their lists as plain Python."""
        return asdict(self)

    def _text(self) -> str:
        return plain_blocks(user_blocks(self.groups, self._label), "txt")

    def _html(self) -> str:
        return framed(_("Users with the largest changes in value"), html(user_blocks(self.groups, self._label)))


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
        curves = self.curves.items()
        lines = {model: [*zip(curve.k, curve.value, curve.low, curve.high, strict=True)] for model, curve in curves}
        symbol = next(iter(self.curves.values())).symbol
        return framed(_("Against the cut-off"), html(curve_blocks(lines, symbol, self.settings.confidence)))


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

    def _cell(self, value: Any, label: object, column: object) -> Line:
        best, near = (label in self.attrs[kind].get(column, ()) for kind in ("best", "near_best"))
        return Estimate(number_in("", value), best=best, signs="°" * near, signed=True)

    def _head(self, column: Any, symbols: bool) -> Line:
        return symbol_of(column) if symbols else column

    def _below(self) -> list[Line]:
        words = near_best_in_words(self.attrs["alpha"])
        return [
            *super()._below(),
            [Mark("best", "0.5"), _(": the highest mean of its column")],
            [Estimate("0.5", signs="°", signed=True), f": {words}"],
        ]


class ComparisonRows(Table):
    """Rows of a comparison as a DataFrame; shown are the columns that say what a row is of, and those that a reader needs.

    `attrs["labels"]` is the number of the former, and `attrs["shown"]` names the latter.
    """

    def _shown(self) -> pd.DataFrame:
        labels = [*self.columns[: self.attrs["labels"]]]
        return super()._shown()[[*labels, *self.attrs["shown"]]].set_index(labels)


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
            sentences = [inline(line, "txt") for line in conclusions(self._made, self._settings)]
        if not self._segments:
            return sentences
        return [f"{one_line(of)}: {words}" for of, words in zip(self._segments, sentences, strict=True)]

    @property
    def notes(self) -> list[str]:
        """Equal scores that decide, the number of comparisons made, and what intervals over users do not cover."""
        with use_language(self.attrs["lang"]):
            return [*self._ties, *notes(self._settings, tested(self._made))]

    def _cell(self, value: Any, label: object, column: object) -> Line:
        if column == "verdict":
            return _(VERDICTS[value][1])
        return signed(value) if column == "difference" and isfinite(value) else super()._cell(value, label, column)

    def _below(self) -> list[Line]:
        return [*super()._below(), *self._ties, *(self.conclusions if len(self) <= FEW else ())]

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
        labels = [plain(inline(difference_label(row, rows), "txt")) for row in rows]
        names = [
            "  ".join([*map(plain, of), row.label, words]) for (row, *of), words in zip(shown, labels, strict=True)
        ]
        ax.set_xlabel(plain(inline(difference_axis(rows), "txt")), **fonts)
    for at, row in enumerate(rows):
        is_finding = row.verdict in FOUND
        colour = QUIET if not is_finding else ACCENT if row.difference > 0 else OTHER
        if isfinite(row.low):
            ax.plot([row.low, row.high], [at, at], color=colour, linewidth=2.5 if is_finding else 1.5)
        ax.plot([row.difference], [at], "o", color=colour, markerfacecolor=colour if is_finding else "none")
    ax.axvline(0, color=QUIET, linewidth=1)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
