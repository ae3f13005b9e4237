"""Scores: numbers with their users, cut-off, convention and intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np
import pandas as pd
import polars as pl
from markupsafe import Markup

from recnb.display.fonts import lettering
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.svg import ACCENT, QUIET
from recnb.display.templates import render
from recnb.errors import NoUsersError, OptionError, Suggesting, near
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric, any_metric
from recnb.results.evaluation_data import EvaluationData, index_of
from recnb.results.plots import axes
from recnb.results.provenance import titled
from recnb.results.values import Words, values_of
from recnb.stats import ENOUGH, Detectable, IntervalMethod, interval_of_pairs, intervals
from recnb.stats.intervals import check_method
from recnb.stats.moments import SumsMethod

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.conventions import Convention
    from recnb.metrics.hits import Floats
    from recnb.stats import Moments


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
        why = ": too few users or differences" if np.isnan(self.low) else ""
        return f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.confidence:g}%, {self.method}{why})"


class MetricValue(float, Suggesting):
    """The number of a metric: a float with its cut-off, its convention and what it is computed from."""

    metric: str  #: the metric's name
    k: int | None  #: the cut-off; None: each whole list
    convention: Convention
    lang: str  #: the language of its words: that in force when it was made

    def __new__(
        cls, value: float, metric: str, k: int | None, convention: Convention, basis: str | Words, **parts: Any
    ) -> Self:
        """Pack the number with the parts that it is computed from: values, and functions that are called when needed."""
        self = super().__new__(cls, value)
        words = basis if isinstance(basis, str) else basis.phrases
        vars(self).update(metric=metric, k=k, convention=convention, lang=current(), _words=words)
        vars(self).update({f"_{name}": part for name, part in parts.items()})
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = {name: partial(_computed, part()) if callable(part) else part for name, part in vars(self).items()}
        return {**state, "_words": self.basis}

    @property
    def basis(self) -> str:
        """In words: how many users or items, who was left out, and by what convention."""
        words: str | Callable[[], list[str]] = vars(self)["_words"]
        if isinstance(words, str):
            return words
        with use_language(self.lang):
            return "; ".join(words())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), float(self), self.__getstate__())

    @property
    def label(self) -> str:
        """The metric's name at its cut-off."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{self.label} = {float(self):.4f} ({self.basis})"

    def _shown(self) -> dict[str, str]:
        """The parts shown as HTML in addition to the number and its basis."""
        return {}

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(render("results/score.jinja", score=self, **{"interval": "", "shown_most": "", **self._shown()}))


