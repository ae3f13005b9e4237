"""The users that a report shows: those with the best and the worst values, or those who
gain and lose most with one model instead of another, each with their lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from recnb.metrics.hits import Floats, Hits, Ints
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
    last, depth, hits = (
        sides[-1],
        inf if k is None else k,
        [side.hits(k) for side in sides],
    )
    lists, truths = (
        [side.lists_of(at) for side in sides],
        [last.truth_of(user).rows() for user in at],
    )
    in_lists = [
        item for of_side in lists for ranks in of_side for item in ranks.values()
    ]
    in_truth = [item for truth in truths for item, _relevance in truth]
    titles = last.item_titles(list(dict.fromkeys([*in_lists, *in_truth])))

    def ranked(of_user: Hits, ranks: Mapping[int, Any]) -> tuple[RankedItem, ...]:
        relevance = dict(
            zip(of_user.rank.tolist(), of_user.relevance.tolist(), strict=True)
        )
        inside = [(rank, item) for rank, item in ranks.items() if rank <= depth][
            :RANKS_SHOWN
        ]
        return tuple(
            RankedItem(rank, id_, relevance.get(rank, 0.0), titles.get(id_, ""))
            for rank, id_ in inside
        )

    shown = []
    for row, (user, truth) in enumerate(zip(at, truths, strict=True)):
        of_sides = [of_side.of_user(user) for of_side in hits]
        own, found = of_sides[-1], of_sides[-1].rank <= depth
        order = np.argsort(-own.truth_relevance, kind="stable")
        missed = (
            [truth[place] for place in order[~np.isin(order, own.truth_row[found])]]
            if len(sides) == 1
            else []
        )
        below = {
            item: rank
            for rank, item in reversed(lists[-1][row].items())
            if rank > depth
        }
        told = [
            (below.get(id_), id_, float(r), titles.get(id_, ""))
            for id_, r in missed[:MISSED_SHOWN]
        ]
        shown.append(
            ShownUser(
                user=last.joined.users[user],
                values=tuple(float(of_side[user]) for of_side in values),
                n_relevant=len(order),
                n_hits=int(found.sum()),
                n_places=max(
                    sum(rank <= depth for rank in of_side[row]) for of_side in lists
                ),
                lists=tuple(
                    ranked(of_user, of_side[row])
                    for of_user, of_side in zip(of_sides, lists, strict=True)
                ),
                missed=tuple(RankedItem(*one) for one in told),
                n_missed=len(missed),
            )
        )
    return tuple(shown)
