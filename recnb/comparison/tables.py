"""Tables of a comparison: means with the best marked, differences with what they allow
to conclude, users who moved, curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from recnb.display.document import Estimate, Line, Mark, Name, html, inline, plain
from recnb.display.language import _, use_language
from recnb.display.style import QUIET, lettering
from recnb.display.templates import framed
from recnb.display.text import one_line, signed
from recnb.metrics.metric import Better
from recnb.report import conclusions as words
from recnb.report.data import UserGroup
from recnb.report.sections import user_blocks
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
from recnb.stats import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The columns of differences that are shown, beside those that say what each row is of.
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

#: The signs of marks beside means, by kind.
SIGNS = {"near_best": "°", **{kind: words.SIGNS[kind] for kind in words.FOUND}}

FEW = 6  #: conclusions stand below so many differences


class Means(Table):
    """Means of models over the common users: a row per model, a column per metric and
    cut-off, or three with intervals.

    The best mean of a column is shown bold (between asterisks on a console). Where a
    baseline was named, ▲ and ▼ mark what is shown to be better or worse than it, △ and
    ▽ what is higher or lower where neither is better; otherwise ° marks means that are
    not shown to differ from the best. Where neither more nor less is better, as of
    novelty, none is the best. `attrs["best"]`, `attrs["near_best"]`, `attrs["better"]`
    and so on have the labels of these rows by column.
    """

    _metadata: ClassVar = ["_ends", "_settings", "_directions", "_every_pair"]
    _ends: Sequence[
        pd.DataFrame
    ] = ()  #: the lower and the upper ends of intervals, for a plot
    _settings: Settings = Settings()  #: of the tests that the marks are of
    _directions: Mapping[str, Better] = {}  #: of each column
    _every_pair: bool = False  #: whether every two models are compared

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        """Draw a line for each metric and a colour for each model."""
        parts = parts_of(self)
        if len(parts) == 1:
            parts = [*parts, *self._ends]
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
            sign for kind, sign in SIGNS.items() if self._has(kind, label, column)
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
        lines: list[Line] = [*super()._below()]
        has_best = any(self.attrs["best"].values())
        if has_best:
            best = words.best_in_words(self._directions)
            lines.append([Mark("best", "0.5"), best])
        if has_best and self.attrs["near_best"]:
            near = words.near_best_in_words(self._settings, every_pair=self._every_pair)
            lines.append([Estimate("0.5", signs="°", signed=True), f": {near}"])
        baseline = self.attrs.get("baseline")
        if baseline is not None:
            lines += words.marks_in_words(baseline, self._directions)
        if directions := words.directions_in_words(self._directions):
            lines.append(directions)
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
    """Paired differences with intervals, tests and corrections; `plot()` draws them
    with their intervals.
    """

    _metadata: ClassVar = ["conclusions", "notes", "_made", "_warnings"]
    conclusions: Sequence[str] = ()  #: what may be concluded of each difference
    notes: Sequence[str] = ()  #: what all of them rest on
    _made: Sequence[
        tuple[str, words.Difference]
    ] = ()  #: each with its segment; "" is all users
    _warnings: Sequence[
        str
    ] = ()  #: sentences on equal scores that decide, and on an order that unjudged items decide

    def _shown(self) -> pd.DataFrame:
        labels = [*self.columns[: self.attrs["labels"]]]
        return super()._shown()[[*labels, *SHOWN]].set_index(labels)

    def _cell(
        self, value: Any, label: object, column: object, digits: int | None = None
    ) -> Line:
        if column == "verdict":
            return _(words.VERDICTS[value][1])
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
        """Draw the differences one under the other, each with the sign of its verdict,
        about a line at 0.
        """
        rows = [
            (segment, row) for segment, row in self._made if isfinite(row.difference)
        ]
        with lettering(self.attrs["lang"]) as fonts:
            names = []
            for segment, row in rows:
                models = inline([Name(row.model), " − ", Name(row.baseline)], "txt")
                names.append(
                    " ".join(
                        filter(
                            None, [words.SIGNS[row.verdict], segment, row.label, models]
                        )
                    )
                )
            numbers = [(row.difference, row.low, row.high) for _segment, row in rows]
            frame = pd.DataFrame(
                numbers, index=names, columns=["difference", "low", "high"]
            )
            ax = draw_intervals(ax, [frame[[part]] for part in frame], color=color)
            ax.set_xlabel(_("difference, first minus second"), **fonts)
        ax.axvline(0, color=QUIET, linewidth=1)
        return ax


class Movers(Table):
    """The users who gain and lose most with one model instead of another, a row each
    with both lists.
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
    """A metric against the cut-off: a row for each model and k with the ends of an
    interval; `plot()` draws it.
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
