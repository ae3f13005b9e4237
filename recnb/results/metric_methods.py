"""Every metric as users call it, a line each: as a method of evaluations and of `df.rec`, and as a function of one list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, overload

from recnb.errors import Suggesting
from recnb.metrics import accuracy, calibration, retrieval, serendipity
from recnb.metrics import coverage as catalogue
from recnb.metrics import novelty as lists
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import CatalogueMetric, Metric, UserMetric
from recnb.results.arguments import check_options
from recnb.results.documentation import describe
from recnb.results.single_list import Ranking, Truth, score_lists

if TYPE_CHECKING:
    from recnb.results.score import CatalogueScore, Score

P = ParamSpec("P")


class OneList(Protocol[P]):
    """A metric as a function of one ranking and what is relevant, or of several; or of grades and scores."""

    __name__: str

    @overload
    def __call__(
        self, ranking: Ranking, truth: Truth | None = None, /, *args: P.args, **options: P.kwargs
    ) -> Score: ...
    @overload
    def __call__(self, *, y_true: Any, y_score: Any, k: int | None = None, **options: Any) -> Score: ...


@overload
def method(metric: CatalogueMetric[P]) -> Callable[Concatenate[Any, P], CatalogueScore]: ...
@overload
def method(metric: UserMetric[P]) -> Callable[Concatenate[Any, P], Score]: ...
def method(metric: Any) -> Any:
    """Return the method that gives a metric's number; `k` and the options are those of the metric's function."""

    def call(self: Any, k: Any = None, **options: Any) -> Any:
        check_options(metric, options)
        return self._score(metric, Cutoffs.one(k).values[0], options)

    returned = "CatalogueScore" if metric.of == "all" else "Score"
    describe(call, metric, ["self"], returned)
    call.__qualname__ = f"Evaluation.{metric.name}"
    return call


def on_lists(metric: Metric[P]) -> OneList[P]:
    """Return the plain function of a metric."""

    def call(
        ranking: Any = None, truth: Any = None, k: Any = None,
        *, y_true: Any = None, y_score: Any = None, ties: Any = None, **options: Any,
    ) -> Score:  # fmt: skip
        return score_lists(metric, ranking, truth, k, options, y_true=y_true, y_score=y_score, ties=ties)

    call.__module__ = "recnb"
    function: OneList[P] = describe(call, metric, ["ranking", "truth"], "Score", ["y_true", "y_score", "ties"])
    return function


class Methods(Suggesting):
    """The metrics; a class with these methods has `_score(metric, k, options)`, which computes one."""

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

    judged = method(retrieval.judged)
    bpref = method(retrieval.bpref)
    interpolated_precision = method(retrieval.interpolated_precision)

    coverage = method(catalogue.coverage)
    user_coverage = method(catalogue.user_coverage)
    gini = method(catalogue.gini)
    entropy = method(catalogue.entropy)
    personalization = method(catalogue.personalization)
    novelty = method(lists.novelty)
    popularity = method(lists.popularity)
    popularity_rank = method(lists.popularity_rank)
    tail_share = method(lists.tail_share)
    diversity = method(lists.diversity)
    serendipity = method(serendipity.serendipity)
    calibration = method(calibration.calibration)


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
