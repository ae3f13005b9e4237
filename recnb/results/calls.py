"""A metric as users call it: a method of evaluations, and a function of lists.

The docstring of both is made of that of the metric's function, which has the meaning of
its number, a line `- option: meaning` for each option that needs one, and examples. What
metrics share is written here, once.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Concatenate, TypeVar, overload

from recnb.metrics.hits import Hits
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
from recnb.results.arguments import with_options
from recnb.results.score import Score, score_of
from recnb.results.single_list import Ranking, Truth, score_lists

S = TypeVar("S")

#: The parameters that all metrics share.
PARAMETERS = {
    "ranking": "ranking : list\n    Items from rank 1 down, or the relevance of each rank; a "
    "list of such lists gives their mean.",
    "truth": "truth : mapping, list or set, optional\n    Relevance of each item, or the "
    "relevant items; for several rankings, one for each.",
    "k": "k : int, optional\n    Cut-off: the rank after which a list is cut, and its "
    "ideal. None: the whole list of each user.",
    "y_true": "y_true, y_score : array-like, optional\n    In place of a ranking: the "
    "relevance and the score of each item, in any order; equal scores keep their "
    "order.",
}
#: Options that several metrics have, where a metric says nothing else of its own.
OPTIONS = {
    "cutoff": '"none" is of whole lists, whatever k is.',
    "discount": "What the gain of a hit is divided by.",
    "gain": "What a hit is worth by its relevance.",
    "ideal": "The list that the number is compared with.",
    "log_base": "The base of the logarithm of the discount, above 1.",
    "out_of": "What the sum is divided by.",
}
RETURNS = {
    "Score": "Score\n    A float with `per_user`, `interval()`, `plot()` and its convention.",
    "CatalogueScore": "CatalogueScore\n    A float with `per_item` and its convention.",
}

#: The docstrings made here, by name and type: doctest runs what a module has under this
#: name beside its functions.
__test__: dict[str, str] = {}

#: The start of a line that describes an option.
OPTION = re.compile(r"^- (?=\w+: )", re.MULTILINE)
WIDTH = 84


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
        measure = with_options(Measure(metric), options).cut_at(k)
        return score_of(self._data, measure)

    _describe(call, metric, inspect.signature(call), returned.__name__)
    call.__qualname__ = f"Evaluation.{metric.name}"
    return call


def function(metric: Metric[P]) -> AccuracyMetric[P]:
    """Give a metric the name, signature and docstring of a function of lists."""
    assert isinstance(metric, AccuracyMetric)
    of_lists = inspect.signature(partial(score_lists, metric))
    _describe(metric, metric, of_lists, "Score")
    return metric


def _describe(
    call: Any, metric: Metric[...], signature: inspect.Signature, returned: str
) -> None:
    """Give the callable the metric's name, signature and docstring."""
    of_call = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("k", "options")
    ]
    of_metric = [*inspect.signature(metric.function).parameters.values()][1:]
    by_position = [
        parameter
        for parameter in of_call
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    # Such as ranking, truth | k, gain, discount | y_true, y_score of ndcg as a function:
    # those by position, those of the metric, those by keyword alone.
    parameters = [*by_position, *of_metric, *of_call[len(by_position) :]]
    docstring = _docstring_of(metric, parameters, returned)
    described = {
        "__name__": metric.name,
        "__qualname__": metric.name,
        "__module__": __name__,
        "__signature__": inspect.Signature(parameters, return_annotation=returned),
        "__doc__": docstring,
    }
    for name, value in described.items():
        object.__setattr__(call, name, value)  # a metric is frozen
    __test__[f"{metric.name} of {parameters[0].name}"] = docstring


def _docstring_of(
    metric: Metric[...], parameters: Iterable[inspect.Parameter], returned: str
) -> str:
    """Return the docstring of a call of a metric that takes these parameters."""
    written = inspect.getdoc(metric.function) or ""
    text, prompt, example = written.partition(">>>")
    summary, *paragraphs = text.rstrip().split("\n\n")
    meanings = _meanings_of(paragraphs)
    kept = [text for text in paragraphs if not OPTION.match(text)]
    listed = [
        PARAMETERS.get(parameter.name) or _option(metric, parameter, meanings)
        for parameter in parameters
        if parameter.name not in ("self", "y_score")
    ]
    sections = [
        " ".join(summary.split()),
        *kept,
        _section("Parameters", "\n".join(listed)),
        _section("Returns", RETURNS[returned]),
        _section("References", "\n".join(map(_reference, metric.references))),
        _section("Examples", prompt + example.rstrip()),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _meanings_of(paragraphs: Iterable[str]) -> dict[str, str]:
    """Return what the lines `- option: meaning` say, by option."""
    meanings = {}
    for paragraph in paragraphs:
        for entry in OPTION.split(paragraph)[1:]:
            name, _colon, meaning = entry.partition(": ")
            meanings[name] = " ".join(meaning.split())
    return meanings


def _option(
    metric: Metric[...], option: inspect.Parameter, meanings: Mapping[str, str]
) -> str:
    """Return the lines on an option: its values or its type, and what it means."""
    name, default = option.name, option.default
    values = ", ".join(json.dumps(word) for word in metric.words.get(name, ()))
    kind = f"{{{values}}}" if values else _type_of(option)
    shown = json.dumps(default) if isinstance(default, str) else default
    presence = "optional" if default is None else f"default {shown}"
    of_words = "; ".join(
        f"{json.dumps(word)}: {meaning}"
        for word, meaning in metric.meanings.get(name, {}).items()
    )
    description = " ".join(
        filter(None, [meanings.get(name) or OPTIONS.get(name), of_words])
    )
    line = f"{name} : {kind}, {presence}"
    if not description:
        return line
    sentence = f"{description.removesuffix('.')}."
    return f"{line}\n{_indented(sentence)}"


def _type_of(option: inspect.Parameter) -> str:
    """Return the type of an option as its function writes it, or that of its default."""
    if option.annotation is option.empty:
        return type(option.default).__name__
    kind = str(option.annotation).removesuffix(" | None")
    return "str or list of str" if kind == "object" else kind


def _reference(key: str) -> str:
    """Return a publication, as a list of references prints it."""
    row: dict[str, Any] = REFERENCES[key]
    place = f"https://doi.org/{row['doi']}" if row["doi"] else ""
    entry = f"{row['authors']} {row['year']}. {row['title']}. {row['where']}. {place}"
    return textwrap.fill(
        f"- {entry.strip()}", WIDTH, subsequent_indent="  ", break_long_words=False
    )


def _section(title: str, text: str) -> str:
    """Return a section of a docstring; none without a text."""
    if not text:
        return ""
    return f"{title}\n{'-' * len(title)}\n{text}"


def _indented(text: str) -> str:
    indent = "    "
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
