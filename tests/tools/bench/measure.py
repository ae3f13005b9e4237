"""Seconds and peaks of memory, in this process or of one contender in a process of its own.

The peak is `VmHWM` of /proc/self/status, which writing 5 to /proc/self/clear_refs lowers to what is resident now, so that
loading does not count. `python -m tests.tools.bench.measure six folder` measures a contender and prints it as JSON.
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

from tests.tools.bench.contenders import CONTENDERS

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENOUGH = 30.0  #: seconds after which a contender is not run again


def seconds(*calls: Callable[[], object], rounds: int = 7) -> list[float]:
    """Return the median time of each call, taken in turns so that a busy moment falls on all of them."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, times in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [statistics.median(times[1:]) for times in taken]


@dataclass(frozen=True)
class Measured:
    """What one contender took."""

    values: Mapping[str, float]
    seconds: float  #: median of the runs
    held: int  #: bytes before the first run
    peak: int  #: bytes at most during the first run
    version: str


def resident(field: str) -> int:
    """Return the bytes that the system reports of this process, as VmRSS or VmHWM."""
    lines = pathlib.Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def load(folder: pathlib.Path, reads: str) -> tuple[Any, Any]:
    """Read both frames of a folder as a contender reads them."""
    if reads == "scan":
        import polars as pl

        return pl.scan_parquet(folder / "recs-*.parquet"), pl.scan_parquet(folder / "truth-*.parquet")
    if reads == "polars":
        import polars as pl

        # A path would be mapped, and not count as held.
        recs, truth = (pl.read_ipc(folder.joinpath(f"{name}.arrow").read_bytes()) for name in ("recs", "truth"))
        return recs, truth
    from pyarrow import feather

    recs, truth = (feather.read_table(folder / f"{name}.arrow", memory_map=False) for name in ("recs", "truth"))
    return recs.to_pandas(), truth.to_pandas()


def measured(name: str, folder: pathlib.Path, rounds: int) -> Measured:
    """Measure one contender on the frames of a folder, after a run on those of its folder "tiny"."""
    contender = CONTENDERS[name]
    if (tiny := folder / "tiny").exists():
        contender.ready(*load(tiny, contender.reads))()
    run = contender.ready(*load(folder, contender.reads))
    gc.collect()
    pathlib.Path("/proc/self/clear_refs").write_text("5", "ascii")
    held, taken, most, values = resident("VmRSS"), list[float](), 0, {}
    while not taken or (len(taken) < rounds and sum(taken) < ENOUGH):
        start = time.perf_counter()
        values = {of: float(value) for of, value in run().items()}
        taken.append(time.perf_counter() - start)
        most = most or resident("VmHWM")
    return Measured(values, statistics.median(taken), held, most, metadata.version(contender.distribution))


def alone(
    name: str, folder: pathlib.Path, *, rounds: int = 1, python: pathlib.Path | str = sys.executable, limit: float = 600
) -> Measured | str:
    """Measure a contender in a process that ends after `limit` seconds; return why, if it failed."""
    command = [str(python), "-m", "tests.tools.bench.measure", name, str(folder), str(rounds)]
    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=limit, check=False)
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
