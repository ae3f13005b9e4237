"""How well known the items of a list are: novelty, popularity, the long tail.

Each needs train, and no truth.

Users whose list holds nothing are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from recnb.beyond.recommendation_lists import (
    Cut,
    Lists,
    PerUser,
    TermRows,
    divided,
)
from recnb.errors import NoUsersError
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import metric


@metric(
    called="novelty",
    better=None,
    sentence="One bit more means {items} that half as many {users} have. High values "
    "are not good in themselves.",
    symbol="Novelty",
    over="list",
    bounds=(0, np.inf),
    top="log2 of the {users} of train",
    references=["zhou2010"],
    credit=lambda options: (
        "log(total / count)" + (" / log(n_users)" if options["normalize"] else "")
    ),
    out_of=lambda options: "n_shown" if options["divisor"] == "list" else "k",
    needs=("train",),
)
def novelty(
    lists: Lists,
    k: int | None = None,
    *,
    popularity: Literal["users", "interactions"] = "users",
    cold: Literal["log2(users)", "drop"] = "log2(users)",
    divisor: Literal["list", "k"] = "list",
    normalize: bool = False,
    cutoff: Cut = "k",
) -> PerUser:
    """How surprising the shown items are, in bits: 0 if every user already had them
    all.

    mean over the list of -log2(count / total), where count is of users who had the
    item, or of interactions with it; divided by log2(users) with `normalize`. Mean
    self-information: Zhou et al. 2010, PNAS 107(10).

    Parameters
    ----------
    popularity : {"users", "interactions"}, default "users"
        What is counted: users who had the item, or its rows in train.
    cold : {"log2(users)", "drop"}, default "log2(users)"
        An item that train does not have: "log2(users)" as if one user had it; "drop"
        leaves it out.
    divisor : {"list", "k"}, default "list"
        "k" also for a list that is shorter.
    normalize : bool, default False
        True divides by log2(users).
    cutoff : {"k", "none"}, default "k"
        "none" is of whole lists, whatever k is.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    >>> round(ev.novelty(k=10), 4)
    1.812
    """
    shown = lists.upto(k, cutoff)
    count = lists.catalogue.counts[popularity]
    n_users = lists.catalogue.n_users
    if normalize and n_users < 2:
        raise NoUsersError(
            "novelty with normalize=True divides by log2 of the users of train, and "
            "of one user that is 0. Leave out normalize=True."
        )
    total = n_users if popularity == "users" else int(count.sum())
    is_known = count > 0
    bits = np.full(lists.n_items, np.log2(max(n_users, 1)))
    bits[is_known] = np.log2(total / count[is_known])
    # In the formula a cold item has the count that its bits are of.
    names = {"count": total / np.exp2(bits), "total": total, "n_users": n_users}
    if normalize:
        bits = bits / np.log2(n_users)
    if cold == "drop":
        bits = np.where(is_known, bits, np.nan)
    n_places = None
    if divisor == "k":
        (n_places,) = Cutoffs.of(k).size(shown.n_shown).T
    return _mean_of_items(shown, bits, names, n_places)


@metric(
    called="popularity",
    better=None,
    sentence="High where a list repeats what everyone has anyway.",
    symbol="Popularity",
    over="list",
    bounds=(0, 1),
    references=["abdollahpouri2019"],
    unbounded=lambda options: options["popularity"] == "count",
    credit=lambda options: (
        "count" if options["popularity"] == "count" else "count / total"
    ),
    out_of="n_shown",
    needs=("train",),
)
def popularity(
    lists: Lists,
    k: int | None = None,
    *,
    popularity: Literal["users", "interactions", "count", "max"] = "users",
    cold: Literal["zero", "drop"] = "zero",
) -> PerUser:
    """How popular the shown items are: the share of users who already had the average
    item of the list.

    mean over the list of count / total. Average recommendation popularity:
    Abdollahpouri et al. 2019, FLAIRS 32.

    Parameters
    ----------
    popularity : {"users", "interactions", "count", "max"}, default "users"
        "users" is users / all of them; "interactions" is interactions / all of them;
        "count" is interactions, not divided; "max" is interactions / those of the most
        popular item.
    cold : {"zero", "drop"}, default "zero"
        An item that train does not have: "zero" counts 0; "drop" leaves it out.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    >>> round(ev.popularity(k=10), 4)
    0.2907
    """
    counted = "users" if popularity == "users" else "interactions"
    count = lists.catalogue.counts[counted]
    totals = {
        "users": lists.catalogue.n_users,
        "interactions": int(count.sum()),
        "count": 1,
        "max": int(count.max(initial=0)),
    }
    total = totals[popularity]
    share = count / max(total, 1)
    if cold == "drop":
        share = np.where(count > 0, share, np.nan)
    return _mean_of_items(lists.upto(k), share, {"count": count, "total": total})


@metric(
    called="popularity rank",
    better=None,
    sentence="Random recommendations have about one half.",
    symbol="Popularity rank",
    over="list",
    credit="place / total",
    out_of="n_shown",
    bounds=(0, 1),
    references=["ekstrand2017"],
    needs=("train",),
)
def popularity_rank(lists: Lists, k: int | None = None) -> PerUser:
    """Mean popularity rank of the recommended items among all items: 1 is the most
    popular, near 0 the least.

    mean over the list of (rank of the item's count of users, from the least popular) /
    (items in train); items that are equally popular share their mean rank, and a cold
    item is 0. Ekstrand and Mahant 2017, FLAIRS 30; lenskit MeanPopRank.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    >>> round(ev.popularity_rank(k=10), 4)
    0.97
    """
    count = lists.catalogue.counts["users"]
    place = np.zeros(lists.n_items)
    _, group, size = np.unique(
        count[count > 0], return_inverse=True, return_counts=True
    )
    place[count > 0] = (np.cumsum(size) - (size - 1) / 2)[group]
    total = max(len(group), 1)
    return _mean_of_items(
        lists.upto(k), place / total, {"place": place, "total": total}
    )


@metric(
    called="tail share",
    better=None,
    sentence="How much of what is shown is rarely had. What the tail is depends on `ratio`.",
    symbol="Tail share",
    over="list",
    credit="tail",
    out_of="n_shown",
    bounds=(0, 1),
    references=["abdollahpouri2019"],
    needs=("train",),
    ranges={
        "ratio": (
            "a share of items, above 0 and up to 1, such as 0.1",
            lambda ratio: 0 < ratio <= 1,
        )
    },
)
def tail_share(lists: Lists, k: int | None = None, *, ratio: float = 0.8) -> PerUser:
    """What share of the list comes from the long tail, the least popular items of
    train.

    items of the list in the tail / length of the list; the tail is the `ratio` of
    train's items, rounded down but at least one, with the fewest interactions: four
    fifths unless said otherwise, so that the head is the most popular fifth. Of equally
    rare items those whose id sorts first. Cold items are not in the tail. Abdollahpouri
    et al. 2019, FLAIRS 32; recbole TailPercentage (0.1).

    Parameters
    ----------
    ratio : float, default 0.8
        The share of train's items that are the tail, between 0 and 1.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["item-knn"], sample.test, train=sample.train)
    >>> round(ev.tail_share(k=10), 4)
    0.1191
    """
    count = lists.catalogue.counts["interactions"]
    in_train = np.flatnonzero(count)
    rarest = in_train[np.argsort(count[in_train], kind="stable")]
    tail = np.zeros(lists.n_items)
    tail[rarest[: max(int(len(in_train) * ratio), 1)]] = 1
    return _mean_of_items(lists.upto(k), tail, {"tail": tail})


def _mean_of_items(
    shown: Lists,
    value: Floats,
    names: Mapping[str, Any],
    n_places: Ints | None = None,
) -> PerUser:
    """Return the mean over each list of a value by item, NaN of one that does not count.

    `names` holds what the formula names, by item or one number; `n_places` is what the
    sum is divided by, if not the number of items that count.
    """
    earned = value[shown.item]
    is_counted = ~np.isnan(earned)
    n_counted = shown.per_user(is_counted)
    out_of = n_counted if n_places is None else n_places
    total = shown.per_user(np.where(is_counted, earned, 0.0))

    def rows(user: int) -> TermRows:
        """Return the rows of one list; those that do not count are left out."""
        row = np.flatnonzero((shown.user == user) & is_counted)
        item = shown.item[row]
        numbers = {"n_shown": n_counted[user], "k": out_of[user], **names}
        for name, each in names.items():
            if isinstance(each, np.ndarray):
                numbers[name] = each[item]
        return TermRows(earned[row], numbers, {"rank": shown.rank[row], "item": item})

    # A user whose list holds nothing has no value, whatever it would be divided by.
    possible: Floats = np.where(shown.n_shown > 0, out_of, 0.0)
    return PerUser(divided(total, possible), rows)
