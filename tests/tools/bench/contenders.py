"""What is measured: recnb, a hand-written query, and other libraries as their
documentation asks them, each in a process of its own.

Made ready before the clock starts, in a library's favour: columns under its names,
scores in place of ranks, ids as text where it refuses others. Timed: everything from
such frames to the numbers. Imports stand inside, so that a process that measures one
contender holds nothing of the others. `python -m tests.tools.bench.contenders six
folder 3` prints what it took.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[3]
K = 10
SIX = [
    "ndcg",
    "precision",
    "recall",
    "hit_rate",
    "average_precision",
    "reciprocal_rank",
]
TWELVE = [*SIX, "f1", "cg", "dcg", "idcg", "r_precision", "rbp"]
CUTOFFS = [1, 2, 3, 5, 10, 20]
#: Names of the six in presets.csv.
NAMES = ("ndcg", "precision", "recall", "hit", "ap", "rr")
ENOUGH, LIMIT = (
    30.0,
    600.0,
)  #: seconds after which a contender is not run again, and after which it is stopped

Run = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class Contender:
    """One way to evaluate."""

    reads: str  #: "polars", "pandas", or "scan" for frames that stay in their files
    ready: Callable[[Any, Any], Run]  #: of both frames, the call that is timed
    function: str = ""
    environment: str = (
        ""  #: as in tests/tools/parity/environments.py; the project's own if empty
    )


def polars_ndcg(recs: Any, truth: Any, k: int = K) -> float:
    """Return NDCG@k by the shortest correct Polars query, on the streaming engine."""
    import polars as pl

    gain = pl.col("relevance") / (pl.col("rank") + 1).log(2)
    wanted, listed = truth.lazy(), recs.lazy()
    if "rank" not in listed.collect_schema():
        listed = listed.with_columns(
            rank=pl.col("score").rank("ordinal", descending=True).over("user")
        )
    earned = (
        listed.filter(pl.col("rank") <= k)
        .join(wanted, on=["user", "item"])
        .group_by("user")
        .agg(dcg=gain.sum())
    )
    ranked = wanted.with_columns(
        rank=pl.col("relevance").rank("ordinal", descending=True).over("user")
    )
    ideal = ranked.filter(pl.col("rank") <= k).group_by("user").agg(idcg=gain.sum())
    both = ideal.join(earned, on="user", how="left").select(
        (pl.col("dcg").fill_null(0) / pl.col("idcg")).mean()
    )
    return float(both.collect(engine="streaming").item())


def of_recnb(recs: Any, truth: Any) -> Run:
    import recnb

    return lambda: last_column(recnb.evaluate(recs, truth).table(SIX, k=K))


def last_column(table: Any) -> dict[str, float]:
    return dict(zip(table.index, table.iloc[:, -1].astype(float), strict=True))


def as_text(*frames: Any) -> list[Any]:
    """Return frames with ids that are text, as objects."""
    texts = [frame[["user", "item"]].astype(str).astype(object) for frame in frames]
    return [
        frame.assign(user=ids["user"], item=ids["item"])
        for frame, ids in zip(frames, texts, strict=True)
    ]


def named(
    recs: Any, truth: Any, user: str, item: str, score: str, relevance: str
) -> tuple[Any, Any]:
    """Return frames with scores in place of ranks, under a library's names."""
    recs = recs.assign(score=1.0 / recs["rank"])[["user", "item", "score"]]
    recs.columns, truth = [user, item, score], truth[["user", "item", "relevance"]]
    return recs, truth.set_axis([user, item, relevance], axis=1)


def rectools(recs: Any, truth: Any) -> Run:
    from rectools.metrics import (
        MAP,
        MRR,
        NDCG,
        HitRate,
        Precision,
        Recall,
        calc_metrics,
    )

    names = {"user": "user_id", "item": "item_id"}
    recs, truth = (
        recs.rename(columns=names),
        truth.rename(columns={**names, "relevance": "weight"}),
    )
    metrics = {
        name: kind(k=K)
        for name, kind in zip(
            NAMES, (NDCG, Precision, Recall, HitRate, MAP, MRR), strict=True
        )
    }
    return lambda: calc_metrics(metrics, reco=recs, interactions=truth)


def ranx(recs: Any, truth: Any) -> Run:
    from ranx import Qrels, evaluate
    from ranx import Run as Ranked

    recs, truth = named(*as_text(recs, truth), "q_id", "doc_id", "score", "score")
    truth = truth.astype({"score": "int64"})
    asked = [
        f"{name}@{K}"
        for name in ("ndcg", "precision", "recall", "hit_rate", "map", "mrr")
    ]

    def run() -> Mapping[str, Any]:
        found = evaluate(
            Qrels.from_df(truth), Ranked.from_df(recs), asked, make_comparable=True
        )
        return dict(zip(NAMES, map(found.get, asked), strict=True))

    return run


