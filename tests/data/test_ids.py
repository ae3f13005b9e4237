"""Ids are whole numbers or text, and numbers are numbers; equal ones meet, however their columns store them.

Columns of any kind, in frames of any kind, and what is done to them afterwards are tried by the law of `tests/test_attack.py`.
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
import pytest

import recnb
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
BLOCK = pd.DataFrame(np.repeat(RECS.to_numpy(), 2, axis=0), columns=RECS.columns)
DECIMALS = {"relevance": TRUTH["rating"].astype(pd.ArrowDtype(pa.decimal128(21, 2)))}
#: Frames with the same rows.
SAME: dict[str, tuple[Any, Any]] = {
    "one label of all rows": (RECS.set_axis([0] * len(RECS), axis=0), TRUTH),
    "labels that are missing": (RECS.set_axis([None] * len(RECS), axis=0), TRUTH),
    "labels of two levels": (RECS.set_axis(pd.MultiIndex.from_product([["a"], range(len(RECS))]), axis=0), TRUTH),
    "rows of a larger frame": (BLOCK.iloc[::2], TRUTH),
    "an array by columns": (pd.DataFrame(np.asfortranarray(RECS.to_numpy()), columns=RECS.columns), TRUTH),
    "an array by rows": (RECS.astype(float), TRUTH),
    "sparse columns": (RECS.assign(score=RECS["score"].astype(pd.SparseDtype("float64", 0.0))), TRUTH),
    "decimals of Arrow": (RECS, TRUTH.drop(columns="rating").assign(**DECIMALS)),
    "an interval that nobody reads": (RECS, duckdb.from_arrow(pa.Table.from_pandas(TRUTH)).select("*, to_days(item::int) as since")),
}  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_the_same_rows_give_the_same_numbers(what: str) -> None:
    assert numbers(*SAME[what]) == pytest.approx(WANT, abs=1e-15)


def test_relevance_as_true_and_false() -> None:
    liked = TRUTH.assign(rating=TRUTH["rating"] > 0)
    want = numbers(RECS, liked.astype({"rating": int}))
    for truth in (liked, liked.astype({"rating": "boolean"}), pl.from_pandas(liked)):
        assert (numbers(RECS, truth) == want).all()
    assert (want != WANT).any()


OTHERS: dict[str, list[Any]] = {
    "times": [dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 2, 12)], "days": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
    "durations": [dt.timedelta(1), dt.timedelta(2)], "true and false": [True, False], "decimals": [Decimal("1.5"), Decimal("2.5")],
}  # fmt: skip
CONVERT: list[Callable[[pl.DataFrame], Any]] = [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]


@pytest.mark.parametrize("convert", CONVERT)
@pytest.mark.parametrize("case", OTHERS)
def test_other_ids_are_refused_until_they_are_text(case: str, convert: Callable[[pl.DataFrame], Any]) -> None:
    recs = pl.DataFrame({"user": [1, 1], "rank": [2, 1], "item": OTHERS[case]})
    words = r"recommendations: column 'item' holds .*, which is no item id.*Make them text"
    with pytest.raises(FrameError, match=words):
        recnb.evaluate(convert(recs), convert(recs[:1]))
    text = recs.with_columns(item=pl.Series([str(one) for one in OTHERS[case]]))
    assert recnb.evaluate(convert(text), convert(text[:1])).mrr() == 0.5


@pytest.mark.parametrize("side", [0, 1])
def test_closed_connection(side: int) -> None:
    frames: list[Any] = [RECS, TRUTH]
    with duckdb.connect() as connection:
        frames[side] = connection.from_arrow(pa.Table.from_pandas(frames[side]))
    with pytest.raises(RecnbError, match=f"{('recommendations', 'truth')[side]} cannot be read"):
        recnb.evaluate(*frames)


@pytest.mark.parametrize(
    "users", [["b", "a", "Z"], [2**40, -5, 7], ["ü", "z", "日"], [-(2**63), 2**63 - 1], [1.0, 2.0], ["", "ü"]]
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
