"""The data of metrics beyond accuracy: every row of the ranked lists, and attributes of the items.

Accuracy needs the hits alone. Novelty, popularity and diversity look at each recommended item, coverage, Gini and
entropy at how often each item is shown; none of them looks at the truth. `Lists` holds the rows, `Catalogue` the
attributes of items, `PerUser` the result if each user has a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from recnb.errors import RecnbError
from recnb.metrics.hits import Floats, Hits, Ints, Ranked, count_within

if TYPE_CHECKING:
    from scipy import sparse

    Sparse = sparse.csr_array[np.float64, tuple[int, int]]

Bools = NDArray[np.bool_]
Cut = Literal["k", "none"]
Population = Literal["catalogue", "train", "recommended", "catalogue+padding"]
Popularity = Literal["users", "interactions", "count", "max"]


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Attributes of each item, by position; None if they were not given."""

    users: Ints | None = None  #: how many users of train have the item
    interactions: Ints | None = None  #: how many rows of train hold the item
    n_users: int = 0  #: how many users train has
    listed: Bools | None = None  #: whether the catalogue lists the item
    reader: Any = None  #: an `ItemData`, which reads train and attributes of items when a metric needs them
    #: what to type for what is missing, in other words than NEEDED has
    ask: Mapping[str, str] = field(default_factory=dict)

    def counts(self, popularity: Popularity, metric: str) -> Ints:
        """Return the number of users who have each item, or of its interactions."""
        counts = self.users if popularity == "users" else self.interactions
        if counts is None:
            raise self.missing(metric, "train")
        return counts

    def members(self, population: Population, metric: str) -> Bools:
        """Return which items could have been recommended: all of the catalogue, or all of train."""
        if population == "train":
            return self.counts("users", metric) > 0
        if self.listed is None:
            raise self.missing(metric, "catalogue")
        return self.listed

    def described_by(self, lists: Lists, metric: str, columns: object = None) -> Sparse:
        """Return items × features, of which every recommended item has a row."""
        features: Sparse
        features, described = self.reading(metric, "features").features(columns, metric)
        self.known_of(lists, described, metric, "features")
        return features

    def distances_of(self, lists: Lists, given: object, metric: str) -> tuple[Floats, Ints]:
        """Return a given matrix of distances, of which every recommended item has a row."""
        matrix, row = self.reading(metric, "distances").distances(given, metric)
        self.known_of(lists, row >= 0, metric, "distances")
        return matrix, row

    def known_of(self, lists: Lists, known: Bools, metric: str, argument: str) -> None:
        """Refuse recommended items that are not described."""
        unknown = ~known & (lists.times_shown > 0)
        if unknown.any():
            problem = (
                self.ask.get(f"{argument} name", f"{argument}="),
                f" has no row for {lists.examples(unknown)}.",
            )
            fix = "Add them, or leave these items out of the lists."
            raise RecnbError(*problem, fix=fix, subject=f"{metric}: ")

    def reading(self, metric: str, argument: str) -> Any:
        """Return the reader of data that a metric cannot do without."""
        if self.reader is None or (argument == "train" and self.users is None):
            raise self.missing(metric, argument)
        return self.reader

    def missing(self, metric: str, argument: str) -> RecnbError:
        """Return the error for something that this metric cannot do without."""
        what, to_type = NEEDED[argument]
        return RecnbError(f"needs {what}: {self.ask.get(argument, to_type)}.", subject=f"{metric} ")


#: What an argument holds, and what to type where it is missing.
NEEDED = {
    "train": ("what users had before", "type train=..., a frame of user and item"),
    "catalogue": ("all items there are", "type catalogue=..., a list of items"),
    "features": (
        "what items are like",
        "type features=..., a mapping from item to vector, or a frame with an item column",
    ),
    "genre": ("genres", "type genre=..., a column of the items"),
    "distances": ("how far items are apart", "type distances=..., a matrix of items × items"),
}


