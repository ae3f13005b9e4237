"""The users to look at, with their lists.

They are those with the best and the worst values, or those who gain and lose most with
one model instead of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.language import N_, _, use_noun
from recnb.display.text import users_in_words
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import ACCURACY, Better, label_of, sign_of
from recnb.results.arguments import AnyMetric, count_of_users
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.scoring import scoring_of, values_of_hits
from recnb.results.shown import Shown
from recnb.results.table import Table
from recnb.results.user_lists import RankedItem, UserList, user_lists_of
from recnb.stats import without_rounding

LOWEST = N_("{label}: the lowest of {users}")
HIGHEST = N_("{label}, of which less is better: the highest of {users}")

#: What stands above the columns.
HEADINGS = {
    "n_relevant": N_("relevant"),
    "n_found": N_("found"),
    "n_missed": N_("missed"),
    "text": N_("text"),
    "first": N_("first of the list"),
    "missing": N_("most relevant missed"),
}

#: The most ranks, and the most missed items, that are shown of a user.
RANKS_SHOWN, MISSED_SHOWN = 20, 5


@dataclass(frozen=True)
class ShownUser:
    """A user with the lists of one model, or of a baseline and the model in its place."""

    user: Any
    values: tuple[float, ...]  #: of the lead metric, by list
    n_relevant: int
    n_hits: int  #: of the last of the lists
    n_places: int  #: of the longest list down to k
    lists: tuple[tuple[RankedItem, ...], ...]  #: of each the first `RANKS_SHOWN`
    #: Of one model the most relevant of the items missed, with their ranks below k.
    missed: tuple[RankedItem, ...]
    n_missed: int
    text: str  #: of a query, if users= has one


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

    If there are few, these are the better and the worse half; if no direction is better,
    the highest and the lowest.
    """
    n_found, n_missed = _found_and_missed(model.hits(k), k)
    level = sign_of(better) * values
    with_value = np.flatnonzero(~np.isnan(values))
    n_better_half = (len(with_value) + 1) // 2
    best = first_by(with_value, min(n, n_better_half), -level, -n_found)
    others = with_value[~np.isin(with_value, best)]
    worst = first_by(others, n, level, -n_missed)
    best_kind, worst_kind = ("best", "worst") if better else ("highest", "lowest")
    if not len(worst):
        best_kind = "only"
    users = _shown([model], [*best.tolist(), *worst.tolist()], [values], k)
    groups = [
        UserGroup(best_kind, name, None, users[: len(best)]),
        UserGroup(worst_kind, name, None, users[len(best) :]),
    ]
    return [group for group in groups if group.users]


def moved(
    models: Models,
    pair: tuple[str, str],
    values: Mapping[str, Floats],
    k: int | None,
    n: int,
    better: Better,
) -> list[UserGroup]:
    """Return at most `n` users who gain and `n` who lose, the largest changes first.

    If no direction is better, their values rise or fall. Equal changes are ordered by
    id.
    """
    model, baseline = pair
    sides = [models[baseline], models[model]]
    values_of_sides = [values[baseline], values[model]]
    # NaN, of a user without a value, is neither above nor below 0, nor a tie.
    change = without_rounding(sign_of(better) * (values[model] - values[baseline]))
    n_won, n_lost = int((change > 0).sum()), int((change < 0).sum())
    counts = (n_won, int((change == 0).sum()), n_lost)
    groups = []
    kinds = ("gained", "lost") if better else ("risen", "fallen")
    for kind, gain in zip(kinds, (change, -change), strict=True):
        first = first_by(np.flatnonzero(gain > 0), n, -gain)
        if len(first):
            users = _shown(sides, first.tolist(), values_of_sides, k)
            groups.append(UserGroup(kind, model, baseline, users, counts))
    return groups


def first_by(positions: Ints, n: int, *keys: Floats | Ints) -> Ints:
    """Return the `n` of some positions that come first, with the lowest keys.

    They are ordered by the first key, then by the next; equal ones by position. Keys
    that differ by rounding alone are equal.
    """
    sort_keys = [key[positions].round(12) for key in keys]
    order = np.lexsort([positions, *reversed(sort_keys)])
    first: Ints = positions[order[:n]]
    return first


def _found_and_missed(hits: Hits, k: int | None) -> tuple[Ints, Ints]:
    """Return how many relevant items each list has down to k, and how many it misses."""
    depth = Cutoffs((k,)).size(hits.list_length)[:, 0]
    is_inside = hits.rank <= depth[hits.user]
    found = np.unique(hits.entry[is_inside])  # a hit spread over a tie has several rows
    n_found = np.bincount(hits.truth_user[found], minlength=hits.n_users)
    return n_found, hits.n_relevant - n_found


