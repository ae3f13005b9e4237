"""lenskit: RunAnalysis of lists in the order of their rows, and the mean of what it lists."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer, lists
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pandas as pd
    from lenskit import metrics as m
    from lenskit.data import ItemList, ItemListCollection, from_interactions_df
    from lenskit.metrics import ranking

    def collection(rows: list[list[Any]]) -> ItemListCollection:
        found = ItemListCollection(["user_id"])
        for user, items in lists({"recs": rows}, by_row=True).items():
            found.add(ItemList(items, ordered=True), user_id=user)
        return found

    def truth(data: DataSet) -> ItemListCollection:
        found = ItemListCollection(["user_id"])
        for user, rows in pd.DataFrame(data["truth"], columns=["user_id", "item_id", "rating"]).groupby("user_id"):
            found.add(ItemList(rows["item_id"].tolist(), rating=rows["rating"].astype(float).tolist()), user_id=user)
        return found

    def measured(metric: Any, recs: ItemListCollection, test: ItemListCollection) -> float:
        run = m.RunAnalysis(metric).measure(recs, test)
        found = run.list_summary()["mean"] if isinstance(metric, m.ListMetric) else run.global_metrics()
        return float(found.iloc[0])

    def accuracy(metric: type, *, cut: bool = True, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            made = metric(data["k"], **options) if cut else metric(**options)
            return measured(made, collection(data["recs"]), truth(data))

        return of

    def beyond(metric: type, reads: str) -> Metric:
        def of(data: DataSet) -> float:
            train = pd.DataFrame(data["train"], columns=["user_id", "item_id"])
            given = {
                "catalogue": len(data["catalogue"]),
                "train": train["item_id"].nunique(),
                "data": from_interactions_df(train),
            }[reads]
            made = metric(given, n=data["k"]) if reads == "data" else metric(data["k"], items=given)
            recs = collection(data["lists"])
            return measured(made, recs, recs)

        return of

    log2 = ranking.LogRankWeight(offset=1)
    return {
        "ndcg": accuracy(m.NDCG),
        "ndcg_gain_rating": accuracy(m.NDCG, gain="rating"),
        "ndcg_offset1": accuracy(m.NDCG, weight=log2),
        "ndcg_offset1_rating": accuracy(m.NDCG, weight=log2, gain="rating"),
        "dcg": accuracy(m.DCG),
        "precision": accuracy(m.Precision),
        "recall": accuracy(m.Recall),
        "recall_nocut": accuracy(m.Recall, cut=False),
        "hit": accuracy(m.Hit),
        "rr": accuracy(m.RecipRank),
        "ap": accuracy(ranking.AveragePrecision),
        "rbp": accuracy(m.RBP, patience=0.8),
        "rbp_normalized": accuracy(m.RBP, patience=0.8, normalize=True),
        "mean_pop_rank": beyond(m.MeanPopRank, "data"),
        "exposure_gini[catalogue]": beyond(m.ExposureGini, "catalogue"),
        "gini[catalogue]": beyond(m.ListGini, "catalogue"),
        "gini[train]": beyond(m.ListGini, "train"),
    }


if __name__ == "__main__":
    answer(metrics(), "lenskit")
