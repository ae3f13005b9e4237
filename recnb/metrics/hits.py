"""The data of metrics: the rows of ranked lists as numpy columns, and sums over them.

A *hit* is a recommended item that is relevant to its user. Nearly every ranking metric is a sum over a user's
hits of some credit, divided by what the user's list could have earned, so hits and a few counts per user are all
that is kept of the two frames. There are a few hits for every hundred recommended rows, which is where the speed
comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from recnb.errors import CutoffError, OptionError, is_several, quoted
from recnb.metrics.cached import cached_property

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

#: The highest relevance: sums and squares of it over all users stay finite.
HIGHEST = 1e100


@dataclass(frozen=True)
class Cutoffs:
    """The depths at which lists are cut, one column of results each; None is each list's own length."""

    values: tuple[int | None, ...]
    uncut: bool = False  #: lists count whole, and k is only what some denominators say

    @classmethod
    def of(cls, k: object) -> Cutoffs:
        """Cut-offs from one k or several.

        >>> Cutoffs.of(10).values, Cutoffs.of([5, None]).values, Cutoffs.of(range(1, 4)).values
        ((10,), (5, None), (1, 2, 3))
        """
        if isinstance(k, Cutoffs):
            return k
        if isinstance(k, np.ndarray) and k.ndim == 0:
            k = k.item()
        if is_several(k) and isinstance(k, (Sequence, np.ndarray)):
            if len(k) == 0:
                raise CutoffError("k is empty: give at least one cut-off, such as k=[5, 10].")
            values = tuple(_one_cutoff(cutoff) for cutoff in k)
            twice = [cutoff for cutoff in dict.fromkeys(values) if values.count(cutoff) > 1]
            if twice:
                raise CutoffError(f"k holds {twice[0]} more than once: give each cut-off once.")
            return cls(values)
        return cls((_one_cutoff(k),))

    @classmethod
    def one(cls, k: object) -> Cutoffs:
        """Return the cut-off of a call that returns one number."""
        if not (is_several(k) and isinstance(k, (Sequence, np.ndarray)) and len(k)):
            return cls.of(k)
        raise CutoffError(
            f"one call gives one number, and k={list(k)!r} asks for {len(k)}: type .table(k={list(k)!r}) for several "
            "metrics and cut-offs, or .curve(metric, k=...) for one metric."
        )

    @classmethod
    def of_curve(cls, k: object) -> Cutoffs:
        """Return the cut-offs that a curve runs over, which may come from anything that gives one after the other."""
        cutoffs = cls.of(list(k) if is_several(k) else k)
        if cutoffs.deepest is None:
            raise OptionError("a curve runs over whole numbers: leave None out of k, such as k=range(1, 21).")
        return cutoffs

    def __iter__(self) -> Iterator[int | None]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def deepest(self) -> int | None:
        """The rank below which nothing counts; None if some list counts whole."""
        if self.uncut or None in self.values:
            return None
        return max(k for k in self.values if k is not None)

    def depth(self, list_length: Ints) -> Ints:
        """Return the number of ranks that count, users × cut-offs."""
        if self.uncut:
            return np.full((len(list_length), len(self)), ENDLESS)
        return self.size(list_length)

    def size(self, list_length: Ints) -> Ints:
        """Return the k of denominators, users × cut-offs."""
        sizes = np.empty((len(self), len(list_length)), dtype=np.int64)
        for size, k in zip(sizes, self.values, strict=True):
            size[:] = list_length if k is None else k
        return sizes.T


#: Deeper than any list.
ENDLESS = 2**31

#: What a metric function takes for k: a whole number, or None for each list's own length.
Cutoff = int | Cutoffs | None


