"""torchmetrics, on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity.common import Metric, answer, arrays
from tests.parity.data import DataSet

ENCODINGS = {"[list]": False, "[full]": True}


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import torch
    from torchmetrics import retrieval as r

    made: dict[str, Callable[[int], Any]] = {
        "ndcg": lambda k: r.RetrievalNormalizedDCG(top_k=k),
        "ndcg_skip_empty": lambda k: r.RetrievalNormalizedDCG(top_k=k, empty_target_action="skip"),
        "ap": lambda k: r.RetrievalMAP(top_k=k),
        "rr": lambda k: r.RetrievalMRR(top_k=k),
        "precision": lambda k: r.RetrievalPrecision(top_k=k),
        "precision_adaptive": lambda k: r.RetrievalPrecision(top_k=k, adaptive_k=True),
        "recall": lambda k: r.RetrievalRecall(top_k=k),
        "hit": lambda k: r.RetrievalHitRate(top_k=k),
        "rprec": lambda k: r.RetrievalRPrecision(),
    }

    def metric(name: str, make: Callable[[int], Any], full: bool) -> Metric:
        def of(data: DataSet) -> float:
            rows = [
                (number, score, grade if name.startswith("ndcg") else int(grade > 0))
                for number, candidates in enumerate(arrays(data, full=full).values())
                for score, grade in candidates
            ]
            indexes, scores, grades = zip(*rows, strict=True)
            library = make(data["k"])
            library.update(torch.tensor(scores), torch.tensor(grades), indexes=torch.tensor(indexes))
            return float(library.compute())

        return of

    return {
        name + suffix: metric(name, make, full) for suffix, full in ENCODINGS.items() for name, make in made.items()
    }


if __name__ == "__main__":
    answer(metrics(), "torchmetrics")
