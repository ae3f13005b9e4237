"""Metrics of whole lists, beyond accuracy: novelty, popularity, the long tail, diversity.

Each gives one value per user and needs no truth. Users whose list holds nothing are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recnb.errors import OptionError, RecnbError
from recnb.hits import Floats, Ints, in_order
from recnb.lists import Bools, Catalogue, Cut, Lists, PerUser, Popularity, in_words, number

if TYPE_CHECKING:
    from recnb.lists import Sparse

#: Cells of the largest table that is held at once.
BLOCK = 2**24


@in_words
def novelty(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    popularity: Literal["users", "interactions"] = "users",
    cold: Literal["log2(users)", "drop", "zero", "error"] = "log2(users)",
    divisor: Literal["list", "k"] = "list",
    normalize: bool = False,
    epsilon: float = 0.0,
    cutoff: Cut = "k",
) -> PerUser:
    """How surprising the shown items are, in bits: 0 if every user already had them all.

    mean over the list of -log2((count + epsilon) / total), where count is of users who had the item, or of
    interactions with it; divided by log2(users) with `normalize`. Mean self-information: Zhou et al. 2010, PNAS 107(10).

    - popularity: "users" rectools, rs-metrics, evidently, replay, recmetrics, rexmex; "interactions" recommenders
    - cold, an item that train does not have: "log2(users)" as if one user had it: rectools, rs-metrics, replay; "drop"
      evidently; "zero" recommenders; "error" recmetrics, rexmex
    - divisor: "list" most; "k" also for a list that is shorter: replay, recmetrics
    - normalize: replay; epsilon: rexmex (1e-10); cutoff="none": recmetrics, recommenders (which also pools all rows)
    """
    shown = lists.upto(k, cutoff)
    count = catalogue.counts(popularity, "novelty")
    total = catalogue.n_users if popularity == "users" else catalogue.n_interactions
    bits = np.full(lists.n_items, 0.0 if cold == "zero" else np.log2(max(catalogue.n_users, 1)))
    known = count > 0
    bits[known] = np.log2(
        total / (count[known] + number("epsilon", epsilon, "number from 0 up", lambda value: value >= 0))
    )
    if normalize:
        # With one user there is nothing to divide by, and no value.
        bits = bits / np.log2(catalogue.n_users) if catalogue.n_users > 1 else np.full(lists.n_items, np.nan)
    return _mean_of_items(shown, bits, _kept(shown, count, cold, "novelty"), divisor, k)


@in_words
def popularity(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    popularity: Popularity = "users",
    cold: Literal["zero", "drop", "error"] = "zero",
    divisor: Literal["list", "k"] = "list",
    cutoff: Cut = "k",
) -> PerUser:
    """How popular the shown items are: the share of users who already had the average item of the list.

    mean over the list of count / total. Average recommendation popularity: Abdollahpouri et al. 2019, FLAIRS 32.

    - popularity: "users" is users with the item / all users: rs-metrics; "interactions" is interactions / all of them:
      rectools with normalize; "count" is interactions, not divided: rectools, evidently, recbole; "max" is
      interactions / those of the most popular item: evidently with normalize_arp
    - cold, an item that train does not have: "zero" rs-metrics, rectools, recbole; "drop" evidently
    """
    shown = lists.upto(k, cutoff)
    count = catalogue.counts(popularity, "popularity")
    out_of = {
        "users": catalogue.n_users,
        "interactions": int(count.sum()),
        "count": 1,
        "max": int(count.max(initial=0)),
    }[popularity]
    return _mean_of_items(shown, count / max(out_of, 1), _kept(shown, count, cold, "popularity"), divisor, k)


@in_words
def popularity_rank(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    popularity: Literal["users", "interactions"] = "users",
    cold: Literal["zero", "drop", "error"] = "zero",
    divisor: Literal["list", "k"] = "list",
    cutoff: Cut = "k",
) -> PerUser:
    """Where the shown items stand among all items by popularity: 1 is the most popular, near 0 the least.

    mean over the list of (rank of the item's count, from the least popular) / (items in train); items that are equally
    popular share their mean rank. Ekstrand and Mahant 2017, FLAIRS 30; lenskit MeanPopRank, where a cold item is 0.
    """
    shown = lists.upto(k, cutoff)
    count = catalogue.counts(popularity, "popularity_rank")
    place = np.zeros(lists.n_items)
    _, group, size = np.unique(count[count > 0], return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(size) - (size - 1) / 2
    place[count > 0] = mean_rank[group] / max(len(group), 1)
    return _mean_of_items(shown, place, _kept(shown, count, cold, "popularity_rank"), divisor, k)


@in_words
def tail_share(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    ratio: float = 0.1,
    divisor: Literal["list", "k"] = "list",
    cutoff: Cut = "k",
) -> PerUser:
    """What share of the list comes from the long tail, the least popular items of train.

    items of the list in the tail / length of the list; the tail is the `ratio` of train's items, rounded down but at
    least one, with the fewest interactions; of equally rare items those whose id sorts first. A ratio above 1 is a
    count: the tail is every item with so many interactions or fewer. Abdollahpouri et al. 2019, FLAIRS 32; recbole
    TailPercentage. Cold items are not in the tail.
    """
    shown = lists.upto(k, cutoff)
    count = catalogue.counts("interactions", "tail_share")
    size = number("ratio", ratio, "share above 0, such as 0.1, or count above 1", lambda value: value > 0)
    in_train = np.flatnonzero(count)
    if size > 1:
        tail = (count > 0) & (count <= size)
    else:
        rarest = in_train[np.argsort(count[in_train], kind="stable")]
        tail = np.zeros(lists.n_items, dtype=bool)
        tail[rarest[: max(int(len(in_train) * size), 1)]] = True
    return _mean_of_items(shown, tail.astype(np.float64), None, divisor, k)


@in_words
def diversity(
    lists: Lists,
    catalogue: Catalogue,
    k: int | None = None,
    *,
    distance: Literal["cosine", "jaccard", "hamming", "cooccurrence"] = "cosine",
    measure: Literal["distance", "similarity"] = "distance",
    divisor: Literal["pairs", "list"] = "pairs",
    single: Literal["skip", "zero", "nan", "error"] = "skip",
    cutoff: Cut = "k",
) -> PerUser:
    """How unlike the items of a list are: the mean distance between two of them, 0 if all are alike.

    sum over pairs of the list of distance / (n (n - 1) / 2). Intra-list diversity: Smyth and McClave 2001, ICCBR;
    as similarity, 1 - distance of each pair: Ziegler et al. 2005, WWW, where it is called intra-list similarity.

    - distance: "cosine" 1 - cosine of the features, 1 if an item has none: recommenders, recmetrics, rexmex, evidently;
      "jaccard" 1 - shared features / features of either, 0 if neither has any: recpack; "hamming" how many features
      differ: rectools; "cooccurrence" 1 - users with both / sqrt(users with one · users with the other), from train
      instead of features: recommenders' default
    - measure: "similarity" recmetrics, rexmex
    - divisor: "list" divides by n instead of the number of pairs: evidently (the same for three items only)
    - single, a list with one item: "skip" recommenders; "zero" rectools, recpack, evidently; "nan", and no mean,
      rexmex; "error" recmetrics
    - cutoff="none": recommenders, recmetrics, rexmex
    """
    if distance == "hamming" and measure == "similarity":
        raise OptionError(
            "the hamming distance counts features and has no similarity: choose distance='jaccard' or 'cosine'."
        )
    shown = lists.upto(k, cutoff)
    n = shown.n_shown
    alone = n == 1
    if single == "error" and alone.any():
        raise RecnbError(
            f"diversity: {int(alone.sum()):,} users have a list of one item, which has no pairs. "
            "Say single='skip' to leave them out or 'zero' to count 0."
        )
    pairs = n * (n - 1) / 2
    if distance == "hamming":
        total = _hamming(shown, catalogue.described_by(shown, "diversity"))
    else:
        alike = _similarity(shown, catalogue, distance)
        total = alike if measure == "similarity" else pairs - alike
    total = np.where(n > 1, total, 0.0)  # exactly 0, whatever was rounded
    out_of = np.where(alone, 0.0 if single == "nan" else 1.0, pairs if divisor == "pairs" else n)
    return PerUser(total, out_of, (n > 1) | (alone & (single != "skip")))


def _kept(shown: Lists, count: Ints, cold: str, metric: str) -> Bools | None:
    """Which items count: all, or those that train has."""
    if cold == "error":
        never = (count == 0) & (shown.times_shown > 0)
        if never.any():
            raise RecnbError(
                f"{metric}: train has never seen {shown.examples(never)}, and cold='error' refuses them: "
                "say cold='drop' to leave them out or cold='zero' to count 0."
            )
    return count > 0 if cold == "drop" else None


def _mean_of_items(shown: Lists, value: Floats, kept: Bools | None, divisor: str, k: int | None) -> PerUser:
    """The mean over each list of a value that each item has."""
    of_row = value[shown.item]
    n = shown.n_shown.astype(np.float64)
    holds = n > 0
    if kept is not None:
        row_kept = kept[shown.item]
        of_row, n = np.where(row_kept, of_row, 0.0), shown.per_user(row_kept.astype(np.float64))
    out_of = n if divisor == "list" else (shown.n_shown if k is None else np.full(shown.n_users, k)).astype(np.float64)
    return PerUser(shown.per_user(of_row), out_of, holds & (out_of > 0))


def _similarity(shown: Lists, catalogue: Catalogue, distance: str) -> Floats:
    """Similarity summed over the pairs of each list."""
    if distance == "cosine":
        return _products(shown, _unit(catalogue.described_by(shown, "diversity")))
    if distance == "jaccard":
        rows = _present(catalogue.described_by(shown, "diversity"))
    else:
        rows = catalogue.taken_by("diversity by cooccurrence")
    size = np.diff(rows.indptr).astype(np.float64)
    total = np.zeros(shown.n_users)
    for user, first, second, pair in _pairs(shown):
        common = _common(rows, first, second)
        if distance == "jaccard":  # two items without features are alike
            out_of, alike = size[first] + size[second] - common, np.ones_like(common)
        else:  # an item that no user had is like no other
            out_of, alike = np.sqrt(size[first] * size[second]), np.zeros_like(common)
        np.divide(common, out_of, out=alike, where=out_of > 0)
        total += np.bincount(user, alike[pair], shown.n_users)
    return total


def _hamming(shown: Lists, features: Sparse) -> Floats:
    """Features that differ, summed over the pairs of each list: those that either item has, less those that agree.

    Each item is in n - 1 pairs; where both have the feature it is counted twice, and where it is the same, not at all.
    """
    features = features.copy()
    features.eliminate_zeros()
    present, size = _present(features), np.diff(features.indptr)
    either = (shown.n_shown - 1) * shown.per_user(size[shown.item]) - _products(shown, present)
    if (features.data == 1).all():
        return np.asarray(either - _products(shown, present))
    # A column for each value that a feature takes, 1 where an item has it.
    values, code = np.unique(features.data, return_inverse=True)
    _, column = np.unique(features.indices.astype(np.int64) * len(values) + code, return_inverse=True)
    same = _ones(column, features.indptr.astype(np.int64), int(column.max(initial=-1)) + 1)
    return np.asarray(either - _products(shown, same))


def _present(features: Sparse) -> Sparse:
    """1 where there is a feature."""
    present = features.copy()
    present.eliminate_zeros()
    present.data = np.ones_like(present.data)
    return present


def _ones(column: Ints, starts: Ints, n_columns: int) -> Sparse:
    """A table of 1 in these columns of each row; the columns of row i are those from starts[i]."""
    from scipy import sparse

    parts: Any = (np.ones(len(column)), column, starts)
    return sparse.csr_array(parts, shape=(len(starts) - 1, n_columns))


def _unit(features: Sparse) -> Sparse:
    """Each row at length 1, or 0 if it holds nothing."""
    unit = features.copy()
    row = np.repeat(np.arange(unit.shape[0]), np.diff(unit.indptr))
    largest = np.zeros(unit.shape[0])
    np.maximum.at(largest, row, np.abs(unit.data))
    unit.data = unit.data / np.where(largest > 0, largest, 1.0)[row]  # no square can overflow or vanish
    length = np.sqrt(np.bincount(row, unit.data**2, unit.shape[0]))
    unit.data = unit.data / np.where(length > 0, length, 1.0)[row]
    return unit


def _products(shown: Lists, rows: Sparse) -> Floats:
    """Inner products summed over the pairs of each list, without the pairs: half of |sum|² less the sum of |each|²."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    square = np.bincount(row, rows.data**2, rows.shape[0])
    twice = -shown.per_user(square[shown.item])
    starts = np.r_[0, np.cumsum(shown.n_shown)]
    holds = _ones(shown.item, starts, rows.shape[0])
    step = max(1, BLOCK // max(rows.shape[1], 1))
    for start in range(0, shown.n_users, step):
        total = holds[start : start + step] @ rows
        user = np.repeat(np.arange(total.shape[0]), np.diff(total.indptr))
        twice[start : start + step] += np.bincount(user, total.data**2, total.shape[0])
    return np.asarray(twice / 2)


def _pairs(shown: Lists) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """The pairs of items that stand in one list, of so many users at a time as memory allows.

    For each pair its user and which distinct pair it is; the distinct pairs as first and second item, sorted. Rows
    that are 1, 2, 3, … apart are paired at one go: as many steps as the longest list has items, whoever's it is.
    """
    starts = np.r_[0, np.cumsum(shown.n_shown)]
    so_far = np.r_[0, np.cumsum(shown.n_shown * (shown.n_shown - 1) // 2)]
    low = 0
    while so_far[low] < so_far[-1]:
        high = max(low + 1, int(np.searchsorted(so_far, so_far[low] + BLOCK, side="right")) - 1)
        user, item = shown.user[starts[low] : starts[high]], shown.item[starts[low] : starts[high]]
        whose, keys = [], []
        for apart in range(1, int(shown.n_shown[low:high].max())):
            same = np.flatnonzero(user[apart:] == user[:-apart])
            one, other = item[same], item[same + apart]
            whose.append(user[same])
            keys.append(np.minimum(one, other) * shown.n_items + np.maximum(one, other))
        if keys:
            key = np.concatenate(keys)
            order = in_order(key)
            key = key[order]
            is_new = np.r_[True, key[1:] != key[:-1]]
            first, second = np.divmod(key[is_new], shown.n_items)
            yield np.concatenate(whose)[order], first, second, np.cumsum(is_new) - 1
        low = high


def _common(rows: Sparse, first: Ints, second: Ints) -> Floats:
    """How much the two items of each pair share: of each pair by itself, or of all items of a block, whichever is less work."""
    size = np.diff(rows.indptr)
    ones, others = np.unique(first), np.unique(second)
    columns = rows.shape[1]
    each = int(size[first].sum() + size[second].sum())
    blocks = int(
        (
            np.bincount(rows[ones].indices, minlength=columns) * np.bincount(rows[others].indices, minlength=columns)
        ).sum()
    )
    common = np.zeros(len(first))
    if each <= blocks:
        step = max(1, BLOCK * len(first) // max(each, 1))
        for start in range(0, len(first), step):
            stop = start + step
            common[start:stop] = rows[first[start:stop]].multiply(rows[second[start:stop]]).sum(axis=1)
        return common
    against = rows[others].T.tocsr()
    one, other = np.searchsorted(ones, first), np.searchsorted(others, second)
    step = max(1, BLOCK // len(others))
    for start in range(0, len(ones), step):
        block = (rows[ones[start : start + step]] @ against).tocsr()
        block.sort_indices()
        there = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)) * len(others) + block.indices
        low, high = np.searchsorted(one, [start, start + step])
        wanted = (one[low:high] - start) * len(others) + other[low:high]
        place = np.minimum(np.searchsorted(there, wanted), max(len(there) - 1, 0))
        if len(there):
            common[low:high] = np.where(there[place] == wanted, block.data[place], 0.0)
    return common
