"""From rows to ranked lists: by rank, by score or by row, with a stated rule for ties and for repeated pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.columns import roles_of, with_series
from recnb.data.parallel import in_shares
from recnb.data.user_rows import UserRows, blocks_of
from recnb.errors import COLUMN, Argument, ColumnError, FrameError, FrameName
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Floats, Ints, in_order


@dataclass(frozen=True, eq=False)
class RankedRecommendations:
    """Recommendations by user, each row with its rank."""

    table: pl.DataFrame  #: user, item, and rank or score or both
    by_user: UserRows
    by: str  #: what puts lists in order: rank, score or row
    ties: str  #: the rule for equal scores

    @cached_property
    def rank(self) -> Ints:
        """The rank of the row at each place."""
        if self.by == "rank":
            return self.by_user.by_place(self.table["rank"].to_numpy())
        if self.by == "row":
            return self.by_user.within()
        score = self.by_user.by_place(validation.in_floats(self.table["score"]))
        key = item_key(self.ties, self.table["item"])
        return rank_by_score(self.by_user, score, self.ties, None if key is None else self.by_user.by_place(key))

    @cached_property
    def last_rank(self) -> Ints:
        """The last rank of each list."""
        if self.by != "rank" or not len(self.rank):
            return self.by_user.lengths
        return np.maximum.reduceat(self.rank, self.by_user.starts)

    @property
    def has_gaps(self) -> bool:
        """Whether some list leaves a rank empty."""
        return bool((self.last_rank != self.by_user.lengths).any())

    @cached_property
    def frame(self) -> pl.DataFrame:
        """User, item, rank, and score where there is one, in the order of the rows as they came."""
        if self.by == "rank":
            rank = self.table["rank"]
        elif self.by_user.rows is None:
            rank = pl.Series(self.rank)
        else:
            by_row = np.empty(len(self.rank), dtype=np.int64)
            by_row[self.by_user.rows] = self.rank
            rank = pl.Series(by_row)
        table = with_series(self.table, rank.alias("rank"))
        return table[["user", "item", "rank", *(["score"] if "score" in table.columns else [])]]


def rank_lists(
    table: pl.DataFrame, convention: Convention, labels: Mapping[str, str], by_user: UserRows | None = None
) -> RankedRecommendations:
    """Put lists in order by rank if there is one, else by score, or as the convention says; ranks and scores are checked."""
    by = order_by(table, convention, labels)
    by_user = UserRows.of(table["user"]) if by_user is None else by_user
    if by == "score":
        table = with_series(table, validation.scores(table, "recommendations", labels).alias("score"))
    elif by == "rank":
        table = with_series(table, validation.ranks(table, "recommendations", labels).alias("rank"))
    lists = RankedRecommendations(table, by_user, by, convention.ties)
    if by == "rank":
        if not _each_once(by_user, lists.rank):
            refuse_repeats(table, labels, merge=False)
            validation.no_rank_twice(table, "recommendations", labels)
        if "score" in table.columns and convention.order == "auto":
            _scores_agree(table, by_user, lists.rank, labels)
    return lists


def ranked(table: pl.DataFrame, convention: Convention, labels: Mapping[str, str]) -> pl.DataFrame:
    """Recommended rows as user, item, rank, and score where there is one; repeated pairs are kept or merged by the convention."""
    lists = rank_lists(table, convention, labels)
    if convention.duplicates != "dedupe":
        return lists.frame
    # The highest place of each pair is kept, and gaps are closed: those that this leaves, and those that ranks have.
    frame = lists.frame.sort("user", "rank").unique(["user", "item"], keep="first", maintain_order=True)
    return frame.with_columns(rank=pl.Series(UserRows.of(frame["user"]).within()))


def refuse_repeats(table: pl.DataFrame, labels: Mapping[str, str], *, merge: bool = True) -> None:
    """Raise an error if a pair of user and item is repeated; `merge`: whether the convention could merge them."""
    pair = f"{labels['user']!r}, {labels['item']!r}"
    drop = roles_of(labels).code(
        f"frame.drop_duplicates([{pair}])", f"frame.unique([{pair}], keep='first', maintain_order=True)"
    )
    in_lists = labels["item"] == labels.get("rank")
    first = ("List each item once",) if in_lists else ("Drop the repeats", drop)
    separate = (
        ("," if in_lists else ";"),
        " or say ",
        Argument("duplicates", "dedupe"),
        " to keep the one ranked highest",
    )
    remedy = (*first, *(separate if merge else ()), ".")
    validation.no_pair_twice(table, "recommendations", remedy)


def order_by(table: pl.DataFrame, convention: Convention, labels: Mapping[str, str]) -> str:
    """Which column puts lists in order under a convention: rank, score, or none but the rows themselves."""
    has = [role for role in ("rank", "score") if role in table.columns]
    if convention.order == "auto":
        if not has:
            columns = (Argument("rank", COLUMN), " or ", Argument("score", COLUMN))
            row = ("; or, if rows stand in rank order already, ", Argument("order", "row"), ".")
            raise ColumnError(
                FrameName("recommendations"),
                " have no rank or score column that recnb knows.",
                fix=("Say which one puts a list in order, ", *columns, *row),
            )
        return has[0]
    if convention.order != "row" and convention.order not in has:
        lacks = (", but ", FrameName("recommendations"), f" have no {convention.order} column: say ")
        column = Argument(convention.order, COLUMN)
        raise ColumnError(Argument("order", convention.order), *lacks, column, ".")
    return convention.order


def dense(values: pl.Series) -> Ints:
    """Values as whole numbers in the same order."""
    return values.rank("dense").to_numpy().astype(np.int64)


def best_first(user: Ints, score: Floats, within: Ints | Floats | None) -> Ints:
    """The order by user, then the highest score, then what orders equal scores; what is equal keeps its order."""
    if within is not None:
        first = np.argsort(within, kind="stable")
        return np.asarray(first[best_first(user[first], score[first], None)])
    row_bits, top = len(user).bit_length(), score.max(initial=-np.inf)
    score_bits = min(48, 62 - row_bits - int(user.max(initial=0)).bit_length())
    with np.errstate(all="ignore"):
        scale = (2.0**score_bits - 2) / (top - score.min(initial=np.inf))
    if score_bits < 8 or not 0 < scale < np.inf:  # as with scores that are infinite, or all the same
        return _best_first(user, score)
    # User, score and row go into the number that is sorted, of the score as much as there is room for.
    key = ((top - score) * scale).astype(np.int64)
    key |= user << score_bits
    key <<= row_bits
    key |= np.arange(len(user))
    key.sort()
    order: Ints = key & ((1 << row_bits) - 1)
    key >>= score_bits + row_bits
    wrong = np.flatnonzero(np.diff(score[order]) > 0)
    wrong = wrong[key[wrong] == key[wrong + 1]]
    if len(wrong):  # scores of one list that differ in what there was no room for
        again = np.zeros(key[-1] + 1, dtype=bool)
        again[key[wrong]] = True
        rows = np.sort(order[again[key]])
        order[again[key]] = rows[_best_first(user[rows], score[rows])]
    return order


def _best_first(user: Ints, score: Floats) -> Ints:
    order = np.argsort(-score)
    ordered = score[order]
    if (ordered[1:] == ordered[:-1]).any():  # only then does it matter that a stable sort is slower
        order = np.argsort(-score, kind="stable")
    return order[in_order(user[order])]


#: Rules for equal scores that look at the item: from the items of a column to the key of each, lowest first.
ITEM_KEYS: dict[str, Callable[[pl.Series], Ints]] = {
    "item_asc": dense,
    "item_desc": lambda items: -dense(items),
}


def item_key(ties: str, items: pl.Series) -> Ints | None:
    """Return the key of each item by a rule for equal scores; None if the rule does not look at items."""
    return ITEM_KEYS[ties](items) if ties in ITEM_KEYS else None


def tie_key(ties: str, n: int, item: Ints | None) -> Ints | None:
    """Return the key that orders equal scores, lowest first; None for the order of rows. `item` is the key of each row's item."""
    return np.arange(n)[::-1] if ties == "last" else item


