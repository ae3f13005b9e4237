"""What the caller does to frames, arrays and tables after `evaluate` changes nothing of
the evaluation, which lets go of all rows with it.
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
from recnb.model_predictions import lists_evaluated
from tests.rows import read_rows

Columns = dict[str, Any]

METRICS = ["recall", "ndcg", "reciprocal_rank", "average_precision"]


ROWS = read_rows("data/copies.toml")


def columns() -> dict[str, Columns]:
    """Arrays of every frame that an evaluation takes."""
    return {
        frame: {name: np.array(values) for name, values in given.items()}
        for frame, given in ROWS["columns"].items()
    }


def rows(table: Any) -> Any:
    return table.to_frame().astype(str).to_numpy().tolist()


def asked(ev: recnb.Evaluation) -> list[Any]:
    """Numbers that look at every frame, and at the rows of the lists."""
    return [
        rows(ev.table(METRICS, k=[1, 3])),
        ev.recall(k=1).per_user.to_dict(),
        float(ev.under("rectools").ndcg(k=2)),
        [rows(ev.explain("ndcg", user, k=3)) for user in (1, 2)],
        [
            float(ev.novelty(k=2)),
            float(ev.coverage(k=2)),
            float(ev.diversity(k=2, features=["weight"])),
        ],
        *(
            rows(ev.table(["recall"], k=3, by=column))
            for column in ("city", "wave", "activity")
        ),
    ]


def of_pandas() -> recnb.Evaluation:
    return recnb.evaluate(
        **{name: pd.DataFrame(made) for name, made in columns().items()}
    )


@functools.cache
def expected() -> list[Any]:
    return asked(of_pandas())


def block(made: Columns) -> pd.DataFrame:
    """A pandas frame over one array, which is put in the place of the columns."""
    array = np.stack(
        [np.asarray(values, dtype=np.float64) for values in made.values()], axis=1
    )
    frame = pd.DataFrame(array, columns=list(made), copy=False)
    made.clear()
    made["block"] = array
    return frame


def arrow(made: Columns) -> pa.Table:
    arrays = {
        name: pa.Array.from_buffers(
            pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)]
        )
        for name, values in made.items()
    }
    return pa.table(arrays)


#: Frames whose columns are the memory of arrays, where their kind can have that.
OVER: dict[str, Callable[[Columns], Any]] = {
    "pandas": lambda made: pd.DataFrame(
        {name: pd.Series(one, copy=False) for name, one in made.items()}, copy=False
    ),
    "pandas, of one array": block,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "arrow": arrow,
    "pandas, of arrow": lambda made: arrow(made).to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": lambda made: duckdb.connect().from_arrow(arrow(made)),
}


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("kind", OVER)
def test_frames_and_the_arrays_that_they_are_made_over_changed_afterwards(
    kind: str,
) -> None:
    made = columns()
    frames = {name: OVER[kind](one) for name, one in made.items()}
    ev = recnb.evaluate(**frames)
    for arrays in made.values():
        for values in arrays.values():
            values[:] = values[-1:]
    for one in frames.values():
        if isinstance(one, pd.DataFrame):
            one.drop(index=one.index[1:], inplace=True)
    assert asked(ev) == expected()


@pytest.mark.parametrize("kind", OVER)
def test_columns_of_both_frames_changed_afterwards(kind: str) -> None:
    """The lint looks at those of recommendations and truth when it is asked for."""
    made = columns()
    made["recs"]["wave"] = np.tile([1, 2, 3], 4)
    made["truth"]["wave"][:] = [1, 2, 2, 1, 2]
    recs, truth = (OVER[kind](made[name]) for name in ("recs", "truth"))
    before = str(recnb.evaluate(recs, truth).lint())
    assert "values of `wave`" in before
    ev = recnb.evaluate(recs, truth)
    for name in ("recs", "truth"):
        for values in made[name].values():
            values[:] = values[-1:]
    assert str(ev.lint()) == before


def test_table_behind_a_relation_changed_afterwards() -> None:
    made, connection = columns(), duckdb.connect()
    for name, one in made.items():
        frame = pd.DataFrame(one)  # noqa: F841 -- read by its name
        connection.execute(f"create table {name} as from frame")
    ev = recnb.evaluate(**{name: connection.table(name) for name in made})
    for name in made:
        connection.execute(f"delete from {name}")
    assert asked(ev) == expected()


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, pl.Series])
@pytest.mark.parametrize("query", ["group", "qid"])
def test_labels_and_scores_of_groups_written_afterwards(
    kind: Callable[[Any], Any], query: str
) -> None:
    made = {
        "y_true": np.array([3.0, 0.0, 2.0, 1.0, 0.0]),
        "y_score": np.array([0.2, 0.9, 0.5, 0.1, 0.7]),
        query: np.array({"group": [3, 2], "qid": [1, 1, 1, 2, 2]}[query]),
    }
    given = {name: kind(values) for name, values in made.items()}
    if kind is pd.Series:
        given = {name: pd.Series(one, copy=False) for name, one in made.items()}
    before = recnb.evaluate_groups(**{name: [*one] for name, one in made.items()})
    ev = recnb.evaluate_groups(**given)
    for values in made.values():
        values[:] = values[::-1].copy()
    made["y_score"][:] *= -1
    for library in ("lightgbm", "rectools"):
        got, wanted = ev.under(library), before.under(library)
        assert rows(got.table(METRICS, k=[1, 3])) == rows(
            wanted.table(METRICS, k=[1, 3])
        )


def test_matrices_of_a_model_written_afterwards() -> None:
    scores = np.array([0.9, 0.5, 0.1])
    test = sp.csr_matrix(np.array([[0.0, 1, 0], [0, 0, 1]]))
    train = sp.csr_matrix(np.array([[1.0, 0, 0], [0, 0, 0]]))
    ev = lists_evaluated(lambda user: scores, test, train, k=3)
    test.data[:], test.indices[:], train.data[:], scores[:] = (
        5.0,
        0,
        0.0,
        [0.1, 0.2, 0.3],
    )
    assert ev.reciprocal_rank(k=3) == pytest.approx((1 + 1 / 3) / 2)
    assert ev.cg(k=3).per_user.tolist() == [1.0, 1.0]


def test_segments_and_values_are_the_callers_own() -> None:
    ev = of_pandas()
    by = pd.Series([1, 1, 2, 2], index=[1, 2, 3, 4])
    table = ev.table(["recall"], k=3, by=by)
    before = rows(table)
    by[:] = 1
    assert rows(table) == before
    score = ev.ndcg(k=3)
    low = score.interval()
    values, frame = score.per_user, ev.table(METRICS, k=3).to_frame()
    values.iloc[:], frame.iloc[:, :] = 9.0, 9.0
    assert score.interval() == low
    assert asked(ev) == expected()


@pytest.mark.thin
@pytest.mark.parametrize("ask", ROWS["asked"].values(), ids=ROWS["asked"])
@pytest.mark.parametrize(
    "convention", [{}, {"judged_only": True}, {"ties": "expected"}], ids=str
)
def test_rows_are_freed_with_the_evaluation(
    ask: str, convention: dict[str, Any]
) -> None:
    """A cycle of references would keep millions of rows until Python looks for cycles."""
    frames = {name: pd.DataFrame(made) for name, made in columns().items()}
    frames["recs"]["rank"] = np.tile([1, 2, 3], 4)
    eval(ask, globals() | {"ev": recnb.evaluate(**frames)})  # what is made once
    gc.collect()
    gc.disable()
    try:
        ev = recnb.evaluate(**frames, **convention)
        eval(ask, globals() | {"ev": ev})
        source = weakref.ref(ev.source)
        del ev
        assert source() is None
    finally:
        gc.enable()
