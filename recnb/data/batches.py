"""Tables that are not in memory: what holds their rows, and these in batches."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import nullcontext
from typing import Any

import polars as pl

from recnb.data.tables import (
    Frame,
    InputTable,
    Scanned,
    collected,
    is_dataset,
    is_relation,
    refuse_unread,
)
from recnb.display.language import N_

#: Rows of a batch that is read, about.
ROWS = 2**20

Batches = Generator[pl.DataFrame, None, None]


def origin_of(frame: Frame) -> tuple[str, str] | None:
    """Return what holds the rows of a table that is read in batches.

    What to type to have them in memory comes with it. None: they are there.
    """
    if isinstance(frame, Scanned):
        remedy = "read the files into a frame first, polars.read_parquet(...)"
        return N_("files"), remedy
    if isinstance(frame, pl.LazyFrame):
        return N_("a lazy frame"), "collect the frame first, frame.collect()"
    if is_dataset(frame):
        remedy = "read the dataset first, dataset.to_table()"
        return N_("the files of a pyarrow dataset"), remedy
    if is_relation(frame):
        remedy = "fetch the relation first, relation.to_arrow_table()"
        return N_("a DuckDB relation"), remedy
    return None


def batches_of(frame: Frame, name: str, roles: Mapping[str, str]) -> Batches:
    """Yield the columns of the roles in batches and in order.

    A table in memory is yielded as one batch. Close the generator if not all batches are
    taken from it: that closes the files.
    """
    if origin_of(frame) is None:
        yield InputTable.of(frame, name).select(roles)
        return
    with collected(name), _reader(frame, roles) as reader:
        for batch in reader:
            if not isinstance(batch, pl.DataFrame):
                refuse_unread(batch.schema, name)
                batch = pl.DataFrame(pl.from_arrow(batch))
            if batch.height:
                # Each batch may have a dictionary of its own: as text they are alike.
                yield batch.with_columns(
                    pl.col(pl.Categorical).cast(pl.String),
                    pl.selectors.enum().cast(pl.String),
                )


def _reader(frame: Frame, roles: Mapping[str, str]) -> Any:
    """Return columns of a table that is not in memory as batches, to be closed."""
    if isinstance(frame, pl.LazyFrame):
        picked = frame.select(
            pl.col(column).alias(role) for role, column in roles.items()
        )
        return nullcontext(picked.collect_batches(chunk_size=ROWS, engine="streaming"))
    if is_dataset(frame):
        import pyarrow.dataset as ds

        # One batch and one file ahead: what is read further ahead is held, and is as
        # large as the files.
        columns = {role: ds.field(column) for role, column in roles.items()}
        return frame.scanner(
            columns=columns, batch_size=ROWS, batch_readahead=1, fragment_readahead=1
        ).to_reader()
    import duckdb

    expressions = [
        duckdb.ColumnExpression(column).alias(role) for role, column in roles.items()
    ]
    picked = frame.select(*expressions)
    if hasattr(picked, "to_arrow_reader"):
        return picked.to_arrow_reader(ROWS)
    return picked.fetch_record_batch(ROWS)  # of older versions
