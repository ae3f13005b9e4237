"""Metrics of a caller's, in a file that other processes can import."""

from __future__ import annotations

from typing import Any

import recnb
from recnb.metrics import Credit


@recnb.metric(symbol="H", credit="relevance / rank^2")
def of_hits(hits: Any, k: Any = None) -> Credit:
    return Credit(hits, k, hits.relevance / hits.rank**2)


@recnb.metric(symbol="L", over="list")
def of_lists(lists: Any, k: Any = None) -> Any:
    return lists.groupby("user")["rank"].mean()
