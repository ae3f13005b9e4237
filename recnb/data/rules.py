"""Lists put in order in numpy, under any convention.

Where a library departs from the plain order, its own step is one of these:

| decision                      | step                      | when                                 |
|-------------------------------|---------------------------|--------------------------------------|
| contradictions                | `refuse_contradictions`   | `join`: first of all                 |
| `ties`, `candidates`,         | `looks_at_items`          | before ranking: whether items are    |
| `duplicates`                  |                           | numbered                             |
| `score_dtype="float32"`       | `single_precision`        | before ranking: what orders lists    |
| `candidates="padded"`         | `padded`                  | before ranking: rows are added       |
| `ties`: by row, item, truth   | `tie_order`               | `rank_rows`: order of equal scores   |
| `duplicates`, `judged_only`,  | `rows_that_stay`          | `rank_rows`: rows leave, ranks close |
| `negative_relevance="zero"`   |                           |                                      |
| `order="rank"` and padding    | `given_ranks_and_below`   | `rank_rows`: given ranks stay        |
| `ties`: shared ranks          | `with_ties`               | `rank_rows`: equal scores counted    |
| `candidates="catalogue"`      | `with_catalogue`          | after ranking: what was missed       |
| `negative_relevance="zero"`   | `unjudged_as_zero`        | before hits: grades below 0 are 0    |
| `duplicates="rows"`           | `copies_of_each`          | before hits: rows of truth repeated  |
| `nonpositive_scores`          | `only_positive_scores_hit`| `find_hits`: which matches are hits  |
| `duplicates="hit_once"`       | `first_of_each`           | `find_hits`: which matches are hits  |
| `ties`: shared ranks          | `shared_rank`             | `find_hits`: the rank of a hit       |
| `ties="expected"`             | `average_over_ties`       | after hits: spread over their ranks  |

A *listed row* is a row of recommendations, or one that `padded` adds after them; see
`matches.py` for the other words. `Ints | slice`: rows that stand in order are a slice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.ids import each_once, positions
from recnb.data.matches import (
    Matches,
    RepeatedRankError,
    Truth,
    TruthRows,
    judged_rows,
)
from recnb.data.sheet import in_floats
from recnb.errors import OptionError
from recnb.metrics.hits import (
    Floats,
    Hits,
    Ints,
    TieSpread,
    count_within,
    order_by_user_and_rank,
    order_from_highest,
    user_rank_key,
)

#: Rules that put equal scores in no order: all of them have one rank, or under
#: "expected" each is spread over all of their ranks.
SHARED = ("expected", "max_rank", "floor_mean_rank")


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


@dataclass(frozen=True, eq=False)
class ListedRows:
    """The rows of all lists: recommended ones in the order of their frame, then added ones."""

    #: [listed row] -> user.
    user: Ints
    #: [listed row] -> position of its item among all items, sorted by id; 0 for all
    #: where items are not numbered (`looks_at_items`).
    item: Ints
    #: [listed row] -> score, higher is better; under order="rank" or "row" it is minus
    #: the rank or the frame row.
    score: Floats | Ints
    #: [listed row] -> the truth row that judges it; -1: not judged.
    truth_row: Ints
    #: [listed row] -> rank that the frame gives, 0 for an added row; None without
    #: `Convention.keeps_ranks`.
    given_rank: Ints | None
    n_users: int
    n_items: int  #: 0: items are not numbered
    #: Number of recommended rows.
    n_recommended: int

    @property
    def pair(self) -> Ints:
        """[listed row] -> the number of its pair of user and item."""
        assert self.n_items or not len(self.user), "items are not numbered"
        return self.user * self.n_items + self.item


@dataclass(frozen=True, eq=False)
class Ranks:
    """The rank of each row in its list."""

    #: [listed row] -> rank from 1; 0: the row left its list.
    rank: Ints
    #: [listed row] -> as in `Matches`.
    above: Ints | None = None
    #: [listed row] -> as in `Matches`.
    n_tied: Ints | None = None


class NumberedTables(NamedTuple):
    """Both tables as numbers."""

    users: pl.Series  #: of both tables, sorted by id
    truth: TruthRows
    #: [truth row] -> item, as in `ListedRows`.
    truth_item: Ints
    lists: ListedRows


def match_in_numpy(
    recs: pl.DataFrame,
    truth: Truth,
    convention: Convention,
    all_items: pl.Series | None = None,
) -> Matches:
    """Rank the rows of lists under any convention, and match them with the truth.

    `all_items` is as in `join`. Raises a RepeatError.
    """
    tables = numbered(recs, truth, convention, all_items)
    lists = tables.lists
    n_rows = np.bincount(lists.user, minlength=lists.n_users)
    has_gaps = _has_gaps(lists, n_rows)
    if convention.candidates == "padded":
        lists = padded(lists, tables.truth, tables.truth_item)
    ranks = rank_rows(lists, tables.truth, convention)
    is_match = (lists.truth_row >= 0) & (ranks.rank > 0)  # 0: the row left its list
    row = np.flatnonzero(is_match)
    matches = Matches(
        users=tables.users,
        truth=tables.truth,
        truth_row=lists.truth_row[row],
        rank=ranks.rank[row],
        score=lists.score[row],
        n_rows=n_rows,
        last_rank=last_ranks(lists.user, ranks.rank, lists.n_users),
        has_gaps=has_gaps,
        above=None if ranks.above is None else ranks.above[row],
        n_tied=None if ranks.n_tied is None else ranks.n_tied[row],
    )
    if convention.candidates == "catalogue":
        return with_catalogue(matches, lists, tables.truth_item, convention)
    return matches


def _has_gaps(lists: ListedRows, n_rows: Ints) -> bool:
    """Return whether some list leaves a rank empty.

    No rank is given twice, so the last is beyond the number of rows then.
    """
    if lists.given_rank is None:
        return False
    last_given = last_ranks(lists.user, lists.given_rank, lists.n_users)
    return bool((last_given != n_rows).any())


def rank_of_rows(recs: pl.DataFrame, truth: Truth, convention: Convention) -> Ints:
    """Return the rank of each row of recommendations; 0: the row left its list."""
    if convention.keeps_ranks:
        return recs["rank"].to_numpy()
    tables = numbered(recs, truth, convention)
    lists = tables.lists
    if convention.candidates == "padded":
        lists = padded(lists, tables.truth, tables.truth_item)
    ranks = rank_rows(lists, tables.truth, convention)
    return ranks.rank[: lists.n_recommended]  # what was added is in no frame


# ---- rows as numbers


def numbered(
    recs: pl.DataFrame,
    truth: Truth,
    convention: Convention,
    all_items: pl.Series | None = None,
) -> NumberedTables:
    """Return both tables as numbers.

    Raises a RepeatError for repeats that the convention refuses.
    """
    users = truth.users
    user = positions(users, recs["user"])
    if (user < 0).any():
        users = each_once(recs["user"], users)
        user = positions(users, recs["user"])
    if convention.order == "rank" and repeats_a_rank(user, recs["rank"].to_numpy()):
        raise RepeatedRankError
    judged = judged_rows(recs, truth, convention)
    truth_rows = truth.among(users)
    truth_row = np.full(recs.height, -1)
    truth_row[judged.listed] = truth_rows.of_frame_rows(judged.judging)

    item, truth_item = np.zeros_like(user), np.zeros_like(truth_rows.user)
    n_items = 0
    if looks_at_items(convention):
        items = all_items
        if items is None:
            items = each_once(recs["item"], truth.rows["item"])
        item = positions(items, recs["item"])
        truth_item = positions(items, truth.rows["item"])[truth_rows.frame_row]
        n_items = len(items)
    lists = ListedRows(
        user=user,
        item=item,
        score=order_values(recs, convention),
        truth_row=truth_row,
        given_rank=recs["rank"].to_numpy() if convention.keeps_ranks else None,
        n_users=len(users),
        n_items=n_items,
        n_recommended=recs.height,
    )
    return NumberedTables(users, truth_rows, truth_item, lists)


def looks_at_items(convention: Convention) -> bool:
    """Return whether a step puts items in order by their ids, or tells them apart."""
    if convention.candidates == "catalogue" or convention.duplicates == "dedupe":
        return True
    return convention.ties in ("item_asc", "item_desc")


def repeats_a_rank(user: Ints, rank: Ints) -> bool:
    """Return whether a list gives two rows the same rank."""
    if is_in_order(user, -rank):
        return False  # the usual case: ranks rise from row to row
    key = np.sort(user_rank_key(user, rank))
    return bool((key[1:] == key[:-1]).any())


def order_values(recs: pl.DataFrame, convention: Convention) -> Floats | Ints:
    """Return what orders lists, the highest first.

    It is the score in the convention's precision, or minus the rank or the row.
    """
    if convention.order == "rank":
        return -recs["rank"].to_numpy()
    if convention.order == "row":
        return -np.arange(recs.height)
    if convention.score_dtype == "float32":
        return single_precision(recs["score"])
    return in_floats(recs["score"])


# ---- before lists are ranked


def single_precision(scores: pl.Series) -> Floats:
    """Return scores rounded to single precision, in which some libraries compute.

    A score below every Float32 would become minus infinity, and equal those of the rows
    that `padded` adds. It becomes the lowest Float64: hence Float64 is returned.
    """
    floats = scores.cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore"):  # what is too large becomes infinite there as well
        single = floats.astype(np.float32)
    lowest_score = np.finfo(np.float64).min
    return np.asarray(np.maximum(single, lowest_score, dtype=np.float64))


def padded(lists: ListedRows, truth: TruthRows, truth_item: Ints) -> ListedRows:
    """Put the items of the truth that were not recommended below the lists.

    They are added at the end, in the order of the frame of the truth, with a score of
    minus infinity, which no recommended row has.
    """
    missed = missed_rows(lists.truth_row, truth)
    given_rank = lists.given_rank
    if given_rank is not None:
        given_rank = np.concatenate([given_rank, np.zeros_like(missed)])
    lowest_scores = np.full(len(missed), -np.inf)
    return replace(
        lists,
        user=np.concatenate([lists.user, truth.user[missed]]),
        item=np.concatenate([lists.item, truth_item[missed]]),
        score=np.concatenate([lists.score, lowest_scores]),
        truth_row=np.concatenate([lists.truth_row, missed]),
        given_rank=given_rank,
    )


def missed_rows(truth_row: Ints, truth: TruthRows) -> Ints:
    """Return the truth rows that judge no row, in the order of their frame.

    `truth_row` has those that do; -1 is none.
    """
    is_missed = np.ones(len(truth.user), dtype=bool)
    is_missed[truth_row[truth_row >= 0]] = False
    missed = np.flatnonzero(is_missed)
    return missed[np.argsort(truth.frame_row[missed])]


# ---- while lists are ranked


def rank_rows(lists: ListedRows, truth: TruthRows, convention: Convention) -> Ranks:
    """Rank the rows of each list, the highest score first."""
    n_added = len(lists.user) - lists.n_recommended
    if lists.given_rank is not None and n_added == 0:
        # Under `Convention.keeps_ranks` no row leaves its list.
        return Ranks(lists.given_rank)
    order = _top_down(lists, truth, convention.ties)
    if convention.duplicates == "dedupe" or convention.judged_only:
        # As numbers, even where the order is a slice.
        every_row = np.arange(len(lists.user))[order]
        order = rows_that_stay(every_row, lists, truth, convention)
    if lists.given_rank is None:
        rank_in_order = count_within(lists.user[order])
    else:
        rank_in_order = given_ranks_and_below(order, lists, lists.given_rank)
    # Rows that are not in the order have left their lists: their rank is 0.
    rank = np.zeros(len(lists.user), dtype=np.int64)
    rank[order] = rank_in_order
    if convention.ties in SHARED:
        return with_ties(rank, order, lists)
    return Ranks(rank)


def _top_down(lists: ListedRows, truth: TruthRows, ties: str) -> Ints | slice:
    """Return all rows, user by user, those of each from the top down."""
    # ties="first" leaves equal scores as they stand; other rules may move them.
    if is_in_order(lists.user, lists.score, equal_may_follow=ties == "first"):
        return slice(None)
    return order_from_highest(lists.user, lists.score, tie_order(lists, truth, ties))


def is_in_order(
    user: Ints, score: Floats | Ints, *, equal_may_follow: bool = False
) -> bool:
    """Return whether the rows of each user stand together, from the top down."""
    upper, lower = score[:-1], score[1:]
    follows = lower <= upper if equal_may_follow else lower < upper
    is_next_user = user[1:] != user[:-1]
    if not (follows | is_next_user).all():
        return False
    n_runs = min(len(user), 1) + np.count_nonzero(is_next_user)
    n_users = np.count_nonzero(np.bincount(user))
    return bool(n_runs == n_users)


def tie_order(lists: ListedRows, truth: TruthRows, ties: str) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None for that of rows."""
    if ties == "last":
        return np.arange(len(lists.user))[::-1]
    if ties == "item_asc":
        return lists.item
    if ties == "item_desc":
        return -lists.item
    if ties == "worst":  # the least relevant first
        relevance = np.zeros(len(lists.user))
        is_judged = lists.truth_row >= 0
        relevance[is_judged] = truth.relevance[lists.truth_row[is_judged]]
        return relevance
    return None


