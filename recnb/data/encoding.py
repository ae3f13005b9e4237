"""Ids as positions: by indexing an array for integers in a small range, by a hash index or a join otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.hash_index import HashIndex
from recnb.data.parallel import in_shares
from recnb.metrics.hits import Floats, Ints, best_first, stands_best_first

#: From this number of texts on, looking them up is quicker than a join.
MANY = 2**16

#: Rows that are worked on together.
BLOCK = 2**16


def distinct(values: pl.Series) -> pl.Series:
    """Each value once, sorted."""
    return counted(values)[0] if _span(values) else values.unique().sort()


def counted(values: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the distinct values and their counts."""
    span = _span(values)
    if span is None:
        counts = values.alias("value").value_counts(name="n")
        return counts["value"], counts["n"].to_numpy().astype(np.int64)
    low, size = span
    times = np.bincount(values.to_numpy() - low, minlength=size)
    found = np.flatnonzero(times)
    return pl.Series(values.name, found + low), times[found]


def positions(users: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among the sorted users, -1 for values that are not among them."""
    span = _span(users, len(values))
    if span is not None:
        low, size = span
        # One more cell at either end takes what lies outside.
        lookup = np.full(size + 2, -1)
        lookup[users.to_numpy() - low + 1] = np.arange(len(users))
        inside: Ints = np.clip(values.to_numpy() - low + 1, 0, size + 1)
        return lookup[inside]
    if users.dtype == pl.String and len(values) > MANY and len(users):
        found = HashIndex(users).positions(values)
        if found is not None:
            return found
    coded = users.alias("user").to_frame().with_row_index("position")
    joined = values.alias("user").to_frame().join(coded, on="user", how="left", maintain_order="left")
    return joined["position"].cast(pl.Int64).fill_null(-1).to_numpy()


def place_of(user: Any, users: pl.Series) -> int | None:
    """Return the position of one id, as typed by a user, among the users; None if it is not among them."""
    try:
        if not isinstance(user, (date, timedelta, Decimal)):
            return users.index_of(user)
        # By way of pandas, whose times are as fine as those of the users: Polars reads a Timestamp to the microsecond.
        typed = pl.from_pandas(pd.Series([user]))
        wanted = typed.cast(users.dtype)
        in_zone, ours = (getattr(ids.dtype, "time_zone", None) is not None for ids in (typed, users))
        if in_zone != ours or not wanted.cast(typed.dtype).equals(typed):
            return None
        found = (users == wanted).arg_true()
        return int(found[0]) if len(found) else None
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return None


@dataclass(frozen=True, eq=False)
class CodedUsers:
    """Lists and rows of the truth by the users of both."""

    users: pl.Series  #: of both, sorted
    lists: Ints  #: whose each list is, by position
    rows: Ints | None  #: the rows of the truth by user, the most relevant first; None: they stand so
    truth: Ints  #: whose each of these is
    relevance: Floats  #: and how relevant
    counts: Ints  #: per user, how many


def people_of(lists: pl.Series, truth: pl.Series, relevance: Floats) -> CodedUsers:
    """Put the users of lists, who each have one, and of the rows of the truth in order."""
    bounds = _bounds(lists, truth)
    if bounds is None:
        users, of_lists, of_truth = _coded(lists, truth)
        rows, of_truth, relevance = by_user(of_truth, relevance)
        return CodedUsers(users, of_lists, rows, of_truth, relevance, np.bincount(of_truth, minlength=len(users)))
    low, size = bounds
    # Rows are put in order by the ids themselves, and only the ids that there are get positions.
    rows, ids, relevance = by_user(truth.to_numpy() - low, relevance)
    starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    times = np.diff(np.r_[starts, len(ids)])
    listed, judged = lists.to_numpy() - low, ids[starts]
    there = np.zeros(size, dtype=bool)
    there[listed] = there[judged] = True
    position = np.cumsum(there) - 1
    users = pl.Series(lists.name, np.flatnonzero(there) + low)
    counts = np.zeros(len(users), dtype=np.int64)
    counts[position[judged]] = times
    return CodedUsers(users, position[listed], rows, np.repeat(position[judged], times), relevance, counts)


def by_user(user: Ints, relevance: Floats) -> tuple[Ints | None, Ints, Floats]:
    """Sort rows by user, then by falling relevance; the order is None if they are sorted already. The sort is stable."""
    if stands_best_first(user, relevance):
        return None, user, relevance
    n, top = len(user), relevance.max(initial=0.0)
    grade_bits, row_bits = (
        int(top - relevance.min(initial=top)).bit_length() if abs(top) < 2**31 else 99,
        n.bit_length(),
    )
    grades = relevance.astype(np.int32) if grade_bits <= 8 else None
    if grades is None or int(user.max(initial=0)) >> (62 - grade_bits - row_bits) or not (grades == relevance).all():
        order = best_first(user, relevance)
        return order, user[order], relevance[order]
    # User, grade and row go into the number that is sorted, and come back out of it.
    packed, best = user << (grade_bits + row_bits), int(top)
    sorted_relevance = np.empty(n)
    spans = [(at, min(at + BLOCK, n)) for at in range(0, n, BLOCK)]

    def pack(spans: Sequence[tuple[int, int]]) -> None:
        for start, stop in spans:
            below = best - grades[start:stop].astype(np.int64)
            packed[start:stop] |= (below << row_bits) | np.arange(start, stop)

    def unpack(spans: Sequence[tuple[int, int]]) -> None:
        for start, stop in spans:
            part = packed[start:stop]
            order[start:stop] = part & (2**row_bits - 1)
            part >>= row_bits
            sorted_relevance[start:stop] = best - (part & (2**grade_bits - 1))
            part >>= grade_bits

    in_shares(spans, pack)
    packed.sort()
    order = np.empty(n, dtype=np.int64)
    in_shares(spans, unpack)
    return order, packed, sorted_relevance


def _bounds(lists: pl.Series, truth: pl.Series) -> tuple[int, int] | None:
    """Lowest user and how many there could be, if an array can hold them all."""
    span_of_lists, span_of_truth = _span(lists, len(truth)), _span(truth, len(lists))
    if span_of_lists is None or span_of_truth is None:
        return None
    low = min(span_of_lists[0], span_of_truth[0])
    size = max(span_of_lists[0] + span_of_lists[1], span_of_truth[0] + span_of_truth[1]) - low
    return (low, size) if size <= 4 * (len(lists) + len(truth)) + 1024 else None


def _coded(known: pl.Series, values: pl.Series) -> tuple[pl.Series, Ints, Ints]:
    """Return the sorted users of both and the positions of each side; values of `known` are distinct."""
    at = positions(known, values)
    everyone, missing = known, at < 0
    if missing.any():
        others = values.filter(pl.Series(missing))
        extra = others.unique()
        at = at.copy()
        at[missing] = positions(extra, others) + len(known)
        everyone = pl.concat([known, extra.alias(known.name)])
    if everyone.is_sorted():
        return everyone, np.arange(len(known)), at
    order = everyone.arg_sort().to_numpy()
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return everyone.gather(order), number[: len(known)], number[at]


def _span(values: pl.Series, more: int = 0) -> tuple[int, int] | None:
    """Lowest value and how many there could be, if they are whole numbers so close together that an array can hold them all."""
    low, high = (values.min(), values.max()) if values.dtype == pl.Int64 else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or high - low > 4 * (len(values) + more) + 1024:
        return None
    return low, high - low + 1
