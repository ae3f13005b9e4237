"""Every metric as a method, one binding line each: what an Evaluation and `df.rec` can be asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, overload

from recnb.metrics import accuracy, calibration, serendipity
from recnb.metrics import coverage as catalogue
from recnb.metrics import novelty as lists
from recnb.metrics.hits import Cutoffs
from recnb.metrics.list_metric import ListMetric
from recnb.metrics.metric import Credit
from recnb.metrics.recommendation_lists import PerUser, Whole
from recnb.results.binding import method

if TYPE_CHECKING:
    from recnb.results import Score
    from recnb.results.catalogue_score import CatalogueScore

P = ParamSpec("P")


@overload
def list_method(metric: ListMetric[P, Whole]) -> Callable[Concatenate[Any, P], CatalogueScore]: ...
@overload
def list_method(metric: ListMetric[P, PerUser | Credit]) -> Callable[Concatenate[Any, P], Score]: ...
def list_method(metric: Any) -> Any:
    """The method that gives a metric beyond accuracy; `k` and the options are those of the metric."""

    def call(self: Any, k: Any = None, **options: Any) -> Any:
        metric.check(options)
        return self._list_score(metric, Cutoffs.one(k).values[0], options)

    call.__name__ = metric.name
    call.__qualname__ = f"Evaluation.{metric.name}"
    call.__doc__ = inspect.getdoc(metric.function)
    own = list(inspect.signature(metric.function).parameters.values())[2:]
    self_ = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    returned = "CatalogueScore" if metric.of == "all" else "Score"
    call.__signature__ = inspect.Signature([self_, *own], return_annotation=returned)  # type: ignore[attr-defined]
    return call


class Methods:
    """The metrics; `score` and `list_score` say of what."""

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

    coverage = list_method(catalogue.coverage)
    user_coverage = list_method(catalogue.user_coverage)
    gini = list_method(catalogue.gini)
    entropy = list_method(catalogue.entropy)
    personalization = list_method(catalogue.personalization)
    novelty = list_method(lists.novelty)
    popularity = list_method(lists.popularity)
    popularity_rank = list_method(lists.popularity_rank)
    tail_share = list_method(lists.tail_share)
    diversity = list_method(lists.diversity)
    serendipity = list_method(serendipity.serendipity)
    calibration = list_method(calibration.calibration)
