"""The table of a comparison: means of models, the best of each column in bold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.comparison.conclusions import near_best_in_words
from recnb.display.fonts import lettering
from recnb.display.language import _
from recnb.results.plots import draw_scales
from recnb.results.table import TEXT, Form, Table, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
