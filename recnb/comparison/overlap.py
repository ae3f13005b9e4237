"""How alike the lists of models are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import polars as pl

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.stats import mean_of


def overlaps(models: Models, k: int | None) -> list[dict[str, Any]]:
    """Compare the lists of each two models.

    It is over the users with a list from either of them.
    """
    lists, found = {name: _lists(model, k) for name, model in models.items()}, []
    in_both = pl.col("rank").is_not_null() & pl.col("rank_right").is_not_null()
    of_user = {
        "shared": in_both.sum(),
        "either": pl.len(),
        "in_place": (pl.col("rank") == pl.col("rank_right")).sum(),
    }
    for model, other in steps(list(combinations(models, 2)), _("comparing")):
        rows = lists[model].join(
            lists[other], on=["user", "item"], how="full", coalesce=True
        )
        users = rows.group_by("user").agg(**of_user).sort("user")
        shares = (users["shared"] / users["either"]).to_numpy()
        found.append(
            {
                "model": model,
                "other": other,
                "k": k,
                "jaccard": mean_of(shares),
                **models[model].counted(users["user"]),
                "n_identical": int((users["in_place"] == users["either"]).sum()),
            }
        )
    return found


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
    if joined.convention.duplicates not in ("error", "dedupe"):
        rows = rows.unique(["user", "item"], keep="first", maintain_order=True)
    return rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
