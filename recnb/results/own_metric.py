"""A metric of one's own: `recnb.metric` makes it of a function, of hits or of a frame.

The formula of one of hits and its code must agree on a few small lists.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np

from recnb.errors import OptionError, is_word, near, quoted
from recnb.metrics import measure as measures
from recnb.metrics.formula import Formula
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import (
    EVERY_METRIC,
    LIST_METRICS,
    METRICS,
    NAMES,
    Better,
    Credit,
    Metric,
)
from recnb.results.calls import AccuracyMetric, function
from recnb.results.single_list import Pair, hits_of
from recnb.results.worked import ListSum

#: Values may pass their bounds by as much, where they are summed in another order.
OVERSHOOT = 1e-9

#: The directions of a metric; None is neither.
BETTER = ("high", "low")

#: A few lists on which a metric is tried: the grade of each rank, and the grades of items
#: that the list misses.
TRIED_LISTS = (
    ((3, 0, 1, 2), (2,)),
    ((0, 1, 0), ()),
    ((0, 0), (1, 3)),
    ((1, 1, 2, 1, 3, 0), ()),
)
#: Where they are cut: within the lists, not at all, and beyond the longest.
CUTOFFS = (2, None, 20)
#: What a function of another form raises.
FAILS = (ArithmeticError, AttributeError, KeyError, NameError, TypeError)
#: The form of a function of hits.
FORM = (
    "It is def mine(hits, k=None, *, option=1), which gives k to Credit as it is, "
    "several cut-offs at once."
)
#: The names of a formula, beside the options.
FORMULA_NAMES = (
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
    """A metric of the caller's, of hits: what its function returns is checked.

    It is called on one list as recnb's own are.
    """

    def at(self, data: Any, k: Any, options: Mapping[str, Any]) -> Any:
        """Compute the credit of hits, and check it.

        Ties that are averaged, what is no credit of the hits, and values beyond the
        bounds are refused.
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
        refuse_outside(self, credit.value, options)
        return credit


#: The kind of a metric by what its function is given and returns, in a word; a room
#: enters those of a frame.
OWN_KINDS: dict[str, type[Metric[...]]] = {"hits": OwnMetric}


def refuse_outside(
    metric: Metric[...], values: Floats, options: Mapping[str, Any]
) -> None:
    """Refuse values beyond the bounds of a metric."""
    low, high = metric.bounds
    outside = values[(values < low - OVERSHOOT) | (values > high + OVERSHOOT)]
    if not len(outside):
        return
    chosen = {**metric.defaults, **options}
    given = "".join(f", {name}={value}" for name, value in chosen.items())
    raise OptionError(
        f"{metric.name} of a list is {outside[0]:.6g}{given}, beyond its "
        f"bounds={metric.bounds!r}."
    )


def metric(
    *,
    symbol: str,
    credit: str = "",
    out_of: str = "1",
    bounds: tuple[float, float] = (0, inf),
    reads: str = "",
    better: Better = "high",
    missed: str = "0",
    over: Literal["hits", "list", "all"] = "hits",
) -> Callable[[Callable[..., Any]], Metric[...]]:
    """Make a metric of a function, of hits or of a frame of the lists.

    Of the hits it is `mine(hits, k=None)`, which returns `recnb.metrics.Credit`, what
    each hit earns, out of what. Of the lists it is `mine(lists, k=None)`: `lists` is a
    pandas frame with a row for each item of each list down to k, sorted by user and
    rank, with the columns user, item, rank, relevance (0 where the truth has none) and
    those of `items=`.

    It is taken wherever the name of a metric is, and so is its name; one of hits is a
    function of one list. `recnb/metrics/README.md` has more examples. Options are
    numbers with a default, by keyword; the first line of the docstring says what the
    number means. Where formula and function differ on a few small lists, there is no
    metric.

    Parameters
    ----------
    symbol : str
        What is printed, such as "nDCG".
    credit : str
        What a hit adds, as a formula: + - * / ^, comparisons by <=, `log` or `log2`,
        `min`, `max`; the names rank, relevance, nth, first, no_hit, k, n_hits,
        n_relevant, list_length and the options. `ideal(...)` is a sum over the ideal
        list. A metric of a frame has no formula.
    out_of : str, default "1"
        What the sum is divided by, as such a formula.
    bounds : tuple of float, default (0, inf)
        The lowest and the highest value.
    reads : str, default ""
        One sentence on how to read the number.
    better : {"high", "low"} or None, default "high"
        "high" where more is better, "low" where less is, such as of a cost, None where
        a value is not good or bad in itself. Verdicts, marks, gates and the order of
        models follow it.
    missed : str, default "0"
        What a cost adds for a list without a hit, which would otherwise cost 0, as a
        formula such as "no_hit * k"; the function gives it to `Credit(missed=)`.
    over : {"hits", "list", "all"}, default "hits"
        "hits", the items that are relevant, of the users evaluated. "list", a frame of
        the lists of all users with one: the function returns a Series by user, and who
        has NaN is left out of the mean. "all", the same frame: one number.

    Returns
    -------
    callable
        The decorator, which makes the metric.

    Raises
    ------
    OptionError
        Formula and function differ, or a name is taken.

    Examples
    --------
    >>> import recnb
    >>> from recnb.metrics import Credit
    >>> @recnb.metric(symbol="Near", credit="1 / (1 + rank)")
    ... def nearness(hits, k=None):
    ...     "Sum of 1 / (1 + rank) over the relevant items."
    ...     return Credit(hits, k, 1 / (1 + hits.rank))
    >>> float(nearness(["a", "b", "c"], {"a", "c"}))
    0.75
    >>> name = recnb.METRICS.pop("nearness").name  # takes it out again

    >>> @recnb.metric(symbol="Depth", over="list")
    ... def depth(lists, k=None):
    ...     "Mean rank of the items of a list."
    ...     return lists.groupby("user")["rank"].mean()
    >>> ev = recnb.evaluate({"ann": ["a", "b", "c"]}, {"ann": ["b"]})
    >>> float(ev.measure(depth, k=2))
    1.5
    >>> name = recnb.LIST_METRICS.pop("depth").name
    """
    bounds = checked_bounds(bounds)
    kind = _kind_of(over)
    _refuse_direction(better)
    _refuse_formula(over, credit, out_of, missed)

    def make(computation: Callable[..., Any]) -> Metric[...]:
        name = computation.__name__
        _refuse_name(name)
        _refuse_symbol(symbol, name)
        made: Metric[...] = kind(
            computation,
            symbol=symbol,
            called=name.replace("_", " "),
            credit=credit,
            out_of=out_of,
            bounds=bounds,
            better=better,
            missed=missed,
            references=(),
            no_value=f"A user has none where {name} returns NaN.",
            sentence=reads,
            over=over,
            own=True,
        )
        made.check(made.defaults)
        if made.is_accuracy:
            _try_on_lists(made)
        _register(made)
        return made

    return make


