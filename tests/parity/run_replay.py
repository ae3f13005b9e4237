"""replay-rec: each metric on a pandas frame, a Polars frame and a dictionary."""

from __future__ import annotations

from typing import Any

from tests.parity.common import Metric, answer
from tests.parity.data import DataSet


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
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


if __name__ == "__main__":
    answer(metrics(), "replay-rec")
