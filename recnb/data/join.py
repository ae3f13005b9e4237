"""The join of recommendations with the truth, under any convention: what is hit, at which rank, and what there was to hit.

1. `number_ids`: users get a number in the order of their lists, items one that equal items share, and the rows of each user
   are put together. Nothing is moved: a row keeps its number in its frame, and a *place* is a position in the order by user.
2. `match_pairs` finds which rows of a list are judged; `order_lists` gives each row its rank. Both (`order.py`) see a block of
   users at a time, as many rows as the processor's cache holds, on all cores.
3. `find_hits`: which judged rows count, for whom, and how much there is to find; users are put in the order of their ids.

    recs                      lists, by user                truth, by user, best first         hits, by id
    row  user item score      place  row  user  rank        place  row  user  item grade       user  rank  truth_row
    0    b    i    9          0      0    0     1           0      2    0     i    2           0     2     0
    1    a    j    8   --->   1      3    0     2           1      1    1     k    3           1     1     2
    2    a    k    5          2      1    1     1           2      0    1     x    1
    3    b    x    1          3      2    1     2
                              (0 is b, 1 is a)              lists 0 and truth 0 are one pair; so are 3 and 1

| array                                 | indexed by            | holds                                                 |
|---------------------------------------|-----------------------|-------------------------------------------------------|
| `Ids.list_rows`, `Ids.truth_rows`     | place                 | row of the frame                                      |
| `Ids.n_listed`, `Ids.n_judged`        | user                  | rows of each                                          |
| `Ids.item`, `Ids.truth_item`          | row of the frame      | number of the item                                    |
| `Matches`, but for `length`           | judged row of a list  | its user, rank, place in the truth, score, ties       |
| `Joined.rank`                         | row of recs           | rank; 0: left out                                     |
| `Joined.truth_rows`                   | relevant row          | row of the truth                                      |
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.encoding import distinct, grouped, hashes_of, positions, repeats_follow, run_starts
from recnb.data.order import (
    BY_ITEM,
    Block,
    Numbers,
    average_over_ties,
    match_pairs,
    order_lists,
    padded,
    ranks_are_given,
    repeats_a_rank,
)
from recnb.data.parallel import BLOCK, in_turn
from recnb.data.validation import is_relevant
from recnb.errors import OptionError
from recnb.metrics.hits import Floats, Hits, Ints, in_order, order_from_highest, stands_from_highest

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of both frames as numbers, and the rows of each user together."""

    users: pl.Series  #: of either frame: those with a list in the order of their rows, then the others
    list_rows: Ints  #: per place in the lists, its row
    truth_rows: Ints  #: per place in the truth, its row
    n_listed: Ints  #: per user, the rows of recommendations
    n_judged: Ints  #: per user, the rows of the truth
    item: Numbers  #: per row of recommendations
    truth_item: Numbers  #: per row of the truth
    texts: pl.Series | None  #: the items of both frames, where numbers are hashes: items that differ may have one
    n_items: int  #: how many there are, where numbers are positions among all


def number_ids(recs: pl.DataFrame, truth: pl.DataFrame, items: pl.Series | None = None) -> Ids:
    """Give the users and items of both frames numbers; with `items`, all there are, an item's number is its position there."""
    list_rows, list_starts = _rows_by_user(recs["user"])
    judged_rows, judged_starts = _rows_by_user(truth["user"])
    users, judged = recs["user"].gather(list_rows[list_starts]), truth["user"].gather(judged_rows[judged_starts])
    number = positions(users, judged)
    missing = number < 0
    number = np.where(missing, len(users) + np.cumsum(missing) - 1, number)
    users = pl.concat([users, judged.filter(pl.Series(missing))])
    n_listed, n_judged = np.zeros((2, len(users)), dtype=np.int64)
    n_listed[: len(list_starts)] = np.diff(list_starts, append=recs.height)
    n_judged[number] = np.diff(judged_starts, append=truth.height)
    by_number = np.argsort(number)
    truth_rows = judged_rows[ranges(judged_starts[by_number], n_judged[number[by_number]])]
    sides, texts = (recs["item"], truth["item"]), None
    if items is not None:
        numbers = [positions(items, side).view(np.uint64) for side in sides]
    elif sides[0].dtype == pl.Int64:
        numbers = [side.to_numpy().view(np.uint64) for side in sides]
    else:
        numbers, texts = [hashes_of(side) for side in sides], pl.concat(sides)
    return Ids(
        users=users,
        list_rows=list_rows,
        truth_rows=truth_rows,
        n_listed=n_listed,
        n_judged=n_judged,
        item=numbers[0],
        truth_item=numbers[1],
        texts=texts,
        n_items=0 if items is None else len(items),
    )


