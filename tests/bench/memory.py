"""Peaks of memory of recnb and of the query, each in a process of its own that reads the frames from files."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tests.bench.data import Size, make, write
from tests.bench.measure import Measured, alone, head, megabytes, must, row, temporary_folder

NOTE = (
    "The most that was resident while it ran once, without a warm-up, each in a process of its own that had read the frames: the whole "
    "process, with interpreter, imports and frames, and in brackets what came on top of what was held before. Ratios are to the query."
)


def table(sizes: Sequence[Size]) -> None:
    """Print the table."""
    columns = ("Polars, NDCG@10 alone", "recnb, six @10", "ratio", "recnb, twelve × six k", "ratio of twelve")
    head("Memory", NOTE, "data", "ids", *columns)
    everything: list[Measured] = []
    for size in sizes:
        for strings in (False, True):
            query, six, twelve = peaks(size, strings=strings)
            everything += query, six, twelve
            row(
                size.name,
                "strings" if strings else "integers",
                shown(query),
                shown(six),
                ratio(six, query),
                shown(twelve),
                ratio(twelve, query),
            )
    imports = statistics.median(
        six.held - query.held for query, six in zip(everything[::3], everything[1::3], strict=True)
    )
    print(f"\nrecnb's process begins with {megabytes(imports)} more: NumPy, pandas, pyarrow and recnb itself.")
    if not all(one.exact for one in everything):
        print("\nThis system cannot reset the peak: it is that since the process began, reading the frames included.")


def shown(one: Measured) -> str:
    """The peak, and what of it came on top."""
    return f"{megabytes(one.peak)} ({one.on_top / 1e6:+,.0f})"


def ratio(one: Measured, query: Measured) -> str:
    """The ratio of the peaks, and of what came on top."""
    return (
        f"{one.peak / query.peak:.2f} ({one.on_top / query.on_top:.2f})"
        if query.on_top
        else f"{one.peak / query.peak:.2f}"
    )


def peaks(size: Size, *, strings: bool) -> list[Measured]:
    """What the query, six metrics and twelve hold at most."""
    with temporary_folder() as folder:
        write(folder, *make(size, strings=strings))
        return [must(alone(name, folder)) for name in ("query", "six", "twelve")]
