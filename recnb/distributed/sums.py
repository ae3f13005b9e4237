"""Sums over the values of some users, which add up with those of other users: all that means and their intervals need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from recnb.conventions import Convention
from recnb.display.language import _, current
from recnb.errors import OptionError, is_several
from recnb.metrics.hits import Cutoffs, Floats, Hits
from recnb.metrics.metric import Metric, metric_named
from recnb.results import Table
from recnb.results.arguments import Metrics, asked_of, chosen_metrics, options_of
from recnb.results.evaluation_data import BLOCK, EvaluationData, Scoring, average, cutoffs_under, hits_for
from recnb.results.means import wide_table
from recnb.results.plots import parts_of
from recnb.results.provenance import Basis, merged
from recnb.results.score import Interval, MetricValue
from recnb.stats import Moments
from recnb.stats.intervals import SumsMethod, check_method


@dataclass(frozen=True, eq=False)
class Question:
    """Several metrics at several cut-offs, each with its options."""

    metrics: Metrics
    k: Cutoffs
    options: Mapping[str, Any]
    own: Mapping[str, Metric[...]]  #: metrics that are not recnb's, which a worker has to be sent

    @classmethod
    def of(cls, library: str | None, metrics: Metrics, k: object, options: Mapping[str, Any]) -> Question:
        """Check the metrics of a call, by default those that a library has; what is misspelt raises an error here."""
        if metrics is None:
            metrics = [each.name for each in asked_of(library, None, {})]
        elif is_several(metrics) and not isinstance(metrics, Mapping):
            metrics = list(metrics)
        asked = cls(metrics, Cutoffs.of(k), dict(options), {})
        chosen = [metric for metric, _options in asked.chosen()]
        return replace(
            asked, own={one.name: one for one in chosen if not str(one.function.__module__).startswith("recnb.")}
        )

    def chosen(self) -> list[tuple[Metric[...], dict[str, Any]]]:
        """Return the metrics with their options, all of which they have."""
        metrics = chosen_metrics(self.metrics)
        return [(metric, options_of(metric, self.metrics, self.options, metrics)) for metric in metrics]

    @property
    def needs_scale(self) -> bool:
        """Whether a metric uses the highest relevance of all users."""
        return any(_takes_scale(metric, own) for metric, own in self.chosen())


class PartialScore(MetricValue):
    """A metric's mean over users of many parts: a float with the number of users, its cut-off and its convention.

    The values of users are not kept; its interval comes of sums over them.
    """

    moments: Moments  #: of one column

    def __new__(cls, moments: Moments, metric: str, k: int | None, convention: Convention, basis: str) -> Self:
        """The mean of the moments, which stay with it."""
        self = float.__new__(cls, _mean(moments))
        vars(self).update(metric=metric, k=k, convention=convention, lang=current(), moments=moments, words=basis)
        return self

    @property
    def basis(self) -> str:
        """In words: how many users, who was left out, and by what convention."""
        return str(vars(self)["words"])

    @property
    def n_users(self) -> int:
        """The number of users that the mean is over."""
        return self.moments.n

    def interval(self, confidence: float = 0.95, method: SumsMethod = "beta") -> Interval:
        """Interval for the mean, taking the users as a sample: the same that `Score.interval` gives."""
        check_method(method, ("beta", "t"))
        low, high = self.moments.interval(confidence, method)
        return Interval(float(low[0]), float(high[0]), float(confidence), method)


@dataclass(frozen=True, eq=False)
class Sums:
    """Metrics at cut-offs, over some users."""

    metrics: tuple[str, ...]
    k: tuple[int | None, ...]
    moments: tuple[tuple[Moments, ...], ...]  #: by metric, then by cut-off
    bases: tuple[Basis, ...]  #: by metric
    n_users: int  #: evaluated
    n_relevant: int  #: pairs of one of these and a relevant item
    convention: Convention  #: of the data

    def __add__(self, other: Sums) -> Sums:
        return replace(
            self,
            moments=tuple(_added(a, b) for a, b in zip(self.moments, other.moments, strict=True)),
            bases=tuple(_both(a, b) for a, b in zip(self.bases, other.bases, strict=True)),
            n_users=self.n_users + other.n_users,
            n_relevant=self.n_relevant + other.n_relevant,
        )

    def table(self, *, intervals: bool = False) -> Table:
        """Return means over users, a row per metric and a column per cut-off, as the `table` of an evaluation."""
        numbers: list[Any] = [np.array([[_mean(moments) for moments in own] for own in self.moments])]
        if intervals:
            numbers += [*np.array([_ends(own) for own in self.moments]).transpose(1, 0, 2)]
        words = [*self._phrases(), *[_("95% intervals")] * intervals]
        table = wide_table(self.metrics, numbers, Cutoffs(self.k), words)
        decisions = {name: basis.convention.decisions() for name, basis in self._named()}
        table.attrs |= {"n_users": self.n_users, "convention": "; ".join(merged(decisions))}
        if not intervals:
            table._measured = lambda: parts_of(self.table(intervals=True))
        return table

    def score(self) -> PartialScore:
        """Return the mean of the one metric at the one cut-off, with its interval."""
        (name,), (k,), (basis,) = self.metrics, self.k, self.bases
        return PartialScore(self.moments[0][0], name, k, basis.convention, "; ".join(basis.phrases()))

    def curve(self) -> Table:
        """Return the one metric at all cut-offs, with a 95% interval at each."""
        (metric,) = map(metric_named, self.metrics)
        means, ends = [_mean(moments) for moments in self.moments[0]], _ends(self.moments[0])
        frame = pd.DataFrame(np.transpose([means, *ends]), pd.Index([*self.k], name="k"), [metric.name, "low", "high"])
        table = Table.made(frame, [*self._phrases(), _("95% intervals")])
        table.attrs |= {"drawn": "curve", "symbol": metric.symbol, "n_users": self.n_users}
        return table

    def _named(self) -> list[tuple[str, Basis]]:
        return list(zip(self.metrics, self.bases, strict=True))

    def _phrases(self) -> list[str]:
        return merged({name: basis.phrases(brief=True) for name, basis in self._named()})


def sums_of(data: EvaluationData, question: Question, scale: float | None = None) -> Sums:
    """Sum up the values of the users of an evaluation's data; `scale` is the highest relevance of all users."""
    cutoffs, requests = question.k, question.chosen()
    scorings = [data.scoring(metric, options, whole=cutoffs.values == (None,)) for metric, options in requests]
    own = [_scaled(scoring, scale) for scoring in scorings]
    moments: dict[int, tuple[Moments, ...]] = {}
    # Metrics of the same data see the same block of users, of which much is worked out once.
    for prepared in {id(scoring.prepared): scoring.prepared for scoring in scorings}.values():
        refuse_catalogue(prepared.convention, "this number")
        rows = [row for row, scoring in enumerate(scorings) if scoring.prepared is prepared]
        under = cutoffs_under(prepared.convention, cutoffs)
        hits = hits_for(prepared, [(scorings[row].metric, own[row]) for row in rows], under)
        for start, stop in hits.blocks(BLOCK):
            block = hits.user_range(start, stop)
            for row in rows:
                added = _moments_of(block, scorings[row], own[row], under)
                moments[row] = _added(moments[row], added) if row in moments else added
    bases = (
        data.basis_of(scoring, scoring.metric.cutoffs(cutoffs), options)
        for scoring, (_metric, options) in zip(scorings, requests, strict=True)
    )
    return Sums(
        metrics=tuple(scoring.metric.name for scoring in scorings),
        k=cutoffs.values,
        moments=tuple(moments[row] for row in range(len(scorings))),
        bases=tuple(basis if basis.scale is None else replace(basis, scale=scale) for basis in bases),
        n_users=data.counts.n_users,
        n_relevant=data.counts.n_relevant,
        convention=data.prepared.convention,
    )


