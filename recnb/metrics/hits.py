"""What metrics of accuracy are computed from.

The hits of all users, and what each user could have found.

A *hit* is a recommended item that is relevant to its user. Nearly every metric is a sum
over a user's hits of some credit, divided by what the user's list could have earned. So
hits, relevant items and the length of each list are all that is kept of the two frames:
a few hits for every hundred recommended rows, which is where the speed comes from.

    of each hit,               user             0  0  2      user 0 has items of relevance 1, 3 at ranks 1, 4;
    by user, then rank         rank             1  4  2      user 2 has one of relevance 2 at rank 2
                               relevance        1  3  2
                               entry            1  0  4      which of the entries below each hit is
    of each relevant item,     truth_user       0  0  1  1  2
    an entry, by user          truth_relevance  3  1  1  2  2
    of each user               list_length     10 10  8      users are numbers from 0; user 1 has no hit
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.errors import CutoffError, OptionError, is_several, quoted

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", np.int64, np.float64)

#: The highest relevance, and the highest gain: sums and squares of it over all users
#: stay finite, also with weights of 1 / propensity up to 1e50.
HIGHEST = 1e100

#: Deeper than any list.
ENDLESS = 2**31

#: Users for whom a metric is computed at once: their ideal lists take a gigabyte at most.
USERS_AT_ONCE = 2**20


@dataclass(frozen=True)
class Cutoffs:
    """The ranks at which lists are cut, one column of results each.

    None cuts nothing; as a denominator it is the length of each user's list.
    """

    values: tuple[int | None, ...]
    #: where lists are cut, by the words of `Convention.cutoff`; if not at k, k is only
    #: the number that some denominators take
    cut: Literal["k", "none"] = "k"

    @classmethod
    def of(cls, k: object) -> Cutoffs:
        """Read one k or several: 10, [5, None], range(1, 4)."""
        if isinstance(k, Cutoffs):
            return k
        several = k if _are_several(k) else [k]
        values = tuple(map(_cutoff, several))
        if not values or len(set(values)) < len(values):
            raise CutoffError(
                f"k={quoted(k)}: give at least one cut-off, such as k=[5, 10], and "
                "each once."
            )
        return cls(values)

    def __iter__(self) -> Iterator[int | None]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_whole(self) -> bool:
        """Whether no cut-off is given at all."""
        return self.values == (None,)

    @property
    def is_mixed(self) -> bool:
        """Whether some lists are cut and some are whole."""
        return None in self.values and not self.is_whole

    @property
    def depths(self) -> tuple[int, ...]:
        """The last rank that counts, by cut-off; of whole lists, deeper than any."""
        if self.cut == "none":
            return (ENDLESS,) * len(self)
        return tuple([k or ENDLESS for k in self.values])

    @property
    def deepest(self) -> int | None:
        """The rank below which nothing counts; None if some list counts whole."""
        deepest = max(self.depths)
        return deepest if deepest < ENDLESS else None

    def size(self, list_length: Ints) -> Ints:
        """Return the k of denominators, users × cut-offs; None is the length of a list."""
        columns = [
            list_length if k is None else np.full_like(list_length, k)
            for k in self.values
        ]
        # The numbers of one cut-off lie together in memory, as numpy reads them.
        return np.stack(columns).T


#: No cut-off.
WHOLE_LISTS = Cutoffs((None,))

#: What a metric function takes for k: a whole number, or None for each list's own
#: length.
Cutoff = int | Cutoffs | None


#: The fix of a wrong cut-off that the command line lacks.
OR_WHOLE = ", or None for each user's whole list"


def one_cutoff(k: object) -> int | None:
    """Read the cut-off of a call that returns one number; None is the whole list."""
    if _are_several(k) and len(k):
        raise CutoffError(
            f"one call gives one number: type .table(k={list(k)!r}), or "
            f".curve(metric, k={list(k)!r})."
        )
    return Cutoffs.of(k).values[0]


def _are_several(k: object) -> TypeGuard[Sequence[object]]:
    return isinstance(k, (Sequence, np.ndarray)) and is_several(k)


def _cutoff(k: object) -> int | None:
    if k is None:
        return None
    is_switch = isinstance(k, bool)
    if is_switch or not isinstance(k, (int, np.integer)) or not 1 <= k < ENDLESS:
        raise CutoffError(
            f"k={quoted(k)} is not a cut-off: k counts ranks, so it is a whole "
            f"number from 1 up to {ENDLESS - 1:,}, such as k=10{OR_WHOLE}.",
            {OR_WHOLE: ""},
        )
    return int(k)


class TieSpread(NamedTuple):
    """Hits spread over the ranks that their ties could put them on.

    There is one row per hit and rank (McSherry and Najork 2008).
    """

    weight: Floats  #: the probability that the hit has this rank
    nth: Floats  #: if it does, the expected number of hits as high or higher
    first: Floats  #: the probability that it has this rank and is the user's first hit

    def with_rows(self, rows: Bools | Ints | slice) -> TieSpread:
        """Keep some of the rows."""
        return TieSpread(*(column[rows] for column in self))

    def put(self, rows: Ints, others: TieSpread) -> None:
        """Write others into some of the rows."""
        for column, values in zip(self, others, strict=True):
            column[rows] = values


@dataclass(frozen=True, eq=False)
class Hits:
    """The recommended items that are relevant, and per user what could have been hit."""

    # A new field of hits or of entries goes into `_room_for` and `_write` of
    # `hits_of_parts.py` as well, which puts parts together.
    user: Ints  #: per hit, the position of the user, from 0 to n_users - 1
    rank: Ints  #: per hit, 1 is the top
    relevance: Floats  #: per hit, above 0 unless `Convention.relevant` counts others
    entry: Ints  #: per hit, which entry it is: its place in the next two
    truth_user: Ints  #: per entry, sorted: the position of the user
    truth_relevance: Floats  #: per entry, as of hits
    #: Per user, the last rank of the list under the convention; 0: it has none.
    list_length: Ints
    #: The highest relevance in the truth, of all users: the scale of ERR.
    max_relevance: float
    #: How each hit is spread over ranks if equal scores share them.
    tied: TieSpread | None = None
    #: The judged items in the lists as hits, for metrics that need them.
    judged: Hits | None = None
    #: Per entry, what it counts: 1 / propensity; None: each counts 1.
    truth_weight: Floats | None = None

    @property
    def n_users(self) -> int:
        """The number of users evaluated, with or without a list."""
        return len(self.list_length)

    def total(self, credit: Floats, k: Cutoff) -> Floats:
        """Sum credit over each user's hits down to each cut-off: users × cut-offs.

        Each hit is put into the cell of its user and of the first cut-off that reaches
        it. The cells are then added up along the cut-offs, so that each hit is summed
        once, whatever the number of cut-offs.
        """
        # The last row of cells is of hits below all cut-offs.
        depths = np.array([*Cutoffs.of(k).depths, ENDLESS])
        order = depths.argsort(kind="stable")
        cell = of_each_rank(
            self.rank,
            lambda rank: self.n_users * order[depths.searchsorted(rank, sorter=order)],
        )
        cell += self.user
        summed = sums(credit, cell, len(depths) * self.n_users)
        totals = summed.reshape(len(depths), self.n_users)
        for above, here in pairwise(order[:-1]):
            totals[here] += totals[above]
        return totals[:-1].T

    # What formulas name, by hit or by user

    @cached_property
    def nth(self) -> Ints | Floats:
        """The number of each hit among those of its user.

        How many are as high or higher, or their mean if ties are averaged.
        """
        if self.tied is not None:
            return self.tied.nth
        nth = count_within(self.user)
        starts = run_starts(self.user, self.rank)
        if len(starts) == len(nth):
            return nth
        # Several hits on one rank, where ties share it, each count all of them.
        n_on_rank = np.diff(starts, append=len(nth))
        last = starts + n_on_rank - 1
        return np.repeat(nth[last], n_on_rank)

    @cached_property
    def first(self) -> Floats:
        """1 for a user's first hit, 0 for the others.

        Where ties are averaged, the chance of being it.
        """
        if self.tied is not None:
            return self.tied.first
        first = np.zeros(len(self.user))
        first[run_starts(self.user)] = 1.0
        return first

    @cached_property
    def n_relevant(self) -> Ints:
        """The number of items relevant to each user."""
        return np.bincount(self.truth_user, minlength=self.n_users)

    @cached_property
    def preferred(self) -> Bools:
        """Whether a hit is the item its user prefers: the most relevant.

        Of equal ones, the first listed. If repeated, the first hit.
        """
        self.refuse_ties("target='preferred' looks for the place of one item")
        best = self.ideal.down_to(1).entry
        entries, first = np.unique(self.entry, return_index=True)
        chosen = np.zeros(len(self.entry), dtype=bool)
        chosen[first[np.isin(entries, best)]] = True
        return chosen

    # Ties

    @cached_property
    def weight(self) -> Floats:
        """1 for each hit, or its weight.

        If ties are averaged, times the probability that it has this rank.
        """
        weight = np.ones(len(self.user))
        if self.truth_weight is not None:
            weight = self.truth_weight[self.entry]
        if self.tied is not None:
            weight = weight * self.tied.weight
        return weight

    def weigh(self, credit: NDArray[Any]) -> Floats:
        """Return credit of each hit, times its weight and the probability of its rank."""
        if self.truth_weight is not None or self.tied is not None:
            credit = credit * self.weight
        return np.asarray(credit, dtype=np.float64)

    @cached_property
    def relevant_weight(self) -> Floats:
        """The weights of the items relevant to each user, added up.

        Without weights their number.
        """
        if self.truth_weight is None:
            return self.n_relevant.astype(np.float64)
        return sums(self.truth_weight, self.truth_user, self.n_users)

    def refuse_ties(self, why: str) -> None:
        """Refuse equal scores that share ranks, for what depends on one order of them."""
        if self.tied is not None:
            raise OptionError(
                f"{why}, so there is no mean over ties here: choose ties='first'."
            )

    # Other lists

    @cached_property
    def ideal(self) -> Hits:
        """The best possible list: every relevant item, most relevant first."""
        return self.best_by(self.truth_relevance)

    def best_by(self, value: Floats) -> Hits:
        """Return every relevant item as a hit, ranked from the highest value down.

        `value` is by entry; of equal ones the first listed is first.
        """
        user, relevance = self.truth_user, self.truth_relevance
        entry = np.arange(len(user))
        if not stands_from_highest(user, value):
            entry = order_from_highest(user, value)
            relevance = relevance[entry]
        return replace(
            self,
            user=user,
            rank=count_within(user),
            relevance=relevance,
            entry=entry,
            list_length=self.n_relevant,
            tied=None,
            judged=None,
        )

    def with_rows(self, rows: Bools | Ints | slice, **others: Any) -> Hits:
        """Keep some of the hits, with other columns in place of these."""
        columns = {
            name: getattr(self, name)[rows]
            for name in ("user", "rank", "relevance", "entry")
        }
        tied = None if self.tied is None else self.tied.with_rows(rows)
        return replace(self, **{**columns, "tied": tied, **others})

    def down_to(self, depth: int | None) -> Hits:
        """Return the hits among the first ranks; None: all."""
        if depth is None or self.tied is not None:
            return self  # those spread over ties are cut where they are summed
        if depth >= self.list_length.max(initial=0):
            return self
        if depth not in self._cut:
            self._cut[depth] = self.with_rows(self.rank <= depth)
        return self._cut[depth]

    @cached_property
    def _cut(self) -> dict[int, Hits]:
        """The hits down to each rank that was asked for."""
        return {}

    def of_user(self, user: int) -> Hits:
        """Keep one user, by position; the scale of the whole data set stays."""
        return self.of_users(user, user + 1)

    def of_users(self, first: int, end: int) -> Hits:
        """Keep the users from the first up to an end; the scale of all stays."""
        # Hits and entries are by user, so those of some are found without a scan of all.
        rows = slice(*np.searchsorted(self.user, [first, end]))
        entries = slice(*np.searchsorted(self.truth_user, [first, end]))
        part = self._part(rows, entries, slice(first, end))
        return replace(
            part,
            user=part.user - first,
            entry=part.entry - entries.start,
            truth_user=part.truth_user - first,
            judged=None if self.judged is None else self.judged.of_users(first, end),
        )

    def with_users(self, kept: Bools) -> Hits:
        """Keep some of the users of a join, numbered anew from 0."""
        entries = kept[self.truth_user]
        part = self._part(kept[self.user], entries, kept)
        number, entry_number = np.cumsum(kept) - 1, np.cumsum(entries) - 1
        return replace(
            part,
            user=number[part.user],
            entry=entry_number[part.entry],
            truth_user=number[part.truth_user],
        )

    def _part(
        self, rows: Bools | slice, entries: Bools | slice, users: Bools | slice
    ) -> Hits:
        """Keep some hits, entries and users, which have the numbers that they had."""
        weight = self.truth_weight
        return self.with_rows(
            rows,
            truth_user=self.truth_user[entries],
            truth_relevance=self.truth_relevance[entries],
            truth_weight=None if weight is None else weight[entries],
            list_length=self.list_length[users],
        )

    def blocks(self) -> Iterator[Hits]:
        """Yield the hits of so many users at a time that metrics take little memory.

        Few users are one block, which keeps what metrics have in common.
        """
        if self.n_users <= USERS_AT_ONCE:
            yield self
            return
        for first in range(0, self.n_users, USERS_AT_ONCE):
            yield self.of_users(first, first + USERS_AT_ONCE)


def sums(values: NDArray[Any], cell: Ints, n_cells: int) -> Floats:
    """Add up the values of each cell."""
    # Without values, `bincount` returns whole numbers.
    return np.bincount(cell, values, n_cells).astype(np.float64, copy=False)


def of_each_rank(
    rank: Ints, function: Callable[[Ints], NDArray[Number]]
) -> NDArray[Number]:
    """Apply a function to the rank of each row, once for each rank if these are few."""
    highest = int(rank.max(initial=0))
    if highest >= len(rank):
        return function(rank)
    ranks = np.arange(highest + 1)
    ranks[0] = 1  # there is no rank 0
    return function(ranks)[rank]


def run_starts(*columns: NDArray[Any]) -> Ints:
    """Return the first row of each run of rows that are equal in all columns.

    Of 0, 0, 3, 3, 3 these are 0 and 2.
    """
    is_start = np.zeros(len(columns[0]), dtype=bool)
    is_start[:1] = True
    for column in columns:
        is_start[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(is_start)


def count_within(user: NDArray[Any]) -> Ints:
    """Count the rows of each run of equal values from 1.

    Of 0, 0, 3, 3, 3 it is 1, 2, 1, 2, 3.
    """
    starts = run_starts(user)
    steps = np.ones(len(user), dtype=np.int64)
    steps[starts[1:]] -= np.diff(starts)
    return np.cumsum(steps, out=steps)


def stands_from_highest(user: Ints, value: Floats) -> bool:
    """Say whether rows are sorted by user, then from the highest value."""
    falls = value[1:] <= value[:-1]
    falls &= user[1:] == user[:-1]
    falls |= user[1:] > user[:-1]
    return bool(falls.all())


def order_from_highest(
    user: Ints, value: Floats | Ints, within: Ints | Floats | None = None
) -> Ints:
    """Return the order by user, from the highest value, then from the lowest `within`.

    Equal rows keep their order.
    """
    value = value.astype(np.float64, copy=False)
    if within is not None:
        by_within = np.argsort(within, kind="stable")
        order = order_from_highest(user[by_within], value[by_within])
        return np.asarray(by_within[order])
    # Each row is packed into one whole number, which sorts several times as fast as
    # columns do: its user, how far its value is below the highest, and its place. Of
    # the value there are as many bits as there is room for.
    row_bits = len(user).bit_length()
    value_bits = min(48, 62 - row_bits - int(user.max(initial=0)).bit_length())
    highest = value.max(initial=-np.inf)
    with np.errstate(all="ignore"):
        spread = highest - value.min(initial=np.inf)
        scale = (2.0**value_bits - 2) / spread if spread else 0.0
    is_finite = np.isfinite(spread) and np.isfinite(scale)
    if value_bits < 8 or not is_finite:
        return np.asarray(np.lexsort((-value, user)))
    packed = ((highest - value) * scale).astype(np.int64)
    packed |= user << value_bits
    packed <<= row_bits
    packed |= np.arange(len(user))
    packed.sort()
    order = packed & ((1 << row_bits) - 1)
    return _with_values_in_order(order, packed >> (value_bits + row_bits), value)


def _with_values_in_order(order: Ints, user: Ints, value: Floats) -> Ints:
    """Sort the rows anew of each user whose values rise somewhere in an order.

    They differ in the bits that there was no room for. `user` is in this order.
    """
    ordered = value[order]
    rises = (ordered[1:] > ordered[:-1]) & (user[1:] == user[:-1])
    if not rises.any():
        return order
    is_out_of_order = np.zeros(user[-1] + 1, dtype=bool)
    is_out_of_order[user[1:][rises]] = True
    place = np.flatnonzero(is_out_of_order[user])
    by_row = np.lexsort((order[place], -ordered[place], user[place]))
    order[place] = order[place[by_row]]
    return order


def order_by_user_and_rank(user: Ints, rank: Ints) -> Ints:
    """Return the stable order by user, then from the top rank."""
    return order_from_highest(user, -rank)
