"""The users that a report shows: those with the best and the worst values, or those who
gain and lose most with one model instead of another, each with their lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from recnb.metrics.hits import Bools, Floats, Hits, Ints
from recnb.metrics.metric import Better, sign_of
from recnb.report.data import RankedItem, ShownUser, UserGroup
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.numbers import SAME

#: Of each user ranks and items missed that are shown.
RANKS_SHOWN, MISSED_SHOWN = 20, 5


def extremes(
    name: str,
    model: EvaluationData,
    values: Floats,
    k: int,
    n: int,
    better: Better,
) -> list[UserGroup]:
    """Return the best and the worst users of a model: of few, the better and the worse
    half; where neither is better, the highest and the lowest.
    """
    hits = model.hits(k)
    n_hits = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    defined = np.flatnonzero(~np.isnan(values))
    level = sign_of(better) * values.round(12)
    best = _first_by(defined, -level, -n_hits, min(n, -(-len(defined) // 2)))
    worst = _first_by(
        defined[~np.isin(defined, best)],
        level,
        n_hits - hits.n_relevant,
        min(n, len(defined) // 2),
    )
    shown = _shown([model], [*best.tolist(), *worst.tolist()], [values], k)
    of_best, of_worst = ("best", "worst") if better else ("highest", "lowest")
    kinds = {
        of_best if len(worst) else "only": shown[: len(best)],
        of_worst: shown[len(best) :],
    }
    return [
        UserGroup(kind, name, None, users) for kind, users in kinds.items() if users
    ]


def moved(
    models: Models,
    pair: tuple[str, str],
    values: Mapping[str, Floats],
    k: int | None,
    n: int,
    better: Better,
) -> list[UserGroup]:
    """Return at most `n` users who gain and `n` who lose, or whose value rises or falls
    where neither is better, the largest changes first; of equal ones the first by id.
    """
    model, baseline = pair
    change = sign_of(better) * (values[model] - values[baseline])
    n_defined = int((~np.isnan(change)).sum())
    change = np.nan_to_num(change)
    won, lost = int((change > SAME).sum()), int((change < -SAME).sum())
    groups = []
    kinds = ("gained", "lost") if better else ("risen", "fallen")
    for kind, gain in zip(kinds, (change, -change), strict=True):
        at = _first_by(
            np.flatnonzero(gain > SAME), -gain.round(12), np.zeros(len(gain)), n
        )
        users = _shown(
            [models[baseline], models[model]],
            at.tolist(),
            [values[baseline], values[model]],
            k,
        )
        groups.append(
            UserGroup(kind, model, baseline, users, (won, n_defined - won - lost, lost))
        )
    return [group for group in groups if group.users]


def _first_by(among: Ints, key: Floats, then: Ints | Floats, n: int) -> Ints:
    """Return the `n` of the positions that come first by `key`, then by the second key,
    then by their own order.
    """
    order: Ints = np.lexsort((among, then[among], key[among]))[:n]
    return np.asarray(among[order])


def _shown(
    sides: list[EvaluationData], at: list[int], values: list[Floats], k: int | None
) -> tuple[ShownUser, ...]:
    """Return users by position, each with the list of every side down to k; of one side
    with the most relevant items missed.
    """
    last = sides[-1]
    depth = inf if k is None else k
    hits = [side.hits(k) for side in sides]
    lists = [side.lists_of(at) for side in sides]
    truths = [last.truth_of(user).rows() for user in at]
    titles = last.item_titles(_items_of(lists, truths))
    shown = []
    for row, (user, truth) in enumerate(zip(at, truths, strict=True)):
        of_sides = [of_side.of_user(user) for of_side in hits]
        ranks = [of_side[row] for of_side in lists]
        is_hit = of_sides[-1].rank <= depth
        missed = []
        if len(sides) == 1:
            missed = _missed(of_sides[-1], is_hit, truth, ranks[-1], depth, titles)
        shown_user = ShownUser(
            user=last.joined.users[user],
            values=tuple(float(of_side[user]) for of_side in values),
            n_relevant=len(truth),
            n_hits=int(is_hit.sum()),
            n_places=max(sum(rank <= depth for rank in of_side) for of_side in ranks),
            lists=tuple(
                _list_of(of_user, of_side, depth, titles)
                for of_user, of_side in zip(of_sides, ranks, strict=True)
            ),
            missed=tuple(missed[:MISSED_SHOWN]),
            n_missed=len(missed),
        )
        shown.append(shown_user)
    return tuple(shown)


def _items_of(
    lists: Sequence[Sequence[Mapping[int, Any]]], truths: Sequence[Sequence[Any]]
) -> list[Any]:
    """Return the items of lists and of what is relevant, each once."""
    items: dict[Any, None] = {}
    for of_side in lists:
        for ranks in of_side:
            items |= dict.fromkeys(ranks.values())
    for truth in truths:
        items |= dict.fromkeys(item for item, _relevance in truth)
    return list(items)


def _list_of(
    hits: Hits, ranks: Mapping[int, Any], depth: float, titles: Mapping[Any, str]
) -> tuple[RankedItem, ...]:
    """Return the items of a list down to a depth that are shown."""
    relevance = dict(zip(hits.rank.tolist(), hits.relevance.tolist(), strict=True))
    inside = [(rank, item) for rank, item in ranks.items() if rank <= depth]
    return tuple(
        RankedItem(rank, item, relevance.get(rank, 0.0), titles.get(item, ""))
        for rank, item in inside[:RANKS_SHOWN]
    )


def _missed(
    hits: Hits,
    is_hit: Bools,
    truth: Sequence[Any],
    ranks: Mapping[int, Any],
    depth: float,
    titles: Mapping[Any, str],
) -> list[RankedItem]:
    """Return the relevant items that are not among the hits, the most relevant first,
    with their ranks below the depth.
    """
    order = np.argsort(-hits.truth_relevance, kind="stable")
    is_missed = ~np.isin(order, hits.truth_row[is_hit])
    below = dict[Any, int]()
    for rank, item in ranks.items():
        if rank > depth:
            below.setdefault(item, rank)
    missed = [truth[place] for place in order[is_missed]]
    return [
        RankedItem(below.get(item), item, float(relevance), titles.get(item, ""))
        for item, relevance in missed
    ]
