"""One number of all lists together, with everything that is behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

from recnb.display import html
from recnb.display.language import _, current, use_language
from recnb.errors import OptionError, near
from recnb.results.score import Interval
from recnb.stats import interval_of_pairs

if TYPE_CHECKING:
    import pandas as pd

    from recnb.conventions import Convention
    from recnb.metrics.hits import Floats


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
    _of_users: Callable[[], Floats] | None  #: of a mean over pairs of users

    def __new__(
        cls, value: float, exposure: Callable[[], pd.Series[int]], metric: str, k: int | None, convention: Convention, basis: str,
        of_users: Callable[[], Floats] | None = None,
    ) -> Self:  # fmt: skip
        """The value, with what is behind it."""
        self = super().__new__(cls, value)
        self._exposure = exposure
        self._of_users = of_users
        self.metric = metric
        self.k = k
        self.convention = convention
        self.basis = basis
        self.lang = current()
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        exposure = self._exposure()
        of_users = None if self._of_users is None else self._of_users()
        own = (float(self), exposure, self.metric, self.k, self.convention, self.basis, self.lang, of_users)
        return (_restored, own)

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

    @property
    def has_interval(self) -> bool:
        """Whether it is a mean over pairs of users, as personalization is."""
        return self._of_users is not None

    def interval(self, confidence: float = 0.95, method: Literal["auto", "jackknife"] = "auto") -> Interval:
        """Interval for a mean over pairs of users: Student's t with the standard error of the jackknife over users.

        There is none for what all lists show together (coverage, Gini, entropy): users drawn again would show fewer
        different items, and every draw would be off to one side.
        """
        if self._of_users is None:
            raise OptionError(
                f"{self.metric} is one number of all lists together and no mean over users, so there is no interval for it: users "
                "drawn again and again would show fewer different items than the users there are. Compare models on the same users instead."
            )
        if method not in ("auto", "jackknife"):
            raise OptionError(
                f"method={method!r} makes no interval of a mean over pairs. {near(method, ['jackknife'])}"
            )
        return Interval(*interval_of_pairs(self._of_users(), confidence), float(confidence), "jackknife")

    def to_frame(self) -> pd.DataFrame:
        """How many lists show each item, as a frame."""
        return self._exposure().to_frame()

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{self.label} = {float(self):.4f} ({self.basis})"

    def _repr_html_(self) -> str:
        times = self._exposure()
        with use_language(self.lang):
            top = times.sort_values(ascending=False, kind="stable").head(3)
            words = ", ".join(f"{html.text(item)} ({count:,})" for item, count in top.items())
            most = _("Shown in most lists: {items}", items=words)
        value = f"<div><b>{html.text(self.label)} = {float(self):.4f}</b></div>"
        return html.root(value, html.note(most), html.note(html.text(self.basis, 2000)), label=self.label)


def _restored(
    value: float, exposure: pd.Series[int], metric: str, k: int | None, convention: Convention, basis: str, lang: str,
    of_users: Floats | None,
) -> CatalogueScore:  # fmt: skip
    with use_language(lang):
        pairs = None if of_users is None else lambda: of_users
        return CatalogueScore(value, lambda: exposure, metric, k, convention, basis, pairs)
