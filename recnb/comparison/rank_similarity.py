"""Similarity of rankings, averaged over users: Jaccard's share of items in both lists, and rank-biased overlap.

Both are computed from the items that a user's two lists have in common, one row each with the rank in either list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.comparison.results import Overlap
from recnb.data.encoding import distinct, positions
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import OptionError, is_number
from recnb.metrics.hits import Floats, Ints, count_within, in_order
from recnb.results.evaluation_data import EvaluationData


def jaccard(user: Ints, length: Ints, other_length: Ints) -> Floats:
    """Shared items out of all items of the two lists, per user; NaN for one with two empty lists.

    `user` is the position of the user of each shared item; the lengths are those of the two lists.

    >>> jaccard(np.array([0, 0]), np.array([3, 2, 0]), np.array([3, 1, 0])).tolist()
    [0.5, 0.0, nan]
    """
    shared = np.bincount(user, minlength=len(length)).astype(np.float64)
    return _share(shared, length + other_length - shared)


def rbo(user: Ints, rank: Ints, other_rank: Ints, length: Ints, other_length: Ints, p: float = 0.9) -> Floats:
    """Rank-biased overlap of each user's two lists, extrapolated (Webber, Moffat and Zobel 2010, equation 32).

    The share of items that the lists have in common down to a depth, averaged over depths, each depth weighing p times
    as much as the one above it; what lies below the shorter list is taken to agree as what is seen does. 1 is the same
    list, 0 nothing shared. `p` near 0 looks at the top alone; with 0.9 the first ten ranks weigh 86 %. Ranks count from
    1 without gaps. A list against an empty one gives 0, two empty ones NaN.

    >>> import numpy as np
    >>> first, second = [1, 2, 3, 4, 5], [4, 1, 2, 3, 5]  # ranks of the same five items in two lists
    >>> zeros, five = np.zeros(5, dtype=int), np.array([5])
    >>> rbo(zeros, np.array(first), np.array(second), five, five, p=0.9).round(3).tolist()
    [0.828]
    """
    checked_p(p)
    n_users = len(length)
    short, long = np.minimum(length, other_length), np.maximum(length, other_length)
    deepest = int(long.max(initial=0))
    depths = np.arange(1, deepest + 1)
    weights = p ** depths.astype(np.float64)
    # Sums of p^d and of p^d / d down to each depth; with them every user's sums over depths are differences of two.
    powers, over_depth = np.r_[0.0, np.cumsum(weights)], np.r_[0.0, np.cumsum(weights / depths)]
    # An item is shared from the deeper of its two ranks on.
    shared_from = np.maximum(rank, other_rank)
    inside = shared_from <= long[user]
    user, shared_from = user[inside], shared_from[inside]
    summed = np.bincount(user, over_depth[long[user]] - over_depth[shared_from - 1], n_users)
    in_all = np.bincount(user, minlength=n_users).astype(np.float64)
    in_short = np.bincount(user[shared_from <= short[user]], minlength=n_users).astype(np.float64)
    share_of_short = _share(in_short, short, where_none=0.0)
    # Below the shorter list: what it would share if it went on as it does, sum of X_s (d - s) / (s d) p^d.
    beyond = share_of_short * (powers[long] - powers[short]) - in_short * (over_depth[long] - over_depth[short])
    tail = (_share(in_all - in_short, long, where_none=0.0) + share_of_short) * p ** long.astype(np.float64)
    value = (1 - p) / p * (summed + beyond) + tail
    return np.where(long == 0, np.nan, np.where(short == 0, 0.0, np.minimum(value, 1.0)))


def checked_p(p: object) -> None:
    """Refuse a persistence that is not between 0 and 1."""
    if not (is_number(p) and 0 < p < 1):
        raise OptionError(
            f"p={p!r} is no persistence of rank-biased overlap: give a number between 0 and 1, such as 0.9."
        )


def _share(part: NDArray[np.float64], whole: NDArray[np.generic], where_none: float = np.nan) -> Floats:
    out = np.full(len(part), where_none)
    return np.asarray(np.divide(part, whole, out=out, where=whole != 0))


@dataclass(frozen=True)
class ListPairs:
    """One model's lists down to k: pairs of user and item as sorted numbers, and the rank of each item."""

    pair: Ints  #: position of the user times the number of items, plus that of the item
    rank: Ints  #: from 1 without gaps
    length: Ints  #: per user


def overlaps(models: Mapping[str, EvaluationData], k: int | None, p: float) -> tuple[Overlap, ...]:
    """The similarity of each two models, over the users with a list from either of them."""
    checked_p(p)
    tables = {name: _table(model, k) for name, model in models.items()}
    items = distinct(pl.concat([distinct(table["item"]) for table in tables.values()]))
    named = steps(list(models), _("comparing"))
    lists = {name: _lists(tables.pop(name), items, models[name].n_users) for name in named}
    return tuple(
        Overlap(model, other, k, *_similarity(lists[model], lists[other], len(items), p))
        for model, other in steps(list(combinations(lists, 2)), _("comparing"))
    )


def _similarity(a: ListPairs, b: ListPairs, n_items: int, p: float) -> tuple[float, float, float, int, int]:
    """Jaccard's share, rank-biased overlap and its p, the number of users and of those with the very same list."""
    # Both are sorted, so looking one up in the other goes through memory once.
    at = np.searchsorted(a.pair, b.pair)
    at[at == len(a.pair)] = 0
    shared = a.pair[at] == b.pair if len(a.pair) else np.zeros(len(b.pair), dtype=bool)
    user, rank, rank_other = b.pair[shared] // n_items, a.rank[at[shared]], b.rank[shared]
    alike = jaccard(user, a.length, b.length)
    biased = rbo(user, rank, rank_other, a.length, b.length, p)
    defined = ~np.isnan(alike)
    in_place = np.bincount(user[rank == rank_other], minlength=len(a.length))
    identical = (in_place == a.length) & (in_place == b.length) & defined
    share, biased_share = (
        float(values[defined].mean()) if defined.any() else float("nan") for values in (alike, biased)
    )
    return share, biased_share, p, int(defined.sum()), int(identical.sum())


def _table(evaluation: EvaluationData, k: int | None) -> pl.DataFrame:
    """The rows down to k of the users evaluated: position of the user, item, rank; no item twice in a list."""
    prepared = evaluation.prepared
    recs = prepared.recs if k is None else prepared.recs.filter(pl.col("rank") <= k)
    user = positions(prepared.users, recs["user"])
    table = recs.select(user=pl.Series(user, dtype=pl.Int64), item="item", rank=pl.col("rank").cast(pl.Int64))
    if (user < 0).any():
        table = table.filter(pl.col("user") >= 0)
    if prepared.convention.duplicates not in ("error", "dedupe"):
        table = table.sort("user", "rank", maintain_order=True).unique(
            ["user", "item"], keep="first", maintain_order=True
        )
    return table


def _lists(table: pl.DataFrame, items: pl.Series, n_users: int) -> ListPairs:
    user, rank = table["user"].to_numpy(), table["rank"].to_numpy()
    length: Ints = np.bincount(user, minlength=n_users)
    # Ranks without gaps add up to n (n + 1) / 2.
    if int(rank.sum()) != int((length * (length + 1) // 2).sum()):
        order = np.lexsort((rank, user))
        rank = np.empty_like(rank)
        rank[order] = count_within(user[order])
    pair = user * len(items) + positions(items, table["item"])
    order = in_order(pair)
    return ListPairs(pair[order], rank[order], length)
