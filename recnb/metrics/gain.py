"""The options for gain, discount and denominator that metrics share.

Each stands as code and as formula text.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recnb.errors import OptionError
from recnb.metrics.hits import (
    Bools,
    Cutoff,
    Cutoffs,
    Floats,
    Hits,
    Ints,
    Number,
    of_each_rank,
    weighed,
)
from recnb.metrics.metric import Credit, number_option

Gain = Literal["linear", "exponential", "binary"]
GAIN = {"linear": "relevance", "exponential": "2^relevance - 1", "binary": "1"}


def gain_of(relevance: Floats, gain: Gain) -> Floats:
    """Return the gain of a hit by its relevance."""
    if gain == "linear":
        return relevance
    if gain == "exponential":
        if (
            relevance.max(initial=0) > 1000
        ):  # an infinite gain over an infinite ideal is no number
            problem = (
                f"gain='exponential' is 2^relevance - 1, and {relevance.max():g} is "
                f"too large for that: "
            )
            raise OptionError(
                f"{problem}use gain='linear', or a smaller scale of relevance."
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
GRADED = {"gain": GAIN, "discount": DISCOUNT}


def discount_of(rank: Ints, discount: Discount, log_base: float) -> Floats:
    """Return the divisor of the gain of a hit by its rank."""
    if not isinstance(log_base, int) or log_base <= 1:
        number_option(
            "log_base",
            log_base,
            "a base of a logarithm: give a number above 1, such as 2",
            lambda x: x > 1,
        )
    if discount == "rank":
        return rank.astype(np.float64)
    if discount == "log":
        return of_each_rank(rank, lambda rank: _log(rank + 1, log_base))
    return of_each_rank(rank, lambda rank: np.maximum(1.0, _log(rank, log_base)))


def _log(values: Ints, base: float) -> Floats:
    # log2 is exact at powers of two where log / log(2) is not.
    return np.asarray(np.log2(values) if base == 2 else np.log(values) / math.log(base))


#: The most places of a list that `ideal="k"` fills.
MAX_PLACES = 1_000_000

Ideal = Literal["relevant", "all", "k", "list", "min(k, list)"]


def discounted(
    hits: Hits, k: Cutoff, gain: Gain, discount: Discount, log_base: float
) -> Credit:
    """Return the gain of each hit over the discount of its rank."""
    return Credit(
        hits,
        k,
        hits.weigh(
            gain_of(hits.relevance, gain) / discount_of(hits.rank, discount, log_base)
        ),
    )


def best_of_all(hits: Hits, gain: Gain) -> Hits:
    """Return the best possible list.

    Every relevant item, that of the highest weighted gain first.
    """
    if hits.truth_weight is None:
        return hits.ideal
    if gain not in hits.ideals:
        value = weighed(gain_of(hits.truth_relevance, gain), hits.truth_weight)
        hits.ideals[gain] = hits.as_list(
            hits.truth_user, hits.truth_relevance, np.arange(len(value)), value
        )
    return hits.ideals[gain]


def best_of_list(hits: Hits, gain: Gain) -> Hits:
    """Return the best order of what was recommended.

    The hits alone, that of the highest weighted gain first.
    """
    once = slice(None) if hits.tied is None else hits.tied.top
    user, relevance, row = hits.user[once], hits.relevance[once], hits.entry[once]
    value = (
        relevance
        if hits.truth_weight is None
        else weighed(gain_of(relevance, gain), hits.truth_weight[row])
    )
    return hits.as_list(user, relevance, row, value)


def ideal_of(
    hits: Hits, k: Cutoff, ideal: Ideal, gain: Gain, discount: Discount, log_base: float
) -> Credit:
    """Return the credit of the best list, by `ideal`.

    - "relevant": all relevant items, the most relevant first
    - "all": the same, not cut at k
    - "min(k, list)": the same, cut where the list ends
    - "list": the recommended items in their best order
    - "k": k items as good as the user's best
    """
    if ideal == "k":
        if hits.truth_weight is not None:
            problem = (
                "ideal='k' supposes items that the truth does not hold, which have no "
                "propensity: "
            )
            raise OptionError(f"{problem}leave it out.")
        return FullOfBest(hits, k, gain, discount, log_base)
    best = best_of_list(hits, gain) if ideal == "list" else best_of_all(hits, gain)
    if ideal == "all":
        k = replace(Cutoffs.of(k), cut="none")
    if ideal == "min(k, list)":
        shorter = np.minimum(best.list_length, hits.list_length)
        reached = best.rank <= shorter[best.user]
        best = best.with_rows(reached, list_length=shorter)
    return discounted(best, k, gain, discount, log_base)


class FullOfBest(Credit):
    """The credit of lists of k items as good as the user's best.

    `earned` is the gain of that item, by user.

    All ranks of a list have one gain, so the sum is that gain times the discounts of
    the ranks added up.
    """

    def __init__(
        self, hits: Hits, k: Cutoff, gain: Gain, discount: Discount, log_base: float
    ) -> None:
        """Find each user's best item, and how many places it fills at each cut-off."""
        self.best = np.where(hits.n_relevant > 0, -np.inf, 0.0)
        np.maximum.at(self.best, hits.truth_user, hits.truth_relevance)
        super().__init__(
            hits, k, np.where(hits.n_relevant > 0, gain_of(self.best, gain), 0.0)
        )
        self.by = gain, discount, log_base
        self.depth = self.k.size(hits.list_length)
        if self.depth.max(initial=0) > MAX_PLACES:
            raise OptionError(
                f"ideal='k' fills every place down to k: give a k of at most {MAX_PLACES:,}."
            )

    @property
    def total(self) -> Floats:
        """Credit earned, users × cut-offs."""
        ranks, (_gain, discount, log_base) = (
            np.arange(1, int(self.depth.max(initial=0)) + 1),
            self.by,
        )
        summed = np.cumsum(np.r_[0.0, 1.0 / discount_of(ranks, discount, log_base)])
        return np.asarray(as_column(self.earned) * summed[self.depth])

    @property
    def earns_nothing(self) -> Bools:
        """Whether the best item of a user has no gain, users × 1."""
        return as_column(self.earned == 0)

    @property
    def by_rank(self) -> Credit:
        """The same with a row for each rank, of an item that is none of the truth."""
        length = np.where(self.rows.n_relevant > 0, self.depth.max(axis=1), 0)
        user = np.repeat(np.arange(self.rows.n_users), length)
        return discounted(
            self.rows.as_list(user, self.best[user], np.full(len(user), -1)),
            self.k,
            *self.by,
        )


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
    cutoffs, relevant, length = (
        Cutoffs.of(k),
        as_column(hits.n_relevant),
        as_column(hits.list_length),
    )
    if out_of == "relevant":
        return as_column(hits.relevant_weight)
    if hits.truth_weight is not None and "relevant" in out_of:
        # Without a cut-off the k of a denominator is the length of the user's list.
        best = replace(best_of_all(hits, "binary"), list_length=hits.list_length)
        reached = best.rank <= best.list_length[best.user]
        best = best.with_rows(reached) if out_of == "min(list, relevant)" else best
        return best.total(best.weight, k)
    in_list = out_of in ("list", "min(list, relevant)")
    count = (
        np.minimum(cutoffs.depth(hits.list_length), length)
        if in_list
        else cutoffs.size(hits.list_length)
    )
    return (count if out_of in ("k", "list") else np.minimum(count, relevant)).astype(
        np.float64
    )


def as_column(values: NDArray[Number]) -> NDArray[Number]:
    """Return values of users as a column.

    It cannot be broadcast along the cut-offs by accident.

    Parameters
    ----------
    values : array, shape (n_users,)
        A value for each user.

    Returns
    -------
    array, shape (n_users, 1)
        The same values.

    Examples
    --------
    >>> import numpy as np
    >>> from recnb.metrics import as_column
    >>> as_column(np.array([2, 3])).shape
    (2, 1)
    """
    return values[:, np.newaxis]
