"""What libraries do otherwise than the textbook's join.

Each is a step before, within or after one of its steps.

| decision                      | step                      | when                                 |
|-------------------------------|---------------------------|--------------------------------------|
| `ties`, `candidates`          | `needs_positions`         | before `number_ids`: how items are   |
|                               |                           | numbered                             |
| contradictions                | `refuse_contradictions`   | `join`: first of all                 |
| `score_dtype="float32"`       | `single_precision`        | before ranking: what orders lists    |
| `candidates="padded"`         | `padded`                  | before ranking: rows are added       |
| `ties`: by row, item, truth   | `tie_order`               | `rank_rows`: order of equal scores   |
| `duplicates`, `judged_only`,  | `rows_that_stay`          | `rank_rows`: rows leave, ranks close |
| `negative_relevance="zero"`   |                           |                                      |
| `order="rank"` and padding    | `given_ranks_and_below`   | `rank_rows`: given ranks stay        |
| `ties`: shared ranks          | `with_ties`               | `rank_rows`: equal scores counted    |
| `negative_relevance="zero"`   | `unjudged_as_zero`        | before hits: grades below 0 are 0    |
| `duplicates="rows"`           | `with_copies`             | before hits: rows of truth repeated  |
| `nonpositive_scores`          | `only_positive_scores_hit`| `find_hits`: which matches are hits  |
| `duplicates="hit_once"`       | `first_of_each`           | `find_hits`: which matches are hits  |
| `ties`: shared ranks          | `shared_rank`             | `find_hits`: the rank of a hit       |
| `candidates="catalogue"`      | `below_lists`             | after hits: what was missed, ranked  |
|                               | `with_catalogue`          | after hits: what was missed is a hit |
| `ties="expected"`             | `average_over_ties`       | after hits: spread over their ranks  |
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.encoding import starts_of
from recnb.data.numbered import (
    Evaluated,
    Ids,
    ListedRows,
    Matches,
    Pairs,
    Ranks,
    TruthRows,
    Wanted,
    marked,
)
from recnb.errors import OptionError
from recnb.metrics.hits import (
    Bools,
    Floats,
    Hits,
    Ints,
    TieSpread,
    count_within,
    order_by_user_and_rank,
)

#: Rules for equal scores that look at the item.
BY_ITEM = ("item_asc", "item_desc")
#: Rules that put equal scores in no order: all of them have one rank, or under
#: "expected" each is spread over all of their ranks.
SHARED = ("expected", "max_rank", "floor_mean_rank")


def needs_positions(convention: Convention) -> bool:
    """Return whether an item's number has to be its position among all items, sorted.

    It has where items are put in order by their ids.
    """
    if convention.candidates == "catalogue":
        return True  # below a list, items are sorted by id
    if convention.ties not in BY_ITEM:
        return False
    # Ids decide between equal scores. Lists in the order of ranks or rows have none, but
    # all rows that `padded` adds have one score.
    return convention.order == "score" or convention.candidates == "padded"


def refuse_contradictions(convention: Convention) -> None:
    """Raise an error for decisions that do not go together."""
    ties = convention.ties
    if convention.candidates == "catalogue":
        ranks_catalogue = ties in ("first", "max_rank")
        if convention.judged_only or not ranks_catalogue:
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


# ---- before lists are ranked


def single_precision(scores: pl.Series) -> Floats:
    """Return scores rounded to single precision, in which some libraries compute.

    The numbers that are returned are Float64 nevertheless: that has a number below every
    finite Float32, which stands for minus infinity here. A score of minus infinity would
    be equal to those of the rows that `padded` adds, which are to be the lowest.
    """
    floats = scores.cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore"):  # what is too large becomes infinite there as well
        single = floats.astype(np.float32)
    lowest_score = np.finfo(np.float64).min
    return np.asarray(np.maximum(single, lowest_score, dtype=np.float64))


def padded(
    lists: ListedRows, truth: TruthRows, pairs: Pairs
) -> tuple[ListedRows, Pairs]:
    """Put the judged items that were not recommended below the lists.

    They are added at the end, in the order of the frame of the truth, with a score of
    minus infinity, which no recommended row has. `frame_row` and `n_recommended` stay:
    they are about recommended rows alone.
    """
    is_recommended = marked(pairs.judging_row, len(truth.user))
    missed = np.flatnonzero(~is_recommended)
    missed = missed[np.argsort(truth.frame_row[missed])]
    added_row = len(lists.user) + np.arange(len(missed))
    lowest_scores = np.full(len(missed), -np.inf)
    given_rank = lists.given_rank
    if given_rank is not None:
        given_rank = np.concatenate([given_rank, np.zeros_like(missed)])
    longer_lists = replace(
        lists,
        user=np.concatenate([lists.user, truth.user[missed]]),
        item=np.concatenate([lists.item, truth.item[missed]]),
        score=np.concatenate([lists.score, lowest_scores]),
        given_rank=given_rank,
    )
    more_pairs = replace(
        pairs,
        judged_row=np.concatenate([pairs.judged_row, added_row]),
        judging_row=np.concatenate([pairs.judging_row, missed]),
    )
    return longer_lists, more_pairs


# ---- while lists are ranked


def tie_order(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, ties: str
) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None: the order of rows."""
    if ties == "last":
        return np.arange(len(lists.user))[::-1]
    # Where scores may be equal, an item's number is its position among all items, sorted
    # (`needs_positions`). Elsewhere it may be a hash, whose order moves no row.
    if ties == "item_asc":
        return lists.item.view(np.int64)
    if ties == "item_desc":
        return -lists.item.view(np.int64)
    if ties == "worst":  # the least relevant first
        relevance = np.zeros(len(lists.user))
        relevance[pairs.judged_row] = truth.relevance[pairs.judging_row]
        return relevance
    return None


