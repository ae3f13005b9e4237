"""Intra-list diversity: how far apart the items of a list are, summed over its pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from recnb.beyond.recommendation_lists import Cut, Lists, PerUser, TermRows, divided
from recnb.errors import OptionError, RecnbError
from recnb.metrics.hits import Floats, Ints, count_within
from recnb.metrics.metric import metric

if TYPE_CHECKING:
    from recnb.beyond.catalogue import Sparse

#: Cells or pairs that are held at once.
BLOCK = 2**22

#: The most items of a list whose pairs are explained: a list of 20,000 has 200 million.
ITEMS_EXPLAINED = 100


@metric(
    called="intra-list diversity",
    better=None,
    sentence="It depends on the features: {items} with equal features have distance 0.",
    symbol="Diversity",
    over="pairs",
    credit=lambda options: f"1 - {options['distance']}",
    bounds=(0, 2),
    out_of="n_shown * (n_shown - 1) / 2",
    references=["smyth2001", "ziegler2005"],
    top="1, 2 where features can be negative",
    needs=("features",),
    no_value="A list of one item has no pairs: say single='zero' to count 0.",
)
def diversity(
    lists: Lists,
    k: int | None = None,
    *,
    distance: Literal["cosine", "jaccard"] = "cosine",
    features: object = None,
    single: Literal["skip", "zero"] = "skip",
    cutoff: Cut = "k",
) -> PerUser:
    """Mean distance between two items of a list, 0 if all have the same features.

    sum over pairs of the list of distance / (n (n - 1) / 2). Intra-list diversity:
    Smyth and McClave 2001, ICCBR; 1 less the intra-list similarity of Ziegler et al.
    2005, WWW.

    Parameters
    ----------
    distance : {"cosine", "jaccard"}, default "cosine"
        "cosine" is 1 - cosine of the features, 1 if an item has none; "jaccard" is 1 -
        shared features / features of either, 0 if neither has any.
    features : str or list of str, optional
        Which columns of `items=` say what an item is like: one of genres
        (`"comedy|drama"` or lists of words) or several of numbers; by itself the column
        of genres, or all columns of 0 and 1.
    single : {"skip", "zero"}, default "skip"
        A list with one item: "skip" leaves it out; "zero" counts 0.
    cutoff : {"k", "none"}, default "k"
        "none" is of whole lists, whatever k is.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, items=sample.items)
    >>> round(ev.diversity(k=10), 4)
    0.7114
    """
    shown = lists.upto(k, cutoff)
    n = shown.n_shown
    n_pairs = n * (n - 1) / 2
    table, _names = shown.catalogue.described(features, "features")
    lacking = ~shown.catalogue.members("catalogue")
    if (lacking & (shown.times_shown > 0)).any():
        raise RecnbError(
            f"diversity: items= has no row for {shown.examples(lacking)}. Add "
            "them, or leave these items out of the lists."
        )
    if distance == "cosine":
        table, similarity, total_similarity = _units(table), _products, _sum_of_cosines
    else:
        table = abs(table.sign())
        similarity, total_similarity = _jaccard, _sum_of_jaccards
    total = n_pairs - total_similarity(shown, table)
    # Exactly 0, whatever was rounded.
    total = np.where(np.abs(total) > 1e-12 * n_pairs, total, 0.0)

    def rows(user: int) -> TermRows:
        """Return each pair of a list."""
        if n[user] > ITEMS_EXPLAINED:
            raise OptionError(
                f"diversity: an explanation has a row for each pair of items, and "
                f"{n[user]:,} items have {n_pairs[user]:,.0f}: give a cut-off of up to "
                f"{ITEMS_EXPLAINED}, such as k=10."
            )
        items = shown.item[shown.user == user]
        one, other = (items[place] for place in np.triu_indices(len(items), 1))
        alike = np.round(similarity(table, one, other), 12) + 0.0  # no -0
        return TermRows(
            earned=1 - alike,
            names={distance: alike, "n_shown": n[user]},
            of={"item": one, "other_item": other},
        )

    value = divided(total, n_pairs)
    if single == "zero":
        value[n == 1] = 0.0
    return PerUser(value, rows)


def _units(features: Sparse) -> Sparse:
    """Return the features of each item as a vector of length 1, or nothing."""
    unit = features.copy()
    row = np.repeat(np.arange(unit.shape[0]), np.diff(unit.indptr))
    length = np.zeros(unit.shape[0])
    np.hypot.at(length, row, unit.data)  # no square can overflow or vanish
    unit.data = unit.data / length[row]
    return unit


def _products(features: Sparse, one: Ints, other: Ints) -> Floats:
    """Return the product of the features of each pair of items, of `_units` the cosine."""
    products: Floats = features[one].multiply(features[other]).sum(axis=1)
    return products


def _sum_of_cosines(shown: Lists, features: Sparse) -> Floats:
    """Sum the cosines of the pairs of each list, without the pairs.

    Half of |sum|² less the sum of |each|².
    """
    twice = -shown.per_user(features.power(2).sum(axis=1)[shown.item])
    lists = shown.table_of(shown.user, shown.item)
    step = max(1, BLOCK // max(features.shape[1], 1))
    for start in range(0, shown.n_users, step):
        total = lists[start : start + step] @ features
        twice[start : start + step] += total.power(2).sum(axis=1)
    return np.asarray(twice / 2)


def _jaccard(features: Sparse, one: Ints, other: Ints) -> Floats:
    """Return for each pair of items what both have, out of what either has.

    A feature is 1 where an item has it. Two items without features are alike.
    """
    size = np.diff(features.indptr)
    both = _products(features, one, other)
    either = size[one] + size[other] - both
    return np.divide(both, either, out=np.ones(len(one)), where=either > 0)


def _sum_of_jaccards(shown: Lists, features: Sparse) -> Floats:
    """Sum what the items of the pairs of each list share, each pair of items once."""
    total = np.zeros(shown.n_users)
    for first, second in _pairs(shown):
        one, other = shown.item[first], shown.item[second]
        of_pair = np.minimum(one, other) * shown.n_items + np.maximum(one, other)
        key, pair = np.unique(of_pair, return_inverse=True)
        alike = _jaccard(features, *np.divmod(key, shown.n_items))
        total += np.bincount(shown.user[first], alike[pair], shown.n_users)
    return total


def _pairs(shown: Lists) -> Iterator[tuple[Ints, Ints]]:
    """Return the pairs of rows of each list, about `BLOCK` at a time.

    Each row with all rows below it in its list.
    """
    below = shown.n_shown[shown.user] - count_within(shown.user)
    so_far = np.r_[0, np.cumsum(below)]
    low = 0
    while low < len(below):
        reached = np.searchsorted(so_far, so_far[low] + BLOCK, side="right") - 1
        high = max(low + 1, int(reached))
        first = np.repeat(np.arange(low, high), below[low:high])
        yield first, first + count_within(first)
        low = high
