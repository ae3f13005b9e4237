"""Tables that are not in memory: what holds their rows, and these in batches."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import nullcontext
from typing import Any, TypeAlias

import polars as pl

from recnb.data.columns import refuse_unread
from recnb.data.names import Labels
from recnb.data.tables import (
    FileTable,
    Frame,
    InputTable,
    errors_name_frame,
    is_dataset,
    is_relation,
)
from recnb.display.language import N_

#: Rows of a batch, about.
ROWS = 2**20

Batches: TypeAlias = Generator[pl.DataFrame, None, None]
#: What holds rows that are not in memory, in words, and what to type to have them there.
Origin: TypeAlias = tuple[str, str]


def origin_of(table: InputTable) -> Origin | None:
    """Return what holds the rows of a table; None if they are in memory."""
    frame = table.frame
    if isinstance(frame, pl.LazyFrame) and isinstance(table, FileTable):
        remedy = "read the files into a frame first, polars.read_parquet(...)"
        return N_("files"), remedy
    if isinstance(frame, pl.LazyFrame):
        remedy = "collect the frame first, frame.collect()"
        return N_("a lazy frame"), remedy
    if is_dataset(frame):
        remedy = "read the dataset first, dataset.to_table()"
        return N_("the files of a pyarrow dataset"), remedy
    if is_relation(frame):
        remedy = "fetch the relation first, relation.to_arrow_table()"
        return N_("a DuckDB relation"), remedy
    return None


def batches_of(table: InputTable, labels: Labels) -> Batches:
    """Yield columns under the names of their roles, in batches and in order.

    A table in memory is one batch, which shares the memory of one of Polars. If batches
    are left, close the generator, which closes the files.
    """
    frame = table.frame
    if isinstance(frame, pl.DataFrame):
        yield frame.select(_by_role(labels))
        return
    if origin_of(table) is None:
        yield table.select(labels)
        return
    with errors_name_frame(table.name), _reader(frame, labels) as reader:
        for batch in reader:
            if not isinstance(batch, pl.DataFrame):
                refuse_unread(batch.schema, table.name)
                batch = pl.DataFrame(pl.from_arrow(batch))
            if batch.height:
                # Each batch may have a dictionary of its own: as text they are alike.
                yield batch.with_columns(
                    pl.col(pl.Categorical).cast(pl.String),
                    pl.selectors.enum().cast(pl.String),
                )


def _by_role(labels: Labels) -> list[pl.Expr]:
    """Return columns of a frame of Polars, under the names of their roles."""
    return [pl.col(column).alias(role) for role, column in labels.items()]


def _reader(frame: Frame, labels: Labels) -> Any:
    """Return columns of a table that is not in memory as batches, to be closed."""
    if isinstance(frame, pl.LazyFrame):
        picked = frame.select(_by_role(labels))
        return nullcontext(picked.collect_batches(chunk_size=ROWS, engine="streaming"))
    if is_dataset(frame):
        import pyarrow.dataset as ds

        # One batch and one file ahead: what is read further ahead is held, and is as
        # large as the files.
        columns = {role: ds.field(column) for role, column in labels.items()}
        return frame.scanner(
            columns=columns, batch_size=ROWS, batch_readahead=1, fragment_readahead=1
        ).to_reader()
    import duckdb

    expressions = [
        duckdb.ColumnExpression(column).alias(role) for role, column in labels.items()
    ]
    picked = frame.select(*expressions)
    if hasattr(picked, "to_arrow_reader"):
        return picked.to_arrow_reader(ROWS)
    return picked.fetch_record_batch(ROWS)  # of older versions
