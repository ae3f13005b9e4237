"""Naive definitions of the metrics for one user: plain loops that read like the papers and share nothing with recnb.

A `ranking` lists the items from rank 1 down; None is an empty place. `truth` maps items to their relevance, in the
order in which they are listed; an item of relevance 0 is judged and not relevant. `k=None` is the ranking's own length.

>>> ndcg(["x", "a", "b"], {"a": 1, "b": 3}, k=3) == (1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3))
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Ranking = list[Any]
Truth = dict[Any, float]


def relevance_at(ranking: Ranking, truth: Truth, rank: int) -> float:
    """Relevance of the item at a rank; 0 for an empty place, and below the list's end."""
    if rank > len(ranking) or ranking[rank - 1] is None:
        return 0
    return truth.get(ranking[rank - 1], 0)


def relevant_items(truth: Truth) -> list[Any]:
    return [item for item, grade in truth.items() if grade > 0]


def hits_until(ranking: Ranking, truth: Truth, k: int) -> int:
    """How many of the first k places hold a relevant item."""
    return sum(relevance_at(ranking, truth, rank) > 0 for rank in range(1, k + 1))


def depth_of(ranking: Ranking, k: int | None) -> int:
    return len(ranking) if k is None else k


def divided(over: float, under: float) -> float:
    """0 where nothing could be earned."""
    return over / under if under else 0


def denominator(ranking: Ranking, truth: Truth, k: int | None, out_of: str) -> int:
    depth, length, n_relevant = depth_of(ranking, k), len(ranking), len(relevant_items(truth))
    if out_of == "k":
        return depth
    if out_of == "list":
        return min(depth, length)
    if out_of == "relevant":
        return n_relevant
    if out_of == "hits":
        return hits_until(ranking, truth, depth)
    if out_of == "min(k, relevant)":
        return min(depth, n_relevant)
    if out_of == "min(list, relevant)":
        return min(depth, length, n_relevant)
    raise NotImplementedError(f"out_of={out_of!r} has no definition here")


# Sets


def precision(ranking: Ranking, truth: Truth, k: int | None = None, out_of: str = "k") -> float:
    return divided(hits_until(ranking, truth, depth_of(ranking, k)), denominator(ranking, truth, k, out_of))


def recall(ranking: Ranking, truth: Truth, k: int | None = None, out_of: str = "relevant") -> float:
    return divided(hits_until(ranking, truth, depth_of(ranking, k)), denominator(ranking, truth, k, out_of))


def fbeta(ranking: Ranking, truth: Truth, k: int | None = None, beta: float = 1) -> float:
    """The harmonic mean as van Rijsbergen has it: (1 + beta²) P R / (beta² P + R)."""
    p, r = precision(ranking, truth, k), recall(ranking, truth, k)
    return divided((1 + beta**2) * p * r, beta**2 * p + r)


def f1(ranking: Ranking, truth: Truth, k: int | None = None) -> float:
    p, r = precision(ranking, truth, k), recall(ranking, truth, k)
    return divided(2 * p * r, p + r)


def hit_rate(ranking: Ranking, truth: Truth, k: int | None = None) -> float:
    return 1 if hits_until(ranking, truth, depth_of(ranking, k)) > 0 else 0


# Ranks


def reciprocal_rank(ranking: Ranking, truth: Truth, k: int | None = None, target: str = "first") -> float:
    relevant = relevant_items(truth)
    if target == "first":
        wanted = relevant
    elif target == "preferred":
        # max() keeps the first of equal ones, which is the first listed.
        wanted = [max(relevant, key=truth.__getitem__)] if relevant else []
    else:
        raise NotImplementedError(f"target={target!r} has no definition here")
    for rank, item in enumerate(ranking[: depth_of(ranking, k)], 1):
        if item is not None and item in wanted:
            return 1 / rank
    return 0


def average_precision(ranking: Ranking, truth: Truth, k: int | None = None, out_of: str = "relevant") -> float:
    """The precision at each relevant item's place, added up."""
    over = 0.0
    for rank in range(1, depth_of(ranking, k) + 1):
        if relevance_at(ranking, truth, rank) > 0:
            over += hits_until(ranking, truth, rank) / rank
    return divided(over, denominator(ranking, truth, k, out_of))


def r_precision(ranking: Ranking, truth: Truth, k: int | None = None) -> float:
    n_relevant = len(relevant_items(truth))
    return divided(hits_until(ranking, truth, min(depth_of(ranking, k), n_relevant)), n_relevant)


