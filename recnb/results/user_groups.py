"""Groups of users, each with their lists.

They are those with the best and the worst values, or those who gain and lose most with
one model instead of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from recnb.metrics.hits import Floats, Ints
from recnb.metrics.metric import Better, sign_of
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.user_lists import UserList, user_lists_of
from recnb.stats import settled

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
    n_places: int  #: of the longest list down to k
    lists: tuple[tuple[RankedItem, ...], ...]  #: of each the first `RANKS_SHOWN`
    #: Of one model the most relevant of the items missed, with their ranks below k.
    missed: tuple[RankedItem, ...]
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
    #: Of two models, how many users gain, stay the same and lose (or rise and fall).
    counts: tuple[int, int, int] | None = None


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
    found = np.unique(hits.entry[hits.rank <= k])
    n_hits = np.bincount(hits.truth_user[found], minlength=hits.n_users)
    n_missed = hits.n_relevant - n_hits
    level = sign_of(better) * values.round(12)
    with_value = np.flatnonzero(~np.isnan(values))
    n_worse_half = len(with_value) // 2
    n_better_half = len(with_value) - n_worse_half
    best = first_by(with_value, min(n, n_better_half), -level, -n_hits)
    others = with_value[~np.isin(with_value, best)]
    worst = first_by(others, min(n, n_worse_half), level, -n_missed)
    best_kind, worst_kind = ("best", "worst") if better else ("highest", "lowest")
    if not len(worst):
        best_kind = "only"
    groups = []
    for kind, positions in ((best_kind, best), (worst_kind, worst)):
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
    change = settled(np.nan_to_num(change))
    n_won, n_lost = int((change > 0).sum()), int((change < 0).sum())
    n_tied = n_with_value - n_won - n_lost
    counts = (n_won, n_tied, n_lost)
    groups = []
    kinds = ("gained", "lost") if better else ("risen", "fallen")
    for kind, gain in zip(kinds, (change, -change), strict=True):
        first = first_by(np.flatnonzero(gain > 0), n, -gain.round(12))
        if len(first):
            users = _shown(sides, first.tolist(), values_of_sides, k)
            groups.append(UserGroup(kind, model, baseline, users, counts))
    return groups


def first_by(positions: Ints, n: int, *keys: Floats | Ints) -> Ints:
    """Return the `n` of some positions that come first, with the lowest keys.

    They are ordered by the first key, then by the next; equal ones by position.
    """
    sort_keys = [key[positions] for key in keys]
    order = np.lexsort([positions, *reversed(sort_keys)])
    first: Ints = positions[order[:n]]
    return first


def _shown(
    sides: Sequence[EvaluationData],
    positions: list[int],
    values: Sequence[Floats],
    k: int | None,
) -> tuple[ShownUser, ...]:
    """Return the users at some positions, each with the list of every side down to k.

    Items missed are shown of one side alone.
    """
    lists = [user_lists_of(side, positions, k) for side in sides]
    last = sides[-1]
    every_list = chain.from_iterable(lists)
    items = chain.from_iterable(each.all_items for each in every_list)
    titles = last.item_titles(list(dict.fromkeys(items)))
    users = last.joined.users[positions]
    texts = last.user_texts(users.to_list())
    shown = []
    for row, (user, name) in enumerate(zip(users, last.keys.names(users), strict=True)):
        user_lists = [of_side[row] for of_side in lists]
        missed = user_lists[-1].missed if len(sides) == 1 else []
        shown.append(
            ShownUser(
                user=name,
                text=texts.get(user, ""),
                values=tuple(float(of_side[positions[row]]) for of_side in values),
                n_relevant=len(user_lists[-1].hits.truth_relevance),
                n_hits=len(user_lists[-1].found),
                n_places=max(len(each.places) for each in user_lists),
                lists=tuple(_ranked(each, titles) for each in user_lists),
                missed=tuple(
                    RankedItem(rank, item, relevance, titles.get(item, ""))
                    for item, relevance, rank in missed[:MISSED_SHOWN]
                ),
                n_missed=len(missed),
            )
        )
    return tuple(shown)


def _ranked(user_list: UserList, titles: Mapping[Any, str]) -> tuple[RankedItem, ...]:
    """Return the first items of a list, each with its relevance."""
    relevance = [*user_list.hits.relevance.tolist(), 0.0]  # the last is of no hit
    return tuple(
        RankedItem(each.rank, each.item, relevance[each.hit], titles.get(each.item, ""))
        for each in user_list.places[:RANKS_SHOWN]
    )
