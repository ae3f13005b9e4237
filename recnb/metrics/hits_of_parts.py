"""The hits of parts of users as those of all, without holding any of them twice."""

from __future__ import annotations

import mmap
from dataclasses import fields, replace
from typing import Any

import numpy as np

from recnb.metrics.hits import Hits, Ints, TieSpread, count_within


def copied_to_hold(hits: Hits) -> Hits:
    """Copy the hits of a part, held until those of all parts are merged, into 32 bits.

    Users, entries and ranks are below 2**32. Numbers of ties are floats and stay as they
    are; `judged` is None after a join. A map of memory goes back to the system when it is
    freed; malloc keeps what so many arrays had.
    """
    columns: dict[str, Any] = {}
    for field in fields(hits):
        values = getattr(hits, field.name)
        if isinstance(values, np.ndarray):
            dtype = np.uint32 if values.dtype == np.int64 else values.dtype
            memory = mmap.mmap(-1, values.nbytes + 1)  # 0 bytes are refused
            columns[field.name] = np.frombuffer(memory, dtype, len(values))
            columns[field.name][:] = values
    return replace(hits, **columns)


def hits_together(parts: list[Hits], position: Ints) -> Hits:
    """Return the hits of the users of all parts; the list of parts is emptied.

    Users are counted over the parts; `position` has where each stands among all. A part
    writes its hits to their places among all, where those of each user keep their order.
    Of two parts with two users each:

        user of the parts    0   1   2   3        hits, by user of the parts   0  1  2  2
        id                   a   d   b   c        their places                 0  3  1  2
        position             0   3   1   2        user of each place           0  1  1  3

    Entries are written alike, and hits name them by their new places.
    """
    max_relevance = max(hits.max_relevance for hits in parts)
    ends = np.cumsum([hits.n_users for hits in parts])
    users_of_parts = np.split(position, ends[:-1])
    n_hits, n_entries, list_length = (np.zeros_like(position) for _column in range(3))
    for users, hits in zip(users_of_parts, parts, strict=True):
        n_hits[users] = np.bincount(hits.user, minlength=hits.n_users)
        n_entries[users] = np.bincount(hits.truth_user, minlength=hits.n_users)
        list_length[users] = hits.list_length
    first_hit = np.cumsum(n_hits) - n_hits
    first_entry = np.cumsum(n_entries) - n_entries

    columns = _room_for(parts[0], n_hits=n_hits.sum(), n_entries=n_entries.sum())
    for users in users_of_parts:
        hits = parts.pop(0)  # freed once it is written: no part is held twice
        rows = _places(hits.user, first_hit[users])
        entries = _places(hits.truth_user, first_entry[users])
        _write(hits, columns, rows, entries)
    user = np.arange(len(position))
    return Hits(
        user=np.repeat(user, n_hits),
        truth_user=np.repeat(user, n_entries),
        list_length=list_length,
        max_relevance=max_relevance,
        **columns,
    )


def _room_for(part: Hits, n_hits: int, n_entries: int) -> dict[str, Any]:
    """Return columns of the hits and entries of all parts, to be written: those of a part."""
    is_weighted = part.truth_weight is not None
    is_tied = part.tied is not None
    return {
        "rank": np.empty(n_hits, dtype=np.int64),
        "relevance": np.empty(n_hits),
        "entry": np.empty(n_hits, dtype=np.int64),
        "truth_relevance": np.empty(n_entries),
        "truth_weight": np.empty(n_entries) if is_weighted else None,
        "tied": TieSpread(*np.empty((3, n_hits))) if is_tied else None,
    }


def _write(hits: Hits, columns: dict[str, Any], rows: Ints, entries: Ints) -> None:
    """Write a part into the columns of all: its hits to `rows`, its entries to `entries`."""
    columns["rank"][rows] = hits.rank
    columns["relevance"][rows] = hits.relevance
    columns["entry"][rows] = entries[hits.entry]
    columns["truth_relevance"][entries] = hits.truth_relevance
    if hits.truth_weight is not None:
        columns["truth_weight"][entries] = hits.truth_weight
    if hits.tied is not None:
        columns["tied"].put(rows, hits.tied)


def _places(user: Ints, first: Ints) -> Ints:
    """Return the place of each row by user: users' rows begin at their first places."""
    return first[user] + count_within(user) - 1
