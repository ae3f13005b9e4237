"""A metric of one's own: `recnb.metric` makes it of a function, once its formula and its code agree on a few small lists."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from itertools import product
from math import inf
from typing import Any

import numpy as np

from recnb.errors import OptionError, quoted
from recnb.metrics import measure
from recnb.metrics.hits import Cutoffs, Hits
from recnb.metrics.metric import EVERY_METRIC, METRICS, Credit, Metric, UserMetric
from recnb.results.explanation import numbers_of
from recnb.results.single_list import Pair, hits_of

#: A few lists, by the grade of each rank and of what they miss, and where they are cut.
LISTS, CUTOFFS = (((3, 0, 1, 2), (2,)), ((0, 1, 0), ()), ((0, 0), (1, 3)), ((1, 1, 2, 1, 3, 0), ())), (2, None)
#: What a formula that is none, or a function of another form, raises.
FAILS = (ArithmeticError, AssertionError, AttributeError, KeyError, NameError, SyntaxError, TypeError)
FORM = "It is def mine(hits, k=None, *, option=1), which gives k to Credit as it is, several cut-offs at once; its formula knows rank, relevance, nth, first, k, n_relevant, n_hits, list_length and the options."  # fmt: skip


def metric(
    *, symbol: str, credit: str, out_of: str = "1", bounds: tuple[float, float] = (0, inf), reads: str = ""
) -> Callable[[Callable[..., Credit]], Metric[...]]:
    """Make a metric of accuracy of a function `mine(hits, k=None)`, which returns `recnb.metrics.Credit`: what each hit earns, out of what.

    It is taken wherever the name of a metric is, and so is its name; `recnb/metrics/README.md` has an example. Options are keywords
    with a default, the first line of the docstring says what the number means. Where formula and function differ on a few small
    lists, there is no metric.

    Parameters
    ----------
    symbol, bounds, reads
        What is printed, such as "nDCG"; the lowest and the highest value; one sentence on how to read it.
    credit, out_of
        What a hit adds, and what the sum is divided by, as a formula: + - * / ^, comparisons by <=, `log`, `min`, `max`; the names
        rank, relevance, nth, first, k, n_relevant, list_length and the options. `ideal(...)` is a sum over the ideal list.
    """

    def make(function: Callable[..., Credit]) -> Metric[...]:
        name, known = function.__name__, EVERY_METRIC.get(function.__name__)
        if name.lower() in measure.NAMES or (known is not None and not known.own) or not name.isidentifier():
            raise OptionError(f"{name!r} is a metric of recnb, or no name: give the function another one.")
        if re.fullmatch(r"\w+([ -]\w+)*", symbol) is None:
            raise OptionError(f"symbol={quoted(symbol)} of {name}: give letters, digits, '-', '_' and single blanks.")
        made: Metric[...] = UserMetric(
            _checked(function), symbol=symbol, called=name.replace("_", " "), credit=credit, out_of=out_of, bounds=bounds,
            references=(), sentence=reads, own=True,
        )  # fmt: skip
        _compare_with_formula(made)
        METRICS[name] = made
        measure.parsed.cache_clear()  # what texts meant before this
        return made

    return make


def _checked(function: Callable[..., Credit]) -> Callable[..., Credit]:
    """Refuse lists whose ties are averaged, and a result that is no credit of hits."""

    @functools.wraps(function)
    def checked(hits: Hits, k: Any = None, **options: Any) -> Credit:
        hits.refuse_ties(f"{function.__name__} follows one order of each list")
        found = function(hits, k, **options)
        earned = np.asarray(found.earned if isinstance(found, Credit) else np.nan)
        if earned.shape != hits.rank.shape or not np.isfinite(earned).all():
            fix = "return recnb.metrics.Credit(hits, k, earned, out_of), `earned` a finite number for each hit."
            raise OptionError(f"{function.__name__} returned no credit of the {len(hits.rank):,} hits: {fix}")
        return found

    return checked


def _compare_with_formula(made: Metric[...]) -> None:
    """Refuse a metric whose formula and function differ on small lists."""
    for (grades, missed), k in product(LISTS, CUTOFFS):
        truth, where = enumerate((*grades, *missed)), f"of the grades {list(grades)} at k={k}"
        hits = hits_of([Pair(range(len(grades)), grades, [(item, grade) for item, grade in truth if grade])])
        try:
            credit, (earns, under), _latex = made.at(hits, Cutoffs.of(k), {}), made.formulas(), made.latex()
            below, ideal = credit.out_of, under.ideal()
            sides = [(earns, credit, credit.earned), (under, credit, np.ravel(np.asarray(credit.possible))[:1])]
            if isinstance(below, Credit) and ideal is not None:
                sides[1] = (ideal, below, below.earned)
            stated = [formula.value(numbers_of(of, made.defaults, formula)) for formula, of, _computed in sides]
        except FAILS as problem:
            raise OptionError(f"{made.name} fails {where}: {problem!r}.", fix=FORM) from problem
        for (formula, _of, computed), values in zip(sides, stated, strict=True):
            if not np.allclose(values, computed):
                numbers, own = (", ".join(f"{one:.6g}" for one in np.ravel(each)) for each in (values, computed))
                said = f"the formula {formula.text()} gives {numbers}, and the function {own}."
                raise OptionError(f"{made.name} {where}: {said}")
        if not made.bounds[0] - 1e-9 <= (number := float(credit.value[0, 0])) <= made.bounds[1] + 1e-9:
            raise OptionError(f"{made.name} is {number:.6g} {where}, beyond its bounds={made.bounds!r}.")
