"""The options for gain, discount and denominator that metrics share.

Each stands as code and as formula text.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from recnb.errors import OptionError
from recnb.metrics.hits import (
    HIGHEST,
    Bools,
    Cutoff,
    Cutoffs,
    Floats,
    Hits,
    Ints,
    count_within,
    of_each_rank,
    sums,
)
from recnb.metrics.metric import Credit, Range, as_column

Gain = Literal["linear", "exponential", "binary"]
GAIN = {"linear": "relevance", "exponential": "2^relevance - 1", "binary": "1"}


def gain_of(relevance: Floats, gain: Gain) -> Floats:
    """Return the gain of a hit by its relevance."""
    if gain == "linear":
        return relevance
    if gain == "exponential":
        highest = relevance.max(initial=0)
        if highest > math.log2(HIGHEST):
            raise OptionError(
                f"gain='exponential' is 2^relevance - 1, and {highest:g} is too large "
                "for that: use gain='linear', or a smaller scale of relevance."
            )
        # 2^relevance is 1 for a tiny relevance, which expm1 keeps; exp2 is exact for
        # whole ones.
        return np.where(
            np.abs(relevance) < 1,
            np.expm1(relevance * math.log(2)),
            np.exp2(relevance) - 1.0,
        )
    return np.ones_like(relevance)


Discount = Literal["log", "clipped_log", "rank"]
DISCOUNT = {"log": "log(1 + rank)", "clipped_log": "max(1, log(rank))", "rank": "rank"}
GAIN_AND_DISCOUNT = {"gain": GAIN, "discount": DISCOUNT}
LOG_BASE: Range = (
    "a base of a logarithm: give a number above 1, such as 2",
    lambda base: base > 1,
)


def discount_of(rank: Ints, discount: Discount, log_base: float) -> Floats:
    """Return the divisor of the gain of a hit by its rank."""
    if discount == "rank":
        return rank.astype(np.float64)
    if discount == "log":
        return of_each_rank(rank, lambda rank: _log(rank + 1, log_base))
    return of_each_rank(rank, lambda rank: np.maximum(1.0, _log(rank, log_base)))


def _log(values: Ints, base: float) -> Floats:
    """Return the logarithm of whole numbers."""
    # log2 is exact at powers of two where log / log(2) is not.
    return np.asarray(np.log2(values) if base == 2 else np.log(values) / math.log(base))


#: The chance that a reader looks further.
PATIENCE: Range = (
    "a chance of looking further: give a number between 0 and 1, such as p=0.8",
    lambda p: 0 < p < 1,
)


def examined(rows: Hits, p: float) -> Floats:
    """Return the share of all examining that falls on the rank of each row."""
    return of_each_rank(rows.rank, lambda rank: (1 - p) * np.power(p, rank - 1))


def reach(hits: Hits, stop: Floats) -> Floats:
    """Return the chance that a reader gets as far as each hit.

    `stop`: the probability of stopping at each hit.

    Walks down the hits of all users at once: the first ones, the second ones, and so
    on; those that share a rank in any order.
    """
    hits.refuse_ties("ERR multiplies chances along one order")
    reached = np.ones(len(stop))
    nth = count_within(hits.user)
    by_nth = np.argsort(nth, kind="stable")
    ends = np.searchsorted(nth[by_nth], np.arange(2, nth.max(initial=0) + 2))
    for start, end in pairwise(ends):
        here = by_nth[start:end]
        reached[here] = reached[here - 1] * (1.0 - stop[here - 1])
    return reached


#: The most places of a list that `ideal="k"` fills.
MAX_PLACES = 1_000_000

Ideal = Literal["relevant", "all", "k", "min(k, list)"]


class Worth(NamedTuple):
    """What a hit is worth: the gain of its relevance over the discount of its rank."""

    gain: Gain
    discount: Discount
    log_base: float

    def of(self, hits: Hits) -> Floats:
        """Return the worth of each hit, times its weight."""
        gain = gain_of(hits.relevance, self.gain)
        return hits.weigh(gain / discount_of(hits.rank, self.discount, self.log_base))


def best_of_all(hits: Hits, gain: Gain) -> Hits:
    """Return the best possible list.

    Every relevant item, that of the highest weighted gain first.
    """
    if hits.truth_weight is None:
        return hits.ideal
    return hits.best_by(gain_of(hits.truth_relevance, gain) * hits.truth_weight)


def ideal_of(hits: Hits, k: Cutoff, ideal: Ideal, worth: Worth) -> Credit:
    """Return the credit of the best list, by `ideal`.

    - "relevant": all relevant items, the most relevant first
    - "all": the same, not cut at k
    - "min(k, list)": the same, cut where the list ends
    - "k": k items as good as the user's best
    """
    cutoffs = Cutoffs.of(k)
    if ideal == "k":
        if hits.truth_weight is not None:
            raise OptionError(
                "ideal='k' supposes items that the truth does not hold, which have no "
                "propensity: leave it out."
            )
        return RepeatedBest(hits, replace(cutoffs, cut="k"), worth)
    best = best_of_all(hits, worth.gain)
    if ideal == "all":
        cutoffs = replace(cutoffs, cut="none")
    if ideal == "min(k, list)":
        shorter = np.minimum(best.list_length, hits.list_length)
        reached = best.rank <= shorter[best.user]
        best = best.with_rows(reached, list_length=shorter)
    return Credit(best, cutoffs, worth.of(best))


class RepeatedBest(Credit):
    """The credit of k items as good as the user's best, which are none of the truth.

    Its one row of a user is that item: all k have one gain, so that their sum is the gain
    times the discounts of the ranks added up.
    """

    def __init__(self, hits: Hits, cutoffs: Cutoffs, worth: Worth) -> None:
        """Take the first of each ideal list, and how many places are filled with it."""
        best = hits.ideal.down_to(1)
        super().__init__(best, cutoffs, gain_of(best.relevance, worth.gain))
        self.worth = worth
        # Without a cut-off the user's own list says how many count.
        self.n_places = cutoffs.size(hits.list_length)
        if self.n_places.max(initial=0) > MAX_PLACES:
            raise OptionError(
                f"ideal='k' fills every place down to k: give a k of at most {MAX_PLACES:,}."
            )

    @property
    def gain(self) -> Floats:
        """The gain of each user's best item, users × 1."""
        return self.rows.total(self.earned, 1)

    @property
    def total(self) -> Floats:
        """Credit earned, users × cut-offs."""
        ranks = np.arange(1, int(self.n_places.max(initial=0)) + 1)
        discounts = discount_of(ranks, self.worth.discount, self.worth.log_base)
        summed = np.cumsum(np.r_[0.0, 1.0 / discounts])
        return np.asarray(self.gain * summed[self.n_places])

    @property
    def earns_nothing(self) -> Bools:
        """Whether the best item has no gain, users × 1, also of a list of no place."""
        return np.asarray(self.gain == 0)

    @property
    def by_rank(self) -> Credit:
        """The same with a row for each place."""
        n_places = self.n_places.max(axis=1)[self.rows.user]
        row = np.repeat(np.arange(len(n_places)), n_places)
        places = self.rows.with_rows(
            row, rank=count_within(row), entry=np.full(len(row), -1)
        )
        return Credit(places, self.k, self.worth.of(places))


