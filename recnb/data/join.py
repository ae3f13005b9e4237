"""The join of lists with the truth: which items of a list are relevant, at which rank,
and what there was to find.

1. Numbers, by `number_ids` (`numbered.py`): each user gets a number. If the rows of each
   user stand together, users are numbered in that order, else in any order. Equal items
   get equal numbers. Nothing is moved: a row keeps its number in its frame.
2. Match and rank, by `match_and_rank`: `find_pairs` finds which rows of lists are judged,
   and which pairs are repeated; `rank_rows` puts each list in order and ranks its rows.
3. What there is to find: `_relevant_rows` of the truth, the users who are `_evaluated`,
   and the `_wanted_rows`, which are both; these are the *entries*.
4. Hits, by `find_hits`: the matches that are wanted, by the ids of users.

Step 2 sees the users of a block at a time, as many rows as the processor's cache holds,
on all cores. Where a library departs from these steps, its own step is in `quirks.py`,
which lists them.

    recs                      lists, by user       truth, by user, best first
    frame                     frame                frame
    row   user item score     row   user rank      row   user item relevance
    0     b    i    9         0     0    1         2     0    i    2
    1     a    j    8         3     0    2         1     1    k    3
    2     a    k    5         1     1    1         0     1    x    1
    3     b    x    1         2     1    2
                              (user 0 is b, 1 is a)

    wanted, by id             hits, by id
    entry position frame row  position rank entry
    0     0        1          0        2    0      a has k at rank 2
    1     0        0          1        1    2      b has i at rank 1
    2     1        2
    (position 0 is a, 1 is b)

What each array is indexed by is said in `numbered.py`. Where rows already stand in
order, a slice is used in place of an index array: hence `Ints | slice`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from recnb.conventions import Convention
from recnb.data import quirks
from recnb.data.encoding import starts_of
from recnb.data.numbered import (
    Evaluated,
    Ids,
    ItemNumbers,
    ListedRows,
    Matches,
    Pairs,
    Ranks,
    TruthRows,
    Wanted,
    offsets,
)
from recnb.data.parallel import BLOCK, in_turn
from recnb.data.sheet import in_floats, is_relevant
from recnb.metrics.hits import (
    Bools,
    Floats,
    Hits,
    Ints,
    count_within,
    in_order,
    order_from_highest,
    user_rank_key,
)

#: Factors that mix user and item into one key. They are odd, so no two users, and no two
#: items, get the same product; and of random bits, so sums of two products rarely
#: coincide.
_USER_FACTOR, _ITEM_FACTOR = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


class RepeatError(Exception):
    """Rows are repeated that the convention does not merge."""


class RepeatedRankError(RepeatError):
    """A list gives two rows the same rank."""


class RepeatedPairError(RepeatError):
    """Lists or truth repeat a pair of user and item."""


class HashError(Exception):
    """Items may have met in one hash: join again with exact numbers."""


class JoinResult(NamedTuple):
    """What is kept of two frames."""

    #: The users evaluated, sorted.
    users: pl.Series
    hits: Hits
    #: [entry] -> frame row of the truth.
    frame_row_of_entry: Ints
    #: [frame row of recommendations] -> rank; 0: the row left its list.
    rank: Ints
    #: Whether some user has a list and rows of the truth.
    in_both: bool
    #: Users of either frame who have no relevant item.
    n_without_relevant: int
    #: Whether some list leaves a rank empty.
    has_gaps: bool


def join(
    recs: pl.DataFrame, truth: pl.DataFrame, ids: Ids, convention: Convention
) -> JoinResult:
    """Join lists with the truth under a convention whose order is settled: by rank, score
    or row, not "auto".

    Raises a RepeatError; the caller knows the frames and says which rows are repeated.
    """
    quirks.refuse_contradictions(convention)

    # Match and rank.
    truth_rows = TruthRows.of(truth, ids)
    try:
        matches, rank_of_row = _match_blocks(recs, truth_rows, ids, convention)
    except HashError:
        return join(recs, truth, ids.with_exact_items(), convention)
    if convention.negative_relevance == "zero":
        # `rows_that_stay` has removed the unjudged items; from here on they count 0.
        truth_rows = quirks.unjudged_as_zero(truth_rows)

    # What there is to find.
    row_is_relevant = _relevant_rows(matches, truth_rows, convention)
    n_relevant = np.bincount(truth_rows.user[row_is_relevant], minlength=len(ids.users))
    evaluated = _evaluated(truth_rows, n_relevant, ids, convention)
    wanted = _wanted_rows(row_is_relevant, truth_rows, evaluated)
    if convention.duplicates == "rows":
        wanted = quirks.with_copies(wanted, matches)

    is_in_both = (ids.n_listed > 0) & (truth_rows.n_rows > 0)
    return JoinResult(
        users=ids.users[evaluated.users],
        hits=find_hits(matches, truth_rows, wanted, evaluated, ids, convention),
        frame_row_of_entry=truth_rows.frame_row[wanted.rows],
        rank=rank_of_row,
        in_both=bool(is_in_both.any()),
        n_without_relevant=int((n_relevant == 0).sum()),
        has_gaps=_has_gaps(rank_of_row, matches, ids, convention),
    )


def _has_gaps(
    rank_of_row: Ints, matches: Matches, ids: Ids, convention: Convention
) -> bool:
    """Return whether some list leaves a rank empty: it then gives a rank that is more
    than its number of rows.

    Only ranks that are data can leave one empty.
    """
    if not convention.keeps_ranks:
        return False
    if convention.candidates != "padded":
        return bool((matches.length != ids.n_listed).any())
    # Padding has made the lists longer: compare the given ranks alone.
    rank = rank_of_row
    if ids.rows_by_user is not None:
        rank = rank_of_row[ids.rows_by_user]
    n_listed = np.repeat(ids.n_listed, ids.n_listed)  # [recommended row]
    return bool((rank > n_listed).any())


# ---- blocks of users


def _match_blocks(
    recs: pl.DataFrame, truth: TruthRows, ids: Ids, convention: Convention
) -> tuple[Matches, Ints]:
    """Match and rank the rows of some users at a time; return the matches of all, and
    the rank of each row of the frame.
    """
    order_value = order_column(recs, convention)
    list_starts = offsets(ids.n_listed)
    if convention.keeps_ranks:
        # The ranks of the frame stay. This is the frame's own memory: read only.
        rank_of_row = recs["rank"].to_numpy()
    else:
        # Each block writes the rows of its users.
        rank_of_row = np.empty(recs.height, dtype=np.int64)

    def match_block(users: tuple[int, int]) -> Matches:
        first, end = users
        listed = slice(list_starts[first], list_starts[end])
        frame_row: Ints | slice = listed
        if ids.rows_by_user is not None:
            frame_row = ids.rows_by_user[listed]
        n_listed = ids.n_listed[first:end]
        lists = _lists_of(frame_row, n_listed, order_value, ids, convention)
        truth_of_block = truth.of_users(first, end)
        matches, rank = match_and_rank(lists, truth_of_block, ids, convention)
        if not convention.keeps_ranks:
            rank_of_row[frame_row] = rank[: lists.n_recommended]
        return matches._replace(
            user=matches.user + first,
            truth_row=matches.truth_row + truth.starts[first],
        )

    blocks = _blocks_of(ids.n_listed + truth.n_rows)
    if len(blocks) == 1:
        return match_block(blocks[0]), rank_of_row
    return Matches.concatenate([*in_turn(blocks, match_block)]), rank_of_row


def _lists_of(
    frame_row: Ints | slice,
    n_listed: Ints,
    order_value: Floats | Ints,
    ids: Ids,
    convention: Convention,
) -> ListedRows:
    """Return the lists of the users of a block, each in whatever order its rows are."""
    value = order_value[frame_row]
    given_rank = None
    if convention.keeps_ranks:
        given_rank = value.astype(np.int64, copy=False)
    # The highest score is first, the lowest rank or row.
    score = value if convention.order == "score" else -value
    user = np.repeat(np.arange(len(n_listed)), n_listed)
    return ListedRows(
        frame_row=frame_row,
        user=user,
        item=ids.recs_item[frame_row],
        score=score,
        given_rank=given_rank,
        n_users=len(n_listed),
        n_recommended=len(user),
    )


def _blocks_of(n_rows: Ints) -> list[tuple[int, int]]:
    """Cut users, who have these numbers of rows, into blocks of about as many rows
    each; return the first user of each block, and the user after its last.
    """
    ends = np.cumsum(n_rows)
    # A user whose rows cross the border between two blocks stays in the former.
    borders = np.arange(BLOCK, int(n_rows.sum()), BLOCK)
    cuts = np.searchsorted(ends, borders) + 1
    edges = np.unique(np.concatenate([[0], cuts, [len(ends)]])).tolist()
    return list(pairwise(edges)) or [(0, 0)]  # without users, one block without rows


def match_and_rank(
    lists: ListedRows, truth: TruthRows, ids: Ids, convention: Convention
) -> tuple[Matches, Ints]:
    """Return the matches of some users, and the rank of each of their listed rows."""
    if convention.order == "rank" and repeats_a_rank(lists):
        raise RepeatedRankError
    pairs = find_pairs(lists, truth)
    # Before repeats are refused: items that met in one hash would look repeated.
    if ids.are_hashes and not hashes_are_exact(lists, truth, pairs, ids):
        raise HashError
    refuses_repeats = convention.duplicates == "error"
    if pairs.truth_repeats or (pairs.lists_repeat and refuses_repeats):
        raise RepeatedPairError
    if convention.candidates == "padded":
        lists, pairs = quirks.padded(lists, truth, pairs)
    ranks = rank_rows(lists, truth, pairs, convention)
    has_rank = ranks.rank[pairs.judged_row] > 0  # 0: the row left its list
    matched_row = pairs.judged_row[has_rank]
    above, tied = ranks.ties_of(matched_row)
    matches = Matches(
        user=lists.user[matched_row],
        truth_row=pairs.judging_row[has_rank],
        rank=ranks.rank[matched_row],
        score=lists.score[matched_row],
        above=above,
        tied=tied,
        length=ranks.length,
    )
    return matches, ranks.rank


# ---- what is judged, and what is repeated


def find_pairs(lists: ListedRows, truth: TruthRows) -> Pairs:
    """Find the rows that share user and item with another row: judged rows of lists,
    repeated rows of lists, and whether the truth repeats a pair.

    The rows of a pair that occurs at least twice are a group. With 10 listed rows, row 12
    is row 2 of the truth:

        group   0  0      1  1      2  2  2      3  3
        row     5 12      3  7      4  9 14     11 13
                judged    a list    both         the truth
                          repeats                repeats
    """
    row, group = _groups(lists, truth)
    n_listed = len(lists.user)
    is_listed = row < n_listed
    same_as_next = group[1:] == group[:-1]
    # Listed rows come first in their group: if the next row is listed, so is this one,
    # and if this one is of the truth, so is the next.
    list_repeats = same_as_next & is_listed[1:]
    truth_repeats = same_as_next & ~is_listed[:-1]

    # The last row of a group judges the listed ones, if it is of the truth.
    is_last = np.ones(len(row), dtype=bool)
    is_last[:-1] = ~same_as_next
    listed_row = row[is_listed]
    last_row = row[is_last][group[is_listed]]  # of the group of each listed row
    is_judged = last_row >= n_listed
    judged_row = listed_row[is_judged]
    judging_row = last_row[is_judged] - n_listed
    by_row = in_order(judged_row)

    # `list_repeats` marks the former of two rows: `_in_run` marks both.
    repeats = np.flatnonzero(_in_run(list_repeats))
    repeats = repeats[in_order(row[repeats])]
    return Pairs(
        judged_row=judged_row[by_row],
        judging_row=judging_row[by_row],
        repeated_row=row[repeats],
        repeated_pair=group[repeats],
        truth_repeats=bool(truth_repeats.any()),
    )


def _groups(lists: ListedRows, truth: TruthRows) -> tuple[Ints, Ints]:
    """Return all rows whose user and item occur in another row as well, those of each
    pair together; and for each the number of its pair, its group, from 0 up.

    Rows of the truth are counted on from those of lists, and come after them in their
    group. Each row has a sortable key, made of its pair and, in the low bits, its row.
    """
    keys, row_bits = _keys(lists, truth)
    keys.sort()
    # Keys of equal pairs differ in the low bits alone, those of the row.
    equals_next = (keys[1:] ^ keys[:-1]) <= row_bits
    place, group = _runs(equals_next)
    row = (keys[place] & row_bits).view(np.int64)
    item = np.concatenate([lists.item, truth.item])
    if _pairs_share_a_key(item[row], group):
        return _groups_by_sorting(lists, truth)
    return row, group


def _pairs_share_a_key(item: ItemNumbers, group: Ints) -> bool:
    """Return whether rows of one group, which have equal keys, have different items.

    Equal items in one group mean equal users, so items alone are compared. Above the n
    bits of the row, two keys of one item differ by (user - other) * _USER_FACTOR, modulo
    2**(64 - n). The factor is odd, so this is 0 only if the users are equal: there are
    far fewer users than 2**(64 - n).
    """
    is_other_item = item[1:] != item[:-1]
    return bool((is_other_item & (group[1:] == group[:-1])).any())


def _groups_by_sorting(lists: ListedRows, truth: TruthRows) -> tuple[Ints, Ints]:
    """Return the same as `_groups`, by sorting the pairs themselves."""
    user = np.concatenate([lists.user, truth.user])
    item = np.concatenate([lists.item, truth.item])
    row = np.lexsort((item, user))
    user, item = user[row], item[row]
    equals_next = (user[1:] == user[:-1]) & (item[1:] == item[:-1])
    place, group = _runs(equals_next)
    return row[place], group


def _in_run(equals_next: Bools) -> Bools:
    """Return which values equal a neighbour, given which equal the next."""
    in_run = np.zeros(len(equals_next) + 1, dtype=bool)
    in_run[:-1] = equals_next
    in_run[1:] |= equals_next
    return in_run


def _runs(equals_next: Bools) -> tuple[Ints, Ints]:
    """Return the places of the values that equal a neighbour, given which equal the
    next; and for each the number of its run of equal values, from 0 up.

    Of the values a b b c d d d these are places 1 2 4 5 6, in runs 0 0 1 1 1.
    """
    place = np.flatnonzero(_in_run(equals_next))
    starts_run = np.ones(len(place), dtype=bool)
    starts_run[1:] = ~equals_next[place[1:] - 1]  # the value before it differs
    return place, np.cumsum(starts_run) - 1


def _keys(
    lists: ListedRows, truth: TruthRows
) -> tuple[npt.NDArray[np.uint64], np.uint64]:
    """Return a key for each row, with the row in the low bits and as many bits of its
    pair as there is room for above them; and the low bits as a mask.
    """
    n_listed = len(lists.user)
    n_rows = n_listed + len(truth.user)
    n_bits = n_rows.bit_length()
    # key = ((item * _ITEM_FACTOR + user * _USER_FACTOR) << n_bits) + row, modulo 2**64;
    # the shift is in the factors.
    item_factor = np.uint64((_ITEM_FACTOR << n_bits) % 2**64)
    user_factor = np.uint64((_USER_FACTOR << n_bits) % 2**64)
    keys = np.empty(n_rows, dtype=np.uint64)
    for key, rows in ((keys[:n_listed], lists), (keys[n_listed:], truth)):
        np.multiply(rows.item, item_factor, out=key)  # into `keys`, without a copy
        key += rows.user.view(np.uint64) * user_factor
    keys += np.arange(n_rows, dtype=np.uint64)
    return keys, np.uint64(2**n_bits - 1)


def hashes_are_exact(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, ids: Ids
) -> bool:
    """Return whether rows that were matched by the hashes of items have the same item."""
    if pairs.truth_repeats:
        return False  # perhaps two items with one hash
    recs_items, truth_items = ids.items
    frame_row = lists.frame_row
    if isinstance(frame_row, slice):
        frame_row = np.arange(frame_row.start, frame_row.stop)
    judged_item = recs_items.gather(frame_row[pairs.judged_row])
    judging_item = truth_items.gather(truth.frame_row[pairs.judging_row])
    if not (judged_item == judging_item).all():
        return False
    # Each repeated row against the first row of its pair.
    _numbers, first_of_pair, pair = np.unique(
        pairs.repeated_pair, return_index=True, return_inverse=True
    )
    repeated_item = recs_items.gather(frame_row[pairs.repeated_row])
    item_of_first = repeated_item.gather(first_of_pair[pair])
    return bool((repeated_item == item_of_first).all())


# ---- ranks


def rank_rows(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, convention: Convention
) -> Ranks:
    """Rank the rows of each list, the highest score first."""
    is_padded = len(lists.user) > lists.n_recommended
    # Ranks are given only where no row leaves its list (`Convention.keeps_ranks`), and no
    # list gives one twice: they stay, and `_ranks_along` ranks what padding has added.
    if lists.given_rank is not None and not is_padded:
        rank = lists.given_rank
        return Ranks(rank, last_ranks(lists.user, rank, lists.n_users))
    is_ordered = is_in_order(lists, convention.ties)
    if is_ordered and _rank_is_place(lists, pairs, convention):
        length = np.bincount(lists.user, minlength=lists.n_users)
        return Ranks(count_within(lists.user), length)  # the usual case

    # Rows from the top down, user by user.
    if is_ordered:
        order = np.arange(len(lists.user))
    else:
        tie_order = quirks.tie_order(lists, truth, pairs, convention.ties)
        order = order_from_highest(lists.user, lists.score, tie_order)
    if quirks.rows_leave(pairs, convention):
        order = quirks.rows_that_stay(order, lists, truth, pairs, convention)
    ranks = _ranks_along(order, lists)
    if convention.ties in quirks.SHARED:
        return quirks.with_ties(ranks, order, lists)
    return ranks


def _rank_is_place(lists: ListedRows, pairs: Pairs, convention: Convention) -> bool:
    """Return whether a row's place in its list, from the top down, is its rank."""
    has_quirk = quirks.rows_leave(pairs, convention) or convention.ties in quirks.SHARED
    return lists.given_rank is None and not has_quirk


