"""Libraries that learn to rank, each asked for its variants in presets.csv; missed
items stand below the others.
"""

from __future__ import annotations

from typing import Any

from tests.tools.parity.data import DataSet, Metric, candidates, variants


def rows_of(data: DataSet) -> tuple[list[int], list[float], list[float], list[int]]:
    """User's number, score and relevance of each candidate, and how many candidates
    each user has.
    """
    lists = list(candidates(data, full=True).values())
    rows = [
        (number, score, float(grade))
        for number, one in enumerate(lists)
        for _item, score, grade in one
    ]
    numbers, scores, grades = (list(column) for column in zip(*rows, strict=True))
    return numbers, scores, grades, [len(one) for one in lists]


def catboost() -> dict[str, Metric]:
    """Catboost.utils.eval_metric, labels made binary where a metric counts hits."""
    from catboost.utils import eval_metric

    def ask(data: DataSet, text: str) -> Any:
        numbers, scores, grades, _ = rows_of(data)
        if "DCG" not in text:
            grades = [float(grade > 0) for grade in grades]
        return eval_metric(
            grades, scores, text.format(k=data["k"]), group_id=numbers, thread_count=1
        )[0]

    names = {
        "ndcg": "NDCG:top={k}",
        "ndcg_exp": "NDCG:top={k};type=Exp",
        "ndcg_position": "NDCG:top={k};denominator=Position",
        "dcg": "DCG:top={k}",
        "ap": "MAP:top={k}",
        "rr": "MRR:top={k}",
        "precision": "PrecisionAt:top={k}",
        "recall": "RecallAt:top={k}",
    }
    return variants(ask, names)


def lightgbm() -> dict[str, Metric]:
    """What it prints for a data set whose scores are given."""
    import lightgbm as lgb
    import numpy as np

    def ask(data: DataSet, name: str) -> float:
        _, scores, grades, sizes = rows_of(data)
        rows = lgb.Dataset(
            np.zeros((len(scores), 1)),
            label=np.array(grades),
            init_score=np.array(scores),
            group=sizes,
        )
        found: dict[str, dict[str, list[float]]] = {}
        options = {
            "objective": "lambdarank",
            "metric": name,
            "eval_at": [data["k"]],
            "verbose": -1,
            "num_threads": 1,
        }
        record = lgb.record_evaluation(found)
        lgb.train(
            options, rows, 1, valid_sets=[rows], valid_names=["all"], callbacks=[record]
        )
        return found["all"][f"{name}@{data['k']}"][0]

    return variants(ask, {"ndcg": "ndcg", "ap": "map"})


def xgboost() -> dict[str, Metric]:
    """What it says of a booster without trees, whose margins are the scores."""
    import numpy as np
    import xgboost as xgb

    def ask(data: DataSet, name: str, **options: Any) -> str:
        _, scores, grades, sizes = rows_of(data)
        objective = "rank:ndcg" if "ndcg" in name else "rank:map"
        rows = xgb.DMatrix(
            np.zeros((len(scores), 1)),
            label=np.array(grades),
            base_margin=np.array(scores),
        )
        rows.set_group(sizes)
        metric = name.format(k=data["k"])
        options = {
            "objective": objective,
            "eval_metric": metric,
            "base_score": 0.0,
            "nthread": 1,
            **options,
        }
        return str(xgb.Booster(options, [rows]).eval(rows).rpartition(":")[2])

    names = {
        "ndcg": "ndcg@{k}",
        "ap": "map@{k}",
        "ndcg_minus": "ndcg@{k}-",
        "ap_minus": "map@{k}-",
        "precision": "pre@{k}",
    }
    linear = {"ndcg_linear": "ndcg@{k}", "ndcg_linear_minus": "ndcg@{k}-"}
    return {**variants(ask, names), **variants(ask, linear, ndcg_exp_gain=False)}
