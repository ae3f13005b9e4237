"""The join of recommendations with the truth, under any convention: what is hit, at
which rank, and what there was to hit.

1. `number_ids`: users get a number in the order of their lists, items one that equal
   items share. Nothing is moved: a row keeps
   its number in its frame, and a *place* is a position where the rows of each user are
   together, of the truth best first.
2. `match_pairs` finds which rows of a list are judged; `order_lists` gives each row its
   rank. Both (`order.py`) see a block of
   users at a time, as many rows as the processor's cache holds, on all cores.
3. `find_hits`: which judged rows count, for whom, and how much there is to find; users
   are put in the order of their ids.

    recs                      lists, by user                truth, by user, best first         hits, by id
    row  user item score      place  row  user  rank        place  row  user  item grade       user  rank  truth_row
    0    b    i    9          0      0    0     1           0      2    0     i    2           0     2     0
    1    a    j    8   --->   1      3    0     2           1      1    1     k    3           1     1     2
    2    a    k    5          2      1    1     1           2      0    1     x    1
    3    b    x    1          3      2    1     2
                              (0 is b, 1 is a)              lists 0 and truth 0 are one pair; so are 3 and 1

| array                                 | indexed by            | holds                                                 |
|---------------------------------------|-----------------------|-------------------------------------------------------|
| `Ids.list_rows`, `Judged.row`         | place                 | row of the frame                                      |
| `Ids.n_listed`, `Judged.n`            | user                  | rows of each                                          |
| `Ids.item`, `Ids.truth_item`          | row of the frame      | number of the item                                    |
| `Matches`, but for `length`           | judged row of a list  | its user, rank, place in the truth, score, ties       |
| `Joined.rank`                         | row of recs           | rank; 0: left out                                     |
| `Joined.truth_rows`                   | relevant row          | row of the truth                                      |

What usually holds costs nothing: rows that are in order are cut and not gathered, and
no array says so of each of them.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.encoding import (
    distinct,
    grouped,
    hashes_of,
    positions,
    repeats_follow,
    run_starts,
)
from recnb.data.order import (
    Block,
    Numbers,
    average_over_ties,
    match_pairs,
    order_lists,
    padded,
    repeats_a_rank,
)
from recnb.data.parallel import BLOCK, in_turn
from recnb.data.sheet import in_floats, is_relevant
from recnb.errors import OptionError
from recnb.metrics.hits import (
    Floats,
    Hits,
    Ints,
    in_order,
    order_from_highest,
    stands_from_highest,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of both frames as numbers, and the rows of each list together."""

    # : of either frame: those with a list in the order of their lists, then the others
    users: pl.Series
    by_id: Ints | None  #: users, in the order of their ids; None: they stand so
    n_listed: Ints  #: per user, the rows of recommendations
    list_rows: Ints | None  #: per place in the lists, its row; None: places are rows
    truth_user: Ints  #: per row of the truth
    item: Numbers  #: per row of recommendations
    truth_item: Numbers  #: per row of the truth
    texts: (
        tuple[pl.Series, pl.Series] | None
    )  #: the items of both frames, where numbers are hashes: items that differ may have one
    n_items: int  #: how many there are, where numbers are positions among all


def number_ids(
    recs: pl.DataFrame, truth: pl.DataFrame, items: pl.Series | None = None
) -> Ids:
    """Give the users and items of both frames numbers; with `items`, all there are, an
    item's number is its position there.
    """
    list_rows, starts = _rows_by_user(recs["user"])
    users = recs["user"].gather(starts if list_rows is None else list_rows[starts])
    truth_user = positions(users, truth["user"])
    if (missing := truth_user < 0).any():
        without_list = truth["user"].filter(pl.Series(missing))
        others = distinct(without_list)
        truth_user[missing] = len(users) + positions(others, without_list)
        users = pl.concat([users, others])
    n_listed = np.zeros(len(users), dtype=np.int64)
    n_listed[: len(starts)] = np.diff(starts, append=recs.height)
    sides, texts = (recs["item"], truth["item"]), None
    if items is not None:
        numbers = [positions(items, side).view(np.uint64) for side in sides]
    elif sides[0].dtype == pl.Int64:
        numbers = [side.to_numpy().view(np.uint64) for side in sides]
    else:
        numbers, texts = [hashes_of(side) for side in sides], sides
    return Ids(
        users=users,
        by_id=None if users.is_sorted() else users.arg_sort().to_numpy(),
        n_listed=n_listed,
        list_rows=list_rows,
        truth_user=truth_user,
        item=numbers[0],
        truth_item=numbers[1],
        texts=texts,
        n_items=0 if items is None else len(items),
    )