def rank_by_score(by_user: UserRows, score: Floats, ties: str, item: Ints | None) -> Ints:
    """The rank of the row at each place, from the highest score; scores and keys of items are by place as well."""
    rank, ends = by_user.within(), np.r_[by_user.starts, by_user.n_rows]
    falls = np.greater_equal if ties == "first" else np.greater

    def place(blocks: Sequence[tuple[int, int]]) -> None:
        for start, stop in blocks:
            rows = slice(int(ends[start]), int(ends[stop]))
            scores, user = score[rows], np.repeat(np.arange(stop - start), by_user.lengths[start:stop])
            if (falls(scores[:-1], scores[1:]) | (user[1:] > user[:-1])).all():
                continue
            within = tie_key(ties, len(scores), None if item is None else item[rows])
            ranks = np.empty(len(scores), dtype=np.int64)
            ranks[best_first(user, scores, within)] = rank[rows]
            rank[rows] = ranks

    in_shares(blocks_of(by_user.lengths), place, sorts=by_user.n_rows)
    return rank


def _each_once(by_user: UserRows, rank: Ints) -> bool:
    """Whether no rank is repeated in a list."""
    if _rises(by_user, rank):
        return True
    ends = np.r_[by_user.starts, by_user.n_rows]

    def look(blocks: Sequence[tuple[int, int]]) -> bool:
        for start, stop in blocks:
            ranks, lengths = rank[ends[start] : ends[stop]], by_user.lengths[start:stop]
            if (ranks <= np.repeat(lengths, lengths)).all():
                # As many ranks as places: they differ if each place is taken.
                taken = np.zeros(len(ranks) + 1, dtype=bool)
                taken[np.repeat(ends[start:stop] - ends[start], lengths) + ranks] = True
                if not taken[1:].all():
                    return False
                continue
            key = np.repeat(np.arange(stop - start) << 32, lengths)
            key += ranks
            key.sort()
            if (key[1:] == key[:-1]).any():
                return False
        return True

    return all(in_shares(blocks_of(by_user.lengths), look, sorts=by_user.n_rows))


