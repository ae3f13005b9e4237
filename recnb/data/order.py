"""A block of users, whole lists of them: which rows are judged or repeated, and the
order of the rows of each list.

Pairs are found in one sort: of a number made of user and item for each row, equal
neighbours are a judged item of a list, or a repeated pair. Lists are ordered by rank,
score or row, with a rule for equal scores and for repeated pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.conventions.convention import ROW_ORDERS, TRUTH_ORDERS
from recnb.data.encoding import starts_of
from recnb.metrics.hits import (
    Floats,
    Hits,
    Ints,
    TieSpread,
    count_within,
    in_order,
    order_from_highest,
)

Numbers = NDArray[np.uint64]

#: Odd, so that different users, and different items, stay different; without pattern,
#: so that sums of both do.
_USER, _ITEM = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F

#: Rules for equal scores that look at the item.
BY_ITEM = ("item_asc", "item_desc")


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of some users on both sides, by user, as few as the processor's cache
    holds; users are numbered from 0.
    """

    n_users: int
    user: Ints  #: per row of the lists
    item: Numbers
    score: (
        Floats | Ints
    )  #: higher for better: a rank or the number of the row below 0, where lists have no score
    row: Ints | slice  #: rows of the frame
    truth_user: Ints  #: per row of the truth, the most relevant of a user first
    truth_item: Numbers
    grade: Floats
    truth_row: Ints  #: row of the frame
    n_padded: int = 0  #: rows at the end of the lists that were not recommended

    @property
    def n_listed(self) -> int:
        """Number of rows that were recommended."""
        return len(self.user) - self.n_padded


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows of a block's lists that are judged, and its repeats."""

    row: Ints  #: rows of lists, rising
    truth_row: Ints  #: the row of the truth of each
    copy: Ints  #: rows of lists whose item their list repeats
    copy_of: Ints  #: a number for the pair of each of these
    truth_repeats: bool  #: whether a pair is repeated in the truth


def match_pairs(
    block: Block, texts: tuple[pl.Series, pl.Series] | None
) -> Pairs | None:
    """Find the rows of lists that are judged; None if items that differ have one hash.

    `texts`, if numbers are hashes: the items of both frames.
    """
    n_listed, n = len(block.user), len(block.user) + len(block.truth_user)
    # A row's index stands in the low bits, above it as many bits of the pair as there
    # is room for.
    bits = n.bit_length()
    mask, key = np.uint64(2**bits - 1), np.empty(n, dtype=np.uint64)
    for side, user, item in (
        (key[:n_listed], block.user, block.item),
        (key[n_listed:], block.truth_user, block.truth_item),
    ):
        np.multiply(item, np.uint64((_ITEM << bits) % 2**64), out=side)
        side += user.view(np.uint64) * np.uint64((_USER << bits) % 2**64)
    key += np.arange(n, dtype=np.uint64)
    key.sort()
    same = np.flatnonzero((key[1:] ^ key[:-1]) <= mask)
    first, second = ((key[rows] & mask).view(np.int64) for rows in (same, same + 1))
    item = np.r_[block.item, block.truth_item]
    # With the same item, users are the same: a difference of fewer than 2**bits of them
    # changes the number.
    if not (item[first] == item[second]).all():
        user = np.r_[block.user, block.truth_user]
        order = np.lexsort((item, user))
        same = np.flatnonzero(
            (user[order[1:]] == user[order[:-1]])
            & (item[order[1:]] == item[order[:-1]])
        )
        first, second = order[same], order[same + 1]
    if texts is not None and not _same_texts(block, texts, first, second):
        return None
    # Of rows with one number, those of lists come first: the last is the row of the
    # truth, if there is one.
    ends = np.flatnonzero(np.r_[np.diff(same) != 1, True][: len(same)])
    sizes = np.diff(np.r_[-1, ends])
    last = np.repeat(second[ends], sizes)
    judged = (first < n_listed) & (last >= n_listed)
    row, truth_row = first[judged], last[judged] - n_listed
    order = np.argsort(row)
    repeat = np.flatnonzero(second < n_listed)
    run = np.repeat(np.arange(len(ends)), sizes)[repeat]
    copy, index = np.unique(np.r_[first[repeat], second[repeat]], return_index=True)
    return Pairs(
        row[order],
        truth_row[order],
        copy,
        np.r_[run, run][index],
        bool((first >= n_listed).any()),
    )


