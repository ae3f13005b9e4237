"""Metrics of the catalogue: what all lists together show of it, and how evenly.

They read one thing, how often each item is shown, and give one number; no user has a value of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from recnb.errors import OptionError, RecnbError
from recnb.metrics.metric import metric, number_option
from recnb.metrics.recommendation_lists import Cut, Lists, PerUser, Population, TermRows, Whole
from recnb.metrics.sorting import Floats, Ints


@metric(
    called="catalogue coverage",
    sentence="It counts an item shown once as much as one shown to everyone; Gini and entropy do not.",
    symbol="Coverage", over="items", credit="shown", bounds=(0, 1), references=["herlocker2004", "ge2010"],
    other_bounds=lambda options: None if options["normalize"] and options["count_only_catalogue"] else (0, math.inf),
    out_of=lambda options: "n_items" if options["normalize"] else "1", needs=("catalogue",),
)  # fmt: skip
def coverage(
    lists: Lists,
    k: int | None = None,
    *,
    population: Literal["catalogue", "train", "catalogue+padding"] = "catalogue",
    count_only_catalogue: bool = True,
    normalize: bool = True,
    cutoff: Cut = "k",
) -> Whole:
    """What share of the items there are is shown to anyone at all.

    distinct items shown / items there are. Catalogue coverage: Herlocker et al. 2004, ACM TOIS 22(1); Ge,
    Delgado-Battenfeld and Jannach 2010, RecSys.

    - population: the items there are, those of `items=` or of train; "catalogue+padding" has one more, as recbole
    - count_only_catalogue: False counts shown items outside the population too, so that it can exceed 1
    - normalize: False is the number of items
    """
    times = lists.upto(k, cutoff).times_shown
    shown = times > 0
    out_of = 1
    if normalize or count_only_catalogue:
        members = lists.catalogue.members(population, "coverage")
        if count_only_catalogue:
            shown = shown & members
        if normalize:
            out_of = int(members.sum()) + (population == "catalogue+padding")
    value = int(shown.sum()) / out_of if out_of else math.nan

    def rows() -> TermRows:
        most = _most_shown(np.where(shown, times, 0))
        return TermRows(np.ones(len(most)), {"shown": 1, "n_items": out_of, "times": times[most]}, most)

    return Whole(value, rows)


@metric(
    called="user coverage",
    sentence="By default, who is left without a list counts 0 in every metric of accuracy as well.",
    symbol="User coverage", over="users", credit="at_least <= n_shown", bounds=(0, 1),
    references=["herlocker2004"], needs=(), out_of="n_users",
)  # fmt: skip
def user_coverage(lists: Lists, k: int | None = None, *, at_least: int = 1) -> PerUser:
    """What share of the users is shown anything at all, or at least so many items.

    users with `at_least` items down to rank k / users. User-space coverage: Herlocker et al. 2004, ACM TOIS 22(1).
    The users are those evaluated, as in metrics of accuracy, so that it is 1 less the share of those without a list.

    - at_least: how many items a list must hold to count
    """
    meaning = "number of items from 1 up"
    least = number_option("at_least", at_least, meaning, lambda least: least >= 1 and least == int(least))
    n = lists.upto(k).n_shown
    served = (n >= least).astype(np.float64)

    def rows(user: int) -> TermRows:
        return TermRows(served[[user]], {"n_shown": n[user], "at_least": least, "n_users": 1})

    return PerUser(served, np.ones(lists.n_users), np.ones(lists.n_users, dtype=bool), rows)


def _gini_out_of(options: Mapping[str, Any]) -> str:
    return "n_items * n_places" if options["normalizer"] == "n" else "(n_items - 1) * n_places"


@metric(
    called="Gini coefficient",
    sentence="Items that are in no list count as well, so that few short lists give an uneven distribution.",
    symbol="Gini", over="items", credit="(2 * place - n_items - 1) * times", out_of=_gini_out_of,
    bounds=(0, 1), references=["fleder2009"], needs=("catalogue",),
)  # fmt: skip
def gini(
    lists: Lists,
    k: int | None = None,
    *,
    population: Population = "catalogue",
    normalizer: Literal["n", "n-1"] = "n",
    weight: float | None = None,
    cutoff: Cut = "k",
) -> Whole:
    """How unevenly items are shown: 0 if all as often, near 1 if one item gets all places.

    sum over items, from the least shown, of (2 i - n - 1) x_i / (n · sum of x), where x_i is how often the i-th of
    n items is shown. Gini coefficient of exposure: Fleder and Hosanagar 2009, Management Science 55(5).

    - population: the items that n counts; "recommended" only those that are shown at all, "catalogue+padding" one more.
      Shown items count wherever they come from, and the rest of n is never shown; more shown items than n is an error
    - normalizer: "n-1" reaches 1
    - weight: a place at rank i counts weight^(i - 1) instead of 1
    """
    shown = lists.upto(k, cutoff)
    exposure, item = _exposure(shown, weight)
    n = len(exposure)
    if population != "recommended":
        members = lists.catalogue.members(population, "gini")
        n = int(members.sum()) + (population == "catalogue+padding")
        if len(exposure) > n:
            raise RecnbError(
                f"{len(exposure):,} items are recommended and {population!r} has {n:,}: {shown.examples(~members)} are not in it.",
                fix="Give all items, items=..., or say population='recommended'.",
                subject="gini: ",
            )
    out_of = (n if normalizer == "n" else n - 1) * exposure.sum()
    if out_of == 0:
        return Whole(math.nan)
    place = np.arange(n - len(exposure) + 1, n + 1)
    earned = (2 * place - n - 1) * exposure

    def rows() -> TermRows:
        down = np.arange(len(item) - 1, -1, -1)
        names = {"place": place[down], "times": exposure[down], "n_items": n, "n_places": exposure.sum()}
        return TermRows(earned[down], names, item[down])

    return Whole(float(earned.sum() / out_of), rows)


@metric(
    called="exposure entropy", sentence="2 to this power: the number of equally shown items with the same evenness.",
    symbol="Entropy", over="items", credit="share * log(1 / share)",
    out_of=lambda options: "log(n_items)" if options["normalize"] else "1",
    bounds=(0, math.inf), top="log2 of the items shown", references=["shannon1948", "shani2011"],
)  # fmt: skip
def entropy(
    lists: Lists,
    k: int | None = None,
    *,
    normalize: bool = False,
    cutoff: Cut = "k",
) -> Whole:
    """How evenly the places go to items, in bits: 0 if one item has all, log2(n) if n items have as many each.

    -sum over shown items of p log(p), where p is the item's share of all places. Shannon 1948; as distributional
    coverage: Shani and Gunawardana 2011, Recommender Systems Handbook.

    - normalize: divided by the most it could be, log(items of the catalogue), so that it ends at 1
    - cutoff="none": recommenders
    """
    exposure, item = _exposure(lists.upto(k, cutoff), None)
    if len(exposure) == 0:
        return Whole(math.nan)
    share = exposure / exposure.sum()
    earned = -share * np.log2(share) + 0.0  # no -0
    n_items = int(lists.catalogue.members("catalogue", "entropy").sum()) if normalize else 0
    out_of = math.log2(n_items) if normalize else 1.0

    def rows() -> TermRows:
        down = np.arange(len(item) - 1, -1, -1)
        names = {"share": share[down], "times": exposure[down], "n_items": n_items}
        return TermRows(earned[down], names, item[down])

    return Whole(float(earned.sum()) / out_of if out_of else math.nan, rows)


@metric(
    called="personalization",
    sentence="The mean over all pairs of users. It does not measure whether the differences are useful.",
    symbol="Personalization", over="user pairs", credit="1 - overlap", out_of="n_lists * (n_lists - 1) / 2",
    bounds=(0, 1), references=["zhou2010"], per_row_texts=False,
)  # fmt: skip
def personalization(
    lists: Lists, k: int | None = None, *, overlap: Literal["cosine", "k"] = "cosine", cutoff: Cut = "k"
) -> Whole:
    """How different the lists of two users are: 1 if no two share an item, 0 if all are the same.

    1 - mean over pairs of users of the overlap of their lists, found without the pairs: what all lists hold of an
    item, squared and summed, less what each shares with itself. Inter-list diversity: Zhou et al. 2010, PNAS 107(10).

    - overlap: "cosine" shared items / sqrt(n · m): recmetrics, rexmex (with cutoff="none"); "k" shared items / k, as
      if every list held k items, so that short lists count as more personal and it can exceed 1: evidently

    With fewer than two lists there is no pair, and no value.
    """
    if overlap == "k" and k is None:
        raise OptionError("overlap='k' divides by k: give k, such as k=10, or say overlap='cosine'.")
    shown = lists.upto(k, cutoff)
    n, times = int((shown.n_shown > 0).sum()), shown.times_shown
    size = np.full(shown.n_users, k) if overlap == "k" else shown.n_shown
    weight: Floats = 1 / np.sqrt(size[shown.user])
    held = shown.per_item(weight)
    by_item = held * held - shown.per_item(weight * weight)
    shared = by_item.sum()
    if overlap == "k":  # the places that a short list lacks
        shared -= n - (weight * weight).sum()
    if n < 2:
        return Whole(math.nan)

    def rows() -> TermRows:
        """Return the items that lists share, and how much of the overlap each is."""
        most = _most_shown(times)
        names = {"times": times[most], "n_lists": n, "overlap": shared / (n * (n - 1))}
        return TermRows(-by_item[most] / 2, names, most)

    def of_users() -> Floats:
        """Return the mean difference of each list from all others; its overlap with itself is left out."""
        return 1 - (shown.per_user(weight * held[shown.item])[shown.n_shown > 0] - 1) / (n - 1)

    return Whole(float(1 - shared / (n * (n - 1))), rows, of_users)


def _exposure(shown: Lists, weight: float | None) -> tuple[Floats, Ints]:
    """Return the exposure of each item that is shown at all, the least first, and the items."""
    seen = shown.times_shown.astype(np.float64)
    if weight is not None:
        meaning = "weight of the next rank: give a share up to 1, such as 0.85"
        base = number_option("weight", weight, meaning, lambda share: 0 < share <= 1)
        seen = shown.per_item(np.power(base, shown.rank - 1.0))
    item = np.flatnonzero(shown.times_shown)
    item = item[np.argsort(seen[item], kind="stable")]
    return seen[item], item


def _most_shown(times: Ints) -> Ints:
    """Return items that are shown, the most shown first."""
    item = np.flatnonzero(times > 0)
    return item[np.argsort(-times[item], kind="stable")]
