"""What the caller does to frames, arrays and tables after `evaluate` changes nothing of the evaluation.

Lists and truth of any kind are changed by the law of `tests/test_attack.py`; here are the frames beside them, and all that holds rows.
"""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import recnb
from recnb.evaluate import model_evaluation

Columns = dict[str, Any]

#: More than one metric, so that what is read at once and what is read later are both asked for.
METRICS = ["recall", "ndcg", "reciprocal_rank", "average_precision"]


def columns() -> dict[str, Columns]:
    """Arrays of every frame that an evaluation takes: users 1 to 4 of two cities, items 10 to 19."""
    return {
        "recs": {
            "user": np.repeat(np.arange(1, 5), 3),
            "item": np.array([10, 11, 12, 13, 14, 10, 12, 15, 16, 11, 17, 18]),
            "score": np.tile([0.9, 0.5, 0.1], 4),
        },
        "truth": {
            "user": np.array([1, 1, 2, 3, 4]),
            "item": np.array([11, 19, 13, 16, 11]),
            "relevance": np.array([1.0, 2.0, 3.0, 1.0, 2.0]),
            "wave": np.array([1, 1, 2, 1, 2]),
        },
        "train": {"user": np.array([1, 2, 3, 4, 4]), "item": np.array([15, 16, 17, 12, 10])},
        "items": {"item": np.arange(10, 20), "weight": np.linspace(0.1, 1.0, 10)},
        "users": {"user": np.arange(1, 5), "city": np.array([1, 2, 1, 2])},
    }


def evaluated(frames: dict[str, Any]) -> recnb.Evaluation:
    return recnb.evaluate(frames["recs"], **{name: frames[name] for name in frames if name != "recs"})


def asked(ev: recnb.Evaluation) -> dict[str, Any]:
    """Numbers that look at every frame, and at the rows of the lists."""
    return {
        "table": ev.table(METRICS, k=[1, 3]).to_frame().to_numpy().tolist(),
        "values": ev.recall(k=1).per_user.to_dict(),
        "other convention": ev.under("rectools").ndcg(k=2),
        "rows": [ev.explain("ndcg", user, k=3).to_frame().astype(str).to_numpy().tolist() for user in (1, 2)],
        "beyond": [float(ev.novelty(k=2)), float(ev.coverage(k=2)), float(ev.diversity(k=2, features=["weight"]))],
        "users": ev.table(["recall"], k=3, by="city").to_frame().astype(str).to_numpy().tolist(),
        "truth": ev.table(["recall"], k=3, by="wave").to_frame().astype(str).to_numpy().tolist(),
        "grades": ev.table(["recall"], k=3, by="activity").to_frame().astype(str).to_numpy().tolist(),
    }


def overwrite(made: dict[str, Columns]) -> None:
    """Write into every array, as a loop that fills its buffers anew does."""
    for of_frame in made.values():
        for name, values in of_frame.items():
            values[:] = values[::-1].copy() if name != "relevance" else 5.0


@functools.cache
def expected() -> dict[str, Any]:
    return asked(evaluated({name: pd.DataFrame(made) for name, made in columns().items()}))


@pytest.mark.parametrize("name", ["recs", "truth", "train", "items", "users"])
@pytest.mark.filterwarnings("ignore::Warning")
def test_pandas_frame_changed_afterwards(name: str) -> None:
    for change in (
        lambda frame: frame.update(frame.iloc[::-1].reset_index(drop=True)),
        lambda frame: [frame.isetitem(at, frame.iloc[::-1, at].to_numpy()) for at in range(frame.shape[1])],
        lambda frame: frame.drop(index=frame.index[1:], inplace=True),
    ):
        frames = {one: pd.DataFrame(made) for one, made in columns().items()}
        ev, before = evaluated(frames), frames[name].copy()
        change(frames[name])
        assert not frames[name].equals(before), "the change changes the frame"
        assert asked(ev) == expected()


def block(made: Columns) -> pd.DataFrame:
    """A pandas frame over one array, which is put in the place of the columns."""
    array = np.stack([np.asarray(values, dtype=np.float64) for values in made.values()], axis=1)
    frame = pd.DataFrame(array, columns=list(made), copy=False)
    made.clear()
    made["block"] = array
    return frame


def arrow(made: Columns) -> pa.Table:
    arrays = {
        name: pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])
        for name, values in made.items()
    }
    return pa.table(arrays)


#: Frames whose columns are the memory of arrays, where their kind can have that.
OVER: dict[str, Callable[[Columns], Any]] = {
    "pandas": lambda made: pd.DataFrame({name: pd.Series(one, copy=False) for name, one in made.items()}, copy=False),
    "pandas, of one array": block,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "arrow": arrow,
    "pandas, of arrow": lambda made: arrow(made).to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": lambda made: duckdb.connect().from_arrow(arrow(made)),
}