def _ranks_along(order: Ints, lists: ListedRows) -> Ranks:
    """Rank rows in an order from the top down, user by user; rows without a place in it
    get rank 0.
    """
    user = lists.user[order]
    if lists.given_rank is None:
        rank_in_order = count_within(user)
    else:
        rank_in_order = quirks.given_ranks_and_below(order, lists)
    rank = np.zeros(len(lists.user), dtype=np.int64)
    rank[order] = rank_in_order
    return Ranks(rank, last_ranks(user, rank_in_order, lists.n_users))


def is_in_order(lists: ListedRows, ties: str) -> bool:
    """Return whether the rows of each list stand from the top down."""
    user, score = lists.user, lists.score
    # ties="first" leaves equal scores as they stand; other rules may move them.
    may_follow = np.less_equal if ties == "first" else np.less
    follows = may_follow(score[1:], score[:-1])
    follows &= user[1:] == user[:-1]
    follows |= user[1:] > user[:-1]
    return bool(follows.all())


def last_ranks(user: Ints, rank: Ints, n_users: int) -> Ints:
    """Return the last rank of each user, whose rows stand together; 0 for a user
    without rows.
    """
    length = np.zeros(n_users, dtype=np.int64)
    starts = starts_of(user)
    if len(starts):
        length[user[starts]] = np.maximum.reduceat(rank, starts)
    return length


