"""What libraries do otherwise than the textbook's join: each is a step before, within or
after one of its steps.

| decision                      | step                      | when                                 |
|-------------------------------|---------------------------|--------------------------------------|
| `score_dtype="float32"`       | `single_precision`        | before ranking: what orders lists    |
| `candidates="padded"`         | `padded`                  | before ranking: rows are added       |
| `ties`: by row, item or grade | `tie_order`               | within: the order of equal scores    |
| `duplicates`, `judged_only`   | `left_in`                 | within: rows leave, ranks close up   |
| `order="rank"` and padding    | `below_given_ranks`       | within: ranks that are data stay     |
| `ties`: shared ranks          | `with_ties`               | within: rows of one score counted    |
| `duplicates="rows"`           | `with_copies`             | before hits: rows of truth repeated  |
| `nonpositive_scores`          | `only_positive_scores_hit`| while hits are found                 |
| `duplicates="hit_once"`       | `first_of_each`           | while hits are found                 |
| `ties`: shared ranks          | `shared_rank`             | after: the rank of a hit             |
| `candidates="catalogue"`      | `with_catalogue`          | after: what was missed is a hit      |
| `ties="expected"`             | `average_over_ties`       | after: a hit spread over its ranks   |
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import TRUTH_ORDERS
from recnb.data.encoding import starts_of
from recnb.data.numbered import (
    Ids,
    ListedRows,
    Matches,
    Pairs,
    Ranks,
    TruthRows,
    Wanted,
)
from recnb.errors import OptionError
from recnb.metrics.hits import (
    Bools,
    Floats,
    Hits,
    Ints,
    TieSpread,
    count_within,
    in_order,
)

#: Rules for equal scores that look at the item, and those that give them one rank.
BY_ITEM = ("item_asc", "item_desc")
SHARED = ("expected", "max_rank", "floor_mean_rank")


def needs_positions(convention: Convention) -> bool:
    """Return whether items are put in order by their ids."""
    if convention.candidates == "catalogue":
        return True
    has_ties = convention.order == "score" or convention.candidates == "padded"
    return has_ties and convention.ties in BY_ITEM


def refuse_contradictions(convention: Convention) -> None:
    """Raise an error for decisions that do not go together."""
    ties = convention.ties
    if convention.candidates == "catalogue" and (
        convention.judged_only or ties not in ("first", "max_rank")
    ):
        raise OptionError(
            "candidates='catalogue' goes with ties='first' or 'max_rank', and without "
            "judged_only=True."
        )
    if ties == "expected" and convention.duplicates == "hit_once":
        raise OptionError(
            "ties='expected' has no mean for duplicates='hit_once': choose "
            "duplicates='dedupe'."
        )
    if convention.judged_only and ties in SHARED:
        raise OptionError(
            f"ties={ties!r} gives equal scores no ranks of their own, from which items "
            "could be left out: choose ties='first'."
        )


def marked(rows: Ints, n: int) -> Bools:
    """Say of each of n rows whether it is among these."""
    mark = np.zeros(n, dtype=bool)
    mark[rows] = True
    return mark


# ---- before lists are ranked


def single_precision(scores: pl.Series) -> Floats:
    """Return scores as libraries hold them that compute in single precision."""
    floats = scores.cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore"):  # what is too large becomes infinite there as well
        return floats.astype(np.float32).astype(np.float64)


def padded(
    lists: ListedRows, truth: TruthRows, pairs: Pairs
) -> tuple[ListedRows, Pairs]:
    """Put the judged items that were not recommended below the lists, in the order of
    the rows of the truth.
    """
    missed = np.flatnonzero(~marked(pairs.truth_row, len(truth.user)))
    missed = missed[np.argsort(truth.row[missed])]
    below = len(lists.user) + np.arange(len(missed))
    longer = replace(
        lists,
        user=np.concatenate([lists.user, truth.user[missed]]),
        item=np.concatenate([lists.item, truth.item[missed]]),
        score=np.concatenate([lists.score, np.full(len(missed), -np.inf)]),
    )
    more = replace(
        pairs,
        row=np.concatenate([pairs.row, below]),
        truth_row=np.concatenate([pairs.truth_row, missed]),
    )
    return longer, more


# ---- while lists are ranked


def tie_order(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, ties: str
) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None for the order of
    rows.
    """
    if ties == "last":
        return np.arange(len(lists.user))[::-1]
    if ties == "item_asc":
        return lists.item.view(np.int64)
    if ties == "item_desc":
        return -lists.item.view(np.int64)
    if ties in TRUTH_ORDERS:
        grade = np.zeros(len(lists.user))
        grade[pairs.row] = truth.grade[pairs.truth_row]
        return grade
    return None


def rows_leave(pairs: Pairs, convention: Convention) -> bool:
    """Return whether some rows leave their lists."""
    has_copies = len(pairs.copy) > 0
    return convention.judged_only or (convention.duplicates == "dedupe" and has_copies)


def left_in(
    order: Ints,
    lists: ListedRows,
    truth: TruthRows,
    pairs: Pairs,
    convention: Convention,
) -> Ints:
    """Return the rows that stay in their lists, in the same order."""
    if convention.duplicates == "dedupe":
        order = order[_first_copies(order, pairs)[order]]
    if not convention.judged_only:
        return order
    judged = pairs.row
    if convention.negative_relevance == "zero":
        # A grade below 0, which counts 0, is that of what was pooled and not judged.
        judged = judged[truth.grade[pairs.truth_row] >= 0]
    return order[marked(judged, len(lists.user))[order]]


