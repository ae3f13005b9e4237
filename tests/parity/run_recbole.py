"""recbole: its metrics of a matrix of hits, filled up to k with misses; order and users are this script's doing."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.parity.common import Metric, answer, lists, qrels
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    import torch
    from recbole.evaluator import metrics as m

    np.float = float  # type: ignore[attr-defined]  # recbole 1.2.1 is written for a numpy that has it

    def value(metric: type, k: int, given: dict[str, Any]) -> float:
        made = metric({"topk": [k], "metric_decimal_place": 16, "tail_ratio": 0.1})
        return float(next(iter(made.calculate_metric(given).values())))

    def accuracy(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            recs, truth, k = lists(data), qrels(data), data["k"]
            rows = []
            for user, grades in truth.items():
                hits = [int(item in grades) for item in recs.get(user, [])[:k]]
                rows.append([*hits, *[0] * (k - len(hits)), len(grades)])
            return value(metric, k, {"rec.topk": torch.tensor(rows)})

        return of

    def beyond(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            number = {item: n for n, item in enumerate(sorted(data["catalogue"]), 1)}
            shown = [[number[item] for item in one] for one in lists({"recs": data["lists"]}, by_row=True).values()]
            k = min(data["k"], *map(len, shown))
            given = {
                "rec.items": torch.tensor([one[:k] for one in shown]),
                "data.num_items": len(number) + 1,
                "data.count_items": Counter(number[item] for _, item in data["train"]),
            }
            if k < data["k"]:
                raise ValueError("recbole has lists of k items only")
            return value(metric, k, given)

        return of

    return {
        "hit": accuracy(m.Hit),
        "rr": accuracy(m.MRR),
        "recall": accuracy(m.Recall),
        "precision": accuracy(m.Precision),
        "ap": accuracy(m.MAP),
        "ndcg": accuracy(m.NDCG),
        "coverage": beyond(m.ItemCoverage),
        "popularity": beyond(m.AveragePopularity),
        "tail_percentage": beyond(m.TailPercentage),
        "gini": beyond(m.GiniIndex),
        "entropy": beyond(m.ShannonEntropy),
    }


if __name__ == "__main__":
    answer(metrics(), "recbole")
