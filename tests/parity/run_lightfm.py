"""lightfm-next: its evaluation of a model whose embeddings are the scores; every other item stands below, at -9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer, runs
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    from lightfm import LightFM, evaluation
    from scipy.sparse import csr_matrix

    def model(scores: Any) -> LightFM:
        made = LightFM(no_components=scores.shape[1], loss="logistic")
        made.fit_partial(csr_matrix(np.ones_like(scores, dtype=np.int32)).tocoo(), epochs=0)
        made.user_embeddings = np.ascontiguousarray(scores, dtype=np.float32)
        made.item_embeddings = np.eye(scores.shape[1], dtype=np.float32)
        made.user_biases = np.zeros(scores.shape[0], dtype=np.float32)
        made.item_biases = np.zeros(scores.shape[1], dtype=np.float32)
        return made

    def metric(function: Callable[..., Any], *, cut: bool) -> Metric:
        def of(data: DataSet) -> float:
            users = [*sorted({row[0] for row in data["recs"] + data["truth"]}), "one more, as one alone is an error"]
            items = sorted({row[1] for row in data["recs"] + data["truth"]})
            scores = np.full((len(users), len(items)), -9.0)
            for user, own in runs(data).items():
                for item, score in own.items():
                    scores[users.index(user), items.index(item)] = score
            at = [users.index(user) for user, *_ in data["truth"]], [items.index(one) for _, one, _ in data["truth"]]
            test = csr_matrix((np.ones(len(data["truth"]), dtype=np.float32), at), shape=scores.shape)
            options = {"k": data["k"]} if cut else {}
            return float(np.mean(function(model(scores), test, num_threads=1, **options)))

        return of

    return {
        "precision": metric(evaluation.precision_at_k, cut=True),
        "recall": metric(evaluation.recall_at_k, cut=True),
        "rr": metric(evaluation.reciprocal_rank, cut=False),
    }


if __name__ == "__main__":
    answer(metrics(), "lightfm-next")
