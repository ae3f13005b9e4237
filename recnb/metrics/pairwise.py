"""Sums over the pairs of items of a list, without a table of items × items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.metrics.recommendation_lists import Lists
from recnb.metrics.sorting import Floats, Ints, count_within, in_order

if TYPE_CHECKING:
    from recnb.metrics.recommendation_lists import Sparse

#: Cells of the largest table that is held at once.
BLOCK = 2**24


def total_distance(shown: Lists, distance: str, columns: object, distances: object) -> Floats:
    """Return the distance summed over the pairs of each list: of features, of train, or as given."""
    if distances is not None:
        matrix, row = shown.catalogue.reading("diversity", "features").distances(distances, "diversity")
        shown.refuse_unknown(row >= 0, "diversity", "distances")
        return _over_pairs(shown, lambda first, second: matrix[row[first], row[second]])
    n_pairs = shown.n_shown * (shown.n_shown - 1) / 2
    if distance == "cooccurrence":
        taken = shown.catalogue.reading("diversity by cooccurrence", "train").taken()
        return n_pairs - _over_pairs(shown, _alike(taken, lambda one, other, _both: np.sqrt(one * other), 0.0))
    features, described = shown.catalogue.reading("diversity", "features").features(columns, "diversity")
    shown.refuse_unknown(described, "diversity", "items")
    if distance == "cosine":
        return n_pairs - _products(shown, _unit(features))
    if distance == "hamming":
        return _differing(shown, features)
    # Two items without features are alike.
    return n_pairs - _over_pairs(shown, _alike(_present(features), lambda one, other, both: one + other - both, 1.0))


def _alike(
    rows: Sparse, out_of: Callable[[Floats, Floats, Floats], Floats], if_empty: float
) -> Callable[[Ints, Ints], Floats]:
    """Return the function of pairs that gives what both items have, out of a number of what each has; `if_empty` where it is 0."""
    size = np.diff(rows.indptr).astype(np.float64)

    def of_pairs(first: Ints, second: Ints) -> Floats:
        both = _common(rows, first, second)
        under = out_of(size[first], size[second], both)
        return np.divide(both, under, out=np.full_like(both, if_empty), where=under > 0)

    return of_pairs


def _over_pairs(shown: Lists, of_pairs: Callable[[Ints, Ints], Floats]) -> Floats:
    """Sum a function of two items over the pairs of each list."""
    total = np.zeros(shown.n_users)
    for user, first, second, pair in _pairs(shown):
        total += np.bincount(user, of_pairs(first, second)[pair], shown.n_users)
    return total


def _differing(shown: Lists, features: Sparse) -> Floats:
    """Count the features that differ, summed over the pairs of each list: those that either item has, less those that agree.

    Each item is in n - 1 pairs; where both have the feature it is counted twice, and where it is the same, not at all.
    """
    features = features.copy()
    features.eliminate_zeros()
    present, size = _present(features), np.diff(features.indptr)
    either = (shown.n_shown - 1) * shown.per_user(size[shown.item]) - _products(shown, present)
    # A column for each value that a feature takes, 1 where an item has it.
    values, code = np.unique(features.data, return_inverse=True)
    _, column = np.unique(features.indices.astype(np.int64) * len(values) + code, return_inverse=True)
    same = _ones(column, features.indptr.astype(np.int64), int(column.max(initial=-1)) + 1)
    return np.asarray(either - _products(shown, same))


def _present(features: Sparse) -> Sparse:
    """Return 1 where there is a feature."""
    present = features.copy()
    present.eliminate_zeros()
    present.data = np.ones_like(present.data)
    return present


def _ones(column: Ints, starts: Ints, n_columns: int) -> Sparse:
    """Return a table of 1 in these columns of each row; the columns of row i are those from starts[i]."""
    from scipy import sparse

    parts: Any = (np.ones(len(column)), column, starts)
    return sparse.csr_array(parts, shape=(len(starts) - 1, n_columns))


def _unit(features: Sparse) -> Sparse:
    """Return each row at length 1, or 0 if it holds nothing."""
    unit = features.copy()
    row = np.repeat(np.arange(unit.shape[0]), np.diff(unit.indptr))
    largest = np.zeros(unit.shape[0])
    np.maximum.at(largest, row, np.abs(unit.data))
    unit.data = unit.data / np.where(largest > 0, largest, 1.0)[row]  # no square can overflow or vanish
    length = np.sqrt(np.bincount(row, unit.data**2, unit.shape[0]))
    unit.data = unit.data / np.where(length > 0, length, 1.0)[row]
    return unit


def _products(shown: Lists, rows: Sparse) -> Floats:
    """Return inner products summed over the pairs of each list, without the pairs: half of |sum|² less the sum of |each|²."""
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
    """Return the pairs of items of each list, of as many users at a time as memory allows.

    For each pair its user and which distinct pair it is; the distinct pairs as first and second item, sorted. Rows
    that are 1, 2, 3, … apart are paired at once: as many steps as the longest list has items.
    """
    starts = np.r_[0, np.cumsum(shown.n_shown)]
    so_far = np.r_[0, np.cumsum(shown.n_shown * (shown.n_shown - 1) // 2)]
    low = 0
    while so_far[low] < so_far[-1]:
        high = max(low + 1, int(np.searchsorted(so_far, so_far[low] + BLOCK, side="right")) - 1)
        user, item = shown.user[starts[low] : starts[high]], shown.item[starts[low] : starts[high]]
        users, keys = [], []
        for apart in range(1, int(shown.n_shown[low:high].max())):
            same = np.flatnonzero(user[apart:] == user[:-apart])
            former, latter = item[same], item[same + apart]
            users.append(user[same])
            keys.append(np.minimum(former, latter) * shown.n_items + np.maximum(former, latter))
        if keys:
            key = np.concatenate(keys)
            order = in_order(key)
            key = key[order]
            is_new = np.r_[True, key[1:] != key[:-1]]
            first, second = np.divmod(key[is_new], shown.n_items)
            yield np.concatenate(users)[order], first, second, np.cumsum(is_new) - 1
        low = high


def _common(rows: Sparse, first: Ints, second: Ints) -> Floats:
    """Return the features that the two items of each pair share: of each pair by itself, or of all items of a block, whichever is less work."""
    size = np.diff(rows.indptr)
    ones, others = np.unique(first), np.unique(second)
    columns = rows.shape[1]
    each = int(size[first].sum() + size[second].sum())
    blocks = int(np.dot(*(np.bincount(rows[items].indices, minlength=columns) for items in (ones, others))))
    common = np.zeros(len(first))
    if each <= blocks:
        step = max(1, BLOCK * len(first) // max(each, 1))
        for start in range(0, len(first), step):
            stop = start + step
            common[start:stop] = rows[first[start:stop]].multiply(rows[second[start:stop]]).sum(axis=1)
        return common
    against = rows[others].T.tocsr()
    former, latter = np.searchsorted(ones, first), np.searchsorted(others, second)
    step = max(1, BLOCK // len(others))
    for start in range(0, len(ones), step):
        block = (rows[ones[start : start + step]] @ against).tocsr()
        block.sort_indices()
        cells = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)) * len(others) + block.indices
        low, high = np.searchsorted(former, [start, start + step])
        wanted = (former[low:high] - start) * len(others) + latter[low:high]
        place = np.minimum(np.searchsorted(cells, wanted), max(len(cells) - 1, 0))
        if len(cells):
            common[low:high] = np.where(cells[place] == wanted, block.data[place], 0.0)
    return common


def first_pairs(shown: Lists, most: int) -> Lists:
    """Return every two items of a single list as a list of their own: the pairs of the first item, then of the second, at most so many."""
    of_first = np.arange(len(shown.item) - 1, 0, -1)
    n_firsts = int(np.searchsorted(np.cumsum(of_first), most)) + 1
    first = np.repeat(np.arange(len(of_first))[:n_firsts], of_first[:n_firsts])[:most]
    second = first + count_within(first)
    return replace(
        shown,
        user=np.repeat(np.arange(len(first)), 2),
        rank=np.tile(np.array([1, 2]), len(first)),
        item=np.stack([shown.item[first], shown.item[second]], axis=1).ravel(),
        list_length=np.full(len(first), 2),
    )
