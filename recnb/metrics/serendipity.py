"""Serendipity: hits that nobody would have needed a recommender for do not count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from recnb.metrics.gain import OUT_OF, out_of_count
from recnb.metrics.hits import ENDLESS, Cutoff, Cutoffs, Ints
from recnb.metrics.metric import Credit, metric
from recnb.metrics.recommendation_lists import HitsWithPopularity
from recnb.metrics.sorting import in_order


def _unexpected(options: Mapping[str, Any]) -> str:
    if options["unexpected"] == "popular list":
        return "depth + 1 <= expected_rank"
    return "max(popular_place - rank, 0) / n_items"


@metric(
    called="serendipity",
    sentence="Precision without the hits that a list of the most popular items would have had as well.",
    symbol="Serendipity", over="hits", credit=_unexpected, out_of=lambda options: OUT_OF[options["out_of"]],
    bounds=(0, 1), references=["ge2010", "kaminskas2016"], needs=("train", "truth"),
)  # fmt: skip
def serendipity(
    familiar: HitsWithPopularity,
    k: Cutoff = None,
    *,
    unexpected: Literal["popular list", "popularity"] = "popular list",
    out_of: Literal["k", "list", "hits"] = "k",
) -> Credit:
    """Share of the first k places that hold a relevant item which a list of the most popular items would not show.

    sum over hits of unexpected / k: precision, of which the hits of a primitive model are taken away. Ge,
    Delgado-Battenfeld and Jannach 2010, RecSys; Kaminskas and Bridge 2016, ACM TiiS 7(1). The primitive model gives
    each user the k most popular items of train that they have not had; of equally popular ones those whose id sorts
    first. What they had is not unexpected either. The users are those evaluated, since hits need a truth.

    - unexpected: "popular list" 1 for a hit that this list does not hold, 0 for one that it does; "popularity"
      (place by popularity - rank) / all items, if above 0, where equally popular items share a place and cold ones
      stand below all: rectools, with out_of="list" and averaged_users="recs", no_relevant="zero" in against()
    - out_of: "k" as in precision; "list" the list's own length where that is shorter: Ge et al., rectools; "hits" the
      share of hits that are unexpected, 0 where there is none

    recommenders and evidently call something else serendipity: 1 less the mean cosine between a recommended item and
    what the user had, times whether it is relevant. Their number is not made here.
    """
    hits, cutoffs = familiar.hits, Cutoffs.of(k)
    depth = cutoffs.size(hits.list_length)
    row = hits.truth_row
    if unexpected == "popularity":
        value = np.maximum(familiar.popular_place[row] - hits.rank, 0) / max(familiar.n_items, 1)
    elif len(cutoffs) == 1:
        value = (familiar.expected_rank[row] > depth[hits.user, 0]).astype(np.float64)
    else:
        raise TypeError("what is unexpected depends on k: ask for one cut-off at a time.")
    return Credit(hits, cutoffs, hits.weigh(value), out_of_count(hits, k, out_of))


def expected_ranks(user: Ints, item: Ints, had: tuple[Ints, Ints], count: Ints) -> Ints:
    """Return the rank of each item in a list of the most popular items that its user has not had; 0 for an item they had.

    Its place by popularity, less the items above it that the user had: a search in what users had, each item once,
    sorted by place. An item that train does not have is in no such list.
    """
    by_count = in_order(int(count.max(initial=0)) - count)
    place = np.empty(len(count), dtype=np.int64)
    place[by_count] = np.arange(1, len(count) + 1)
    n = len(count) + 1
    of_had = np.sort(had[0] * n + place[had[1]])
    key = user * n + place[item]
    at = np.searchsorted(of_had, key)
    has = np.append(of_had, -1)[at] == key
    rank = place[item] - at + np.searchsorted(of_had, user * n)
    return np.where(has, 0, np.where(count[item] > 0, rank, ENDLESS))


def popular_places(count: Ints, n_items: int) -> Ints:
    """Return the place of each item by popularity, equally popular ones on one place; items without a count below all items."""
    levels = np.unique(count[count > 0])
    place = len(levels) - np.searchsorted(levels, count)
    return np.where(count > 0, place, n_items + 1)
