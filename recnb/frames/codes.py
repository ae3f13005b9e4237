"""Users as positions: by looking up an array where ids are whole numbers close together, by a join elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl

from recnb.hits import Ints


def distinct(values: pl.Series) -> pl.Series:
    """Each value once, sorted."""
    return counted(values)[0] if _span(values) else values.unique().sort()


def counted(values: pl.Series) -> tuple[pl.Series, Ints]:
    """Each value once, and how often it stands there."""
    span = _span(values)
    if span is None:
        counts = values.alias("value").value_counts(name="n")
        return counts["value"], counts["n"].to_numpy().astype(np.int64)
    low, size = span
    times = np.bincount(values.to_numpy() - low, minlength=size)
    found = np.flatnonzero(times)
    return pl.Series(values.name, found + low), times[found]


def positions(users: pl.Series, values: pl.Series) -> Ints:
    """Where each value stands among the sorted users; -1 for one that is not there."""
    span = _span(users, len(values))
    if span is not None:
        low, size = span
        # One more cell at either end takes what lies outside.
        lookup = np.full(size + 2, -1)
        lookup[users.to_numpy() - low + 1] = np.arange(len(users))
        inside: Ints = np.clip(values.to_numpy() - low + 1, 0, size + 1)
        return lookup[inside]
    coded = users.alias("user").to_frame().with_row_index("position")
    joined = values.alias("user").to_frame().join(coded, on="user", how="left", maintain_order="left")
    return joined["position"].cast(pl.Int64).fill_null(-1).to_numpy()


def coded(known: pl.Series, values: pl.Series) -> tuple[pl.Series, Ints, Ints]:
    """The users of both, sorted, and where each of either stands among them; each of `known` stands there once."""
    span = _span(pl.concat([known.alias(""), values.alias("")])) if known.dtype == values.dtype == pl.Int64 else None
    if span is not None:
        low, size = span
        one, other = known.to_numpy() - low, values.to_numpy() - low
        there = np.zeros(size, dtype=bool)
        there[one] = there[other] = True
        number = np.cumsum(there) - 1
        users = pl.Series(known.name, np.flatnonzero(there) + low)
        return users, number[one], number[other]
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