def repeats_a_rank(lists: ListedRows) -> bool:
    """Return whether a list gives two rows the same rank; only under order="rank", where
    a score is minus the rank.
    """
    user, score = lists.user, lists.score
    if ((score[1:] < score[:-1]) | (user[1:] != user[:-1])).all():
        return False  # the usual case: ranks rise from row to row
    rank = (-score).astype(np.int64, copy=False)
    key = np.sort(user_rank_key(user, rank))
    return bool((key[1:] == key[:-1]).any())


def order_column(recs: pl.DataFrame, convention: Convention) -> Floats | Ints:
    """Return what orders lists: rank, number of the row, or score in the convention's
    precision.
    """
    if convention.order == "rank":
        return recs["rank"].to_numpy()
    if convention.order == "row":
        return np.arange(recs.height)
    if convention.score_dtype == "float32":
        return quirks.single_precision(recs["score"])
    return in_floats(recs["score"])


# ---- what there is to find, and hits


def _relevant_rows(matches: Matches, truth: TruthRows, convention: Convention) -> Bools:
    """Return which truth rows are relevant."""
    row_is_relevant = is_relevant(truth.relevance, convention)
    if convention.judged == "list" and convention.candidates != "catalogue":
        # What was not recommended is not judged, hence not relevant; with the whole
        # catalogue below each list, every item is recommended.
        is_matched = quirks.marked(matches.truth_row, len(truth.user))
        return row_is_relevant & is_matched
    return row_is_relevant


