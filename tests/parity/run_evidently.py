"""evidently: each metric of a report by itself, at k."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer, candidates
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pandas as pd
    from evidently.legacy.metrics.recsys import (
        diversity,
        f_beta_top_k,
        hit_rate_k,
        map_k,
        mrr,
        ndcg_k,
        novelty,
        personalisation,
        popularity_bias,
        precision_top_k,
        recall_top_k,
    )
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    columns = {"user_id": "user", "item_id": "item", "target": "target", "prediction": "prediction"}

    def result(metric: Any, frame: Any, kind: str, **more: Any) -> Any:
        report = Report(metrics=[metric])
        mapping = ColumnMapping(**columns, recommendations_type=kind)
        report.run(reference_data=None, current_data=frame, column_mapping=mapping, **more)
        return metric.get_result()

    def accuracy(metric: type, full: bool, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            rows = [
                (user, item, grade, score)
                for user, some in candidates(data, full=full).items()
                for item, score, grade in some
            ]
            frame = pd.DataFrame(rows, columns=["user", "item", "target", "prediction"])
            found = result(metric(k=data["k"], **options), frame, "score").current
            return float(found[data["k"] - (found.index.min() == 0)])

        return of

    def beyond(name: str, metric: type, featured: bool = False, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            frame = pd.DataFrame(data["lists"], columns=["user", "item", "prediction"]).assign(target=1)
            train = pd.DataFrame(data["train"], columns=["user", "item"]).assign(target=1, prediction=1)
            if featured:
                names = [f"f{n}" for n in range(5)]
                vectors = pd.DataFrame.from_dict(data["features"], orient="index", columns=names)
                frame, train = (one.join(vectors, on="item") for one in (frame, train))
                options["item_features"] = names
            more = {"additional_data": {"current_train_data": train}}
            return float(getattr(result(metric(k=data["k"], **options), frame, "rank", **more), name))

        return of

    asked = {
        "precision": (precision_top_k.PrecisionTopKMetric, {}),
        "recall": (recall_top_k.RecallTopKMetric, {}),
        "f1": (f_beta_top_k.FBetaTopKMetric, {}),
        "ap": (map_k.MAPKMetric, {}),
        "rr": (mrr.MRRKMetric, {}),
        "hit": (hit_rate_k.HitRateKMetric, {}),
        "ndcg": (ndcg_k.NDCGKMetric, {}),
        "precision_nofeedback": (precision_top_k.PrecisionTopKMetric, {"no_feedback_users": True}),
        "ndcg_nofeedback": (ndcg_k.NDCGKMetric, {"no_feedback_users": True}),
    }
    bias = popularity_bias.PopularityBias
    return {
        **{
            name + suffix: accuracy(metric, full, **options)
            for suffix, full in {"[list]": False, "[full]": True}.items()
            for name, (metric, options) in asked.items()
        },
        "coverage[train]": beyond("current_coverage", bias),
        "novelty": beyond("current_value", novelty.NoveltyMetric),
        "popularity": beyond("current_apr", bias),
        "popularity_normalized": beyond("current_apr", bias, normalize_arp=True),
        "diversity": beyond("current_value", diversity.DiversityMetric, featured=True),
        "personalization": beyond("current_value", personalisation.PersonalizationMetric),
        "gini": beyond("current_gini", bias),
    }


if __name__ == "__main__":
    answer(metrics(), "evidently")
