"""Libraries that learn to rank, each asked for its variants in presets.csv."""

from __future__ import annotations

from typing import Any

from tests.tools.parity.common import Metric, arrays
from tests.tools.parity.data import DataSet


def catboost() -> dict[str, Metric]:
    """Catboost.utils.eval_metric, labels made binary where a metric counts hits; missed items stand below."""
    from catboost.utils import eval_metric

    def metric(text: str, *, binary: bool = False) -> Metric:
        def of(data: DataSet) -> float:
            rows = [
                (number, score, float(grade > 0) if binary else grade)
                for number, one in enumerate(arrays(data, full=True).values())
                for score, grade in one
            ]
            group, score, grade = (list(column) for column in zip(*rows, strict=True))
            return eval_metric(grade, score, text.format(k=data["k"]), group_id=group, thread_count=1)[0]

        return of

    return {
        "ndcg": metric("NDCG:top={k}"),
        "ndcg_exp": metric("NDCG:top={k};type=Exp"),
        "ndcg_position": metric("NDCG:top={k};denominator=Position"),
        "dcg": metric("DCG:top={k}"),
        "ap": metric("MAP:top={k}", binary=True),
        "rr": metric("MRR:top={k}", binary=True),
        "precision": metric("PrecisionAt:top={k}", binary=True),
        "recall": metric("RecallAt:top={k}", binary=True),
    }


def lightgbm() -> dict[str, Metric]:
    """What it prints for a data set whose scores are given; missed items stand below."""
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


def xgboost() -> dict[str, Metric]:
    """What it says of a booster without trees, whose margins are the scores; missed items stand below."""
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
