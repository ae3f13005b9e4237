"""Libraries of recommendation, each asked for its variants in presets.csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.tools.parity.data import (
    DataSet,
    Metric,
    candidates,
    listed,
    lists,
    qrels,
    variants,
)


def shown(data: DataSet, k: int | None = None) -> list[list[str]]:
    """The lists of metrics beyond accuracy, as deep as k."""
    return [one[:k] for one in listed(data["lists"]).values()]


def evidently() -> dict[str, Metric]:
    """Each metric of a report by itself, at k."""
    import pandas as pd
    from evidently.legacy.metrics.recsys import (
        diversity,
        hit_rate_k,
        map_k,
        mrr,
        ndcg_k,
        novelty,
        personalisation,
        popularity_bias,
        precision_top_k,
        recall_top_k,
    )  # fmt: skip
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    def result(metric: Any, frame: Any, kind: str, **more: Any) -> Any:
        mapping = ColumnMapping(
            user_id="user",
            item_id="item",
            target="target",
            prediction="prediction",
            recommendations_type=kind,
        )
        report = Report(metrics=[metric])
        report.run(
            reference_data=None, current_data=frame, column_mapping=mapping, **more
        )
        return metric.get_result()

    def accuracy(data: DataSet, metric: type, full: bool, **options: Any) -> Any:
        lists = candidates(data, full=full)
        rows = [
            (user, item, grade, score)
            for user, own in lists.items()
            for item, score, grade in own
        ]
        frame = pd.DataFrame(rows, columns=["user", "item", "target", "prediction"])
        found = result(metric(k=data["k"], **options), frame, "score").current
        return found[data["k"] - (found.index.min() == 0)]

    def beyond(
        data: DataSet, metric: type, name: str = "current_value", **options: Any
    ) -> Any:
        frame = pd.DataFrame(
            data["lists"], columns=["user", "item", "prediction"]
        ).assign(target=1)
        train = pd.DataFrame(data["train"], columns=["user", "item"]).assign(
            target=1, prediction=1
        )
        if names := options.get("item_features"):
            vectors = pd.DataFrame.from_dict(
                data["features"], orient="index", columns=names
            )
            frame, train = (one.join(vectors, on="item") for one in (frame, train))
        more = {"additional_data": {"current_train_data": train}}
        return getattr(
            result(metric(k=data["k"], **options), frame, "rank", **more), name
        )

    metrics = {
        "precision": precision_top_k.PrecisionTopKMetric,
        "recall": recall_top_k.RecallTopKMetric,
        "ap": map_k.MAPKMetric,
        "rr": mrr.MRRKMetric,
        "hit": hit_rate_k.HitRateKMetric,
        "ndcg": ndcg_k.NDCGKMetric,
    }
    of_everyone = {
        "precision_nofeedback": precision_top_k.PrecisionTopKMetric,
        "ndcg_nofeedback": ndcg_k.NDCGKMetric,
    }
    bias, features = popularity_bias.PopularityBias, [f"f{n}" for n in range(5)]
    return {
        **variants(accuracy, metrics, "[list]", full=False),
        **variants(accuracy, metrics, "[full]", full=True),
        **variants(accuracy, of_everyone, "[list]", full=False, no_feedback_users=True),
        **variants(accuracy, of_everyone, "[full]", full=True, no_feedback_users=True),
        **variants(beyond, {"coverage[train]": bias}, name="current_coverage"),
        **variants(beyond, {"popularity": bias}, name="current_apr"),
        **variants(
            beyond,
            {"popularity_normalized": bias},
            name="current_apr",
            normalize_arp=True,
        ),
        **variants(beyond, {"gini": bias}, name="current_gini"),
        **variants(beyond, {"novelty": novelty.NoveltyMetric}),
        **variants(
            beyond, {"diversity": diversity.DiversityMetric}, item_features=features
        ),
        **variants(beyond, {"personalization": personalisation.PersonalizationMetric}),
    }


def lenskit() -> dict[str, Metric]:
    """RunAnalysis of lists in the order of their rows, and the mean of what it lists."""
    import pandas as pd
    from lenskit import metrics as m
    from lenskit.data import ItemList, ItemListCollection, from_interactions_df
    from lenskit.metrics import ranking

    def collection(rows: list[list[Any]]) -> ItemListCollection:
        found = ItemListCollection(["user_id"])
        for user, items in listed(rows).items():
            found.add(ItemList(items, ordered=True), user_id=user)
        return found

    def measured(
        metric: Any, recs: ItemListCollection, test: ItemListCollection
    ) -> Any:
        run = m.RunAnalysis(metric).measure(recs, test)
        return (
            run.list_summary()["mean"]
            if isinstance(metric, m.ListMetric)
            else run.global_metrics()
        ).iloc[0]

    def accuracy(data: DataSet, make: Callable[[int], Any]) -> Any:
        test = ItemListCollection(["user_id"])
        for user, rows in pd.DataFrame(
            data["truth"], columns=["user_id", "item_id", "rating"]
        ).groupby("user_id"):
            test.add(
                ItemList(
                    rows["item_id"].tolist(),
                    rating=rows["rating"].astype(float).tolist(),
                ),
                user_id=user,
            )
        return measured(make(data["k"]), collection(data["recs"]), test)

    def beyond(data: DataSet, make: Callable[[int, Any, int, int], Any]) -> Any:
        train = pd.DataFrame(data["train"], columns=["user_id", "item_id"])
        recs, n_items = collection(data["lists"]), len(data["catalogue"])
        return measured(
            make(
                data["k"],
                from_interactions_df(train),
                train["item_id"].nunique(),
                n_items,
            ),
            recs,
            recs,
        )

    log2 = ranking.LogRankWeight(offset=1)
    of_accuracy: dict[str, Callable[[int], Any]] = {
        "ndcg": m.NDCG,
        "ndcg_gain_rating": lambda k: m.NDCG(k, gain="rating"),
        "ndcg_offset1": lambda k: m.NDCG(k, weight=log2),
        "ndcg_offset1_rating": lambda k: m.NDCG(k, weight=log2, gain="rating"),
        "dcg": m.DCG,
        "precision": m.Precision,
        "recall": m.Recall,
        "recall_nocut": lambda k: m.Recall(),
        "hit": m.Hit,
        "rr": m.RecipRank,
        "ap": ranking.AveragePrecision,
        "rbp": lambda k: m.RBP(k, patience=0.8),
    }
    of_lists: dict[str, Callable[[int, Any, int, int], Any]] = {
        "mean_pop_rank": lambda k, train, known, all_items: m.MeanPopRank(train, n=k),
        "exposure_gini[catalogue]": lambda k, train, known, all_items: m.ExposureGini(
            k, items=all_items
        ),
        "gini[catalogue]": lambda k, train, known, all_items: m.ListGini(
            k, items=all_items
        ),
        "gini[train]": lambda k, train, known, all_items: m.ListGini(k, items=known),
    }
    return {**variants(accuracy, of_accuracy), **variants(beyond, of_lists)}


def recbole() -> dict[str, Metric]:
    """Its metrics of a matrix of hits, filled up to k with misses; order and users are
    this script's doing.
    """
    import numpy as np
    import torch
    from recbole.evaluator import metrics as m

    np.float = float  # recbole 1.2.1 is written for a numpy that has it

    def value(metric: type, k: int, given: dict[str, Any]) -> Any:
        made = metric({"topk": [k], "metric_decimal_place": 16, "tail_ratio": 0.1})
        return next(iter(made.calculate_metric(given).values()))

    def accuracy(data: DataSet, metric: type) -> Any:
        recs, k, rows = lists(data), data["k"], []
        for user, grades in qrels(data).items():
            hits = [int(item in grades) for item in recs.get(user, [])[:k]]
            rows.append([*hits, *[0] * (k - len(hits)), len(grades)])
        return value(metric, k, {"rec.topk": torch.tensor(rows)})

    def beyond(data: DataSet, metric: type) -> Any:
        number = {item: n for n, item in enumerate(sorted(data["catalogue"]), 1)}
        numbers = [[number[item] for item in one] for one in shown(data, data["k"])]
        if min(map(len, numbers)) < data["k"]:
            raise ValueError("recbole has lists of k items only")
        given = {
            "rec.items": torch.tensor(numbers),
            "data.num_items": len(number) + 1,
            "data.count_items": Counter(number[item] for _, item in data["train"]),
        }
        return value(metric, data["k"], given)

    of_accuracy = {
        "hit": m.Hit,
        "rr": m.MRR,
        "recall": m.Recall,
        "precision": m.Precision,
        "ap": m.MAP,
        "ndcg": m.NDCG,
    }
    of_lists = {
        "coverage": m.ItemCoverage,
        "popularity": m.AveragePopularity,
        "tail_percentage": m.TailPercentage,
        "gini": m.GiniIndex,
    }
    return {**variants(accuracy, of_accuracy), **variants(beyond, of_lists)}


def recommenders() -> dict[str, Metric]:
    """The functions of python_evaluation."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as p

    def frame(rows: list[list[Any]], *columns: str) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["userID", "itemID", *columns])

    def accuracy(data: DataSet, function: Callable[..., Any], **options: Any) -> Any:
        recs = frame([row[:3] for row in data["recs"]], "prediction")
        return function(frame(data["truth"], "rating"), recs, k=data["k"], **options)

    def beyond(data: DataSet, function: Callable[..., Any]) -> Any:
        return function(frame(data["train"]), frame(data["lists"], "rank"))

    def diversity_features(data: DataSet) -> Any:
        train, lists = frame(data["train"]), frame(data["lists"], "rank")
        vectors = [
            np.array(vector, dtype=float) for vector in data["features"].values()
        ]
        features = pd.DataFrame({"itemID": list(data["features"]), "features": vectors})
        return p.diversity(
            train,
            lists,
            item_feature_df=features,
            item_sim_measure="item_feature_vector",
        )

    of_accuracy = {
        "precision": p.precision_at_k,
        "recall": p.recall_at_k,
        "ndcg": p.ndcg_at_k,
        "ap_full": p.map,
        "ap": p.map_at_k,
    }
    of_lists = {
        "coverage": p.catalog_coverage,
        "distributional_coverage": p.distributional_coverage,
        "diversity": p.diversity,
    }
    return {
        **variants(accuracy, of_accuracy),
        **variants(
            accuracy,
            {"precision_topknone": p.precision_at_k, "ap_topknone": p.map_at_k},
            relevancy_method=None,
        ),
        **variants(accuracy, {"ndcg_log2": p.ndcg_at_k}, discfun_type="log2"),
        **variants(accuracy, {"ndcg_raw": p.ndcg_at_k}, score_type="raw"),
        **variants(accuracy, {"ndcg_exp": p.ndcg_at_k}, score_type="exp"),
        **variants(beyond, of_lists),
        "diversity_features": diversity_features,
    }