def rows_that_stay(
    order: Ints, lists: ListedRows, truth: TruthRows, convention: Convention
) -> Ints:
    """Return the rows that stay in their lists, in the same order.

    Under duplicates="dedupe" these are the highest of repeated rows, under `judged_only`
    the judged ones. Under negative_relevance="zero" a relevance below 0 marks an item
    that was pooled and not judged, until `unjudged_as_zero`.
    """
    if convention.duplicates == "dedupe":
        # From the top down, the first row of a pair is the highest.
        pair = pl.Series(lists.pair[order])
        order = order[pair.is_first_distinct().to_numpy()]
    if not convention.judged_only:
        return order
    order = order[lists.truth_row[order] >= 0]
    if convention.negative_relevance == "zero":
        order = order[truth.relevance[lists.truth_row[order]] >= 0]
    return order


def given_ranks_and_below(
    order: Ints | slice, lists: ListedRows, given_rank: Ints
) -> Ints:
    """Return the ranks of rows in an order from the top down, user by user.

    These are the given ranks, which may have gaps; and for rows that padding added, those
    after the last given one. Of a user with three recommended rows and two added ones:

        given rank     1  2  5  0  0
        rank returned  1  2  5  6  7
    """
    user, rank = lists.user[order], given_rank[order]
    is_added = rank == 0
    last_given = last_ranks(user, rank, lists.n_users)
    n_given = np.bincount(user[~is_added], minlength=lists.n_users)
    # From the top down, a user's added rows come after all that have a given rank.
    nth_added = count_within(user) - n_given[user]  # of added rows: 1, 2, ...
    return np.where(is_added, last_given[user] + nth_added, rank)


