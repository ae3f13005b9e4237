"""The frames of a case, as their way in has them, and what their owner does to them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.tools.attack.cases import Case
from tests.tools.attack.kinds import GRADES, IDS, SCORES, Kind, with_gaps

Columns = dict[str, Any]  #: name -> pandas or Polars series


def values_of(kind: Kind, places: list[int]) -> Any:
    return kind.column([kind.values[place] for place in places])


def columns_of(case: Case) -> tuple[Columns, Columns]:
    """The columns of recommendations and of truth."""
    users, items, levels, ranks = (list(column) for column in zip(*case.recs, strict=True))
    recs = {"user": values_of(IDS[case.users[0]], users), "item": values_of(IDS[case.items[0]], items)}
    given = {"score": values_of(SCORES[case.scores], levels), "rank": pd.Series(ranks, dtype="int64")}
    recs |= {name: given[name] for name in case.columns}
    users, items, levels = (list(column) for column in zip(*case.truth, strict=True))
    truth = {"user": values_of(IDS[case.users[1]], users), "item": values_of(IDS[case.items[1]], items)}
    if case.grades != "none":
        truth["relevance"] = values_of(GRADES[case.grades], levels)
    return recs, truth


# Frames of a library ----------------------------------------------------------------------------------------------------

#: Arrays of numpy that tables of arrow were made over, which their owner may write to.
BUFFERS: list[np.ndarray[Any, Any]] = []


def as_polars(columns: Columns) -> pl.DataFrame:
    return pl.DataFrame(
        {name: one if isinstance(one, pl.Series) else pl.from_pandas(one) for name, one in columns.items()}
    )


def as_pandas(columns: Columns) -> pd.DataFrame:
    """A pandas frame; columns that only Polars has come over as arrow."""
    made = {
        name: one if isinstance(one, pd.Series) else pd.Series(pd.arrays.ArrowExtensionArray(one.to_arrow()))
        for name, one in columns.items()
    }
    return pd.DataFrame(made)


def native(columns: Columns) -> Any:
    """Whichever library has all of these columns as they are."""
    polars = any(isinstance(one, pl.Series) for one in columns.values())
    return as_polars(columns) if polars else pd.DataFrame(columns)


def array(one: Any) -> pa.Array:
    made = one.to_arrow() if isinstance(one, pl.Series) else pa.array(one, from_pandas=True)
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def over_numpy(columns: Columns) -> pa.Table:
    """A table of arrow over the buffers of numpy, where a column has one."""
    made = {}
    for name, one in columns.items():
        if isinstance(one, pd.Series) and isinstance(one.dtype, np.dtype) and one.dtype.kind in "iuf":
            BUFFERS.append(one.to_numpy(copy=True))
            made[name] = pa.array(BUFFERS[-1])
        else:
            made[name] = array(one)
    return pa.table(made)


def as_arrow(columns: Columns) -> pa.Table:
    table = pa.table({name: array(one) for name, one in columns.items()})
    middle = table.num_rows // 2
    return pa.concat_tables([table[:middle], table[middle:]])


def as_dataset(columns: Columns) -> Any:
    import pyarrow.dataset as ds

    table = as_arrow(columns)
    return ds.dataset([*table[:9].to_batches(), *table[:0].to_batches(), *table[9:].to_batches(max_chunksize=5)])


def as_relation(columns: Columns) -> Any:
    """A relation that keeps the order of its rows."""
    import duckdb

    one = duckdb.connect()
    one.execute("set threads to 1")
    return one.from_arrow(as_arrow(columns))


CONVERT: dict[str, Callable[[Columns], Any]] = {
    "pandas": as_pandas,
    "pandas on arrow": lambda columns: as_pandas(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": as_polars,
    "lazy": lambda columns: as_polars(columns).lazy(),
    "arrow": as_arrow,
    "arrow over numpy": over_numpy,
    "polars over numpy": lambda columns: pl.DataFrame(over_numpy(columns)),
    "dataset": as_dataset,
    "duckdb": as_relation,
}


def convert(columns: Columns, way: str) -> Any:
    """A frame of this kind; the nearest that has such columns where the other library does not."""
    try:
        return CONVERT.get(way, as_pandas)(columns)
    except Exception:  # each library has its own words for what it has no place for
        return native(columns)


def to_files(frame: Any, folder: Path, rows: int) -> Any:
    """The same rows in several files of Parquet; the frame itself where they have no place for such a column."""
    with contextlib.suppress(
        pa.ArrowException, TypeError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException
    ):
        table = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
        for number, start in enumerate(range(0, table.height, rows)):
            table[start : start + rows].write_parquet(folder / f"{number:03}.parquet", row_group_size=3)
        return pl.scan_parquet(folder / "*.parquet")
    return frame


# The ways in ------------------------------------------------------------------------------------------------------------


def build(case: Case, folder: Path) -> tuple[Any, Any]:
    """Both frames, as their way in has them; the truth is of the same kind or of another, or in one frame with the lists."""
    BUFFERS.clear()
    choices, (recs, truth) = case.choices(), columns_of(case)
    way = case.way.removeprefix("streamed ")
    if way == "one frame":
        return convert(both_sides(case), choices.choice(["pandas", "pandas", "polars", "lazy", "arrow"])), None
    if way == "frame of lists":
        return list_frame(case), None
    if way == "dask":
        return native(recs), native(truth)
    if way == "accessor":
        way = choices.choice(["pandas", "polars", "lazy"])
    other = choices.choice([way, way, "pandas", "polars", "arrow"])
    made = convert(recs, way)
    return to_files(made, folder, max(case.seed % 7, 2)) if way == "files" else made, convert(truth, other)


def single_rows(case: Case) -> list[tuple[int, int, int | None, int | None, int | None]]:
    """A row for each pair, as (user, item, level, rank, grade): what was recommended, then what else is judged."""
    grade = {(user, item): level for user, item, level in case.truth}
    shown = {row[:2] for row in case.recs}
    made = [(*row, grade.get(row[:2])) for row in case.recs]
    return [*made, *((user, item, None, None, level) for user, item, level in case.truth if (user, item) not in shown)]


def both_sides(case: Case) -> Columns:
    """The columns of one frame that has recommendations and truth."""
    users, items, levels, ranks, grades = (list(column) for column in zip(*single_rows(case), strict=True))
    columns: Columns = {"user": values_of(IDS[case.users[0]], users), "item": values_of(IDS[case.items[0]], items)}
    for name, kind, places in (("score", SCORES[case.scores], levels), ("relevance", GRADES[case.grades], grades)):
        if name in case.columns or name == "relevance":
            columns[name] = with_gaps(kind, [None if place is None else kind.values[place] for place in places])
    if "rank" in case.columns:
        columns["rank"] = pd.Series(ranks, dtype="Int64")
    return columns


def lists_of(case: Case) -> dict[int, list[int]]:
    """Each user's items in order of rank."""
    lists: dict[int, list[int]] = {}
    for user, item, _, _ in sorted(case.recs, key=lambda row: row[3] if case.columns[0] == "rank" else -row[2]):
        lists.setdefault(user, []).append(item)
    return lists


