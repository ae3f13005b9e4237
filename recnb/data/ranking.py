"""Lists matched with the truth and put in order, in numpy, under any convention.

Where a library departs from the plain order, its own step is one of these:

| decision                      | step                      | when                                 |
|-------------------------------|---------------------------|--------------------------------------|
| contradictions                | `refuse_contradictions`   | `join`: first of all                 |
| `score_dtype="float32"`       | `single_precision`        | `ListedRows`: what orders lists      |
| `candidates="padded"`         | `padded`                  | `rank_rows`: rows are added          |
| `ties`: by row, item, truth   | `tie_order`               | `rank_rows`: order of equal scores   |
| `duplicates`, `judged_only`   | `rows_that_stay`          | `rank_rows`: rows leave, ranks close |
| `order="rank"` and padding    | `given_ranks_and_below`   | `rank_rows`: given ranks stay        |
| `ties`: shared ranks          | `ties_of_scores`          | `rank_rows`: equal scores counted    |
| `candidates="catalogue"`      | `with_catalogue`          | after ranking: what was missed       |
| `duplicates="rows"`           | `copies_of_each`          | before hits: rows of truth repeated  |
| `nonpositive_scores`          | `only_positive_scores_hit`| `find_hits`: which matches are hits  |
| `duplicates="hit_once"`       | `first_of_each`           | `find_hits`: which matches are hits  |
| `ties`: shared ranks          | `shared_rank`             | `find_hits`: the rank of a hit       |
| `ties="expected"`             | `expected_ties.py`        | after hits: spread over their ranks  |

`matches.py` and `truth.py` have the words for rows. `Ints | slice`: rows that stand
in order are a slice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import SHARED_RANKS, Ties
from recnb.data.list_order import refuse_repeats
from recnb.data.matches import ListedRows, Matches, RankedRows, RowTies
from recnb.data.role_table import RoleTable
from recnb.data.truth import GradedTruth
from recnb.errors import OptionError
from recnb.metrics.hits import (
    Floats,
    Ints,
    count_within,
    order_from_highest,
    run_starts,
)


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
    if convention.judged_only and ties in SHARED_RANKS:
        raise OptionError(
            f"ties={ties!r} gives equal scores no ranks of their own, from which items "
            "could be left out: choose ties='first'."
        )


def match(
    lists: RoleTable,
    truth: GradedTruth,
    convention: Convention,
    all_items: pl.Series | None,
) -> Matches:
    """Rank the rows of lists under any convention, and match them with the truth.

    `all_items` is as in `join`.
    """
    listed = ListedRows.of(lists, truth, convention, all_items)
    if convention.order == "rank" and listed.repeats_a_rank:
        refuse_repeats(lists, convention)
    listed, rank, last_rank, ties = rank_rows(listed, convention)
    is_match = (listed.truth_row >= 0) & (rank > 0)  # 0: the row left its list
    row = np.flatnonzero(is_match)
    n_listed = np.bincount(listed.user, minlength=len(listed.users))
    if ties is not None:
        ties = ties.of(row)
    matches = Matches(
        users=listed.users,
        truth_by_user=listed.truth_by_user,
        truth_row=listed.truth_row[row],
        rank=rank[row],
        score=listed.score[row],
        has_list=listed.n_recommended_by_user > 0,
        last_rank=last_rank,
        # No rank is given twice: a list with a rank beyond its number of rows has gaps.
        has_gaps=bool((last_rank > n_listed).any()),
        ties=ties,
    )
    if convention.candidates == "catalogue":
        return with_catalogue(matches, listed, convention)
    return matches


def rank_of_rows(lists: RoleTable, truth: GradedTruth, convention: Convention) -> Ints:
    """Return the rank of each row of recommendations; 0: the row left its list.

    A list that does not count may give a rank twice: of its rows the first is higher.
    """
    if convention.keeps_ranks:
        return lists["rank"].to_numpy()
    # Here every list counts, without the rows that padding adds; and `match` has refused
    # what may not repeat.
    is_refused = convention.duplicates == "error"
    convention = replace(
        convention,
        averaged_users="union",
        candidates="list",
        duplicates="keep" if is_refused else convention.duplicates,
    )
    return rank_rows(ListedRows.of(lists, truth, convention), convention).rank


# ---- while lists are ranked


def padded(listed: ListedRows) -> ListedRows:
    """Put the items of the truth that were not recommended below the lists.

    They are added at the end, in the order of the frame of the truth, with a score of
    minus infinity, which no recommended row has.
    """
    missed = missed_rows(listed)
    lowest_scores = np.full(len(missed), -np.inf)
    none_given = np.zeros_like(missed)
    return replace(
        listed,
        user=np.concatenate([listed.user, listed.truth_by_user.user[missed]]),
        score=np.concatenate([listed.score, lowest_scores]),
        given_rank=np.concatenate([listed.given_rank, none_given]),
        truth_row=np.concatenate([listed.truth_row, missed]),
    )


def missed_rows(listed: ListedRows) -> Ints:
    """Return the judged truth rows of items not listed, in the order of their frame."""
    truth = listed.truth_by_user
    is_missed = np.ones(len(truth.user), dtype=bool)
    is_missed[truth.unjudged] = False
    is_missed[listed.truth_row[listed.truth_row >= 0]] = False
    missed = np.flatnonzero(is_missed)
    return missed[np.argsort(truth.frame_row[missed])]


def rank_rows(listed: ListedRows, convention: Convention) -> RankedRows:
    """Rank the rows of each list, the highest score first; add rows below, if any."""
    keeps_ranks = convention.keeps_ranks
    is_padded = convention.candidates == "padded"
    if keeps_ranks and not is_padded:
        # No row is added or leaves.
        return RankedRows(listed, listed.given_rank, listed.last_given_rank)
    if is_padded:
        listed = padded(listed)
    order = _order_from_top(listed, convention.ties)
    if convention.duplicates == "dedupe" or convention.judged_only:
        order = rows_that_stay(order, listed, convention)
    # Rows that are not in the order have left their lists: their rank is 0.
    rank = np.zeros_like(listed.user)
    rank[order] = count_within(listed.user[order])
    if keeps_ranks:
        rank = given_ranks_and_below(rank, listed)
    ties = None
    if convention.ties in SHARED_RANKS:
        ties = ties_of_scores(rank, listed, order)
    return RankedRows(listed, rank, listed.last_of(rank), ties)


def _order_from_top(listed: ListedRows, ties: Ties) -> Ints | slice:
    """Return all rows, user by user, those of each from the top down."""
    keeps_row_order = ties in ("first", *SHARED_RANKS)  # of equal scores
    if is_in_order(listed.user, listed.score, equal_may_follow=keeps_row_order):
        return slice(None)
    return order_from_highest(listed.user, listed.score, tie_order(listed, ties))


def is_in_order(user: Ints, score: Floats | Ints, *, equal_may_follow: bool) -> bool:
    """Return whether users, in any order, have their rows together from the top down."""
    upper, lower = score[:-1], score[1:]
    follows = lower <= upper if equal_may_follow else lower < upper
    is_next_user = user[1:] != user[:-1]
    if not (follows | is_next_user).all():
        return False
    n_runs = min(len(user), 1) + np.count_nonzero(is_next_user)
    n_users = np.count_nonzero(np.bincount(user))
    return bool(n_runs == n_users)


def tie_order(listed: ListedRows, ties: Ties) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None for that of rows."""
    match ties:
        case "first" | "expected" | "max_rank" | "floor_mean_rank":
            return None
        case "last":
            return np.arange(len(listed.user))[::-1]
        case "item_asc":
            return listed.item
        case "item_desc":
            return -listed.item
        case "worst":  # the least relevant first
            relevance = np.zeros(len(listed.user))
            is_judged = listed.truth_row >= 0
            row = listed.truth_row[is_judged]
            relevance[is_judged] = listed.truth_by_user.relevance[row]
            return relevance
    assert_never(ties)