def _same_texts(
    block: Block, texts: tuple[pl.Series, pl.Series], first: Ints, second: Ints
) -> bool:
    """Return whether rows of a block, those of the truth after those of lists, hold the
    same item.
    """
    rows, n_listed = (np.r_[block.row], block.truth_row), len(block.user)
    for one, other in ((0, 0), (0, 1), (1, 1)):  # the sides that the rows are on
        kind = np.flatnonzero(
            ((first >= n_listed) == one) & ((second >= n_listed) == other)
        )
        left = texts[one].gather(rows[one][first[kind] - one * n_listed])
        right = texts[other].gather(rows[other][second[kind] - other * n_listed])
        if not (left == right).all():
            return False
    return True


def padded(block: Block, pairs: Pairs) -> tuple[Block, Pairs]:
    """Put the judged items that were not recommended below the lists, in the order of
    the rows of the truth.
    """
    missed = np.ones(len(block.truth_user), dtype=bool)
    missed[pairs.truth_row] = False
    row = np.flatnonzero(missed)
    row = row[np.argsort(block.truth_row[row])]
    below = np.arange(len(row)) + len(block.user)
    block = replace(
        block,
        user=np.r_[block.user, block.truth_user[row]],
        item=np.r_[block.item, block.truth_item[row]],
        score=np.r_[block.score, np.full(len(row), -np.inf)],
        n_padded=len(row),
    )
    return block, replace(
        pairs, row=np.r_[pairs.row, below], truth_row=np.r_[pairs.truth_row, row]
    )


