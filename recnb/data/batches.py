"""Tables that are not in memory: what holds their rows, and these in batches."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import nullcontext
from typing import Any, NamedTuple

import polars as pl

from recnb.data.convert import refuse_unread
from recnb.data.names import Labels
from recnb.data.tables import (
    Frame,
    InputTable,
    Scanned,
    errors_name_frame,
    is_dataset,
    is_relation,
)
from recnb.display.language import N_

#: Rows of a batch, about.
ROWS = 2**20

Batches = Generator[pl.DataFrame, None, None]


class Origin(NamedTuple):
    """What holds rows that are not in memory."""

    where: str
    remedy: str  #: what to type to have them there


def origin_of(frame: Frame) -> Origin | None:
    """Return what holds the rows of a table; None if they are in memory."""
    if isinstance(frame, Scanned):
        remedy = "read the files into a frame first, polars.read_parquet(...)"
        return Origin(N_("files"), remedy)
    if isinstance(frame, pl.LazyFrame):
        remedy = "collect the frame first, frame.collect()"
        return Origin(N_("a lazy frame"), remedy)
    if is_dataset(frame):
        remedy = "read the dataset first, dataset.to_table()"
        return Origin(N_("the files of a pyarrow dataset"), remedy)
    if is_relation(frame):
        remedy = "fetch the relation first, relation.to_arrow_table()"
        return Origin(N_("a DuckDB relation"), remedy)
    return None


def batches_of(frame: Frame, name: str, labels: Labels) -> Batches:
    """Yield columns under the names of their roles, in batches and in order.

    A table in memory is one batch. If batches are left, close the generator, which closes
    the files.
    """
    if origin_of(frame) is None:
        yield InputTable.of(frame, name).select(labels)
        return
    with errors_name_frame(name), _reader(frame, labels) as reader:
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


def _reader(frame: Frame, labels: Labels) -> Any:
    """Return columns of a table that is not in memory as batches, to be closed."""
    if isinstance(frame, pl.LazyFrame):
        picked = frame.select(
            pl.col(column).alias(role) for role, column in labels.items()
        )
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