def rows_leave(pairs: Pairs, convention: Convention) -> bool:
    """Return whether some rows leave their lists."""
    return convention.judged_only or _repeats_leave(pairs, convention)


def _repeats_leave(pairs: Pairs, convention: Convention) -> bool:
    """Return whether of repeated rows only the highest stays."""
    return convention.duplicates == "dedupe" and pairs.lists_repeat


def rows_that_stay(
    order: Ints,
    lists: ListedRows,
    truth: TruthRows,
    pairs: Pairs,
    convention: Convention,
) -> Ints:
    """Return the rows that stay in their lists, in the same order.

    Under duplicates="dedupe" these are the highest of repeated rows, under `judged_only`
    the judged ones.
    """
    if _repeats_leave(pairs, convention):
        is_highest = _is_highest_of_pair(order, pairs)
        order = order[is_highest[order]]
    if convention.judged_only:
        is_judged = marked(_judged_rows(truth, pairs, convention), len(lists.user))
        order = order[is_judged[order]]
    return order


def _judged_rows(truth: TruthRows, pairs: Pairs, convention: Convention) -> Ints:
    """Return the listed rows that stay under `judged_only`.

    Under negative_relevance="zero" a relevance below 0 marks an item that was pooled and
    not judged. It is still below 0 here: `_with_negative_grades` (`in_memory.py`) has
    kept it, and `unjudged_as_zero` comes later.
    """
    if convention.negative_relevance != "zero":
        return pairs.judged_row
    is_judged = truth.relevance[pairs.judging_row] >= 0
    return pairs.judged_row[is_judged]


def _is_highest_of_pair(order: Ints, pairs: Pairs) -> Bools:
    """Return for each row whether it is the highest of its pair of user and item.

    A row that is not repeated is the only one of its pair. The order has all rows, those
    of a user from the top down.
    """
    n_rows = len(order)
    is_repeated = marked(pairs.repeated_row, n_rows)
    pair_of_row = np.zeros(n_rows, dtype=np.int64)
    pair_of_row[pairs.repeated_row] = pairs.repeated_pair
    repeated_row = order[is_repeated[order]]
    # From the top down, the first row of a pair is the highest.
    _pairs, first = np.unique(pair_of_row[repeated_row], return_index=True)
    is_highest = ~is_repeated
    is_highest[repeated_row[first]] = True
    return is_highest


