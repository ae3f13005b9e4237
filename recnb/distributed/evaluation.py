"""An Evaluation whose rows stay with an engine: means are sums of its parts, hits and values of users are fetched when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import add
from typing import Any

import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.data import Facts, Source
from recnb.data.columns import columns_of
from recnb.data.parts import Parts
from recnb.data.relevance import LazyRows
from recnb.data.side_data import read_side_data
from recnb.data.source import elsewhere
from recnb.distributed import kernel
from recnb.distributed.sums import PartialScore, Question, Sums, refuse_catalogue
from recnb.errors import FrameError, OptionError
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric
from recnb.options import ParsedOptions, parse_options
from recnb.results import Table
from recnb.results.arguments import Metrics
from recnb.results.evaluation_data import EvaluationData


class SumScore(PartialScore):
    """A metric's mean over users, of sums; the values of users are fetched when asked for."""

    _values: Callable[[], pd.Series[float]]

    @property
    def per_user(self) -> pd.Series[float]:
        """The value of each user, indexed by user."""
        return self._values()


class PartedEvaluation(Evaluation):
    """An Evaluation of rows that stay with an engine, as `recnb.dask.evaluate` and `recnb.spark.evaluate` return it.

    Nothing is computed before a number is asked for. `table`, the metrics and `curve` bring back sums over the users of each part.
    Whatever looks at users side by side (`per_user`, `report`, segments, `lint`, `explain`, a comparison) fetches hits, truth
    and a few counts of each user, once; rows of single users are read where they are, and those of all lists are not.
    """

    def __init__(self, parts: Parts, given: ParsedOptions, floats: tuple[str, ...] = ()) -> None:
        self._parts, self._given, self._floats = parts, given, floats
        refuse_catalogue(given.convention, parts.where)
        for name, frame in given.side_data.items():
            if type(frame).__module__.split(".")[0] in ("dask", "pyspark"):
                problem = f"{name}= is looked at here, and not with an engine: give a pandas or Polars frame of it."
                raise FrameError(problem)
            columns_of(frame, name)

    @cached_property
    def _data(self) -> EvaluationData:  # type: ignore[override]
        given, layout = self._given, self._parts.layout

        def truth() -> pl.DataFrame:
            return source.under(given.convention_for(source)).judged.select(*layout.truth)

        source = Source(self._parts.away, LazyRows(truth), layout.recs, layout.truth, floats=self._floats)
        return given.data(source, read_side_data(source, None, given.columns, **given.side_data))

    @property
    def convention(self) -> Convention:
        """The conventions given."""
        return self._given.convention

    def under(self, library: str) -> PartedEvaluation:
        """Return the same data under another library's conventions."""
        given = parse_options({**self._given.columns, **self._given.side_data, "convention": library})
        return PartedEvaluation(self._parts, given, self._floats)

    def table(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        intervals: bool = False,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> Table:
        """Return means over users, as the table of any Evaluation."""
        if by is not None:
            return super().table(metrics, k, by=by, bins=bins, **options)
        if not isinstance(intervals, bool):
            raise OptionError(f"intervals={intervals!r}: say True or False.")
        return self._sums(metrics, k, options).table(intervals=intervals)

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Any:
        """Return a metric at many cut-offs, with a 95% interval at each."""
        return self._sums([metric], Cutoffs.of_curve(k), options).curve()

    def _score(self, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> Any:
        if not metric.is_accuracy:  # these look at all lists together, which no part holds
            raise elsewhere(self._parts.where, self._parts.remedy)
        mean = self._sums([metric.name], k, options).score()
        score = SumScore(mean.moments, mean.metric, mean.k, mean.convention, mean.basis)
        score._values = lambda: super(PartedEvaluation, self)._score(metric, k, options).per_user
        return score

    def _sums(self, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> Sums:
        """Add up what a question gives in each part: one pass, and one more where a metric takes the scale of all grades."""
        question, given = Question.of(self._given.library, metrics, k, options), replace(self._given, side_data={})
        scale = max(self._parts.each(partial(kernel.highest, given)), default=0.0) if question.needs_scale else None
        found = list(self._parts.each(partial(kernel.add_up, question, given, scale)))
        if not found:
            Facts().check(0, 0, self.convention, self._parts.layout)
        total, facts = found[0]
        for sums, own in found[1:]:
            total, facts = add(total, sums), add(facts, own)
        facts.check(total.n_users, total.n_relevant, total.convention, self._parts.layout)
        return total

    def __repr__(self) -> str:
        return (
            f"Evaluation of {self._parts.where}, nothing computed yet; {self.convention}\n"
            "Methods: .table(k=[5, 10]), .ndcg(k=10), .curve('ndcg'), .report()"
        )

    def _repr_html_(self) -> str:
        from recnb.display.templates import render

        return str(render("distributed/evaluation.jinja", lines=repr(self).split("\n")))