def _one_cutoff(k: object) -> int | None:
    if k is None:
        return None
    if isinstance(k, (int, np.integer)) and not isinstance(k, (bool, np.bool_)) and 1 <= k < 2**31:
        return int(k)
    ranks = " is not a cut-off: k counts ranks, so it is a whole number from 1 up, such as "
    raise CutoffError(f"k={quoted(k)}", ranks, "k=10, or None for each user's whole list.")


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows of ranked lists, sorted by user, then rank."""

    user: Ints  #: position of the user, from 0 to n_users - 1
    rank: Ints  #: 1 is the top
    list_length: Ints  #: per user, the last rank of the list that was recommended

    #: The columns with an entry for each row.
    per_row: ClassVar[tuple[str, ...]] = ("user", "rank")

    @property
    def n_users(self) -> int:
        """The number of users evaluated, with or without a list."""
        return len(self.list_length)

    def with_rows(self, rows: NDArray[np.bool_] | Ints | slice, **columns: Any) -> Self:
        """Keep some of the rows, with other columns in place of these."""
        return replace(self, **{name: getattr(self, name)[rows] for name in self.per_row} | columns)

    def total(self, credit: Floats | float, k: Cutoff) -> Floats:
        """Sum credit over each user's rows down to each cut-off: users × cut-offs, each column in one piece.

        Each row is put into the cell of the first cut-off that reaches it, and the cells are then added up along the
        cut-offs, so the cost is that of the rows once, whatever the number of cut-offs.
        """
        cutoffs = Cutoffs.of(k)
        weights = np.broadcast_to(np.asarray(credit, dtype=np.float64), self.user.shape)
        if cutoffs.uncut:
            return np.repeat(_summed(self.user, weights, self.n_users)[np.newaxis], len(cutoffs), axis=0).T
        finite = tuple(sorted(cutoff for cutoff in cutoffs if cutoff is not None))
        if cutoffs.values == finite:
            return self._finite_totals(weights, finite).T
        sums: dict[int | None, Floats] = {}
        if finite:
            sums |= zip(finite, self._finite_totals(weights, finite), strict=True)
        if None in cutoffs.values:
            inside = self.rank <= self.list_length[self.user]
            sums[None] = _summed(self.user[inside], weights[inside], self.n_users)
        return np.stack([sums[cutoff] for cutoff in cutoffs]).T

    def _finite_totals(self, weights: Floats, depths: tuple[int, ...]) -> Floats:
        """Return the sums down to each of some ascending depths, depths × users."""
        n_cells = len(depths) * self.n_users
        totals = _summed(self._cells(depths), weights, n_cells)[:n_cells].reshape(len(depths), self.n_users)
        for above, here in pairwise(totals):
            here += above
        return totals

    def _cells(self, depths: tuple[int, ...]) -> Ints:
        """Return the cell of each row, numbered by the first depth that reaches it, then by user; the last are below all depths."""
        cells = self._latest_cells.get(depths)
        if cells is None:
            first = of_each_rank(self.rank, lambda rank: np.searchsorted(depths, rank) * self.n_users)
            cells = first + self.user if first.any() else self.user
            self._latest_cells.clear()
            self._latest_cells[depths] = cells
        return cells

    @cached_property
    def _latest_cells(self) -> dict[tuple[int, ...], Ints]:
        """The cells at the latest depths: one metric after the other is summed at the same ones."""
        return {}


@dataclass(frozen=True, eq=False)
class TieSpread:
    """Hits spread over the ranks that their ties could put them on (McSherry and Najork 2008): one row per hit and rank."""

    weight: Floats  #: the probability that the hit has this rank
    nth: Floats  #: if it does, the expected number of hits as high or higher
    first: Floats  #: the probability that it has this rank and is the user's first hit
    top: NDArray[np.bool_]  #: whether this is the highest rank of the hit: one row for each

    def with_rows(self, rows: NDArray[np.bool_] | Ints | slice) -> TieSpread:
        """Keep some of the rows."""
        return TieSpread(self.weight[rows], self.nth[rows], self.first[rows], self.top[rows])


@dataclass(frozen=True, eq=False)
class Hits(Ranked):
    """The recommended items that are relevant, and per user what could have been hit."""

    relevance: Floats  #: per hit, above 0
    truth_row: Ints  #: per hit, which row of the truth columns below it is
    truth_user: Ints  #: the relevant items, sorted by user: whose each is
    truth_relevance: Floats  #: and how relevant, above 0
    max_relevance: float  #: the highest relevance in the truth, of all users: the scale of ERR
    depth: int | None = None  #: ranks below this were not looked at; None: all were
    tied: TieSpread | None = None  #: how each hit is spread over ranks if equal scores share them
    judged: Hits | None = None  #: the judged items in the lists as hits, for metrics that need them

    per_row = ("user", "rank", "relevance", "truth_row")

    @cached_property
    def nth(self) -> Ints | Floats:
        """The number of each hit among those of its user: how many are as high or higher, or their mean if ties are averaged."""
        if self.tied is not None:
            return self.tied.nth
        nth = count_within(self.user)
        new = (self.user[1:] != self.user[:-1]) | (self.rank[1:] != self.rank[:-1])
        if new.all():
            return nth
        # Several hits on one rank, where ties share it, each count all of them.
        last = np.flatnonzero(np.r_[new, True])
        return np.repeat(nth[last], np.diff(np.r_[-1, last]))

    @cached_property
    def first(self) -> Floats:
        """1 for a user's first hit, 0 for the others; where ties are averaged, the chance of being it."""
        if self.tied is not None:
            return self.tied.first
        first = np.ones(len(self.user))
        first[1:] = self.user[1:] != self.user[:-1]
        return first

    @cached_property
    def weight(self) -> Floats:
        """1 for each hit; if ties are averaged, the probability that it has this rank."""
        return np.ones(len(self.user)) if self.tied is None else self.tied.weight

    def refuse_ties(self, *why: str) -> None:
        """Raise an error if equal scores share ranks, for what depends on one order of them."""
        if self.tied is not None:
            raise OptionError(*why, ", so it has no mean over ties here: choose ties='first'.")

    def weigh(self, credit: NDArray[Any]) -> Floats:
        """Return credit of each hit, times the probability of its rank."""
        return np.asarray(credit if self.tied is None else credit * self.tied.weight, dtype=np.float64)

    @cached_property
    def n_relevant(self) -> Ints:
        """The number of items relevant to each user."""
        return np.bincount(self.truth_user, minlength=self.n_users)

    @property
    def of_judged(self) -> Hits:
        """The judged items in the lists as hits: the relevant ones where no others are given."""
        return self if self.judged is None else self.judged

    @cached_property
    def n_nonrelevant(self) -> Ints:
        """The number of items judged and not relevant to each user."""
        known = self.of_judged.truth_user[self.of_judged.truth_relevance >= 0]
        return np.bincount(known, minlength=self.n_users) - self.n_relevant

    @cached_property
    def nonrelevant_above(self) -> Ints:
        """The number of items judged and not relevant that are higher in the list than each hit."""
        return self._above(self.of_judged, self.of_judged.relevance >= 0) - self._above(self, slice(None))

    def _above(self, others: Hits, rows: NDArray[np.bool_] | slice) -> Ints:
        """Return how many of these rows of the same lists are above each hit."""
        user, rank = others.user[rows], others.rank[rows]
        times = int(max(rank.max(initial=0), self.rank.max(initial=0))) + 1
        first, here = (np.searchsorted(user * times + rank, self.user * times + to) for to in (0, self.rank))
        return np.asarray(here - first)

    @cached_property
    def ideal(self) -> Hits:
        """The best possible list: every relevant item, most relevant first."""
        user, relevance = self.truth_user, self.truth_relevance
        if stands_from_highest(user, relevance):
            return self._reordered(user, relevance, np.arange(len(user)))
        order = order_from_highest(user, relevance)
        return self._reordered(user[order], relevance[order], order)

    @cached_property
    def ideal_of_list(self) -> Hits:
        """The best order of what was recommended: the hits alone, most relevant first."""
        once = slice(None) if self.tied is None else self.tied.top
        user, relevance, truth_row = self.user[once], self.relevance[once], self.truth_row[once]
        order = order_from_highest(user, relevance)
        return self._reordered(user[order], relevance[order], truth_row[order])

    @cached_property
    def ideal_of_length(self) -> Hits:
        """The best possible list of the length of the one recommended."""
        ideal = self.ideal
        return ideal.with_rows(ideal.rank <= self.list_length[ideal.user])

    @cached_property
    def best(self) -> Floats:
        """The highest relevance of each user's items; 0 where none is relevant."""
        best = np.zeros(self.n_users)
        np.maximum.at(best, self.truth_user, self.truth_relevance)
        return best

    def full_depth(self, k: Cutoff) -> Ints:
        """Return the number of ranks that count of a list without an end, users × cut-offs."""
        cutoffs = Cutoffs.of(k)
        size = cutoffs.size(self.list_length)
        if not cutoffs.uncut:
            return size
        deepest = max((cutoff for cutoff in cutoffs if cutoff is not None), default=0)
        return np.broadcast_to(np.maximum(self.list_length, deepest)[:, np.newaxis], size.shape)

    def ideal_full(self, k: Cutoff) -> Hits:
        """Return the ideal list if every rank down to k could hold an item as relevant as the user's best one."""
        length = np.where(self.n_relevant > 0, self.full_depth(k).max(axis=1), 0)
        user = np.repeat(np.arange(self.n_users), length)
        return self._reordered(user, self.best[user], np.full(len(user), -1))

    @cached_property
    def preferred(self) -> NDArray[np.bool_]:
        """Whether a hit is the item its user prefers: the most relevant; of equal ones, the first listed. If repeated, the first hit."""
        order = order_from_highest(self.truth_user, self.truth_relevance)
        user = self.truth_user[order]
        first = order[count_within(user) == 1]
        is_preferred = np.zeros(len(self.truth_user), dtype=bool)
        is_preferred[first] = True
        chosen = np.flatnonzero(is_preferred[self.truth_row])
        once = np.unique(self.truth_row[chosen], return_index=True)[1]
        if self.tied is None:
            chosen = chosen[once]
        elif int(self.tied.top[chosen].sum()) > len(once):
            problem = " looks for the first place of one item, which has no mean over ties where a list repeats it"
            fix = (": choose ", "ties='first'", ", or ", "duplicates='dedupe'", ".")
            raise OptionError("target='preferred'", problem, *fix)
        return np.isin(np.arange(len(self.truth_row)), chosen)

    def with_rows(self, rows: NDArray[np.bool_] | Ints | slice, **columns: Any) -> Self:
        """Keep some of the hits, with other columns in place of these."""
        tied = None if self.tied is None else self.tied.with_rows(rows)
        return super().with_rows(rows, **{"tied": tied, **columns})

    def of_user(self, user: int) -> Hits:
        """Keep the hits of one user, by position; the scale of the whole data set stays."""
        return self.user_range(user, user + 1)

    def user_range(self, start: int, stop: int) -> Hits:
        """Keep the hits of some users, by position, numbered anew from 0; the scale of the whole data set stays."""
        if start == 0 and stop == self.n_users:
            return self
        rows, truth_rows = (slice(*np.searchsorted(user, [start, stop])) for user in (self.user, self.truth_user))
        return self.with_rows(
            rows,
            user=self.user[rows] - start,
            list_length=self.list_length[start:stop],
            truth_row=self.truth_row[rows] - truth_rows.start,
            truth_user=self.truth_user[truth_rows] - start,
            truth_relevance=self.truth_relevance[truth_rows],
            judged=None if self.judged is None else self.judged.user_range(start, stop),
        )

    def with_users(self, kept: NDArray[np.bool_]) -> Hits:
        """Keep the hits of some of the users, numbered anew from 0, and their relevant items."""
        number: Ints = np.cumsum(kept) - 1
        rows, truth_rows = kept[self.user], kept[self.truth_user]
        return self.with_rows(
            rows,
            user=number[self.user[rows]],
            list_length=self.list_length[kept],
            truth_row=(np.cumsum(truth_rows) - 1)[self.truth_row[rows]],
            truth_user=number[self.truth_user[truth_rows]],
            truth_relevance=self.truth_relevance[truth_rows],
        )

    def cut(self, depth: int) -> Hits:
        """Keep the hits among the first `depth` ranks."""
        return self.with_rows(self.rank <= depth, depth=depth)

    def blocks(self, size: int) -> list[tuple[int, int]]:
        """First and last user (exclusive) of some users at a time: what is worked out of a block stays in the processor's cache."""
        starts = range(0, max(self.n_users, 1), size)
        return [(start, min(start + size, self.n_users)) for start in starts]

    def _reordered(self, user: Ints, relevance: Floats, truth_row: Ints) -> Hits:
        rank = count_within(user)
        return replace(
            self, user=user, rank=rank, relevance=relevance, truth_row=truth_row, depth=None, tied=None, judged=None
        )


