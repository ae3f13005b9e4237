"""rs-metrics: functions of frames, or of dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer, lists
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pandas as pd
    import rs_metrics as r

    def frame(rows: list[list[Any]]) -> pd.DataFrame:
        return pd.DataFrame([row[:2] for row in rows], columns=["user_id", "item_id"])

    def accuracy(function: Callable[..., Any]) -> Metric:
        return lambda data: function(frame(data["truth"]), frame(data["recs"]), k=data["k"])

    def of_dictionaries(function: Callable[..., Any]) -> Metric:
        def of(data: DataSet) -> float:
            return function(lists({"recs": data["truth"]}, by_row=True), lists(data, by_row=True), k=data["k"])

        return of

    return {
        "ndcg": accuracy(r.ndcg),
        "precision": accuracy(r.precision),
        "ndcg[dict]": of_dictionaries(r.ndcg),
        "precision[dict]": of_dictionaries(r.precision),
        "hit": accuracy(r.hitrate),
        "recall": accuracy(r.recall),
        "rr": accuracy(r.mrr),
        "ap": accuracy(r.mapr),
        "coverage[catalogue]": lambda data: r.coverage(data["catalogue"], frame(data["lists"]), k=data["k"]),
        "novelty": lambda data: r.surprisal(frame(data["train"]), frame(data["lists"]), k=data["k"]),
        "popularity": lambda data: r.popularity(frame(data["train"]), frame(data["lists"]), k=data["k"]),
    }


if __name__ == "__main__":
    answer(metrics(), "rs-metrics")
