"""The join of recommendations with the truth, under any convention: what is hit, at which rank, and what there was to hit.

1. `number_ids`: users of both frames get a number each, items one that equal items share, and the rows of each user are put
   together. Nothing is moved: a row keeps its number in its frame, and a *place* is a position in the order by user.
2. `match_pairs` (`pairs.py`): which rows of a list are judged, and which pairs are repeated.
3. `order_lists` (`order.py`): the rank of each row, what is padding included.
4. `find_hits`: which judged rows count, for whom, and how much there is to find.

Steps 2 and 3 see a block of users at a time, as many rows as the processor's cache holds, on all cores.

    recs                      lists, by user                truth, by user, best first         hits
    row  user item score      place  row  user  rank        place  row  user  item grade       user  rank  truth_row
    0    b    i    9          0      0    1     1           0      2    0     k    3           0     2     0
    1    a    j    8   --->   1      3    1     2           1      0    0     x    1           1     1     2
    2    a    k    5          2      1    0     1           2      1    1     i    2
    3    b    x    1          3      2    0     2
                              (0 is a, 1 is b)              list place 3 and truth place 0 are one pair; so are 0 and 2

| array                         | indexed by                    | holds                                        |
|-------------------------------|-------------------------------|----------------------------------------------|
| `Ids.lists.rows`              | place in the lists            | row of recs (None: places are rows)          |
| `Ids.lists.starts`, `list_user` | list, in the order of recs  | place of its first row; number of its user   |
| `Ids.truth_rows`              | place in the truth            | row of the truth                             |
| `Ids.n_judged`                | user                          | rows of the truth                            |
| `Ids.item`, `Ids.truth_item`  | row of recs, row of the truth | number of the item                           |
| `Matches.*`                   | judged row of a list          | its list, rank, place in the truth           |
| `Joined.rank`                 | place in the lists            | rank; 0: left out as a repeat                |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.encoding import coded_together, hashes_of, positions
from recnb.data.order import BY_ITEM, average_over_ties, order_lists, repeats_a_rank
from recnb.data.pairs import Block, Numbers, match_pairs, padded
from recnb.data.parallel import in_turn
from recnb.data.population import Mask, is_averaged
from recnb.data.relevance import is_relevant
from recnb.data.user_rows import UserRows, blocks_of, ranges
from recnb.errors import OptionError
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Floats, Hits, Ints
from recnb.metrics.sorting import in_order, order_from_highest, stands_from_highest


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of both frames as numbers, and the rows of each user together."""

    users: pl.Series  #: of either frame, sorted
    lists: UserRows  #: the rows of recommendations
    list_user: Ints  #: per list, the position of its user in `users`
    truth_rows: Ints  #: per place in the truth, its row
    n_judged: Ints  #: per user, the rows of the truth
    item: Numbers  #: per row of recommendations
    truth_item: Numbers  #: per row of the truth
    kind: Literal["ids", "hashes", "positions"]  #: what items' numbers are; items that differ may have one hash
    n_items: int = 0  #: how many there are, if numbers are positions among all

    @cached_property
    def list_lengths(self) -> Ints:
        """Count the recommended rows of each user."""
        lengths = np.zeros(len(self.users), dtype=np.int64)
        lengths[self.list_user] = self.lists.lengths
        return lengths


def number_ids(recs: pl.DataFrame, truth: pl.DataFrame, items: pl.Series | None = None) -> Ids:
    """Number the users and items of both frames; with `items`, all there are, an item's number is its position there."""
    lists, judged = UserRows.of(recs["user"]), UserRows.of(truth["user"])
    users, list_user, judged_user = coded_together(lists.users, judged.users)
    n_judged = np.zeros(len(users), dtype=np.int64)
    n_judged[judged_user] = judged.lengths
    by_user = np.argsort(judged_user)
    truth_rows = ranges(judged.starts[by_user], judged.lengths[by_user])
    truth_rows = truth_rows if judged.rows is None else judged.rows[truth_rows]
    sides = recs["item"], truth["item"]
    kind: Literal["ids", "hashes", "positions"]
    if items is not None:
        item, truth_item = (positions(items, side).view(np.uint64) for side in sides)
        kind = "positions"
    elif sides[0].dtype == pl.Int64:
        item, truth_item = (side.to_numpy().view(np.uint64) for side in sides)
        kind = "ids"
    else:
        item, truth_item = map(hashes_of, sides)
        kind = "hashes"
    n_items = 0 if items is None else len(items)
    return Ids(users, lists, list_user, truth_rows, n_judged, item, truth_item, kind, n_items)