@pytest.mark.parametrize("kind", OVER)
def test_arrays_that_a_frame_is_made_over_written_afterwards(kind: str) -> None:
    made = columns()
    ev = evaluated({name: OVER[kind](one) for name, one in made.items()})
    overwrite(made)
    assert asked(ev) == expected()


def test_one_frame_of_both_sides_changed_afterwards() -> None:
    """Segments are read of it later."""
    frame = pd.DataFrame(
        {"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1], "relevance": [1, 0, 1], "wave": [1, 1, 2]}
    )
    ev = recnb.evaluate(frame)
    frame.loc[:, :] = 1
    assert list(ev.table(["recall"], k=1, by="wave").to_frame()["n_users"]) == [1, 1]


def test_table_behind_a_relation_changed_afterwards() -> None:
    made, connection = columns(), duckdb.connect()
    for name, one in made.items():
        frame = pd.DataFrame(one)  # noqa: F841 -- read by its name
        connection.execute(f"create table {name} as from frame")
    ev = evaluated({name: connection.table(name) for name in made})
    for name in made:
        connection.execute(f"delete from {name}")
    assert asked(ev) == expected()


def test_matrices_of_a_model_written_afterwards() -> None:
    scores = np.array([0.9, 0.5, 0.1])
    test = sp.csr_matrix(np.array([[0.0, 1, 0], [0, 0, 1]]))
    train = sp.csr_matrix(np.array([[1.0, 0, 0], [0, 0, 0]]))
    ev = model_evaluation(lambda user: scores, test, train, k=3)
    test.data[:], test.indices[:], train.data[:], scores[:] = 5.0, 0, 0.0, [0.1, 0.2, 0.3]
    assert ev.reciprocal_rank(k=3) == pytest.approx((1 + 1 / 3) / 2)
    assert ev.cg(k=3).per_user.tolist() == [1.0, 1.0]


def test_segments_and_values_are_the_callers_own() -> None:
    ev = evaluated({name: pd.DataFrame(one) for name, one in columns().items()})
    by = pd.Series([1, 1, 2, 2], index=[1, 2, 3, 4])
    mapping = by.to_dict()
    tables = [ev.table(["recall"], k=3, by=one) for one in (by, mapping)]
    before = [one.to_frame().astype(str).to_numpy().tolist() for one in tables]
    by[:] = 1
    mapping.clear()
    assert [one.to_frame().astype(str).to_numpy().tolist() for one in tables] == before
    score = ev.ndcg(k=3)
    low = score.interval()
    values, table = score.per_user, ev.table(METRICS, k=3).to_frame()
    values.iloc[:], table.iloc[:, :] = 9.0, 9.0
    assert score.interval() == low
    assert asked(ev) == expected()


#: What is asked, each of which may leave a cycle of references.
ASKED: dict[str, Callable[[recnb.Evaluation], Any]] = {
    "table": lambda ev: ev.table(METRICS, k=[1, 3])._repr_html_(),
    "interval": lambda ev: ev.ndcg(k=3).interval(),
    "segments of another": lambda ev: ev.under("rectools").table(["recall"], k=3, by="city"),
    "explanations": lambda ev: [ev.explain(*one, k=3)._repr_html_() for one in (("ndcg", 1), ("coverage",))],
    "counts": lambda ev: ev.counts.n_items_relevant,
    "comparison": lambda ev: recnb.compare({"one": ev, "other": ev}).table(METRICS, k=3)._repr_html_(),
    "lint": lambda ev: ev.lint()._repr_html_(),
    "of lists": lambda ev: [ev.novelty(k=2).per_user, ev.coverage(k=2).per_item, ev.serendipity(k=2).interval()],
    "of attributes": lambda ev: ev.diversity(k=2, features=["weight"], single="zero"),
    "of users": lambda ev: [ev.user_coverage(k=2), ev.personalization(k=2)],
    "items": lambda ev: ev.items(k=2)._repr_html_(),
    "report": lambda ev: ev.report(k=2)._repr_html_(),
}


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("convention", [{}, {"judged_only": True}, {"ties": "expected"}], ids=str)
def test_rows_are_freed_with_the_evaluation(ask: str, convention: dict[str, Any]) -> None:
    """A cycle of references would keep millions of rows until Python looks for cycles."""
    frames = {name: pd.DataFrame(made) for name, made in columns().items()}
    frames["recs"]["rank"] = np.tile([1, 2, 3], 4)
    ASKED[ask](evaluated(frames))  # what is made once is made here
    gc.collect()
    gc.disable()
    try:
        ev = recnb.evaluate(frames.pop("recs"), **frames, **convention)
        ASKED[ask](ev)
        source = weakref.ref(ev._data.source)
        del ev
        assert source() is None
    finally:
        gc.enable()