def _rows_by_user(users: pl.Series) -> tuple[Ints | None, Ints]:
    """Return the rows with those of each user together, None if they stand so; and the
    place of each user's first.
    """
    if len(users) <= BLOCK or repeats_follow(users):
        starts = run_starts(users)
        first = users.gather(starts)
        hashes = np.sort(hashes_of(first))
        if (hashes[1:] != hashes[:-1]).all() or first.n_unique() == len(first):
            return None, starts
    return grouped(users)


class RepeatError(Exception):
    """What cannot be joined holds twice: a "rank" of a list, a "pair" of user and item,
    or a "hash" of items that differ.
    """


class Judged(NamedTuple):
    """The rows of the truth by user, the most relevant of each first."""

    row: Ints  #: per place, the row of the frame
    grade: Floats  #: per place, the relevance
    n: Ints  #: per user, the number of rows
    ends: Ints  #: the place of each user's first row; after them, how many there are

    @classmethod
    def of(cls, truth: pl.DataFrame, ids: Ids) -> Judged:
        """Put the rows of the truth in order; equal ones stay as they are."""
        user, grade = ids.truth_user, truth["relevance"].to_numpy()
        stands = stands_from_highest(user, grade)
        row = np.arange(len(user)) if stands else order_from_highest(user, grade)
        n = np.bincount(user, minlength=len(ids.users))
        return cls(row, grade if stands else grade[row], n, np.r_[0, np.cumsum(n)])


class Matches(NamedTuple):
    """The rows of lists that are judged, padding included, and the lists."""

    user: Ints  #: per row, as all but the last
    rank: Ints
    place: Ints  #: in the truth
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


def join(
    recs: pl.DataFrame, truth: pl.DataFrame, ids: Ids, convention: Convention
) -> Joined:
    """Join lists with the truth, under an order by rank, score or row; the caller says
    of a RepeatError what is repeated.

    Relevance may be below 0 where `judged_only` leaves out what such a grade says was
    not judged.
    """
    _refuse_contradictions(convention)
    column, judged = order_column(recs, convention), Judged.of(truth, ids)
    list_ends, is_given = np.r_[0, np.cumsum(ids.n_listed)], convention.keeps_ranks
    rank = (
        recs["rank"].to_numpy() if is_given else np.empty(recs.height, dtype=np.int64)
    )

    def match(users_of_block: tuple[int, int]) -> Matches:
        first, last = users_of_block
        places, truth_places = (
            slice(*list_ends[[first, last]]),
            slice(*judged.ends[[first, last]]),
        )
        rows = places if ids.list_rows is None else ids.list_rows[places]
        users, truth_row = np.arange(last - first), judged.row[truth_places]
        block = Block(
            n_users=len(users),
            user=np.repeat(users, ids.n_listed[first:last]),
            item=ids.item[rows],
            score=column[rows] if convention.order == "score" else -column[rows],
            row=rows,
            truth_user=np.repeat(users, judged.n[first:last]),
            truth_item=ids.truth_item[truth_row],
            grade=judged.grade[truth_places],
            truth_row=truth_row,
        )
        if convention.order == "rank" and repeats_a_rank(block):
            raise RepeatError("rank")
        pairs = match_pairs(block, ids.texts)
        if pairs is None:
            raise RepeatError("hash")
        if pairs.truth_repeats or (
            len(pairs.copy) and convention.duplicates == "error"
        ):
            raise RepeatError("pair")
        if convention.candidates == "padded":
            block, pairs = padded(block, pairs)
        lists = order_lists(block, pairs, convention)
        if not is_given:
            rank[rows] = lists.rank[: block.n_listed]
        kept = lists.rank[pairs.row] > 0
        row = pairs.row[kept]
        above, tied = lists.sharing(row)
        return Matches(
            user=first + block.user[row],
            rank=lists.rank[row],
            place=truth_places.start + pairs.truth_row[kept],
            score=block.score[row],
            above=above,
            tied=tied,
            length=lists.length,
        )

    blocks = _blocks_of(ids.n_listed + judged.n)
    try:
        found = in_turn(blocks, match) if len(blocks) > 1 else map(match, blocks)
        matches = Matches(*map(np.concatenate, zip(*found, strict=True)))
    except RepeatError as problem:
        if ids.texts is None or problem.args != ("hash",):
            raise
        return join(
            recs,
            truth,
            number_ids(recs, truth, distinct(pl.concat(ids.texts))),
            convention,
        )
    if convention.negative_relevance == "zero":
        judged = judged._replace(grade=judged.grade.clip(min=0.0))
    return find_hits(matches, ids, judged, convention, rank)


