"""How segments of users fare: a DataFrame with a row for each metric, cut-off and segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from recnb.display import html
from recnb.display.language import _, current, pgettext, use_language
from recnb.results.table import Table

COLUMNS = ("n_users", "mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm", "small")


@dataclass(frozen=True)
class Segment:
    """One metric at one cut-off in one segment of the users."""

    metric: str
    k: int | None
    segment: str
    n_users: int
    mean: float
    low: float
    high: float
    gap: float  #: the mean here less the mean of all other users
    gap_low: float
    gap_high: float
    p: float  #: of the test of the gap; NaN: too few users, or too alike
    p_holm: float = field(default=float("nan"), kw_only=True)  #: corrected over the whole table
    small: bool = field(kw_only=True)  #: too few users to say much


class SegmentTable(Table):
    """Means of segments with their intervals, and the gap of each to all other users.

    Indexed by metric, k and segment; columns n_users, mean, low, high, gap, gap_low, gap_high, p, p_holm, small.
    """

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            shown = pd.DataFrame(
                [self._cells(row) for row in self.reset_index().itertuples(index=False)], columns=_header()
            )
            shown = shown.rename(columns={"segment": self.attrs.get("by", "segment")})
            return f"{shown.to_string(index=False)}\n{self.attrs.get('basis', '')}"

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            rows = [
                [html.text(cell) for cell in self._cells(row)] for row in self.reset_index().itertuples(index=False)
            ]
            header = [html.text(name) for name in _header()]
            basis = html.note(html.text(self.attrs.get("basis", ""), 2000))
            caption = html.text(_("By {by}", by=self.attrs.get("by", "")))
            return html.root(html.table(header, rows, caption=caption, numbers_from=2), basis, label="segments")

    @staticmethod
    def _cells(row: Any) -> list[str]:
        label = row.metric if pd.isna(row.k) else f"{row.metric}@{int(row.k)}"
        mark = _("(few)") if row.small else ""
        return [
            label, str(row.segment), f"{row.n_users:,}{' ' if mark else ''}{mark}", _number(row.mean), _ends(row.low, row.high),
            _signed(row.gap), _ends(row.gap_low, row.gap_high, signed=True), _p(row.p_holm),
        ]  # fmt: skip


def segment_table(by: str, rows: Sequence[Segment], adjusted: Any, basis: str, n_users: int) -> SegmentTable:
    """The table of some rows, with their corrected p-values."""
    frame = pd.DataFrame([vars(row) for row in rows])
    frame["p_holm"] = adjusted
    frame["k"] = frame["k"].astype(object) if frame["k"].isna().any() else frame["k"]
    # Levels in the order of the rows, so that looking up a metric finds its rows side by side.
    levels = [pd.factorize(frame[name]) for name in ("metric", "k", "segment")]
    found, codes = [list(one) for _ignored, one in levels], [code.tolist() for code, _ignored in levels]
    index = pd.MultiIndex(levels=found, codes=codes, names=["metric", "k", "segment"])
    table = SegmentTable(frame[list(COLUMNS)].set_axis(index, axis=0))
    table.attrs = {"basis": basis, "n_users": n_users, "by": by, "lang": current()}
    return table


def _header() -> list[str]:
    return [
        _("metric"),
        _("segment"),
        _("users"),
        _("mean"),
        pgettext("segments", "interval"),
        _("gap to the rest"),
        _("interval of the gap"),
        _("p (Holm)"),
    ]


def _number(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else _("–")


def _signed(value: float) -> str:
    return f"{value:+.4f}" if np.isfinite(value) else _("–")


def _ends(low: float, high: float, *, signed: bool = False) -> str:
    shown = _signed if signed else _number
    return f"{shown(low)} {pgettext('range', 'to')} {shown(high)}" if np.isfinite(low) and np.isfinite(high) else _("–")


def _p(p: float) -> str:
    if not np.isfinite(p):
        return _("–")
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
