"""rectools: the calc method of each metric."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pandas as pd
    from rectools import metrics as m

    def frame(rows: list[list[Any]], *columns: str) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["user_id", "item_id", *columns])

    def accuracy(metric: type, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            made = metric(k=data["k"], **options)
            return made.calc(frame(data["recs"], "score", "rank"), frame(data["truth"], "weight"))

        return of

    def beyond(metric: type, reads: str, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            made = metric(k=data["k"], **options)
            lists, train = frame(data["lists"], "rank"), frame(data["train"])
            given = {"train": train, "train items": set(train["item_id"]), "catalogue": set(data["catalogue"])}[reads]
            return made.calc(lists, given)

        return of

    def diversity(data: DataSet) -> float:
        vectors = pd.DataFrame.from_dict(data["features"], orient="index")
        distance = m.PairwiseHammingDistanceCalculator(vectors)
        return m.IntraListDiversity(k=data["k"], distance_calculator=distance).calc(frame(data["lists"], "rank"))

    return {
        "precision": accuracy(m.Precision),
        "precision_r": accuracy(m.Precision, r_precision=True),
        "recall": accuracy(m.Recall),
        "f1": accuracy(m.F1Beta),
        "hit": accuracy(m.HitRate),
        "ap": accuracy(m.MAP),
        "ap_divide_by_k": accuracy(m.MAP, divide_by_k=True),
        "ndcg": accuracy(m.NDCG),
        "ndcg_achievable": accuracy(m.NDCG, divide_by_achievable=True),
        "rr": accuracy(m.MRR),
        "coverage[train]": beyond(m.CatalogCoverage, "train items", normalize=True),
        "coverage[catalogue]": beyond(m.CatalogCoverage, "catalogue", normalize=True),
        "coverage_count": beyond(m.CatalogCoverage, "catalogue", normalize=False),
        "novelty": beyond(m.MeanInvUserFreq, "train"),
        "popularity": beyond(m.AvgRecPopularity, "train"),
        "popularity_normalized": beyond(m.AvgRecPopularity, "train", normalize=True),
        "ild_hamming": diversity,
    }


if __name__ == "__main__":
    answer(metrics(), "rectools")
