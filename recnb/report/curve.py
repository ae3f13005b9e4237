"""The curve of one model in a report: a metric's mean at each cut-off, with its interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.display.language import current
from recnb.errors import Suggesting
from recnb.results.plots import draw_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Curve(Suggesting):
    """A metric's mean over users at each k, with an interval at each k."""

    metric: str
    symbol: str
    k: tuple[float, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_users: int
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """Return a row per k, with the mean and the ends of its interval."""
        columns = {self.metric: self.value, "low": self.low, "high": self.high}
        frame = pd.DataFrame(columns, index=pd.Index(self.k, name="k"))
        frame.attrs = {"symbol": self.symbol, "n_users": self.n_users, "lang": self.lang}
        return frame

    def plot(self, ax: Axes | None = None, **line: Any) -> Axes:
        """Draw the curve with its band of intervals; `line` goes to matplotlib's plot."""
        return draw_curve(self.to_frame(), ax, **line)
