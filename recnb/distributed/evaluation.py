"""An Evaluation whose rows stay with an engine: means are sums over its parts; hits,
and values of users, are fetched when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import Facts, Frame, Layout, Prepared, Source, table_of, validation
from recnb.data.columns import Labels
from recnb.data.parts import Parts, check_parts, of_one_part, part_of, refuse_catalogue
from recnb.data.side_data import SideData, read_side_data
from recnb.data.source import Tables
from recnb.display.language import _
from recnb.display.templates import render
from recnb.errors import FrameError
from recnb.evaluate import ParsedOptions
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs, Floats, Ints, cached_property
from recnb.metrics.metric import Metric
from recnb.results.evaluation_data import EvaluationData, values_of
from recnb.results.values import Basis, Request, Values
from recnb.stats import IntervalMethod, Moments

T = TypeVar("T")

#: Columns that an engine adds: the place of a row before it was moved, for the order of
#: equal scores; the bucket of its user.
ROW, BUCKET = "recnb_row", "recnb_bucket"


# ---- what a task does


def call(work: Callable[[Tables], T], recs: Frame, truth: Frame, layout: Layout) -> T:
    """Call a function of a part; columns of its rows are named by role, and either side
    may have none.
    """
    with of_one_part():
        return work(read_part(recs, truth, layout))


def read_part(recs: Frame, truth: Frame, layout: Layout) -> Tables:
    """Read the rows of some users."""
    return part_of(
        _rows(recs, "recommendations", layout.recs),
        _rows(truth, "truth", layout.truth),
        layout,
    )


def _rows(frame: Frame, name: str, labels: Labels) -> pl.DataFrame:
    table = (
        table_of(frame, name, {role: role for role in (*labels, ROW)})
        .sort(ROW)
        .drop(ROW)
    )
    return validation.ids(table, name, labels) if table.height else table


@dataclass(frozen=True, eq=False)
class MetricSums:
    """One metric, over some users: what its means and their intervals need, which adds
    up with that of other users.
    """

    moments: tuple[Moments, ...]  #: by cut-off
    basis: Basis
    convention: Convention  #: with the metric's options

    @classmethod
    def of(cls, found: Values) -> MetricSums:
        """Sum up the values of users."""
        assert isinstance(found.basis, Basis)
        columns = zip(found.matrix.T, ~np.isnan(found.matrix).T, strict=True)
        moments = (
            Moments.of(values[kept, np.newaxis], found.metric.bounds)
            for values, kept in columns
        )
        return cls(tuple(moments), found.basis, found.convention)

    def __add__(self, other: MetricSums) -> MetricSums:
        moments = tuple(
            mine + theirs
            for mine, theirs in zip(self.moments, other.moments, strict=True)
        )
        counts = tuple(np.add(self.basis.counts, other.basis.counts).tolist())
        notes = tuple(dict.fromkeys((*self.basis.notes, *other.basis.notes)))
        both = [
            one for one in (self.basis.weights, other.basis.weights) if one is not None
        ]
        basis = replace(
            self.basis,
            counts=counts,
            notes=notes,
            weights=reduce(add, both) if both else None,
        )
        return MetricSums(moments, basis, self.convention)


@dataclass(frozen=True, eq=False)
class Sums:
    """Several metrics over some users."""

    metrics: tuple[MetricSums, ...]
    facts: tuple[Facts, ...]  #: of each part
    n_users: int  #: evaluated
    convention: Convention  #: of the data

    @classmethod
    def of(
        cls, requests: Sequence[Request], given: ParsedOptions, part: Tables
    ) -> Sums:
        """Evaluate a part, and sum up."""
        data = given.data(part)
        metrics = tuple(
            MetricSums.of(values_of(data, *request)) for request in requests
        )
        return cls(
            metrics,
            (Facts.of(part, data.prepared.all_hits.max_relevance),),
            data.n_users,
            data.convention,
        )

    def __add__(self, other: Sums) -> Sums:
        metrics = tuple(
            mine + theirs
            for mine, theirs in zip(self.metrics, other.metrics, strict=True)
        )
        return Sums(
            metrics,
            self.facts + other.facts,
            self.n_users + other.n_users,
            self.convention,
        )


# ---- what comes back


class SummedValues(Values):
    """A metric's means and intervals, of sums over users; the values of users are
    fetched when they are asked for.
    """

    _sums: MetricSums
    _fetch: Callable[[], Values]

    def __init__(
        self, request: Request, sums: MetricSums, fetch: Callable[[], Values]
    ) -> None:
        metric, k, options = request
        mean = np.array([each.mean[0] if each.n else np.nan for each in sums.moments])
        known = {
            "metric": metric,
            "options": options,
            "k": k,
            "mean": mean,
            "results": (),
        }
        vars(self).update(
            known,
            convention=sums.convention,
            basis=sums.basis,
            _sums=sums,
            _fetch=fetch,
        )

    @cached_property
    def at_hand(self) -> Values:
        """The same, with the values of users in memory."""
        return self._fetch()

    @property
    def users(self) -> pl.Series:
        """The users evaluated."""
        return self.at_hand.users

    @property
    def matrix(self) -> Floats:
        """Users × cut-offs."""
        return self.at_hand.matrix

    @property
    def n_users(self) -> Ints:
        """The number of users averaged, by cut-off."""
        return np.array([each.n for each in self._sums.moments])

    def interval(
        self, confidence: float = 0.95, method: IntervalMethod = "beta"
    ) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each mean; the bootstrap draws from the
        values of users.
        """
        if method not in ("beta", "t"):
            return self.at_hand.interval(confidence, method)
        low, high = np.hstack(
            [each.interval(confidence, method) for each in self._sums.moments]
        )
        return low, high


