"""One contender in a process of its own: `python -m tests.bench.alone six folder`; prints what it measured, as JSON.

The frames are read from the folder and made ready; then the peak of memory is reset, and the clock starts. With
`--warm` the contender is run on a tiny data set before. The first run is the one whose memory counts; more follow, up
to `--rounds`, as long as all together take less than half a minute. With `--limit` the process may address so many
megabytes and no more.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import pathlib
import statistics
import sys
import time
import warnings
from importlib import metadata
from typing import Any

from tests.bench.contenders import CONTENDERS, Contender
from tests.bench.measure import held, peak, reset_peak
from tests.bench.peers import PEERS

ENOUGH = 30.0  #: seconds after which a contender is not run again
EVERYONE: dict[str, Contender] = {**CONTENDERS, **PEERS}


def load(folder: pathlib.Path, reads: str) -> tuple[Any, Any]:
    """Both frames of a folder, as a contender reads them."""
    if reads == "scan":
        import polars as pl

        return pl.scan_parquet(folder / "recs-*.parquet"), pl.scan_parquet(folder / "truth-*.parquet")
    paths = folder / "recs.arrow", folder / "truth.arrow"
    if reads == "polars":
        import polars as pl

        with paths[0].open("rb") as recs, paths[1].open("rb") as truth:  # a path would be mapped, and not count as held
            return pl.read_ipc(recs), pl.read_ipc(truth)
    from pyarrow import feather

    recs, truth = (feather.read_table(path, memory_map=False).to_pandas() for path in paths)
    return recs, truth


def measured(contender: Contender, folder: pathlib.Path, *, rounds: int, tiny: pathlib.Path | None) -> dict[str, Any]:
    """What one contender takes for the frames of a folder."""
    if tiny is not None:
        contender.ready(*load(tiny, contender.reads))()
    run = contender.ready(*load(folder, contender.reads))
    gc.collect()
    exact = reset_peak()
    before = held()
    taken: list[float] = []
    most = 0
    values: dict[str, float] = {}
    while not taken or (len(taken) < rounds and sum(taken) < ENOUGH):
        start = time.perf_counter()
        values = run()
        taken.append(time.perf_counter() - start)
        most = most or peak()
    return {
        "values": {name: float(value) for name, value in values.items()},
        "seconds": statistics.median(taken),
        "held": before,
        "peak": most,
        "exact": exact,
        "runs": len(taken),
        "version": metadata.version(contender.distribution),
    }


def limit_memory(megabytes: int) -> None:
    """Let this process address so much and no more."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)


def main() -> None:
    """Measure the contender that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("contender", choices=list(EVERYONE))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm", type=pathlib.Path, help="folder of a tiny data set that is run before")
    parser.add_argument("--limit", type=int, help="megabytes that may be addressed")
    chosen = parser.parse_args()
    if chosen.limit:
        limit_memory(chosen.limit)
    warnings.simplefilter("ignore")  # of the libraries
    with contextlib.redirect_stdout(sys.stderr):
        found = measured(EVERYONE[chosen.contender], chosen.folder, rounds=chosen.rounds, tiny=chosen.warm)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
