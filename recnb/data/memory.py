"""How much memory this process may still use, on the machine, in its container and below its own limit; and how to return some."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Where Linux mounts the controllers of containers: limit and use in version 2, and in version 1.
GROUPS = {
    Path("/sys/fs/cgroup"): ("memory.max", "memory.current"),
    Path("/sys/fs/cgroup/memory"): ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


def available_memory() -> int:
    """Bytes that this process may still use, at least 0."""
    import psutil

    left: list[int] = [psutil.virtual_memory().available, *_in_groups(), *_below_limits(psutil.Process().memory_info())]
    return max(min(left), 0)


def release_memory() -> None:
    """Return to the system what was freed, and Arrow and the C library keep for later."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # of Linux alone
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _in_groups() -> list[int]:
    """What is left in each container that this process is in."""
    left = []
    for root, files in GROUPS.items():
        for folder in [root, *(root / own for own in _own_groups())]:
            try:
                limit, used = ((folder / file).read_text().strip() for file in files)
                left.append(int(limit) - int(used))
            except (OSError, ValueError):  # there is no such group, or its limit is "max"
                continue
    return left


def _own_groups() -> list[str]:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    return [line.split(":", 2)[2].lstrip("/") for line in lines if line.count(":") >= 2]


def _below_limits(used: Any) -> list[int]:
    """What is left below the limits of addresses (`ulimit -v`) and of data (`ulimit -d`), if there are any."""
    try:
        import resource
    except ImportError:  # on Windows
        return []
    sizes = {resource.RLIMIT_AS: used.vms, resource.RLIMIT_DATA: getattr(used, "data", 0)}
    limits = {kind: resource.getrlimit(kind)[0] for kind in sizes}
    return [limit - sizes[kind] for kind, limit in limits.items() if limit != resource.RLIM_INFINITY]


__all__ = ["available_memory", "release_memory"]
