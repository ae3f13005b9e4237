"""How alike the lists of models are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.metrics.hits import Floats
from recnb.metrics.metric import number_option
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.stats import mean_of


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
    pairs = []
    for model, other in steps(list(combinations(models, 2)), _("comparing")):
        users = _of_users(lists[model], lists[other], p)
        shares = (users["shared"] / users["either"]).to_numpy()
        pairs.append(
            {
                "model": model,
                "other": other,
                "k": k,
                "jaccard": mean_of(shares),
                "rbo": mean_of(_rank_biased_overlap(users, p)),
                **models[model].counted(users["user"]),
                "n_identical": int((users["in_place"] == users["either"]).sum()),
            }
        )
    return pairs


def _of_users(lists: pl.DataFrame, others: pl.DataFrame, p: float) -> pl.DataFrame:
    """Return what each user's two lists have in common.

    `shared` and `either` count items, `in_place` those on one rank in both;
    `shared_in_short` those that both lists have down to the end of the shorter one, and
    `weight_above` adds up the weights of the depths at which a shared item was missing.
    """
    rows = lists.join(others, on=["user", "item"], how="full", coalesce=True)
    in_both = pl.col("rank").is_not_null() & pl.col("rank_right").is_not_null()
    ranks = rows.with_columns(
        depth=pl.when(in_both).then(pl.max_horizontal("rank", "rank_right"))
    )
    depth_above = ranks["depth"].fill_null(1).to_numpy() - 1
    weight_above = _depth_weights(depth_above.max(initial=0), p)[depth_above]
    ranks = ranks.with_columns(weight_above=weight_above)
    length, other_length = pl.col("rank").max(), pl.col("rank_right").max()
    shorter = pl.min_horizontal(length.fill_null(0), other_length.fill_null(0))
    of_user = {
        "shared": in_both.sum(),
        "either": pl.len(),
        "in_place": (pl.col("rank") == pl.col("rank_right")).sum(),
        "shorter": shorter,
        "longer": pl.max_horizontal(length, other_length),
        "shared_in_short": (pl.col("depth") <= shorter).sum(),
        "weight_above": pl.col("weight_above").filter(in_both).sum(),
    }
    return ranks.group_by("user").agg(**of_user).sort("user")


def _depth_weights(deepest: int, p: float) -> Floats:
    """Return the sums of p^depth / depth from the top down to each depth, from 0."""
    depth = np.arange(1, deepest + 1)
    return np.cumsum(np.r_[0.0, p**depth / depth])


def _rank_biased_overlap(users: pl.DataFrame, p: float) -> Floats:
    """Return the rank-biased overlap of each user's two lists, extrapolated.

    The share of items that two lists have in common at each depth, averaged with weights
    that fall by p from depth to depth. Below the end of the lists it is supposed to go
    on as it was: equation 32 of Webber, Moffat and Zobel (2010).
    """
    shorter = users["shorter"].to_numpy()
    longer = users["longer"].to_numpy()
    shared = users["shared"].to_numpy()
    in_short = users["shared_in_short"].to_numpy()
    weights = _depth_weights(longer.max(initial=0), p)
    chances = (p - p ** (np.arange(len(weights)) + 1)) / (1 - p)

    share_in_short = in_short / np.maximum(shorter, 1)
    seen = shared * weights[longer] - users["weight_above"].to_numpy()
    # Between the ends of the two, the shorter list would have gone on as it was.
    going_on = share_in_short * (chances[longer] - chances[shorter])
    going_on -= in_short * (weights[longer] - weights[shorter])
    below = ((shared - in_short) / longer + share_in_short) * p**longer
    return np.asarray((1 - p) / p * (seen + going_on) + below)


def _lists(model: EvaluationData, k: int | None) -> pl.DataFrame:
    """Return the rows down to k of the users evaluated.

    They have user, item once, and rank without gaps.
    """
    joined = model.joined
    recs = joined.recs if k is None else joined.recs.filter(pl.col("rank") <= k)
    kept = recs.select("user", "item", "rank").filter(
        pl.col("user").is_in(joined.users.implode())
    )
    rows = kept.sort("user", "rank", maintain_order=True)
    if joined.convention.duplicates == "error":
        joined.refuse_repeated_pairs()
    elif joined.convention.duplicates != "dedupe":
        rows = rows.unique(["user", "item"], keep="first", maintain_order=True)
    return rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