@dataclass(frozen=True, eq=False)
class Places:
    """Where each row of a block stands in its list."""

    rank: Ints  #: per row, from 1; 0: left out
    length: Ints  #: per user, the last rank
    above: Ints | None = (
        None  #: per row, how many rows score higher; None: no two rows share a rank
    )
    tied: Ints | None = None  #: per row, how many score the same, itself among them

    def sharing(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return how many rows score higher than each of these, and how many the same."""
        if self.above is None or self.tied is None:
            return self.rank[rows] - 1, np.ones_like(rows)
        return self.above[rows], self.tied[rows]


def needs_positions(convention: Convention) -> bool:
    """Return whether items are put in order by their ids."""
    by_item = convention.ties in BY_ITEM and (
        convention.order == "score" or convention.candidates == "padded"
    )
    return by_item or convention.candidates == "catalogue"


def order_lists(block: Block, pairs: Pairs, convention: Convention) -> Places:
    """Rank the rows of a block's lists; what is padding stands below them."""
    given = convention.order == "rank" and convention.duplicates != "dedupe"
    if given and not block.n_padded:
        rank = -block.score.astype(np.int64, copy=False)
        places = Places(rank, _highest(block.user, rank, block.n_users))
    else:
        places = _sorted(block, pairs, convention, given=given)
    return (
        _without_unjudged(block, pairs, places, convention)
        if convention.judged_only
        else places
    )


def _sorted(
    block: Block, pairs: Pairs, convention: Convention, *, given: bool
) -> Places:
    """Rank rows by score; `given`: by ranks, which stay as they are."""
    user, score, repeats = (
        block.user,
        block.score,
        convention.duplicates == "dedupe" and len(pairs.copy),
    )
    falls = (
        np.greater_equal if convention.ties == "first" else np.greater
    )  # whether equal scores may stay as they are
    if (
        (falls(score[:-1], score[1:]) & (user[1:] == user[:-1]))
        | (user[1:] > user[:-1])
    ).all():
        if convention.ties in ROW_ORDERS and not (repeats or given):  # rows are places
            return Places(
                count_within(user), np.bincount(user, minlength=block.n_users)
            )
        order = np.arange(len(user))
    else:
        order = order_from_highest(user, score, _within(block, pairs, convention.ties))
    if repeats:
        order = order[_first_copies(pairs, order)[order]]
    user = user[order]
    place = count_within(user)
    if given:
        # Ranks are data: a place that they leave empty stays empty, and padding goes on
        # from the last of them.
        own = order < block.n_listed
        ranks = -block.score[: block.n_listed].astype(np.int64)
        last = _highest(block.user[: block.n_listed], ranks, block.n_users)
        place += (last - np.bincount(user[own], minlength=block.n_users))[user]
        place[own] = ranks[order[own]]
    rank = np.zeros(len(block.user), dtype=np.int64)
    rank[order] = place
    length = _highest(user, place, block.n_users)
    if convention.ties in ROW_ORDERS:
        return Places(rank, length)
    starts = starts_of(user, score[order])
    sizes, above, tied = (
        np.diff(np.r_[starts, len(user)]),
        np.zeros_like(rank),
        np.ones_like(rank),
    )
    above[order], tied[order] = (
        np.repeat(place[starts] - 1, sizes),
        np.repeat(sizes, sizes),
    )
    return Places(rank, length, above, tied)


def _without_unjudged(
    block: Block, pairs: Pairs, places: Places, convention: Convention
) -> Places:
    """Leave items that are not judged out of the lists, and count ranks anew."""
    # Where grades below 0 count 0, they are those of what was pooled and not judged.
    is_judged = (block.grade[pairs.truth_row] >= 0) | (
        convention.negative_relevance != "zero"
    )
    kept = pairs.row[(places.rank[pairs.row] > 0) & is_judged]
    kept = kept[np.lexsort((places.rank[kept], block.user[kept]))]
    rank = np.zeros_like(places.rank)
    rank[kept] = count_within(block.user[kept])
    return Places(rank, np.bincount(block.user[kept], minlength=block.n_users))


def _highest(user: Ints, ranks: Ints, n_users: int) -> Ints:
    """Return the highest rank of each user; 0 for one without rows."""
    highest = np.zeros(n_users, dtype=np.int64)
    starts = starts_of(user)
    if len(starts):
        highest[user[starts]] = np.maximum.reduceat(ranks, starts)
    return highest


def repeats_a_rank(block: Block) -> bool:
    """Return whether two rows of a list have one rank."""
    user, score = block.user, block.score
    if ((score[1:] < score[:-1]) | (user[1:] != user[:-1])).all():
        return False
    key = np.sort((user << 32) - score)
    return bool((key[1:] == key[:-1]).any())


def _within(block: Block, pairs: Pairs, ties: str) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None for the order of
    rows.
    """
    if ties == "last":
        return np.arange(len(block.user))[::-1]
    if ties in BY_ITEM:
        number = block.item.view(np.int64)
        return number if ties == "item_asc" else -number
    if ties not in TRUTH_ORDERS:
        return None
    grade = np.zeros(len(block.user))
    grade[pairs.row] = block.grade[pairs.truth_row]
    return grade


def _first_copies(
    pairs: Pairs, order: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Say of each row whether it is the highest of the rows with its item."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    by_place = np.lexsort((place[pairs.copy], pairs.copy_of))
    kept = np.ones(len(order), dtype=bool)
    kept[pairs.copy] = False
    kept[pairs.copy[by_place[starts_of(pairs.copy_of[by_place])]]] = True
    return kept


def average_over_ties(hits: Hits, above: Ints, tied: Ints) -> Hits:
    """Spread hits over all ranks that their ties could put them on, each with its
    chance: the mean over orders in closed form.

    In a run of g equal scores below a rows, m of them hits, a hit stands at each rank
    with chance 1/g; given that it stands j-th in the run, (j - 1)(m - 1)/(g - 1) other
    hits of the run are expected above it; and the first hit of the run stands j-th with
    chance C(g - j, m - 1)/C(g, m).
    """
    starts = starts_of(hits.user, above)
    n_hits = np.diff(np.r_[starts, len(above)])
    run = np.repeat(np.arange(len(starts)), n_hits)
    hits_above = (count_within(hits.user) - count_within(run))[starts]
    row = np.repeat(np.arange(len(run)), tied)
    j = count_within(row)
    m, g = n_hits[run[row]], tied[row]
    earlier = hits_above[run[row]]
    others = np.divide((j - 1.0) * (m - 1), g - 1, out=np.zeros(len(j)), where=g > 1)
    first = np.where(earlier == 0, _first_chance(g, m, j) / m, 0.0)
    rank = above[row] + j
    order = in_order(hits.user[row] * (int(rank.max(initial=0)) + 1) + rank)
    row = row[order]
    nth = np.asarray(1.0 + earlier + others, dtype=np.float64)
    return replace(
        hits,
        user=hits.user[row],
        rank=rank[order],
        relevance=hits.relevance[row],
        truth_row=hits.truth_row[row],
        tied=TieSpread(
            weight=1.0 / g[order],
            nth=nth[order],
            first=first[order],
            top=(j == 1)[order],
        ),
    )


def _first_chance(g: Ints, m: Ints, j: Ints) -> Floats:
    """Return the probability that the first of m hits among g ties is at position j:
    C(g - j, m - 1) / C(g, m).
    """
    from scipy.special import gammaln

    def log_choose(n: Ints, m: Ints) -> Floats:
        return np.asarray(gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0))

    # C(n, m) of n below m is 0, as gammaln is infinite at 0 and at whole numbers below.
    return np.asarray(np.exp(log_choose(g - j, m - 1) - log_choose(g, m)))
