"""Frames of any kind give the same numbers, and none is changed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.data.columns import from_pandas

RNG = np.random.default_rng(7)
USERS, ITEMS = 12, 30


def make() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lists of 8 for all users but one, and graded truths for all but two."""
    recs = pd.concat(
        [
            pd.DataFrame(
                {"user": user, "item": RNG.permutation(ITEMS)[:8], "score": np.sort(RNG.integers(0, 40, 8) / 4)[::-1]}
            )
            for user in range(USERS - 1)
        ]
    )
    truth = pd.concat(
        [
            pd.DataFrame({"user": user, "item": RNG.permutation(ITEMS)[:6], "rating": RNG.integers(0, 4, 6)})
            for user in range(2, USERS)
        ]
    )
    return recs.sample(frac=1, random_state=1).reset_index(drop=True), truth.sample(frac=1, random_state=2).reset_index(
        drop=True
    )


RECS, TRUTH = make()
METRICS = ["ndcg", "average_precision", "recall", "err", "reciprocal_rank"]


def numbers(recs: Any, truth: Any) -> np.ndarray[Any, Any]:
    return recnb.evaluate(recs, truth).table(METRICS, k=[1, 5, None]).to_numpy()


WANT = numbers(RECS, TRUTH)


def test_the_data_tells_frames_apart() -> None:
    assert len(np.unique(WANT)) > 10
    assert recnb.evaluate(RECS, TRUTH).counts.n_without_list == 1


def typed(frame: pd.DataFrame, ids: Any, values: Any = None) -> pd.DataFrame:
    changed = frame.astype({"user": ids, "item": ids})
    return changed if values is None else changed.astype({changed.columns[2]: values})


WHOLE = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    ">i4",
    "Int8",
    "Int64",
    "UInt16",
    "float32",
    "float64",
    "Float64",
]
TEXT = ["str", "object", "string", "category", "string[pyarrow]", "large_string[pyarrow]"]


@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_of_any_width(dtype: str) -> None:
    for recs, truth in (
        (typed(RECS, dtype), TRUTH),
        (RECS, typed(TRUTH, dtype)),
        (typed(RECS, dtype), typed(TRUTH, dtype)),
    ):
        assert (numbers(recs, truth) == WANT).all()


def as_text(frame: pd.DataFrame, dtype: str) -> pd.DataFrame:
    if dtype.endswith("[pyarrow]"):
        text = pd.ArrowDtype(getattr(pa, dtype.split("[")[0])())
        return typed(typed(frame, str), text)
    if dtype == "object":
        return frame.assign(
            user=pd.Series(map(str, frame["user"]), dtype=object), item=pd.Series(map(str, frame["item"]), dtype=object)
        )
    return typed(typed(frame, str), dtype)


@pytest.mark.parametrize("dtype", TEXT)
def test_text_of_any_kind(dtype: str) -> None:
    mine = as_text(RECS, dtype), as_text(TRUTH, dtype)
    other = as_text(RECS, "str"), as_text(TRUTH, "str")
    # Summing in another order of users may move the last bit.
    for recs, truth in (mine, (mine[0], other[1]), (other[0], mine[1])):
        assert numbers(recs, truth) == pytest.approx(WANT, abs=1e-15)


def test_ids_keep_their_kind() -> None:
    for dtype, kind in (
        ("int8", "int64"),
        ("Int64", "int64"),
        ("float64", "int64"),
        ("str", "str"),
        ("category", "str"),
    ):
        recs, truth = (
            (as_text(RECS, dtype), as_text(TRUTH, dtype))
            if kind == "str"
            else (typed(RECS, dtype), typed(TRUTH, dtype))
        )
        assert recnb.evaluate(recs, truth).ndcg(k=3).per_user.index.dtype == kind


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "uint8",
        "float32",
        "Int64",
        "Float64",
        "object",
        "decimal",
        pd.ArrowDtype(pa.int32()),
        pd.ArrowDtype(pa.decimal128(21, 2)),
    ],
)
def test_numbers_of_any_kind(dtype: Any) -> None:
    if dtype == "object":
        recs, truth = (
            RECS.assign(score=RECS["score"].astype(object)),
            TRUTH.assign(rating=TRUTH["rating"].astype(object)),
        )
    elif dtype == "decimal":
        recs, truth = (
            RECS.assign(score=[Decimal(str(x)) for x in RECS["score"]]),
            TRUTH.assign(rating=[Decimal(int(x)) for x in TRUTH["rating"]]),
        )
    else:
        recs, truth = RECS.assign(score=(RECS["score"] * 4).astype(int).astype(dtype)), TRUTH.astype({"rating": dtype})
    assert (numbers(recs, truth) == WANT).all()