def ir_measures(recs: Any, truth: Any) -> Run:
    from ir_measures import AP, RR, P, R, Success, calc_aggregate, nDCG

    recs, truth = named(
        *as_text(recs, truth), "query_id", "doc_id", "score", "relevance"
    )
    truth = truth.astype({"relevance": "int64"})
    measures = [measure @ K for measure in (nDCG, P, R, Success, AP, RR)]

    def run() -> Mapping[str, Any]:
        return dict(
            zip(
                NAMES,
                map(calc_aggregate(measures, truth, recs).get, measures),
                strict=True,
            )
        )

    return run


def scikit_learn(recs: Any, truth: Any) -> Run:
    """Of matrices with a row a user: its list, and below it what the list missed."""
    import numpy as np
    from sklearn.metrics import ndcg_score

    both = recs.merge(truth, on=["user", "item"], how="outer")
    user = both["user"].rank(method="dense").to_numpy(int) - 1
    column = both.groupby("user").cumcount().to_numpy()
    y_true = np.zeros((user.max() + 1, column.max() + 1))
    y_score = np.full_like(y_true, -1.0)
    y_true[user, column] = both["relevance"].fillna(0)
    y_score[user, column] = (1 / both["rank"]).fillna(-1)
    return lambda: {"ndcg[full]": ndcg_score(y_true, y_score, k=K, ignore_ties=True)}


#: Other libraries, by their names in presets.csv.
PEERS = {
    "rectools": Contender("pandas", rectools, "calc_metrics", "libraries"),
    "ranx": Contender("pandas", ranx, "Qrels, Run, evaluate", "libraries"),
    "ir-measures": Contender("pandas", ir_measures, "calc_aggregate"),
    "scikit-learn": Contender("pandas", scikit_learn, "ndcg_score, nDCG alone"),
}
CONTENDERS = {
    "six": Contender("polars", of_recnb),
    "six of pandas": Contender("pandas", of_recnb),
    "six of files": Contender("scan", of_recnb),
    **PEERS,
}


@dataclass(frozen=True)
class Measured:
    """What one contender took."""

    values: Mapping[str, float]
    seconds: float  #: median of the runs
    peak: int  #: bytes at most during the first run
    version: str = ""  #: of another library


def peak() -> int:
    """Return the bytes that were resident at most since the peak was lowered."""
    lines = pathlib.Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * next(
        int(line.split()[1]) for line in lines if line.startswith("VmHWM:")
    )


def load(folder: pathlib.Path, reads: str) -> list[Any]:
    """Read recommendations and truth of a folder as a contender reads them."""
    if reads == "pandas":
        from pyarrow import feather

        tables = [
            feather.read_table(folder / f"{name}.arrow", memory_map=False)
            for name in ("recs", "truth")
        ]
        return [table.to_pandas() for table in tables]
    import polars as pl

    if reads == "scan":
        return [
            pl.scan_parquet(folder / f"{name}-*.parquet") for name in ("recs", "truth")
        ]
    # A path would be mapped, and not count as held.
    return [
        pl.read_ipc(folder.joinpath(f"{name}.arrow").read_bytes())
        for name in ("recs", "truth")
    ]


def measured(name: str, folder: pathlib.Path, rounds: int) -> Measured:
    """Measure one contender on the frames of a folder, after a run on those of its
    folder "tiny".

    The peak is VmHWM, which writing 5 to clear_refs lowers to what is resident now, so
    that loading does not count.
    """
    contender = CONTENDERS[name]
    if (tiny := folder / "tiny").exists():
        contender.ready(*load(tiny, contender.reads))()
    run = contender.ready(*load(folder, contender.reads))
    gc.collect()
    pathlib.Path("/proc/self/clear_refs").write_text("5", "ascii")
    taken, most, values = list[float](), 0, {}
    while not taken or (len(taken) < rounds and sum(taken) < ENOUGH):
        start = time.perf_counter()
        values = {of: float(value) for of, value in run().items()}
        taken.append(time.perf_counter() - start)
        most = most or peak()
    version = metadata.version(name) if name in PEERS else ""
    return Measured(values, statistics.median(taken), most, version)


def alone(
    name: str,
    folder: pathlib.Path,
    *,
    rounds: int = 1,
    python: Any = sys.executable,
    limit: float = LIMIT,
) -> Measured | str:
    """Measure a contender in a process that ends after `limit` seconds; return why, if
    it failed.
    """
    command = [
        str(python),
        "-m",
        "tests.tools.bench.contenders",
        name,
        str(folder),
        str(rounds),
    ]
    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(
            command,
            cwd=ROOT,
            env=given,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"over {limit:g} s"
    if ended.returncode:
        last = (ended.stderr.splitlines() or ["nothing said"])[-1]
        return f"exit {ended.returncode}: {last[:160]}".replace("|", "/")
    return Measured(**json.loads(ended.stdout.splitlines()[-1]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the libraries
    with contextlib.redirect_stdout(sys.stderr):
        found = measured(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(asdict(found)))
