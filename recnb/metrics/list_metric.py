"""What a metric beyond accuracy is: a sum over the rows of whole lists, out of what it is divided by.

`@list_metric` makes a `ListMetric` of a function and enters it in LIST_METRICS. From that one block follow the method
of an Evaluation, the label, the formula and its LaTeX, the README's table, the worked explanation and what the tests
ask of every metric.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

from recnb.display.language import N_, _
from recnb.errors import OptionError, near
from recnb.metrics.formula import OVER, Formula

#: What a formula sums over, in LaTeX.
LATEX_OVER: dict[str, str] = {
    "list": N_(r"i \in \mathrm{list}"),
    "pairs": N_(r"\{i, j\} \subset \mathrm{list}"),
    "hits": N_(r"i \in \mathrm{hits}"),
    "genres": N_(r"g \in \mathrm{genres}"),
    "items": N_(r"i \in \mathrm{items}"),
    "user pairs": N_(r"\{u, v\} \subset \mathrm{users}"),
    "users": N_(r"u \in \mathrm{users}"),
}


P = ParamSpec("P")
T = TypeVar("T", covariant=True)

#: What a formula sums over.
Over = Literal["list", "pairs", "hits", "genres", "items", "user pairs", "users"]
#: What a metric cannot do without, beside the lists.
Need = Literal["train", "catalogue", "features", "genre", "truth"]
#: Text of a formula; a function of the options where these change it.
Text = str | Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, eq=False)
class ListMetric(Generic[P, T]):
    """A metric beyond accuracy: a function of lists and what is known of items, and everything that is said of it."""

    function: Callable[Concatenate[Any, Any, P], T]
    symbol: str  #: as it is printed
    over: Over  #: the rows that the formula sums over
    term: Text  #: formula text of a row
    out_of: Text  #: formula text of what the sum is divided by
    bounds: tuple[float, float]
    top: str  #: the upper bound in words, where it depends on the data
    references: tuple[str, ...]  #: keys of REFERENCES
    needs: tuple[Need, ...]  #: with the default options
    of: Literal["user", "all"]  #: whether each user has a value, or all lists one together
    called: str  #: what it is called, in English
    sentence: str  #: how to read the number, in English
    per_row_texts: bool = True  #: whether a row can be written out with its numbers put in

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.function.__name__

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names: none."""
        return ()

    @property
    def title(self) -> str:
        """What the number means, in the language in force."""
        return _((inspect.getdoc(self.function) or "").split("\n")[0])

    @property
    def reads(self) -> str:
        """One sentence on how to read the number, in the language in force."""
        return _(self.sentence)

    @functools.cached_property
    def defaults(self) -> dict[str, Any]:
        """The options and their default values."""
        parameters = inspect.signature(self.function).parameters.values()
        return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}

    @functools.cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The options that are words, and the words each takes."""
        hints = typing.get_type_hints(self.function)
        return {
            name: typing.get_args(hints[name]) for name in self.defaults if typing.get_origin(hints[name]) is Literal
        }

    def __call__(self, of: Any, known: Any, *args: P.args, **options: P.kwargs) -> T:
        """The value of each user, or of all lists, options checked."""
        self.check(options)
        return self.function(of, known, *args, **options)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options, and words for options, that the metric does not have."""
        for name, value in options.items():
            if name == "k":
                continue
            if name not in self.defaults:
                raise OptionError(f"{self.name} has no option {name!r}. {near(name, ['k', *self.defaults])}")
            if name in self.words and not (isinstance(value, str) and value in self.words[name]):
                raise OptionError(f"{name}={value!r} is no option of {self.name}. {near(value, self.words[name])}")

    def needs_whole_list(self, options: Mapping[str, Any]) -> bool:
        """Whether hits below the cut-off change the value: never."""
        return False

    def label(self, k: int | None) -> str:
        """The metric's symbol at a cut-off."""
        return self.symbol if k is None else f"{self.symbol}@{k}"

    def formulas(self, options: Mapping[str, Any] | None = None) -> tuple[Formula, Formula]:
        """The formula texts of a row and of the denominator, under these options."""
        chosen = {**self.defaults, **(options or {})}
        base = chosen.get("base", 2)
        term, out_of = (text if isinstance(text, str) else text(chosen) for text in (self.term, self.out_of))
        return Formula.of(term, log_base=base), Formula.of(out_of, log_base=base)

    def formula_text(self, options: Mapping[str, Any] | None = None) -> str:
        """The formula on one line.

        >>> from recnb.metrics.novelty import novelty
        >>> novelty.formula_text()
        'sum over list of log2(total/count), out of n_shown'
        """
        term, out_of = self.formulas(options)
        rows = _(OVER[self.over])
        parts = {"name": _(self.called) if self.called else self.name, "rows": rows, "credit": term.text()}
        under = out_of.text()
        return (
            _("sum over {rows} of {credit}", **parts)
            if under == "1"
            else _("sum over {rows} of {credit}, out of {out_of}", **parts, out_of=under)
        )

    def latex(self, k: int | None = None, options: Mapping[str, Any] | None = None) -> str:
        """The formula in LaTeX."""
        term, out_of = self.formulas(options)
        cut = r", i \le k" if self.over in ("list", "hits") else ""
        rows = _(LATEX_OVER[self.over])
        over = rf"\sum_{{{rows}{cut}}} {term.latex(summed=True)}"
        under = out_of.latex()
        right = over if under == "1" else rf"\frac{{{over}}}{{{under}}}"
        at = "@k" if k is None else f"@{k}"
        return rf"\mathrm{{{self.symbol.replace('-', '{-}').replace(' ', '~')}}}{at} = {right}"

    @property
    def range_text(self) -> str:
        """The bounds in words."""
        top = self.top or ("no bound" if math.isinf(self.bounds[1]) else f"{self.bounds[1]:g}")
        return f"{self.bounds[0]:g} to {top}"


LIST_METRICS: dict[str, ListMetric[..., Any]] = {}


def list_metric(
    *,
    symbol: str,
    called: str = "",
    over: Over,
    term: Text,
    out_of: Text = "1",
    bounds: tuple[float, float],
    top: str = "",
    references: list[str],
    reads: str,
    needs: tuple[Need, ...] = (),
    of: Literal["user", "all"] = "user",
    per_row_texts: bool = True,
) -> Callable[[Callable[Concatenate[Any, Any, P], T]], ListMetric[P, T]]:
    """Make a ListMetric of a function of lists and what is known of items, and enter it in LIST_METRICS."""

    def decorate(function: Callable[Concatenate[Any, Any, P], T]) -> ListMetric[P, T]:
        metric = ListMetric(
            function,
            symbol,
            over,
            term,
            out_of,
            bounds,
            top,
            tuple(references),
            needs,
            of,
            called,
            reads,
            per_row_texts,
        )
        LIST_METRICS[metric.name] = metric
        return metric

    return decorate


__all__ = ["LIST_METRICS", "ListMetric", "list_metric"]
