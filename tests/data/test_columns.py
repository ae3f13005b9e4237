"""Which column plays which role, what columns may hold, and what the basis says; orders
and numbers are held by the law of test_attack.
"""

from __future__ import annotations

import itertools
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.data.columns import from_pandas
from recnb.data.names import NAMES
from recnb.errors import ColumnError, FrameError, RecnbError
from tests.random_frames import random_frames
from tests.rows import hold_calls, hold_refusals, read_rows, value_of

RECS = pd.DataFrame(
    {"user": [1, 1, 1, 2, 2], "item": [10, 11, 12, 10, 13], "rank": [1, 2, 3, 1, 2]}
)
SCORED = RECS.drop(columns="rank").assign(score=[3, 2, 1, 2, 1])
TRUTH = pd.DataFrame(
    {"user": [1, 1, 2], "item": [11, 14, 10], "relevance": [3.0, 1.0, 2.0]}
)
#: User 1 hits at rank 2 with relevance 3 (ideal 3, 1), user 2 at rank 1 with relevance
#: 2.
DCG = pytest.approx([3 / np.log2(3), 2.0], abs=1e-15)


MANY, GRADED = random_frames(np.random.default_rng(7))
ROWS = read_rows("data/columns.toml")


def dcg(recs: object, truth: object, **options: object) -> list[float]:
    return recnb.evaluate(recs, truth, **options).dcg(k=3).per_user.tolist()


test_a_call_comes_to = hold_calls(ROWS["calls"], globals())
test_refused = hold_refusals(read_rows("data/columns_refused.toml"), globals())


# ---- roles


@pytest.mark.parametrize("role", ["user", "item", "rank", "score", "relevance"])
def test_every_common_name_in_any_spelling_and_any_other_by_keyword(role: str) -> None:
    frames = (SCORED if role == "score" else RECS), TRUTH
    assert dcg(*frames) == DCG
    for name in NAMES[role].split():
        for spelled in (
            name,
            name.upper(),
            f"{name[:2]}_{name[2:]}",
            f" {name[0]} {name[1:3]}-{name[3:]} ".title(),
        ):
            recs, truth = (frame.rename(columns={role: spelled}) for frame in frames)
            assert dcg(recs, truth) == DCG, spelled
            if role in ("user", "item"):
                assert dcg(recs, TRUTH) == dcg(frames[0], truth) == DCG, spelled
    mine = {role: "xyz"}
    recs, truth = (frame.rename(columns=mine) for frame in frames)
    assert dcg(recs, truth, **mine) == DCG
    if role in ("user", "item"):
        assert dcg(recs, TRUTH, **mine) == dcg(RECS, truth, **mine) == DCG


def test_no_name_suggests_two_roles() -> None:
    every = list(itertools.chain.from_iterable(map(str.split, NAMES.values())))
    assert len(every) == len(set(every))
    for role, promised in {
        "user": "userid qid",
        "item": "movieid docid",
        "score": "prediction",
        "relevance": "rating label",
    }.items():
        assert set(promised.split()) <= set(NAMES[role].split())


def test_each_frame_has_one_of_several_names() -> None:
    recs, truth = (
        RECS.rename(columns={"user": "cust", "item": "sku"}),
        TRUTH.rename(columns={"user": "customer"}),
    )
    train, users = (
        TRUTH.rename(columns={"user": "Kunde"}),
        pd.DataFrame({"who": [1, 2], "plan": ["x", "y"]}),
    )
    names: Any = {"user": ["cust", "who", "Kunde"], "item": ("sku", "item")}
    for convert in (
        pd.DataFrame,
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).lazy(),
    ):
        assert (
            dcg(
                convert(recs),
                convert(truth),
                train=convert(train),
                users=convert(users),
                **names,
            )
            == DCG
        )
    assert (
        dcg(
            RECS.rename(columns={"item": "ware"}),
            TRUTH,
            train=train,
            user="Kunde",
            item="ware",
        )
        == DCG
    )


@pytest.mark.parametrize(
    "column", ["title", "Name", "product_name", "movieTitle", "Item Label"]
)
def test_titles_of_items(column: str) -> None:
    items = pd.DataFrame({"brand_name": "x", column: ["A", "B"], "item": [11, 12]})
    assert (
        "A" in recnb.evaluate(RECS, TRUTH, items=items).user(1, k=3)["title"].tolist()
    )


@pytest.mark.parametrize("code", ROWS["columns"].values(), ids=ROWS["columns"])
def test_a_column_as_polars_has_it(code: str) -> None:
    column, values = value_of(code, globals())
    assert from_pandas(column, "users: column 'group'", "group").to_list() == values


# ---- ids, scores and relevance are what they are, however columns store them


def numbers(recs: Any, truth: Any) -> Any:
    return (
        recnb.evaluate(recs, truth)
        .table(["ndcg", "average_precision", "err"], k=[1, 5, None])
        .to_numpy()
    )


WANT = numbers(MANY, GRADED)


@pytest.mark.parametrize("code", ROWS["same"].values(), ids=ROWS["same"])
def test_the_same_rows_give_the_same_numbers(code: str) -> None:
    assert numbers(*value_of(code, globals())) == pytest.approx(WANT, abs=1e-15)


@pytest.mark.parametrize("code", ROWS["others"].values(), ids=ROWS["others"])
def test_other_ids_are_refused_until_they_are_text(code: str) -> None:
    ids = value_of(code, globals())
    recs = pl.DataFrame({"user": [1, 1], "rank": [2, 1], "item": ids})
    text = recs.with_columns(item=pl.Series([*map(str, ids)]))
    for convert in (pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow):
        with pytest.raises(
            FrameError,
            match=r"column 'item' holds .*, which is not a valid item id.*Make them text",
        ):
            recnb.evaluate(convert(recs), convert(recs[:1]))
        assert recnb.evaluate(convert(text), convert(text[:1])).mrr() == 0.5