def rectools() -> dict[str, Metric]:
    """The calc method of each metric."""
    import pandas as pd
    from rectools import metrics as m

    def frame(rows: list[list[Any]], *columns: str) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["user_id", "item_id", *columns])

    def accuracy(data: DataSet, metric: type, **options: Any) -> Any:
        made = metric(k=data["k"], **options)
        return made.calc(
            frame(data["recs"], "score", "rank"), frame(data["truth"], "weight")
        )

    def beyond(data: DataSet, metric: type, **options: Any) -> Any:
        return metric(k=data["k"], **options).calc(
            frame(data["lists"], "rank"), frame(data["train"])
        )

    def coverage(data: DataSet, items: str, **options: Any) -> Any:
        found = (
            data["catalogue"]
            if items == "catalogue"
            else [item for _, item in data["train"]]
        )
        return m.CatalogCoverage(k=data["k"], **options).calc(
            frame(data["lists"], "rank"), set(found)
        )

    def diversity(data: DataSet) -> Any:
        vectors = pd.DataFrame.from_dict(data["features"], orient="index")
        distance = m.PairwiseHammingDistanceCalculator(vectors)
        return m.IntraListDiversity(k=data["k"], distance_calculator=distance).calc(
            frame(data["lists"], "rank")
        )

    metrics = {
        "precision": m.Precision,
        "recall": m.Recall,
        "f1": m.F1Beta,
        "hit": m.HitRate,
        "ap": m.MAP,
        "ndcg": m.NDCG,
        "rr": m.MRR,
    }
    return {
        **variants(accuracy, metrics),
        **variants(accuracy, {"precision_r": m.Precision}, r_precision=True),
        **variants(accuracy, {"ap_divide_by_k": m.MAP}, divide_by_k=True),
        **variants(accuracy, {"ndcg_achievable": m.NDCG}, divide_by_achievable=True),
        **variants(
            coverage,
            {"coverage[train]": "train", "coverage[catalogue]": "catalogue"},
            normalize=True,
        ),
        **variants(coverage, {"coverage_count": "catalogue"}, normalize=False),
        **variants(
            beyond, {"novelty": m.MeanInvUserFreq, "popularity": m.AvgRecPopularity}
        ),
        **variants(
            beyond, {"popularity_normalized": m.AvgRecPopularity}, normalize=True
        ),
        "ild_hamming": diversity,
    }