def last_ranks(user: Ints, rank: Ints, n_users: int) -> Ints:
    """Return the last rank of each user, 0 without rows."""
    last_rank = np.zeros(n_users, dtype=np.int64)
    np.maximum.at(last_rank, user, rank)
    return last_rank


def with_ties(rank: Ints, order: Ints | slice, lists: ListedRows) -> Ranks:
    """Return the ranks with `above` and `n_tied` of equal scores.

    Of a list in order:

        score   9  5  5  5
        rank    1  2  3  4
        above   0  1  1  1
        n_tied  1  3  3  3
    """
    rank_in_order = rank[order]
    # Where each tie starts in the order, a score that is alone being a tie of one row.
    starts = _starts_of(lists.user[order], lists.score[order])
    n_rows = np.diff(starts, append=len(rank_in_order))  # [tie]
    highest_rank = rank_in_order[starts]  # [tie]
    above = np.zeros_like(rank)
    above[order] = np.repeat(highest_rank - 1, n_rows)
    n_tied = np.ones_like(rank)
    n_tied[order] = np.repeat(n_rows, n_rows)
    return Ranks(rank, above, n_tied)


def _starts_of(user: Ints, value: NDArray[np.generic]) -> Ints:
    """Return the first row of each run of equal values of a user."""
    is_start = np.ones(len(user), dtype=bool)
    is_start[1:] = (user[1:] != user[:-1]) | (value[1:] != value[:-1])
    return np.flatnonzero(is_start)


