"""Lists matched with the truth and put in order, in numpy, under any convention.

Where a library departs from the plain order, its own step is one of these:

| decision                      | step                      | when                                 |
|-------------------------------|---------------------------|--------------------------------------|
| contradictions                | `refuse_contradictions`   | `join`: first of all                 |
| `score_dtype="float32"`       | `single_precision`        | before ranking: what orders lists    |
| `candidates="padded"`         | `padded`                  | `rank_rows`: rows are added          |
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
| `ties="expected"`             | `expected_ties.py`        | after hits: spread over their ranks  |

A *listed row* is a row of recommendations, or one that `padded` adds after them; see
`matches.py` for the other words. `Ints | slice`: rows that stand in order are a slice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.conventions.convention import Ties
from recnb.data.ids import each_once, positions
from recnb.data.matches import (
    GradedTruth,
    Matches,
    RowTies,
    TruthRows,
    judging_rows,
    only_judged_lists_count,
    raise_for_repeats,
)
from recnb.data.role_table import RoleTable
from recnb.errors import OptionError
from recnb.metrics.hits import (
    Floats,
    Ints,
    count_within,
    order_from_highest,
    run_starts,
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

    lists: RoleTable  #: recommended rows, of lists that count
    truth: GradedTruth
    users: pl.Series  #: of both tables, sorted by id
    #: [listed row] -> user.
    user: Ints
    #: [listed row] -> score, higher is better; under order="rank" or "row" it is minus
    #: the rank or the frame row.
    score: Floats | Ints
    #: [listed row] -> rank from 1, and after `rank_rows` 0 if the row left its list.
    #: Before it, these are given ranks if they are kept (`Convention.keeps_ranks`), else 0.
    rank: Ints
    truth_by_user: TruthRows
    #: [listed row] -> the truth row that judges it; -1: not judged.
    truth_row: Ints
    all_items: pl.Series | None  #: as in `join`
    #: By listed row, as in `Matches`.
    ties: RowTies | None = None

    @property
    def n_recommended(self) -> int:
        """Number of recommended rows, which stand before added ones."""
        return self.lists.rows.height

    @property
    def n_rows(self) -> Ints:
        """[user] -> number of recommended rows."""
        recommended = self.user[: self.n_recommended]
        return np.bincount(recommended, minlength=len(self.users))

    @cached_property
    def last_rank(self) -> Ints:
        """[user] -> the last of its ranks; 0: there is none."""
        last_rank = np.zeros(len(self.users), dtype=np.int64)
        np.maximum.at(last_rank, self.user, self.rank)
        return last_rank

    @property
    def gives_ranks_once(self) -> bool:
        """Whether no list gives a rank twice, as cells tell; False if they would be many.

        There is a cell for each rank from 1 to the last of each list. More than four for
        each row are not made: ranks with such gaps may still be given once.
        """
        n_cells = int(self.last_rank.sum())
        n_rows = len(self.rank)
        if not n_rows <= n_cells <= 4 * n_rows:
            return False
        first_cell = np.cumsum(self.last_rank) - self.last_rank
        is_given = np.zeros(n_cells, dtype=bool)
        is_given[first_cell[self.user] + self.rank - 1] = True
        return bool(np.count_nonzero(is_given) == n_rows)

    # Items are numbered if a step puts them in order or tells them apart.

    @cached_property
    def items(self) -> pl.Series:
        """All items, sorted by id."""
        if self.all_items is not None:
            return self.all_items
        return each_once(self.lists["item"], self.truth.rows["item"])

    @cached_property
    def truth_item(self) -> Ints:
        """[truth row] -> position of its item among all."""
        item = positions(self.items, self.truth.rows["item"])
        return item[self.truth_by_user.frame_row]

    @cached_property
    def item(self) -> Ints:
        """[listed row] -> position of its item among all."""
        recommended = positions(self.items, self.lists["item"])
        added = self.truth_row[self.n_recommended :]
        return np.concatenate([recommended, self.truth_item[added]])

    @property
    def pair(self) -> Ints:
        """[listed row] -> the number of its pair of user and item."""
        return self.user * len(self.items) + self.item


def match(
    lists: RoleTable,
    truth: GradedTruth,
    convention: Convention,
    all_items: pl.Series | None = None,
) -> Matches:
    """Rank the rows of lists under any convention, and match them with the truth.

    `all_items` is as in `join`. Raises a RepeatError.
    """
    listed = listed_rows_of(lists, truth, convention, all_items)
    if convention.order == "rank" and not listed.gives_ranks_once:
        raise_for_repeats(listed.lists, ["user", "rank"])
    ranked = rank_rows(listed, convention)
    is_match = (ranked.truth_row >= 0) & (ranked.rank > 0)  # 0: the row left its list
    row = np.flatnonzero(is_match)
    last_rank = ranked.last_rank
    n_listed = np.bincount(ranked.user, minlength=len(ranked.users))
    matches = Matches(
        users=ranked.users,
        truth_by_user=ranked.truth_by_user,
        truth_row=ranked.truth_row[row],
        rank=ranked.rank[row],
        score=ranked.score[row],
        has_list=ranked.n_rows > 0,
        last_rank=last_rank,
        # No rank is given twice: a list with a rank beyond its number of rows has gaps.
        has_gaps=bool((last_rank > n_listed).any()),
    )
    if ranked.ties is not None:
        matches = replace(matches, ties=ranked.ties.of(row))
    if convention.candidates == "catalogue":
        return with_catalogue(matches, ranked, convention)
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
    return rank_rows(listed_rows_of(lists, truth, convention), convention).rank


# ---- rows as numbers


def listed_rows_of(
    lists: RoleTable,
    truth: GradedTruth,
    convention: Convention,
    all_items: pl.Series | None = None,
) -> ListedRows:
    """Return the recommended rows of lists that count as numbers, not ranked yet.

    Raises a RepeatError for repeated items that the convention refuses.
    """
    lists, users, user = counted_lists(lists, truth, convention)
    judging = judging_rows(lists, truth, convention)
    truth_by_user = truth.numbered_by(users)
    truth_row = truth_by_user.of_frame_rows(judging)
    rank = np.zeros_like(user)
    if convention.keeps_ranks:
        rank = lists["rank"].to_numpy()
    return ListedRows(
        lists=lists,
        truth=truth,
        users=users,
        user=user,
        score=order_values(lists, convention),
        rank=rank,
        truth_by_user=truth_by_user,
        truth_row=truth_row,
        all_items=all_items,
    )


def counted_lists(
    lists: RoleTable, truth: GradedTruth, convention: Convention
) -> tuple[RoleTable, pl.Series, Ints]:
    """Return the lists that count, the users of both tables, and the user of each row."""
    user = truth.user_lookup.positions_of(lists["user"])
    is_judged = user >= 0
    if is_judged.all():
        return lists, truth.users, user
    if only_judged_lists_count(convention):
        judged_rows = lists.rows.filter(pl.Series(is_judged))
        return lists.with_rows(judged_rows), truth.users, user[is_judged]
    users = each_once(lists["user"], truth.users)
    return lists, users, positions(users, lists["user"])


def order_values(lists: RoleTable, convention: Convention) -> Floats | Ints:
    """Return what orders lists, the highest first.

    It is the score in the convention's precision, or minus the rank or the row.
    """
    if convention.order == "rank":
        return -lists["rank"].to_numpy()
    if convention.order == "row":
        return -np.arange(lists.rows.height)
    if convention.score_dtype == "float32":
        return single_precision(lists["score"])
    return in_floats(lists["score"])


def in_floats(scores: pl.Series) -> Floats:
    """Return floats that sort as the scores do, and are above 0 where the scores are.

    With nonpositive_scores="never_hit" an item is a hit only if its score is above 0.

        scores    -5   2**53   2**53 + 1
        floats    -5   2**53   2**53        the last two have become equal
        places     1       2       3        in the sorted order, which tells them apart
        returned   0       1       2        counted from the highest score not above 0
    """
    floats = scores.cast(pl.Float64).to_numpy()
    are_exact = scores.dtype.is_float()
    if scores.dtype.is_integer():
        are_exact = bool(np.abs(floats).max(initial=0.0) < 2**53)
    if are_exact:
        return floats
    places = scores.rank("dense").to_numpy().astype(np.float64)
    place_of_zero = places[floats <= 0].max(initial=0.0)
    return np.asarray(places - place_of_zero)


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


# ---- while lists are ranked


def padded(listed: ListedRows) -> ListedRows:
    """Put the items of the truth that were not recommended below the lists.

    They are added at the end, in the order of the frame of the truth, with a score of
    minus infinity, which no recommended row has.
    """
    missed = missed_rows(listed)
    lowest_scores = np.full(len(missed), -np.inf)
    no_rank = np.zeros_like(missed)
    return replace(
        listed,
        user=np.concatenate([listed.user, listed.truth_by_user.user[missed]]),
        score=np.concatenate([listed.score, lowest_scores]),
        rank=np.concatenate([listed.rank, no_rank]),
        truth_row=np.concatenate([listed.truth_row, missed]),
    )


def missed_rows(listed: ListedRows) -> Ints:
    """Return the truth rows that judge no listed row, in the order of their frame."""
    is_missed = np.ones(len(listed.truth_by_user.user), dtype=bool)
    is_missed[listed.truth_row[listed.truth_row >= 0]] = False
    missed = np.flatnonzero(is_missed)
    return missed[np.argsort(listed.truth_by_user.frame_row[missed])]


def rank_rows(listed: ListedRows, convention: Convention) -> ListedRows:
    """Rank the rows of each list, the highest score first; add rows below, if any."""
    keeps_ranks = convention.keeps_ranks
    is_padded = convention.candidates == "padded"
    if keeps_ranks and not is_padded:
        return listed  # no row is added or leaves
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
    ranked = replace(listed, rank=rank)
    if convention.ties in SHARED:
        return with_ties(ranked, order)
    return ranked


def _order_from_top(listed: ListedRows, ties: Ties) -> Ints | slice:
    """Return all rows, user by user, those of each from the top down."""
    keeps_row_order = ties in ("first", *SHARED)  # of equal scores
    if is_in_order(listed.user, listed.score, equal_may_follow=keeps_row_order):
        return slice(None)
    return order_from_highest(listed.user, listed.score, tie_order(listed, ties))


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
    the judged ones. Under negative_relevance="zero" a relevance below 0 marks an item
    that was pooled and not judged, until `unjudged_as_zero`.
    """
    row = np.arange(len(listed.user))[order]
    if convention.duplicates == "dedupe":
        # From the top down, the first row of a pair is the highest.
        pair = pl.Series(listed.pair[row])
        row = row[pair.is_first_distinct().to_numpy()]
    if convention.judged_only:
        row = row[listed.truth_row[row] >= 0]
        if convention.below_0_leaves_lists:
            row = row[listed.truth_by_user.relevance[listed.truth_row[row]] >= 0]
    return row


