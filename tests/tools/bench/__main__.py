"""Print how long recnb takes and how much memory, beside a Polars query and other libraries, as tables in Markdown.

By default: recnb beside the query, presets, memory and start-up for one and ten million recommendations, and other
libraries at one million. That takes a quarter of an hour and 4 GB.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from typing import Any

import polars as pl

import recnb
from tests.tools.bench.contenders import CUTOFFS, PEERS, SIX, TWELVE, K, last_column, polars_ndcg
from tests.tools.bench.data import LARGE, SMALL, TINY, Size, make, write, write_pieces
from tests.tools.bench.measure import ROOT, Measured, alone, seconds
from tests.tools.parity import environments

START = """
import time; import pandas as pd, polars
start = time.perf_counter(); import recnb; imported = time.perf_counter() - start
recs = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rank": [1, 2, 1, 2]})
truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
start = time.perf_counter(); recs.rec.against(truth).ndcg(k=2); called = time.perf_counter() - start
print(imported, called)
"""
#: Conventions whose lists are ordered, cut or merged otherwise than by default: name -> options, share of repeated rows.
PRESETS: dict[str, tuple[dict[str, Any], float]] = {
    "trec_eval": ({"convention": "trec_eval"}, 0),
    "scikit-learn": ({"convention": "scikit-learn"}, 0),
    "repeats, the first counts": ({"duplicates": "dedupe"}, 0.05),
}


def head(title: str, note: str, *columns: str) -> None:
    """Print the title of a table, what it shows, and its columns."""
    print(f"\n### {title}\n\n{note}\n")
    row(*columns)
    row(*["---"] * len(columns))


def row(*cells: Any) -> None:
    print(
        "| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True
    )


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def beside_query(sizes: Sequence[Size], rounds: int | None) -> None:
    """Six metrics, and twelve at six cut-offs, beside the shortest correct Polars query for NDCG@10 alone."""
    head(
        "recnb beside a Polars query", "Medians in seconds, all in turns in one process, from the frames to the table.",
        "data", "ids", "rows", "by", "query", "six @10", "ratio", "of pandas", "ratio", "twelve × six k", "to six",
    )  # fmt: skip
    for size, strings, shuffled, scores in product(sizes, (False, True), (False, True), (False, True)):
        taken = compare(size, rounds, strings=strings, shuffled=shuffled, scores=scores)
        query, six, pandas, twelve = taken
        words = "strings" if strings else "integers", "in any order" if shuffled else "in order"
        times = query, six, six / query, pandas, pandas / query, twelve, twelve / six
        row(size.name, *words, "score" if scores else "rank", *times)


def compare(size: Size, rounds: int | None, **kind: bool) -> list[float]:
    """Return the seconds of the query, of six metrics of Polars and pandas frames, and of twelve; refuse other numbers."""
    recs, truth = make(size, **kind)
    ours, theirs = recnb.evaluate(recs, truth).ndcg(k=K), polars_ndcg(recs, truth)
    if not abs(ours - theirs) < 1e-12:
        raise AssertionError(f"NDCG@10 is {ours!r} by recnb and {theirs!r} by the query: they must be the same")
    pandas = recs.to_pandas(), truth.to_pandas()
    return seconds(
        lambda: polars_ndcg(recs, truth),
        lambda: recnb.evaluate(recs, truth).table(SIX, k=K),
        lambda: recnb.evaluate(*pandas).table(SIX, k=K),
        lambda: recnb.evaluate(recs, truth).table(TWELVE, k=CUTOFFS),
        rounds=rounds or (7 if size.rows <= 1_000_000 else 3),
    )


def presets(sizes: Sequence[Size], rounds: int | None) -> None:
    """Conventions of libraries beside recnb's own."""
    head("Conventions", "Six metrics @10 by score, in any order; seconds, and the ratio to recnb's own convention.",
         "data", "convention", "recnb's own", "convention", "ratio")  # fmt: skip
    for size, (name, (options, repeats)) in product(sizes, PRESETS.items()):
        plain, frames = make(size, scores=True, shuffled=True), make(size, scores=True, shuffled=True, repeats=repeats)
        own, other = seconds(
            lambda plain=plain: recnb.evaluate(*plain).table(SIX, k=K),
            lambda frames=frames, options=options: recnb.evaluate(*frames, **options).table(SIX, k=K),
            rounds=rounds or 3,
        )
        row(size.name, name, own, other, other / own)


def memory(sizes: Sequence[Size]) -> None:
    """Peaks of memory of recnb and of the query, each in a process of its own that has read the frames."""
    head("Memory", "The most that was resident during one run, and in brackets what came on top of what was held before.",
         "data", "ids", "query", "six @10", "ratio", "twelve × six k", "ratio")  # fmt: skip
    for size, strings in product(sizes, (False, True)):
        with tempfile.TemporaryDirectory(prefix="recnb-bench-") as folder:
            write(pathlib.Path(folder), *make(size, strings=strings))
            query, six, twelve = (_must(alone(name, pathlib.Path(folder))) for name in ("query", "six", "twelve"))
        shown = [f"{megabytes(one.peak)} ({megabytes(one.peak - one.held)})" for one in (query, six, twelve)]
        ids = "strings" if strings else "integers"
        row(size.name, ids, shown[0], shown[1], six.peak / query.peak, shown[2], twelve.peak / query.peak)