# ---- after lists are ranked


def with_catalogue(
    matches: Matches, lists: ListedRows, truth_item: Ints, convention: Convention
) -> Matches:
    """Rank what was missed below each list, where all other items stand, sorted by id.

    Let user 0 have a list of e, and user 1 one of d and b. For user 1 the ranks of items a
    b c d e are d b a c e:

        item              e   a   b   c   d   e
        pair              4   5   6   7   8   9
        listed_pair       4       6       8
        listed before         1       2

    2 - 1 listed items, b, have a lower id than c, so its rank is 2 + 2 - 1 + 1.
    """
    listed_pair = np.unique(lists.pair)  # by user, then by item
    n_listed = np.bincount(listed_pair // lists.n_items, minlength=lists.n_users)
    last_rank = matches.last_rank + lists.n_items - n_listed

    missed = missed_rows(matches.truth_row, matches.truth)
    user, item = matches.truth.user[missed], truth_item[missed]
    lowest_pair = user * lists.n_items
    listed_before_user = np.searchsorted(listed_pair, lowest_pair)
    listed_before_item = np.searchsorted(listed_pair, lowest_pair + item)
    n_lower_listed = listed_before_item - listed_before_user
    # `item` is how many have a lower id.
    rank = matches.last_rank[user] + item - n_lower_listed + 1
    if convention.ties == "max_rank":
        # All that stands below a list is one tie, on its last rank.
        rank = last_rank[user]
    above, n_tied = matches.above, matches.n_tied
    if above is not None and n_tied is not None:
        above = np.concatenate([above, rank - 1])
        n_tied = np.concatenate([n_tied, np.ones_like(rank)])
    return replace(
        matches,
        truth_row=np.concatenate([matches.truth_row, missed]),
        rank=np.concatenate([matches.rank, rank]),
        score=np.concatenate([matches.score, np.full(len(missed), -np.inf)]),
        last_rank=last_rank,
        above=above,
        n_tied=n_tied,
    )


# ---- before hits are found


def unjudged_as_zero(truth: TruthRows, convention: Convention) -> TruthRows:
    """Return the truth with 0 for the relevance of items that were not judged.

    Under these decisions a relevance below 0, which marks them, was kept until here.
    """
    if not convention.judged_only or convention.negative_relevance != "zero":
        return truth
    return replace(truth, relevance=truth.relevance.clip(min=0.0))


def copies_of_each(truth_row: Ints, matches: Matches) -> Ints:
    """Return how often each of these truth rows was matched, once at least.

    A match counts even if `nonpositive_scores` does not let it be a hit.
    """
    n_matches = np.bincount(matches.truth_row, minlength=len(matches.truth.user))
    return np.maximum(n_matches[truth_row], 1)


# ---- while hits are found


def only_positive_scores_hit(convention: Convention) -> bool:
    """Return whether an item with a score of 0 or below is never a hit."""
    never_hit = convention.nonpositive_scores == "never_hit"
    return never_hit and convention.order == "score"


def first_of_each(hit_match: Ints, matches: Matches) -> Ints:
    """Return the first hit of each truth row."""
    truth_row = pl.Series(matches.truth_row[hit_match])
    return np.asarray(hit_match[truth_row.is_first_distinct().to_numpy()])


def shared_rank(matches: Matches, hit_match: Ints, ties: str) -> Ints:
    """Return the rank of each hit: where equal scores share a rank, the shared one.

    Under "expected" a hit keeps its own rank here: `average_over_ties` spreads it.
    """
    if ties not in ("max_rank", "floor_mean_rank"):
        return matches.rank[hit_match]
    above, n_tied = matches.ties_of(hit_match)
    if ties == "max_rank":
        return above + n_tied
    # Equal scores stand on ranks above + 1 to above + n_tied: the mean, rounded down.
    return (2 * above + 1 + n_tied) // 2


# ---- after hits are found


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


def average_over_ties(hits: Hits, above: Ints, n_tied: Ints) -> Hits:
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

    `above` and `n_tied` are those of each hit, as in `Matches`.
    """
    ties, tie_of_hit = _ties_with_hits(hits.user, above, n_tied)
    hit = np.repeat(np.arange(len(n_tied)), n_tied)
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


def _ties_with_hits(user: Ints, above: Ints, n_tied: Ints) -> tuple[TiesWithHits, Ints]:
    """Return the ties that hits are in, and the tie of each hit.

    Hits stand by user and rank, so those of one tie are neighbours.
    """
    first_hit = _starts_of(user, above)  # [tie]
    n_hits = np.diff(first_hit, append=len(user))
    ties = TiesWithHits(
        above=above[first_hit],
        n_rows=n_tied[first_hit],
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
    # A tie of one row has no other place and no other hit: 0 / 1, not 0 / 0.
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
