"""The frames of a case, and the ways in which they come to recnb."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import recnb
from recnb.data import buckets
from tests.tools.attack.cases import Case, Choices
from tests.tools.attack.kinds import GRADES, IDS, SCORES, Kind, with_gaps

Columns = dict[str, Any]  #: name -> pandas or Polars series


def values_of(kind: Kind, places: list[int]) -> Any:
    return kind.column([kind.values[place] for place in places])


def columns_of(case: Case) -> tuple[Columns, Columns]:
    """The columns of recommendations and of truth."""
    users, items, levels, ranks = (list(column) for column in zip(*case.recs, strict=True)) if case.recs else ([],) * 4
    recs = {"user": values_of(IDS[case.users[0]], users), "item": values_of(IDS[case.items[0]], items)}
    given = {"score": values_of(SCORES[case.scores], levels), "rank": pd.Series(ranks, dtype="int64")}
    recs |= {name: given[name] for name in case.columns}
    users, items, levels = (list(column) for column in zip(*case.truth, strict=True)) if case.truth else ([],) * 3
    truth = {"user": values_of(IDS[case.users[1]], users), "item": values_of(IDS[case.items[1]], items)}
    if case.grades != "none":
        truth["relevance"] = values_of(GRADES[case.grades], levels)
    return recs, truth


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


class NoSuchFrameError(Exception):
    """No library has such columns side by side."""


def made(build: Callable[..., Any]) -> Callable[..., Any]:
    """What goes wrong in making a frame is no fault of recnb's."""

    @functools.wraps(build)
    def call(*args: Any) -> Any:
        try:
            return build(*args)
        except Exception as problem:  # each library has its own words for what it has no place for
            raise NoSuchFrameError from problem

    return call


@made
def native(columns: Columns) -> Any:
    """Whichever library has all of these columns as they are."""
    if not any(isinstance(one, pl.Series) for one in columns.values()):
        return pd.DataFrame(columns)
    return as_polars(columns)


#: Arrays of numpy that tables of arrow were made over, which their owner may write to.
BUFFERS: list[np.ndarray[Any, Any]] = []


def over_numpy(columns: Columns) -> pa.Table:
    """A table of arrow over the buffers of numpy, where a column has one."""
    made = {}
    for name, one in columns.items():
        if isinstance(one, pd.Series) and isinstance(one.dtype, np.dtype) and one.dtype.kind in "iuf":
            BUFFERS.append(one.to_numpy(copy=True))
            made[name] = pa.array(BUFFERS[-1])
        else:
            made[name] = _arrow(one)
    return pa.table(made)


def _arrow(one: Any) -> pa.Array:
    made = one.to_arrow() if isinstance(one, pl.Series) else pa.array(one, from_pandas=True)
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def as_arrow(columns: Columns) -> pa.Table:
    table = pa.table({name: _arrow(one) for name, one in columns.items()})
    middle = table.num_rows // 2
    return pa.concat_tables([table[:middle], table[middle:]])


def as_dataset(columns: Columns) -> Any:
    import pyarrow.dataset as ds

    table = as_arrow(columns)
    return ds.dataset(
        [*table[:9].to_batches(), *table[:0].to_batches(), *table[9:].to_batches(max_chunksize=5)] or table
    )


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


@contextlib.contextmanager
def small_batches() -> Iterator[None]:
    """What has more than 3 rows is read in batches of 4, and put into files, in buckets of about 7 rows."""
    sizes = {"WHOLE": 3, "SHARE": 0, "BLOCK": 2, "BUCKET": 7 * 24, "SLOTS": 8}
    before, rows = {name: getattr(buckets, name) for name in sizes}, buckets.ROWS
    try:
        for name, size in sizes.items():
            setattr(buckets, name, size)
        buckets.ROWS = 4
        yield
    finally:
        for name, size in before.items():
            setattr(buckets, name, size)
        buckets.ROWS = rows


def convert(columns: Columns, way: str) -> Any:
    """A frame of this kind; the nearest that has such columns where the other library does not."""
    try:
        return CONVERT[way](columns)
    except Exception:  # each library has its own words for what it has no place for
        return native(columns)


@made
def frames(case: Case) -> tuple[Any, Any]:
    """Both frames, as their way in has them; the truth is of the same kind or of another."""
    recs, truth = columns_of(case)
    way = case.way.removeprefix("streamed ")
    if way == "accessor":
        way = case.choices().one(["pandas", "polars", "lazy"])
    way = way if way in CONVERT else "pandas"
    other = case.choices().one([way, way, "pandas", "polars", "arrow"])
    return convert(recs, way), convert(truth, other)


