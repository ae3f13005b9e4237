"""What metrics beyond accuracy are computed from.

Every row of the ranked lists, and what is known of the items.

Accuracy needs the hits alone. Novelty, popularity and diversity look at each
recommended item, coverage, Gini and entropy at how often each item is shown. Users and
items are numbers from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recnb.caching import cached_property
from recnb.errors import listed
from recnb.metrics.hits import Bools, Floats, Hits, Ints, sums

if TYPE_CHECKING:
    import polars as pl

    from recnb.beyond.catalogue import Catalogue, Sparse
    from recnb.data import Joined

Cut = Literal["k", "none"]


@dataclass(frozen=True, eq=False)
class Lists:
    """All rows of the ranked lists, sorted by user, then rank.

    No item is twice in a list.
    """

    user: Ints  #: per row, the position of the user, from 0 to n_users - 1
    rank: Ints  #: per row, 1 is the top
    item: Ints  #: per row, the position of the item, from 0 to n_items - 1
    users: pl.Series  #: whose lists these are; some may have none
    catalogue: Catalogue  #: what is known of the items
    joined: Joined  #: the truth, and the hits of the users evaluated

    @property
    def n_users(self) -> int:
        """The number of users, with or without a list."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """The number of items known: shown, in the truth, in train or described."""
        return len(self.catalogue.ids)

    @property
    def hits(self) -> Hits:
        """The hits of the users evaluated, whose weights some metrics refuse."""
        return self.joined.hits

    @cached_property
    def n_shown(self) -> Ints:
        """The number of items in each list."""
        return np.bincount(self.user, minlength=self.n_users)

    @cached_property
    def times_shown(self) -> Ints:
        """The number of lists that show each item."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def truth_item(self) -> Ints:
        """The position of the item of each relevant row."""
        return self.catalogue.item_of(self.joined.rows.relevant)

    @property
    def history(self) -> tuple[Ints, Ints]:
        """What the users had in train, each item once: the positions of user and item."""
        # In a split train is that of one of its values, where a user has one list.
        return self.catalogue.had_by(self.joined.source.keys.users_of(self.users))

    @cached_property
    def expected_rank(self) -> Floats:
        """The rank of each relevant row in a list of the most popular items.

        That list has those that its user, who is one of the users evaluated, has not had:
        the rank is the place of the item by popularity, less the items above it that the
        user had. That is a search in what users had, each item once, sorted by place. An
        item that the user had is 0; one that train lacks is in no such list.
        """
        count = self.catalogue.counts["interactions"]
        by_count = np.argsort(-count, kind="stable")
        place = np.argsort(by_count) + 1
        stride = len(count) + 1
        had_user, had_item = self.history
        had = np.sort(had_user * stride + place[had_item])
        user, item = self.hits.truth_user, self.truth_item
        key = user * stride + place[item]
        at = np.searchsorted(had, key)
        has = np.append(had, -1)[at] == key
        rank = place[item] - at + np.searchsorted(had, user * stride)
        return np.where(has, 0.0, np.where(count[item] > 0, rank, np.inf))

    def upto(self, k: int | None, cutoff: Cut = "k") -> Lists:
        """Return the rows down to rank k.

        All of them if k is None or the metric does not cut.
        """
        if k is None or cutoff == "none":
            return self
        inside = self.rank <= k
        if inside.all():
            return self
        return replace(
            self,
            user=self.user[inside],
            rank=self.rank[inside],
            item=self.item[inside],
        )

    def per_user(self, values: Floats | Ints | Bools) -> Floats:
        """Sum values of the rows over each user's list."""
        return sums(values, self.user, self.n_users)

    def table_of(self, user: Ints, item: Ints) -> Sparse:
        """Return a table of users × items, 1 where a user has the item."""
        from scipy import sparse

        cells: Any = (np.ones(len(user)), (user, item))
        return sparse.csr_array(cells, shape=(self.n_users, self.n_items))

    def examples(self, wrong: Bools) -> str:
        """Return the number of recommended items that are wrong, with examples."""
        items = np.flatnonzero(wrong & (self.times_shown > 0))
        ids = self.catalogue.ids.gather(items)
        return f"{len(items):,} recommended items ({listed(ids)})"


@dataclass(frozen=True, eq=False)
class TermRows:
    """The rows that one user's value, or the one number of all lists, is the sum of."""

    earned: Floats  #: the credit of each
    #: Values of the names of the formula: a number, or one for each row.
    names: Mapping[str, Any]
    #: Columns of what each row is of: "item" and "other_item" (their positions), "rank",
    #: "genre".
    of: Mapping[str, Any] = field(default_factory=dict)
    #: Whether nothing is relevant, and the convention sets the value.
    undefined: bool = False


#: The rows of a value that is no sum: there is nothing to add up.
NO_ROWS = TermRows(np.zeros(0), {})


@dataclass(frozen=True, eq=False)
class PerUser:
    """A value for each user, with the rows it is made of."""

    value: Floats  #: NaN of a user without one, who is left out of the mean
    #: Returns the rows behind the value of the user at a position.
    rows: Callable[[int], TermRows] = lambda _user: NO_ROWS


@dataclass(frozen=True, eq=False)
class Whole:
    """The one number that all lists give together, with the rows it is the sum of."""

    value: float
    rows: TermRows = NO_ROWS
    #: Of a mean over pairs of users: each user's mean over the pairs they are in.
    of_users: Floats | None = None

    def without_data(self) -> Whole:
        """Return the value without its rows."""
        return replace(self, rows=NO_ROWS)


def divided(total: Floats, out_of: Floats) -> Floats:
    """Return what each list earned, out of what it could; NaN where that is nothing."""
    undefined = np.full(len(total), np.nan)
    return np.asarray(np.divide(total, out_of, out=undefined, where=out_of > 0))