def test_relevance_as_bool() -> None:
    liked = TRUTH.assign(rating=TRUTH["rating"] > 0)
    for truth in (liked, liked.astype({"rating": "boolean"}), pl.from_pandas(liked)):
        assert (numbers(RECS, truth) == numbers(RECS, liked.astype({"rating": int}))).all()
    assert (numbers(RECS, liked) != WANT).any()


INDEXES = {
    "shuffled": lambda frame: frame.set_axis(RNG.permutation(len(frame)), axis=0),
    "all the same": lambda frame: frame.set_axis([0] * len(frame), axis=0),
    "named, of text": lambda frame: frame.set_axis(pd.Index(list(map(str, range(len(frame)))), name="key"), axis=0),
    "of dates": lambda frame: frame.set_axis(pd.date_range("2026-01-01", periods=len(frame)), axis=0),
    "of two levels": lambda frame: frame.set_axis(pd.MultiIndex.from_product([["a"], range(len(frame))]), axis=0),
    "with gaps": lambda frame: frame.set_axis(np.arange(len(frame)) * 3 - 50, axis=0),
    "of missing values": lambda frame: frame.set_axis([None] * len(frame), axis=0),
}


@pytest.mark.parametrize("which", INDEXES)
def test_the_index_of_a_pandas_frame_says_nothing(which: str) -> None:
    index = INDEXES[which]
    assert (numbers(index(RECS), index(TRUTH)) == WANT).all()
    assert (numbers(index(RECS), TRUTH) == WANT).all()


def test_pandas_frames_cut_out_of_others() -> None:
    block = pd.DataFrame(
        np.stack([RECS["user"], RECS["item"], RECS["score"], RECS["score"]], axis=1),
        columns=["user", "item", "x", "score"],
    )
    assert (numbers(block[["user", "item", "score"]], TRUTH) == WANT).all()
    doubled = pd.DataFrame(np.repeat(RECS.to_numpy(), 2, axis=0), columns=RECS.columns)
    assert (numbers(doubled.iloc[::2], TRUTH) == WANT).all()
    by_column = pd.DataFrame(np.asfortranarray(RECS.to_numpy()), columns=RECS.columns)
    assert (numbers(by_column, TRUTH) == WANT).all()


class Frame(pd.DataFrame):
    """A frame class of somebody else's."""

    @property
    def _constructor(self) -> Callable[..., Frame]:
        return Frame


KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "a subclass of pandas": Frame,
    "pandas on arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "polars, lazy, filtered": lambda frame: (
        pl.from_pandas(frame).lazy().with_columns(z=pl.col("user") * 2).filter(pl.col("z") >= 0)
    ),
    "polars, in chunks": lambda frame: pl.concat(
        [pl.from_pandas(frame[:20]), pl.from_pandas(frame[20:])], rechunk=False
    ),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "pyarrow, in chunks": lambda frame: pa.concat_tables(
        [pa.Table.from_pandas(frame[:20], preserve_index=False), pa.Table.from_pandas(frame[20:], preserve_index=False)]
    ),
    "duckdb": lambda frame: duckdb.from_df(frame),
    "duckdb, a query": lambda frame: duckdb.from_df(frame).filter("user >= 0").order("item"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", ["same", "pandas", "polars"])
def test_the_same_numbers_from_every_kind(kind: str, other: str) -> None:
    # DuckDB answers in any order it likes, so equal scores are settled by item.
    want = recnb.evaluate(RECS, TRUTH, ties="item_asc").table(METRICS, k=[1, 5, None]).to_numpy()
    convert, partner = KINDS[kind], KINDS[kind if other == "same" else other]
    for recs, truth in ((convert(RECS), partner(TRUTH)), (partner(RECS), convert(TRUTH))):
        got = recnb.evaluate(recs, truth, ties="item_asc").table(METRICS, k=[1, 5, None]).to_numpy()
        assert got == pytest.approx(want, abs=1e-15)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum([str(i) for i in reversed(range(40))]), pl.String])
