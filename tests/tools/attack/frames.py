"""The frames of a case, as their way in has them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from tests.tools.attack.cases import Case
from tests.tools.attack.kinds import GRADES, IDS, SCORES, Kind

Columns = dict[str, Any]  #: name -> pandas or Polars series


def values_of(kind: Kind, places: list[int]) -> Any:
    return kind.column([kind.values[place] for place in places])


def columns_of(case: Case) -> tuple[Columns, Columns]:
    """The columns of recommendations and of truth."""
    users, items, levels, ranks = (
        list(column) for column in zip(*case.recs, strict=True)
    )
    recs = {
        "user": values_of(IDS[case.users[0]], users),
        "item": values_of(IDS[case.items[0]], items),
    }
    given = {
        "score": values_of(SCORES[case.scores], levels),
        "rank": pd.Series(ranks, dtype="int64"),
    }
    recs |= {name: given[name] for name in case.columns}
    users, items, levels = (list(column) for column in zip(*case.truth, strict=True))
    truth = {
        "user": values_of(IDS[case.users[1]], users),
        "item": values_of(IDS[case.items[1]], items),
    }
    if case.grades != "none":
        truth["relevance"] = values_of(GRADES[case.grades], levels)
    return recs, truth


# Frames of a library
# ----------------------------------------------------------------------------------------------------  # noqa: E501


def as_polars(columns: Columns) -> pl.DataFrame:
    return pl.DataFrame(
        {
            name: one if isinstance(one, pl.Series) else pl.from_pandas(one)
            for name, one in columns.items()
        }
    )


def as_pandas(columns: Columns) -> pd.DataFrame:
    """A pandas frame; columns that only Polars has come over as arrow."""
    made = {
        name: one
        if isinstance(one, pd.Series)
        else pd.Series(pd.arrays.ArrowExtensionArray(one.to_arrow()))
        for name, one in columns.items()
    }
    return pd.DataFrame(made)


def native(columns: Columns) -> Any:
    """Whichever library has all of these columns as they are."""
    polars = any(isinstance(one, pl.Series) for one in columns.values())
    return as_polars(columns) if polars else pd.DataFrame(columns)


def array(one: Any) -> pa.Array:
    made = (
        one.to_arrow()
        if isinstance(one, pl.Series)
        else pa.array(one, from_pandas=True)
    )
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def as_arrow(columns: Columns) -> pa.Table:
    table = pa.table({name: array(one) for name, one in columns.items()})
    middle = table.num_rows // 2
    return pa.concat_tables([table[:middle], table[middle:]])


def as_dataset(columns: Columns) -> Any:
    import pyarrow.dataset as ds

    table = as_arrow(columns)
    return ds.dataset(
        [
            *table[:9].to_batches(),
            *table[:0].to_batches(),
            *table[9:].to_batches(max_chunksize=5),
        ]
    )


def as_relation(columns: Columns) -> Any:
    """A relation that keeps the order of its rows."""
    import duckdb

    one = duckdb.connect()
    one.execute("set threads to 1")
    return one.from_arrow(as_arrow(columns))


CONVERT: dict[str, Callable[[Columns], Any]] = {
    "pandas": as_pandas,
    "pandas on arrow": lambda columns: as_pandas(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": as_polars,
    "lazy": lambda columns: as_polars(columns).lazy(),
    "arrow": as_arrow,
    "dataset": as_dataset,
    "duckdb": as_relation,
}


def convert(columns: Columns, way: str) -> Any:
    """A frame of this kind; the nearest that has such columns where the other library
    does not.
    """
    try:
        return CONVERT.get(way, as_pandas)(columns)
    except Exception:  # each library has its own words for what it has no place for
        return native(columns)


def to_files(frame: Any, folder: Path, rows: int) -> Any:
    """The same rows in several files of Parquet; the frame itself where they have no
    place for such a column.
    """
    with contextlib.suppress(
        pa.ArrowException,
        TypeError,
        ValueError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ):
        table = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
        for number, start in enumerate(range(0, table.height, rows)):
            table[start : start + rows].write_parquet(
                folder / f"{number:03}.parquet", row_group_size=3
            )
        return pl.scan_parquet(folder / "*.parquet")
    return frame


# The ways in
# ------------------------------------------------------------------------------------------------------------  # noqa: E501


def build(case: Case, folder: Path) -> tuple[Any, Any]:
    """Both frames, as their way in has them; the truth is of the same kind or of
    another, or in one frame with the lists.
    """
    choices, (recs, truth) = case.choices(), columns_of(case)
    way = case.way.removeprefix("streamed ")
    if way == "accessor":
        way = choices.choice(["pandas", "polars", "lazy"])
    other = choices.choice([way, way, "pandas", "polars", "arrow"])
    made = convert(recs, way)
    return to_files(
        made, folder, max(case.seed % 7, 2)
    ) if way == "files" else made, convert(truth, other)


def copied(frame: Any) -> str:
    """What a frame in memory holds; nothing of one that is read when it is asked for."""
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        return repr(
            [
                (column, str(frame[column].dtype), frame[column].to_list())
                for column in frame.columns
            ]
        )
    return ""
