"""Print how long recnb takes and how much memory, beside a Polars query and other
libraries, as tables in Markdown.

By default all parts but files, for one and ten million recommendations. That takes an
hour and 4 GB; `python -m tests.tools.bench night epochs --write` measures two parts and
writes their tables into README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import pathlib
import platform
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from itertools import product
from typing import Any

import numpy as np
import polars as pl

import recnb
from tests.tools.bench import night, plain
from tests.tools.bench.contenders import (
    CUTOFFS,
    PEERS,
    SIX,
    TWELVE,
    K,
    Measured,
    alone,
    last_column,
    polars_ndcg,
)
from tests.tools.bench.data import (
    EPOCHS,
    FEW,
    LARGE,
    SMALL,
    TINY,
    Size,
    make,
    write,
    write_pieces,
)
from tests.tools.parity import environments

#: Conventions whose lists are ordered, cut or merged otherwise than by default: name ->
#: options, share of repeated rows.
PRESETS: dict[str, tuple[dict[str, Any], float]] = {
    "trec_eval": ({"convention": "trec_eval"}, 0),
    "scikit-learn": ({"convention": "scikit-learn"}, 0),
    "repeats, the first counts": ({"duplicates": "dedupe"}, 0.05),
}
WEIGHTED = ("ndcg", "precision", "recall", "dcg", "cg", "rbp")
KINDS = {False: "integers", True: "strings"}
PAGE = pathlib.Path(__file__).with_name("README.md")


def machine() -> str:
    """Return cores and versions, which stand above each table."""
    cores = os.cpu_count()
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    names = ("recnb", "polars", "duckdb", "pandas", "numpy")
    versions = [f"{name} {metadata.version(name)}" for name in names]
    return f"{cores} cores; Python {platform.python_version()}, {', '.join(versions)}."


def head(title: str, note: str, *columns: str) -> None:
    """Print the title of a table, what it shows, and its columns."""
    print(f"\n### {title}\n\n{note} {machine()}\n")
    row(*columns)
    row(*["---"] * len(columns))


def row(*cells: Any) -> None:
    shown = (f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells)
    print(f"| {' | '.join(shown)} |", flush=True)


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def seconds(*calls: Callable[[], object], rounds: int) -> list[float]:
    """Return the median time of each call, taken in turns so that a busy moment falls
    on all of them.
    """
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, times in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [statistics.median(times[1:]) for times in taken]


def must(found: Measured | str) -> Measured:
    if isinstance(found, str):
        raise RuntimeError(f"not measured: {found}")
    return found


def same(values: Mapping[str, float], wanted: Mapping[str, float], whose: str) -> None:
    """Raise an error if numbers are not those of recnb, of the same rows in memory."""
    for name, value in values.items():
        if not abs(value - wanted[name]) < 1e-12:
            raise AssertionError(
                f"{name} is {value!r} {whose}, and {wanted[name]!r} by recnb: they must be the same"
            )


def beside_query(sizes: Sequence[Size], rounds: int | None) -> None:
    """Six metrics, and twelve at six cut-offs, beside the shortest correct Polars query
    for NDCG@10 alone.
    """
    head(
        "recnb beside a Polars query",
        "Medians in seconds, all in turns in one process, from the frames to the table. "
        "Plain: thirty lines of Polars with the same checks, for the six metrics @10.",
        "data",
        "ids",
        "rows",
        "by",
        "query",
        "plain",
        "six @10",
        "ratio to query",
        "ratio to plain",
        "of pandas",
        "ratio",
        "twelve × six k",
        "to six",
    )
    for size, strings, shuffled, scores in product(
        sizes, KINDS, (False, True), (False, True)
    ):
        recs, truth = make(size, strings=strings, shuffled=shuffled, scores=scores)
        same(
            {"ndcg": polars_ndcg(recs, truth)},
            {"ndcg": recnb.evaluate(recs, truth).ndcg(k=K)},
            "by the query",
        )
        same(
            plain.six(recs, truth, K),
            last_column(recnb.evaluate(recs, truth).table(SIX, k=K)),
            "in plain Polars",
        )
        pandas = recs.to_pandas(), truth.to_pandas()
        query, by_hand, six, of_pandas, twelve = seconds(
            lambda recs=recs, truth=truth: polars_ndcg(recs, truth),
            lambda recs=recs, truth=truth: plain.six(recs, truth, K),
            lambda recs=recs, truth=truth: recnb.evaluate(recs, truth).table(SIX, k=K),
            lambda pandas=pandas: recnb.evaluate(*pandas).table(SIX, k=K),
            lambda recs=recs, truth=truth: recnb.evaluate(recs, truth).table(
                TWELVE, k=CUTOFFS
            ),
            rounds=rounds or (7 if size.rows <= 1_000_000 else 3),
        )
        words = (
            KINDS[strings],
            "in any order" if shuffled else "in order",
            "score" if scores else "rank",
        )
        row(
            size.name,
            *words,
            query,
            by_hand,
            six,
            six / query,
            six / by_hand,
            of_pandas,
            of_pandas / query,
            twelve,
            twelve / six,
        )


def presets(sizes: Sequence[Size], rounds: int | None) -> None:
    """Conventions of libraries beside recnb's own."""
    head(
        "Conventions",
        "Six metrics @10 by score, in any order; seconds, and the ratio to recnb's own convention.",
        "data",
        "convention",
        "recnb's own",
        "convention",
        "ratio",
    )
    for size, (name, (options, repeats)) in product(sizes, PRESETS.items()):
        plain, frames = (
            make(size, scores=True, shuffled=True),
            make(size, scores=True, shuffled=True, repeats=repeats),
        )
        own, other = seconds(
            lambda plain=plain: recnb.evaluate(*plain).table(SIX, k=K),
            lambda frames=frames, options=options: recnb.evaluate(
                *frames, **options
            ).table(SIX, k=K),
            rounds=rounds or 3,
        )
        row(size.name, name, own, other, other / own)