def _rows_by_user(users: pl.Series) -> tuple[Ints, Ints]:
    """Return the rows with those of each user together, in their order, and the place of each user's first."""
    if len(users) <= BLOCK or repeats_follow(users):
        starts = run_starts(users)
        if users.gather(starts).n_unique() == len(starts):
            return np.arange(len(users)), starts
    return grouped(users)


def needs_positions(convention: Convention) -> bool:
    """Return whether items are put in order by their ids."""
    by_item = convention.ties in BY_ITEM and (convention.order == "score" or convention.candidates == "padded")
    return by_item or convention.candidates == "catalogue"


class RepeatError(Exception):
    """What cannot be joined holds twice: a "rank" of a list, a "pair" of user and item, or a "hash" of items that differ."""


class Matches(NamedTuple):
    """The rows of lists that are judged, padding included, and the lists."""

    user: Ints  #: per row, as all but the last
    rank: Ints
    truth_place: Ints
    score: Floats | Ints
    above: Ints  #: how many rows score higher, where equal scores share ranks
    tied: Ints  #: how many score the same
    length: Ints  #: per user, the last rank


class Joined(NamedTuple):
    """What is kept of two frames."""

    users: pl.Series  #: the users evaluated, sorted
    hits: Hits
    truth_rows: Ints  #: per relevant item of `hits`, its row of the truth
    rank: Ints  #: per row of recommendations; 0: left out
    in_both: bool  #: whether some user has a list and rows of the truth
    n_without_relevant: int  #: users of either frame who have no relevant item
    has_gaps: bool  #: whether some list leaves a rank empty


def join(recs: pl.DataFrame, truth: pl.DataFrame, ids: Ids, convention: Convention) -> Joined:
    """Join lists with the truth, under an order by rank, score or row; the caller says of a RepeatError what is repeated.

    Relevance may be below 0 where `judged_only` leaves out what such a grade says was not judged.
    """
    _refuse_contradictions(convention)
    score, grade = scores_of(recs, convention), truth["relevance"].to_numpy()
    list_ends, truth_ends = (np.r_[0, np.cumsum(n)] for n in (ids.n_listed, ids.n_judged))
    rank, truth_rows = np.zeros(recs.height, dtype=np.int64), ids.truth_rows.copy()
    stands = bool((ids.list_rows[1:] > ids.list_rows[:-1]).all())  # places are rows, which are cut and not picked

    def match(users_of_block: tuple[int, int]) -> Matches:
        first, last = users_of_block
        lists, judged = slice(*list_ends[[first, last]]), slice(*truth_ends[[first, last]])
        users, rows, truth_row = np.arange(last - first), ids.list_rows[lists], ids.truth_rows[judged]
        own = lists if stands else rows
        truth_user = np.repeat(users, ids.n_judged[first:last])
        if not stands_from_highest(truth_user, grade[truth_row]):
            truth_row = truth_rows[judged] = truth_row[order_from_highest(truth_user, grade[truth_row])]
        grades = grade[truth_row]
        block = Block(
            n_users=len(users),
            user=np.repeat(users, ids.n_listed[first:last]),
            item=ids.item[own],
            score=score[own],
            row=rows,
            truth_user=truth_user,
            truth_item=ids.truth_item[truth_row],
            grade=grades,
            is_judged=(grades >= 0) | (convention.negative_relevance != "zero"),
            truth_row=truth_row,
        )
        if convention.order == "rank" and repeats_a_rank(block):
            raise RepeatError("rank")
        pairs = match_pairs(block, ids.texts, recs.height)
        if pairs is None:
            raise RepeatError("hash")
        if pairs.truth_repeats or (len(pairs.copy) and convention.duplicates == "error"):
            raise RepeatError("pair")
        if convention.candidates == "padded":
            block, pairs = padded(block, pairs)
        places = order_lists(block, pairs, convention)
        rank[own] = places.rank[: block.n_listed]
        kept = places.rank[pairs.row] > 0
        row, judged_row = pairs.row[kept], pairs.truth_row[kept]
        return Matches(
            user=first + block.user[row],
            rank=places.rank[row],
            truth_place=judged.start + judged_row,
            score=block.score[row],
            above=places.above[row],
            tied=places.tied[row],
            length=places.length,
        )

    blocks = _blocks_of(ids.n_listed + ids.n_judged)
    try:
        columns = zip(*(in_turn(blocks, match) if len(blocks) > 1 else map(match, blocks)), strict=True)
    except RepeatError as problem:
        if ids.texts is None or problem.args != ("hash",):
            raise
        return join(recs, truth, number_ids(recs, truth, distinct(ids.texts)), convention)
    matches = Matches(*map(np.concatenate, columns))
    grade = grade.clip(min=0.0) if convention.negative_relevance == "zero" else grade
    return find_hits(matches, ids, grade[truth_rows], convention, rank=rank, truth_rows=truth_rows)