def find_hits(
    matches: Matches, ids: Ids, judged: Judged, convention: Convention, rank: Ints
) -> Joined:
    """Find which judged rows count, for whom, and what there is to find; `rank` is that
    of each row of recommendations.
    """
    n_users, n_places, ties = len(ids.users), len(judged.row), convention.ties
    relevant = is_relevant(judged.grade, convention)
    if convention.judged == "list" and convention.candidates != "catalogue":
        relevant &= _marked(matches.place, n_places)
    if relevant.all() and convention.duplicates != "rows":
        listed, before, starts = None, None, judged.ends  # every place counts, once
    else:
        times = relevant.astype(np.int64)
        if convention.duplicates == "rows":
            times *= np.maximum(np.bincount(matches.place, minlength=n_places), 1)
        listed, before = (
            np.repeat(np.arange(n_places), times),
            np.r_[0, np.cumsum(times)],
        )
        starts = before[judged.ends]
    n_relevant = np.diff(starts)
    averaged = _averaged(ids, judged, n_relevant > 0, convention)
    everyone = ids.by_id is None and averaged.all()  # who keep their numbers
    by_id = np.arange(n_users) if ids.by_id is None else ids.by_id
    evaluated = slice(None) if everyone else by_id[averaged[by_id]]
    number = np.zeros(n_users, dtype=np.int64)
    number[evaluated] = np.arange(averaged.sum())

    by_sign = (
        convention.nonpositive_scores == "never_hit" and convention.order == "score"
    )
    hit = np.flatnonzero(
        relevant[matches.place]
        & averaged[matches.user]
        & ((matches.score > 0) | (not by_sign))
    )
    hit = hit[_by_rank(number[matches.user[hit]], matches.rank[hit])]
    if convention.duplicates == "hit_once":
        hit = hit[np.sort(np.unique(matches.place[hit], return_index=True)[1])]
    user, hit_rank, place = (
        column[hit] for column in (matches.user, matches.rank, matches.place)
    )
    if ties in ("max_rank", "floor_mean_rank"):
        above, tied = matches.above[hit], matches.tied[hit]
        hit_rank = above + tied if ties == "max_rank" else (2 * above + 1 + tied) // 2
    length = matches.length
    if convention.candidates == "catalogue":
        truth_user = np.repeat(np.arange(n_users), judged.n)
        missed = np.flatnonzero(
            relevant
            & averaged[truth_user]
            & ~_marked(matches.place, n_places)
            & (not by_sign)
        )
        missed = missed[np.argsort(judged.row[missed])]
        below, length = _below_lists(
            ids, length, truth_user[missed], judged.row[missed], convention
        )
        user, place, hit_rank = (
            np.r_[user, truth_user[missed]],
            np.r_[place, missed],
            np.r_[hit_rank, below],
        )
        order = _by_rank(number[user], hit_rank)
        user, place, hit_rank = user[order], place[order], hit_rank[order]

    n_of_user, truth_row = (
        n_relevant[evaluated],
        place if before is None else before[place],
    )
    if not everyone:
        by_user = ranges(starts[evaluated], n_of_user)
        listed = by_user if listed is None else listed[by_user]
        moved = np.zeros(
            n_users, dtype=np.int64
        )  # per user, how far the rows that count go, to be in the order of ids
        moved[evaluated] = np.cumsum(n_of_user) - n_of_user - starts[evaluated]
        truth_row = truth_row + moved[user]
    hits = Hits(
        user=number[user],
        rank=hit_rank,
        list_length=length[evaluated],
        relevance=judged.grade[place],
        truth_row=truth_row,
        truth_user=np.repeat(np.arange(len(n_of_user)), n_of_user),
        truth_relevance=judged.grade if listed is None else judged.grade[listed],
        max_relevance=float(judged.grade.max(initial=0.0)),
    )
    return Joined(
        users=ids.users[evaluated],
        hits=average_over_ties(hits, matches.above[hit], matches.tied[hit])
        if ties == "expected"
        else hits,
        truth_rows=judged.row if listed is None else judged.row[listed],
        rank=rank,
        in_both=bool(((ids.n_listed > 0) & (judged.n > 0)).any()),
        n_without_relevant=int((n_relevant == 0).sum()),
        has_gaps=convention.keeps_ranks
        and convention.candidates == "list"
        and bool((matches.length != ids.n_listed).any()),
    )


