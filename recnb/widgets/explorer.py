"""The explorer: from the mean of a metric to its users, and to one user's list, by what
a reader could ask of evaluations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from markupsafe import Markup

from recnb.display.language import N_, _, checked, use_language
from recnb.display.templates import render
from recnb.display.text import bin_in_words, fixed, one_line, short, with_symbol
from recnb.errors import NoUsersError, OptionError, RecnbError, near
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS
from recnb.results.evaluation_data import EvaluationData
from recnb.results.score import score_of
from recnb.results.scoring import mean_of
from recnb.results.segments import segments_of
from recnb.stats import bins_of
from recnb.widgets.live import Live

#: Users that are listed with controls and without, and bars of the histogram beside
#: that of 0.
LISTED, LISTED_STILL, BARS = 200, 20, 10


class Choices(NamedTuple):
    """What is shown."""

    metric: str
    k: int | None
    model: str
    other: str  #: the model that it is compared with; itself if it is alone
    user: Any  #: whose list is shown
    sort: str  #: a column of `values`
    ascending: bool = False
    search: str = ""  #: part of a user's id
    by: str = ""  #: what divides users into segments
    segment: str = ""  #: the segment whose users are shown; "" for all
    bar: str = ""  #: the bar of the histogram whose users are shown; "" for all


class Explorer(Live):
    """From a mean to the users behind it, and to one user's list; `choose` does by code
    what controls do in a notebook.

    `shown` is what is chosen, as `explorer.shown.metric`, and `values` has a row per
    user. The user whose list is shown is at first the one nearest to the mean.
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        metric: Any = "ndcg",
        k: int | None = 10,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> None:
        self.models, self.lang, self.options, names = (
            dict(models),
            checked(lang),
            options,
            [*models],
        )
        self.is_paired = len(names) > 1
        self.column = (
            "difference" if self.is_paired else "value"
        )  #: of the histogram and of segments
        self.shown = Choices(
            metric_named(metric, METRICS).name,
            k,
            names[-1],
            names[0],
            None,
            self.column,
        )
        self.values = self._values_of(self.shown)
        self.labels: pd.Series[Any] = self._labels_of("")  #: the segment of each user
        value = self.values["value"]
        self.shown = self.shown._replace(
            user=(value - self._mean_of(value)).abs().idxmin()
        )

    @property
    def columns(self) -> list[str]:
        """What may divide users into segments: columns of `users=` and, with `train=`,
        how much users did.
        """
        side = next(iter(self.models.values())).side_data
        of_users = [] if side.users is None else side.users.columns[1:]
        return list(
            dict.fromkeys([*of_users, *["activity"] * (side.train is not None)])
        )

    def choose(self, **choices: Any) -> None:
        """Choose what is shown, by the names of `Choices`; what is refused changes
        nothing.
        """
        if "metric" in choices:
            choices["metric"] = metric_named(choices["metric"], METRICS).name
        if odd := [name for name in choices if name not in Choices._fields]:
            problem = _("{name} is nothing to choose.", name=f"{odd[0]}=")
            raise OptionError(problem, fix=near(odd[0], Choices._fields, _))
        shown, values, labels = self.shown._replace(**choices), self.values, self.labels
        known: dict[str, Collection[Any]] = {
            "model": self.models,
            "other": self.models,
            "user": values.index,
            "sort": values.columns,
            "by": ["", *self.columns],
            "bar": ["", *self.bars()],
        }
        if "by" in choices and shown.by in known["by"]:
            labels, shown = (
                self._labels_of(shown.by),
                shown._replace(segment=choices.get("segment", "")),
            )
        known["segment"] = ["", *labels.unique()]
        for name in known.keys() & choices.keys():
            if choices[name] not in known[name]:
                problem = _("{value} is not here.", value=f"{name}={choices[name]!r}")
                known_here = near(str(choices[name]), map(str, known[name]), _)
                raise OptionError(problem, fix=known_here)
        if {"metric", "k", "model", "other"} & choices.keys():
            values, shown = self._values_of(shown), shown._replace(bar="")
        self.shown, self.values, self.labels = shown, values, labels
        self._draw()

    # Numbers.

    def to_frame(self) -> pd.DataFrame:
        """Return the users shown, in their order: value, hits, relevant items, length
        of the list, and the segment.
        """
        shown, frame = self.shown, self.values
        if shown.by:
            frame = frame.assign(
                **{
                    f"{shown.by} (segment)"
                    if shown.by in frame
                    else shown.by: self.labels
                }
            )
        kept = self._in_segment & frame.index.astype(str).str.contains(
            shown.search, case=False, regex=False
        )
        if shown.bar:
            kept &= self._bar_of_each() == shown.bar
        return frame[kept].sort_values(
            shown.sort, ascending=shown.ascending, kind="stable"
        )

    def means(self) -> dict[str, float]:
        """Return the mean of each model over the users of the segment that is shown."""
        values = self.values[self._in_segment]
        return {
            name: self._mean_of(values[name if self.is_paired else "value"])
            for name in self.models
        }

    def segments(self) -> pd.DataFrame:
        """Return the users and the mean of each segment."""
        of_each = self.values[self.column].groupby(self.labels, observed=True)
        means = of_each.apply(self._mean_of)
        return pd.DataFrame({"count": of_each.count(), "mean": means})

    def bars(self) -> dict[str, int]:
        """Return the number of users of the segment in each bar of the histogram; those
        of exactly 0 have their own.
        """
        counts = self._bar_of_each()[self._in_segment].value_counts(sort=False)
        return {str(bar): int(n) for bar, n in counts.items()}

    def counts(self) -> tuple[int, int, int]:
        """Return for how many users of the segment the model is better than the other,
        worse, and the same; where neither is better, higher and lower.
        """
        sign = METRICS[self.shown.metric].sign
        signs = np.sign(sign * self.values["difference"].round(12))[self._in_segment]
        return int((signs > 0).sum()), int((signs < 0).sum()), int((signs == 0).sum())

    def counts_in_words(self) -> str:
        """Return the counts as a sentence."""
        words = N_("{better:,} better, {worse:,} worse, {same:,} the same")
        if METRICS[self.shown.metric].better is None:
            words = N_("{better:,} higher, {worse:,} lower, {same:,} the same")
        better, worse, same = self.counts()
        return _(words, better=better, worse=worse, same=same)

    # What is shown, and what its controls do.

    def _html(self, live: bool) -> str:
        frame, words = (
            self.to_frame(),
            {"hits": _("hits"), "relevant": _("relevant"), "length": _("length")},
        )
        words |= {"difference": _("difference"), "value": self._label}
        columns = [
            column
            for column in map(str, self.values)
            if not (self.is_paired and column == "value")
        ]
        return render(
            "widgets/explorer.jinja",
            explorer=self,
            shown=self.shown,
            live=live,
            metrics={name: _metric_in_words(name) for name in METRICS},
            label=self._label,
            basis=self._score(self.shown.model).basis,
            frame=frame.head(LISTED if live else LISTED_STILL),
            n_users=len(frame),
            headers={
                column: words.get(column, one_line(column, 24)) for column in columns
            },
            n_segment=self._in_segment.sum(),
        )

    def _worked(self) -> list[str]:
        """Return the list of the user under each model that is shown, and how the
        number is made.
        """
        shown, options = self.shown, self._options(self.shown.metric)
        names = dict.fromkeys([shown.other, shown.model])
        lists = {
            name: self._answer(name, lambda ev: ev.user(shown.user, k=shown.k))
            for name in names
        }
        made = self._answer(
            shown.model,
            lambda ev: ev.explain(shown.metric, shown.user, k=shown.k, **options),
        )
        return [render("widgets/user.jinja", label=self._label, lists=lists, made=made)]

    def _answer(self, model: str, ask: Callable[[Any], Any]) -> str:
        """Return what a model answers as HTML, or the words in which it refuses."""
        try:
            return Markup(ask(self.models[model])._repr_html_())
        except RecnbError as refused:
            return str(refused)

    def _use(self, name: str, value: str, key: str) -> None:
        shown = self.shown
        # Names of the user's are chosen by their position.
        choices: dict[str, Callable[[], list[Any]]] = {
            "model": lambda: [*self.models],
            "other": lambda: [*self.models],
            "by": lambda: ["", *self.columns],
            "segment": lambda: [*self.segments().index],
            "bar": lambda: [*self.bars()],
            "user": lambda: [*self.to_frame().index],
        }
        chosen: Any = choices[name]()[int(value)] if name in choices else value
        if name == "k":
            if not (value or "0").isdecimal():
                raise OptionError(
                    _(
                        "k={value}: give a whole number from 1 up, or 0 for whole lists.",
                        value=value,
                    )
                )
            chosen = int(value or 0) or None
        elif name in ("segment", "bar") and chosen == getattr(
            shown, name
        ):  # chosen again: all users
            chosen = ""
        turned = (
            {"ascending": value == shown.sort and not shown.ascending}
            if name == "sort"
            else {}
        )
        self.choose(**{name: chosen}, **turned)

    def __repr__(self) -> str:
        means = [
            f"{one_line(name)} {fixed(mean)}".strip()
            for name, mean in self.means().items()
        ]
        with use_language(self.lang):
            return f"{self._label} = {'; '.join(means)}\n{self._score(self.shown.model).basis}"

    # Below.

    def _mean_of(self, values: pd.Series[Any]) -> float:
        """Return the mean of users, who may have weights; NaN if none has a value."""
        data = next(iter(self.models.values()))
        users = pl.Series(values.index.to_list(), dtype=data.joined.users.dtype)
        weights = data.source.weight_of(users)
        return float(mean_of(values.to_numpy(np.float64)[:, np.newaxis], weights)[0])

    @property
    def _label(self) -> str:
        return METRICS[self.shown.metric].label(self.shown.k)

    @property
    def _in_segment(self) -> pd.Series[bool]:
        return (self.labels == self.shown.segment) | (not self.shown.segment)

    def _options(self, metric: str) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.options.items()
            if name in METRICS[metric].defaults
        }

    def _score(self, model: str, shown: Choices | None = None) -> Any:
        metric, k = (shown or self.shown)[:2]
        with use_language(self.lang):
            data = self.models[model]
            return score_of(data, METRICS[metric], k, self._options(metric))

    def _values_of(self, shown: Choices) -> pd.DataFrame:
        """Return the metric of the users that all models have in common, with what
        their lists hold.
        """
        values = pd.concat(
            {name: self._score(name, shown).per_user for name in self.models},
            axis=1,
            join="inner",
        )
        if values.empty:
            label = METRICS[shown.metric].label(shown.k)
            problem = N_("no user has a value of {label}: all of them are left out.")
            raise NoUsersError(_(problem, label=label))
        frame, ev = (
            pd.DataFrame({"value": values[shown.model]}),
            self.models[shown.model],
        )
        if self.is_paired:
            frame = values.assign(
                value=values[shown.model],
                difference=values[shown.model] - values[shown.other],
            )
        lists = ev.to_frame().reindex(frame.index)
        hits = self._hits_of(ev, shown.k).reindex(frame.index)
        return frame.assign(
            hits=hits, relevant=lists["n_relevant"], length=lists["list_length"]
        )

    @staticmethod
    def _hits_of(data: EvaluationData, k: int | None) -> pd.Series[float]:
        """Return the number of hits of each user, whatever relevant pairs weigh."""
        is_weighted = data.joined.all_hits.truth_weight is not None
        counted = data.unweighted if is_weighted else data
        return score_of(counted, METRICS["cg"], k, {"gain": "binary"}).per_user

    def _labels_of(self, by: str) -> pd.Series[Any]:
        """Return the segment of each user, in the order in which `by=` has them."""
        if not by:
            return pd.Series("", self.values.index)
        found = segments_of(next(iter(self.models.values())), by)
        names, code = (
            [str(key) for (key,) in found.keys],
            found.of(pl.from_pandas(self.values.index)),
        )
        return pd.Series(np.array(names)[code], self.values.index).astype(
            pd.CategoricalDtype(names, ordered=True)
        )

    def _bar_of_each(self) -> pd.Series[Any]:
        """Return the bar of each user: those of a report, where a bar below 0 is that
        of the same numbers above 0, mirrored.
        """
        numbers = self.values[self.column].round(12)
        has_both_sides = self.is_paired or bool((numbers < 0).any())
        highest = BARS // 2 if has_both_sides else BARS
        low, high = METRICS[self.shown.metric].bounds
        reach = high - low if self.is_paired else max(abs(low), abs(high))
        end = 1.0 if reach == 1 else float(numbers.abs().max()) or 1.0
        names = self._bars_in_words(end, highest, has_both_sides=has_both_sides)
        code = bins_of(numbers.abs().to_numpy(), end, highest) + 1
        signed = pd.Series(np.sign(numbers.to_numpy()) * code, numbers.index)
        bar: pd.Series[Any] = signed.map(names)
        return bar.astype(pd.CategoricalDtype([*names.values()], ordered=True))

    def _bars_in_words(
        self, end: float, highest: int, *, has_both_sides: bool
    ) -> dict[int, str]:
        """Return what each bar is called, by its number from 0; with both sides there
        are as many below 0.
        """
        step, names = end / highest, {0: short(0.0)}
        with use_language(self.lang):
            for code in range(1, highest + 1):
                near, far = (code - 1) * step, code * step
                has_near, has_far = code > 1, code == highest
                names[code] = bin_in_words(near, far, has_near, has_far)
                if has_both_sides:
                    names[-code] = bin_in_words(-far, 0.0 - near, has_far, has_near)
        return dict(sorted(names.items()))


def _metric_in_words(name: str) -> str:
    """Return what a metric is called in the control that chooses it."""
    metric = METRICS[name]
    symbol = with_symbol(metric.term, metric.symbol)
    return _("{symbol} ({name})", symbol=symbol, name=name)
