"""One number of many parts: a mean whose users are not at hand, with the interval that their moments give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from recnb.display import html
from recnb.results.score import Interval
from recnb.stats.moments import MomentsMethod

if TYPE_CHECKING:
    from recnb.conventions import Convention
    from recnb.stats import Moments


class PartialScore(float):
    """A metric's mean over users of many parts: a float that knows how many users, its cut-off and its convention.

    The values of users are not kept; its interval comes of sums over them.
    """

    metric: str  #: the metric's name
    k: int | None  #: the cut-off; None: each whole list
    convention: Convention
    basis: str  #: in words: how many users, who was left out, and by what convention
    moments: Moments  #: of one column

    def __new__(cls, moments: Moments, metric: str, k: int | None, convention: Convention, basis: str) -> Self:
        """The mean of the moments, which stay with it."""
        self = super().__new__(cls, float(moments.mean[0]) if moments.n else float("nan"))
        self.moments = moments
        self.metric = metric
        self.k = k
        self.convention = convention
        self.basis = basis
        return self

    def __getnewargs__(self) -> Any:
        return self.moments, self.metric, self.k, self.convention, self.basis

    @property
    def label(self) -> str:
        """The metric's name at its cut-off."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

    @property
    def n_users(self) -> int:
        """How many users the mean is over."""
        return self.moments.n

    def interval(self, confidence: float = 0.95, method: MomentsMethod = "auto") -> Interval:
        """Interval for the mean, taking the users as a sample: the same that `Score.interval` gives.

        `moments` is what the percentiles of a bootstrap over users come to where there are many; `bca_moments` the same
        of BCa; `t` is Student's.
        """
        return interval_of(self.moments, confidence, method)

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{self.label} = {float(self):.4f} ({self.basis})"

    def _repr_html_(self) -> str:
        value = f"<div><b>{html.text(self.label)} = {float(self):.4f}</b></div>"
        return html.root(value, html.note(html.text(self.basis, 2000)), label=self.label)


def interval_of(moments: Moments, confidence: float, method: MomentsMethod) -> Interval:
    """The interval of one column of moments."""
    low, high = moments.interval(confidence, method)
    return Interval(float(low[0]), float(high[0]), float(confidence), "beta" if method == "auto" else method)
