"""The naive reference: every metric of one user's ranking, in plain Python that reads like the papers and shares nothing with recnb.

A `Ranking` holds the lines of a list with their positions, and what was relevant. `of_list` makes one of a plain list;
tests/conventions/reference.py makes them of rows under any convention.

>>> REFERENCE["ndcg"](["x", "a", "b"], {"a": 1, "b": 3}, k=3) == (1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3))
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Line:
    """One line of a user's list."""

    item: Any
    score: float = 0  # -inf for an item that was added, not recommended
    rank: int = 0
    row: int = 0  # number of the input line
    grade: float = 0  # 0 if the item is not relevant
    relevant: bool = False
    hit: bool = False
    position: int = 0  # 1 = top; tied lines may share a position (max_rank, floor_mean_rank)


@dataclass(frozen=True)
class Ranking:
    """One user's ranked list with what is known of the user's relevant items."""

    lines: Sequence[Line]  # the whole list, before the cut-off
    relevant: Mapping[Any, float]  # relevant item -> relevance, in the order of the truth
    grades: Sequence[float]  # one for each relevant item that is to be found
    places: int  # in the list, empty ones too
    k: int
    depth: float  # the cut-off: k, or infinity with cutoff=none

    @property
    def hits(self) -> list[Line]:
        """Hits above the cut-off. With shared positions there may be more or fewer than k lines."""
        return [line for line in self.lines if line.hit and line.position <= self.depth]

    @property
    def length(self) -> float:
        return min(self.depth, self.places)


def of_list(items: Sequence[Any], truth: Mapping[Any, float], k: int | None) -> Ranking:
    """The ranking of a plain list: None is an empty place, and `k=None` the list's own length."""
    relevant = {item: grade for item, grade in truth.items() if grade > 0}
    lines = [
        Line(item, grade=relevant.get(item, 0), relevant=item in relevant, hit=item in relevant, position=position)
        for position, item in enumerate(items, 1)
        if item is not None
    ]
    k = len(items) if k is None else k
    return Ranking(lines, relevant, list(relevant.values()), len(items), k, k)


def ratio(part: float, whole: float) -> float:
    """0 where nothing could be earned."""
    return part / whole if whole else 0.0


def divisor(ranking: Ranking, out_of: str) -> float:
    """What the hits, or the sum of precisions, are divided by."""
    relevant = len(ranking.grades)
    return {
        "k": ranking.k,  # also with cutoff=none
        "list": ranking.length,
        "relevant": relevant,
        "min(k, relevant)": min(ranking.k, relevant),
        "min(list, relevant)": min(ranking.length, relevant),
        "hits": len(ranking.hits),
    }[out_of]


# Sets


def precision(ranking: Ranking, out_of: str = "k") -> float:
    return ratio(len(ranking.hits), divisor(ranking, out_of))


def recall(ranking: Ranking, out_of: str = "relevant") -> float:
    return ratio(len(ranking.hits), divisor(ranking, out_of))


def fbeta(ranking: Ranking, beta: float = 1) -> float:
    """The harmonic mean as van Rijsbergen has it: (1 + beta²) P R / (beta² P + R)."""
    p, r = precision(ranking), recall(ranking)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def f1(ranking: Ranking) -> float:
    p, r = precision(ranking), recall(ranking)
    return ratio(2 * p * r, p + r)


def hit_rate(ranking: Ranking) -> float:
    return float(len(ranking.hits) > 0)


# Ranks


def reciprocal_rank(ranking: Ranking, target: str = "first") -> float:
    # max() keeps the first of equal ones, which is the first listed.
    preferred = max(ranking.relevant, key=ranking.relevant.__getitem__, default=None)
    wanted = [line for line in ranking.hits if target == "first" or line.item == preferred]
    return max((1 / line.position for line in wanted), default=0.0)


def average_precision(ranking: Ranking, out_of: str = "relevant") -> float:
    """The precision at each hit's place, added up; hits that share a position all count in one another's precision."""
    above = [sum(other.position <= line.position for other in ranking.hits) for line in ranking.hits]
    precisions = [n / line.position for n, line in zip(above, ranking.hits, strict=True)]
    return ratio(sum(precisions), divisor(ranking, out_of))


