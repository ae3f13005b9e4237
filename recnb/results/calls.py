"""A metric as users call it: a method of evaluations, and a function of lists.

The docstring of both is that of the metric's function, which has the meaning of its
number, its options and examples. What metrics share is put in here.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any, Concatenate, TypeVar, overload

from recnb.metrics.hits import Hits, one_cutoff
from recnb.metrics.measure import Measure
from recnb.metrics.metric import (
    KINDS,
    METRICS,
    REFERENCES,
    RETRIEVAL_METRICS,
    Credit,
    Metric,
    P,
)
from recnb.results.score import Score, score_of
from recnb.results.single_list import Ranking, Truth, score_lists

S = TypeVar("S")

#: The parameters that all metrics share, as docstrings describe them: before the options,
#: and after.
SHARED = {
    "ranking": "ranking : list\n    Items from rank 1 down, or the relevance of each rank; a "
    "list of such lists gives their mean.",
    "truth": "truth : mapping, list or set, optional\n    Relevance of each item, or the "
    "relevant items; for several rankings, one for each.",
    "k": "k : int, optional\n    Cut-off: the rank after which a list is cut, and its "
    "ideal. None: the whole list of each user.",
}
Y_TRUE = (
    "y_true, y_score : array-like, optional\n    In place of a ranking: the relevance and "
    "the score of each item, in any order; equal scores keep their order."
)
#: The parameters of a method before those of the metric's function.
SELF = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
#: The parameters of a function of lists before those of the metric's function, and
#: after.
LISTS = [
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None)
    for name in ("ranking", "truth")
]
SCORES = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=None)
    for name in ("y_true", "y_score")
]
RETURNS = {
    "Score": "Score\n    A float with `per_user`, `interval()`, `plot()` and its convention.",
    "CatalogueScore": "CatalogueScore\n    A float with `per_item` and its convention.",
}

#: The docstrings made here, by name and type: doctest runs what a module has under this
#: name beside its functions.
__test__: dict[str, str] = {}


class AccuracyMetric(Metric[P]):
    """A metric of hits: it returns `Credit`, of which each user has a value."""

    is_accuracy = True

    @overload  # type: ignore[override]
    def __call__(self, hits: Hits, /, *args: P.args, **options: P.kwargs) -> Credit: ...
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
    def __call__(self, *given: Any, **options: Any) -> Any:  # type: ignore[misc]
        """Compute the metric of one list or several; in another metric, of hits."""
        if given and isinstance(given[0], Hits):
            return super().__call__(*given, **options)
        return score_lists(self, *given, **options)

    @property
    def registry(self) -> dict[str, Metric[...]]:
        """The metrics of accuracy, or the measures of search."""
        return RETRIEVAL_METRICS if self.retrieval else METRICS


KINDS["Credit"] = AccuracyMetric


@overload
def method(metric: Metric[P]) -> Callable[Concatenate[Any, P], Score]: ...
@overload
def method(
    metric: Metric[P], returned: type[S]
) -> Callable[Concatenate[Any, P], S]: ...
def method(metric: Any, returned: type[Any] = Score) -> Any:
    """Return the method that gives a metric's number of an evaluation.

    `k` and the options are those of the metric's function; `returned` is the type of
    the number.
    """

    def call(self: Any, k: Any = None, **options: Any) -> Any:
        metric.check(options)
        return score_of(self, Measure(metric, options, one_cutoff(k)))

    _describe(call, metric, returned.__name__, before=SELF)
    call.__qualname__ = f"Evaluation.{metric.name}"
    return call


def function(metric: Metric[P]) -> AccuracyMetric[P]:
    """Give a metric the name, signature and docstring of a function of lists."""
    assert isinstance(metric, AccuracyMetric)
    _describe(metric, metric, "Score", before=LISTS, after=SCORES)
    return metric


def _describe(
    call: Any,
    metric: Metric[...],
    returned: str,
    *,
    before: Sequence[Parameter],
    after: Sequence[Parameter] = (),
) -> None:
    """Give a callable the metric's name, signature and docstring.

    Its parameters are some of its own `before`, those of the metric's function (k and the
    options), and some `after`.
    """
    _hits, *of_metric = inspect.signature(metric.function).parameters.values()
    parameters = [*before, *of_metric, *after]
    docstring = _docstring_of(metric, [each.name for each in parameters], returned)
    described = {
        "__name__": metric.name,
        "__qualname__": metric.name,
        "__module__": __name__,
        "__signature__": Signature(parameters, return_annotation=returned),
        "__doc__": docstring,
    }
    for name, value in described.items():
        object.__setattr__(call, name, value)  # a metric is frozen
    __test__[f"{metric.name} of {parameters[0].name}"] = docstring


def _docstring_of(metric: Metric[...], parameters: list[str], returned: str) -> str:
    """Return the docstring of a call of a metric that takes these parameters."""
    written = inspect.getdoc(metric.function) or ""
    text, _heading, examples = written.partition(_heading_of("Examples"))
    meaning, _heading, options = text.partition(_heading_of("Parameters"))
    summary, *paragraphs = meaning.rstrip().split("\n\n")
    if not options:  # of a metric of one's own, whose options are numbers
        options = "\n".join(
            f"{name} : {type(default).__name__}, default {default}"
            for name, default in metric.defaults.items()
        )
    shared = [text for name, text in SHARED.items() if name in parameters]
    scores = Y_TRUE if "y_true" in parameters else ""
    sections = {
        "Parameters": "\n".join(filter(None, [*shared, options.rstrip(), scores])),
        "Returns": RETURNS[returned],
        "References": "\n".join(map(_reference, metric.references)),
        "Examples": examples,
    }
    texts = [f"{_heading_of(title)}{text}" for title, text in sections.items() if text]
    return "\n\n".join([" ".join(summary.split()), *paragraphs, *texts]) + "\n"


def _reference(key: str) -> str:
    """Return a publication, as a list of references prints it."""
    row: dict[str, Any] = REFERENCES[key]
    place = f"https://doi.org/{row['doi']}" if row["doi"] else ""
    entry = f"{row['authors']} {row['year']}. {row['title']}. {row['where']}. {place}"
    return textwrap.fill(f"- {entry.strip()}", 84, subsequent_indent="  ")


def _heading_of(title: str) -> str:
    """Return the heading of a section of a docstring."""
    return f"{title}\n{'-' * len(title)}\n"
