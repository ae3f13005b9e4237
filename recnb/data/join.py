"""The join of lists with the truth.

It says which items of a list are relevant, at which rank, and what there was to find.

Before: `number_ids` (`numbered.py`), which `Sheets._join_ids` calls, gives each user a
number. If the rows of each user stand together, users are numbered in that order, else in
any order. Equal items get equal numbers. Nothing is moved: a row keeps its number in its
frame. Then `join` does three steps:

1. Match and rank, by `match_and_rank`: `find_pairs` finds which rows of lists are judged,
   and which rows repeat a pair; `rank_rows` puts each list in order and ranks its rows.
2. What there is to find: the `_wanted_rows`, which are the relevant truth rows
   (`_relevant_rows`) of the users evaluated (`_evaluated`). Numbered by the ids of users,
   they are the *entries*.
3. Hits, by `find_hits`: the matches that are wanted, by the ids of users.

Step 1 is done for a `Block` of users at a time, of as many rows as the processor's cache
holds, on all cores. Where a library departs from these steps, its own step is in
`quirks.py`, which lists them.

    recs                      lists, by user       truth, by user, best first
    frame                     frame                frame
    row   user item score     row   user rank      row   user item relevance
    0     b    i    9         0     0    1         2     0    i    2
    1     a    j    8         3     0    2         1     1    k    3
    2     a    k    5         1     1    1         0     1    x    1
    3     b    x    1         2     1    2
                              (user 0 is b, 1 is a)

    wanted, by id             hits, by id
    entry position truth row  position rank entry
    0     0        1          0        2    0      a has k at rank 2
    1     0        2          1        1    2      b has i at rank 1
    2     1        0
    (position 0 is a, 1 is b; truth row 0 is the first of the truth above)

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
from recnb.data.encoding import rows_by_key, starts_of
from recnb.data.numbered import (
    Block,
    Evaluated,
    Ids,
    ListedRows,
    Matches,
    Pairs,
    Ranks,
    TruthRows,
    Wanted,
    marked,
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
    """Rows are repeated: they are refused, or the caller merges them and joins again."""


class RepeatedRankError(RepeatError):
    """A list gives two rows the same rank."""


class RepeatedPairError(RepeatError):
    """Lists or truth repeat a pair of user and item."""


class HashError(Exception):
    """Different items may have one hash: join again with exact numbers."""


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
    """Join lists with the truth under a convention whose order is settled.

    It is "rank", "score" or "row", not "auto". Raises a RepeatError; the caller knows the
    frames and says which rows are repeated.
    """
    quirks.refuse_contradictions(convention)

    # Match and rank.
    truth_rows = TruthRows.of(truth, ids)
    try:
        matches, rank_of_row = _match_blocks(recs, truth_rows, ids, convention)
    except HashError:
        return join(recs, truth, ids.with_exact_items(), convention)
    if convention.judged_only and convention.negative_relevance == "zero":
        # Grades below 0 were kept until here, to tell items that were not judged from
        # items judged 0: under these two decisions alone (`_with_negative_grades`).
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
        # Of all users, evaluated or not.
        n_without_relevant=int((n_relevant == 0).sum()),
        has_gaps=_has_gaps(rank_of_row, matches, ids, convention),
    )


def _has_gaps(
    rank_of_row: Ints, matches: Matches, ids: Ids, convention: Convention
) -> bool:
    """Return whether some list leaves a rank empty.

    Its last rank is then more than its number of rows.
    """
    if not convention.keeps_ranks:
        return False  # ranks were counted
    if convention.candidates != "padded":
        return bool((matches.last_rank != ids.n_listed).any())
    # `last_rank` is that of a row that padding added. What is asked is whether the ranks
    # of the recommended rows have gaps: if so, one is more than their number.
    rank = rank_of_row[ids.frame_rows(slice(None))]  # [recommended row]
    rows_in_list = np.repeat(ids.n_listed, ids.n_listed)  # [recommended row]
    return bool((rank > rows_in_list).any())


# ---- blocks of users


def _match_blocks(
    recs: pl.DataFrame, truth: TruthRows, ids: Ids, convention: Convention
) -> tuple[Matches, Ints]:
    """Match and rank the rows of each block of users, on all cores.

    Returns the matches of all users, and the rank of each frame row.
    """
    order_value = order_column(recs, convention)
    if convention.keeps_ranks:
        # The ranks are those of the frame, so nothing is written into this array, whose
        # memory is that of `recs`.
        rank_of_row = recs["rank"].to_numpy()
    else:
        rank_of_row = np.empty(recs.height, dtype=np.int64)

    def match_block(block: Block) -> Matches:
        lists = _lists_of(block, order_value, ids, convention)
        matches, rank = match_and_rank(lists, truth.of_block(block), ids, convention)
        if not convention.keeps_ranks:
            # Each frame row is in one block: no two threads write to one place.
            rank_of_row[lists.frame_row] = rank
        return matches.counted_over_all(block)

    blocks = _blocks_of(ids.n_listed, truth)
    return Matches.concatenate([*in_turn(blocks, match_block)]), rank_of_row


def _blocks_of(n_listed: Ints, truth: TruthRows) -> list[Block]:
    """Cut the users into blocks of about BLOCK rows, of lists and truth together."""
    n_users = len(n_listed)
    # With BLOCK 4, and users of 3, 3 and 1 rows:
    #
    #     row           0 1 2 3 4 5 6
    #     user          0 0 0 1 1 1 2
    #     border                |         row 4, of user 1
    #     block         0 0 0 0 0 0 1
    #
    # A block ends with the user at its border; the next user starts the next block.
    row_ends = np.cumsum(n_listed + truth.n_rows)
    borders = np.arange(BLOCK, int(row_ends.max(initial=0)), BLOCK)
    users_at_border = np.searchsorted(row_ends, borders)
    next_users = users_at_border + 1
    next_users = next_users[next_users < n_users]  # nobody follows the last user
    # There is a first block even without users. A user with many rows may have several
    # borders, but is followed by one block.
    first_users = np.unique(np.append(0, next_users))
    edges = np.append(first_users, n_users).tolist()

    list_starts = offsets(n_listed)
    return [
        Block(
            users=slice(first, end),
            recommended_rows=slice(list_starts[first], list_starts[end]),
            truth_rows=slice(truth.starts[first], truth.starts[end]),
        )
        for first, end in pairwise(edges)
    ]


def _lists_of(
    block: Block, order_value: Floats | Ints, ids: Ids, convention: Convention
) -> ListedRows:
    """Return the lists of the users of a block, each in whatever order its rows are."""
    frame_row = ids.frame_rows(block.recommended_rows)
    block_value = order_value[frame_row]
    given_rank = None
    if convention.keeps_ranks:
        given_rank = block_value.astype(np.int64, copy=False)
    # Negated, the lowest rank or row is the highest score, which is first.
    score = block_value if convention.order == "score" else -block_value
    return ListedRows(
        frame_row=frame_row,
        user=np.repeat(np.arange(block.n_users), ids.n_listed[block.users]),
        item=ids.recs_item[frame_row],
        score=score,
        given_rank=given_rank,
        n_users=block.n_users,
        n_recommended=len(block_value),
    )


def match_and_rank(
    lists: ListedRows, truth: TruthRows, ids: Ids, convention: Convention
) -> tuple[Matches, Ints]:
    """Return the matches of some users, and the rank of each of their recommended rows."""
    if convention.order == "rank" and repeats_a_rank(lists):
        raise RepeatedRankError
    pairs = find_pairs(lists, truth)
    # Hashes are checked first: two items with one hash look like a repeat.
    if ids.are_hashes and not hashes_are_exact(lists, truth, pairs, ids):
        raise HashError
    # Repeats of the truth are refused whatever the convention. Where it merges them,
    # `Sheets._join_ids` catches this error, does so, and joins again.
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
        last_rank=ranks.last_rank,
    )
    return matches, ranks.rank[: lists.n_recommended]  # what was added is in no frame


# ---- what is judged, and what is repeated


class SharedPairs(NamedTuple):
    """The rows whose pair of user and item occurs in another row as well.

    These pairs are numbered from 0. Where rows were found by their keys, those of one
    number have one key; `have_one_item_each` checks that they are of one pair.
    """

    #: Listed rows, rising.
    listed_row: Ints
    #: The pair of each of these.
    listed_pair: Ints
    #: Truth rows, in no order.
    truth_row: Ints
    #: The pair of each of these.
    truth_pair: Ints
    n_pairs: int

    @classmethod
    def of_rows(cls, row: Ints, pair: Ints, n_listed_rows: int) -> SharedPairs:
        """Take what `_rows_by_mixed_pair` or `_rows_by_pair` returns apart by frame.

        There, rows of the truth are counted on from `n_listed_rows`.
        """
        is_listed = row < n_listed_rows
        listed_row, listed_pair = row[is_listed], pair[is_listed]
        order = in_order(listed_row)
        return cls(
            listed_row=listed_row[order],
            listed_pair=listed_pair[order],
            truth_row=row[~is_listed] - n_listed_rows,
            truth_pair=pair[~is_listed],
            n_pairs=int(pair.max(initial=-1)) + 1,
        )

    def have_one_item_each(self, lists: ListedRows, truth: TruthRows) -> bool:
        """Return whether all rows of one number are of one pair of user and item.

        Different pairs may have equal keys, but not two pairs with the same item: so it is
        enough to compare items.
        """
        # Why users need not be compared: let two pairs with the same item have equal
        # keys. `rows_by_key` compares the lowest b bits of keys, where b is 64 minus the
        # bits of a row number. The keys of the two pairs (`_mix_pairs`) differ by
        # (user - other user) * _USER_FACTOR, which is then a multiple of 2**b. As the
        # factor is odd, user - other user is a multiple of 2**b too. There are far fewer
        # than 2**b users, so the difference is 0: the two pairs are the same.
        listed_item = lists.item[self.listed_row]
        truth_item = truth.item[self.truth_row]
        # Any row of a pair gives its item: all others must have the same.
        item_of_pair = np.zeros(self.n_pairs, dtype=np.uint64)
        item_of_pair[self.listed_pair] = listed_item
        item_of_pair[self.truth_pair] = truth_item
        lists_agree = (item_of_pair[self.listed_pair] == listed_item).all()
        truth_agrees = (item_of_pair[self.truth_pair] == truth_item).all()
        return bool(lists_agree and truth_agrees)


def find_pairs(lists: ListedRows, truth: TruthRows) -> Pairs:
    """Find the judged rows of lists, their repeated rows, and whether the truth repeats.

    Only pairs of user and item that occur in two rows at least matter, such as these:

        listed row    3  4  5  7  9       pair              0  1  2  3
        its pair      1  2  0  1  2       times_listed      1  2  2  0
                                          times_in_truth    1  0  1  2
        truth row     1  2  3  4          judging_row       2  0  4  3
        its pair      3  0  3  2

    Listed rows 4, 5 and 9 are judged, by truth rows 4, 2 and 4. Listed rows 3, 4, 7 and 9
    are repeated. The truth repeats pair 3, and lacks pair 1, whose 0 nothing reads.
    """
    shared = _shared_pairs(lists, truth)
    times_listed = np.bincount(shared.listed_pair, minlength=shared.n_pairs)
    times_in_truth = np.bincount(shared.truth_pair, minlength=shared.n_pairs)
    # Of a pair that the truth repeats, which is refused later, any row will do.
    judging_row = np.zeros(shared.n_pairs, dtype=np.int64)
    judging_row[shared.truth_pair] = shared.truth_row

    is_judged = times_in_truth[shared.listed_pair] > 0
    is_repeated = times_listed[shared.listed_pair] > 1
    return Pairs(
        judged_row=shared.listed_row[is_judged],
        judging_row=judging_row[shared.listed_pair[is_judged]],
        repeated_row=shared.listed_row[is_repeated],
        repeated_pair=shared.listed_pair[is_repeated],
        truth_repeats=bool((times_in_truth > 1).any()),
    )


def _shared_pairs(lists: ListedRows, truth: TruthRows) -> SharedPairs:
    """Find the rows whose pair of user and item occurs in another row as well."""
    n_listed_rows = len(lists.user)
    row, pair = _rows_by_mixed_pair(lists, truth)
    shared = SharedPairs.of_rows(row, pair, n_listed_rows)
    if shared.have_one_item_each(lists, truth):
        return shared
    row, pair = _rows_by_pair(lists, truth)
    return SharedPairs.of_rows(row, pair, n_listed_rows)


def _rows_by_mixed_pair(lists: ListedRows, truth: TruthRows) -> tuple[Ints, Ints]:
    """Return the rows that share their pair with another, by pair; and their pairs.

    Rows of the truth are counted on from those of lists. A pair is told by its key, into
    which user and item are mixed; now and then those of two pairs are equal.
    """
    n_listed_rows = len(lists.user)
    key = np.empty(n_listed_rows + len(truth.user), dtype=np.uint64)
    _mix_pairs(lists, out=key[:n_listed_rows])
    _mix_pairs(truth, out=key[n_listed_rows:])
    row, equals_next = rows_by_key(key)
    place, pair = _runs(equals_next)
    return row[place], pair


def _mix_pairs(rows: ListedRows | TruthRows, out: npt.NDArray[np.uint64]) -> None:
    """Mix user and item of each row into one number, modulo 2**64."""
    np.multiply(rows.item, np.uint64(_ITEM_FACTOR), out=out)
    out += rows.user.view(np.uint64) * np.uint64(_USER_FACTOR)


def _rows_by_pair(lists: ListedRows, truth: TruthRows) -> tuple[Ints, Ints]:
    """Return the same as `_rows_by_mixed_pair`, by sorting the pairs themselves."""
    user = np.concatenate([lists.user, truth.user])
    item = np.concatenate([lists.item, truth.item])
    row = np.lexsort((item, user))
    user, item = user[row], item[row]
    equals_next = (user[1:] == user[:-1]) & (item[1:] == item[:-1])
    place, pair = _runs(equals_next)
    return row[place], pair


def _runs(equals_next: Bools) -> tuple[Ints, Ints]:
    """Return the places of values that equal a neighbour, and the run of each.

    Given is which of the values equal the next. Of a b b c d d d the places are
    1 2 4 5 6, in the runs 0 0 1 1 1.
    """
    is_in_run = np.zeros(len(equals_next) + 1, dtype=bool)
    is_in_run[:-1] = equals_next
    is_in_run[1:] |= equals_next  # the last of a run equals the one before it
    place = np.flatnonzero(is_in_run)
    # A place is the first of its run if its value differs from the one before it.
    is_first = np.ones(len(place), dtype=bool)
    is_first[1:] = ~equals_next[place[1:] - 1]
    return place, np.cumsum(is_first) - 1


def hashes_are_exact(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, ids: Ids
) -> bool:
    """Return whether rows that were matched by the hashes of items have the same item."""
    if pairs.truth_repeats:
        return False  # perhaps two items with one hash
    recs_items, truth_items = ids.items
    judged_item = recs_items.gather(lists.frame_rows_of(pairs.judged_row))
    judging_item = truth_items.gather(truth.frame_row[pairs.judging_row])
    if not (judged_item == judging_item).all():
        return False
    # Compare each repeated row with one row of its pair, the same for the whole pair.
    row_of_pair = np.zeros(pairs.repeated_pair.max(initial=-1) + 1, dtype=np.int64)
    row_of_pair[pairs.repeated_pair] = pairs.repeated_row
    same_pair_row = row_of_pair[pairs.repeated_pair]
    repeated_item = recs_items.gather(lists.frame_rows_of(pairs.repeated_row))
    same_pair_item = recs_items.gather(lists.frame_rows_of(same_pair_row))
    return bool((repeated_item == same_pair_item).all())


# ---- ranks


def rank_rows(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, convention: Convention
) -> Ranks:
    """Rank the rows of each list, the highest score first."""
    if lists.given_rank is not None and lists.n_added == 0:
        # Ranks are given only where `Convention.keeps_ranks`, so that no row leaves its
        # list, and a rank that is given twice has been refused (`repeats_a_rank`).
        rank = lists.given_rank
        return Ranks(rank, last_ranks(lists.user, rank, lists.n_users))
    order = _top_down(lists, truth, pairs, convention)
    if quirks.rows_leave(pairs, convention):
        # As numbers, even where the order is a slice.
        every_row = np.arange(len(lists.user))[order]
        order = quirks.rows_that_stay(every_row, lists, truth, pairs, convention)
    ranks = _ranks_along(order, lists)
    if convention.ties in quirks.SHARED:
        return quirks.with_ties(ranks, order, lists)
    return ranks


def _top_down(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, convention: Convention
) -> Ints | slice:
    """Return all rows, user by user, those of each from the top down."""
    if is_in_order(lists, convention.ties):
        return slice(None)
    tie_order = quirks.tie_order(lists, truth, pairs, convention.ties)
    return order_from_highest(lists.user, lists.score, tie_order)


def _ranks_along(order: Ints | slice, lists: ListedRows) -> Ranks:
    """Rank the rows of an order, user by user from the top down.

    Rows that are not in the order have left their lists: their rank is 0.
    """
    user = lists.user[order]
    if lists.given_rank is None:
        rank_in_order = count_within(user)
    else:
        rank_in_order = quirks.given_ranks_and_below(order, lists)
    last_rank = last_ranks(user, rank_in_order, lists.n_users)
    if isinstance(order, slice):
        # A slice has every row, in its place.
        return Ranks(rank_in_order, last_rank)
    rank = np.zeros(len(lists.user), dtype=np.int64)
    rank[order] = rank_in_order
    return Ranks(rank, last_rank)


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
    """Return the last rank of each user, 0 without rows; a user's rows stand together."""
    last_rank = np.zeros(n_users, dtype=np.int64)
    starts = starts_of(user)
    if len(starts):
        last_rank[user[starts]] = np.maximum.reduceat(rank, starts)
    return last_rank


