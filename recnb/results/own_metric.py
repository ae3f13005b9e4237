"""A metric of one's own: `recnb.metric` makes it of a function, once its formula and
its code agree on a few small lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any, TypeGuard

import numpy as np

from recnb.errors import OptionError, is_number, is_word, quoted
from recnb.metrics import measure
from recnb.metrics.formula import Formula
from recnb.metrics.hits import Cutoffs, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import (
    EVERY_METRIC,
    AccuracyMetric,
    Better,
    Credit,
    Metric,
)
from recnb.results.metric_methods import on_lists
from recnb.results.single_list import Pair, hits_of
from recnb.results.worked import compare_with_formula

#: A few lists, by the grade of each rank and of what they miss, and where they are cut.
LISTS, CUTOFFS = (
    (((3, 0, 1, 2), (2,)), ((0, 1, 0), ()), ((0, 0), (1, 3)), ((1, 1, 2, 1, 3, 0), ())),
    (2, None, 20),  # within the lists, whole lists, and beyond the longest
)
#: What a function of another form raises.
FAILS = (ArithmeticError, AttributeError, KeyError, NameError, TypeError)
#: The directions of a metric; None is neither.
BETTER = ("high", "low")
FORM = (
    "It is def mine(hits, k=None, *, option=1), which gives k to Credit as it is, "
    "several cut-offs at once."
)
#: The names of a formula, beside the options.
NAMES = (
    "rank",
    "relevance",
    "nth",
    "first",
    "no_hit",
    "k",
    "n_relevant",
    "n_hits",
    "list_length",
)


class OwnMetric(AccuracyMetric[...]):
    """A metric of the caller's: what its function returns is checked, and it is called
    on one list as recnb's own are.
    """

    def at(self, data: Any, k: Any, options: Mapping[str, Any]) -> Any:
        """Compute the credit of hits; refuse ties that are averaged, what is no credit
        of the hits, and values beyond the bounds.
        """
        data.refuse_ties(f"{self.name} follows one order of each list")
        credit = super().at(data, k, options)
        earned = np.asarray(credit.earned if isinstance(credit, Credit) else np.nan)
        if earned.shape != data.rank.shape or not np.isfinite(earned).all():
            fix = (
                "return recnb.metrics.Credit(hits, k, earned, out_of), `earned` a "
                "finite number for each hit."
            )
            raise OptionError(
                f"{self.name} returned no credit of the {len(data.rank):,} hits: {fix}"
            )
        low, high = self.bounds
        values = credit.value
        outside = values[(values < low - 1e-9) | (values > high + 1e-9)]
        if len(outside):
            chosen = {**self.defaults, **options}
            shown = "".join(f", {name}={value}" for name, value in chosen.items())
            raise OptionError(
                f"{self.name} of a list is {outside[0]:.6g}{shown}, beyond its "
                f"bounds={self.bounds!r}."
            )
        return credit

    def __call__(self, data: Any = None, *args: Any, **options: Any) -> Any:
        """Compute the metric of one list or several, or in another metric the credit of
        hits.
        """
        call = super().__call__ if isinstance(data, Hits) else on_lists(self)
        return call(data, *args, **options)


def metric(
    *,
    symbol: str,
    credit: str,
    out_of: str = "1",
    bounds: tuple[float, float] = (0, inf),
    reads: str = "",
    better: Better = "high",
    missed: str = "0",
) -> Callable[[Callable[..., Credit]], Metric[...]]:
    """Make a metric of accuracy of a function `mine(hits, k=None)`, which returns
    `recnb.metrics.Credit`: what each hit earns, out of what.

    It is taken wherever the name of a metric is, and so is its name, and is a function
    of one list; `recnb/metrics/README.md` has an example. Options are numbers with a
    default, by keyword; the first line of the docstring says what the number means.
    Where formula and function differ on a few small lists, there is no metric.

    Parameters
    ----------
    symbol, bounds, reads
        What is printed, such as "nDCG"; the lowest and the highest value; one sentence
        on how to read it.
    credit, out_of
        What a hit adds, and what the sum is divided by, as a formula: + - * / ^,
        comparisons by <=, `log` or `log2`, `min`, `max`; the names rank, relevance,
        nth, first, no_hit, k, n_relevant, list_length and the options. `ideal(...)` is
        a sum over the ideal list.
    better
        "high" where more is better, "low" where less is, such as of a cost, None where
        a value is not good or bad in itself. Verdicts, marks, gates and the order of
        models follow it.
    missed
        What a cost adds for a list without a hit, which would otherwise cost 0, as a
        formula such as "no_hit * k"; the function gives it to `Credit(missed=)`.
    """
    low, high = _bounds_of(bounds)
    if better is not None and not is_word(better, BETTER):
        problem = f"better={quoted(better)} is no direction of a metric: "
        raise OptionError(
            problem, "say 'high', 'low', or None where neither is better."
        )

    def make(function: Callable[..., Credit]) -> Metric[...]:
        name = function.__name__
        _refuse_name(name)
        _refuse_symbol(symbol, name)
        made = OwnMetric(
            function,
            symbol=symbol,
            called=name.replace("_", " "),
            credit=credit,
            out_of=out_of,
            bounds=(low, high),
            better=better,
            missed=missed,
            references=(),
            sentence=reads,
            own=True,
        )
        try_on_lists(made)
        described = on_lists(made)
        for attribute in ("__name__", "__doc__", "__signature__"):
            vars(made)[attribute] = getattr(described, attribute)
        made.registry[name] = made
        measure.parsed.cache_clear()  # what texts meant before this
        return made

    return make


def _refuse_name(name: str) -> None:
    """Refuse the name of a function that means a metric of recnb, or is none."""
    known = EVERY_METRIC.get(name)
    is_taken = name.lower() in measure.NAMES or (known is not None and not known.own)
    if is_taken or not name.isidentifier():
        raise OptionError(
            f"{name!r} is a metric of recnb, or no name: give the function another one."
        )


def _refuse_symbol(symbol: str, name: str) -> None:
    """Refuse a symbol that could not be printed in a formula."""
    if re.fullmatch(r"\w+([ -]\w+)*", symbol) is None:
        raise OptionError(
            f"symbol={quoted(symbol)} of {name}: give letters, digits, '-', '_' and "
            f"single blanks."
        )


def _bounds_of(bounds: object) -> tuple[float, float]:
    """Return the lowest and the highest value, or refuse what is no range."""
    match bounds:
        case (low, high) if is_bound(low) and is_bound(high) and low < high:
            return low, high
    problem = f"bounds={quoted(bounds)} is no range of values: "
    raise OptionError(problem, "give the lowest and the highest, such as (0, 1).")


def is_bound(value: object) -> TypeGuard[float]:
    """Say whether a value is a number, which may be infinite."""
    return is_number(value) or (isinstance(value, float) and abs(value) == inf)


def try_on_lists(made: Metric[...]) -> None:
    """Refuse a metric whose options are no numbers, whose formula is none, or is
    another than the function on small lists.
    """
    made.check(made.defaults)
    names = [*NAMES, *made.defaults]
    for text in map(str, (made.credit, made.out_of, made.missed)):
        try:
            unknown = Formula.of(text).unknown(names)
        except SyntaxError:
            unknown = text
        if unknown:
            known = (
                f"+ - * / ^, <= (1 or 0), log or log2 (base 2), min, max, ideal(...) as a "
                f"whole out_of, {', '.join(names)}."
            )
            raise OptionError(
                f"{made.name}: {unknown!r} is not understood in the formula "
                f"{text!r}, which has {known}"
            )
    for (grades, missed), k in product(LISTS, CUTOFFS):
        where = f"of the grades {list(grades)} at k={k}"
        truth = enumerate((*grades, *missed))
        relevant = [(item, grade) for item, grade in truth if grade]
        hits = hits_of([Pair(range(len(grades)), grades, relevant)])
        unbounded = replace(made, bounds=(-inf, inf))
        try:
            credit = unbounded.at(hits, Cutoffs.of(k), {})
            compare_with_formula(Measure(made), credit, where)
            made.at(hits, Cutoffs.of(k), {})  # or an error that it leaves its bounds
        except FAILS as problem:
            raise OptionError(
                f"{made.name} fails {where}: {problem!r}.", fix=FORM
            ) from problem