def _register(made: Metric[...]) -> None:
    """Enter a metric under its name, with the signature and docstring of a function.

    It takes the place of one of this name: a cell may be run again.
    """
    if made.is_accuracy:
        function(made)
    else:
        vars(made).update(
            __name__=made.name,
            __doc__=made.function.__doc__,
            __signature__=inspect.signature(made.function),
        )
    for registry in (METRICS, LIST_METRICS):
        registry.pop(made.name, None)
    made.registry[made.name] = made
    measures.parsed.cache_clear()  # what texts meant before this


def _refuse_unknown_names(made: Metric[...], computed: Iterable[str]) -> None:
    """Refuse formulas that are none, or hold names that nothing has.

    `computed`: what the function itself computes of each hit.
    """
    names = [*FORMULA_NAMES, *made.defaults, *computed]
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


def _try_on_lists(made: Metric[...]) -> None:
    """Refuse a metric of hits if formula and function differ on some small list.

    A formula that is none is refused too.
    """
    unbounded = replace(made, bounds=(-inf, inf))
    for (grades, missed), k in product(TRIED_LISTS, CUTOFFS):
        where = f"of the grades {list(grades)} at k={k}"
        graded = enumerate((*grades, *missed))
        truth = {item: grade for item, grade in graded if grade}
        hits, cutoffs = hits_of([Pair(range(len(grades)), truth)]), Cutoffs.of(k)
        try:
            credit = unbounded.at(hits, cutoffs, {})
            _refuse_unknown_names(made, credit.names)
            ListSum(measures.Measure(made), credit).refuse_other_formula(where)
            made.at(hits, cutoffs, {})  # or an error that it leaves its bounds
        except FAILS as problem:
            raise OptionError(
                f"{made.name} fails {where}: {problem!r}. {FORM}"
            ) from problem


def _kind_of(over: str) -> type[Metric[...]]:
    """Return the kind of a metric by what it is over; refuse a word that is none."""
    if not is_word(over, OWN_KINDS):
        raise OptionError(f"over={quoted(over)} is no kind. {near(over, OWN_KINDS)}")
    return OWN_KINDS[over]


def _refuse_direction(better: object) -> None:
    """Refuse what says neither what is better nor that neither is."""
    if better is not None and not is_word(better, BETTER):
        problem = f"better={quoted(better)} is no direction of a metric: "
        raise OptionError(
            f"{problem}say 'high', 'low', or None where neither is better."
        )


def _refuse_formula(over: str, credit: str, out_of: str, missed: str) -> None:
    """Refuse a metric of hits without a formula, and one of a frame with a formula."""
    if over == "hits" and not credit:
        raise OptionError(
            "A metric of hits has a formula: say what a hit adds, credit='1 / rank', or "
            "over='list' for a function of a frame."
        )
    if over != "hits" and (credit, out_of, missed) != ("", "1", "0"):
        raise OptionError(
            f"over={over!r} is a function of a frame, which has no formula: leave out "
            f"credit=, out_of= and missed=."
        )


def _refuse_name(name: str) -> None:
    """Refuse the name of a function that means a metric of recnb, or is none."""
    known = EVERY_METRIC.get(name)
    is_taken = name.lower() in NAMES or (known is not None and not known.own)
    if is_taken or name in ("low", "high") or not name.isidentifier():
        raise OptionError(
            f"{name!r} is a metric of recnb, an end of an interval in tables, or no name: "
            "give the function another one."
        )


def _refuse_symbol(symbol: str, name: str) -> None:
    """Refuse a symbol that could not be printed in a formula."""
    if re.fullmatch(r"\w+([ -]\w+)*", symbol) is None:
        raise OptionError(
            f"symbol={quoted(symbol)} of {name}: give letters, digits, '-', '_' and "
            f"single blanks."
        )


def checked_bounds(bounds: Any) -> tuple[float, float]:
    """Return the lowest and the highest value, or refuse what is no range."""
    match bounds:
        case (Real(), Real()) if bounds[0] < bounds[1]:
            if bool not in map(type, bounds):
                return bounds[0], bounds[1]
    problem = f"bounds={quoted(bounds)} is no range of values: "
    raise OptionError(
        f"{problem}give the lowest and the highest, such as (0, 1), or "
        f"(0, float('inf')) of a metric without an upper bound."
    )
