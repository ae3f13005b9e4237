"""How alike the lists of each two models are: items in both, and users with the very same list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from recnb.data.encoding import positions
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True)
class Overlap:
    """The similarity of the lists of two models, over the users to whom either gives a list."""

    model: str
    other: str
    k: int | None
    jaccard: float
    n_users: int
    n_identical: int  #: users whose two lists are the same, item for item


def overlaps(models: Mapping[str, EvaluationData], k: int | None) -> tuple[Overlap, ...]:
    """Compare the lists of each two models, over the users with a list from either of them."""
    lists = {name: _lists(model, k) for name, model in models.items()}
    n_users = next(iter(models.values())).n_users
    return tuple(
        _overlap(model, other, k, lists[model].join(lists[other], on=["user", "item"]), lengths)
        for model, other in steps(list(combinations(models, 2)), _("comparing"))
        for lengths in [[np.bincount(lists[name]["user"], minlength=n_users) for name in (model, other)]]
    )


def _overlap(model: str, other: str, k: int | None, shared: pl.DataFrame, lengths: list[np.ndarray]) -> Overlap:
    """Average over users from the items that both lists of a user hold, and the lengths of the lists."""
    length, other_length = lengths
    n_shared = np.bincount(shared["user"], minlength=len(length))
    in_place = np.bincount(shared.filter(pl.col("rank") == pl.col("rank_right"))["user"], minlength=len(length))
    either = length + other_length - n_shared
    has_list = either > 0
    return Overlap(
        model=model,
        other=other,
        k=k,
        jaccard=float((n_shared[has_list] / either[has_list]).mean()) if has_list.any() else float("nan"),
        n_users=int(has_list.sum()),
        n_identical=int(((in_place == length) & (in_place == other_length) & has_list).sum()),
    )


def _lists(model: EvaluationData, k: int | None) -> pl.DataFrame:
    """Return the rows down to k of the users evaluated: position of the user, item once, and rank without gaps."""
    prepared = model.prepared
    recs = prepared.recs if k is None else prepared.recs.filter(pl.col("rank") <= k)
    rows = recs.select(
        user=pl.Series(positions(prepared.users, recs["user"]), dtype=pl.Int64), item="item", rank="rank"
    )
    rows = rows.filter(pl.col("user") >= 0)
    if prepared.convention.duplicates not in ("error", "dedupe"):
        rows = rows.sort("user", "rank", maintain_order=True).unique(
            ["user", "item"], keep="first", maintain_order=True
        )
    length = np.bincount(rows["user"])
    if rows["rank"].sum() == (length * (length + 1) // 2).sum():  # as ranks without gaps add up
        return rows
    return rows.sort("user", "rank", maintain_order=True).with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