def repeats_a_rank(lists: ListedRows) -> bool:
    """Return whether a list gives two rows the same rank.

    Only under order="rank", where a score is minus the rank.
    """
    user, score = lists.user, lists.score
    if ((score[1:] < score[:-1]) | (user[1:] != user[:-1])).all():
        return False  # the usual case: ranks rise from row to row
    rank = (-score).astype(np.int64, copy=False)
    key = np.sort(user_rank_key(user, rank))
    return bool((key[1:] == key[:-1]).any())


def order_column(recs: pl.DataFrame, convention: Convention) -> Floats | Ints:
    """Return what orders lists: rank, row, or score in the convention's precision."""
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
    if convention.judged == "truth" or convention.candidates == "catalogue":
        # With the whole catalogue below each list, every item is recommended.
        return row_is_relevant
    # What was not recommended is not judged, hence not relevant. Rows that `padded` added
    # are recommended, and have matches.
    is_matched = marked(matches.truth_row, len(truth.user))
    return row_is_relevant & is_matched


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
    """Return the users evaluated, in the order of their ids.

    A slice if these are all users and their numbers are in that order already.
    """
    if ids.by_id is not None:
        evaluated_by_id = is_evaluated[ids.by_id]
        return np.asarray(ids.by_id[evaluated_by_id])
    # Users are numbered by their ids.
    if is_evaluated.all():
        return slice(None)
    return np.flatnonzero(is_evaluated)


