"""Recommendations that stay in their files: what a row costs as there are more of them, and what fits in how much memory.

Files are written a million recommendations at a time and are as large as their rows. Users' lists stand in the order
of the users, truth is shuffled within each file.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence

import polars as pl

import recnb
from tests.bench.contenders import SIX, last_column, polars_ndcg
from tests.bench.data import PIECE, TINY, Size, bytes_on_disk, write_pieces
from tests.bench.measure import Failed, Measured, alone, head, megabytes, row, temporary_folder, time_of

GROWING = [Size(f"{millions} M", millions * 100_000, 10, 5) for millions in (1, 10, 100)]
BYTES = 24  #: of a row of recommendations: user, item and rank, 8 bytes each
LISTS = 1000  #: length of the lists where memory is limited
TIMES = 4.2  #: how many times the limit the recommendations are
#: What reserves addresses by the number of cores, or far beyond what is used, is told not to.
FRUGAL = {
    "POLARS_MAX_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

GROWTH = (
    '`pl.scan_parquet("recs-*.parquet").rec.against(pl.scan_parquet("truth-*.parquet")).table(six, k=10)`, each in a '
    "process of its own, after a tiny data set; median of up to {rounds} runs, fewer once they take half a minute. Lists of 10, five relevant "
    "items per user. The numbers of the first row are held against an evaluation in memory."
)
LIMITED = (
    "{rows:,} recommendations (lists of {lists}) and {relevant:,} relevant items of {users:,} users: {size} as rows in memory, {files} as files, "
    "{times:.1f} times the limit. The limit is {limit} that a process may address (`RLIMIT_AS`), for everything that it is: interpreter, "
    "libraries, thread stacks, data."
)


def growth(sizes: Sequence[Size] = GROWING, rounds: int = 3) -> None:
    """Print what a row costs at several sizes."""
    columns = ("recommendations", "relevant items", "time", "per million", "ratio to the first", "peak", "on top")
    head("Larger and larger", GROWTH.format(rounds=rounds), *columns)
    first: float | None = None
    for size in sizes:
        with temporary_folder() as folder:
            write_pieces(folder, size)
            write_pieces(folder / "tiny", TINY)
            found = alone("six of files", folder, "--rounds", str(rounds), "--warm", str(folder / "tiny"))
            if isinstance(found, Failed):
                row(f"{size.rows:,}", f"{size.users * size.relevant:,}", f"failed: {found.reason}", *["–"] * 4)
                continue
            if first is None:
                as_in_memory(found, folder)
        per_million = found.seconds / (size.rows / 1e6)
        first = first or per_million
        row(
            f"{size.rows:,}",
            f"{size.users * size.relevant:,}",
            time_of(found.seconds),
            time_of(per_million),
            f"{per_million / first:.2f}",
            megabytes(found.peak),
            megabytes(found.on_top),
        )


def as_in_memory(found: Measured, folder: pathlib.Path) -> None:
    """Hold streamed numbers against those of the same rows in memory."""
    recs, truth = (pl.read_parquet(folder / f"{name}-*.parquet") for name in ("recs", "truth"))
    expected = last_column(recnb.evaluate(recs, truth).table(SIX, k=10))
    expected["ndcg"] = polars_ndcg(recs, truth)
    for name, value in expected.items():
        if not abs(found.values[name] - value) < 1e-12:
            raise AssertionError(f"{name} is {found.values[name]!r} streamed and {value!r} in memory")


def under_limit(megabytes_allowed: int) -> None:
    """Print what passes and what fails under a limit of memory, on recommendations four times as large."""
    users = math.ceil(TIMES * megabytes_allowed * 1e6 / BYTES / LISTS)
    size = Size("", users, LISTS, 5)
    with temporary_folder() as folder:
        write_pieces(folder, size)
        write_pieces(folder / "one", Size("", PIECE // LISTS, LISTS, 5))
        on_disk = bytes_on_disk(folder, "recs-*.parquet")
        note = LIMITED.format(
            rows=size.rows,
            lists=LISTS,
            relevant=users * size.relevant,
            users=users,
            size=megabytes(size.rows * BYTES),
            files=megabytes(on_disk),
            times=min(on_disk, size.rows * BYTES) / (megabytes_allowed * 1e6),
            limit=megabytes(megabytes_allowed * 1e6),
        )
        head("Under a limit of memory", note, "", "under the limit", "outcome", "time", "peak")
        limit = ("--limit", str(megabytes_allowed))
        of_one = alone("collected", folder / "one", *limit, environ=FRUGAL)
        outcome("collecting one of the files", "yes", of_one)
        outcome("collecting all recommendations", "yes", alone("collected", folder, *limit, environ=FRUGAL))
        streamed = alone("six of files", folder, *limit, environ=FRUGAL)
        outcome("recnb's six metrics @10, streamed", "yes", streamed)
        query = alone("query of files", folder, environ=FRUGAL)
        outcome("Polars, NDCG@10 alone", "no", query)
    if isinstance(streamed, Measured) and isinstance(query, Measured):
        difference = abs(streamed.values["ndcg"] - query.values["ndcg"])
        print(f"\nNDCG@10 of the last two differs by {difference:.1g}.")
        if not difference < 1e-9:
            raise AssertionError("streamed and queried NDCG@10 must be the same")


def outcome(what: str, limited: str, found: Measured | Failed) -> None:
    """Print how one of them fared."""
    if isinstance(found, Failed):
        # A bar would end the cell, and what a library says may be long.
        row(what, limited, f"fails ({found.reason.replace('|', '/')})", "–", "–")
    else:
        row(what, limited, "passes", time_of(found.seconds), megabytes(found.peak))
