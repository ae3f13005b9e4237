"""An Evaluation whose rows stay with an engine: means are sums over its parts, hits and values of users are fetched when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import Facts, Prepared, Source
from recnb.data.columns import columns_of
from recnb.data.parts import Parts, refuse_catalogue
from recnb.data.side_data import SideData, read_side_data
from recnb.display.templates import render
from recnb.distributed.kernel import MetricSums, Sums, highest, takes_scale
from recnb.errors import FrameError
from recnb.evaluate import ParsedOptions, parse_options
from recnb.evaluation import Evaluation
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Floats, Ints
from recnb.results.values import DistributedData, Request, Values, values_of
from recnb.stats import IntervalMethod


class SummedValues(Values):
    """A metric's means and intervals, of sums over users; the values of users are fetched when they are asked for."""

    _sums: MetricSums
    _fetch: Callable[[], Values]

    def __init__(self, request: Request, sums: MetricSums, fetch: Callable[[], Values]) -> None:
        """Take the means of the sums."""
        metric, k, options = request
        mean = np.array([each.mean[0] if each.n else np.nan for each in sums.moments])
        known = {"metric": metric, "options": options, "k": k, "mean": mean, "results": ()}
        vars(self).update(known, convention=sums.convention, basis=sums.basis, _sums=sums, _fetch=fetch)

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

    def interval(self, confidence: float = 0.95, method: IntervalMethod = "beta") -> tuple[Floats, Floats]:
        """Return the ends of the interval of each mean; the bootstrap draws from the values of users."""
        if method not in ("beta", "t"):
            return self.at_hand.interval(confidence, method)
        low, high = np.hstack([each.interval(confidence, method) for each in self._sums.moments])
        return low, high


class EngineData(DistributedData):
    """The data of an evaluation whose parts an engine holds; hits, truth and counts of users are fetched on first use, once."""

    def __init__(self, parts: Parts, given: ParsedOptions) -> None:
        """Describe the rows; nothing is computed."""
        self._parts, self._given = parts, given
        self._n_users: int | None = None
        self.library, self.overrides = given.library, dict(given.overrides)

    @cached_property
    def source(self) -> Source:
        """The lists, which stay where they are, and the truth, which is fetched with the hits."""
        return self._parts

    @cached_property
    def prepared(self) -> Prepared:
        """What is kept of all parts."""
        return self._given.data(self.source).prepared

    @cached_property
    def side_data(self) -> SideData:
        """The frames of train, items and users."""
        return read_side_data(self.source, None, self._given.columns, **self._given.side_data)

    @property
    def n_users(self) -> int:
        """The number of users evaluated."""
        return len(self.prepared.users) if self._n_users is None else self._n_users

    def values_of_each(self, requests: Sequence[Request]) -> list[Values]:
        """Compute metrics: their sums in one pass, and one more where a metric takes the scale of all grades."""
        if "prepared" in vars(self) or not all(metric.is_accuracy for metric, _k, _options in requests):
            return [values_of(self, *request) for request in requests]
        for metric, _k, options in requests:
            metric.check(options)
        given, scale = replace(self._given, side_data={}), 0.0
        if any(takes_scale(metric, options) for metric, _k, options in requests):
            scale = max(self._parts.each(partial(highest, given)), default=0.0)
        found = list(self._parts.each(partial(Sums.of, requests, given, scale)))
        if not found:
            Facts().check(0, given.convention, self._parts.layout)
        total = reduce(add, found)
        total.facts.check(total.n_users, total.convention, self._parts.layout)
        self._n_users = total.n_users
        return [
            SummedValues(request, sums, partial(values_of, self, *request))
            for request, sums in zip(requests, total.metrics, strict=True)
        ]


class PartedEvaluation(Evaluation):
    """An Evaluation of rows that stay with an engine, as `recnb.dask.evaluate` and `recnb.spark.evaluate` return it.

    Nothing is computed before a number is asked for. `table`, the metrics and `curve` bring back sums over the users of each part.
    Whatever looks at users side by side (`per_user`, `report`, segments, `lint`, `explain`, a comparison) fetches hits, truth
    and a few counts of each user, once; rows of single users are read where they are, and those of all lists are not.
    """

    def __init__(self, parts: Parts, given: ParsedOptions) -> None:
        """Describe the rows; nothing is computed."""
        refuse_catalogue(given.convention, parts.where, parts.remedy)
        for name, frame in given.side_data.items():
            if type(frame).__module__.split(".")[0] in ("dask", "pyspark"):
                problem = f"{name}= is looked at here, and not with an engine: give a pandas or Polars frame of it."
                raise FrameError(problem)
            columns_of(frame, name)
        self._parts, self._given = parts, given
        super().__init__(EngineData(parts, given))

    @property
    def convention(self) -> Convention:
        """The conventions given."""
        return self._given.convention

    def under(self, library: str) -> PartedEvaluation:
        """Return the same data under another library's conventions."""
        given = parse_options({**self._given.columns, **self._given.side_data, "convention": library})
        return PartedEvaluation(self._parts, given)

    def __repr__(self) -> str:
        return (
            f"Evaluation of {self._parts.where}, nothing computed yet; {self.convention}\n"
            "Methods: .table(k=[5, 10]), .ndcg(k=10), .curve('ndcg'), .report()"
        )

    def _repr_html_(self) -> str:
        return str(render("distributed/evaluation.jinja", lines=repr(self).split("\n")))
