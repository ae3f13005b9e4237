"""lightgbm: what it prints for a data set whose scores are given; missed items stand below."""

from __future__ import annotations

from tests.parity.common import Metric, answer, arrays
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import lightgbm as lgb
    import numpy as np

    def metric(name: str) -> Metric:
        def of(data: DataSet) -> float:
            lists = list(arrays(data, full=True).values())
            score, grade = (np.array([row[n] for one in lists for row in one], dtype=float) for n in (0, 1))
            rows = lgb.Dataset(
                np.zeros((len(score), 1)), label=grade, init_score=score, group=[len(one) for one in lists]
            )
            found: dict[str, dict[str, list[float]]] = {}
            options = {
                "objective": "lambdarank",
                "metric": name,
                "eval_at": [data["k"]],
                "verbose": -1,
                "num_threads": 1,
            }
            lgb.train(
                options, rows, 1, valid_sets=[rows], valid_names=["all"], callbacks=[lgb.record_evaluation(found)]
            )
            return found["all"][f"{name}@{data['k']}"][0]

        return of

    return {"ndcg": metric("ndcg"), "ap": metric("map")}


if __name__ == "__main__":
    answer(metrics(), "lightgbm")
