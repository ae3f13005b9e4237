"""What a playground is given: a list and its truth, as any metric function of one list takes them."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from recnb.errors import RecnbError
from recnb.results.single_list import Ranking, Truth, explain

#: What is played with if nothing is given: not the best order, grades of relevance, and one relevant item that is missing.
RANKING = ("A", "B", "C", "D", "E", "F")
TRUTH = {"A": 2.0, "C": 3.0, "E": 1.0, "G": 2.0}

#: More than this is nothing that one moves by hand.
MOST = 100


def given(ranking: Ranking | None, truth: Truth | None) -> tuple[tuple[Any, ...], dict[Any, float]]:
    """The items in rank order and the relevance of all, of whatever a metric function takes for one list."""
    if ranking is None:
        raise RecnbError("a truth was given without a ranking: give the items in rank order first.")
    if hasattr(ranking, "columns"):
        raise RecnbError(
            "the ranking is a frame, and a playground takes one list: give the items of one user in rank order."
        )
    if isinstance(ranking, Mapping):
        raise RecnbError(
            "the ranking is a mapping, which has no order: give the items in rank order first and the mapping second."
        )
    taken = explain("cg", ranking, truth)
    if len(taken.rows) == 0:
        raise RecnbError("the ranking is empty: give at least one item to move.")
    if len(taken.rows) > MOST:
        raise RecnbError(
            f"the ranking holds {len(taken.rows)} items, more than one moves by hand: give the first {MOST} at most, ranking[:{MOST}]."
        )
    grades = [float(grade) for grade in taken.rows["relevance"]]
    items = tuple(_names(len(grades)) if truth is None else ranking)
    relevance = dict(zip(items, grades, strict=True))
    others = truth if isinstance(truth, Mapping) else dict.fromkeys(taken.missed, 1.0)
    return items, relevance | {item: float(grade) for item, grade in others.items() if item not in relevance}


def as_listed(truth: Truth | None, relevance: Mapping[Any, float]) -> list[Any]:
    """The items in the order of the truth, then those that it does not name."""
    first = sorted(truth, key=str) if isinstance(truth, (set, frozenset)) else () if truth is None else truth
    return list(dict.fromkeys([*first, *relevance]))


def _names(n: int) -> list[str]:
    """Names for items of which the grades alone are known."""
    return list(string.ascii_uppercase[:n]) if n <= 26 else [f"#{at}" for at in range(1, n + 1)]
