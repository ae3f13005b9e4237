"""The words that metrics share for gain, discount and denominator, each with its code and, beside it, its formula text."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from recnb.errors import OptionError, is_number
from recnb.hits import Cutoff, Cutoffs, Floats, Hits, Ints

Gain = Literal["linear", "exponential", "binary"]
GAIN = {"linear": "relevance", "exponential": "2^relevance - 1", "binary": "1"}


def gain_of(relevance: Floats, gain: Gain) -> Floats:
    """What a hit of this relevance is worth."""
    if gain == "linear":
        return relevance
    if gain == "exponential":
        # exp2(1000) is already infinite, and an infinite gain over an infinite ideal is no number.
        if relevance.size and relevance.max() > 1000:
            raise OptionError(
                f"gain='exponential' makes 2^relevance - 1 of a relevance, and {relevance.max():g} is too large for that: "
                "use gain='linear', or a smaller scale of relevance."
            )
        return np.exp2(relevance) - 1.0
    return np.ones_like(relevance)


Discount = Literal["log", "clipped_log", "rank"]
DISCOUNT = {"log": "log(1 + rank)", "clipped_log": "max(1, log(rank))", "rank": "rank"}


def discount_of(rank: Ints, discount: Discount, log_base: float) -> Floats:
    """What a hit at this rank has its gain divided by."""
    if not (is_number(log_base) and log_base > 1):
        raise OptionError(f"log_base={log_base!r} is not the base of a logarithm: give a number above 1, such as 2.")
    if discount == "rank":
        return rank.astype(np.float64)
    if discount == "log":
        return _log(rank + 1, log_base)
    return np.asarray(np.maximum(1.0, _log(rank, log_base)))


def _log(values: Ints, base: float) -> Floats:
    highest = int(values.max(initial=1))
    if highest < len(values):
        # Few different ranks: one logarithm for each.
        return _log(np.arange(1, highest + 1), base)[values - 1]
    # log2 is exact at powers of two where log / log(2) is not.
    return np.asarray(np.log2(values) if base == 2 else np.log(values) / math.log(base))


Ideal = Literal["relevant", "k", "list"]


def ideal_of(hits: Hits, k: Cutoff, ideal: Ideal) -> Hits:
    """The list that earns the most: of all relevant items, of what was recommended, or of k items as good as the best."""
    if ideal == "relevant":
        return hits.ideal
    return hits.ideal_of_list if ideal == "list" else hits.ideal_full(k)


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
    """How many items the hits are out of, users × cut-offs."""
    if out_of == "hits":
        if hits.tied is not None:
            raise OptionError(
                "out_of='hits' divides by what each order finds, so it has no mean over ties here: choose ties='first'."
            )
        return hits.total(hits.weight, k)
    cutoffs = Cutoffs.of(k)
    depth, size = cutoffs.depth(hits.list_length), cutoffs.size(hits.list_length)
    length, relevant = column(hits.list_length), column(hits.n_relevant)
    count = {
        "k": size,
        "list": np.minimum(depth, length),
        "relevant": relevant,
        "min(k, relevant)": np.minimum(size, relevant),
        "min(list, relevant)": np.minimum(np.minimum(depth, length), relevant),
    }[out_of]
    return count.astype(np.float64)


def column(values: Ints) -> Ints:
    """Values of users as a column, so that they never line up with the cut-offs by accident."""
    return values[:, np.newaxis]
