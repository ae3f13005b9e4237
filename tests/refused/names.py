"""Frames and evaluations by name, which the calls of the rows use."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import recnb
from tests.rows import read_rows
from tests.sample import SAMPLE

__all__ = ["decimal", "math", "np", "pd", "pl", "recnb", "sparse"]

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
SCORED = RECS.drop(columns="rank").assign(score=[0.9, 0.5, 0.7])
TRUTH = pd.DataFrame({"user": [1, 2], "item": [11, 10], "relevance": [1.0, 2.0]})
BOTH = TRUTH.merge(RECS, how="outer", on=["user", "item"])
LISTS = pd.DataFrame(
    {
        "user": ["a", "b"],
        "recommended": [["x", "y"], ["y"]],
        "relevant": [["x"], ["y", "z"]],
    }
)
RANKED = {"ann": ["a", "b", "c"], "cy": ["x", "a", "b"]}
LIKED = {"cy": {"b": 1, "q": 2}, "ann": {"a": 2, "c": 1}}
PAIRS = pd.DataFrame({"user": ["ann"] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]})
TEXT = RECS.astype({"item": str}), TRUTH.astype({"item": str})
DAYS = pd.DataFrame(
    {
        "user": ["u", "v"] * 2,
        "item": list("abba"),
        "rank": 1,
        "day": ["mon"] * 2 + ["tue"] * 2,
    }
)
JUDGED = DAYS.drop(columns="rank")
LOG = read_rows("data/log.toml")["rows"]
MOVIES = pd.DataFrame({"movieId": ["10", "11"]})
MEMBERS = pd.DataFrame({"member_id": [1, 2]})

EV = recnb.evaluate(RECS, TRUTH)
ONE = pd.merge(RECS, TRUTH, how="outer").fillna(0)
KNN, TEST = SAMPLE.models["item-knn"], SAMPLE.test
SHOP = KNN.rec.against(TEST, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
BARE = KNN.rec.against(TEST)
FOUND = recnb.compare(SAMPLE.models, TEST)
MANY = pd.DataFrame({"user": range(1000), "item": 1, "rank": 1})
OF_FIVE = recnb.evaluate(
    {user: ["a"] for user in range(1, 6)}, {user: ["a"] for user in range(1, 6)}
)
OF_MANY = recnb.evaluate(
    MANY, MANY[["user", "item"]].assign(relevance=[0.0] + [1.0] * 999)
)
GRADED = recnb.evaluate(RECS, TRUTH.assign(relevance=[2000.0, 1]))
SHARED = recnb.evaluate(
    {1: ["a"], 2: ["a"], 3: ["b"]},
    {1: {"a": 1}, 2: {"a": 0}, 4: {"a": 1}},
    averaged_users="both",
)
SMALL = recnb.evaluate(
    {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "b"]}, {1: ["a"], 2: ["b"], 3: ["a"]}
)
WEEKS = TEST.assign(week=np.arange(len(TEST)) % 3, at=np.arange(len(TEST)).astype(str))
WEEKLY = KNN.rec.against(WEEKS, users=SAMPLE.users)
TUPLES: Any = ([("a", "b"), ("c", "d")], [("a", "b"), ("x", "y")])
LINEAR = "nDCG(gain='linear')"
FRAME = pd.DataFrame({"user": [1] * 60, "item": range(60), "rank": range(1, 61)})

# Metrics beyond accuracy: c, d and e are in train once, f is new.
BEYOND = pd.DataFrame(
    [
        (u, i, r)
        for u, items in {1: "cde", 2: "bde", 3: "bcf"}.items()
        for r, i in enumerate(items, 1)
    ],
    columns=["user", "item", "rank"],
)
TRAIN = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3, 4, 4, 4], "item": list("abacadabe")})
ITEMS = pd.DataFrame(
    {"item": list("abcdef"), "genres": ["x", "x|y", "y", "y|z", "z", "x|z"]}
)
YEARS = ITEMS[["item"]].assign(year=range(6))


def beyond(**given: Any) -> recnb.Evaluation:
    return recnb.evaluate(
        BEYOND,
        {1: ["c", "e"], 2: ["b"], 3: ["f"]},
        **{"train": TRAIN, "items": ITEMS, **given},
    )


def groups(
    y_true: Any = (1, 0), y_score: Any = (0.5, 0.2), **given: Any
) -> recnb.Evaluation:
    return recnb.evaluate_groups(y_true, y_score, **given)


def scored(scores: Any, item: Any = ("a", "b")) -> pl.DataFrame:
    return pl.DataFrame({"user": "ann", "item": item, "score": scores})


def of_items(what: Any) -> recnb.Evaluation:
    """Evaluate a list of two items that have values in a column."""
    items = pl.DataFrame({"item": ["a", "b"], "what": what}, strict=False)
    return recnb.evaluate({1: ["a", "b"]}, {1: ["a"]}, items=items, train={1: ["a"]})


#: Columns of text and of numbers other than 0 and 1.
ATTRIBUTES = pd.DataFrame(
    {"item": ["b", "c"], "words": ["x", "y"], "one": [1.0, 0.5], "two": [0.5, 3.0]}
)
