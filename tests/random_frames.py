"""Random frames of many users, and the metrics and conventions that tests of rows in parts
evaluate them by.
"""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

from recnb.data import file_parts, tables

METRICS = {
    "ndcg": {"gain": "exponential"},
    "err": {},
    "average_precision": {},
    "reciprocal_rank": {"target": "preferred"},
    "f1": {},
}
K = [1, 3, None]


def random_frames(rng, n_users=40, text=False, n_items=12):
    """Users in one frame only, all but the first, ties, grades from 0, rows of all users
    mixed in the truth and together in the lists.
    """
    lists, truths = [], []
    for user in range(n_users):
        if rng.random() < 0.85 or user == 0:
            items = rng.permutation(n_items)[: rng.integers(1, 10)]
            lists.append(
                (np.full(len(items), user), items, rng.integers(0, 4, len(items)) / 2)
            )
        if rng.random() < 0.85 or user == 0:
            items = rng.permutation(n_items)[: rng.integers(1, 8)]
            truths.append(
                (np.full(len(items), user), items, rng.integers(0, 6, len(items)))
            )
    recs, truth = (
        pd.DataFrame(
            dict(zip(names, map(np.concatenate, zip(*parts, strict=True)), strict=True))
        )
        for names, parts in (
            (["user", "item", "score"], lists),
            (["user", "item", "relevance"], truths),
        )
    )
    # Labels of rows that repeat, which nothing may depend on.
    truth.index = np.concatenate([np.arange(len(items)) for _, items, _ in truths])
    truth = truth.sample(frac=1, random_state=int(rng.integers(1e6)))
    if text:
        recs, truth = (
            one.assign(user="u" + one.user.astype(str), item="i" + one.item.astype(str))
            for one in (recs, truth)
        )
    return recs, truth


CONVENTIONS = [
    {},
    {"ties": "last"},
    {"ties": "item_desc", "duplicates": "dedupe"},
    {"ties": "max_rank", "averaged_users": "union", "no_relevant": "zero"},
    {"ties": "worst"},
    {"averaged_users": "union", "no_relevant": "one"},
    {"relevant_from": 3},
    {"relevant": "any", "no_relevant": "skip"},
    {"candidates": "padded"},
    {"cutoff": "none"},
    {"score_dtype": "float32"},
    {"nonpositive_scores": "never_hit"},
    {"order": "row"},
]


def shuffled(frame, seed=0):
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def sized(monkeypatch, held=30):
    """Put a table of more rows than `held` into files."""
    monkeypatch.setattr(tables, "ROWS_IN_MEMORY", held)
    monkeypatch.setattr(file_parts, "N_PARTS", 8)


def in_batches(frame):
    """A dataset whose batches are small, and some of them empty."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return ds.dataset(
        [
            *table[:9].to_batches(),
            *table[:0].to_batches(),
            *table[9:].to_batches(max_chunksize=5),
        ]
        or table
    )


#: Frames that are read in batches.
STREAMED = {
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "dataset": in_batches,
    "duckdb": duckdb.from_df,
}
