"""A metric as a method: `ndcg = method(accuracy.ndcg)` in a class body, typed, documented and completed like any other."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol

from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric

if TYPE_CHECKING:
    from recnb.results import Score

P = ParamSpec("P")


class Scores(Protocol):
    """What a metric can be bound to."""

    def _score(self, metric: Metric[...], k: int | None, options: dict[str, Any], /) -> Score:
        """The mean of a metric."""
        ...


def method(metric: Metric[P]) -> Callable[Concatenate[Any, P], Score]:
    """The method that gives a metric's mean over users; `k` and the options are those of the metric."""

    def call(self: Any, k: Any = None, **options: Any) -> Score:
        metric.check(options)
        return self._score(metric, Cutoffs.one(k).values[0], options)  # type: ignore[no-any-return]

    call.__name__ = metric.name
    call.__qualname__ = f"Evaluation.{metric.name}"
    call.__doc__ = inspect.getdoc(metric.function)
    own = list(inspect.signature(metric.function).parameters.values())[1:]
    self_ = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = inspect.Signature([self_, *own], return_annotation="Score")  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]  # the parameters are those of __signature__
