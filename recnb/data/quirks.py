"""What libraries do otherwise than the textbook's join: each is a step before, within or
after one of its steps.

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
    """Return whether items are put in order by their ids: then an item's number has to
    be its position among all items, sorted.
    """
    if convention.candidates == "catalogue":
        return True
    if convention.ties not in BY_ITEM:
        return False
    # Scores may be equal. Ranks and rows never are, but rows that padding adds are.
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


def marked(rows: Ints, n: int) -> Bools:
    """Return for each of n rows whether it is among these."""
    is_among = np.zeros(n, dtype=bool)
    is_among[rows] = True
    return is_among


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

    They are added at the end, with a score that no row is below. They are no
    recommended rows: `frame_row`, `given_rank` and `n_recommended` stay.
    """
    is_recommended = marked(pairs.judging_row, len(truth.user))
    missed = np.flatnonzero(~is_recommended)
    missed = missed[np.argsort(truth.frame_row[missed])]
    added_row = len(lists.user) + np.arange(len(missed))
    lowest_score = np.full(len(missed), -np.inf)
    longer_lists = replace(
        lists,
        user=np.concatenate([lists.user, truth.user[missed]]),
        item=np.concatenate([lists.item, truth.item[missed]]),
        score=np.concatenate([lists.score, lowest_score]),
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
    """Return the key that orders equal scores, lowest first; None for the order of
    rows.
    """
    if ties == "last":
        return np.arange(len(lists.user))[::-1]
    # By item, numbers are positions among all items, sorted: see `needs_positions`.
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
    merges_repeats = convention.duplicates == "dedupe" and pairs.lists_repeat
    return convention.judged_only or merges_repeats


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
    if convention.duplicates == "dedupe":
        is_highest = _is_highest_of_pair(order, pairs)
        order = order[is_highest[order]]
    if not convention.judged_only:
        return order
    judged_row = pairs.judged_row
    if convention.negative_relevance == "zero":
        # A relevance below 0 marks an item that was pooled and not judged.
        judged_row = judged_row[truth.relevance[pairs.judging_row] >= 0]
    is_judged = marked(judged_row, len(lists.user))
    return np.asarray(order[is_judged[order]])


def _is_highest_of_pair(order: Ints, pairs: Pairs) -> Bools:
    """Return for each row whether no other row of its list with its item is higher;
    `order` has all rows.
    """
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    # Repeated rows by pair, the highest of each first.
    by_pair = np.lexsort((place[pairs.repeated_row], pairs.repeated_pair))
    repeated_row = pairs.repeated_row[by_pair]
    starts_of_pairs = starts_of(pairs.repeated_pair[by_pair])
    is_highest = np.ones(len(order), dtype=bool)
    is_highest[repeated_row] = False
    is_highest[repeated_row[starts_of_pairs]] = True
    return is_highest


def given_ranks_and_below(order: Ints, lists: ListedRows) -> Ints:
    """Return the ranks of rows in an order from the top down, user by user: given ranks,
    which may have gaps, and for rows that padding added those after the last given one.
    """
    assert lists.given_rank is not None
    user = lists.user[order]
    is_recommended = order < lists.n_recommended
    user_of_given = user[is_recommended]
    given_rank = lists.given_rank[order[is_recommended]]
    last_given = np.zeros(lists.n_users, dtype=np.int64)
    np.maximum.at(last_given, user_of_given, given_rank)
    n_given = np.bincount(user_of_given, minlength=lists.n_users)
    # Of a user's rows, the recommended ones come first, so the others are counted from 1.
    nth_added = count_within(user) - n_given[user]
    rank = last_given[user] + nth_added
    rank[is_recommended] = given_rank  # of which `nth_added` says nothing
    return np.asarray(rank)


def with_ties(ranks: Ranks, order: Ints, lists: ListedRows) -> Ranks:
    """Add to the ranks, for each row, how many ranks are above those of its score, and
    how many rows of the list have its score.
    """
    starts = starts_of(lists.user[order], lists.score[order])  # of equal scores
    n_tied = np.diff(starts, append=len(order))
    highest_rank = ranks.rank[order[starts]]
    above = np.zeros_like(ranks.rank)
    above[order] = np.repeat(highest_rank - 1, n_tied)
    tied = np.ones_like(ranks.rank)
    tied[order] = np.repeat(n_tied, n_tied)
    return replace(ranks, above=above, tied=tied)


# ---- before hits are found


def unjudged_as_zero(truth: TruthRows) -> TruthRows:
    """Return the truth with 0 for a relevance below 0, which marks an item that was
    pooled and not judged.

    Only under `judged_only` does the truth still have any. `_with_negative_grades`
    (`in_memory.py`) then keeps them, as `rows_that_stay` removes these items from lists
    and leaves judged 0s there. Otherwise `Sheet.graded` has made them 0.
    """
    return replace(truth, relevance=truth.relevance.clip(min=0.0))


def with_copies(wanted: Wanted, matches: Matches) -> Wanted:
    """Repeat each wanted row of the truth as often as it was recommended, once at
    least.
    """
    n_truth = len(wanted.is_wanted)
    rows = np.arange(n_truth)[wanted.rows]  # a slice as numbers
    n_recommended = np.bincount(matches.truth_row, minlength=n_truth)
    times = np.maximum(n_recommended[rows], 1)
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
    """Return the ranks of hits; those that equal scores share, if they share one.

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

    #: Missed truth rows, in the order of the frame.
    truth_row: Ints
    #: [missed truth row] -> rank.
    rank: Ints
    #: [user] -> last rank, the catalogue included.
    length: Ints


def below_lists(
    wanted: Wanted, matches: Matches, truth: TruthRows, ids: Ids, convention: Convention
) -> Below:
    """Rank what was missed below each list, the whole catalogue sorted by id:

    rank = length of the list + items of lower id that the list does not hold + 1.
    """
    missed = _missed_rows(wanted, matches, truth, convention)
    listed_pairs = _listed_pairs(ids)
    n_distinct = np.bincount(listed_pairs // ids.n_items, minlength=len(ids.users))
    length = matches.length + ids.n_items - n_distinct
    user = truth.user[missed]
    if convention.ties == "max_rank":
        # All of the catalogue below a list is one tie, on its last rank.
        return Below(missed, length[user], length)

    # An item's number is its position among all items, so as many items are lower.
    n_lower = truth.item[missed].view(np.int64)
    first_pair = user * ids.n_items  # of the user with the lowest item
    pair = first_pair + n_lower
    start_of_user = np.searchsorted(listed_pairs, first_pair)
    n_lower_listed = np.searchsorted(listed_pairs, pair) - start_of_user
    rank = matches.length[user] + n_lower - n_lower_listed + 1
    return Below(missed, rank, length)


def _missed_rows(
    wanted: Wanted, matches: Matches, truth: TruthRows, convention: Convention
) -> Ints:
    """Return the wanted truth rows that may become hits below the lists, in the order
    of the frame.
    """
    if only_positive_scores_hit(convention):
        return np.zeros(0, dtype=np.int64)  # none of the catalogue has a score above 0
    is_listed = marked(matches.truth_row, len(truth.user))
    missed = np.flatnonzero(wanted.is_wanted & ~is_listed)
    return missed[np.argsort(truth.frame_row[missed])]


def _listed_pairs(ids: Ids) -> Ints:
    """Return user * n_items + item of each pair in the lists, once and sorted."""
    item = ids.recs_item.view(np.int64)
    if ids.rows_by_user is not None:
        item = item[ids.rows_by_user]
    user = np.repeat(np.arange(len(ids.users)), ids.n_listed)
    return np.asarray(np.unique(user * ids.n_items + item))


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
        list_length=below.length[evaluated.users],
    )


def average_over_ties(hits: Hits, above: Ints, tied: Ints) -> Hits:
    """Spread hits over all ranks that their ties could put them on, each with its
    chance: the mean over orders in closed form.

    In a run of g equal scores below a rows, m of them hits, a hit stands at each rank
    with chance 1/g; given that it stands j-th in the run, (j - 1)(m - 1)/(g - 1) other
    hits of the run are expected above it; and the first hit of the run stands j-th with
    chance C(g - j, m - 1)/C(g, m).
    """
    # Hits stand by user and rank: those of one run are neighbours.
    starts = starts_of(hits.user, above)
    hits_in_run = np.diff(starts, append=len(above))  # [run] -> m
    run = np.repeat(np.arange(len(starts)), hits_in_run)  # [hit] -> run
    # [hit] -> hits in higher runs: its number in its list, less its number in its run.
    hits_before_run = count_within(hits.user) - count_within(run)

    # Each hit is repeated for each place in its run, the j-th of g. With g = 3, then 2:
    #     hit  0 0 0  1 1
    #     j    1 2 3  1 2
    hit = np.repeat(np.arange(len(run)), tied)
    j = count_within(hit)
    g = tied[hit]
    m = hits_in_run[run[hit]]
    before = hits_before_run[hit]
    # Where g is 1, j is 1 as well: there are no others.
    others = (j - 1.0) * (m - 1) / np.maximum(g - 1, 1)
    nth = 1.0 + before + others
    # The user's first hit is in the user's first run with hits, and each of the m hits
    # there is the first with the same chance.
    first = np.where(before == 0, _first_chance(g, m, j) / m, 0.0)
    rank = above[hit] + j

    order = order_by_user_and_rank(hits.user[hit], rank)
    ordered_hit = hit[order]
    return replace(
        hits,
        user=hits.user[ordered_hit],
        rank=rank[order],
        relevance=hits.relevance[ordered_hit],
        entry=hits.entry[ordered_hit],
        tied=TieSpread(
            weight=1.0 / g[order],
            nth=nth[order],
            first=first[order],
            top=(j == 1)[order],  # one row of each hit, for what counts hits once
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
