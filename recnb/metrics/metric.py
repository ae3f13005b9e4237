"""What a metric is: credit that rows earn, out of what they could have earned.

`@hit_metric` makes a `Metric` of a function and enters it in METRICS. From that one block follow the method of an
Evaluation, the function for one list, the label, the LaTeX, the help text, the README's table, the worked
explanation and enrolment in every law of the tests.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, Literal, ParamSpec

import numpy as np

from recnb.display.language import _
from recnb.errors import OptionError, is_word, near
from recnb.metrics.formula import LATEX, OVER, Formula, number
from recnb.metrics.hits import Cutoff, Cutoffs, Floats, Hits

P = ParamSpec("P")


@dataclass(frozen=True, eq=False)
class Credit:
    """What each row earned, and what the list as a whole could have: the explanation of a score and the score itself."""

    rows: Hits
    k: Cutoffs
    earned: Floats  #: per row
    out_of: Credit | Floats | float = 1.0  #: users × cut-offs (or a column), one number, or what another list earns

    def __post_init__(self) -> None:
        if isinstance(self.out_of, np.ndarray) and self.out_of.ndim != 2:
            raise TypeError("out_of holds users × cut-offs: make a column of per-user values with column().")

    @property
    def total(self) -> Floats:
        """Credit earned, users × cut-offs."""
        return self.rows.total(self.earned, self.k)

    @property
    def spelled(self) -> Credit:
        """The same with a row for each rank that adds to it, for an explanation."""
        return self

    @property
    def possible(self) -> Floats | float:
        """What the credit is out of, users × cut-offs."""
        return self.out_of.total if isinstance(self.out_of, Credit) else self.out_of

    @property
    def value(self) -> Floats:
        """The metric, users × cut-offs: 0 where there was nothing to earn."""
        total, possible = self.total, self.possible
        if isinstance(possible, float):
            return total / possible
        return np.divide(total, possible, out=np.zeros_like(total), where=possible != 0)


@dataclass(frozen=True, eq=False)
class Metric(Generic[P]):
    """A metric: a function of hits, and everything that is said of it."""

    function: Callable[Concatenate[Hits, P], Credit]
    symbol: str  #: as it is printed: nDCG
    credit: str  #: formula text of a row's credit
    out_of: str  #: formula text of what the sum is divided by
    bounds: tuple[float, float]
    references: tuple[str, ...]  #: keys of REFERENCES
    sentence: str  #: how to read the number, in English
    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  #: option -> word -> formula text
    aliases: tuple[str, ...] = ()
    over: Literal["hits", "ideal"] = "hits"  #: the list whose rows earn the credit
    called: str = ""  #: what it is called, in English

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.function.__name__

    @property
    def term(self) -> str:
        """What the metric is called in words, in the language in force.

        >>> from recnb.metrics.accuracy import dcg
        >>> dcg.term
        'discounted cumulative gain'
        """
        return _(self.called) if self.called else self.name

    @property
    def title(self) -> str:
        """What the number means, in the language in force; in English the first line of the docstring."""
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

    def __call__(self, hits: Hits, *args: P.args, **options: P.kwargs) -> Credit:
        """The credit of each hit and what it is out of, options checked."""
        self.check(options)
        return self.function(hits, *args, **options)

    def at(self, hits: Hits, k: Cutoff, options: Mapping[str, Any]) -> Credit:
        """The credit at one or several cut-offs: the metric as a value, for tables and explanations."""
        self.check(options)
        function: Callable[..., Credit] = self.function
        return function(hits, k, **options)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options, and words for options, that the metric does not have."""
        for name, value in options.items():
            if name == "k":
                continue
            if name not in self.defaults:
                raise OptionError(f"{self.name} has no option {name!r}. {near(name, ['k', *self.defaults])}")
            if name in self.words and not is_word(value, self.words[name]):
                raise OptionError(f"{name}={value!r} is no option of {self.name}. {near(value, self.words[name])}")

    def needs_whole_list(self, options: Mapping[str, Any]) -> bool:
        """Whether hits below the cut-off change the value: they do where the ideal is made of the list itself."""
        return bool(options.get("ideal", self.defaults.get("ideal")) == "list")

    def label(self, k: int | None) -> str:
        """The metric's symbol at a cut-off.

        >>> from recnb.metrics.accuracy import ndcg
        >>> ndcg.label(10), ndcg.label(None)
        ('nDCG@10', 'nDCG')
        """
        return self.symbol if k is None else f"{self.symbol}@{k}"

    def formulas(self, options: Mapping[str, Any] | None = None) -> tuple[Formula, Formula]:
        """The formula texts of credit and denominator, with the options put in."""
        chosen = {**self.defaults, **(options or {})}
        meanings = {name: words[chosen[name]] for name, words in self.meanings.items() if name in chosen}
        meanings |= {name: words["always"] for name, words in self.meanings.items() if name not in chosen}
        base = chosen.get("log_base", 2)
        return Formula.of(self.credit, meanings, base), Formula.of(self.out_of, meanings, base)

    def formula_text(self, options: Mapping[str, Any] | None = None) -> str:
        """The formula on one line, in the language in force.

        >>> from recnb.metrics.accuracy import average_precision
        >>> average_precision.formula_text()
        'sum over hits of nth/rank, out of n_relevant'
        """
        credit, out_of = self.formulas(options)
        parts = {"name": self.term, "rows": _(OVER[self.over]), "credit": credit.text()}
        under = out_of.text()
        return (
            _("sum over {rows} of {credit}", **parts)
            if under == "1"
            else _("sum over {rows} of {credit}, out of {out_of}", **parts, out_of=under)
        )

    def latex(self, k: int | None = None, options: Mapping[str, Any] | None = None) -> str:
        """The formula in LaTeX: the sum over hits is written here once, so no metric can forget it."""
        credit, out_of = self.formulas(options)
        over = rf"\sum_{{i \in {_(LATEX[self.over])}, i \le k}} {credit.latex(summed=True)}"
        under = out_of.latex()
        right = over if under == "1" else rf"\frac{{{over}}}{{{under}}}"
        at = "@k" if k is None else f"@{k}"
        return rf"\mathrm{{{self.symbol.replace('-', '{-}')}}}{at} = {right}"


