"""Ids are whole numbers or text, and numbers are numbers; equal ones meet, however their columns store them.

Kinds of frames, and what is done to them afterwards, are tried by the law of `tests/test_attack.py`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import recnb
from recnb.data import buckets
from recnb.errors import FrameError, RecnbError, UnknownUserError

RNG = np.random.default_rng(7)
RECS = pd.DataFrame({
    "user": np.repeat(np.arange(11), 8), "item": np.concatenate([RNG.permutation(30)[:8] for _ in range(11)]),
    "score": np.concatenate([np.sort(RNG.integers(0, 40, 8) / 4)[::-1] for _ in range(11)]),
}).sample(frac=1, random_state=1, ignore_index=True)  # fmt: skip
TRUTH = pd.DataFrame({
    "user": np.repeat(np.arange(2, 12), 6), "item": np.concatenate([RNG.permutation(30)[:6] for _ in range(10)]),
    "rating": RNG.integers(0, 4, 60),
}).sample(frac=1, random_state=2, ignore_index=True)  # fmt: skip


def numbers(recs: Any, truth: Any) -> Any:
    return recnb.evaluate(recs, truth).table(["ndcg", "average_precision", "err"], k=[1, 5, None]).to_numpy()


WANT = numbers(RECS, TRUTH)
#: Users in another order add up to another last bit.
NEAR = pytest.approx(WANT, abs=1e-15)


def typed(frame: pd.DataFrame, ids: Any) -> pd.DataFrame:
    text = isinstance(ids, pd.ArrowDtype) or ids in ("str", "object", "string", "category")
    return (frame.astype({"user": str, "item": str}) if text else frame).astype({"user": ids, "item": ids})


PANDAS = [
    "int8", "uint64", ">i4", "Int64", "float32", "Float64", "str", "object", "string", "category", pd.ArrowDtype(pa.large_string()),
]  # fmt: skip


@pytest.mark.parametrize("ids", PANDAS, ids=str)
def test_ids_of_pandas(ids: Any) -> None:
    recs, truth = typed(RECS, ids), typed(TRUTH, ids)
    before = recs.copy(), truth.copy()
    other = "int64" if recnb.evaluate(recs, truth).users.dtype.kind == "i" else "str"
    for pair in ((recs, truth), (recs, typed(TRUTH, other)), (typed(RECS, other), truth)):
        assert numbers(*pair) == NEAR
    for frame, then in zip((recs, truth), before, strict=True):
        pd.testing.assert_frame_equal(frame, then, check_dtype=False)


POLARS = [
    pl.Categorical,
    pl.Enum([str(i) for i in reversed(range(40))]),
    pl.Int8,
    pl.Int128,
    pl.UInt64,
    pl.Float64,
    pl.Decimal(20, 3),
]
WAYS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "arrow": lambda frame: frame.to_arrow(),
    "dataset": lambda frame: pa.dataset.dataset(frame.to_arrow()),
    "duckdb": lambda frame: duckdb.connect().from_arrow(frame.to_arrow()),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", POLARS, ids=str)
def test_ids_of_polars(kind: Any, way: str, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if streamed:
        monkeypatch.setattr(buckets, "WHOLE", 0)
        monkeypatch.setattr(buckets, "SHARE", 0)
    way = "lazy" if kind == pl.Int128 else way  # others have no such numbers
    text = isinstance(kind, pl.Enum) or kind == pl.Categorical
    frames = [pl.from_pandas(typed(frame, "str" if text else "int64")) for frame in (RECS, TRUTH)]
    recs, truth = (WAYS[way](frame.with_columns(pl.col("user", "item").cast(kind))) for frame in frames)
    for pair in ((recs, truth), (recs, frames[1])):
        assert numbers(*pair) == NEAR
    users = recnb.evaluate(recs, truth, train=frames[1], items=frames[1].select("item").unique()).users.tolist()
    assert users == sorted(users)


OTHERS: dict[str, list[Any]] = {
    "times": [dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 2, 12)], "days": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
    "durations": [dt.timedelta(1), dt.timedelta(2)], "true and false": [True, False], "decimals": [Decimal("1.5"), Decimal("2.5")],
}  # fmt: skip


@pytest.mark.parametrize(
    "convert", [lambda frame: frame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()]
)
@pytest.mark.parametrize("case", OTHERS)
def test_other_ids_are_refused_until_they_are_text(case: str, convert: Callable[[pl.DataFrame], Any]) -> None:
    ids = pl.Series("item", OTHERS[case])
    for column in (ids, pl.Series("item", [str(one) for one in ids])):
        recs, truth = (
            pl.DataFrame({"user": [1, 1], "rank": [2, 1], "item": column}),
            pl.DataFrame({"user": [1], "item": column[:1]}),
        )
        if column is ids:
            with pytest.raises(
                FrameError, match=r"recommendations: column 'item' holds .*, which is no item id.*Make them text"
            ):
                recnb.evaluate(convert(recs), convert(truth))
        else:
            assert recnb.evaluate(convert(recs), convert(truth)).mrr() == 0.5


def test_an_interval_that_nobody_reads_is_no_matter() -> None:
    truth = duckdb.connect().from_arrow(pa.Table.from_pandas(TRUTH)).select("*, to_days(item::int) as since")
    assert numbers(RECS, truth) == NEAR


@pytest.mark.parametrize("side", [0, 1])
def test_closed_connection(side: int) -> None:
    frames: list[Any] = [RECS, TRUTH]
    with duckdb.connect() as connection:
        frames[side] = connection.from_arrow(pa.Table.from_pandas(frames[side]))
    with pytest.raises(RecnbError, match=f"{('recommendations', 'truth')[side]} cannot be read"):
        recnb.evaluate(*frames)


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "int8": lambda values: values.astype("int8"), "float32": lambda values: values.astype("float32"), "Float64": lambda values: values.astype("Float64"),
    "objects": lambda values: values.astype(object), "decimals": lambda values: [Decimal(int(value)) for value in values],
    "sparse": lambda values: values.astype(pd.SparseDtype("float64", 0.0)), "Arrow": lambda values: values.astype(pd.ArrowDtype(pa.decimal128(21, 2))),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_any_type(kind: str) -> None:
    recs = RECS.assign(score=NUMBERS[kind]((RECS["score"] * 4).astype(int)))
    assert (numbers(recs, TRUTH.assign(rating=NUMBERS[kind](TRUTH["rating"]))) == WANT).all()


def test_relevance_as_true_and_false() -> None:
    liked = TRUTH.assign(rating=TRUTH["rating"] > 0)
    want = numbers(RECS, liked.astype({"rating": int}))
    for truth in (liked, liked.astype({"rating": "boolean"}), pl.from_pandas(liked)):
        assert (numbers(RECS, truth) == want).all()
    assert (want != WANT).any()


INDEXES = {
    "all the same": [0] * len(RECS), "of dates": pd.date_range("2026-01-01", periods=len(RECS)), "of missing values": [None] * len(RECS),
    "of two levels": pd.MultiIndex.from_product([["a"], range(len(RECS))]),
}  # fmt: skip


@pytest.mark.parametrize("which", INDEXES)
def test_the_index_of_a_pandas_frame_says_nothing(which: str) -> None:
    assert (numbers(RECS.set_axis(INDEXES[which], axis=0), TRUTH) == WANT).all()


def test_pandas_frames_cut_out_of_others() -> None:
    doubled = pd.DataFrame(np.repeat(RECS.to_numpy(), 2, axis=0), columns=RECS.columns)
    assert (numbers(doubled.iloc[::2], TRUTH) == WANT).all()
    assert (numbers(pd.DataFrame(np.asfortranarray(RECS.to_numpy()), columns=RECS.columns), TRUTH) == WANT).all()


# ---- users


@pytest.mark.parametrize(
    "users",
    [[3, 1, 2], ["b", "a", "Z"], [2**40, -5, 7], ["ü", "z", "日"], [-(2**63), 2**63 - 1], [1.0, 2.0], ["", "ü"]],
)
def test_users_are_sorted_and_each_can_be_explained(users: list[Any]) -> None:
    recs = pd.DataFrame({"user": users, "item": range(len(users)), "rank": 1})
    ev = recnb.evaluate(recs, recs[["user", "item"]].assign(item=0), train=recs)
    per_user = ev.precision(k=1).per_user
    assert per_user.index.tolist() == sorted(users)
    assert per_user.index.name == "user"
    for user in ev.users:
        assert ev.explain("precision", user, k=1).value == (user == users[0])
        assert ev.explain("novelty", user, k=1).value == ev.novelty(k=1).per_user[user]
        assert ev.user(user)["item"].tolist()[:1] == [users.index(user)]


@pytest.mark.parametrize("user", ["1", 1.5, dt.date(2020, 1, 3), pd.Timestamp(1), Decimal("1.5"), b"1", 2**70, [1]])
@pytest.mark.parametrize("ids", [["a", "b"], [1, 2]])
def test_what_is_no_such_id_is_not_found(user: Any, ids: list[Any]) -> None:
    recs = pl.DataFrame({"user": ids, "item": [1, 2], "rank": [1, 1]})
    with pytest.raises(UnknownUserError):
        recnb.evaluate(recs, recs).explain("precision", user, k=1)
