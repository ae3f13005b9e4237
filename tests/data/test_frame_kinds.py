"""Columns of pandas, Polars and Arrow as they are stored: ids and numbers of any type, indexes, categories, text.

Kinds of frames, and what is done to them afterwards, are tried by the law of `tests/test_attack.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.data.columns import from_pandas
from recnb.errors import FrameError

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


def typed(frame: pd.DataFrame, ids: Any) -> pd.DataFrame:
    text = isinstance(ids, pd.ArrowDtype) or ids in ("str", "object", "string", "category")
    return (frame.astype({"user": str, "item": str}) if text else frame).astype({"user": ids, "item": ids})


IDS = [
    "int8",
    "uint64",
    ">i4",
    "Int64",
    "float32",
    "Float64",
    "str",
    "object",
    "string",
    "category",
    pd.ArrowDtype(pa.large_string()),
]


@pytest.mark.parametrize("ids", IDS, ids=str)
def test_ids_of_any_type(ids: Any) -> None:
    recs, truth = typed(RECS, ids), typed(TRUTH, ids)
    before = recs.copy(), truth.copy()
    # Users in another order add up to another last bit.
    assert numbers(recs, truth) == pytest.approx(WANT, abs=1e-15)
    whole = recnb.evaluate(recs, truth).users.dtype.kind == "i"
    other = "int64" if whole else "str"
    assert numbers(recs, typed(TRUTH, other)) == pytest.approx(WANT, abs=1e-15)
    assert numbers(typed(RECS, other), truth) == pytest.approx(WANT, abs=1e-15)
    for frame, then in zip((recs, truth), before, strict=True):
        pd.testing.assert_frame_equal(frame, then, check_dtype=False)


@pytest.mark.parametrize(
    "kind",
    [pl.Categorical, pl.Enum([str(i) for i in reversed(range(40))]), pl.Int8, pl.Int128, pl.Decimal(20, 0)],
    ids=str,
)
def test_ids_of_polars(kind: Any) -> None:
    text = isinstance(kind, pl.Enum) or kind == pl.Categorical
    frames = [pl.from_pandas(typed(frame, "str" if text else "int64")) for frame in (RECS, TRUTH)]
    recs, truth = (frame.with_columns(pl.col("user", "item").cast(kind)) for frame in frames)
    for pair in ((recs, truth), (recs, frames[1]), (frames[0], truth)):
        assert numbers(*pair) == pytest.approx(WANT, abs=1e-15)
    users = recnb.evaluate(recs, truth).users.tolist()
    assert users == sorted(users)


NUMBERS: dict[str, Callable[[pd.Series], Any]] = {
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


COLUMNS: dict[str, tuple[pd.Series, list[Any]]] = {
    "text, some missing": (pd.Series(["a", None, "a text that is longer than a view", "가"], dtype="str"), ["a", None, "a text that is longer than a view", "가"]),
    "a category that is missing": (pd.Series(["b", None, "a"], dtype="category"), ["b", None, "a"]),
    "bins": (pd.Series(pd.cut([1, 5], [0, 2, 6])), ["(0, 2]", "(2, 6]"]),
    "periods": (pd.Series(pd.period_range("2026", periods=2, freq="Y")), ["2026", "2027"]),
    "whole numbers and decimals": (pd.Series([1, 2.5], dtype=object), [1.0, 2.5]),
}  # fmt: skip


@pytest.mark.parametrize("what", COLUMNS)
def test_a_column_as_polars_has_it(what: str) -> None:
    column, values = COLUMNS[what]
    assert from_pandas(column, "users", "group", "group").to_list() == values


@pytest.mark.parametrize("values", [["a", 1], [True, 1], [1j, 2], [object()], [10**30, 1], [[1], 2]])
def test_a_column_of_several_kinds_is_refused(values: list[Any]) -> None:
    with pytest.raises(FrameError, match="users: column 'group' holds values of more than one kind"):
        from_pandas(pd.Series(values, dtype=object), "users", "group", "group")