def weights(sizes: Sequence[Size], rounds: int | None) -> None:
    """Metrics with propensities and with weights of users beside the same without."""
    head(
        "Weights",
        "Six metrics @10 that have a weighted form, by rank, in order; seconds, "
        "and the ratio to those without weights.",
        "data",
        "weights",
        "without",
        "with",
        "ratio",
    )
    for size in sizes:
        recs, truth = make(size)
        chance = np.random.default_rng(4).uniform(0.05, 1, truth.height)
        of_pairs = truth.with_columns(p=chance).to_pandas()
        given: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
            "a column of propensities": (
                truth.with_columns(p=chance),
                {"propensity": "p"},
            ),
            "a Series by item": (
                truth,
                {"propensity": of_pairs.groupby("item")["p"].min()},
            ),
            "users, a Series": (
                truth,
                {"user_weight": of_pairs.groupby("user")["p"].sum()},
            ),
        }
        for name, (judged, options) in given.items():
            without, with_weights = seconds(
                lambda recs=recs, truth=truth: recnb.evaluate(recs, truth).table(
                    WEIGHTED, k=K
                ),
                lambda recs=recs, judged=judged, options=options: recnb.evaluate(
                    recs, judged, **options
                ).table(WEIGHTED, k=K),
                rounds=rounds or 7,
            )
            row(size.name, name, without, with_weights, with_weights / without)


def nights(size: night.Night, rounds: int | None) -> None:
    """Several models of text ids, of which few users count, beside queries for the same
    numbers.
    """
    head(
        "A night",
        f"{size.models} models, lists of {size.list_length} for {size.users:,} users, "
        f"text ids, of whom {size.buyers:,} are in the truth; nDCG and recall @10 of "
        "each. Medians in seconds, all in turns in one process, and ratios to DuckDB.",
        "rows",
        "DuckDB",
        "Polars",
        "files",
        "ratio",
        "scans",
        "ratio",
        "frames",
        "ratio",
        "compare, files",
        "ratio",
    )
    for shuffled in (False, True):
        frames, judged = night.make(size, shuffled=shuffled)
        with tempfile.TemporaryDirectory(prefix="recnb-bench-") as folder:
            files, truth = night.write(pathlib.Path(folder), frames, judged)
            scans, scan = list(map(pl.scan_parquet, files)), pl.scan_parquet(truth)
            calls = [
                partial(night.of_duckdb, files, truth, K),
                partial(night.of_polars, scans, scan, K),
                partial(night.of_recnb, files, truth, K),
                partial(night.of_recnb, scans, scan, K),
                partial(night.of_recnb, frames, judged, K),
                partial(night.of_compare, files, truth, K),
            ]
            same_numbers([call() for call in calls])
            of_duckdb, of_polars, *ours = seconds(*calls, rounds=rounds or 7)
        cells = [cell for taken in ours for cell in (taken, taken / of_duckdb)]
        row("in any order" if shuffled else "in order", of_duckdb, of_polars, *cells)


