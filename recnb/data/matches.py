"""The rows of lists whose item is relevant to their user: found in one sort for each block of users.

A block holds the lists of some users and their rows of the truth, few enough for the processor's cache. A number made of
user and item is computed for each row, and the numbers are sorted: equal neighbours are a hit, or a repeated pair.
Blocks are worked on by all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import hashes_of
from recnb.data.parallel import in_shares
from recnb.data.user_rows import UserRows, blocks_of
from recnb.metrics.hits import Ints

Numbers = NDArray[np.uint64]

#: Odd, so that different users, and different items, stay different; without pattern, so that sums of both do.
_USER, _ITEM = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


@dataclass(frozen=True, eq=False)
class TruthRows:
    """The rows of the truth by user: first the users of the lists, in their order, then the others."""

    item: pl.Series  #: as rows stand
    rows: Ints | None  #: the row at each place; None: places are rows
    starts: Ints  #: per user, the first place
    lengths: Ints  #: per user, the number of rows


@dataclass(frozen=True, eq=False)
class Matches:
    """Places of lists and places of the truth with the same user and item, by place in the lists."""

    place: Ints
    truth_place: Ints
    repeated: bool  #: whether a pair is repeated on one side, or two items of a user on one side share a hash


def matches(item: pl.Series, by_user: UserRows, truth: TruthRows) -> Matches:
    """Find the matches of recommended items, as rows stand, with the truth."""
    for seed in range(8):
        found = _matches(item, by_user, truth, seed)
        if found is not None:
            return found
    raise AssertionError("eight hashes of different items are the same")


def _matches(item: pl.Series, by_user: UserRows, truth: TruthRows, seed: int) -> Matches | None:
    """The matches; None if different pairs share a number."""
    # Where rows are places, numbers are made block by block.
    numbers = None if by_user.rows is None else _numbers(item, seed)
    truth_numbers = _numbers(truth.item, seed)
    lengths = np.zeros(len(truth.lengths), dtype=np.int64)
    lengths[: len(by_user.lengths)] = by_user.lengths
    ends = np.r_[0, np.cumsum(lengths)]

    def look(blocks: Sequence[tuple[int, int]]) -> list[Matches | None]:
        found = []
        for start, stop in blocks:
            places = slice(int(ends[start]), int(ends[stop]))
            if numbers is None or by_user.rows is None:
                listed = _numbers(item.slice(places.start, places.stop - places.start), seed)
            else:
                listed = numbers[by_user.rows[places]]
            truth_places = ranges(truth.starts[start:stop], truth.lengths[start:stop])
            judged = truth_numbers[truth_places if truth.rows is None else truth.rows[truth_places]]
            block = _in_block(listed, lengths[start:stop], judged, truth.lengths[start:stop], seed)
            if block is not None:
                block = Matches(block.place + places.start, truth_places[block.truth_place], block.repeated)
            found.append(block)
        return found

    shares = in_shares(blocks_of(lengths + truth.lengths), look, sorts=len(item) + len(truth.item))
    blocks = [block for share in shares for block in share]
    found = [block for block in blocks if block is not None]
    if len(found) < len(blocks):
        return None
    none = np.zeros(0, dtype=np.int64)
    place = np.concatenate([none, *(block.place for block in found)])
    truth_place = np.concatenate([none, *(block.truth_place for block in found)])
    if item.dtype != pl.Int64 or seed:
        rows = place if by_user.rows is None else by_user.rows[place]
        truth_rows = truth_place if truth.rows is None else truth.rows[truth_place]
        if not (item.gather(rows) == truth.item.gather(truth_rows)).all():
            return None
    return Matches(place, truth_place, any(block.repeated for block in found))


def _numbers(items: pl.Series, seed: int) -> Numbers:
    """A number for each item, the same for the same items; whole numbers are their own at first."""
    return items.to_numpy().view(np.uint64) if items.dtype == pl.Int64 and seed == 0 else hashes_of(items, seed)


def _in_block(listed: Numbers, lengths: Ints, judged: Numbers, counts: Ints, seed: int) -> Matches | None:
    """The matches of one block, by places in it; None if different pairs share a number."""
    n_listed, n = len(listed), len(listed) + len(judged)
    # A row's place in the block stands in the low bits, above it as many bits of the pair as there is room for.
    bits = n.bit_length()
    of_item = np.uint64((_ITEM + 2 * seed << bits) % 2**64)
    of_user = np.arange(len(lengths), dtype=np.uint64) * np.uint64((_USER << bits) % 2**64)
    key = np.empty(n, dtype=np.uint64)
    for part, numbers, times in ((key[:n_listed], listed, lengths), (key[n_listed:], judged, counts)):
        np.multiply(numbers, of_item, out=part)
        if len(times) and times[0] > 0 and (times == times[0]).all():
            part.reshape(-1, times[0])[...] += of_user[:, np.newaxis]
        else:
            part += np.repeat(of_user, times)
    key += np.arange(n, dtype=np.uint64)
    key.sort()
    mask = np.uint64(2**bits - 1)
    same = np.flatnonzero((key[1:] ^ key[:-1]) <= mask)
    first, second = (key[same] & mask).astype(np.int64), (key[same + 1] & mask).astype(np.int64)
    in_lists, in_truth = second < n_listed, first >= n_listed
    hit = ~(in_lists | in_truth)
    place, truth_place = first[hit], second[hit] - n_listed
    # With the same item, users are the same: a difference of fewer than 2**bits of them changes the number.
    if not (listed[place] == judged[truth_place]).all():
        return None
    repeated = bool(
        (listed[first[in_lists]] == listed[second[in_lists]]).any()
        or (judged[first[in_truth] - n_listed] == judged[second[in_truth] - n_listed]).any()
    )
    if not (repeated or hit.all()):
        return None
    order = np.argsort(place)
    return Matches(place[order], truth_place[order], repeated)


def ranges(starts: Ints, counts: Ints) -> Ints:
    """Whole numbers from each start on, as many as it counts."""
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
