"""cornac: ranking_eval of a model that ranks the recommended items alone, or all others below them."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer, lists, runs
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    from cornac import metrics as m
    from cornac.eval_methods.base_method import ranking_eval
    from scipy.sparse import csr_matrix

    class Rows:
        """What ranking_eval reads of a data set."""

        def __init__(self, matrix: Any) -> None:
            self.csr_matrix, self.num_items = matrix, matrix.shape[1]
            self.uir_tuple = (matrix.nonzero()[0],)

    class Model:
        def __init__(self, ranked: list[list[int]], scores: Any, full: bool) -> None:
            self.ranked, self.scores, self.full = ranked, scores, full

        def rank(self, user_idx: int, item_indices: Any, k: int = -1) -> tuple[Any, Any]:
            own = self.ranked[user_idx]
            rest = [item for item in range(self.scores.shape[1]) if item not in own] if self.full else []
            return np.array(own + rest, dtype=int), self.scores[user_idx][item_indices]

    def metric(made: Any, full: bool) -> Metric:
        def of(data: DataSet) -> float:
            users = sorted({row[0] for row in data["recs"] + data["truth"]})
            items = sorted({row[1] for row in data["recs"] + data["truth"]})
            truth = csr_matrix(
                (
                    # A stored 0 stands for a judged item that is not relevant.
                    [float(grade) for *_, grade in data["truth"]],
                    (
                        [users.index(user) for user, *_ in data["truth"]],
                        [items.index(one) for _, one, _ in data["truth"]],
                    ),
                ),
                shape=(len(users), len(items)),
            )
            scores = np.full(truth.shape, -9.0)
            for user, own in runs(data).items():
                for item, score in own.items():
                    scores[users.index(user), items.index(item)] = score
            recs = {user: list(dict.fromkeys(own)) if full else own for user, own in lists(data).items()}
            ranked = [[items.index(item) for item in recs.get(user, [])] for user in users]
            empty = Rows(csr_matrix(truth.shape))
            return ranking_eval(Model(ranked, scores, full), [made(data["k"])], empty, Rows(truth))[0][0]

        return of

    made = {
        "ndcg": lambda k: m.NDCG(k),
        "rr": lambda k: m.MRR(),
        "hit": lambda k: m.HitRatio(k),
        "precision": lambda k: m.Precision(k),
        "f1": lambda k: m.FMeasure(k),
        "recall": lambda k: m.Recall(k),
        "ap": lambda k: m.MAP(),
    }
    return {
        name + suffix: metric(one, full)
        for suffix, full in {"[list]": False, "[full]": True}.items()
        for name, one in made.items()
    }


if __name__ == "__main__":
    answer(metrics(), "cornac")