@pytest.mark.parametrize("side", [0, 1])
def test_closed_connection(side: int) -> None:
    frames: list[Any] = [MANY, GRADED]
    with duckdb.connect() as connection:
        frames[side] = connection.from_arrow(pa.Table.from_pandas(frames[side]))
    with pytest.raises(
        RecnbError, match=f"{('recommendations', 'truth')[side]} cannot be read"
    ):
        recnb.evaluate(*frames)


def test_the_lint_finds_no_ties_among_scores_that_no_float_tells_apart() -> None:
    scores = [2**60, 2**60 + 1]
    recs = pl.DataFrame({"user": 1, "item": ["a", "b"], "score": scores})
    found = recnb.evaluate(recs, {1: ["b"]}).lint(k=2).findings
    assert not {"ties", "one_score", "upside_down"} & {one.name for one in found}


@pytest.mark.parametrize(
    ("dtype", "bound"), [("float16", 2**11), ("float32", 2**24), ("float64", 2**53)]
)
@pytest.mark.parametrize("library", [pd, pl])
def test_float_ids_beyond_what_their_type_counts_are_refused(
    dtype: str, bound: int, library: Any
) -> None:
    def frame(ids: list[int]) -> Any:
        return library.DataFrame(
            {
                "user": np.array([1, 1]),
                "item": np.array(ids).astype(dtype),
                "rank": [1, 2],
            }
        )

    with pytest.raises(FrameError, match=r"not exact"):
        recnb.evaluate(frame([bound + 1, bound]), frame([1, 2]))
    assert (
        recnb.evaluate(frame([bound - 1, 5]), frame([bound - 1, 7])).recall(k=1) == 0.5
    )


# ---- counts; the law of tests/laws/test_sentences.py has those of users


def test_counts() -> None:
    """1 and 2 have something relevant, 2 has no list; 5, 6 and 9 have nothing relevant."""
    recs = pd.DataFrame(
        {"user": [1, 1, 5, 6, 6], "item": [10, 11, 10, 17, 18], "rank": [1, 2, 1, 1, 2]}
    )
    truth = pd.DataFrame(
        {
            "user": [1, 1, 2, 5, 9],
            "item": [11, 14, 10, 10, 10],
            "relevance": [3, 0, 2, 0, 0],
        }
    )
    wanted = {
        "n_users": 2,
        "n_without_list": 1,
        "n_without_relevant": 3,
        "n_recommended": 5,
        "n_relevant": 2,
        "n_not_relevant": 3,
        "n_gaps": 0,
        "n_items_recommended": 4,
        "n_items_relevant": 2,
    }
    counts = recnb.evaluate(recs, truth).counts
    assert {name: getattr(counts, name) for name in wanted} == wanted
    assert recnb.evaluate(recs, truth, judged="list").counts.n_not_relevant == 4


@pytest.mark.parametrize(
    "code", ROWS["beside_items"].values(), ids=ROWS["beside_items"]
)
def test_what_is_relevant_beside_items_is_no_list(code: str) -> None:
    """Each item of such a frame was relevant, whatever the column says."""
    frames = value_of(code, globals())
    with pytest.raises(ColumnError, match="say relevance='relevant'"):
        recnb.evaluate(*frames)
    ev = recnb.evaluate(*frames, relevance="relevant")
    assert ev.precision(k=3) == pytest.approx(1 / 3)


# ---- types of Arrow and Polars that few columns have


@pytest.mark.parametrize("role", ["user", "item", "score"])
@pytest.mark.parametrize("kind", ROWS["unread"])
def test_types_that_polars_does_not_read_are_refused(kind: str, role: str) -> None:
    columns = {
        "user": pa.array([1, 2, 3]),
        "item": pa.array([1, 2, 3]),
        "score": pa.array([1.0, 2.0, 3.0]),
    } | {role: value_of(ROWS["unread"][kind], globals())}
    words = "recommendations.*(cannot be read: |is not read: |where numbers are needed)"
    in_pandas = pd.DataFrame(
        {
            name: pd.Series(pd.arrays.ArrowExtensionArray(values))
            for name, values in columns.items()
        }
    )
    for frame in (pa.table(columns), in_pandas):
        with pytest.raises(FrameError, match=words):
            recnb.evaluate(frame, {1: [1], 2: [2]})


@pytest.mark.parametrize("kind", ["run_end_encoded", "decimal256"])
def test_the_advice_for_types_that_polars_does_not_read_works(kind: str) -> None:
    items = value_of(ROWS["unread"][kind], globals())
    table = pa.table({"user": [1, 1, 1], "item": items, "rank": [3, 2, 1]})
    frame = pd.DataFrame({"user": [1, 1, 1], "rank": [3, 2, 1]})
    frame["item"] = pd.Series(pd.arrays.ArrowExtensionArray(items)).to_list()
    table = table.set_column(1, "item", pa.array(table["item"].to_pylist()))
    for recs in (frame, table):
        assert recnb.evaluate(recs, {1: [2]}).reciprocal_rank(k=3) == 0.5


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
@pytest.mark.parametrize("column", ["rank", "score", "relevance"])
def test_integers_of_128_bits_are_numbers(column: str, dtype: Any) -> None:
    recs, truth = (
        pl.from_pandas(frame).with_columns(pl.col(column).cast(dtype))
        if column in frame
        else frame
        for frame in (RECS if column == "rank" else SCORED, TRUTH)
    )
    assert dcg(recs, truth) == DCG
