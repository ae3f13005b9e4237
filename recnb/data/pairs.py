"""The rows of lists whose item is judged for their user, and repeated pairs: found in one sort for each block of users.

A block holds the rows of some users on both sides, few enough for the processor's cache. A number made of user and item is
computed for each row, and the numbers are sorted: equal neighbours are a judged item of a list, or a repeated pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.metrics.hits import Floats, Ints

Numbers = NDArray[np.uint64]

#: Odd, so that different users, and different items, stay different; without pattern, so that sums of both do.
_USER, _ITEM = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of some users on both sides, by user; users are numbered from 0."""

    n_users: int
    user: Ints  #: per row of the lists
    item: Numbers
    score: Floats | Ints  #: higher for better: a rank or the number of the row below 0, where lists have no score
    row: Ints | slice  #: row of the frame
    truth_user: Ints  #: per row of the truth, the most relevant of a user first
    truth_item: Numbers
    grade: Floats
    truth_row: Ints  #: row of the frame
    n_padded: int = 0  #: rows at the end of the lists that were not recommended

    @property
    def n_listed(self) -> int:
        """Number of rows that were recommended."""
        return len(self.user) - self.n_padded

    @property
    def given_rank(self) -> Ints:
        """The ranks of rows that have no score."""
        return -self.score.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows of a block's lists that are judged, and its repeats."""

    row: Ints  #: rows of lists, rising
    truth_row: Ints  #: the row of the truth of each
    copy: Ints  #: rows of lists whose item their list repeats
    copy_of: Ints  #: a number for the pair of each of these
    truth_repeats: bool  #: whether a pair is repeated in the truth


def match_pairs(block: Block, items: pl.Series | None = None, truth_items: pl.Series | None = None) -> Pairs | None:
    """Find the rows of lists that are judged.

    `items` and `truth_items` are the columns whose hashes the numbers are, if they are; None if items that differ have one hash.
    """
    n_listed, n = len(block.user), len(block.user) + len(block.truth_user)
    # A row's index stands in the low bits, above it as many bits of the pair as there is room for.
    bits = n.bit_length()
    mask, of_user, of_item = (
        np.uint64(2**bits - 1),
        np.uint64((_USER << bits) % 2**64),
        np.uint64((_ITEM << bits) % 2**64),
    )
    key = np.empty(n, dtype=np.uint64)
    for part, item_number, user in (
        (key[:n_listed], block.item, block.user),
        (key[n_listed:], block.truth_item, block.truth_user),
    ):
        np.multiply(item_number, of_item, out=part)
        part += user.view(np.uint64) * of_user
    key += np.arange(n, dtype=np.uint64)
    key.sort()
    same = np.flatnonzero((key[1:] ^ key[:-1]) <= mask)
    first, second = ((key[rows] & mask).astype(np.int64) for rows in (same, same + 1))
    # With the same item, users are the same: a difference of fewer than 2**bits of them changes the number.
    if not _are_equal((block.item, block.truth_item), first, second, n_listed):
        both = np.concatenate([block.user, block.truth_user]), np.concatenate([block.item, block.truth_item])
        order = np.lexsort((both[1], both[0]))
        same = np.flatnonzero(np.logical_and(*(column[order[1:]] == column[order[:-1]] for column in both)))
        first, second = order[same], order[same + 1]
    if items is not None and truth_items is not None:
        columns = _Gathered(items, block.row), _Gathered(truth_items, block.truth_row)
        if not _are_equal(columns, first, second, n_listed):
            return None
    # Of rows with one number, those of lists come first: the last is the row of the truth, if there is one.
    ends = np.flatnonzero(np.r_[np.diff(same) != 1, True][: len(same)])
    sizes = np.diff(np.r_[-1, ends])
    last = np.repeat(second[ends], sizes)
    judged = (first < n_listed) & (last >= n_listed)
    row, truth_row = first[judged], last[judged] - n_listed
    order = np.argsort(row)
    repeat = np.flatnonzero(second < n_listed)
    run = np.repeat(np.arange(len(ends)), sizes)[repeat]
    copy, index = np.unique(np.r_[first[repeat], second[repeat]], return_index=True)
    return Pairs(row[order], truth_row[order], copy, np.r_[run, run][index], bool((first >= n_listed).any()))


class _Gathered:
    """The values of a column at rows of a block, when they are asked for."""

    def __init__(self, column: pl.Series, row: Ints | slice) -> None:
        self._column, self._row = column, row

    def __getitem__(self, some: Ints) -> pl.Series:
        return self._column.gather(self._row.start + some if isinstance(self._row, slice) else self._row[some])


def _are_equal(sides: tuple[Any, Any], first: Ints, second: Ints, n_listed: int) -> bool:
    """Whether neighbours have one value, be both of lists, both of the truth, or one of each."""
    listed, judged = second < n_listed, first >= n_listed
    one_of_each, (lists, truth) = ~(listed | judged), sides
    pairs = (
        (lists, first[one_of_each], truth, second[one_of_each] - n_listed),
        (lists, first[listed], lists, second[listed]),
        (truth, first[judged] - n_listed, truth, second[judged] - n_listed),
    )
    return all(bool((one[left] == other[right]).all()) for one, left, other, right in pairs if len(left))


def padded(block: Block, pairs: Pairs) -> tuple[Block, Pairs]:
    """Put the judged items that were not recommended below the lists, in the order of the rows of the truth."""
    missed = np.ones(len(block.truth_user), dtype=bool)
    missed[pairs.truth_row] = False
    row = np.flatnonzero(missed)
    if len(row) == 0:
        return block, pairs
    row = row[np.argsort(block.truth_row[row])]
    below = np.arange(len(row)) + len(block.user)
    block = replace(
        block,
        user=np.r_[block.user, block.truth_user[row]],
        item=np.r_[block.item, block.truth_item[row]],
        score=np.r_[block.score, np.full(len(row), -np.inf)],
        n_padded=len(row),
    )
    return block, replace(pairs, row=np.r_[pairs.row, below], truth_row=np.r_[pairs.truth_row, row])