def test_polars_text(kind: Any) -> None:
    recs, truth = pl.from_pandas(as_text(RECS, "str")), pl.from_pandas(as_text(TRUTH, "str"))
    coded = [frame.with_columns(pl.col("user", "item").cast(kind)) for frame in (recs, truth)]
    for pair in (
        coded,
        (coded[0], truth),
        (recs, coded[1]),
        (coded[0], as_text(TRUTH, "category")),
        (as_text(RECS, "str"), coded[1]),
    ):
        assert numbers(*pair) == pytest.approx(WANT, abs=1e-15)
    users = recnb.evaluate(*coded).users.tolist()
    assert users == sorted(users)


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(20, 0)])
def test_polars_numbers(kind: Any) -> None:
    recs, truth = (pl.from_pandas(frame).with_columns(pl.col("user", "item").cast(kind)) for frame in (RECS, TRUTH))
    assert numbers(recs, truth) == pytest.approx(WANT, abs=1e-15)


def snapshot(frame: pd.DataFrame) -> tuple[Any, ...]:
    return (
        frame.copy(deep=True),
        dict(frame.dtypes),
        list(frame.columns),
        frame.index.copy(),
        dict(frame.attrs),
        frame.columns.name,
    )


@pytest.mark.parametrize("ids", ["int64", "Int64", "float64", "str", "object", "category"])
def test_pandas_frames_stay_as_they_are(ids: str) -> None:
    frames = [as_text(frame, ids) if ids in TEXT else typed(frame, ids) for frame in (RECS, TRUTH)]
    for frame in frames:
        frame.index = pd.Index(np.arange(len(frame)) + 100, name="row")
        frame.attrs["source"] = {"file": "a.csv"}
    before = [snapshot(frame) for frame in frames]
    ev = frames[0].rec.against(
        frames[1],
        relevant_from=2,
        averaged_users="union",
        no_relevant="zero",
        candidates="padded",
        duplicates="dedupe",
        ties="last",
    )
    ev.table(k=[1, None])
    ev.explain("ndcg", ev.users[0], k=3)
    for frame, (copy, dtypes, columns, index, attrs, name) in zip(frames, before, strict=True):
        pd.testing.assert_frame_equal(frame, copy)
        assert dict(frame.dtypes) == dtypes
        assert list(frame.columns) == columns
        assert frame.attrs == attrs
        assert frame.columns.name == name
        pd.testing.assert_index_equal(frame.index, index)


def test_other_frames_stay_as_they_are() -> None:
    recs, truth = pl.from_pandas(RECS), pa.Table.from_pandas(TRUTH)
    ev = recnb.evaluate(recs, truth, ties="last", candidates="padded")
    ev.table(k=[1, None])
    assert recs.equals(pl.from_pandas(RECS))
    assert truth.equals(pa.Table.from_pandas(TRUTH))


@pytest.mark.parametrize("ids", ["int64", "Int64", "float64", "str", "object"])
def test_an_evaluation_does_not_change_with_its_frames(ids: str) -> None:
    recs, truth = typed(RECS, ids), typed(TRUTH, ids)
    ev = recnb.evaluate(recs, truth)
    for frame in (recs, truth):
        frame.iloc[:, :] = frame.iloc[::-1].to_numpy()
        for column in frame.columns:
            frame.loc[:, column] = frame[column].iloc[0]
    assert ev.table(METRICS, k=[1, 5, None]).to_numpy() == pytest.approx(WANT, abs=1e-15)


def test_text_too_long_for_views_is_read_by_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    text = pd.Series(["a", None, "a text that is longer than a view", "가"], dtype="str")
    as_views = from_pandas(text, "recommendations", "user", "user")
    monkeypatch.setattr(pa, "string_view", pa.int8)  # no text can be made that, as none above 2 GB can be made views
    assert from_pandas(text, "recommendations", "user", "user").to_list() == as_views.to_list()
    assert as_views.to_list() == ["a", None, "a text that is longer than a view", "가"]
