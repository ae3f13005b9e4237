"""torcheval: retrieval_precision of one user at a time, averaged over the users of the truth; missed items stand below."""

from __future__ import annotations

from tests.parity.common import Metric, answer, arrays, mean, qrels
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import torch
    from torcheval.metrics.functional import retrieval_precision

    def metric(*, limited: bool) -> Metric:
        def of(data: DataSet) -> float:
            rows = arrays(data, full=True)
            columns = [[torch.tensor(column) for column in zip(*rows[user], strict=True)] for user in qrels(data)]
            return mean(
                float(retrieval_precision(score, (grade > 0).long(), data["k"], limit_k_to_size=limited))
                for score, grade in columns
            )

        return of

    return {"precision": metric(limited=False), "precision_limit": metric(limited=True)}


if __name__ == "__main__":
    answer(metrics(), "torcheval")
