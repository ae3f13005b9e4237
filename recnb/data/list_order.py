"""By what lists are ordered, and checks of ranks, scores and what lists repeat."""

from __future__ import annotations

import polars as pl

from recnb.conventions import Convention
from recnb.data.names import IDS
from recnb.data.role_table import RoleTable, as_numbers, repeated
from recnb.errors import ColumnError, FrameError, quoted
from recnb.metrics.hits import ENDLESS

#: How errors end where a pair or a rank of a user repeats, after "If the rows are".
SEVERAL_LISTS = (
    "the lists of several models, compare them; of several days, folds or seeds, name "
    "the columns that tell these apart, such as split='fold'."
)


def settled(lists: RoleTable, convention: Convention) -> Convention:
    """Return a convention whose order is "rank", "score" or "row", never "auto"."""
    order = convention.order
    if order == "row" or order in lists:
        return convention
    if order != "auto":
        raise ColumnError(
            f"order={quoted(order)}, but {lists.name} have no {order} column: "
            f"say {order}='...'."
        )
    for role in ("rank", "score"):
        if role in lists:
            return convention.ordered_by(role)
    raise ColumnError(
        f"{lists.name} have no rank or score column that recnb knows. Say which "
        "one puts a list in order, rank='...' or score='...'; or, if rows stand "
        "in rank order already, order='row'."
    )


def in_checked_order(
    lists: RoleTable, convention: Convention
) -> tuple[RoleTable, Convention]:
    """Return lists whose ranks or scores, which order them, are checked; settle the order."""
    in_order = settled(lists, convention)
    if in_order.order == "rank":
        lists = lists.with_columns(_checked_ranks(lists))
    if in_order.order == "score":
        lists = lists.with_columns(_checked_scores(lists))
    # With the order given the caller has said that the other column does not matter.
    if convention.order == "auto" and "rank" in lists and "score" in lists:
        _refuse_disagreement(lists)
    return lists, in_order


def _checked_scores(lists: RoleTable) -> pl.Series:
    """Return the scores as numbers; refuse those that place no item.

    They keep their type: as floats large whole numbers become equal.
    """
    return lists.finite_numbers(
        "score",
        "a score that is missing, NaN or infinite places no item: fill it in or drop "
        "the row.",
    )


def _checked_ranks(lists: RoleTable) -> pl.Series:
    """Return the ranks as whole numbers from 1 up; refuse others."""
    ranks = as_numbers(lists["rank"], lists.column_in_words("rank"))
    if ranks.dtype != pl.Int64:
        ranks = ranks.cast(pl.Float64)
    # Up to the highest, user and rank fit into one whole number.
    is_rank = ranks.is_between(1, ENDLESS)
    if ranks.null_count():
        is_rank = is_rank.fill_null(False)
    if ranks.dtype.is_float():
        is_rank &= ranks == ranks.floor()
    lists.refuse_values(
        "rank",
        ~is_rank,
        f"a rank is a whole number, 1 for the top, and at most {ENDLESS:,}. Drop rows "
        "without a rank. If yours start at 0, add 1. If it is a score, say so: "
        f"score={lists.label('rank')!r}.",
    )
    return ranks.cast(pl.Int64)


def _refuse_disagreement(lists: RoleTable) -> None:
    """Raise an error if an item is ranked above one with a higher score."""
    rows = lists.with_columns(_checked_scores(lists)).rows.sort("user", "rank")
    # Neighbours are enough: where none disagree, no rows do.
    above, below = rows.head(-1), rows.slice(1)
    is_wrong = below["user"] == above["user"]
    is_wrong &= below["rank"] > above["rank"]  # equal ranks are refused elsewhere
    is_wrong &= below["score"] > above["score"]
    n_wrong = is_wrong.sum()
    if not n_wrong:
        return
    first, plural = is_wrong.arg_max(), "s" * (n_wrong > 1)
    row, upper = below.row(first, named=True), above.row(first, named=True)
    raise FrameError(
        f"{lists.name}: {lists.label('rank')!r} and {lists.label('score')!r} "
        f"disagree in {n_wrong:,} place{plural}: user {row['user']!r} has "
        f"item {row['item']!r} at rank {row['rank']}, below item "
        f"{upper['item']!r}, with a higher score, {row['score']:g}. Say which one is "
        f"the order: order='rank' or order='score'. If the rows are {SEVERAL_LISTS}"
    )


# ---- repeats


def refuse_repeats(lists: RoleTable, convention: Convention) -> None:
    """Raise an error for what lists repeat under a convention whose order is settled."""
    if convention.duplicates == "error":
        lists.refuse_repeated_pairs(
            IDS,
            "Drop the repeats; or say duplicates='dedupe' to keep the one ranked highest. "
            f"If they are {SEVERAL_LISTS}",
        )
    if convention.order == "rank":
        lists.refuse_repeated_pairs(
            (*IDS, "rank"),
            "Drop the repeats: they have the same rank, so none is higher. If they are "
            f"{SEVERAL_LISTS}",
        )
        _refuse_repeated_ranks(lists)


def _refuse_repeated_ranks(lists: RoleTable) -> None:
    """Raise an error for two items of a user that share a rank."""
    twice = repeated(lists.rows, ["user", "rank"])
    if twice.height == 0:
        return
    user, rank, _n = twice.row(0)
    same = lists.rows.filter(pl.col("user") == user, pl.col("rank") == rank)
    first, second = same["item"].to_list()[:2]
    raise FrameError(
        f"{lists.column_in_words('rank')} gives a rank twice: user {user!r} has "
        f"{first!r} and {second!r} at rank {rank} ({twice.height:,} such in "
        "all). Give each item of a user its own rank, or give scores alone. If "
        f"the rows are {SEVERAL_LISTS}"
    )
