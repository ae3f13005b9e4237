"""Metrics of the catalogue: what all lists together show of it, and how evenly.

They read one thing, how often each item is shown, and give one number; no user has a value of their own.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from recnb.errors import OptionError, RecnbError
from recnb.hits import Floats
from recnb.lists import Catalogue, Cut, Lists, Population, in_words, number


@in_words
def coverage(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    population: Literal["catalogue", "train", "catalogue+padding"] = "catalogue",
    count_only_catalogue: bool = True,
    normalize: bool = True,
    scale: float = 1.0,
    digits: int | None = None,
    cutoff: Cut = "k",
) -> float:
    """What share of the items there are is shown to anyone at all.

    distinct items shown / items there are. Catalogue coverage: Herlocker et al. 2004, ACM TOIS 22(1); Ge,
    Delgado-Battenfeld and Jannach 2010, RecSys.

    - population: "train" rectools (if given train's items), recommenders, replay, recmetrics, evidently; "catalogue"
      rectools, rs-metrics, rexmex, recpack; "catalogue+padding" one more, the padding id: recbole
    - count_only_catalogue: False counts shown items outside the population too, so that it can exceed 1: rectools,
      recommenders, recmetrics
    - normalize: False is the number of items: rectools; scale: recmetrics (100, per cent)
    - digits to round to: recmetrics (2), rexmex (3); cutoff="none": recommenders, recmetrics, rexmex
    """
    shown = lists.upto(k, cutoff).times_shown > 0
    out_of = 1
    if normalize or count_only_catalogue:
        members = catalogue.members("train" if population == "train" else "catalogue", "coverage")
        if count_only_catalogue:
            shown = shown & members
        if normalize:
            out_of = int(members.sum()) + (population == "catalogue+padding")
    value = int(shown.sum()) / out_of if out_of else math.nan
    value *= number("scale", scale, "number above 0", lambda scale: scale > 0)
    if digits is None:
        return value
    return round(value, int(number("digits", digits, "number of digits", lambda digits: digits == int(digits))))


@in_words
def gini(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    population: Population = "catalogue",
    normalizer: Literal["n", "n-1"] = "n",
    weight: float | None = None,
    cutoff: Cut = "k",
) -> float:
    """How unevenly items are shown: 0 if all as often, near 1 if one item gets all places.

    sum over items, from the least shown, of (2 i - n - 1) x_i / (n · sum of x), where x_i is how often the i-th of
    n items is shown. Gini coefficient of exposure: Fleder and Hosanagar 2009, Management Science 55(5).

    - population, the items that n counts: "catalogue" or "train" lenskit; "recommended" only items that are shown at
      all: evidently; "catalogue+padding" one more: recbole. Shown items count wherever they come from, and the rest
      of n is never shown; more shown items than n is an error
    - normalizer: "n" lenskit, recbole; "n-1" reaches 1: evidently
    - weight: a place at rank i counts weight^(i - 1) instead of 1: lenskit ExposureGini (0.85)
    """
    shown = lists.upto(k, cutoff)
    exposure = _exposure(shown, weight)
    n = len(exposure)
    if population != "recommended":
        members = catalogue.members("train" if population == "train" else "catalogue", "gini")
        n = int(members.sum()) + (population == "catalogue+padding")
        if len(exposure) > n:
            raise RecnbError(
                f"gini: {len(exposure):,} items are recommended and {population!r} has {n:,}: {shown.examples(~members)} are not in it. "
                "Give all items, catalogue=..., or say population='recommended'."
            )
    out_of = (n if normalizer == "n" else n - 1) * exposure.sum()
    if out_of == 0:
        return math.nan
    place = np.arange(n - len(exposure) + 1, n + 1)
    return float(((2 * place - n - 1) * exposure).sum() / out_of)


@in_words
def entropy(
    lists: Lists, k: int | None = None, *, base: float = 2, divide_by_items: bool = False, cutoff: Cut = "k"
) -> float:
    """How evenly the places go to items, in bits: 0 if one item has all, log2(n) if n items have as many each.

    -sum over shown items of p log(p), where p is the item's share of all places. Shannon 1948; as distributional
    coverage: Shani and Gunawardana 2011, Recommender Systems Handbook.

    - base: 2 recommenders (with cutoff="none"); e recbole, which also divides by the number of items that are shown
    """
    number("base", base, "base of a logarithm: give a number above 1, such as 2", lambda base: base > 1)
    exposure = _exposure(lists.upto(k, cutoff), None)
    if len(exposure) == 0:
        return math.nan
    share = exposure / exposure.sum()
    value = -float((share * np.log2(share)).sum()) / math.log2(base) + 0.0  # no -0
    return value / len(share) if divide_by_items else value


@in_words
def personalization(
    lists: Lists, k: int | None = None, *, overlap: Literal["cosine", "k"] = "cosine", cutoff: Cut = "k"
) -> float:
    """How different the lists of two users are: 1 if no two share an item, 0 if all are the same.

    1 - mean over pairs of users of the overlap of their lists, found without the pairs: what all lists hold of an
    item, squared and summed, less what each shares with itself. Inter-list diversity: Zhou et al. 2010, PNAS 107(10).

    - overlap: "cosine" shared items / sqrt(n · m): recmetrics, rexmex (with cutoff="none"); "k" shared items / k, as
      if every list held k items, so that short lists count as more personal and it can exceed 1: evidently

    With fewer than two lists there is no pair, and no value.
    """
    shown = lists.upto(k, cutoff)
    n = int((shown.n_shown > 0).sum())
    if overlap == "cosine":
        weight = 1 / np.sqrt(shown.n_shown[shown.user])
        held, itself = np.bincount(shown.item, weight), np.bincount(shown.item, weight * weight)
        shared = (held * held - itself).sum()
    elif k is not None:
        shared = (shown.times_shown.astype(np.float64) ** 2).sum() / k - n
    else:
        raise OptionError("overlap='k' divides by k: give k, such as k=10, or say overlap='cosine'.")
    if n < 2:
        return math.nan
    return float(1 - shared / (n * (n - 1)))


def _exposure(shown: Lists, weight: float | None) -> Floats:
    """How often, or how visibly, each item is shown that is shown at all; the least first."""
    if weight is None:
        times = shown.times_shown
        return np.sort(times[times > 0]).astype(np.float64)
    base = number(
        "weight", weight, "weight of the next rank: give a share up to 1, such as 0.85", lambda weight: 0 < weight <= 1
    )
    seen = np.bincount(shown.item, base ** (shown.rank - 1.0), shown.n_items)
    return np.sort(seen[shown.times_shown > 0]).astype(np.float64, copy=False)
