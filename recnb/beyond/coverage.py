"""Metrics of the catalogue: what all lists together show of it, and how evenly.

They read one thing, how often each item is shown, and give one number; no user has a
value of their own.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from recnb.beyond.recommendation_lists import Cut, Lists, PerUser, TermRows, Whole
from recnb.errors import RecnbError
from recnb.metrics.hits import Floats, Ints
from recnb.metrics.metric import metric

#: The items that could have been shown.
Population = Literal["catalogue", "train", "catalogue+padding"]


@metric(
    called="catalogue coverage",
    better=None,
    sentence="It counts {items} shown once as much as those shown to everyone; Gini "
    "and entropy do not.",
    symbol="Coverage",
    over="items",
    credit="shown",
    bounds=(0, 1),
    references=["herlocker2004", "ge2010"],
    unbounded=lambda options: (
        not (options["normalize"] and options["count_only_catalogue"])
    ),
    out_of=lambda options: "n_items" if options["normalize"] else "1",
    needs=("catalogue",),
)
def coverage(
    lists: Lists,
    k: int | None = None,
    *,
    population: Population = "catalogue",
    count_only_catalogue: bool = True,
    normalize: bool = True,
    cutoff: Cut = "k",
) -> Whole:
    """What share of the items there are is shown to anyone at all.

    distinct items shown / items there are. Catalogue coverage: Herlocker et al. 2004,
    ACM TOIS 22(1); Ge, Delgado-Battenfeld and Jannach 2010, RecSys.

    Parameters
    ----------
    population : {"catalogue", "train", "catalogue+padding"}, default "catalogue"
        The items there are, those of `items=` or of train; "catalogue+padding" has one
        more, as recbole.
    count_only_catalogue : bool, default True
        False counts shown items outside the population too, so that it can exceed 1.
    normalize : bool, default True
        False is the number of items.
    cutoff : {"k", "none"}, default "k"
        "none" is of whole lists, whatever k is.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    >>> round(ev.coverage(k=10), 4)
    0.1331
    """
    times = lists.upto(k, cutoff).times_shown
    members = lists.catalogue.members(population)
    counted = np.where(members, times, 0) if count_only_catalogue else times
    out_of = lists.catalogue.n_members(population) if normalize else 1

    item = _most_shown(counted)
    names = {"shown": 1, "n_items": out_of, "times": times[item]}
    rows = TermRows(np.ones(len(item)), names, {"item": item})
    return Whole(len(item) / out_of if out_of else math.nan, rows)


@metric(
    called="user coverage",
    better=None,
    sentence="By default, who is left without a list counts 0 in every metric of accuracy as well.",
    symbol="User coverage",
    over="users",
    credit="1 <= n_shown",
    bounds=(0, 1),
    references=["herlocker2004"],
    out_of="n_users",
)
def user_coverage(lists: Lists, k: int | None = None) -> PerUser:
    """What share of the users is shown anything at all.

    users with an item down to rank k / users. User-space coverage: Herlocker et al.
    2004, ACM TOIS 22(1). The users are those evaluated, as in metrics of accuracy, so
    that it is 1 less the share of those without a list.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> round(ev.user_coverage(k=10), 4)
    0.9923
    """
    n = lists.upto(k).n_shown
    served = (n >= 1).astype(np.float64)
    return PerUser(
        served,
        lambda user: TermRows(served[[user]], {"n_shown": n[user], "n_users": 1}),
    )


@metric(
    called="Gini coefficient",
    better=None,
    sentence="{Items} that are in no list count as well, so that few short lists give "
    "an uneven distribution.",
    symbol="Gini",
    over="items",
    credit="(2 * place - n_items - 1) * times",
    out_of="n_items * n_places",
    bounds=(0, 1),
    references=["fleder2009"],
    needs=("catalogue",),
)
def gini(
    lists: Lists,
    k: int | None = None,
    *,
    population: Population = "catalogue",
) -> Whole:
    """How unevenly items are shown: 0 if all as often, near 1 if one item gets all
    places.

    sum over items, from the least shown, of (2 i - n - 1) x_i / (n · sum of x), where
    x_i is how often the i-th of n items is shown. Gini coefficient of exposure: Fleder
    and Hosanagar 2009, Management Science 55(5).

    Parameters
    ----------
    population : {"catalogue", "train", "catalogue+padding"}, default "catalogue"
        The items that n counts; "catalogue+padding" one more. Shown items count wherever
        they come from, and the rest of n is never shown; more shown items than n is an
        error.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
    >>> round(ev.gini(k=10), 4)
    0.9389
    """
    shown = lists.upto(k)
    item = _most_shown(shown.times_shown)
    times = shown.times_shown[item]
    n = lists.catalogue.n_members(population)
    if len(item) > n:
        others = ~lists.catalogue.members(population)
        raise RecnbError(
            f"gini: {len(item):,} items are recommended and {population!r} has {n:,}: "
            f"{shown.examples(others)} are not in it: give all items, items=items."
        )
    if len(item) == 0:
        return Whole(math.nan)
    place = n - np.arange(len(item))
    earned = ((2 * place - n - 1) * times).astype(np.float64)
    names = {"place": place, "times": times, "n_items": n, "n_places": times.sum()}
    value = earned.sum() / (n * times.sum())
    return Whole(value, TermRows(earned, names, {"item": item}))


@metric(
    called="exposure entropy",
    better=None,
    sentence="2 to this power: the number of equally shown {items} with the same evenness.",
    symbol="Entropy",
    over="items",
    credit="share * log(1 / share)",
    bounds=(0, math.inf),
    top="log2 of the {items} shown",
    references=["shannon1948", "shani2011"],
)
def entropy(lists: Lists, k: int | None = None, *, cutoff: Cut = "k") -> Whole:
    """How evenly the places go to items, in bits: 0 if one item has all, log2(n) if n
    items have as many each.

    -sum over shown items of p log(p), where p is the item's share of all places.
    Shannon 1948; as distributional coverage: Shani and Gunawardana 2011, Recommender
    Systems Handbook.

    Parameters
    ----------
    cutoff : {"k", "none"}, default "k"
        "none" is of whole lists, as in recommenders.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> round(ev.entropy(k=10), 4)
    4.213
    """
    all_times = lists.upto(k, cutoff).times_shown
    item = _most_shown(all_times)
    if len(item) == 0:
        return Whole(math.nan)
    times = all_times[item]
    share = times / times.sum()
    earned = -share * np.log2(share) + 0.0  # no -0
    names = {"share": share, "times": times}
    return Whole(earned.sum(), TermRows(earned, names, {"item": item}))


@metric(
    called="personalization",
    better=None,
    sentence="The mean over all pairs of {users}. It does not measure whether the "
    "differences are useful.",
    symbol="Personalization",
    over="user pairs",
    credit="1 - overlap",
    out_of="n_lists * (n_lists - 1) / 2",
    bounds=(0, 1),
    references=["zhou2010"],
    no_value="It compares users, and fewer than two have items down to k.",
    per_row_texts=False,
)
def personalization(lists: Lists, k: int | None = None, *, cutoff: Cut = "k") -> Whole:
    """How different the lists of two users are: 1 if no two share an item, 0 if all are
    the same.

    1 - mean over pairs of users of the overlap of their lists, shared items / sqrt(n ·
    m), found without the pairs: what all lists hold of an item, squared and summed,
    less what each shares with itself. Inter-list diversity: Zhou et al. 2010, PNAS
    107(10). With fewer than two lists there is no pair, and no value.

    Parameters
    ----------
    cutoff : {"k", "none"}, default "k"
        "none" is of whole lists, as in recmetrics and rexmex.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> round(ev.personalization(k=10), 4)
    0.3966
    """
    shown = lists.upto(k, cutoff)
    has_list = shown.n_shown > 0
    n = int(has_list.sum())
    if n < 2:
        return Whole(math.nan)
    # Two lists of n and m items overlap by 1 / sqrt(n · m) for each that both hold: in
    # the square of what all lists hold of an item, each pair of lists is there twice,
    # and each list with itself.
    weight: Floats = 1 / np.sqrt(shown.n_shown[shown.user])
    held = np.bincount(shown.item, weight, shown.n_items)
    by_item = held * held - np.bincount(shown.item, weight * weight, shown.n_items)
    overlap = by_item.sum() / (n * (n - 1))

    # The items that lists share, and how much of the overlap each is.
    item = _most_shown(shown.times_shown)
    names = {"times": shown.times_shown[item], "n_lists": n, "overlap": overlap}
    rows = TermRows(-by_item[item] / 2, names, {"item": item})
    # The mean difference of each list from all others: what it shares with itself is
    # left out.
    overlaps = shown.per_user(weight * held[shown.item])[has_list]
    return Whole(float(1 - overlap), rows, of_users=1 - (overlaps - 1) / (n - 1))


def _most_shown(times: Ints) -> Ints:
    """Return items that are shown, the most shown first."""
    item = np.flatnonzero(times > 0)
    return item[np.argsort(-times[item], kind="stable")]
