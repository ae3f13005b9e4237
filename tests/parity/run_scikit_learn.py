"""scikit-learn: one user at a time, averaged over the users of the truth, which is this script's doing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer, arrays, mean, qrels
from tests.parity.data import DataSet

ENCODINGS = {"[list]": False, "[full]": True}


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import numpy as np
    from sklearn.metrics import (
        average_precision_score,
        dcg_score,
        label_ranking_average_precision_score,
        ndcg_score,
    )

    scores: dict[str, Callable[[Any, Any, int], float]] = {
        "ndcg": lambda true, score, k: ndcg_score([true], [score], k=k),
        "ndcg_ignore_ties": lambda true, score, k: ndcg_score([true], [score], k=k, ignore_ties=True),
        "dcg": lambda true, score, k: dcg_score([true], [score], k=k),
        "ap": lambda true, score, k: average_precision_score(true > 0, score),
        "lrap": lambda true, score, k: label_ranking_average_precision_score([true > 0], [score]),
    }

    def metric(score: Callable[[Any, Any, int], float], full: bool) -> Metric:
        def of(data: DataSet) -> float:
            candidates = arrays(data, full=full)
            values = []
            for user in qrels(data):
                rows = candidates.get(user, [])
                true, given = np.array([grade for _, grade in rows]), np.array([one for one, _ in rows], dtype=float)
                values.append(float(score(true, given, data["k"])))
            return mean(values)

        return of

    return {name + suffix: metric(score, full) for suffix, full in ENCODINGS.items() for name, score in scores.items()}


if __name__ == "__main__":
    answer(metrics(), "scikit-learn")
