"""The ways to evaluate that are measured: recnb, a hand-written query, and other libraries as their documentation asks them.

Made ready before the clock starts, in a library's favour: columns under its names, scores in place of ranks, ids as text
where it refuses others. Timed: everything from such frames to the numbers. Imports stand inside, so that a process that
measures one contender holds nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

K = 10
SIX = ["ndcg", "precision", "recall", "hit_rate", "average_precision", "reciprocal_rank"]
TWELVE = [*SIX, "f1", "cg", "dcg", "idcg", "r_precision", "rbp"]
CUTOFFS = [1, 2, 3, 5, 10, 20]
#: Names of the six in presets.csv.
NAMES = ("ndcg", "precision", "recall", "hit", "ap", "rr")

Run = Callable[[], Mapping[str, float]]


@dataclass(frozen=True)
class Contender:
    """One way to evaluate."""

    reads: str  #: "polars", "pandas", or "scan" for frames that stay in their files
    ready: Callable[[Any, Any], Run]  #: of both frames, the call that is timed
    distribution: str = "recnb"
    function: str = ""
    environment: str = ""  #: as in tests/tools/parity/environments.py; the project's own if empty
    variants: Mapping[str, str] = field(default_factory=lambda: {name: name for name in NAMES})  #: in presets.csv


def polars_ndcg(recs: pl.DataFrame | pl.LazyFrame, truth: pl.DataFrame | pl.LazyFrame, k: int = K) -> float:
    """Return NDCG@k by the shortest correct Polars query, on the streaming engine."""
    import polars as pl

    gain = pl.col("relevance") / (pl.col("rank") + 1).log(2)
    wanted, listed = truth.lazy(), recs.lazy()
    if "rank" not in listed.collect_schema():
        listed = listed.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("user"))
    earned = listed.filter(pl.col("rank") <= k).join(wanted, on=["user", "item"]).group_by("user").agg(dcg=gain.sum())
    ranked = wanted.with_columns(rank=pl.col("relevance").rank("ordinal", descending=True).over("user"))
    ideal = ranked.filter(pl.col("rank") <= k).group_by("user").agg(idcg=gain.sum())
    both = ideal.join(earned, on="user", how="left").select((pl.col("dcg").fill_null(0) / pl.col("idcg")).mean())
    return float(both.collect(engine="streaming").item())


def query(recs: Any, truth: Any) -> Run:
    return lambda: {"ndcg": polars_ndcg(recs, truth)}


def recnb_of(names: list[str], cutoffs: int | list[int], **options: Any) -> Callable[[Any, Any], Run]:
    """Return recnb from the frames to its table; the values are those of the last cut-off."""

    def ready(recs: Any, truth: Any) -> Run:
        import recnb

        return lambda: last_column(recnb.evaluate(recs, truth, **options).table(names, k=cutoffs))

    return ready


def last_column(table: Any) -> dict[str, float]:
    return dict(zip(table.index, table.iloc[:, -1].astype(float), strict=True))


def scored(recs: Any, **names: str) -> Any:
    """Return a frame with scores in place of ranks, under a library's names."""
    return recs.assign(score=1.0 / recs["rank"]).rename(columns=names)[list(names.values())]


def as_text(*frames: Any) -> list[Any]:
    """Return frames with ids that are text, as objects."""
    texts = [frame[["user", "item"]].astype(str).astype(object) for frame in frames]
    return [frame.assign(user=ids["user"], item=ids["item"]) for frame, ids in zip(frames, texts, strict=True)]


def rectools(recs: Any, truth: Any) -> Run:
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    names = {"user": "user_id", "item": "item_id"}
    recs, truth = recs.rename(columns=names), truth.rename(columns={**names, "relevance": "weight"})
    metrics = {name: kind(k=K) for name, kind in zip(NAMES, (NDCG, Precision, Recall, HitRate, MAP, MRR), strict=True)}
    return lambda: calc_metrics(metrics, reco=recs, interactions=truth)


def ranx(recs: Any, truth: Any) -> Run:
    from ranx import Qrels, evaluate
    from ranx import Run as Ranked

    recs, truth = as_text(recs, truth)
    recs = scored(recs, user="q_id", item="doc_id", score="score")
    truth = truth.rename(columns={"user": "q_id", "item": "doc_id", "relevance": "score"}).astype({"score": "int64"})
    asked = [f"{name}@{K}" for name in ("ndcg", "precision", "recall", "hit_rate", "map", "mrr")]

    def run() -> dict[str, float]:
        found = evaluate(Qrels.from_df(truth), Ranked.from_df(recs), asked, make_comparable=True)
        return {ours: float(found[theirs]) for ours, theirs in zip(NAMES, asked, strict=True)}

    return run


def ir_measures(recs: Any, truth: Any) -> Run:
    from ir_measures import AP, RR, P, R, Success, calc_aggregate, nDCG

    recs, truth = as_text(recs, truth)
    names = {"user": "query_id", "item": "doc_id"}
    recs, truth = scored(recs, **names, score="score"), truth.rename(columns=names).astype({"relevance": "int64"})
    measures = [measure @ K for measure in (nDCG, P, R, Success, AP, RR)]

    def run() -> dict[str, float]:
        found = calc_aggregate(measures, truth, recs)
        return {name: float(found[measure]) for name, measure in zip(NAMES, measures, strict=True)}

    return run


def replay(recs: Any, truth: Any) -> Run:
    import polars as pl
    from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall

    recs = recs.select(query_id="user", item_id="item", rating=1.0 / pl.col("rank"))
    truth = truth.select(query_id="user", item_id="item", rating="relevance")
    kinds = (NDCG, Precision, Recall, HitRate, MAP, MRR)
    metrics = OfflineMetrics([kind(K) for kind in kinds])

    def run() -> dict[str, float]:
        found = metrics(recs, truth)
        return {name: float(found[f"{kind.__name__}@{K}"]) for name, kind in zip(NAMES, kinds, strict=True)}

    return run


def recommenders(recs: Any, truth: Any) -> Run:
    from recommenders.evaluation import python_evaluation as made

    names = {"user": "userID", "item": "itemID"}
    recs = scored(recs, **names, score="prediction")
    truth = truth.rename(columns={**names, "relevance": "rating"})
    functions = {
        "ndcg": made.ndcg_at_k,
        "precision": made.precision_at_k,
        "recall": made.recall_at_k,
        "ap": made.map_at_k,
    }
    return lambda: {name: float(function(truth, recs, k=K)) for name, function in functions.items()}


#: Other libraries, by their names in presets.csv.
PEERS = {
    "rectools": Contender("pandas", rectools, "rectools", "calc_metrics", "libraries"),
    "replay-rec": Contender(
        "polars", replay, "replay-rec", "OfflineMetrics", "libraries", {name: f"{name}[polars]" for name in NAMES}
    ),
    "recommenders": Contender(
        "pandas", recommenders, "recommenders", "python_evaluation (four metrics)", "libraries",
        {name: name for name in ("ndcg", "precision", "recall", "ap")},
    ),
    "ranx": Contender("pandas", ranx, "ranx", "Qrels, Run, evaluate", "libraries"),
    "ir-measures": Contender("pandas", ir_measures, "ir-measures", "calc_aggregate"),
}  # fmt: skip

CONTENDERS = {
    "query": Contender("polars", query, "polars"),
    "six": Contender("polars", recnb_of(SIX, K)),
    "twelve": Contender("polars", recnb_of(TWELVE, CUTOFFS)),
    "six of pandas": Contender("pandas", recnb_of(SIX, K)),
    "six of files": Contender("scan", recnb_of(SIX, K)),
    **PEERS,
}
