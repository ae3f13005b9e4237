"""What a type checker must accept; mypy reads it, and Python runs it (test_typing.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

import recnb
from recnb import (
    CatalogueScore,
    Convention,
    Evaluation,
    Explanation,
    Interval,
    Score,
    Table,
)

recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
truth = pl.DataFrame({"user": [1], "item": ["b"], "rating": [4]})

# What callers hold.
ev: Evaluation = recnb.evaluate(
    recs, truth, user="user", averaged_users="both", relevant_from=4
)
held: Evaluation = recnb.evaluate(recs.assign(relevance=1))
held = recnb.evaluate({1: {"a": 0.5}}, {1: {"a", "b"}}, train={1: ["c"]})
held = recnb.evaluate(pd.Series({1: ["a"]}), truth)
held = recnb.evaluate_groups(
    pd.Series([1, 0]), [0.1, 0.2], qid=["q", "q"], ties="expected"
)
compared: recnb.Comparison = recnb.compare({"a": {1: ["a"]}, "b": {1: ["b"]}}, truth)


def of_files() -> Evaluation:
    """Paths, as text or as they are."""
    recnb.compare({"a": "a.csv", "b": Path("b.csv")}, "truth.csv")
    return recnb.evaluate(Path("recs.csv"), "truth.parquet")


class Popular:
    """A model as scientists write them."""

    def predict(self, user: int) -> list[float]:
        return [0.5, 0.25]


table: Table = recnb.evaluate_model(
    Popular(), sp.csr_matrix([[0, 1], [0, 0]]), train=None, k=[1, 2]
)

# Metrics as methods: k by position or by name, None, and each metric's own options.
score: Score = ev.ndcg(k=10)
score = ev.ndcg(10, gain="exponential", discount="rank", log_base=10, ideal="k")
score = ev.precision(k=None, out_of="list")
score = ev.recall(k=5, out_of="min(k, relevant)")
score = ev.mrr(k=5, target="first")
score = ev.map(k=5, out_of="hits")
score = ev.err(k=5, max_relevance=4)
either: Score | CatalogueScore = ev.measure("nDCG(dcg='exp-log2')@10")

# A score is a float and carries what is behind it.
number: float = score
per_user: pd.Series[float] = score.per_user
interval: Interval = score.interval(confidence=0.9)
low, high = interval
width: float = high - low + interval.high - interval.low
cut: int | None = score.k
convention: Convention = score.convention

# Tables, curves, explanations.
table = ev.table(["ndcg", "recall"], k=[5, 10, None], gain="linear")
table = ev.measures(["nDCG@10", "AP(rel=2)"], confidence=0.9)
cells: pd.DataFrame = ev.table(k=range(1, 5)).round(3)
curve: Table = ev.curve("ndcg", k=range(1, 51))
explanation: Explanation = ev.explain("ndcg", 1, k=10)
rows: pd.DataFrame = explanation.to_frame()
users: pd.Index[Any] = ev.users

# One list.
score = recnb.ndcg(["a", "b", "c"], {"a": 0.1, "b": 0.5}, k=3, gain="binary")
score = recnb.precision(("a", "b"), {"a", "c"}, 2)
score = recnb.dcg(np.array([3, 2, 0]))
score = recnb.ndcg(y_true=[3, 0, 2], y_score=np.array([0.2, 0.9, 0.5]), k=2)
score = recnb.mrr([["a", "b"], ["b"]], [{"a": 1}, {"b": 1}])
explanation = recnb.explain("ndcg", ["a"], ["a"], k=1)
