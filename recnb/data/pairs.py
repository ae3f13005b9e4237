"""The rows of lists whose item is judged for their user, and repeated pairs: found in one sort for each block of users.

A number made of user and item is computed for each row, and the numbers are sorted: equal neighbours are a judged item of a
list, or a repeated pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import in_order_of_size
from recnb.metrics.hits import Floats, Ints

Numbers = NDArray[np.uint64]

#: Odd, so that different users, and different items, stay different; without pattern, so that sums of both do.
_USER, _ITEM = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of some users on both sides, by user, as few as the processor's cache holds; users are numbered from 0."""

    n_users: int
    user: Ints  #: per row of the lists
    item: Numbers
    score: Floats | Ints  #: higher for better: a rank or the number of the row below 0, where lists have no score
    row: Ints  #: row of the frame
    truth_user: Ints  #: per row of the truth, the most relevant of a user first
    truth_item: Numbers
    grade: Floats
    is_judged: NDArray[np.bool_]  #: false where a grade below 0 says that an item was not judged
    truth_row: Ints  #: row of the frame
    n_padded: int = 0  #: rows at the end of the lists that were not recommended

    @property
    def n_listed(self) -> int:
        """Number of rows that were recommended."""
        return len(self.user) - self.n_padded


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows of a block's lists that are judged, and its repeats."""

    row: Ints  #: rows of lists, rising
    truth_row: Ints  #: the row of the truth of each
    copy: Ints  #: rows of lists whose item their list repeats
    copy_of: Ints  #: a number for the pair of each of these
    truth_repeats: bool  #: whether a pair is repeated in the truth


def match_pairs(block: Block, texts: pl.Series | None, n_recs: int) -> Pairs | None:
    """Find the rows of lists that are judged; None if items that differ have one hash.

    `texts`, if numbers are hashes: the items of both frames, those of the `n_recs` rows of recommendations first.
    """
    n_listed = len(block.user)
    user, item = np.r_[block.user, block.truth_user].view(np.uint64), np.r_[block.item, block.truth_item]
    # A row's index stands in the low bits, above it as many bits of the pair as there is room for.
    bits = len(user).bit_length()
    mask = np.uint64(2**bits - 1)
    key = item * np.uint64((_ITEM << bits) % 2**64) + user * np.uint64((_USER << bits) % 2**64)
    key = in_order_of_size(key + np.arange(len(user), dtype=np.uint64))
    same = np.flatnonzero((key[1:] ^ key[:-1]) <= mask)
    first, second = ((key[rows] & mask).astype(np.int64) for rows in (same, same + 1))
    # With the same item, users are the same: a difference of fewer than 2**bits of them changes the number.
    if not (item[first] == item[second]).all():
        order = np.lexsort((item, user))
        same = np.flatnonzero((user[order[1:]] == user[order[:-1]]) & (item[order[1:]] == item[order[:-1]]))
        first, second = order[same], order[same + 1]
    if texts is not None:
        row = np.r_[block.row, block.truth_row + n_recs]
        if not (texts.gather(row[first]) == texts.gather(row[second])).all():
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


def padded(block: Block, pairs: Pairs) -> tuple[Block, Pairs]:
    """Put the judged items that were not recommended below the lists, in the order of the rows of the truth."""
    missed = np.ones(len(block.truth_user), dtype=bool)
    missed[pairs.truth_row] = False
    row = np.flatnonzero(missed)
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