def _evaluated(
    truth: TruthRows, n_relevant: Ints, ids: Ids, convention: Convention
) -> Evaluated:
    """Return the users who count in a mean."""
    with_list, with_truth = ids.n_listed > 0, truth.n_rows > 0
    is_evaluated = {
        "truth": with_truth,
        "recs": with_list,
        "both": with_list & with_truth,
        "union": with_list | with_truth,
    }[convention.averaged_users]
    if convention.no_relevant == "skip":
        is_evaluated = is_evaluated & (n_relevant > 0)
    users = _by_id(is_evaluated, ids)
    position = np.full(len(ids.users), -1)
    position[users] = np.arange(np.count_nonzero(is_evaluated))
    return Evaluated(users, position)


def _by_id(is_evaluated: Bools, ids: Ids) -> Ints | slice:
    """Return the users evaluated, in the order of their ids; a slice of all if the
    users are sorted and all are evaluated.
    """
    if ids.by_id is not None:
        return np.asarray(ids.by_id[is_evaluated[ids.by_id]])
    if is_evaluated.all():
        return slice(None)
    return np.flatnonzero(is_evaluated)


def _wanted_rows(
    row_is_relevant: Bools, truth: TruthRows, evaluated: Evaluated
) -> Wanted:
    """Return the relevant rows of the truth of the users evaluated, by position."""
    position = evaluated.position[truth.user]
    users_in_order = isinstance(evaluated.users, slice)
    if users_in_order and row_is_relevant.all():
        truth_row = np.arange(len(position))
        return Wanted(row_is_relevant, position, rows=slice(None), entry=truth_row)
    rows = truth.rows_of(evaluated.users)
    rows = rows[row_is_relevant[rows]]
    is_wanted = np.zeros(len(position), dtype=bool)
    is_wanted[rows] = True
    entry = np.zeros(len(position), dtype=np.int64)
    entry[rows] = np.arange(len(rows))
    return Wanted(is_wanted, position, rows, entry)


