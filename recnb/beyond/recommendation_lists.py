"""What metrics beyond accuracy are computed from.

Every row of the ranked lists, and what is known of the items.

Accuracy needs the hits alone. Novelty, popularity and diversity look at each
recommended item, coverage, Gini and entropy at how often each item is shown; none of
them looks at the truth. Users and items are numbers from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from recnb.metrics.hits import Bools, Floats, Hits, Ints
from recnb.metrics.metric import FILLED

if TYPE_CHECKING:
    from recnb.beyond.catalogue import Catalogue

Cut = Literal["k", "none"]


@dataclass(frozen=True, eq=False)
class Lists:
    """All rows of the ranked lists, sorted by user, then rank.

    No item is twice in a list.
    """

    user: Ints  #: per row, the position of the user, from 0 to n_users - 1
    rank: Ints  #: per row, 1 is the top
    item: Ints  #: per row, the position of the item, from 0 to n_items - 1
    list_length: Ints  #: per user, the last rank of the list
    catalogue: Catalogue  #: what is known of the items
    #: Per row, how many lists have this item at this rank, where one row stands for
    #: those of all lists; None: it is one list's.
    times: Ints | None = None
    #: `ItemData`, of which a metric asks what users had before.
    data: Any = None
    #: The hits of the same users, for a metric that looks at the truth.
    hits: Hits | None = None
    truth_item: Ints | None = None  #: per row of the truth, the position of the item

    @property
    def n_users(self) -> int:
        """The number of users, with or without a list."""
        return len(self.list_length)

    @property
    def n_items(self) -> int:
        """The number of items known: shown, in the truth, in train or described."""
        return len(self.catalogue.ids)

    @cached_property
    def n_shown(self) -> Ints:
        """The number of items in each list."""
        return np.bincount(self.user, minlength=self.n_users)

    @cached_property
    def times_shown(self) -> Ints:
        """The number of lists that show each item."""
        return np.bincount(self.item, self.times, self.n_items).astype(
            np.int64, copy=False
        )

    def upto(self, k: int | None, cutoff: Cut = "k") -> Lists:
        """Return the rows down to rank k.

        All of them if k is None or the metric does not cut.
        """
        if k is None or cutoff == "none":
            return self
        inside = self.rank <= k
        rows = slice(None) if inside.all() else inside
        return self.with_rows(rows, list_length=np.minimum(self.list_length, k))

    def of_user(self, user: int) -> Lists:
        """Keep the list of one user, by position."""
        rows = self.user == user
        return self.with_rows(
            rows, user=self.user[rows] - user, list_length=self.list_length[[user]]
        )

    def with_rows(self, rows: Bools | slice, **others: Ints) -> Lists:
        """Keep some of the rows, with other columns in place of these."""
        columns = {name: getattr(self, name)[rows] for name in ("user", "rank", "item")}
        times = None if self.times is None else self.times[rows]
        return replace(self, **{**columns, "times": times, **others})

    def per_user(self, values: Floats | Ints | Bools) -> Floats:
        """Sum values of the rows over each user's list."""
        return np.bincount(self.user, values, self.n_users).astype(
            np.float64, copy=False
        )

    def per_item(self, values: Floats) -> Floats:
        """Sum values of the rows over the places of each item."""
        weights = values if self.times is None else values * self.times
        return np.bincount(self.item, weights, self.n_items).astype(
            np.float64, copy=False
        )

    def examples(self, wrong: Bools) -> str:
        """Return the number of recommended items that are wrong, with examples."""
        items = np.flatnonzero(wrong & (self.times_shown > 0))
        shown = ", ".join(repr(self.catalogue.ids[int(item)]) for item in items[:3])
        return f"{len(items):,} recommended items ({shown}{', …' if len(items) > 3 else ''})"


@dataclass(frozen=True, eq=False)
class TermRows:
    """The rows that one user's value, or the one number of all lists, is the sum of."""

    earned: Floats  #: the credit of each
    #: Values of the names of the formula: a number, or one for each row.
    names: Mapping[str, Any]
    #: Positions of items: one for each row, or two for each row of pairs.
    items: Ints | None = None
    rank: Ints | None = None
    labels: Sequence[str] = ()  #: names of rows that are not items
    #: How many rows there are, if these are the first of them only.
    n_rows: int | None = None
    total: float | None = None  #: the credit of all rows then
    #: Whether nothing is relevant, and the convention sets the value.
    undefined: bool = False


