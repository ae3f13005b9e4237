"""The users who gain and lose most by one model in the place of another, with both lists."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from recnb.comparison.differences import UserValues, blocks_of
from recnb.comparison.results import MovedUsers, Mover
from recnb.data.encoding import positions
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import Metric
from recnb.report.build import first_by, plain_id, ranked_items
from recnb.report.data import SAME, RankedItem
from recnb.results.evaluation_data import EvaluationData


def moved(
    models: Mapping[str, EvaluationData],
    pair: tuple[str, str],
    metric: Metric[...],
    k: int | None,
    values: Mapping[str, UserValues],
    n: int,
) -> MovedUsers:
    """Return at most `n` users who gain and `n` who lose, the largest changes first; of equal ones the first by id.

    `values` are those of either model at k.
    """
    (block,) = blocks_of(metric, Cutoffs.one(k), [values[name] for name in pair])
    new, old = block.values.T
    change = new - old
    gained = _furthest(change, n)
    shown = np.r_[gained, _furthest(-change, n)]
    users = block.users.gather(shown)
    (new_lists, n_relevant), (old_lists, _n_relevant) = (
        _lists(models[name], users, k, models[pair[0]]) for name in pair
    )
    movers = tuple(
        Mover(plain_id(user), float(old[at]), float(new[at]), n_relevant[i], old_lists[i], new_lists[i])
        for i, (user, at) in enumerate(zip(users.to_list(), shown.tolist(), strict=True))
    )
    won, lost = int((change > SAME).sum()), int((change < -SAME).sum())
    counts = (won, len(change) - won - lost, lost)
    gains, losses = movers[: len(gained)], movers[len(gained) :]
    return MovedUsers(metric.name, metric.symbol, k, *pair, gains, losses, counts)


def _furthest(change: Floats, n: int) -> Ints:
    """Positions of the `n` largest changes above 0."""
    return first_by(np.flatnonzero(change > SAME), -change.round(12), np.zeros(len(change)), n)


def _lists(
    model: EvaluationData, users: pl.Series, k: int | None, titled: EvaluationData
) -> tuple[list[tuple[RankedItem, ...]], list[int]]:
    """The lists of some users with their hits, items by the titles that one of the models has; and how many items are relevant."""
    hits = model.hits(k)
    at = positions(model.prepared.users, users).tolist()
    lists = model.lists_of(at)
    titles = titled.item_titles(list({item for ranks in lists for item in ranks.values()}))
    of_users = [hits.of(position) for position in at]
    ranked = [ranked_items(of_user, ranks, k, titles) for of_user, ranks in zip(of_users, lists, strict=True)]
    return ranked, [len(of_user.truth_relevance) for of_user in of_users]
