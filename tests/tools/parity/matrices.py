"""Libraries that read matrices of users × items, each asked for its variants in
presets.csv.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.tools.parity.data import DataSet, Metric, lists, runs, variants


def names_of(data: DataSet) -> tuple[list[str], list[str]]:
    """The users and the items of both sides, in order: rows and columns of a matrix."""
    rows = data["recs"] + data["truth"]
    return sorted({row[0] for row in rows}), sorted({row[1] for row in rows})


def matrix(
    rows: Iterable[tuple[str, str, float]], users: list[str], items: list[str]
) -> Any:
    """A sparse matrix of values; scipy adds up those of a pair that is there twice."""
    from scipy.sparse import csr_matrix

    placed = [
        (float(value), users.index(user), items.index(item))
        for user, item, value in rows
    ]
    values, at_user, at_item = zip(*placed, strict=True)
    return csr_matrix((values, (at_user, at_item)), shape=(len(users), len(items)))


def scores_of(data: DataSet, users: list[str], items: list[str]) -> Any:
    """A dense matrix of scores, -9 where nothing is recommended."""
    import numpy as np

    scores = np.full((len(users), len(items)), -9.0)
    for user, own in runs(data).items():
        for item, score in own.items():
            scores[users.index(user), items.index(item)] = score
    return scores


def cornac() -> dict[str, Metric]:
    """Ranking_eval of a model that ranks the recommended items alone, or all others
    below them.
    """
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

        def rank(
            self, user_idx: int, item_indices: Any, k: int = -1
        ) -> tuple[Any, Any]:
            own = self.ranked[user_idx]
            rest = (
                [item for item in range(self.scores.shape[1]) if item not in own]
                if self.full
                else []
            )
            return np.array(own + rest, dtype=int), self.scores[user_idx][item_indices]

    def ask(data: DataSet, metric: Any, full: bool) -> Any:
        users, items = names_of(data)
        truth = matrix(
            data["truth"], users, items
        )  # a stored 0 stands for a judged item that is not relevant
        recs = {
            user: list(dict.fromkeys(own)) if full else own
            for user, own in lists(data).items()
        }
        ranked = [[items.index(item) for item in recs.get(user, [])] for user in users]
        model, empty = (
            Model(ranked, scores_of(data, users, items), full),
            Rows(csr_matrix(truth.shape)),
        )
        made = metric() if metric is m.MAP else metric(data["k"])
        return ranking_eval(model, [made], empty, Rows(truth))[0][0]

    metrics = {
        "ndcg": m.NDCG,
        "hit": m.HitRatio,
        "precision": m.Precision,
        "f1": m.FMeasure,
        "recall": m.Recall,
        "ap": m.MAP,
    }
    return {
        **variants(ask, metrics, "[list]", full=False),
        **variants(ask, metrics, "[full]", full=True),
    }


def implicit() -> dict[str, Metric]:
    """Ranking_metrics_at_k of a model that returns the lists as they are, filled up
    with -1.
    """
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

    def ask(data: DataSet, name: str) -> Any:
        users, items = names_of(data)
        test = matrix(
            [(user, item, 1.0) for user, item, _ in data["truth"]], users, items
        )
        recs = lists(data, by_row=True)
        model = Model(
            [[items.index(item) for item in recs.get(user, [])] for user in users]
        )
        return ranking_metrics_at_k(
            model, csr_matrix(test.shape), test, K=data["k"], show_progress=False
        )[name]

    return variants(ask, {"precision": "precision", "ap": "map", "ndcg": "ndcg"})


def recpack() -> dict[str, Metric]:
    """Its metrics of matrices of lists and truth."""
    import numpy as np
    from recpack import metrics as m
    from scipy.sparse import csr_matrix

    def accuracy(data: DataSet, metric: type) -> Any:
        made, names = metric(data["k"]), names_of(data)
        made.calculate(
            matrix(data["truth"], *names),
            matrix([row[:3] for row in data["recs"]], *names),
        )
        return made.value

    def beyond(data: DataSet, metric: type) -> Any:
        users, items = (
            sorted({row[0] for row in data["lists"]}),
            sorted(data["catalogue"]),
        )
        recs = matrix(
            [(user, item, 100.0 - rank) for user, item, rank in data["lists"]],
            users,
            items,
        )
        made = metric(data["k"])
        if hasattr(made, "fit"):
            made.fit(csr_matrix(np.array([data["features"][item] for item in items])))
        made.calculate(recs, recs)
        return made.value

    metrics = {
        "ndcg": m.NDCGK,
        "dcg": m.DCGK,
        "precision": m.PrecisionK,
        "recall": m.RecallK,
        "recall_calibrated": m.CalibratedRecallK,
        "rr": m.ReciprocalRankK,
    }
    return {
        **variants(accuracy, metrics),
        **variants(beyond, {"coverage": m.CoverageK, "ild": m.IntraListDiversityK}),
    }
