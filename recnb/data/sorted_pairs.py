"""Repeated pairs and hits of frames whose lists are adjacent and sorted.

Each user's rows of both frames stand side by side, so no table of all pairs is needed. Whether an item stands twice in a
list shows when the list is sorted; which rows hit, when a number made of user and item is sorted for the rows of both
frames: equal neighbours are a hit. Some users at a time, so that sorting stays in the processor's cache, and on every core.

Whatever is not in order is left to the other way, which says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.parallel import in_shares
from recnb.metrics.hits import Ints

#: Rows of both frames that are looked at together: few enough for the processor's cache.
BLOCK = 2**17

Numbers = NDArray[np.uint64]

#: Odd, so that different users, and different items, stay different; without pattern, so that sums of both do.
_USER, _ITEM = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows of both frames by user, in the order of the lists."""

    item: pl.Series  #: of the lists
    lengths: Ints  #: per user, rows of the list; users without one have 0
    order: pl.Series | None  #: what puts lists in order: a rank that rises or a score that falls
    falls: bool  #: whether it is a score
    strict: bool  #: whether equal ones are out of order
    has_gaps: bool  #: whether a rank is not the place in the list
    truth_item: pl.Series  #: of the truth, as it stands
    truth_row: Ints | None  #: its rows by user; None: they stand so
    truth_start: Ints  #: per user, the first of these
    truth_count: Ints  #: and how many

    @cached_property
    def rows(self) -> Ints:
        """The first row of each user's list, and after the last the end."""
        return np.cumsum(np.r_[0, self.lengths])

    @cached_property
    def truth_numbers(self) -> Numbers:
        """A number for each item of the truth, by user."""
        numbers = _numbers(self.truth_item)
        if self.truth_row is None:
            return numbers
        rows = self.truth_row
        parts = in_shares(_spans(len(rows)), lambda spans: [numbers[rows[a:b]] for a, b in spans])
        return np.concatenate([block for share in parts for block in share])

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """First and last user (exclusive) of some users at a time."""
        size = self.rows + np.cumsum(np.r_[0, self.truth_count])
        cuts = np.searchsorted(size, np.arange(BLOCK, size[-1], BLOCK))
        bounds = np.unique(np.r_[0, cuts, len(size) - 1]).tolist()
        return list(pairwise(bounds))

    @cached_property
    def side_by_side(self) -> bool:
        """Whether users are in the order of the truth."""
        return bool((self.truth_start[1:] == (self.truth_start + self.truth_count)[:-1]).all())

    def places(self, start: int, stop: int) -> Ints | slice:
        """Rows of the truth of some users, among its rows by user."""
        starts, counts = self.truth_start[start:stop], self.truth_count[start:stop]
        if self.side_by_side:
            return slice(int(starts[0]), int(starts[0] + counts.sum()))
        return _ranges(starts, counts)


def _numbers(items: pl.Series) -> Numbers:
    """A number for each item, the same for the same items; whole numbers are their own."""
    return items.to_numpy().view(np.uint64) if items.dtype == pl.Int64 else items.hash().to_numpy()


def _spans(n: int) -> list[tuple[int, int]]:
    return [(at, min(at + BLOCK, n)) for at in range(0, n, BLOCK)] or [(0, 0)]


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Whole numbers from each start on, as many as it counts."""
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1])


def in_order(sides: SortedRows) -> bool:
    """Whether all lists are sorted and no item is repeated in a list or in a user's truth."""
    if sides.item.dtype not in (pl.Int64, pl.String) or sides.truth_item.dtype != sides.item.dtype:
        return False
    numbers = sides.truth_numbers

    def look(blocks: Sequence[tuple[int, int]]) -> bool:
        for start, stop in blocks:
            first, last = int(sides.rows[start]), int(sides.rows[stop])
            listed, judged = _numbers(sides.item[first:last]), numbers[sides.places(start, stop)]
            if not _rises(sides, start, stop) or _twice(listed, sides.lengths[start:stop]):
                return False
            if _twice(judged, sides.truth_count[start:stop]):
                return False
        return True

    return all(in_shares(sides.blocks, look))


def _rises(sides: SortedRows, start: int, stop: int) -> bool:
    first, last = sides.rows[start], sides.rows[stop]
    if sides.order is None or first == last:
        return True
    values = sides.order[int(first) : int(last)].to_numpy()
    rightly = (np.less if sides.strict else np.less_equal) if sides.falls else np.greater
    rises = rightly(values[1:], values[:-1])
    begins = sides.rows[start + 1 : stop] - first - 1
    rises[begins[(begins >= 0) & (begins < len(rises))]] = True
    return bool(rises.all())


