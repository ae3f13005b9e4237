"""The most usual job: each night several models write lists for all users as Parquet,
text ids, and those who bought something since are the truth.

The numbers are nDCG and recall of each model. Beside recnb stand the shortest queries of
DuckDB and Polars for the same numbers, which check nothing.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import recnb

METRICS = ["ndcg", "recall"]
#: nDCG and recall of each model, in the order of the models.
Numbers = list[tuple[float, float]]


@dataclass(frozen=True)
class Night:
    """How much data is made."""

    models: int
    users: int
    buyers: int  #: of the users
    list_length: int
    bought: int  #: per buyer


USUAL = Night(models=3, users=200_000, buyers=30_000, list_length=20, bought=5)


def make(night: Night, *, shuffled: bool = False) -> tuple[list[Any], pl.DataFrame]:
    """Make the lists of each model, and the truth: of what a buyer bought about a fifth
    is listed.
    """
    rng = np.random.default_rng(0)
    lists = [
        _lists_of_model(night, rng, shuffled=shuffled) for _ in range(night.models)
    ]
    buyers = rng.choice(night.users, night.buyers, replace=False)
    at_start = rng.integers(0, 50_000, night.users)
    hit = rng.random((night.buyers, night.bought)) < 0.2
    place = rng.permuted(
        np.tile(np.arange(night.list_length), (night.buyers, 1)), axis=1
    )
    listed = at_start[buyers][:, np.newaxis] + 7 * place[:, : night.bought]
    other = 1_000_000 + listed
    truth = pl.DataFrame(
        {
            "user": np.repeat(buyers, night.bought),
            "item": np.where(hit, listed, other).ravel(),
            "relevance": rng.integers(1, 6, hit.size).astype(float),
        }
    )
    # Each model starts a user's list somewhere near.
    lists = [
        _as_text(
            frame.with_columns(item=pl.Series(at_start)[frame["user"]] + pl.col("item"))
        )
        for frame in lists
    ]
    return lists, _as_text(truth.sample(fraction=1, shuffle=True, seed=1))


def _lists_of_model(
    night: Night, rng: np.random.Generator, *, shuffled: bool
) -> pl.DataFrame:
    """Return a list of each user; an item is a step from the first of the user."""
    start = 7 * rng.integers(-3, 4, night.users)
    steps = start[:, np.newaxis] + 7 * np.arange(night.list_length)
    frame = pl.DataFrame(
        {
            "user": np.repeat(rng.permutation(night.users), night.list_length),
            "item": steps.ravel(),
            "rank": np.tile(np.arange(1, night.list_length + 1), night.users),
        }
    )
    if shuffled:
        return frame.sample(fraction=1, shuffle=True, seed=2)
    return frame


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        pl.format("user-{}", "user").alias("user"),
        pl.format("item-{}", "item").alias("item"),
    )


def write(
    folder: pathlib.Path, lists: Sequence[pl.DataFrame], truth: pl.DataFrame
) -> tuple[list[str], str]:
    """Write Parquet files, and return their paths."""
    paths = [str(folder / f"model-{number}.parquet") for number in range(len(lists))]
    for path, frame in zip(paths, lists, strict=True):
        frame.write_parquet(path)
    of_truth = str(folder / "truth.parquet")
    truth.write_parquet(of_truth)
    return paths, of_truth


# ---- what is timed

QUERY = """
with ideal as (
    select user, count(*) as n,
        sum(relevance / log2(place + 1)) filter (place <= {k}) as idcg
    from (
        select *, row_number() over (partition by user order by relevance desc) as place
        from '{truth}'
    ) group by user
), {hits}
select {columns} from ideal {joins}
"""
HITS = """hits{number} as (
    select user, count(*) as n, sum(relevance / log2(rank + 1)) as dcg
    from '{recs}' join '{truth}' using (user, item) where rank <= {k} group by user
)"""
COLUMNS = (
    "avg(coalesce(hits{number}.dcg, 0) / idcg), "
    "avg(coalesce(hits{number}.n, 0) / ideal.n)"
)
JOIN = "left join hits{number} on ideal.user = hits{number}.user"


def of_duckdb(recs: Sequence[str], truth: str, k: int) -> Numbers:
    """Return the numbers by one query on the files."""
    import duckdb

    numbers = range(len(recs))
    hits = [
        HITS.format(number=number, recs=path, truth=truth, k=k)
        for number, path in enumerate(recs)
    ]
    query = QUERY.format(
        truth=truth,
        k=k,
        hits=", ".join(hits),
        columns=", ".join(COLUMNS.format(number=number) for number in numbers),
        joins=" ".join(JOIN.format(number=number) for number in numbers),
    )
    row = duckdb.sql(query).fetchall()[0]
    return list(zip(row[::2], row[1::2], strict=True))


def of_polars(recs: Sequence[pl.LazyFrame], truth: pl.LazyFrame, k: int) -> Numbers:
    """Return the numbers by lazy queries, collected together by the streaming engine."""
    gain = pl.col("relevance") / (pl.col("rank") + 1).log(2)
    place = pl.col("relevance").rank("ordinal", descending=True).over("user")
    ideal = (
        truth.with_columns(rank=place)
        .group_by("user")
        .agg(n=pl.len(), idcg=gain.filter(pl.col("rank") <= k).sum())
    )
    means = []
    for lists in recs:
        hits = lists.filter(pl.col("rank") <= k).join(truth, on=["user", "item"])
        earned = hits.group_by("user").agg(hits=pl.len(), dcg=gain.sum())
        both = ideal.join(earned, on="user", how="left").fill_null(0)
        ndcg = (pl.col("dcg") / pl.col("idcg")).mean()
        recall = (pl.col("hits") / pl.col("n")).mean()
        means.append(both.select(ndcg=ndcg, recall=recall))
    rows = pl.collect_all(means, engine="streaming")
    return [table.row(0) for table in rows]


def of_recnb(recs: Sequence[Any], truth: Any, k: int) -> Numbers:
    """Return the numbers by an evaluation of each model."""
    tables = [recnb.evaluate(lists, truth).table(METRICS, k=k) for lists in recs]
    return [tuple(table.loc[METRICS, k].tolist()) for table in tables]


def of_compare(recs: Sequence[Any], truth: Any, k: int) -> Numbers:
    """Return the numbers by one comparison, with its tests."""
    models = {str(number): lists for number, lists in enumerate(recs)}
    table = recnb.compare(models, truth).table(METRICS, k=k).to_frame()
    return [tuple(row) for row in table.to_numpy(float)[:, : len(METRICS)].tolist()]
