"""Groups of users, each with their lists.

They are those with the best and the worst values, or those who gain and lose most with
one model instead of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from recnb.metrics.hits import Floats, Hits, Ints
from recnb.metrics.metric import Better, sign_of
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.numbers import SAME

#: Of each user ranks and items missed that are shown.
RANKS_SHOWN, MISSED_SHOWN = 20, 5


@dataclass(frozen=True)
class RankedItem:
    """An item that is shown; its relevance is 0 if it is not relevant."""

    rank: int | None  #: None: it is not in the list
    item: Any
    relevance: float
    title: str = ""


@dataclass(frozen=True)
class ShownUser:
    """A user with the lists of one model, or of two.

    Those are a baseline and the model in its place.
    """

    user: Any
    values: tuple[float, ...]  #: of the lead metric, by list
    n_relevant: int
    n_hits: int  #: of the last of the lists
    n_places: int  #: items in the first k ranks of the longest list, of which at most 20 are here
    lists: tuple[tuple[RankedItem, ...], ...]
    missed: tuple[
        RankedItem, ...
    ]  #: of one model the most relevant of the items missed, with their ranks below k
    n_missed: int
    text: str = ""  #: that of a query, if users= has one


@dataclass(frozen=True)
class UserGroup:
    """Users who are shown, and why.

    The best or worst of a model, or who gain or lose most with a model instead of
    another.
    """

    #: "best" and "worst", "gained" and "lost"; where neither more nor less is better
    #: "highest" and "lowest", "risen" and "fallen"; "only" of one user
    kind: str
    model: str
    baseline: str | None
    users: tuple[ShownUser, ...]
    counts: tuple[int, int, int] | None = (
        None  #: how many users gain, stay the same and lose (or rise and fall)
    )


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
    n_missed = hits.n_relevant - n_hits
    level = sign_of(better) * values.round(12)
    with_value = np.flatnonzero(~np.isnan(values))
    n_worse_half = len(with_value) // 2
    n_better_half = len(with_value) - n_worse_half
    best = _first_by(with_value, -level, -n_hits, min(n, n_better_half))
    others = with_value[~np.isin(with_value, best)]
    worst = _first_by(others, level, -n_missed, min(n, n_worse_half))
    of_best, of_worst = ("best", "worst") if better else ("highest", "lowest")
    if not len(worst):
        of_best = "only"
    groups = []
    for kind, positions in ((of_best, best), (of_worst, worst)):
        if len(positions):
            users = _shown([model], positions.tolist(), [values], k)
            groups.append(UserGroup(kind, name, None, users))
    return groups


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
    sides = [models[baseline], models[model]]
    values_of_sides = [values[baseline], values[model]]
    change = sign_of(better) * (values[model] - values[baseline])
    n_with_value = int((~np.isnan(change)).sum())
    change = np.nan_to_num(change)
    n_won, n_lost = int((change > SAME).sum()), int((change < -SAME).sum())
    counts = (n_won, n_with_value - n_won - n_lost, n_lost)
    groups = []
    kinds = ("gained", "lost") if better else ("risen", "fallen")
    for kind, gain in zip(kinds, (change, -change), strict=True):
        gaining = np.flatnonzero(gain > SAME)
        first = _first_by(gaining, -gain.round(12), np.zeros(len(gain)), n)
        if len(first):
            users = _shown(sides, first.tolist(), values_of_sides, k)
            groups.append(UserGroup(kind, model, baseline, users, counts))
    return groups


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