def find_hits(
    matches: Matches,
    truth: TruthRows,
    wanted: Wanted,
    evaluated: Evaluated,
    ids: Ids,
    convention: Convention,
) -> Hits:
    """Return the matches that are wanted as hits, and what there was to find."""
    hit_match = _hit_matches(matches, wanted, evaluated, convention)
    truth_row = matches.truth_row[hit_match]
    hits = Hits(
        user=evaluated.position[matches.user[hit_match]],
        rank=quirks.shared_rank(matches, hit_match, convention.ties),
        list_length=matches.length[evaluated.users],
        relevance=truth.relevance[truth_row],
        entry=wanted.entry[truth_row],
        truth_user=wanted.position[wanted.rows],
        truth_relevance=truth.relevance[wanted.rows],
        max_relevance=float(truth.relevance.max(initial=0.0)),
    )
    if convention.candidates == "catalogue":
        below = quirks.below_lists(wanted, matches, truth, ids, convention)
        hits = quirks.with_catalogue(hits, below, wanted, evaluated, truth)
    if convention.ties == "expected":
        # No catalogue was added (`refuse_contradictions`): hit by hit, these are of `hits`.
        above, tied = matches.above[hit_match], matches.tied[hit_match]
        hits = quirks.average_over_ties(hits, above, tied)
    return hits


def _hit_matches(
    matches: Matches, wanted: Wanted, evaluated: Evaluated, convention: Convention
) -> Ints:
    """Return the matches that are hits, by user and rank.

    Ranks that equal scores share come later (`quirks.shared_rank`) and keep this order.
    """
    is_hit = wanted.is_wanted[matches.truth_row]
    if quirks.only_positive_scores_hit(convention):
        is_hit &= matches.score > 0
    hit_match = np.flatnonzero(is_hit)
    position = evaluated.position[matches.user[hit_match]]
    key = user_rank_key(position, matches.rank[hit_match])
    hit_match = hit_match[_stable_order(key)]
    if convention.duplicates == "hit_once":
        return quirks.first_of_each(hit_match, matches)
    return hit_match


def _stable_order(key: Ints) -> Ints | slice:
    """Return the stable order that sorts a key; if it is sorted already, a slice that
    takes everything as it is.
    """
    if (key[1:] >= key[:-1]).all():
        return slice(None)
    return in_order(key)
