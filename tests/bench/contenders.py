"""recnb and the hand-written query, as contenders: what each reads, and what it does with it.

Imports stand inside, so that a process which measures one contender holds nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

SIX = ["ndcg", "precision", "recall", "hit_rate", "average_precision", "reciprocal_rank"]
TWELVE = [*SIX, "f1", "cg", "dcg", "idcg", "r_precision", "rbp"]
CUTOFFS = [1, 2, 3, 5, 10, 20]

Values = dict[str, float]
Run = Callable[[], Values]


@dataclass(frozen=True)
class Contender:
    """One way to evaluate."""

    reads: str  #: "polars", "pandas", or "scan" for frames that stay in their files
    ready: Callable[[Any, Any], Run]  #: of both frames, the call that is timed
    distribution: str = "polars"


def polars_ndcg(recs: pl.DataFrame | pl.LazyFrame, truth: pl.DataFrame | pl.LazyFrame, k: int = 10) -> float:
    """NDCG@k in the shortest correct Polars query, on the streaming engine; by rank, or by score where there is no rank."""
    import polars as pl

    gain = pl.col("relevance") / (pl.col("rank") + 1).log(2)
    wanted, listed = truth.lazy(), recs.lazy()
    if "rank" not in listed.collect_schema():
        listed = listed.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("user"))
    earned = listed.filter(pl.col("rank") <= k).join(wanted, on=["user", "item"]).group_by("user").agg(dcg=gain.sum())
    ranked = wanted.with_columns(rank=pl.col("relevance").rank("ordinal", descending=True).over("user")).filter(
        pl.col("rank") <= k
    )
    ideal = ranked.group_by("user").agg(idcg=gain.sum())
    both = ideal.join(earned, on="user", how="left").select((pl.col("dcg").fill_null(0) / pl.col("idcg")).mean())
    return float(both.collect(engine="streaming").item())


def query(recs: Any, truth: Any) -> Run:
    """The query for NDCG@10 alone."""
    return lambda: {"ndcg": polars_ndcg(recs, truth)}


def recnb_of(names: list[str], cutoffs: int | list[int]) -> Callable[[Any, Any], Run]:
    """recnb from the frames to its table, input checks included; the values are those of the last cut-off."""

    def ready(recs: Any, truth: Any) -> Run:
        import recnb

        return lambda: last_column(recnb.evaluate(recs, truth).table(names, k=cutoffs))

    return ready


def accessor(recs: Any, truth: Any) -> Run:
    """Six metrics by the accessor of lazy frames."""
    import recnb  # noqa: F401 -- registers the accessor

    return lambda: last_column(recs.rec.against(truth).table(SIX, k=10))


def collected(recs: Any, truth: Any) -> Run:
    """All recommendations brought into memory, which is what streaming spares."""
    return lambda: {"rows": float(recs.collect().height)}


def last_column(table: Any) -> Values:
    """A table's values at its last cut-off."""
    return dict(zip(table.index, table.iloc[:, -1].astype(float), strict=True))


CONTENDERS = {
    "query": Contender("polars", query),
    "six": Contender("polars", recnb_of(SIX, 10), "recnb"),
    "twelve": Contender("polars", recnb_of(TWELVE, CUTOFFS), "recnb"),
    "six of pandas": Contender("pandas", recnb_of(SIX, 10), "recnb"),
    "query of files": Contender("scan", query),
    "six of files": Contender("scan", accessor, "recnb"),
    "collected": Contender("scan", collected),
}
