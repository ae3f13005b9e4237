"""How alike the lists of models are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from recnb.metrics.hits import Floats
from recnb.metrics.metric import number_option
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.stats import mean_of

#: Of a user's rows in both lists, how long each list is: ranks have no gaps.
LENGTHS = pl.max("rank").fill_null(0), pl.max("other_rank").fill_null(0)
SHORTER, LONGER = pl.min_horizontal(*LENGTHS), pl.max_horizontal(*LENGTHS)


def overlaps(models: Models, k: int | None, p: float) -> list[dict[str, Any]]:
    """Compare the lists of each two models.

    It is over the users with a list from either of them.
    """
    number_option(
        "p",
        p,
        "a chance of looking further: give a number between 0 and 1, such as p=0.9",
        lambda p: 0 < p < 1,
    )
    lists = {name: _lists(model, k) for name, model in models.items()}
    lengths = [rows.select(pl.max("rank")).item() or 0 for rows in lists.values()]
    depth = np.arange(1, max(lengths) + 1)
    weights = np.cumsum(np.r_[0.0, p**depth / depth])
    pairs = []
    for model, other in combinations(models, 2):
        users = _counted(lists[model], lists[other], weights)
        jaccard = (users["shared"] / users["either"]).to_numpy()
        pairs.append(
            {
                "model": model,
                "other": other,
                "k": k,
                "jaccard": mean_of(jaccard),
                "rbo": mean_of(_rank_biased_overlap(users, weights, p)),
                **models[model].n_users_and_lists(users["user"]),
                "n_identical": int((users["in_place"] == users["either"]).sum()),
            }
        )
    return pairs


def _counted(
    lists: pl.DataFrame, others: pl.DataFrame, weights: Floats
) -> pl.DataFrame:
    """Count the items of each user, and the places of the shorter and the longer list.

    `shared` are in both lists, `in_short` within the ranks of the shorter one, `either`
    in one of them, `in_place` on one rank in both. An item that both lists have is
    shared from its deeper rank on, its `depth`; `weight_above` is the sum of the
    `weights` of the depths above shared items.
    """
    others = others.rename({"rank": "other_rank"})
    rows = lists.join(others, on=["user", "item"], how="full", coalesce=True)
    in_both = pl.col("rank").is_not_null() & pl.col("other_rank").is_not_null()
    deeper = pl.max_horizontal("rank", "other_rank")
    rows = rows.with_columns(depth=pl.when(in_both).then(deeper))
    above = rows["depth"].fill_null(1).to_numpy() - 1
    counts = {
        "shared": pl.col("depth").count(),
        "in_short": (pl.col("depth") <= SHORTER).sum(),
        "weight_above": pl.col("weight_above").filter(in_both).sum(),
        "either": pl.len(),
        "in_place": (pl.col("rank") == pl.col("other_rank")).sum(),
        "shorter": SHORTER,
        "longer": LONGER,
    }
    rows = rows.with_columns(weight_above=weights[above])
    return rows.group_by("user").agg(**counts).sort("user")


def _rank_biased_overlap(users: pl.DataFrame, weights: Floats, p: float) -> Floats:
    """Return the rank-biased overlap of each user's two lists, extrapolated.

    The share of items that two lists have in common at each depth, averaged with weights
    that fall by p from depth to depth. Below the end of the lists it is supposed to go
    on as it was: equation 32 of Webber, Moffat and Zobel (2010). `weights` are the sums
    of p^depth / depth from the top down to each depth.
    """
    shorter = users["shorter"].to_numpy()
    longer = users["longer"].to_numpy()
    shared = users["shared"].to_numpy()
    in_short = users["in_short"].to_numpy()
    # The sums of p^depth from the top down to each depth.
    powers = (p - p ** (np.arange(len(weights)) + 1)) / (1 - p)
    # A shared item counts at its depth and at all below it.
    seen = shared * weights[longer] - users["weight_above"].to_numpy()

    # Between the ends of the two, the shorter list would have gone on as it was.
    share_in_short = in_short / np.maximum(shorter, 1)
    going_on = share_in_short * (powers[longer] - powers[shorter])
    going_on -= in_short * (weights[longer] - weights[shorter])
    below = ((shared - in_short) / longer + share_in_short) * p**longer
    return np.asarray((1 - p) / p * (seen + going_on) + below)


def _lists(model: EvaluationData, k: int | None) -> pl.DataFrame:
    """Return the rows down to k of the users evaluated.

    They have user, item once, and rank without gaps.
    """
    joined = model.joined
    joined.refuse_repeats()
    rows = joined.rows.lists.select("user", "item", "rank")
    rows = rows.filter(pl.col("user").is_in(joined.users.implode()))
    if k is not None:
        rows = rows.filter(pl.col("rank") <= k)
    rows = rows.sort("user", "rank", maintain_order=True)
    rows = rows.unique(["user", "item"], keep="first", maintain_order=True)
    return rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