OutOf = Literal[
    "1", "k", "list", "relevant", "hits", "min(k, relevant)", "min(list, relevant)"
]
OUT_OF = {
    "1": "1",
    "k": "k",
    "list": "min(k, list_length)",
    "relevant": "n_relevant",
    "hits": "n_hits",
    "min(k, relevant)": "min(k, n_relevant)",
    "min(list, relevant)": "min(k, list_length, n_relevant)",
}


def out_of_count(hits: Hits, k: Cutoff, out_of: OutOf) -> Floats | float:
    """Return the denominator of a share of hits, users × cut-offs; 1 for a sum.

    Parameters
    ----------
    hits : Hits
        The hits that the function of a metric was given.
    k : int or None
        The cut-off that the function was given.
    out_of : str
        "1", "k", "list", "relevant", "hits", "min(k, relevant)" or
        "min(list, relevant)".

    Returns
    -------
    array, shape (n_users, n_cutoffs or 1), or float
        What the credit of each user is divided by.

    Examples
    --------
    >>> import recnb
    >>> from recnb.metrics import out_of_count
    >>> ev = recnb.evaluate({"ann": ["a", "b", "c"]}, {"ann": ["b", "c"]})
    >>> out_of_count(ev.hits(), 2, "relevant").tolist()
    [[2.0]]
    """
    if out_of == "1":
        return 1.0
    if out_of == "hits":
        hits.refuse_ties("out_of='hits' divides by what each order finds")
        return hits.total(hits.weight, k)
    if out_of == "relevant":
        return as_column(hits.relevant_weight)
    length, cutoffs = hits.list_length, Cutoffs.of(k)
    if "list" in out_of:
        count = np.minimum(cutoffs.depths, as_column(length), order="F")
    else:
        count = cutoffs.size(length)
    if "relevant" not in out_of:
        return count.astype(np.float64)
    if hits.truth_weight is None:
        return np.minimum(count, as_column(hits.n_relevant)).astype(np.float64)
    best = best_of_all(hits, "binary")  # of the highest weight first
    columns = []
    for n in count.T:
        weight = np.where(best.rank <= n[best.user], best.weight, 0.0)
        columns.append(sums(weight, best.user, hits.n_users))
    return np.stack(columns).T
