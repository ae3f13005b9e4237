"""catboost: catboost.utils.eval_metric, labels made binary where a metric counts hits; missed items stand below."""

from __future__ import annotations

from tests.parity.common import Metric, answer, arrays
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
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
        "err": metric("ERR:top={k}"),
    }


if __name__ == "__main__":
    answer(metrics(), "catboost")
