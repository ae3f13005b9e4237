"""One number of all lists together, with everything that is behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Self

from recnb.errors import OptionError
from recnb.results import html
from recnb.strings import current, say, speaking

if TYPE_CHECKING:
    import pandas as pd

    from recnb.conventions import Convention


class CatalogueScore(float):
    """A metric of all lists together: a float that knows how often each item is shown, and its convention.

    >>> import pandas as pd, recnb
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> ev = recs.rec.against(recs, items=pd.DataFrame({"item": ["a", "b", "c", "d"]}))
    >>> ev.coverage(k=2), ev.coverage().per_item.to_dict()
    (coverage@2 = 0.5000 (2 users with a list; out of 4 items of items=; ordered by rank), {'a': 2, 'b': 1, 'c': 0, 'd': 0})
    """

    metric: str  #: the metric's name
    k: int | None  #: the cut-off; None: each whole list
    convention: Convention
    basis: str  #: in words: how many lists and items, and by what convention
    lang: str  #: the language of its words

    _exposure: Callable[[], pd.Series[int]]

    def __new__(
        cls, value: float, exposure: Callable[[], pd.Series[int]], metric: str, k: int | None, convention: Convention, basis: str
    ) -> Self:  # fmt: skip
        """The value, with what is behind it."""
        self = super().__new__(cls, value)
        self._exposure = exposure
        self.metric = metric
        self.k = k
        self.convention = convention
        self.basis = basis
        self.lang = current()
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        exposure = self._exposure()
        return (_restored, (float(self), exposure, self.metric, self.k, self.convention, self.basis, self.lang))

    @property
    def label(self) -> str:
        """The metric's name at its cut-off."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

    @property
    def per_item(self) -> pd.Series[int]:
        """How many lists show each item, indexed by item; 0 for items of the catalogue that none shows."""
        return self._exposure().copy()

    @property
    def per_user(self) -> NoReturn:
        """There is none: no user has a value of their own."""
        raise OptionError(
            f"{self.metric} is one number of all lists together: no user has a value of their own. See .per_item."
        )

    def interval(self, *_: object, **__: object) -> NoReturn:
        """There is none: users drawn twice would show fewer different items, and every draw would be off to one side."""
        raise OptionError(
            f"{self.metric} is one number of all lists together and no mean over users, so there is no interval for it: users "
            "drawn again and again would show fewer different items than the users there are. Compare models on the same users instead."
        )

    def to_frame(self) -> pd.DataFrame:
        """How many lists show each item, as a frame."""
        return self._exposure().to_frame()

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{self.label} = {float(self):.4f} ({self.basis})"

    def _repr_html_(self) -> str:
        times = self._exposure()
        with speaking(self.lang):
            top = times.sort_values(ascending=False, kind="stable").head(3)
            words = ", ".join(f"{html.text(item)} ({count:,})" for item, count in top.items())
            most = say("beyond.most_shown", items=words)
        value = f"<div><b>{html.text(self.label)} = {float(self):.4f}</b></div>"
        return html.root(value, html.note(most), html.note(html.text(self.basis, 2000)), label=self.label)


def _restored(
    value: float, exposure: pd.Series[int], metric: str, k: int | None, convention: Convention, basis: str, lang: str
) -> CatalogueScore:
    with speaking(lang):
        return CatalogueScore(value, lambda: exposure, metric, k, convention, basis)