class Score(MetricValue):
    """A metric's mean over users: a float with its users, its cut-off and its convention.

    >>> import recnb
    >>> score = recnb.ndcg([["a", "b"], ["b", "a"]], [{"a": 1}, {"a": 1}])
    >>> score.per_user.round(3).tolist(), score.n_users, score + 1 == float(score) + 1
    ([1.0, 0.631], 2, True)
    """

    _values: Floats
    _users: Callable[[], pd.Index[Any]]

    @property
    def n_users(self) -> int:
        """The number of users that the mean is over."""
        return len(self._values)

    @property
    def per_user(self) -> pd.Series[float]:
        """The value of each user, indexed by user."""
        return pd.Series(self._values.copy(), index=self._users(), name=self.label)

    has_interval = True

    def interval(
        self,
        confidence: float = 0.95,
        method: IntervalMethod = "beta",
        resamples: int | None = None,
        seed: int | None = None,
    ) -> Interval:
        """Interval for the mean, taking the users as a sample.

        `beta` is, for a metric of 0 and 1 such as the hit rate, the exact interval of Clopper and Pearson, and for other values
        between bounds the beta interval that generalises it. Its coverage is at least the confidence at any number of users.
        Other methods are "t" (Student's) and "bootstrap" (scipy's BCa with `resamples` draws of the users, 2,000 unless given; the
        same `seed` gives the same interval); few users with a hit make these too narrow. The interval is (nan, nan) with a single
        user, and for a metric without an upper bound (DCG, novelty) below 10 users with a value above 0.
        """
        metric = any_metric(self.metric)
        low, high = intervals(
            self._values[:, np.newaxis],
            confidence,
            method,
            resamples,
            seed,
            bounds=metric.bounded(dict(self.convention.metric)).bounds,
        )
        return Interval(float(low[0]), float(high[0]), confidence, method)

    def to_frame(self) -> pd.DataFrame:
        """The values per user as a frame."""
        return self.per_user.to_frame()

    def plot(self, ax: Axes | None = None, bins: int = 20, *, color: Any = ACCENT) -> Axes:
        """Draw the share of users at each value, with the mean and its interval, on `ax` or on a new figure."""
        ax, values = axes(ax), self._values[np.isfinite(self._values)]
        ax.hist(values, bins, weights=np.full(len(values), 1 / max(len(values), 1)), color=color)
        ax.axvline(float(self), color=QUIET)
        if self.n_users > 1:
            ax.axvspan(*self.interval(), color=QUIET, alpha=0.3, linewidth=0)
        with lettering(self.lang) as fonts:
            ax.set_xlabel(_("{label} of a user; line: mean and 95% interval", label=self.label), **fonts)
            ax.set_ylabel(ngettext("share of {n:,} user", "share of {n:,} users", self.n_users), **fonts)
        return ax

    def _shown(self) -> dict[str, str]:
        if self.n_users < 2:
            return {}
        low, high = self.interval()
        if np.isnan(low):
            words = _(
                "no interval: fewer than {n} users with a value above 0, and the metric has no upper bound", n=ENOUGH
            )
            return {"interval": words}
        return {"interval": _("95% interval: {low} to {high}", low=f"{low:.4f}", high=f"{high:.4f}")}


class CatalogueScore(MetricValue):
    """A metric of all lists together: a float with the number of lists that show each item, and its convention.

    >>> import pandas as pd, recnb
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> ev = recs.rec.against(recs, items=pd.DataFrame({"item": ["a", "b", "c", "d"]}))
    >>> float(ev.coverage(k=2)), ev.coverage().per_item.to_dict()
    (0.5, {'a': 2, 'b': 1, 'c': 0, 'd': 0})
    """

    _exposure: Callable[[], pd.Series[int]]
    _titles: Callable[[], Mapping[Any, str]]  #: of the items shown most
    _of_users: Callable[[], Floats] | None  #: of a mean over pairs of users
    _n_lists: int

    @property
    def n_lists(self) -> int:
        """The number of lists."""
        return self._n_lists

    @property
    def per_item(self) -> pd.Series[int]:
        """The number of lists that show each item, indexed by item; 0 for items of the catalogue that none shows."""
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
        """The number of lists that show each item, as a frame."""
        return self._exposure().to_frame()

    def plot(self, ax: Axes | None = None, *, color: Any = ACCENT) -> Axes:
        """Draw the number of lists that show each item, from the most shown, on `ax` or on a new figure."""
        ax, times = axes(ax), np.sort(self._exposure().to_numpy())[::-1]
        ax.fill_between(np.arange(1, len(times) + 1), times, step="mid", color=color, linewidth=0)
        with lettering(self.lang) as fonts:
            value = f"{float(self):.4f}"
            ax.set_xlabel(_("items, the most shown first; {label} = {value}", label=self.label, value=value), **fonts)
            ax.set_ylabel(_("lists that show the item"), **fonts)
        return ax

    def _shown(self) -> dict[str, str]:
        titles, times = self._titles(), most_shown(self._exposure())
        words = Markup(", ").join(Markup("{} ({:,})").format(titled(item, titles), n) for item, n in times.items())
        return {"shown_most": words}


