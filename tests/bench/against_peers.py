"""Six metrics of other libraries, and of recnb right after each, on the same frames in the same form.

Every number is held against `recnb.as_in`, which computes what that library would: times of things that differ would
say nothing.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

import recnb
from tests.bench.data import TINY, Size, make, write
from tests.bench.measure import Failed, Measured, alone, head, megabytes, must, row, temporary_folder, time_of
from tests.bench.peers import PEERS, K, Peer
from tests.parity import environments

NOTE = (
    "Each in a process of its own, with recnb's six right after it on the same frames in the same form (pandas; for RePlay "
    "Polars). Reading the frames, bringing columns and ids into the form a library wants, imports and compiling (a "
    "tiny data set is evaluated before) do not count. Median of up to {rounds} runs, fewer once they take half a minute; peaks of the "
    "whole process, in its first run. *Same numbers*: within 1e-6 of recnb under that library's convention."
)
COLUMNS = ("data", "ids", "library", "time", "recnb, six @10", "ratio", "peak", "recnb's peak", "peak ratio")


@contextlib.contextmanager
def environment(folder: pathlib.Path | None) -> Iterator[pathlib.Path]:
    """The folder of the environments: one that is kept, or else a temporary one; made where it is missing."""
    given = folder or (pathlib.Path(found) if (found := os.environ.get("RECNB_PARITY")) else None)
    with contextlib.ExitStack() as stack:
        place = given or stack.enter_context(temporary_folder())
        if not interpreter(place, "libraries").exists():
            print(f"making the environment of the peers in {place} ...", file=sys.stderr, flush=True)
            environments.make(place)
        yield place


def interpreter(folder: pathlib.Path, name: str) -> pathlib.Path:
    """The interpreter of an environment; the project's own if it has no name."""
    return environments.interpreter(folder / name) if name else pathlib.Path(sys.executable)


def table(
    sizes: Sequence[Size], folder: pathlib.Path | None, *, limit: float, rounds: int = 5, names: Sequence[str] = ()
) -> None:
    """Print the table; a library that takes longer than `limit` seconds, or most of the memory, is said to."""
    head("Other libraries", NOTE.format(rounds=rounds), *COLUMNS, "same numbers")
    try:
        with environment(folder) as place:
            for size in sizes:
                for strings in (False, True):
                    of_size(size, place, strings=strings, limit=limit, rounds=rounds, names=names or list(PEERS))
    except subprocess.CalledProcessError as error:
        print(f"\nnot measured: the environment of the peers could not be made (pip ended with {error.returncode})")


def of_size(size: Size, place: pathlib.Path, *, strings: bool, limit: float, rounds: int, names: Sequence[str]) -> None:
    """Print the rows of one size."""
    recs, truth = make(size, strings=strings)
    with temporary_folder() as folder:
        write(folder, recs, truth)
        write(folder / "tiny", *make(TINY, strings=strings))
        options = ("--rounds", str(rounds), "--warm", str(folder / "tiny"))
        for name in names:
            peer = PEERS[name]
            python = interpreter(place, peer.environment)
            theirs = alone(name, folder, *options, python=python, limit=limit, most=most_memory())
            ours = must(alone("six" if peer.reads == "polars" else "six of pandas", folder, *options))
            ids = "strings" if strings else "integers"
            row(size.name, ids, *cells(peer, theirs, ours), same(name, peer, theirs, recs, truth))


def cells(peer: Peer, theirs: Measured | Failed, ours: Measured) -> list[str]:
    """What a library took, beside recnb."""
    if isinstance(theirs, Failed):
        shown = f"not run at this size: {theirs.reason}"
        return [f"{peer.shown}, {peer.function}", shown, time_of(ours.seconds), "–", "–", megabytes(ours.peak), "–"]
    return [
        f"{peer.shown} {theirs.version}, {peer.function}",
        time_of(theirs.seconds),
        time_of(ours.seconds),
        f"{theirs.seconds / ours.seconds:.1f}",
        megabytes(theirs.peak),
        megabytes(ours.peak),
        f"{theirs.peak / ours.peak:.2f}",
    ]


def same(library: str, peer: Peer, theirs: Measured | Failed, recs: pl.DataFrame, truth: pl.DataFrame) -> str:
    """Whether a library's numbers are those of recnb under its convention."""
    if isinstance(theirs, Failed):
        return "–"
    wrong = differing(library, peer, theirs.values, recs, truth)
    return "; ".join(wrong) if wrong else f"all {len(peer.variants)}"


def differing(
    library: str, peer: Peer, values: Mapping[str, float], recs: pl.DataFrame, truth: pl.DataFrame
) -> list[str]:
    """The metrics whose numbers differ, and how."""
    found = {name: recnb.as_in(library, variant, recs, truth, k=K) for name, variant in peer.variants.items()}
    return [
        f"{name} differs: {values[name]:.9f} against {ours:.9f}"
        for name, ours in found.items()
        if not abs(values[name] - ours) < 1e-6
    ]


def most_memory() -> float:
    """How much one library may hold: three quarters of what is free now."""
    try:
        text = pathlib.Path("/proc/meminfo").read_text("utf-8")
    except OSError:
        return float("inf")
    free = next(line for line in text.splitlines() if line.startswith("MemAvailable"))
    return 0.75 * 1024 * int(free.split()[1])
