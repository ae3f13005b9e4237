"""The pictures of a report as a matplotlib figure, for a paper or a slide."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from recnb.display.fonts import lettering
from recnb.display.language import _
from recnb.display.svg import ACCENT, QUIET
from recnb.display.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recnb.report.data import ReportData


def figure(report: ReportData) -> Figure:
    """The curve over k and the distribution over users, side by side."""
    import matplotlib.pyplot as plt

    # A text keeps the font that was in force when it was made, so nothing has to stay set.
    with lettering(report.lang, rc=True):
        drawn, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
        _curve(report, left)
        _bars(report, right)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.title.set_fontsize(11)
    # A notebook would show an open figure once more at the end of the cell.
    plt.close(drawn)
    return drawn


def _curve(report: ReportData, ax: Axes) -> None:
    curve = report.curve
    curve.plot(ax, color=ACCENT, linewidth=2, marker="")
    shown = [k for k in report.lead.k if k is not None and k in curve.k]
    ax.plot(shown, [curve.value[curve.k.index(k)] for k in shown], "o", color=ACCENT)
    title = _("{symbol} against k, {n:,} users", symbol=curve.symbol, n=curve.n_users)
    ax.set(xlabel=_("cut-off k"), ylabel=_("mean {symbol}@k", symbol=curve.symbol), title=title)
    ax.set_ylim(bottom=0)


def _bars(report: ReportData, ax: Axes) -> None:
    spread = report.distribution
    width = spread.edges[1] - spread.edges[0]
    middles = [edge + width / 2 for edge in spread.edges[:-1]]
    drawn = ax.bar(middles, spread.shares, width * 0.9, color=ACCENT)
    ax.bar_label(drawn, [percent(share) if share else "" for share in spread.shares], fontsize=8, color=QUIET)
    zero = spread.n_zero / max(spread.n_users, 1)
    ax.bar(middles[:1], [zero], width * 0.9, color=QUIET, label=_("exactly 0: {share}", share=percent(zero)))
    if isfinite(spread.quartiles[1]):
        median = _("median {value}", value=f"{spread.quartiles[1]:.3f}")
        ax.axvline(spread.quartiles[1], color=QUIET, linestyle=":", label=median)
    ax.legend(frameon=False, fontsize=9)
    title = _("{label} over users", label=f"{spread.symbol}@{spread.k}")
    ax.set(xlabel=_("value of a user"), ylabel=_("share of users"), title=title)