def rows_that_stay(
    order: Ints | slice, listed: ListedRows, convention: Convention
) -> Ints:
    """Return the rows that stay in their lists, in the same order.

    Under duplicates="dedupe" these are the highest of repeated rows, under `judged_only`
    the judged ones.
    """
    row = np.arange(len(listed.user))[order]
    if convention.duplicates == "dedupe":
        # From the top down, the first row of a pair is the highest.
        pair = pl.Series(listed.pair[row])
        row = row[pair.is_first_distinct().to_numpy()]
    if convention.judged_only:
        row = row[listed.truth_row[row] >= 0]
    return row


def given_ranks_and_below(place: Ints, listed: ListedRows) -> Ints:
    """Return given ranks and, of rows that padding added, those after the last of them.

    `place` counts the rows of each user from the top down, where added rows come last.
    Of a user with three recommended rows and two added ones:

        place          1  2  3  4  5
        given rank     1  2  5  0  0      two are left empty, 3 and 4
        rank returned  1  2  5  6  7
    """
    # [user] -> how many ranks are empty, as none is given twice.
    n_empty = listed.last_given_rank - listed.n_recommended_by_user
    below = place + n_empty[listed.user]
    return np.where(listed.given_rank == 0, below, listed.given_rank)


def ties_of_scores(rank: Ints, listed: ListedRows, order: Ints | slice) -> RowTies:
    """Return the tie of each listed row, which is of equal scores.

    Of a list in order:

        score   9  5  5  5
        rank    1  2  3  4
        above   0  1  1  1
        n_tied  1  3  3  3
    """
    rank_in_order = rank[order]
    # Where each tie starts in the order, a score that is alone being a tie of one row.
    starts = run_starts(listed.user[order], listed.score[order])
    n_rows = np.diff(starts, append=len(rank_in_order))  # [tie]
    highest_rank = rank_in_order[starts]  # [tie]
    above = np.zeros_like(rank)
    above[order] = np.repeat(highest_rank - 1, n_rows)
    n_tied = np.ones_like(rank)
    n_tied[order] = np.repeat(n_rows, n_rows)
    return RowTies(above, n_tied)


