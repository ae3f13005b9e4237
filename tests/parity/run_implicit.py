"""implicit: ranking_metrics_at_k of a model that returns the lists as they are, filled up with -1."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer, lists
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    class Model:
        def __init__(self, ids: Any) -> None:
            self.ids = ids

        def recommend(self, users: Any, *_: Any, N: int, **__: Any) -> tuple[Any, Any]:  # noqa: N803 - implicit's name
            ids = np.full((len(users), N), -1, dtype=np.int32)
            for row, user in enumerate(users):
                given = self.ids[user][:N]
                ids[row, : len(given)] = given
            return ids, np.zeros(ids.shape, dtype=np.float32)

    def metric(name: str) -> Metric:
        def of(data: DataSet) -> float:
            users = sorted({row[0] for row in data["recs"] + data["truth"]})
            items = sorted({row[1] for row in data["recs"] + data["truth"]})
            at = [users.index(user) for user, *_ in data["truth"]], [items.index(item) for _, item, _ in data["truth"]]
            test = csr_matrix((np.ones(len(data["truth"])), at), shape=(len(users), len(items)))
            recs = lists(data, by_row=True)
            ids = [[items.index(item) for item in recs.get(user, [])] for user in users]
            train = csr_matrix(test.shape)
            return ranking_metrics_at_k(Model(ids), train, test, K=data["k"], show_progress=False)[name]

        return of

    return {"precision": metric("precision"), "ap": metric("map"), "ndcg": metric("ndcg")}


if __name__ == "__main__":
    answer(metrics(), "implicit")
