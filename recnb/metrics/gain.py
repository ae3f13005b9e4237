"""The options for gain, discount and denominator that metrics share, each as code and as formula text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recnb.errors import OptionError
from recnb.metrics.hits import Cutoff, Cutoffs, Floats, Hits, Ints, Number, of_each_rank
from recnb.metrics.metric import Credit, number_option

Gain = Literal["linear", "exponential", "binary"]
GAIN = {"linear": "relevance", "exponential": "2^relevance - 1", "binary": "1"}


def gain_of(relevance: Floats, gain: Gain) -> Floats:
    """Return the gain of a hit by its relevance."""
    if gain == "linear":
        return relevance
    if gain == "exponential":
        # exp2(1000) is already infinite, and an infinite gain over an infinite ideal is no number.
        if relevance.size and relevance.max() > 1000:
            problem = f" makes 2^relevance - 1 of a relevance, and {relevance.max():g} is too large for that: use "
            linear = ("gain='linear'", ", or a smaller scale of relevance.")
            raise OptionError("gain='exponential'", problem, *linear)
        # 2^relevance is 1 for a tiny relevance, which expm1 keeps; exp2 is exact for whole ones.
        return np.where(np.abs(relevance) < 1, np.expm1(relevance * math.log(2)), np.exp2(relevance) - 1.0)
    return np.ones_like(relevance)


Discount = Literal["log", "clipped_log", "rank"]
DISCOUNT = {"log": "log(1 + rank)", "clipped_log": "max(1, log(rank))", "rank": "rank"}


def discount_of(rank: Ints, discount: Discount, log_base: float) -> Floats:
    """Return the divisor of the gain of a hit by its rank."""
    number_option("log_base", log_base, "base of a logarithm: give a number above 1, such as 2", lambda base: base > 1)
    if discount == "rank":
        return rank.astype(np.float64)
    if discount == "log":
        return of_each_rank(rank, lambda rank: _log(rank + 1, log_base))
    return of_each_rank(rank, lambda rank: np.maximum(1.0, _log(rank, log_base)))


def _log(values: Ints, base: float) -> Floats:
    # log2 is exact at powers of two where log / log(2) is not.
    return np.asarray(np.log2(values) if base == 2 else np.log(values) / math.log(base))


#: The longest list that `ideal="k"` fills.
MAX_PLACES = 1_000_000

Ideal = Literal["relevant", "k", "list", "min(k, list)"]


def discounted(hits: Hits, k: Cutoff, gain: Gain, discount: Discount, log_base: float) -> Credit:
    """Return the gain of each hit over the discount of its rank."""
    earned = hits.weigh(gain_of(hits.relevance, gain) / discount_of(hits.rank, discount, log_base))
    return Credit(hits, Cutoffs.of(k), earned)


def ideal_of(hits: Hits, k: Cutoff, ideal: Ideal, gain: Gain, discount: Discount, log_base: float) -> Credit:
    """Return the credit of the best list, by `ideal`.

    - "relevant": all relevant items, the most relevant first
    - "min(k, list)": the same, cut where the list ends
    - "list": the recommended items in their best order
    - "k": k items as good as the user's best
    """
    if ideal == "k":
        if (deepest := int(hits.full_depth(k).max(initial=0))) > MAX_PLACES:
            raise OptionError(
                f"ideal='k' fills every place down to k, and {deepest:,} places are more than {MAX_PLACES:,}: give a smaller k."
            )
        best = np.where(hits.n_relevant > 0, gain_of(hits.best, gain), 0.0)
        return FullOfBest(hits, Cutoffs.of(k), best, gain=gain, discount=discount, log_base=log_base)
    best_list = {"relevant": "ideal", "list": "ideal_of_list", "min(k, list)": "ideal_of_length"}[ideal]
    return discounted(getattr(hits, best_list), k, gain, discount, log_base)


@dataclass(frozen=True, eq=False, kw_only=True)
class FullOfBest(Credit):
    """The credit of lists of k items as good as the user's best; `earned` holds the gain of that item for each user.

    All ranks of a list have one gain, so the sum is that gain times the discounts of the ranks added up.
    """

    gain: Gain
    discount: Discount
    log_base: float

    @property
    def total(self) -> Floats:
        """Credit earned, users × cut-offs."""
        depth = self.rows.full_depth(self.k)
        ranks = np.arange(1, int(depth.max(initial=0)) + 1)
        summed = np.cumsum(np.r_[0.0, 1.0 / discount_of(ranks, self.discount, self.log_base)])
        return np.asarray(as_column(self.earned) * summed[depth])

    @property
    def by_rank(self) -> Credit:
        """The same with a row for each rank."""
        return discounted(self.rows.ideal_full(self.k), self.k, self.gain, self.discount, self.log_base)


OutOf = Literal["k", "list", "relevant", "hits", "min(k, relevant)", "min(list, relevant)"]
OUT_OF = {
    "k": "k",
    "list": "min(k, list_length)",
    "relevant": "n_relevant",
    "hits": "n_hits",
    "min(k, relevant)": "min(k, n_relevant)",
    "min(list, relevant)": "min(k, list_length, n_relevant)",
}


def out_of_count(hits: Hits, k: Cutoff, out_of: OutOf) -> Floats:
    """Return the denominator of a share of hits, users × cut-offs."""
    if out_of == "hits":
        hits.refuse_ties("out_of='hits'", " divides by what each order finds")
        return hits.total(hits.weight, k)
    count = as_column(hits.n_relevant)
    if out_of in ("k", "min(k, relevant)"):
        size = Cutoffs.of(k).size(hits.list_length)
        count = size if out_of == "k" else np.minimum(size, count)
    elif out_of != "relevant":
        listed = np.minimum(Cutoffs.of(k).depth(hits.list_length), as_column(hits.list_length))
        count = listed if out_of == "list" else np.minimum(listed, count)
    return count.astype(np.float64)


def as_column(values: NDArray[Number]) -> NDArray[Number]:
    """Return values of users as a column, which cannot be broadcast along the cut-offs by accident."""
    return values[:, np.newaxis]