def _wanted_rows(
    row_is_relevant: Bools, truth: TruthRows, evaluated: Evaluated
) -> Wanted:
    """Return the relevant rows of the truth of the users evaluated, by position."""
    position = evaluated.position[truth.user]
    if evaluated.are_all_by_number and row_is_relevant.all():
        # Every row is wanted, in its place: entry n is truth row n.
        every_row = np.arange(len(position))
        return Wanted(row_is_relevant, position, rows=slice(None), entry=every_row)
    rows = truth.rows_of(evaluated.users)
    rows = rows[row_is_relevant[rows]]
    is_wanted = marked(rows, len(position))
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
        list_length=matches.last_rank[evaluated.users],
        relevance=truth.relevance[truth_row],
        entry=wanted.entry[truth_row],
        truth_user=wanted.position[wanted.rows],
        truth_relevance=truth.relevance[wanted.rows],
        max_relevance=float(truth.relevance.max(initial=0.0)),
    )
    # The catalogue never goes with ties="expected": see `refuse_contradictions`.
    if convention.candidates == "catalogue":
        below = quirks.below_lists(wanted, matches, truth, ids, convention)
        return quirks.with_catalogue(hits, below, wanted, evaluated, truth)
    if convention.ties == "expected":
        above, tied = matches.above[hit_match], matches.tied[hit_match]
        return quirks.average_over_ties(hits, above, tied)
    return hits


def _hit_matches(
    matches: Matches, wanted: Wanted, evaluated: Evaluated, convention: Convention
) -> Ints:
    """Return the matches that are hits, by position of their user and rank.

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
    """Return the stable order that sorts a key."""
    if (key[1:] >= key[:-1]).all():
        return slice(None)  # it is sorted already
    return in_order(key)
