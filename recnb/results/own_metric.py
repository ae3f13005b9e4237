"""A metric of one's own: `recnb.metric` makes it of a function, of hits or of a frame.

The formula of one of hits and its code must agree on a few small lists.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Literal, TypeGuard

import numpy as np
import pandas as pd

from recnb.errors import OptionError, is_number, is_word, quoted
from recnb.metrics import measure as measures
from recnb.metrics.hits import Floats, Hits
from recnb.metrics.metric import (
    EVERY_METRIC,
    LIST_METRICS,
    METRICS,
    AccuracyMetric,
    Better,
    CatalogueMetric,
    Credit,
    ListMetric,
    Metric,
)
from recnb.metrics.recommendation_lists import PerUser, Whole
from recnb.results.metric_methods import on_lists
from recnb.results.small_lists import try_on_lists

#: The directions of a metric; None is neither.
BETTER = ("high", "low")


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
        _refuse_outside(self, credit.value, options)
        return credit

    def __call__(self, data: Any = None, *args: Any, **options: Any) -> Any:
        """Compute the metric of lists, or in another metric the credit of hits."""
        call = super().__call__ if isinstance(data, Hits) else on_lists(self)
        return call(data, *args, **options)


class OwnListMetric(ListMetric[...]):
    """A metric of the caller's, of a frame of lists: a value for each user.

    A user whose value is NaN, or who has no row down to the cut-off, is left out.
    """

    def at(self, data: Any, k: Any, options: Mapping[str, Any]) -> PerUser:
        """Compute the values of lists that have a frame, and check them."""
        returned = super().at(data.frame, k, options)
        position, row = np.unique(data.user, return_index=True)
        users = pd.Index(data.frame["user"].iloc[row])
        numbers = _numbers_of_users(self, returned, users)
        value = np.full(data.n_users, np.nan)
        value[position] = numbers
        has_value = ~np.isnan(value)
        _refuse_outside(self, value[has_value], options)
        out_of = np.ones(data.n_users)
        return PerUser(np.nan_to_num(value), out_of, has_value)


class OwnCatalogueMetric(CatalogueMetric[...]):
    """A metric of the caller's, of a frame of lists: one number of all together."""

    def at(self, data: Any, k: Any, options: Mapping[str, Any]) -> Whole:
        """Compute the number of lists that have a frame, and check it."""
        returned = super().at(data.frame, k, options)
        if not is_number(returned):
            raise OptionError(
                f"{self.name} returned {_shown(returned)}. over='all' is one finite "
                f"number: return lists['item'].nunique(), or say over='list'."
            )
        _refuse_outside(self, np.array([returned]), options)
        return Whole(returned)


def _numbers_of_users(
    metric: Metric[...], returned: object, users: pd.Index[Any]
) -> Floats:
    """Return the numbers that a function returned of these users, in their order.

    Anything but a Series with a number for each of them is refused.
    """
    problem = _problem_with(returned, users)
    if problem or not isinstance(returned, pd.Series):
        raise OptionError(
            f"{metric.name} returned {problem}. over='list' is a pandas Series with a "
            f"number for each user: return lists.groupby('user')['rank'].mean()."
        )
    return returned.reindex(users).to_numpy(dtype=np.float64, na_value=np.nan)


def _problem_with(returned: object, users: pd.Index[Any]) -> str:
    """Say what is wrong with the values of users; empty if nothing is."""
    if not isinstance(returned, pd.Series):
        return _shown(returned)
    valued = returned.index
    lacking = users.difference(valued, sort=False).tolist()
    unknown = valued.difference(users, sort=False).tolist()
    repeated = valued[valued.duplicated()].tolist()
    if lacking:
        return f"no value of user {lacking[0]!r}"
    if unknown:
        return f"a value of {unknown[0]!r}, who is no user of the frame"
    if repeated:
        return f"several values of user {repeated[0]!r}"
    if not pd.api.types.is_numeric_dtype(returned.dtype):
        return f"values of type {returned.dtype}"
    infinite = valued[np.isinf(returned)].tolist()
    if infinite:
        return f"an infinite value of user {infinite[0]!r}"
    return ""


def _shown(returned: object) -> str:
    """Return what a function returned, or its type where that is long, for an error."""
    if returned is None or isinstance(returned, (str, float, int)):
        return quoted(returned)
    return f"a {type(returned).__name__}"


#: The kind of a metric by what its function is given and returns.
KINDS: dict[str, type[OwnMetric | OwnListMetric | OwnCatalogueMetric]] = {
    "hits": OwnMetric,
    "list": OwnListMetric,
    "all": OwnCatalogueMetric,
}


def _refuse_outside(
    metric: Metric[...], values: Floats, options: Mapping[str, Any]
) -> None:
    """Refuse values beyond the bounds of a metric."""
    low, high = metric.bounds
    outside = values[(values < low - 1e-9) | (values > high + 1e-9)]
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
    bounds = _bounds_of(bounds)
    kind = _kind_of(over, better)
    _refuse_formula(over, credit, out_of, missed)

    def make(function: Callable[..., Any]) -> Metric[...]:
        name = function.__name__
        _refuse_name(name)
        _refuse_symbol(symbol, name)
        made: Metric[...] = kind(
            function,
            symbol=symbol,
            called=name.replace("_", " "),
            credit=credit,
            out_of=out_of,
            bounds=bounds,
            better=better,
            missed=missed,
            references=(),
            sentence=reads,
            over=over,
            own=True,
        )
        made.check(made.defaults)
        if made.is_accuracy:
            try_on_lists(made)
        _register(made)
        return made

    return make


def _register(made: Metric[...]) -> None:
    """Enter a metric under its name, with the signature and docstring of a function.

    It takes the place of one of this name: a cell may be run again.
    """
    function = made.function
    described: Any = on_lists(made) if made.is_accuracy else function
    vars(made).update(
        __name__=made.name,
        __doc__=described.__doc__,
        __signature__=inspect.signature(described),
    )
    for registry in (METRICS, LIST_METRICS):
        registry.pop(made.name, None)
    made.registry[made.name] = made
    measures.parsed.cache_clear()  # what texts meant before this


def _kind_of(
    over: str, better: object
) -> type[OwnMetric | OwnListMetric | OwnCatalogueMetric]:
    """Return the kind of a metric by what it is over; refuse words that are none."""
    if not is_word(over, KINDS):
        raise OptionError(f"over={quoted(over)}: say 'hits', 'list' or 'all'.")
    if better is not None and not is_word(better, BETTER):
        problem = f"better={quoted(better)} is no direction of a metric: "
        raise OptionError(
            f"{problem}say 'high', 'low', or None where neither is better."
        )
    return KINDS[over]


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
    is_taken = name.lower() in measures.NAMES or (known is not None and not known.own)
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
    raise OptionError(f"{problem}give the lowest and the highest, such as (0, 1).")


def is_bound(value: object) -> TypeGuard[float]:
    """Say whether a value is a number, which may be infinite."""
    return is_number(value) or (isinstance(value, float) and abs(value) == inf)