def given_ranks_and_below(order: Ints | slice, lists: ListedRows) -> Ints:
    """Return the ranks of rows in an order from the top down, user by user.

    These are the given ranks, which may have gaps; and for rows that padding added, those
    after the last given one. Of a user with three recommended rows and two added ones:

        given rank     1  2  5  0  0
        rank returned  1  2  5  6  7
    """
    assert lists.given_rank is not None
    user = lists.user[order]
    given_rank = lists.given_rank[order]  # 0: added
    is_added = given_rank == 0
    last_given = np.zeros(lists.n_users, dtype=np.int64)
    np.maximum.at(last_given, user, given_rank)
    n_given = np.bincount(user[~is_added], minlength=lists.n_users)
    # From the top down, a user's added rows come after all that have a given rank.
    nth_added = count_within(user) - n_given[user]  # of added rows: 1, 2, ...
    return np.where(is_added, last_given[user] + nth_added, given_rank)


def with_ties(ranks: Ranks, order: Ints | slice, lists: ListedRows) -> Ranks:
    """Return the ranks with `above` and `tied` of equal scores.

    Of a list in order:

        score  9  5  5  5
        rank   1  2  3  4
        above  0  1  1  1
        tied   1  3  3  3
    """
    rank_in_order = ranks.rank[order]
    # Where each tie starts in the order, a score that is alone being a tie of one row.
    starts = starts_of(lists.user[order], lists.score[order])
    n_tied = np.diff(starts, append=len(rank_in_order))  # [tie]
    highest_rank = rank_in_order[starts]  # [tie]
    above = np.zeros_like(ranks.rank)
    above[order] = np.repeat(highest_rank - 1, n_tied)
    tied = np.ones_like(ranks.rank)
    tied[order] = np.repeat(n_tied, n_tied)
    return replace(ranks, above=above, tied=tied)


# ---- before hits are found


def unjudged_as_zero(truth: TruthRows) -> TruthRows:
    """Return the truth with 0 for a relevance below 0.

    Such a relevance marks an item that was pooled and not judged. Called once such items
    have left the lists, for which they had to differ from items judged 0.
    """
    return replace(truth, relevance=truth.relevance.clip(min=0.0))


def with_copies(wanted: Wanted, matches: Matches) -> Wanted:
    """Repeat each wanted row of the truth as often as it was matched, once at least.

    A match counts even if `nonpositive_scores` does not let it be a hit.
    """
    n_truth = len(wanted.is_wanted)
    rows = np.arange(n_truth)[wanted.rows]  # as numbers, even if a slice is given
    n_matches = np.bincount(matches.truth_row, minlength=n_truth)
    times = np.maximum(n_matches[rows], 1)
    # All hits of a row have the entry of its first copy.
    entry = np.zeros(n_truth, dtype=np.int64)
    entry[rows] = np.cumsum(times) - times
    return wanted._replace(rows=np.repeat(rows, times), entry=entry)


# ---- while hits are found


def only_positive_scores_hit(convention: Convention) -> bool:
    """Return whether an item with a score of 0 or below is never a hit."""
    never_hit = convention.nonpositive_scores == "never_hit"
    return never_hit and convention.order == "score"


def first_of_each(hit_match: Ints, matches: Matches) -> Ints:
    """Return the first hit of each truth row."""
    _rows, first = np.unique(matches.truth_row[hit_match], return_index=True)
    return np.asarray(hit_match[np.sort(first)])


def shared_rank(matches: Matches, hit_match: Ints, ties: str) -> Ints:
    """Return the rank of each hit: where equal scores share a rank, the shared one.

    Under "expected" a hit keeps its own rank here: `average_over_ties` spreads it.
    """
    if ties not in ("max_rank", "floor_mean_rank"):
        return matches.rank[hit_match]
    above, tied = matches.above[hit_match], matches.tied[hit_match]
    if ties == "max_rank":
        return above + tied
    # Equal scores stand on ranks above + 1 to above + tied: the mean, rounded down.
    return (2 * above + 1 + tied) // 2


# ---- after hits are found


class Below(NamedTuple):
    """What was missed, if the whole catalogue is ranked below each list."""

    #: Truth rows that were missed, in the order of the frame: see `_missed_rows`.
    truth_row: Ints
    #: [missed truth row] -> rank.
    rank: Ints
    #: [user] -> last rank, the catalogue included.
    last_rank: Ints


