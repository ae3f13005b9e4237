"""ranx: evaluate(), with users made comparable but for the variants called strict."""

from __future__ import annotations

from tests.parity.common import Metric, answer, qrels, runs
from tests.parity.data import DataSet

#: Our name of the variant -> the metric as ranx writes it.
NAMES = {
    "ndcg": "ndcg@{k}",
    "ndcg_burges": "ndcg_burges@{k}",
    "dcg": "dcg@{k}",
    "dcg_burges": "dcg_burges@{k}",
    "precision": "precision@{k}",
    "recall": "recall@{k}",
    "f1": "f1@{k}",
    "ap": "map@{k}",
    "rr": "mrr@{k}",
    "hit": "hit_rate@{k}",
    "hits_count": "hits@{k}",
    "rprec": "r-precision",
    "rbp": "rbp.80",
    "ndcg_nocut": "ndcg",
    "precision_nocut": "precision",
    "ndcg[strict]": "ndcg@{k}",
    "precision[strict]": "precision@{k}",
}


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    from ranx import Qrels, Run, evaluate

    def named(name: str, strict: bool) -> Metric:
        def metric(data: DataSet) -> float:
            asked = name.format(k=data["k"])
            return float(evaluate(Qrels(qrels(data)), Run(runs(data)), asked, make_comparable=not strict))

        return metric

    return {variant: named(name, variant.endswith("[strict]")) for variant, name in NAMES.items()}


if __name__ == "__main__":
    answer(metrics(), "ranx")
