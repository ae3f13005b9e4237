"""Metrics of a caller's that see items, in a file that other processes can import."""

from __future__ import annotations

from typing import Any

import recnb
from recnb.metrics import Credit, list_credit


@recnb.metric(
    symbol="H",
    credit="price * (1 - count / n_users)",
    needs=("train",),
    columns={"price": 0},
)
def of_hits(hits: Any, k: Any = None) -> Credit:
    items = hits.items
    unknown = 1 - items.count / items.n_users
    return Credit(hits, k, items.column("price") * unknown)


@recnb.metric(
    symbol="L",
    credit="price / rank + interactions",
    out_of="n_shown",
    over="list",
    needs=("train",),
    columns={"price": 0},
)
def of_lists(lists: Any, k: Any = None) -> Any:
    earned = lists.items.column("price") / lists.rank + lists.items.interactions
    return list_credit(lists, k, earned)