def needs_positions(convention: Convention) -> bool:
    """Whether items are put in order by their ids."""
    by_item = convention.ties in BY_ITEM and (convention.order == "score" or convention.candidates == "padded")
    return by_item or convention.candidates == "catalogue"


class JoinError(Exception):
    """What keeps two frames from being joined; the caller says it in words, or finds another way."""

    def __init__(self, why: Literal["ranks", "pairs", "hashes"]) -> None:
        super().__init__(why)
        #: a list gives a rank twice; a pair is repeated where it may not be; items that differ have one number
        self.why = why


@dataclass(frozen=True, eq=False)
class Matches:
    """The rows of lists that are judged, padding included, and the lists."""

    list: Ints  #: per row, the number of its list
    rank: Ints
    truth_place: Ints
    score: Floats | Ints
    above: Ints | None  #: per row, how many rows score higher, where equal scores share ranks
    tied: Ints | None
    length: Ints  #: per list, the last rank

    @classmethod
    def together(cls, blocks: Sequence[Matches]) -> Matches:
        """Put the rows of all blocks together."""
        if len(blocks) == 1:
            return blocks[0]
        columns: dict[str, Any] = {}
        for name in (own.name for own in fields(cls)):
            parts = [getattr(block, name) for block in blocks]
            columns[name] = None if parts[0] is None else np.concatenate(parts)
        return cls(**columns)

    def at(self, rows: Ints) -> Matches:
        """Return some of the rows."""
        columns: dict[str, Any] = {own.name: getattr(self, own.name) for own in fields(self)}
        some: dict[str, Any] = {
            name: None if column is None else column[rows] for name, column in columns.items() if name != "length"
        }
        return replace(self, **some)


@dataclass(frozen=True, eq=False)
class Joined:
    """What is kept of two frames."""

    users: pl.Series  #: the users evaluated, sorted
    hits: Hits
    truth_rows: Ints  #: per relevant item of `hits`, its row of the truth
    rank: Ints  #: per place in the lists; 0: left out as a repeat; empty where ranks are data
    with_list: Mask  #: per user of either frame, as the next
    with_truth: Mask
    averaged: Mask
    n_without_relevant: int  #: users of either frame who have no relevant item
    has_gaps: bool  #: whether some list leaves a rank empty


