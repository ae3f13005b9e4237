"""The trial of a metric of one's own of hits, on a few small lists.

Its formula and its function say the same, or it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

from recnb.errors import OptionError, RecnbError
from recnb.metrics.formula import Formula
from recnb.metrics.hits import Cutoffs, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.results.single_list import Pair, hits_of
from recnb.results.worked import compare_with_formula

#: A few lists, by the grade of each rank and of what they miss, and where they are cut.
LISTS, CUTOFFS = (
    (((3, 0, 1, 2), (2,)), ((0, 1, 0), ()), ((0, 0), (1, 3)), ((1, 1, 2, 1, 3, 0), ())),
    (2, None, 20),  # within the lists, whole lists, and beyond the longest
)
#: What a function of another form raises.
FAILS = (ArithmeticError, AttributeError, KeyError, NameError, TypeError)
#: The form of a function of hits.
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


def _refuse_unknown_names(made: Metric[...], computed: Iterable[str]) -> None:
    """Refuse formulas that are none, or hold names that nothing has.

    `computed`: what the function itself computes of each hit.
    """
    names = [*NAMES, *made.defaults, *computed]
    for text in map(str, (made.credit, made.out_of, made.missed)):
        try:
            unknown = Formula.of(text).unknown(names)
        except SyntaxError:
            unknown = text
        if unknown:
            known = (
                f"+ - * / ^, <= (1 or 0), log or log2 (base 2), min, max, "
                f"ideal(...) as a whole out_of, {', '.join(names)}."
            )
            raise OptionError(
                f"{made.name}: {unknown!r} is not understood in the formula "
                f"{text!r}, which has {known}"
            )


def try_on_lists(made: Metric[...]) -> None:
    """Refuse a metric of hits whose formula is another than the function on small lists.

    So is one whose formula is none.
    """
    unbounded = replace(made, bounds=(-inf, inf))
    _refuse_unknown_names(made, _names_computed(unbounded))
    for (grades, missed), k in product(LISTS, CUTOFFS):
        where = f"of the grades {list(grades)} at k={k}"
        hits, cutoffs = _small_hits(grades, missed), Cutoffs.of(k)
        try:
            credit = unbounded.at(hits, cutoffs, {})
            compare_with_formula(Measure(made), credit, where)
            made.at(hits, cutoffs, {})  # or an error that it leaves its bounds
        except FAILS as problem:
            raise OptionError(
                f"{made.name} fails {where}: {problem!r}. {FORM}"
            ) from problem


def _names_computed(made: Metric[...]) -> tuple[str, ...]:
    """Return the names of what a function computes of each hit itself, beside those
    that every formula has; none where it fails, which the trial says.
    """
    function: Callable[..., Any] = made.function
    try:
        return tuple(function(_small_hits(*LISTS[0]), Cutoffs.of(None)).names)
    except (*FAILS, RecnbError):
        return ()


def _small_hits(grades: Sequence[int], missed: Sequence[int]) -> Hits:
    """Return the hits of one list."""
    graded = enumerate((*grades, *missed))
    truth = [(item, grade) for item, grade in graded if grade]
    return hits_of([Pair(range(len(grades)), grades, truth)])