def peers(sizes: Sequence[Size], folder: pathlib.Path, *, rounds: int, limit: float, names: Sequence[str]) -> None:
    """Other libraries, and recnb right after each on the same frames; the numbers are held against `recnb.as_in`."""
    head("Other libraries", "Six metrics @10, each in a process of its own after a run on tiny data; medians in seconds.",
         "data", "ids", "library", "time", "recnb", "ratio", "peak", "recnb's peak", "same numbers")  # fmt: skip
    if not environments.interpreter(folder / "libraries").exists():
        environments.make(folder)
    for size, strings in product(sizes, (False, True)):
        recs, truth = make(size, strings=strings)
        with tempfile.TemporaryDirectory(prefix="recnb-bench-") as of_size:
            place = pathlib.Path(of_size)
            write(place, recs, truth)
            write(place / "tiny", *make(TINY, strings=strings))
            for name in names:
                of_peer = PEERS[name].environment
                python = environments.interpreter(folder / of_peer) if of_peer else sys.executable
                theirs = alone(name, place, rounds=rounds, python=python, limit=limit)
                ours = _must(alone("six" if PEERS[name].reads == "polars" else "six of pandas", place, rounds=rounds))
                cells = size.name, "strings" if strings else "integers", f"{name}, {PEERS[name].function}"
                if isinstance(theirs, str):
                    row(*cells, f"not measured: {theirs}", ours.seconds, "", "", megabytes(ours.peak), "")
                    continue
                wrong = differing(name, theirs.values, recs, truth)
                times = theirs.seconds, ours.seconds, theirs.seconds / ours.seconds
                row(*cells, *times, megabytes(theirs.peak), megabytes(ours.peak), "; ".join(wrong) or "all")


def differing(library: str, values: Any, recs: pl.DataFrame, truth: pl.DataFrame) -> list[str]:
    """Return the metrics whose numbers are not those of recnb under the library's convention."""
    ours = {name: recnb.as_in(library, variant, recs, truth, k=K) for name, variant in PEERS[library].variants.items()}
    return [
        f"{name} differs: {values[name]} and {own}" for name, own in ours.items() if not abs(values[name] - own) < 1e-6
    ]


def files(millions: Sequence[int], rounds: int) -> None:
    """Recommendations that stay in their files: what a million rows costs as there are more of them."""
    head("Files", "Lazy frames of Parquet files, lists of ten, five relevant items a user, six metrics @10; median seconds.",
         "recommendations", "users", "time", "per million", "ratio to the first", "peak")  # fmt: skip
    first: dict[bool, float] = {}
    for million, shuffled in product(millions, (False, True)):
        size = Size("", million * 100_000, 10, 5)
        with tempfile.TemporaryDirectory(prefix="recnb-bench-") as folder:
            place = pathlib.Path(folder)
            write_pieces(place, size, shuffled=shuffled)
            write_pieces(place / "tiny", TINY)
            found = _must(alone("six of files", place, rounds=rounds, limit=3600))
            if not first:
                same_as_in_memory(found, place)
        cost = found.seconds / million
        ratio = cost / first.setdefault(shuffled, cost)
        row(f"{size.rows:,}", "mixed" if shuffled else "in order", found.seconds, cost, ratio, megabytes(found.peak))


def same_as_in_memory(found: Measured, folder: pathlib.Path) -> None:
    """Raise an error if streamed numbers are not those of the same rows in memory."""
    frames = (pl.read_parquet(folder / f"{name}-*.parquet") for name in ("recs", "truth"))
    for name, value in last_column(recnb.evaluate(*frames).table(SIX, k=K)).items():
        if not abs(found.values[name] - value) < 1e-12:
            raise AssertionError(f"{name} is {found.values[name]!r} streamed and {value!r} in memory")


def start_up(rounds: int = 7) -> None:
    """Importing recnb, and its first call, each in a fresh process."""
    command = [sys.executable, "-c", START]
    runs = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(rounds)
    ]
    imported, called = (1000 * statistics.median(float(run[at]) for run in runs) for at in (0, 1))
    print(
        f"\n### Start-up\n\nImporting takes {imported:.0f} ms beyond pandas and Polars, a first call {called:.0f} ms."
    )


def _must(found: Measured | str) -> Measured:
    if isinstance(found, str):
        raise RuntimeError(f"not measured: {found}")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts that are asked for."""
    parts = ("query", "presets", "memory", "start-up", "peers", "files")
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one million recommendations alone")
    parser.add_argument(
        "--only", nargs="+", choices=parts, default=parts[:-1], help="these parts; all but files if not given"
    )
    parser.add_argument("--rounds", type=int, help="runs that medians are of; else 7, and 3 at ten million")
    parser.add_argument("--peers", type=pathlib.Path, default=os.environ.get("RECNB_PARITY", "parity"),
                        help="folder of the libraries' environments, made where it is missing")  # fmt: skip
    parser.add_argument("--peer", nargs="+", choices=list(PEERS), default=list(PEERS), help="these libraries alone")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a library is stopped")
    parser.add_argument("--millions", type=int, nargs="*", default=[1, 10, 100], help="rows of the files")
    chosen = parser.parse_args(arguments)
    sizes = [SMALL] if chosen.quick else [SMALL, *LARGE]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{cores} cores; Python {platform.python_version()}, recnb {recnb.__version__}, Polars {pl.__version__}")
    calls = {
        "query": lambda: beside_query(sizes, chosen.rounds),
        "presets": lambda: presets(sizes, chosen.rounds),
        "memory": lambda: memory(sizes),
        "start-up": start_up,
        "peers": lambda: peers(
            [SMALL], pathlib.Path(chosen.peers), rounds=chosen.rounds or 5, limit=chosen.limit, names=chosen.peer
        ),
        "files": lambda: files(chosen.millions, chosen.rounds or 3),
    }
    for part in chosen.only:
        calls[part]()


if __name__ == "__main__":
    main()
