"""Libraries that read matrices of users × items, each asked for its variants in presets.csv."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tools.parity.common import Metric, lists, runs
from tests.tools.parity.data import DataSet


def cornac() -> dict[str, Metric]:
    """Ranking_eval of a model that ranks the recommended items alone, or all others below them."""
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


def implicit() -> dict[str, Metric]:
    """Ranking_metrics_at_k of a model that returns the lists as they are, filled up with -1."""
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


def lightfm() -> dict[str, Metric]:
    """Its evaluation of a model whose embeddings are the scores; every other item stands below, at -9."""
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


def recpack() -> dict[str, Metric]:
    """Matrices of users and items; scipy adds up the scores of a pair that is recommended twice."""
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
        "rr": accuracy(m.ReciprocalRankK),
        "coverage": beyond(m.CoverageK),
        "ild": beyond(m.IntraListDiversityK),
    }
