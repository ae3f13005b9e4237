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
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from recnb.display.data_file import rows_of
from recnb.metrics.metric import SCORED, Metric

if TYPE_CHECKING:
    from recnb.results.score import Score

P = ParamSpec("P")
S = TypeVar("S")
M = TypeVar("M", bound=Metric[...])

#: The publications that define the metrics: citation key -> authors, year, title,
#: where, doi.
REFERENCES = {row["key"]: row for row in rows_of("metrics/references.csv")}
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


@overload
def method(metric: Metric[P]) -> Callable[Concatenate[Any, P], Score]: ...
@overload
def method(
    metric: Metric[P], returned: type[S]
) -> Callable[Concatenate[Any, P], S]: ...
def method(metric: Any, returned: type[Any] | None = None) -> Any:
    """Return the method that gives a metric's number of an evaluation.

    `k` and the options are those of the metric's function; `returned` is the type of
    the number, a Score if nothing is said.
    """

    def call(self: Any, k: Any = None, **options: Any) -> Any:
        return SCORED["evaluation"](self, metric, k, options)

    _describe(call, metric, "Score" if returned is None else returned.__name__)
    call.__qualname__ = f"Evaluation.{metric.name}"
    return call


def function(metric: M) -> M:
    """Give a metric the name, signature and docstring of a function of lists."""

    def call(
        ranking: Any = None,
        truth: Any = None,
        k: Any = None,
        *,
        y_true: Any = None,
        y_score: Any = None,
        **options: Any,
    ) -> None: ...

    _describe(call, metric, "Score")
    names = ("__name__", "__qualname__", "__doc__", "__signature__")
    vars(metric).update({name: getattr(call, name) for name in names})
    vars(metric)["__module__"] = call.__module__
    return metric


def _describe(call: Any, metric: Metric[...], returned: str) -> None:
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
    call.__doc__ = _docstring_of(metric, parameters, returned)
    __test__[f"{metric.name} of {parameters[0].name}"] = call.__doc__


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