def refuse_catalogue(convention: Convention, what: str) -> None:
    """Refuse what users outside a part decide."""
    if convention.candidates == "catalogue":
        raise OptionError(
            f"{what}: candidates='catalogue' ranks every item of all users below each list, which a part of the users "
            "does not know: evaluate all users at once, recnb.evaluate(recs, truth)."
        )


def _takes_scale(metric: Metric[...], options: Mapping[str, Any]) -> bool:
    """Whether a metric with these options uses the highest relevance of all users."""
    return options.get("max_relevance", metric.defaults.get("max_relevance", 0)) is None


def _scaled(scoring: Scoring, scale: float | None) -> dict[str, Any]:
    """Return a metric's options, with the scale of grades where it takes one."""
    own = dict(scoring.options)
    # Where nothing is relevant, the data have no scale, and need none.
    return {**own, "max_relevance": scale or None} if _takes_scale(scoring.metric, own) else own


def _moments_of(block: Hits, scoring: Scoring, options: Mapping[str, Any], cutoffs: Cutoffs) -> tuple[Moments, ...]:
    matrix, _mean = average(scoring.metric.at(block, cutoffs, options), scoring.convention)
    columns = zip(matrix.T, ~np.isnan(matrix).T, strict=True)
    return tuple(Moments.of(values[rows, np.newaxis], scoring.metric.bounds) for values, rows in columns)


def _mean(moments: Moments) -> float:
    return float(moments.mean[0]) if moments.n else np.nan


def _added(a: Sequence[Moments], b: Sequence[Moments]) -> tuple[Moments, ...]:
    return tuple(left + right for left, right in zip(a, b, strict=True))


def _both(a: Basis, b: Basis) -> Basis:
    users, without_list, without_relevant = (mine + theirs for mine, theirs in zip(a.counts, b.counts, strict=True))
    return replace(a, counts=(users, without_list, without_relevant), notes=tuple(dict.fromkeys((*a.notes, *b.notes))))


def _ends(moments: Sequence[Moments]) -> list[Floats]:
    """Return the lower and the upper ends of the intervals of all columns."""
    return [np.concatenate(ends) for ends in zip(*(moment.interval() for moment in moments), strict=True)]


__all__ = ["Question", "Sums", "refuse_catalogue", "sums_of"]