def _averaged(
    ids: Ids, judged: Judged, has_relevant: Mask, convention: Convention
) -> Mask:
    """Return which users count in a mean."""
    with_list, with_truth = ids.n_listed > 0, judged.n > 0
    averaged = {
        "truth": with_truth,
        "recs": with_list & (with_truth | (not convention.judged_only)),
        "both": with_list & with_truth,
        "union": with_truth | (not convention.judged_only),
    }[convention.averaged_users]
    return averaged & has_relevant if convention.no_relevant == "skip" else averaged


def ranges(starts: Ints, counts: Ints) -> Ints:
    """Concatenate the whole numbers from each start on, as many as it counts: of 5 and
    0, 2 and 3 they are 5, 6, 0, 1, 2.
    """
    ends = np.cumsum(counts)
    numbers = np.arange(ends[-1] if len(ends) else 0)
    numbers += np.repeat(starts - (ends - counts), counts)
    return numbers


def _blocks_of(lengths: Ints) -> list[tuple[int, int]]:
    """Cut users into blocks of about as many rows each: the first user of each, and the
    one after its last.
    """
    ends = np.cumsum(lengths)
    n = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(BLOCK, n, BLOCK)) + 1
    return list(pairwise(np.unique(np.r_[0, cuts, len(ends)]).tolist())) or [(0, 0)]


def _marked(places: Ints, n: int) -> Mask:
    """Say of each of n places whether it is among these."""
    found = np.zeros(n, dtype=bool)
    found[places] = True
    return found


def _by_rank(user: Ints, rank: Ints) -> Ints | slice:
    """Return the stable order by user, then rank; all rows as they stand, if that is
    it.
    """
    key = user * (int(rank.max(initial=0)) + 1) + rank
    return slice(None) if (key[1:] >= key[:-1]).all() else in_order(key)


def _below_lists(
    ids: Ids, length: Ints, user: Ints, row: Ints, convention: Convention
) -> tuple[Ints, Ints]:
    """Return the ranks of items if the whole catalogue is ranked below each list,
    sorted by id; and the lengths of all lists then.

    An item's place is the list's length and its number among all items, less those
    before it that the list holds already.
    """
    n_items, listed = ids.n_items, np.repeat(np.arange(len(ids.users)), ids.n_listed)
    item = ids.item.view(np.int64)
    held = np.unique(
        listed * n_items + (item if ids.list_rows is None else item[ids.list_rows])
    )
    end = length + n_items - np.bincount(held // n_items, minlength=len(length))
    if convention.ties != "first":
        return end[user], end
    number = ids.truth_item.view(np.int64)[row]
    before = np.searchsorted(held, user * n_items + number) - np.searchsorted(
        held, user * n_items
    )
    return length[user] + number - before + 1, end


def order_column(recs: pl.DataFrame, convention: Convention) -> Floats | Ints:
    """Return what orders lists: rank, number of the row, or score in the convention's
    precision.
    """
    if convention.order == "rank":
        return recs["rank"].to_numpy()
    if convention.order == "row":
        return np.arange(recs.height)
    if convention.score_dtype != "float32":
        return in_floats(recs["score"])
    with np.errstate(
        over="ignore"
    ):  # what is too large becomes infinite, as it does in those libraries
        return (
            recs["score"]
            .cast(pl.Float64)
            .to_numpy()
            .astype(np.float32)
            .astype(np.float64)
        )


def _refuse_contradictions(convention: Convention) -> None:
    ties, shares_ranks = (
        convention.ties,
        convention.ties in ("expected", "max_rank", "floor_mean_rank"),
    )
    if convention.candidates == "catalogue" and (
        convention.judged_only or ties not in ("first", "max_rank")
    ):
        raise OptionError(
            "candidates='catalogue' goes with ties='first' or 'max_rank', and "
            "without judged_only=True."
        )
    if ties == "expected" and convention.duplicates == "hit_once":
        raise OptionError(
            "ties='expected' has no mean for duplicates='hit_once': choose duplicates='dedupe'."
        )
    if convention.judged_only and shares_ranks:
        problem = (
            f"ties={ties!r} gives equal scores no ranks of their own, from which "
            f"items could be left out: "
        )
        raise OptionError(f"{problem}choose ties='first'.")