def to_files(frame: Any, folder: Path, case: Case) -> Any:
    """The same rows in several files of Parquet; the frame itself where they have no place for such a column."""
    table = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    step = max(case.seed % 7, 2)
    try:
        for number, start in enumerate(range(0, table.height, step)):
            table[start : start + step].write_parquet(folder / f"{number:03}.parquet", row_group_size=3)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return frame
    return pl.scan_parquet(folder / "*.parquet")


@contextlib.contextmanager
def evaluated(case: Case, recs: Any, truth: Any) -> Iterator[recnb.Evaluation]:
    """The evaluation of frames, by a way in that gives an Evaluation."""
    with contextlib.ExitStack() as stack:
        if case.way.startswith("streamed"):
            stack.enter_context(small_batches())
        if case.way == "streamed files":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            with contextlib.suppress(pa.ArrowException, TypeError, ValueError, pl.exceptions.PolarsError):
                recs = to_files(recs, folder, case)
        if case.way == "accessor" and hasattr(recs, "rec"):
            yield recs.rec.against(truth, **case.options)
        else:
            yield recnb.evaluate(recs, truth, **case.options)


# Both sides in one frame ----------------------------------------------------------------------------------------------


def single_rows(case: Case) -> list[tuple[int, int, int | None, int | None, int | None]]:
    """A row for each pair, as (user, item, level, rank, grade): what was recommended, then what else is judged."""
    grade = {(user, item): level for user, item, level in case.truth}
    shown = {row[:2] for row in case.recs}
    made = [(*row, grade.get(row[:2])) for row in case.recs]
    return [*made, *((user, item, None, None, level) for user, item, level in case.truth if (user, item) not in shown)]


@made
def one_frame(case: Case) -> Any:
    users, items, levels, ranks, grades = (list(column) for column in zip(*single_rows(case), strict=True))
    columns: Columns = {"user": values_of(IDS[case.users[0]], users), "item": values_of(IDS[case.items[0]], items)}
    for name, kind, places in (("score", SCORES[case.scores], levels), ("relevance", GRADES[case.grades], grades)):
        if name in case.columns or name == "relevance":
            columns[name] = with_gaps(kind, [None if place is None else kind.values[place] for place in places])
    if "rank" in case.columns:
        columns["rank"] = pd.Series(ranks, dtype="Int64")
    way = case.choices().one(["pandas", "pandas", "polars", "lazy", "arrow"])
    return convert(columns, way)


def lists_of(case: Case) -> dict[int, list[int]]:
    """Each user's items in order of rank."""
    lists: dict[int, list[int]] = {}
    for user, item, _, _ in sorted(case.recs, key=lambda row: row[3] if case.columns[0] == "rank" else -row[2]):
        lists.setdefault(user, []).append(item)
    return lists


def place_of_user(user: int) -> int:
    """Return where a user stands in a frame of lists."""
    return (user * 7) % 11


@made
def list_frame(case: Case) -> Any:
    """A row for each user, with lists in cells."""
    lists, kind = lists_of(case), IDS[case.items[0]]
    users = sorted({row[0] for row in case.recs} | {row[0] for row in case.truth}, key=place_of_user)
    judged = {
        user: {kind.values[item]: GRADES[case.grades].values[level] for one, item, level in case.truth if one == user}
        for user in users
    }
    cells = case.choices().one([list, tuple, lambda cell: np.array(cell, dtype=object)])
    columns = {
        "user": values_of(IDS[case.users[0]], users),
        "recommended": pd.Series(
            [cells([kind.values[item] for item in lists.get(user, [])]) for user in users], dtype=object
        ),
        "relevant": pd.Series(
            [list(judged[user]) if case.grades == "none" else judged[user] for user in users], dtype=object
        ),
    }
    return pd.DataFrame(
        {name: one if isinstance(one, pd.Series) else as_pandas({name: one})[name] for name, one in columns.items()}
    )


@made
def copied(frame: Any) -> str:
    """What a frame in memory holds; nothing of one that is read when it is asked for."""
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        return repr([(column, str(frame[column].dtype), frame[column].to_list()) for column in frame.columns])
    return ""


def changed(frame: Any, draw: Choices) -> None:
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
            how = draw.one(["loc", "iloc", "at", "mask", "column"])
            with contextlib.suppress(OverflowError):  # pandas writes no integer above 2**63 into a column of Arrow
                if how == "loc":
                    frame.loc[:, column] = value
                elif how == "iloc":
                    frame.iloc[0, frame.columns.get_loc(column)] = value
                elif how == "at":
                    frame.at[0, column] = value
                elif how == "mask":
                    frame.loc[frame[column] != value, column] = value
                else:
                    frame[column] = value
    for values in BUFFERS:
        values[:] = values[-1:]


