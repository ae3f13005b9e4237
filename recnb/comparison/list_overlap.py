"""How alike the lists of each two models are: Jaccard's share and rank-biased overlap, averaged over users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from recnb.comparison.rank_similarity import checked_p, jaccard, rbo
from recnb.comparison.results import Overlap
from recnb.data.encoding import distinct, positions
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Ints, count_within, in_order
from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True)
class RankedLists:
    """One model's lists down to k: its pairs of user and item as sorted numbers, and where each item stands."""

    pair: Ints  #: position of the user times the number of items, plus that of the item
    rank: Ints  #: from 1 without gaps
    length: Ints  #: per user


def overlaps(models: Mapping[str, EvaluationData], k: int | None, p: float) -> tuple[Overlap, ...]:
    """Each two models, over the users to whom either of them gives a list."""
    checked_p(p)
    tables = {name: _table(one, k) for name, one in models.items()}
    items = distinct(pl.concat([distinct(table["item"]) for table in tables.values()]))
    named = steps(list(models), _("comparing"))
    lists = {name: _lists(tables.pop(name), items, models[name].n_users) for name in named}
    return tuple(
        _overlap((one, lists[one]), (other, lists[other]), len(items), k, p)
        for one, other in steps(list(combinations(lists, 2)), _("comparing"))
    )


def _overlap(
    one: tuple[str, RankedLists], other: tuple[str, RankedLists], n_items: int, k: int | None, p: float
) -> Overlap:
    (name, mine), (other_name, theirs) = one, other
    # Both are sorted, so looking one up in the other goes through memory once.
    at = np.searchsorted(mine.pair, theirs.pair)
    at[at == len(mine.pair)] = 0
    shared = mine.pair[at] == theirs.pair if len(mine.pair) else np.zeros(len(theirs.pair), dtype=bool)
    user, rank, rank_other = theirs.pair[shared] // n_items, mine.rank[at[shared]], theirs.rank[shared]
    alike = jaccard(user, mine.length, theirs.length)
    biased = rbo(user, rank, rank_other, mine.length, theirs.length, p)
    there = ~np.isnan(alike)
    in_place = np.bincount(user[rank == rank_other], minlength=len(mine.length))
    identical = (in_place == mine.length) & (in_place == theirs.length) & there
    return Overlap(
        model=name,
        other=other_name,
        k=k,
        jaccard=float(alike[there].mean()) if there.any() else float("nan"),
        rbo=float(biased[there].mean()) if there.any() else float("nan"),
        p=p,
        n_users=int(there.sum()),
        n_identical=int(identical.sum()),
    )


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


def _lists(table: pl.DataFrame, items: pl.Series, n_users: int) -> RankedLists:
    user, rank = table["user"].to_numpy(), table["rank"].to_numpy()
    length: Ints = np.bincount(user, minlength=n_users)
    # Ranks without gaps add up to n (n + 1) / 2.
    if int(rank.sum()) != int((length * (length + 1) // 2).sum()):
        order = np.lexsort((rank, user))
        rank = np.empty_like(rank)
        rank[order] = count_within(user[order])
    pair = user * len(items) + positions(items, table["item"])
    order = in_order(pair)
    return RankedLists(pair[order], rank[order], length)