METRICS: dict[str, Metric[...]] = {}
ALIASES: dict[str, str] = {}


def hit_metric(
    *,
    symbol: str,
    called: str = "",
    credit: str,
    out_of: str = "1",
    bounds: tuple[float, float],
    references: list[str],
    reads: str,
    meanings: Mapping[str, Mapping[str, str]] | None = None,
    aliases: tuple[str, ...] = (),
    over: Literal["hits", "ideal"] = "hits",
) -> Callable[[Callable[Concatenate[Hits, P], Credit]], Metric[P]]:
    """Make a Metric of a function of hits, and enter it in METRICS."""

    def decorate(function: Callable[Concatenate[Hits, P], Credit]) -> Metric[P]:
        metric = Metric(
            function,
            symbol,
            credit,
            out_of,
            bounds,
            tuple(references),
            reads,
            dict(meanings or {}),
            aliases,
            over,
            called,
        )
        METRICS[metric.name] = metric
        ALIASES.update(dict.fromkeys(aliases, metric.name))
        return metric

    return decorate


def metric_named(name: object) -> Metric[...]:
    """The metric of this name or alias.

    >>> metric_named("mrr").name
    'reciprocal_rank'
    """
    if isinstance(name, Metric):
        return name
    found = METRICS.get(ALIASES.get(str(name), str(name)))
    if found is None:
        raise OptionError(f"{name!r} is no metric of recnb. {near(name, [*METRICS, *ALIASES])}")
    return found


__all__ = ["ALIASES", "METRICS", "Credit", "Metric", "hit_metric", "metric_named", "number"]