def epochs(sizes: Sequence[Size], rounds: int | None) -> None:
    """nDCG@10 after an epoch: of all frames anew, and of other lists for one truth."""
    head(
        "A callback's epoch",
        "nDCG@10 of other lists against the same truth; medians in milliseconds, in "
        "turns in one process.",
        "validation users",
        "lists",
        "evaluate",
        "with_lists",
        "ratio",
    )
    for size in sizes:
        recs, truth = (frame.to_pandas() for frame in make(size, scores=True))
        rows = recs.groupby("user")
        forms = {
            "a frame of pandas": recs,
            "lists by user": {user: [*of["item"]] for user, of in rows},
            "scores by user": {
                user: dict(zip(of["item"], of["score"], strict=True))
                for user, of in rows
            },
        }
        ev = recnb.evaluate(recs, truth)
        for form, lists in forms.items():
            anew, kept = seconds(
                lambda lists=lists, truth=truth: recnb.evaluate(lists, truth).ndcg(k=K),
                lambda lists=lists, ev=ev: ev.with_lists(lists).ndcg(k=K),
                rounds=rounds or 101,
            )
            row(size.name, form, 1e3 * anew, 1e3 * kept, kept / anew)


def same_numbers(found: Sequence[night.Numbers]) -> None:
    """Raise an error if not all ways give the same numbers."""
    for numbers in found:
        if not np.allclose(numbers, found[0], rtol=0, atol=1e-12):
            raise AssertionError(f"{numbers} and {found[0]} must be the same")


def peers(sizes: Sequence[Size], folder: pathlib.Path, rounds: int) -> None:
    """Other libraries, and recnb right after each on the same frames; the numbers are
    held against `recnb.as_in`.
    """
    head(
        "Other libraries",
        "Six metrics @10, each in a process of its own after a run on tiny data; "
        "medians in seconds.",
        "data",
        "ids",
        "rows",
        "library",
        "time",
        "recnb",
        "ratio",
        "peak",
        "recnb's peak",
        "same numbers",
    )
    if not environments.interpreter(folder / "libraries").exists():
        environments.make(folder)
    for size, strings, shuffled in product(sizes, KINDS, (False, True)):
        recs, truth = make(size, strings=strings, shuffled=shuffled)
        with tempfile.TemporaryDirectory(prefix="recnb-bench-") as of_frames:
            place = pathlib.Path(of_frames)
            write(place, recs, truth)
            write(place / "tiny", *make(TINY, strings=strings))
            for name in PEERS:
                of_peer = PEERS[name].environment
                python = (
                    environments.interpreter(folder / of_peer)
                    if of_peer
                    else sys.executable
                )
                theirs = alone(name, place, rounds=rounds, python=python)
                ours = must(alone("six of pandas", place, rounds=rounds))
                rows = "in any order" if shuffled else "in order"
                cells = [size.name, KINDS[strings], rows, name]
                if isinstance(theirs, str):
                    row(
                        *cells,
                        f"not measured: {theirs}",
                        ours.seconds,
                        "",
                        "",
                        megabytes(ours.peak),
                        "",
                    )
                    continue
                cells[-1] += f" {theirs.version}, {PEERS[name].function}"
                times = theirs.seconds, ours.seconds, theirs.seconds / ours.seconds
                wrong = differing(name, theirs.values, recs, truth)
                row(
                    *cells,
                    *times,
                    megabytes(theirs.peak),
                    megabytes(ours.peak),
                    "; ".join(wrong) or "all",
                )