@dataclass(frozen=True, eq=False)
class Lists(Ranked):
    """All rows of the ranked lists, sorted by user, then rank; no item is twice in a list."""

    item: Ints  #: per row, position of the item, from 0 to n_items - 1
    n_items: int  #: how many items are known: recommended, in train, described or in the catalogue
    named: Callable[[int], object] = int  #: what the user calls the item at a position, for messages
    catalogue: Catalogue = field(default_factory=Catalogue)  #: what is known of the items

    per_row = ("user", "rank", "item")

    @cached_property
    def n_shown(self) -> Ints:
        """The number of items in each list."""
        return np.bincount(self.user, minlength=self.n_users)

    @cached_property
    def times_shown(self) -> Ints:
        """The number of lists that show each item."""
        return np.bincount(self.item, minlength=self.n_items)

    def upto(self, k: int | None, cutoff: Cut = "k") -> Lists:
        """Return the rows down to rank k; all of them if k is None or the metric does not cut."""
        if k is None or cutoff == "none":
            return self
        length = np.minimum(self.list_length, k)
        inside = self.rank <= k
        if inside.all():
            return replace(self, list_length=length)
        return self.with_rows(inside, list_length=length)

    def of_user(self, user: int) -> Lists:
        """Keep the list of one user, by position."""
        rows = self.user == user
        return self.with_rows(
            rows, user=np.zeros(int(rows.sum()), dtype=np.int64), list_length=self.list_length[[user]]
        )

    def in_pairs(self, most: int) -> Lists:
        """Every two items of a single list as a list of their own: the pairs of the first item, then of the second, at most so many."""
        of_first = np.arange(len(self.item) - 1, 0, -1)
        n_firsts = int(np.searchsorted(np.cumsum(of_first), most)) + 1
        first = np.repeat(np.arange(len(of_first))[:n_firsts], of_first[:n_firsts])[:most]
        second = first + count_within(first)
        pairs = np.arange(len(first))
        return replace(
            self,
            user=np.repeat(pairs, 2),
            rank=np.tile(np.array([1, 2]), len(first)),
            item=np.stack([self.item[first], self.item[second]], axis=1).ravel(),
            list_length=np.full(len(first), 2),
        )

    def per_user(self, values: Floats | Ints) -> Floats:
        """Return values of the rows, summed over each user's list."""
        return np.bincount(self.user, values, self.n_users).astype(np.float64, copy=False)

    def examples(self, wrong: Bools) -> str:
        """Return the number of recommended items that are wrong, with examples."""
        items = np.flatnonzero(wrong & (self.times_shown > 0))
        shown = ", ".join(repr(self.named(int(item))) for item in items[:3])
        return f"{len(items):,} recommended items ({shown}{', …' if len(items) > 3 else ''})"


@dataclass(frozen=True, eq=False)
class HitsWithPopularity:
    """Hits, and how familiar each relevant item is: one number for each row of the truth."""

    hits: Hits
    #: where the user would find the item in a list of the most popular ones they have not had; cold: nowhere
    expected_rank: Ints
    popular_place: Ints  #: 1 for the items with the most interactions, 2 for those with the next most; cold: the end
    n_items: int  #: all items there are


@dataclass(frozen=True, eq=False)
class TermRows:
    """The rows that one user's value, or the one number of all lists, is the sum of."""

    earned: Floats  #: the credit of each
    names: Mapping[str, Any]  #: values of the names of the formula: a number, or one for each row
    items: Ints | None = None  #: positions of items: one for each row, or two for each row of pairs
    rank: Ints | None = None
    labels: Sequence[str] = ()  #: names of rows that are not items
    n_rows: int | None = None  #: how many rows there are, if these are the first of them only
    total: float | None = None  #: the credit of all rows then
    undefined: bool = False  #: whether nothing is relevant, and the convention sets the value


@dataclass(frozen=True, eq=False)
class PerUser:
    """A value for each user: what the list earned, out of what it is divided by."""

    total: Floats
    out_of: Floats  #: 0 where the value is not defined
    counted: Bools  #: users whose values are averaged; an undefined value among them makes the mean undefined
    rows: Callable[[int], TermRows] | None = None  #: the rows behind the value of the user at a position

    @cached_property
    def value(self) -> Floats:
        """The value of each user, NaN where it is undefined or not counted."""
        undefined = np.full(len(self.total), np.nan)
        defined = self.counted & (self.out_of != 0)
        return np.asarray(np.divide(self.total, self.out_of, out=undefined, where=defined))

    def mean(self) -> float:
        """Return the mean over the users who count."""
        return float(self.value[self.counted].mean()) if self.counted.any() else float("nan")


class Whole(float):
    """The one number that all lists give together, with the rows it is the sum of."""

    rows: Callable[[], TermRows] | None
    of_users: Callable[[], Floats] | None  #: of a mean over pairs of users: each user's mean over the pairs they are in

    def __new__(
        cls, value: float, rows: Callable[[], TermRows] | None = None, of_users: Callable[[], Floats] | None = None
    ) -> Self:
        """Return the value, and how its rows and those of users are computed."""
        self = super().__new__(cls, value)
        self.rows, self.of_users = rows, of_users
        return self
