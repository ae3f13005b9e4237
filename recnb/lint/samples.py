"""Candidates that look sampled: lists, or a truth, of as many items for each user."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.display.language import N_
from recnb.lint.data import PAIR, LintData
from recnb.metrics.hits import Ints

LEAST_CANDIDATES = 10  #: fewer are no sample of candidates
SHARE_OF_ITEMS = 0.5  #: the share of the items that a sample has at most
SHARE_OF_LISTS = 0.5  #: the share of the lists that have the usual size, at least
DEPTH = 1000  #: the depth at which runs of retrieval are cut: such lists are no samples
MISSING = 0.05  #: the share of a sample's rows that may be missing
MANY_WITHOUT = 0.1  #: the share of users without a relevant item that stands out

SAMPLED = N_(
    "The candidates look sampled: each of {n:,} lists has up to {size:,} {items}, the "
    "relevant ones among them"
)
SAMPLED_BESIDE = N_(
    "The candidates look sampled: each of {n:,} lists has up to {size:,} irrelevant "
    "{items} beside the relevant ones"
)
SAMPLED_IN_TRUTH = N_(
    "The candidates look sampled: `truth` has up to {size:,} {items} for each of {n:,} "
    "{users}, relevant or not, and lists have hardly any others"
)


class SampledCandidates(NamedTuple):
    """Candidates that look sampled."""

    size: int  #: of each user, the most; of the items that are not relevant, maybe
    words: str  #: what the finding says of them


def find_sample(data: LintData) -> SampledCandidates | None:
    """Return what looks sampled.

    The lists, or the items of the truth that they are taken from.
    """
    knows_truth = data.convention.judged == "truth"
    if not knows_truth or data.convention.candidates != "list":
        return None
    data.require("lists")
    return _sample_in_lists(data) or _sample_in_truth(data)


def _sample_in_lists(data: LintData) -> SampledCandidates | None:
    """Look for lists that are sampled, and have nearly all relevant items.

    Each then has as many items that are not relevant, or as many in all; a few rows may
    be missing. A truth of what is in the lists alone is in them, sampled or not: then
    lists of one length say nothing.
    """
    n_relevant = data.hits.n_relevant[data.listed]
    lengths = data.joined.hits.list_length[data.listed]
    lost = count_missed(data)[data.listed]
    is_few = lengths.max() < _most_sampled(data.joined.rows.lists["item"].n_unique())
    if not is_few or lost.sum() > MISSING * n_relevant.sum():
        return None
    negatives = lengths - n_relevant + lost
    full = int(negatives.max())
    is_usual = (negatives == full).mean() >= SHARE_OF_LISTS
    if is_usual and full >= LEAST_CANDIDATES and not _lacks_many(negatives, full):
        return SampledCandidates(full, SAMPLED_BESIDE)
    # A list that lacks a relevant item lacks a candidate: it is shorter than others.
    full = int(lengths.max())
    is_full = not data.source.one_frame.only_listed and (lengths + lost <= full).all()
    if is_full and full >= LEAST_CANDIDATES and not _lacks_many(lengths, full):
        return SampledCandidates(full, SAMPLED)
    return None


def _sample_in_truth(data: LintData) -> SampledCandidates | None:
    """Look for a truth that is sampled, of which the lists are the top.

    Each user then has as many items in it, or as many that are not relevant; a few
    rows may be missing.
    """
    users = data.users(data.listed)
    judged = data.joined.rows.truth.join(users, on="user", how="semi")
    lists = data.joined.rows.lists
    # What was not relevant and is in no list was put into the truth as a candidate.
    is_negative = pl.col("relevance").cast(pl.Float64) <= 0
    unlisted = judged.join(lists, on=PAIR, how="anti").select(is_negative).to_series()
    if not unlisted.sum() > len(unlisted) / 2:
        return None
    recs = lists.join(users, on="user", how="semi")
    n_others = recs.join(judged, on=PAIR, how="anti").height
    if n_others > MISSING * recs.height:
        return None
    n_items = pl.concat([judged["item"], recs["item"]]).n_unique()
    longest = int(data.joined.hits.list_length.max())
    for rows in (judged, judged.filter(is_negative)):
        counts = rows.group_by("user").len("size")
        counted = users.join(counts, on="user", how="left")
        sizes = counted["size"].fill_null(0).to_numpy().astype(np.int64)
        full = int(sizes.max())
        is_few = max(longest, LEAST_CANDIDATES) <= full < _most_sampled(n_items)
        if is_few and not _lacks_many(sizes, full):
            return SampledCandidates(full, SAMPLED_IN_TRUTH)
    return None


def _lacks_many(sizes: Ints, full: int) -> bool:
    """Return whether more than a few of as many rows for each user are missing."""
    return bool((full - sizes).sum() > MISSING * full * len(sizes))


def _most_sampled(n_items: int) -> float:
    """Return the size below which candidates may be a sample of the items."""
    return min(DEPTH, SHARE_OF_ITEMS * n_items + 1)


def count_missed(data: LintData) -> Ints:
    """Count the relevant items of each user that are not in the list."""
    is_hit = np.zeros(len(data.hits.truth_user), dtype=bool)
    is_hit[data.hits.entry] = True
    missed = data.hits.truth_user[~is_hit]
    return np.bincount(missed, minlength=len(data.listed))


def is_truth_of_hits(data: LintData) -> bool:
    """Return whether the truth looks like the hits of the lists alone.

    Many lists have none, and no relevant item is missing.
    """
    n_without = data.joined.n_without_relevant
    n_lists = len(data.joined.users) + n_without
    return data.source.one_frame.only_listed and n_without > MANY_WITHOUT * n_lists


def is_nothing_missed(data: LintData) -> bool:
    """Return whether lists of a part of the items have every relevant item.

    Lists that look sampled do not count.
    """
    if count_missed(data)[data.listed].any() or data.convention.judged != "truth":
        return False
    if data.convention.candidates != "list" or find_sample(data) is not None:
        return False
    n_items = data.joined.rows.lists["item"].n_unique()
    return bool(data.joined.hits.list_length.max() < n_items)
