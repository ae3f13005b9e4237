"""The rows of lists as numbers, and those that the truth judges.

- A *listed row* is a row of recommendations, or one that `padded` adds after them.
- A *match* is a listed row that the truth judges.

`truth.py` has the other words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.ids import FEW_WANTED, each_once, positions
from recnb.data.list_order import refuse_repeats
from recnb.data.names import IDS
from recnb.data.role_table import RoleTable, repeated
from recnb.data.truth import GradedTruth, TruthRows
from recnb.metrics.hits import Bools, Floats, Ints


class RowTies(NamedTuple):
    """The tie that each row is in: the rows of its list with its score.

    It is on ranks above + 1 to above + n_tied.
    """

    #: [row] -> how many ranks are above its tie, empty ones included.
    above: Ints
    #: [row] -> how many rows its tie has, itself among them.
    n_tied: Ints

    @classmethod
    def alone(cls, rank: Ints) -> RowTies:
        """Return the ties of rows that are alone on their ranks."""
        return cls(rank - 1, np.ones_like(rank))

    def of(self, row: Ints) -> RowTies:
        """Return the ties of some rows."""
        return RowTies(self.above[row], self.n_tied[row])

    def followed_by(self, others: RowTies) -> RowTies:
        """Return these ties, and then others."""
        above = np.concatenate([self.above, others.above])
        n_tied = np.concatenate([self.n_tied, others.n_tied])
        return RowTies(above, n_tied)


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
    #: [listed row] -> the rank that was given and is kept (`Convention.keeps_ranks`), else 0.
    given_rank: Ints
    truth_by_user: TruthRows
    #: [listed row] -> the truth row that judges it; -1: not judged.
    truth_row: Ints
    all_items: pl.Series | None  #: as in `join`

    @classmethod
    def of(
        cls,
        lists: RoleTable,
        truth: GradedTruth,
        convention: Convention,
        all_items: pl.Series | None = None,
    ) -> ListedRows:
        """Return the recommended rows of lists that count.

        Repeated items that the convention refuses raise an error.
        """
        counted, users, user = _counted_lists(lists, truth, convention)
        frame_row = truth.pair_lookup.positions_of_rows(counted.rows[:, [*IDS]])
        if _repeats_an_item(counted, frame_row, convention):
            refuse_repeats(lists, convention)  # of all lists, whether they count or not
        truth_by_user = truth.numbered_by(users)
        given_rank = np.zeros_like(user)
        if convention.keeps_ranks:
            given_rank = counted["rank"].to_numpy()
        return cls(
            lists=counted,
            truth=truth,
            users=users,
            user=user,
            score=_order_values(counted, convention),
            given_rank=given_rank,
            truth_by_user=truth_by_user,
            truth_row=truth_by_user.truth_rows_of(frame_row),
            all_items=all_items,
        )

    @property
    def n_recommended(self) -> int:
        """Number of recommended rows, which stand before added ones."""
        return self.lists.rows.height

    @property
    def n_recommended_by_user(self) -> Ints:
        """[user] -> number of recommended rows."""
        recommended = self.user[: self.n_recommended]
        return np.bincount(recommended, minlength=len(self.users))

    def last_of(self, rank: Ints) -> Ints:
        """Return for each user the last of its ranks, given by row; 0: there is none."""
        last_rank = np.zeros(len(self.users), dtype=np.int64)
        np.maximum.at(last_rank, self.user, rank)
        return last_rank

    @cached_property
    def last_given_rank(self) -> Ints:
        """[user] -> the last of its given ranks; 0: there is none."""
        return self.last_of(self.given_rank)

    @property
    def repeats_a_rank(self) -> bool:
        """Whether a list gives a rank twice; no rows are added yet."""
        # A cell for each rank from 1 to the last of each list tells soonest, unless
        # ranks with gaps need many.
        last_rank = self.last_given_rank
        n_cells = int(last_rank.sum())
        n_rows = len(self.given_rank)
        if n_rows <= n_cells <= 4 * n_rows:
            first_cell = np.cumsum(last_rank) - last_rank
            is_given = np.zeros(n_cells, dtype=bool)
            is_given[first_cell[self.user] + self.given_rank - 1] = True
            if np.count_nonzero(is_given) == n_rows:
                return False
        return repeated(self.lists.rows, ["user", "rank"]).height > 0

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


class RankedRows(NamedTuple):
    """Listed rows, those that were added among them, with their ranks."""

    listed: ListedRows
    #: [listed row] -> rank, from 1; 0: the row left its list.
    rank: Ints
    #: [user] -> the last of its ranks; 0: it has no list.
    last_rank: Ints
    #: By listed row, as in `Matches`.
    ties: RowTies | None = None


@dataclass(frozen=True, eq=False)
class Matches:
    """The rows of lists that the truth judges, and the size of each list."""

    users: pl.Series  #: the users of both tables, sorted by id
    truth_by_user: TruthRows
    #: [match] -> truth row.
    truth_row: Ints
    #: [match] -> rank, from 1.
    rank: Ints
    #: [match] -> score; under order="rank" or "row" minus the rank or the frame row.
    score: Floats | Ints
    #: [user] -> whether anything was recommended.
    has_list: Bools
    #: [user] -> last rank of the list; 0: it has none.
    last_rank: Ints
    has_gaps: bool  #: whether some list leaves a rank empty
    #: By match. None: equal scores do not share ranks.
    ties: RowTies | None

    def ties_of(self, match: Ints) -> RowTies:
        """Return the ties that some matches are in."""
        if self.ties is None:
            return RowTies.alone(self.rank[match])
        return self.ties.of(match)


# ---- lists as numbers


def _counted_lists(
    lists: RoleTable, truth: GradedTruth, convention: Convention
) -> tuple[RoleTable, pl.Series, Ints]:
    """Return the lists that count, the users of both tables, and the user of each row."""
    # Hits, ranks, ties and repeats are within a list: of users whom the truth lacks, it
    # changes no number. With the catalogue below each list, its items stand in others.
    only_judged_users = convention.averaged_users in ("truth", "both")
    only_judged_users &= convention.candidates != "catalogue"
    rows = lists.rows
    if only_judged_users and rows.height > max(FEW_WANTED, 8 * truth.rows.height):
        # The truth lacks most users. The streaming engine leaves them out by hash on all
        # cores, where a look-up takes one.
        has_known_hash = pl.col("user").hash().is_in(truth.users.hash().implode())
        rows = rows.lazy().filter(has_known_hash).collect(engine="streaming")
    user = truth.user_lookup.positions_of(rows["user"])
    is_judged = user >= 0
    if is_judged.all():
        return lists.with_rows(rows), truth.users, user
    if only_judged_users:
        judged_rows = rows.filter(pl.Series(is_judged))
        return lists.with_rows(judged_rows), truth.users, user[is_judged]
    users = each_once(lists["user"], truth.users)
    return lists, users, positions(users, lists["user"])


def _repeats_an_item(lists: RoleTable, frame_row: Ints, convention: Convention) -> bool:
    """Return whether a list repeats an item that the convention refuses to repeat.

    `frame_row` has that of the truth for each row of lists; -1: there is none.
    """
    if convention.duplicates != "error":
        return False
    if convention.order == "rank" and not lists.ranks_are_places:
        # An item that nobody judged may be repeated: it is no hit and moves no other.
        times_listed = np.bincount(frame_row[frame_row >= 0])
        return bool(times_listed.max(initial=0) > 1)
    # A repeat moves what is below it.
    return repeated(lists.rows, [*IDS]).height > 0


def _order_values(lists: RoleTable, convention: Convention) -> Floats | Ints:
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
