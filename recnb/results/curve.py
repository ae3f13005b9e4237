"""A metric against the cut-off: numbers first, drawing apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recnb.display import html
from recnb.display.fonts import lettering
from recnb.display.language import _, current, use_language
from recnb.results.provenance import console

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Curve:
    """How a metric's mean over users goes with k, with an interval at each k."""

    metric: str
    symbol: str
    k: tuple[int, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_users: int
    basis: str
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """The curve as a frame: one row per k, with the mean and the ends of its interval."""
        import pandas as pd

        columns = {self.metric: self.value, "low": self.low, "high": self.high}
        return pd.DataFrame(columns, index=pd.Index(self.k, name="k"))

    def plot(self, ax: Axes | None = None, **line: Any) -> Axes:
        """Draw the curve with its band of intervals; `line` goes to matplotlib's plot."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure().add_subplot()
        drawn = ax.plot(
            self.k, self.value, **{"marker": "o" if len(self.k) <= 12 else "", "label": self.symbol, **line}
        )
        ax.fill_between(self.k, self.low, self.high, alpha=0.2, color=drawn[0].get_color(), linewidth=0)
        with lettering(self.lang) as fonts:
            ax.set_xlabel("k", **fonts)
            ax.set_ylabel(_("{symbol}@k, mean of {n:,} users", symbol=self.symbol, n=self.n_users), **fonts)
        ax.set_ylim(bottom=0)
        return ax

    def __repr__(self) -> str:
        with use_language(self.lang):
            named = {"low": _("low"), "high": _("high")}
            frame = self.to_frame().rename(columns=named)
            return f"{console(frame, float_format='{:.4f}'.format)}\n{self.basis}"

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            rows = [
                [str(k), f"{v:.4f}", _("{low} to {high}", low=f"{a:.4f}", high=f"{b:.4f}")]
                for k, v, a, b in zip(self.k, self.value, self.low, self.high, strict=True)
            ]
            table = html.table(["k", html.text(self.metric), _("95% interval")], rows)
            region = _("{metric} against k", metric=self.metric)
            return html.root(table, html.note(html.text(self.basis, 2000)), label=region)
