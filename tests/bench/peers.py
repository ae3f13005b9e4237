"""Other libraries, as contenders, asked as their documentation asks them.

What is made ready before the clock starts, in the library's favour: columns have the library's names, ranks are scores
where it reads scores, relevance is whole numbers where it wants them, ids are strings where it refuses others. What
is timed: everything from such frames to the numbers. `variants` says which convention of recnb each number follows
(`recnb.as_in`), which is what it is held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.bench.contenders import Contender, Run

K = 10


@dataclass(frozen=True)
class Peer(Contender):
    """A library's way to evaluate."""

    shown: str = ""
    function: str = ""
    environment: str = "libraries"  #: as in tests/parity/environments.py; the project's own if empty
    variants: Mapping[str, str] = field(default_factory=dict)  #: name of a value -> the library's variant in recnb


def scored(recs: Any, **names: str) -> Any:
    """A frame with scores in place of ranks, under a library's names."""
    return recs.assign(score=1.0 / recs["rank"]).rename(columns=names)[list(names.values())]


def as_text(*frames: Any) -> list[Any]:
    """The frames with ids that are strings, as objects."""
    texts = [frame[["user", "item"]].astype(str).astype(object) for frame in frames]
    return [frame.assign(user=ids["user"], item=ids["item"]) for frame, ids in zip(frames, texts, strict=True)]


def rectools(recs: Any, truth: Any) -> Run:
    """RecTools: calc_metrics, which joins once for all of them."""
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    names = {"user": "user_id", "item": "item_id"}
    recs, truth = recs.rename(columns=names), truth.rename(columns={**names, "relevance": "weight"})
    kinds = {"ndcg": NDCG, "precision": Precision, "recall": Recall, "hit": HitRate, "ap": MAP, "rr": MRR}
    metrics = {name: kind(k=K) for name, kind in kinds.items()}
    return lambda: calc_metrics(metrics, reco=recs, interactions=truth)


def ranx(recs: Any, truth: Any) -> Run:
    """ranx: Qrels and Run made of the frames, then evaluate."""
    from ranx import Qrels, evaluate
    from ranx import Run as Ranked

    recs, truth = as_text(recs, truth)
    recs = scored(recs, user="q_id", item="doc_id", score="score")
    truth = truth.rename(columns={"user": "q_id", "item": "doc_id", "relevance": "score"})
    truth["score"] = truth["score"].astype("int64")
    names = {
        "ndcg": f"ndcg@{K}",
        "precision": f"precision@{K}",
        "recall": f"recall@{K}",
        "hit": f"hit_rate@{K}",
        "ap": f"map@{K}",
        "rr": f"mrr@{K}",
    }

    def run() -> dict[str, float]:
        found = evaluate(Qrels.from_df(truth), Ranked.from_df(recs), list(names.values()), make_comparable=True)
        return {ours: float(found[theirs]) for ours, theirs in names.items()}

    return run


def ir_measures(recs: Any, truth: Any) -> Run:
    """ir-measures: calc_aggregate on both frames."""
    from ir_measures import AP, RR, P, R, Success, calc_aggregate, nDCG

    recs, truth = as_text(recs, truth)
    names = {"user": "query_id", "item": "doc_id"}
    recs = scored(recs, **names, score="score")
    truth = truth.rename(columns={**names, "relevance": "relevance"})
    truth["relevance"] = truth["relevance"].astype("int64")
    measures = {"ndcg": nDCG @ K, "precision": P @ K, "recall": R @ K, "hit": Success @ K, "ap": AP @ K, "rr": RR @ K}

    def run() -> dict[str, float]:
        found = calc_aggregate(list(measures.values()), truth, recs)
        return {name: float(found[measure]) for name, measure in measures.items()}

    return run


def replay(recs: Any, truth: Any) -> Run:
    """RePlay: OfflineMetrics on Polars frames, which works out once what its metrics share."""
    import polars as pl
    from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall

    recs = recs.select(query_id="user", item_id="item", rating=1.0 / pl.col("rank"))
    truth = truth.select(query_id="user", item_id="item", rating="relevance")
    kinds = {"ndcg": NDCG, "precision": Precision, "recall": Recall, "hit": HitRate, "ap": MAP, "rr": MRR}
    metrics = OfflineMetrics([kind(K) for kind in kinds.values()])

    def run() -> dict[str, float]:
        found = metrics(recs, truth)
        return {name: float(found[f"{kind.__name__}@{K}"]) for name, kind in kinds.items()}

    return run


def recommenders(recs: Any, truth: Any) -> Run:
    """recommenders: the functions of python_evaluation, one by one; it has four of the six."""
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


SIX_NAMES = ("ndcg", "precision", "recall", "hit", "ap", "rr")
SAME = {name: name for name in SIX_NAMES}
#: By the library's name in presets.csv.
PEERS = {
    "rectools": Peer("pandas", rectools, "rectools", shown="RecTools", function="calc_metrics", variants=SAME),
    "replay-rec": Peer(
        "polars",
        replay,
        "replay-rec",
        shown="RePlay",
        function="OfflineMetrics",
        variants={name: f"{name}[polars]" for name in SIX_NAMES},
    ),
    "recommenders": Peer(
        "pandas",
        recommenders,
        "recommenders",
        shown="recommenders",
        function="python_evaluation (four metrics)",
        variants={name: name for name in ("ndcg", "precision", "recall", "ap")},
    ),
    "ranx": Peer("pandas", ranx, "ranx", shown="ranx", function="Qrels, Run, evaluate", variants=SAME),
    "ir-measures": Peer(
        "pandas",
        ir_measures,
        "ir-measures",
        shown="ir-measures",
        function="calc_aggregate",
        environment="",
        variants=SAME,
    ),
}
