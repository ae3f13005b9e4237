"""Tables that are read in batches: lazy Polars frames, pyarrow datasets, DuckDB relations."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import polars as pl

from recnb.data.columns import Frame, collected, from_arrow, is_dataset, is_relation, table_of
from recnb.display.language import N_

#: Rows that a batch has, about.
ROWS = 2**20

Batches = Generator[pl.DataFrame, None, None]


def origin_of(frame: Frame) -> tuple[str, str] | None:
    """What holds the rows of a table that is read in batches, and what to type to have them in memory; None if they are."""
    if isinstance(frame, pl.LazyFrame):
        return N_("a lazy frame"), "collect the frame first, frame.collect()"
    if is_dataset(frame):
        return N_("the files of a pyarrow dataset"), "read the dataset first, dataset.to_table()"
    if is_relation(frame):
        return N_("a DuckDB relation"), "fetch the relation first, relation.to_arrow_table()"
    return None


def batches_of(frame: Frame, name: str, roles: Mapping[str, str]) -> Batches:
    """The columns of the roles, under their names, in batches and in order; of a table in memory there is one batch.

    Batches may share memory with their owner.

    What is read is let go of when the generator is closed, as a connection of DuckDB answers nothing else before.
    """
    with collected(name):
        if origin_of(frame) is None:
            yield table_of(frame, name, roles)
        elif isinstance(frame, pl.LazyFrame):
            picked = frame.select(pl.col(column).alias(role) for role, column in roles.items())
            for batch in picked.collect_batches(chunk_size=ROWS, engine="streaming"):
                if batch.height:
                    yield batch
        else:
            with _reader(frame, roles) as reader:
                for part in reader:
                    if part.num_rows:
                        yield _plain(from_arrow(part, name, roles))


def _reader(frame: Frame, roles: Mapping[str, str]) -> Any:
    """A dataset's or a relation's columns of the roles as a reader of Arrow."""
    if is_dataset(frame):
        import pyarrow.dataset as ds

        # One batch and one file ahead: what is read further ahead is held, and is as large as the files.
        columns = {role: ds.field(column) for role, column in roles.items()}
        return frame.scanner(columns=columns, batch_size=ROWS, batch_readahead=1, fragment_readahead=1).to_reader()
    import duckdb

    picked = frame.select(*(duckdb.ColumnExpression(column).alias(role) for role, column in roles.items()))
    return (getattr(picked, "to_arrow_reader", None) or picked.fetch_record_batch)(ROWS)


def _plain(batch: pl.DataFrame) -> pl.DataFrame:
    """Text for dictionary-encoded text, since dictionaries may differ between batches."""
    return batch.with_columns(pl.col(pl.Categorical).cast(pl.String), pl.selectors.enum().cast(pl.String))


__all__ = ["Batches", "batches_of", "origin_of"]