def below_lists(
    wanted: Wanted, matches: Matches, truth: TruthRows, ids: Ids, convention: Convention
) -> Below:
    """Rank what was missed below each list, where all other items stand, sorted by id.

    Of items a b c d e, with a list of d and b, the user's ranks are d b a c e: c has
    rank 4, below the 2 listed items and the 1 unlisted item of lower id.
    """
    missed = _missed_rows(wanted, matches, truth, convention)
    listed = ListedPairs.of(ids)
    last_rank = matches.last_rank + ids.n_items - listed.n_items_of_each_user()
    user = truth.user[missed]
    if convention.ties == "max_rank":
        # All that stands below a list is one tie, on its last rank.
        return Below(missed, last_rank[user], last_rank)

    item = truth.item[missed].view(np.int64)
    # An item's number is its position among all items: as many have a lower id
    # (`needs_positions`).
    n_lower_unlisted = item - listed.n_lower_items(user, item)
    rank = matches.last_rank[user] + n_lower_unlisted + 1
    return Below(missed, rank, last_rank)


class ListedPairs(NamedTuple):
    """The pairs of user and item in the lists, once each, where items are positions."""

    #: user * n_items + item, rising: by user, then by item.
    number: Ints
    n_users: int
    n_items: int

    @classmethod
    def of(cls, ids: Ids) -> ListedPairs:
        """Return the pairs of all lists."""
        n_users = len(ids.users)
        user = np.repeat(np.arange(n_users), ids.n_listed)
        item = ids.recs_item.view(np.int64)[ids.frame_rows(slice(None))]
        number = np.unique(user * ids.n_items + item)
        return cls(number, n_users, ids.n_items)

    def n_items_of_each_user(self) -> Ints:
        """Return how many different items the list of each user has."""
        return np.bincount(self.number // self.n_items, minlength=self.n_users)

    def n_lower_items(self, user: Ints, item: Ints) -> Ints:
        """Return how many items of each user's list have a lower id than an item."""
        lowest_number = user * self.n_items
        pairs_before_user = np.searchsorted(self.number, lowest_number)
        pairs_before_item = np.searchsorted(self.number, lowest_number + item)
        return np.asarray(pairs_before_item - pairs_before_user)


def _missed_rows(
    wanted: Wanted, matches: Matches, truth: TruthRows, convention: Convention
) -> Ints:
    """Return the wanted truth rows that were not recommended, in the frame's order.

    Under ties="max_rank" those of a user share one rank, and keep this order. There are
    none where they could be no hits.
    """
    if only_positive_scores_hit(convention):
        # What stands below a list has no score above 0, so nothing there can be a hit.
        return np.zeros(0, dtype=np.int64)
    is_listed = marked(matches.truth_row, len(truth.user))
    missed = np.flatnonzero(wanted.is_wanted & ~is_listed)
    return missed[np.argsort(truth.frame_row[missed])]


def with_catalogue(
    hits: Hits, below: Below, wanted: Wanted, evaluated: Evaluated, truth: TruthRows
) -> Hits:
    """Return the hits with what was missed, at its rank below the list."""
    missed = below.truth_row
    user = np.concatenate([hits.user, wanted.position[missed]])
    rank = np.concatenate([hits.rank, below.rank])
    relevance = np.concatenate([hits.relevance, truth.relevance[missed]])
    entry = np.concatenate([hits.entry, wanted.entry[missed]])
    order = order_by_user_and_rank(user, rank)
    return replace(
        hits,
        user=user[order],
        rank=rank[order],
        relevance=relevance[order],
        entry=entry[order],
        list_length=below.last_rank[evaluated.users],
    )


class TiesWithHits(NamedTuple):
    """Rows of a list with one score, some of which are hits."""

    #: [tie] -> how many ranks are above it.
    above: Ints
    #: [tie] -> how many rows it has: it lies on ranks above + 1 to above + n_rows.
    n_rows: Ints
    #: [tie] -> how many of its rows are hits.
    n_hits: Ints
    #: [tie] -> how many hits of the user are in higher ties.
    n_hits_above: Ints

    def taken(self, tie: Ints) -> TiesWithHits:
        """Return the ties of these numbers, in their order; a number may be repeated."""
        return TiesWithHits(*[column[tie] for column in self])


def average_over_ties(hits: Hits, above: Ints, tied: Ints) -> Hits:
    """Spread each hit over all ranks that the order of its tie could put it on.

    That is the mean over all orders. Of scores 9 5 5 5 let the first and two of the
    others be hits. The hits, each with its tie, and the ties:

        hit  tie        tie  above  n_rows  n_hits  n_hits_above
        0    0          0    0      1       1       0
        1    1          1    1      3       2       1
        2    1

    The rows that are returned. `nth` is 1 for the user's first hit, 2 for the second; it
    is a mean where orders differ. `first` is the chance that the hit is on this rank and
    the user's first:

        hit  place  rank  weight  nth  first
        0    1      1     1       1    1
        1    1      2     1/3     2    0
        1    2      3     1/3     2.5  0
        1    3      4     1/3     3    0
        2    1      2     1/3     2    0
        2    2      3     1/3     2.5  0
        2    3      4     1/3     3    0

    `above` and `tied` are those of each hit, as in `Matches`.
    """
    ties, tie_of_hit = _ties_with_hits(hits.user, above, tied)
    hit = np.repeat(np.arange(len(tied)), tied)
    place = count_within(hit)  # in the tie
    tie = ties.taken(tie_of_hit[hit])
    rank = tie.above + place
    spread = TieSpread(
        weight=1.0 / tie.n_rows,
        nth=_expected_nth(place, tie),
        first=_first_chance(place, tie),
        top=place == 1,  # one row of each hit, for what counts hits once
    )
    order = order_by_user_and_rank(hits.user[hit], rank)
    return hits.with_rows(
        hit[order],
        rank=rank[order],
        tied=spread.with_rows(order),
    )


def _ties_with_hits(user: Ints, above: Ints, tied: Ints) -> tuple[TiesWithHits, Ints]:
    """Return the ties that hits are in, and the tie of each hit.

    Hits stand by user and rank, so those of one tie are neighbours.
    """
    first_hit = starts_of(user, above)  # [tie]
    n_hits = np.diff(first_hit, append=len(user))
    ties = TiesWithHits(
        above=above[first_hit],
        n_rows=tied[first_hit],
        n_hits=n_hits,
        n_hits_above=count_within(user)[first_hit] - 1,
    )
    return ties, np.repeat(np.arange(len(first_hit)), n_hits)


def _expected_nth(place: Ints, tie: TiesWithHits) -> Floats:
    """Return which of the user's hits, counted from 1, a hit at a place in its tie is.

    It is a mean over the orders of the tie. Each other hit of the tie is equally likely
    on each of the other places, and place - 1 of these are above this one.
    """
    other_hits = tie.n_hits - 1
    # A tie of one row has no other place. It has no other hit either, so the quotient is
    # 0, whatever it is divided by: 1 avoids 0 / 0.
    other_places = np.maximum(tie.n_rows - 1, 1)
    hits_above_in_tie = (place - 1.0) * other_hits / other_places
    nth: Floats = 1.0 + tie.n_hits_above + hits_above_in_tie
    return nth


def _first_chance(place: Ints, tie: TiesWithHits) -> Floats:
    """Return the probability that a hit is at a place in its tie, and the user's first.

    The hits of a tie can stand in C(n_rows, n_hits) ways. If the first of them is at this
    place, the n_hits - 1 others are on the n_rows - place places below, in C(n_rows -
    place, n_hits - 1) ways. Each hit of the tie is equally likely to be that first one:
    hence / n_hits. With hits in a higher tie, none of them is the user's first.
    """
    log_chance = _log_choose(tie.n_rows - place, tie.n_hits - 1)
    log_chance -= _log_choose(tie.n_rows, tie.n_hits)
    chance = np.exp(log_chance) / tie.n_hits
    return np.where(tie.n_hits_above == 0, chance, 0.0)


def _log_choose(n: Ints, m: Ints) -> Floats:
    """Return the logarithm of C(n, m), the number of ways to choose m of n."""
    from scipy.special import gammaln

    # C(n, m) of n below m is 0, as gammaln is infinite at 0 and at whole numbers below.
    return np.asarray(gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0))
