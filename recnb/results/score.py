"""Scores: floats with their users, cut-off, convention and interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.display.language import (
    N_,
    Message,
    Noun,
    _,
    current,
    named,
    ngettext,
    use_noun,
    with_noun,
)
from recnb.display.plain import wrapped
from recnb.display.style import ACCENT, QUIET, lettering
from recnb.display.templates import write
from recnb.display.text import Phrase, one_line, sign_between
from recnb.errors import NoUsersError, OptionError, Suggesting
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.metrics.metric import label_of
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.plots import axes, in_letters
from recnb.results.scoring import values_of
from recnb.results.values import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.conventions import Convention


#: Why a mean over users has no interval.
TOO_FEW = N_("too few {users}, or values that hardly differ")


class Interval(tuple[float, float]):
    """Lower and upper end of an interval for a mean, with confidence and method.

    It is a tuple of the two ends: `low, high = score.interval()`.

    Parameters
    ----------
    low, high : float
        The ends, in units of the metric; NaN where there is no interval.
    confidence : float
        Between 0 and 1.
    method : str
        "beta" of means over users, "jackknife" of means over pairs of users.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> interval = ev.ndcg(k=10).interval()
    >>> interval
    [0.1503, 0.1979] (95%, beta)
    >>> interval.confidence, interval.method
    (0.95, 'beta')
    """

    low: float
    high: float
    confidence: float
    method: str

    def __new__(cls, low: float, high: float, confidence: float, method: str) -> Self:
        """Pack the two ends with what they are the ends of."""
        self = super().__new__(cls, (low, high))
        self.low, self.high = low, high
        self.confidence, self.method = confidence, method
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.low, self.high, self.confidence, self.method

    def __repr__(self) -> str:
        why = ""
        if np.isnan(self.low):
            why = f": {_(TOO_FEW)}"
        return f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.confidence:g}%, {self.method}{why})"


@with_noun
class MetricValue(float, Suggesting):
    """The number of a metric: a float with its cut-off, convention and values."""

    _values: Values  #: at the one cut-off

    def __new__(cls, values: Values) -> Self:
        """Pack the number with its values."""
        self = super().__new__(cls, float(values.mean[0]))
        self._values = values
        return self

    @property
    def _noun(self) -> Noun:
        return self._values.data.noun

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._values.measure.name

    @property
    def k(self) -> int | None:
        """The cut-off; None: each whole list."""
        return self._values.measure.k

    @property
    def convention(self) -> Convention:
        """The decisions about the data, with the options of the metric."""
        return self._values.convention

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self._values.measure.label

    @property
    def n_users(self) -> int:
        """The number of users that the mean is over, or of values of `cluster=`.

        For a number of all lists together, the number of lists.
        """
        return self._values.panel.sample.n_units

    @property
    def n_lists(self) -> int:
        """The number of lists that the mean is over: of users, unless they have several."""
        return self._values.panel.sample.size

    @property
    def has_interval(self) -> bool:
        """Whether it is a mean over users, or over pairs of users.

        The latter is personalization, for example.
        """
        return not self._values.is_of_all or self._values.wholes[0].of_users is not None

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return an interval for the mean, taking the users as a sample.

        It is the exact interval of Clopper and Pearson for values of 0 and 1, and the
        beta interval that generalises it for others. Of users with a list each, its
        coverage is at least the confidence whatever their number. It is (nan, nan) of a
        single user, and of a metric without an upper bound (DCG, novelty) if all values
        are the same or fewer than 10 users have a value above 0. Where users have
        several lists it is clustered by user, or by `cluster=`.

        A mean over pairs of users (personalization) has that of the jackknife. What all
        lists show together (coverage) has none: users drawn again would show fewer
        different items.

        Parameters
        ----------
        confidence : float, default 0.95
            Between 0 and 1.

        Returns
        -------
        Interval
            The two ends, in units of the metric.

        Raises
        ------
        OptionError
            The number is one of all lists together.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.ndcg(k=10).interval(confidence=0.9)
        [0.1536, 0.1940] (90%, beta)
        """
        if not self.has_interval:
            problem = named(
                "{metric} is one number of all lists together and no mean over "
                "{users}, so there is no interval for it.",
                metric=self.metric,
            )
            fix = named("Compare models on the same {users} instead.")
            raise OptionError(f"{problem} {fix}")
        low, high = self._values.panel.interval(confidence)
        method = "jackknife" if self._values.is_of_all else "beta"
        return Interval(low.item(), high.item(), confidence, method)

    @property
    def basis(self) -> str:
        """In words: how many users or items, who was left out, and by what convention."""
        return "; ".join(self._values.basis.phrases())

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        """Return the number with its interval, its users and what is unusual, in one line.

        "…" stands for what there is no room for; `basis` has all of it.
        """
        phrases = self._values.basis.phrases()
        who, *unusual = [each.short for each in phrases if isinstance(each, Phrase)]
        ends = self._ends_in_words(N_("95% {low}{between}{high}"))
        words = ", ".join(filter(None, [ends, who]))
        if unusual:
            words = f"{words}: {', '.join(unusual)}"
        head = f"{self.label} = {float(self):.4f}"
        return wrapped(f"{head} ({words})", most=1)

    def _ends_in_words(self, words: Message, without: str = "") -> str:
        """Return the ends of the interval in words, or other words if it has none.

        It is empty for one user, and for a number of all lists together.
        """
        if self._values.is_of_all or self.n_users < 2:
            return ""
        low, high = self.interval()
        if np.isnan(low):
            return without
        ends = {"low": f"{low:.4f}", "high": f"{high:.4f}"}
        return _(words, between=sign_between(ends["low"]), **ends)

    def _repr_html_(self) -> str:
        return write(
            "results/score.jinja",
            "html",
            symbol=self.label,
            value=f"{float(self):.4f}",
            interval=self._ends_in_words(
                N_("95% interval: {low} to {high}"),
                without=_("no interval: {why}", why=_(TOO_FEW)),
            ),
            basis=self.basis,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._values.without_data(),)


