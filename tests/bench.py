"""How long recnb takes, as ratios within one run: `python -m tests.bench` (`--large` for ten million rows).

Seconds differ from machine to machine, so what is compared is what was measured side by side, in turns: six metrics
of recnb, input checks included, against the shortest correct Polars query for NDCG@10 alone.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

import recnb

SIX = ["ndcg", "precision", "recall", "hit_rate", "average_precision", "reciprocal_rank"]
TWELVE = [*SIX, "f1", "cg", "dcg", "idcg", "r_precision", "rbp"]


@dataclass(frozen=True)
class Size:
    """How much data is made."""

    name: str
    users: int
    list_length: int
    relevant: int  #: per user


SIZES = [Size("1 M x 0.5 M, 100 k users", 100_000, 10, 5)]
LARGE = [Size("10 M x 2 M, 100 k users", 100_000, 100, 20), Size("10 M x 5 M, 1 M users", 1_000_000, 10, 5)]


def make(size: Size, *, strings: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Recommendations and shuffled truth with grades 1 to 5, a fifth of it recommended."""
    rng = np.random.default_rng(0)
    n, k, relevant = size.users, size.list_length, size.relevant
    items = rng.integers(0, 50_000, n)[:, np.newaxis] + np.arange(k) * 7
    hit = rng.random((n, relevant)) < 0.2
    missed = 1_000_000 + rng.integers(0, 50_000, n)[:, np.newaxis] + np.arange(relevant) * 7
    places = rng.permuted(np.tile(np.arange(k), (n, 1)), axis=1)[:, :relevant]
    wanted = np.where(hit, np.take_along_axis(items, places, axis=1), missed)
    recs = pl.DataFrame(
        {"user": np.repeat(np.arange(n), k), "item": items.ravel(), "rank": np.tile(np.arange(1, k + 1), n)}
    )
    truth = pl.DataFrame(
        {
            "user": np.repeat(np.arange(n), relevant),
            "item": wanted.ravel(),
            "relevance": rng.integers(1, 6, n * relevant).astype(float),
        }
    )
    truth = truth.sample(fraction=1, shuffle=True, seed=1)
    if strings:
        recs, truth = (
            frame.with_columns(pl.format("user-{}", "user").alias("user"), pl.format("item-{}", "item").alias("item"))
            for frame in (recs, truth)
        )
    return recs, truth


def polars_ndcg(recs: pl.DataFrame, truth: pl.DataFrame, k: int = 10) -> float:
    """NDCG@k in the shortest correct Polars query."""
    gain = pl.col("relevance") / (pl.col("rank") + 1).log(2)
    wanted = truth.lazy()
    earned = (
        recs.lazy().filter(pl.col("rank") <= k).join(wanted, on=["user", "item"]).group_by("user").agg(dcg=gain.sum())
    )
    ranked = wanted.with_columns(rank=pl.col("relevance").rank("ordinal", descending=True).over("user")).filter(
        pl.col("rank") <= k
    )
    ideal = ranked.group_by("user").agg(idcg=gain.sum())
    both = ideal.join(earned, on="user", how="left").select((pl.col("dcg").fill_null(0) / pl.col("idcg")).mean())
    return float(both.collect().item())


def seconds(*calls: Callable[[], object], rounds: int = 7) -> list[float]:
    """The median time of each call, taken in turns so that a busy moment falls on all of them."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, times in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [statistics.median(times[1:]) for times in taken]


def row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def against_polars(sizes: list[Size]) -> None:
    """Six metrics, and twelve at six cut-offs, beside the query for one."""
    row(
        "data",
        "ids",
        "Polars, NDCG@10 alone",
        "recnb, six metrics @10",
        "ratio",
        "recnb, twelve metrics at six k",
        "ratio",
    )
    row(*["---"] * 7)
    whole: dict[str, float] = {}
    for size in sizes:
        for strings in (False, True):
            recs, truth = make(size, strings=strings)
            ours = recnb.evaluate(recs, truth).ndcg(k=10)
            assert abs(ours - polars_ndcg(recs, truth)) < 1e-12, "the two must compute the same thing"
            query, six, twelve = seconds(
                lambda recs=recs, truth=truth: polars_ndcg(recs, truth),
                lambda recs=recs, truth=truth: recnb.evaluate(recs, truth).table(SIX, k=10),
                lambda recs=recs, truth=truth: recnb.evaluate(recs, truth).table(TWELVE, k=[1, 2, 3, 5, 10, 20]),
                rounds=7 if size.users * size.list_length <= 1_000_000 else 3,
            )
            ids = "strings" if strings else "integers"
            row(
                size.name,
                ids,
                f"{query:.3f} s",
                f"{six:.3f} s",
                f"{six / query:.2f}",
                f"{twelve:.3f} s",
                f"{twelve / query:.2f}",
            )
            whole[ids] = six
    print(f"\nstrings take {whole['strings'] / whole['integers']:.2f} x the time of integers")


def start_up() -> None:
    """What importing costs beyond pandas and Polars, and the first call on four rows, each in a fresh process."""
    program = """
import time; import pandas as pd, polars
start = time.perf_counter(); import recnb; imported = time.perf_counter() - start
recs = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rank": [1, 2, 1, 2]})
truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
start = time.perf_counter(); recs.rec.against(truth).ndcg(k=2); called = time.perf_counter() - start
print(imported, called)
"""
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(7)
    ]
    imported, called = (statistics.median(float(run[column]) for run in runs) for column in (0, 1))
    print(
        f"import recnb: {imported * 1000:.0f} ms over importing pandas and Polars; first call on four rows: {called * 1000:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="ten million recommendations as well; needs some 8 GB")
    chosen = parser.parse_args()
    start_up()
    print()
    against_polars(SIZES + LARGE if chosen.large else SIZES)


if __name__ == "__main__":
    main()
