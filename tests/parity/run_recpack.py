"""recpack: matrices of users and items; scipy adds up the scores of a pair that is recommended twice."""

from __future__ import annotations

from tests.parity.common import Metric, answer
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    from recpack import metrics as m
    from scipy.sparse import csr_matrix

    def matrix(rows: list[tuple[str, str, float]], users: list[str], items: list[str]) -> csr_matrix:
        at = [users.index(user) for user, _, _ in rows], [items.index(item) for _, item, _ in rows]
        return csr_matrix((np.array([value for *_, value in rows], dtype=float), at), shape=(len(users), len(items)))

    def accuracy(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            users = sorted({row[0] for row in data["recs"] + data["truth"]})
            items = sorted({row[1] for row in data["recs"] + data["truth"]})
            made = metric(data["k"])
            made.calculate(
                matrix([tuple(row) for row in data["truth"]], users, items),
                matrix([tuple(row[:3]) for row in data["recs"]], users, items),
            )
            return float(made.value)

        return of

    def beyond(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            users, items = sorted({row[0] for row in data["lists"]}), sorted(data["catalogue"])
            lists = matrix([(user, item, 100.0 - rank) for user, item, rank in data["lists"]], users, items)
            made = metric(data["k"])
            if hasattr(made, "fit"):
                made.fit(csr_matrix(np.array([data["features"][item] for item in items])))
            made.calculate(lists, lists)
            return float(made.value)

        return of

    return {
        "ndcg": accuracy(m.NDCGK),
        "dcg": accuracy(m.DCGK),
        "precision": accuracy(m.PrecisionK),
        "recall": accuracy(m.RecallK),
        "recall_calibrated": accuracy(m.CalibratedRecallK),
        "hit": accuracy(m.HitK),
        "rr": accuracy(m.ReciprocalRankK),
        "coverage": beyond(m.CoverageK),
        "ild": beyond(m.IntraListDiversityK),
    }


if __name__ == "__main__":
    answer(metrics(), "recpack")
