"""xgboost: what it says of a booster without trees, whose margins are the scores; missed items stand below."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer, arrays
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    import xgboost as xgb

    def metric(name: str, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            lists = list(arrays(data, full=True).values())
            score, grade = (np.array([row[n] for one in lists for row in one], dtype=float) for n in (0, 1))
            if not name.startswith("ndcg"):
                grade = (grade > 0).astype(float)
            rows = xgb.DMatrix(np.zeros((len(score), 1)), label=grade, base_margin=score)
            rows.set_group([len(one) for one in lists])
            asked = name.format(k=data["k"])
            objective = "rank:ndcg" if name.startswith("ndcg") else "rank:map"
            booster = xgb.Booster(
                {"objective": objective, "eval_metric": asked, "base_score": 0.0, "nthread": 1, **options}, [rows]
            )
            return float(booster.eval(rows).rpartition(":")[2])

        return of

    return {
        "ndcg": metric("ndcg@{k}"),
        "ap": metric("map@{k}"),
        "ndcg_minus": metric("ndcg@{k}-"),
        "ndcg_linear": metric("ndcg@{k}", ndcg_exp_gain=False),
        "ap_minus": metric("map@{k}-"),
        "precision": metric("pre@{k}"),
    }


if __name__ == "__main__":
    answer(metrics(), "xgboost-cpu")