def find_hits(
    matches: Matches, ids: Ids, grade: Floats, convention: Convention, *, rank: Ints, truth_rows: Ints
) -> Joined:
    """Find which judged rows count, for whom, and what there is to find; `grade` and `truth_rows` are per place in the truth."""
    n_users, ties = len(ids.users), convention.ties
    truth_user = np.repeat(np.arange(n_users), ids.n_judged)
    relevant, is_listed = is_relevant(grade, convention), _marked(matches.truth_place, len(grade))
    if convention.judged == "list" and convention.candidates != "catalogue":
        relevant &= is_listed
    has_relevant = _marked(truth_user[relevant], n_users)
    averaged = _averaged(ids, has_relevant, convention)
    counts = relevant & averaged[truth_user]
    by_id = np.arange(n_users) if ids.users.is_sorted() else ids.users.arg_sort().to_numpy()
    evaluated = by_id[averaged[by_id]]
    number = np.zeros(n_users, dtype=np.int64)
    number[evaluated] = np.arange(len(evaluated))

    by_sign = convention.nonpositive_scores == "never_hit" and convention.order == "score"
    hit = np.flatnonzero(counts[matches.truth_place] & ((matches.score > 0) | (not by_sign)))
    hit = hit[_by_rank(number[matches.user[hit]], matches.rank[hit])]
    if convention.duplicates == "hit_once":
        hit = hit[np.sort(np.unique(matches.truth_place[hit], return_index=True)[1])]
    user, place, hit_rank, above, tied = (
        column[hit] for column in (matches.user, matches.truth_place, matches.rank, matches.above, matches.tied)
    )
    if ties in ("max_rank", "floor_mean_rank"):
        hit_rank = above + tied if ties == "max_rank" else (2 * above + 1 + tied) // 2
    length = matches.length
    if convention.candidates == "catalogue":
        missed = np.flatnonzero(counts & ~is_listed & (not by_sign))
        missed = missed[np.argsort(truth_rows[missed])]
        below, length = _below_lists(ids, length, truth_user[missed], truth_rows[missed], convention)
        user, place, hit_rank = np.r_[user, truth_user[missed]], np.r_[place, missed], np.r_[hit_rank, below]
        order = _by_rank(number[user], hit_rank)
        user, place, hit_rank = user[order], place[order], hit_rank[order]

    times = counts.astype(np.int64)  # how often each row of the truth counts
    if convention.duplicates == "rows":
        times *= np.maximum(np.bincount(matches.truth_place, minlength=len(grade)), 1)
    n_relevant = np.bincount(truth_user, times, n_users).astype(np.int64)
    listed = np.repeat(np.arange(len(grade)), times)
    listed = listed[ranges((np.cumsum(n_relevant) - n_relevant)[evaluated], n_relevant[evaluated])]
    truth_row = np.zeros(len(grade), dtype=np.int64)
    truth_row[listed[::-1]] = np.arange(len(listed))[::-1]  # the first of those that count several times
    hits = Hits(
        user=number[user],
        rank=hit_rank,
        list_length=length[evaluated],
        relevance=grade[place],
        truth_row=truth_row[place],
        truth_user=number[truth_user[listed]],
        truth_relevance=grade[listed],
        max_relevance=float(grade.max(initial=0.0)),
    )
    return Joined(
        users=ids.users.gather(evaluated),
        hits=average_over_ties(hits, above, tied) if ties == "expected" else hits,
        truth_rows=truth_rows[listed],
        rank=rank,
        in_both=bool(((ids.n_listed > 0) & (ids.n_judged > 0)).any()),
        n_without_relevant=int((~has_relevant).sum()),
        has_gaps=ranks_are_given(convention)
        and convention.candidates == "list"
        and bool((matches.length != ids.n_listed).any()),
    )