def rbp(ranking: Ranking, truth: Truth, k: int | None = None, p: float = 0.8) -> float:
    """A reader looks at each next place with probability p."""
    value, looks_here = 0.0, 1.0
    for rank in range(1, depth_of(ranking, k) + 1):
        if relevance_at(ranking, truth, rank) > 0:
            value += (1 - p) * looks_here
        looks_here *= p
    return value


def err(ranking: Ranking, truth: Truth, k: int | None = None, max_relevance: float | None = None) -> float:
    """Algorithm 2 of Chapelle et al. (2009): go down the list, keeping the chance that the reader is still there."""
    top = max(truth.values(), default=0) if max_relevance is None else max_relevance
    value, still_here = 0.0, 1.0
    for rank in range(1, depth_of(ranking, k) + 1):
        stop = (2 ** relevance_at(ranking, truth, rank) - 1) / 2**top
        value += still_here * stop / rank
        still_here *= 1 - stop
    return value


# Gains


def gain_of(relevance: float, gain: str) -> float:
    if relevance <= 0:
        return 0
    if gain == "linear":
        return relevance
    if gain == "exponential":
        return math.expm1(relevance * math.log(2))  # 2**relevance - 1, which is 0 in floats for tiny relevance
    if gain == "binary":
        return 1
    raise NotImplementedError(f"gain={gain!r} has no definition here")


def discount_of(rank: int, discount: str, log_base: float) -> float:
    if discount == "log":
        return math.log(rank + 1) / math.log(log_base)
    if discount == "clipped_log":
        # Järvelin and Kekäläinen (2002): ranks above the base of the logarithm are not discounted.
        return 1 if rank < log_base else math.log(rank) / math.log(log_base)
    if discount == "rank":
        return rank
    raise NotImplementedError(f"discount={discount!r} has no definition here")


def ideal_grades(ranking: Ranking, truth: Truth, k: int | None = None, ideal: str = "relevant") -> list[float]:
    """Relevance of each place of the best list, from rank 1 down, cut at k."""
    depth = depth_of(ranking, k)
    grades = [truth[item] for item in relevant_items(truth)]
    if ideal == "relevant":
        return sorted(grades, reverse=True)[:depth]
    if ideal == "list":
        return sorted((relevance_at(ranking, truth, rank) for rank in range(1, len(ranking) + 1)), reverse=True)[:depth]
    if ideal == "min(k, list)":
        return sorted(grades, reverse=True)[: min(depth, len(ranking))]
    if ideal == "k":
        return [max(grades)] * depth if grades else []
    raise NotImplementedError(f"ideal={ideal!r} has no definition here")


def discounted(grades: list[float], gain: str, discount: str, log_base: float) -> float:
    value = 0.0
    for rank, grade in enumerate(grades, 1):
        value += gain_of(grade, gain) / discount_of(rank, discount, log_base)
    return value


def cg(ranking: Ranking, truth: Truth, k: int | None = None, gain: str = "linear") -> float:
    return sum(gain_of(relevance_at(ranking, truth, rank), gain) for rank in range(1, depth_of(ranking, k) + 1))


def dcg(
    ranking: Ranking,
    truth: Truth,
    k: int | None = None,
    gain: str = "linear",
    discount: str = "log",
    log_base: float = 2,
) -> float:
    grades = [relevance_at(ranking, truth, rank) for rank in range(1, depth_of(ranking, k) + 1)]
    return discounted(grades, gain, discount, log_base)


def idcg(
    ranking: Ranking,
    truth: Truth,
    k: int | None = None,
    gain: str = "linear",
    discount: str = "log",
    log_base: float = 2,
    ideal: str = "relevant",
) -> float:
    return discounted(ideal_grades(ranking, truth, k, ideal), gain, discount, log_base)


def ndcg(
    ranking: Ranking,
    truth: Truth,
    k: int | None = None,
    gain: str = "linear",
    discount: str = "log",
    log_base: float = 2,
    ideal: str = "relevant",
) -> float:
    return divided(
        dcg(ranking, truth, k, gain, discount, log_base), idcg(ranking, truth, k, gain, discount, log_base, ideal)
    )


REFERENCE: dict[str, Callable[..., float]] = {
    one.__name__: one
    for one in (
        precision,
        recall,
        f1,
        fbeta,
        hit_rate,
        reciprocal_rank,
        average_precision,
        cg,
        dcg,
        idcg,
        ndcg,
        r_precision,
        rbp,
        err,
    )
}
