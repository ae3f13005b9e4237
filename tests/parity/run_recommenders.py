"""recommenders: the functions of python_evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as p

    def frame(rows: list[list[Any]], *columns: str) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["userID", "itemID", *columns])

    def accuracy(function: Callable[..., Any], **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            recs = frame([row[:3] for row in data["recs"]], "prediction")
            return function(frame(data["truth"], "rating"), recs, k=data["k"], **options)

        return of

    def beyond(function: Callable[..., Any]) -> Metric:
        return lambda data: function(frame(data["train"]), frame(data["lists"], "rank"))

    def diversity_features(data: DataSet) -> float:
        vectors = [np.array(vector, dtype=float) for vector in data["features"].values()]
        features = pd.DataFrame({"itemID": list(data["features"]), "features": vectors})
        train, lists = frame(data["train"]), frame(data["lists"], "rank")
        return p.diversity(train, lists, item_feature_df=features, item_sim_measure="item_feature_vector")

    return {
        "precision": accuracy(p.precision_at_k),
        "precision_topknone": accuracy(p.precision_at_k, relevancy_method=None),
        "recall": accuracy(p.recall_at_k),
        "rprec": accuracy(p.r_precision_at_k),
        "ndcg": accuracy(p.ndcg_at_k),
        "ndcg_log2": accuracy(p.ndcg_at_k, discfun_type="log2"),
        "ndcg_raw": accuracy(p.ndcg_at_k, score_type="raw"),
        "ndcg_exp": accuracy(p.ndcg_at_k, score_type="exp"),
        "ap_full": accuracy(p.map),
        "ap": accuracy(p.map_at_k),
        "ap_topknone": accuracy(p.map_at_k, relevancy_method=None),
        "coverage": beyond(p.catalog_coverage),
        "distributional_coverage": beyond(p.distributional_coverage),
        "novelty": beyond(p.novelty),
        "diversity": beyond(p.diversity),
        "diversity_features": diversity_features,
    }


if __name__ == "__main__":
    answer(metrics(), "recommenders")
