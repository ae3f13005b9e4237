"""The order of the rows of lists: by rank, score or row, with a rule for equal scores and for repeated pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recnb.conventions import Convention
from recnb.conventions.convention import ROW_ORDERS
from recnb.data.encoding import in_order_of_size, starts_of
from recnb.data.pairs import Block, Pairs
from recnb.metrics.hits import Floats, Hits, Ints, TieSpread
from recnb.metrics.sorting import count_within, in_order, order_from_highest

#: Rules for equal scores that look at the item.
BY_ITEM = ("item_asc", "item_desc")


@dataclass(frozen=True, eq=False)
class Places:
    """Where each row of a block stands in its list."""

    rank: Ints  #: per row, from 1; 0: left out
    above: Ints  #: per row, how many rows score higher, where equal scores share ranks
    tied: Ints  #: per row, how many score the same, itself among them
    length: Ints  #: per user, the last rank


def ranks_are_given(convention: Convention) -> bool:
    """Return whether ranks are data that nothing closes up."""
    return convention.order == "rank" and convention.duplicates != "dedupe" and not convention.judged_only


def order_lists(block: Block, pairs: Pairs, convention: Convention) -> Places:
    """Rank the rows of a block's lists; what is padding stands below them."""
    given = convention.order == "rank" and convention.duplicates != "dedupe"
    if given and not block.n_padded:
        rank = -block.score.astype(np.int64)
        places = _apart(rank, _highest(block.user, rank, block.n_users))
    else:
        places = _sorted(block, pairs, convention, given=given)
    return _without_unjudged(block, pairs, places) if convention.judged_only else places


def _sorted(block: Block, pairs: Pairs, convention: Convention, *, given: bool) -> Places:
    """Rank rows by score; `given`: by ranks, which stay as they are."""
    order = _best_first(
        block.user, block.score, _within(block, pairs, convention.ties), stands=convention.ties == "first"
    )
    if convention.duplicates == "dedupe" and len(pairs.copy):
        order = order[_first_copies(pairs, order)[order]]
    user, score = block.user[order], block.score[order]
    place = count_within(user)
    if given:
        # Ranks are data: a place that they leave empty stays empty, and padding goes on from the last of them.
        own = order < block.n_listed
        ranks = -block.score[: block.n_listed].astype(np.int64)
        last = _highest(block.user[: block.n_listed], ranks, block.n_users)
        place += (last - np.bincount(user[own], minlength=block.n_users))[user]
        place[own] = ranks[order[own]]
    rank = np.zeros(len(block.user), dtype=np.int64)
    rank[order] = place
    places = _apart(rank, _highest(user, place, block.n_users))
    if convention.ties in ROW_ORDERS:
        return places
    starts = starts_of(user, score)
    sizes = np.diff(np.r_[starts, len(user)])
    places.above[order], places.tied[order] = np.repeat(place[starts] - 1, sizes), np.repeat(sizes, sizes)
    return places


def _apart(rank: Ints, length: Ints) -> Places:
    """Return places that no two rows share."""
    return Places(rank, rank - 1, np.ones_like(rank), length)


def _without_unjudged(block: Block, pairs: Pairs, places: Places) -> Places:
    """Leave items that are not judged out of the lists, and count ranks anew."""
    kept = pairs.row[(places.rank[pairs.row] > 0) & block.is_judged[pairs.truth_row]]
    kept = kept[np.lexsort((places.rank[kept], block.user[kept]))]
    rank = np.zeros_like(places.rank)
    rank[kept] = count_within(block.user[kept])
    return _apart(rank, np.bincount(block.user[kept], minlength=block.n_users))


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
    key = in_order_of_size(((user << 32) - score).astype(np.uint64))
    return bool((key[1:] == key[:-1]).any())


def _within(block: Block, pairs: Pairs, ties: str) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None for the order of rows."""
    if ties == "last":
        return np.arange(len(block.user))[::-1]
    if ties in BY_ITEM:
        number = block.item.view(np.int64)
        return number if ties == "item_asc" else -number
    if ties != "worst":
        return None
    grade = np.zeros(len(block.user))
    grade[pairs.row] = block.grade[pairs.truth_row]
    return grade


def _first_copies(pairs: Pairs, order: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Say of each row whether it is the highest of the rows with its item."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    by_place = np.lexsort((place[pairs.copy], pairs.copy_of))
    kept = np.ones(len(order), dtype=bool)
    kept[pairs.copy] = False
    kept[pairs.copy[by_place[starts_of(pairs.copy_of[by_place])]]] = True
    return kept


def _best_first(user: Ints, score: Floats | Ints, within: Ints | Floats | None, *, stands: bool) -> Ints:
    """Return the order by user, then the highest score; `stands`: equal scores may stay as they are."""
    falls = np.greater_equal if stands else np.greater
    if ((falls(score[:-1], score[1:]) & (user[1:] == user[:-1])) | (user[1:] > user[:-1])).all():
        return np.arange(len(user))
    return order_from_highest(user, score, within)


def average_over_ties(hits: Hits, above: Ints, tied: Ints) -> Hits:
    """Spread hits over all ranks that their ties could put them on, each with its chance: the mean over orders in closed form.

    In a run of g equal scores below a rows, m of them hits, a hit stands at each rank with chance 1/g; given that it
    stands j-th in the run, (j - 1)(m - 1)/(g - 1) other hits of the run are expected above it; and the first hit of
    the run stands j-th with chance C(g - j, m - 1)/C(g, m).
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
        tied=TieSpread(weight=1.0 / g[order], nth=nth[order], first=first[order], top=(j == 1)[order]),
    )


def _first_chance(g: Ints, m: Ints, j: Ints) -> Floats:
    """Return the probability that the first of m hits among g ties is at position j: C(g - j, m - 1) / C(g, m)."""
    from scipy.special import gammaln

    def log_choose(n: Ints, m: Ints) -> Floats:
        return np.asarray(gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0))

    # C(n, m) of n below m is 0, as gammaln is infinite at 0 and at whole numbers below.
    return np.asarray(np.exp(log_choose(g - j, m - 1) - log_choose(g, m)))
