"""Which column plays which role: the names that are known, and what an error proposes where none is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.data.columns import NAMES
from recnb.errors import ColumnError

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "score": [0.9, 0.1, 0.5]})
TRUTH = pd.DataFrame({"user": [1, 2], "item": [11, 10], "relevance": [2, 1]})


def test_a_name_has_one_role() -> None:
    names = [name for of_role in NAMES.values() for name in of_role]
    assert len(names) == len(set(names))


def test_two_usual_names_are_ambiguous() -> None:
    with pytest.raises(ColumnError, match="'score' and 'y_pred' could each be the score column"):
        recnb.evaluate(RECS.assign(y_pred=1.0), TRUTH)


PROPOSED: dict[str, tuple[dict[str, list[Any]], str]] = {
    "all": ({"who": ["u"], "what": ["i"], "x1": [0.1], "x2": [3]}, "user='who', item='what', score='x1'"),
    "none left": ({"a": ["u"]}, "user='a', item='...', score='...'"),
    "some found": ({"qid": [1], "what": ["x"], "out": [0.5]}, "item='what', score='out'"),
    "rank is there": ({"a": ["u"], "b": ["i"], "rank": [1]}, "user='a', item='b'."),
}  # fmt: skip


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy(), pa.Table.from_pandas], ids=["pandas", "polars", "lazy", "arrow"])  # fmt: skip
@pytest.mark.parametrize("what", PROPOSED)
def test_all_that_is_missing_is_in_one_error(what: str, convert: Any) -> None:
    columns, proposed = PROPOSED[what]
    frame = pd.DataFrame(columns)
    with pytest.raises(ColumnError) as found:
        recnb.evaluate(convert(frame), TRUTH)
    assert proposed in str(found.value)
    assert all(repr(column) in str(found.value) for column in columns)


def test_one_frame_that_lacks_several() -> None:
    frame = pd.DataFrame({"who": ["u"], "output": [0.5], "stars": [4]})
    with pytest.raises(ColumnError, match=r"user='who', score='output', relevance='stars'") as found:
        frame.rec.ndcg(k=3)
    assert "recs.rec.against(truth)" in str(found.value)
    assert frame.rec.ndcg(k=3, user="who", score="output", relevance="stars") == 1


def test_duckdb_proposes_as_well() -> None:
    duckdb = import_module("duckdb")
    with duckdb.connect() as connection:
        relation = connection.sql("select 'u' as who, 'i' as what, 0.5::double as x")
        with pytest.raises(ColumnError, match="user='who', item='what', score='x'"):
            recnb.evaluate(relation, TRUTH)