def _summed(cell: Ints, weights: Floats, n_cells: int) -> Floats:
    return np.bincount(cell, weights, n_cells).astype(np.float64, copy=False)


def of_each_rank(rank: Ints, function: Callable[[Ints], NDArray[Number]]) -> NDArray[Number]:
    """Apply a function to the rank of each row, once for each rank if these are few.

    >>> of_each_rank(np.array([1, 2, 1]), np.square).tolist()
    [1, 4, 1]
    """
    highest = int(rank.max(initial=0))
    if highest >= len(rank):
        return function(rank)
    ranks = np.arange(highest + 1)
    ranks[0] = 1  # there is no rank 0
    return function(ranks)[rank]


def count_within(user: NDArray[Any]) -> Ints:
    """Number the rows of each run of equal values from 1.

    >>> count_within(np.array([0, 0, 3, 3, 3])).tolist()
    [1, 2, 1, 2, 3]
    """
    number = np.arange(len(user))
    start = number.copy()
    start[1:] *= user[1:] != user[:-1]
    number -= np.maximum.accumulate(start, out=start)
    number += 1
    return number


def stands_from_highest(user: Ints, relevance: Floats) -> bool:
    """Say whether rows are sorted by user, then from the highest relevance."""
    falls = relevance[1:] <= relevance[:-1]
    falls &= user[1:] == user[:-1]
    falls |= user[1:] > user[:-1]
    return bool(falls.all())