def r_precision(ranking: Ranking) -> float:
    n_relevant = len(ranking.grades)
    return ratio(len(replace(ranking, depth=min(ranking.depth, n_relevant)).hits), n_relevant)


def rbp(ranking: Ranking, p: float = 0.8) -> float:
    """A reader looks at each next place with probability p."""
    return (1 - p) * sum(p ** (line.position - 1) for line in ranking.hits)


def err(ranking: Ranking, max_relevance: float | None = None) -> float:
    """Algorithm 2 of Chapelle et al. (2009): go down the list, keeping the chance that the reader is still there."""
    best = max(ranking.grades, default=0)
    top = best if max_relevance is None else max_relevance
    if best > top:
        raise ValueError("a grade is above the top of the scale")
    value, still_here = 0.0, 1.0
    for line in ranking.hits:
        stop = (2**line.grade - 1) / 2**top
        value += still_here * stop / line.position
        still_here *= 1 - stop
    return value


# Gains


def gain_of(grade: float, gain: str) -> float:
    exponential = math.expm1(grade * math.log(2))  # 2**grade - 1, which is 0 in floats for tiny grades
    return {"linear": grade, "exponential": exponential, "binary": 1.0}[gain]


def discount_of(position: int, discount: str, log_base: float) -> float:
    if discount == "clipped_log":
        # Järvelin and Kekäläinen (2002): ranks above the base of the logarithm are not discounted.
        return 1 if position < log_base else math.log(position) / math.log(log_base)
    return {"log": math.log(position + 1) / math.log(log_base), "rank": position}[discount]


def best_grades(ranking: Ranking, ideal: str = "relevant") -> list[float]:
    """Relevance of each place of the best list, from rank 1 down to the cut-off."""
    if ideal == "k":
        return [max(ranking.grades)] * ranking.k if ranking.grades else []
    found = ranking.grades if ideal != "list" else [line.grade for line in ranking.lines if line.hit]
    deepest = ranking.length if ideal == "min(k, list)" else ranking.depth
    return [grade for place, grade in enumerate(sorted(found, reverse=True), 1) if place <= deepest]


def cg(ranking: Ranking, gain: str = "linear") -> float:
    return sum(gain_of(line.grade, gain) for line in ranking.hits)


def dcg(ranking: Ranking, gain: str = "linear", discount: str = "log", log_base: float = 2) -> float:
    return sum(gain_of(line.grade, gain) / discount_of(line.position, discount, log_base) for line in ranking.hits)


def idcg(
    ranking: Ranking, gain: str = "linear", discount: str = "log", log_base: float = 2, ideal: str = "relevant"
) -> float:
    grades = enumerate(best_grades(ranking, ideal), 1)
    return sum(gain_of(grade, gain) / discount_of(place, discount, log_base) for place, grade in grades)


def ndcg(
    ranking: Ranking, gain: str = "linear", discount: str = "log", log_base: float = 2, ideal: str = "relevant"
) -> float:
    return ratio(dcg(ranking, gain, discount, log_base), idcg(ranking, gain, discount, log_base, ideal))


DEFINITIONS: dict[str, Callable[..., float]] = {
    one.__name__: one
    for one in (
        precision, recall, f1, fbeta, hit_rate, reciprocal_rank, average_precision, cg, dcg, idcg, ndcg, r_precision, rbp, err,
    )
}  # fmt: skip


def _of_list(metric: str) -> Callable[..., float]:
    def value(items: Sequence[Any], truth: Mapping[Any, float], k: int | None = None, **options: Any) -> float:
        return DEFINITIONS[metric](of_list(items, truth, k), **options)

    return value


#: The metrics of a plain list: `REFERENCE["ndcg"](items, truth, k, gain="linear")`.
REFERENCE = {metric: _of_list(metric) for metric in DEFINITIONS}


def relevant_items(truth: Mapping[Any, float]) -> list[Any]:
    return [item for item, grade in truth.items() if grade > 0]


def ideal_grades(
    items: Sequence[Any], truth: Mapping[Any, float], k: int | None = None, ideal: str = "relevant"
) -> list[float]:
    return best_grades(of_list(items, truth, k), ideal)