def join(recs: pl.DataFrame, truth: pl.DataFrame, ids: Ids, convention: Convention) -> Joined:
    """Join lists with the truth.

    Parameters
    ----------
    recs
        item, and what the convention's order says: rank or score, checked.
    truth
        item, relevance.
    ids
        The ids of both.
    convention
        Its order is rank, score or row.

    Raises
    ------
    JoinError
        If lists repeat ranks, or a pair is repeated that the convention refuses, or that the truth repeats.
    """
    _refuse_contradictions(convention)
    everyone = np.r_[ids.list_user, np.flatnonzero(ids.list_lengths == 0)]
    n_listed, n_judged = ids.list_lengths[everyone], ids.n_judged[everyone]
    ends, truth_starts = np.r_[0, np.cumsum(n_listed)], (np.cumsum(ids.n_judged) - ids.n_judged)[everyone]
    score, grade = scores_of(recs, convention), truth["relevance"].to_numpy()
    ranks_given = convention.order == "rank" and convention.duplicates != "dedupe"
    rank, truth_rows = np.zeros(0 if ranks_given else recs.height, dtype=np.int64), ids.truth_rows.copy()

    def look(some: tuple[int, int]) -> Matches | JoinError:
        users, n_users = slice(*some), some[1] - some[0]
        own = slice(ends[some[0]], ends[some[1]])
        rows = own if ids.lists.rows is None else ids.lists.rows[own]
        judged, judged_user = (
            ranges(truth_starts[users], n_judged[users]),
            np.repeat(np.arange(n_users), n_judged[users]),
        )
        judged_rows = truth_rows[judged]
        grades = grade[judged_rows]
        if not stands_from_highest(judged_user, grades):
            order = order_from_highest(judged_user, grades)
            judged_rows, grades = judged_rows[order], grades[order]
            truth_rows[judged] = judged_rows
        block = Block(
            n_users=n_users,
            user=np.repeat(np.arange(n_users), n_listed[users]),
            item=ids.item[rows],
            score=score[rows],
            row=rows,
            truth_user=judged_user,
            truth_item=ids.truth_item[judged_rows],
            grade=grades,
            truth_row=judged_rows,
        )
        if convention.order == "rank" and repeats_a_rank(block):
            return JoinError("ranks")
        pairs = match_pairs(block, *((recs["item"], truth["item"]) if ids.kind == "hashes" else (None, None)))
        if pairs is None:
            return JoinError("hashes")
        if pairs.truth_repeats or (len(pairs.copy) and convention.duplicates == "error"):
            return JoinError("pairs")
        if convention.candidates == "padded":
            block, pairs = padded(block, pairs)
        ranked = order_lists(block, pairs, convention)
        row, truth_row = pairs.row, pairs.truth_row
        if ranked.rank is not None and not ranks_given:
            rank[own] = ranked.rank[: block.n_listed]
        if ranked.rank is not None and convention.duplicates == "dedupe" and len(pairs.copy):
            kept = ranked.rank[row] > 0
            row, truth_row = row[kept], truth_row[kept]
        return Matches(
            list=some[0] + block.user[row],
            rank=block.given_rank[row] if ranked.rank is None else ranked.rank[row],
            truth_place=judged[truth_row],
            score=block.score[row],
            above=None if ranked.above is None else ranked.above[row],
            tied=None if ranked.tied is None else ranked.tied[row],
            length=ranked.length,
        )

    blocks = list(in_turn(blocks_of(n_listed + n_judged), look))
    for why in ("ranks", "hashes", "pairs"):
        for problem in blocks:
            if isinstance(problem, JoinError) and problem.why == why:
                raise problem
    matches = Matches.together([block for block in blocks if isinstance(block, Matches)])
    lists = replace(matches, list=everyone[matches.list], length=_scattered(matches.length, everyone))
    return find_hits(lists, ids, grade[truth_rows], convention, rank=rank, truth_rows=truth_rows)


def find_hits(
    matches: Matches, ids: Ids, grade: Floats, convention: Convention, *, rank: Ints, truth_rows: Ints
) -> Joined:
    """Find which judged rows count, for whom, and what there is to find.

    `matches.list` is the number of the user here, `matches.length` is per user, `grade` and `truth_rows` per place in the truth.
    """
    truth_user = np.repeat(np.arange(len(ids.users)), ids.n_judged)
    relevant = is_relevant(grade, convention)
    if convention.judged == "list" and convention.candidates != "catalogue":
        relevant &= _among(matches.truth_place, len(grade))
    with_list, with_truth = ids.list_lengths > 0, ids.n_judged > 0
    has_relevant = _among(truth_user[relevant], len(ids.users))
    averaged = is_averaged(with_list, with_truth, has_relevant, convention)
    counts = relevant if averaged.all() else relevant & averaged[truth_user]

    found = _that_count(matches, counts, convention)
    user, place, hit_rank, length = found.list, found.truth_place, _shared(found, convention.ties), matches.length
    if convention.candidates == "catalogue":
        missed = np.flatnonzero(counts & ~_among(matches.truth_place, len(grade)))
        missed = missed[:0] if _by_sign(convention) else missed[np.argsort(truth_rows[missed])]
        below, length = _below_lists(ids, length, truth_user[missed], ids.truth_item[truth_rows[missed]], convention)
        user, place, hit_rank = np.r_[user, truth_user[missed]], np.r_[place, missed], np.r_[hit_rank, below]
    if (order := _by_rank(user, hit_rank)) is not None:
        user, place, hit_rank = user[order], place[order], hit_rank[order]

    listed, first = np.flatnonzero(counts), np.cumsum(counts) - 1  # places of the truth that count; and the reverse
    if convention.duplicates == "rows":
        times = np.maximum(np.bincount(matches.truth_place, minlength=len(grade)), 1) * counts
        listed, first = np.repeat(listed, times[listed]), np.cumsum(times) - times
    number = np.cumsum(averaged) - 1
    hits = Hits(
        user=number[user],
        rank=hit_rank,
        list_length=length[averaged],
        relevance=grade[place],
        truth_row=first[place],
        truth_user=number[truth_user[listed]],
        truth_relevance=grade[listed],
        max_relevance=float(grade.max(initial=0.0)),
    )
    if convention.ties == "expected" and found.above is not None and found.tied is not None:
        hits = average_over_ties(hits, found.above, found.tied)
    return Joined(
        users=ids.users if averaged.all() else ids.users.filter(pl.Series(averaged)),
        hits=hits,
        truth_rows=truth_rows[listed],
        rank=rank,
        with_list=with_list,
        with_truth=with_truth,
        averaged=averaged,
        n_without_relevant=int((~has_relevant).sum()),
        has_gaps=_may_have_gaps(convention) and bool((matches.length != ids.list_lengths).any()),
    )


