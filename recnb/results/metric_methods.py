"""Every metric as users call it, a line each.

As a method of evaluations and of `df.rec`, and as a function of one list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, overload

from recnb.errors import Suggesting
from recnb.metrics import accuracy, diversity, history, retrieval
from recnb.metrics import coverage as of_all
from recnb.metrics import novelty as of_lists
from recnb.metrics.measure import Measure, called
from recnb.metrics.metric import AccuracyMetric, CatalogueMetric, ListMetric, Metric
from recnb.results.arguments import with_options
from recnb.results.evaluation_data import EvaluationData
from recnb.results.metric_docstrings import docstring_of
from recnb.results.score import CatalogueScore, Score, score_of
from recnb.results.single_list import Ranking, Truth, score_lists

P = ParamSpec("P")


class OneList(Protocol[P]):
    """A metric as a function of one ranking and what is relevant, or of several.

    It takes grades and scores as well.
    """

    __name__: str

    @overload
    def __call__(
        self,
        ranking: Ranking,
        truth: Truth | None = None,
        /,
        *args: P.args,
        **options: P.kwargs,
    ) -> Score: ...
    @overload
    def __call__(
        self, *, y_true: Any, y_score: Any, k: int | None = None, **options: Any
    ) -> Score: ...


@overload
def method(
    metric: CatalogueMetric[P],
) -> Callable[Concatenate[Any, P], CatalogueScore]: ...
@overload
def method(
    metric: AccuracyMetric[P] | ListMetric[P],
) -> Callable[Concatenate[Any, P], Score]: ...
def method(metric: Any) -> Any:
    """Return the method that gives a metric's number.

    `k` and the options are those of the metric's function.
    """

    def call(self: Methods, k: Any = None, **options: Any) -> Any:
        measure = with_options(Measure(metric), options).cut_at(k)
        return score_of(self._data, measure)

    _describe(call, metric, "CatalogueScore" if metric.of == "all" else "Score")
    call.__qualname__ = f"Evaluation.{metric.name}"
    return call


def on_lists(metric: Metric[P]) -> OneList[P]:
    """Return the plain function of a metric."""

    def call(
        ranking: Any = None,
        truth: Any = None,
        k: Any = None,
        *,
        y_true: Any = None,
        y_score: Any = None,
        **options: Any,
    ) -> Score:
        return score_lists(
            metric, ranking, truth, k, options, y_true=y_true, y_score=y_score
        )

    call.__module__ = "recnb"
    function: OneList[P] = _describe(call, metric)
    return function


def _describe(call: Any, metric: Metric[...], returned: str = "Score") -> Any:
    """Give the callable the metric's name, signature and docstring."""
    of_call = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(call).parameters.values()
        if parameter.name not in ("k", "options")
    ]
    of_metric = [*inspect.signature(metric.function).parameters.values()][1:]
    by_position = [
        parameter
        for parameter in of_call
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    parameters = [*by_position, *of_metric, *of_call[len(by_position) :]]
    call.__name__ = call.__qualname__ = metric.name
    call.__signature__ = inspect.Signature(parameters, return_annotation=returned)
    call.__doc__ = docstring_of(metric, parameters, returned)
    return call


class Methods(Suggesting):
    """The metrics, of the data of an evaluation."""

    @staticmethod
    def _meant(name: str) -> str:
        return called(name)

    @property
    def _data(self) -> EvaluationData:
        """The evaluation itself: `df.rec` calls each of these methods with one."""
        return self  # type: ignore[return-value]

    precision = method(accuracy.precision)
    recall = method(accuracy.recall)
    f1 = method(accuracy.f1)
    fbeta = method(accuracy.fbeta)
    hit_rate = method(accuracy.hit_rate)
    reciprocal_rank = method(accuracy.reciprocal_rank)
    mrr = reciprocal_rank
    average_precision = method(accuracy.average_precision)
    map = average_precision
    cg = method(accuracy.cg)
    dcg = method(accuracy.dcg)
    idcg = method(accuracy.idcg)
    ndcg = method(accuracy.ndcg)
    r_precision = method(accuracy.r_precision)
    rbp = method(accuracy.rbp)
    err = method(accuracy.err)

    coverage = method(of_all.coverage)
    user_coverage = method(of_all.user_coverage)
    gini = method(of_all.gini)
    entropy = method(of_all.entropy)
    personalization = method(of_all.personalization)
    novelty = method(of_lists.novelty)
    popularity = method(of_lists.popularity)
    popularity_rank = method(of_lists.popularity_rank)
    tail_share = method(of_lists.tail_share)
    diversity = method(diversity.diversity)
    serendipity = method(history.serendipity)
    calibration = method(history.calibration)


precision = on_lists(accuracy.precision)
recall = on_lists(accuracy.recall)
f1 = on_lists(accuracy.f1)
fbeta = on_lists(accuracy.fbeta)
hit_rate = on_lists(accuracy.hit_rate)
reciprocal_rank = on_lists(accuracy.reciprocal_rank)
mrr = reciprocal_rank
average_precision = on_lists(accuracy.average_precision)
map = average_precision
cg = on_lists(accuracy.cg)
dcg = on_lists(accuracy.dcg)
idcg = on_lists(accuracy.idcg)
ndcg = on_lists(accuracy.ndcg)
r_precision = on_lists(accuracy.r_precision)
rbp = on_lists(accuracy.rbp)
err = on_lists(accuracy.err)
auc = on_lists(retrieval.auc)
