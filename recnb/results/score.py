"""One number, with everything that is behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recnb.display import html
from recnb.display.language import _, current, use_language
from recnb.errors import OptionError
from recnb.metrics.metric import LIST_METRICS, METRICS
from recnb.stats import ENOUGH, UNBOUNDED, Bounds, IntervalMethod, intervals

if TYPE_CHECKING:
    import pandas as pd

    from recnb.conventions import Convention
    from recnb.metrics.hits import Floats


class Interval(tuple[float, float]):
    """Lower and upper end of an interval for a mean over users, with its confidence and method."""

    confidence: float
    method: str

    def __new__(cls, low: float, high: float, confidence: float, method: str) -> Self:
        """Pack the two ends with what they are the ends of."""
        self = super().__new__(cls, (low, high))
        self.confidence = confidence
        self.method = method
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.confidence, self.method)

    @property
    def low(self) -> float:
        """The lower end."""
        return self[0]

    @property
    def high(self) -> float:
        """The upper end."""
        return self[1]

    def __repr__(self) -> str:
        why = ": too few users, or too alike" if np.isnan(self.low) else ""
        return f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.confidence:g}%, {self.method}{why})"


def bounds_of(metric: str) -> Bounds:
    """Between what the values of a metric lie."""
    found = METRICS.get(metric) or LIST_METRICS.get(metric)
    return UNBOUNDED if found is None else found.bounds


class Score(float):
    """A metric's mean over users: a float that knows its users, its cut-off and its convention.

    >>> import recnb
    >>> score = recnb.ndcg([["a", "b"], ["b", "a"]], [{"a": 1}, {"a": 1}])
    >>> score.per_user.round(3).tolist(), score.n_users, score + 1 == float(score) + 1
    ([1.0, 0.631], 2, True)
    """

    metric: str  #: the metric's name
    k: int | None  #: the cut-off; None: each whole list
    convention: Convention
    basis: str  #: in words: how many users, who was left out, and by what convention
    lang: str  #: the language of its words: that in force when it was made

    _values: Floats
    _users: Callable[[], pd.Index[Any]]

    def __new__(
        cls,
        values: Floats,
        users: Callable[[], pd.Index[Any]],
        metric: str,
        k: int | None,
        convention: Convention,
        basis: str,
        value: float | None = None,
    ) -> Self:
        """The mean of the values, which stay with it; `value` where users are put together in another way."""
        self = super().__new__(cls, values.mean() if value is None else value)
        self._values = values
        self._users = users
        self.metric = metric
        self.k = k
        self.convention = convention
        self.basis = basis
        self.lang = current()
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        index = self._users()
        own = (self._values, index, self.metric, self.k, self.convention, self.basis, float(self), self.lang)
        return (_restored, own)

    @property
    def label(self) -> str:
        """The metric's name at its cut-off."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

    @property
    def n_users(self) -> int:
        """How many users the mean is over."""
        return len(self._values)

    @property
    def per_user(self) -> pd.Series[float]:
        """The value of each user, indexed by user."""
        import pandas as pd

        return pd.Series(self._values.copy(), index=self._users(), name=self.label)

    @property
    def has_interval(self) -> bool:
        """Whether it is a mean over users."""
        return self.convention.average == "user"

    def interval(
        self, confidence: float = 0.95, method: IntervalMethod = "auto", resamples: int = 2000, seed: int = 0
    ) -> Interval:
        """Interval for the mean, taking the users as a sample.

        `auto` is `beta`: Clopper's and Pearson's for a metric of 0 and 1, such as the hit rate, and the same for values between
        bounds. It holds at least what it says at any number of users. Other methods are "bootstrap" (percentiles of `resamples`
        draws of the users; the same `seed` gives the same interval), "bca", "t" (Student's), and the closed forms "moments" and
        "bca_moments"; few users with a hit make these too narrow. The interval is (nan, nan) with a single user, and for a
        metric without an upper bound (DCG, novelty) below 10 users with a value above 0.
        """
        if not self.has_interval:
            raise OptionError(
                f"average={self.convention.average!r} is no mean over users, so there is no interval for it."
            )
        low, high, used = intervals(
            self._values[:, np.newaxis], confidence, method, resamples, seed, bounds=bounds_of(self.metric)
        )
        return Interval(float(low[0]), float(high[0]), confidence, used)

    def to_frame(self) -> pd.DataFrame:
        """The values per user as a frame."""
        return self.per_user.to_frame()

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{self.label} = {float(self):.4f} ({self.basis})"

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            ends = ""
            if self.n_users > 1 and self.has_interval:
                low, high = self.interval()
                told = (
                    _(
                        "no interval: fewer than {n} users with a value above 0, and the metric has no upper bound",
                        n=ENOUGH,
                    )
                    if np.isnan(low)
                    else _("95% interval: {low} to {high}", low=f"{low:.4f}", high=f"{high:.4f}")
                )
                ends = f" <span>{told}</span>"
            value = f"<div><b>{html.text(self.label)} = {float(self):.4f}</b>{ends}</div>"
            return html.root(value, html.note(html.text(self.basis, 2000)), label=self.label)


def _restored(
    values: Floats,
    index: pd.Index[Any],
    metric: str,
    k: int | None,
    convention: Convention,
    basis: str,
    value: float,
    lang: str,
) -> Score:
    with use_language(lang):
        return Score(values, lambda: index, metric, k, convention, basis, value)