def differing(
    library: str, values: Mapping[str, float], recs: pl.DataFrame, truth: pl.DataFrame
) -> list[str]:
    """Return the metrics whose numbers are not those of recnb under the library's
    convention.
    """
    ours = {name: recnb.as_in(library, name, recs, truth, k=K) for name in values}
    return [
        f"{name} differs: {values[name]} and {own}"
        for name, own in ours.items()
        if not abs(values[name] - own) < 1e-6
    ]


def files(millions: Sequence[int], rounds: int) -> None:
    """Recommendations that stay in their files: what a million rows costs as there are
    more of them.
    """
    head(
        "Files",
        "Lazy frames of Parquet files, lists of ten, five relevant items a user, "
        "six metrics @10; median seconds.",
        "recommendations",
        "users",
        "by",
        "time",
        "per million",
        "ratio to the first",
        "peak",
    )
    first: dict[tuple[bool, bool], float] = {}
    for million, shuffled, scores in product(millions, (False, True), (False, True)):
        size = Size("", million * 100_000, 10, 5)
        with tempfile.TemporaryDirectory(prefix="recnb-bench-") as name:
            folder = pathlib.Path(name)
            write_pieces(folder, size, shuffled=shuffled, scores=scores)
            write_pieces(folder / "tiny", TINY, scores=scores)
            found = must(alone("six of files", folder, rounds=rounds, limit=3600))
            if not first:
                frames = (
                    pl.read_parquet(folder / f"{side}-*.parquet")
                    for side in ("recs", "truth")
                )
                same(
                    found.values,
                    last_column(recnb.evaluate(*frames).table(SIX, k=K)),
                    "streamed",
                )
        cost = found.seconds / million
        ratio = cost / first.setdefault((shuffled, scores), cost)
        row(
            f"{size.rows:,}",
            "mixed" if shuffled else "in order",
            "score" if scores else "rank",
            found.seconds,
            cost,
            ratio,
            megabytes(found.peak),
        )


def with_tables(page: str, printed: str) -> str:
    """Return a page whose last sections are the tables, each the last of its title."""
    text, *sections = re.split(r"(?m)^(?=### )", f"{page.rstrip()}\n{printed}")
    by_title = {section.splitlines()[0]: section.rstrip() for section in sections}
    return "\n\n".join([text.rstrip(), *by_title.values()]) + "\n"


def print_and_write(part: Callable[[], None]) -> None:
    """Print the tables of a part and put them into README.md."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        part()
    print(printed.getvalue())
    page = with_tables(PAGE.read_text("utf-8"), printed.getvalue())
    PAGE.write_text(page, "utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts that are asked for."""
    parts = ("query", "night", "epochs", "presets", "weights", "peers", "files")
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.bench", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--quick", action="store_true", help="one million recommendations alone"
    )
    parser.add_argument(
        "parts", nargs="*", help=f"{', '.join(parts)}; all but files if not given"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the tables into README.md as well"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        help="runs that medians are of; else 7, and 3 at ten million",
    )
    parser.add_argument(
        "--peers",
        type=pathlib.Path,
        default=os.environ.get("RECNB_PARITY", "parity"),
        help="folder of the libraries' environments, made where it is missing",
    )
    parser.add_argument(
        "--millions",
        type=int,
        nargs="*",
        default=[1, 10, 100],
        help="rows of the files",
    )
    chosen = parser.parse_args(arguments)
    sizes, of_peers = [SMALL, *LARGE], [FEW, SMALL, LARGE[-1]]
    if chosen.quick:
        sizes, of_peers = [SMALL], [SMALL]
    calls: dict[str, Callable[[], None]] = {
        "query": lambda: beside_query(sizes, chosen.rounds),
        "night": lambda: nights(night.USUAL, chosen.rounds),
        "epochs": lambda: epochs(EPOCHS, chosen.rounds),
        "presets": lambda: presets(sizes, chosen.rounds),
        "weights": lambda: weights(sizes, chosen.rounds),
        "peers": lambda: peers(
            of_peers, pathlib.Path(chosen.peers), chosen.rounds or 5
        ),
        "files": lambda: files(chosen.millions, chosen.rounds or 3),
    }
    if unknown := {*chosen.parts} - {*parts}:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    for part in chosen.parts or parts[:-1]:
        if chosen.write:
            print_and_write(calls[part])
        else:
            calls[part]()


if __name__ == "__main__":
    main()
