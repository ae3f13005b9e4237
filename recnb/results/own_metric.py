"""A metric of one's own: `recnb.metric` makes it of a function, once its formula and its code agree on a few small lists."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from itertools import product
from math import inf
from typing import Any

import numpy as np

from recnb.errors import OptionError, is_number, quoted
from recnb.metrics import measure
from recnb.metrics.formula import FUNCTIONS
from recnb.metrics.hits import Cutoffs, Hits
from recnb.metrics.metric import EVERY_METRIC, Credit, Definition, Metric
from recnb.results.explanation import numbers_of
from recnb.results.single_list import Pair, hits_of

#: A few lists, by the grade of each rank and of what they miss, and where they are cut.
LISTS, CUTOFFS = (((3, 0, 1, 2), (2,)), ((0, 1, 0), ()), ((0, 0), (1, 3)), ((1, 1, 2, 1, 3, 0), ())), (2, None)

#: Names that a formula may have, beside the options.
NAMES = ("rank", "relevance", "nth", "first", "k", "n_relevant", "n_hits", "list_length", "max_relevance")


def metric(
    *, symbol: str, credit: str, out_of: str = "1", bounds: tuple[float, float] = (0, inf), called: str = "", reads: str = "",
    meanings: Mapping[str, Mapping[str, str]] | None = None,
) -> Callable[[Callable[..., Credit]], Metric[...]]:  # fmt: skip
    """Make a metric of accuracy of a function; it is taken wherever the name of a metric is, and so is its name.

    The function takes the hits and the cut-off, `k=None`, and returns `recnb.metrics.Credit`: what each hit earns, out of what.
    Its options are keywords with a default. The first line of its docstring says what the number means. Formula and function are
    compared on a few small lists; where they differ, there is no metric.

    Parameters
    ----------
    symbol
        What is printed, such as "nDCG": letters, digits, "-", "_" and blanks.
    credit, out_of
        What a hit adds, and what the sum is divided by, as a formula: + - * / ^, comparisons by <=, `log`, `min`, `max`; the names
        rank, relevance, nth, first, k, n_relevant, list_length and the options. `ideal(...)` is a sum over the ideal list.
    bounds
        The lowest and the highest value.
    called, reads
        What the metric is called, and one sentence on how to read it.
    meanings
        Of an option that is a word, the formula that each word stands for: {"gain": {"linear": "relevance", ...}}.

    Examples
    --------
    >>> import recnb
    >>> from recnb.metrics import Credit, out_of_count
    >>> @recnb.metric(symbol="SoftP", credit="1 / rank^0.5", out_of="k", bounds=(0, 1))
    ... def soft_precision(hits, k=None):
    ...     '''Hits in the first k places, each of less worth further down.'''
    ...     return Credit(hits, k, 1 / hits.rank**0.5, out_of_count(hits, k, "k"))
    >>> ev = recnb.evaluate({"u1": ["a", "b"], "u2": ["c", "d"]}, {"u1": ["b"], "u2": ["c", "e"]})
    >>> ev.table([soft_precision, "precision"], k=2)[2].round(4).to_dict()
    {'soft_precision': 0.4268, 'precision': 0.5}
    """

    def make(function: Callable[..., Credit]) -> Metric[...]:
        name = _checked_name(function)
        if re.fullmatch(r"\w+([ -]\w+)*", symbol) is None:
            raise OptionError(f"symbol={quoted(symbol)} of {name}: give letters, digits, '-', '_' and single blanks.")
        definition = Definition(
            symbol=symbol, called=called or name.replace("_", " "), credit=credit, out_of=out_of, bounds=bounds,
            references=(), sentence=reads, meanings=meanings or {}, own=True,
        )  # fmt: skip
        made = definition.of_function(_with_checks(function, name))
        _compare_with_formula(made)
        measure.parsed.cache_clear()  # what texts meant before this
        return made.entered()

    return make


def _checked_name(function: Callable[..., Credit]) -> str:
    """Return the name of the function, if it can be that of a metric, and its parameters are those of one."""
    name, shape = function.__name__, "def mine(hits, k=None, *, option=1)"
    if (name in EVERY_METRIC and not EVERY_METRIC[name].own) or name.lower() in measure.NAMES:
        raise OptionError(f"{name!r} is a metric of recnb: give the function another name.")
    _hits, *others = inspect.signature(function).parameters.values()
    options = [each for each in others if each.name != "k"]
    odd = any(each.kind is not each.KEYWORD_ONLY or each.default is each.empty for each in options)
    if odd or len(options) == len(others) or not name.isidentifier():
        raise OptionError(f"{name} is no function of the hits and the cut-off, with options by name: {shape}.")
    return name


def _with_checks(function: Callable[..., Credit], name: str) -> Callable[..., Credit]:
    """Refuse what the function cannot be computed of, and what it returns that is no credit."""

    @functools.wraps(function)
    def checked(hits: Any, k: Any = None, **options: Any) -> Credit:
        if not isinstance(hits, Hits):
            fix = f"ev.measure({name}, k=10), or of one list recnb.explain({name}, ranking, relevant).value."
            raise OptionError(f"{name} is computed of hits, and not of {quoted(hits)}: {fix}")
        hits.refuse_ties(f"{name} follows one order of each list")
        found = function(hits, k, **options)
        earned = np.asarray(found.earned if isinstance(found, Credit) else np.nan, dtype=np.float64)
        if earned.shape != hits.rank.shape or not np.isfinite(earned).all():
            fix = "return recnb.metrics.Credit(hits, k, earned, out_of), with a finite number for each hit in `earned`."
            raise OptionError(f"{name} returned no credit of the {len(hits.rank):,} hits: {fix}")
        return Credit(hits, found.k, earned, found.out_of)

    return checked


def _compare_with_formula(made: Metric[...]) -> None:
    """Refuse a metric whose formula and function differ on small lists."""
    known = {*NAMES, *FUNCTIONS, *(name for name, default in made.defaults.items() if is_number(default))}
    try:
        earns, under = made.formulas()
        made.latex()
    except Exception as problem:  # whatever Python's grammar or an operation without a notation raises
        both = f"credit={made.credit!r}, out_of={made.out_of!r}"
        raise OptionError(f"{made.name}: {both} are no formulas, such as 'relevance / log(1 + rank)'.") from problem
    if odd := (earns.names() | under.names()) - known:
        raise OptionError(f"{made.name}: its formula names {min(odd)!r}, and may name {', '.join(sorted(known))}.")
    for (grades, missed), k in product(LISTS, CUTOFFS):
        truth, where = enumerate((*grades, *missed)), f"of the grades {list(grades)} at k={k}"
        hits = hits_of([Pair(range(len(grades)), grades, [(item, grade) for item, grade in truth if grade])])
        try:
            credit = made.at(hits, Cutoffs.of(k), {})
        except TypeError as problem:
            fix = "k is several cut-offs at once: give it to Credit and out_of_count as it is; what is further down is cut there."
            raise OptionError(f"{made.name} fails {where} ({problem}).", fix=fix) from problem
        of_ideal, ideal = under.ideal(), credit.out_of
        if (of_ideal is None) == isinstance(ideal, Credit):
            raise OptionError(
                f"{made.name}: out_of='ideal(...)' goes with out_of=Credit(hits.ideal, ...), and only with that."
            )
        sides = [(earns, credit, credit.earned), (under, credit, np.ravel(np.asarray(credit.possible))[:1])]
        if isinstance(ideal, Credit):
            sides[1] = (of_ideal or under, ideal, ideal.earned)
        for formula, of, computed in sides:
            stated = np.broadcast_to(formula.value(numbers_of(of, made.defaults, formula)), computed.shape)
            for at in np.flatnonzero(~np.isclose(stated, computed))[:1]:
                differ = f"the formula {formula.text()} is {stated[at]:.6g}, and the function has {computed[at]:.6g}."
                raise OptionError(f"{made.name}: for number {at + 1} {where} {differ}")
        if not made.bounds[0] - 1e-9 <= (value := float(credit.value[0, 0])) <= made.bounds[1] + 1e-9:
            raise OptionError(f"{made.name} is {value:.6g} {where}, beyond its bounds={made.bounds!r}.")
