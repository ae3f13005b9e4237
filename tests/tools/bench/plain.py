"""What somebody would write who needs six metrics and no package: some thirty lines of
plain Polars, with the checks of ids, numbers and repeats that recnb makes.
"""

from __future__ import annotations

import polars as pl

IDS = ["user", "item"]


def check(frame: pl.DataFrame, number: str, keys: list[list[str]]) -> None:
    """Refuse missing values, numbers that are none, and rows that repeat keys."""
    assert not any(frame[name].null_count() for name in [*IDS, number])
    assert frame[number].is_finite().all()
    for key in keys:
        assert frame.select(pl.struct(key).n_unique()).item() == frame.height


def six(recs: pl.DataFrame, truth: pl.DataFrame, k: int) -> dict[str, float]:
    """Return the six metrics at k, of users with a relevant item."""
    rank, relevance = pl.col("rank"), pl.col("relevance")
    assert recs.schema["user"] == truth.schema["user"]
    assert recs.schema["item"] == truth.schema["item"]
    check(truth, "relevance", [IDS])
    assert truth.select((relevance >= 0).all()).item()
    if "rank" in recs.columns:
        check(recs, "rank", [["user", "rank"]])
        assert recs.select((rank >= 1).all()).item()
    else:
        check(recs, "score", [IDS])
        by_score = pl.col("score").rank("ordinal", descending=True).over("user")
        recs = recs.with_columns(rank=by_score)
    gain = relevance / (rank + 1).log(2)
    place = relevance.rank("ordinal", descending=True).over("user")
    wanted = truth.lazy().filter(relevance > 0).with_columns(place=place)
    best = (relevance / (pl.col("place") + 1).log(2)).filter(pl.col("place") <= k)
    ideal = wanted.group_by("user").agg(n=pl.len(), idcg=best.sum())
    found = recs.lazy().filter(rank <= k).join(wanted, on=IDS).group_by("user")
    nth = pl.int_range(1, pl.len() + 1)
    earned = found.agg(
        dcg=gain.sum(),
        hits=pl.len(),
        first=1 / rank.min(),
        ap=(nth / rank.sort()).sum(),
    )
    users = ideal.join(earned, on="user", how="left").fill_null(0)
    means = users.select(
        ndcg=pl.col("dcg") / pl.col("idcg"),
        precision=pl.col("hits") / k,
        recall=pl.col("hits") / pl.col("n"),
        hit_rate=(pl.col("hits") > 0).cast(float),
        average_precision=pl.col("ap") / pl.col("n"),
        reciprocal_rank=pl.col("first"),
    ).mean()
    return means.collect(engine="streaming").row(0, named=True)