def _shown(
    sides: Sequence[EvaluationData],
    positions: list[int],
    values: Sequence[Floats],
    k: int | None,
) -> tuple[ShownUser, ...]:
    """Return the users at some positions, each with the list of every side down to k.

    Items missed are shown of one side alone.
    """
    by_user = zip(*(user_lists_of(side, positions, k) for side in sides), strict=True)
    last = sides[-1]
    names = last.keys.names(last.joined.users[positions])
    shown = []
    for position, name, lists in zip(positions, names, by_user, strict=True):
        *_others, of_last = lists
        missed = of_last.missed if len(sides) == 1 else []
        shown.append(
            ShownUser(
                user=name,
                text=of_last.text,
                values=tuple(float(of_side[position]) for of_side in values),
                n_relevant=of_last.n_relevant,
                n_hits=len(of_last.found),
                n_places=max(len(each.places) for each in lists),
                lists=tuple(_ranked(each) for each in lists),
                missed=tuple(missed[:MISSED_SHOWN]),
                n_missed=len(missed),
            )
        )
    return tuple(shown)


def _ranked(user_list: UserList) -> tuple[RankedItem, ...]:
    """Return the first items of a list, each with its relevance."""
    title_of = user_list.titles.get
    return tuple(
        RankedItem(rank, item, relevance, title_of(item, ""))
        for rank, item, relevance, *_hit in user_list.places[:RANKS_SHOWN]
    )


def worst(
    data: EvaluationData,
    metric: AnyMetric,
    k: int | None = None,
    *,
    n: int = 10,
    **options: Any,
) -> Table:
    """Return the users or queries with the lowest values of a metric, a row each.

    Among users with equal values, those who miss more relevant items come first, as in
    a report. Users without a value are left out, and weights of users do not change the
    order.

    Parameters
    ----------
    metric : str or Metric
        A metric of accuracy. If less is better, the highest values come first.
    k : int, optional
        The cut-off; None is the whole list.
    n : int, default 10
        The number of users.
    **options
        Options of the metric.

    Returns
    -------
    Table
        A row per user: the value, n_relevant, n_found and n_missed; the text of the
        query if `users=` has a column `text`; the item on top of the list (first)
        and the most relevant one that is not in it (missing), by title or text if
        `items=` has one.

    See Also
    --------
    user : The list of one of them.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.worst("ndcg", k=10, n=2).to_frame()[["n_relevant", "n_found", "first"]]
          n_relevant  n_found first
    user
    u056           8        0  None
    u156           7        0  i027
    """
    measure = measure_named(metric, ACCURACY).with_options(options).cut_at(k)
    n_shown = count_of_users("n", n, least=1)
    cutoffs = measure.cutoffs()
    scoring = scoring_of(data, measure, cutoffs)
    joined = scoring.joined
    value = values_of_hits(joined, scoring.measure, cutoffs)[:, 0]
    with_value = np.flatnonzero(~np.isnan(value))
    level = measure.metric.sign * value
    metric_data = replace(data, joined=joined)  # the metric may have its own convention
    n_found, n_missed = _found_and_missed(metric_data.hits(measure.k), measure.k)
    positions = first_by(with_value, n_shown, level, -n_missed)
    lists = user_lists_of(metric_data, positions.tolist(), measure.k)
    index = data.keys.index(joined.users.gather(positions), data.user_label)
    name = label_of(measure.name, measure.k)
    if name in HEADINGS or name in index.names:  # a metric of one's own
        name = f"value of {name}"
    columns: dict[str, Any] = {
        name: value[positions],
        "n_relevant": joined.hits.n_relevant[positions],
        "n_found": n_found[positions],
        "n_missed": n_missed[positions],
    }
    texts = [of_user.text for of_user in lists]
    if any(texts):
        columns["text"] = texts
    # As objects, ids stay as they are beside users without an item.
    for column, item_of in (("first", _first), ("missing", _missing)):
        columns[column] = pd.Series(map(item_of, lists), dtype=object)
    headings = {column: _(words) for column, words in HEADINGS.items()}
    shown = Shown(
        title=_title(data, measure, n_users=len(with_value)),
        basis=scoring.phrases(),
        headings={name: measure.label, **headings},
        cells=dict.fromkeys(("text", "first", "missing"), "text"),
        most=len(positions),
    )
    return Table(pd.DataFrame(columns).set_axis(index), shown=shown)


def _title(data: EvaluationData, measure: Measure, *, n_users: int) -> str:
    """Say of which metric the lowest values are shown, or the highest of a cost."""
    words = HIGHEST if measure.metric.better == "low" else LOWEST
    with use_noun(data.noun_of_lists):
        return _(words, label=measure.label, users=users_in_words(n_users))


def _first(of_user: UserList) -> Any:
    """Return the item on top of the list as given, wherever a rule has it count."""
    return of_user.titled(next(iter(of_user.items.values()), None))


def _missing(of_user: UserList) -> Any:
    """Return the most relevant item that is missed."""
    missed = (each.item for each in of_user.missed)
    return of_user.titled(next(missed, None))