@dataclass(frozen=True, eq=False)
class PerUser:
    """A value for each user: what the list earned, out of what it is divided by."""

    total: Floats
    out_of: Floats  #: 0 where the value is not defined
    counted: Bools  #: users whose values are averaged
    #: Returns the rows behind the value of the user at a position.
    rows: Callable[[int], TermRows] | None = None

    @cached_property
    def value(self) -> Floats:
        """The value of each user, NaN where it is undefined or not counted."""
        undefined = np.full(len(self.total), np.nan)
        defined = self.counted & (self.out_of != 0)
        return np.asarray(
            np.divide(self.total, self.out_of, out=undefined, where=defined)
        )

    @classmethod
    def together(cls, parts: Sequence[PerUser], order: Ints) -> PerUser:
        """Put the values of several groups of users together, in an order of them."""
        sizes = [len(part.total) for part in parts]
        starts = np.cumsum(sizes) - sizes

        def rows(user: int) -> TermRows:
            row = int(order[user])
            part = int(np.searchsorted(starts, row, side="right")) - 1
            of_part = parts[part].rows
            assert of_part is not None
            return of_part(row - int(starts[part]))

        return cls(
            total=np.concatenate([part.total for part in parts])[order],
            out_of=np.concatenate([part.out_of for part in parts])[order],
            counted=np.concatenate([part.counted for part in parts])[order],
            rows=rows if all(part.rows for part in parts) else None,
        )

    def filled_in(self, nothing_to_find: Bools, rule: str) -> PerUser:
        """Leave out users with nothing to find, or give them the convention's value."""
        if rule == "skip":
            return replace(self, counted=self.counted & ~nothing_to_find)
        return replace(
            self,
            total=np.where(nothing_to_find, FILLED[rule], self.total),
            out_of=np.where(nothing_to_find, 1.0, self.out_of),
        )


def list_credit(
    lists: Lists,
    k: int | None,
    earned: Floats,
    out_of: Floats | float | None = None,
    *,
    kept: Bools | None = None,
    names_of: Callable[[Ints], Mapping[str, Any]] = lambda rows: {},
) -> PerUser:
    """Sum what the rows of each list earn down to rank k, divided by `out_of`.

    Parameters
    ----------
    lists : Lists
        The lists that the function of a metric was given.
    k : int or None
        The cut-off that the function was given.
    earned : array, shape (n_rows,)
        The credit of each row.
    out_of : float or array, shape (n_users,), optional
        What the sum is divided by; by default the number of rows.
    kept : array of bool, shape (n_rows,), optional
        The rows that count, if not all do.
    names_of : callable, optional
        Returns what a formula names of some rows, a number or one for each.

    Returns
    -------
    PerUser
        The value of each user, and the rows that an explanation shows.
    """
    earned = np.asarray(earned, dtype=np.float64)
    if earned.shape != lists.rank.shape:
        raise TypeError(
            f"earned holds a number for each of the {len(lists.rank):,} rows"
        )
    inside = np.ones(len(lists.rank), dtype=bool) if k is None else lists.rank <= k
    n_shown = lists.per_user(inside)
    counts = inside if kept is None else inside & kept
    n_kept = lists.per_user(counts)
    if out_of is None:
        out_of = n_kept
    if np.shape(out_of) not in ((), n_kept.shape):
        raise TypeError(
            f"out_of is a number, or one for each of {lists.n_users:,} lists"
        )
    possible = np.broadcast_to(np.asarray(out_of, dtype=np.float64), n_kept.shape)

    def rows(user: int) -> TermRows:
        """Return the rows of one list; those that do not count are left out."""
        row = np.flatnonzero((lists.user == user) & counts)
        size = n_shown[user] if k is None else k
        shown = {"n_shown": n_kept[user], "k": size, **names_of(row)}
        return TermRows(earned[row], shown, lists.item[row], lists.rank[row])

    total = lists.per_user(np.where(counts, earned, 0.0))
    counted = (n_shown > 0) & (possible > 0)
    return PerUser(total, possible, counted, rows)


class Whole(float):
    """The one number that all lists give together, with the rows it is the sum of."""

    rows: Callable[[], TermRows] | None
    #: Of a mean over pairs of users: each user's mean over the pairs they are in.
    of_users: Callable[[], Floats] | None

    def __new__(
        cls,
        value: float,
        rows: Callable[[], TermRows] | None = None,
        of_users: Callable[[], Floats] | None = None,
    ) -> Self:
        """Return the value, and how its rows and those of users are computed."""
        self = super().__new__(cls, value)
        self.rows, self.of_users = rows, of_users
        return self

    def without_data(self) -> Whole:
        """Return the value without its rows, and with those of users computed."""
        if self.of_users is None:
            return Whole(self)
        return Whole(self, of_users=partial(np.asarray, self.of_users()))
