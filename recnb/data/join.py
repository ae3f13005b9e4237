"""The join of lists with the truth: which items of a list are relevant, at which rank,
and what there was to find.

1. `number_ids` (`numbered.py`): users get a number in the order of their lists, items
   one that equal items share. Nothing is moved: a row keeps its number in its frame.
2. `match`: which rows of lists are judged, and which pairs are repeated.
3. `ranked`: each list in order, and the rank of each row.
4. `find_hits`: what is relevant, of the users that are averaged, by their ids.

Steps 2 and 3 see the users of a block at a time, as many rows as the processor's cache
holds, on all cores. What libraries do in other ways is a step before, within or after
one of these, listed in `quirks.py`.

    recs                     lists, by user     truth, by user,        hits, by id
                                                best first
    row  user item score     row  user rank     row  user item grade   user rank truth_row
    0    b    i    9         0    0    1        2    0    i    2       0    2    0
    1    a    j    8   --->  3    0    2        1    1    k    3       1    1    2
    2    a    k    5         1    1    1        0    1    x    1
    3    b    x    1         2    1    2
                             (0 is b, 1 is a)   (a has k at rank 2, b has i at rank 1)

| array                                     | indexed by                    |
|-------------------------------------------|-------------------------------|
| `Ids.list_rows`, all of `ListedRows`      | row of a list, by user        |
| `TruthRows`, `Wanted` but for `rows`      | row of the truth, by user     |
| `Ids.list_item`, `JoinResult.rank`        | row of the frame of lists     |
| `Ids.truth_user`, `Ids.truth_item`        | row of the frame of the truth |
| `Ids.n_listed`, `Ranks.length`            | user                          |
| `Ranks` but for `length`                  | row of a list, by user        |
| `Pairs.row`, `Pairs.truth_row`, `Matches` | judged row of a list          |
| `Wanted.rows`, `JoinResult.truth_rows`    | relevant row, by id of user   |

What usually holds costs nothing: rows that are in order are cut and not gathered.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import ROW_ORDERS
from recnb.data import quirks
from recnb.data.encoding import starts_of
from recnb.data.numbered import (
    Ids,
    ListedRows,
    Matches,
    Numbers,
    Pairs,
    Ranks,
    TruthRows,
    Wanted,
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
)

#: Odd, so that different users, and different items, stay different; without pattern,
#: so that sums of both do.
_USER, _ITEM = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


class RepeatError(Exception):
    """What cannot be joined holds twice: a "rank" of a list, or a "pair" of user and
    item.
    """


class HashError(Exception):
    """Numbers of items are hashes, which do not tell which items are the same."""


class JoinResult(NamedTuple):
    """What is kept of two frames."""

    users: pl.Series  #: the users evaluated, sorted
    hits: Hits
    truth_rows: Ints  #: per relevant item of `hits`, its row of the truth
    rank: Ints  #: per row of recommendations; 0: left out
    in_both: bool  #: whether some user has a list and rows of the truth
    n_without_relevant: int  #: users of either frame who have no relevant item
    has_gaps: bool  #: whether some list leaves a rank empty


def join(
    recs: pl.DataFrame, truth: pl.DataFrame, ids: Ids, convention: Convention
) -> JoinResult:
    """Join lists with the truth, under an order by rank, score or row; the caller says
    of a RepeatError what is repeated.

    Relevance may be below 0 where `judged_only` leaves out what such a grade says was
    not judged.
    """
    quirks.refuse_contradictions(convention)
    judged = TruthRows.of(truth, ids)
    try:
        matches, rank = _match_blocks(recs, judged, ids, convention)
    except HashError:
        return join(recs, truth, ids.exact(), convention)
    if convention.negative_relevance == "zero":
        judged = replace(judged, grade=judged.grade.clip(min=0.0))
    return find_hits(matches, judged, rank, ids, convention)


# ---- blocks of users


def _match_blocks(
    recs: pl.DataFrame, truth: TruthRows, ids: Ids, convention: Convention
) -> tuple[Matches, Ints]:
    """Match and rank the rows of some users at a time; return what is judged of all,
    and the rank of each row of the frame.
    """
    value = order_column(recs, convention)
    list_ends, truth_ends = _ends(ids.n_listed), _ends(truth.n_judged)
    rank = np.empty(recs.height, dtype=np.int64)
    if convention.keeps_ranks:
        rank = recs["rank"].to_numpy()

    def match_block(users: tuple[int, int]) -> Matches:
        first, last = users
        rows: Ints | slice = slice(list_ends[first], list_ends[last])
        if ids.list_rows is not None:
            rows = ids.list_rows[rows]
        places = slice(truth_ends[first], truth_ends[last])
        lists = _lists_of(rows, ids.n_listed[first:last], value, ids, convention)
        block = truth.of_users(first, last, places)
        matches, ranks = match_and_rank(lists, block, ids, convention)
        if not convention.keeps_ranks:
            rank[rows] = ranks[: lists.n_recommended]
        return matches._replace(
            user=matches.user + first, truth_row=matches.truth_row + places.start
        )

    blocks = _blocks_of(ids.n_listed + truth.n_judged)
    work = in_turn(blocks, match_block) if len(blocks) > 1 else map(match_block, blocks)
    columns = zip(*work, strict=True)
    return Matches(*map(np.concatenate, columns)), rank


def _lists_of(
    rows: Ints | slice,
    n_listed: Ints,
    value: Floats | Ints,
    ids: Ids,
    convention: Convention,
) -> ListedRows:
    """Return the lists of the users of a block, in whatever order their rows are."""
    score = value[rows]
    given_rank = None
    if convention.keeps_ranks:
        given_rank = score.astype(np.int64, copy=False)
    if convention.order != "score":
        score = -score
    user = np.repeat(np.arange(len(n_listed)), n_listed)
    return ListedRows(
        row=rows,
        user=user,
        item=ids.list_item[rows],
        score=score,
        given_rank=given_rank,
        n_users=len(n_listed),
        n_recommended=len(user),
    )


def _blocks_of(lengths: Ints) -> list[tuple[int, int]]:
    """Cut users into blocks of about as many rows each: the first user of each, and the
    one after its last.
    """
    ends = np.cumsum(lengths)
    n_rows = int(lengths.sum())
    cuts = np.searchsorted(ends, np.arange(BLOCK, n_rows, BLOCK)) + 1
    edges = np.unique(np.concatenate([[0], cuts, [len(ends)]])).tolist()
    return list(pairwise(edges)) or [(0, 0)]


def _ends(counts: Ints) -> Ints:
    """Return where the rows of each user start, and after them where the last end."""
    return np.concatenate([[0], np.cumsum(counts)])


def match_and_rank(
    lists: ListedRows, truth: TruthRows, ids: Ids, convention: Convention
) -> tuple[Matches, Ints]:
    """Return what is judged of the lists of some users, and the rank of each row."""
    if convention.order == "rank" and repeats_a_rank(lists):
        raise RepeatError("rank")
    pairs = match(lists, truth)
    if ids.are_hashes and not hashes_are_exact(lists, truth, pairs, ids):
        raise HashError
    has_copies = len(pairs.copy) > 0
    if pairs.truth_repeats or (has_copies and convention.duplicates == "error"):
        raise RepeatError("pair")
    if convention.candidates == "padded":
        lists, pairs = quirks.padded(lists, truth, pairs)
    ranks = ranked(lists, truth, pairs, convention)
    stays = ranks.rank[pairs.row] > 0
    row = pairs.row[stays]
    above, tied = ranks.ties_of(row)
    matches = Matches(
        user=lists.user[row],
        truth_row=pairs.truth_row[stays],
        rank=ranks.rank[row],
        score=lists.score[row],
        above=above,
        tied=tied,
        length=ranks.length,
    )
    return matches, ranks.rank


# ---- what is judged, and what is repeated


def match(lists: ListedRows, truth: TruthRows) -> Pairs:
    """Find equal pairs of user and item: they are neighbours in the order of their
    numbers.
    """
    n_listed = len(lists.user)
    first, second, run = _neighbours(lists, truth)
    # Rows of lists come before those of the truth: the last of a run is judged, if any
    # is.
    is_last = np.ones(len(run), dtype=bool)
    is_last[:-1] = run[1:] != run[:-1]
    last = second[is_last][run]
    judged = np.flatnonzero((first < n_listed) & (last >= n_listed))
    judged = judged[in_order(first[judged])]
    both_listed = np.flatnonzero(second < n_listed)
    copies = np.concatenate([first[both_listed], second[both_listed]])
    copy, index = np.unique(copies, return_index=True)
    return Pairs(
        row=first[judged],
        truth_row=last[judged] - n_listed,
        copy=copy,
        copy_of=np.tile(run[both_listed], 2)[index],
        truth_repeats=bool((first >= n_listed).any()),
    )


def _neighbours(lists: ListedRows, truth: TruthRows) -> tuple[Ints, Ints, Ints]:
    """Return rows with the user and item of another row, the next such row, and a
    number for each pair from 0 up; rows of the truth are counted on from those of
    lists.
    """
    key, mask = _keys(lists, truth)
    key.sort()
    same = np.flatnonzero((key[1:] ^ key[:-1]) <= mask)
    first = (key[same] & mask).view(np.int64)
    second = (key[same + 1] & mask).view(np.int64)
    item = np.concatenate([lists.item, truth.item])
    # With the same item, users are the same: a difference of fewer of them than there
    # are rows changes the key.
    if not (item[first] == item[second]).all():
        user = np.concatenate([lists.user, truth.user])
        order = np.lexsort((item, user))
        same_user = user[order[1:]] == user[order[:-1]]
        same = np.flatnonzero(same_user & (item[order[1:]] == item[order[:-1]]))
        first, second = order[same], order[same + 1]
    is_new = np.ones(len(same), dtype=bool)
    is_new[1:] = same[1:] != same[:-1] + 1
    return first, second, np.cumsum(is_new) - 1


def _keys(lists: ListedRows, truth: TruthRows) -> tuple[Numbers, np.uint64]:
    """Return a number for each row, with the row in the low bits and as many bits of
    its pair as there is room for above them; and the mask of the low bits.
    """
    n_listed, n = len(lists.user), len(lists.user) + len(truth.user)
    bits = n.bit_length()
    key = np.empty(n, dtype=np.uint64)
    for side, rows in ((key[:n_listed], lists), (key[n_listed:], truth)):
        np.multiply(rows.item, np.uint64((_ITEM << bits) % 2**64), out=side)
        side += rows.user.view(np.uint64) * np.uint64((_USER << bits) % 2**64)
    key += np.arange(n, dtype=np.uint64)
    return key, np.uint64(2**bits - 1)


def hashes_are_exact(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, ids: Ids
) -> bool:
    """Return whether rows that were matched by hashes hold the same item."""
    if pairs.truth_repeats:
        return False
    listed, judged = ids.items
    rows = lists.row
    if isinstance(rows, slice):
        rows = np.arange(rows.start, rows.stop)
    text = listed.gather(rows[pairs.row])
    if not (text == judged.gather(truth.row[pairs.truth_row])).all():
        return False
    _pairs, first, pair = np.unique(
        pairs.copy_of, return_index=True, return_inverse=True
    )
    text = listed.gather(rows[pairs.copy])
    return bool((text == text.gather(first[pair])).all())


# ---- ranks


def ranked(
    lists: ListedRows, truth: TruthRows, pairs: Pairs, convention: Convention
) -> Ranks:
    """Rank the rows of each list, the highest score first."""
    is_padded = len(lists.user) > lists.n_recommended
    given = lists.given_rank
    if given is not None and not is_padded:
        return Ranks(given, highest(lists.user, given, lists.n_users))
    rows_leave = quirks.rows_leave(pairs, convention)
    shares_ranks = convention.ties not in ROW_ORDERS
    order = np.arange(len(lists.user))
    if not stand_in_order(lists, convention.ties):
        tie_order = quirks.tie_order(lists, truth, pairs, convention.ties)
        order = order_from_highest(lists.user, lists.score, tie_order)
    elif given is None and not rows_leave and not shares_ranks:
        length = np.bincount(lists.user, minlength=lists.n_users)
        return Ranks(count_within(lists.user), length)
    if rows_leave:
        order = quirks.left_in(order, lists, truth, pairs, convention)
    user = lists.user[order]
    place = count_within(user)
    if given is not None:
        place = quirks.below_given_ranks(place, order, lists)
    rank = np.zeros(len(lists.user), dtype=np.int64)
    rank[order] = place
    ranks = Ranks(rank, highest(user, place, lists.n_users))
    if shares_ranks:
        return quirks.with_ties(ranks, order, lists)
    return ranks


def stand_in_order(lists: ListedRows, ties: str) -> bool:
    """Return whether the rows of each list stand from the top down."""
    user, score = lists.user, lists.score
    falls = (
        np.less_equal if ties == "first" else np.less
    )  # whether equal scores may stay
    stand = falls(score[1:], score[:-1])
    stand &= user[1:] == user[:-1]
    stand |= user[1:] > user[:-1]
    return bool(stand.all())


def highest(user: Ints, rank: Ints, n_users: int) -> Ints:
    """Return the highest rank of each user, whose rows stand together; 0 for one
    without rows.
    """
    length = np.zeros(n_users, dtype=np.int64)
    starts = starts_of(user)
    if len(starts):
        length[user[starts]] = np.maximum.reduceat(rank, starts)
    return length


def repeats_a_rank(lists: ListedRows) -> bool:
    """Return whether two rows of a list, in order by rank, have one rank."""
    user, score = lists.user, lists.score
    if ((score[1:] < score[:-1]) | (user[1:] != user[:-1])).all():
        return False
    key = np.sort((user << 32) - score)
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


# ---- hits


def find_hits(
    matches: Matches, truth: TruthRows, rank: Ints, ids: Ids, convention: Convention
) -> JoinResult:
    """Keep the matches that are relevant to a user who is averaged, and what there was
    to find; `rank` is that of each row of recommendations.
    """
    relevant = _relevant(matches, truth, convention)
    n_relevant = np.bincount(truth.user[relevant], minlength=len(ids.users))
    with_list, with_truth = ids.n_listed > 0, truth.n_judged > 0
    averaged = _averaged(with_list, with_truth, n_relevant > 0, convention)
    evaluated = _by_id(averaged, ids)
    number = np.full(len(ids.users), -1)  # of each user among those evaluated
    number[evaluated] = np.arange(np.count_nonzero(averaged))

    wanted = _wanted(relevant, number[truth.user])
    if convention.duplicates == "rows":
        wanted = quirks.with_copies(wanted, matches)
    hit = _hit(matches, wanted, number, convention)
    truth_row = matches.truth_row[hit]
    hits = Hits(
        user=number[matches.user[hit]],
        rank=quirks.shared_rank(matches, hit, convention.ties),
        list_length=matches.length[evaluated],
        relevance=truth.grade[truth_row],
        truth_row=wanted.entry[truth_row],
        truth_user=wanted.user[wanted.rows],
        truth_relevance=truth.grade[wanted.rows],
        max_relevance=float(truth.grade.max(initial=0.0)),
    )
    if convention.candidates == "catalogue":
        below = quirks.below_lists(wanted, matches, truth, ids, convention)
        hits = quirks.with_catalogue(hits, below, wanted, truth)
        hits = replace(hits, list_length=below.length[evaluated])
    if convention.ties == "expected":
        hits = quirks.average_over_ties(hits, matches.above[hit], matches.tied[hit])
    can_have_gaps = convention.keeps_ranks and convention.candidates == "list"
    return JoinResult(
        users=ids.users[evaluated],
        hits=hits,
        truth_rows=truth.row[wanted.rows],
        rank=rank,
        in_both=bool((with_list & with_truth).any()),
        n_without_relevant=int((n_relevant == 0).sum()),
        has_gaps=can_have_gaps and bool((matches.length != ids.n_listed).any()),
    )


def _relevant(matches: Matches, truth: TruthRows, convention: Convention) -> Bools:
    """Return which rows of the truth are relevant."""
    relevant = is_relevant(truth.grade, convention)
    if convention.judged == "list" and convention.candidates != "catalogue":
        return relevant & quirks.marked(matches.truth_row, len(relevant))
    return relevant


def _averaged(
    with_list: Bools, with_truth: Bools, has_relevant: Bools, convention: Convention
) -> Bools:
    """Return which users count in a mean."""
    averaged = {
        "truth": with_truth,
        "recs": with_list,
        "both": with_list & with_truth,
        "union": with_list | with_truth,
    }[convention.averaged_users]
    if convention.no_relevant == "skip":
        return averaged & has_relevant
    return averaged


def _by_id(averaged: Bools, ids: Ids) -> Ints | slice:
    """Return the users averaged, in the order of their ids."""
    if ids.by_id is None:
        return slice(None) if averaged.all() else np.flatnonzero(averaged)
    return ids.by_id[averaged[ids.by_id]]


def _wanted(relevant: Bools, user: Ints) -> Wanted:
    """Put the relevant rows of the users evaluated together."""
    counts = relevant & (user >= 0)
    place = np.arange(len(user))
    if counts.all() and (user[1:] >= user[:-1]).all():
        return Wanted(counts, user, rows=slice(None), entry=place)
    rows = place[counts]
    rows = rows[_stable_order(user[rows])]
    entry = np.zeros(len(user), dtype=np.int64)
    entry[rows] = place[: len(rows)]
    return Wanted(counts, user, rows, entry)


def _hit(
    matches: Matches, wanted: Wanted, number: Ints, convention: Convention
) -> Ints:
    """Return the matches that are hits, by user and rank."""
    is_hit = wanted.counts[matches.truth_row]
    if quirks.only_positive_scores_hit(convention):
        is_hit &= matches.score > 0
    hit = np.flatnonzero(is_hit)
    user, rank = number[matches.user[hit]], matches.rank[hit]
    hit = hit[_stable_order(user * (int(rank.max(initial=0)) + 1) + rank)]
    if convention.duplicates == "hit_once":
        return quirks.first_of_each(hit, matches)
    return hit


def _stable_order(key: Ints) -> Ints | slice:
    """Return the stable order of a key; all rows as they stand, if that is it."""
    if (key[1:] >= key[:-1]).all():
        return slice(None)
    return in_order(key)