def place_of_user(user: int) -> int:
    """Return where a user stands in a frame of lists."""
    return (user * 7) % 11


def list_frame(case: Case) -> pd.DataFrame:
    """A row for each user, with lists in cells."""
    lists, items, grades = lists_of(case), IDS[case.items[0]].values, GRADES[case.grades].values
    users = sorted({row[0] for row in (*case.recs, *case.truth)}, key=place_of_user)
    judged: dict[int, dict[Any, Any]] = {user: {} for user in users}
    for user, item, level in case.truth:
        judged[user][items[item]] = grades[level]
    cell = case.choices().choice([list, tuple, lambda cell: np.array(cell, dtype=object)])
    recommended = [cell([items[item] for item in lists.get(user, [])]) for user in users]
    relevant = [list(judged[user]) if case.grades == "none" else judged[user] for user in users]
    frame = as_pandas({"user": values_of(IDS[case.users[0]], users)})
    return frame.assign(recommended=pd.Series(recommended, dtype=object), relevant=pd.Series(relevant, dtype=object))


def settled(case: Case) -> Case:
    """Return the case as its way in can hold it: one frame has each pair once, a list no equal scores and no empty places."""
    if case.way in ("one frame", "frame of lists", "one list", "spoiled"):
        recs, truth = ({row[:2]: row for row in rows} for rows in (case.recs, case.truth))
        once = {"recs": tuple(recs.values()), "truth": tuple(truth.values())}
        case = replace(case, **once, users=case.users[:1] * 2, items=case.items[:1] * 2)
    if case.way in ("frame of lists", "one list"):
        rows = ((user, item, 0, rank) for user, items in lists_of(case).items() for rank, item in enumerate(items, 1))
        case = replace(case, recs=tuple(rows), columns=("rank",))
    if case.way == "one frame":
        judged = ((user, item, grade) for user, item, _, _, grade in single_rows(case) if grade is not None)
        case = replace(case, truth=tuple(judged))
    if case.way == "frame of lists":
        case = replace(case, truth=tuple(sorted(case.truth, key=lambda row: (place_of_user(row[0]), row[0]))))
    return case


# What the owner does to them --------------------------------------------------------------------------------------------


def copied(frame: Any) -> str:
    """What a frame in memory holds; nothing of one that is read when it is asked for."""
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        return repr([(column, str(frame[column].dtype), frame[column].to_list()) for column in frame.columns])
    return ""


def change(frame: Any, choices: Random) -> None:
    """What a user does to a frame in the next cell."""
    if isinstance(frame, pl.DataFrame) and frame.height:
        for column in frame.columns:
            with contextlib.suppress(pl.exceptions.PolarsError):  # not every type can be written to
                frame[0, column] = frame[column][-1]
    elif isinstance(frame, pd.DataFrame) and len(frame):
        for column in frame.columns:
            value = frame[column].iloc[-1]
            if isinstance(value, (list, tuple, dict, np.ndarray)):
                for cell in frame[column]:
                    if isinstance(cell, (list, dict)):
                        cell.clear()
                continue
            with contextlib.suppress(OverflowError):  # pandas writes no integer above 2**63 into a column of Arrow
                how = choices.choice(["loc", "iloc", "mask", "column"])
                if how == "loc":
                    frame.loc[:, column] = value
                elif how == "iloc":
                    frame.iloc[0, frame.columns.get_loc(column)] = value
                elif how == "mask":
                    frame.loc[frame[column] != value, column] = value
                else:
                    frame[column] = value
    for values in BUFFERS:
        values[:] = values[-1:]
