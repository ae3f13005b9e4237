"""The users that a report shows, each with their lists.

Those with the best and the worst values, or those who gain and lose most with one model
instead of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

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
    """Return the best and the worst users of a model.

    Of few, the better and the worse half; where neither is better, the highest and the
    lowest.
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
    """Return at most `n` users who gain and `n` who lose, the largest changes first.

    Where neither is better, their values rise or fall. Of equal ones the first by
    id.
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
    """Return the `n` of the positions that come first by `key`.

    Then by the second key, then by their own order.
    """
    order: Ints = np.lexsort((among, then[among], key[among]))[:n]
    return np.asarray(among[order])


def _shown(
    sides: Sequence[EvaluationData],
    positions: list[int],
    values: Sequence[Floats],
    k: int | None,
) -> tuple[ShownUser, ...]:
    """Return users by position, each with the list of every side down to k.

    Of one side, with the most relevant items missed.
    """
    hits = [side.hits(k) for side in sides]
    lists = [side.lists_of(positions) for side in sides]
    last = sides[-1]
    truths = [last.truth_of(user).rows() for user in positions]
    titles = _titles_of(last, lists, truths)
    users = last.joined.users[positions].to_list()
    texts = last.user_texts(users)
    names = last.keys.names(last.joined.users[positions]).to_list()
    shown = []
    for row, user in enumerate(positions):
        in_lists = [
            ListOfUser(of_side.of_user(user), of_row[row], k)
            for of_side, of_row in zip(hits, lists, strict=True)
        ]
        missed: list[RankedItem] = []
        if len(sides) == 1:
            missed = in_lists[-1].missed(truths[row], titles)
        shown.append(
            ShownUser(
                user=names[row],
                text=texts.get(users[row], ""),
                values=tuple(float(of_side[user]) for of_side in values),
                n_relevant=len(in_lists[-1].hits.truth_relevance),
                n_hits=in_lists[-1].n_hits,
                n_places=max(len(each.inside) for each in in_lists),
                lists=tuple(each.shown(titles) for each in in_lists),
                missed=tuple(missed[:MISSED_SHOWN]),
                n_missed=len(missed),
            )
        )
    return tuple(shown)


def _titles_of(
    data: EvaluationData,
    lists: Iterable[Sequence[Mapping[int, Any]]],
    truths: Iterable[Sequence[tuple[Any, Any]]],
) -> Mapping[Any, str]:
    """Return the titles of all items of lists and truth, each once."""
    items: dict[Any, None] = {}
    for of_side in lists:
        for ranks in of_side:
            items |= dict.fromkeys(ranks.values())
    for truth in truths:
        items |= dict.fromkeys(item for item, _relevance in truth)
    return data.item_titles([*items])


class ListOfUser(NamedTuple):
    """A user's list with its hits, cut at k."""

    hits: Hits
    ranks: Mapping[int, Any]  #: the item at each rank
    k: int | None

    @property
    def depth(self) -> float:
        """The last rank that counts."""
        return inf if self.k is None else self.k

    @property
    def inside(self) -> list[tuple[int, Any]]:
        """The ranks that count, with their items."""
        return [(rank, item) for rank, item in self.ranks.items() if rank <= self.depth]

    @property
    def n_hits(self) -> int:
        """The number of hits that count."""
        return int((self.hits.rank <= self.depth).sum())

    def shown(self, titles: Mapping[Any, str]) -> tuple[RankedItem, ...]:
        """Return the first items of the list, each with its relevance."""
        ranks, relevance = self.hits.rank.tolist(), self.hits.relevance.tolist()
        at_rank = dict(zip(ranks, relevance, strict=True))
        return tuple(
            RankedItem(rank, item, at_rank.get(rank, 0.0), titles.get(item, ""))
            for rank, item in self.inside[:RANKS_SHOWN]
        )

    def missed(
        self, truth: Sequence[tuple[Any, Any]], titles: Mapping[Any, str]
    ) -> list[RankedItem]:
        """Return the relevant items that are no hits, the most relevant first.

        Each has its rank below k.
        """
        found = self.hits.entry[self.hits.rank <= self.depth]
        order = np.argsort(-self.hits.truth_relevance, kind="stable")
        below: dict[Any, int] = {}
        for rank, item in self.ranks.items():
            if rank > self.depth:
                below.setdefault(item, rank)
        missed = []
        for place in order[~np.isin(order, found)]:
            item, relevance = truth[place]
            title = titles.get(item, "")
            missed.append(RankedItem(below.get(item), item, float(relevance), title))
        return missed
