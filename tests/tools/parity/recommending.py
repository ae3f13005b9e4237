"""Libraries of recommendation, each asked for its variants in presets.csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.tools.parity.common import Metric, candidates, lists, qrels
from tests.tools.parity.data import DataSet


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
    )
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    columns = {"user_id": "user", "item_id": "item", "target": "target", "prediction": "prediction"}

    def result(metric: Any, frame: Any, kind: str, **more: Any) -> Any:
        report = Report(metrics=[metric])
        mapping = ColumnMapping(**columns, recommendations_type=kind)
        report.run(reference_data=None, current_data=frame, column_mapping=mapping, **more)
        return metric.get_result()

    def accuracy(metric: type, full: bool, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            rows = [
                (user, item, grade, score)
                for user, some in candidates(data, full=full).items()
                for item, score, grade in some
            ]
            frame = pd.DataFrame(rows, columns=["user", "item", "target", "prediction"])
            found = result(metric(k=data["k"], **options), frame, "score").current
            return float(found[data["k"] - (found.index.min() == 0)])

        return of

    def beyond(name: str, metric: type, featured: bool = False, **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            frame = pd.DataFrame(data["lists"], columns=["user", "item", "prediction"]).assign(target=1)
            train = pd.DataFrame(data["train"], columns=["user", "item"]).assign(target=1, prediction=1)
            if featured:
                names = [f"f{n}" for n in range(5)]
                vectors = pd.DataFrame.from_dict(data["features"], orient="index", columns=names)
                frame, train = (one.join(vectors, on="item") for one in (frame, train))
                options["item_features"] = names
            more = {"additional_data": {"current_train_data": train}}
            return float(getattr(result(metric(k=data["k"], **options), frame, "rank", **more), name))

        return of

    asked = {
        "precision": (precision_top_k.PrecisionTopKMetric, {}),
        "recall": (recall_top_k.RecallTopKMetric, {}),
        "ap": (map_k.MAPKMetric, {}),
        "rr": (mrr.MRRKMetric, {}),
        "hit": (hit_rate_k.HitRateKMetric, {}),
        "ndcg": (ndcg_k.NDCGKMetric, {}),
        "precision_nofeedback": (precision_top_k.PrecisionTopKMetric, {"no_feedback_users": True}),
        "ndcg_nofeedback": (ndcg_k.NDCGKMetric, {"no_feedback_users": True}),
    }
    bias = popularity_bias.PopularityBias
    return {
        **{
            name + suffix: accuracy(metric, full, **options)
            for suffix, full in {"[list]": False, "[full]": True}.items()
            for name, (metric, options) in asked.items()
        },
        "coverage[train]": beyond("current_coverage", bias),
        "novelty": beyond("current_value", novelty.NoveltyMetric),
        "popularity": beyond("current_apr", bias),
        "popularity_normalized": beyond("current_apr", bias, normalize_arp=True),
        "diversity": beyond("current_value", diversity.DiversityMetric, featured=True),
        "personalization": beyond("current_value", personalisation.PersonalizationMetric),
        "gini": beyond("current_gini", bias),
    }


def lenskit() -> dict[str, Metric]:
    """RunAnalysis of lists in the order of their rows, and the mean of what it lists."""
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
        "mean_pop_rank": beyond(m.MeanPopRank, "data"),
        "exposure_gini[catalogue]": beyond(m.ExposureGini, "catalogue"),
        "gini[catalogue]": beyond(m.ListGini, "catalogue"),
        "gini[train]": beyond(m.ListGini, "train"),
    }


def recbole() -> dict[str, Metric]:
    """Its metrics of a matrix of hits, filled up to k with misses; order and users are this script's doing."""
    import numpy as np
    import torch
    from recbole.evaluator import metrics as m

    np.float = float  # type: ignore[attr-defined]  # recbole 1.2.1 is written for a numpy that has it

    def value(metric: type, k: int, given: dict[str, Any]) -> float:
        made = metric({"topk": [k], "metric_decimal_place": 16, "tail_ratio": 0.1})
        return float(next(iter(made.calculate_metric(given).values())))

    def accuracy(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            recs, truth, k = lists(data), qrels(data), data["k"]
            rows = []
            for user, grades in truth.items():
                hits = [int(item in grades) for item in recs.get(user, [])[:k]]
                rows.append([*hits, *[0] * (k - len(hits)), len(grades)])
            return value(metric, k, {"rec.topk": torch.tensor(rows)})

        return of

    def beyond(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            number = {item: n for n, item in enumerate(sorted(data["catalogue"]), 1)}
            shown = [[number[item] for item in one] for one in lists({"recs": data["lists"]}, by_row=True).values()]
            k = min(data["k"], *map(len, shown))
            given = {
                "rec.items": torch.tensor([one[:k] for one in shown]),
                "data.num_items": len(number) + 1,
                "data.count_items": Counter(number[item] for _, item in data["train"]),
            }
            if k < data["k"]:
                raise ValueError("recbole has lists of k items only")
            return value(metric, k, given)

        return of

    return {
        "hit": accuracy(m.Hit),
        "rr": accuracy(m.MRR),
        "recall": accuracy(m.Recall),
        "precision": accuracy(m.Precision),
        "ap": accuracy(m.MAP),
        "ndcg": accuracy(m.NDCG),
        "coverage": beyond(m.ItemCoverage),
        "popularity": beyond(m.AveragePopularity),
        "tail_percentage": beyond(m.TailPercentage),
        "gini": beyond(m.GiniIndex),
    }


def recmetrics() -> dict[str, Metric]:
    """Lists of the users of the truth, who has none an empty one."""
    import recmetrics as r

    def both(data: DataSet) -> tuple[list[list[str]], list[list[str]]]:
        truth, recs = lists({"recs": data["truth"]}, by_row=True), lists(data, by_row=True)
        return list(truth.values()), [recs.get(user, []) for user in truth]

    def predicted_first(function: Callable[..., Any]) -> Metric:
        return lambda data: function(*reversed(both(data)))

    def shown(data: DataSet, k: int | None = None) -> list[list[str]]:
        return [one[:k] for one in lists({"recs": data["lists"]}, by_row=True).values()]

    def novelty(data: DataSet, k: int | None = None) -> float:
        counts = dict(Counter(item for _, item in data["train"]))
        return r.novelty(shown(data, k), counts, len({user for user, _ in data["train"]}), data["k"])[0]

    return {
        "mark": lambda data: r.mark(*both(data), k=data["k"]),
        "precision": predicted_first(r.recommender_precision),
        "recall": predicted_first(r.recommender_recall),
        "novelty": novelty,
        "novelty[cut]": lambda data: novelty(data, data["k"]),
        "personalization": lambda data: r.personalization(shown(data)),
    }


def recommenders() -> dict[str, Metric]:
    """The functions of python_evaluation."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as p

    def frame(rows: list[list[Any]], *columns: str) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["userID", "itemID", *columns])

    def accuracy(function: Callable[..., Any], **options: Any) -> Metric:
        def of(data: DataSet) -> float:
            recs = frame([row[:3] for row in data["recs"]], "prediction")
            return function(frame(data["truth"], "rating"), recs, k=data["k"], **options)

        return of

    def beyond(function: Callable[..., Any]) -> Metric:
        return lambda data: function(frame(data["train"]), frame(data["lists"], "rank"))

    def diversity_features(data: DataSet) -> float:
        vectors = [np.array(vector, dtype=float) for vector in data["features"].values()]
        features = pd.DataFrame({"itemID": list(data["features"]), "features": vectors})
        train, lists = frame(data["train"]), frame(data["lists"], "rank")
        return p.diversity(train, lists, item_feature_df=features, item_sim_measure="item_feature_vector")

    return {
        "precision": accuracy(p.precision_at_k),
        "precision_topknone": accuracy(p.precision_at_k, relevancy_method=None),
        "recall": accuracy(p.recall_at_k),
        "ndcg": accuracy(p.ndcg_at_k),
        "ndcg_log2": accuracy(p.ndcg_at_k, discfun_type="log2"),
        "ndcg_raw": accuracy(p.ndcg_at_k, score_type="raw"),
        "ndcg_exp": accuracy(p.ndcg_at_k, score_type="exp"),
        "ap_full": accuracy(p.map),
        "ap": accuracy(p.map_at_k),
        "ap_topknone": accuracy(p.map_at_k, relevancy_method=None),
        "coverage": beyond(p.catalog_coverage),
        "distributional_coverage": beyond(p.distributional_coverage),
        "diversity": beyond(p.diversity),
        "diversity_features": diversity_features,
    }


def rectools() -> dict[str, Metric]:
    """The calc method of each metric."""
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


def replay() -> dict[str, Metric]:
    """Each metric on a pandas frame, a Polars frame and a dictionary."""
    import pandas as pd
    import polars as pl
    from replay import metrics as m

    names = {"query_column": "query_id", "item_column": "item_id", "rating_column": "rating"}

    def table(rows: list[list[Any]], kind: str) -> Any:
        columns = ["query_id", "item_id", "rating"][: len(rows[0])]
        if kind == "polars":
            return pl.DataFrame(rows, schema=columns, orient="row")
        return pd.DataFrame(rows, columns=columns)

    def accuracy(metric: type, kind: str) -> Metric:
        def of(data: DataSet) -> float:
            recs: Any = [row[:3] for row in data["recs"]]
            truth: Any = data["truth"]
            if kind == "dict":
                lists: dict[str, list[Any]] = {}
                relevant: dict[str, list[Any]] = {}
                for user, item, score in recs:
                    lists.setdefault(user, []).append((item, score))
                for user, item, _ in truth:
                    relevant.setdefault(user, []).append(item)
                values = metric(data["k"])(lists, relevant)
            else:
                values = metric(data["k"], **names)(table(recs, kind), table(truth, kind))
            return next(iter(values.values()))

        return of

    def beyond(metric: type) -> Metric:
        def of(data: DataSet) -> float:
            lists = [[user, item, -float(rank)] for user, item, rank in data["lists"]]
            values = metric(data["k"], **names)(table(lists, "pandas"), table(data["train"], "pandas"))
            return next(iter(values.values()))

        return of

    asked = {
        "ndcg": m.NDCG,
        "precision": m.Precision,
        "recall": m.Recall,
        "hit": m.HitRate,
        "rr": m.MRR,
        "ap": m.MAP,
    }
    found = {
        f"{name}[{kind}]": accuracy(metric, kind)
        for kind in ("pandas", "polars", "dict")
        for name, metric in asked.items()
    }
    return {**found, "coverage[train]": beyond(m.Coverage), "surprisal": beyond(m.Surprisal)}


def rexmex() -> dict[str, Metric]:
    """Lists of the users of the truth, who has none an empty one; its metrics of one list averaged here."""
    from rexmex.metrics import ranking

    def both(data: DataSet) -> tuple[list[list[str]], list[list[str]]]:
        truth, recs = lists({"recs": data["truth"]}, by_row=True), lists(data, by_row=True)
        return list(truth.values()), [recs.get(user, []) for user in truth]

    def whole(function: Callable[..., Any]) -> Metric:
        return lambda data: function(*both(data), k=data["k"])

    def shown(data: DataSet) -> list[list[str]]:
        return list(lists({"recs": data["lists"]}, by_row=True).values())

    return {
        "ap": whole(ranking.mean_average_precision_at_k),
        "mark": whole(ranking.mean_average_recall_at_k),
        "personalization": lambda data: ranking.personalization(shown(data)),
    }


def rs_metrics() -> dict[str, Metric]:
    """Functions of frames, or of dictionaries."""
    import pandas as pd
    import rs_metrics as r

    def frame(rows: list[list[Any]]) -> pd.DataFrame:
        return pd.DataFrame([row[:2] for row in rows], columns=["user_id", "item_id"])

    def accuracy(function: Callable[..., Any]) -> Metric:
        return lambda data: function(frame(data["truth"]), frame(data["recs"]), k=data["k"])

    def of_dictionaries(function: Callable[..., Any]) -> Metric:
        def of(data: DataSet) -> float:
            return function(lists({"recs": data["truth"]}, by_row=True), lists(data, by_row=True), k=data["k"])

        return of

    return {
        "ndcg": accuracy(r.ndcg),
        "ndcg[dict]": of_dictionaries(r.ndcg),
        "hit": accuracy(r.hitrate),
        "recall": accuracy(r.recall),
        "rr": accuracy(r.mrr),
        "ap": accuracy(r.mapr),
        "coverage[catalogue]": lambda data: r.coverage(data["catalogue"], frame(data["lists"]), k=data["k"]),
        "novelty": lambda data: r.surprisal(frame(data["train"]), frame(data["lists"]), k=data["k"]),
        "popularity": lambda data: r.popularity(frame(data["train"]), frame(data["lists"]), k=data["k"]),
    }
