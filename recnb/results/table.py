"""Metrics × cut-offs: a DataFrame that says what its numbers are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from recnb.display import html
from recnb.display.language import _, use_language
from recnb.results.provenance import console


class Table(pd.DataFrame):
    """Means over users, one row per metric and one column per cut-off.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention. What is
    cut out of it is a plain DataFrame. `attrs["basis"]` holds the line.
    """

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """The numbers alone."""
        return pd.DataFrame(self)

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            shown = pd.DataFrame(self).rename_axis(index=None if self.index.name is None else _named(self.index.name))
            return f"{console(shown, float_format='{:.4f}'.format)}\n{self.attrs.get('basis', '')}"

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            header = [html.text(_named(self.index.name or "")), *(_at(column) for column in self.columns)]
            rows = [
                [html.text(name), *(f"{value:.4f}" for value in row)]
                for name, row in zip(self.index, self.to_numpy(), strict=True)
            ]
            basis = html.note(html.text(self.attrs.get("basis", ""), 2000))
            return html.root(html.table(header, rows), basis, label=_("metrics at cut-offs"))


def _named(index: object) -> str:
    return _("metric") if index == "metric" else str(index)


def _at(k: Any) -> str:
    return _("whole list") if pd.isna(k) else f"@{k}"
