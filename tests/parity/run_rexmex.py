"""rexmex: lists of the users of the truth, who has none an empty one; its metrics of one list averaged here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer, lists, mean
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    from rexmex.metrics import coverage, ranking

    def both(data: DataSet) -> tuple[list[list[str]], list[list[str]]]:
        truth, recs = lists({"recs": data["truth"]}, by_row=True), lists(data, by_row=True)
        return list(truth.values()), [recs.get(user, []) for user in truth]

    def whole(function: Callable[..., Any]) -> Metric:
        return lambda data: function(*both(data), k=data["k"])

    def averaged(function: Callable[..., Any]) -> Metric:
        return lambda data: mean(function(one, other, data["k"]) for one, other in zip(*both(data), strict=True))

    def shown(data: DataSet) -> list[list[str]]:
        return list(lists({"recs": data["lists"]}, by_row=True).values())

    def covered(catalogue: Callable[[DataSet], Any]) -> Metric:
        def of(data: DataSet) -> float:
            users = sorted({row[0] for row in data["lists"]})
            return coverage.item_coverage((users, list(catalogue(data))), [tuple(row[:2]) for row in data["lists"]])

        return of

    def novelty(data: DataSet) -> float:
        counts = Counter(item for _, item in data["train"])
        return ranking.novelty(shown(data), dict(counts), len({user for user, _ in data["train"]}), data["k"])

    def similarity(data: DataSet) -> float:
        items = list(data["features"])
        of = np.array([data["features"][item] for item in items], dtype=float)
        return ranking.intra_list_similarity([[items.index(item) for item in one] for one in shown(data)], of)

    return {
        "ap": whole(ranking.mean_average_precision_at_k),
        "mark": whole(ranking.mean_average_recall_at_k),
        "rr_all_relevant": averaged(lambda one, other, k: ranking.mean_reciprocal_rank(one, other)),
        "hits": averaged(ranking.hits_at_k),
        "coverage[catalogue]": covered(lambda data: data["catalogue"]),
        "coverage[train]": covered(lambda data: {item for _, item in data["train"]}),
        "novelty": novelty,
        "ils": similarity,
        "personalization": lambda data: ranking.personalization(shown(data)),
    }


if __name__ == "__main__":
    answer(metrics(), "rexmex")