def _twice(numbers: Numbers, times: Ints) -> bool:
    """Whether a number is repeated for one user; may be true for a collision of hashes."""
    if len(numbers) == 0:
        return False
    if (times == times[0]).all():
        lists = np.sort(numbers.reshape(-1, times[0]), axis=1)
        return bool((lists[:, 1:] == lists[:, :-1]).any())
    key = numbers * np.uint64(_ITEM)
    key += np.repeat(np.arange(len(times), dtype=np.uint64) * np.uint64(_USER), times)
    key.sort()
    return bool((key[1:] == key[:-1]).any())


def hits_in(sides: SortedRows, depth: int | None) -> tuple[Ints, Ints] | None:
    """Return rows of lists down to a rank and rows of the truth that match, in the order of the lists.

    None if different items have the same number.
    """

    def look(blocks: Sequence[tuple[int, int]]) -> list[tuple[Ints, Ints] | None]:
        return [_met(sides, start, stop, depth) for start, stop in blocks]

    found = [pairs for share in in_shares(sides.blocks, look) for pairs in share]
    if any(pairs is None for pairs in found):
        return None
    row, place = (np.concatenate([pairs[side] for pairs in found if pairs is not None]) for side in (0, 1))
    if sides.item.dtype == pl.String:
        truth_row = place if sides.truth_row is None else sides.truth_row[place]
        if not (sides.item.gather(row) == sides.truth_item.gather(truth_row)).all():
            return None
    return row, place


def _met(sides: SortedRows, start: int, stop: int, depth: int | None) -> tuple[Ints, Ints] | None:
    rows, kept = _down_to(sides, start, stop, depth)
    place, counts = sides.places(start, stop), sides.truth_count[start:stop]
    items = sides.item[rows] if isinstance(rows, slice) else sides.item.gather(rows)
    listed, judged = _numbers(items), sides.truth_numbers[place]
    # Above a row's number in the block stands that of its pair, of which as many bits as there is room for.
    n_rows, n = len(listed), len(listed) + len(judged)
    bits = n.bit_length()
    of_item = np.uint64((_ITEM << bits) % 2**64)
    of_user = np.arange(stop - start, dtype=np.uint64) * np.uint64((_USER << bits) % 2**64)
    key = np.empty(n, dtype=np.uint64)
    for part, numbers, times in ((key[:n_rows], listed, kept), (key[n_rows:], judged, counts)):
        np.multiply(numbers, of_item, out=part)
        _add_repeated(part, of_user, times)
    key += np.arange(n, dtype=np.uint64)
    key.sort()
    mask = np.uint64(2**bits - 1)
    at = np.flatnonzero((key[1:] ^ key[:-1]) <= mask)
    row_of_list, row_of_truth = (key[at] & mask).astype(np.int64), (key[at + 1] & mask).astype(np.int64)
    if ((row_of_truth < n_rows) | (row_of_list >= n_rows)).any():
        return None
    order = np.argsort(row_of_list)
    row_of_list, row_of_truth = row_of_list[order], row_of_truth[order] - n_rows
    # With the same item, users are the same: a difference of fewer than 2**bits of them changes the number.
    if not (listed[row_of_list] == judged[row_of_truth]).all():
        return None
    row = rows.start + row_of_list if isinstance(rows, slice) else rows[row_of_list]
    return row, (place.start + row_of_truth if isinstance(place, slice) else place[row_of_truth])


def _down_to(sides: SortedRows, start: int, stop: int, depth: int | None) -> tuple[Ints | slice, Ints]:
    """The rows of some lists down to a rank, and how many each list has of them."""
    starts, lengths = sides.rows[start:stop], sides.lengths[start:stop]
    whole = slice(int(starts[0]), int(starts[-1] + lengths[-1]))
    if depth is None or (not sides.has_gaps and depth >= lengths.max()):
        return whole, lengths
    if not sides.has_gaps:
        kept = np.minimum(lengths, depth)
        return _ranges(starts, kept), kept
    assert sides.order is not None
    rows = whole.start + np.flatnonzero(sides.order[whole].to_numpy() <= depth)
    return rows, np.diff(np.searchsorted(rows, np.r_[starts, whole.stop]))


def _add_repeated(numbers: Numbers, values: Numbers, times: Ints) -> None:
    """Add each value to the given number of consecutive elements."""
    if times[0] > 0 and (times == times[0]).all():
        numbers.reshape(-1, times[0])[...] += values[:, np.newaxis]
    else:
        numbers += np.repeat(values, times)
