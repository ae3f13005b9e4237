"""The explorer: from the mean of a metric to its users, and to one user's list.

An evaluation makes every number, as it would for a reader who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from markupsafe import Markup

from recnb.display.language import _, checked, use_language
from recnb.display.templates import write
from recnb.display.text import fixed, with_symbol
from recnb.errors import NoUsersError, OptionError, RecnbError, near
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import METRICS
from recnb.results.bins import Bins
from recnb.results.score import score_of
from recnb.results.segment_columns import column_named
from recnb.results.segments import segments_of
from recnb.stats import mean_of
from recnb.widgets.live import Live, check_choice

#: Users that are listed with controls.
LISTED = 200
#: Users that are listed where no kernel runs, and so without controls.
LISTED_WITHOUT_KERNEL = 20


class Choices(NamedTuple):
    """What is shown."""

    metric: str
    k: int | None
    user: Any  #: whose list is shown
    sort: str = "value"  #: a column of `values`
    ascending: bool = False
    search: str = ""  #: part of a user's id
    by: str = ""  #: what divides users into segments
    segment: str = ""  #: the segment whose users are shown; "" for all
    bar: str = ""  #: the bar of the histogram whose users are shown; "" for all


class Explorer(Live):
    """From a mean to the users behind it, and to one user's list.

    `choose` does by code what controls do in a notebook. `shown` is what is chosen, as
    `explorer.shown.metric`, and `values` has a row per user. The user whose list is
    shown is at first the one nearest to the mean.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, users=sample.users)
    >>> explorer = ev.explore("ndcg", k=10)
    >>> explorer.choose(metric="recall", by="segment")
    >>> explorer.segments().round(3)
             count   mean
    devoted     49  0.226
    new         63  0.228
    regular    149  0.268
    >>> round(explorer.mean(), 4)
    0.2504
    >>> len(explorer.to_frame())
    261
    """

    def __init__(
        self,
        evaluation: Any,
        metric: Any = "ndcg",
        k: int | None = 10,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> None:
        if evaluation.keys.columns:
            raise OptionError(
                "an explorer shows one list of each user, and with split= a user has "
                "several: evaluate the lists of one, such as recs[recs['day'] == 'mon']."
            )
        self.evaluation = evaluation
        self.lang = checked(lang)
        self.options = options
        name = measure_named(metric, METRICS).metric.name
        self.shown = Choices(metric=name, k=k, user=None)
        self.values = self._values_of(self.shown)
        #: The segment of each user.
        self.labels: pd.Series[Any] = self._labels_of("")
        from_mean = (self.values["value"] - self.mean()).abs()
        self.shown = self.shown._replace(user=from_mean.idxmin())

    @property
    def columns(self) -> list[str]:
        """What may divide users into segments.

        These are the columns of `users=` and, with `train=`, how much users did.
        """
        side_data = self.evaluation.side_data
        columns: list[str] = []
        if side_data.users is not None:
            columns += side_data.users.columns[1:]
        if side_data.train is not None and "activity" not in columns:
            columns.append("activity")
        return columns

    def choose(self, **choices: Any) -> None:
        """Choose what is shown, by the names of `Choices`.

        What is refused changes nothing.

        Parameters
        ----------
        **choices
            What is chosen, as `metric="recall"`, `by="segment"` or `user="u026"`.
        """
        for name in choices:
            if name not in Choices._fields:
                known_names = near(name, Choices._fields)
                raise OptionError(f"{name}= is nothing to choose. {known_names}")
        if "metric" in choices:
            choices["metric"] = measure_named(choices["metric"], METRICS).metric.name
        labels = self.labels
        if "by" in choices:
            check_choice("by", choices["by"], ["", *self.columns])
            labels = self._labels_of(choices["by"])
            choices.setdefault("segment", "")
        known: dict[str, Collection[Any]] = {
            "user": self.values.index,
            "sort": self.values.columns,
            "segment": ["", *labels.unique()],
            "bar": ["", *self.bars()],
        }
        for name, values_known in known.items():
            if name in choices:
                check_choice(name, choices[name], values_known)
        shown = self.shown._replace(**choices)
        values = self.values
        if {"metric", "k"} & choices.keys():
            values = self._values_of(shown)
            shown = shown._replace(bar="")
        self.shown = shown
        self.values = values
        self.labels = labels
        self._draw()

    # Numbers.

    def to_frame(self) -> pd.DataFrame:
        """Return the users shown, in their order.

        Returns
        -------
        DataFrame
            Columns: value, hits, relevant items, length of the list, and the segment.
        """
        shown = self.shown
        frame = self.values
        if shown.by:
            column = f"{shown.by} (segment)" if shown.by in frame else shown.by
            frame = frame.assign(**{column: self.labels})
        ids = frame.index.astype(str)
        has_text = ids.str.contains(shown.search, case=False, regex=False)
        is_shown = self._in_segment & has_text
        if shown.bar:
            is_shown &= self._bar_of_each() == shown.bar
        return frame[is_shown].sort_values(
            shown.sort, ascending=shown.ascending, kind="stable"
        )

    def mean(self) -> float:
        """Return the mean over the users of the segment that is shown.

        Returns
        -------
        float
            It follows the weights of users, if they have some.
        """
        return self._mean_of(self.values["value"][self._in_segment])

    def segments(self) -> pd.DataFrame:
        """Return the users and the mean of each segment.

        Returns
        -------
        DataFrame
            A row per segment.
        """
        segments = self.values["value"].groupby(self.labels, observed=True)
        means = segments.apply(self._mean_of)
        return pd.DataFrame({"count": segments.count(), "mean": means})

    def bars(self) -> dict[str, int]:
        """Return the number of users of the segment in each bar of the histogram.

        Users of exactly 0 have a bar of their own.
        """
        counts = self._bar_of_each()[self._in_segment].value_counts(sort=False)
        return {str(bar): int(n) for bar, n in counts.items()}

    # What is shown, and what its controls do.

    def _html(self, live: bool) -> str:
        frame = self.to_frame()
        return write(
            "widgets/explorer.jinja",
            "html",
            explorer=self,
            shown=self.shown,
            live=live,
            metrics={name: _metric_in_words(name) for name in METRICS},
            label=self._label,
            basis=self._basis,
            frame=frame.head(LISTED if live else LISTED_WITHOUT_KERNEL),
            n_users=len(frame),
            n_segment=self._in_segment.sum(),
        )

    def _worked(self) -> list[str]:
        """Return the user's list, and how the number is made."""
        shown = self.shown
        options = self._options(shown.metric)
        explain = self.evaluation.explain
        listed = _html_of(self.evaluation.user, shown.user, k=shown.k)
        made = _html_of(explain, shown.metric, shown.user, k=shown.k, **options)
        template = "widgets/user.jinja"
        return [write(template, "html", label=self._label, listed=listed, made=made)]

    def _use(self, name: str, value: str, key: str) -> None:
        shown = self.shown
        if name == "sort":
            # Chosen again, the column is sorted the other way.
            ascending = value == shown.sort and not shown.ascending
            self.choose(sort=value, ascending=ascending)
            return
        chosen: Any = self._chosen(name, value)
        if name in ("segment", "bar") and chosen == getattr(shown, name):
            chosen = ""  # chosen again: all users
        self.choose(**{name: chosen})

    def _chosen(self, name: str, value: str) -> Any:
        """Return what a control chooses; names of the user's are chosen by position."""
        known: Iterable[Any]
        match name:
            case "k":
                if not (value or "0").isdecimal():
                    problem = _(
                        "k={value}: give a whole number from 1 up, or 0 for whole lists.",
                        value=value,
                    )
                    raise OptionError(problem)
                return int(value or 0) or None
            case "by":
                known = ["", *self.columns]
            case "segment":
                known = self.segments().index
            case "bar":
                known = self.bars()
            case "user":
                known = self.to_frame().index
            case _:
                return value
        return list(known)[int(value)]

    def __repr__(self) -> str:
        with use_language(self.lang):
            return f"{self._label} = {fixed(self.mean())}\n{self._basis}"

    # Below.

    def _mean_of(self, values: pd.Series[Any]) -> float:
        """Return the mean of users, who may have weights; NaN if none has a value."""
        weights = self.evaluation.source.weight_of(self._ids_of(values.index))
        return mean_of(values.to_numpy(np.float64), weights)

    def _ids_of(self, users: pd.Index[Any]) -> pl.Series:
        """Return the ids of users as the joined data has them."""
        places = self.evaluation.users.get_indexer(users)
        ids: pl.Series = self.evaluation.joined.users[places]
        return ids

    @property
    def _label(self) -> str:
        return METRICS[self.shown.metric].label(self.shown.k)

    @property
    def _in_segment(self) -> pd.Series[bool]:
        """Whether each user is in the segment that is shown."""
        if not self.shown.segment:
            return pd.Series(True, self.labels.index)
        return self.labels == self.shown.segment

    def _options(self, metric: str) -> dict[str, Any]:
        """Return the options that a metric has."""
        known = METRICS[metric].defaults
        return {name: value for name, value in self.options.items() if name in known}

    @property
    def _basis(self) -> str:
        return str(self._score(self.shown).basis)

    def _score(self, shown: Choices) -> Any:
        metric = METRICS[shown.metric]
        measure = Measure(metric, self._options(metric.name)).cut_at(shown.k)
        with use_language(self.lang):
            return score_of(self.evaluation, measure)

    def _values_of(self, shown: Choices) -> pd.DataFrame:
        """Return the metric of each user, with what the list holds."""
        values = self._score(shown).per_user
        if values.empty:
            problem = _(
                "no {user} has a value of {label}: all of them are left out.",
                label=METRICS[shown.metric].label(shown.k),
            )
            raise NoUsersError(problem)
        data = self.evaluation
        # Hits are counted, whatever relevant pairs weigh.
        counted = data.unweighted if data.joined.is_weighted else data
        counts = {
            "relevant": data.joined.hits.n_relevant,
            "length": data.joined.hits.list_length,
        }
        lists = pd.DataFrame(counts, data.users).reindex(values.index)
        hits = counted.cg(shown.k, gain="binary").per_user.reindex(values.index)
        return pd.DataFrame({"value": values, "hits": hits, **lists})

    def _labels_of(self, by: str) -> pd.Series[Any]:
        """Return the segment of each user, in the order in which `by=` has them."""
        if not by:
            return pd.Series("", self.values.index)
        segments = segments_of(self.evaluation, [column_named(self.evaluation, by)])
        names = segments.names
        code = segments.of(self._ids_of(self.values.index))
        labels = pd.Series(np.array(names)[code], self.values.index)
        return labels.astype(pd.CategoricalDtype(names, ordered=True))

    def _bar_of_each(self) -> pd.Series[Any]:
        """Return the bar of each user; a report has the same bars."""
        values = self.values["value"].to_numpy(np.float64)
        bins = Bins.over(values, METRICS[self.shown.metric].bounds)
        with use_language(self.lang):
            names = bins.names
        dtype = pd.CategoricalDtype(names, ordered=True)
        bars = pd.Categorical.from_codes(bins.of(values).tolist(), dtype=dtype)
        return pd.Series(bars, self.values.index)


def _html_of(ask: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return what a model answers as HTML, or the words in which it refuses."""
    try:
        return Markup(ask(*arguments, **options)._repr_html_())
    except RecnbError as refused:
        return str(refused)


def _metric_in_words(name: str) -> str:
    """Return what a metric is called in the control that chooses it."""
    metric = METRICS[name]
    symbol = with_symbol(metric.term, metric.symbol)
    return _("{symbol} ({name})", symbol=symbol, name=name)