class EngineData(EvaluationData):
    """The data of an evaluation whose parts an engine holds; hits, truth and counts of
    users are fetched on first use, once.
    """

    def __init__(self, parts: Parts, given: ParsedOptions) -> None:
        self._parts, self._given = parts, given
        self._n_users: int | None = None
        self.library, self.overrides = given.library, dict(given.overrides)

    @property
    def source(self) -> Source:
        """The lists, which stay where they are, and the truth, which is fetched with
        the hits.
        """
        return self._parts

    @cached_property
    def prepared(self) -> Prepared:
        """What is kept of all parts."""
        return self._given.data(self._parts).prepared

    @cached_property
    def side_data(self) -> SideData:
        """The frames of train, items and users."""
        return read_side_data(
            self._parts, None, self._given.columns, **self._given.side_data
        )

    @property
    def n_users(self) -> int:
        """The number of users evaluated."""
        return len(self.prepared.users) if self._n_users is None else self._n_users

    def values_of_each(self, requests: Sequence[Request]) -> Iterable[Values]:
        """Compute metrics: their sums in one pass; or of hits, where they are here or a
        sum over each part is not enough.
        """
        for metric, _k, options in requests:
            metric.check(options)
        here = "prepared" in vars(self) or self._parts.user_weights is not None
        if here or not all(_adds_up(*request) for request in requests):
            return super().values_of_each(requests)
        found = list(
            self._parts.each(
                partial(
                    Sums.of, requests, replace(self._given, side_data={}, weights={})
                )
            )
        )
        if not found:
            check_parts([], 0, self._given.convention)
        total = reduce(add, found)
        check_parts(total.facts, total.n_users, total.convention)
        self._n_users = total.n_users
        pairs = zip(requests, total.metrics, strict=True)
        return [
            SummedValues(request, sums, partial(values_of, self, *request))
            for request, sums in pairs
        ]


def _adds_up(metric: Metric[...], _k: Cutoffs, options: Mapping[str, object]) -> bool:
    """Say whether the values of a part's users need these users alone, and not the
    highest relevance of all.
    """
    return (
        metric.is_accuracy
        and {"max_relevance": 0, **metric.defaults, **options}["max_relevance"]
        is not None
    )


class PartedEvaluation(Evaluation):
    """An Evaluation of rows that stay with an engine, as `recnb.dask.evaluate` and
    `recnb.spark.evaluate` return it.

    Nothing is computed before a number is asked for. `table`, the metrics and `curve`
    bring back sums over the users of each part. Whatever looks at users side by side
    (`per_user`, `report`, segments, `lint`, `explain`, a comparison) fetches hits,
    truth and a few counts of each user, once, and so does ERR, whose scale is that of
    all grades; rows of single users are read where they are.
    """

    def __init__(self, parts: Parts, given: ParsedOptions) -> None:
        refuse_catalogue(given.convention, parts)
        if (column := parts.layout.model) is not None:
            problem = (
                f"recommendations have a column of models, {column!r}, which is not "
                f"read here."
            )
            fix = (
                "Keep the rows of one model and drop the column, or compare frames of "
                "one model each."
            )
            raise FrameError(problem, fix=fix)
        for name, frame in given.side_data.items():
            if type(frame).__module__.split(".")[0] in ("dask", "pyspark"):
                problem = (
                    f"{name}= is looked at here, and not with an engine: give a "
                    f"pandas or Polars frame of it."
                )
                raise FrameError(problem)
        given.weigh(parts, given.side_data)
        self._parts, self._given = parts, given
        super().__init__(EngineData(parts, given))

    def __repr__(self) -> str:
        calls = ".table(k=[5, 10]), .ndcg(k=10), .curve('ndcg'), .report()"
        held = _(
            "Evaluation of {where}, nothing computed yet", where=_(self._parts.where)
        )
        return f"{held}; {self._given.convention}\n{_('Methods: {calls}', calls=calls)}"

    def _repr_html_(self) -> str:
        return str(render("distributed/evaluation.jinja", lines=repr(self).split("\n")))