def _first_copies(order: Ints, pairs: Pairs) -> Bools:
    """Say of each row whether it is the highest of the rows with its item."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    by_place = np.lexsort((place[pairs.copy], pairs.copy_of))
    first = by_place[starts_of(pairs.copy_of[by_place])]
    stays = np.ones(len(order), dtype=bool)
    stays[pairs.copy] = False
    stays[pairs.copy[first]] = True
    return stays


def below_given_ranks(place: Ints, order: Ints, lists: ListedRows) -> Ints:
    """Return given ranks as they are, of which some may be empty, and the places of
    rows that were added from the last of them on.
    """
    assert lists.given_rank is not None
    user, recommended = lists.user[order], order < lists.n_recommended
    rank = np.zeros(len(order), dtype=np.int64)
    rank[recommended] = lists.given_rank[order[recommended]]
    last = np.zeros(lists.n_users, dtype=np.int64)
    np.maximum.at(last, user, rank)
    n_recommended = np.bincount(user[recommended], minlength=lists.n_users)
    return np.where(recommended, rank, place + (last - n_recommended)[user])


def with_ties(ranks: Ranks, order: Ints, lists: ListedRows) -> Ranks:
    """Return ranks with the number of rows that score higher, and of those that score
    the same.
    """
    rank = ranks.rank[order]
    starts = starts_of(lists.user[order], lists.score[order])
    sizes = np.diff(starts, append=len(order))
    above, tied = np.zeros_like(ranks.rank), np.ones_like(ranks.rank)
    above[order] = np.repeat(rank[starts] - 1, sizes)
    tied[order] = np.repeat(sizes, sizes)
    return replace(ranks, above=above, tied=tied)


# ---- while hits are found


def with_copies(wanted: Wanted, matches: Matches) -> Wanted:
    """Count the rows of the truth as often as lists have them."""
    n_truth = len(wanted.counts)
    rows = np.arange(n_truth)[wanted.rows]
    n_copies = np.bincount(matches.truth_row, minlength=n_truth)[rows]
    times = np.maximum(n_copies, 1)
    entry = np.zeros(n_truth, dtype=np.int64)
    entry[rows] = np.cumsum(times) - times
    return wanted._replace(rows=np.repeat(rows, times), entry=entry)


def only_positive_scores_hit(convention: Convention) -> bool:
    """Return whether an item of a score of 0 or below is never a hit."""
    never_hit = convention.nonpositive_scores == "never_hit"
    return never_hit and convention.order == "score"


def first_of_each(hit: Ints, matches: Matches) -> Ints:
    """Return the first hit of each row of the truth."""
    _rows, first = np.unique(matches.truth_row[hit], return_index=True)
    return hit[np.sort(first)]


# ---- after hits are found


def shared_rank(matches: Matches, hit: Ints, ties: str) -> Ints:
    """Return the ranks of hits, those of equal scores where they share one."""
    if ties == "max_rank":
        return matches.above[hit] + matches.tied[hit]
    if ties == "floor_mean_rank":
        return (2 * matches.above[hit] + 1 + matches.tied[hit]) // 2
    return matches.rank[hit]


class Below(NamedTuple):
    """What was missed, if the whole catalogue is ranked below each list."""

    row: Ints  #: rows of the truth
    rank: Ints  #: of each
    length: Ints  #: per user, the last rank


def below_lists(
    wanted: Wanted, matches: Matches, truth: TruthRows, ids: Ids, convention: Convention
) -> Below:
    """Rank what was missed below each list, the whole catalogue sorted by id.

    An item's place is the list's length and its number among all items, less those
    before it that the list holds already.
    """
    row = np.flatnonzero(wanted.counts & ~marked(matches.truth_row, len(truth.row)))
    if only_positive_scores_hit(convention):
        row = row[:0]
    row = row[np.argsort(truth.row[row])]
    n_users, n_items = len(ids.users), ids.n_items
    item = ids.list_item.view(np.int64)
    if ids.list_rows is not None:
        item = item[ids.list_rows]
    listed = np.unique(np.repeat(np.arange(n_users), ids.n_listed) * n_items + item)
    n_distinct = np.bincount(listed // n_items, minlength=n_users)
    length = matches.length + n_items - n_distinct
    user, number = truth.user[row], truth.item[row].view(np.int64)
    if convention.ties != "first":
        return Below(row, length[user], length)
    start = np.searchsorted(listed, user * n_items)
    before = np.searchsorted(listed, user * n_items + number) - start
    return Below(row, matches.length[user] + number - before + 1, length)


def with_catalogue(hits: Hits, below: Below, wanted: Wanted, truth: TruthRows) -> Hits:
    """Return the hits with what was missed, at its rank below the list."""
    row = below.row
    user = np.concatenate([hits.user, wanted.user[row]])
    rank = np.concatenate([hits.rank, below.rank])
    relevance = np.concatenate([hits.relevance, truth.grade[row]])
    truth_row = np.concatenate([hits.truth_row, wanted.entry[row]])
    order = in_order(user * (int(rank.max(initial=0)) + 1) + rank)
    return replace(
        hits,
        user=user[order],
        rank=rank[order],
        relevance=relevance[order],
        truth_row=truth_row[order],
    )


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