def _averaged(ids: Ids, has_relevant: Mask, convention: Convention) -> Mask:
    """Return which users count in a mean."""
    with_list, with_truth = ids.n_listed > 0, ids.n_judged > 0
    averaged = {
        "truth": with_truth,
        "recs": with_list & (with_truth | (not convention.judged_only)),
        "both": with_list & with_truth,
        "union": with_truth | (not convention.judged_only),
    }[convention.averaged_users]
    return averaged & has_relevant if convention.no_relevant == "skip" else averaged


def ranges(starts: Ints, counts: Ints) -> Ints:
    """Concatenate the whole numbers from each start on, as many as it counts.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)


def _blocks_of(lengths: Ints) -> list[tuple[int, int]]:
    """Cut users into blocks of about as many rows each: the first user of each, and the one after its last."""
    ends = np.cumsum(lengths)
    n = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(BLOCK, n, BLOCK)) + 1
    return list(pairwise(np.unique(np.r_[0, cuts, len(ends)]).tolist())) or [(0, 0)]


def _marked(places: Ints, n: int) -> Mask:
    """Say of each of n places whether it is among these."""
    found = np.zeros(n, dtype=bool)
    found[places] = True
    return found


def _by_rank(user: Ints, rank: Ints) -> Ints:
    """Return the stable order by user, then rank."""
    key = user * (int(rank.max(initial=0)) + 1) + rank
    return np.arange(len(key)) if (key[1:] >= key[:-1]).all() else in_order(key)


def _below_lists(ids: Ids, length: Ints, user: Ints, row: Ints, convention: Convention) -> tuple[Ints, Ints]:
    """Return the ranks of items if the whole catalogue is ranked below each list, sorted by id; and the lengths of all lists then.

    An item's place is the list's length and its number among all items, less those before it that the list holds already.
    """
    n_items, listed = ids.n_items, np.repeat(np.arange(len(ids.users)), ids.n_listed)
    held = np.unique(listed * n_items + ids.item.view(np.int64)[ids.list_rows])
    end = length + n_items - np.bincount(held // n_items, minlength=len(length))
    if convention.ties != "first":
        return end[user], end
    number = ids.truth_item.view(np.int64)[row]
    before = np.searchsorted(held, user * n_items + number) - np.searchsorted(held, user * n_items)
    return length[user] + number - before + 1, end


def scores_of(recs: pl.DataFrame, convention: Convention) -> Floats | Ints:
    """Make of rank, row or score a number that is higher for better."""
    if convention.order == "rank":
        return -recs["rank"].to_numpy()
    if convention.order == "row":
        return -np.arange(recs.height)
    if convention.score_dtype != "float32":
        return validation.in_floats(recs["score"])
    with np.errstate(over="ignore"):  # what is too large becomes infinite, as it does in those libraries
        return recs["score"].cast(pl.Float64).to_numpy().astype(np.float32).astype(np.float64)


def _refuse_contradictions(convention: Convention) -> None:
    ties, shares_ranks = convention.ties, convention.ties in ("expected", "max_rank", "floor_mean_rank")
    if convention.candidates == "catalogue" and (convention.judged_only or ties not in ("first", "max_rank")):
        raise OptionError("candidates='catalogue' goes with ties='first' or 'max_rank', and without judged_only=True.")
    if ties == "expected" and convention.duplicates == "hit_once":
        raise OptionError("ties='expected' has no mean for duplicates='hit_once': choose duplicates='dedupe'.")
    if convention.judged_only and shares_ranks:
        problem = f"ties={ties!r} gives equal scores no ranks of their own, from which items could be left out: "
        raise OptionError(f"{problem}choose ties='first'.")
