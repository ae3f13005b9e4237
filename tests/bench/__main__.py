"""Print how long recnb takes and how much memory, beside a Polars query and other libraries, as Markdown.

By default: recnb beside the query, in time and memory, for one and ten million recommendations with ids that are integers and strings;
other libraries at one million; and start-up. That takes a quarter of an hour and 4 GB.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import signal
import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd
import polars as pl

import recnb
from tests.bench import against_peers, against_query, memory, start_up, streamed
from tests.bench.data import LARGE, SIZES, SMALL
from tests.bench.peers import PEERS

PARTS = ("query", "memory", "peers", "stream", "start-up")


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one million recommendations, time and memory, no peers")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=f"these parts alone: {', '.join(PARTS)}"
    )
    parser.add_argument("--rounds", type=int, help="runs that medians are of; else 7, and 3 at ten million")
    parser.add_argument(
        "--peers",
        type=pathlib.Path,
        metavar="FOLDER",
        help="where the peers' environments are, or are made and kept; else RECNB_PARITY, else made and thrown away",
    )
    parser.add_argument("--peers-large", action="store_true", help="other libraries at ten million as well")
    parser.add_argument(
        "--peer", nargs="+", choices=list(PEERS), metavar="NAME", help=f"these libraries alone: {', '.join(PEERS)}"
    )
    parser.add_argument(
        "--peer-limit", type=float, default=600, metavar="SECONDS", help="a library is stopped after these (600)"
    )
    parser.add_argument(
        "--stream", action="store_true", help="1, 10 and 100 million recommendations from files, then a limit of memory"
    )
    parser.add_argument(
        "--limit", type=int, default=3000, metavar="MB", help="of memory; the files are four times as large (3000)"
    )
    return parser.parse_args(arguments)


def parts_of(chosen: argparse.Namespace) -> list[str]:
    """The parts that are printed."""
    if chosen.only:
        return list(chosen.only)
    if chosen.quick:
        return ["query", "memory", *(["stream"] if chosen.stream else [])]
    return [part for part in PARTS if part != "stream" or chosen.stream]


def facts() -> str:
    """What the numbers depend on most."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = {
        "Python": platform.python_version(),
        "recnb": recnb.__version__,
        "Polars": pl.__version__,
        "pandas": pd.__version__,
        "NumPy": np.__version__,
    }
    return f"{cores} cores; " + ", ".join(f"{name} {version}" for name, version in versions.items())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts that were asked for."""
    chosen = parsed(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary folders and processes end with this one
    parts = parts_of(chosen)
    sizes = [SMALL] if chosen.quick else SIZES
    print(facts(), flush=True)
    if "query" in parts:
        against_query.table(sizes, chosen.rounds)
    if "memory" in parts:
        memory.table(sizes)
    if "peers" in parts:
        against_peers.table(
            [SMALL, *LARGE] if chosen.peers_large else [SMALL],
            chosen.peers,
            limit=chosen.peer_limit,
            rounds=chosen.rounds or 5,
            names=chosen.peer or (),
        )
    if "stream" in parts:
        streamed.growth(rounds=chosen.rounds or 3)
        streamed.under_limit(chosen.limit)
    if "start-up" in parts:
        start_up.line()


if __name__ == "__main__":
    sys.exit(main())
