"""The users who gain and lose most by one model in the place of another, with both lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.comparison.results import ListItem, MovedUsers, Mover
from recnb.metrics.hits import Floats, Ints
from recnb.metrics.metric import Metric
from recnb.report.build import plain_id
from recnb.results.evaluation_data import EvaluationData

if TYPE_CHECKING:
    import pandas as pd

#: Lists are shown down to this rank, even if k is larger.
RANKS_SHOWN = 20

#: Values that differ by no more than this are the same.
SAME = 1e-12


def scores_of(
    models: Mapping[str, EvaluationData], metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Callable[[str], pd.Series[float]]:
    """Return the values per user of a model by its name, each computed once."""
    return cache(lambda model: models[model].score(metric, k, options).per_user)


def moved(
    models: Mapping[str, EvaluationData],
    pair: tuple[str, str],
    metric: Metric[...],
    k: int | None,
    scores: Callable[[str], pd.Series[float]],
    n: int,
) -> MovedUsers:
    """Return at most `n` users who gain and `n` who lose, the largest changes first; of equal ones the first by id."""
    model, baseline = pair
    after, before = scores(model), scores(baseline)
    if not after.index.equals(before.index):
        shared = after.index.intersection(before.index)
        after, before = after.loc[shared], before.loc[shared]
    defined = (after.notna() & before.notna()).to_numpy()
    users = after.index.to_numpy()[defined]
    new, old = after.to_numpy(dtype=np.float64)[defined], before.to_numpy(dtype=np.float64)[defined]
    change = new - old
    gained = _furthest(change, n)
    lost = _furthest(-change, n)
    shown = np.r_[gained, lost]
    lists = _with_titles(models[model], {name: _lists(models[name], users[shown].tolist(), k) for name in pair})
    relevant = _relevant(models[model], users[shown].tolist())
    movers = [
        Mover(
            user=plain_id(users[at]),
            before=float(old[at]),
            after=float(new[at]),
            n_relevant=relevant.get(users[at], 0),
            old=lists[baseline].get(users[at], ()),
            new=lists[model].get(users[at], ()),
        )
        for at in shown.tolist()
    ]
    won, lost_by = int((change > SAME).sum()), int((change < -SAME).sum())
    counts = (won, len(change) - won - lost_by, lost_by)
    return MovedUsers(
        metric.name, metric.symbol, k, model, baseline, tuple(movers[: len(gained)]), tuple(movers[len(gained) :]), counts
    )  # fmt: skip


def _furthest(change: Floats, n: int) -> Ints:
    """Positions of the `n` largest changes above 0."""
    up = np.flatnonzero(change > SAME)
    if len(up) == 0 or n == 0:
        return up[:0]
    level = change[up].round(12)
    least = np.partition(level, len(level) - min(n, len(level)))[len(level) - min(n, len(level))]
    near = np.flatnonzero(level >= least)
    order = near[np.argsort(-level[near], kind="stable")][:n]
    return np.asarray(up[order])


def _lists(evaluation: EvaluationData, users: Sequence[Any], k: int | None) -> dict[Any, tuple[ListItem, ...]]:
    """The lists of some users; an item with a relevance above 0 is a hit."""
    prepared = evaluation.prepared
    deepest = RANKS_SHOWN if k is None else min(k, RANKS_SHOWN)
    these = _in(prepared.users, users)
    truth = prepared.truth.filter(these).select("user", "item", "relevance")
    rows = (
        prepared.rows.of(pl.Series("user", users, dtype=prepared.users.dtype))
        .filter(pl.col("rank") <= deepest)
        .select("user", "item", "rank")
        .join(truth.unique(["user", "item"], keep="first"), on=["user", "item"], how="left")
        .sort("user", "rank", maintain_order=True)
    )
    lists: dict[Any, list[ListItem]] = {}
    for user, item, rank, relevance in rows.iter_rows():
        lists.setdefault(user, []).append(ListItem(rank, plain_id(item), relevance or 0.0))
    return {user: tuple(places) for user, places in lists.items()}


def _with_titles(
    evaluation: EvaluationData, lists: Mapping[str, dict[Any, tuple[ListItem, ...]]]
) -> dict[str, dict[Any, tuple[ListItem, ...]]]:
    """The lists with the titles of their items, which are read at once."""
    everything = {item.item for by_user in lists.values() for items in by_user.values() for item in items}
    titles = evaluation.item_titles(list(everything))
    return {
        name: {
            user: tuple(replace(item, title=titles.get(item.item, "")) for item in items)
            for user, items in by_user.items()
        }
        for name, by_user in lists.items()
    }


def _relevant(evaluation: EvaluationData, users: Sequence[Any]) -> dict[Any, int]:
    counts = evaluation.prepared.truth.filter(_in(evaluation.prepared.users, users))["user"].value_counts()
    return dict(counts.iter_rows())


def _in(all_users: pl.Series, users: Sequence[Any]) -> pl.Expr:
    return pl.col("user").is_in(pl.Series(users, dtype=all_users.dtype).implode())