def _rises(by_user: UserRows, rank: Ints) -> bool:
    """Whether each rank is higher than the one before it in its list."""
    rises = rank[1:] > rank[:-1]
    rises[by_user.starts[1:] - 1] = True
    return bool(rises.all())


def _scores_agree(table: pl.DataFrame, by_user: UserRows, rank: Ints, labels: Mapping[str, str]) -> None:
    scores = validation.scores(table, "recommendations", labels)
    ordered = table.with_columns(score=scores)
    if by_user.rows is not None or not _rises(by_user, rank):
        ordered = ordered.sort("user", "rank")
    higher = (pl.col("user").shift() == pl.col("user")) & (pl.col("score") > pl.col("score").shift())
    where = ordered.select(higher.fill_null(value=False).arg_true()).to_series()
    if len(where) == 0:
        return
    lower, upper = ordered.row(where[0], named=True), ordered.row(where[0] - 1, named=True)
    raise FrameError(
        FrameName("recommendations"),
        f": {labels['rank']!r} and {labels['score']!r} disagree in {len(where):,} place{'s' * (len(where) > 1)}. User {lower['user']!r} "
        f"has item {upper['item']!r} at rank {upper['rank']} with score {upper['score']:g}, above item {lower['item']!r} at rank "
        f"{lower['rank']} with score {lower['score']:g}.",
        fix=("Say which one is the order: ", Argument("order", "rank"), " or ", Argument("order", "score"), "."),
    )