def score_of(
    data: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Score | CatalogueScore:
    """Return the number of any metric: the mean over users, or the one number of all lists."""
    found = values_of(data, metric, Cutoffs.of(k), options)
    about = float(found.mean[0]), metric.name, k, found.convention, found.basis
    if found.of_all:
        times = partial(exposure, data, k)
        titles = partial(_titles, data, times)
        of_users, n_lists = found.of_all[0].of_users, len(found.users)
        return CatalogueScore(*about, exposure=times, titles=titles, of_users=of_users, n_lists=n_lists)
    column, kept = found.matrix[:, 0], None
    if np.isnan(column).any():
        kept = ~np.isnan(column)
        column = column[kept]
    if not len(column) and not metric.is_accuracy:
        problem = f"no user has a value. {metric.no_value} Nothing is left to average."
        raise NoUsersError(problem, subject=f"{metric.name}: ")
    return Score(*about, values=column, users=partial(index_of, found.users, kept, data.user_label))


def user_score(data: EvaluationData, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> Score:
    """Return the number of a metric that users have a value of."""
    score = score_of(data, metric, k, options)
    assert isinstance(score, Score)
    return score


def n_users_of(score: Score | CatalogueScore) -> int:
    """Return the number of users behind a score; of a number of all lists, that of lists."""
    return score.n_users if isinstance(score, Score) else score.n_lists


def _titles(data: EvaluationData, times: Callable[[], pd.Series[int]]) -> dict[Any, str]:
    return data.item_titles(list(most_shown(times()).index))


def exposure(data: EvaluationData, k: int | None) -> pd.Series[int]:
    """Count the lists that show each item of the catalogue, and each item that is shown."""
    item_data = data.item_data
    times = item_data.lists.upto(k).times_shown
    listed = item_data.catalogue.listed
    member = times > 0 if listed is None else listed | (times > 0)
    index: pd.Index[Any] = pd.Index(item_data.items.filter(pl.Series(member)).to_numpy(), name="item")
    return pd.Series(times[member], index=index, name="n_lists")


def most_shown(exposure: pd.Series[int]) -> pd.Series[int]:
    """The three items that most lists show."""
    return exposure.sort_values(ascending=False, kind="stable").head(3)


class PartialScore(MetricValue):
    """A metric's mean over users of many parts: a float with the number of users, its cut-off and its convention.

    The values of users are not kept; its interval comes of sums over them.
    """

    moments: Moments  #: of one column

    def __new__(cls, moments: Moments, metric: str, k: int | None, convention: Convention, basis: str) -> Self:
        """The mean of the moments, which stay with it."""
        mean = float(moments.mean[0]) if moments.n else float("nan")
        self = super().__new__(cls, mean, metric, k, convention, basis)
        self.moments = moments
        return self

    @property
    def n_users(self) -> int:
        """The number of users that the mean is over."""
        return self.moments.n

    def interval(self, confidence: float = 0.95, method: SumsMethod = "beta") -> Interval:
        """Interval for the mean, taking the users as a sample: the same that `Score.interval` gives."""
        return interval_of(self.moments, confidence, method)


def interval_of(moments: Moments, confidence: float, method: SumsMethod = "beta") -> Interval:
    """The interval of one column of moments."""
    check_method(method, ("beta", "t"))
    low, high = moments.interval(confidence, method)
    return Interval(float(low[0]), float(high[0]), float(confidence), method)


def detectable_of(
    score: Score, against: Score | None, *, power: float, alpha: float, correlation: float | None
) -> Detectable:
    """The smallest difference to find from one score and an assumed correlation, or from two of the same users."""
    if against is None:
        values: Floats = np.asarray(score.per_user, dtype=np.float64)
        return Detectable.of(score.label, values, power=power, alpha=alpha, correlation=correlation)
    ours, other = score.per_user.align(against.per_user, join="inner")
    if len(ours) == 0:
        raise NoUsersError(
            "against= is of other users: not one is in both evaluations, so no difference can be measured."
        )
    values, others = np.asarray(ours, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return Detectable.of(score.label, values, others, power, alpha, correlation)


def _computed(part: Any) -> Any:
    """A part that was computed, in place of the function that computes it."""
    return part


def _restored(kind: type[MetricValue], value: float, parts: Mapping[str, Any]) -> MetricValue:
    """A pickled score, whose functions were replaced by what they return."""
    score = float.__new__(kind, value)
    vars(score).update(parts)
    return score
