"""A metric of one's own: `recnb.metric` makes it of a function.

Its formula and its code must agree on a few small lists.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Literal, TypeGuard

import numpy as np

from recnb.errors import OptionError, is_number, is_word, quoted
from recnb.metrics import measure as measures
from recnb.metrics.catalogue import RowItems, missing
from recnb.metrics.formula import FUNCTIONS
from recnb.metrics.hits import Floats, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import (
    EVERY_METRIC,
    LIST_METRICS,
    METRICS,
    AccuracyMetric,
    Better,
    Credit,
    ListMetric,
    Metric,
    Need,
    OwnNeed,
)
from recnb.metrics.recommendation_lists import Lists, PerUser, TermRows
from recnb.results.metric_methods import on_lists
from recnb.results.small_lists import NAMES, OF_TRAIN, try_on_lists

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
        if self.needs and data.truth_items is None:
            raise missing(self.name, self.needs[0])
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
    """A metric of the caller's over all rows of the lists.

    What its function returns is checked, and its rows have the names of its formula.
    """

    def at(self, data: Any, k: Any, options: Mapping[str, Any]) -> Any:
        """Compute the values of lists, and check them.

        What is no credit of the lists, and values beyond the bounds are refused.
        """
        items = RowItems(
            position=data.item,
            catalogue=data.catalogue,
            metric=self.name,
            columns=self.columns,
            user=data.user,
            users=np.arange(data.n_users),
        )
        lists = replace(data, items=items)
        values = super().at(lists, k, options)
        is_credit = isinstance(values, PerUser) and values.rows is not None
        if not is_credit or not np.isfinite([values.total, values.out_of]).all():
            raise OptionError(
                f"{self.name} returned no credit of the {len(data.rank):,} rows of the "
                f"lists: return recnb.metrics.list_credit(lists, k, earned, out_of), "
                f"`earned` a finite number for each row."
            )
        _refuse_outside(self, values.value, options)
        measure = Measure(self, options)
        names_read = {*measure.credit.names(), *measure.out_of.names()}

        def rows(user: int) -> TermRows:
            """Return the rows of one list with all that a formula names."""
            of_user: TermRows = values.rows(user)
            assert of_user.items is not None
            of_rows = replace(
                items,
                position=of_user.items,
                user=np.full(len(of_user.items), user),
            )
            names = {
                **measure.chosen,
                "rank": of_user.rank,
                "list_length": lists.list_length[user],
                **of_rows.numbers(names_read),
                **of_user.names,
            }
            return replace(of_user, names=names)

        return replace(values, rows=rows)

    def __call__(self, data: Any = None, *args: Any, **options: Any) -> Any:
        """Compute the values of lists in another metric.

        One list by itself says nothing of its items.
        """
        if isinstance(data, Lists):
            return super().__call__(data, *args, **options)
        raise OptionError(
            f"{self.name} is of the items of lists: evaluate frames, "
            f"recnb.evaluate(recs, truth, train=train).measure({self.name!r}, k=10)."
        )


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
    credit: str,
    out_of: str = "1",
    bounds: tuple[float, float] = (0, inf),
    reads: str = "",
    better: Better = "high",
    missed: str = "0",
    over: Literal["hits", "list"] = "hits",
    needs: Sequence[OwnNeed] = (),
    columns: Sequence[str] | Mapping[str, float] = (),
) -> Callable[[Callable[..., Credit | PerUser]], Metric[...]]:
    """Make a metric of a function, of hits or of all rows of the lists.

    Of the hits it is `mine(hits, k=None)`, which returns `recnb.metrics.Credit`, what
    each hit earns, out of what; of all rows of the lists `mine(lists, k=None)`, which
    returns `recnb.metrics.list_credit`.

    It is taken wherever the name of a metric is, and so is its name; one of hits that
    needs nothing else is a function of one list. `recnb/metrics/README.md` has more
    examples. Options are numbers with a default, by keyword; the first line of the
    docstring says what the number means. Where formula and function differ on a few
    small lists, there is no metric.

    Parameters
    ----------
    symbol : str
        What is printed, such as "nDCG".
    credit : str
        What a row adds, as a formula: + - * / ^, comparisons by <=, `log` or `log2`,
        `min`, `max`; the names rank, k, list_length and the options; of hits relevance,
        nth, first, no_hit, n_hits, n_relevant; over lists n_shown. `ideal(...)` is a
        sum over the ideal list.
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
    over : {"hits", "list"}, default "hits"
        "hits", the items that are relevant, of the users evaluated; "list", all items
        of the lists, of all users with one.
    needs : list of {"train", "features", "genre"}, optional
        "train" for `hits.items` or `lists.items` with `count` and `interactions`, the
        users who had the item of each row and its rows in train, `n_users` and
        `n_interactions`, those of train, and `expected_rank`, the rank of the item in a
        list of the most popular items that the user has not had. They are names of the
        formula as well. `items.history` has what each user had. "features" and "genre"
        for `items.features()` and `items.genres()`, sparse arrays with a row for each.
    columns : list of str or dict, optional
        The columns of `items=` that are read by `hits.items.column("price")`, a number
        for each row, and are names of the formula. An item without a value is an error;
        {"price": 0} says what it has instead.

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
    """
    bounds = _bounds_of(bounds)
    kind = _kind_of(over, better, missed)
    read = _columns_of(columns)
    needed: tuple[Need, ...] = _needs_of(needs)
    if read and "features" not in needed:
        needed = (*needed, "features")

    def make(function: Callable[..., Credit | PerUser]) -> Metric[...]:
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
            needs=needed,
            columns=read,
            own=True,
        )
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
    over: object, better: object, missed: str
) -> type[OwnMetric | OwnListMetric]:
    """Return the kind of a metric by its rows; refuse words that are none."""
    if not is_word(over, NAMES):
        raise OptionError(f"over={quoted(over)}: say 'hits' or 'list'.")
    if better is not None and not is_word(better, BETTER):
        problem = f"better={quoted(better)} is no direction of a metric: "
        raise OptionError(
            problem, "say 'high', 'low', or None where neither is better."
        )
    if over == "hits":
        return OwnMetric
    if missed != "0":
        raise OptionError("missed= is what a list without a hit adds: leave out over=.")
    return OwnListMetric


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
    raise OptionError(problem, "give the lowest and the highest, such as (0, 1).")


def is_bound(value: object) -> TypeGuard[float]:
    """Say whether a value is a number, which may be infinite."""
    return is_number(value) or (isinstance(value, float) and abs(value) == inf)


def _needs_of(needs: object) -> tuple[OwnNeed, ...]:
    """Return what a metric needs, or refuse what is nothing of the kind."""
    known = typing.get_args(OwnNeed)
    if isinstance(needs, (list, tuple)) and all(is_word(need, known) for need in needs):
        return tuple(dict.fromkeys(needs))
    raise OptionError(
        f"needs={quoted(needs)}: say ('train',), ('features',), ('genre',) or several of "
        f"them; columns of items= are given by columns=['price']."
    )


def _columns_of(columns: object) -> dict[str, float | None]:
    """Return the columns that a metric reads with what an item without a value has.

    What can be no name of a formula is refused.
    """
    read = {}
    if isinstance(columns, Mapping):
        read = dict(columns)
    elif isinstance(columns, (list, tuple)):
        read = dict.fromkeys(columns)
    else:
        problem = f"columns={quoted(columns)} holds no names of columns: "
        raise OptionError(problem, "give a list, such as ['price'].")
    taken = {*NAMES["hits"], *NAMES["list"], *OF_TRAIN, *FUNCTIONS}
    for name, default in read.items():
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            raise OptionError(
                f"columns={quoted(columns)}: {quoted(name)} is no name that a formula "
                f"can give to a column, or has another meaning there: rename it in items=."
            )
        if default is not None and not is_number(default):
            raise OptionError(
                f"columns={quoted(columns)}: {quoted(default)} is no number for an item "
                f"without {name}."
            )
    return read
