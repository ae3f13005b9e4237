"""Hits and counts of some users, and of many such parts as one: all that is kept of lists that are not held in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.frames.counts import Tally
from recnb.frames.prepare import Prepared
from recnb.frames.rows import Away, Ranked
from recnb.hits import Hits, Ints, Tied, in_order


@dataclass(frozen=True, eq=False)
class Gathered:
    """Some users joined, without the rows of their lists: what is kept is as large as hits, truth and users."""

    users: pl.Series  #: the users evaluated, sorted
    judged: pl.DataFrame  #: all rows of the truth
    truth: pl.DataFrame  #: the relevant rows of the users evaluated
    hits: Hits  #: of whole lists
    convention: Convention  #: the order that the columns made is in it
    tally: Tally
    n_strangers: int
    graded: bool
    last_place: int
    is_general: bool  #: whether the convention needs the long way

    @classmethod
    def of(cls, prepared: Prepared) -> Gathered:
        """What is kept of users whose rows are at hand."""
        return cls(
            prepared.users,
            prepared.judged,
            prepared.truth,
            prepared.hits(None),
            prepared.convention,
            Tally.of(prepared.counts, prepared.recs),
            prepared.n_strangers,
            prepared.graded,
            prepared.last_place,
            prepared.general is not None,
        )


def merged(parts: Sequence[Gathered], away: Away) -> Prepared:
    """Parts of different users as one; no user may be in two of them."""
    # A part without rows on either side knows nothing of the types of ids.
    some = [one for one in parts if one.judged.height or one.tally.n_recommended] or list(parts[:1])
    first = some[0]
    users = pl.concat([one.users for one in some])
    order = users.arg_sort().to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    hits, truth_order = _hits_of(some, position)
    truth = pl.concat([one.truth for one in some]).select(pl.all().gather(truth_order))
    convention = first.convention
    tally = Tally.total([one.tally for one in some])
    return Prepared(
        Ranked(away, convention),
        pl.concat([one.judged for one in some]),
        truth,
        users.gather(order),
        hits.truth_user,
        hits.list_length,
        tally.n_gaps > 0,
        sum(one.n_strangers for one in some),
        convention,
        graded=first.graded,
        last_place=max(one.last_place for one in some),
        general=hits if first.is_general else None,
        tally=tally,
        _hits={None: hits},
    )


def _hits_of(parts: Sequence[Gathered], position: Ints) -> tuple[Hits, Ints]:
    """The hits of all parts by user and rank, and the order that puts the relevant rows by user."""
    n_users = np.cumsum([0, *(len(one.users) for one in parts)])
    n_truth = np.cumsum([0, *(len(one.hits.truth_user) for one in parts)])

    def column(name: str, shift: Ints | None = None) -> Ints:
        own = [getattr(one.hits, name) for one in parts]
        return np.concatenate(own if shift is None else [one + by for one, by in zip(own, shift, strict=False)])

    truth_user = position[column("truth_user", n_users)]
    truth_order = in_order(truth_user)
    new_row = np.empty(len(truth_order), dtype=np.int64)
    new_row[truth_order] = np.arange(len(truth_order))
    user, rank = position[column("user", n_users)], column("rank")
    order = in_order(user * (int(rank.max(initial=0)) + 1) + rank)
    list_length = np.empty(len(position), dtype=np.int64)
    list_length[position] = column("list_length")
    tied = None
    if parts[0].hits.tied is not None:
        spread = [one.hits.tied for one in parts if one.hits.tied is not None]
        tied = Tied(*(np.concatenate([getattr(one, name) for one in spread]) for name in Tied.__dataclass_fields__)).of(
            order
        )
    hits = replace(
        parts[0].hits,
        user=user[order],
        rank=rank[order],
        list_length=list_length,
        relevance=np.asarray(column("relevance"), dtype=np.float64)[order],
        truth_row=new_row[column("truth_row", n_truth)][order],
        truth_user=truth_user[truth_order],
        truth_relevance=np.asarray(column("truth_relevance"), dtype=np.float64)[truth_order],
        max_relevance=max(one.hits.max_relevance for one in parts),
        depth=None,
        tied=tied,
    )
    return hits, truth_order