# ---- after lists are ranked


def with_catalogue(
    matches: Matches, listed: ListedRows, convention: Convention
) -> Matches:
    """Rank what was missed below each list, where all other items stand, sorted by id.

    Of the items a to e, let user 0 have e in the list, and user 1 d and b, in this order.
    With what is below it, the list of user 1 is d, b, a, c, e:

        item              e   a   b   c   d   e
        pair              4   5   6   7   8   9
        listed_pair       4       6       8
        listed before         1       2

    The rank of c there is 4: 2 for the list, 2 for the items before c by id, less 1 for
    the one of these that is in the list, b, and 1 for c itself.
    """
    n_items = len(listed.items)
    listed_pair = np.unique(listed.pair)  # by user, then by item
    n_listed = np.bincount(listed_pair // n_items, minlength=len(listed.users))
    last_rank = matches.last_rank + n_items - n_listed

    missed = missed_rows(listed)
    user, item = listed.truth_by_user.user[missed], listed.truth_item[missed]
    lowest_pair = user * n_items
    listed_before_user = np.searchsorted(listed_pair, lowest_pair)
    listed_before_item = np.searchsorted(listed_pair, lowest_pair + item)
    n_lower_listed = listed_before_item - listed_before_user
    # `item` is how many have a lower id.
    rank = matches.last_rank[user] + item - n_lower_listed + 1
    if convention.ties == "max_rank":
        # All that stands below a list is one tie, on its last rank.
        rank = last_rank[user]
    ties = matches.ties
    if ties is not None:
        # The rank is already the shared one: what is added is on it as if alone.
        ties = ties.followed_by(RowTies.alone(rank))
    return replace(
        matches,
        truth_row=np.concatenate([matches.truth_row, missed]),
        rank=np.concatenate([matches.rank, rank]),
        score=np.concatenate([matches.score, np.full(len(missed), -np.inf)]),
        last_rank=last_rank,
        ties=ties,
    )


# ---- before hits are found


def copies_of_each(truth_row: Ints, matches: Matches) -> Ints:
    """Return how often each of these truth rows was matched, once at least.

    A match counts even if `nonpositive_scores` does not let it be a hit.
    """
    n_matches = np.bincount(
        matches.truth_row, minlength=len(matches.truth_by_user.user)
    )
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


def shared_rank(matches: Matches, hit_match: Ints, ties: Ties) -> Ints:
    """Return the rank of each hit: where equal scores share a rank, the shared one.

    Under "expected" a hit keeps its own rank here: `expected_ties.py` spreads it.
    """
    match ties:
        case "first" | "last" | "item_asc" | "item_desc" | "worst" | "expected":
            return matches.rank[hit_match]
        case "max_rank":
            above, n_tied = matches.ties_of(hit_match)
            return above + n_tied
        case "floor_mean_rank":
            above, n_tied = matches.ties_of(hit_match)
            # They stand on ranks above + 1 to above + n_tied: the mean, rounded down.
            return (2 * above + 1 + n_tied) // 2
    assert_never(ties)
