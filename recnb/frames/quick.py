"""The quick way to join: for lists that stand one after the other and in order, whose items stand once in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.frames.codes import coded
from recnb.frames.order import in_lists, order_by
from recnb.frames.relevant import is_relevant
from recnb.frames.rows import Taken
from recnb.frames.runs import Runs
from recnb.frames.together import Sides, hits_in
from recnb.hits import Floats, Hits, Ints, in_order


@dataclass(frozen=True, eq=False)
class Joined:
    """Two frames, joined."""

    recs: pl.DataFrame  #: user, item, rank, and score where lists have one
    taken: Taken  #: the relevant rows of the users evaluated, by user
    users: pl.Series  #: the users evaluated, sorted
    hits: Hits  #: of whole lists
    has_gaps: bool
    n_strangers: int
    by: str  #: what put lists in order


def joined(
    recs: pl.DataFrame, judged: pl.DataFrame, convention: Convention, labels: Mapping[str, str], runs: Runs | None
) -> Joined | None:
    """Hits of whole lists and the users evaluated; None where something is not in order, or nobody is left."""
    if (
        runs is None
        or judged.height == 0
        or convention.duplicates not in ("error", "dedupe")
        or convention.judged != "truth"
    ):
        return None
    by = order_by(recs, convention, labels)
    listed = in_lists(recs, by, convention, labels, runs)
    if listed is None:
        return None
    users, run_user, truth_user = coded(runs.users, judged["user"])
    n = len(users)
    order = None if (truth_user[1:] >= truth_user[:-1]).all() else in_order(truth_user)
    item, relevance = judged["item"], judged["relevance"].to_numpy()
    if order is not None:
        item, relevance, truth_user = item.gather(order), relevance[order], truth_user[order]
    count = np.bincount(truth_user, minlength=n)
    start = np.cumsum(count) - count
    length = np.zeros(n, dtype=np.int64)
    length[run_user] = runs.lengths
    rises = bool((run_user[1:] > run_user[:-1]).all())
    # Users in the order in which lists stand; those without a list between them, or last.
    stand = slice(None) if rises else np.r_[run_user, np.flatnonzero(length == 0)]
    sides = Sides(
        listed["item"], item, length[stand], start[stand], count[stand],
        None if by == "row" else recs[by], by == "score", convention.ties != "first",
    )  # fmt: skip
    met = hits_in(sides)
    if met is None:
        return None
    row, truth_row = met
    user = truth_user[truth_row]
    if not rises:
        by_user = in_order(user)
        row, truth_row, user = row[by_user], truth_row[by_user], user[by_user]
    last = listed["rank"].to_numpy()[runs.starts + runs.lengths - 1]
    has_gaps = bool((last != runs.lengths).any())
    length[run_user] = last
    hits = Hits(
        user=user, rank=listed["rank"].to_numpy()[row], list_length=length, relevance=relevance[truth_row], truth_row=truth_row,
        truth_user=truth_user, truth_relevance=relevance, max_relevance=0.0,
    )  # fmt: skip
    return _of_population(listed, judged, order, users, hits, has_gaps, by, convention)


def _of_population(
    listed: pl.DataFrame,
    judged: pl.DataFrame,
    order: Ints | None,
    users: pl.Series,
    hits: Hits,
    has_gaps: bool,
    by: str,
    convention: Convention,
) -> Joined | None:
    """Keep the relevant rows and the users who are averaged, and number them anew."""
    relevant = _relevant(hits.truth_relevance, convention)
    n_relevant = hits.n_relevant if relevant is None else np.bincount(hits.truth_user[relevant], minlength=len(users))
    has_list = hits.list_length > 0
    has_truth = hits.n_relevant > 0
    averaged = {"truth": has_truth, "recs": has_list, "both": has_list & has_truth, "union": has_list | has_truth}[
        convention.users
    ]
    if convention.no_relevant == "skip":
        averaged = averaged & (n_relevant > 0)
    elif convention.no_relevant == "error" and (averaged & (n_relevant == 0)).any():
        return None
    if not (averaged & has_list & (n_relevant > 0)).any():
        return None
    n_strangers = int((has_list & ~averaged).sum())
    rows = order
    if relevant is not None or not averaged.all():
        kept = averaged[hits.truth_user] if relevant is None else averaged[hits.truth_user] & relevant
        number, new_row = np.cumsum(averaged) - 1, np.cumsum(kept) - 1
        mine = kept[hits.truth_row]
        rows = np.flatnonzero(kept) if order is None else order[kept]
        users = users.filter(pl.Series(averaged))
        hits = replace(
            hits, user=number[hits.user[mine]], rank=hits.rank[mine], list_length=hits.list_length[averaged],
            relevance=hits.relevance[mine], truth_row=new_row[hits.truth_row[mine]],
            truth_user=number[hits.truth_user[kept]], truth_relevance=hits.truth_relevance[kept],
        )  # fmt: skip
    hits = replace(hits, max_relevance=float(hits.truth_relevance.max(initial=0.0)))
    return Joined(listed, Taken(judged, rows), users, hits, has_gaps, n_strangers, by)


def _relevant(relevance: Floats, convention: Convention) -> NDArray[np.bool_] | None:
    """Which rows are relevant; None if all are."""
    usual = convention.relevant == ">0" and convention.relevant_from is None
    if usual and relevance.min(initial=1.0) > 0:
        return None
    mask = pl.select(pl.lit(pl.Series("relevance", relevance))).select(is_relevant(convention)).to_series().to_numpy()
    return None if mask.all() else np.asarray(mask)