# What must be refused -------------------------------------------------------------------------------------------------

Frames = tuple[pd.DataFrame, pd.DataFrame]


def _set(role: str, value: Any, kind: str = "float64") -> Callable[[Frames, int], Frames]:
    """Return what puts a value into one row of a column."""

    def spoil(frames: Frames, at: int) -> Frames:
        recs, truth = frames
        frame = truth if role == "relevance" else recs
        frame[role] = frame[role].astype(kind)
        frame.loc[0 if role == "relevance" else at, role] = value
        return recs, truth

    return spoil


def _all(role: str, change: Callable[[pd.Series[Any]], Any], sides: int = 1) -> Callable[[Frames, int], Frames]:
    """Return what changes a column of recommendations, or of both sides."""
    return lambda frames, at: tuple(  # type: ignore[return-value]
        frame.assign(**{role: change(frame[role])}) if side < sides else frame for side, frame in enumerate(frames)
    )


def _ranked(value: float | None) -> Callable[[Frames, int], Frames]:
    """Return what gives ranks, of which one is this value, or comes twice."""

    def spoil(frames: Frames, at: int) -> Frames:
        recs, truth = frames
        recs = recs.drop(columns="score").assign(rank=recs.groupby("user").cumcount() + 1.0)
        if value is None:
            return pd.concat([recs, recs.assign(item=99).iloc[[at]]], ignore_index=True), truth
        recs.loc[at, "rank"] = value
        return recs, truth

    return spoil


def _two_kinds(role: str) -> Callable[[Frames, int], Frames]:
    def spoil(frames: Frames, at: int) -> Frames:
        recs, truth = frames
        recs = pd.concat([recs, recs.assign(**{role: 98})], ignore_index=True)
        recs[role] = pd.Series([str(one) if row == at else one for row, one in enumerate(recs[role])], dtype=object)
        return recs, truth.assign(**{role: truth[role].astype(object)})

    return spoil


#: What is done to frames that must then be refused; the second argument is a row of the recommendations.
SPOILS: dict[str, Callable[[Frames, int], Frames]] = {
    "score missing": _set("score", np.nan),
    "score infinite": _set("score", np.inf),
    "score -infinite": _set("score", -np.inf),
    "relevance missing": _set("relevance", np.nan),
    "relevance below 0": _set("relevance", -1.0),
    "score as text": _all("score", lambda one: one.map("{:.1f}".format)),
    "complex scores": _all("score", lambda one: one + 1j),
    "rank 0": _ranked(0),
    "rank 1.5": _ranked(1.5),
    "rank twice": _ranked(None),
    "no recommendations": lambda frames, at: (frames[0].iloc[:0], frames[1]),
    "no truth": lambda frames, at: (frames[0], frames[1].iloc[:0]),
    "items as lists": _all("item", lambda one: pd.Series([[item] for item in one], dtype=object)),
    **{f"{role} missing of {kind}": _set(role, np.nan if kind == "float64" else None, kind)
       for role in ("user", "item") for kind in ("float64", "Int64", "object")},
    **{f"{role}: {how}": spoil for role in ("user", "item") for how, spoil in {
        "text on one side": _all(role, lambda one: one.astype("str")),
        "dates on one side": _all(role, lambda one: one.astype("datetime64[s]")),
        "two kinds": _two_kinds(role),
        "floats above 2**53": _all(role, lambda one: one.astype(float) + 2.0**54, 2),
        "float32 above 2**24": _all(role, lambda one: one.astype("float32") + np.float32(2**25), 2),
        "fractions": _all(role, lambda one: one + 0.5),
        "a column twice": lambda frames, at, role=role: (pd.concat([frames[0], frames[0][[role]]], axis=1), frames[1]),
    }.items()},
}  # fmt: skip


def spoiled(case: Case) -> tuple[str, Any, Any]:
    """Return what was done to the frames, and the frames."""
    choices = case.choices()
    how, at, n = choices.one(list(SPOILS)), int(choices.rng.integers(len(case.recs))), len(case.recs)
    ids = {name: IDS["int64"].column([row[place] for row in case.recs]) for name, place in (("user", 0), ("item", 1))}
    recs = pd.DataFrame({**ids, "score": np.arange(n, dtype=float)[::-1]})
    truth = pd.DataFrame(case.truth, columns=["user", "item", "relevance"]).astype({"relevance": float})
    recs, truth = SPOILS[how]((recs, truth), at)
    way = choices.one(["pandas", "polars", "arrow"]) if recs.columns.is_unique else "pandas"
    return how, recs if way == "pandas" else convert({name: recs[name] for name in recs.columns}, way), truth
