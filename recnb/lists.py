"""What a metric beyond accuracy sees: every row of the ranked lists, and what is known of the items.

Accuracy needs the hits alone. Novelty, popularity and diversity look at each recommended item, coverage, Gini and
entropy at how often each item is shown; none of them looks at the truth. `Lists` holds the rows, `Catalogue` what is
known of the items, `PerUser` what comes out where each user has a value.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from recnb.errors import OptionError, RecnbError, near
from recnb.hits import Floats, Ints, Ranked

if TYPE_CHECKING:
    from scipy import sparse

    Sparse = sparse.csr_array[np.float64, tuple[int, int]]

P = ParamSpec("P")
T = TypeVar("T")

Bools = NDArray[np.bool_]
Cut = Literal["k", "none"]
Population = Literal["catalogue", "train", "recommended", "catalogue+padding"]
Popularity = Literal["users", "interactions", "count", "max"]


@dataclass(frozen=True, eq=False)
class Lists(Ranked):
    """All rows of the ranked lists, sorted by user, then rank; no item stands twice in one list."""

    item: Ints  #: per row, position of the item, from 0 to n_items - 1
    n_items: int  #: how many items are known: recommended, in train, described or in the catalogue
    named: Callable[[int], object] = int  #: what the user calls the item at a position, for messages

    @cached_property
    def n_shown(self) -> Ints:
        """How many items each list holds."""
        return np.bincount(self.user, minlength=self.n_users)

    @cached_property
    def times_shown(self) -> Ints:
        """How many lists show each item."""
        return np.bincount(self.item, minlength=self.n_items)

    def upto(self, k: int | None, cutoff: Cut = "k") -> Lists:
        """The rows down to rank k; all of them if k is None or the metric knows no cut-off."""
        if k is None or cutoff == "none":
            return self
        length = np.minimum(self.list_length, k)
        inside = self.rank <= k
        if inside.all():
            return replace(self, list_length=length)
        return replace(self, user=self.user[inside], rank=self.rank[inside], item=self.item[inside], list_length=length)

    def per_user(self, values: Floats | Ints) -> Floats:
        """What the rows hold, summed over each user's list."""
        return np.bincount(self.user, values, self.n_users).astype(np.float64, copy=False)

    def examples(self, wrong: Bools) -> str:
        """How many recommended items this is wrong of, and which come first."""
        items = np.flatnonzero(wrong & (self.times_shown > 0))
        shown = ", ".join(repr(self.named(int(item))) for item in items[:3])
        return f"{len(items):,} recommended items ({shown}{', …' if len(items) > 3 else ''})"


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What is known of each item, by position; None is what nobody gave."""

    users: Ints | None = None  #: how many users of train have the item
    interactions: Ints | None = None  #: how many rows of train hold the item
    n_users: int = 0  #: how many users train has
    listed: Bools | None = None  #: whether the catalogue lists the item
    features: Sparse | None = None  #: items × features
    described: Bools | None = None  #: whether the item has a row of features; None: all have
    taken: Sparse | None = None  #: items × users of train, 1 where the user has the item

    @property
    def n_interactions(self) -> int:
        """How many rows train has."""
        return int(self.counts("interactions", "this").sum())

    def counts(self, popularity: Popularity, metric: str) -> Ints:
        """How many users have each item, or how many interactions."""
        counts = self.users if popularity == "users" else self.interactions
        if counts is None:
            raise missing(metric, "what users had before", "train", "a frame of user and item")
        return counts

    def members(self, population: Population, metric: str) -> Bools:
        """Which items could have been recommended: all of the catalogue, or all of train."""
        if population == "train":
            return self.counts("users", metric) > 0
        if self.listed is None:
            raise missing(metric, "all items there are", "catalogue", "a list of items")
        return self.listed

    def described_by(self, lists: Lists, metric: str) -> Sparse:
        """Items × features, of which every recommended item has a row."""
        if self.features is None:
            raise missing(
                metric,
                "what items are like",
                "features",
                "a mapping from item to vector, or a frame with an item column",
            )
        if self.described is not None:
            unknown = ~self.described & (lists.times_shown > 0)
            if unknown.any():
                raise RecnbError(
                    f"{metric}: features= has no row for {lists.examples(unknown)}. Add them, or leave these items out of the lists."
                )
        return self.features

    def taken_by(self, metric: str) -> Sparse:
        """Items × users of train."""
        if self.taken is None:
            raise missing(metric, "which items users had together", "train", "a frame of user and item")
        return self.taken


def missing(metric: str, what: str, argument: str, kind: str) -> RecnbError:
    """The error for something that this metric cannot do without."""
    return RecnbError(f"{metric} needs {what}: type {argument}=..., {kind}.")


@dataclass(frozen=True, eq=False)
class PerUser:
    """A value for each user: what the list earned, out of what it is divided by."""

    total: Floats
    out_of: Floats  #: 0 where the value is not defined
    counted: Bools  #: whose values the mean is over; an undefined one that is counted makes the mean undefined

    @cached_property
    def value(self) -> Floats:
        """The value of each user, NaN where it is undefined or not counted."""
        undefined = np.full(len(self.total), np.nan)
        defined = self.counted & (self.out_of != 0)
        return np.asarray(np.divide(self.total, self.out_of, out=undefined, where=defined))

    def mean(self, average: Literal["user", "pooled"] = "user") -> float:
        """The mean over users; pooled: all that was earned, out of all that it is divided by."""
        if not self.counted.any():
            return float("nan")
        if average == "user":
            return float(self.value[self.counted].mean())
        out_of = float(self.out_of[self.counted].sum())
        return float(self.total[self.counted].sum()) / out_of if out_of else float("nan")


def in_words(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse a word that an option of this function does not have, which could pass for another one."""
    signature = inspect.signature(function)
    switches = {name for name, one in signature.parameters.items() if isinstance(one.default, bool)}

    @functools.wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> T:
        words = words_of(function)
        for name, value in signature.bind(*args, **options).arguments.items():
            if name in words and not (isinstance(value, str) and value in words[name]):
                raise OptionError(f"{name}={value!r} is no option of {function.__name__}. {near(value, words[name])}")
            if name in switches and not isinstance(value, (bool, np.bool_)):
                raise OptionError(f"{name}={value!r} is no option of {function.__name__}: say True or False.")
        return function(*args, **options)

    return checked


@functools.cache
def words_of(function: Callable[..., Any]) -> dict[str, tuple[str, ...]]:
    """The options of a function that are words, and the words each takes."""
    hints = {name: hint for name, hint in typing.get_type_hints(function).items() if typing.get_origin(hint) is Literal}
    return {name: typing.get_args(hint) for name, hint in hints.items()}


def number(name: str, value: object, meaning: str, ok: Callable[[float], bool]) -> float:
    """The value of an option that is a number, if it can be one."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not np.isfinite(typing.cast("float", value)) or not ok(typing.cast("float", value)):
        raise OptionError(f"{name}={value!r} is no {meaning}.")
    return float(typing.cast("float", value))
