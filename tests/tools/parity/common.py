"""What functions share that ask a library; they need nothing but the standard library and that one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from tests.tools.parity.data import DataSet

Value = float | str  #: a string is the error that the library raised
Metric = Callable[[DataSet], Any]


def value(metric: Metric, data: DataSet) -> Value:
    """The metric's value, or its error."""
    try:
        return float(metric(data))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def runs(data: DataSet) -> dict[str, dict[str, float]]:
    """Score of every item, by user, as trec_eval and its kin read it: of a pair that is there twice, the higher one."""
    found: dict[str, dict[str, float]] = {}
    for user, item, score, _ in data["recs"]:
        scores = found.setdefault(user, {})
        if score > scores.get(item, -math.inf):
            scores.pop(item, None)
            scores[item] = score
    return found


def qrels(data: DataSet) -> dict[str, dict[str, float]]:
    """Relevance of every judged item, by user."""
    found: dict[str, dict[str, float]] = {}
    for user, item, relevance in data["truth"]:
        found.setdefault(user, {})[item] = relevance
    return found


def lists(data: DataSet, *, by_row: bool = False) -> dict[str, list[str]]:
    """Items of every user, by score or in the order of the rows, repeats and all."""
    rows = data["recs"] if by_row else sorted(data["recs"], key=lambda row: -row[2])
    found: dict[str, list[str]] = {}
    for user, item, *_ in rows:
        found.setdefault(user, []).append(item)
    return found


def arrays(data: DataSet, *, full: bool) -> dict[str, list[tuple[float, float]]]:
    """Score and relevance of every candidate, by user.

    Candidates are the recommended rows; if `full` also the judged items that were not recommended, at score -9.
    """
    return {user: [(score, grade) for _, score, grade in rows] for user, rows in candidates(data, full=full).items()}


def candidates(data: DataSet, *, full: bool) -> dict[str, list[tuple[str, float, float]]]:
    """Item, score and relevance of every candidate, by user."""
    truth = qrels(data)
    found: dict[str, list[tuple[str, float, float]]] = {}
    for user, item, score, _ in data["recs"]:
        found.setdefault(user, []).append((item, score, truth.get(user, {}).get(item, 0)))
    if full:
        recs = runs(data)
        for user, grades in truth.items():
            missed = [(item, -9.0, grade) for item, grade in grades.items() if item not in recs.get(user, {})]
            found[user] = found.get(user, []) + missed
    return found


def mean(values: Iterable[float]) -> float:
    """Mean of some numbers; NaN of none."""
    given = list(values)
    return sum(given) / len(given) if given else float("nan")
