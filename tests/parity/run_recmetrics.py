"""recmetrics: lists of the users of the truth, who has none an empty one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer, lists
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pandas as pd
    import recmetrics as r

    def both(data: DataSet) -> tuple[list[list[str]], list[list[str]]]:
        truth, recs = lists({"recs": data["truth"]}, by_row=True), lists(data, by_row=True)
        return list(truth.values()), [recs.get(user, []) for user in truth]

    def predicted_first(function: Callable[..., Any]) -> Metric:
        return lambda data: function(*reversed(both(data)))

    def shown(data: DataSet, k: int | None = None) -> list[list[str]]:
        return [one[:k] for one in lists({"recs": data["lists"]}, by_row=True).values()]

    def warm(data: DataSet) -> list[str]:
        return sorted({item for _, item in data["train"]})

    def novelty(data: DataSet, k: int | None = None) -> float:
        counts = dict(Counter(item for _, item in data["train"]))
        return r.novelty(shown(data, k), counts, len({user for user, _ in data["train"]}), data["k"])[0]

    def similarity(data: DataSet) -> float:
        return r.intra_list_similarity(shown(data), pd.DataFrame.from_dict(data["features"], orient="index"))

    return {
        "mark": lambda data: r.mark(*both(data), k=data["k"]),
        "precision": predicted_first(r.recommender_precision),
        "recall": predicted_first(r.recommender_recall),
        "prediction_coverage": lambda data: r.prediction_coverage(shown(data), warm(data)),
        "coverage": lambda data: r.catalog_coverage(shown(data), warm(data), len(shown(data))),
        "novelty": novelty,
        "novelty[cut]": lambda data: novelty(data, data["k"]),
        "ils": similarity,
        "personalization": lambda data: r.personalization(shown(data)),
    }


if __name__ == "__main__":
    answer(metrics(), "recmetrics")
