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
    """The rows of the truth by user."""

    item: pl.Series  #: as they stand
    rows: Ints | None  #: the row at each place; None: places are rows
    lengths: Ints  #: per user of the lists, then of the others


@dataclass(frozen=True, eq=False)
class Matches:
    """Places of lists and of the truth with the same user and item, by place in the lists."""

    place: Ints
    truth_place: Ints
    repeats_in_lists: bool = False  #: whether a pair is repeated there; possibly one of different items with one hash
    repeats_in_truth: bool = False


def matches(item: pl.Series, lists: UserRows, truth: TruthRows, truth_starts: Ints) -> Matches:
    """Find the matches.

    Parameters
    ----------
    item
        The items of the recommendations, as they stand.
    lists
        Their rows by user.
    truth
        Rows of the truth by user; `lengths` has the users of `lists`, then those without a list.
    truth_starts
        The first place of each of these users in the truth.
    """
    for seed in range(8):
        found = _matches(item, lists, truth, truth_starts, seed)
        if found is not None:
            return found
    raise AssertionError("eight hashes of different items are the same")


def _matches(item: pl.Series, lists: UserRows, truth: TruthRows, truth_starts: Ints, seed: int) -> Matches | None:
    """The matches; None if different items share a number."""
    numbers, truth_numbers = _numbers(item, seed), _numbers(truth.item, seed)
    n_without_list = len(truth.lengths) - len(lists.lengths)
    lengths = np.r_[lists.lengths, np.zeros(n_without_list, dtype=np.int64)]
    ends = np.r_[0, np.cumsum(lengths)]

    def look(blocks: Sequence[tuple[int, int]]) -> list[Matches | None]:
        found = []
        for start, stop in blocks:
            places = slice(int(ends[start]), int(ends[stop]))
            listed = numbers[places] if lists.rows is None else numbers[lists.rows[places]]
            truth_places = _ranges(truth_starts[start:stop], truth.lengths[start:stop])
            judged = truth_numbers[truth_places if truth.rows is None else truth.rows[truth_places]]
            part = _in_block(listed, lengths[start:stop], judged, truth.lengths[start:stop], seed)
            if part is not None:
                place, row = part.place + places.start, truth_places[part.truth_place]
                part = Matches(place, row, part.repeats_in_lists, part.repeats_in_truth)
            found.append(part)
        return found

    parts = [part for share in in_shares(blocks_of(lengths + truth.lengths), look) for part in share]
    if any(part is None for part in parts):
        return None
    place, truth_place = (
        np.concatenate([np.zeros(0, dtype=np.int64), *(getattr(part, side) for part in parts)])
        for side in ("place", "truth_place")
    )
    if item.dtype != pl.Int64:
        rows = place if lists.rows is None else lists.rows[place]
        truth_rows = truth_place if truth.rows is None else truth.rows[truth_place]
        if not (item.gather(rows) == truth.item.gather(truth_rows)).all():
            return None
    return Matches(
        place,
        truth_place,
        any(part is not None and part.repeats_in_lists for part in parts),
        any(part is not None and part.repeats_in_truth for part in parts),
    )


def _numbers(items: pl.Series, seed: int) -> Numbers:
    """A number for each item, the same for the same items; whole numbers are their own."""
    return items.to_numpy().view(np.uint64) if items.dtype == pl.Int64 else hashes_of(items, seed)


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
    order = np.argsort(place)
    repeats = [
        bool((numbers[one] == numbers[other]).any())
        for numbers, one, other in (
            (listed, first[in_lists], second[in_lists]),
            (judged, first[in_truth] - n_listed, second[in_truth] - n_listed),
        )
    ]
    if sum(repeats) == 0 and not hit.all():
        return None
    return Matches(place[order], truth_place[order], *repeats)


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Whole numbers from each start on, as many as it counts."""
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