def replay_rec() -> dict[str, Metric]:
    """Each metric on a pandas frame, a Polars frame and a dictionary."""
    import pandas as pd
    import polars as pl
    from replay import metrics as m

    names = {
        "query_column": "query_id",
        "item_column": "item_id",
        "rating_column": "rating",
    }

    def table(rows: list[list[Any]], kind: str = "pandas") -> Any:
        columns = list(names.values())[: len(rows[0])]
        if kind == "polars":
            return pl.DataFrame(rows, schema=columns, orient="row")
        return pd.DataFrame(rows, columns=columns)

    def accuracy(data: DataSet, metric: type, kind: str) -> Any:
        recs = [row[:3] for row in data["recs"]]
        if kind != "dict":
            return first(
                metric(data["k"], **names)(
                    table(recs, kind), table(data["truth"], kind)
                )
            )
        scored = listed((user, (item, score)) for user, item, score in recs)
        return first(metric(data["k"])(scored, listed(data["truth"])))

    def beyond(data: DataSet, metric: type) -> Any:
        recs = table([[user, item, -float(rank)] for user, item, rank in data["lists"]])
        return first(metric(data["k"], **names)(recs, table(data["train"])))

    def first(values: dict[str, Any]) -> Any:
        return next(iter(values.values()))

    metrics = {
        "ndcg": m.NDCG,
        "precision": m.Precision,
        "recall": m.Recall,
        "hit": m.HitRate,
        "rr": m.MRR,
        "ap": m.MAP,
    }
    return {
        **variants(accuracy, metrics, "[pandas]", kind="pandas"),
        **variants(accuracy, metrics, "[polars]", kind="polars"),
        **variants(accuracy, metrics, "[dict]", kind="dict"),
        **variants(beyond, {"coverage[train]": m.Coverage, "surprisal": m.Surprisal}),
    }


def rs_metrics() -> dict[str, Metric]:
    """Functions of frames, or of dictionaries."""
    import pandas as pd
    import rs_metrics as r

    def frame(rows: list[list[Any]]) -> pd.DataFrame:
        return pd.DataFrame([row[:2] for row in rows], columns=["user_id", "item_id"])

    def accuracy(data: DataSet, function: Callable[..., Any]) -> Any:
        return function(frame(data["truth"]), frame(data["recs"]), k=data["k"])

    return {
        **variants(
            accuracy,
            {
                "ndcg": r.ndcg,
                "hit": r.hitrate,
                "recall": r.recall,
                "rr": r.mrr,
                "ap": r.mapr,
            },
        ),
        "ndcg[dict]": lambda data: r.ndcg(
            listed(data["truth"]), lists(data, by_row=True), k=data["k"]
        ),
        "coverage[catalogue]": lambda data: r.coverage(
            data["catalogue"], frame(data["lists"]), k=data["k"]
        ),
        "novelty": lambda data: r.surprisal(
            frame(data["train"]), frame(data["lists"]), k=data["k"]
        ),
        "popularity": lambda data: r.popularity(
            frame(data["train"]), frame(data["lists"]), k=data["k"]
        ),
    }