@with_noun
class Score(MetricValue):
    """A metric's mean over users: a float with its users, cut-off and convention.

    Examples
    --------
    >>> import recnb
    >>> score = recnb.ndcg([["a", "b"], ["b", "a"]], [{"a": 1}, {"a": 1}])
    >>> score.per_user.round(3).tolist(), score.n_users, score + 1 == float(score) + 1
    ([1.0, 0.631], 2, True)
    """

    @property
    def per_user(self) -> pd.Series[float]:
        """The value of each user, indexed by user; of each list in a split by both."""
        values = self._values.matrix[:, 0]
        has_value = ~np.isnan(values)
        users = self._values.users.filter(pl.Series(has_value))
        data = self._values.data
        index = data.keys.index(users, data.user_label)
        name = label_of(self.metric, self.k)
        return pd.Series(values[has_value], index, name=name)

    def to_frame(self) -> pd.DataFrame:
        """Return the values per user as a frame.

        Returns
        -------
        DataFrame
            One column, indexed by user.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b"]})
        >>> ev.reciprocal_rank().to_frame()
              reciprocal_rank
        user
        ann               0.5
        """
        return self.per_user.to_frame()

    def plot(
        self, ax: Axes | None = None, bins: int = 20, *, color: Any = ACCENT
    ) -> Axes:
        """Draw the share of users at each value, with the mean and its interval.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where it is drawn, else in a new figure.
        bins : int, default 20
            Number of bars.
        color : optional
            The colour of the bars, as matplotlib takes it.

        Returns
        -------
        matplotlib.axes.Axes
            Where it is drawn.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.ndcg(k=10).plot().get_xlabel()
        'nDCG@10 of a user; line: mean and 95% interval'
        """
        ax, values = axes(ax), self.per_user.to_numpy()
        ax.hist(
            values,
            bins,
            weights=np.full(len(values), 1 / max(len(values), 1)),
            color=color,
        )
        ax.axvline(float(self), color=QUIET)
        if self.n_users > 1:
            ax.axvspan(*self.interval(), color=QUIET, alpha=0.3, linewidth=0)
        noun = self._noun
        if self._values.data.keys.columns:
            noun = noun._replace(user="list")
        with lettering(current()) as font, use_noun(noun):
            ax.set_xlabel(
                _(
                    "{label} of a {user}; line: mean and 95% interval",
                    label=self.label,
                )
            )
            ax.set_ylabel(
                ngettext(
                    "share of {n:,} {user}", "share of {n:,} {users}", self.n_lists
                )
            )
            return in_letters(ax, font)


@with_noun
class CatalogueScore(MetricValue):
    """A metric of all lists together: a float with its items and its convention.

    It has the number of lists that show each item.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> ev = recs.rec.against(recs, items=pd.DataFrame({"item": ["a", "b", "c", "d"]}))
    >>> float(ev.coverage(k=2)), ev.coverage().per_item.to_dict()
    (0.5, {'a': 2, 'b': 1, 'c': 0, 'd': 0})
    """

    @cached_property
    def _exposure(self) -> pd.Series[int]:
        """The number of lists that show each item, of the catalogue or shown."""
        data: Any = self._values.data
        times: pd.Series[int] = data.item_data.times_shown(self.k)
        return times

    @property
    def per_item(self) -> pd.Series[int]:
        """The number of lists that show each item, indexed by item.

        0 for items of the catalogue that none shows.
        """
        return self._exposure.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), {"_exposure": self._exposure}

    def to_frame(self) -> pd.DataFrame:
        """Return the number of lists that show each item, as a frame.

        Returns
        -------
        DataFrame
            One column, indexed by item.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"], "bob": ["a"]}, {"ann": ["b"]})
        >>> ev.entropy().to_frame()
              n_lists
        item
        a           2
        b           1
        """
        return self._exposure.to_frame()


def counted(score: MetricValue) -> dict[str, Any]:
    """Return whom a number is of, by the names that results have: `n_users` and others."""
    return score._values.panel.sample.counted


def score_of(data: EvaluationData, measure: Measure) -> Score | CatalogueScore:
    """Return the number of a measure: the mean over users, or that of all lists."""
    metric = measure.metric
    values = values_of(data, measure, measure.cutoffs())
    if metric.of == "all":
        return CatalogueScore(values)
    if not metric.is_accuracy and np.isnan(values.matrix).all():
        problem = named(
            f"no {{user}} has a value. {metric.no_value} Nothing is left to average."
        )
        raise NoUsersError(f"{measure.name}: {problem}")
    return Score(values)


def unweighted_in_words(
    models: Models, measures: Sequence[Measure], cutoffs: Cutoffs
) -> str:
    """Say what each metric is without propensities, at its last cut-off.

    It is empty if a model has no propensities.
    """
    if not all(model.source.has_propensities for model in models.values()):
        return ""
    sentences = []
    for measure in measures:
        at_last = measure.cut_at(measure.cutoffs(cutoffs).values[-1])
        values = []
        for name, model in models.items():
            plain = score_of(model.unweighted, at_last)
            weighted = score_of(model, at_last)
            # One model has no name.
            values.append(f"{one_line(name)} {plain:.4f} ({weighted:.4f})".strip())
        words = N_("{label} without propensities (with them): {values}.")
        sentences.append(_(words, label=at_last.label, values=", ".join(values)))
    return " ".join(sentences)
