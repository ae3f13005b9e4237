"""Seconds and peaks of memory, and a process of its own for one contender.

The peak is `VmHWM` of /proc/self/status, the most that was resident at any moment; writing 5 to /proc/self/clear_refs
lowers it to what is resident now, so that loading does not count. Where there is no such file it is `ru_maxrss`, the
peak since the process began, and the tables say so.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STATUS = pathlib.Path("/proc/self/status")
CLEAR = pathlib.Path("/proc/self/clear_refs")
WORDS = ("data", "ids", "library", "same numbers", "under the limit", "outcome", "")  #: columns that hold no numbers


def seconds(*calls: Callable[[], object], rounds: int = 7) -> list[float]:
    """The median time of each call, taken in turns so that a busy moment falls on all of them."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, times in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [statistics.median(times[1:]) for times in taken]


def status(field: str, process: int | str = "self") -> int:
    """Bytes that the system reports of a process, such as VmRSS and VmHWM."""
    text = pathlib.Path(f"/proc/{process}/status").read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def reset_peak() -> bool:
    """Let the peak begin at what is held now; False where the system cannot."""
    try:
        CLEAR.write_text("5", "ascii")
    except OSError:
        return False
    return True


def held() -> int:
    """Bytes resident now; where the system does not say, the peak so far."""
    return status("VmRSS") if STATUS.exists() else peak()


def peak() -> int:
    """Bytes resident at most, since the last reset."""
    if STATUS.exists():
        return status("VmHWM")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@dataclass(frozen=True)
class Measured:
    """What a process of its own reported of one contender."""

    values: Mapping[str, float]
    seconds: float  #: median of the runs
    held: int  #: bytes before the first run
    peak: int  #: bytes at most during the first run
    exact: bool  #: whether the peak was reset before it
    runs: int
    version: str  #: of the library that was asked

    @property
    def on_top(self) -> int:
        """Bytes at most, beyond what was held before."""
        return max(0, self.peak - self.held)


@dataclass(frozen=True)
class Failed:
    """Why a process of its own reported nothing."""

    reason: str


def alone(
    contender: str,
    folder: pathlib.Path,
    *options: str,
    python: pathlib.Path | str = sys.executable,
    limit: float | None = None,
    most: float = float("inf"),
    environ: Mapping[str, str] | None = None,
) -> Measured | Failed:
    """Measure a contender on the files of a folder, in a process that ends after `limit` seconds or above `most` bytes."""
    command = [str(python), "-m", "tests.bench.alone", contender, str(folder), *options]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **(environ or {})}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, cwd=ROOT, env=given, stdout=out, stderr=err, text=True)
        if reason := _stopped(process, limit, most):
            return Failed(reason)
        out.seek(0)
        err.seek(0)
        printed, said = out.read().splitlines(), err.read().splitlines()
    if process.returncode:
        return Failed(_reason(process.returncode, said))
    return Measured(**json.loads(printed[-1]))


def must(found: Measured | Failed) -> Measured:
    """What was measured, where nothing may fail."""
    if isinstance(found, Failed):
        raise RuntimeError(f"not measured: {found.reason}")
    return found


def _stopped(process: subprocess.Popen[str], limit: float | None, most: float) -> str:
    """Wait for a process; why it had to be ended, if it had."""
    start = time.monotonic()
    reason = ""
    try:
        while not reason:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.2)
                return ""
            if limit is not None and time.monotonic() - start > limit:
                reason = f"over {limit / 60:.3g} min" if limit >= 60 else f"over {limit:.3g} s"
            elif most < float("inf") and resident(process.pid) > most:
                reason = f"over {most / 2**30:.0f} GB of memory"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return reason


def resident(process: int) -> int:
    """Bytes resident in another process; 0 where the system does not say."""
    try:
        return status("VmRSS", process)
    except (OSError, StopIteration):
        return 0


def _reason(code: int, said: Sequence[str]) -> str:
    telling = [line for line in said if any(word in line.lower() for word in ("error", "alloc", "memory", "panick"))]
    last = (telling or list(said) or ["nothing said"])[-1].strip()
    return f"{'signal ' + str(-code) if code < 0 else 'exit ' + str(code)}: {last[:160]}"


@contextlib.contextmanager
def temporary_folder() -> Iterator[pathlib.Path]:
    """A folder that is gone afterwards, whatever happens."""
    with tempfile.TemporaryDirectory(prefix="recnb-bench-") as folder:
        yield pathlib.Path(folder)


def row(*cells: Any) -> None:
    """A row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(title: str, note: str, *columns: str) -> None:
    """The title of a table, what it shows, and its columns; those that hold numbers stand to the right."""
    print(f"\n### {title}\n\n{note}\n")
    row(*columns)
    row(*("---" if column in WORDS else "---:" for column in columns))


def megabytes(size: float) -> str:
    """Bytes, as megabytes."""
    return f"{size / 1e6:,.0f} MB"


def time_of(taken: float) -> str:
    """Seconds, with as many digits as can be told apart."""
    return f"{taken:.3f} s" if taken < 10 else f"{taken:.1f} s"