def given_ranks_and_below(place: Ints, listed: ListedRows) -> Ints:
    """Return given ranks and, of rows that padding added, those after the last of them.

    `place` counts the rows of each user from the top down, where added rows come last.
    Of a user with three recommended rows and two added ones:

        place          1  2  3  4  5
        given rank     1  2  5  0  0      two are left empty, 3 and 4
        rank returned  1  2  5  6  7
    """
    n_empty = listed.last_rank - listed.n_rows  # [user], as no rank is given twice
    below = place + n_empty[listed.user]
    return np.where(listed.rank == 0, below, listed.rank)


def with_ties(listed: ListedRows, order: Ints | slice) -> ListedRows:
    """Return ranked lists with the ties of equal scores.

    Of a list in order:

        score   9  5  5  5
        rank    1  2  3  4
        above   0  1  1  1
        n_tied  1  3  3  3
    """
    rank_in_order = listed.rank[order]
    # Where each tie starts in the order, a score that is alone being a tie of one row.
    starts = run_starts(listed.user[order], listed.score[order])
    n_rows = np.diff(starts, append=len(rank_in_order))  # [tie]
    highest_rank = rank_in_order[starts]  # [tie]
    above = np.zeros_like(listed.rank)
    above[order] = np.repeat(highest_rank - 1, n_rows)
    n_tied = np.ones_like(listed.rank)
    n_tied[order] = np.repeat(n_rows, n_rows)
    return replace(listed, ties=RowTies(above, n_tied))


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


def unjudged_as_zero(truth: TruthRows, convention: Convention) -> TruthRows:
    """Return the truth with 0 for the relevance of items that were not judged.

    Under these decisions a relevance below 0, which marks them, was kept until here.
    """
    if not convention.below_0_leaves_lists:
        return truth
    return replace(truth, relevance=truth.relevance.clip(min=0.0))


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