def order_from_highest(user: Ints, value: Floats | Ints, within: Ints | Floats | None = None) -> Ints:
    """Return the order by user, then from the highest value, then from the lowest `within`; equal rows keep their order."""
    value = value.astype(np.float64, copy=False)
    if within is not None:
        first = np.argsort(within, kind="stable")
        return np.asarray(first[order_from_highest(user[first], value[first])])
    row_bits, top = len(user).bit_length(), value.max(initial=-np.inf)
    value_bits = min(48, 62 - row_bits - int(user.max(initial=0)).bit_length())
    with np.errstate(all="ignore"):
        apart = top - value.min(initial=np.inf)
        scale = (2.0**value_bits - 2) / apart if apart else 0.0
    if value_bits < 8 or not (np.isfinite(apart) and np.isfinite(scale)):  # as with values that are infinite
        return np.lexsort((-value, user))
    # User, value and row go into the number that is sorted, of the value as much as there is room for.
    key = ((top - value) * scale).astype(np.int64)
    key |= user << value_bits
    key <<= row_bits
    key |= np.arange(len(user))
    key.sort()
    order: Ints = key & ((1 << row_bits) - 1)
    key >>= value_bits + row_bits
    wrong = np.flatnonzero(np.diff(value[order]) > 0)
    wrong = wrong[key[wrong] == key[wrong + 1]]
    if len(wrong):  # values of one list that differ in what there was no room for
        again = np.zeros(key[-1] + 1, dtype=bool)
        again[key[wrong]] = True
        rows = np.sort(order[again[key]])
        order[again[key]] = rows[np.lexsort((-value[rows], user[rows]))]
    return order


def in_order(key: Ints) -> Ints:
    """Return the stable order that sorts whole numbers from 0 up: ten times as fast as argsort where key and row fit into one number."""
    bits = len(key).bit_length()
    if int(key.max(initial=0)) >> (62 - bits):
        return np.argsort(key, kind="stable")
    packed = key << bits
    packed |= np.arange(len(key))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed
