"""Batches of rows with whole users: cut between users, or distributed to temporary files by user."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl

#: Files that rows are written to by user at a time; a file that is still too large is cut once more.
BUCKETS = 64
#: How often files are cut: one user's rows cannot be.
DEEPEST = 3

Tables = Generator[pl.DataFrame, None, None]


def between_users(batches: Iterable[pl.DataFrame], rows: int) -> Tables:
    """Cut tables between users; a user whose rows are not adjacent occurs in several."""
    held: list[pl.DataFrame] = []
    n, wanted = 0, rows
    for batch in batches:
        held.append(batch)
        n += batch.height
        if n < wanted:
            continue
        table = pl.concat(held, rechunk=True)
        last = _last_begins(table["user"])
        if last == 0:
            # One user's list, of which there may be more: looked at again when it is twice as long.
            held, wanted = [table], 2 * n
            continue
        # Rows that are taken out, and not a view, so that the table can go.
        held, n, wanted = [table[np.arange(last, n)]], n - last, rows
        yield table[:last]
        del table
    if held:
        yield pl.concat(held, rechunk=True)


def by_files(batches: Iterable[pl.DataFrame], rows: int, level: int = 0) -> Tables:
    """Tables of about so many rows, by way of temporary files, which are gone afterwards; a user's rows keep their order."""
    with tempfile.TemporaryDirectory(prefix="recnb-") as folder:
        held: list[pl.DataFrame] = []
        for file, n in _written(batches, Path(folder), level):
            if n > 2 * rows and level + 1 < DEEPEST:
                yield from by_files(_batches_of(file), rows, level + 1)
                continue
            held.extend(_batches_of(file))
            if sum(table.height for table in held) >= rows:
                yield pl.concat(held, rechunk=True)
                held = []
            file.unlink()
        if held:
            yield pl.concat(held, rechunk=True)


def _last_begins(users: pl.Series) -> int:
    """First row of the last user."""
    for some in (users.tail(2**12), users):
        others = (some != some.tail(1)).arg_true()
        if len(others):
            return len(users) - len(some) + int(others[-1]) + 1
    return 0


def _written(batches: Iterable[pl.DataFrame], folder: Path, level: int) -> list[tuple[Path, int]]:
    """Files that each hold all rows of their users, and how many rows that are."""
    import pyarrow as pa

    rows = np.zeros(BUCKETS, dtype=np.int64)
    files = [folder / f"{bucket}.arrow" for bucket in range(BUCKETS)]
    packed = pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as open_files:
        writers: dict[int, pa.RecordBatchStreamWriter] = {}
        for batch in batches:
            bucket = pl.col("user").hash(seed=level) % BUCKETS
            apart = batch.with_columns(bucket=bucket).partition_by("bucket", as_dict=True, include_key=False)
            for (number,), some in apart.items():
                table = some.to_arrow(compat_level=pl.CompatLevel.oldest())
                if number not in writers:
                    file = open_files.enter_context(pa.OSFile(str(files[number]), "wb"))
                    writer = pa.ipc.new_stream(file, table.schema, options=packed)
                    writers[number] = open_files.enter_context(writer)
                writers[number].write_table(table)
                rows[number] += some.height
    return [(file, n) for file, n in zip(files, rows.tolist(), strict=True) if n]


def _batches_of(file: Path) -> Iterator[pl.DataFrame]:
    import pyarrow as pa

    with pa.OSFile(str(file), "rb") as source, pa.ipc.open_stream(source) as reader:
        for batch in reader:
            yield pl.DataFrame(pl.from_arrow(batch))


__all__ = ["between_users", "by_files"]