def _that_count(matches: Matches, counts: Mask, convention: Convention) -> Matches:
    """Return the matches that are hits, by user, then place."""
    kept = counts[matches.truth_place]
    if _by_sign(convention):
        kept &= matches.score > 0
    hit = np.flatnonzero(kept)
    if (order := _by_rank(matches.list[hit], matches.rank[hit])) is not None:
        hit = hit[order]
    if convention.duplicates == "hit_once":
        hit = hit[np.sort(np.unique(matches.truth_place[hit], return_index=True)[1])]
    return matches.at(hit)


def _shared(found: Matches, ties: str) -> Ints:
    """Return the rank of each hit, which equal scores may share."""
    if found.above is None or found.tied is None or ties not in ("max_rank", "floor_mean_rank"):
        return found.rank
    return found.above + found.tied if ties == "max_rank" else (2 * found.above + 1 + found.tied) // 2


def _by_sign(convention: Convention) -> bool:
    """Whether a score decides if an item can be a hit."""
    return convention.nonpositive_scores == "never_hit" and convention.order == "score"


def _may_have_gaps(convention: Convention) -> bool:
    """Whether ranks are data that nothing closes up."""
    return convention.order == "rank" and convention.candidates == "list" and convention.duplicates != "dedupe"


def _among(places: Ints, n: int) -> Mask:
    """Say of each of n places whether it is among these."""
    found = np.zeros(n, dtype=bool)
    found[places] = True
    return found


def _by_rank(user: Ints, rank: Ints) -> Ints | None:
    """Return the stable order by user, then rank; None if they are in it."""
    key = user * (int(rank.max(initial=0)) + 1) + rank
    return None if (key[1:] >= key[:-1]).all() else in_order(key)


def _below_lists(ids: Ids, length: Ints, user: Ints, item: Numbers, convention: Convention) -> tuple[Ints, Ints]:
    """Return the ranks of items if the whole catalogue is ranked below each list, sorted by id; and the lengths of all lists then.

    No users × items table is made: an item's place is the list's length and its number among all items, less those
    before it that the list holds already.
    """
    n_items, listed = int(ids.n_items), np.repeat(ids.list_user, ids.lists.lengths)
    item_of = ids.item.view(np.int64)
    held = np.unique(listed * n_items + (item_of if ids.lists.rows is None else item_of[ids.lists.rows]))
    end = length + n_items - np.bincount(held // n_items, minlength=len(length))
    if convention.ties != "first":
        return end[user], end
    number = item.view(np.int64)
    before = np.searchsorted(held, user * n_items + number) - np.searchsorted(held, user * n_items)
    return np.asarray(length[user] + number - before + 1), end


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
    if convention.candidates == "catalogue" and convention.ties not in ("first", "max_rank"):
        first, shared = "ties='first'", "ties='max_rank'"
        raise OptionError("candidates='catalogue' goes with ", first, " or ", shared, ".")
    if convention.ties == "expected" and convention.duplicates == "hit_once":
        once, dedupe = "duplicates='hit_once'", "duplicates='dedupe'"
        raise OptionError("ties='expected' has no mean for ", once, ": choose ", dedupe, ".")


def _scattered(values: Ints, to: Ints) -> Ints:
    scattered = np.empty_like(values)
    scattered[to] = values
    return scattered
